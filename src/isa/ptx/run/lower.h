/* From PTX instructions to operations. Each family of instructions has a function that lowers one, in the
 * file of its executors, and a row in lower.c. Other instructions are looked up among the rows of alu.def. */
#ifndef PTX_RUN_LOWER_H
#define PTX_RUN_LOWER_H

#include "ptx_run/code.h"
#include "ptx/assembler.h"

struct lower {
    struct ptx_kernel *kernel;
    struct code *code;
    const struct ptx_function *function;
    struct flow flow;
    uint32_t *places; /* by register */
    uint32_t *homes;  /* the places before fold_constant changed some: for timing, registers with one home
                         share an entry of the scoreboard */
    uint32_t constants_at; /* places from here on are of constants */
    alu_fn *moves[3];      /* executors of mov.b16, .b32, .b64 */
    uint32_t frame;        /* bytes used so far */
    uint32_t *table;       /* constants by digest: number + 1 */
    uint32_t table_size;
    uint32_t *reads;             /* by register: how often it is read; made when it is asked for */
    const struct ptx_inst *inst; /* the one at hand */
    struct ptx_taken *taken;     /* by instruction: what a sum made an fma of */
    struct err *err;
};

enum lowered { LOWERED, NOT_MINE, LOWER_FAILED };
typedef enum lowered lower_fn(struct lower *lower, struct op *op);

/* Operand i of the instruction at hand. */
const struct ptx_operand *lower_operand(const struct lower *lower, uint32_t i);
const struct ptx_operand *lower_element(const struct lower *lower, const struct ptx_operand *operand,
                                        uint32_t i);

/* "line 12: ld.foo: ..." */
enum lowered lower_fail(struct lower *lower, const char *format, ...)
    __attribute__((format(__printf__, 2, 3)));

/* Bytes of a lane of a register operand; 0 for a predicate. */
uint32_t lower_register_bytes(const struct lower *lower, const struct ptx_operand *operand);

/* Where a source of a type is; a literal becomes a constant. False: failed. */
bool lower_source(struct lower *lower, const struct ptx_operand *operand, enum isa_type type,
                  uint32_t *place);

/* Where a register is that is written; a sink is the scratch register. */
bool lower_destination(struct lower *lower, const struct ptx_operand *operand, enum isa_type type,
                       uint32_t *place);

/* How often the function reads a register. */
uint32_t lower_reads(struct lower *lower, uint32_t index);

/* A register of any width, and its bytes. */
bool lower_register(struct lower *lower, const struct ptx_operand *operand, uint32_t *place, uint32_t *bytes);

/* A predicate source; a negated one is not taken. */
bool lower_predicate(struct lower *lower, const struct ptx_operand *operand, uint32_t *place);

uint32_t lower_constant(struct lower *lower, enum constant_kind kind, uint64_t value, uint32_t bytes);
uint32_t lower_param(struct lower *lower, uint64_t offset, uint32_t source_bytes, bool is_signed,
                     uint32_t bytes);

/* Memory of the code's, for op->more. */
void *lower_own(struct lower *lower, size_t bytes);

/* What a symbol stands for: space and address (or offset in that space). */
struct lower_symbol {
    enum ptx_space space;
    enum constant_kind kind; /* VALUE; of others, an offset */
    uint64_t value, bytes;
    size_t function; /* or SIZE_MAX */
};
bool lower_symbol(struct lower *lower, const struct ptx_operand *operand, struct lower_symbol *symbol);

/* The last modifier, as a type. */
enum ptx_type lower_type(const char *opcode);

/* The families */
lower_fn lower_mov, lower_policy, lower_setp, lower_cvt, lower_cvta, lower_isspacep, lower_carry;
lower_fn lower_load, lower_store, lower_atomic, lower_fence, lower_cp, lower_bulk, lower_mbarrier;
lower_fn lower_end; /* the operation behind a function's last instruction */
lower_fn lower_branch, lower_indirect_branch, lower_call, lower_return, lower_exit, lower_trap, lower_yield,
    lower_nothing, lower_alloca, lower_setmaxnreg, lower_griddepcontrol;
lower_fn lower_barrier, lower_shuffle, lower_vote, lower_match, lower_redux, lower_activemask, lower_elect;
lower_fn lower_texture, lower_matrix, lower_wgmma, lower_group_wait, lower_video;
lower_fn lower_bulk_group, lower_tensor, lower_tensormap;
lower_fn lower_cluster_barrier, lower_mapa, lower_getctarank;

#endif
