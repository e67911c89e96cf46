/* Products of matrices as tiles (matrix_tile.h): which registers are which tile's. Numbers that tiles leave
 * out (infinities, NaN, extreme exponents) are for matrix_mma.c. */
#include "ptx_run/matrix_tile.h"
#include "ptx_run/matrix_arrays.h"

#include "exec/number.h"

#include <string.h>

extern const struct matrix_level matrix_level_base;
#ifdef ALU_X86_LEVELS
extern const struct matrix_level matrix_level_v3, matrix_level_v4;
#endif

const struct matrix_level *matrix_level_at(int level)
{
    if (!alu_has_level(level))
        return NULL;
#ifdef ALU_X86_LEVELS
    if (level)
        return level == 1 ? &matrix_level_v3 : &matrix_level_v4;
#endif
    return &matrix_level_base;
}

const struct matrix_level *matrix_level(void)
{
    const struct matrix_level *best = NULL;
    for (int level = ALU_LEVELS - 1; !best; level--)
        best = matrix_level_at(level);
    return best;
}

/* The columns whose products are summed together, in order. */
static void order_columns(struct matrix_plan *plan)
{
    unsigned parts = plan->elements, step = plan->by_halves ? 2 : parts;
    for (unsigned first = 0; first < parts; first += step)
        for (unsigned r = 0; r < plan->registers; r++)
            for (unsigned part = first; part < first + step; part++)
                plan->order[plan->columns++] = (uint8_t)(r * parts + part);
    plan->group_columns = (uint8_t)(plan->group / QUAD);
    if (plan->group % (QUAD * step) || plan->by_halves > 2) /* a group is less than a register */
        plan->tiled = false;
}

void matrix_plan_tiles(const struct matrix_form *form, struct matrix_plan *plan)
{
    plan->turned = form->n > 16;
    unsigned wide_lines = plan->turned ? form->n : form->m, narrow_lines = plan->turned ? form->m : form->n;
    plan->tiled = form->count == 1;
    if (!plan->tiled)
        return;
    plan->elements = form->a.elements;
    plan->registers = (uint8_t)(form->k / (QUAD * plan->elements));
    plan->lines = wide_lines < 16 ? 1 : 2;
    plan->wide_tiles = (uint8_t)(wide_lines < 16 ? 1 : wide_lines / 16);
    plan->narrow_tiles = (uint8_t)(narrow_lines / 8);
    if (form->a.type == MATRIX_b1)
        plan->columns = plan->registers;
    else if (form->d.type == MATRIX_s32)
        plan->columns = plan->registers * plan->elements / 2;
    else if (form->a.type != MATRIX_f64)
        order_columns(plan);
}

/* The first register of C or D that a tile has: of its two kinds of tile, only one counts up. */
static unsigned first_result(const struct matrix_operand *o, unsigned tile)
{
    return tile * (o->elements == 2 ? 2 : TILE_RESULTS);
}

/* The bits of C in f32: in its registers, or in `room`. */
static void load_c(const struct matrix_form *form, const struct matrix_level *level, const void *const c[],
                   unsigned first, uint32_t room[TILE_RESULTS][WARP_LANES], const uint32_t *x[TILE_RESULTS])
{
    bool half = form->c.type == MATRIX_f16;
    for (unsigned line = 0; line < 2 && half; line++)
        level->unpack(c[first + line], room + 2 * line);
    for (unsigned r = 0; r < TILE_RESULTS; r++)
        x[r] = half ? room[r] : c[first + r];
}

static void store_d(const struct matrix_form *form, const struct matrix_level *level,
                    const uint32_t x[TILE_RESULTS][WARP_LANES], void *const d[], unsigned first)
{
    if (form->d.type == MATRIX_f16)
        for (unsigned line = 0; line < 2; line++)
            level->pack(x + 2 * line, d[first + line]);
    else
        for (unsigned r = 0; r < TILE_RESULTS; r++)
            memcpy(d[first + r], x[r], sizeof x[r]);
}

/* Sums without C, to which C is then added, rounded to nearest. */
static void add_c(bool half, const uint32_t *const c[TILE_RESULTS], uint32_t d[TILE_RESULTS][WARP_LANES])
{
    for (unsigned r = 0; r < TILE_RESULTS; r++)
        for (unsigned i = 0; i < WARP_LANES; i++) {
            float sum = f32_bits(c[r][i]) + f32_bits(d[r][i]);
            d[r][i] = half ? bits_f32(f32_f16(f16_f32(sum))) : bits_f32(nan_f32(sum));
        }
}

static bool multiply_floats(const struct matrix_form *form, const struct matrix_plan *plan,
                            const struct matrix_level *level, void *const d[], const void *const wide[],
                            const void *const narrow[], const void *const c[])
{
    const enum matrix_type wide_type = plan->turned ? form->b.type : form->a.type,
                           narrow_type = plan->turned ? form->a.type : form->b.type;
    static const uint32_t zero[WARP_LANES];
    const uint32_t *const zeros[TILE_RESULTS] = {zero, zero, zero, zero}, *of_c[TILE_RESULTS];
    struct tile_wide w;
    struct tile_narrow n;
    _Alignas(64) uint32_t x[2][TILE_RESULTS][WARP_LANES], room[TILE_RESULTS][WARP_LANES];
    unsigned tiles = plan->wide_tiles * plan->narrow_tiles;
    for (unsigned tile = 0; tile < tiles; tile++) {
        unsigned of_wide = plan->wide_tiles > 1 ? tile : 0, of_narrow = plan->narrow_tiles > 1 ? tile : 0;
        if ((!tile || of_wide) && !level->wide(plan, wide_type, wide + of_wide * 2 * plan->registers, &w))
            return false;
        if ((!tile || of_narrow) &&
            !level->narrow(plan, narrow_type, narrow + of_narrow * plan->registers, &n))
            return false;
        load_c(form, level, c, first_result(&form->c, tile), room, of_c);
        if (!level->floats(plan, &w, &n, plan->by_halves ? zeros : of_c, x[tile]))
            return false;
        if (plan->by_halves)
            add_c(plan->half, of_c, x[tile]);
    }
    for (unsigned tile = 0; tile < tiles; tile++)
        store_d(form, level, (const uint32_t(*)[WARP_LANES])x[tile], d, first_result(&form->d, tile));
    return true;
}

static void multiply_words(const struct matrix_form *form, const struct matrix_plan *plan,
                           const struct matrix_level *level, void *const d[], const void *const wide[],
                           const void *const narrow[], const void *const c[])
{
    const enum matrix_type wide_type = plan->turned ? form->b.type : form->a.type,
                           narrow_type = plan->turned ? form->a.type : form->b.type;
    struct tile_wide_words w;
    struct tile_narrow_words n;
    unsigned tiles = plan->wide_tiles * plan->narrow_tiles, per_tile = 2u * plan->lines;
    uint32_t x[MATRIX_REGISTERS][WARP_LANES];
    void *to[MATRIX_REGISTERS];
    for (unsigned i = 0; i < MATRIX_REGISTERS; i++)
        to[i] = x[i];
    for (unsigned tile = 0; tile < tiles; tile++) {
        unsigned of_wide = plan->wide_tiles > 1 ? tile : 0, of_narrow = plan->narrow_tiles > 1 ? tile : 0;
        if (!tile || of_wide)
            level->wide_words(plan, wide_type, wide + of_wide * plan->lines * plan->registers, &w);
        if (!tile || of_narrow)
            level->narrow_words(plan, narrow_type, narrow + of_narrow * plan->registers, &n);
        level->words(plan, &w, &n, c + tile * per_tile, to + tile * per_tile);
    }
    for (unsigned i = 0; i < tiles * per_tile; i++)
        memcpy(d[i], x[i], sizeof x[i]);
}

bool matrix_multiply_tiles(const struct matrix_form *form, const struct matrix_plan *plan,
                           const struct matrix_level *level, void *const d[], const void *const a[],
                           const void *const b[], const void *const c[])
{
    const void *const *wide = plan->turned ? b : a, *const *narrow = plan->turned ? a : b;
    if (form->a.type == MATRIX_f64)
        return level->doubles(plan, wide, narrow, c, d);
    if (form->d.type != MATRIX_s32)
        return multiply_floats(form, plan, level, d, wide, narrow, c);
    multiply_words(form, plan, level, d, wide, narrow, c);
    return true;
}
