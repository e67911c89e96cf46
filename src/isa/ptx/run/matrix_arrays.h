/* Internals of matrix_*.c: matrices as plain arrays. */
#ifndef PTX_RUN_MATRIX_ARRAYS_H
#define PTX_RUN_MATRIX_ARRAYS_H

#include "ptx_run/matrix.h"

enum {
    PLACES = 16 * 128, /* of the largest A or B, as of m16n8k128 */
    RESULTS = 16 * 16, /* of the largest C, as of m16n16k16 */
    COLUMNS = 8,       /* of a result that are computed together */
    VECTOR = 4,
};

/* Vectors of the compiler's: short ones, which any host has. */
typedef float floats __attribute__((vector_size(4 * VECTOR), aligned(4)));
typedef int32_t ints __attribute__((vector_size(4 * VECTOR), aligned(4)));

/* The bits of elements, each in a word: array[row * columns + column]. Not for f64. */
void matrix_gather(const struct matrix_operand *operand, const void *const registers[], uint32_t *array);
void matrix_scatter(const struct matrix_operand *operand, const uint32_t *array, void *const registers[]);

/* D = A * B + C of floating point up to 32 bits. */
void matrix_multiply_floats(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                            const void *const a[], const void *const b[], const void *const c[]);

/* Completes a plan; whether a product can be done by tiles of a level, which then did it. */
void matrix_plan_tiles(const struct matrix_form *form, struct matrix_plan *plan);
bool matrix_multiply_tiles(const struct matrix_form *form, const struct matrix_plan *plan,
                           const struct matrix_level *level, void *const d[], const void *const a[],
                           const void *const b[], const void *const c[]);

#endif
