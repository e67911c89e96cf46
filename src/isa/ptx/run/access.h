/* Access to memory by the lanes of a warp. */
#ifndef PTX_RUN_ACCESS_H
#define PTX_RUN_ACCESS_H

#include "ptx_run/lower.h"
#include "ptx_run/warp.h"

enum { LOCAL_STRIDE = 4 * WARP_LANES }; /* from a word of a thread's local memory to its next */

/* An address of an instruction that has several. */
struct async_address {
    uint32_t place; /* of the register, */
    uint8_t bytes;  /* which has so many */
    int64_t offset;
};

struct access {
    enum ptx_space space;
    uint8_t bytes;          /* of a value in memory */
    uint8_t count;          /* of values: a vector */
    uint8_t register_bytes; /* the register may be wider */
    uint8_t address_bytes;  /* of the register with the address */
    bool is_signed, is_float, writes;
    bool spins;     /* reads what others may be about to write */
    bool passes_by; /* the SM's own cache */
    bool acquires;
    bool is_const;
    uint8_t order, scope; /* enum access_order, access_scope */
    bool is_words;        /* of shared memory, by addresses of 32 bits */
    bool by_register;     /* a parameter of a call: memory only here */
    bool counts;          /* st.async, red.async: this barrier counts the bytes */
    struct async_address barrier;
    bool reaches;          /* blocks on other SMs: access_resolve leaves them to the executor */
    bool in_halves;        /* 8 bytes of local memory may be two words, LOCAL_STRIDE apart */
    uint32_t number;       /* of the kernel's accesses */
    uint32_t registers[8]; /* places */
};

/* Loads and stores: what op->run.exec is. */
exec_fn access_run;

/* The space an opcode names. */
enum ptx_space access_space_named(const char *opcode);

/* Whether it reads what another thread may be about to write. */
bool access_watches(const char *opcode);

/* How it orders others' accesses, and for whom. */
uint8_t access_order(const char *opcode);
uint8_t access_scope(const char *opcode);

/* For observers: a lane's bytes that the request does not name otherwise. */
void access_tell(struct warp *w, uint32_t lane, bool is_shared, uint64_t at, uint64_t bytes, bool writes);

/* Whether others of the GPU must see what was written before it; whether it must see what they wrote. */
bool access_releases(const char *opcode);
bool access_acquires(const char *opcode);

/* Lowers [register or variable + offset] to op->a and op->value. */
bool lower_address(struct lower *lower, const struct ptx_operand *operand, struct op *op,
                   struct access *access);

/* Of st.async and red.async: the last operand. */
enum lowered lower_async_barrier(struct lower *lower, struct op *op, struct access *access);

/* Where on the host each active lane's bytes are, checked. Local memory is in one piece only up to 4 bytes. A
 * place is NULL where the block is on another SM; the request names such lanes and their addresses. */
void access_resolve(struct warp *warp, const struct op *op, const struct access *access, lanes active,
                    char *places[WARP_LANES]);

/* Loads and stores: whether it is one; a fault if these lanes may not do it, which is not done. */
bool access_is_one(const struct op *op);
void access_check(struct warp *warp, const struct op *op, lanes who);

/* One that is_words, by all lanes (access_words.c). False: it was not done, as something is unusual about it.
 */
bool access_words(struct warp *warp, const struct op *op, const struct access *access);

/* Before a fault of an access: raises one in its place if another stands before it in the program, and is as
 * wrong. */
void access_blame(struct warp *warp, const struct op *op);

/* For models that keep time: lanes go to pieces of global memory. */
void access_add_piece(struct request *request, uint64_t at, char *host, uint64_t bytes, uint32_t lane);

/* A texture fetch (units.c) whose texels are all on the stage: its results, to its registers. And whether
 * these are within so many bytes; false if the operation is no fetch. */
void tex_complete(struct warp *warp, const struct delivery *of, const unsigned char *stage);
bool tex_results_fit(const struct op *op, uint64_t room);

/* The load or store of this number; NULL when there is none. */
const struct access *access_find(const struct ptx_kernel *kernel, uint32_t number);

/* Whether an operation is a load from global memory, or from shared memory, or a store to that. */
bool access_waits(const struct op *op);
bool access_reads_shared(const struct op *op);
bool access_writes_shared(const struct op *op);

/* The row of exec/atomics.h whose name's parts are all in the opcode. */
bool access_atomic(const char *opcode, uint32_t *row);

/* Whether what an atomic operation leaves behind may depend on the order of blocks. */
bool access_is_ordered(const char *opcode, bool result_used);

/* One lane's bytes in shared or global memory, any number of them, checked. */
char *access_bytes(struct warp *warp, const struct op *op, uint32_t lane, enum ptx_space space, uint64_t at,
                   uint64_t bytes, bool writes);

/* The same of the shared memory of any block of the cluster. The place is NULL where a model that keeps time
 * has the block on another SM; asking for bytes there is a fault. */
char *access_cluster_place(struct warp *warp, const struct op *op, uint32_t lane, uint64_t at, uint64_t bytes,
                           bool writes);
char *access_cluster_bytes(struct warp *warp, const struct op *op, uint32_t lane, uint64_t at, uint64_t bytes,
                           bool writes);
/* Which of the addresses are the block's own. */
lanes access_own(const struct warp *warp, const uint64_t at[WARP_LANES], lanes active);

/* A thread's local memory: valid for the 4-byte word that `at` is in. */
void *access_local(const struct warp *warp, uint64_t at, uint32_t lane);

/* The space of a generic address. */
enum ptx_space access_space_at(uint64_t at);

#endif
