#include "system/spread.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/fabric.h"

/* The most ranks that a home of this device can be spread over. */
static uint32_t most_of(const struct system *device)
{
    return (uint32_t)min_u64(device->gpu.sm_count, device->l2.islands);
}

static bool is_same_host(const struct spread *spread, uint32_t a, uint32_t b)
{
    return !spread->hosts || spread->hosts[a] == spread->hosts[b];
}

/* From one home's ranks to those around them of its group that are on the same host, as many as it has work
 * for. */
static void widen(const struct spread *spread, struct memsys_ranks *home, uint32_t rank, uint32_t ranks,
                  uint32_t most)
{
    uint32_t begin = home->first, end = home->first;
    while (begin > rank && is_same_host(spread, begin - 1, home->first))
        begin--;
    while (end < rank + ranks && is_same_host(spread, end, home->first))
        end++;
    if (home->end <= end) /* all on that host */
        *home = (struct memsys_ranks){home->first, (uint32_t)min_u64(end - begin, most), begin, end};
}

/* Of a node's homes and ranks, or of all where there are fewer ranks than nodes. Programs start kernels on
 * one GPU after another: those that run at the same time are on different ranks, and what is in parts is on
 * all ranks of a host, so that these have work whichever GPU runs. */
static void place_group(struct spread *spread, uint32_t home, uint32_t homes, uint32_t rank, uint32_t ranks,
                        uint32_t most)
{
    for (uint32_t i = 0; i < homes; i++) {
        uint32_t first = rank + (ranks > homes ? (uint32_t)((uint64_t)i * ranks / homes) : i % ranks);
        uint32_t end = ranks > homes ? rank + (uint32_t)((uint64_t)(i + 1) * ranks / homes) : first + 1;
        spread->home[home + i] = (struct memsys_ranks){first, end - first, first, end};
        if (ranks > homes)
            widen(spread, &spread->home[home + i], rank, ranks, most);
    }
}

static void place_homes(struct spread *spread, uint32_t nodes, uint32_t most)
{
    uint32_t groups = nodes < spread->ranks ? nodes : spread->ranks;
    for (uint32_t g = 0; g < groups; g++) {
        uint32_t home = (uint32_t)((uint64_t)g * spread->homes / groups),
                 homes = (uint32_t)((uint64_t)(g + 1) * spread->homes / groups) - home;
        uint32_t rank = (uint32_t)((uint64_t)g * spread->ranks / groups),
                 ranks = (uint32_t)((uint64_t)(g + 1) * spread->ranks / groups) - rank;
        place_group(spread, home, homes, rank, ranks, most);
    }
}

/* Ranks of the nodes next to this one that are placed; how many. */
static uint32_t neighbours(const struct spread *spread, const struct net_graph *graph, uint32_t node,
                           const bool *is_placed, uint32_t *ranks)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < graph->link_count; i++) {
        const struct net_link *link = &graph->links[i];
        if (link->ends[0] != node && link->ends[1] != node)
            continue;
        uint32_t other = net_other_end(link, node), k = 0;
        while (k < count && ranks[k] != spread->node[other])
            k++;
        if (k == count && is_placed[other])
            ranks[count++] = spread->node[other];
    }
    return count;
}

/* Switches in turn, so that many that connect the same GPUs are not all on one rank; those that connect
 * switches when these are placed. */
static void place_nodes(struct spread *spread, const struct net_graph *graph)
{
    bool *is_placed = mem_alloc(graph->node_count + 1, sizeof *is_placed);
    uint32_t *ranks = mem_alloc(graph->node_count + 1, sizeof *ranks);
    int host = net_find(graph, FABRIC_HOST);
    for (uint32_t n = 0; n < graph->node_count; n++) {
        is_placed[n] = n < spread->homes || (int)n == host;
        spread->node[n] = n < spread->homes ? spread->home[n].first : 0;
    }
    for (bool some = true; some;) {
        some = false;
        for (uint32_t n = 0; n < graph->node_count; n++) {
            uint32_t count = is_placed[n] ? 0 : neighbours(spread, graph, n, is_placed, ranks);
            if (!count)
                continue;
            spread->node[n] = ranks[n % count];
            is_placed[n] = some = true;
        }
    }
    mem_free(is_placed);
    mem_free(ranks);
}

bool spread_make(struct spread *spread, const struct system *system, const struct net_graph *graph,
                 const uint32_t *hosts, uint32_t ranks, struct err *err)
{
    uint32_t members = system_members(system), homes = system_devices(system) * members;
    uint64_t most = UINT32_MAX;
    for (uint32_t i = 0; i < system_devices(system); i++)
        most = min_u64(most, most_of(system_of_device(system, i)));
    if (ranks > homes * most)
        return err_set(err, "%u ranks are too many: the system has work for %llu", ranks,
                       (unsigned long long)(homes * most));
    *spread = (struct spread){.ranks = ranks,
                              .homes = homes,
                              .hosts = hosts,
                              .nodes = graph ? (uint32_t)graph->node_count : 0,
                              .home = mem_alloc(homes, sizeof *spread->home)};
    spread->node = mem_alloc(spread->nodes + 1, sizeof *spread->node);
    place_homes(spread, (uint32_t)max_u64(system->spec.nodes, 1), (uint32_t)most);
    spread->hosts = NULL;
    if (graph)
        place_nodes(spread, graph);
    return true;
}

void spread_fini(struct spread *spread)
{
    mem_free(spread->home);
    mem_free(spread->node);
    *spread = (struct spread){0};
}
