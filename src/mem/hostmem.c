/* The host's memory, and the path to it: slices forward requests, with the number of their work as id, and
 * pass the reply to the client. */
#include "mem/hostmem_parts.h"
#include "mem/apart.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/text.h"
#include "mem/partition.h"
#include "net/network.h"

#include <stdlib.h>

static const struct home *home_of(const struct hostmem *host, uint64_t line)
{
    return UNLIKELY(physical_is_managed(line)) ? &host->managed : &host->memory;
}

/* ---- copies in other caches ---- */

enum { SECTORS_CACHED = HOST_CACHED_LINE / MEM_SECTOR };

/* What the GPU's cache of the host's memory has of a sector; NULL: nothing, or there is no such cache. */
static unsigned char *copy_of(const struct hostmem *host, uint64_t offset)
{
    unsigned char *line = host->copies[offset % MEM_LINE_MOST / HOST_CACHED_LINE];
    return line ? line + offset % HOST_CACHED_LINE : NULL;
}

/* Lines that these sectors are of. Gives when the request can be answered. */
static uint64_t reach_lines(struct hostmem *host, uint32_t gpu, const struct memsys_request *request,
                            uint32_t sectors, bool writes, uint64_t now)
{
    const struct hostmem_caches *caches = host->caches;
    const struct home *home = home_of(host, request->line);
    uint64_t offset = physical_offset(physical_unpack(request->line)), ready = now;
    const unsigned char *lines[COUNT_OF(host->copies)] = {NULL};
    for (uint32_t i = 0; i < MEM_SECTORS_MOST; i += SECTORS_CACHED) {
        uint64_t line = offset + i * MEM_SECTOR;
        const unsigned char **bytes = &lines[line % MEM_LINE_MOST / HOST_CACHED_LINE];
        if (!(sectors >> i & ((1 << SECTORS_CACHED) - 1)))
            continue;
        *bytes = (const unsigned char *)home_host(home, line);
        ready = max_u64(ready, caches->reach(caches->user, gpu, *bytes, writes, now));
    }
    for (uint32_t i = 0; i < COUNT_OF(lines); i++) /* the second may have taken the first one's place */
        host->copies[i] = lines[i] ? caches->copy(caches->user, gpu, lines[i]) : NULL;
    return ready;
}

/* ---- what requests do ---- */

static void host_read(const struct hostmem *host, const struct memsys_request *request, unsigned char *data,
                      uint32_t *bytes)
{
    const struct home *memory = home_of(host, request->line);
    uint64_t offset = physical_offset(physical_unpack(request->line));
    for (uint32_t left = request->sectors; left; left &= left - 1, *bytes += MEM_SECTOR) {
        uint64_t sector = offset + (uint64_t)__builtin_ctz(left) * MEM_SECTOR;
        const unsigned char *copy = copy_of(host, sector);
        if (copy)
            memcpy(data + *bytes, copy, MEM_SECTOR);
        else
            home_read(memory, sector, data + *bytes);
    }
}

/* Bytes of a sector, and, where that is wanted, a note of which. */
static void write_sector(struct hostmem *host, const struct home *home, uint64_t offset,
                         const unsigned char *sector, uint32_t mask)
{
    unsigned char *copy = copy_of(host, offset);
    home_write(home, offset, sector, mask);
    for (uint32_t left = copy ? mask : 0; left; left &= left - 1)
        copy[__builtin_ctz(left)] = sector[__builtin_ctz(left)];
    if (host->notes_writes) {
        mem_grow(host->writes, host->write_count, host->write_capacity);
        host->writes[host->write_count++] = (struct host_write){home_host(home, offset), mask};
    }
}

static void host_write(struct hostmem *host, const struct memsys_request *request,
                       const unsigned char *payload)
{
    uint64_t offset = physical_offset(physical_unpack(request->line));
    for (uint32_t left = request->sectors; left; left &= left - 1, payload += sizeof(struct memsys_write)) {
        struct memsys_write write;
        memcpy(&write, payload, sizeof write);
        write_sector(host, home_of(host, request->line), offset + (uint64_t)__builtin_ctz(left) * MEM_SECTOR,
                     write.data, write.mask);
    }
}

static void host_atomic(struct hostmem *host, const struct memsys_request *request,
                        const unsigned char *payload, struct memsys_old *old, uint32_t *bytes)
{
    uint32_t lanes = request->count & ~(uint32_t)MEM_WANTS_OLD;
    uint64_t offset = physical_offset(physical_unpack(request->line));
    REQUIRE(lanes <= MEM_ATOMS);
    for (uint32_t i = 0; i < lanes; i++) {
        struct memsys_atom atom;
        memcpy(&atom, payload + i * sizeof atom, sizeof atom);
        uint64_t sector = offset + atom.offset / MEM_SECTOR * MEM_SECTOR;
        _Alignas(16) unsigned char data[MEM_SECTOR];
        home_read(home_of(host, request->line), sector, data);
        uint8_t operation = request->operation & (uint8_t)~MEM_ON_FLOATS;
        void *at = data + atom.offset % MEM_SECTOR;
        bool is_wide = atom.bytes == MEM_WIDE;
        if (is_wide)
            memsys_atomic_wide(host->atomic_wide, operation, at, payload + i * sizeof atom, &old[i]);
        else
            old[i] = (struct memsys_old){.value = host->atomic(operation, at, atom.operand, atom.compare),
                                         .lane = atom.lane};
        uint32_t operand = (uint32_t)((UINT64_C(1) << atom.bytes) - 1) << atom.offset % MEM_SECTOR;
        write_sector(host, home_of(host, request->line), sector, data,
                     operand); /* beside it, threads of the host may write */
        i += is_wide;
    }
    if (request->count & MEM_WANTS_OLD)
        *bytes = lanes * (uint32_t)sizeof *old;
}

/* ---- the way to GPUs ---- */

/* A message, and from where it is: a plug of a GPU's link to the host. */
struct host_letter {
    uint32_t gpu, plug;
    const unsigned char *payload;
    uint16_t bytes;
    uint8_t kind;
};

static struct host_letter open_letter(const struct hostmem *host, const struct port *port)
{
    const struct event *event = port_head(port);
    struct host_letter letter = {
        .gpu = port_number(port), event->from, event->payload, event->bytes, event->kind};
    if (host->in_fabric) {
        struct net_head head;
        memcpy(&head, event->payload, sizeof head);
        letter.gpu = head.from;
        letter.plug = head.tag;
        letter.payload += sizeof head;
        letter.bytes -= (uint16_t)sizeof head;
    }
    return letter;
}

void hostmem_to_gpu(struct hostmem *host, uint32_t gpu, uint32_t plug, uint8_t kind, const void *message,
                    uint16_t bytes, uint32_t wire_bytes)
{
    struct port *port = component_port(host->component, host->in_fabric ? 0 : gpu);
    struct {
        struct net_head head;
        unsigned char message[MEM_PAYLOAD_MOST];
    } in_fabric = {.head = {.to = (uint16_t)gpu, .tag = (uint16_t)plug}};
    bool good;
    if (host->in_fabric) {
        memcpy(in_fabric.message, message, bytes);
        good = port_send_sized(port, 1 - port_plug(port), 0, kind, &in_fabric,
                               (uint16_t)(sizeof in_fabric.head + bytes),
                               wire_bytes == HOST_AS_LONG ? bytes : wire_bytes);
    } else if (wire_bytes == HOST_AS_LONG) {
        good = port_send(port, plug, 0, kind, message, bytes);
    } else {
        good = port_send_sized(port, plug, 0, kind, message, bytes, wire_bytes);
    }
    REQUIRE(good);
}

/* A request passes, with bytes that may be altered: what is read, or what follows the request. */
static void tell_pass(const struct component *self, const struct hostmem *host,
                      const struct host_letter *letter, uint64_t line, unsigned char *data, uint32_t bytes)
{
    if (probe_wants(host->probe, PROBE_REQUEST))
        probe_tell(host->probe, (struct probe_event){.kind = PROBE_REQUEST,
                                                     .phase = PROBE_PASSES,
                                                     .time_ps = component_now(self),
                                                     .id = memsys_origin(letter->payload, letter->bytes),
                                                     .gpu = UINT32_MAX,
                                                     .stop = "host",
                                                     .what = memsys_kind_name(letter->kind),
                                                     .address = line,
                                                     .data = data,
                                                     .data_bytes = bytes});
}

struct walk_answer {
    struct memsys_request request;
    uint32_t gpu, plug;
};

/* An answer that other caches hold up. */
struct late_answer {
    uint32_t gpu, plug, kind, bytes;
    struct {
        struct memsys_reply reply;
        unsigned char data[MEM_ATOMS * sizeof(struct memsys_old)];
    } message;
};
_Static_assert(MEM_ATOMS * sizeof(struct memsys_old) >= MEM_LINE_MOST, "a line fits as well");

static void host_event(struct component *self, void *state, const struct event *event)
{
    struct hostmem *host = *(struct hostmem *const *)component_spec(self);
    struct walk_answer answer;
    struct late_answer late;
    if (event->kind == HOST_LATE) {
        memcpy(&late, event->payload, event->bytes);
        hostmem_to_gpu(host, late.gpu, late.plug, (uint8_t)late.kind, &late.message, (uint16_t)late.bytes,
                       HOST_AS_LONG);
    } else if (event->kind == HOST_COPIES) {
        hostmem_copies_event(self, state, event);
    } else if (event->kind == IOMMU_WALKED) {
        memcpy(&answer, event->payload, sizeof answer);
        hostmem_to_gpu(host, answer.gpu, answer.plug, MEM_WALK, &answer.request, sizeof answer.request,
                       HOST_AS_LONG);
    } else {
        iommu_event(host->iommu, event);
    }
}

static void host_archive(struct component *self, void *state, struct archive *archive)
{
    struct hostmem *host = *(struct hostmem *const *)component_spec(self);
    REQUIRE(!host->caches); /* which are nowhere written down */
    hostmem_copies_archive(self, state, archive);
    archive_bytes(archive, host->walkers.free_at, host->walkers.count * sizeof *host->walkers.free_at);
    if (host->iommu)
        iommu_archive(host->iommu, archive);
}

/* A walk for a GPU: its answer leaves when a walker has done it. */
static void walk(struct hostmem *host, const struct host_letter *letter)
{
    struct host_walkers *walkers = &host->walkers;
    uint64_t now = component_now(host->component), first = 0;
    REQUIRE(walkers->count);
    for (uint64_t i = 1; i < walkers->count; i++)
        if (walkers->free_at[i] < walkers->free_at[first])
            first = i;
    walkers->free_at[first] = max_u64(walkers->free_at[first], now) + walkers->walk_ps;
    struct walk_answer answer = {.gpu = letter->gpu, .plug = letter->plug};
    memcpy(&answer.request, letter->payload, sizeof answer.request);
    component_schedule(host->component, walkers->free_at[first] - now, IOMMU_WALKED, &answer, sizeof answer);
}

static void send_answer(struct hostmem *host, const struct host_letter *letter, enum memsys_kind kind,
                        const void *message, uint16_t bytes, uint64_t ready)
{
    uint64_t now = component_now(host->component);
    struct late_answer late = {
        .gpu = letter->gpu, .plug = letter->plug, .kind = (uint32_t)kind, .bytes = bytes};
    if (ready <= now) {
        hostmem_to_gpu(host, letter->gpu, letter->plug, (uint8_t)kind, message, bytes, HOST_AS_LONG);
        return;
    }
    memcpy(&late.message, message, bytes);
    component_schedule(host->component, ready - now, HOST_LATE, &late,
                       (uint16_t)(offsetof(struct late_answer, message) + bytes));
}

/* The sectors that a request touches: of atomic operations, by lane. */
static uint32_t sectors_of(const struct memsys_request *request, uint8_t kind, const unsigned char *payload)
{
    uint32_t lanes = request->count & ~(uint32_t)MEM_WANTS_OLD, sectors = 0;
    if (kind != MEM_ATOMIC)
        return request->sectors;
    for (uint32_t i = 0; i < lanes && i < MEM_ATOMS; i++) {
        struct memsys_atom atom;
        memcpy(&atom, payload + i * sizeof atom, sizeof atom);
        sectors |= 1U << atom.offset / MEM_SECTOR;
    }
    return sectors;
}

static void host_arrive(struct component *self, void *state, struct port *port)
{
    struct hostmem *host = *(struct hostmem *const *)component_spec(self);
    const struct host_letter letter = open_letter(host, port);
    if (UNLIKELY(letter.kind == MEM_WALK)) {
        walk(host, &letter);
        port_pop(port);
        return;
    }
    if (UNLIKELY(host->iommu && letter.kind >= MEM_WANT)) {
        iommu_take(host->iommu, letter.gpu, letter.kind, letter.payload);
        port_pop(port);
        return;
    }
    struct {
        struct memsys_request request;
        unsigned char payload[sizeof(struct work_payload) + sizeof(uint64_t)];
    } asked;
    (void)state;
    memcpy(&asked.request, letter.payload, sizeof asked.request);
    const struct memsys_request *request = &asked.request;
    if (request->policy == MEM_AROUND) {
        hostmem_copies_receive(host, letter.gpu, letter.payload);
        port_pop(port);
        return;
    }
    if (UNLIKELY(physical_is_managed(request->line)) && host->iommu)
        iommu_reached(host->iommu, letter.gpu, request->line);
    memcpy(&asked, letter.payload, letter.bytes);
    struct {
        struct memsys_reply reply;
        union {
            unsigned char data[MEM_LINE_MOST];
            struct memsys_old old[MEM_ATOMS];
        };
    } message = {.reply = {.line = request->line, .id = request->id, .sectors = request->sectors, .hit = 2}};
    uint32_t bytes = 0, follow = (uint32_t)(letter.bytes - sizeof *request - sizeof(uint64_t));
    enum memsys_kind answer = MEM_DONE;
    uint64_t ready = 0;
    if (UNLIKELY(host->caches))
        ready = reach_lines(host, letter.gpu, request, sectors_of(request, letter.kind, asked.payload),
                            letter.kind != MEM_READ, component_now(self));
    switch ((enum memsys_kind)letter.kind) {
    case MEM_READ:
        answer = MEM_DATA;
        host_read(host, request, message.data, &bytes);
        tell_pass(self, host, &letter, request->line, message.data, bytes);
        break;
    case MEM_WRITE:
        tell_pass(self, host, &letter, request->line, asked.payload, follow);
        host_write(host, request, asked.payload);
        break;
    case MEM_ATOMIC:
        tell_pass(self, host, &letter, request->line, asked.payload, follow);
        host_atomic(host, request, asked.payload, message.old, &bytes);
        message.reply.count = request->count & (uint8_t)~MEM_WANTS_OLD;
        answer = bytes ? MEM_OLD : MEM_DONE;
        break;
    default:
        BUG("the host's memory was asked to do \"%s\"", memsys_kind_name(letter.kind));
    }
    send_answer(host, &letter, answer, &message, (uint16_t)(sizeof message.reply + bytes), ready);
    port_pop(port);
}

static const struct component_ops host_ops = {
    .type = "host memory", .arrive = host_arrive, .event = host_event, .archive = host_archive};

void hostmem_share(struct hostmem *host, const struct hostmem_caches *caches)
{
    host->caches = caches;
}

struct hostmem *hostmem_new(struct engine *engine, uint32_t gpus, bool in_fabric, memsys_atomic_fn *atomic,
                            memsys_atomic_wide_fn *atomic_wide)
{
    struct hostmem *host = mem_alloc(1, sizeof *host);
    struct text ports = {0};
    for (uint32_t i = 0; i < gpus && !in_fabric; i++)
        text_add(&ports, "%sgpu%u", i ? "," : "", i);
    if (in_fabric)
        text_add(&ports, "fabric");
    *host = (struct hostmem){.self = host,
                             .engine = engine,
                             .island = engine_island(engine, "host.memory"),
                             .in_fabric = in_fabric,
                             .atomic = atomic,
                             .atomic_wide = atomic_wide,
                             .probe = &probe_of_nobody,
                             .gpus = gpus};
    host->links = mem_alloc(gpus, sizeof *host->links);
    host->component = engine_component(engine, host->island, "host.memory", &host_ops, &host->self,
                                       gpus * sizeof(struct host_channel), ports.at);
    text_fini(&ports);
    return host;
}

void hostmem_walk(struct hostmem *host, uint64_t walkers, uint64_t walk_ps)
{
    host->walkers = (struct host_walkers){
        .walk_ps = walk_ps, .count = walkers, .free_at = mem_alloc(walkers, sizeof *host->walkers.free_at)};
}

void hostmem_move_pages(struct hostmem *host, const struct paging_spec *spec)
{
    host->iommu = iommu_new(host, spec);
}

struct iommu *hostmem_iommu(const struct hostmem *host)
{
    return host->iommu;
}

void hostmem_listen(struct hostmem *host, const struct probe *probe)
{
    host->probe = probe;
}

void hostmem_free(struct hostmem *host)
{
    if (!host)
        return;
    for (uint32_t i = 0; i < host->gpus; i++)
        copy_list_fini(&host->links[i].list);
    home_fini(&host->memory);
    home_fini(&host->managed);
    apart_free(host->apart);
    iommu_free(host->iommu);
    mem_free(host->walkers.free_at);
    mem_free(host->links);
    mem_free(host->writes);
    mem_free(host);
}

bool hostmem_attach_fabric(struct hostmem *host, struct network *fabric, uint32_t node, struct err *err)
{
    return network_attach(fabric, node, host->island, component_port(host->component, 0), err);
}

bool hostmem_is_in_fabric(const struct hostmem *host)
{
    return host->in_fabric;
}

bool hostmem_is_here(const struct hostmem *host)
{
    return component_is_here(host->component);
}

struct component *hostmem_component(const struct hostmem *host)
{
    return host->component;
}

struct port *hostmem_port(const struct hostmem *host, uint32_t gpu)
{
    return component_port(host->component, gpu);
}

uint32_t hostmem_gpus(const struct hostmem *host)
{
    return host->gpus;
}

void hostmem_attach(struct hostmem *host, uint32_t gpu, const struct memsys *mem, uint64_t latency_ps)
{
    host->links[gpu].mem = mem;
    host->links[gpu].latency_ps = latency_ps;
    if (host->iommu)
        iommu_set_lines(host->iommu, memsys_line_bytes(mem));
}

void hostmem_set(struct hostmem *host, const struct home_range *ranges, uint32_t count)
{
    home_set(&host->memory, ranges, count);
}

char *hostmem_managed_bytes(const struct hostmem *host, uint64_t at)
{
    return home_host(&host->managed, physical_offset(physical_unpack(at)));
}

void hostmem_set_managed(struct hostmem *host, const struct home_range *ranges, uint32_t count)
{
    home_set(&host->managed, ranges, count);
}

/* ---- what was written ---- */

void hostmem_note_writes(struct hostmem *host)
{
    host->notes_writes = true;
}

void hostmem_note(struct hostmem *host, char *at, uint64_t bytes)
{
    for (uint64_t done = 0; done < bytes && host->notes_writes; done += MEM_SECTOR) {
        mem_grow(host->writes, host->write_count, host->write_capacity);
        host->writes[host->write_count++] = (struct host_write){at + done, UINT32_MAX};
    }
}

static int by_address(const void *a, const void *b)
{
    const struct host_write *x = a, *y = b;
    return (x->at > y->at) - (x->at < y->at);
}

/* Runs of bytes of a sector. */
static void tell_runs(const char *at, uint32_t mask, void (*tell)(void *user, const char *at, uint32_t bytes),
                      void *user)
{
    while (at && mask) {
        uint32_t from = (uint32_t)__builtin_ctz(mask);
        uint64_t rest = ~((uint64_t)mask >> from);
        uint32_t run = (uint32_t)__builtin_ctzll(rest);
        tell(user, at + from, run);
        mask &= run + from == 32 ? (UINT32_C(1) << from) - 1 : ~(((UINT32_C(1) << run) - 1) << from);
    }
}

void hostmem_writes(struct hostmem *host, void (*tell)(void *user, const char *at, uint32_t bytes),
                    void *user)
{
    if (!host->write_count)
        return;
    qsort(host->writes, host->write_count, sizeof *host->writes, by_address);
    for (size_t i = 0; i < host->write_count;) {
        const char *at = host->writes[i].at;
        uint32_t mask = 0;
        for (; i < host->write_count && host->writes[i].at == at; i++)
            mask |= host->writes[i].mask;
        tell_runs(at, mask, tell, user);
    }
    host->write_count = 0;
}

/* ---- at the slice ---- */

void hostmem_send(const struct here *here, const struct head *head, const unsigned char *payload)
{
    uint32_t work = work_keep(here, head, payload);
    struct {
        struct memsys_request request;
        unsigned char payload[sizeof(struct work_payload) + sizeof head->origin];
    } message = {.request = head->request};
    uint32_t bytes = work_payload_bytes(head), wire = (uint32_t)sizeof message.request + bytes;
    message.request.id = work;
    if (bytes)
        memcpy(message.payload, payload, bytes);
    memcpy(message.payload + bytes, &head->origin, sizeof head->origin);
    here->state->count.host_bytes += sector_count(head->request.sectors) * MEM_SECTOR;
    struct port *port = component_port(here->self, 2 * here->spec->here);
    REQUIRE(port_send_sized(port, 0, 0, head->kind, &message, (uint16_t)(wire + sizeof head->origin),
                            wire + here->shape->overhead_bytes));
}

void hostmem_replied(const struct here *here, struct port *port)
{
    const struct event *event = port_head(port);
    struct {
        struct memsys_reply reply;
        unsigned char payload[MEM_PAYLOAD_MOST];
    } message;
    if (event->kind == MEM_WRITE) {
        around_pushed(here, event);
        port_pop(port);
        return;
    }
    memcpy(&message, event->payload, event->bytes);
    uint32_t work = message.reply.id;
    const struct head *head = &here->spec->works[work].head;
    message.reply.id = head->request.id;
    partition_reply(here, head, here->now + here->shape->hit_ps, event->kind, &message, event->bytes);
    work_free(here, work);
    port_pop(port);
}
