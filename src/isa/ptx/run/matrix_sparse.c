/* Sparse matrices: from the elements that are given to all of them. */
#include "ptx_run/matrix_arrays.h"

#include <string.h>

enum {
    PIECE = 16,
    ROWS = 16,
    ROW_BYTES = 4 * PIECE
}; /* of a row: bytes that a register of four lanes has; most */

/* Elements that the metadata tell apart: of 16 bits, or of 8 (two of 4 bits go together, a tf32 is two). */
static unsigned unit_bytes(const struct matrix_form *form)
{
    return form->given.elements <= 2 ? 2 : 1;
}

/* Lanes of each four that have the metadata of two rows. */
static unsigned metadata_lanes(const struct matrix_form *form)
{
    return form->given.registers / 2 * (2 / unit_bytes(form));
}

bool matrix_has_selector(const struct matrix_form *form, uint64_t selector)
{
    return selector < 4 / metadata_lanes(form);
}

/* The 4 bits of a row's group of 4. Of 16 bits a lane has four groups of both rows, else eight of one. */
static unsigned metadata_of(const uint32_t *metadata, unsigned unit, unsigned per_quad, unsigned selector,
                            unsigned row, unsigned group)
{
    const uint32_t *quad = metadata + row % 8 * 4 + selector * per_quad;
    if (unit == 2)
        return quad[group / 4] >> (row / 8 * 16 + group % 4 * 4) & 15;
    return quad[group / 8 * 2 + row / 8] >> group % 8 * 4 & 15;
}

/* Bytes of a row, between registers and memory. Registers are in turn of a row and of the one 8 below. */
static uint32_t *word_of(uint32_t registers[][WARP_LANES], unsigned row, unsigned word)
{
    return &registers[word / 4 * 2 + row / 8][row % 8 * 4 + word % 4];
}

/* A with its zeros, and a bit for each byte of a row that is given. */
static void expand(const struct matrix_form *form, const void *const given[],
                   const uint32_t metadata[WARP_LANES], unsigned selector,
                   uint32_t a[MATRIX_REGISTERS][WARP_LANES], uint64_t is_given[ROWS])
{
    const unsigned unit = unit_bytes(form), per_quad = metadata_lanes(form);
    const unsigned bytes = form->given.registers / 2u * PIECE, groups = bytes / (2 * unit);
    uint32_t from[MATRIX_REGISTERS][WARP_LANES];
    for (unsigned i = 0; i < form->given.registers; i++)
        memcpy(from[i], given[i], sizeof from[i]);
    for (unsigned row = 0; row < ROWS; row++) {
        unsigned char some[ROW_BYTES], all[ROW_BYTES] = {0};
        is_given[row] = 0;
        for (unsigned i = 0; i < bytes / 4; i++)
            memcpy(some + 4 * i, word_of(from, row, i), 4);
        for (unsigned group = 0; group < groups; group++) {
            unsigned bits = metadata_of(metadata, unit, per_quad, selector, row, group);
            for (unsigned i = 0; i < 2; i++) {
                unsigned at = (4 * group + (bits >> 2 * i & 3)) * unit;
                memcpy(all + at, some + (2 * group + i) * unit, unit);
                is_given[row] |= ((UINT64_C(1) << unit) - 1) << at;
            }
        }
        for (unsigned i = 0; i < bytes / 2; i++)
            memcpy(word_of(a, row, i), all + 4 * i, 4);
    }
}

/* B without the bytes of its columns that are not given of a row. */
static void only_given(const struct matrix_form *form, uint64_t is_given, const void *const b[],
                       uint32_t kept[MATRIX_REGISTERS][WARP_LANES])
{
    for (unsigned r = 0; r < form->b.registers; r++)
        for (unsigned lane = 0; lane < WARP_LANES; lane++) {
            uint32_t mask = 0;
            for (unsigned byte = 0; byte < 4; byte++)
                mask |= (is_given >> (PIECE * r + lane % 4 * 4 + byte) & 1 ? 255u : 0) << 8 * byte;
            kept[r][lane] = ((const uint32_t *)b[r])[lane] & mask;
        }
}

/* Infinities and NaN of B do not meet the zeros that are not given: each row has a B of its own. */
static void multiply_rows(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                          const void *const a[], const uint64_t is_given[ROWS], const void *const b[],
                          const void *const c[])
{
    uint32_t kept[MATRIX_REGISTERS][WARP_LANES], row_d[MATRIX_REGISTERS][WARP_LANES],
        all_d[MATRIX_REGISTERS][WARP_LANES];
    const void *of_b[MATRIX_REGISTERS];
    void *of_d[MATRIX_REGISTERS];
    for (unsigned r = 0; r < MATRIX_REGISTERS; r++)
        of_b[r] = kept[r], of_d[r] = row_d[r];
    for (unsigned row = 0; row < ROWS; row++) {
        only_given(form, is_given[row], b, kept);
        matrix_mma_general(form, plan, of_d, a, of_b, c);
        unsigned per_line = form->d.registers / 2;
        for (unsigned r = row / 8 * per_line; r < (row / 8 + 1) * per_line; r++)
            memcpy(all_d[r] + row % 8 * 4, row_d[r] + row % 8 * 4, 4 * sizeof(uint32_t));
    }
    for (unsigned r = 0; r < form->d.registers; r++)
        memcpy(d[r], all_d[r], sizeof all_d[r]);
}

void matrix_mma_sparse(const struct matrix_form *form, const struct matrix_plan *plan, void *const d[],
                       const void *const given[], const uint32_t metadata[WARP_LANES], unsigned selector,
                       const void *const b[], const void *const c[])
{
    uint32_t expanded[MATRIX_REGISTERS][WARP_LANES];
    uint64_t is_given[ROWS];
    const void *a[MATRIX_REGISTERS];
    expand(form, given, metadata, selector, expanded, is_given);
    for (unsigned i = 0; i < MATRIX_REGISTERS; i++)
        a[i] = expanded[i];
    if (plan->tiled && matrix_multiply_tiles(form, plan, plan->level, d, a, b, c))
        return;
    multiply_rows(form, plan, d, a, is_given, b, c);
}
