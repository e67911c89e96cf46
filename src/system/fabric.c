#include "system/fabric.h"

PARAM_GROUP(fabric_params, "fabric", "what GPUs reach each other by", fabric_spec, FABRIC_PARAMS);

/* A switch that all GPUs are plugged into: each reaches each, with all the bandwidth of its links. */
bool fabric_make(struct local_machine *machine, struct err *err)
{
    const struct fabric_spec *spec = &machine->system->fabric;
    if (machine_homes(machine) == 1)
        return true;
    struct link *fabric = engine_link(machine->engine, "fabric",
                                      &(struct link_spec){.latency_ps = spec->latency,
                                                          .bytes_per_s = spec->bandwidth,
                                                          .overhead_bytes = (uint32_t)spec->overhead_bytes});
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        if (!gpu_attach_fabric(machine->gpus[i].gpu, fabric, err))
            return false;
    return true;
}
