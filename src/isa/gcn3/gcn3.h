/* Machine code of AMD's GCN3 (gfx803) and Vega (gfx900, gfx906): rows, decoder, printer.
 *
 *   struct gcn3_inst inst;
 *   if (!gcn3_decode(GCN3_GFX803, bytes, left, &inst)) ...    no such instruction, or it is cut off
 *   gcn3_print(&inst, &text);                                 as llvm-objdump prints it
 *   bytes += inst.bytes;
 *
 * The rows of *.def say all about an instruction; README.md has their columns. Plain data, without pointers
 * that anybody owns. */
#ifndef GCN3_GCN3_H
#define GCN3_GCN3_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text;

enum gcn3_target { GCN3_GFX803, GCN3_GFX900, GCN3_GFX906, GCN3_TARGETS };

/* ---- rows ------------------------------------------------------------------------------------------- */

/* The encodings, with the number of opcodes that each has room for. Those of VOP1, VOP2, VOPC and VINTRP have
 * a long form in VOP3 as well; the _E32 and _K ones do not. */
/* clang-format off */
#define GCN3_FORMATS(F) \
    F(SOP2) F(SOPK) F(SOP1) F(SOPC) F(SOPP) F(SMEM) \
    F(VOP1) F(VOP1_E32) F(VOP2) F(VOP2_K) F(VOPC) F(VOP3) F(VOP3P) F(VINTRP) F(VOP3_INTERP) \
    F(DS) F(FLAT) F(GLOBAL) F(SCRATCH) F(MUBUF) F(MTBUF) F(MIMG) F(EXP)
/* clang-format on */

enum gcn3_format {
#define F(name) GCN3_##name,
    GCN3_FORMATS(F)
#undef F
        GCN3_FORMAT_COUNT
};

/* Types of operands: what a lane, or the wave, reads or writes. A b type is only bits; m64 is a bit per lane,
 * in VCC or a pair of SGPRs. */
/* clang-format off */
#define GCN3_TYPES(T) \
    T(nil, 0) \
    T(f16, 16) T(i16, 16) T(u16, 16) \
    T(b32, 32) T(f32, 32) T(i32, 32) T(u32, 32) \
    T(b64, 64) T(f64, 64) T(i64, 64) T(u64, 64) T(m64, 64) \
    T(b96, 96) T(b128, 128) T(b256, 256) T(b512, 512)
/* clang-format on */

enum gcn3_type {
#define T(name, bits) GCN3_TYPE_##name,
    GCN3_TYPES(T)
#undef T
};

/* What executes an instruction. */
enum gcn3_unit {
    GCN3_UNIT_SALU,
    GCN3_UNIT_SMEM,
    GCN3_UNIT_BRANCH,
    GCN3_UNIT_MESSAGE, /* messages, barriers, performance counters */
    GCN3_UNIT_VALU,
    GCN3_UNIT_VALUQ,  /* at a quarter of the rate: products of 32-bit integers */
    GCN3_UNIT_VALU64, /* 64-bit values */
    GCN3_UNIT_TRANS,  /* transcendental functions, roots and reciprocals */
    GCN3_UNIT_LDS,
    GCN3_UNIT_VMEM,
    GCN3_UNIT_EXPORT,
    GCN3_UNIT_COUNT
};

/* What else there is to say of an instruction. */
/* clang-format off */
#define GCN3_FLAGS(F)                                                                \
    F(SCC_IN)        /* reads and writes that no operand shows */                    \
    F(SCC_OUT)                                                                       \
    F(VCC_IN)                                                                        \
    F(EXEC_IN)       /* beside choosing lanes */                                     \
    F(EXEC_OUT)                                                                      \
    F(CARRY_IN)      /* c is a mask: VCC in the short form */                        \
    F(CARRY_OUT)     /* a second destination, a mask: VCC in the short form */       \
    F(ACCUMULATES)   /* c is the destination's old value */                          \
    F(SCALAR_D)      /* a vector instruction that writes an SGPR */                  \
    F(CLAMP)         /* takes clamp, though its result is no float */                \
    F(OMOD)          /* takes omod, though its result is no float */                 \
    F(NO_OMOD)                                                                       \
    F(FMODS)         /* a and b take abs and neg, though they are no floats */       \
    F(OP_SEL)        /* selects halves of registers */                               \
    F(MIXED)         /* VOP3P whose sources are f16 or f32 */                        \
    F(ATOMIC)                                                                        \
    F(RETURNS)       /* DS: the value before; others return it if glc is set */      \
    F(TWO_OFFSETS)   /* DS: two addresses, each with 8 bits of offset */             \
    F(GDS_ONLY)                                                                      \
    F(NO_GDS)                                                                        \
    F(D16)           /* of a register only the low half, */                          \
    F(D16_HI)        /* or the high one */                                           \
    F(FORMATTED)     /* the resource or the instruction says what the bytes mean */  \
    F(MAY_LDS)       /* memory to LDS, if lds is set */                              \
    F(SAMPLER)                                                                       \
    F(GATHER)        /* four texels of one component */                              \
    F(MAY_D16)       /* MIMG: halves, if d16 is set */                               \
    F(NO_IMMEDIATE)  /* SOPP */                                                      \
    F(VECTOR_A)      /* a must be a VGPR, */                                         \
    F(REGISTER_A)    /* or an SGPR */                                                \
    F(WHOLE)         /* has no SDWA and no DPP form */
/* clang-format on */

enum gcn3_flag_bit {
#define F(name) GCN3_BIT_##name,
    GCN3_FLAGS(F)
#undef F
};

enum gcn3_flag {
#define F(name) GCN3_##name = 1 << GCN3_BIT_##name,
    GCN3_FLAGS(F)
#undef F
};

enum gcn3_op {
    GCN3_INVALID,
#define INST(id, ...) GCN3_##id,
#include "gcn3/gcn3.def"
#undef INST
    GCN3_OP_COUNT
};

struct gcn3_row {
    const char *text;     /* where gfx9 has another name, it follows after a bar */
    uint8_t format;       /* enum gcn3_format */
    uint8_t unit;         /* enum gcn3_unit */
    uint8_t d, a, b, c;   /* enum gcn3_type */
    uint8_t memory_bytes; /* per lane, or per wave if it is scalar */
    uint8_t addresses;    /* MIMG: the least number of address registers */
    uint32_t flags;       /* enum gcn3_flag */
};

extern const struct gcn3_row gcn3_rows[GCN3_OP_COUNT];

/* Of this opcode; GCN3_INVALID if the target has none. VOP3 finds the rows of the short forms, too. */
enum gcn3_op gcn3_find(enum gcn3_target target, enum gcn3_format format, uint32_t opcode);

/* A row's name on a target; not ended by a zero byte. */
const char *gcn3_name(enum gcn3_op op, enum gcn3_target target, int *length);

static inline uint32_t gcn3_type_bits(enum gcn3_type type)
{
    static const uint16_t bits[] = {
#define T(name, count) count,
        GCN3_TYPES(T)
#undef T
    };
    return bits[type];
}

static inline bool gcn3_type_is_float(enum gcn3_type type)
{
    return type == GCN3_TYPE_f16 || type == GCN3_TYPE_f32 || type == GCN3_TYPE_f64;
}

/* ---- decoded instructions ----------------------------------------------------------------------------- */

enum gcn3_kind {
    GCN3_NOTHING,
    GCN3_VGPR,
    GCN3_SGPR,    /* s0 to s101 */
    GCN3_SPECIAL, /* a named register; its number is that of the encoding */
    GCN3_TTMP,
    GCN3_INTEGER, /* an inline constant: its bits are in `value` */
    GCN3_FLOAT,   /* an inline constant: f32's bits are in `value`; the type says what to convert it to */
    GCN3_LITERAL, /* the 32 bits behind the instruction */
};

/* Numbers of special registers and of constants in an 8-bit source. */
enum gcn3_number {
    GCN3_FLAT_SCRATCH = 102,
    GCN3_XNACK_MASK = 104,
    GCN3_VCC = 106,
    GCN3_TBA = 108, /* gfx8; on gfx9 this is ttmp0 */
    GCN3_TMA = 110,
    GCN3_TTMP0 = 112, /* gfx8 */
    GCN3_M0 = 124,
    GCN3_EXEC = 126,
    GCN3_SHARED_BASE = 235, /* to 238: apertures, gfx9 */
    GCN3_SHARED_LIMIT,
    GCN3_PRIVATE_BASE,
    GCN3_PRIVATE_LIMIT,
    GCN3_POPS_EXITING_WAVE_ID,
    GCN3_VCCZ = 251,
    GCN3_EXECZ,
    GCN3_SCC,
    GCN3_LDS_DIRECT,
};

struct gcn3_operand {
    uint8_t kind;   /* enum gcn3_kind */
    uint8_t type;   /* enum gcn3_type */
    uint8_t dwords; /* registers that it takes */
    uint8_t abs : 1, neg : 1, sext : 1;
    uint16_t number; /* of its first register; of an inline constant that of the encoding */
    uint32_t value;
};

enum gcn3_form { GCN3_E32, GCN3_E64, GCN3_SDWA, GCN3_DPP };

/* Parts of a register that SDWA selects, and what becomes of the rest of a destination. */
enum gcn3_sdwa { GCN3_BYTE_0, GCN3_WORD_0 = 4, GCN3_WORD_1, GCN3_DWORD };
enum gcn3_unused { GCN3_UNUSED_PAD, GCN3_UNUSED_SEXT, GCN3_UNUSED_PRESERVE };

struct gcn3_inst {
    uint16_t op;    /* enum gcn3_op; gcn3_rows has its row */
    uint8_t target; /* enum gcn3_target */
    uint8_t format; /* that of the encoding: VOP3 for the long form of VOP2 */
    uint8_t form;   /* enum gcn3_form */
    uint8_t bytes;  /* 4, 8 or 12 */

    /* d and sd are written; a, b and c are read, in the order of the row. Memory: a is the address (SMEM: the
     * base), b and c are data to write. */
    struct gcn3_operand d, sd, a, b, c;
    struct gcn3_operand saddr;    /* a scalar part of the address: SMEM, GLOBAL, SCRATCH, MUBUF, MTBUF */
    struct gcn3_operand resource; /* of a buffer or an image */
    struct gcn3_operand sampler;

    uint16_t immediate; /* SOPK, SOPP; the hardware register of s_setreg_imm32_b32 */
    uint32_t literal;   /* VOP2_K: the constant k; s_setreg_imm32_b32 */

    /* vector arithmetic */
    uint8_t omod; /* 0, *2, *4, /2 */
    uint8_t op_sel, op_sel_hi, neg_lo,
        neg_hi; /* a bit for each source; op_sel's fourth is the destination's */
    uint8_t dst_sel, dst_unused, a_sel, b_sel; /* SDWA */
    uint16_t dpp_ctrl;
    uint8_t row_mask, bank_mask;
    uint8_t attribute, channel; /* interpolation */

    /* memory */
    int32_t offset;
    uint8_t offset1; /* the second of two */
    uint8_t dfmt, nfmt, dmask;
    uint8_t exp_target, exp_enable;
    struct gcn3_operand exp[4];

    bool clamp : 1, bound_ctrl : 1, high : 1;
    bool glc : 1, slc : 1, tfe : 1, lds : 1, gds : 1, nv : 1;
    bool offen : 1, idxen : 1, has_offset : 1;
    bool unorm : 1, da : 1, r128 : 1, lwe : 1, d16 : 1; /* r128 is a16 on gfx9 */
    bool done : 1, compr : 1, vm : 1;
};

/* Safe for any bytes. False: they are no instruction of the target, or it is longer than `left`. */
bool gcn3_decode(enum gcn3_target target, const void *at, size_t left, struct gcn3_inst *inst);

void gcn3_print(const struct gcn3_inst *inst, struct text *text);

/* Where a direct branch or call goes, taken from pc, the address of the instruction. False: it is none. */
bool gcn3_branch(const struct gcn3_inst *inst, uint64_t pc, uint64_t *to);

#endif
