/* The network between agents: shortest ways by latency, links that messages share. */
#include "base/bits.h"
#include "base/mem.h"
#include "coherence/follow/parts.h"

#include <string.h>

enum { PERIOD_BYTES = 1024, NO_NODE = UINT16_MAX };

uint64_t follow_narrow_period(uint64_t bytes_per_s)
{
    static const uint64_t second_ps = UINT64_C(1000000000000);
    return bytes_per_s ? max_u64(PERIOD_BYTES * (second_ps / 1000) / max_u64(bytes_per_s / 1000, 1), 1) : 0;
}

/* Units of 8 bytes: a period has room for so many. */
uint64_t follow_narrow_pass(struct calendar *calendar, uint64_t period_ps, uint32_t bytes, uint64_t time_ps)
{
    uint64_t period = time_ps / period_ps;
    for (uint32_t left = (bytes + 7) / 8; left; left--)
        period = calendar_take(calendar, period, PERIOD_BYTES / 8);
    return max_u64(time_ps, period * period_ps) + period_ps * bytes / PERIOD_BYTES;
}

/* Ways to `to` from everywhere: the nearest node whose ways are not known yet is next. */
static bool find_ways(struct follow_ways *ways, const struct net_graph *graph, uint32_t to)
{
    uint64_t away[FOLLOW_NODES_MOST];
    bool known[FOLLOW_NODES_MOST] = {false};
    uint32_t count = ways->node_count;
    for (uint32_t i = 0; i < count; i++) {
        away[i] = i == to ? 0 : UINT64_MAX;
        ways->next_node[i * count + to] = NO_NODE;
    }
    for (uint32_t round = 0; round < count; round++) {
        uint32_t best = UINT32_MAX;
        for (uint32_t i = 0; i < count; i++)
            if (!known[i] && away[i] != UINT64_MAX && (best == UINT32_MAX || away[i] < away[best]))
                best = i;
        if (best == UINT32_MAX)
            return false;
        known[best] = true;
        if (best != to && graph->nodes[best].is_endpoint && !graph->nodes[best].forwards)
            continue;
        for (uint32_t i = 0; i < graph->link_count; i++) {
            const struct net_link *link = &graph->links[i];
            if (link->ends[0] != best && link->ends[1] != best)
                continue;
            uint32_t other = net_other_end(link, best);
            uint64_t length =
                away[best] + link->latency_ps + (best == to ? 0 : graph->nodes[best].latency_ps);
            if (length < away[other]) {
                away[other] = length;
                ways->next_node[other * count + to] = (uint16_t)best;
                ways->next_link[other * count + to] = (uint16_t)i;
            }
        }
    }
    return true;
}

bool follow_ways_init(struct follow_ways *ways, const struct net_graph *graph, struct err *err)
{
    size_t count = graph->node_count;
    if (count > FOLLOW_NODES_MOST)
        return err_set(err, "coherence: a network of %zu nodes is too large (%d)", count, FOLLOW_NODES_MOST);
    *ways = (struct follow_ways){.node_count = (uint32_t)count, .link_count = (uint32_t)graph->link_count};
    ways->links = mem_alloc(graph->link_count, sizeof *ways->links);
    ways->node_latency = mem_alloc(count, sizeof *ways->node_latency);
    ways->next_node = mem_alloc(count * count, sizeof *ways->next_node);
    ways->next_link = mem_alloc(count * count, sizeof *ways->next_link);
    for (size_t i = 0; i < graph->link_count; i++) {
        const struct net_link *link = &graph->links[i];
        ways->links[i] = (struct follow_link){.latency_ps = link->latency_ps,
                                              .period_ps = follow_narrow_period(link->bytes_per_s),
                                              .overhead_bytes = link->overhead_bytes,
                                              .flit_bytes = (uint32_t)max_u64(link->flit_bytes, 1)};
        for (uint32_t way = 0; link->bytes_per_s && way < 2; way++)
            ways->links[i].ways[way] = mem_alloc(1, sizeof(struct calendar));
    }
    for (size_t i = 0; i < count; i++) {
        ways->node_latency[i] = graph->nodes[i].latency_ps;
        if (graph->nodes[i].is_endpoint && !find_ways(ways, graph, (uint32_t)i))
            return err_set(err, "coherence: the network is in pieces: not all nodes reach %s",
                           graph->nodes[i].name);
    }
    return true;
}

void follow_ways_fini(struct follow_ways *ways)
{
    for (uint32_t i = 0; ways->links && i < ways->link_count; i++) {
        mem_free(ways->links[i].ways[0]);
        mem_free(ways->links[i].ways[1]);
    }
    mem_free(ways->links);
    mem_free(ways->node_latency);
    mem_free(ways->next_node);
    mem_free(ways->next_link);
}

/* Cut-through: what a message takes to pass counts once, for the slowest link. */
uint64_t follow_ways_pass(struct follow_ways *ways, uint32_t from, uint32_t to, uint32_t bytes,
                          uint64_t time_ps, uint64_t *hops)
{
    uint64_t tail = 0;
    for (uint32_t at = from; at != to;) {
        uint32_t next = ways->next_node[at * ways->node_count + to];
        const struct follow_link *link = &ways->links[ways->next_link[at * ways->node_count + to]];
        if (link->period_ps) {
            uint32_t wire =
                (bytes + link->overhead_bytes + link->flit_bytes - 1) / link->flit_bytes * link->flit_bytes;
            uint64_t own = link->period_ps * wire / PERIOD_BYTES;
            time_ps = follow_narrow_pass(link->ways[at > next], link->period_ps, wire, time_ps) - own;
            tail = max_u64(tail, own);
        }
        time_ps += link->latency_ps + (next == to ? 0 : ways->node_latency[next]);
        ++*hops;
        at = next;
    }
    return time_ps + tail;
}
