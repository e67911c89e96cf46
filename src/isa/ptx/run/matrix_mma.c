/* Products of matrices. Fragments become plain arrays, with rows and columns in order, which small loops over
 * 8 columns multiply; the result is moved back into registers. */
#include "ptx_run/matrix_arrays.h"

#include "base/bits.h"
#include "exec/number.h"

#include <string.h>

/* --- between registers and arrays ---------------------------------------------------------------------- */

/* Where the elements of a fragment belong in an array: element e of lane l at lane[l] + element[e]. Registers
 * that only repeat others (f16 of wmma) are left out. */
struct places {
    unsigned registers;
    uint16_t lane[WARP_LANES], element[1 << MATRIX_ELEMENT_BITS];
};

static void places_of(const struct matrix_operand *operand, unsigned row_step, unsigned column_step,
                      struct places *places)
{
    unsigned count = operand->rows * operand->columns / WARP_LANES;
    places->registers = count / operand->elements;
    places->lane[0] = places->element[0] = 0;
    for (unsigned bit = 0; bit < MATRIX_LANE_BITS + MATRIX_ELEMENT_BITS; bit++) {
        bool lane = bit < MATRIX_LANE_BITS;
        uint16_t *at = lane ? places->lane : places->element;
        unsigned first = 1u << (lane ? bit : bit - MATRIX_LANE_BITS);
        if (!lane && first >= count)
            break;
        unsigned step = operand->steps[bit].row * row_step + operand->steps[bit].column * column_step;
        for (unsigned i = 0; i < first; i++)
            at[first + i] = (uint16_t)(at[i] + step);
    }
}

void matrix_gather(const struct matrix_operand *operand, const void *const registers[], uint32_t *array)
{
    struct places places;
    places_of(operand, operand->columns, 1, &places);
    unsigned width = 32 / operand->elements;
    uint32_t mask = width == 32 ? UINT32_MAX : (1u << width) - 1;
    for (unsigned r = 0; r < places.registers; r++) {
        const uint32_t *words = registers[r];
        for (unsigned part = 0; part < operand->elements; part++) {
            uint32_t *at = array + places.element[r * operand->elements + part];
            for (unsigned lane = 0; lane < WARP_LANES; lane++)
                at[places.lane[lane]] = words[lane] >> part * width & mask;
        }
    }
}

void matrix_scatter(const struct matrix_operand *operand, const uint32_t *array, void *const registers[])
{
    struct places places;
    places_of(operand, operand->columns, 1, &places);
    unsigned width = 32 / operand->elements;
    for (unsigned r = 0; r < operand->registers; r++) {
        uint32_t words[WARP_LANES] = {0};
        for (unsigned part = 0; part < operand->elements; part++) {
            const uint32_t *at = array + places.element[r * operand->elements + part];
            for (unsigned lane = 0; lane < WARP_LANES; lane++)
                words[lane] |= at[places.lane[lane]] << part * width;
        }
        memcpy(registers[r], words, sizeof words);
    }
}

/* As matrix_gather, of single bits by the word; steps in bits. */
static void gather_words(const struct matrix_operand *operand, unsigned row_step, unsigned column_step,
                         const void *const registers[], uint32_t *array)
{
    struct places places;
    places_of(operand, row_step, column_step, &places);
    for (unsigned r = 0; r < places.registers; r++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            array[(places.element[r * 32] + places.lane[lane]) / 32] = ((const uint32_t *)registers[r])[lane];
}

static void gather_doubles(const struct matrix_operand *operand, const void *const registers[], double *array)
{
    struct places places;
    places_of(operand, operand->columns, 1, &places);
    for (unsigned r = 0; r < places.registers; r++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            array[places.element[r] + places.lane[lane]] = ((const double *)registers[r])[lane];
}

static void scatter_doubles(const struct matrix_operand *operand, const double *array,
                            void *const registers[])
{
    struct places places;
    places_of(operand, operand->columns, 1, &places);
    for (unsigned r = 0; r < operand->registers; r++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            ((double *)registers[r])[lane] = array[places.element[r] + places.lane[lane]];
}

/* --- f64: every product is added with one rounding, in the order of k --------------------------- */

static void multiply_doubles(const struct matrix_form *form, void *const d[], const void *const a[],
                             const void *const b[], const void *const c[])
{
    double left[PLACES], right[PLACES], sum[RESULTS];
    gather_doubles(&form->a, a, left);
    gather_doubles(&form->b, b, right);
    gather_doubles(&form->c, c, sum);
    for (unsigned i = 0; i < form->m; i++)
        for (unsigned k = 0; k < form->k; k++)
            for (unsigned j = 0; j < form->n; j++) {
                double x = left[i * form->k + k], y = right[k * form->n + j], z = sum[i * form->n + j];
                sum[i * form->n + j] = nan_f64(fma(x, y, z), y, z, x); /* of several NaN, this is the order */
            }
    scatter_doubles(&form->d, sum, d);
}

/* --- integers ------------------------------------------------------------------------------------------ */

/* As floats, which hold every sum of products exactly and multiply faster than integers do. */
static void widen(const struct matrix_operand *operand, const uint32_t *bits, unsigned count, float *numbers)
{
    bool sign = operand->type == MATRIX_s8 || operand->type == MATRIX_s4;
    unsigned unused = 32 - 32 / operand->elements;
    for (unsigned i = 0; i < count; i++)
        numbers[i] = sign ? (float)((int32_t)(bits[i] << unused) >> unused) : (float)(int32_t)bits[i];
}

static uint32_t add_integers(uint32_t c, int32_t sum, bool saturate)
{
    int64_t exact = (int64_t)(int32_t)c + sum;
    if (saturate)
        exact = exact > INT32_MAX ? INT32_MAX : exact < INT32_MIN ? INT32_MIN : exact;
    return (uint32_t)exact;
}

static void multiply_integers(const struct matrix_form *form, void *const d[], const void *const a[],
                              const void *const b[], const void *const c[])
{
    uint32_t bits[PLACES];
    float left[PLACES], right[PLACES];
    matrix_gather(&form->a, a, bits);
    widen(&form->a, bits, form->m * form->k, left);
    matrix_gather(&form->b, b, bits);
    widen(&form->b, bits, form->k * form->n, right);
    matrix_gather(&form->c, c, bits);
    for (unsigned i = 0; i < form->m * form->n; i += COLUMNS) {
        const float *row = left + i / form->n * form->k, *column = right + i % form->n;
        floats sums[COLUMNS / VECTOR] = {0};
        for (unsigned k = 0; k < form->k; k++)
            for (unsigned j = 0; j < COLUMNS / VECTOR; j++)
                sums[j] += row[k] * ((const floats *)(column + k * form->n))[j];
        for (unsigned j = 0; j < COLUMNS; j++)
            bits[i + j] = add_integers(bits[i + j], (int32_t)sums[j / VECTOR][j % VECTOR], form->saturate);
    }
    matrix_scatter(&form->d, bits, d);
}

/* Single bits: a register is 32 neighbours of a row of A or of a column of B, and counted as one. */
static void multiply_bits(const struct matrix_form *form, void *const d[], const void *const a[],
                          const void *const b[], const void *const c[])
{
    uint32_t left[PLACES], right[PLACES], bits[RESULTS];
    unsigned words = form->k / 32;
    gather_words(&form->a, form->k, 1, a, left);
    gather_words(&form->b, 1, form->k, b, right);
    matrix_gather(&form->c, c, bits);
    for (unsigned i = 0; i < form->m; i++)
        for (unsigned j = 0; j < form->n; j++) {
            int32_t count = 0;
            for (unsigned k = 0; k < words; k++) {
                uint32_t x = left[i * words + k], y = right[j * words + k];
                count += __builtin_popcount(form->by_and ? x & y : x ^ y);
            }
            bits[i * form->n + j] = add_integers(bits[i * form->n + j], count, false);
        }
    matrix_scatter(&form->d, bits, d);
}

void matrix_mma_general(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                        const void *const a[], const void *const b[], const void *const c[])
{
    if (form->a.type == MATRIX_f64)
        multiply_doubles(form, d, a, b, c);
    else if (form->a.type == MATRIX_b1)
        multiply_bits(form, d, a, b, c);
    else if (form->d.type == MATRIX_s32)
        multiply_integers(form, d, a, b, c);
    else
        matrix_multiply_floats(form, plan, d, a, b, c);
}

void matrix_mma(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                const void *const a[], const void *const b[], const void *const c[])
{
    if (UNLIKELY(!plan->tiled || !matrix_multiply_tiles(form, plan, plan->level, d, a, b, c)))
        matrix_mma_general(form, plan, d, a, b, c);
}
