/* Questions about graphs. */
#include "runtime/cuda/graph_look.h"
#include "runtime/cuda/graph_parts.h"

#include <stdio.h>

/* ---- lists ---- */

struct list {
    struct graph_node **from, **to;
    struct cudaGraphEdgeData *edges;
    size_t room, count;
    bool is_lossy; /* an edge has data that were not asked for */
};

static void list_add(struct list *list, struct graph_node *from, struct graph_node *to,
                     const struct cudaGraphEdgeData *data)
{
    bool fits = list->count < list->room;
    if (fits && list->from)
        list->from[list->count] = from;
    if (fits && list->to)
        list->to[list->count] = to;
    if (fits && list->edges)
        list->edges[list->count] = *data;
    list->is_lossy |= fits && !list->edges && !edge_is_plain(data);
    list->count++;
}

static cudaError_t list_end(struct list *list, size_t *count)
{
    for (size_t i = list->count; i < list->room; i++) {
        if (list->from)
            list->from[i] = NULL;
        if (list->to)
            list->to[i] = NULL;
    }
    *count = list->room && list->count > list->room ? list->room : list->count;
    return list->is_lossy ? cudaErrorLossyQuery : cudaSuccess;
}

cudaError_t graph_list_nodes(struct graph *graph, bool roots, struct graph_node **nodes, size_t *count)
{
    if (!graph_is_known(graph) || !count)
        return cudaErrorInvalidValue;
    struct list list = {.from = nodes, .room = nodes ? *count : 0};
    for (size_t i = 0; i < graph->count; i++) {
        if (!roots || !graph->nodes[i]->before_count)
            list_add(&list, graph->nodes[i], NULL, NULL);
    }
    return list_end(&list, count);
}

cudaError_t graph_list_edges(struct graph *graph, struct graph_node **from, struct graph_node **to,
                             struct cudaGraphEdgeData *edges, size_t *count)
{
    if (!graph_is_known(graph) || !count || !from != !to)
        return cudaErrorInvalidValue;
    struct list list = {.from = from, .to = to, .edges = edges, .room = from ? *count : 0};
    for (size_t i = 0; i < graph->count; i++) {
        struct graph_node *node = graph->nodes[i];
        for (size_t k = 0; k < node->before_count; k++)
            list_add(&list, node->before[k].node, node, &node->before[k].data);
    }
    return list_end(&list, count);
}

cudaError_t node_list_edges(struct graph_node *node, bool behind, struct graph_node **nodes,
                            struct cudaGraphEdgeData *edges, size_t *count)
{
    if (!node || !count)
        return cudaErrorInvalidValue;
    struct list list = {.from = nodes, .edges = edges, .room = nodes ? *count : 0};
    for (size_t k = 0; !behind && k < node->before_count; k++)
        list_add(&list, node->before[k].node, NULL, &node->before[k].data);
    for (size_t i = 0; behind && i < node->graph->count; i++) {
        struct graph_node *other = node->graph->nodes[i];
        for (size_t k = 0; k < other->before_count; k++) {
            if (other->before[k].node == node)
                list_add(&list, other, NULL, &other->before[k].data);
        }
    }
    return list_end(&list, count);
}

API(cudaGraphGetNodes, (graph, nodes, count), struct graph *graph, struct graph_node **nodes, size_t *count)
{
    return graph_list_nodes(graph, false, nodes, count);
}

API(cudaGraphGetRootNodes, (graph, nodes, count), struct graph *graph, struct graph_node **nodes,
    size_t *count)
{
    return graph_list_nodes(graph, true, nodes, count);
}

API(cudaGraphGetEdges, (graph, from, to, edges, count), struct graph *graph, struct graph_node **from,
    struct graph_node **to, struct cudaGraphEdgeData *edges, size_t *count)
{
    return graph_list_edges(graph, from, to, edges, count);
}

API(cudaGraphNodeGetDependencies, (node, nodes, edges, count), struct graph_node *node,
    struct graph_node **nodes, struct cudaGraphEdgeData *edges, size_t *count)
{
    return node_list_edges(node, false, nodes, edges, count);
}

API(cudaGraphNodeGetDependentNodes, (node, nodes, edges, count), struct graph_node *node,
    struct graph_node **nodes, struct cudaGraphEdgeData *edges, size_t *count)
{
    return node_list_edges(node, true, nodes, edges, count);
}

API(cudaGraphNodeGetType, (node, type), struct graph_node *node, int *type)
{
    if (!node || !type)
        return cudaErrorInvalidValue;
    *type = node_work(node)->kind;
    return cudaSuccess;
}

API(cudaGraphNodeFindInClone, (found, node, clone), struct graph_node **found, struct graph_node *node,
    struct graph *clone)
{
    if (!found || !node || !graph_is_known(clone))
        return cudaErrorInvalidValue;
    *found = node_in_clone(node, clone);
    return *found ? cudaSuccess : cudaErrorInvalidValue;
}

API(cudaGraphChildGraphNodeGetGraph, (node, graph), struct graph_node *node, struct graph **graph)
{
    if (!node || !graph || !node_child(node))
        return cudaErrorInvalidValue;
    *graph = node_child(node);
    return cudaSuccess;
}

/* ---- as a picture ---- */

static const char *const kind_names[] = {
    [NODE_KERNEL] = "KERNEL",   [NODE_COPY] = "MEMCPY",         [NODE_FILL] = "MEMSET",
    [NODE_HOST] = "HOST",       [NODE_CHILD] = "GRAPH",         [NODE_EMPTY] = "EMPTY",
    [NODE_WAIT] = "EVENT_WAIT", [NODE_RECORD] = "EVENT_RECORD", [NODE_ALLOC] = "MEM_ALLOC",
    [NODE_FREE] = "MEM_FREE",   [NODE_VALUES] = "BATCH_MEM_OP", [NODE_CONDITION] = "CONDITIONAL"};

static void print_nodes(const struct graph *graph, FILE *file)
{
    fprintf(file, "subgraph cluster_%llu {\nlabel=\"graph_%llu\" graph[style=\"dashed\"];\n",
            (unsigned long long)graph->number, (unsigned long long)graph->number);
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        fprintf(file, "\"node_%llu\"[shape=\"rectangle\" label=\"%zu\\n%s", (unsigned long long)node->number,
                i, kind_names[node->work.kind]);
        if (node->work.kind == NODE_KERNEL) {
            struct action_launch facts;
            action_launch(node->actions[0], &facts);
            fprintf(file, "\\n%s\\n<<<(%u,%u,%u),(%u,%u,%u),%u>>>", function_name(facts.function),
                    facts.config->grid[0], facts.config->grid[1], facts.config->grid[2],
                    facts.config->block[0], facts.config->block[1], facts.config->block[2],
                    facts.config->shared_bytes);
        }
        fprintf(file, "\"];\n");
    }
    for (size_t i = 0; i < graph->count; i++) {
        const struct graph_node *node = graph->nodes[i];
        for (size_t k = 0; k < node->before_count; k++)
            fprintf(file, "\"node_%llu\" -> \"node_%llu\";\n",
                    (unsigned long long)node->before[k].node->number, (unsigned long long)node->number);
        for (size_t k = 0; k < node->body_count; k++)
            print_nodes(node->bodies[k], file);
    }
    fprintf(file, "}\n");
}

cudaError_t graph_print_dot(struct graph *graph, const char *path, unsigned flags)
{
    (void)flags; /* how much of each node is told: always the same here */
    if (!graph_is_known(graph) || !path)
        return cudaErrorInvalidValue;
    FILE *file = fopen(path, "w");
    if (!file)
        return cudaErrorOperatingSystem;
    fprintf(file, "digraph dot {\n");
    print_nodes(graph, file);
    fprintf(file, "}\n");
    bool good = !ferror(file);
    return fclose(file) || !good ? cudaErrorOperatingSystem : cudaSuccess;
}

API(cudaGraphDebugDotPrint, (graph, path, flags), struct graph *graph, const char *path, unsigned flags)
{
    return graph_print_dot(graph, path, flags);
}
