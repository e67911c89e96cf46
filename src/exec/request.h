/* What an instruction wants of memory, as a model that keeps time needs to know it. */
#ifndef EXEC_REQUEST_H
#define EXEC_REQUEST_H

#include "isa/isa.h"

#include <stdbool.h>
#include <stddef.h>

struct access;
struct op;
struct warp;

enum request_kind {
    REQUEST_NONE,   /* nothing of global memory */
    REQUEST_LOAD,   /* lanes' values to registers */
    REQUEST_STORE,  /* and from them */
    REQUEST_ATOMIC, /* and with old values back, if they are wanted */
    REQUEST_PIECES, /* any bytes, from or to anywhere (matrices, asynchronous copies) */
};

/* Bytes of global memory, within a line, and where on the host they come from or go to. */
struct piece {
    uint64_t at;
    char *host;
    uint32_t bytes;
    uint32_t lane;
};

/* What is needed until all values of a load are there. */
struct delivery {
    const struct access *access; /* of a plain load */
    char *registers;             /* of the function that loads */
    lanes lanes;
    uint64_t at[WARP_LANES];
    uint8_t kind;  /* enum request_kind */
    uint8_t bytes; /* of a lane */
    bool keep;     /* may be kept in the SM's own cache */
    bool acquires; /* what is read after it must be as new */
    /* of an atomic operation */
    uint8_t operation;
    bool returns;
    uint8_t register_bytes;
    uint32_t d;       /* place of the old values */
    bool merged;      /* its first lane does it for all; with old values wanted, */
    uint64_t operand; /* this is the operand of each */
    /* of an asynchronous copy */
    bool is_async;
    char *barrier; /* that counts its bytes, or NULL */
    uint64_t barrier_bytes;
};

struct request {
    struct delivery of;
    bool writes; /* REQUEST_PIECES */
    uint64_t operand[WARP_LANES], compare[WARP_LANES];
    struct piece *pieces;
    size_t piece_count, piece_capacity;
    /* Shared and local memory: already done; here for the time it takes */
    lanes shared, local, constant;
    uint8_t shared_bytes, local_bytes;
    bool shared_atomic, local_writes;
    bool constant_param; /* offsets in the kernel's parameters, not addresses */
    uint32_t shared_at[WARP_LANES];
    uint64_t local_at[WARP_LANES], constant_at[WARP_LANES];
};

/* It was seen to. */
void request_clear(struct request *request);

/* The lanes of `who` get their values from a line of memory, of which `data` is a copy. */
void request_deliver(const struct delivery *of, uint64_t line, const unsigned char *data, lanes who);

/* What the lanes of `who` write to a line: data and a bit for each byte. */
void request_collect(const struct request *request, uint64_t line, lanes who, unsigned char *data,
                     uint32_t *masks);

/* An atomic operation on memory (operation: as in the request): changes it and returns what was there. */
uint64_t request_atomic(uint8_t operation, void *at, uint64_t operand, uint64_t compare);
bool request_is_float(uint8_t operation);
/* Has the first lane do for all what they want of one address, as if they came in order; or tells that this
 * cannot be, and changes nothing. */
bool request_merge(struct request *request);
void request_deliver_old(const struct delivery *of, uint32_t lane, uint64_t old);

/* All bytes of an asynchronous copy are there. */
void request_complete(const struct delivery *of);

#endif
