/* A PTX module as written: directives, functions, instructions and operands, with names resolved. The meaning
 * of instructions is not known here; the parser accepts any opcode. */
#ifndef PTX_PTX_H
#define PTX_PTX_H

#include "base/err.h"
#include "isa/isa.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define PTX_SPACES(S) S(reg) S(const) S(global) S(local) S(param) S(shared)
enum ptx_space { PTX_GENERIC, PTX_REG, PTX_CONST, PTX_GLOBAL, PTX_LOCAL, PTX_PARAM, PTX_SHARED, PTX_CLUSTER };

/*    name, bytes */
#define PTX_TYPES(T)                                                                                         \
    T(b8, 1)                                                                                                 \
    T(b16, 2)                                                                                                \
    T(b32, 4)                                                                                                \
    T(b64, 8)                                                                                                \
    T(b128, 16)                                                                                              \
    T(u8, 1)                                                                                                 \
    T(u16, 2)                                                                                                \
    T(u32, 4)                                                                                                \
    T(u64, 8)                                                                                                \
    T(s8, 1)                                                                                                 \
    T(s16, 2)                                                                                                \
    T(s32, 4)                                                                                                \
    T(s64, 8)                                                                                                \
    T(f16, 2)                                                                                                \
    T(bf16, 2)                                                                                               \
    T(tf32, 4)                                                                                               \
    T(f16x2, 4)                                                                                              \
    T(bf16x2, 4)                                                                                             \
    T(f32, 4)                                                                                                \
    T(f64, 8)                                                                                                \
    T(u16x2, 4)                                                                                              \
    T(s16x2, 4)                                                                                              \
    T(e4m3, 1)                                                                                               \
    T(e5m2, 1)                                                                                               \
    T(e4m3x2, 2)                                                                                             \
    T(e5m2x2, 2)                                                                                             \
    T(pred, 0)                                                                                               \
    T(texref, 8)                                                                                             \
    T(samplerref, 8)                                                                                         \
    T(surfref, 8)

enum ptx_type {
    PTX_NO_TYPE,
#define T(name, bytes) PTX_##name,
    PTX_TYPES(T)
#undef T
        PTX_TYPE_COUNT
};

uint32_t ptx_type_bytes(enum ptx_type type);
const char *ptx_type_name(enum ptx_type type);
enum ptx_type ptx_type_of(const char *name, size_t length); /* without the dot; PTX_NO_TYPE when unknown */
bool ptx_type_is_float(enum ptx_type type);
bool ptx_type_is_signed(enum ptx_type type);

enum ptx_linkage { PTX_INTERNAL, PTX_VISIBLE, PTX_EXTERN, PTX_WEAK, PTX_COMMON };

/* One value of an initializer: bytes, or the address of a symbol. Small values side by side are put together
 * to one of up to 8 bytes; zeros are left out. */
struct ptx_initial {
    uint64_t offset; /* in the variable */
    uint64_t value;  /* or what is added to the symbol's address */
    const char *symbol;
    uint8_t bytes;
    bool generic;  /* generic(symbol) */
    uint64_t mask; /* 0xFF00(symbol): these bits of it, moved down to the lowest; 0: all */
};

struct ptx_variable {
    const char *name;
    enum ptx_space space;
    enum ptx_type type;
    enum ptx_linkage linkage;
    uint32_t alignment, line;
    uint64_t bytes; /* 0: an array without a size (dynamic shared memory) */
    bool managed;
    const struct ptx_initial *initials;
    size_t initial_count;
    uint64_t offset; /* of a parameter: from the first one's; of one in a register: its index */
};

/* Only registers that are used are there, in the order of their first use: `.reg .b32 %r<1000>` alone makes
 * none. A vector register is one register for each part (%v.x, %v.y, ...), and named whole it is a VECTOR. */
struct ptx_register {
    const char *name;
    enum ptx_type type;
};

enum ptx_operand_kind {
    PTX_OP_REGISTER, /* index; negated: !p */
    PTX_OP_SPECIAL,  /* index of ptx_special */
    PTX_OP_INTEGER,  /* value */
    PTX_OP_FLOAT,    /* value: bits of an f32 (0f...) or f64 (0d..., 1.5) */
    PTX_OP_SYMBOL,   /* index in the function's symbols; value is added */
    PTX_OP_LABEL,    /* index in the function's labels */
    PTX_OP_MEMORY,   /* [elements[0] + value]; elements may be more: [a, {x, y}] */
    PTX_OP_VECTOR,   /* {elements} */
    PTX_OP_LIST,     /* (elements), of a call */
    PTX_OP_PAIR,     /* p|q: elements[0], elements[1] */
    PTX_OP_SINK,     /* _ */
};

enum ptx_part {
    PTX_PART_BYTE = 0,   /* .b0 to .b3 */
    PTX_PART_HALF = 4,   /* .h0, .h1 */
    PTX_PART_BYTES = 6,  /* .b7654: value holds the numbers, as hexadecimal digits */
    PTX_PART_HALVES = 7, /* .h32: so here */
};

struct ptx_operand {
    uint8_t kind;
    bool negated; /* !p, or -x in old code */
    bool single;  /* a float written as 0f... */
    int8_t part;  /* of a register in a video instruction: enum ptx_part, or -1 */
    uint32_t index;
    uint32_t first, count; /* elements, in the function's operands */
    uint64_t value;
};

struct ptx_inst {
    const char *opcode; /* whole: "ld.global.nc.v4.f32"; the same text is the same pointer */
    uint32_t line;      /* of the module's text */
    uint32_t loc;       /* index + 1 in the function's locs, or 0 */
    int32_t guard;      /* register, or -1 */
    bool guard_not;
    uint32_t first, count; /* operands */
    uint32_t order;        /* of a function that an assembler put in another order: its place before */
};

struct ptx_label {
    const char *name;
    uint32_t inst; /* the instruction it stands before; may be the count of all */
    bool nounroll; /* a pragma behind it: the loop that begins here is left as it is */
};

/* .loc: where in the source an instruction comes from */
struct ptx_loc {
    uint32_t file, line, column;
    const char *function;                             /* it is inlined from (mangled), or NULL */
    uint32_t caller_file, caller_line, caller_column; /* where it is inlined; line 0: it is not */
};

struct ptx_branch_table { /* .branchtargets, .calltargets */
    const char *name;
    uint32_t first, count; /* operands: labels or symbols */
};

/* What an operand of kind SYMBOL names. All are declared: a name that is not is an error of the parser. */
enum ptx_symbol_kind {
    PTX_SYM_VARIABLE,  /* index in the function's variables */
    PTX_SYM_PARAM,     /* ... params */
    PTX_SYM_RESULT,    /* ... results */
    PTX_SYM_TABLE,     /* ... tables */
    PTX_SYM_PROTOTYPE, /* ... prototypes */
    PTX_SYM_GLOBAL,    /* index in the module's variables */
    PTX_SYM_FUNCTION,  /* index in the module's functions */
    PTX_SYM_COUNT
};

struct ptx_symbol {
    const char *name;
    enum ptx_symbol_kind kind;
    uint32_t index;
    int32_t variable; /* in the function's variables, or -1 */
    uint32_t line;    /* where it is used first */
};

struct ptx_prototype { /* .callprototype */
    const char *name;
    const struct ptx_variable *results, *params;
    uint32_t result_count, param_count;
};

struct ptx_function {
    const char *name;
    bool is_kernel, has_body, is_noreturn;
    enum ptx_linkage linkage;
    uint32_t line;
    const char *alias; /* .alias: it is another name of that one */
    struct ptx_variable *results, *params;
    uint32_t result_count, param_count;
    struct ptx_variable *variables; /* of its scopes: local, shared, param */
    uint32_t variable_count;
    struct ptx_register *registers;
    uint32_t register_count;
    struct ptx_inst *insts;
    uint32_t inst_count;
    struct ptx_operand *operands;
    uint32_t operand_count;
    struct ptx_label *labels;
    uint32_t label_count;
    struct ptx_symbol *symbols;
    uint32_t symbol_count;
    struct ptx_loc *locs;
    uint32_t loc_count;
    struct ptx_branch_table *tables;
    uint32_t table_count;
    struct ptx_prototype *prototypes;
    uint32_t prototype_count;
    uint32_t maxntid[3], reqntid[3], minnctapersm, maxnreg; /* 0: not said */
    uint32_t reqnctapercluster[3], maxclusterrank;          /* 0: not said */
    bool explicit_cluster, blocks_are_clusters;
};

struct ptx_module {
    const char *name;     /* for errors: a file, or "module of PROGRAM" */
    uint32_t version;     /* 10 * major + minor */
    uint32_t target;      /* 75 of sm_75 */
    bool target_specific; /* sm_90a */
    bool debug;           /* of nvcc -G: not optimized */
    uint32_t address_bits;
    struct ptx_variable *variables;
    uint32_t variable_count;
    struct ptx_function *functions;
    uint32_t function_count;
    const char **files; /* by the number .file gives; NULL where none */
    uint32_t file_count;
    struct ptx_store *store; /* owns all of the above */
};

/* Parses `bytes` of text (which need not end in zero). NULL and a reason with line, token and what was
 * expected. */
struct ptx_module *ptx_parse(const char *name, const char *text, size_t bytes, struct err *err);
void ptx_free(struct ptx_module *module);

/* Special registers, such as %tid.x */
#define PTX_SPECIALS(S)                                                                                      \
    S(tid_x, "%tid.x")                                                                                       \
    S(tid_y, "%tid.y")                                                                                       \
    S(tid_z, "%tid.z")                                                                                       \
    S(ntid_x, "%ntid.x")                                                                                     \
    S(ntid_y, "%ntid.y")                                                                                     \
    S(ntid_z, "%ntid.z")                                                                                     \
    S(ctaid_x, "%ctaid.x")                                                                                   \
    S(ctaid_y, "%ctaid.y")                                                                                   \
    S(ctaid_z, "%ctaid.z")                                                                                   \
    S(nctaid_x, "%nctaid.x")                                                                                 \
    S(nctaid_y, "%nctaid.y")                                                                                 \
    S(nctaid_z, "%nctaid.z")                                                                                 \
    S(laneid, "%laneid")                                                                                     \
    S(warpid, "%warpid")                                                                                     \
    S(nwarpid, "%nwarpid")                                                                                   \
    S(smid, "%smid")                                                                                         \
    S(nsmid, "%nsmid")                                                                                       \
    S(gridid, "%gridid")                                                                                     \
    S(lanemask_eq, "%lanemask_eq")                                                                           \
    S(lanemask_le, "%lanemask_le")                                                                           \
    S(lanemask_lt, "%lanemask_lt")                                                                           \
    S(lanemask_ge, "%lanemask_ge")                                                                           \
    S(lanemask_gt, "%lanemask_gt")                                                                           \
    S(clock, "%clock")                                                                                       \
    S(clock_hi, "%clock_hi")                                                                                 \
    S(clock64, "%clock64")                                                                                   \
    S(globaltimer, "%globaltimer")                                                                           \
    S(globaltimer_lo, "%globaltimer_lo")                                                                     \
    S(globaltimer_hi, "%globaltimer_hi")                                                                     \
    S(envreg0, "%envreg0")                                                                                   \
    S(envreg1, "%envreg1")                                                                                   \
    S(envreg2, "%envreg2")                                                                                   \
    S(total_smem_size, "%total_smem_size")                                                                   \
    S(dynamic_smem_size, "%dynamic_smem_size")                                                               \
    S(aggr_smem_size, "%aggr_smem_size")                                                                     \
    S(reserved_smem_begin, "%reserved_smem_offset_begin")                                                    \
    S(reserved_smem_end, "%reserved_smem_offset_end")                                                        \
    S(reserved_smem_cap, "%reserved_smem_offset_cap")                                                        \
    S(reserved_smem_0, "%reserved_smem_offset_0")                                                            \
    S(reserved_smem_1, "%reserved_smem_offset_1")                                                            \
    S(cluster_ctarank, "%cluster_ctarank")                                                                   \
    S(cluster_nctarank, "%cluster_nctarank")                                                                 \
    S(cluster_ctaid_x, "%cluster_ctaid.x")                                                                   \
    S(cluster_ctaid_y, "%cluster_ctaid.y")                                                                   \
    S(cluster_ctaid_z, "%cluster_ctaid.z")                                                                   \
    S(cluster_nctaid_x, "%cluster_nctaid.x")                                                                 \
    S(cluster_nctaid_y, "%cluster_nctaid.y")                                                                 \
    S(cluster_nctaid_z, "%cluster_nctaid.z")                                                                 \
    S(clusterid_x, "%clusterid.x")                                                                           \
    S(clusterid_y, "%clusterid.y")                                                                           \
    S(clusterid_z, "%clusterid.z")                                                                           \
    S(nclusterid_x, "%nclusterid.x")                                                                         \
    S(nclusterid_y, "%nclusterid.y")                                                                         \
    S(nclusterid_z, "%nclusterid.z")                                                                         \
    S(is_explicit_cluster, "%is_explicit_cluster")                                                           \
    S(current_graph_exec, "%current_graph_exec")                                                             \
    S(warp_size, "WARP_SZ")

enum ptx_special {
#define S(id, name) PTX_SPECIAL_##id,
    PTX_SPECIALS(S)
#undef S
        PTX_SPECIAL_COUNT
};
extern const char *const ptx_special_names[];

/* Whether the opcode has this modifier: "volatile" in ld.volatile.u32. */
bool ptx_opcode_has(const char *opcode, const char *modifier);

/* Writes it with its modifiers in the usual order ("lg2.approx.ftz.f32" for lg2.approx.f32.ftz); false, and
 * nothing is written, when they are. */
bool ptx_order_opcode(const char *opcode, char *ordered, size_t room);

#endif
