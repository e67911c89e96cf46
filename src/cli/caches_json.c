/* What came of it, as JSON. All but "host" is the same for any threads, batches and devices. */
#include "cli/caches.h"
#include "base/json.h"

static void write_shape(struct json *json, const char *name, const struct cache_shape *shape)
{
    json_object(json, name);
    json_u64(json, "bytes", shape->bytes);
    json_u64(json, "ways", shape->ways);
    json_u64(json, "line_bytes", shape->line_bytes);
    json_end(json);
}

static void write_setting(struct json *json, const char *key, const struct caches_spec *spec)
{
    struct text text = {0};
    setting_print(key, spec, &text);
    json_text(json, key, text.at);
    text_fini(&text);
}

static void write_config(struct json *json, const struct caches_spec *spec)
{
    json_object(json, "config");
    write_setting(json, "machine", spec);
    json_u64(json, "tiles", spec->tiles);
    write_shape(json, "l1", &spec->l1);
    if (spec->machine != CACHES_L1)
        write_shape(json, "l2", &spec->l2);
    write_setting(json, "policy", spec);
    json_u64(json, "snoop", spec->snoop);
    if (spec->quantum)
        json_u64(json, "quantum", spec->quantum);
    else
        json_text(json, "quantum", "exact");
    json_u64(json, "seed", spec->seed);
    json_end(json);
}

static void write_source(struct json *json, const struct caches_request *r)
{
    json_object(json, "source");
    if (r->generate)
        json_text(json, "generate", r->generate);
    if (r->trace_count) {
        json_array(json, "traces");
        for (uint32_t i = 0; i < r->trace_count; i++)
            json_text(json, NULL, r->traces[i]);
        json_end(json);
        json_u64(json, "offset", r->offset);
    }
    if (r->accesses)
        json_u64(json, "accesses_of_each_tile_most", r->accesses);
    json_end(json);
}

static void write_counters(struct json *json, const char *name, const struct coherent_counters *count)
{
    json_object(json, name);
#define X(counter, help) json_u64(json, #counter, count->counter);
    COHERENT_COUNTERS(X)
#undef X
    json_end(json);
}

static void write_each(struct json *json, const char *name, const struct coherent_counters *of,
                       uint32_t tiles)
{
    json_array(json, name);
    for (uint32_t i = 0; i < tiles; i++)
        write_counters(json, NULL, &of[i]);
    json_end(json);
}

static void write_result(struct json *json, const struct configuration *one)
{
    bool has_l2 = one->spec.machine != CACHES_L1;
    json_object(json, "result");
    json_u64(json, "accesses", one->result.accesses);
    write_counters(json, "l1", &one->result.l1);
    if (has_l2)
        write_counters(json, "l2", &one->result.l2);
    json_end(json);
    json_object(json, "caches");
    write_each(json, "l1", one->result.l1_of, one->spec.tiles);
    if (has_l2)
        write_each(json, "l2", one->result.l2_of, one->spec.tiles);
    json_end(json);
}

static void write_error(struct json *json, const char *name, const struct coherent_counters *quanta,
                        const struct coherent_counters *exact)
{
    json_object(json, name);
#define X(counter, help)                                                                                     \
    if (exact->counter)                                                                                      \
        json_real(json, #counter,                                                                            \
                  ((double)quanta->counter - (double)exact->counter) / (double)exact->counter);
    COHERENT_COUNTERS(X)
#undef X
    json_end(json);
}

static void write_host(struct json *json, const struct caches_request *r, const struct configurations *all)
{
    json_object(json, "host");
    json_text(json, "device", r->device->backend->name);
    json_u64(json, "threads", r->host.threads);
    json_real(json, "wall_s", all->wall_s);
    if (all->l1_s > 0) {
        json_real(json, "transfer_s", all->transfer_s);
        json_real(json, "l1_s", all->l1_s);
        json_real(json, "l2_s", all->l2_s);
    }
    json_end(json);
}

static void write_sweep(struct json *json, const struct caches_request *r, const struct configurations *all)
{
    json_text(json, "sweep", r->sweep_text);
    json_u64(json, "left_out", all->left_out);
    json_array(json, "configurations");
    for (size_t i = 0; i < all->count; i++) {
        json_object(json, NULL);
        write_config(json, &all->at[i].spec);
        write_result(json, &all->at[i]);
        json_end(json);
    }
    json_end(json);
}

void caches_json(const struct caches_request *r, const struct configurations *all, FILE *out)
{
    struct json json;
    json_init(&json, out);
    json_object(&json, NULL);
    json_text(&json, "heddle", HEDDLE_VERSION);
    write_source(&json, r);
    if (r->sweep_text) {
        write_sweep(&json, r, all);
    } else {
        write_config(&json, &all->at[0].spec);
        write_result(&json, &all->at[0]);
    }
    if (r->compare_exact) {
        json_object(&json, "exact");
        write_result(&json, &all->at[1]);
        json_end(&json);
        json_object(&json, "error"); /* as a share of the exact count */
        write_error(&json, "l1", &all->at[0].result.l1, &all->at[1].result.l1);
        if (r->spec.machine != CACHES_L1)
            write_error(&json, "l2", &all->at[0].result.l2, &all->at[1].result.l2);
        json_end(&json);
    }
    write_host(&json, r, all);
    json_end(&json);
}
