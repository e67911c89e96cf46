/* An out-of-order core, by interval analysis of its window of instructions. Instructions come in program
 * order, and each is looked at once: when it can be dispatched (width, room in the window, the front end
 * after mispredicted branches and misses of instructions), when its sources are there, when a unit is free,
 * when its data comes, and when it retires, in order. What does not depend on a miss goes on in its shadow as
 * far as the window reaches: memory-level parallelism needs no rule of its own.
 *
 * The cycles between two instructions that retire are charged to what the second one was late for. */
#include "base/calendar.h"
#include "cpu/core.h"
#include "base/bits.h"

enum { WINDOW_MOST = 1024, FORWARDS = 256, GRANULE_SHIFT = 3 };

/* A store that loads may find before it reaches the cache. */
struct forward {
    uint64_t granule, from, until; /* from when its data is known, until it is in the cache */
};

struct interval {
    uint64_t front, front_count; /* the cycle in which instructions are dispatched, and how many were in it */
    enum cpu_cause front_cause;  /* why it is late, if it is */
    uint64_t taken_cycle;        /* of the last taken jump: one a cycle */
    uint64_t line;               /* of instructions, that is there */
    uint64_t retire, retire_count;
    uint64_t count, loads, stores; /* so far */
    uint64_t stored;               /* the last store is in the cache */
    uint64_t window[WINDOW_MOST], load_queue[WINDOW_MOST], store_queue[WINDOW_MOST]; /* when each leaves */
    uint64_t ready[CPU_REGS];
    uint8_t why[CPU_REGS];               /* enum cpu_cause of who waits for it */
    uint64_t unit_free[CPU_CLASS_COUNT]; /* of units that are not pipelined */
    struct calendar units[CPU_CLASS_COUNT];
    struct forward forwards[FORWARDS];
};

static void init(struct cpu_core *core)
{
    ((struct interval *)core->state)->line = UINT64_MAX;
}

static uint64_t now(const struct cpu_core *core)
{
    const struct interval *own = core->state;
    return own->retire + (own->retire_count != 0);
}

/* ---- the front end ---- */

static void hold_front(struct interval *own, uint64_t cycle, enum cpu_cause cause)
{
    if (cycle <= own->front)
        return;
    own->front = cycle;
    own->front_count = 0;
    own->front_cause = cause;
}

static void fetch(struct cpu_core *core, uint64_t pc)
{
    struct interval *own = core->state;
    if (LIKELY(pc >> CPU_LINE_SHIFT == own->line))
        return;
    own->line = pc >> CPU_LINE_SHIFT;
    struct cpu_reply reply = cpu_memory_fetch(&core->memory, pc, own->front);
    if (reply.done > own->front + core->spec->l1i.latency) /* a hit is part of the pipeline */
        hold_front(own, reply.done - core->spec->l1i.latency, CAUSE_fetch);
}

/* Room in the window and in the queues: an instruction is not dispatched before another has left. */
static uint64_t dispatch(struct cpu_core *core, const struct cpu_step *step, bool loads, bool stores)
{
    struct interval *own = core->state;
    const struct cpu_core_spec *spec = &core->spec->core;
    uint64_t room = own->window[own->count % spec->window];
    if (room > own->front) { /* what the head was late for is charged to it */
        own->front = room;
        own->front_count = 0;
    }
    if (loads)
        hold_front(own, own->load_queue[own->loads % spec->loads], CAUSE_depend);
    if (stores)
        hold_front(own, own->store_queue[own->stores % spec->stores], CAUSE_store);
    uint64_t cycle = own->front;
    if (step->taken && own->taken_cycle == cycle) {
        own->front_count = 0;
        cycle = ++own->front;
    }
    if (step->taken)
        own->taken_cycle = cycle;
    if (!step->insn->fused && ++own->front_count == spec->width) {
        own->front++;
        own->front_count = 0;
    }
    return cycle;
}

/* ---- execution ---- */

static uint64_t take_unit(struct cpu_core *core, uint32_t class, uint64_t cycle)
{
    struct interval *own = core->state;
    const struct cpu_unit_spec *unit = &core->spec->units[class];
    if (!unit->units)
        return cycle;
    if (LIKELY(unit->gap <= 1))
        return calendar_take(&own->units[class], cycle, (uint32_t)unit->units);
    cycle = max_u64(cycle, own->unit_free[class]); /* as if they were one, so many times as fast */
    own->unit_free[class] = cycle + (unit->gap + unit->units - 1) / unit->units;
    return cycle;
}

static uint64_t sources_ready(const struct interval *own, const uint8_t *registers, uint32_t count,
                              uint64_t cycle, enum cpu_cause *why)
{
    for (uint32_t i = 0; i < count && registers[i] != CPU_NO_REG; i++) {
        if (own->ready[registers[i]] > cycle) {
            cycle = own->ready[registers[i]];
            *why = own->why[registers[i]];
        }
    }
    return cycle;
}

static struct forward *forward_of(struct interval *own, uint64_t granule)
{
    return &own->forwards[granule % FORWARDS];
}

static uint64_t load(struct cpu_core *core, const struct cpu_step *step, const struct cpu_access *access,
                     uint64_t cycle, enum cpu_cause *why)
{
    struct interval *own = core->state;
    const struct forward *forward = forward_of(own, access->address >> GRANULE_SHIFT);
    cycle = take_unit(core, CPU_load, cycle);
    struct cpu_reply reply = cpu_memory_access(&core->memory, step->insn->pc, access, false, cycle);
    if (forward->granule == access->address >> GRANULE_SHIFT && forward->until > cycle) {
        *why = CAUSE_depend;
        return max_u64(cycle, forward->from) + core->spec->core.forward;
    }
    *why = cpu_core_cause(reply);
    return reply.done;
}

/* After it has retired: stores reach the cache in their order, and misses of several overlap. */
static void store(struct cpu_core *core, const struct cpu_step *step, const struct cpu_access *access,
                  uint64_t data, uint64_t retired)
{
    struct interval *own = core->state;
    struct cpu_reply reply = cpu_memory_access(&core->memory, step->insn->pc, access, true, retired);
    uint64_t granule = access->address >> GRANULE_SHIFT;
    uint64_t hit = retired + core->spec->l1d.latency; /* a pipeline: one store a cycle */
    own->stored = max_u64(own->stored + 1, reply.done > hit ? reply.done : retired + 1);
    own->store_queue[own->stores++ % core->spec->core.stores] = own->stored;
    for (uint64_t last = (access->address + access->bytes - 1) >> GRANULE_SHIFT; granule <= last; granule++)
        *forward_of(own, granule) = (struct forward){granule, data, own->stored};
}

/* ---- retirement ---- */

/* Cycles until the next instruction retires: the first ones belong to the front end, if that was late. */
static void pass_time(struct cpu_core *core, uint64_t until, uint64_t front_until, enum cpu_cause front_why,
                      enum cpu_cause why)
{
    struct interval *own = core->state;
    if (until <= own->retire)
        return;
    uint64_t from = own->retire + (own->retire_count != 0);
    uint64_t middle = front_why == CAUSE_base ? from : max_u64(from, min_u64(front_until, until));
    if (own->retire_count)
        cpu_core_spend(core, CAUSE_base, 1);
    cpu_core_spend(core, front_why, middle - from);
    cpu_core_spend(core, why, until - middle);
    own->retire = until;
    own->retire_count = 0;
}

/* The cycle in which the instruction retires. */
static uint64_t retire(struct cpu_core *core, const struct cpu_step *step)
{
    struct interval *own = core->state;
    uint64_t cycle = own->retire;
    own->window[own->count++ % core->spec->core.window] = cycle;
    if (!step->insn->fused && ++own->retire_count == core->spec->core.width) {
        cpu_core_spend(core, CAUSE_base, 1);
        own->retire++;
        own->retire_count = 0;
    }
    return cycle;
}

static void step_one(struct cpu_core *core, const struct cpu_step *step)
{
    struct interval *own = core->state;
    const struct cpu_insn *insn = step->insn;
    bool loads = false, stores = false,
         serial = insn->class == CPU_serial || (insn->atomic && step->access_count);
    enum cpu_cause why = CAUSE_depend, front_why;
    for (uint32_t i = 0; i < step->access_count; i++) {
        loads |= (step->accesses[i].kind & CPU_LOAD) != 0;
        stores |= (step->accesses[i].kind & CPU_STORE) != 0;
    }
    core->instructions++;
    fetch(core, insn->pc);
    uint64_t begun = dispatch(core, step, loads, stores), cycle = begun, data = 0;
    front_why = own->front_cause; /* the first instruction behind a gap has all of it */
    own->front_cause = CAUSE_base;
    if (serial) { /* all before it is done, and stores are in the cache */
        cycle = max_u64(cycle, max_u64(own->retire, own->stored));
        why = CAUSE_serial;
    }
    if (loads) {
        uint64_t from = sources_ready(own, insn->bases, CPU_BASES, cycle, &why);
        enum cpu_cause load_why = why;
        for (uint32_t i = 0; i < step->access_count; i++) {
            uint64_t done =
                step->accesses[i].kind & CPU_LOAD ? load(core, step, &step->accesses[i], from, &load_why) : 0;
            why = done > data ? load_why : why;
            data = max_u64(data, done);
        }
        own->load_queue[own->loads++ % core->spec->core.loads] = data;
    }
    uint64_t from = sources_ready(own, insn->sources, CPU_SOURCES, max_u64(cycle, data), &why);
    if (stores) {
        from = sources_ready(own, insn->bases, CPU_BASES, from, &why);
        from = take_unit(core, CPU_store, from);
    }
    if (!insn->fused)
        from = take_unit(core, insn->class, from);
    uint64_t done = from + core->spec->units[insn->class].latency;
    if (serial && insn->atomic) {
        core->atomics++;
        done += core->spec->core.atomic;
        why = CAUSE_serial;
    }
    for (uint32_t i = 0; i < CPU_DESTINATIONS && insn->destinations[i] != CPU_NO_REG; i++) {
        own->ready[insn->destinations[i]] = done;
        own->why[insn->destinations[i]] = (uint8_t)why;
    }
    pass_time(core, done, begun + core->spec->units[insn->class].latency, front_why, why);
    uint64_t retired = retire(core, step);
    for (uint32_t i = 0; stores && i < step->access_count; i++) {
        if (step->accesses[i].kind & CPU_STORE)
            store(core, step, &step->accesses[i], done, retired);
    }
    if (serial)
        hold_front(own, retired, CAUSE_serial);
    enum predict_result jump = cpu_core_jump(core, step);
    if (jump == PREDICT_WRONG)
        hold_front(own, done + core->spec->core.depth, CAUSE_branch);
    else if (jump == PREDICT_NO_TARGET)
        hold_front(own, begun + core->spec->branch.target_miss, CAUSE_branch);
}

/* The thread does nothing until then: all in flight is done. */
static void wait_until(struct cpu_core *core, uint64_t until, enum cpu_cause cause)
{
    struct interval *own = core->state;
    pass_time(core, until, 0, CAUSE_base, cause);
    hold_front(own, own->retire, CAUSE_base);
}

const struct cpu_model cpu_model_interval = {.name = "interval",
                                             .state_bytes = sizeof(struct interval),
                                             .init = init,
                                             .step = step_one,
                                             .now = now,
                                             .wait = wait_until};
