/* The figures: those of the paper by their numbers, and some beyond it. */
#include "cachesim/evaluate/evaluate.h"
#include "base/bits.h"
#include "base/mem.h"

#include <math.h>

enum { ACCESSES_AT_ONCE = 1 << 27 }; /* of all tiles: 2 GiB */

static const char *const machines[] = {
#define X(name, text, help) text,
    CACHES_MACHINES(X)
#undef X
};
static const enum caches_machine all_machines[] = {CACHES_L1, CACHES_PRIVATE, CACHES_SHARED};
static const uint32_t tile_counts[] = {32, 64, 96};

uint64_t evaluation_accesses(const struct evaluation *e, uint32_t tiles)
{
    return min_u64(e->accesses, ACCESSES_AT_ONCE / tiles);
}

/* ---- what figures are made of ---- */

static uint32_t scaled(const struct evaluation *e, uint32_t tiles)
{
    return e->quick ? (uint32_t)max_u64(tiles / 8, 1) : tiles;
}

static uint32_t most_caches(const struct evaluation *e)
{
    return e->quick ? 8 : 1024;
}

static uint32_t many_tiles(const struct evaluation *e)
{
    return e->quick ? 16 : 4096;
}

static uint64_t usual_quantum(const struct evaluation *e)
{
    return e->quick ? 128 : 2048;
}

static struct sheet *new_sheet(struct evaluation *e, struct sheet sheet)
{
    mem_grow(e->sheets, e->sheet_count, e->sheet_capacity);
    e->sheets[e->sheet_count] = sheet;
    return &e->sheets[e->sheet_count++];
}

static const struct evaluate_point *at(struct evaluation *e, struct point_key key)
{
    if (!key.accesses)
        key.accesses = evaluation_accesses(e, key.tiles);
    return evaluation_point(e, &key);
}

static double seconds(struct evaluation *e, struct point_key key)
{
    return at(e, key)->seconds;
}

static void add_command(struct evaluation *e, struct sheet *sheet, struct point_key key)
{
    if (evaluate_host_is_gpu(key.host) && !e->has_gpu) {
        if (sheet->commands.length)
            return;
        key.host = EVALUATE_CPU_ALL;
    }
    evaluate_point_command(&sheet->commands, &at(e, key)->key);
    text_add(&sheet->commands, "\n");
}

static bool is_there(const struct evaluation *e, enum evaluate_host host)
{
    return !evaluate_host_is_gpu(host) || e->has_gpu;
}

/* Serial runs have a figure of their own. */
static enum evaluate_host next_host(const struct evaluation *e, enum evaluate_host host)
{
    do
        host++;
    while (host < EVALUATE_GPU_SERIAL && !is_there(e, host));
    return host;
}

#define EACH_HOST(e, host)                                                                                   \
    enum evaluate_host host = EVALUATE_CPU_ONE;                                                              \
    host < EVALUATE_GPU_SERIAL;                                                                              \
    host = next_host(e, host)

static const char *host_name(const struct evaluation *e, enum evaluate_host host, char name[SHEET_NAME])
{
    if (host == EVALUATE_CPU_ALL)
        snprintf(name, SHEET_NAME, "CPU, %u threads", e->r->host.threads);
    else
        snprintf(name, SHEET_NAME, "%s", evaluate_hosts[host]);
    return name;
}

static const char *numbered(char name[SHEET_NAME], uint64_t number, const char *what)
{
    snprintf(name, SHEET_NAME, "%llu%s", (unsigned long long)number, what);
    return name;
}

/* ---- 1 and 10: more and more caches that do not meet ---- */

static struct point_key alone(const struct evaluation *e, uint32_t caches, enum evaluate_host host)
{
    return (struct point_key){
        .tiles = caches, .accesses = evaluation_accesses(e, most_caches(e)), .host = host};
}

static void figure_1(struct evaluation *e)
{
    struct sheet *sheet = new_sheet(
        e,
        (struct sheet){.name = "figure-1",
                       .title = "Figure 1: time by number of caches",
                       .text = "L1s without shared data (workload A), relative to 16 caches on one thread.",
                       .across = "caches",
                       .upwards = "time, relative",
                       .logarithmic = true});
    char name[SHEET_NAME], column[SHEET_NAME];
    double one = seconds(e, alone(e, scaled(e, 16), EVALUATE_CPU_ONE));
    for (EACH_HOST(e, host)) {
        for (uint32_t caches = scaled(e, 16); caches <= most_caches(e); caches *= 2)
            sheet_put(sheet, host_name(e, host, name), numbered(column, caches, ""),
                      seconds(e, alone(e, caches, host)) / one);
    }
    add_command(e, sheet, alone(e, most_caches(e), EVALUATE_CPU_ALL));
    add_command(e, sheet, alone(e, most_caches(e), EVALUATE_GPU));
}

static void figure_10(struct evaluation *e)
{
    if (!e->has_gpu)
        return;
    struct sheet *sheet = new_sheet(
        e,
        (struct sheet){.name = "figure-10",
                       .title = "Figure 10: caches of a block of threads",
                       .text = "L1s (workload A), trace resident, relative to 16 caches on one CPU thread. "
                               "\"best\" is what is taken unless told.",
                       .across = "caches",
                       .upwards = "time, relative",
                       .logarithmic = true});
    char name[SHEET_NAME], column[SHEET_NAME];
    double one = seconds(e, alone(e, scaled(e, 16), EVALUATE_CPU_ONE));
    static const uint32_t per_block[] = {0, 1, 2, 4, 8};
    for (size_t i = 0; i < COUNT_OF(per_block); i++) {
        for (uint32_t caches = scaled(e, 16); caches <= most_caches(e); caches *= 2) {
            struct point_key key = alone(e, caches, EVALUATE_GPU_RESIDENT);
            key.per_block = per_block[i];
            sheet_put(sheet, per_block[i] ? numbered(name, per_block[i], " in a block") : "best",
                      numbered(column, caches, ""), seconds(e, key) / one);
        }
    }
    struct point_key key = alone(e, most_caches(e), EVALUATE_GPU_RESIDENT);
    key.per_block = 4;
    add_command(e, sheet, key);
}

/* ---- 6 to 8: machines and workloads ---- */

static void times_of(struct evaluation *e, const char *file, const char *title, enum caches_machine machine)
{
    struct sheet *sheet = new_sheet(
        e, (struct sheet){.name = file,
                          .title = title,
                          .text = "Exact. Relative to 32 tiles on one CPU thread, for each workload.",
                          .across = "workload",
                          .upwards = "time, relative",
                          .bars = true,
                          .logarithmic = true,
                          .shades = COUNT_OF(tile_counts)});
    char host_text[SHEET_NAME], name[2 * SHEET_NAME];
    for (EACH_HOST(e, host)) {
        for (size_t i = 0; i < COUNT_OF(tile_counts); i++) {
            snprintf(name, SHEET_NAME, "%s: %u tiles", host_name(e, host, host_text),
                     scaled(e, tile_counts[i]));
            for (uint32_t w = 0; w < WORKLOADS_A_TO_F; w++) {
                struct point_key key = {w, machine, scaled(e, tile_counts[i]), .host = host};
                struct point_key base = {w, machine, scaled(e, tile_counts[0]), .host = EVALUATE_CPU_ONE};
                sheet_put(sheet, name, evaluate_workloads[w].label, seconds(e, key) / seconds(e, base));
            }
        }
    }
    struct point_key last = {WORKLOADS_A_TO_F - 1, machine, scaled(e, 96), .host = EVALUATE_CPU_ONE};
    add_command(e, sheet, last);
    last.host = EVALUATE_GPU;
    add_command(e, sheet, last);
}

static void figures_6_to_8(struct evaluation *e)
{
    times_of(e, "figure-6", "Figure 6: time of L1s alone", CACHES_L1);
    times_of(e, "figure-7", "Figure 7: time with a private L2 of each tile", CACHES_PRIVATE);
    times_of(e, "figure-8", "Figure 8: time with shared L2 slices", CACHES_SHARED);
}

static void growth(struct evaluation *e)
{
    struct sheet *sheet =
        new_sheet(e, (struct sheet){.name = "growth",
                                    .title = "From 32 to 96 tiles: how many times longer it takes",
                                    .text = "Mean of workloads A to F. 3 is what three times the work takes.",
                                    .across = "machine",
                                    .upwards = "time of 96 tiles / time of 32",
                                    .bars = true});
    char name[SHEET_NAME];
    for (EACH_HOST(e, host)) {
        for (size_t m = 0; m < COUNT_OF(all_machines); m++) {
            double sum = 0;
            for (uint32_t w = 0; w < WORKLOADS_A_TO_F; w++) {
                struct point_key key = {w, all_machines[m], scaled(e, 96), .host = host}, base = key;
                base.tiles = scaled(e, 32);
                sum += seconds(e, key) / seconds(e, base);
            }
            sheet_put(sheet, host_name(e, host, name), machines[m], sum / WORKLOADS_A_TO_F);
        }
    }
}

/* ---- 9: streams ---- */

static void figure_9(struct evaluation *e)
{
    if (!e->has_gpu)
        return;
    struct sheet *sheet = new_sheet(
        e, (struct sheet){.name = "figure-9",
                          .title = "Figure 9: what overlapping gains",
                          .text =
                              "How much longer it takes when transfers and kernels come one after the other; "
                              "mean of workloads A to F, in percent.",
                          .across = "tiles",
                          .upwards = "percent",
                          .bars = true});
    char column[SHEET_NAME];
    for (size_t m = 0; m < COUNT_OF(all_machines); m++) {
        for (size_t i = 0; i < COUNT_OF(tile_counts); i++) {
            double sum = 0;
            for (uint32_t w = 0; w < WORKLOADS_A_TO_F; w++) {
                struct point_key key = {w, all_machines[m], scaled(e, tile_counts[i]), .host = EVALUATE_GPU};
                struct point_key serial = key;
                serial.host = EVALUATE_GPU_SERIAL;
                sum += 100 * (seconds(e, serial) / seconds(e, key) - 1);
            }
            sheet_put(sheet, machines[m], numbered(column, scaled(e, tile_counts[i]), ""),
                      sum / WORKLOADS_A_TO_F);
        }
    }
    add_command(e, sheet, (struct point_key){5, CACHES_SHARED, scaled(e, 96), .host = EVALUATE_GPU_SERIAL});
}

/* ---- 11 to 13: quanta ---- */

/* In percent; what is not there at all in the exact run has no error unless it is there. */
static double error_of(uint64_t quanta, uint64_t exact)
{
    return exact ? 100 * fabs((double)quanta - (double)exact) / (double)exact : quanta ? NAN : 0;
}

static void quanta_of(struct evaluation *e, uint32_t workload, const char *file, const char *title)
{
    struct sheet *sheet = new_sheet(
        e, (struct sheet){.name = file,
                          .title = title,
                          .text = "64 L1s. Error: how far the number of invalidated lines is from the exact "
                                  "one, in percent; it is the same on CPU and GPU.",
                          .across = "quantum, in accesses of each cache",
                          .upwards = "error, percent",
                          .right = "million accesses/s"});
    char column[SHEET_NAME], name[SHEET_NAME];
    static const enum evaluate_host hosts[] = {EVALUATE_CPU_ALL, EVALUATE_GPU};
    struct point_key key = {workload, CACHES_L1, scaled(e, 64), .host = EVALUATE_CPU_ALL};
    uint64_t exact = at(e, key)->result.l1.invalidations;
    text_add(&sheet->note, " Exact, there are %s.", cell_whole(column, exact));
    sheet_put(sheet, "error", "exact", 0);
    for (uint64_t quantum = 16; quantum <= 65536 && quantum <= e->accesses; quantum *= 4) {
        key.quantum = quantum;
        sheet_put(sheet, "error", numbered(column, quantum, ""),
                  error_of(at(e, key)->result.l1.invalidations, exact));
    }
    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        key.host = hosts[i];
        for (size_t k = 0; is_there(e, hosts[i]) && k < sheet->column_count; k++) {
            key.quantum = strtoull(sheet->columns[k], NULL, 10); /* exact: 0 */
            sheet_put_right(sheet, host_name(e, hosts[i], name), sheet->columns[k],
                            at(e, key)->million_per_s);
        }
    }
    key.quantum = 16;
    add_command(e, sheet, key);
}

static void figures_11_to_13(struct evaluation *e)
{
    quanta_of(e, 6, "figure-11", "Figure 11: error and speed by quantum, workload G");
    quanta_of(e, 7, "figure-12", "Figure 12: error and speed by quantum, workload H");
    quanta_of(e, 8, "figure-13", "Figure 13: error and speed by quantum, workload I");
}

/* ---- 14, and what exactness costs ---- */

static struct point_key shared_at(const struct evaluation *e, uint32_t workload, uint64_t quantum,
                                  enum evaluate_host host)
{
    return (struct point_key){workload, CACHES_SHARED, scaled(e, 96), .quantum = quantum, .host = host};
}

static void figure_14(struct evaluation *e)
{
    struct sheet *sheet = new_sheet(
        e, (struct sheet){.name = "figure-14",
                          .title = "Figure 14: error of the misses of shared L2 slices, by quanta of 2,048",
                          .text = "96 tiles; in percent of the exact number.",
                          .across = "workload",
                          .upwards = "error, percent",
                          .bars = true});
    for (uint32_t w = 0; w < WORKLOADS_A_TO_F; w++) {
        uint64_t exact = misses_of(&at(e, shared_at(e, w, 0, EVALUATE_CPU_ALL))->result.l2);
        const struct evaluate_point *quanta = at(e, shared_at(e, w, usual_quantum(e), EVALUATE_CPU_ALL));
        sheet_put(sheet, "L2 misses", evaluate_workloads[w].label,
                  error_of(misses_of(&quanta->result.l2), exact));
    }
    add_command(e, sheet, shared_at(e, 5, usual_quantum(e), EVALUATE_GPU));
}

static void exactness(struct evaluation *e)
{
    struct sheet *sheet =
        new_sheet(e, (struct sheet){.name = "exactness",
                                    .title = "Exact, and by quanta of 2,048: million accesses/s",
                                    .text = "Shared L2 slices, 96 tiles.",
                                    .across = "workload",
                                    .upwards = "million accesses/s",
                                    .bars = true,
                                    .logarithmic = true,
                                    .shades = 2});
    static const enum evaluate_host hosts[] = {EVALUATE_CPU_ALL, EVALUATE_GPU};
    char host_text[SHEET_NAME], name[2 * SHEET_NAME];
    for (size_t i = 0; i < COUNT_OF(hosts); i++) {
        for (uint32_t by_quanta = 0; is_there(e, hosts[i]) && by_quanta < 2; by_quanta++) {
            snprintf(name, SHEET_NAME, "%s: %s", host_name(e, hosts[i], host_text),
                     by_quanta ? "quanta" : "exact");
            for (uint32_t w = 0; w < WORKLOADS_A_TO_F; w++) {
                struct point_key key = shared_at(e, w, by_quanta ? usual_quantum(e) : 0, hosts[i]);
                sheet_put(sheet, name, evaluate_workloads[w].label, at(e, key)->million_per_s);
            }
        }
    }
    add_command(e, sheet, shared_at(e, 5, 0, EVALUATE_GPU));
}

/* ---- 15: throughput ---- */

static void figure_15(struct evaluation *e)
{
    struct sheet *sheet = new_sheet(
        e, (struct sheet){.name = "figure-15",
                          .title = "Figure 15: million accesses/s by ways of the L1, and by machine",
                          .text = "96 tiles, workload F, exact. Where no ways are said, the L1 has 16.",
                          .across = "machine",
                          .upwards = "million accesses/s",
                          .bars = true,
                          .logarithmic = true});
    char name[SHEET_NAME], column[SHEET_NAME];
    struct point_key key = {5, CACHES_L1, scaled(e, 96), .host = EVALUATE_CPU_ONE};
    for (EACH_HOST(e, host)) {
        key.host = host;
        for (uint32_t ways = 1; ways <= 32; ways *= 2) {
            key.l1_ways = ways == 16 ? 0 : ways;
            sheet_put(sheet, host_name(e, host, name), numbered(column, ways, ways > 1 ? " ways" : " way"),
                      at(e, key)->million_per_s);
        }
        key.l1_ways = 0;
        for (key.machine = CACHES_PRIVATE; key.machine <= CACHES_SHARED; key.machine++)
            sheet_put(sheet, host_name(e, host, name), machines[key.machine], at(e, key)->million_per_s);
        key.machine = CACHES_L1;
    }
    key.host = EVALUATE_GPU;
    key.l1_ways = 4;
    add_command(e, sheet, key);
}

/* ---- beyond the paper ---- */

static const uint32_t many_workloads[] = {WORKLOAD_MADE, 2, 5};

static void thousands(struct evaluation *e)
{
    struct sheet *sheet = new_sheet(
        e,
        (struct sheet){.name = "thousands",
                       .title = "4,096 tiles: million accesses/s",
                       .text = "Exact. Made accesses are zipf:footprint=1MiB,skew=1.2, of each tile its own.",
                       .across = "machine",
                       .upwards = "million accesses/s",
                       .bars = true,
                       .logarithmic = true,
                       .shades = COUNT_OF(many_workloads)});
    char host_text[SHEET_NAME], name[2 * SHEET_NAME];
    for (EACH_HOST(e, host)) {
        for (size_t w = 0; host != EVALUATE_CPU_ONE && w < COUNT_OF(many_workloads); w++) {
            snprintf(name, SHEET_NAME, "%s: %s", host_name(e, host, host_text),
                     evaluate_workloads[many_workloads[w]].label);
            for (size_t m = 0; m < COUNT_OF(all_machines); m++) {
                struct point_key key = {many_workloads[w], all_machines[m], many_tiles(e), .host = host};
                sheet_put(sheet, name, machines[m], at(e, key)->million_per_s);
            }
        }
    }
    struct point_key key = {WORKLOAD_MADE, CACHES_SHARED, many_tiles(e), .host = EVALUATE_GPU_RESIDENT};
    add_command(e, sheet, key);
    key.workload = 5;
    add_command(e, sheet, key);
}

/* Of a device's time: what overlaps adds up to more than the wall's. */
static void device_times(struct evaluation *e)
{
    if (!e->has_gpu)
        return;
    struct sheet *sheet = new_sheet(
        e, (struct sheet){
               .name = "device",
               .title = "Where the time goes on the GPU, in milliseconds",
               .text = "96 tiles of workload F, overlapped; 4,096 tiles of made accesses, resident. Of "
                       "the GPU's own times, what overlaps adds up to more than the wall's.",
               .across = "machine",
               .upwards = "ms",
               .bars = true,
               .logarithmic = true});
    char column[SHEET_NAME];
    const struct point_key keys[] = {
        {5, CACHES_L1, scaled(e, 96), .host = EVALUATE_GPU},
        {WORKLOAD_MADE, CACHES_L1, many_tiles(e), .host = EVALUATE_GPU_RESIDENT}};
    for (size_t i = 0; i < COUNT_OF(keys); i++) {
        for (size_t m = 0; m < COUNT_OF(all_machines); m++) {
            struct point_key key = keys[i];
            key.machine = all_machines[m];
            const struct evaluate_point *point = at(e, key);
            snprintf(column, sizeof column, "%s, %u", machines[m], key.tiles);
            sheet_put(sheet, "wall", column, 1e3 * point->seconds);
            sheet_put(sheet, "transfers", column, 1e3 * point->transfer_s);
            sheet_put(sheet, "L1 kernels", column, 1e3 * point->l1_s);
            sheet_put(sheet, "L2 kernels", column, 1e3 * point->l2_s);
        }
    }
}

static void imbalance(struct evaluation *e)
{
    struct sheet *sheet =
        new_sheet(e, (struct sheet){.name = "slices",
                                    .title = "Shared L2: accesses of the busiest slice, relative to the mean",
                                    .text = "1 is even.",
                                    .across = "workload",
                                    .upwards = "busiest / mean",
                                    .bars = true});
    char name[SHEET_NAME];
    for (size_t i = 0; i < COUNT_OF(tile_counts); i++) {
        for (uint32_t w = 0; w < WORKLOADS_A_TO_F; w++) {
            struct point_key key = {w, CACHES_SHARED, scaled(e, tile_counts[i]), .host = EVALUATE_CPU_ALL};
            sheet_put(sheet, numbered(name, key.tiles, " tiles"), evaluate_workloads[w].label,
                      at(e, key)->imbalance);
        }
    }
    for (size_t w = 1; w < COUNT_OF(many_workloads); w++) {
        struct point_key key = {many_workloads[w], CACHES_SHARED, many_tiles(e), .host = EVALUATE_CPU_ALL};
        sheet_put(sheet, numbered(name, key.tiles, " tiles"), evaluate_workloads[many_workloads[w]].label,
                  at(e, key)->imbalance);
    }
    add_command(e, sheet, shared_at(e, 3, 0, EVALUATE_CPU_ALL));
}

void evaluation_figures(struct evaluation *e)
{
    static void (*const figures[])(struct evaluation *) = {
        figure_1,  figures_6_to_8, growth,    figure_9,  figure_10,    figures_11_to_13,
        figure_14, exactness,      figure_15, thousands, device_times, imbalance,
    };
    for (size_t i = 0; i < COUNT_OF(figures); i++)
        figures[i](e);
}

void evaluation_forget_figures(struct evaluation *e)
{
    for (size_t i = 0; i < e->sheet_count; i++)
        sheet_fini(&e->sheets[i]);
    e->sheet_count = 0;
}
