/* Products by tiles, on every level of this machine, against the general code: the same bits. */
#include "matrix_check.h"
#include "base/mem.h"
#include "ptx_run/matrix_tile.h"

/* matrix_arrays.h is for the room alone */
bool matrix_multiply_tiles(const struct matrix_form *form, const struct matrix_plan *plan,
                           const struct matrix_level *level, void *const d[], const void *const a[],
                           const void *const b[], const void *const c[]);

enum { ROUNDS = 300, KINDS = 7 };

static const struct {
    unsigned exponent, fraction;
} formats[] = {
    [MATRIX_f16] = {5, 10},  [MATRIX_bf16] = {8, 7}, [MATRIX_tf32] = {8, 23}, [MATRIX_f32] = {8, 23},
    [MATRIX_f64] = {11, 52}, [MATRIX_e4m3] = {4, 3}, [MATRIX_e5m2] = {5, 2},
};

/* A number of a kind: near 1; over a range that tiles have; over a wider one; small integers; any but those
 * of the largest exponent; any; zeros, or almost only zeros. */
static uint64_t random_float(enum matrix_type type, unsigned kind, struct rng *rng)
{
    unsigned fraction = formats[type].fraction, most = (1u << formats[type].exponent) - 1, bias = most / 2;
    uint64_t part = rng_next(rng) & ((UINT64_C(1) << fraction) - 1), exponent;
    uint64_t sign = rng_below(rng, 2) << (fraction + formats[type].exponent);
    if (kind == 6 && rng_below(rng, 200))
        return sign;
    unsigned spread = kind == 0 ? 2 : kind == 1 ? 12 : 60;
    if (kind == 3)
        return rng_below(rng, 3) ? encode(type, (int)rng_below(rng, 9) - 4) : 0;
    if (spread > bias - 1)
        spread = bias - 1;
    exponent = kind == 4 || kind == 6 ? rng_below(rng, most)
               : kind == 5            ? rng_below(rng, most + 1)
                                      : bias - spread + rng_below(rng, 2 * spread + 1);
    if (kind == 5 && rng_below(rng, 8)) /* not too many infinities and NaN */
        exponent = rng_below(rng, most);
    return rng_below(rng, 16) ? sign | exponent << fraction | part : sign;
}

static void fill(const struct matrix_operand *o, struct registers *r, unsigned kind, struct rng *rng)
{
    registers_init(r);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        for (unsigned element = 0; element < (unsigned)o->registers * o->elements; element++) {
            bool is_float = o->type <= MATRIX_e5m2;
            put(o, r, lane, element,
                is_float ? random_float(o->type, kind, rng)
                         : rng_next(rng) & (UINT64_MAX >> (64 - 32 / o->elements)));
        }
    if (o->type == MATRIX_f16 && o->elements == 2 && o->registers == 8) /* wmma repeats them */
        for (unsigned i = 0; i < 4; i++)
            memcpy(r->at[4 + i], r->at[i], WARP_LANES * 4);
}

static void compare(const char *opcode, unsigned sm, int level, unsigned kind, struct rng *rng,
                    unsigned *tiled)
{
    struct matrix_form form = parse(opcode);
    struct matrix_plan plan;
    struct registers a, b, c, d, expected;
    fill(&form.a, &a, kind, rng);
    fill(&form.b, &b, rng_below(rng, 4) ? kind : (unsigned)rng_below(rng, KINDS), rng);
    fill(&form.c, &c, rng_below(rng, 4) ? kind : (unsigned)rng_below(rng, KINDS), rng);
    registers_init(&d);
    registers_init(&expected);
    matrix_plan(&form, matrix_model(sm), &plan);
    plan.level = matrix_level_at(level);
    if (!plan.tiled)
        return;
    *tiled += matrix_multiply_tiles(&form, &plan, plan.level, d.at, (const void *const *)a.at,
                                    (const void *const *)b.at, (const void *const *)c.at);
    matrix_mma(&form, &plan, d.at, (const void *const *)a.at, (const void *const *)b.at,
               (const void *const *)c.at);
    matrix_mma_general(&form, &plan, expected.at, (const void *const *)a.at, (const void *const *)b.at,
                       (const void *const *)c.at);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        for (unsigned element = 0; element < (unsigned)form.d.registers * form.d.elements; element++)
            if (get(&form.d, &d, lane, element) != get(&form.d, &expected, lane, element))
                fail_msg("%s, sm_%u, level %d, kind %u: element %u of lane %u is %llx, not %llx", opcode, sm,
                         level, kind, element, lane, (unsigned long long)get(&form.d, &d, lane, element),
                         (unsigned long long)get(&form.d, &expected, lane, element));
}

static void tiles_are_like_the_general_code(void **state)
{
    (void)state;
    static const unsigned gpus[] = {70, 75, 89, 90};
    struct rng rng;
    rng_init(&rng, 11, "matrix tiles");
    for (int level = 0; level < ALU_LEVELS; level++) {
        if (!matrix_level_at(level))
            continue;
        for (size_t i = 0; i < COUNT_OF(products); i++)
            for (unsigned g = 0; g < COUNT_OF(gpus); g++) {
                unsigned tiled = 0;
                for (unsigned round = 0; round < ROUNDS / (g < 3 ? 6 : 1); round++)
                    compare(products[i], gpus[g], level, round % KINDS, &rng, &tiled);
                bool doubles = strstr(products[i], "f64") && level == 0;
                if (gpus[g] == 90 && !doubles && !strstr(products[i], "m8n8k4.") && !tiled)
                    fail_msg("%s: nothing was done by tiles on level %d", products[i], level);
            }
    }
}

/* Every product that tiles are for, with numbers as programs have them, is done by them. */
static void usual_numbers_are_done_by_tiles(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 12, "matrix tiles");
    for (size_t i = 0; i < COUNT_OF(products); i++)
        for (unsigned round = 0; round < 20; round++) {
            unsigned tiled = 0;
            if (strstr(products[i], ".m8n8k4."))
                continue;
            struct matrix_form form = parse(products[i]);
            unsigned kind = form.a.type == MATRIX_e4m3 || form.a.type == MATRIX_e5m2 ? 0 : round % 2;
            int level = 0;
            while (level < ALU_LEVELS - 1 && matrix_level_at(level + 1))
                level++;
            struct registers a, b, c, d;
            struct matrix_plan plan;
            fill(&form.a, &a, kind, &rng);
            fill(&form.b, &b, kind, &rng);
            fill(&form.c, &c, kind, &rng);
            registers_init(&d);
            matrix_plan(&form, matrix_model(90), &plan);
            tiled += plan.tiled && matrix_multiply_tiles(&form, &plan, matrix_level_at(level), d.at,
                                                         (const void *const *)a.at, (const void *const *)b.at,
                                                         (const void *const *)c.at);
            if (!tiled && !(form.a.type == MATRIX_f64 && level == 0))
                fail_msg("%s is left to the general code", products[i]);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(tiles_are_like_the_general_code),
        cmocka_unit_test(usual_numbers_are_done_by_tiles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
