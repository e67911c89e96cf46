#include "mem/pager.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"
#include "base/text.h"
#include "mem/apart.h"
#include "mem/left_out.h"
#include "mem/memsys.h"
#include "paging/directory.h"

#include <string.h>

enum {
    READS_MOST = 4096, /* lines that are read at a time */
    FAULT_SHIFT = 12,  /* of managed memory: the GPU tells of faults on pages of this size */
};

/* A message about a page: what follows the head, and what is written. */
struct page_message {
    struct memsys_request request;
    struct memsys_page page;
    unsigned char writes[MEM_SECTORS_MOST * sizeof(struct memsys_write)];
};
enum { ORDER_BYTES = sizeof(struct memsys_request) + sizeof(struct memsys_page) };

/* What the GPU's slices want, and has not come. */
struct wanted {
    uint64_t line;
    uint32_t right, unused;
};

/* A page that comes. */
struct coming {
    uint64_t at;
    uint32_t move; /* the IOMMU's number; PAGE_NO_MOVE: free */
    uint32_t left; /* lines that were not written yet */
    struct memsys_page page;
};

/* A page that goes. */
struct going {
    uint64_t at, next; /* the line to be read next */
    uint32_t move;     /* PAGE_NO_MOVE: free */
    uint32_t left;     /* islands and TLBs that did not drop it yet; then, lines that were not sent */
    struct memsys_page page;
};

/* A message for the crossbar that there was no room for. */
struct queued {
    struct page_message message;
    uint32_t to;
    uint16_t bytes;
    uint8_t kind, unused;
};

struct pager_state {
    uint64_t wants, pages_in, bytes_in, pages_dropped;
    uint64_t reads; /* under way */
};

struct pager {
    struct pager *self; /* what the component's spec points to: lists are reached through it */
    struct component *component;
    const struct memsys *mem;
    struct wanted *wanted;
    size_t wanted_count, wanted_capacity;
    struct coming *coming;
    size_t coming_count, coming_capacity;
    struct going *going;
    size_t going_count, going_capacity;
    struct queued *queue; /* in order */
    size_t queue_count, queue_capacity;
};

static struct pager *pager_of(const struct component *self)
{
    return *(struct pager *const *)component_spec(self);
}

static uint64_t page_end(uint64_t at, const struct memsys_page *page)
{
    return at + (UINT64_C(1) << page->shift);
}

static uint32_t page_lines(const struct pager *pager, const struct memsys_page *page)
{
    return (uint32_t)((UINT64_C(1) << page->shift) / memsys_line_bytes(pager->mem));
}

/* ---- sending ---- */

static bool try_send(struct component *self, const struct queued *one)
{
    uint32_t wire = one->kind == MEM_PAGE ? memsys_line_bytes(pager_of(self)->mem) : 0;
    return port_send_sized(component_port(self, PAGER_REQUESTS), one->to, 0, one->kind, &one->message,
                           one->bytes, wire);
}

static void send(struct component *self, uint32_t to, uint8_t kind, const struct page_message *message,
                 uint32_t bytes)
{
    struct pager *pager = pager_of(self);
    struct queued one = {.to = to, .bytes = (uint16_t)bytes, .kind = kind};
    memcpy(&one.message, message, bytes);
    if (!pager->queue_count && try_send(self, &one))
        return;
    mem_grow(pager->queue, pager->queue_count, pager->queue_capacity);
    pager->queue[pager->queue_count++] = one;
}

static void send_queued(struct component *self)
{
    struct pager *pager = pager_of(self);
    size_t sent = 0;
    while (sent < pager->queue_count && try_send(self, &pager->queue[sent]))
        sent++;
    pager->queue_count -= sent;
    memmove(pager->queue, pager->queue + sent, pager->queue_count * sizeof *pager->queue);
}

/* An order goes to each island of the GPU's memory: to one of its slices. */
static void order_islands(struct component *self, uint8_t kind, uint64_t at, uint32_t id,
                          const struct memsys_page *page)
{
    const struct memsys *mem = pager_of(self)->mem;
    struct page_message message = {.request = {.line = at, .id = id}, .page = *page};
    for (uint32_t i = 0; i < memsys_islands(mem); i++)
        send(self, memsys_island_target(mem, i), kind, &message, ORDER_BYTES);
}

static void tell_host(struct component *self, uint8_t kind, uint64_t at, uint32_t move,
                      const struct memsys_page *page)
{
    struct page_message message = {.request = {.line = at, .id = move}, .page = *page};
    REQUIRE(port_send(component_port(self, PAGER_HOST), 0, 0, kind, &message, ORDER_BYTES));
}

/* ---- pages that are wanted ---- */

static void want(struct component *self, struct pager_state *state, const struct page_message *message)
{
    struct pager *pager = pager_of(self);
    uint64_t line = message->request.line;
    uint32_t shift = physical_is_managed(line) ? FAULT_SHIFT : PAGE_UNIT_SHIFT;
    for (size_t i = 0; i < pager->wanted_count; i++)
        if ((pager->wanted[i].line ^ line) >> shift == 0 && pager->wanted[i].right >= message->page.right)
            return;
    mem_grow(pager->wanted, pager->wanted_count, pager->wanted_capacity);
    pager->wanted[pager->wanted_count++] = (struct wanted){.line = line, .right = message->page.right};
    state->wants++;
    tell_host(self, MEM_WANT, line, 0, &message->page);
}

/* The islands may use a page from now on, and the IOMMU knows. */
static void grant(struct component *self, uint64_t at, uint32_t move, const struct memsys_page *page)
{
    struct pager *pager = pager_of(self);
    size_t left = 0;
    for (size_t i = 0; i < pager->wanted_count; i++) {
        struct wanted *one = &pager->wanted[i];
        if (one->line - at >= UINT64_C(1) << page->shift || one->right > page->right)
            pager->wanted[left++] = *one;
    }
    pager->wanted_count = left;
    if (!left_out(LEFT_OUT_GRANT))
        order_islands(self, MEM_GRANT, at, 0, page);
    if (move != PAGE_NO_MOVE && !left_out(LEFT_OUT_GRANTED))
        tell_host(self, MEM_GRANTED, at, move, page);
}

/* ---- pages that come ---- */

static uint32_t coming_of(struct pager *pager, const struct page_message *message)
{
    uint64_t at = message->request.line >> message->page.shift << message->page.shift;
    size_t place = pager->coming_count;
    for (size_t i = 0; i < pager->coming_count; i++) {
        if (pager->coming[i].move == message->request.id)
            return (uint32_t)i;
        if (pager->coming[i].move == PAGE_NO_MOVE)
            place = i;
    }
    if (place == pager->coming_count) {
        mem_grow(pager->coming, pager->coming_count, pager->coming_capacity);
        pager->coming_count++;
    }
    pager->coming[place] = (struct coming){.at = at,
                                           .move = message->request.id,
                                           .left = page_lines(pager, &message->page),
                                           .page = message->page};
    pager->coming[place].page.right = message->page.to_right;
    return (uint32_t)place;
}

static void take_line(struct component *self, struct pager_state *state, const struct page_message *message)
{
    struct pager *pager = pager_of(self);
    struct memsys_request request = message->request;
    request.id = coming_of(pager, message);
    request.policy = MEM_MOVED;
    if (memsys_apart(pager->mem))
        apart_mark(&request, message->page.turn);
    uint32_t bytes = memsys_payload_bytes(MEM_WRITE, request.sectors, 0);
    struct page_message written; /* a write: without what is known of the page */
    written.request = request;
    memcpy((unsigned char *)&written + sizeof request, message->writes, bytes);
    state->bytes_in += memsys_line_bytes(pager->mem);
    send(self, memsys_copy_target(pager->mem, request.line), MEM_WRITE, &written,
         (uint32_t)sizeof request + bytes);
}

static void line_written(struct component *self, struct pager_state *state, uint32_t number)
{
    struct pager *pager = pager_of(self);
    REQUIRE(number < pager->coming_count);
    struct coming *coming = &pager->coming[number];
    if (--coming->left)
        return;
    state->pages_in++;
    grant(self, coming->at, coming->move, &coming->page);
    coming->move = PAGE_NO_MOVE;
}

/* ---- pages that go ---- */

/* All TLBs that may have the page drop it, too. */
static void shoot_down(struct component *self, struct going *going, uint32_t number)
{
    uint32_t tlbs = memsys_tlbs(pager_of(self)->mem);
    struct shootdown shot = {.at = going->at, .shift = going->page.shift, .id = number};
    going->left += tlbs;
    for (uint32_t i = 0; i < tlbs && !left_out(LEFT_OUT_SHOOTDOWN); i++)
        REQUIRE(
            port_send(component_port(self, PAGER_TRANSLATIONS), i, 0, TRANSLATION_SHOT, &shot, sizeof shot));
}

static void recall(struct component *self, const struct page_message *message)
{
    struct pager *pager = pager_of(self);
    size_t place = 0;
    while (place < pager->going_count && pager->going[place].move != PAGE_NO_MOVE)
        place++;
    if (place == pager->going_count) {
        mem_grow(pager->going, pager->going_count, pager->going_capacity);
        pager->going_count++;
    }
    pager->going[place] = (struct going){.at = message->request.line,
                                         .next = page_end(message->request.line, &message->page),
                                         .move = message->request.id,
                                         .left = memsys_islands(pager->mem),
                                         .page = message->page};
    order_islands(self, MEM_RECALL, message->request.line, (uint32_t)place, &message->page);
    if (message->page.right == PAGE_NONE)
        shoot_down(self, &pager->going[place], (uint32_t)place);
}

/* Reads lines of pages that go, as long as not too many are under way. */
static void read_lines(struct component *self, struct pager_state *state)
{
    struct pager *pager = pager_of(self);
    uint32_t bytes = memsys_line_bytes(pager->mem);
    for (size_t i = 0; i < pager->going_count && state->reads < READS_MOST; i++) {
        struct going *going = &pager->going[i];
        uint64_t end = page_end(going->at, &going->page);
        for (; going->move != PAGE_NO_MOVE && going->next < end && state->reads < READS_MOST;
             going->next += bytes) {
            struct page_message read = {.request = {.line = going->next,
                                                    .id = (uint32_t)i,
                                                    .sectors = (uint8_t)((1u << bytes / MEM_SECTOR) - 1),
                                                    .policy = MEM_MOVED}};
            state->reads++;
            send(self, memsys_copy_target(pager->mem, going->next), MEM_READ, &read, sizeof read.request);
        }
    }
}

/* An island or a TLB has dropped a page, or an island keeps it for reading. With the last one its bytes can
 * go. */
static void dropped(struct component *self, struct pager_state *state, uint32_t number)
{
    struct pager *pager = pager_of(self);
    REQUIRE(number < pager->going_count);
    struct going *going = &pager->going[number];
    if (--going->left)
        return;
    state->pages_dropped += going->page.right == PAGE_NONE;
    if (going->page.to == PAGE_NOBODY) {
        tell_host(self, MEM_DROPPED, going->at, going->move, &going->page);
        going->move = PAGE_NO_MOVE;
        return;
    }
    going->left = page_lines(pager, &going->page);
    going->next = going->at;
    read_lines(self, state);
}

static void send_line(struct component *self, struct pager_state *state, const struct event *event)
{
    struct pager *pager = pager_of(self);
    struct memsys_reply reply;
    memcpy(&reply, event->payload, sizeof reply);
    REQUIRE(reply.id < pager->going_count);
    struct going *going = &pager->going[reply.id];
    struct page_message message = {
        .request = {.line = reply.line, .id = going->move, .sectors = reply.sectors}, .page = going->page};
    const unsigned char *behind = event->payload + sizeof reply + sector_count(reply.sectors) * MEM_SECTOR;
    struct apart_tail tail = {.masks = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
    if ((size_t)(event->payload + event->bytes - behind) == sizeof tail)
        memcpy(&tail, behind, sizeof tail);
    message.page.turn = tail.turn;
    for (uint32_t i = 0; i < sector_count(reply.sectors); i++) {
        struct memsys_write write = {.mask = tail.masks[i]};
        memcpy(write.data, event->payload + sizeof reply + i * MEM_SECTOR, MEM_SECTOR);
        memcpy(message.writes + i * sizeof write, &write, sizeof write);
    }
    uint32_t bytes = ORDER_BYTES + memsys_payload_bytes(MEM_PAGE, reply.sectors, 0);
    if (going->page.to == PAGE_HOST)
        REQUIRE(port_send_sized(component_port(self, PAGER_HOST), 0, 0, MEM_PAGE, &message, (uint16_t)bytes,
                                memsys_line_bytes(pager->mem)));
    else
        send(self, memsys_gateway_target(pager->mem), MEM_PAGE, &message, bytes);
    if (!--going->left)
        going->move = PAGE_NO_MOVE;
    state->reads--;
    read_lines(self, state);
}

/* ---- the component ---- */

static void pager_arrive(struct component *self, void *state, struct port *port)
{
    const struct event *event = port_head(port);
    struct page_message message;
    if (port_number(port) == PAGER_TRANSLATIONS) {
        struct shootdown shot;
        memcpy(&shot, event->payload, sizeof shot);
        dropped(self, state, shot.id);
        port_pop(port);
        return;
    }
    memcpy(&message, event->payload, min_u64(event->bytes, sizeof message));
    switch ((enum memsys_kind)event->kind) {
    case MEM_WANT:
        want(self, state, &message);
        break;
    case MEM_RECALL:
        recall(self, &message);
        break;
    case MEM_DROPPED:
        dropped(self, state, message.request.id);
        break;
    case MEM_DATA:
        send_line(self, state, event);
        break;
    case MEM_PAGE:
        take_line(self, state, &message);
        break;
    case MEM_DONE:
        line_written(self, state, message.request.id);
        break;
    case MEM_GRANT:
        grant(self, message.request.line, message.request.id, &message.page);
        break;
    default:
        BUG("a pager was sent \"%s\"", memsys_kind_name(event->kind));
    }
    port_pop(port);
}

static void pager_ready(struct component *self, void *state, struct port *port, uint32_t plug)
{
    (void)state, (void)port, (void)plug;
    send_queued(self);
}

static bool pager_waits(const struct component *self, const void *state, struct text *text)
{
    const struct pager *pager = pager_of(self);
    (void)state;
    if (pager->wanted_count)
        text_add(text, "%zu pages", pager->wanted_count);
    return pager->wanted_count;
}

static void pager_archive(struct component *self, void *state, struct archive *archive)
{
    struct pager *pager = pager_of(self);
    (void)state;
    ARCHIVE_LIST(archive, pager->wanted, pager->wanted_count, pager->wanted_capacity);
    ARCHIVE_LIST(archive, pager->coming, pager->coming_count, pager->coming_capacity);
    ARCHIVE_LIST(archive, pager->going, pager->going_count, pager->going_capacity);
    ARCHIVE_LIST(archive, pager->queue, pager->queue_count, pager->queue_capacity);
}

static const struct component_ops pager_ops = {.type = "pager",
                                               .arrive = pager_arrive,
                                               .ready = pager_ready,
                                               .waits = pager_waits,
                                               .archive = pager_archive};

struct pager *pager_new(struct engine *engine, const char *path, const struct memsys *mem)
{
    struct pager *pager = mem_alloc(1, sizeof *pager);
    struct text name = {0};
    text_add(&name, "%s.pager", path);
    *pager = (struct pager){.self = pager, .mem = mem};
    pager->component =
        engine_component(engine, engine_island(engine, name.at), name.at, &pager_ops, &pager->self,
                         sizeof(struct pager_state), "requests,replies,host,translations");
    text_fini(&name);
    return pager;
}

void pager_free(struct pager *pager)
{
    if (!pager)
        return;
    mem_free(pager->wanted);
    mem_free(pager->coming);
    mem_free(pager->going);
    mem_free(pager->queue);
    mem_free(pager);
}

struct port *pager_port(const struct pager *pager, enum pager_port port)
{
    return component_port(pager->component, port);
}

void pager_count(const struct pager *pager, struct memsys_counters *counters)
{
    const struct pager_state *state = component_state(pager->component);
    counters->pages_wanted = state->wants;
    counters->pages_received = state->pages_in;
    counters->pages_dropped = state->pages_dropped;
    counters->page_bytes = state->bytes_in;
}
