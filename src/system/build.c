/* Makes the parts of a machine, and puts them together: GPUs, the host's memory, the network between them. */
#include "base/mem.h"
#include "base/zone.h"
#include "exec/atomics.h"
#include "mem/iommu.h"
#include "system/fabric.h"
#include "system/journal.h"
#include "system/over_ranks.h"

enum { ISLANDS_MOST = 1024 }; /* that can be apart */

/* The network that connects GPUs, where there are several, and maybe the host. */
static bool build_fabric(struct local_machine *machine, uint32_t *host_node, struct err *err)
{
    struct net_graph graph;
    *host_node = NO_HOST;
    if (machine_homes(machine) == 1)
        return true;
    if (!fabric_graph(machine->system, &graph, err))
        return false;
    machine->fabric = network_new(
        machine->engine, &graph,
        &(struct network_spec){.payload_bytes = FABRIC_PAYLOAD_MOST, .probe = &machine->probe}, err);
    int host = net_find(&graph, FABRIC_HOST);
    *host_node = host == NET_NONE ? (uint32_t)NO_HOST : (uint32_t)host;
    net_graph_fini(&graph);
    return machine->fabric;
}

static bool plug_fabric(struct local_machine *machine, uint32_t host_node, struct err *err)
{
    bool good = host_node == NO_HOST || hostmem_attach_fabric(machine->host, machine->fabric, host_node, err);
    for (uint32_t i = 0; i < machine->gpu_count && machine->fabric && good; i++)
        good = gpu_attach_fabric(machine->gpus[i].gpu, machine->fabric, err);
    if (good && machine->fabric && machine->spread.node)
        network_place(machine->fabric, machine->spread.node);
    return good && (!machine->fabric || network_ready(machine->fabric, err));
}

bool machine_build(struct local_machine *machine, struct err *err)
{
    const struct system *system = machine->system;
    machine->apart = machine->options.islands_apart ? zone_new(ISLANDS_MOST) : NULL;
    machine->engine = engine_new(&(struct engine_spec){.payload_bytes = FABRIC_PAYLOAD_MOST,
                                                       .apart = machine->apart,
                                                       .ranks = machine->options.ranks,
                                                       .measures = machine->options.measures});
    uint32_t host_node;
    if (!build_fabric(machine, &host_node, err) || !machine_plan(machine, err))
        return false;
    machine->host = hostmem_new(machine->engine, machine_homes(machine), host_node != NO_HOST, atomic_perform,
                                atomic_perform_wide);
    if (machine->options.caches)
        hostmem_share(machine->host, machine->options.caches);
    if (machine->journal)
        hostmem_note_writes(machine->host);
    struct system_walks walks = system_walks(system);
    hostmem_walk(machine->host, walks.walkers, walks.ps);
    bool moves_managed = system_moves_managed(system),
         moves_pages = system_moves_pages(system) || moves_managed;
    if (moves_pages)
        hostmem_move_pages(machine->host, &system->paging);
    if (moves_managed)
        iommu_drive_managed(hostmem_iommu(machine->host), &system->uvm, &machine->areas);
    if (moves_managed && machine_is_spread(machine))
        hostmem_keep_apart(machine->host);
    hostmem_listen(machine->host, &machine->probe);
    for (uint32_t i = 0; i < machine->gpu_count; i++) {
        struct gpu_config config = system_gpu(system_of_device(system, i));
        struct text path = {0};
        text_add(&path, "gpu[%u]", i);
        engine_region(machine->engine, i + 1);
        config.host = machine->host;
        config.probe = &machine->probe;
        config.space = machine->space;
        config.paging = moves_pages ? &system->paging : NULL;
        config.has_peers = machine_homes(machine) > 1;
        config.host_node = host_node;
        config.members = machine->members;
        config.number = machine_first_home(machine, i);
        config.ranks = machine->spread.home ? &machine->spread.home[config.number] : NULL;
        machine->gpus[i].gpu = gpu_new(machine->engine, path.at, &config, err);
        text_fini(&path);
        if (!machine->gpus[i].gpu)
            return false;
        if (machine->journal)
            gpu_on_print(machine->gpus[i].gpu, journal_printed, machine);
    }
    engine_region(machine->engine, 0);
    engine_rank(machine->engine, 0);
    return plug_fabric(machine, host_node, err) && engine_ready(machine->engine, err);
}

void machine_take_apart(struct local_machine *machine)
{
    engine_free(machine->engine);
    for (uint32_t i = 0; i < machine->gpu_count; i++)
        gpu_free(machine->gpus[i].gpu);
    network_free(machine->fabric);
    machine->fabric = NULL;
    hostmem_free(machine->host);
    zone_free(machine->apart);
}
