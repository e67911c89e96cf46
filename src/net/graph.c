#include "net/graph.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* The least room: some messages of the largest size. */
enum { CREDITS_LEAST_BYTES = 8192 };

static const char *copy_of(const char *text)
{
    return text ? mem_text(text) : NULL;
}

uint32_t net_add_node(struct net_graph *graph, const struct net_node *node)
{
    mem_grow(graph->nodes, graph->node_count, graph->node_capacity);
    struct net_node *own = &graph->nodes[graph->node_count];
    *own = *node;
    own->name = copy_of(node->name);
    own->where = copy_of(node->where);
    return (uint32_t)graph->node_count++;
}

uint32_t net_add_link(struct net_graph *graph, const struct net_link *link)
{
    mem_grow(graph->links, graph->link_count, graph->link_capacity);
    struct net_link *own = &graph->links[graph->link_count];
    *own = *link;
    own->name = copy_of(link->name);
    own->where = copy_of(link->where);
    return (uint32_t)graph->link_count++;
}

void net_graph_fini(struct net_graph *graph)
{
    for (size_t i = 0; i < graph->node_count; i++) {
        mem_free((void *)(uintptr_t)graph->nodes[i].name);
        mem_free((void *)(uintptr_t)graph->nodes[i].where);
    }
    for (size_t i = 0; i < graph->link_count; i++) {
        mem_free((void *)(uintptr_t)graph->links[i].name);
        mem_free((void *)(uintptr_t)graph->links[i].where);
    }
    mem_free(graph->nodes);
    mem_free(graph->links);
    *graph = (struct net_graph){0};
}

int net_find(const struct net_graph *graph, const char *name)
{
    for (size_t i = 0; i < graph->node_count; i++)
        if (!strcmp(graph->nodes[i].name, name))
            return (int)i;
    return NET_NONE;
}

uint32_t net_degree(const struct net_graph *graph, uint32_t node)
{
    uint32_t count = 0;
    for (size_t i = 0; i < graph->link_count; i++)
        count += graph->links[i].ends[0] == node || graph->links[i].ends[1] == node;
    return count;
}

uint32_t net_credits(const struct net_link *link, uint64_t latency_ps)
{
    if (link->credits)
        return link->credits;
    unsigned __int128 there_and_back = (unsigned __int128)link->bytes_per_s * 2 * latency_ps / 1000000000000;
    uint64_t bytes = 2 * (uint64_t)there_and_back + CREDITS_LEAST_BYTES;
    return (uint32_t)min_u64(bytes / (link->flit_bytes ? link->flit_bytes : 1), UINT32_MAX / 2);
}

static const char *place_of(const char *where)
{
    return where ? where : "fabric";
}

static bool check_link(const struct net_graph *graph, const struct net_link *link, struct err *err)
{
    if (link->ends[0] == link->ends[1])
        return err_set(err, "%s: the link '%s' joins %s to itself", place_of(link->where), link->name,
                       graph->nodes[link->ends[0]].name);
    if (!link->latency_ps)
        return err_set(err, "%s: the link '%s' has no latency; at least 1ps is needed", place_of(link->where),
                       link->name);
    return true;
}

bool net_check(const struct net_graph *graph, struct err *err)
{
    if (graph->node_count > NET_NODES_MOST)
        return err_set(err, "fabric: %zu GPUs, hosts and switches are more than %d", graph->node_count,
                       NET_NODES_MOST);
    for (size_t i = 0; i < graph->link_count; i++)
        if (!check_link(graph, &graph->links[i], err))
            return false;
    for (size_t i = 0; i < graph->node_count; i++) {
        const struct net_node *node = &graph->nodes[i];
        uint32_t degree = net_degree(graph, (uint32_t)i), most = node->ports ? node->ports : NET_PORTS_MOST;
        if (degree > most)
            return err_set(err, "%s: '%s' has %u links, and %u ports", place_of(node->where), node->name,
                           degree, most);
    }
    return true;
}
