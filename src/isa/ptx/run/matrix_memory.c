/* Matrices between memory and registers: which element is where. */
#include "ptx_run/matrix.h"

#include <string.h>

void matrix_element(const struct matrix_operand *operand, unsigned lane, unsigned element, unsigned *row,
                    unsigned *column)
{
    unsigned number = lane | element << MATRIX_LANE_BITS;
    *row = *column = 0;
    for (unsigned bit = 0; number >> bit; bit++)
        if (number >> bit & 1) {
            *row += operand->steps[bit].row;
            *column += operand->steps[bit].column;
        }
}

unsigned matrix_runs(const struct matrix_operand *operand, unsigned lane, int64_t stride,
                     struct matrix_run runs[MATRIX_RUNS])
{
    unsigned bytes = operand->type == MATRIX_f64 ? 8 : 4, count = 0;
    unsigned bits = bytes * 8 / operand->elements;
    for (unsigned element = 0; element < operand->registers * operand->elements; element++) {
        unsigned row, column, bit = element % operand->elements * bits;
        matrix_element(operand, lane, element, &row, &column);
        int64_t line = operand->by_column ? column : row, place = operand->by_column ? row : column;
        int64_t offset = (line * stride + place) * bits;
        if (bit % 8 || offset % 8)
            continue; /* types of less than a byte: bytes are whole, with what follows in the register */
        unsigned size = bits < 8 ? 1 : bits / 8;
        struct matrix_run *last = count ? &runs[count - 1] : NULL;
        if (bit && last && last->offset + last->bytes == offset / 8) {
            last->bytes = (uint8_t)(last->bytes + size);
            continue;
        }
        runs[count++] = (struct matrix_run){.number = (uint8_t)(element / operand->elements),
                                            .byte = (uint8_t)(bit / 8),
                                            .bytes = (uint8_t)size,
                                            .offset = offset / 8};
    }
    return count;
}

/* The row and column of half h of a lane's register. */
static void m8n8(bool transpose, unsigned lane, unsigned half, unsigned *row, unsigned *column)
{
    unsigned outer = lane / 4, inner = lane % 4 * 2 + half;
    *row = transpose ? inner : outer;
    *column = transpose ? outer : inner;
}

void matrix_ldmatrix(const struct matrix_form *form, void *const d[], const uint16_t rows[WARP_LANES][8])
{
    for (unsigned i = 0; i < form->count; i++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            uint32_t word = 0;
            for (unsigned half = 0; half < 2; half++) {
                unsigned row, column;
                m8n8(form->transpose, lane, half, &row, &column);
                word |= (uint32_t)rows[i * 8 + row][column] << half * 16;
            }
            ((uint32_t *)d[i])[lane] = word;
        }
}

void matrix_stmatrix(const struct matrix_form *form, uint16_t rows[WARP_LANES][8], const void *const s[])
{
    for (unsigned i = 0; i < form->count; i++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            for (unsigned half = 0; half < 2; half++) {
                unsigned row, column;
                m8n8(form->transpose, lane, half, &row, &column);
                rows[i * 8 + row][column] = (uint16_t)(((const uint32_t *)s[i])[lane] >> half * 16);
            }
}

void matrix_movmatrix(void *d, const void *s)
{
    uint16_t rows[WARP_LANES][8];
    matrix_stmatrix(&(struct matrix_form){.count = 1}, rows, &s);
    matrix_ldmatrix(&(struct matrix_form){.count = 1, .transpose = true}, &d, (const uint16_t(*)[8])rows);
}
