#include "net/circles.h"
#include "base/mem.h"
#include "base/text.h"

enum { PRINTED_MOST = 6 };

/* What waits for what, of one virtual network: all have the same ways. A way is a link one direction: twice
 * the link's number, plus 1 for back. Links of a node have places. Behind all channels come sources: what an
 * endpoint sends on a virtual network. */
struct waits {
    const struct net_graph *graph;
    const struct net_routes *routes;
    uint32_t networks;
    const uint32_t *waits_for;
    uint32_t ways;             /* one layer's */
    uint32_t *first, *at;      /* links of node n: at[first[n]] to at[first[n + 1] - 1] */
    uint32_t *place;           /* by way: of its link, among those of the node that it leaves */
    size_t *turns, turn_count; /* by way: its first turn; a turn is a link that may follow */
    bool *goes_on;             /* by layer and turn: some message takes it */
    bool *begins, *ends;       /* by layer and way: a message's first one, or its last */
};

static uint32_t node_at(const struct waits *waits, uint32_t way, bool end)
{
    return waits->graph->links[way / 2].ends[(way % 2) ^ end];
}

static uint32_t degree_of(const struct waits *waits, uint32_t node)
{
    return waits->first[node + 1] - waits->first[node];
}

static void find_places(struct waits *waits)
{
    const struct net_graph *graph = waits->graph;
    waits->first = mem_alloc(graph->node_count + 2, sizeof *waits->first);
    waits->at = mem_alloc(waits->ways + 1, sizeof *waits->at);
    waits->place = mem_alloc(waits->ways + 1, sizeof *waits->place);
    waits->turns = mem_alloc(waits->ways + 1, sizeof *waits->turns);
    uint32_t count = 0;
    for (uint32_t node = 0; node < graph->node_count; node++) {
        waits->first[node] = count;
        for (uint32_t way = 0; way < waits->ways; way++)
            if (node_at(waits, way, false) == node) {
                waits->place[way] = count - waits->first[node];
                waits->at[count++] = way;
            }
    }
    waits->first[graph->node_count] = count;
    for (uint32_t way = 0; way < waits->ways; way++) {
        waits->turns[way] = waits->turn_count;
        waits->turn_count += degree_of(waits, node_at(waits, way, true));
    }
}

/* Follows the messages of a pair. */
static void follow(struct waits *waits, uint32_t from, uint32_t to)
{
    uint32_t layer = waits->routes->layer[(size_t)from * waits->routes->nodes + to], before = 0;
    bool is_first = true;
    for (uint32_t node = from; node != to; is_first = false) {
        uint32_t link = (uint32_t)net_out(waits->routes, node, to);
        uint32_t way = 2 * link + (waits->graph->links[link].ends[1] == node);
        if (is_first)
            waits->begins[(size_t)layer * waits->ways + way] = true;
        else
            waits->goes_on[layer * waits->turn_count + waits->turns[before] + waits->place[way]] = true;
        before = way;
        node = node_at(waits, way, true);
    }
    waits->ends[(size_t)layer * waits->ways + before] = true;
}

static void waits_init(struct waits *waits)
{
    const struct net_graph *graph = waits->graph;
    size_t layers = waits->routes->layers;
    find_places(waits);
    waits->goes_on = mem_alloc(layers * waits->turn_count + 1, sizeof(bool));
    waits->begins = mem_alloc(layers * waits->ways + 1, sizeof(bool));
    waits->ends = mem_alloc(layers * waits->ways + 1, sizeof(bool));
    for (uint32_t from = 0; from < graph->node_count; from++)
        for (uint32_t to = 0; to < graph->node_count; to++)
            if (from != to && graph->nodes[from].is_endpoint && graph->nodes[to].is_endpoint)
                follow(waits, from, to);
}

static void waits_fini(struct waits *waits)
{
    mem_free(waits->first);
    mem_free(waits->at);
    mem_free(waits->place);
    mem_free(waits->turns);
    mem_free(waits->goes_on);
    mem_free(waits->begins);
    mem_free(waits->ends);
}

/* ---- numbers of channels and sources ---- */

static size_t channel_count(const struct waits *waits)
{
    return (size_t)waits->networks * waits->routes->layers * waits->ways;
}

static struct net_channel channel_of(const struct waits *waits, size_t number)
{
    uint32_t layers = waits->routes->layers, way = (uint32_t)(number % waits->ways);
    return (struct net_channel){.link = way / 2,
                                .back = way % 2,
                                .layer = (uint32_t)(number / waits->ways % layers),
                                .network = (uint32_t)(number / waits->ways / layers)};
}

static size_t channel_number(const struct waits *waits, uint32_t network, uint32_t layer, uint32_t way)
{
    return ((size_t)network * waits->routes->layers + layer) * waits->ways + way;
}

static const size_t nothing = SIZE_MAX;

/* The `i`-th of what a source waits for: a channel, or nothing. False: there are no more. */
static bool next_of_source(const struct waits *waits, size_t number, uint32_t i, size_t *next)
{
    uint32_t nodes = waits->routes->nodes, node = (uint32_t)(number % nodes), degree = degree_of(waits, node);
    if (i >= degree * waits->routes->layers)
        return false;
    uint32_t layer = i / degree, way = waits->at[waits->first[node] + i % degree];
    bool is_used = waits->begins[(size_t)layer * waits->ways + way];
    *next = is_used ? channel_number(waits, (uint32_t)(number / nodes), layer, way) : nothing;
    return true;
}

/* The same of a channel: first other channels, then sources of the endpoint where messages end. */
static bool next_of_channel(const struct waits *waits, size_t number, uint32_t i, size_t *next)
{
    struct net_channel channel = channel_of(waits, number);
    uint32_t way = 2 * channel.link + channel.back, node = node_at(waits, way, true),
             degree = degree_of(waits, node);
    if (i < degree) {
        bool is_used = waits->goes_on[channel.layer * waits->turn_count + waits->turns[way] + i];
        *next = is_used
                    ? channel_number(waits, channel.network, channel.layer, waits->at[waits->first[node] + i])
                    : nothing;
        return true;
    }
    uint32_t network = i - degree;
    if (network >= waits->networks || !waits->waits_for)
        return false;
    bool is_used = waits->ends[(size_t)channel.layer * waits->ways + way] &&
                   waits->waits_for[channel.network] & (1u << network);
    *next = is_used ? channel_count(waits) + (size_t)network * waits->routes->nodes + node : nothing;
    return true;
}

static bool next_of(const struct waits *waits, size_t number, uint32_t i, size_t *next)
{
    size_t channels = channel_count(waits);
    return number < channels ? next_of_channel(waits, number, i, next)
                             : next_of_source(waits, number - channels, i, next);
}

/* ---- the search ---- */

struct step {
    size_t number;
    uint32_t next; /* which of what it waits for is looked at next */
};

struct search {
    struct step *path;
    size_t depth;
    enum { UNSEEN, ON_PATH, DONE } * seen;
};

/* What can be reached from there, depth first. True: a circle is on the path, from `*begins` on. */
static bool search_from(const struct waits *waits, struct search *search, size_t start, size_t *begins)
{
    search->path[0] = (struct step){.number = start};
    search->depth = 1;
    search->seen[start] = ON_PATH;
    while (search->depth) {
        struct step *step = &search->path[search->depth - 1];
        size_t next;
        if (!next_of(waits, step->number, step->next++, &next)) {
            search->seen[step->number] = DONE;
            search->depth--;
        } else if (next != nothing && search->seen[next] == ON_PATH) {
            for (*begins = 0; search->path[*begins].number != next;)
                ++*begins;
            return true;
        } else if (next != nothing && search->seen[next] == UNSEEN) {
            search->seen[next] = ON_PATH;
            search->path[search->depth++] = (struct step){.number = next};
        }
    }
    return false;
}

static void note_circle(const struct waits *waits, const struct search *search, size_t begins,
                        struct net_circle *circle)
{
    circle->channels = mem_alloc(search->depth, sizeof *circle->channels);
    for (size_t i = begins; i < search->depth; i++)
        if (search->path[i].number < channel_count(waits))
            circle->channels[circle->count++] = channel_of(waits, search->path[i].number);
}

bool net_find_circle(const struct net_graph *graph, const struct net_routes *routes, uint32_t networks,
                     const uint32_t *waits_for, struct net_circle *circle)
{
    struct waits waits = {.graph = graph,
                          .routes = routes,
                          .networks = networks,
                          .waits_for = waits_for,
                          .ways = 2 * (uint32_t)graph->link_count};
    waits_init(&waits);
    size_t count = channel_count(&waits) + (size_t)networks * routes->nodes, begins;
    struct search search = {.path = mem_alloc(count + 1, sizeof *search.path),
                            .seen = mem_alloc(count + 1, sizeof *search.seen)};
    bool found = false;
    *circle = (struct net_circle){0};
    for (size_t i = 0; i < channel_count(&waits) && !found; i++)
        found = search.seen[i] == UNSEEN && search_from(&waits, &search, i, &begins);
    if (found)
        note_circle(&waits, &search, begins, circle);
    mem_free(search.path);
    mem_free(search.seen);
    waits_fini(&waits);
    return found;
}

void net_circle_fini(struct net_circle *circle)
{
    mem_free(circle->channels);
    *circle = (struct net_circle){0};
}

void net_print_circle(const struct net_graph *graph, const struct net_circle *circle, struct text *text)
{
    for (size_t i = 0; i < circle->count && i < PRINTED_MOST; i++) {
        const struct net_channel *channel = &circle->channels[i];
        const uint32_t *ends = graph->links[channel->link].ends;
        text_add(text, "%s%s to %s (layer %u, network %u)", i ? ", " : "",
                 graph->nodes[ends[channel->back]].name, graph->nodes[ends[!channel->back]].name,
                 channel->layer, channel->network);
    }
    if (circle->count > PRINTED_MOST)
        text_add(text, " and %zu more", circle->count - PRINTED_MOST);
}
