/* Products of matrices in tiles of 16 lines of one operand, the wide one, and 8 of the other, the narrow one
 * (a line is a row of A or a column of B). Lanes stay where fragments have them: a line is four lanes, a
 * quad, and the four results of a lane belong to its line, and the line 8 below it, and to two lines of the
 * narrow operand. So only the narrow operand has to be rearranged. Compiled for several levels of x86-64,
 * which give the same bits (matrix_level.h). */
#ifndef PTX_RUN_MATRIX_TILE_H
#define PTX_RUN_MATRIX_TILE_H

#include "ptx_run/matrix.h"
#include "ptx_run/alu.h"

enum {
    TILE_RESULTS = 4, /* of a lane: both lines of the narrow operand, then those of the line below */
    QUAD = 4,
};

/* A column is what one element of a register is in all lanes: four places of each line. Exponents count from
 * `base` down; TILE_ZERO is that of a zero, and with it no sum reaches that of a product. Numbers are
 * multiplied by 2^-scale. */
enum { TILE_LEAST = -31, TILE_ZERO = -63 };
struct tile_wide {
    _Alignas(64) float x[MATRIX_COLUMNS][2][WARP_LANES]; /* the line's own, then that of the line 8 below */
    int8_t exponent[MATRIX_COLUMNS][2][WARP_LANES];
    int base, scale;
};
struct tile_narrow {
    _Alignas(64) float x[MATRIX_COLUMNS][QUAD][2]
                        [QUAD]; /* by lane of the quad, result and lane of the result's quad */
    int8_t exponent[MATRIX_COLUMNS][QUAD][2][QUAD];
    int base, scale;
};

/* Integers of up to 8 bits as pairs of 16; words of single bits; doubles. Layouts as above. */
struct tile_wide_words {
    _Alignas(64) uint32_t x[MATRIX_COLUMNS][2][WARP_LANES];
};
struct tile_narrow_words {
    _Alignas(64) uint32_t x[MATRIX_COLUMNS][QUAD][2][QUAD];
};

/* The functions of a level. Registers are vectors of 32 lanes. Those that give false have met numbers that
 * they leave to the general code; results are undefined then. */
struct matrix_level {
    bool (*wide)(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                 struct tile_wide *tile);
    bool (*narrow)(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                   struct tile_narrow *tile);
    /* c: the bits of f32 */
    bool (*floats)(const struct matrix_plan *plan, const struct tile_wide *wide,
                   const struct tile_narrow *narrow, const uint32_t *const c[TILE_RESULTS],
                   uint32_t d[TILE_RESULTS][WARP_LANES]);
    void (*wide_words)(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                       struct tile_wide_words *tile);
    void (*narrow_words)(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                         struct tile_narrow_words *tile);
    void (*words)(const struct matrix_plan *plan, const struct tile_wide_words *wide,
                  const struct tile_narrow_words *narrow, const void *const c[], void *const d[]);
    bool (*doubles)(const struct matrix_plan *plan, const void *const wide[], const void *const narrow[],
                    const void *const c[], void *const d[]);
    /* between f16, two in a register, and the bits of f32 */
    void (*unpack)(const void *halves, uint32_t x[2][WARP_LANES]);
    void (*pack)(const uint32_t x[2][WARP_LANES], void *halves);
};

/* That of this machine; or of a given level, NULL if the machine cannot run it. */
const struct matrix_level *matrix_level(void);
const struct matrix_level *matrix_level_at(int level);

#endif
