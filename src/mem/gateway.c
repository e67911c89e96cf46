#include "mem/gateway.h"
#include "base/address.h"
#include "base/archive.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "mem/cut.h"
#include "mem/memsys.h"
#include "mem/peer_cache.h"

#include <string.h>

/* A peer's request that is at this GPU's slices: its number there is its place among these. */
struct guest {
    uint32_t gpu, client, id;
    uint32_t next; /* of the free ones */
    uint32_t is_copy;
    uint32_t whole; /* that it is a part of, plus 1; 0: none */
};

struct gateway_state {
    uint64_t peer_bytes; /* first */
    uint64_t pushed;
    uint64_t sectors_kept;
    uint32_t free_guest; /* the first of those that are free, plus 1; 0: none */
    uint32_t guests_now;
    uint32_t free_whole; /* likewise */
    uint32_t cut_whole;  /* of the request that waits for room with some of its parts, plus 1; 0: none */
    uint32_t cut_done;   /* sectors of those that have gone */
    uint32_t unused;     /* zero */
};

struct gateway {
    struct gateway *self; /* what the component's spec points to: guests are reached through it */
    struct component *component;
    struct island *island;
    const struct memsys *mem;
    uint32_t client, host;
    struct guest *guests;
    size_t guest_count;
    struct peer_cache *kept;     /* NULL: no lines of peers are */
    struct memsys_whole *wholes; /* of peers whose lines have another size */
    size_t whole_count;
};

static struct gateway *gateway_of(const struct component *self)
{
    return *(struct gateway *const *)component_spec(self);
}

static uint32_t guest_take(struct gateway *gateway, struct gateway_state *state)
{
    if (!state->free_guest) {
        size_t more = gateway->guest_count ? 2 * gateway->guest_count : 256;
        gateway->guests = mem_resize(gateway->guests, gateway->guest_count, more, sizeof *gateway->guests);
        for (size_t i = more; i-- > gateway->guest_count;) {
            gateway->guests[i].next = state->free_guest;
            state->free_guest = (uint32_t)i + 1;
        }
        gateway->guest_count = more;
    }
    uint32_t number = state->free_guest - 1;
    state->free_guest = gateway->guests[number].next;
    state->guests_now++;
    return number;
}

static void guest_give(struct gateway *gateway, struct gateway_state *state, uint32_t number)
{
    gateway->guests[number].next = state->free_guest;
    state->free_guest = number + 1;
    state->guests_now--;
}

static uint32_t whole_take(struct gateway *gateway, struct gateway_state *state)
{
    if (!state->free_whole) {
        size_t more = gateway->whole_count ? 2 * gateway->whole_count : 64;
        gateway->wholes = mem_resize(gateway->wholes, gateway->whole_count, more, sizeof *gateway->wholes);
        for (size_t i = more; i-- > gateway->whole_count;) {
            gateway->wholes[i].next = state->free_whole;
            state->free_whole = (uint32_t)i + 1;
        }
        gateway->whole_count = more;
    }
    uint32_t number = state->free_whole;
    state->free_whole = gateway->wholes[number - 1].next;
    return number;
}

static void whole_give(struct gateway *gateway, struct gateway_state *state, uint32_t number)
{
    gateway->wholes[number - 1].next = state->free_whole;
    state->free_whole = number;
}

/* A message, of an own client's request or of the reply to it, passes: to this GPU, or from there. */
static void tell_pass(const struct component *self, uint8_t kind, uint32_t client, uint32_t gpu,
                      void *message, uint32_t bytes)
{
    const struct memsys *mem = gateway_of(self)->mem;
    struct memsys_request request;
    if (!probe_wants(memsys_probe(mem), PROBE_REQUEST))
        return;
    memcpy(&request, message, sizeof request); /* a reply has the line and the id at the same places */
    bool carries = bytes > sizeof request;
    probe_tell(memsys_probe(mem),
               (struct probe_event){.kind = PROBE_REQUEST,
                                    .phase = PROBE_PASSES,
                                    .time_ps = component_now(self),
                                    .id = probe_request_id(memsys_home(mem), client, request.id),
                                    .gpu = memsys_home(mem),
                                    .place = gpu,
                                    .stop = "fabric",
                                    .what = memsys_kind_name(kind),
                                    .address = request.line,
                                    .data = carries ? (unsigned char *)message + sizeof request : NULL,
                                    .data_bytes = carries ? bytes - (uint32_t)sizeof request : 0});
}

/* A head, and so many bytes behind it, of which these are on the wire. */
static void send_to_fabric(struct component *self, uint8_t kind, const void *message, uint32_t bytes,
                           uint32_t wire_bytes)
{
    struct port *port = component_port(self, GATEWAY_FABRIC);
    REQUIRE(port_send_sized(port, 1 - port_plug(port), 0, kind, message,
                            (uint16_t)(sizeof(struct net_head) + bytes), wire_bytes));
}

/* ---- lines of peers that are kept ---- */

struct data_reply {
    struct memsys_reply reply;
    unsigned char data[MEM_LINE_MOST];
};

static void reply_kept(struct component *self, const struct peer_reader *reader, struct data_reply *message,
                       uint64_t after_ps)
{
    struct gateway_state *state = component_state(self);
    message->reply.id = reader->id;
    message->reply.sectors = reader->sectors;
    state->sectors_kept += sector_count(reader->sectors);
    REQUIRE(port_send(component_port(self, GATEWAY_REPLIES), reader->client, after_ps, MEM_DATA, message,
                      (uint16_t)(sizeof message->reply + sector_count(reader->sectors) * MEM_SECTOR)));
}

static void forget_kept(struct component *self, uint32_t client, const struct memsys_request *request)
{
    struct memsys_reply done = {.line = request->line, .id = request->id};
    peer_cache_forget(gateway_of(self)->kept);
    REQUIRE(port_send(component_port(self, GATEWAY_REPLIES), client, 0, MEM_DONE, &done, sizeof done));
}

/* Whether what is kept is enough for a request. */
static bool serve_kept(struct component *self, const struct event *event)
{
    struct peer_cache *kept = gateway_of(self)->kept;
    struct memsys_request request;
    memcpy(&request, event->payload, sizeof request);
    if (event->kind == MEM_FORGET) {
        forget_kept(self, event->from, &request);
        return true;
    }
    if (event->kind != MEM_READ || request.count != MEM_MAY_BE_OLD) {
        peer_cache_drop(kept, request.line, request.sectors);
        return false;
    }
    struct peer_hit hit;
    enum peer_answer answer = peer_cache_read(kept, event->from, &request, component_now(self), &hit);
    if (answer == PEER_HIT) {
        struct data_reply message = {.reply = {.line = request.line}};
        memcpy(message.data, hit.data, sizeof hit.data);
        reply_kept(self, &(struct peer_reader){event->from, request.id, request.sectors, {0}}, &message,
                   hit.after_ps);
    }
    return answer != PEER_ASKS;
}

struct came {
    struct component *self;
    const struct memsys_reply *reply;
};

static void answer_reader(void *user, const struct peer_reader *reader, const unsigned char *line)
{
    const struct came *came = user;
    struct data_reply message = {.reply = *came->reply};
    peer_cache_pack(gateway_of(came->self)->kept, line, reader->sectors, message.data);
    reply_kept(came->self, reader, &message, 0);
}

/* A request of an own SM, for a peer; or a line of a page that goes there. */
static void send_to_peer(struct component *self, struct gateway_state *state, const struct event *event)
{
    struct {
        struct net_head head;
        struct memsys_request request;
        unsigned char rest[MEM_PAYLOAD_MOST - sizeof(struct memsys_request)];
    } message = {.head = {.tag = (uint16_t)event->from}};
    memcpy(&message.request, event->payload, event->bytes);
    if (event->kind == MEM_PAGE) {
        struct memsys_page page;
        memcpy(&page, message.rest, sizeof page);
        message.head.to = page.to;
        state->peer_bytes += memsys_line_bytes(gateway_of(self)->mem);
        send_to_fabric(self, event->kind, &message, event->bytes, memsys_line_bytes(gateway_of(self)->mem));
        return;
    }
    if (UNLIKELY(gateway_of(self)->kept) && serve_kept(self, event))
        return;
    uint32_t data = (uint32_t)__builtin_popcount(message.request.sectors) * MEM_SECTOR;
    state->peer_bytes += data;
    uint32_t home = physical_home(physical_unpack(message.request.line));
    tell_pass(self, event->kind, event->from, home, &message.request, event->bytes);
    bool is_copy = message.request.policy == MEM_AROUND && event->kind == MEM_WRITE; /* in long messages */
    message.head.to = (uint16_t)home;
    send_to_fabric(self, event->kind, &message, event->bytes, is_copy ? data : event->bytes);
}

/* A reply of an own slice, to a peer's request. */
static void answer_peer(struct component *self, struct gateway_state *state, const struct event *event)
{
    struct gateway *gateway = gateway_of(self);
    struct {
        struct net_head head;
        struct memsys_reply reply;
        unsigned char rest[MEM_PAYLOAD_MOST - sizeof(struct memsys_reply)];
    } message = {.head = {0}};
    memcpy(&message.reply, event->payload, event->bytes);
    struct guest guest = gateway->guests[message.reply.id];
    uint16_t bytes = event->bytes;
    uint64_t last_line = message.reply.line;
    guest_give(gateway, state, message.reply.id);
    if (guest.whole) {
        struct memsys_whole *whole = &gateway->wholes[guest.whole - 1];
        if (!memsys_whole_add(whole, (enum memsys_kind)event->kind, event->payload))
            return;
        bytes = memsys_whole_reply(whole, &message.reply);
        whole_give(gateway, state, guest.whole);
    }
    message.head.to = (uint16_t)guest.gpu;
    message.head.tag = (uint16_t)guest.client;
    message.reply.id = guest.id;
    uint32_t wire = guest.is_copy && event->kind == MEM_DONE
                        ? copy_done_bytes(last_line, memsys_line_bytes(gateway->mem))
                        : bytes;
    send_to_fabric(self, event->kind, &message, bytes, wire);
}

/* A peer's request, or (whole: which, plus 1) a part of one, for the slice that has the line; its port of the
 * crossbar is as wide as the fabric. False: that slice has no room for it yet. */
static bool ask_slice(struct component *self, struct gateway_state *state, const struct event *event,
                      const void *request, uint16_t bytes, uint32_t whole)
{
    struct gateway *gateway = gateway_of(self);
    struct net_head head;
    struct {
        struct memsys_request request;
        unsigned char rest[MEM_PAYLOAD_MOST - sizeof(struct memsys_request) + sizeof(uint64_t)];
    } message;
    memcpy(&head, event->payload, sizeof head);
    memcpy(&message, request, bytes);
    struct port *port = component_port(self, GATEWAY_ASKS);
    uint32_t to = message.request.policy == MEM_AROUND
                      ? memsys_copy_target(gateway->mem, message.request.line)
                      : memsys_target(gateway->mem, gateway->client, message.request.line);
    if (!port_room(port, to))
        return port_send(port, to, 0, event->kind, &message, bytes); /* refused: `ready` will be called */
    uint32_t number = guest_take(gateway, state);
    gateway->guests[number] = (struct guest){.gpu = head.from,
                                             .client = head.tag,
                                             .id = message.request.id,
                                             .is_copy = message.request.policy == MEM_AROUND,
                                             .whole = whole};
    uint64_t origin = probe_request_id(head.from, head.tag, message.request.id);
    memcpy((unsigned char *)&message + bytes, &origin, sizeof origin);
    message.request.id = number;
    return port_send_sized(port, to, 0, event->kind, &message, (uint16_t)(bytes + sizeof origin), 0);
}

/* The parts of a peer's request, one for each of the own lines. False: the next one has no room yet. */
static bool ask_slices(struct component *self, struct gateway_state *state, const struct event *event)
{
    struct gateway *gateway = gateway_of(self);
    uint32_t line_bytes = memsys_line_bytes(gateway->mem), taken;
    enum memsys_kind kind = (enum memsys_kind)event->kind;
    const unsigned char *request = event->payload + sizeof(struct net_head);
    struct {
        struct memsys_request request;
        unsigned char rest[MEM_PAYLOAD_MOST - sizeof(struct memsys_request)];
    } part;
    if (!state->cut_whole) {
        state->cut_whole = whole_take(gateway, state);
        state->cut_done = 0;
        memsys_whole_begin(&gateway->wholes[state->cut_whole - 1], kind, request, line_bytes);
    }
    while ((taken = memsys_cut(kind, request, line_bytes, state->cut_done, &part))) {
        uint16_t bytes = (uint16_t)memsys_message_bytes(kind, part.request.sectors, part.request.count);
        if (!ask_slice(self, state, event, &part, bytes, state->cut_whole))
            return false;
        state->cut_done |= taken;
    }
    state->cut_whole = 0;
    return true;
}

static bool take_request(struct component *self, struct gateway_state *state, const struct event *event)
{
    const unsigned char *at = event->payload + sizeof(struct net_head);
    struct memsys_request request;
    memcpy(&request, at, sizeof request);
    if (UNLIKELY(memsys_is_cut(&request, memsys_line_bytes(gateway_of(self)->mem))))
        return ask_slices(self, state, event);
    return ask_slice(self, state, event, at, (uint16_t)(event->bytes - sizeof(struct net_head)), 0);
}

/* A line of a page that comes here. */
static void take_page(struct component *self, const struct event *event)
{
    uint32_t head = sizeof(struct net_head);
    REQUIRE(port_send(component_port(self, GATEWAY_REPLIES), memsys_pager_client(gateway_of(self)->mem), 0,
                      event->kind, event->payload + head, (uint16_t)(event->bytes - head)));
}

/* A peer's reply, for one of the own SMs. */
static void answer_client(struct component *self, const struct event *event)
{
    struct {
        struct net_head head;
        struct memsys_reply reply;
        unsigned char rest[MEM_PAYLOAD_MOST - sizeof(struct memsys_reply)];
    } message;
    memcpy(&message, event->payload, event->bytes);
    tell_pass(self, event->kind, message.head.tag, message.head.from, &message.reply,
              event->bytes - (uint32_t)sizeof message.head);
    REQUIRE(port_send(component_port(self, GATEWAY_REPLIES), message.head.tag, 0, event->kind, &message.reply,
                      (uint16_t)(event->bytes - sizeof message.head)));
    if (UNLIKELY(gateway_of(self)->kept) && event->kind == MEM_DATA)
        peer_cache_came(gateway_of(self)->kept, message.head.tag, &message.reply, message.rest, answer_reader,
                        &(struct came){self, &message.reply});
}

/* A slice or the DMA engine sends to the host. */
static void send_to_host(struct component *self, const struct event *event)
{
    struct {
        struct net_head head;
        unsigned char message[MEM_PAYLOAD_MOST + sizeof(uint64_t)];
    } message = {.head = {.to = (uint16_t)gateway_of(self)->host, .tag = (uint16_t)event->from}};
    memcpy(message.message, event->payload, event->bytes);
    send_to_fabric(self, event->kind, &message, event->bytes, event->wire_bytes);
}

/* What comes from the host is for a plug of the link to it; the fabric was the narrow part of the way. */
static bool take_from_host(struct component *self, struct gateway_state *state, const struct event *event)
{
    struct net_head head;
    memcpy(&head, event->payload, sizeof head);
    if (head.from != gateway_of(self)->host)
        return false;
    state->pushed += event->kind == MEM_WRITE;
    REQUIRE(port_send_sized(component_port(self, GATEWAY_HOST), head.tag, 0, event->kind,
                            event->payload + sizeof head, (uint16_t)(event->bytes - sizeof head), 0));
    return true;
}

static void take_from_fabric(struct component *self, struct gateway_state *state)
{
    struct port *port = component_port(self, GATEWAY_FABRIC);
    for (const struct event *event; (event = port_head(port)); port_pop(port)) {
        if (take_from_host(self, state, event))
            continue;
        if (event->kind == MEM_PAGE)
            take_page(self, event);
        else if (memsys_kinds[event->kind].way == MEM_TO_REQUESTER)
            answer_client(self, event);
        else if (!take_request(self, state, event))
            return;
    }
}

static void gateway_arrive(struct component *self, void *state, struct port *port)
{
    if (port_number(port) == GATEWAY_FABRIC) {
        if (port_fill(port) == 1) /* else the first one waits for room */
            take_from_fabric(self, state);
        return;
    }
    if (port_number(port) == GATEWAY_REQUESTS)
        send_to_peer(self, state, port_head(port));
    else if (port_number(port) == GATEWAY_HOST)
        send_to_host(self, port_head(port));
    else
        answer_peer(self, state, port_head(port));
    port_pop(port);
}

static void gateway_ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    (void)port, (void)plug;
    take_from_fabric(self, state);
}

static bool gateway_waits(const struct component *self, const void *at, struct text *text)
{
    const struct gateway_state *state = at;
    (void)self;
    if (state->guests_now)
        text_add(text, "slices' replies to %u requests of other GPUs", state->guests_now);
    return state->guests_now;
}

static void gateway_archive(struct component *self, void *at, struct archive *archive)
{
    const struct gateway_state *state = at;
    struct gateway *gateway = gateway_of(self);
    size_t count = (size_t)archive_count(archive, gateway->guest_count, sizeof *gateway->guests);
    if (archive->reading && archive->good) {
        gateway->guests = mem_resize(gateway->guests, gateway->guest_count, count, sizeof *gateway->guests);
        gateway->guest_count = count;
    }
    archive_bytes(archive, gateway->guests, gateway->guest_count * sizeof *gateway->guests);
    count = (size_t)archive_count(archive, gateway->whole_count, sizeof *gateway->wholes);
    if (archive->reading && archive->good) {
        gateway->wholes = mem_resize(gateway->wholes, gateway->whole_count, count, sizeof *gateway->wholes);
        gateway->whole_count = count;
    }
    archive_bytes(archive, gateway->wholes, gateway->whole_count * sizeof *gateway->wholes);
    bool good = state->free_guest <= gateway->guest_count && state->free_whole <= gateway->whole_count &&
                state->cut_whole <= gateway->whole_count;
    for (size_t i = 0; i < gateway->guest_count && good; i++)
        good = gateway->guests[i].next <= gateway->guest_count &&
               gateway->guests[i].whole <= gateway->whole_count;
    for (size_t i = 0; i < gateway->whole_count && good; i++)
        good = gateway->wholes[i].next <= gateway->whole_count && gateway->wholes[i].count <= MEM_ATOMS;
    archive_check(archive, good);
    if (gateway->kept)
        peer_cache_archive(gateway->kept, archive);
}

static const struct component_ops gateway_ops = {.type = "gateway",
                                                 .arrive = gateway_arrive,
                                                 .ready = gateway_ready,
                                                 .waits = gateway_waits,
                                                 .archive = gateway_archive};

struct gateway *gateway_new(struct engine *engine, const char *path, const struct memsys *mem,
                            uint32_t client, uint32_t host)
{
    struct gateway *gateway = mem_alloc(1, sizeof *gateway);
    struct text name = {0};
    text_add(&name, "%s.gateway", path);
    gateway->self = gateway;
    gateway->mem = mem;
    gateway->client = client;
    gateway->host = host;
    gateway->island = engine_island(engine, name.at);
    gateway->component = engine_component(engine, gateway->island, name.at, &gateway_ops, &gateway->self,
                                          sizeof(struct gateway_state),
                                          host == NO_HOST ? "requests,replies,asks,answers,fabric"
                                                          : "requests,replies,asks,answers,fabric,host");
    text_fini(&name);
    return gateway;
}

void gateway_free(struct gateway *gateway)
{
    if (!gateway)
        return;
    peer_cache_free(gateway->kept);
    mem_free(gateway->guests);
    mem_free(gateway->wholes);
    mem_free(gateway);
}

void gateway_keep_in(struct gateway *gateway, struct peer_cache *kept)
{
    gateway->kept = kept;
}

void gateway_forget_kept(struct gateway *gateway)
{
    if (gateway->kept)
        peer_cache_forget(gateway->kept);
}

uint64_t gateway_sectors_kept(const struct gateway *gateway)
{
    return ((const struct gateway_state *)component_state(gateway->component))->sectors_kept;
}

struct island *gateway_island(const struct gateway *gateway)
{
    return gateway->island;
}

struct port *gateway_port(const struct gateway *gateway, enum gateway_port port)
{
    return component_port(gateway->component, port);
}

uint64_t gateway_pushed(const struct gateway *gateway)
{
    return ((const struct gateway_state *)component_state(gateway->component))->pushed;
}

uint64_t gateway_peer_bytes(const struct gateway *gateway)
{
    return ((const struct gateway_state *)component_state(gateway->component))->peer_bytes;
}
