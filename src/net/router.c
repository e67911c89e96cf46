#include "net/router.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/mem.h"
#include "base/text.h"

#include <string.h>

enum { NET_CREDIT = NET_KINDS }; /* the kind of messages that give credits back */

struct credit {
    uint32_t channel, flits; /* from an endpoint: its virtual network, and messages */
};

static struct router *router_of(const struct component *self)
{
    return *(struct router *const *)component_spec(self);
}

static struct router_queue *queue_at(const struct router *router, struct router_state *state, uint32_t link,
                                     uint32_t channel)
{
    struct router_queue *queues = (struct router_queue *)(void *)&state->outs[router->link_count];
    return &queues[link * router->channels + channel];
}

size_t router_state_bytes(const struct router *router)
{
    return sizeof(struct router_state) + router->link_count * sizeof(struct router_out) +
           (size_t)router->link_count * router->channels * sizeof(struct router_queue);
}

const struct router_out *router_out(const struct router *router, uint32_t place)
{
    return &((const struct router_state *)component_state(router->component))->outs[place];
}

void router_start(struct router *router)
{
    struct router_state *state = component_state(router->component);
    for (uint32_t link = 0; link < router->link_count; link++)
        for (uint32_t channel = 0; channel < router->channels; channel++)
            queue_at(router, state, link, channel)->credits = router->links[link].credits;
}

/* ---- what waits ---- */

static struct net_waiting *waiting_at(const struct router *router, uint64_t number)
{
    return (struct net_waiting *)(void *)(router->store + (number - 1) * router->waiting_bytes);
}

static uint32_t waiting_take(struct router *router, struct router_state *state)
{
    if (!state->free_waiting) {
        size_t more = router->store_count ? 2 * router->store_count : 64;
        router->store = mem_resize(router->store, router->store_count, more, router->waiting_bytes);
        for (size_t i = more; i > router->store_count; i--) {
            waiting_at(router, i)->next = (uint32_t)state->free_waiting;
            state->free_waiting = i;
        }
        router->store_count = more;
    }
    uint32_t number = (uint32_t)state->free_waiting;
    state->free_waiting = waiting_at(router, number)->next;
    state->waiting_now++;
    return number;
}

static void append(struct router *router, struct router_queue *queue, uint32_t number)
{
    waiting_at(router, number)->next = 0;
    if (queue->last)
        waiting_at(router, queue->last)->next = number;
    else
        queue->first = number;
    queue->last = number;
}

static void remove_first(struct router *router, struct router_state *state, struct router_queue *queue)
{
    uint32_t number = queue->first;
    struct net_waiting *waiting = waiting_at(router, number);
    queue->first = waiting->next;
    if (!queue->first)
        queue->last = 0;
    waiting->next = (uint32_t)state->free_waiting;
    state->free_waiting = number;
    state->waiting_now--;
}

/* ---- sending ---- */

static uint32_t wire_bytes(const struct router *router, uint32_t link, uint32_t bytes)
{
    const struct net_link *links = network_graph(router->network)->links;
    return bytes == NET_RIDES ? 0 : net_wire_bytes(&links[router->links[link].link], bytes);
}

static uint32_t flits_of(const struct router *router, uint32_t link, uint32_t bytes)
{
    return wire_bytes(router, link, bytes) / router->links[link].flit_bytes;
}

/* The room that a message had here is free again. Credits go back several at a time. */
static void give_credit(struct component *self, struct router_state *state, uint32_t link, uint32_t channel,
                        uint32_t bytes)
{
    const struct router *router = router_of(self);
    struct router_queue *queue = queue_at(router, state, link, channel);
    if (router->links[link].is_local)
        return;
    queue->owed += flits_of(router, link, bytes);
    if (queue->owed <= router->links[link].owes)
        return;
    struct port *port = component_port(self, link);
    struct credit credit = {.channel = channel, .flits = queue->owed};
    queue->owed = 0;
    REQUIRE(port_send_sized(port, 1 - port_plug(port), 0, NET_CREDIT, &credit, sizeof credit, 0));
}

/* The room that a message of a channel finds at the other end of a link; NULL: as much as it wants. An
 * endpoint has room for messages of a virtual network, whatever their layer. */
static uint32_t *room_at(const struct router *router, struct router_state *state, uint32_t out,
                         uint32_t channel)
{
    if (!router->links[out].is_local)
        return &queue_at(router, state, out, channel)->credits;
    return router->links[out].credits
               ? &queue_at(router, state, out, channel / router->layers * router->layers)->credits
               : NULL;
}

static uint32_t room_for(const struct router *router, uint32_t out, const struct net_waiting *waiting)
{
    return router->links[out].is_local ? 1 : flits_of(router, out, waiting->wire_bytes);
}

/* Whether the first of a queue is for this link, and there is room for it. */
static bool can_leave(const struct router *router, struct router_state *state, uint32_t queue, uint32_t out)
{
    uint32_t channel = queue % router->channels;
    const struct router_queue *from = queue_at(router, state, queue / router->channels, channel);
    if (!from->first)
        return false;
    const struct net_waiting *waiting = waiting_at(router, from->first);
    if (waiting->out != out)
        return false;
    const uint32_t *room = room_at(router, state, out, channel);
    return !room || *room >= room_for(router, out, waiting);
}

/* The next queue whose first message can leave by a link, behind the one that was served last. */
static int next_queue(const struct router *router, struct router_state *state, uint32_t out)
{
    uint32_t queues = router->link_count * router->channels;
    for (uint32_t i = 1; i <= queues; i++) {
        uint32_t queue = (uint32_t)(state->outs[out].turn + i) % queues;
        if (can_leave(router, state, queue, out))
            return (int)queue;
    }
    return NET_NONE;
}

/* The time of a message on a link. */
static uint64_t time_fs(const struct router *router, uint32_t link, uint32_t bytes)
{
    return router->links[link].is_local ? 0 : wire_bytes(router, link, bytes) * router->links[link].byte_fs;
}

static void tell_link(const struct router *router, uint32_t out, uint64_t begins_fs, uint64_t leaves_fs,
                      uint32_t bytes)
{
    uint32_t number = router->links[out].link;
    const struct net_link *link = &network_graph(router->network)->links[number];
    probe_tell(router->probe, (struct probe_event){.kind = PROBE_LINK,
                                                   .phase = PROBE_PASSES,
                                                   .time_ps = begins_fs / 1000,
                                                   .id = number,
                                                   .place = link->ends[0] != router->node,
                                                   .stop = "link",
                                                   .what = link->name,
                                                   .bytes = bytes,
                                                   .busy_ps = leaves_fs / 1000});
}

/* A message whose first byte is here begins to leave when its last byte will not be late. Gives when that is,
 * from now on. */
static uint64_t occupy(const struct router *router, struct router_state *state,
                       const struct net_waiting *waiting, uint64_t now_fs)
{
    uint32_t out = waiting->out, bytes = waiting->wire_bytes;
    uint64_t leaves = time_fs(router, out, bytes);
    struct router_out *line = &state->outs[router->is_bus ? 0 : out];
    uint64_t begins = max_u64(line->free_fs, now_fs);
    if (waiting->there_fs > begins + leaves)
        begins = waiting->there_fs - leaves;
    line->free_fs = begins + leaves;
    struct net_traffic *traffic = &state->outs[out].traffic;
    traffic->messages++;
    traffic->bytes += wire_bytes(router, out, bytes);
    traffic->busy_ps += leaves / 1000;
    if (probe_wants(router->probe, PROBE_LINK))
        tell_link(router, out, begins, leaves, wire_bytes(router, out, bytes));
    return begins / 1000 - now_fs / 1000;
}

/* Sends the first message of a queue. Gives the link that the one behind it is for, or NET_NONE. */
static int send_first(struct component *self, struct router_state *state, uint32_t queue, uint32_t out)
{
    struct router *router = router_of(self);
    uint32_t link = queue / router->channels, channel = queue % router->channels;
    struct router_queue *from = queue_at(router, state, link, channel);
    const struct net_waiting *waiting = waiting_at(router, from->first);
    struct port *port = component_port(self, out);
    uint64_t now = component_now(self), there = waiting->there_fs / 1000;
    uint64_t delay = there > now ? there - now : 0; /* an endpoint takes it when all of it is there */
    uint32_t *room = room_at(router, state, out, channel);
    if (room)
        *room -= room_for(router, out, waiting);
    if (!router->links[out].is_local)
        delay = occupy(router, state, waiting, now * 1000);
    REQUIRE(port_send_sized(port, 1 - port_plug(port), delay, waiting->kind, waiting->payload, waiting->bytes,
                            waiting->wire_bytes));
    give_credit(self, state, link, channel, waiting->wire_bytes);
    state->outs[out].turn = queue;
    remove_first(router, state, from);
    return from->first ? waiting_at(router, from->first)->out : NET_NONE;
}

/* A link is busy up to here; it may begin in the picosecond that this is in. */
static uint64_t free_at(const struct router *router, const struct router_state *state, uint32_t out)
{
    return state->outs[router->is_bus ? 0 : out].free_fs / 1000;
}

/* Sends what can leave by a link now. What follows in the queues may be for other links: those are marked. */
static void serve(struct component *self, struct router_state *state, uint32_t out, bool *marked)
{
    const struct router *router = router_of(self);
    uint64_t now = component_now(self);
    for (int queue; (queue = next_queue(router, state, out)) != NET_NONE;) {
        if (!router->links[out].is_local && free_at(router, state, out) > now) {
            component_wake(self, free_at(router, state, out));
            return;
        }
        int next = send_first(self, state, (uint32_t)queue, out);
        if (next != NET_NONE && (uint32_t)next != out)
            marked[next] = true;
    }
}

static void serve_marked(struct component *self, struct router_state *state, bool *marked)
{
    const struct router *router = router_of(self);
    for (bool some = true; some;) {
        some = false;
        for (uint32_t out = 0; out < router->link_count; out++)
            if (marked[out]) {
                marked[out] = false;
                some = true;
                serve(self, state, out, marked);
            }
    }
}

static void serve_link(struct component *self, struct router_state *state, uint32_t out)
{
    bool marked[NET_PORTS_MOST + 1] = {false};
    marked[out] = true;
    serve_marked(self, state, marked);
}

static void router_wake(struct component *self, void *state)
{
    bool marked[NET_PORTS_MOST + 1];
    memset(marked, true, sizeof marked);
    serve_marked(self, state, marked);
}

/* ---- what arrives ---- */

static void take_message(struct component *self, struct router_state *state, uint32_t link,
                         const struct event *event)
{
    struct router *router = router_of(self);
    const struct net_routes *routes = network_routes(router->network);
    struct net_head head;
    uint32_t number = waiting_take(router, state);
    struct net_waiting *waiting = waiting_at(router, number);
    memcpy(&head, event->payload, sizeof head);
    if (router->links[link].is_local) {
        REQUIRE(head.to < routes->nodes && head.network < router->channels / router->layers);
        head.from = (uint16_t)router->node;
        head.layer = routes->layer[(size_t)router->node * routes->nodes + head.to];
    }
    waiting->there_fs = component_now(self) * 1000 + time_fs(router, link, event->wire_bytes);
    waiting->wire_bytes = event->wire_bytes;
    waiting->bytes = event->bytes;
    waiting->kind = event->kind;
    waiting->out = head.to == router->node ? (uint8_t)(router->link_count - 1)
                                           : router->out_of_link[net_out(routes, router->node, head.to)];
    memcpy(waiting->payload, event->payload, event->bytes);
    memcpy(waiting->payload, &head, sizeof head);
    struct router_queue *queue = queue_at(router, state, link, head.network * router->layers + head.layer);
    append(router, queue, number);
    if (queue->first == number)
        serve_link(self, state, waiting->out);
}

static void router_arrive(struct component *self, void *at, struct port *port)
{
    struct router_state *state = at;
    const struct router *router = router_of(self);
    uint32_t link = port_number(port);
    const struct event *event = port_head(port);
    if (event->kind != NET_CREDIT) {
        take_message(self, state, link, event);
        port_pop(port);
        return;
    }
    struct credit credit;
    memcpy(&credit, event->payload, sizeof credit);
    port_pop(port);
    uint32_t channel = router->links[link].is_local ? credit.channel * router->layers : credit.channel;
    queue_at(router, state, link, channel)->credits += credit.flits;
    serve_link(self, state, link);
}

void network_took(struct port *port, uint32_t virtual_network)
{
    struct credit credit = {.channel = virtual_network, .flits = 1};
    REQUIRE(port_send_sized(port, 1 - port_plug(port), 0, NET_CREDIT, &credit, sizeof credit, 0));
}

static bool router_waits(const struct component *self, const void *at, struct text *text)
{
    const struct router_state *state = at;
    (void)self;
    if (state->waiting_now)
        text_add(text, "room for %llu messages", (unsigned long long)state->waiting_now);
    return state->waiting_now;
}

static void router_archive(struct component *self, void *at, struct archive *archive)
{
    struct router_state *state = at;
    struct router *router = router_of(self);
    size_t count = (size_t)archive_count(archive, router->store_count, router->waiting_bytes);
    if (archive->reading && archive->good) {
        router->store = mem_resize(router->store, router->store_count, count, router->waiting_bytes);
        router->store_count = count;
    }
    archive_bytes(archive, router->store, router->store_count * router->waiting_bytes);
    bool good = state->free_waiting <= router->store_count;
    for (size_t i = 1; i <= router->store_count && good; i++) {
        const struct net_waiting *waiting = waiting_at(router, i);
        good = waiting->next <= router->store_count && waiting->out < router->link_count &&
               waiting->bytes <= router->waiting_bytes - sizeof *waiting;
    }
    for (uint32_t i = 0; i < router->link_count * router->channels && good; i++) {
        const struct router_queue *queue =
            queue_at(router, state, i / router->channels, i % router->channels);
        good = queue->first <= router->store_count && queue->last <= router->store_count;
    }
    archive_check(archive, good);
}

const struct component_ops router_ops = {.type = "router",
                                         .arrive = router_arrive,
                                         .wake = router_wake,
                                         .waits = router_waits,
                                         .archive = router_archive};
