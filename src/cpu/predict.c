#include "cpu/predict.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

void predict_init(struct predict *predict, const struct cpu_branch_spec *spec)
{
    size_t counters = (size_t)1 << spec->table_bits;
    *predict = (struct predict){.spec = spec};
    predict->by_address = mem_alloc(counters, 1);
    predict->by_history = mem_alloc(counters, 1);
    predict->choice = mem_alloc(counters, 1);
    memset(predict->by_address, 2, counters); /* weakly taken */
    memset(predict->by_history, 2, counters);
    memset(predict->choice, 1, counters);
    predict->targets = mem_alloc((size_t)1 << spec->targets_bits, sizeof *predict->targets);
}

void predict_fini(struct predict *predict)
{
    mem_free(predict->by_address);
    mem_free(predict->by_history);
    mem_free(predict->choice);
    mem_free(predict->targets);
}

static void count(uint8_t *counter, bool up)
{
    if (up && *counter < 3)
        ++*counter;
    else if (!up && *counter)
        --*counter;
}

static uint64_t scramble(uint64_t x)
{
    return (x ^ x >> 23) * UINT64_C(0x9e3779b97f4a7c15);
}

/* Whether the direction was predicted right. */
static bool direction(struct predict *predict, uint64_t pc, bool taken)
{
    const struct cpu_branch_spec *spec = predict->spec;
    uint64_t shift = 64 - spec->table_bits, known = spec->history;
    uint64_t history = known == 64 ? predict->history : predict->history & ((UINT64_C(1) << known) - 1);
    size_t plain = scramble(pc) >> shift, mixed = scramble(pc ^ scramble(history + 1)) >> shift;
    uint8_t *address = &predict->by_address[plain], *with_history = &predict->by_history[mixed];
    uint8_t *choice = &predict->choice[plain];
    bool one = *address >= 2, other = *with_history >= 2, predicted = *choice >= 2 ? other : one;
    if (one != other)
        count(choice, other == taken);
    count(address, taken);
    count(with_history, taken);
    predict->history = predict->history << 1 | taken;
    return predicted == taken;
}

static bool target_known(struct predict *predict, uint64_t pc, uint64_t mix, uint64_t target)
{
    struct predict_target *row = &predict->targets[scramble(pc ^ mix) >> (64 - predict->spec->targets_bits)];
    bool known = row->pc == pc && row->target == target;
    *row = (struct predict_target){pc, target};
    return known;
}

enum predict_result predict_jump(struct predict *predict, const struct cpu_step *step)
{
    const struct cpu_insn *insn = step->insn;
    uint64_t pc = insn->pc, path = predict->path;
    uint32_t most = (uint32_t)predict->spec->returns;
    if (insn->jump == CPU_CONDITIONAL && !direction(predict, pc, step->taken)) {
        if (step->taken)
            target_known(predict, pc, 0, step->target);
        return PREDICT_WRONG;
    }
    if (!step->taken)
        return PREDICT_RIGHT;
    if (insn->jump == CPU_CALLS || insn->jump == CPU_CALLS_FAR)
        predict->returns[predict->depth++ % most] = pc + insn->length;
    switch (insn->jump) {
    case CPU_RETURNS:
        return predict->returns[--predict->depth % most] == step->target ? PREDICT_RIGHT : PREDICT_WRONG;
    case CPU_JUMPS_FAR:
    case CPU_CALLS_FAR:
        predict->path = path << 4 ^ scramble(step->target) >> 48;
        /* One that always goes to the same place is known by its address alone. */
        if (target_known(predict, pc, 0, step->target)) {
            target_known(predict, pc, path | 1, step->target);
            return PREDICT_RIGHT;
        }
        return target_known(predict, pc, path | 1, step->target) ? PREDICT_RIGHT : PREDICT_WRONG;
    default:
        return target_known(predict, pc, 0, step->target) ? PREDICT_RIGHT : PREDICT_NO_TARGET;
    }
}
