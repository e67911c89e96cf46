/* What the tests of matrices share: registers of a warp, numbers of each type, and the product as it should
 * be. */
#ifndef TESTS_UNIT_MATRIX_CHECK_H
#define TESTS_UNIT_MATRIX_CHECK_H

#include "check.h"
#include "base/bits.h"
#include "base/rng.h"
#include "ptx_run/matrix.h"
#include "exec/number.h"

/* Every multiplication there is, by shape and types: what follows is done with all of them. */
static const char *const products[] = {
    "mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32",
    "mma.sync.aligned.m8n8k4.col.col.f16.f16.f16.f16",
    "mma.sync.aligned.m8n8k4.col.row.f32.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k8.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16",
    "mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32",
    "mma.sync.aligned.m16n8k4.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32",
    "mma.sync.aligned.m16n8k16.row.col.f32.e4m3.e4m3.f32",
    "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e5m2.f32",
    "mma.sync.aligned.m16n8k32.row.col.f16.e5m2.e5m2.f16",
    "mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k8.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64",
    "mma.sync.aligned.m8n8k16.row.col.s32.s8.u8.s32",
    "mma.sync.aligned.m16n8k16.row.col.s32.u8.s8.s32",
    "mma.sync.aligned.m16n8k32.row.col.satfinite.s32.s8.s8.s32",
    "mma.sync.aligned.m8n8k32.row.col.s32.s4.u4.s32",
    "mma.sync.aligned.m16n8k32.row.col.s32.u4.s4.s32",
    "mma.sync.aligned.m16n8k64.row.col.satfinite.s32.s4.s4.s32",
    "mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc",
    "mma.sync.aligned.m16n8k128.row.col.s32.b1.b1.s32.and.popc",
    "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.xor.popc",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32",
    "wmma.mma.sync.aligned.col.row.m16n16k16.f16.f16",
    "wmma.mma.sync.aligned.row.row.m32n8k16.f32.f16",
    "wmma.mma.sync.aligned.col.col.m8n32k16.f16.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k16.f32.bf16.bf16.f32",
    "wmma.mma.sync.aligned.row.col.m32n8k16.f32.bf16.bf16.f32",
    "wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32",
    "wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32",
    "wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn",
    "wmma.mma.sync.aligned.row.col.m16n16k16.s32.u8.u8.s32",
    "wmma.mma.sync.aligned.row.col.m32n8k16.s32.s8.s8.s32.satfinite",
    "wmma.mma.sync.aligned.row.col.m8n32k16.s32.s8.s8.s32",
    "wmma.mma.sync.aligned.row.col.m8n8k32.s32.s4.s4.s32",
    "wmma.mma.xor.popc.sync.aligned.row.col.m8n8k128.s32.b1.b1.s32",
};

static inline struct matrix_form parse(const char *opcode)
{
    struct matrix_form form;
    if (!matrix_parse(opcode, &form))
        fail_msg("%s is not known", opcode);
    return form;
}

/* D = A * B + C on a GPU of this compute capability */
static inline void multiply(const struct matrix_form *form, unsigned sm, void *const d[], void *const a[],
                            void *const b[], void *const c[])
{
    struct matrix_plan plan;
    matrix_plan(form, matrix_model(sm), &plan);
    matrix_mma(form, &plan, d, (const void *const *)a, (const void *const *)b, (const void *const *)c);
}

struct registers {
    uint64_t lanes[MATRIX_REGISTERS][WARP_LANES]; /* as words, or as they are */
    void *at[MATRIX_REGISTERS];
};

static inline void registers_init(struct registers *r)
{
    memset(r, 0, sizeof *r);
    for (unsigned i = 0; i < MATRIX_REGISTERS; i++)
        r->at[i] = r->lanes[i];
}

static inline uint64_t encode(enum matrix_type type, int value)
{
    uint16_t half = f16_f32((float)value);
    switch (type) {
    case MATRIX_f16:
        return half;
    case MATRIX_bf16:
        return bits_f32((float)value) >> 16;
    case MATRIX_tf32:
    case MATRIX_f32:
        return bits_f32((float)value);
    case MATRIX_f64:
        return bits_f64(value);
    case MATRIX_e5m2:
        return half >> 8;
    case MATRIX_e4m3: /* an f16 of 2^-8 of it, shortened */
        return (f16_f32((float)value / 256) >> 7 & 0x7f) | (half >> 8 & 0x80);
    case MATRIX_s32:
        return (uint32_t)value;
    case MATRIX_s4:
    case MATRIX_u4:
        return (unsigned)value & 15;
    default:
        return (unsigned)value & 255;
    }
}

/* What fits a type, and leaves sums that every result holds exactly. */
static inline int random_value(enum matrix_type type, struct rng *rng)
{
    int r = (int)(rng_next(rng) >> 40);
    switch (type) {
    case MATRIX_s8:
        return r % 256 - 128;
    case MATRIX_u8:
        return r % 256;
    case MATRIX_s4:
        return r % 16 - 8;
    case MATRIX_u4:
        return r % 16;
    case MATRIX_b1:
        return r % 2;
    default:
        return r % 9 - 4;
    }
}

static inline void put(const struct matrix_operand *o, struct registers *r, unsigned lane, unsigned element,
                       uint64_t bits)
{
    if (o->type == MATRIX_f64)
        r->lanes[element][lane] = bits;
    else
        ((uint32_t *)r->at[element / o->elements])[lane] |= (uint32_t)bits
                                                            << element % o->elements * (32 / o->elements);
}

static inline uint64_t get(const struct matrix_operand *o, const struct registers *r, unsigned lane,
                           unsigned element)
{
    if (o->type == MATRIX_f64)
        return r->lanes[element][lane];
    unsigned width = 32 / o->elements;
    uint32_t word = ((const uint32_t *)r->at[element / o->elements])[lane];
    return word >> element % o->elements * width & (UINT32_MAX >> (32 - width));
}

static int matrices[3][32 * 256]; /* A, B, C by row */

static inline int product_at(const struct matrix_form *form, unsigned row, unsigned column)
{
    int sum = matrices[2][row * form->n + column];
    unsigned b_column = form->count == 4 ? row / 8 * 8 + column : column;
    for (unsigned k = 0; k < form->k; k++) {
        int x = matrices[0][row * form->k + k], y = matrices[1][k * form->b.columns + b_column];
        sum += form->a.type != MATRIX_b1 ? x * y : form->by_and ? (x & y) : (x ^ y);
    }
    return sum;
}

#endif
