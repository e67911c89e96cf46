#include "gpu/bottleneck.h"

#include <string.h>

/* Percent, from which on something is what bounds a kernel. */
enum {
    BUSY = 60,      /* of what a resource could do */
    AT_WORK = 50,   /* below: of a kernel's cycles, in which its busiest SM had a block */
    SMS_USED = 50,  /* below: of all SMs */
    IMBALANCE = 50, /* of the mean, that the busiest SM was longer at work */
    CONFLICTS = 30, /* of passes through shared memory, that bank conflicts added */
    SCATTERED = 12, /* sectors of an instruction: from here on they do not coalesce */
};

static double value(const struct metric_source *source, const char *name)
{
    const struct metric_row *row = metric_find(source, name);
    return row ? metric_value(source, row) : 0;
}

/* ---- what is used to its limits ---- */

struct resource {
    double busy;            /* percent */
    const char *what, *how; /* "FMA units", "busy" */
};

/* Those that have a place of their own; others are counted with the one whose place they take. */
#define UNITS(U)                                                                                             \
    U(ALU, "integer and logic units")                                                                        \
    U(IMAD, "units for integer products")                                                                    \
    U(FMA, "FMA units")                                                                                      \
    U(HALF, "half precision units")                                                                          \
    U(FP64, "double precision units")                                                                        \
    U(SFU, "special function units")                                                                         \
    U(TENSOR, "tensor cores")                                                                                \
    U(LSU, "load and store units")                                                                           \
    U(TEX, "texture units")                                                                                  \
    U(CONTROL, "branch units")                                                                               \
    U(SYNC, "barriers: their units")                                                                         \
    U(SHUFFLE, "shuffles: their units")                                                                      \
    U(MATCH, "comparisons with all lanes: their units")                                                      \
    U(UNIFORM, "uniform units")                                                                              \
    U(SPECIAL, "reads of special registers: their units")                                                    \
    U(CONST, "loads of constants: their units")

static const char *data_words(const struct metric_source *source)
{
    const struct sm_counters *sm = &source->timing->sm;
    if (100 * sm->shared_conflicts > CONFLICTS * (sm->shared_wavefronts + 1))
        return "bank conflicts: shared memory";
    if (value(source, "heddle__l1_sectors_per_request.ratio") >= SCATTERED &&
        sm->l1_wavefronts > sm->shared_wavefronts)
        return "accesses that do not coalesce: L1";
    return sm->shared_wavefronts > sm->l1_wavefronts ? "shared memory" : "L1 bandwidth:";
}

/* A GPU without an L2 has slices all the same: its memory controllers. */
static const char *slice_words(const struct metric_source *source)
{
    return source->gpu->l2 ? "L2 bandwidth:" : "memory bandwidth: controllers";
}

/* Percent of a kernel's cycles that its blocks take to leave the dispatcher. */
static double dispatch_busy(const struct metric_source *source)
{
    const uint64_t *grid = source->launch->grid;
    double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
    return source->timing->cycles
               ? 100 * blocks * source->dispatch->block_cycles / (double)source->timing->cycles
               : 0;
}

static struct resource busiest(const struct metric_source *source)
{
    const struct resource all[] = {
        {value(source, "dram__throughput.avg.pct_of_peak_sustained_elapsed"), "memory bandwidth: DRAM",
         "of peak"},
        {value(source, "lts__throughput.avg.pct_of_peak_sustained_elapsed"), slice_words(source), "of peak"},
        {dispatch_busy(source), "block dispatch: the dispatcher", "busy"},
        {value(source, "l1tex__data_pipe_lsu_wavefronts.avg.pct_of_peak_sustained_active"),
         data_words(source), "busy"},
        {value(source, "smsp__issue_active.avg.pct_of_peak_sustained_active"),
         "instruction issue:", "of slots used"},
#define U(unit, words) {metric_unit_busy(source, UNIT_##unit), words, "busy"},
        UNITS(U)
#undef U
    };
    struct resource most = all[0];
    for (size_t i = 1; i < sizeof all / sizeof *all; i++) {
        if (all[i].busy > most.busy)
            most = all[i];
    }
    return most;
}

/* ---- what leaves the GPU idle ---- */

static bool tell_idle(const struct metric_source *source, struct text *text)
{
    const struct kernel_stats *k = source->timing;
    if (2 * k->sms_used * 100 < 2 * SMS_USED * k->sm_count)
        text_add(text, "too few blocks: %u of %u SMs have work", k->sms_used, k->sm_count);
    else if (100 * k->busiest_sm_cycles < AT_WORK * k->cycles)
        text_add(text, "launch overhead: SMs are at work in %llu%% of its cycles",
                 (unsigned long long)(100 * k->busiest_sm_cycles / (k->cycles ? k->cycles : 1)));
    else if (value(source, "heddle__load_imbalance.pct") > IMBALANCE)
        text_add(text, "load imbalance: the busiest SM works %.1f times as long as the mean",
                 1 + value(source, "heddle__load_imbalance.pct") / 100);
    else
        return false;
    return true;
}

/* ---- what warps wait for ---- */

static const char *const stall_words[STALL_COUNT] = {
#define X(name, help, words) words,
    STALLS(X)
#undef X
};

/* The largest reason to wait; selected and not_selected are none. */
static enum stall main_stall(const uint64_t stalls[STALL_COUNT])
{
    enum stall most = STALL_wait;
    for (int i = 0; i < STALL_COUNT; i++) {
        if (stall_words[i] && stalls[i] > stalls[most])
            most = (enum stall)i;
    }
    return most;
}

static const struct metric_place *main_place(const struct metric_place *places, size_t count,
                                             enum stall stall)
{
    const struct metric_place *most = NULL;
    for (size_t i = 0; i < count; i++) {
        if (places[i].counts.stalls[stall] > (most ? most->counts.stalls[stall] : 0))
            most = &places[i];
    }
    return most;
}

static void tell_stall(const struct metric_source *source, const struct metric_place *places, size_t count,
                       struct text *text)
{
    const uint64_t *stalls = source->timing->sm.stalls;
    enum stall stall = main_stall(stalls);
    const struct metric_place *place = main_place(places, count, stall);
    uint64_t all = 0;
    for (int i = 0; i < STALL_COUNT; i++)
        all += stalls[i];
    bool atomic =
        stall == STALL_long_scoreboard && place &&
        (!strncmp(place->at->instruction, "atom.", 5) || !strncmp(place->at->instruction, "red.", 4));
    text_add(text, "%s: warps wait for it %.0f%% of the time",
             atomic ? "latency of atomics" : stall_words[stall],
             all ? 100.0 * (double)stalls[stall] / (double)all : 0);
    if (place) {
        text_add(text, ", most at ");
        code_place_tell_short(place->at, text);
    }
    text_add(text, "; occupancy %.0f%%", value(source, "sm__warps_active.avg.pct_of_peak_sustained_active"));
}

void bottleneck_tell(const struct metric_source *source, const struct metric_place *places,
                     size_t place_count, struct text *text)
{
    struct resource most = busiest(source);
    if (!source->timing->sm.cycles_active) {
        text_add(text, "too little is known of it");
        return;
    }
    if (most.busy >= BUSY) {
        text_add(text, "%s %.0f%% %s", most.what, most.busy < 100 ? most.busy : 100, most.how);
        return;
    }
    if (tell_idle(source, text))
        text_add(text, "; ");
    tell_stall(source, places, place_count, text);
}
