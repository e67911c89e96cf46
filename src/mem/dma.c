#include "mem/dma.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "mem/memsys.h"

#include <string.h>

/* As much may be under way as leaves in AHEAD_PS and in twice the time on links. It goes on when there is
 * room for a few again. (If it waited for many, two GPUs that copy to each other would take turns, as
 * acknowledgements of one are behind data of the other.) */
enum {
    BURST = 4096, /* bytes that leave in one event */
    AHEAD_PS = 1000000,
    LEAST_UNDER_WAY = 64, /* pieces */
    A_FEW = 8
};

/* A piece on its way: to be read, then to be written. */
struct entry {
    uint64_t to;
    uint32_t next; /* of the free ones */
    uint16_t channel;
    uint8_t offset, bytes; /* in the line that is read */
};

struct channel {
    struct copy_course course;
    uint64_t under_way, most; /* pieces */
    uint64_t is_held;         /* until some have come */
};

struct dma_state {
    uint64_t free_entry; /* the first of those that are free, plus 1; 0: none */
    struct channel channels[];
};

struct dma {
    struct dma *self; /* what the component's spec points to: entries are reached through it */
    struct engine *engine;
    struct component *component;
    const struct memsys *mem;
    uint32_t channel_count;
    struct copy_list *lists; /* by channel */
    struct entry *entries;
    size_t entry_count;
};

static struct dma *dma_of(const struct component *self)
{
    return *(struct dma *const *)component_spec(self);
}

/* ---- entries ---- */

static uint32_t entry_take(struct dma *dma, struct dma_state *state, const struct entry *entry)
{
    if (!state->free_entry) {
        size_t more = dma->entry_count ? 2 * dma->entry_count : 256;
        dma->entries = mem_resize(dma->entries, dma->entry_count, more, sizeof *dma->entries);
        for (size_t i = more; i-- > dma->entry_count;) {
            dma->entries[i].next = (uint32_t)state->free_entry;
            state->free_entry = i + 1;
        }
        dma->entry_count = more;
    }
    uint32_t number = (uint32_t)state->free_entry - 1;
    state->free_entry = dma->entries[number].next;
    state->channels[entry->channel].under_way++;
    dma->entries[number] = *entry;
    return number;
}

/* A line of a copy begins or ends. */
static void tell(const struct component *self, enum probe_phase phase, uint32_t number, uint64_t line,
                 const char *what)
{
    const struct memsys *mem = dma_of(self)->mem;
    if (probe_wants(memsys_probe(mem), PROBE_REQUEST))
        probe_tell(
            memsys_probe(mem),
            (struct probe_event){.kind = PROBE_REQUEST,
                                 .phase = phase,
                                 .time_ps = component_now(self),
                                 .id = probe_request_id(memsys_home(mem), memsys_dma_client(mem), number),
                                 .gpu = memsys_home(mem),
                                 .place = memsys_dma_client(mem),
                                 .stop = "dma",
                                 .what = what,
                                 .address = line});
}

/* The line of an address. */
static uint64_t line_of(const struct dma *dma, uint64_t address)
{
    return address & ~(uint64_t)(memsys_line_bytes(dma->mem) - 1);
}

/* A piece is done with; its channel may have waited for that. */
static void entry_give(struct component *self, struct dma *dma, struct dma_state *state, uint32_t number)
{
    uint32_t which = dma->entries[number].channel;
    tell(self, PROBE_ENDS, number, line_of(dma, dma->entries[number].to), "done");
    struct channel *channel = &state->channels[which];
    dma->entries[number].next = (uint32_t)state->free_entry;
    state->free_entry = number + 1;
    channel->under_way--;
    if (channel->is_held && channel->under_way + A_FEW <= channel->most) {
        channel->is_held = false;
        component_schedule(self, 0, 0, &which, sizeof which);
    }
}

/* ---- requests ---- */

/* Whether a request can be sent there; if not, `ready` will be called. */
static bool has_room(struct port *port, uint32_t to)
{
    static const struct memsys_request nothing;
    return port_room(port, to) || port_send(port, to, 0, MEM_READ, &nothing, sizeof nothing);
}

static void fill_bytes(unsigned char *bytes, const struct copy_piece *piece, uint32_t word)
{
    for (uint32_t i = 0; i < piece->bytes; i++)
        bytes[i] = (unsigned char)(word >> (piece->to + i) % 4 * 8);
}

/* Asks for the next piece, or, of a fill, writes it. False: not now. The crossbar is wide enough. */
static bool send_piece(struct component *self, struct dma_state *state, uint32_t which)
{
    struct dma *dma = dma_of(self);
    struct channel *channel = &state->channels[which];
    struct copy_course behind = channel->course;
    struct copy_piece piece = copy_next(&behind, &dma->lists[which]);
    struct port *port = component_port(self, DMA_REQUESTS);
    uint64_t address = behind.is_fill ? piece.to : piece.from;
    uint32_t to = memsys_copy_target(dma->mem, line_of(dma, address));
    if (!has_room(port, to))
        return false;
    channel->course = behind;
    struct entry entry = {.to = piece.to,
                          .channel = (uint16_t)which,
                          .offset = (uint8_t)(address - line_of(dma, address)),
                          .bytes = (uint8_t)piece.bytes};
    uint32_t id = entry_take(dma, state, &entry);
    tell(self, PROBE_BEGINS, id, line_of(dma, address), behind.is_fill ? "write" : "read");
    if (behind.is_fill) {
        unsigned char bytes[MEM_LINE_MOST];
        struct copy_message message;
        fill_bytes(bytes, &piece, behind.word);
        uint16_t size = copy_write_message(&message, &piece, behind.line_bytes, id, bytes);
        return port_send_sized(port, to, 0, MEM_WRITE, &message, size, 0);
    }
    struct memsys_request request = {.line = line_of(dma, address),
                                     .id = id,
                                     .sectors = copy_sectors(address, piece.bytes, behind.line_bytes),
                                     .policy = MEM_AROUND};
    return port_send_sized(port, to, 0, MEM_READ, &request, sizeof request, 0);
}

/* Sends what is due, as long as not too much is under way. */
static void go_on(struct component *self, struct dma_state *state, uint32_t which)
{
    struct channel *channel = &state->channels[which];
    struct copy_course *course = &channel->course;
    uint64_t now = component_now(self);
    bool is_due = copy_due(course, now) == now;
    uint64_t burst_ends = course->pace_bytes + BURST;
    channel->is_held = false;
    while (is_due && !copy_is_sent(course) && course->pace_bytes < burst_ends) {
        channel->is_held = channel->under_way >= channel->most || !send_piece(self, state, which);
        if (channel->is_held)
            return;
    }
    if (!copy_is_sent(course))
        component_schedule(self, copy_due(course, now) - now, 0, &which, sizeof which);
}

static void dma_event(struct component *self, void *state, const struct event *event)
{
    uint32_t which;
    memcpy(&which, event->payload, sizeof which);
    go_on(self, state, which);
}

/* ---- replies ---- */

/* What was read is written. False: there is no room for it yet. */
static bool write_piece(struct component *self, struct dma_state *state, const struct event *event)
{
    struct dma *dma = dma_of(self);
    struct memsys_reply reply;
    memcpy(&reply, event->payload, sizeof reply);
    REQUIRE(reply.id < dma->entry_count);
    const struct entry *entry = &dma->entries[reply.id];
    struct copy_piece piece = {.to = entry->to, .bytes = entry->bytes};
    uint32_t first = (uint32_t)__builtin_ctz(reply.sectors) * MEM_SECTOR;
    const unsigned char *bytes = event->payload + sizeof reply + (entry->offset - first);
    struct copy_message message;
    uint16_t size = copy_write_message(&message, &piece, memsys_line_bytes(dma->mem), reply.id, bytes);
    if (entry->channel == DMA_TO_HOST) {
        REQUIRE(
            port_send_sized(component_port(self, DMA_HOST), 0, 0, MEM_WRITE, &message, size, piece.bytes));
        entry_give(self, dma, state, reply.id);
        return true;
    }
    struct port *port = component_port(self, DMA_REQUESTS);
    uint32_t to = memsys_copy_target(dma->mem, message.request.line);
    return has_room(port, to) && port_send_sized(port, to, 0, MEM_WRITE, &message, size, 0);
}

static void take_replies(struct component *self, struct dma_state *state)
{
    struct port *port = component_port(self, DMA_REPLIES);
    for (const struct event *event; (event = port_head(port)); port_pop(port)) {
        struct memsys_reply reply;
        memcpy(&reply, event->payload, sizeof reply);
        if (event->kind == MEM_DONE)
            entry_give(self, dma_of(self), state, reply.id);
        else if (!write_piece(self, state, event))
            return;
    }
}

static void dma_arrive(struct component *self, void *state, struct port *port)
{
    if (port_fill(port) == 1) /* else the first one waits for room */
        take_replies(self, state);
}

static void dma_ready(struct component *self, void *at, struct port *port, uint32_t plug)
{
    struct dma_state *state = at;
    (void)port, (void)plug;
    take_replies(self, state);
    for (uint32_t i = 0; i < dma_of(self)->channel_count; i++)
        if (state->channels[i].is_held)
            go_on(self, state, i);
}

static bool dma_waits(const struct component *self, const void *at, struct text *text)
{
    const struct dma_state *state = at;
    uint64_t under_way = 0;
    for (uint32_t i = 0; i < dma_of(self)->channel_count; i++)
        under_way += state->channels[i].under_way;
    if (under_way)
        text_add(text, "%llu lines of copies", (unsigned long long)under_way);
    return under_way;
}

static void dma_archive(struct component *self, void *at, struct archive *archive)
{
    const struct dma_state *state = at;
    struct dma *dma = dma_of(self);
    for (uint32_t i = 0; i < dma->channel_count; i++)
        copy_list_archive(&dma->lists[i], &state->channels[i].course, archive);
    size_t count = (size_t)archive_count(archive, dma->entry_count, sizeof *dma->entries);
    if (archive->reading && archive->good) {
        dma->entries = mem_resize(dma->entries, dma->entry_count, count, sizeof *dma->entries);
        dma->entry_count = count;
    }
    archive_bytes(archive, dma->entries, dma->entry_count * sizeof *dma->entries);
    bool good = state->free_entry <= dma->entry_count;
    for (size_t i = 0; i < dma->entry_count && good; i++)
        good = dma->entries[i].channel < dma->channel_count && dma->entries[i].next <= dma->entry_count;
    archive_check(archive, good);
}

/* ---- from outside ---- */

static const struct component_ops dma_ops = {.type = "dma",
                                             .event = dma_event,
                                             .arrive = dma_arrive,
                                             .ready = dma_ready,
                                             .waits = dma_waits,
                                             .archive = dma_archive};

struct dma *dma_new(struct engine *engine, const char *path, const struct memsys *mem, uint32_t gpus)
{
    struct dma *dma = mem_alloc(1, sizeof *dma);
    struct text name = {0};
    text_add(&name, "%s.dma", path);
    *dma = (struct dma){.self = dma, .engine = engine, .mem = mem, .channel_count = DMA_TO_PEER + gpus};
    dma->lists = mem_alloc(dma->channel_count, sizeof *dma->lists);
    dma->component = engine_component(engine, engine_island(engine, name.at), name.at, &dma_ops, &dma->self,
                                      sizeof(struct dma_state) + dma->channel_count * sizeof(struct channel),
                                      "requests,replies,host");
    text_fini(&name);
    return dma;
}

void dma_free(struct dma *dma)
{
    if (!dma)
        return;
    for (uint32_t i = 0; i < dma->channel_count; i++)
        copy_list_fini(&dma->lists[i]);
    mem_free(dma->lists);
    mem_free(dma->entries);
    mem_free(dma);
}

struct component *dma_component(const struct dma *dma)
{
    return dma->component;
}

struct port *dma_port(const struct dma *dma, enum dma_port port)
{
    return component_port(dma->component, port);
}

static struct channel *channel_of(const struct dma *dma, uint32_t which)
{
    return &((struct dma_state *)component_state(dma->component))->channels[which];
}

void dma_begin(struct dma *dma, uint32_t which, const struct copy_order *order, uint64_t time)
{
    struct channel *channel = channel_of(dma, which);
    uint64_t bytes =
        (uint64_t)((unsigned __int128)order->bytes_per_s * (AHEAD_PS + 2 * order->away_ps) / PS_PER_SECOND);
    REQUIRE(dma_is_done(dma, which));
    copy_list_set(&dma->lists[which], order);
    *channel = (struct channel){.course = copy_course(order, memsys_line_bytes(dma->mem), time),
                                .most = max_u64(bytes / memsys_line_bytes(dma->mem), LEAST_UNDER_WAY)};
    engine_post(dma->engine, dma->component, time, 0, &which, sizeof which);
}

bool dma_is_done(const struct dma *dma, uint32_t which)
{
    const struct channel *channel = channel_of(dma, which);
    return copy_is_sent(&channel->course) && !channel->under_way;
}

uint64_t dma_pieces(const struct dma *dma, uint32_t which)
{
    return channel_of(dma, which)->course.pieces;
}
