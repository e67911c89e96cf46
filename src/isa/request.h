/* The memory request of an instruction, for timing models. */
#ifndef ISA_REQUEST_H
#define ISA_REQUEST_H

#include "isa/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

enum request_kind {
    REQUEST_NONE,     /* nothing of global memory */
    REQUEST_LOAD,     /* lanes' values to registers */
    REQUEST_CONSTANT, /* the same, of memory that no kernel writes: through the constant caches */
    REQUEST_STORE,    /* lanes' values from registers */
    REQUEST_ATOMIC,   /* and with old values back, if they are wanted */
    REQUEST_PIECES,   /* any bytes, from or to anywhere (matrices, asynchronous copies) */
    REQUEST_SIGNAL, /* to barriers in other blocks' shared memory: operations of the instruction set's own */
};

/* What became of the words of shared memory, for observers. */
enum shared_use {
    SHARED_READ,
    SHARED_WRITE,    /* also by an atomic operation without a result, if the order of several matters, */
    SHARED_COMMUTES, /* or does not */
    SHARED_CHANGE,   /* by one with a result */
    SHARED_SYNC,     /* they are a barrier */
};

/* How an access orders those of others: none of these bits if it does not. For observers. */
enum access_order {
    ORDER_STRONG = 1, /* atomic, volatile or relaxed: no data race with others like it */
    ORDER_ACQUIRES = 2,
    ORDER_RELEASES = 4,
};

/* For whom. */
enum access_scope { SCOPE_BLOCK, SCOPE_CLUSTER, SCOPE_GPU, SCOPE_SYSTEM };

/* What is done to a barrier in shared memory (SHARED_SYNC). */
enum shared_sync { SYNC_INIT, SYNC_END, SYNC_ARRIVE, SYNC_EXPECT, SYNC_TEST };

/* Bytes of memory that one lane accesses, where no other member of the request says so: by copies of any
 * size, matrices, and accesses to other blocks' shared memory. Only for observers that look. */
struct stretch {
    uint64_t at; /* of shared memory: as in shared_at */
    uint32_t bytes, lane;
    bool is_shared, writes;
    bool is_async; /* it is there when a barrier in shared memory, the next stretch of 8 bytes, says so */
};

/* What is known of the addresses of a full warp, so that nobody has to look again. */
enum lanes_layout {
    LAYOUT_UNKNOWN,
    LAYOUT_SAME,  /* all are one */
    LAYOUT_DENSE, /* each lane's bytes are behind those of the lane before */
};

/* Bytes of global memory, and where on the host they come from or go to. Of a copy to other blocks of the
 * cluster, `stage_at` is where they go to in the shared memory of each. */
struct piece {
    uint64_t at; /* or, of such a copy, PIECE_IS_HERE and more */
    char *host;  /* NULL: to the stage, */
    uint32_t bytes;
    uint32_t lane;
    uint64_t stage_at; /* at this offset */
};

/* In place of an address of global memory. */
enum piece_at {
    PIECE_IS_HERE = 1, /* the bytes are at `host` already */
    PIECE_IS_ZERO,     /* so many zeros, */
    PIECE_IS_NAN16,    /* or what tensor copies write where there is no tensor */
    PIECE_IS_NAN32,
    PIECE_IS_NAN64,
    PIECE_AT_MOST
};

/* What is needed until all values of a load are there. */
struct delivery {
    const void *how; /* bytes become registers: the instruction set's own */
    char *registers; /* of the function that loads */
    lane_mask lanes;
    uint8_t kind;   /* enum request_kind */
    uint8_t bytes;  /* of a lane, which may begin at any address, but for atomic operations */
    uint8_t width;  /* lanes of the warp: 32 or 64 */
    bool keep;      /* may be kept in the SM's own cache */
    bool acquires;  /* what is read after it must be as new */
    uint8_t layout; /* enum lanes_layout */
    /* of an atomic operation */
    uint8_t operation; /* a row of exec/atomics.h */
    bool returns;
    uint8_t register_bytes;
    uint32_t d;       /* place of the old values */
    bool merged;      /* its first lane does it for all; with old values wanted, */
    uint32_t d_upper; /* of their upper halves, if they have 16 bytes */
    uint64_t operand; /* this is the operand of each */
    /* of an asynchronous copy */
    bool is_async;
    char *barrier; /* that counts its bytes, or NULL */
    uint64_t barrier_bytes;
    uint64_t targets;       /* by rank: other blocks of the cluster that it goes to, too; */
    uint32_t barrier_at;    /* where the barrier is in the shared memory of each */
    uint8_t rounds;         /* how values change on their way (exec/tensormap.h); 0: they do not */
    bool reduces;           /* `operation` combines what comes with what is there */
    uint64_t stage_bytes;   /* of the request's stage; 0: it has none */
    uint64_t at[ISA_LANES]; /* last: `width` of them count */
};

struct request {
    bool at_once; /* addresses are the host's: who asks may load and store itself, */
    bool done;    /* and has done so */
    bool writes;  /* REQUEST_PIECES */
    /* Of the lanes of `of`: those whose address is one of the cluster's shared memory (exec/cga.h), of a
     * block on another SM */
    lane_mask cluster;
    bool signals; /* of those lanes: `compare` is where the barrier is in the block that counts their bytes */
    bool forgets; /* what is read after it must be as new as what others have made visible */
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    /* Where pieces gather whose bytes are of use only together, such as texels, with what else the
     * instruction set wants to know then: plain data, without pointers. */
    unsigned char *stage;
    size_t stage_capacity;
    /* Shared and local memory, and the kernel's parameters: already done; here for the time it takes */
    lane_mask shared, local, param;
    uint8_t shared_bytes, local_bytes;
    bool shared_atomic, local_writes;
    uint8_t shared_use;    /* enum shared_use */
    uint8_t shared_layout; /* enum lanes_layout */
    uint32_t shared_gap;   /* the second half of a lane's bytes is so far from the first; 0: behind it */
    struct delivery of;
    uint64_t operand[ISA_LANES], compare[ISA_LANES];
    uint64_t operand_upper[ISA_LANES], compare_upper[ISA_LANES]; /* of atomic operations on 16 bytes */
    uint32_t shared_at[ISA_LANES];
    uint64_t local_at[ISA_LANES], param_at[ISA_LANES];
    /* For observers that look: what costs time to find out. */
    bool looks;
    uint8_t order, scope;      /* enum access_order, access_scope */
    uint8_t shared_sync;       /* enum shared_sync; */
    lane_mask shared_done;     /* SYNC_TEST: the phase has ended for these lanes */
    bool has_wrote;            /* of stores: */
    uint64_t wrote[ISA_LANES]; /* equal for equal values */
    struct stretch *stretches;
    size_t stretch_count, stretch_capacity;
};

/* It was seen to. */
static inline void request_clear(struct request *request)
{
    request->of.kind = REQUEST_NONE;
    request->of.lanes = request->shared = request->local = request->param = 0;
    request->of.barrier = NULL;
    request->of.is_async = request->of.merged = request->of.reduces = request->forgets = request->signals =
        false;
    request->of.targets = request->cluster = request->of.rounds = 0;
    request->shared_atomic = request->writes = request->done = false;
    request->shared_layout = request->of.layout = LAYOUT_UNKNOWN;
    request->shared_use = SHARED_READ;
    request->shared_gap = 0;
    request->piece_count = request->stretch_count = 0;
    request->of.stage_bytes = 0;
    request->order = 0;
    request->has_wrote = false;
}

/* A copy that outlives the request. */
static inline void delivery_copy(struct delivery *to, const struct delivery *of)
{
    memcpy(to, of, offsetof(struct delivery, at) + of->width * sizeof *of->at);
}

#endif
