/* The warp interface: how a model of a GPU runs warps without knowing their instruction set.
 *
 *   while (isa->settle(warp)) {                 goes to the warp's next instruction
 *       look at warp->next, warp->active;       its row: units, registers, role; for which lanes
 *       isa->step(warp, &stepped);              executes it
 *       handle the team's request;              its access to global memory (isa/request.h); later
 *       isa->deliver(...);                      the data from memory
 *   }
 *
 * PTX (ptx_run/isa.c) and a toy of the tests (tests/unit/toy_isa.h) implement it. Effects on registers,
 * shared and local memory happen at once; accesses to global memory are reported, and the model performs
 * them. exec has what all instruction sets share: blocks, launches, memory. */
#ifndef ISA_WARP_H
#define ISA_WARP_H

#include "isa/request.h"

struct archive;
struct block;
struct code_place;
struct code_variable;
struct err;
struct kernel;
struct text;

/* A function's instructions, as a model that keeps time reads them. Constant once a kernel was prepared. */
struct isa_code {
    const struct isa_timing *timing; /* by instruction */
    const uint16_t *registers;       /* the list of isa_timing */
    const struct isa_step *steps;
    uint32_t count;      /* instructions */
    uint32_t slots_at;   /* added to numbers of registers: those of a kernel's functions do not overlap */
    uint32_t counted_at; /* where registers of counted operations begin: ISA_COUNTED for each counter */
    uint64_t code_at;    /* where its machine instructions are, from the kernel's first, in bytes */
    uint32_t step_bytes; /* of each of them */
};

/* What the model sees of a warp; each instruction set's own begins with it. */
struct isa_warp {
    const struct isa_code *code;   /* of the function that runs */
    const struct isa_timing *next; /* its next instruction, a row of code->timing; */
    lane_mask active;              /* for these lanes */
    struct block *block;
    uint32_t index; /* in the block */
    bool ended;     /* all its threads have */
};

struct isa_stepped {
    lane_mask mask;    /* whose guard was true */
    bool moved;        /* it is not simply behind the instruction: settle must be called */
    bool branched;     /* some threads went elsewhere */
    bool diverged;     /* not all of them */
    bool waits;        /* at a barrier, or for others of the warp */
    uint32_t sleep_ns; /* ROLE_SLEEP: asked for */
};

/* What came of running a warp for a while, without time. */
enum isa_ran {
    RAN_OUT,   /* all its threads have ended */
    RAN_WAITS, /* for others */
    RAN_SLICE, /* others should have their turn */
    RAN_SPINS, /* it only looked at what others may be about to write */
};

struct isa_ops {
    const char *name;
    const char *block_word, *thread_word; /* what its programmers call them, for messages */
    uint32_t lanes;                       /* of a warp: 32 or 64 */
    size_t warp_bytes; /* of the instruction set's own struct, which begins with a struct isa_warp */
    bool in_step;      /* lanes of a warp never run apart, so that none has to wait for another */

    bool (*prepare)(struct kernel *kernel, struct err *err); /* once, before its first launch */

    /* A warp of a block that begins; its memory may have been another's before. */
    void (*start)(struct isa_warp *warp, lane_mask exists);
    void (*fini)(struct isa_warp *warp);

    /* ---- without time ---- */

    enum isa_ran (*run)(struct isa_warp *warp);

    /* ---- one instruction at a time ---- */

    /* Goes to the next instruction. False: all of the warp waits, or it has ended. */
    bool (*settle)(struct isa_warp *warp);
    void (*step)(struct isa_warp *warp, struct isa_stepped *stepped);
    /* Or NULL: executes several, at most so many; only plain ones that follow each other, without guard and
     * role, and after which settle need not be called. Gives how many; 0: step must execute the next. */
    uint32_t (*glide)(struct isa_warp *warp, uint32_t most);
    /* Whether settle may find something to do, though it did not before. */
    bool (*is_awake)(const struct isa_warp *warp);
    /* Now and then: may be a fault, as where more instructions ran than are allowed. */
    void (*check_limits)(struct isa_warp *warp);

    /* ---- memory ---- */

    /* The lanes of `who` get their values from memory, of which `data` is a copy from this address on: a
     * line; or the bytes of one lane alone, of those that go on in another sector of 32 bytes. */
    void (*deliver)(const struct delivery *of, uint64_t from, const unsigned char *data, lane_mask who);
    /* What the lanes of `who` write to memory from an address on (as above): data, and a bit for each byte.
     */
    void (*collect)(const struct request *request, uint64_t from, lane_mask who, unsigned char *data,
                    uint32_t *masks);
    /* What was in memory before the lane's atomic operation. Of one on 16 bytes it is the lower half; the
     * upper one is told as lane + ISA_LANES. */
    void (*deliver_old)(const struct delivery *of, uint32_t lane, uint64_t old);
    /* All bytes are there: of an asynchronous copy, or on the stage of a request that has one. */
    void (*complete)(struct isa_warp *warp, const struct delivery *of, const unsigned char *stage);

    /* Done to a barrier at an offset of the block's shared memory, for another block: an operand of
     * REQUEST_SIGNAL. One below 2^32: so many bytes of copies have come. */
    void (*signal)(struct block *block, uint64_t offset, uint64_t operand);

    /* ---- blocks that cannot go on ---- */

    void (*open_cluster)(struct block *block); /* threads go on that wait at the cluster's barrier */
    bool (*force)(struct block *block);        /* threads go on that wait for others of their warp in vain */
    void (*describe)(const struct block *block, struct text *text); /* where its warps are */
    void (*deadlock)(struct block *block); /* a fault that names where they wait; does not return */

    /* ---- source ---- */

    /* Of the kernel's own code, or of a function that it calls (code: an isa_warp's; NULL: its own). */
    void (*place)(const struct kernel *kernel, const struct isa_code *code, uint32_t instruction,
                  struct code_place *place);

    /* Or NULL: for each instruction of a code, the variable of shared memory that it accesses, where the text
     * of the program says so; others stay as they are. */
    void (*find_shared)(const struct kernel *kernel, const struct isa_code *code,
                        struct code_variable *by_instruction);

    /* ---- checkpoints (base/archive.h): written, or read into what was just made ---- */

    void (*archive_shape)(const struct kernel *kernel, struct archive *archive); /* that must be the same */
    void (*archive_warp)(struct isa_warp *warp, struct archive *archive);
    const struct isa_code *(*archive_code)(const struct kernel *kernel, const struct isa_code *code,
                                           struct archive *archive);
    void (*archive_delivery)(const struct isa_warp *warp, struct delivery *of, struct archive *archive);
    void (*archive_piece)(const struct isa_warp *warp, struct piece *piece, struct archive *archive);
};

#endif
