/* Asynchronous copies of any size, and the barriers in shared memory that count their bytes. */
#ifndef PTX_RUN_ASYNC_H
#define PTX_RUN_ASYNC_H

#include "ptx_run/access.h"

/* ---- barriers (mbarrier.c) ---- */

/* The barrier at this place of shared memory gets so many bytes fewer to wait for. True: its phase has ended.
 */
bool mbarrier_complete(char *place, uint64_t bytes);
/* Of a copy of a lane: the barrier is at this address of the cluster's shared memory. */
void mbarrier_signal(struct warp *warp, const struct op *op, uint32_t lane, uint64_t at, uint64_t bytes);
/* st.async and red.async: the barriers that count what these lanes just wrote; a block on another SM is asked
 * to signal its own. */
void async_signal_lanes(struct warp *warp, const struct op *op, const struct access *access, lanes who);

/* ---- operands (bulk.c) ---- */

bool async_lower_address(struct lower *lower, const struct ptx_operand *operand, enum ptx_space space,
                         struct async_address *address);
uint64_t async_address(const struct warp *warp, const struct async_address *address, uint32_t lane);

/* Blocks of the cluster that a copy goes to. */
struct async_targets {
    bool has_mask;
    uint32_t mask; /* place */
};
/* The address in another block of the cluster that corresponds to this one. */
static inline uint64_t async_address_of(uint64_t at, uint32_t rank)
{
    return (at & (WINDOW_BYTES - 1)) | (uint64_t)rank << 24;
}
/* Ranks that a lane's copy goes to; without a mask that of the address itself. */
uint64_t async_ranks(const struct warp *warp, const struct async_targets *targets, uint32_t lane,
                     uint64_t at);

/* What is done to each element of memory, by a row of exec/atomics.h. */
struct async_reduction {
    bool reduces;
    uint8_t bytes; /* of an element */
    uint32_t row;
};
bool async_find_reduction(const char *opcode, const char *type, struct async_reduction *reduction);
/* Whether what it leaves behind may depend on the order of blocks. */
bool async_is_ordered(const char *opcode);
/* Elements side by side, from one place of the host to another; far: these are not of shared memory. */
void async_reduce(const struct async_reduction *reduction, char *to, const char *from, uint64_t bytes,
                  bool far);

/* For a model that keeps time: bytes of global memory from or to a place of the host, in pieces of at most
 * 128 bytes, which do not cross long lines; or from PIECE_IS_HERE and others of isa/request.h. For other
 * blocks: to this offset of their shared memory. */
void async_request(struct warp *warp, uint32_t lane, uint64_t at, char *host, uint64_t offset, uint64_t bytes,
                   bool writes);

/* Who gets the bytes in such a model: the block itself, or others of its cluster, or both. */
struct async_ends {
    bool is_own;
    uint64_t others; /* by rank */
};
struct async_ends async_ends(struct warp *warp, const struct op *op, uint32_t lane,
                             const struct async_targets *targets, uint64_t to, uint64_t bytes);
/* The barrier that counts them, which has the same offset in each block. */
void async_request_barrier(struct warp *warp, const struct op *op, uint32_t lane, struct async_ends ends,
                           uint64_t barrier, uint64_t bytes);
/* A copy that combines elements with what is there. */
void async_request_reduction(struct warp *warp, const struct async_reduction *reduction);

#endif
