/* Products of floating-point matrices, as tensor cores compute them; this is not IEEE 754 arithmetic. */
#include "ptx_run/matrix_arrays.h"
#include "ptx_run/matrix_tile.h"

#include "base/bits.h"
#include "exec/number.h"

#include <math.h>
#include <string.h>

enum { GROUP = 64 }; /* at most so many products are summed at once */

/* Bits that wgmma keeps of products, on an H200. */
enum { GROUP_FRACTION = 25, GROUP_FP8_FRACTION = 13 };

/* How the bits of a type are divided, after a shift to the right that drops what the tensor cores ignore. */
struct fields {
    uint8_t drop, exponent, mantissa;
    bool infinities; /* the largest exponent is for these and NaN; else only all ones are a NaN */
};
static const struct fields fields[] = {
    [MATRIX_f16] = {0, 5, 10, true}, [MATRIX_bf16] = {0, 8, 7, true},  [MATRIX_tf32] = {13, 8, 10, true},
    [MATRIX_f32] = {0, 8, 23, true}, [MATRIX_e4m3] = {0, 4, 3, false}, [MATRIX_e5m2] = {0, 5, 2, true},
};

enum { LOWEST = -400 }; /* below the exponent of any product: that of a zero */

/* Numbers as significand * 2 ^ exponent. A significand is below 2; that of infinities and NaN is one itself.
 * True when there is such a one. The count is a multiple of VECTOR. */
static bool split(enum matrix_type type, const uint32_t *bits, unsigned count, float *significands,
                  int32_t *exponents)
{
    const struct fields f = fields[type];
    const int32_t top = (1 << f.exponent) - 1, one = 1 << f.mantissa, all = top << f.mantissa | (one - 1);
    const int32_t least = f.infinities ? top << f.mantissa : all; /* of those that are no numbers */
    const float unit = 1.0f / (float)one;
    ints wild = {0};
    for (unsigned i = 0; i < count; i += VECTOR) {
        ints x = *(const ints *)(bits + i) >> f.drop, sign = -(x >> (f.exponent + f.mantissa) & 1);
        ints exponent = x >> f.mantissa & top, normal = exponent != 0;
        ints mantissa = (x & (one - 1)) | (one & normal), zero = mantissa == 0;
        *(floats *)(significands + i) = __builtin_convertvector((mantissa ^ sign) - sign, floats) * unit;
        *(ints *)(exponents + i) = ((exponent + 1 + normal - (top >> 1)) & ~zero) | (LOWEST & zero);
        wild |= (x & all) >= least;
    }
    if (LIKELY(!(wild[0] | wild[1] | wild[2] | wild[3])))
        return false;
    for (unsigned i = 0; i < count; i++) {
        int32_t x = (int32_t)(bits[i] >> f.drop) & all;
        if (x >= least)
            significands[i] *= f.infinities && x == least ? INFINITY : NAN;
    }
    return true;
}

/* A group of products and what they are added to, of 8 results. */
struct group {
    const float *a, *b;
    const int32_t *a_exponent, *b_exponent;
    unsigned step, count; /* from a row of B to the next; products */
    float c[COLUMNS];
    int32_t c_exponent[COLUMNS];
};

/* x * 2^shift without its fraction. Below 2^-126 nothing is left of x anyway. */
#define SCALED(x, shift)                                                                                     \
    ({                                                                                                       \
        ints shift_ = (shift), tiny_ = shift_ < -126;                                                        \
        shift_ = (((shift_ & ~tiny_) | (-126 & tiny_)) + 127) << 23;                                         \
        __builtin_convertvector((x) * (floats)shift_, ints);                                                 \
    })

/* What the tensor cores compute: products and accumulator are aligned to the largest exponent and lose the
 * bits that are more than `fraction` behind its point; their sum is exact. No infinities, no NaN. */
static void sum_group(const struct group *g, int fraction, double sum[COLUMNS])
{
    for (unsigned j = 0; j < COLUMNS; j += VECTOR) {
        ints exponents[GROUP], kept = {0}, c_exponent = *(const ints *)(g->c_exponent + j);
        ints largest = c_exponent;
        for (unsigned k = 0; k < g->count; k++) {
            exponents[k] = g->a_exponent[k] + *(const ints *)(g->b_exponent + k * g->step + j);
            ints greater = exponents[k] > largest;
            largest = (exponents[k] & greater) | (largest & ~greater);
        }
        ints unit = largest - fraction; /* weight of the last bit that is kept */
        for (unsigned k = 0; k < g->count; k++)
            kept += SCALED(g->a[k] * *(const floats *)(g->b + k * g->step + j), exponents[k] - unit);
        ints c = SCALED(*(const floats *)(g->c + j), c_exponent - unit);
        for (unsigned i = 0; i < VECTOR; i++)
            sum[j + i] = ((double)kept[i] + c[i]) * f64_bits((uint64_t)(unit[i] + 1023) << 52);
    }
}

/* Infinities and NaN reach a sum as they reach that of the significands, which no finite ones make infinite.
 */
static void sum_wild(const struct group *g, float sum[COLUMNS])
{
    memcpy(sum, g->c, sizeof g->c);
    for (unsigned k = 0; k < g->count; k++)
        for (unsigned j = 0; j < COLUMNS; j++)
            sum[j] += g->a[k] * g->b[k * g->step + j];
}

static uint32_t wild_bits(float sum, bool half)
{
    return half ? f16_f32(sum) : bits_f32(nan_f32(sum));
}

/* The f32 next to a sum, toward zero; from 2^128 on infinite. */
static uint32_t cut_to_f32(double sum)
{
    double magnitude = fabs(sum);
    uint32_t near = bits_f32((float)magnitude);
    near -= (double)f32_bits(near) > magnitude && magnitude < 0x1p128;
    return near | (uint32_t)(bits_f64(sum) >> 63) << 31;
}

void matrix_plan(const struct matrix_form *form, const struct matrix_model *model, struct matrix_plan *plan)
{
    bool fp8 = form->a.type == MATRIX_e4m3 || form->a.type == MATRIX_e5m2, emulated = fp8 && model->emulates;
    unsigned products = model->group_bytes * form->a.elements / 4;
    if (form->sparse)
        products *= 2; /* half of which are none */
    if (emulated)
        products = form->k / 2;
    if (form->a.type == MATRIX_tf32 && form->n == 16)
        products = 4; /* wmma is made of m16n8k4 */
    bool few = fp8 && model->fp8_fraction_bits;
    *plan = (struct matrix_plan){
        .group = products < form->k ? products : form->k,
        .fraction = few ? model->fp8_fraction_bits : model->fraction_bits,
        .mask = few ? UINT32_MAX << (23 - model->fp8_fraction_bits) : UINT32_MAX,
        .half = form->c.type == MATRIX_f16 && form->d.type == MATRIX_f16,
        .by_halves = !emulated      ? 0
                     : form->sparse ? 4
                                    : 2,
        .emulated = form->count > 1 && model->emulates,
        .saturate = form->saturate,
        .by_and = form->by_and,
        .level = matrix_level(),
    };
    matrix_plan_tiles(form, plan);
}

/* All products of an instruction are summed at once; of fp8 without emulation, with fewer bits. */
void matrix_plan_group(const struct matrix_form *tile, struct matrix_plan *plan)
{
    bool fp8 = tile->a.type == MATRIX_e4m3 || tile->a.type == MATRIX_e5m2;
    *plan = (struct matrix_plan){
        .group = tile->k,
        .fraction = fp8 ? GROUP_FP8_FRACTION : GROUP_FRACTION,
        .mask = fp8 ? UINT32_MAX << (23 - GROUP_FP8_FRACTION) : UINT32_MAX,
        .half = tile->d.type == MATRIX_f16,
        .saturate = tile->saturate,
        .by_and = tile->by_and,
        .level = matrix_level(),
    };
    matrix_plan_tiles(tile, plan);
}

/* Makes f16 of fp8, each of which is one exactly. */
static enum matrix_type widen(enum matrix_type type, uint32_t *bits, unsigned count)
{
    for (unsigned i = 0; i < count; i++) {
        uint32_t sign = (bits[i] & 0x80) << 8, rest = bits[i] & 0x7f;
        if (type == MATRIX_e5m2)
            bits[i] = sign | rest << 8;
        else /* as the bits of an f16 it is 2^8 too small */
            bits[i] = sign | (rest == 0x7f ? NAN_F16 : f16_f32(f32_f16((uint16_t)(rest << 7)) * 0x1p8f));
    }
    return MATRIX_f16;
}

/* Moves a bit of k to the top in a layout. */
static struct matrix_operand by_pairs(struct matrix_operand operand, unsigned k, unsigned bit, bool rows)
{
    for (unsigned i = 0; i < COUNT_OF(operand.steps); i++) {
        uint8_t *step = rows ? &operand.steps[i].row : &operand.steps[i].column;
        *step = (uint8_t)(*step == bit ? k / 2 : *step > bit ? *step / 2 : *step);
    }
    return operand;
}

/* The first column of B for a row of the result: mma.m8n8k4 holds four products, the B of each beside the
 * others, the A and C of each below the others. */
static unsigned first_column(const struct matrix_form *form, unsigned row)
{
    return form->count > 1 ? row / 8 * 8 : 0;
}

/* The arrays of a product. Those with infinities and NaN are there only when there are such, which are 0 in
 * the others. */
struct arrays {
    bool wild;
    float a[PLACES], b[PLACES], a_wild[PLACES], b_wild[PLACES];
    int32_t a_exponent[PLACES], b_exponent[PLACES];
};

static void tame(float *x, float *wild, unsigned count)
{
    memcpy(wild, x, count * sizeof *x);
    for (unsigned i = 0; i < count; i++)
        x[i] = isfinite(x[i]) ? x[i] : 0;
}

/* 8 neighbours of a row of the result, from the bits of C to those of the sums. */
static void multiply_row(const struct matrix_form *form, const struct matrix_plan *plan,
                         const struct arrays *f, unsigned row, unsigned column, uint32_t bits[COLUMNS])
{
    struct group g = {.step = form->b.columns, .count = plan->group};
    enum matrix_type type = plan->half ? MATRIX_f16 : MATRIX_f32;
    bool wild = f->wild | split(type, bits, COLUMNS, g.c, g.c_exponent);
    for (unsigned k = 0; k < form->k; k += g.count) {
        unsigned at = row * form->k + k, b_at = k * g.step + column;
        float special[COLUMNS] = {0};
        double sum[COLUMNS];
        if (UNLIKELY(wild)) {
            g.a = (f->wild ? f->a_wild : f->a) + at;
            g.b = (f->wild ? f->b_wild : f->b) + b_at;
            sum_wild(&g, special);
            tame(g.c, (float[COLUMNS]){0}, COLUMNS);
        }
        g.a = f->a + at;
        g.b = f->b + b_at;
        g.a_exponent = f->a_exponent + at;
        g.b_exponent = f->b_exponent + b_at;
        sum_group(&g, plan->fraction, sum);
        for (unsigned j = 0; j < COLUMNS; j++)
            bits[j] = plan->half ? f16_f32(f32_odd(sum[j])) : cut_to_f32(sum[j]) & plan->mask;
        for (unsigned j = 0; UNLIKELY(wild) && j < COLUMNS; j++)
            bits[j] = isfinite(special[j]) ? bits[j] : wild_bits(special[j], plan->half);
        if (k + g.count < form->k)
            wild = f->wild | split(type, bits, COLUMNS, g.c, g.c_exponent);
    }
}

static void load_inputs(const struct matrix_form *form, const struct matrix_plan *plan, const void *const a[],
                        const void *const b[], struct arrays *f)
{
    struct matrix_operand left = form->a, right = form->b;
    unsigned a_count = left.rows * left.columns, b_count = right.rows * right.columns;
    uint32_t bits[PLACES];
    if (plan->by_halves) {
        left = by_pairs(left, form->k, plan->by_halves, false);
        right = by_pairs(right, form->k, plan->by_halves, true);
    }
    matrix_gather(&left, a, bits);
    f->wild = split(plan->by_halves ? widen(left.type, bits, a_count) : left.type, bits, a_count, f->a,
                    f->a_exponent);
    matrix_gather(&right, b, bits);
    f->wild |= split(plan->by_halves ? widen(right.type, bits, b_count) : right.type, bits, b_count, f->b,
                     f->b_exponent);
    if (UNLIKELY(f->wild)) {
        tame(f->a, f->a_wild, a_count);
        tame(f->b, f->b_wild, b_count);
    }
}

/* mma.m8n8k4 with f16, on a GPU that has it no more: additions and multiplications of f32, in the order of
 * the subroutine that replaces it. */
static void multiply_quads(const struct matrix_form *form, void *const d[], const void *const a[],
                           const void *const b[], const void *const c[])
{
    uint32_t left[PLACES], right[PLACES], bits[RESULTS];
    matrix_gather(&form->a, a, left);
    matrix_gather(&form->b, b, right);
    matrix_gather(&form->c, c, bits);
    for (unsigned i = 0; i < form->c.rows * form->n; i++) {
        unsigned row = i / form->n, column = first_column(form, row) + i % form->n;
        float x[4], y[4], sum = form->c.type == MATRIX_f16 ? f32_f16((uint16_t)bits[i]) : f32_bits(bits[i]);
        for (unsigned k = 0; k < 4; k++) {
            x[k] = f32_f16((uint16_t)left[row * form->k + k]);
            y[k] = f32_f16((uint16_t)right[k * form->b.columns + column]);
        }
        if (form->d.type == MATRIX_f16)
            sum = sum + fmaf(x[1], y[1], x[0] * y[0]) + fmaf(x[3], y[3], x[2] * y[2]);
        else
            sum += fmaf(x[3], y[3], fmaf(x[2], y[2], fmaf(x[1], y[1], fmaf(x[0], y[0], 0.0f))));
        bits[i] = form->d.type == MATRIX_f16 ? f16_f32(sum) : bits_f32(nan_f32(sum));
    }
    matrix_scatter(&form->d, bits, d);
}

void matrix_multiply_floats(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                            const void *const a[], const void *const b[], const void *const c[])
{
    if (plan->emulated) {
        multiply_quads(form, d, a, b, c);
        return;
    }
    const unsigned results = form->c.rows * form->n;
    struct arrays f;
    uint32_t c_bits[RESULTS], bits[RESULTS] = {0};
    load_inputs(form, plan, a, b, &f);
    matrix_gather(&form->c, c, c_bits);
    for (unsigned i = 0; i < results && form->c.type == MATRIX_f16 && !plan->half; i++)
        c_bits[i] = bits_f32(f32_f16((uint16_t)c_bits[i]));
    if (!plan->by_halves)
        memcpy(bits, c_bits, sizeof bits);
    for (unsigned i = 0; i < results; i += COLUMNS)
        multiply_row(form, plan, &f, i / form->n, first_column(form, i / form->n) + i % form->n, bits + i);
    for (unsigned i = 0; i < results && plan->by_halves; i++)
        bits[i] = plan->half ? add_f16((uint16_t)c_bits[i], (uint16_t)bits[i])
                             : bits_f32(add_f32(f32_bits(c_bits[i]), f32_bits(bits[i])));
    for (unsigned i = 0; i < results && form->d.type == MATRIX_f16 && !plan->half; i++)
        bits[i] = f16_f32(f32_bits(bits[i]));
    matrix_scatter(&form->d, bits, d);
}
