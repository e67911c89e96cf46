#include "report/explain/causes.h"

/* Percent, from which on something is a cause. */
enum {
    BUSY = 60,      /* of what a resource could do */
    AT_WORK = 50,   /* below: of a kernel's cycles, in which its busiest SM had a block */
    SMS_USED = 50,  /* below: of all SMs */
    IMBALANCE = 50, /* of the mean, that the busiest SM was longer at work */
    CONFLICTS = 30, /* of passes through shared memory, that bank conflicts added */
    SCATTERED = 50, /* of sectors, that would not be needed if accesses coalesced */
    LOST = 25,      /* of lanes, that do nothing */
    MATTERS = 20,   /* of the time: less than that explains nothing */
};

/* Lanes that an atomic operation finds before it in its slice, on average, where there is contention: more
 * than its own warp has. */
enum { CONTENDED_LANES = 64 };

typedef const struct evidence evidence_t;
typedef const struct cause cause_t;

static double larger(double a, double b)
{
    return a > b ? a : b;
}

static double percent(double part, double whole)
{
    return whole > 0 ? 100 * part / whole : 0;
}

static double if_at_least(double least, double share)
{
    return share >= least ? share : 0;
}

/* Percent of the time of warps. */
static double waits(evidence_t *e, enum stall stall)
{
    return percent((double)e->k->sm.stalls[stall], e->stalls);
}

static double global_waits(evidence_t *e)
{
    return e->at_work * (waits(e, STALL_long_scoreboard) + waits(e, STALL_lg_throttle));
}

static double shared_waits(evidence_t *e)
{
    return e->at_work * (waits(e, STALL_short_scoreboard) + waits(e, STALL_mio_throttle));
}

static bool is_amd(evidence_t *e)
{
    return *e->source->gpu->target;
}

static double issued_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e, (void)cause;
    return (double)place->counts.issued;
}

static double unknown_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return e->k->sm.cycles_active ? 0 : 100;
}

static void tell_unknown(evidence_t *e, cause_t *cause, struct text *text)
{
    (void)e;
    text_add(text, "%s", cause->words);
}

/* ---- lanes that do nothing ---- */

/* Lanes of a warp that have a thread, on average. */
static double lanes_filled(evidence_t *e)
{
    const uint64_t *block = e->source->launch->block;
    double threads = (double)block[0] * (double)block[1] * (double)block[2];
    uint64_t lanes = e->source->gpu->warp_lanes, warps = ((uint64_t)threads + lanes - 1) / lanes;
    return warps ? threads / (double)warps : (double)lanes;
}

/* Of instructions that were issued, on average. A profile knows which are branches: that a thread does not
 * take one is no lane lost. */
static double lanes_active(evidence_t *e)
{
    const struct sm_counters *sm = &e->k->sm;
    double threads = 0, issued = 0;
    for (size_t i = 0; i < e->place_count; i++) {
        threads += (double)e->places[i].counts.threads;
        issued += (double)e->places[i].counts.issued;
    }
    if (issued > 0)
        return threads / issued;
    return sm->instructions ? (double)sm->thread_instructions / (double)sm->instructions
                            : (double)e->source->gpu->warp_lanes;
}

static double unfilled_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return if_at_least(LOST, 100 - percent(lanes_filled(e), (double)e->source->gpu->warp_lanes));
}

static void tell_unfilled(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: %.3g of a warp's %d lanes have a thread", cause->words, lanes_filled(e),
             (int)e->source->gpu->warp_lanes);
}

static double busiest_unit(evidence_t *e)
{
    double most = 0;
    for (int unit = 0; unit < UNIT_COUNT; unit++) {
        if (unit != UNIT_LSU && unit != UNIT_TEX)
            most = larger(most, metric_unit_busy(e->source, (enum isa_unit)unit));
    }
    return most;
}

/* It makes instructions more: where these are what there is too much of, it is the cause of all of that. */
static double divergence_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    double lost = 100 - percent(lanes_active(e), lanes_filled(e));
    double busy = if_at_least(BUSY, larger(e->issue, busiest_unit(e)));
    return lost >= LOST ? larger(lost, busy < 100 ? busy : 100) : 0;
}

static void tell_divergence(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: %.1f of %.3g lanes active", cause->words, lanes_active(e), lanes_filled(e));
}

static double lost_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)cause;
    return (double)place->counts.issued * lanes_filled(e) - (double)place->counts.threads;
}

/* ---- atomics ---- */

static bool is_atomic_of_global(const struct metric_place *place)
{
    return place->at->is_atomic && !place->at->is_shared;
}

static double contended_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    const struct l2_spec *l2 = e->source->l2;
    double busy_ns = 2 * e->atomic_wait; /* the last of many waits twice as long as the mean */
    if (e->atomic_wait < CONTENDED_LANES * l2->atomic_same_cycles * 1e9 / (double)l2->clock)
        return 0;
    double share = larger(e->at_work * e->atomics_waited,
                          percent(busy_ns, (double)(e->k->end_ps - e->k->start_ps) * 1e-3));
    return if_at_least(MATTERS, share < 100 ? share : 100);
}

static void tell_contended(evidence_t *e, cause_t *cause, struct text *text)
{
    bool many = e->atomic_wait >= 1000;
    text_add(text, "%s: each waits %.3g %s for others in its L2 slice", cause->words,
             many ? e->atomic_wait / 1000 : e->atomic_wait, many ? "us" : "ns");
}

double atomics_waited_at(const struct metric_place *place)
{
    return is_atomic_of_global(place)
               ? (double)(place->counts.awaited + place->counts.stalls[STALL_lg_throttle])
               : 0;
}

/* Those that nobody waits for show by how many they are. */
static double atomic_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e, (void)cause;
    return is_atomic_of_global(place) ? atomics_waited_at(place) + (double)place->counts.threads : 0;
}

static double atomics_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    double share = e->at_work * e->atomics_waited;
    return share >= global_waits(e) / 2 ? if_at_least(MATTERS, share) : 0;
}

static void tell_atomics(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: warps wait for it %.0f%% of the time", cause->words, e->atomics_waited);
}

/* ---- L1 and shared memory ---- */

static double conflicts_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e, (void)cause;
    return (double)place->counts.conflicts;
}

static double conflicts_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    const struct sm_counters *sm = &e->k->sm;
    if (100 * sm->shared_conflicts <= CONFLICTS * (sm->shared_wavefronts + 1))
        return 0;
    double busy = sm->shared_wavefronts > sm->l1_wavefronts ? e->data : 0;
    return if_at_least(MATTERS, larger(busy, shared_waits(e)));
}

/* Atomics on one word of shared memory come one by one, which counts as conflicts. */
static double shared_atomics_share(evidence_t *e, cause_t *cause)
{
    double atomics = 0, all = 0;
    for (size_t i = 0; i < e->place_count; i++) {
        double conflicts = conflicts_at(e, cause, &e->places[i]);
        all += conflicts;
        atomics += e->places[i].at->is_atomic ? conflicts : 0;
    }
    return 2 * atomics > all ? conflicts_share(e, cause) : 0;
}

static void tell_conflicts(evidence_t *e, cause_t *cause, struct text *text)
{
    const struct sm_counters *sm = &e->k->sm;
    text_add(text, "%s: ", cause->words);
    if (e->data >= BUSY)
        text_add(text, "shared memory %.0f%% busy", e->data < 100 ? e->data : 100);
    else
        text_add(text, "%.0f%% of its passes are repeats",
                 percent((double)sm->shared_conflicts, (double)sm->shared_wavefronts));
}

static double scattered(evidence_t *e)
{
    const struct sm_counters *sm = &e->k->sm;
    return percent((double)sm->l1_extra_sectors, (double)(sm->l1_load_sectors + sm->l1_store_sectors));
}

/* What accesses that do not coalesce keep busy, in percent of what it could do. */
static double scattered_busy(evidence_t *e)
{
    const struct sm_counters *sm = &e->k->sm;
    double busy = sm->l1_wavefronts > sm->shared_wavefronts ? e->data : 0;
    return larger(busy, larger(e->dram, e->l2));
}

/* Something is used up by them: that and all waiting follow from it. */
static double scattered_full_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    double busy = scattered_busy(e);
    return scattered(e) >= SCATTERED && busy >= BUSY ? larger(busy, global_waits(e)) : 0;
}

/* Nothing is: then warps wait for the latency of memory in the first place. */
static double scattered_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return scattered(e) >= SCATTERED
               ? if_at_least(MATTERS, scattered(e) / 100 * larger(scattered_busy(e), global_waits(e)))
               : 0;
}

static void tell_scattered(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: %.0f%% of the sectors they touch are not needed", cause->words, scattered(e));
}

static double extra_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e, (void)cause;
    return (double)place->counts.extra_sectors;
}

static double data_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return if_at_least(BUSY, e->data);
}

static void tell_data(evidence_t *e, cause_t *cause, struct text *text)
{
    const struct sm_counters *sm = &e->k->sm;
    (void)cause;
    text_add(text, "%s %.0f%% busy",
             sm->shared_wavefronts > sm->l1_wavefronts ? "shared memory" : "L1 bandwidth:",
             e->data < 100 ? e->data : 100);
}

static double passes_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e, (void)cause;
    return (double)place->counts.passes;
}

/* ---- L2 and memory ---- */

static double dram_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return if_at_least(BUSY, e->dram);
}

static void tell_dram(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s %.0f%% of peak", cause->words, e->dram < 100 ? e->dram : 100);
}

static double l2_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return if_at_least(BUSY, e->l2);
}

/* A GPU without an L2 has slices all the same: its memory controllers. */
static void tell_l2(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s %.0f%% of peak", e->source->gpu->l2 ? cause->words : "memory bandwidth: controllers",
             e->l2 < 100 ? e->l2 : 100);
}

static double sectors_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e, (void)cause;
    return (double)place->counts.sectors;
}

/* ---- dispatch, issue, units ---- */

/* Percent of a kernel's cycles that its blocks take to leave the dispatcher. */
static double dispatch_busy(evidence_t *e)
{
    const uint64_t *grid = e->source->launch->grid;
    double blocks = (double)grid[0] * (double)grid[1] * (double)grid[2];
    return percent(blocks * e->source->dispatch->block_cycles, (double)e->k->cycles);
}

static double dispatch_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return if_at_least(BUSY, dispatch_busy(e));
}

static void tell_dispatch(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s %.0f%% busy", cause->words, dispatch_busy(e) < 100 ? dispatch_busy(e) : 100);
}

static double issue_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return if_at_least(BUSY, e->issue);
}

static void tell_issue(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s %.0f%% of slots used", cause->words, e->issue < 100 ? e->issue : 100);
}

static double unit_share(evidence_t *e, cause_t *cause)
{
    return if_at_least(BUSY, metric_unit_busy(e->source, (enum isa_unit)cause->which));
}

static void tell_unit(evidence_t *e, cause_t *cause, struct text *text)
{
    double busy = metric_unit_busy(e->source, (enum isa_unit)cause->which);
    text_add(text, "%s %.0f%% busy", cause->words, busy < 100 ? busy : 100);
}

static double of_unit_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    double own = 0, all = 0;
    for (int unit = 0; unit < UNIT_COUNT; unit++) {
        all += place->at->steps[unit];
        own += e->costs[unit].place == e->costs[cause->which].place ? place->at->steps[unit] : 0;
    }
    return all > 0 ? (double)place->counts.issued * own / all : 0;
}

/* ---- what leaves the GPU idle ---- */

static double few_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    double used = percent(e->k->sms_used, e->k->sm_count);
    return used < SMS_USED ? 100 - used : 0;
}

static void tell_few(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: only %u of %u SMs ha%s work", cause->words, e->k->sms_used, e->k->sm_count,
             e->k->sms_used == 1 ? "s" : "ve");
}

static double overhead_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return 100 * e->at_work < AT_WORK ? 100 - 100 * e->at_work : 0;
}

static void tell_overhead(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: SMs have work in only %.0f%% of the kernel's cycles", cause->words, 100 * e->at_work);
}

static double imbalance_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    return e->imbalance > IMBALANCE ? percent(e->imbalance, 100 + e->imbalance) : 0;
}

static void tell_imbalance(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: the busiest SM works %.1f times as long as the mean", cause->words,
             1 + e->imbalance / 100);
}

/* ---- what warps wait for ---- */

/* Warp cycles in which the reply to a load of constants (AMD: a scalar load) was waited for. */
static double constants_waited_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e, (void)cause;
    return place->at->steps[UNIT_CONST] > 0 ? (double)place->counts.awaited : 0;
}

/* Percent of the time of warps; the profiler's reason for it is that for shared memory. */
static double constants_waited(evidence_t *e)
{
    double waited = 0, whole = 0; /* places may be those of several launches */
    for (size_t i = 0; i < e->place_count; i++) {
        waited += constants_waited_at(e, NULL, &e->places[i]);
        for (int stall = 0; stall < STALL_COUNT; stall++)
            whole += (double)e->places[i].counts.stalls[stall];
    }
    return percent(waited, whole);
}

static double constants_share(evidence_t *e, cause_t *cause)
{
    (void)cause;
    double share = e->at_work * constants_waited(e);
    return share >= shared_waits(e) / 2 ? if_at_least(MATTERS, share) : 0;
}

static void tell_constants(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: warps wait for it %.0f%% of the time",
             is_amd(e) ? "latency of scalar loads" : cause->words, constants_waited(e));
}

static double stall_share(evidence_t *e, cause_t *cause)
{
    return cause->words ? e->at_work * waits(e, (enum stall)cause->which) : 0;
}

/* AMD's special functions have a fixed latency; who waits as for them, waits for the LDS or a scalar load. */
static const char *stall_words(evidence_t *e, cause_t *cause)
{
    return cause->which == STALL_short_scoreboard && is_amd(e) ? "latency of the LDS and of scalar loads"
                                                               : cause->words;
}

static void tell_stall(evidence_t *e, cause_t *cause, struct text *text)
{
    text_add(text, "%s: warps wait for it %.0f%% of the time", stall_words(e, cause),
             waits(e, (enum stall)cause->which));
}

static double stalled_at(evidence_t *e, cause_t *cause, const struct metric_place *place)
{
    (void)e;
    return (double)place->counts.stalls[cause->which];
}

/* ---- rows ---- */

/* Units that have a place of their own; others are counted with the one whose place they take. */
#define UNITS(U)                                                                                             \
    U(ALU, IS_BUSY, IS_COMPUTE_WAIT, "integer and logic units")                                              \
    U(IMAD, IS_BUSY, IS_COMPUTE_WAIT, "units for integer products")                                          \
    U(FMA, IS_BUSY, IS_COMPUTE_WAIT, "FMA units")                                                            \
    U(HALF, IS_BUSY, IS_COMPUTE_WAIT, "half precision units")                                                \
    U(FP64, IS_BUSY, IS_COMPUTE_WAIT, "double precision units")                                              \
    U(SFU, IS_BUSY, IS_COMPUTE_WAIT | IS_SHARED_WAIT, "special function units")                              \
    U(TENSOR, IS_BUSY, IS_COMPUTE_WAIT, "tensor cores")                                                      \
    U(LSU, IS_DATA, IS_GLOBAL_WAIT | IS_SHARED_WAIT, "load and store units")                                 \
    U(TEX, IS_DATA, IS_GLOBAL_WAIT | IS_SHARED_WAIT, "texture units")                                        \
    U(CONTROL, IS_BUSY, IS_COMPUTE_WAIT, "branch units")                                                     \
    U(SYNC, IS_BUSY, IS_COMPUTE_WAIT, "barriers: their units")                                               \
    U(SHUFFLE, IS_BUSY, IS_COMPUTE_WAIT | IS_SHARED_WAIT, "shuffles: their units")                           \
    U(MATCH, IS_BUSY, IS_COMPUTE_WAIT | IS_SHARED_WAIT, "comparisons with all lanes: their units")           \
    U(UNIFORM, IS_BUSY, IS_COMPUTE_WAIT, "uniform units")                                                    \
    U(SPECIAL, IS_BUSY, IS_COMPUTE_WAIT | IS_SHARED_WAIT, "reads of special registers: their units")         \
    U(CONST, IS_BUSY, IS_COMPUTE_WAIT | IS_SHARED_WAIT, "loads of constants: their units")

/* What a stall is a symptom of. */
#define IS_OF_selected           0
#define IS_OF_not_selected       0
#define IS_OF_wait               IS_COMPUTE_WAIT
#define IS_OF_long_scoreboard    IS_GLOBAL_WAIT
#define IS_OF_short_scoreboard   IS_SHARED_WAIT
#define IS_OF_math_pipe_throttle IS_BUSY
#define IS_OF_lg_throttle        IS_GLOBAL_WAIT
#define IS_OF_mio_throttle       IS_SHARED_WAIT
#define IS_OF_tex_throttle       IS_GLOBAL_WAIT
#define IS_OF_barrier            IS_OTHER_WAIT
#define IS_OF_membar             IS_OTHER_WAIT
#define IS_OF_branch_resolving   IS_OTHER_WAIT
#define IS_OF_no_instruction     IS_OTHER_WAIT
#define IS_OF_dispatch_stall     IS_COMPUTE_WAIT
#define IS_OF_sleeping           IS_OTHER_WAIT
#define IS_OF_drain              IS_OTHER_WAIT

/* The first is told where none applies. Of the others, what causes another comes before it. */
const struct cause causes[] = {
    {"not enough data", 0, ~0u, 0, unknown_share, tell_unknown, NULL},
    {"blocks that do not fill their warps", IS_LANES | IS_IDLE, 0, 0, unfilled_share, tell_unfilled, NULL},
    {"divergence", IS_LANES, IS_BUSY, 0, divergence_share, tell_divergence, lost_at},
    {"contended atomics", IS_L2, IS_GLOBAL_WAIT | IS_OTHER_WAIT | IS_OVERHEAD, 0, contended_share,
     tell_contended, atomic_at},
    {"latency of atomics", IS_GLOBAL_WAIT, IS_GLOBAL_WAIT, 0, atomics_share, tell_atomics, atomic_at},
    {"contended atomics of shared memory", IS_DATA, IS_DATA | IS_SHARED_WAIT, 0, shared_atomics_share,
     tell_conflicts, conflicts_at},
    {"latency of constant memory", IS_SHARED_WAIT, IS_SHARED_WAIT, 0, constants_share, tell_constants,
     constants_waited_at},
    {"bank conflicts", IS_DATA, IS_DATA | IS_SHARED_WAIT, 0, conflicts_share, tell_conflicts, conflicts_at},
    {"accesses that do not coalesce", IS_DATA, IS_DATA | IS_L2 | IS_GLOBAL_WAIT, 0, scattered_full_share,
     tell_scattered, extra_at},
    {"accesses that do not coalesce", IS_DATA, IS_DATA, 0, scattered_share, tell_scattered, extra_at},
    {"memory bandwidth: DRAM", IS_DRAM, IS_L2 | IS_GLOBAL_WAIT, 0, dram_share, tell_dram, sectors_at},
    {"L2 bandwidth:", IS_L2, IS_GLOBAL_WAIT, 0, l2_share, tell_l2, sectors_at},
    {"block dispatch: the dispatcher", IS_OVERHEAD, IS_OVERHEAD, 0, dispatch_share, tell_dispatch, NULL},
    {"L1 and shared memory", IS_DATA, IS_GLOBAL_WAIT | IS_SHARED_WAIT, 0, data_share, tell_data, passes_at},
    {"instruction issue:", IS_BUSY, IS_COMPUTE_WAIT, 0, issue_share, tell_issue, issued_at},
#define U(unit, is, accounts_for, words)                                                                     \
    {words, is, accounts_for, UNIT_##unit, unit_share, tell_unit, of_unit_at},
    UNITS(U)
#undef U
        {"too few blocks", IS_IDLE, 0, 0, few_share, tell_few, NULL},
    {"launch overhead", IS_OVERHEAD, 0, 0, overhead_share, tell_overhead, NULL},
    {"load imbalance", IS_IDLE, 0, 0, imbalance_share, tell_imbalance, NULL},
#define X(stall, help, words) {words, IS_OF_##stall, 0, STALL_##stall, stall_share, tell_stall, stalled_at},
    STALLS(X)
#undef X
};

const size_t cause_count = sizeof causes / sizeof *causes;
