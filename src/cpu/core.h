/* A core in time. It is fed with the instructions that a thread executed, in their order, and tells how many
 * cycles they took, and what for. A model of a core is an ops table: inorder.c, interval.c. */
#ifndef CPU_CORE_H
#define CPU_CORE_H

#include "cpu/insn.h"
#include "cpu/memory.h"
#include "cpu/predict.h"
#include "cpu/spec.h"
#include "base/stat.h"

/* What cycles were spent on: the CPI stack. */
#define CPU_CAUSES(X, S)                                                                                     \
    X(S, base, "cycles", "instructions that went on at full width")                                          \
    X(S, depend, "cycles", "results of units that others waited for, units that were busy")                  \
    X(S, branch, "cycles", "mispredicted branches and unknown targets")                                      \
    X(S, fetch, "cycles", "instructions that had to come from below the L1I, or their translation")          \
    X(S, l1, "cycles", "loads that hit the L1D")                                                             \
    X(S, l2, "cycles", "loads from the L2")                                                                  \
    X(S, l3, "cycles", "loads from a cache that cores share, or from another core")                          \
    X(S, memory, "cycles", "loads from memory")                                                              \
    X(S, tlb, "cycles", "loads whose page table was walked")                                                 \
    X(S, store, "cycles", "stores, where too many were in flight")                                           \
    X(S, serial, "cycles", "fences, atomic accesses")                                                        \
    X(S, system, "cycles", "system calls")                                                                   \
    X(S, idle, "cycles", "no thread, or one that waits")

enum cpu_cause {
#define X(S, name, unit, help) CAUSE_##name,
    CPU_CAUSES(X, 0)
#undef X
        CAUSE_COUNT,
};

#define CPU_CORE_STATS(X, S)                                                                                 \
    X(S, instructions, "instructions", "retired")                                                            \
    X(S, branches, "instructions", "conditional branches")                                                   \
    X(S, jumps, "instructions", "other jumps, calls, returns")                                               \
    X(S, mispredicts, "instructions", "jumps whose direction or target was predicted wrong")                 \
    X(S, target_misses, "instructions", "jumps whose target was found when they were decoded")               \
    X(S, atomics, "instructions", "atomic accesses")                                                         \
    X(S, syscalls, "calls", "system calls")

struct cpu_causes {
    CPU_CAUSES(STAT_FIELD, cpu_causes)
};

struct cpu_core;

struct cpu_model {
    const char *name;
    size_t state_bytes;
    void (*init)(struct cpu_core *core);
    void (*step)(struct cpu_core *core, const struct cpu_step *step);
    uint64_t (*now)(const struct cpu_core *core);                              /* cycles so far */
    void (*wait)(struct cpu_core *core, uint64_t until, enum cpu_cause cause); /* all is done before it */
};

struct cpu_core {
    const struct cpu_spec *spec;
    const struct cpu_model *model;
    void *state; /* the model's */
    struct cpu_memory memory;
    struct predict predict;
    CPU_CORE_STATS(STAT_FIELD, cpu_core)
    struct cpu_causes causes;
};

extern const struct stat_table cpu_core_stats, cpu_cause_stats;
extern const struct cpu_model cpu_model_inorder, cpu_model_interval;

void cpu_core_init(struct cpu_core *core, const struct cpu_spec *spec, uint32_t number, struct outer *outer);
void cpu_core_fini(struct cpu_core *core);

/* ---- for models ---- */

static inline void cpu_core_spend(struct cpu_core *core, enum cpu_cause cause, uint64_t cycles)
{
    (&core->causes.base)[cause] += cycles;
}

/* Counts and predicts a jump; the result of those that are none is PREDICT_RIGHT. */
enum predict_result cpu_core_jump(struct cpu_core *core, const struct cpu_step *step);

/* What a load is waited for by, if it is. */
static inline enum cpu_cause cpu_core_cause(struct cpu_reply reply)
{
    static const enum cpu_cause causes[] = {
        [CPU_L1] = CAUSE_l1, [CPU_L2] = CAUSE_l2, [CPU_L3] = CAUSE_l3, [CPU_MEMORY] = CAUSE_memory};
    return reply.walked ? CAUSE_tlb : causes[reply.level];
}

#endif
