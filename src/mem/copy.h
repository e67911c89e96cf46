/* A copy, split into messages. Pure: addresses and bytes, and the rate at which pieces may leave. A DMA
 * engine (mem/dma.h) or the host (mem/hostmem.h) reads and writes the pieces.
 *
 * A copy is a list of parts, each some rows of bytes. A piece lies in one line of the source and in one line
 * of the destination. */
#ifndef MEM_COPY_H
#define MEM_COPY_H

#include "base/address.h"
#include "mem/message.h"

#include <stdbool.h>
#include <stddef.h>

struct archive;

struct copy_part { /* addresses are physical, packed */
    uint64_t to, from;
    uint64_t bytes, rows; /* of a row; and how many, these far apart: */
    uint64_t to_pitch, from_pitch;
};

struct copy_order { /* what a DMA engine is told */
    const struct copy_part *parts;
    size_t count;
    uint64_t bytes_per_s; /* that leave, at most */
    bool is_paced;        /* which is less than the link takes */
    uint64_t away_ps;     /* that a piece takes on links there and back, beside what memory takes */
    bool is_fill;         /* there is no source: */
    uint32_t word;        /* what all aligned words become */
};

struct copy_piece {
    uint64_t to, from;
    uint32_t bytes;
};

/* How far a copy is; plain data. */
struct copy_course {
    uint64_t bytes_per_s;
    uint64_t pace_from_ps, pace_bytes; /* sent since then */
    uint64_t part_count, part, row, at;
    uint64_t pieces; /* sent */
    uint32_t is_fill, word;
    uint32_t line_bytes; /* of memory */
    uint32_t is_paced;   /* it leaves at its own rate, not as fast as the link takes it */
};

/* The parts that a course goes through, kept by who goes. */
struct copy_list {
    struct copy_part *parts;
    size_t count;
};
void copy_list_set(struct copy_list *list, const struct copy_order *order);
void copy_list_fini(struct copy_list *list);
void copy_list_archive(struct copy_list *list, const struct copy_course *course, struct archive *archive);

struct copy_course copy_course(const struct copy_order *order, uint32_t line_bytes, uint64_t start_ps);
bool copy_is_sent(const struct copy_course *course);

/* The next piece, which the course passes. There must be one. */
struct copy_piece copy_next(struct copy_course *course, const struct copy_list *list);

/* When the next piece may leave: now or later. Who is late goes on at the same pace, and makes nothing up. */
uint64_t copy_due(struct copy_course *course, uint64_t now);

/* A piece's bytes as a request to write them, around caches. */
struct copy_message {
    struct memsys_request request;
    struct memsys_write writes[MEM_SECTORS_MOST];
};
uint16_t copy_write_message(struct copy_message *message, const struct copy_piece *piece, uint32_t line_bytes,
                            uint32_t id, const unsigned char *bytes);

/* What the acknowledgement of a written line has on the wire, beside a header, or NET_RIDES: a packet has up
 * to COPY_PACKET bytes and one acknowledgement, that of its last line. */
enum { COPY_PACKET = 256 }; /* NVLink: 16 flits of data */
uint32_t copy_done_bytes(uint64_t line, uint32_t line_bytes);

/* The sectors of a line that `bytes` at this address touch. */
static inline uint8_t copy_sectors(uint64_t address, uint32_t bytes, uint32_t line_bytes)
{
    uint32_t at = (uint32_t)address & (line_bytes - 1), first = at / MEM_SECTOR,
             last = (at + bytes - 1) / MEM_SECTOR;
    return (uint8_t)((2u << last) - (1u << first));
}

#endif
