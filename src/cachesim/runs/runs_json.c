/* What came of it, as JSON. All but "host" is the same for any threads, batches and devices. */
#include "cachesim/runs/runs.h"
#include "ranks/ranks.h"
#include "report/json.h"

static void write_shape(struct json_writer *json, const char *name, const struct cache_shape *shape)
{
    json_open_object(json, name);
    json_put_count(json, "bytes", shape->bytes);
    json_put_count(json, "ways", shape->ways);
    json_put_count(json, "line_bytes", shape->line_bytes);
    json_close(json);
}

static void write_setting(struct json_writer *json, const char *key, const struct caches_spec *spec)
{
    struct text text = {0};
    setting_print(key, spec, &text);
    json_put_text(json, key, text.at);
    text_fini(&text);
}

static void write_config(struct json_writer *json, const struct caches_spec *spec)
{
    json_open_object(json, "config");
    write_setting(json, "machine", spec);
    json_put_count(json, "tiles", spec->tiles);
    write_shape(json, "l1", &spec->l1);
    if (spec->machine != CACHES_L1)
        write_shape(json, "l2", &spec->l2);
    write_setting(json, "policy", spec);
    json_put_count(json, "snoop", spec->snoop);
    if (spec->quantum)
        json_put_count(json, "quantum", spec->quantum);
    else
        json_put_text(json, "quantum", "exact");
    json_put_count(json, "seed", spec->seed);
    json_close(json);
}

static void write_source(struct json_writer *json, const struct caches_request *r)
{
    json_open_object(json, "source");
    if (r->generate)
        json_put_text(json, "generate", r->generate);
    if (r->trace_count) {
        json_open_list(json, "traces");
        for (uint32_t i = 0; i < r->trace_count; i++)
            json_put_text(json, NULL, r->traces[i]);
        json_close(json);
        json_put_count(json, "offset", r->offset);
    }
    if (r->accesses)
        json_put_count(json, "accesses_of_each_tile_most", r->accesses);
    json_close(json);
}

static void write_counters(struct json_writer *json, const char *name, const struct coherent_counters *count)
{
    json_open_object(json, name);
#define X(counter, help) json_put_count(json, #counter, count->counter);
    COHERENT_COUNTERS(X)
#undef X
    json_close(json);
}

static void write_each(struct json_writer *json, const char *name, const struct coherent_counters *of,
                       uint32_t tiles)
{
    json_open_list(json, name);
    for (uint32_t i = 0; i < tiles; i++)
        write_counters(json, NULL, &of[i]);
    json_close(json);
}

static void write_result(struct json_writer *json, const struct configuration *one)
{
    bool has_l2 = one->spec.machine != CACHES_L1;
    json_open_object(json, "result");
    json_put_count(json, "accesses", one->result.accesses);
    write_counters(json, "l1", &one->result.l1);
    if (has_l2)
        write_counters(json, "l2", &one->result.l2);
    json_close(json);
    json_open_object(json, "caches");
    write_each(json, "l1", one->result.l1_of, one->spec.tiles);
    if (has_l2)
        write_each(json, "l2", one->result.l2_of, one->spec.tiles);
    json_close(json);
}

static void write_error(struct json_writer *json, const char *name, const struct coherent_counters *quanta,
                        const struct coherent_counters *exact)
{
    json_open_object(json, name);
#define X(counter, help)                                                                                     \
    if (exact->counter)                                                                                      \
        json_put_real(json, #counter,                                                                        \
                      ((double)quanta->counter - (double)exact->counter) / (double)exact->counter);
    COHERENT_COUNTERS(X)
#undef X
    json_close(json);
}

static void write_host(struct json_writer *json, const struct caches_request *r,
                       const struct configurations *all)
{
    json_open_object(json, "host");
    json_put_text(json, "device", r->device->backend->name);
    json_put_count(json, "threads", r->host.threads);
    if (ranks_count(r->ranks) > 1)
        json_put_count(json, "ranks", ranks_count(r->ranks));
    json_put_real(json, "wall_s", all->wall_s);
    if (all->l1_s > 0) {
        json_put_real(json, "transfer_s", all->transfer_s);
        json_put_real(json, "l1_s", all->l1_s);
        json_put_real(json, "l2_s", all->l2_s);
    }
    json_close(json);
}

static void write_sweep(struct json_writer *json, const struct caches_request *r,
                        const struct configurations *all)
{
    json_put_text(json, "sweep", r->sweep_text);
    json_put_count(json, "left_out", all->left_out);
    json_open_list(json, "configurations");
    for (size_t i = 0; i < all->count; i++) {
        json_open_object(json, NULL);
        write_config(json, &all->at[i].spec);
        write_result(json, &all->at[i]);
        json_close(json);
    }
    json_close(json);
}

void caches_json(const struct caches_request *r, const struct configurations *all, FILE *out)
{
    struct json_writer json;
    json_begin(&json, out);
    json_open_object(&json, NULL);
    json_put_text(&json, "heddle", HEDDLE_VERSION);
    write_source(&json, r);
    if (r->sweep_text) {
        write_sweep(&json, r, all);
    } else {
        write_config(&json, &all->at[0].spec);
        write_result(&json, &all->at[0]);
    }
    if (r->compare_exact) {
        json_open_object(&json, "exact");
        write_result(&json, &all->at[1]);
        json_close(&json);
        json_open_object(&json, "error"); /* as a share of the exact count */
        write_error(&json, "l1", &all->at[0].result.l1, &all->at[1].result.l1);
        if (r->spec.machine != CACHES_L1)
            write_error(&json, "l2", &all->at[0].result.l2, &all->at[1].result.l2);
        json_close(&json);
    }
    write_host(&json, r, all);
    json_close(&json);
}
