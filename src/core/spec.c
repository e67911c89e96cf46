#include "core/spec.h"

PARAM_GROUP(sm_params, "sm", "what every SM is like", sm_spec, SM_PARAMS);

void sm_unit_costs(const struct sm_spec *spec, struct unit_cost costs[UNIT_COUNT])
{
#define COST(unit, name)                                                                                     \
    costs[UNIT_##unit] = (struct unit_cost){(uint32_t)spec->name##_latency, (uint32_t)spec->name##_interval, \
                                            (uint32_t)spec->name##_shared};
    COST(ALU, alu)
    COST(IMAD, imad)
    COST(FMA, fma)
    COST(HALF, half)
    COST(FP64, fp64)
    COST(SFU, sfu)
    COST(CVT, cvt)
    COST(TENSOR, tensor)
    COST(LSU, lsu)
    COST(TEX, tex)
    COST(CONTROL, control)
    COST(SYNC, sync)
    COST(SHUFFLE, shuffle)
    COST(VOTE, vote)
    COST(UNIFORM, uniform)
    COST(SPECIAL, special)
    COST(CONST, const)
#undef COST
}
