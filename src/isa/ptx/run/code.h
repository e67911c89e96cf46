/* A function in executable form: an array of operations whose operands are slots in a warp's register frame.
 *
 * A frame holds, from its start: a scratch register, the predicates (a word each), the constants (values
 * written once before a warp runs: literals, parameters, special registers), and the registers. Registers
 * with disjoint lifetimes share a slot, so that a frame stays small enough for the host's L1 cache. */
#ifndef PTX_RUN_CODE_H
#define PTX_RUN_CODE_H

#include "base/names.h"
#include "base/text.h"
#include "ptx_run/alu.h"
#include "isa/warp.h"
#include "ptx_run/lanes.h"
#include "ptx_run/program.h"

struct warp;
struct op;

/* The operations of a function are its instructions, in order, and one more where threads return or end. */

typedef void exec_fn(struct warp *warp, const struct op *op, lanes active);

/* What a warp does after an operation that may steer it. */
enum next {
    NEXT_OP,    /* go on behind it */
    NEXT_MOVED, /* the fragment's top level says where */
    NEXT_WAIT,  /* the fragment waits; what it waits for wakes it */
    NEXT_YIELD, /* go on behind it, after others had their turn */
};
typedef enum next control_fn(struct warp *warp, const struct op *op, lanes active);

enum op_kind { OP_ALU, OP_EXEC, OP_CONTROL, OP_BRANCH };
enum op_flag {
    OP_JOIN = 1, /* diverged threads meet before it */
    OP_GUARD = 2,
    OP_GUARD_NOT = 4,
    OP_STEERS = 8,  /* every OP_CONTROL and OP_BRANCH; no flag at all: straight on */
    OP_EXITS = 16,  /* all its threads end here */
    OP_PAUSES = 32, /* a load that makes a warp wait long enough for the block's others to come as far */
    OP_WAITS = 64,  /* of a barrier in memory: enum wait of the warp says whether its turn ends */
    OP_MEETS = 128, /* others may see it, or it them, in a kernel to which the order of blocks matters */
};

struct op {
    union {
        alu_fn *alu;         /* all lanes, for OP_ALU */
        exec_fn *exec;       /* the active lanes */
        control_fn *control; /* the active lanes */
    } run;
    uint32_t d, a, b, c, e; /* places of operands in the frame, bytes from its start */
    uint8_t kind, flags;
    uint8_t unit; /* of memory, textures and control, where the assembler has no machine instruction for it */
    uint8_t bytes;         /* of a lane of d: 2, 4, 8; 0: d is a predicate */
    uint32_t guard;        /* place of a predicate */
    uint32_t target, join; /* of a branch: operations; NO_OP: none */
    uint8_t role;          /* enum isa_role */
    const void *more;      /* what else the operation has to know; the code's */
    int64_t value;         /* an offset, or the index of a target */
};

#define NO_OP UINT32_MAX

enum constant_kind {
    CONSTANT_VALUE,
    CONSTANT_PARAM,   /* of the kernel */
    CONSTANT_SPECIAL, /* a special register */
    CONSTANT_LOCAL,   /* an offset in the function's local memory */
    CONSTANT_SHARED,  /* an offset in the block's shared memory */
};

/* Special registers that are another value in another block. */
static inline bool special_differs_by_block(uint64_t which)
{
    return (which >= PTX_SPECIAL_ctaid_x && which <= PTX_SPECIAL_ctaid_z) ||
           (which >= PTX_SPECIAL_cluster_ctaid_x && which <= PTX_SPECIAL_cluster_ctaid_z) ||
           which == PTX_SPECIAL_cluster_ctarank ||
           (which >= PTX_SPECIAL_clusterid_x && which <= PTX_SPECIAL_clusterid_z) ||
           which == PTX_SPECIAL_smid;
}

struct constant {
    uint8_t kind, bytes;  /* of a lane: 2, 4, 8 */
    uint8_t source_bytes; /* of a parameter: what is read */
    bool is_signed;       /* widened with its sign */
    uint32_t place;
    uint64_t value; /* or offset of a parameter, or number of a special register */
};

enum { STEP_BYTES = 16 }; /* of a machine instruction */
enum { FRAME_SCRATCH = 0, FRAME_CARRY = 256, FRAME_PREDICATES = 260 };

struct code {
    const struct ptx_function *function;
    const struct ptx_module *module;
    size_t module_index;
    struct op *ops;
    uint32_t op_count;
    uint32_t frame_bytes;
    size_t registers_at; /* of its frame in a warp's register file */
    struct constant *constants;
    uint32_t constant_count, constant_capacity;
    struct zeroed { /* registers that must start as zeros */
        uint32_t place, bytes;
    } * zeroed;
    uint32_t zeroed_count, zeroed_capacity;
    bool sees_block;       /* a constant differs from block to block */
    uint64_t local_bytes;  /* of a thread: variables and parameters of calls */
    uint64_t *variable_at; /* by variable of the function: offset in local or shared memory */
    uint64_t *param_at;    /* by result, then parameter of the function: offset in local memory */
    uint32_t pressure;
    struct isa_code isa; /* all 0 unless the program is for models that keep time */
    uint32_t slots;      /* registers in it */
    void **owned;        /* what ops point to */
    size_t owned_count, owned_capacity;
};

struct program {
    struct ptx_module **modules;
    size_t module_count;
    bool timed; /* kernels are prepared for models that keep time */
    const struct ptx_assembler *assembler;
    struct function_entry { /* a function with a body; an alias has an entry of its own */
        const struct ptx_function *function;
        size_t module;
    } * functions;
    size_t function_count, function_capacity;
    uint64_t functions_at; /* what a pointer to the first one holds */
    struct variable_entry {
        const struct ptx_variable *variable;
        uint64_t address, bytes;
    } * variables;
    size_t variable_count, variable_capacity;
    struct names function_names, variable_names; /* by number: entries. "3:x" is known in module 3 alone */
    struct ptx_kernel **kernels;
    size_t kernel_count, kernel_capacity;
};

struct ptx_kernel {
    struct kernel base;
    struct program *program;
    size_t function;     /* of the program */
    struct code **codes; /* by function of the program; NULL: not reached */
    size_t frames_bytes; /* of one frame for each */
    bool has_indirect;
    char **whys; /* by function of the program: why one that only pointers lead to cannot run; or NULL */
    struct shared_variable {
        const struct ptx_variable *variable;
        uint64_t at;
    } * shared;
    size_t shared_count, shared_capacity;
};

static inline struct ptx_kernel *ptx_kernel_of(const struct kernel *kernel)
{
    return (struct ptx_kernel *)(uintptr_t)kernel;
}

/* Function pointers: every function of every program has an address of its own. */
uint64_t program_function_address(const struct program *program, size_t function);
size_t program_function_at(const struct program *program, uint64_t address); /* or SIZE_MAX: none of it */
bool program_is_function(uint64_t address);                                  /* of some program */

/* What a name means in a module: the number of a function, or SIZE_MAX; a variable, or NULL. */
size_t program_function(const struct program *program, size_t module, const char *name);
const struct variable_entry *program_variable(const struct program *program, size_t module, const char *name);

/* Makes code of a function for a kernel; its shared variables must have been placed. NULL and a reason. */
struct code *code_new(struct ptx_kernel *kernel, size_t function, struct err *err);
void code_free(struct code *code);

/* Finds what a model that keeps time needs to know of a function (timing.c). */
struct lower;
void code_time(struct lower *lower);
void code_forget_timing(struct code *code);

/* Where in text and source an operation comes from: "saxpy.cu:5, PTX line 40 of saxpy.ptx (ld.global.f32)".
 */
void code_where(const struct code *code, const struct op *op, struct text *text);

#endif
