#include "cpu/core.h"
#include "base/bits.h"
#include "base/mem.h"

static const struct stat_row core_rows[] = {CPU_CORE_STATS(STAT_ROW, cpu_core)};
static const struct stat_row cause_rows[] = {CPU_CAUSES(STAT_ROW, cpu_causes)};
const struct stat_table cpu_core_stats = {core_rows, COUNT_OF(core_rows)};
const struct stat_table cpu_cause_stats = {cause_rows, COUNT_OF(cause_rows)};

static const struct cpu_model *const models[] = {&cpu_model_inorder, &cpu_model_interval}; /* cpu.model */

void cpu_core_init(struct cpu_core *core, const struct cpu_spec *spec, uint32_t number, struct outer *outer)
{
    *core = (struct cpu_core){.spec = spec, .model = models[spec->core.model]};
    cpu_memory_init(&core->memory, spec, number, outer);
    predict_init(&core->predict, &spec->branch);
    core->state = mem_alloc_lines(1, core->model->state_bytes);
    core->model->init(core);
}

void cpu_core_fini(struct cpu_core *core)
{
    cpu_memory_fini(&core->memory);
    predict_fini(&core->predict);
    mem_free(core->state);
}

enum predict_result cpu_core_jump(struct cpu_core *core, const struct cpu_step *step)
{
    if (step->insn->jump == CPU_FALLS)
        return PREDICT_RIGHT;
    enum predict_result result = predict_jump(&core->predict, step);
    core->branches += step->insn->jump == CPU_CONDITIONAL;
    core->jumps += step->insn->jump != CPU_CONDITIONAL;
    core->mispredicts += result == PREDICT_WRONG;
    core->target_misses += result == PREDICT_NO_TARGET;
    return result;
}
