/* mma.sp: products with what the metadata say of A. Layouts and roundings were compared with an H200. */
#include "matrix_check.h"

static const struct {
    const char *opcode;
    unsigned selectors, unit; /* bits that the metadata tell apart */
} rows[] = {
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 16},
    {"mma.sp.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 16},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.f16.f16.f32", 2, 16},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 4, 16},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.f32.bf16.bf16.f32", 2, 16},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 4, 16},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k16.row.col.f32.tf32.tf32.f32", 2, 16},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.f32.e4m3.e5m2.f32", 1, 8},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k32.row.col.s32.s8.u8.s32", 2, 8},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.satfinite.s32.s8.s8.s32", 1, 8},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k64.row.col.s32.s4.u4.s32", 2, 8},
    {"mma.sp::ordered_metadata.sync.aligned.m16n8k128.row.col.s32.u4.u4.s32", 1, 8},
};

enum { ROWS = 16, PLACES = 128 };

/* The metadata's word and first bit for a group of a row, as PTX has them. */
static void metadata_at(unsigned unit, unsigned bits, unsigned selector, unsigned row, unsigned group,
                        unsigned *lane, unsigned *bit)
{
    unsigned quad = row % 8 * 4;
    if (unit == 16) {
        *lane = quad + selector * (bits / 16) + group / 4;
        *bit = row / 8 * 16 + group % 4 * 4;
    } else {
        *lane = quad + (bits == 32 ? selector * 2 : group / 8 * 2) + row / 8;
        *bit = group % 8 * 4;
    }
}

/* A is made sparse: of each group of four units two are left, which are what is given. */
static void make_sparse(const struct matrix_form *form, unsigned unit, unsigned selector,
                        struct registers *given, uint32_t metadata[WARP_LANES], struct rng *rng)
{
    static const uint8_t pairs[] = {4, 8, 12, 9, 13, 14};
    unsigned type_bits = 32 / form->given.elements, k = form->k, per_group = 4 * unit / type_bits;
    bool whole = type_bits == 32; /* a tf32 is two units */
    int all[ROWS][PLACES];
    memset(all, 0, sizeof all);
    registers_init(given);
    for (unsigned i = 0; i < WARP_LANES; i++)
        metadata[i] = (uint32_t)rng_next(rng);
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned group = 0; group < k / per_group; group++) {
            unsigned lane, bit, pair = whole ? (rng_next(rng) & 1 ? 4 : 14) : pairs[rng_below(rng, 6)];
            metadata_at(unit, k / per_group * 4, selector, row, group, &lane, &bit);
            metadata[lane] = (metadata[lane] & ~(15u << bit)) | pair << bit;
            for (unsigned i = 0; i < per_group / 2; i++) { /* elements */
                unsigned of = i * type_bits / unit;        /* which of the two units */
                unsigned at =
                    whole ? pair == 14 : (pair >> 2 * of & 3) * (unit / type_bits) + i % (unit / type_bits);
                all[row][group * per_group + at] = 1000 + (int)(group * per_group / 2 + i);
            }
        }
    for (unsigned row = 0; row < ROWS; row++)
        for (unsigned i = 0; i < k; i++)
            if (!all[row][i])
                matrices[0][row * k + i] = 0;
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        for (unsigned element = 0; element < (unsigned)form->given.registers * form->given.elements;
             element++) {
            unsigned row, column, at = 0;
            matrix_element(&form->given, lane, element, &row, &column);
            while (all[row][at] != 1000 + (int)column)
                at++;
            put(&form->given, given, lane, element, encode(form->given.type, matrices[0][row * k + at]));
        }
}

static void fill(const struct matrix_operand *o, struct registers *r, int *values, struct rng *rng)
{
    for (unsigned i = 0; i < (unsigned)o->rows * o->columns; i++)
        values[i] = random_value(o->type, rng);
    registers_init(r);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        for (unsigned element = 0; element < (unsigned)o->registers * o->elements; element++) {
            unsigned row, column;
            matrix_element(o, lane, element, &row, &column);
            put(o, r, lane, element, encode(o->type, values[row * o->columns + column]));
        }
}

static void sparse_products_are_products(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 3, "sparse");
    for (unsigned i = 0; i < COUNT_OF(rows) * 16; i++) {
        struct matrix_form form = parse(rows[i / 16].opcode);
        struct matrix_plan plan;
        struct registers a, given, b, c, d;
        uint32_t metadata[WARP_LANES];
        unsigned selector = i % rows[i / 16].selectors;
        matrix_plan(&form, matrix_model(90), &plan);
        fill(&form.a, &a, matrices[0], &rng);
        fill(&form.b, &b, matrices[1], &rng);
        fill(&form.c, &c, matrices[2], &rng);
        registers_init(&d);
        make_sparse(&form, rows[i / 16].unit, selector, &given, metadata, &rng);
        matrix_mma_sparse(&form, &plan, d.at, (const void *const *)given.at, metadata, selector,
                          (const void *const *)b.at, (const void *const *)c.at);
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            for (unsigned element = 0; element < (unsigned)form.d.registers * form.d.elements; element++) {
                unsigned row, column;
                matrix_element(&form.d, lane, element, &row, &column);
                uint64_t expected = encode(form.d.type, product_at(&form, row, column));
                if (get(&form.d, &d, lane, element) != expected)
                    fail_msg("%s, selector %u: row %u, column %u is %llx, not %llx", rows[i / 16].opcode,
                             selector, row, column, (unsigned long long)get(&form.d, &d, lane, element),
                             (unsigned long long)expected);
            }
    }
}

static void selectors_are_as_many_as_the_instruction_has(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        struct matrix_form form = parse(rows[i].opcode);
        assert_true(matrix_has_selector(&form, rows[i].selectors - 1));
        assert_false(matrix_has_selector(&form, rows[i].selectors));
    }
}

/* What is not given is not there: an infinity of B does not meet it. */
static void infinities_do_not_meet_what_is_not_given(void **state)
{
    (void)state;
    struct matrix_form form = parse(rows[0].opcode);
    struct matrix_plan plan;
    struct registers given, b, c, d;
    uint32_t metadata[WARP_LANES];
    matrix_plan(&form, matrix_model(90), &plan);
    registers_init(&given), registers_init(&b), registers_init(&c), registers_init(&d);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        metadata[lane] = 0x4444eeee; /* rows 0 to 7 have places 2 and 3 of 4, rows 8 to 15 places 0 and 1 */
        if (lane % 4 == 1)           /* k = 2, 3: infinity, 1 */
            put(&form.b, &b, lane, 0, 0x7c00), put(&form.b, &b, lane, 1, 0x3c00);
        for (unsigned i = 0; i < 4; i++)
            put(&form.given, &given, lane, i, 0x3c00);
    }
    matrix_mma_sparse(&form, &plan, d.at, (const void *const *)given.at, metadata, 0,
                      (const void *const *)b.at, (const void *const *)c.at);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        assert_int_equal(get(&form.d, &d, lane, 0), 0x7f800000);
        assert_int_equal(get(&form.d, &d, lane, 2), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sparse_products_are_products),
        cmocka_unit_test(selectors_are_as_many_as_the_instruction_has),
        cmocka_unit_test(infinities_do_not_meet_what_is_not_given),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
