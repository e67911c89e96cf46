#include "core/spec.h"

PARAM_GROUP(sm_params, "sm", "what every SM is like", sm_spec, SM_PARAMS, SHOWS_IN_TIME);

void sm_unit_costs(const struct sm_spec *spec, struct unit_cost costs[UNIT_COUNT])
{
#define COST(P, S, unit, name, pipe_of, ...)                                                                 \
    costs[UNIT_##unit] = (struct unit_cost){.latency = (uint32_t)spec->name##_latency,                       \
                                            .interval = (uint32_t)spec->name##_interval,                     \
                                            .shared = (uint32_t)spec->name##_shared,                         \
                                            .pipe = UNIT_##pipe_of};
    SM_UNITS(COST, , )
#undef COST
}

#define COUNT(...) +1
_Static_assert(0 SM_UNITS(COUNT, , ) == UNIT_COUNT, "a row of SM_UNITS for each unit");
#undef COUNT
