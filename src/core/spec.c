#include "core/spec.h"

PARAM_GROUP(sm_params, "sm", "what every SM is like", sm_spec, SM_PARAMS);

void sm_unit_costs(const struct sm_spec *spec, struct unit_cost costs[UNIT_COUNT])
{
#define COST(unit, name, pipe)                                                                               \
    costs[UNIT_##unit] = (struct unit_cost){(uint32_t)spec->name##_latency, (uint32_t)spec->name##_interval, \
                                            (uint32_t)spec->name##_shared, UNIT_##pipe};
    COST(ALU, alu, ALU)
    COST(IMAD, imad, IMAD)
    COST(WIDE, wide, IMAD)
    COST(FMA, fma, FMA)
    COST(HALF, half, HALF)
    COST(FP64, fp64, FP64)
    COST(SFU, sfu, SFU)
    COST(CVT, cvt, SFU)
    COST(CVT64, cvt64, SFU)
    COST(TENSOR, tensor, TENSOR)
    COST(IMMA, imma, TENSOR)
    COST(LSU, lsu, LSU)
    COST(TEX, tex, TEX)
    COST(CONTROL, control, CONTROL)
    COST(JUMP, jump, CONTROL)
    COST(CALL, call, CONTROL)
    COST(SYNC, sync, SYNC)
    COST(SHUFFLE, shuffle, SHUFFLE)
    COST(VOTE, vote, ALU)
    COST(MATCH, match, MATCH)
    COST(UNIFORM, uniform, UNIFORM)
    COST(SPECIAL, special, SPECIAL)
    COST(CONST, const, CONST)
#undef COST
}
