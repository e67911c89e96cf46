/* A wave of 64 lanes, and the program that it runs. For this room only. */
#ifndef GCN3_RUN_WAVE_H
#define GCN3_RUN_WAVE_H

#include "exec/block.h"
#include "exec/exec.h"
#include "gcn3/gcn3.h"
#include "gcn3_object/object.h"
#include "isa/warp.h"

enum {
    GCN3_LANES = 64,
    GCN3_SCALARS = 128, /* scalar registers, by their number in instructions: s0.., VCC, M0, EXEC */
    GCN3_NO_OP = UINT32_MAX
};

/* Counters of s_waitcnt, as isa_timing numbers them. */
enum gcn3_counter { GCN3_VM, GCN3_LGKM };

/* Where a kernel finds its arguments, the packet that launched it, its queue, and its host calls: in the
 * window of parameters. What a kernel has of LDS and of private memory is at the windows' addresses in flat
 * instructions. The buffer resource of private memory has an address of 48 bits, where no memory of the host
 * can be. */
#define GCN3_KERNARG    WINDOW_PARAM
#define GCN3_PACKET     (WINDOW_PARAM + UINT64_C(0x800000))
#define GCN3_QUEUE      (WINDOW_PARAM + UINT64_C(0x900000))
#define GCN3_HOSTCALL   (WINDOW_PARAM + UINT64_C(0xa00000))
#define GCN3_PRIVATE_AT (UINT64_C(1) << 47)

struct gcn3_wave;
struct gcn3_lowered;
typedef void gcn3_run_fn(struct gcn3_wave *w, const struct gcn3_lowered *op);

/* What an instruction does with memory. */
struct gcn3_data {
    uint8_t bytes;  /* of a lane, in memory */
    uint8_t dwords; /* registers of a lane's data */
    bool writes, is_signed, returns;
    bool is_atomic;
    uint8_t operation; /* of an atomic: a row of exec/atomics.c */
    bool negates;      /* ... of the operand */
    uint8_t change;    /* of an atomic in LDS: what it does (lds.c), */
    char type;         /* with f, i, u or b */
    uint16_t step;     /* bytes that offsets count: of two in LDS; of a register's in scalar memory */
    uint8_t before;    /* of an image: address registers before the coordinates, */
    bool has_offsets;  /* the first of which has offsets in texels */
    uint32_t number;   /* among accesses of the program, from 0 */
};

/* An instruction, ready to run. */
struct gcn3_lowered {
    gcn3_run_fn *run;
    gcn3_run_fn
        *unskipped; /* of a vector instruction, if the program may set VSKIP: how it runs without (skip.c) */
    const void *more; /* of arithmetic: what run needs (alu.h) */
    uint32_t at;      /* in the object's image */
    uint32_t target;  /* the number of the instruction that a branch goes to, or GCN3_NO_OP */
    struct gcn3_data access;
    struct gcn3_inst inst;
};

/* All code of an object at its place in a device's memory. */
struct gcn3_program {
    struct gcn3_object *object;
    uint64_t base; /* the address of the object's image */
    struct gcn3_lowered
        *ops;          /* in order of addresses; the last one stands behind them and is no instruction */
    uint32_t count;    /* without that */
    uint32_t *by_word; /* by offset in the image / 4: the instruction that begins there, or GCN3_NO_OP */
    uint32_t words;
    uint32_t vgprs; /* that its instructions name, at most */
    uint32_t accesses;
    struct isa_code code;
    struct isa_timing *timing;
    struct isa_step *steps;
    uint16_t *registers;
    struct gcn3_kernel *kernels; /* as the object has them */
    enum gcn3_target target;
};

struct gcn3_kernel {
    struct kernel base; /* first */
    const struct gcn3_kernel_info *info;
    struct gcn3_program *program;
    uint32_t entry;
    uint32_t vgprs; /* a wave has */
};

/* A load that was issued and not waited for: what it brings is in `incoming`. */
struct gcn3_pending {
    uint32_t op; /* GCN3_NO_OP: it brings nothing */
    lane_mask lanes;
};

struct gcn3_wave {
    struct isa_warp isa; /* first */
    const struct gcn3_program *program;
    uint32_t (*v)[GCN3_LANES]; /* VGPRs */
    uint32_t s[GCN3_SCALARS];
    uint32_t pc; /* number of the next instruction */
    uint32_t mode;
    bool scc, waits;
    uint32_t polls;                 /* reads of what others may write, in this slice */
    struct gcn3_hostcall *hostcall; /* NULL until it makes a host call */
    char *scratch;                  /* private memory: a word of each lane side by side */
    uint64_t scratch_bytes;
    /* With time: registers that memory writes to before the program waits for it */
    uint32_t (*incoming)[GCN3_LANES];
    uint32_t incoming_s[GCN3_SCALARS];
    struct gcn3_pending pending[ISA_COUNTERS][ISA_COUNTED]; /* rings */
    uint32_t begun[ISA_COUNTERS], arrived[ISA_COUNTERS];    /* of those: so many */
    uint32_t v_capacity, incoming_capacity;
    uint64_t scratch_capacity;
};

static inline struct gcn3_wave *gcn3_wave(const struct isa_warp *warp)
{
    return (struct gcn3_wave *)(uintptr_t)warp;
}

static inline struct gcn3_kernel *gcn3_kernel(const struct kernel *kernel)
{
    return (struct gcn3_kernel *)(uintptr_t)kernel;
}

static inline const struct gcn3_kernel *gcn3_kernel_of(const struct gcn3_wave *w)
{
    return gcn3_kernel(w->isa.block->worker->grid->kernel);
}

/* Pairs of scalar registers. */
static inline uint64_t gcn3_pair(const struct gcn3_wave *w, uint32_t number)
{
    return w->s[number] | (uint64_t)w->s[(number + 1) % GCN3_SCALARS] << 32;
}

static inline void gcn3_set_pair(struct gcn3_wave *w, uint32_t number, uint64_t value)
{
    w->s[number] = (uint32_t)value;
    w->s[(number + 1) % GCN3_SCALARS] = (uint32_t)(value >> 32);
}

static inline uint64_t gcn3_exec(const struct gcn3_wave *w)
{
    return gcn3_pair(w, GCN3_EXEC);
}

/* ---- fault.c ---- */

_Noreturn void gcn3_fault(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                          enum fault_kind kind, uint64_t address, const char *format, ...)
    __attribute__((format(__printf__, 6, 7)));
/* Where in the work-group's LDS a lane's access is; bad ones are faults. */
unsigned char *gcn3_lds_place(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint64_t at,
                              uint32_t bytes);
/* Of an access outside of the work-group's LDS. */
_Noreturn void gcn3_fault_lds(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint64_t at,
                              uint32_t bytes);
void gcn3_place(const struct kernel *kernel, const struct isa_code *code, uint32_t op,
                struct code_place *place);
void gcn3_describe(const struct block *block, struct text *text);
void gcn3_deadlock(struct block *block);

/* ---- wave.c ---- */

void gcn3_reserve(struct gcn3_wave *w); /* all that a wave of its kernel has */
void gcn3_start(struct isa_warp *warp, lane_mask exists);
void gcn3_fini(struct isa_warp *warp);
enum isa_ran gcn3_run(struct isa_warp *warp);
bool gcn3_settle(struct isa_warp *warp);
void gcn3_step(struct isa_warp *warp, struct isa_stepped *stepped);
void gcn3_check_limits(struct isa_warp *warp);

/* ---- skip.c ---- */

void gcn3_make_skippable(struct gcn3_program *program);
gcn3_run_fn *gcn3_skip(const struct gcn3_inst *inst); /* s_setvskip; or NULL */

/* ---- control.c ---- */

gcn3_run_fn *gcn3_control(const struct gcn3_inst *inst);               /* NULL: it is none of these */
void gcn3_unknown(struct gcn3_wave *w, const struct gcn3_lowered *op); /* a fault that names it */

/* ---- memory.c, flat.c, buffer.c, lds.c, smem.c ---- */

gcn3_run_fn *gcn3_memory(struct gcn3_lowered *op); /* which fills its access; NULL: it is none of these */
gcn3_run_fn *gcn3_lds(struct gcn3_lowered *op);
gcn3_run_fn *gcn3_smem(struct gcn3_lowered *op);
gcn3_run_fn *gcn3_buffer(struct gcn3_lowered *op);

/* Which operation an atomic's name means; its bytes are set. False: none. */
bool gcn3_set_atomic(struct gcn3_data *access, const char *text);

/* Lanes' values from global memory to registers, or from there. Addresses of lanes that are not in `lanes`
 * are not looked at. */
void gcn3_access_global(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at[GCN3_LANES],
                        lane_mask lanes);
/* Only faults, if lanes may not do that. */
void gcn3_check_global(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                       lane_mask lanes);
/* The same for places in the wave's own private memory. */
void gcn3_access_scratch(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at[GCN3_LANES],
                         lane_mask lanes);
/* And in LDS. */
void gcn3_access_lds(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                     lane_mask lanes);

/* What a lane's bytes in memory become in registers, and back. */
void gcn3_take_lane(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                    const unsigned char *bytes);
void gcn3_give_lane(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                    unsigned char *bytes);
/* Where a load of a lane goes: registers, or with time the incoming ones. */
uint32_t (*gcn3_landing(const struct gcn3_wave *w))[GCN3_LANES];

/* Bytes that a wave finds in the window of parameters; false when there are none. */
bool gcn3_read_params(struct gcn3_wave *w, uint64_t at, uint32_t bytes, void *to);

/* ---- pending.c: with time ---- */

/* A load was issued that is counted by these counters. */
void gcn3_begin_pending(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t counters);
/* No more than these are pending: others have arrived. */
void gcn3_arrived(struct gcn3_wave *w, uint32_t vm, uint32_t lgkm);

/* ---- request.c: with time ---- */

void gcn3_deliver(const struct delivery *of, uint64_t from, const unsigned char *data, lane_mask who);
void gcn3_collect(const struct request *request, uint64_t from, lane_mask who, unsigned char *data,
                  uint32_t *masks);
void gcn3_deliver_old(const struct delivery *of, uint32_t lane, uint64_t old);
/* One more piece of memory for some registers, where lanes differ in what they want: w->v or w->s if it is
 * written; of a load the incoming ones. */
void gcn3_ask_piece(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at, uint32_t *registers,
                    uint32_t bytes, uint32_t lane);
/* The same by way of the request's stage: from there if it is written, of a load to there. First, room. */
unsigned char *gcn3_ask_stage(struct gcn3_wave *w, size_t bytes);
void gcn3_ask_staged(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at, uint64_t stage_at,
                     uint32_t bytes, uint32_t lane);
void gcn3_complete(struct isa_warp *warp, const struct delivery *of, const unsigned char *stage);

/* ---- archive.c ---- */

void gcn3_archive_shape(const struct kernel *kernel, struct archive *archive);
void gcn3_archive_warp(struct isa_warp *warp, struct archive *archive);
const struct isa_code *gcn3_archive_code(const struct kernel *kernel, const struct isa_code *code,
                                         struct archive *archive);
void gcn3_archive_delivery(const struct isa_warp *warp, struct delivery *of, struct archive *archive);
void gcn3_archive_piece(const struct isa_warp *warp, struct piece *piece, struct archive *archive);

/* ---- timing.c ---- */

bool gcn3_prepare(struct kernel *kernel, struct err *err);
void gcn3_make_timing(struct gcn3_program *program);

#endif
