#include "core/spec.h"

PARAM_GROUP(sm_params, "sm", "what every SM is like", sm_spec, SM_PARAMS, SHOWS_IN_TIME);

void sm_unit_costs(const struct sm_spec *spec, struct unit_cost costs[UNIT_COUNT])
{
#define U(P, S, id, name, place_of, result_of, busy_as, does_what, ...)                                      \
    costs[UNIT_##id] = (struct unit_cost){.latency = (uint32_t)spec->name##_latency,                         \
                                          .interval = (uint32_t)spec->name##_interval,                       \
                                          .shared = (uint32_t)spec->name##_shared,                           \
                                          .place = UNIT_##place_of,                                          \
                                          .result = RESULT_##result_of,                                      \
                                          .busy = STALL_##busy_as,                                           \
                                          .does = UNIT_DOES_##does_what};
    ISA_UNITS(U, , )
#undef U
}
