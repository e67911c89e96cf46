/* From what was asked for to what is simulated. */
#include "cachesim/runs/runs.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "trace/source.h"

/* Threads of one program share an address space: those of traces that are given together, or the cores of a
 * generator that shares. */
static uint32_t snoop_unless_told(const struct caches_request *r, uint32_t tiles)
{
    if (r->generate)
        return source_generate_shares(r->generate) ? tiles : 1;
    return r->trace_count;
}

static bool check(const struct caches_request *r, struct caches_spec *spec, struct err *err)
{
    if (!r->snoop_told && !sweep_has(&r->sweep, "snoop"))
        spec->snoop = snoop_unless_told(r, spec->tiles);
    if (r->trace_count > spec->tiles)
        return err_set(err, "%u traces, but %u tiles: each trace needs one", r->trace_count, spec->tiles);
    return caches_check(spec, err);
}

static void add(struct configurations *all, const struct caches_spec *spec)
{
    all->at[all->count] = (struct configuration){.spec = *spec};
    all->at[all->count].result.l1_of = mem_alloc(spec->tiles, sizeof(struct coherent_counters));
    all->at[all->count].result.l2_of = mem_alloc(spec->tiles, sizeof(struct coherent_counters));
    all->count++;
}

/* Combinations that cannot be are told and left out. */
static bool add_sweep(struct caches_request *r, struct configurations *all, struct err *err)
{
    size_t count = sweep_count(&r->sweep);
    struct err why;
    all->at = mem_alloc(count, sizeof *all->at);
    for (size_t i = 0; i < count; i++) {
        struct caches_spec spec = r->spec;
        sweep_apply(&r->sweep, i, &spec);
        if (check(r, &spec, &why)) {
            add(all, &spec);
            continue;
        }
        all->left_out++;
        struct text text = {0};
        for (size_t k = 0; k < r->sweep.count; k++) {
            const struct sweep_key *key = r->sweep.axes[k].key;
            text_add(&text, "%s%s=", k ? "," : "", key->name);
            sweep_value_print(key, sweep_value_of(key, &spec), &text);
        }
        text_add(&all->left_out_why, "%s (%s)\n", text.at, why.text);
        text_fini(&text);
    }
    return all->count || err_set(err, "--sweep: no configuration is left");
}

bool caches_prepare(struct caches_request *r, struct configurations *all, struct err *err)
{
    if (!r->tiles_told)
        r->spec.tiles = r->generate ? 1 : r->trace_count;
    if (!r->host.threads)
        r->host.threads = host_cores();
    if (r->sweep_text)
        return sweep_parse(&r->sweep, r->sweep_text, err) && add_sweep(r, all, err);
    if (!check(r, &r->spec, err) ||
        (r->generate && !source_generate_check(r->generate, r->spec.snoop, r->accesses, err)))
        return false;
    all->at = mem_alloc(2, sizeof *all->at);
    add(all, &r->spec);
    if (r->compare_exact) {
        struct caches_spec exact = r->spec;
        exact.quantum = 0;
        add(all, &exact);
    }
    return true;
}

void configurations_fini(struct configurations *all)
{
    for (size_t i = 0; i < all->count; i++) {
        mem_free(all->at[i].result.l1_of);
        mem_free(all->at[i].result.l2_of);
        mem_free(all->at[i].wrong);
    }
    mem_free(all->at);
    text_fini(&all->left_out_why);
}
