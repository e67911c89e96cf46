#include "cpu/runs/runs.h"
#include "cpu/runs/blocks.h"
#include "cpu/runs/sched.h"
#include "base/bits.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

enum { ACCESSES = 4096, NS = 1000, SPINS = 500 };
enum { DOZE_NS = 5000000, NAP_NS = 20000 }; /* NAP: letters to the machine wake nobody here */

/* What is known of a thread's last block: it is simulated when it is known where the thread went then. */
struct pending {
    const struct decoded *block;
    uint32_t count;
    uint64_t words[ACCESSES];
};

struct cpurun {
    struct cpu_spec spec;
    struct cpurun_shared *shared;
    struct cpu_core *cores;
    struct cpu_memory **memories;
    struct cpu_shared memory;
    struct clock_domain clock;
    struct blocks blocks;
    struct sched threads;
    struct pending *pending[CPURUN_LANES];
    uint32_t thread_count;
    bool is_plain; /* `memory` is what lies below the caches */
    bool has_beside;
    struct cpurun_beside beside;
    struct cpurun_watcher watcher; /* ran: NULL: nobody watches */
    uint64_t ran_ps[CPURUN_LANES]; /* until then, it was told */
    bool (*stop)(void);
};

/* ---- shared memory ---- */

struct cpurun_shared *cpurun_shared_new(int *file, struct err *err)
{
    struct cpurun_shared *shared = MAP_FAILED;
    *file = memfd_create("heddle-cpu", MFD_CLOEXEC);
    if (*file >= 0 && !ftruncate(*file, sizeof *shared))
        shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE, MAP_SHARED, *file, 0);
    if (shared != MAP_FAILED)
        return shared;
    err_set(err, "run: no memory to share with the program: %s", strerror(errno));
    if (*file >= 0)
        close(*file);
    return NULL;
}

void cpurun_shared_free(struct cpurun_shared *shared, int file)
{
    munmap(shared, sizeof *shared);
    close(file);
}

/* ---- execution ---- */

static struct cpu_core *core_of(struct cpurun *run, uint32_t lane)
{
    return &run->cores[run->threads.at[lane].core];
}

/* Accesses of one instruction that touch each other are one: QEMU splits those of vectors into words. */
static uint32_t take_accesses(const struct pending *pending, uint32_t *at, uint32_t place,
                              struct cpu_access accesses[64])
{
    uint32_t count = 0;
    for (; *at < pending->count; ++*at) {
        uint64_t word = pending->words[*at];
        uint32_t kind = (uint32_t)(word >> CPURUN_KIND_SHIFT & 3);
        uint64_t address = word & CPURUN_ADDRESS, bytes = UINT64_C(1) << (word >> CPURUN_SIZE_SHIFT & 7);
        struct cpu_access *last = count ? &accesses[count - 1] : NULL;
        if ((word >> CPURUN_PLACE_SHIFT & 511) != place)
            break;
        if (last && last->kind == kind && last->address + last->bytes == address && last->bytes < CPU_LINE)
            last->bytes += (uint32_t)bytes;
        else if (count < 64)
            accesses[count++] = (struct cpu_access){address, (uint32_t)bytes, kind};
    }
    return count;
}

/* Simulates the thread's last block; the next one is at `next`, or 0: nothing is known of it. */
static void finish_block(struct cpurun *run, uint32_t lane, uint64_t next)
{
    struct pending *pending = run->pending[lane];
    const struct decoded *block = pending->block;
    struct cpu_core *core = core_of(run, lane);
    struct cpu_access accesses[64];
    uint32_t at = 0;
    if (!block)
        return;
    for (uint32_t i = 0; i < block->count; i++) {
        struct cpu_step step = {.insn = &block->insns[i], .accesses = accesses};
        if (at < pending->count)
            step.access_count = take_accesses(pending, &at, i & 511, accesses);
        if (i == block->count - 1 && step.insn->jump != CPU_FALLS && next) {
            step.target = next;
            step.taken = next != block->end || step.insn->jump != CPU_CONDITIONAL;
        }
        core->model->step(core, &step);
    }
    pending->block = NULL;
    pending->count = 0;
}

/* How far the core is goes to the threads. */
static uint64_t core_time(struct cpurun *run, uint32_t lane)
{
    struct cpu_core *core = core_of(run, lane);
    uint32_t number = run->threads.at[lane].core;
    return run->threads.core_ps[number] = clock_time(&run->clock, core->model->now(core));
}

static void wait_until(struct cpurun *run, uint32_t lane, uint64_t time_ps, enum cpu_cause cause)
{
    struct cpu_core *core = core_of(run, lane);
    uint64_t cycle = clock_cycle(&run->clock, time_ps);
    core->model->wait(core, cycle + (clock_time(&run->clock, cycle) < time_ps), cause);
}

static void call_system(struct cpurun *run, uint32_t lane)
{
    struct cpu_core *core = core_of(run, lane);
    core->syscalls++;
    core->model->wait(core, core->model->now(core) + run->spec.core.syscall, CAUSE_system);
}

static void begin_thread(struct cpurun *run, uint32_t lane, uint64_t time_ps)
{
    sched_add(&run->threads, lane, time_ps);
    if (!run->pending[lane])
        run->pending[lane] = mem_alloc(1, sizeof *run->pending[lane]);
    run->pending[lane]->block = NULL;
    run->pending[lane]->count = 0;
    run->thread_count++;
}

/* What a thread ran is told up to now; and it runs from now on. */
static void tell_ran(struct cpurun *run, uint32_t lane, uint32_t core)
{
    uint64_t now = run->threads.core_ps[core];
    if (run->watcher.ran && now > run->ran_ps[lane])
        run->watcher.ran(run->watcher.user, core, lane, run->ran_ps[lane], now);
    run->ran_ps[lane] = now;
}

static void run_from_now(struct cpurun *run, uint32_t lane)
{
    run->ran_ps[lane] = run->threads.core_ps[run->threads.at[lane].core];
}

/* ---- words ---- */

static void run_another(struct cpurun *run);

/* Those whom threads that are not simulated have woken. */
static bool take_wakes(struct cpurun *run)
{
    struct cpurun_wakes *wakes = &run->shared->wakes;
    uint32_t number = atomic_load(&wakes->taken), posted = atomic_load(&wakes->posted);
    bool any = number != posted;
    for (; number != posted; number++)
        sched_wake(&run->threads, wakes->futexes[number % CPURUN_WAKES], wakes->counts[number % CPURUN_WAKES],
                   run->beside.time(run->beside.user));
    atomic_store(&wakes->taken, number);
    return any;
}

/* All threads that are in libraries of ours wait there: for one that is to be let on, maybe. */
static bool nobody_moves(const struct cpurun *run)
{
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        const struct cpurun_lane *lane = &run->shared->lanes[i];
        if (atomic_load(&lane->state) == CPURUN_LIVE && atomic_load(&lane->muted) &&
            !atomic_load(&lane->stuck))
            return false;
    }
    return sched_soonest(&run->threads) != TIME_NEVER;
}

/* The thread is in a library of ours, maybe in a call that waits: other threads go on meanwhile, in the order
 * of time. */
static enum cpurun_turn take_turn(struct cpurun *run, uint32_t number)
{
    take_wakes(run);
    sched_call(&run->threads, number);
    enum cpurun_turn turn = run->beside.turn(run->beside.user, sched_soonest(&run->threads));
    bool is_stuck = turn == CPURUN_IDLE && nobody_moves(run);
    if (turn == CPURUN_BEHIND || is_stuck) {
        tell_ran(run, number, run->threads.at[number].core);
        run_another(run);
        run_from_now(run, number);
    }
    sched_return(&run->threads, number);
    return is_stuck ? CPURUN_WORKED : turn;
}

/* Takes words of a lane: false: there are none, and the program has ended. */
static bool wait_for_words(struct cpurun *run, const struct cpurun_lane *lane, uint64_t tail)
{
    struct cpurun_shared *shared = run->shared;
    for (uint32_t i = 0; atomic_load(&lane->head) == tail; i++) {
        if (i < SPINS)
            continue;
        if (run->has_beside && atomic_load(&lane->muted) &&
            take_turn(run, (uint32_t)(lane - shared->lanes)) != CPURUN_IDLE) {
            i = 0;
            continue;
        }
        bool over = atomic_load(&shared->over);
        uint32_t seen = atomic_load(&shared->posted);
        if (atomic_load(&lane->head) != tail)
            break;
        if (over || run->stop())
            return false;
        atomic_store(&shared->sleeps, 1);
        if (atomic_load(&lane->head) == tail && !atomic_load(&shared->over))
            cpurun_doze(&shared->posted, seen, run->has_beside ? NAP_NS : DOZE_NS);
        atomic_store(&shared->sleeps, 0);
    }
    return true;
}

static void give_room(struct cpurun_lane *lane, uint64_t tail)
{
    atomic_store(&lane->tail, tail);
    if (atomic_load(&lane->wants_room)) {
        atomic_store(&lane->wants_room, 0);
        atomic_fetch_add(&lane->room, 1);
        cpurun_wake(&lane->room);
    }
}

struct reader {
    struct cpurun *run;
    struct cpurun_lane *lane;
    const uint64_t *ring;
    uint64_t tail, head;
};

static bool next_word(struct reader *reader, uint64_t *word)
{
    if (reader->tail == reader->head) {
        give_room(reader->lane, reader->tail);
        if (!wait_for_words(reader->run, reader->lane, reader->tail))
            return false;
        reader->head = atomic_load(&reader->lane->head);
    }
    *word = reader->ring[reader->tail++ % CPURUN_WORDS];
    return true;
}

static void grant(struct cpurun *run, uint32_t number)
{
    struct cpurun_lane *lane = &run->shared->lanes[number];
    struct sched_thread *thread = &run->threads.at[number];
    wait_until(run, number, run->threads.core_ps[thread->core], CAUSE_idle);
    atomic_store(&lane->answer, core_time(run, number));
    run_from_now(run, number);
    atomic_store(&lane->timed_out, thread->timed_out);
    thread->timed_out = false;
    atomic_store(&run->shared->granted, number);
    atomic_fetch_add(&lane->grants, 1);
    cpurun_wake(&lane->grants);
}

/* What a thread says, other than what it executes. False: it does not go on by itself. */
static bool take_op(struct reader *reader, uint32_t lane, uint64_t word)
{
    struct cpurun *run = reader->run;
    struct sched *threads = &run->threads;
    uint64_t value = word & CPURUN_VALUE, second = 0;
    enum cpurun_op op = (enum cpurun_op)(word >> CPURUN_OP_SHIFT & 15);
    if (op == CPURUN_SLEEP || op == CPURUN_WAKE || op == CPURUN_AT)
        next_word(reader, &second);
    finish_block(run, lane, 0);
    uint64_t now = core_time(run, lane);
    switch (op) {
    case CPURUN_CALL:
        call_system(run, lane);
        core_time(run, lane);
        return true;
    case CPURUN_BEGIN:
        begin_thread(run, (uint32_t)value % CPURUN_LANES, now);
        return true;
    case CPURUN_WAKE:
        sched_wake(threads, second, value, now);
        return true;
    case CPURUN_SLEEP:
        sched_sleep(threads, lane, second, now, value == CPURUN_FOREVER ? TIME_NEVER : now + value * NS);
        return false;
    case CPURUN_PAUSE:
        sched_sleep(threads, lane, 0, now, now + value * NS);
        return false;
    case CPURUN_AWAY:
        sched_go_away(threads, lane);
        return false;
    case CPURUN_AT: /* a call has ended then: it waited */
        tell_ran(run, lane, threads->at[lane].core);
        wait_until(run, lane, second, CAUSE_idle);
        core_time(run, lane);
        run_from_now(run, lane);
        return false;
    case CPURUN_END:
        sched_end(threads, lane);
        atomic_store(&run->shared->lanes[lane].state, CPURUN_FREE);
        return false;
    default: /* YIELD, TIME, BACK */
        return false;
    }
}

/* Until the thread waits for a grant. False: the program has ended. */
static bool run_thread(struct cpurun *run, uint32_t number)
{
    struct cpurun_lane *lane = &run->shared->lanes[number];
    struct reader reader = {run, lane, run->shared->rings[number], atomic_load(&lane->tail), 0};
    struct pending *pending = run->pending[number];
    uint64_t word;
    uint32_t core = run->threads.at[number].core;
    bool goes_on = true, good;
    reader.head = atomic_load(&lane->head);
    while (goes_on && (good = next_word(&reader, &word))) {
        if (word >> CPURUN_KIND_SHIFT) {
            if (LIKELY(pending->count < ACCESSES))
                pending->words[pending->count++] = word;
        } else if (word >> CPURUN_OP_SHIFT == CPURUN_BLOCK) {
            const struct decoded *next = blocks_get(&run->blocks, (uint32_t)word);
            finish_block(run, number, next->pc);
            pending->block = next;
        } else {
            goes_on = take_op(&reader, number, word);
        }
    }
    give_room(lane, reader.tail);
    tell_ran(run, number, core);
    return good;
}

/* ---- threads ---- */

/* Threads that have returned from outside of the simulation. */
static bool look_for_returned(struct cpurun *run)
{
    bool any = false;
    for (uint32_t i = 0; i < CPURUN_LANES; i++) {
        struct cpurun_lane *lane = &run->shared->lanes[i];
        uint64_t tail = atomic_load(&lane->tail);
        if (run->threads.at[i].state != SCHED_AWAY || atomic_load(&lane->head) == tail)
            continue;
        give_room(lane, tail + 1); /* CPURUN_BACK */
        sched_come_back(&run->threads, i);
        any = true;
    }
    return any;
}

/* False: the program has ended. */
static bool wait_for_returned(struct cpurun *run)
{
    struct cpurun_shared *shared = run->shared;
    for (;;) {
        bool over = atomic_load(&shared->over);
        uint32_t seen = atomic_load(&shared->posted);
        atomic_store(&shared->sleeps, 1);
        if (look_for_returned(run) || (run->has_beside && take_wakes(run))) {
            atomic_store(&shared->sleeps, 0);
            return true;
        }
        if (over || run->stop())
            return false;
        cpurun_doze(&shared->posted, seen, DOZE_NS);
    }
}

/* A quantum of the thread that is furthest behind. */
static void run_another(struct cpurun *run)
{
    uint32_t next = sched_next(&run->threads);
    if (next == SCHED_NONE)
        return;
    grant(run, next);
    run_thread(run, next);
}

static bool let_machine_on(struct cpurun *run)
{
    static const uint64_t some_ps = 1000000;
    return run->beside.let_on(run->beside.user, run->beside.time(run->beside.user) + some_ps);
}

void cpurun_go(struct cpurun *run)
{
    begin_thread(run, 0, 0);
    for (;;) {
        look_for_returned(run);
        uint32_t next = sched_next(&run->threads);
        if (next == SCHED_NONE) { /* all sleep: only the machine, or something outside, can change that */
            if (!(run->has_beside && (take_wakes(run) || let_machine_on(run))) && !wait_for_returned(run))
                return;
            continue;
        }
        if (run->has_beside)
            run->beside.let_on(run->beside.user, run->threads.core_ps[run->threads.at[next].core]);
        grant(run, next);
        if (!run_thread(run, next))
            return;
    }
}

void cpurun_over(struct cpurun_shared *shared)
{
    atomic_store(&shared->over, 1);
    atomic_fetch_add(&shared->posted, 1);
    cpurun_wake(&shared->posted);
}

/* ---- making, results ---- */

struct cpurun *cpurun_new(const struct cpu_spec *spec, struct cpurun_shared *shared, struct outer *outer,
                          bool (*stop)(void))
{
    struct cpurun *run = mem_alloc(1, sizeof *run);
    uint32_t count = (uint32_t)spec->core.cores;
    run->spec = *spec;
    run->shared = shared;
    run->stop = stop;
    shared->quantum = spec->core.quantum;
    run->cores = mem_alloc_lines(count, sizeof *run->cores);
    run->memories = mem_alloc(count, sizeof *run->memories);
    run->is_plain = !outer;
    if (run->is_plain)
        cpu_shared_init(&run->memory, &run->spec, run->memories);
    for (uint32_t i = 0; i < count; i++) {
        cpu_core_init(&run->cores[i], &run->spec, i, outer ? outer : &run->memory.base);
        run->memories[i] = &run->cores[i].memory;
    }
    clock_init(&run->clock, spec->core.clock);
    blocks_init(&run->blocks, shared);
    sched_start(&run->threads, count, spec->core.slice, spec->core.wake);
    return run;
}

void cpurun_free(struct cpurun *run)
{
    for (uint32_t i = 0; i < run->spec.core.cores; i++)
        cpu_core_fini(&run->cores[i]);
    for (uint32_t i = 0; i < CPURUN_LANES; i++)
        mem_free(run->pending[i]);
    if (run->is_plain)
        cpu_shared_fini(&run->memory);
    blocks_fini(&run->blocks);
    mem_free(run->memories);
    mem_free(run->cores);
    mem_free(run);
}

void cpurun_set_watcher(struct cpurun *run, const struct cpurun_watcher *watcher)
{
    run->watcher = *watcher;
}

void cpurun_set_beside(struct cpurun *run, const struct cpurun_beside *beside)
{
    run->beside = *beside;
    run->has_beside = true;
}

struct cpu_memory **cpurun_memories(struct cpurun *run)
{
    return run->memories;
}

uint32_t cpurun_core_count(const struct cpurun *run)
{
    return (uint32_t)run->spec.core.cores;
}

const struct cpu_core *cpurun_core(const struct cpurun *run, uint32_t number)
{
    return &run->cores[number];
}

const struct cpu_shared *cpurun_memory(const struct cpurun *run)
{
    return run->is_plain ? &run->memory : NULL;
}

uint64_t cpurun_core_cycles(const struct cpurun *run, uint32_t number)
{
    const struct cpu_core *core = &run->cores[number];
    return core->model->now(core);
}

uint64_t cpurun_time(const struct cpurun *run)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < run->spec.core.cores; i++)
        most = max_u64(most, cpurun_core_cycles(run, i));
    return clock_time(&run->clock, most);
}

uint32_t cpurun_threads(const struct cpurun *run)
{
    return run->thread_count;
}

uint64_t cpurun_switches(const struct cpurun *run)
{
    return run->threads.switches;
}
