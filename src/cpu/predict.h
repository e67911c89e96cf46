/* A branch predictor: two-bit counters by address, by address and history, and one that chooses between the
 * two; targets by address, of far jumps by history too; a stack of return addresses. */
#ifndef CPU_PREDICT_H
#define CPU_PREDICT_H

#include "cpu/insn.h"
#include "cpu/spec.h"

enum predict_result {
    PREDICT_RIGHT,
    PREDICT_NO_TARGET, /* the direction was right, the target not known: decoding finds it */
    PREDICT_WRONG,
};

struct predict {
    const struct cpu_branch_spec *spec;
    uint8_t *by_address, *by_history, *choice; /* counters: 0..3 */
    struct predict_target {
        uint64_t pc, target;
    } * targets;
    uint64_t history, path;
    uint64_t returns[64];
    uint32_t depth;
};

void predict_init(struct predict *predict, const struct cpu_branch_spec *spec);
void predict_fini(struct predict *predict);

/* Predicts a jump, compares and learns. */
enum predict_result predict_jump(struct predict *predict, const struct cpu_step *step);

#endif
