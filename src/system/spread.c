#include "system/spread.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/fabric.h"

/* The most ranks that a home of this device can be spread over. */
static uint32_t most_of(const struct system *device)
{
    return (uint32_t)min_u64(device->gpu.sm_count, device->l2.islands);
}

static void place_homes(struct spread *placement)
{
    uint32_t homes = placement->homes, ranks = placement->ranks;
    for (uint32_t h = 0; h < homes; h++) {
        uint32_t first = (uint32_t)((uint64_t)h * ranks / homes);
        uint32_t end = (uint32_t)((uint64_t)(h + 1) * ranks / homes);
        placement->home[h] = (struct memsys_ranks){first, ranks > homes ? end - first : 1};
    }
}

/* Ranks of the nodes next to this one that are placed; how many. */
static uint32_t neighbours(const struct spread *placement, const struct net_graph *graph, uint32_t node,
                           const bool *is_placed, uint32_t *ranks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->link_count; i++) {
        const struct net_link *link = &graph->links[i];
        if (link->ends[0] != node && link->ends[1] != node)
            continue;
        uint32_t other = net_other_end(link, node), k = 0;
        while (k < count && ranks[k] != placement->node[other])
            k++;
        if (k == count && is_placed[other])
            ranks[count++] = placement->node[other];
    }
    return count;
}

/* Switches in turn, so that many that connect the same GPUs are not all on one rank; those that connect
 * switches when these are placed. */
static void place_nodes(struct spread *placement, const struct net_graph *graph)
{
    bool *is_placed = mem_alloc(graph->node_count + 1, sizeof *is_placed);
    uint32_t *ranks = mem_alloc(graph->node_count + 1, sizeof *ranks);
    int host = net_find(graph, FABRIC_HOST);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        is_placed[n] = n < placement->homes || (int)n == host;
        placement->node[n] = n < placement->homes ? placement->home[n].first : 0;
    }
    for (bool some = true; some;) {
        some = false;
        for (uint32_t n = 0; n < graph->node_count; n++) {
            uint32_t count = is_placed[n] ? 0 : neighbours(placement, graph, n, is_placed, ranks);
            if (!count)
                continue;
            placement->node[n] = ranks[n % count];
            is_placed[n] = some = true;
        }
    }
    mem_free(is_placed);
    mem_free(ranks);
}

bool spread_make(struct spread *placement, const struct system *system, const struct net_graph *graph,
                 uint32_t ranks, struct err *err)
{
    uint32_t members = system_members(system), homes = system_devices(system) * members;
    uint64_t most = UINT32_MAX;
    for (uint32_t i = 0; i < system_devices(system); i++)
        most = min_u64(most, most_of(system_of_device(system, i)));
    if (ranks > homes * most)
        return err_set(err, "%u ranks are too many: the system has work for %llu", ranks,
                       (unsigned long long)(homes * most));
    *placement = (struct spread){.ranks = ranks,
                                 .homes = homes,
                                 .nodes = graph ? (uint32_t)graph->node_count : 0,
                                 .home = mem_alloc(homes, sizeof *placement->home)};
    placement->node = mem_alloc(placement->nodes + 1, sizeof *placement->node);
    place_homes(placement);
    if (graph)
        place_nodes(placement, graph);
    return true;
}

void spread_fini(struct spread *placement)
{
    mem_free(placement->home);
    mem_free(placement->node);
    *placement = (struct spread){0};
}
