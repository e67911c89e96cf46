/* Requests of a GPU whose lines have another size: they are cut into parts, one for each line of the home's,
 * and the replies to these are put together again. Pure: no time here. */
#ifndef MEM_CUT_H
#define MEM_CUT_H

#include "mem/message.h"

#include <stdbool.h>

/* Whether a request is for other than one line of this size. */
static inline bool memsys_is_cut(const struct memsys_request *request, uint32_t line_bytes)
{
    return request->line & (line_bytes - 1) || request->sectors >> line_bytes / MEM_SECTOR;
}

/* Writes the part of a request that is for one line, without the sectors that were done before, and gives its
 * sectors, as the request counts them; 0 when all are done. */
uint32_t memsys_cut(enum memsys_kind kind, const void *request, uint32_t line_bytes, uint32_t done,
                    void *part);

/* A request that was cut, and what came back. */
struct memsys_whole {
    uint64_t line;
    uint32_t id;
    uint32_t parts_left;
    uint32_t next; /* of the free ones */
    uint8_t sectors, kind, count, hit;
    unsigned char data[MEM_LINE_MOST]; /* by sectors */
    struct memsys_old olds[MEM_ATOMS];
};

void memsys_whole_begin(struct memsys_whole *whole, enum memsys_kind kind, const void *request,
                        uint32_t line_bytes);

/* A reply to a part; true when it was the last. */
bool memsys_whole_add(struct memsys_whole *whole, enum memsys_kind kind, const void *reply);

/* Writes the reply to all of it, and gives its bytes. */
uint16_t memsys_whole_reply(const struct memsys_whole *whole, void *reply);

#endif
