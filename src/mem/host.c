/* The host's own memory, beyond a link. It is not kept in the L2: the host reads and writes it without
 * telling. Slices send requests on, with the number of their work as id, and give the reply to the client. */
#include "mem/partition.h"
#include "base/mem.h"

static void host_read(const struct shape *shape, const struct mem_request *request, unsigned char *data,
                      uint32_t *bytes)
{
    for (uint32_t left = request->sectors; left; left &= left - 1, *bytes += MEM_SECTOR)
        region_read(shape, request->line + (uint64_t)__builtin_ctz(left) * MEM_SECTOR, data + *bytes);
}

/* Bytes of a sector, and, where that is wanted, a note of which. */
static void write_sector(const struct shape *shape, uint64_t address, const unsigned char *sector,
                         uint32_t mask)
{
    struct host_writes *writes = shape->host_writes;
    region_write(shape, address, sector, mask);
    if (writes) {
        mem_grow(writes->list, writes->count, writes->capacity);
        writes->list[writes->count++] = (struct host_write){region_host(shape, address), mask};
    }
}

static void host_write(const struct shape *shape, const struct mem_request *request,
                       const unsigned char *payload)
{
    for (uint32_t left = request->sectors; left; left &= left - 1, payload += sizeof(struct mem_write)) {
        struct mem_write write;
        memcpy(&write, payload, sizeof write);
        write_sector(shape, request->line + (uint64_t)__builtin_ctz(left) * MEM_SECTOR, write.data,
                     write.mask);
    }
}

static void host_atomic(const struct shape *shape, const struct mem_request *request,
                        const unsigned char *payload, struct mem_old *old, uint32_t *bytes)
{
    uint32_t lanes = request->count & ~(uint32_t)MEM_WANTS_OLD;
    REQUIRE(lanes <= MEM_ATOMS);
    for (uint32_t i = 0; i < lanes; i++) {
        struct mem_atom atom;
        memcpy(&atom, payload + i * sizeof atom, sizeof atom);
        uint64_t sector = request->line + atom.offset / MEM_SECTOR * MEM_SECTOR;
        _Alignas(16) unsigned char data[MEM_SECTOR];
        region_read(shape, sector, data);
        uint64_t was = shape->atomic(request->operation & (uint8_t)~MEM_ON_FLOATS,
                                     data + atom.offset % MEM_SECTOR, atom.operand, atom.compare);
        write_sector(shape, sector, data, UINT32_MAX);
        old[i] = (struct mem_old){.value = was, .lane = atom.lane};
    }
    if (request->count & MEM_WANTS_OLD)
        *bytes = lanes * (uint32_t)sizeof *old;
}

static void host_arrive(struct component *self, void *state, struct port *port)
{
    (void)state;
    const struct shape *shape = component_spec(self);
    const struct event *event = port_head(port);
    struct mem_request request;
    memcpy(&request, event->payload, sizeof request);
    const unsigned char *payload = event->payload + sizeof request;
    struct {
        struct mem_reply reply;
        union {
            unsigned char data[MEM_LINE];
            struct mem_old old[MEM_ATOMS];
        };
    } message = {.reply = {.line = request.line, .id = request.id, .sectors = request.sectors, .hit = 2}};
    uint32_t bytes = 0;
    if (event->kind == MEM_READ) {
        host_read(shape, &request, message.data, &bytes);
    } else if (event->kind == MEM_WRITE) {
        host_write(shape, &request, payload);
    } else {
        host_atomic(shape, &request, payload, message.old, &bytes);
        message.reply.count = request.count & (uint8_t)~MEM_WANTS_OLD;
    }
    REQUIRE(port_send(port, event->from, 0, bytes ? MEM_DATA : MEM_DONE, &message,
                      (uint16_t)(sizeof message.reply + bytes)));
    port_pop(port);
}

const struct component_ops host_ops = {.type = "host memory", .arrive = host_arrive};

/* ---- at the slice ---- */

void host_send(const struct here *here, const struct head *head, const unsigned char *payload)
{
    uint32_t work = head->work == NO_WORK ? work_keep(here, head, payload) : head->work;
    struct {
        struct mem_request request;
        unsigned char payload[sizeof(struct work_payload)];
    } message = {.request = head->request};
    uint32_t bytes = work_payload_bytes(head);
    message.request.id = work;
    if (bytes)
        memcpy(message.payload, payload, bytes);
    here->state->count.host_bytes += sector_count(head->request.sectors) * MEM_SECTOR;
    struct port *port = component_port(here->self, 2 * here->spec->here);
    REQUIRE(port_send(port, 0, 0, head->kind, &message, (uint16_t)(sizeof message.request + bytes)));
}

void host_replied(const struct here *here, struct port *port)
{
    const struct event *event = port_head(port);
    struct {
        struct mem_reply reply;
        unsigned char payload[MEM_PAYLOAD_MOST];
    } message;
    memcpy(&message, event->payload, event->bytes);
    uint32_t work = message.reply.id;
    const struct head *head = &here->spec->works[work].head;
    message.reply.id = head->request.id;
    partition_reply(here, head, here->now + here->shape->hit_ps, event->kind, &message, event->bytes);
    work_free(here, work);
    port_pop(port);
}
