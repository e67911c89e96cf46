/* An in-order core: up to `width` instructions a cycle begin in their order, each when its sources are there.
 * Loads are waited for where their result is used; with `blocking`, at once, as timing-simple cores do. */
#include "cpu/core.h"
#include "base/bits.h"

struct inorder {
    uint64_t now;   /* the cycle in which instructions begin */
    uint64_t begun; /* in it */
    uint64_t line;  /* of instructions, that is there */
    uint64_t last;  /* the latest result so far */
    uint64_t ready[CPU_REGS];
    uint8_t why[CPU_REGS]; /* enum cpu_cause of who waits for it */
    uint64_t unit_free[CPU_CLASS_COUNT][16];
    uint64_t stores[1024]; /* when each of those in flight is over */
    uint64_t store_count;
};

static void init(struct cpu_core *core)
{
    ((struct inorder *)core->state)->line = UINT64_MAX;
}

static uint64_t now(const struct cpu_core *core)
{
    const struct inorder *own = core->state;
    return own->now + (own->begun != 0);
}

static void wait_until(struct cpu_core *core, uint64_t cycle, enum cpu_cause cause)
{
    struct inorder *own = core->state;
    if (cycle <= own->now)
        return;
    if (own->begun) { /* the rest of this cycle was used by what began in it */
        cpu_core_spend(core, CAUSE_base, 1);
        own->now++;
        own->begun = 0;
    }
    cpu_core_spend(core, cause, cycle - own->now);
    own->now = cycle;
}

static void fetch(struct cpu_core *core, uint64_t pc)
{
    struct inorder *own = core->state;
    if (LIKELY(pc >> CPU_LINE_SHIFT == own->line))
        return;
    own->line = pc >> CPU_LINE_SHIFT;
    struct cpu_reply reply = cpu_memory_fetch(&core->memory, pc, own->now);
    if (reply.done > own->now + core->spec->l1i.latency) /* a hit is part of the pipeline */
        wait_until(core, reply.done - core->spec->l1i.latency, CAUSE_fetch);
}

static void wait_for(struct cpu_core *core, const uint8_t *registers, uint32_t count)
{
    struct inorder *own = core->state;
    for (uint32_t i = 0; i < count && registers[i] != CPU_NO_REG; i++)
        wait_until(core, own->ready[registers[i]], own->why[registers[i]]);
}

/* The unit that is free first. */
static void take_unit(struct cpu_core *core, uint32_t class)
{
    struct inorder *own = core->state;
    const struct cpu_unit_spec *unit = &core->spec->units[class];
    uint64_t *first = own->unit_free[class];
    if (!unit->units)
        return;
    for (uint64_t i = 1; i < unit->units; i++)
        first = own->unit_free[class][i] < *first ? &own->unit_free[class][i] : first;
    wait_until(core, *first, CAUSE_depend);
    *first = own->now + unit->gap;
}

static void begin_store(struct cpu_core *core, const struct cpu_step *step, const struct cpu_access *access)
{
    struct inorder *own = core->state;
    uint64_t *place = &own->stores[own->store_count++ % core->spec->core.stores];
    wait_until(core, *place, CAUSE_store);
    take_unit(core, CPU_store);
    struct cpu_reply reply = cpu_memory_access(&core->memory, step->insn->pc, access, true, own->now);
    *place = reply.done;
    if (core->spec->core.blocking)
        wait_until(core, reply.done, CAUSE_store);
}

static void atomic_access(struct cpu_core *core)
{
    struct inorder *own = core->state;
    core->atomics++;
    for (uint64_t i = 0; i < core->spec->core.stores; i++)
        wait_until(core, own->stores[i], CAUSE_serial);
    wait_until(core, own->now + core->spec->core.atomic, CAUSE_serial);
}

static void step_one(struct cpu_core *core, const struct cpu_step *step)
{
    struct inorder *own = core->state;
    const struct cpu_insn *insn = step->insn;
    uint64_t loaded = 0;
    enum cpu_cause why = CAUSE_depend;
    core->instructions++;
    fetch(core, insn->pc);
    wait_for(core, insn->bases, CPU_BASES);
    wait_for(core, insn->sources, CPU_SOURCES);
    if (!insn->fused)
        take_unit(core, insn->class);
    for (uint32_t i = 0; i < step->access_count; i++) {
        const struct cpu_access *access = &step->accesses[i];
        if (access->kind & CPU_LOAD) {
            take_unit(core, CPU_load);
            struct cpu_reply reply = cpu_memory_access(&core->memory, insn->pc, access, false, own->now);
            why = reply.done > loaded ? cpu_core_cause(reply) : why;
            loaded = max_u64(loaded, reply.done);
            if (core->spec->core.blocking)
                wait_until(core, reply.done, why);
        }
        if (access->kind & CPU_STORE)
            begin_store(core, step, access);
    }
    if (insn->atomic && step->access_count)
        atomic_access(core);
    if (insn->class == CPU_serial) {
        wait_until(core, own->last, CAUSE_serial); /* all before it is done */
        wait_until(core, own->now + core->spec->units[CPU_serial].latency, CAUSE_serial);
    }
    uint64_t done = max_u64(own->now, loaded) + core->spec->units[insn->class].latency;
    own->last = max_u64(own->last, done);
    for (uint32_t i = 0; i < CPU_DESTINATIONS && insn->destinations[i] != CPU_NO_REG; i++) {
        own->ready[insn->destinations[i]] = done;
        own->why[insn->destinations[i]] = (uint8_t)why;
    }
    enum predict_result jump = cpu_core_jump(core, step);
    if (!insn->fused && ++own->begun == core->spec->core.width) {
        cpu_core_spend(core, CAUSE_base, 1);
        own->now++;
        own->begun = 0;
    }
    if (jump == PREDICT_WRONG)
        wait_until(core, own->now + core->spec->core.depth, CAUSE_branch);
    else if (jump == PREDICT_NO_TARGET)
        wait_until(core, own->now + core->spec->branch.target_miss, CAUSE_branch);
}

const struct cpu_model cpu_model_inorder = {.name = "inorder",
                                            .state_bytes = sizeof(struct inorder),
                                            .init = init,
                                            .step = step_one,
                                            .now = now,
                                            .wait = wait_until};
