#include "mem/cut.h"

/* Sectors of a request, as it counts them, that are in the line. */
static uint32_t within(const struct memsys_request *request, uint64_t line, uint32_t line_bytes)
{
    uint32_t some = 0;
    for (uint32_t left = request->sectors; left; left &= left - 1) {
        uint32_t sector = (uint32_t)__builtin_ctz(left);
        if (request->line + (uint64_t)sector * MEM_SECTOR - line < line_bytes)
            some |= 1u << sector;
    }
    return some;
}

static void cut_writes(const struct memsys_request *request, const unsigned char *from, uint32_t taken,
                       unsigned char *to)
{
    for (uint32_t left = request->sectors; left; left &= left - 1, from += sizeof(struct memsys_write)) {
        if (!(taken >> __builtin_ctz(left) & 1))
            continue;
        memcpy(to, from, sizeof(struct memsys_write));
        to += sizeof(struct memsys_write);
    }
}

/* Gives how many. `before`: bytes from the part's line to the request's. */
static uint8_t cut_atoms(const struct memsys_request *request, const unsigned char *from, uint32_t taken,
                         int64_t before, unsigned char *to)
{
    uint8_t count = 0;
    for (uint32_t i = 0; i < (request->count & ~(uint32_t)MEM_WANTS_OLD); i++) {
        struct memsys_atom atom;
        memcpy(&atom, from + i * sizeof atom, sizeof atom);
        if (!(taken >> atom.offset / MEM_SECTOR & 1))
            continue;
        atom.offset = (uint8_t)(atom.offset + before);
        memcpy(to + count++ * sizeof atom, &atom, sizeof atom);
    }
    return count;
}

uint32_t memsys_cut(enum memsys_kind kind, const void *message, uint32_t line_bytes, uint32_t done,
                    void *part)
{
    struct memsys_request request, own;
    memcpy(&request, message, sizeof request);
    uint32_t left = request.sectors & ~done;
    if (!left)
        return 0;
    own = request;
    uint64_t first = request.line + (uint64_t)__builtin_ctz(left) * MEM_SECTOR;
    own.line = first & ~(uint64_t)(line_bytes - 1);
    uint32_t taken = within(&request, own.line, line_bytes);
    int64_t before = (int64_t)(request.line - own.line);
    own.sectors = (uint8_t)(before < 0 ? taken >> -before / MEM_SECTOR : taken << before / MEM_SECTOR);
    const unsigned char *from = (const unsigned char *)message + sizeof request;
    unsigned char *to = (unsigned char *)part + sizeof own;
    if (kind == MEM_WRITE)
        cut_writes(&request, from, taken, to);
    else if (kind == MEM_ATOMIC)
        own.count = (request.count & MEM_WANTS_OLD) | cut_atoms(&request, from, taken, before, to);
    memcpy(part, &own, sizeof own);
    return taken;
}

void memsys_whole_begin(struct memsys_whole *whole, enum memsys_kind kind, const void *message,
                        uint32_t line_bytes)
{
    struct memsys_request request;
    unsigned char part[MEM_PAYLOAD_MOST];
    memcpy(&request, message, sizeof request);
    *whole = (struct memsys_whole){.line = request.line, .id = request.id, .sectors = request.sectors};
    for (uint32_t done = 0, taken; (taken = memsys_cut(kind, message, line_bytes, done, part)); done |= taken)
        whole->parts_left++;
}

bool memsys_whole_add(struct memsys_whole *whole, enum memsys_kind kind, const void *message)
{
    struct memsys_reply reply;
    const unsigned char *from = (const unsigned char *)message + sizeof reply;
    memcpy(&reply, message, sizeof reply);
    whole->kind = (uint8_t)kind;
    whole->hit = reply.hit > whole->hit ? reply.hit : whole->hit;
    for (uint32_t left = kind == MEM_DATA ? reply.sectors : 0; left; left &= left - 1, from += MEM_SECTOR) {
        uint64_t at = reply.line + (uint64_t)__builtin_ctz(left) * MEM_SECTOR - whole->line;
        memcpy(whole->data + at, from, MEM_SECTOR);
    }
    if (kind == MEM_OLD)
        memcpy(&whole->olds[whole->count], from, reply.count * sizeof whole->olds[0]);
    whole->count = (uint8_t)(whole->count + reply.count);
    return --whole->parts_left == 0;
}

uint16_t memsys_whole_reply(const struct memsys_whole *whole, void *message)
{
    struct memsys_reply reply = {.line = whole->line,
                                 .id = whole->id,
                                 .sectors = whole->sectors,
                                 .count = whole->count,
                                 .hit = whole->hit};
    unsigned char *to = (unsigned char *)message + sizeof reply;
    memcpy(message, &reply, sizeof reply);
    for (uint32_t left = whole->kind == MEM_DATA ? whole->sectors : 0; left;
         left &= left - 1, to += MEM_SECTOR)
        memcpy(to, whole->data + __builtin_ctz(left) * MEM_SECTOR, MEM_SECTOR);
    if (whole->kind == MEM_OLD)
        memcpy(to, whole->olds, whole->count * sizeof whole->olds[0]);
    return (uint16_t)memsys_message_bytes((enum memsys_kind)whole->kind, whole->sectors, whole->count);
}
