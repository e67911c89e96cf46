/* How a trace of ours lies in its file (.htrace). All numbers are little-endian.
 *
 *   head                     magic, version
 *   block 0, 1, ...          each: a block head, then its streams, each packed by zstd
 *   index                    a row of each block
 *   tail                     where the index is, what there is in all
 *
 * A block has up to TRACE_BLOCK_ACCESSES accesses (all but the last have as many), and can be decoded without
 * any other: codec.h says how. What is not closed has no tail, and is no trace. Digests are of what lies in
 * the file (packed); whatever passes them is still not believed. */
#ifndef TRACE_FORMAT_H
#define TRACE_FORMAT_H

#include "trace/access.h"

#include <stddef.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "files are read and written as they lie in memory");

#define TRACE_MAGIC      "\x89HTRACE\n"
#define TRACE_TAIL_MAGIC "HTRACE.\n"
enum { TRACE_VERSION = 1, TRACE_BLOCK_ACCESSES = 1 << 16 };

struct trace_head {
    char magic[8];
    uint32_t version, block_accesses;
};

enum trace_stream { TRACE_TOKENS, TRACE_DELTAS, TRACE_OTHERS, TRACE_STREAMS };

struct trace_block_head {
    uint64_t digest;            /* of the rest of this head and of the streams */
    uint64_t first_instruction; /* of its first access */
    uint32_t count;             /* of its accesses */
    struct {
        uint32_t packed, plain; /* bytes; the same where it is stored as it is */
    } stream[TRACE_STREAMS];
    uint32_t zero;
};

struct trace_index_row {
    uint64_t offset, first_instruction;
    uint32_t count, bytes; /* bytes: of the block with its head */
};

struct trace_tail {
    uint64_t index_offset, blocks, accesses, last_instruction;
    uint64_t digest; /* of the index and of the above */
    char magic[8];
};

_Static_assert(sizeof(struct trace_head) == 16 && sizeof(struct trace_block_head) == 48 &&
                   sizeof(struct trace_index_row) == 24 && sizeof(struct trace_tail) == 48,
               "they are written as they are");

/* Four digests side by side, which a host computes at once; then one of them. */
uint64_t trace_digest(uint64_t digest, const void *bytes, size_t count);

#endif
