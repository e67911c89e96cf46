/* A chunk: the streams of consecutive blocks of a launch, compressed together. Inflated, it holds
 *
 *   of each warp: how many bytes of runs, bytes of data, and firsts (varints)
 *   the runs of all warps; the data of all warps
 *   the firsts of all warps: each as the distance from what the same first of the two warps before predict
 *
 * (istream.h says what these are). Chunks can be read in any order, by any thread. */
#ifndef ITRACE_CHUNK_H
#define ITRACE_CHUNK_H

#include "base/err.h"
#include "itrace/blob.h"
#include "itrace/istream.h"

enum { CHUNK_RAW_MOST = 1 << 30 }; /* bytes, inflated */

/* ---- writing ---- */

/* The streams of a block, one warp behind the other. */
struct chunk_block {
    struct blob lengths, runs, data, firsts;
    uint64_t table_bytes; /* as of struct istream_writer */
};

void chunk_block_add(struct chunk_block *block, const struct istream_writer *warp);
void chunk_block_reset(struct chunk_block *block); /* empty, with the memory it has */
void chunk_block_fini(struct chunk_block *block);

/* Blocks that will be a chunk. */
struct chunk_builder {
    struct chunk_block all;
    uint64_t first_block, block_count;
};

static inline size_t chunk_builder_bytes(const struct chunk_builder *builder)
{
    return builder->all.runs.count + builder->all.data.count + builder->all.firsts.count;
}

void chunk_builder_add(struct chunk_builder *builder, const struct chunk_block *block);
/* Its compressed bytes; the builder is empty then. */
void chunk_pack(struct chunk_builder *builder, struct blob *packed, uint64_t *raw_bytes);

/* ---- reading ---- */

struct chunk_warp {
    const uint8_t *runs, *data;
    const uint64_t *firsts;
    uint64_t runs_bytes, data_bytes, first_count;
};

struct chunk {
    uint8_t *raw;
    uint64_t *firsts;
    struct chunk_warp *warps; /* block by block */
    uint64_t warp_count;
    uint64_t raw_room, first_room, warp_room; /* that there is memory for */
};

/* NULL with a reason: the bytes are no chunk of so many warps. */
struct chunk *chunk_unpack(const void *packed, size_t bytes, uint64_t raw_bytes, uint64_t warp_count,
                           struct err *err);
/* The same, with the memory of a chunk that nobody needs any more. False with a reason; it is empty then. */
bool chunk_unpack_again(struct chunk *chunk, const void *packed, size_t bytes, uint64_t raw_bytes,
                        uint64_t warp_count, struct err *err);
void chunk_free(struct chunk *chunk);

#endif
