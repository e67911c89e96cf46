/* Tables for people. */
#include "cachesim/runs/runs.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/unit.h"
#include "ranks/ranks.h"

#include <math.h>

/* ---- cells ---- */

static const struct sweep_key *key_named(const char *name)
{
    const struct sweep_key *key = sweep_keys;
    while (key->name && strcmp(key->name, name))
        key++;
    return key;
}

void setting_print(const char *key, const struct caches_spec *spec, struct text *text)
{
    sweep_value_print(key_named(key), sweep_value_of(key_named(key), spec), text);
}

uint64_t caches_accesses(const struct coherent_counters *count)
{
    return count->reads + count->writes;
}

uint64_t misses_of(const struct coherent_counters *count)
{
    return count->read_misses + count->write_misses;
}

double miss_rate(const struct coherent_counters *count)
{
    uint64_t accesses = caches_accesses(count);
    return accesses ? 100.0 * (double)misses_of(count) / (double)accesses : 0;
}

/* ---- one configuration ---- */

static void describe_shape(struct text *text, const char *name, const struct cache_shape *shape)
{
    text_add(text, "; %s ", name);
    unit_print(UNIT_size, shape->bytes, text);
    text_add(text, ", %u way%s, lines of %u bytes", shape->ways, shape->ways == 1 ? "" : "s",
             shape->line_bytes);
}

static void describe(struct text *text, const struct caches_spec *spec)
{
    text_add(text, "%u tile%s", spec->tiles, spec->tiles == 1 ? "" : "s");
    describe_shape(text, "L1", &spec->l1);
    if (spec->machine != CACHES_L1)
        describe_shape(text, spec->machine == CACHES_SHARED ? "L2 slices" : "L2", &spec->l2);
    text_add(text, "; ");
    setting_print("policy", spec, text);
    if (spec->snoop > 1)
        text_add(text, "; %u snoop on each other", spec->snoop);
    text_add(text, spec->quantum ? "; quanta of " : "; ");
    setting_print("quantum", spec, text);
}

static const char *const columns[] = {"accesses",    "misses",        "miss rate", "evictions",
                                      "write-backs", "invalidations", "put back"};

static void print_heads(FILE *out, const char *first)
{
    fprintf(out, "%-8s", first);
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        fprintf(out, " %15s", columns[i]);
    fputc('\n', out);
}

static void print_counters(FILE *out, const char *name, const struct coherent_counters *count)
{
    char cells[COUNT_OF(columns)][CELL];
    cell_whole(cells[0], caches_accesses(count));
    cell_whole(cells[1], misses_of(count));
    snprintf(cells[2], CELL, "%.3f%%", miss_rate(count));
    cell_whole(cells[3], count->evictions);
    cell_whole(cells[4], count->write_backs);
    cell_whole(cells[5], count->invalidations);
    cell_whole(cells[6], count->put_backs);
    fprintf(out, "%-8s", name);
    for (size_t i = 0; i < COUNT_OF(columns); i++)
        fprintf(out, " %15s", cells[i]);
    fputc('\n', out);
}

static void print_each(FILE *out, const char *level, const struct coherent_counters *of, uint32_t tiles)
{
    for (uint32_t i = 0; i < tiles; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s[%u]", level, i);
        print_counters(out, name, &of[i]);
    }
}

/* ---- the error of quanta ---- */

static void print_error(FILE *out, const char *name, const struct coherent_counters *quanta,
                        const struct coherent_counters *exact)
{
    char cells[2][CELL];
#define X(counter, help)                                                                                     \
    if (quanta->counter || exact->counter) {                                                                 \
        fprintf(out, "%-3s %-14s %15s %15s ", name, #counter, cell_whole(cells[0], quanta->counter),         \
                cell_whole(cells[1], exact->counter));                                                       \
        if (exact->counter)                                                                                  \
            fprintf(out, "%+10.4f%%\n",                                                                      \
                    100 * ((double)quanta->counter - (double)exact->counter) / (double)exact->counter);      \
        else                                                                                                 \
            fprintf(out, "%11s\n", "-");                                                                     \
    }
    COHERENT_COUNTERS(X)
#undef X
}

static void print_errors(FILE *out, const struct configurations *all)
{
    const struct configuration *quanta = &all->at[0], *exact = &all->at[1];
    fprintf(out, "\n%-18s %15s %15s %11s\n", "", "quanta", "exact", "error");
    print_error(out, "L1", &quanta->result.l1, &exact->result.l1);
    if (quanta->spec.machine != CACHES_L1)
        print_error(out, "L2", &quanta->result.l2, &exact->result.l2);
}

/* ---- all ---- */

static void closing_line(const struct caches_request *r, const struct configurations *all, FILE *out)
{
    uint64_t accesses = 0;
    char cell[CELL];
    for (size_t i = 0; i < all->count; i++)
        accesses += all->at[i].is_known ? 0 : all->at[i].result.accesses;
    fprintf(out, "%s accesses in %.2f s: %.1f million/s (%s, ", cell_whole(cell, accesses), all->wall_s,
            (double)accesses / 1e6 / fmax(all->wall_s, 1e-9), r->device->backend->name);
    if (ranks_count(r->ranks) > 1)
        fprintf(out, "%u ranks of ", ranks_count(r->ranks));
    fprintf(out, "%u thread%s)\n", r->host.threads, r->host.threads == 1 ? "" : "s");
}

void caches_print(const struct caches_request *r, const struct configurations *all, FILE *out)
{
    const struct configuration *one = &all->at[0];
    bool has_l2 = one->spec.machine != CACHES_L1;
    struct text text = {0};
    describe(&text, &one->spec);
    fprintf(out, "%s\n\n", text.at);
    text_fini(&text);
    print_heads(out, "");
    print_counters(out, "L1", &one->result.l1);
    if (has_l2)
        print_counters(out, "L2", &one->result.l2);
    if (r->per_cache) {
        fputc('\n', out);
        print_heads(out, "cache");
        print_each(out, "l1", one->result.l1_of, one->spec.tiles);
        if (has_l2)
            print_each(out, "l2", one->result.l2_of, one->spec.tiles);
    }
    if (r->compare_exact)
        print_errors(out, all);
    fputc('\n', out);
    closing_line(r, all, out);
}

/* ---- a sweep: a row of each configuration ---- */

void sweep_print(const struct caches_request *r, const struct configurations *all, FILE *out)
{
    char cells[4][CELL];
    bool has_l2 = false;
    for (size_t i = 0; i < all->count; i++)
        has_l2 |= all->at[i].spec.machine != CACHES_L1;
    for (size_t i = 0; i < r->sweep.count; i++)
        fprintf(out, "%-9s ", r->sweep.axes[i].key->name);
    fprintf(out, "%15s %10s %15s %15s%s\n", "L1 misses", "miss rate", "write-backs", "invalidations",
            has_l2 ? "       L2 misses  miss rate     write-backs" : "");
    for (size_t i = 0; i < all->count; i++) {
        const struct configuration *one = &all->at[i];
        for (size_t k = 0; k < r->sweep.count; k++) {
            struct text text = {0};
            setting_print(r->sweep.axes[k].key->name, &one->spec, &text);
            fprintf(out, "%-9s ", text.at);
            text_fini(&text);
        }
        fprintf(out, "%15s %9.3f%% %15s %15s", cell_whole(cells[0], misses_of(&one->result.l1)),
                miss_rate(&one->result.l1), cell_whole(cells[1], one->result.l1.write_backs),
                cell_whole(cells[2], one->result.l1.invalidations));
        if (one->spec.machine != CACHES_L1)
            fprintf(out, " %15s %9.3f%% %15s", cell_whole(cells[3], misses_of(&one->result.l2)),
                    miss_rate(&one->result.l2), cell_whole(cells[0], one->result.l2.write_backs));
        fputc('\n', out);
    }
    fputc('\n', out);
    closing_line(r, all, out);
}
