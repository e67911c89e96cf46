#include "system/spread.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/fabric.h"

#include <stdlib.h>

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
        *home = (struct memsys_ranks){
            .first = home->first, .count = (uint32_t)min_u64(end - begin, most), .begin = begin, .end = end};
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
        spread->home[home + i] =
            (struct memsys_ranks){.first = first, .count = end - first, .begin = first, .end = end};
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

/* ---- by load ---- */

enum { AT_LEAST = 16 }; /* what an item counts beside its load: this part of the mean */

struct item {
    uint64_t load;
    uint32_t number;
};

static int by_load(const void *a, const void *b)
{
    const struct item *x = a, *y = b;
    if (x->load != y->load)
        return x->load < y->load ? 1 : -1;
    return x->number < y->number ? -1 : x->number > y->number;
}

/* The rank for the next item: that with the least load; of several, that with the fewest items. */
static uint32_t least(const uint64_t *ranks, const uint32_t *has, uint32_t count, bool is_empty)
{
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < count; i++) {
        if (is_empty && has[i])
            continue;
        if (best == UINT32_MAX || ranks[i] < ranks[best] || (ranks[i] == ranks[best] && has[i] < has[best]))
            best = i;
    }
    return best;
}

/* Items go to ranks, the heaviest first, each to the rank that has least until then; each rank gets one. The
 * ranks' loads are added to. An item without load counts a little, as it takes memory. */
static void deal(const uint64_t *loads, uint32_t count, uint64_t *ranks, uint32_t rank_count,
                 uint32_t *rank_of)
{
    struct item *items = mem_alloc(count, sizeof *items);
    uint32_t *has = mem_alloc(rank_count, sizeof *has), empty = rank_count;
    uint64_t *weights = mem_alloc(rank_count, sizeof *weights), sum = 0;
    for (uint32_t i = 0; i < count; i++) {
        items[i] = (struct item){loads[i], i};
        sum += loads[i];
    }
    for (uint32_t i = 0; i < rank_count; i++)
        weights[i] = ranks[i];
    qsort(items, count, sizeof *items, by_load);
    for (uint32_t i = 0; i < count; i++) {
        uint32_t rank = least(weights, has, rank_count, count - i == empty);
        empty -= !has[rank]++;
        ranks[rank] += items[i].load;
        weights[rank] += items[i].load + sum / count / AT_LEAST;
        rank_of[items[i].number] = rank;
    }
    mem_free(items);
    mem_free(has);
    mem_free(weights);
}

/* How many ranks each gets: one, and the others where the load of a rank is highest. */
static void apportion(const uint64_t *loads, const uint64_t *most, uint32_t count, uint32_t ranks,
                      uint32_t *given)
{
    for (uint32_t i = 0; i < count; i++)
        given[i] = 1;
    for (uint32_t left = ranks - count; left; left--) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (given[i] < most[i] &&
                (best == UINT32_MAX || (double)loads[i] / given[i] > (double)loads[best] / given[best]))
                best = i;
        given[best]++;
    }
}

/* What there is one of stays on the first. */
static void place_parts(struct spread *spread, uint32_t h, const struct home_load *load)
{
    struct memsys_ranks *home = &spread->home[h];
    uint64_t *ranks = &spread->load[home->first];
    uint32_t *parts[] = {mem_alloc(load->sm_count, sizeof *parts[0]),
                         mem_alloc(load->memory_count, sizeof *parts[0])};
    ranks[0] += load->rest;
    deal(load->sms, (uint32_t)load->sm_count, ranks, home->count, parts[0]);
    deal(load->memory, (uint32_t)load->memory_count, ranks, home->count, parts[1]);
    for (uint64_t i = 0; i < load->sm_count; i++)
        parts[0][i] += home->first;
    for (uint64_t i = 0; i < load->memory_count; i++)
        parts[1][i] += home->first;
    home->sms = parts[0];
    home->memory = parts[1];
}

struct range {
    uint32_t first, count;
};

/* Homes of a group over its ranks. */
static void place_group_by_load(struct spread *spread, const struct loads *load, struct range homes,
                                struct range ranks, uint64_t most)
{
    uint64_t *loads = mem_alloc(homes.count, sizeof *loads), *mosts = mem_alloc(homes.count, sizeof *mosts);
    uint32_t *given = mem_alloc(homes.count, sizeof *given);
    for (uint32_t i = 0; i < homes.count; i++) {
        loads[i] = spread_loads_of_home(&load->homes[homes.first + i]);
        mosts[i] = most;
    }
    bool is_whole = ranks.count <= homes.count;
    if (is_whole)
        deal(loads, homes.count, &spread->load[ranks.first], ranks.count, given);
    else
        apportion(loads, mosts, homes.count, ranks.count, given);
    for (uint32_t i = 0, rank = ranks.first; i < homes.count; i++) {
        struct memsys_ranks *home = &spread->home[homes.first + i];
        home->first = is_whole ? ranks.first + given[i] : rank;
        home->count = is_whole ? 1 : given[i];
        rank += given[i];
        if (!is_whole)
            place_parts(spread, homes.first + i, &load->homes[homes.first + i]);
    }
    mem_free(loads);
    mem_free(mosts);
    mem_free(given);
}

/* Homes of a node of a cluster stay together. */
static void place_homes_by_load(struct spread *spread, const struct loads *load, uint32_t nodes,
                                uint64_t most)
{
    uint64_t *loads = mem_alloc(nodes, sizeof *loads), *mosts = mem_alloc(nodes, sizeof *mosts);
    uint32_t *given = mem_alloc(nodes, sizeof *given), per_node = spread->homes / nodes;
    for (uint32_t h = 0; h < spread->homes; h++)
        loads[h / per_node] += spread_loads_of_home(&load->homes[h]);
    for (uint32_t i = 0; i < nodes; i++)
        mosts[i] = per_node * most;
    spread->load[0] = load->host;
    bool is_whole = spread->ranks <= nodes;
    if (is_whole)
        deal(loads, nodes, spread->load, spread->ranks, given);
    else
        apportion(loads, mosts, nodes, spread->ranks, given);
    for (uint32_t i = 0, rank = 0; i < nodes; i++) {
        for (uint32_t h = 0; h < per_node && is_whole; h++)
            spread->home[i * per_node + h] = (struct memsys_ranks){.first = given[i], .count = 1};
        if (!is_whole)
            place_group_by_load(spread, load, (struct range){i * per_node, per_node},
                                (struct range){rank, given[i]}, most);
        rank += given[i];
    }
    mem_free(loads);
    mem_free(mosts);
    mem_free(given);
}

/* ---- switches ---- */

/* The rank that most of a switch's traffic comes from or goes to; UINT32_MAX: there was none. */
static uint32_t busiest(const struct spread *spread, const struct net_graph *graph, uint32_t node,
                        const bool *is_placed, const struct loads *load)
{
    uint64_t *bytes = mem_alloc(spread->ranks, sizeof *bytes), most = 0;
    uint32_t best = UINT32_MAX;
    for (uint32_t i = 0; i < graph->link_count && load; i++) {
        const struct net_link *link = &graph->links[i];
        if ((link->ends[0] == node || link->ends[1] == node) && is_placed[net_other_end(link, node)])
            bytes[spread->node[net_other_end(link, node)]] += load->links[i];
    }
    for (uint32_t i = 0; i < spread->ranks; i++)
        if (bytes[i] > most) {
            most = bytes[i];
            best = i;
        }
    mem_free(bytes);
    return best;
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
static void place_nodes(struct spread *spread, const struct net_graph *graph, const struct loads *load)
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
            uint32_t rank = busiest(spread, graph, n, is_placed, load);
            spread->node[n] = rank == UINT32_MAX ? ranks[n % count] : rank;
            is_placed[n] = some = true;
            if (load)
                spread->load[spread->node[n]] += load->nodes[n];
        }
    }
    mem_free(is_placed);
    mem_free(ranks);
}

bool spread_make(struct spread *spread, const struct system *system, const struct net_graph *graph,
                 const uint32_t *hosts, uint32_t ranks, const struct loads *load, struct err *err)
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
    uint32_t nodes = (uint32_t)max_u64(system->spec.nodes, 1);
    spread->load = load ? mem_alloc(ranks, sizeof *spread->load) : NULL;
    if (load)
        place_homes_by_load(spread, load, nodes, most);
    else
        place_homes(spread, nodes, (uint32_t)most);
    spread->hosts = NULL;
    if (graph)
        place_nodes(spread, graph, load);
    return true;
}

void spread_fini(struct spread *spread)
{
    for (uint32_t i = 0; i < spread->homes; i++) {
        mem_free((void *)(uintptr_t)spread->home[i].sms);
        mem_free((void *)(uintptr_t)spread->home[i].memory);
    }
    mem_free(spread->home);
    mem_free(spread->load);
    mem_free(spread->node);
    *spread = (struct spread){0};
}
