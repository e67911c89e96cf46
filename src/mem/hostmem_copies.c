/* The host's side of copies from and to its memory. */
#include "mem/hostmem_parts.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/mem.h"
#include "mem/cut.h"

enum { BURST = 4096, WINDOW_SHIFT = 40 }; /* bytes that are handed to the link at a time */
#define WINDOWS_FROM (UINT64_C(1) << 47)

struct physical_address hostmem_window(struct hostmem *host, uint32_t gpu, bool is_to_host, char *at,
                                       uint64_t phase)
{
    uint64_t number = 2 * (uint64_t)gpu + is_to_host, first = phase % MEM_LINE_MOST;
    host->links[gpu].windows[is_to_host] = (struct host_window){.at = at, .first = first};
    return physical_at(HOME_HOST, WINDOWS_FROM + (number << WINDOW_SHIFT) + first);
}

/* The program's bytes at an address of a window. */
static char *look(const struct hostmem *host, uint64_t address)
{
    uint64_t in_windows = physical_offset(physical_unpack(address)) - WINDOWS_FROM;
    uint64_t number = in_windows >> WINDOW_SHIFT;
    REQUIRE(number < 2 * (uint64_t)host->gpus);
    const struct host_window *window = &host->links[number / 2].windows[number % 2];
    return window->at + ((in_windows & (HOST_WINDOW_MOST - 1)) - window->first);
}

/* ---- from the host ---- */

static struct host_channel *channel_of(const struct hostmem *host, uint32_t gpu)
{
    return &((struct host_channel *)component_state(host->component))[gpu];
}

/* The last piece is charged a few bytes less than it has on the link, so that it has arrived when the copy's
 * planned end comes. */
static uint32_t last_byte(uint64_t bytes_per_s)
{
    return (uint32_t)(1 + 2 * bytes_per_s / PS_PER_SECOND);
}

/* Where the bytes are that a piece goes to: a page that moves is with its holder. A holder that only may read
 * it asks to write it. One that the host holds goes to its home. */
static uint32_t home_of(const struct hostmem *host, uint64_t at)
{
    uint32_t home = physical_home(physical_unpack(at));
    if (LIKELY(!host->iommu))
        return home;
    struct page page = iommu_page(host->iommu, at);
    return page_is_held(&page, home) || page_is_held(&page, PAGE_HOST)
               ? home
               : (uint32_t)__builtin_ctzll(page.holders);
}

/* Sends a piece to the slice that it is at home at. Gives when it is there; in a fabric, nobody knows: 0. */
static uint64_t send_piece(struct hostmem *host, const struct memsys_request *request, const void *message,
                           uint16_t size, uint32_t wire)
{
    uint32_t home = home_of(host, request->line);
    uint32_t to = memsys_push_target(host->links[home].mem, request->line);
    hostmem_to_gpu(host, home, to, MEM_WRITE, message, size, wire);
    channel_of(host, home)->pushed++;
    return host->in_fabric
               ? 0
               : port_free_at(component_port(host->component, home)) + host->links[home].latency_ps;
}

static void push_piece(struct hostmem *host, uint32_t gpu)
{
    struct host_channel *channel = channel_of(host, gpu);
    struct copy_piece piece = copy_next(&channel->course, &host->links[gpu].list);
    struct copy_message message;
    uint16_t size = copy_write_message(&message, &piece, channel->course.line_bytes, 0,
                                       (const unsigned char *)look(host, piece.from));
    uint32_t wire = piece.bytes;
    if (copy_is_sent(&channel->course))
        wire -= (uint32_t)min_u64(wire, last_byte(channel->course.bytes_per_s));
    channel->homes |= UINT64_C(1) << home_of(host, piece.to);
    channel->there_at = max_u64(channel->there_at, send_piece(host, &message.request, &message, size, wire));
}

/* When the next burst is due: the link is free again, as other traffic may be there; in a fabric, as fast as
 * the way is. Who is slower than that keeps its own pace. */
static uint64_t next_burst(const struct hostmem *host, struct host_channel *channel, uint32_t gpu,
                           uint64_t now)
{
    uint64_t due = host->in_fabric || channel->course.is_paced ? copy_due(&channel->course, now) : now;
    return host->in_fabric ? due : max_u64(port_free_at(component_port(host->component, gpu)), due);
}

void hostmem_copies_event(struct component *self, void *state, const struct event *event)
{
    struct hostmem *host = *(struct hostmem *const *)component_spec(self);
    uint32_t gpu;
    memcpy(&gpu, event->payload, sizeof gpu);
    struct host_channel *channel = &((struct host_channel *)state)[gpu];
    uint64_t now = component_now(self), burst_ends = channel->course.pace_bytes + BURST;
    while (!copy_is_sent(&channel->course) && channel->course.pace_bytes < burst_ends)
        push_piece(host, gpu);
    if (!copy_is_sent(&channel->course))
        component_schedule(self, next_burst(host, channel, gpu, now) - now, HOST_COPIES, &gpu, sizeof gpu);
}

void hostmem_push(struct hostmem *host, uint32_t gpu, const struct copy_order *order, uint64_t time)
{
    copy_list_set(&host->links[gpu].list, order);
    struct host_channel *channel = channel_of(host, gpu);
    channel->course = copy_course(order, memsys_line_bytes(host->links[gpu].mem), time);
    channel->there_at = channel->homes = 0;
    engine_post(host->engine, host->component, time, 0, &gpu, sizeof gpu);
}

/* Whether these GPUs have all that was ever sent to them, and their slices have written it. */
static bool have_all(const struct hostmem *host, uint64_t homes, uint64_t now)
{
    for (; homes; homes &= homes - 1) {
        uint32_t home = (uint32_t)__builtin_ctzll(homes);
        const struct memsys *mem = host->links[home].mem;
        if ((host->in_fabric && memsys_pushed(mem) != channel_of(host, home)->pushed) ||
            memsys_pushed_until(mem) > now)
            return false;
    }
    return true;
}

bool hostmem_has_pushed(const struct hostmem *host, uint32_t gpu, uint64_t now)
{
    const struct host_channel *channel = channel_of(host, gpu);
    return copy_is_sent(&channel->course) && channel->there_at < now && have_all(host, channel->homes, now);
}

/* ---- to the host ---- */

static void receive_piece(struct hostmem *host, const struct memsys_request *request,
                          const unsigned char *payload)
{
    for (uint32_t left = request->sectors; left; left &= left - 1, payload += sizeof(struct memsys_write)) {
        struct memsys_write write;
        memcpy(&write, payload, sizeof write);
        uint32_t first = (uint32_t)__builtin_ctz(write.mask),
                 bytes = (uint32_t)__builtin_popcount(write.mask);
        uint64_t sector = request->line + (uint64_t)__builtin_ctz(left) * MEM_SECTOR;
        memcpy(look(host, sector + first), write.data + first, bytes); /* a piece has no gaps */
    }
}

/* A piece for another GPU goes on from here, by lines of that GPU. A buffer of the driver's, which nobody
 * sees, has it meanwhile.
 */
static uint64_t pass_piece(struct hostmem *host, const struct memsys_request *request,
                           const unsigned char *message)
{
    uint32_t line_bytes = memsys_line_bytes(host->links[home_of(host, request->line)].mem);
    struct {
        struct memsys_request request;
        struct memsys_write writes[MEM_SECTORS_MOST];
    } part;
    uint64_t there_at = 0;
    for (uint32_t done = 0, taken; (taken = memsys_cut(MEM_WRITE, message, line_bytes, done, &part));
         done |= taken) {
        uint32_t bytes = 0, count = sector_count(part.request.sectors);
        for (uint32_t i = 0; i < count; i++)
            bytes += (uint32_t)__builtin_popcount(part.writes[i].mask);
        uint16_t size = (uint16_t)memsys_message_bytes(MEM_WRITE, part.request.sectors, 0);
        there_at = max_u64(there_at, send_piece(host, &part.request, &part, size, bytes));
    }
    return there_at;
}

void hostmem_copies_receive(struct hostmem *host, uint32_t gpu, const unsigned char *message)
{
    struct host_channel *channel = channel_of(host, gpu);
    struct memsys_request request;
    memcpy(&request, message, sizeof request);
    channel->received++;
    if (physical_home(physical_unpack(request.line)) == HOME_HOST) {
        receive_piece(host, &request, message + sizeof request);
        return;
    }
    channel->passed_homes |= UINT64_C(1) << home_of(host, request.line);
    channel->passed_at = max_u64(channel->passed_at, pass_piece(host, &request, message));
}

uint64_t hostmem_received(const struct hostmem *host, uint32_t gpu)
{
    return channel_of(host, gpu)->received;
}

void hostmem_receive(struct hostmem *host, uint32_t gpu)
{
    channel_of(host, gpu)->received = channel_of(host, gpu)->passed_homes = 0;
}

bool hostmem_has_passed(const struct hostmem *host, uint32_t from, uint64_t now)
{
    const struct host_channel *channel = channel_of(host, from);
    return channel->passed_at < now && have_all(host, channel->passed_homes, now);
}

/* ---- checkpoints: windows are the machine's to set again ---- */

void hostmem_copies_archive(struct component *self, void *state, struct archive *archive)
{
    struct hostmem *host = *(struct hostmem *const *)component_spec(self);
    for (uint32_t i = 0; i < host->gpus; i++)
        copy_list_archive(&host->links[i].list, &((struct host_channel *)state)[i].course, archive);
}
