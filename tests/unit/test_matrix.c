#include "matrix_check.h"

/* --- opcodes -------------------------------------------------------------------------------------------- */

static void wrong_opcodes_are_refused(void **state)
{
    (void)state;
    static const char *const wrong[] = {
        "mma",
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16",      /* a type is missing */
        "mma.sync.aligned.m16n8k16.row.row.f32.f16.f16.f32",  /* only row.col */
        "mma.sync.aligned.m16n8k4.row.col.f32.f16.f16.f32",   /* no such shape of f16 */
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.bf16.f32", /* types that do not go together */
        "mma.sync.aligned.m16n8k16.row.col.satfinite.f32.f16.f16.f32",
        "mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32",        /* neither xor nor and */
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32.later", /* a word unknown */
        "mma.sp.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32",
        "wmma.mma.sp.sync.aligned.row.col.m16n16k16.f32.f32",
        "wmma.load.d.sync.aligned.row.m16n16k16.f32",
        "wmma.load.a.sync.aligned.row.m16n16k16.f32",
        "wmma.load.a.sync.aligned.col.m8n8k32.s4",
        "wmma.store.a.sync.aligned.row.m16n16k16.f32",
        "wmma.mma.sync.aligned.row.col.m16n16k8.f32.f32",
        "ldmatrix.sync.aligned.m8n8.x3.shared.b16",
        "ldmatrix.sync.aligned.m8n8.x4.shared.b8",
        "movmatrix.sync.aligned.m8n8.b16",
        "add.f32",
    };
    for (size_t i = 0; i < COUNT_OF(wrong); i++) {
        struct matrix_form form;
        if (matrix_parse(wrong[i], &form))
            fail_msg("%s was taken", wrong[i]);
    }
}

static void registers_are_as_many_as_the_instruction_has(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        unsigned a, b, c, d;
    } rows[] = {
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f16", 2, 2, 4, 8},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 4, 2, 4, 4},
        {"mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16", 4, 2, 2, 2},
        {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 8, 4, 4, 4},
        {"mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32", 1, 1, 2, 2},
        {"mma.sync.aligned.m16n8k256.row.col.s32.b1.b1.s32.and.popc", 4, 2, 4, 4},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", 8, 8, 4, 8},
        {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32", 8, 8, 8, 8},
        {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.bf16.bf16.f32", 2, 8, 8, 8},
        {"wmma.mma.sync.aligned.row.col.m32n8k16.s32.u8.u8.s32", 4, 1, 8, 8},
        {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", 4, 4, 8, 8},
        {"wmma.mma.sync.aligned.row.col.m8n8k4.f64.f64.f64.f64.rn", 1, 1, 2, 2},
        {"wmma.load.a.sync.aligned.row.m16n16k16.global.f16", 0, 0, 0, 8},
        {"wmma.load.b.sync.aligned.col.m8n8k128.b1", 0, 0, 0, 1},
        {"wmma.load.c.sync.aligned.row.m32n8k16.shared.f16", 0, 0, 0, 4},
        {"wmma.store.d.sync.aligned.col.m16n16k16.global.s32", 0, 0, 0, 8},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct matrix_form form = parse(rows[i].opcode);
        assert_int_equal(form.a.registers, rows[i].a);
        assert_int_equal(form.b.registers, rows[i].b);
        assert_int_equal(form.c.registers, rows[i].c);
        assert_int_equal(form.d.registers, rows[i].d);
    }
}

/* --- layouts -------------------------------------------------------------------------------------------- */

/* From the tables of the PTX ISA; wmma's are what an H200 does. */
static void elements_are_where_ptx_says(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        char operand;
        uint8_t lane, element, row, column;
    } rows[] = {
        /* A: row = lane / 4 (+ 8 for a2, a3, a6, a7), column = lane % 4 * 2 + (i & 1) (+ 8 from a4 on) */
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'a', 7, 1, 1, 7},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'a', 7, 2, 9, 6},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'a', 7, 4, 1, 14},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'a', 31, 7, 15, 15},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'b', 9, 1, 3, 2},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'b', 9, 2, 10, 2},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'd', 9, 1, 2, 3},
        {"mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", 'd', 9, 2, 10, 2},
        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 'a', 6, 1, 9, 2},
        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 'a', 6, 2, 1, 6},
        {"mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32", 'b', 6, 1, 6, 1},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 'a', 6, 5, 9, 9},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 'a', 6, 8, 1, 24},
        {"mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32", 'b', 6, 7, 27, 1},
        {"mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32", 'a', 5, 17, 1, 41},
        {"mma.sync.aligned.m8n8k128.row.col.s32.b1.b1.s32.xor.popc", 'b', 5, 3, 35, 1},
        {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 'a', 6, 5, 9, 10},
        {"mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64", 'b', 6, 3, 14, 1},
        /* m8n8k4, four products: A and C of the third are rows 16 to 23, B columns 16 to 23 */
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 'a', 9, 3, 17, 3},
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 'a', 25, 3, 21, 3},
        {"mma.sync.aligned.m8n8k4.col.col.f32.f16.f16.f32", 'a', 25, 3, 23, 1},
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 'b', 25, 3, 3, 21},
        {"mma.sync.aligned.m8n8k4.row.row.f32.f16.f16.f32", 'b', 25, 3, 1, 23},
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 'd', 3, 6, 3, 6},
        {"mma.sync.aligned.m8n8k4.row.col.f32.f16.f16.f32", 'd', 19, 1, 5, 3},
        {"mma.sync.aligned.m8n8k4.row.col.f16.f16.f16.f16", 'd', 19, 5, 7, 5},
        /* wmma */
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 'a', 7, 4, 1, 14},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 'a', 7, 12, 1, 14},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 'b', 7, 2, 14, 1},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 'b', 7, 4, 6, 9},
        {"wmma.mma.sync.aligned.row.col.m16n16k16.f32.f32", 'd', 7, 6, 9, 14},
        {"wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32", 'a', 7, 8, 17, 6},
        {"wmma.mma.sync.aligned.row.col.m32n8k16.f32.f32", 'd', 7, 4, 17, 6},
        {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32", 'a', 7, 2, 1, 14},
        {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32", 'b', 7, 2, 6, 9},
        {"wmma.mma.sync.aligned.row.col.m8n32k16.f32.f32", 'd', 7, 1, 7, 1},
        {"wmma.mma.sync.aligned.row.col.m16n16k8.f32.tf32.tf32.f32", 'b', 7, 2, 3, 9},
    };
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        struct matrix_form form = parse(rows[i].opcode);
        unsigned row, column;
        matrix_element(rows[i].operand == 'a'   ? &form.a
                       : rows[i].operand == 'b' ? &form.b
                                                : &form.d,
                       rows[i].lane, rows[i].element, &row, &column);
        if (row != rows[i].row || column != rows[i].column)
            fail_msg("%s: element %u of lane %u of %c is at %u, %u", rows[i].opcode, rows[i].element,
                     rows[i].lane, rows[i].operand, row, column);
    }
}

static void check_all_there(const char *opcode, const struct matrix_operand *operand)
{
    static uint8_t seen[256][256];
    unsigned elements = operand->registers * operand->elements;
    unsigned times = elements * WARP_LANES / (operand->rows * operand->columns);
    memset(seen, 0, sizeof seen);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        for (unsigned element = 0; element < elements; element++) {
            unsigned row, column;
            matrix_element(operand, lane, element, &row, &column);
            assert_true(row < operand->rows && column < operand->columns);
            seen[row][column]++;
        }
    for (unsigned row = 0; row < operand->rows; row++)
        for (unsigned column = 0; column < operand->columns; column++)
            if (seen[row][column] != times)
                fail_msg("%s: row %u, column %u is there %u times", opcode, row, column, seen[row][column]);
}

static void every_element_is_held_equally_often(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT_OF(products); i++) {
        struct matrix_form form = parse(products[i]);
        check_all_there(products[i], &form.a);
        check_all_there(products[i], &form.b);
        check_all_there(products[i], &form.c);
        check_all_there(products[i], &form.d);
    }
}

/* --- products ------------------------------------------------------------------------------------------- */

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

static void products_are_products(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 7, "matrix");
    static const unsigned gpus[] = {70, 75, 80, 89, 90};
    for (size_t i = 0; i < COUNT_OF(products) * COUNT_OF(gpus); i++) {
        struct matrix_form form = parse(products[i / COUNT_OF(gpus)]);
        struct registers a, b, c, d;
        fill(&form.a, &a, matrices[0], &rng);
        fill(&form.b, &b, matrices[1], &rng);
        fill(&form.c, &c, matrices[2], &rng);
        registers_init(&d);
        multiply(&form, gpus[i % COUNT_OF(gpus)], d.at, a.at, b.at, c.at);
        for (unsigned lane = 0; lane < WARP_LANES; lane++)
            for (unsigned element = 0; element < (unsigned)form.d.registers * form.d.elements; element++) {
                unsigned row, column;
                matrix_element(&form.d, lane, element, &row, &column);
                uint64_t expected = encode(form.d.type, product_at(&form, row, column));
                if (get(&form.d, &d, lane, element) != expected)
                    fail_msg("%s on sm_%u: row %u, column %u is %llx, not %llx", products[i / COUNT_OF(gpus)],
                             gpus[i % COUNT_OF(gpus)], row, column,
                             (unsigned long long)get(&form.d, &d, lane, element),
                             (unsigned long long)expected);
            }
    }
}

static void a_destination_may_be_a_source(void **state)
{
    (void)state;
    struct matrix_form form = parse("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32");
    struct rng rng;
    rng_init(&rng, 8, "matrix");
    struct registers a, b, c, d;
    fill(&form.a, &a, matrices[0], &rng);
    fill(&form.b, &b, matrices[1], &rng);
    fill(&form.c, &c, matrices[2], &rng);
    registers_init(&d);
    multiply(&form, 90, d.at, a.at, b.at, c.at);
    multiply(&form, 90, a.at, a.at, b.at, c.at);
    for (unsigned i = 0; i < form.d.registers; i++)
        assert_memory_equal(a.at[i], d.at[i], WARP_LANES * 4);
}

/* --- how sums are rounded ------------------------------------------------------------------------------- */

/* The result of mma with the same row a[] of A and column b[] of B everywhere, and the same c. */
static uint32_t dot(const char *opcode, unsigned sm, const uint32_t *a, const uint32_t *b, unsigned count,
                    uint32_t c)
{
    struct matrix_form form = parse(opcode);
    struct registers ra, rb, rc, rd;
    registers_init(&ra);
    registers_init(&rb);
    registers_init(&rc);
    registers_init(&rd);
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        unsigned row, column;
        for (unsigned e = 0; e < (unsigned)form.a.registers * form.a.elements; e++) {
            matrix_element(&form.a, lane, e, &row, &column);
            put(&form.a, &ra, lane, e, column < count ? a[column] : 0);
        }
        for (unsigned e = 0; e < (unsigned)form.b.registers * form.b.elements; e++) {
            matrix_element(&form.b, lane, e, &row, &column);
            put(&form.b, &rb, lane, e, row < count ? b[row] : 0);
        }
        for (unsigned e = 0; e < (unsigned)form.c.registers * form.c.elements; e++)
            put(&form.c, &rc, lane, e, c);
    }
    multiply(&form, sm, rd.at, ra.at, rb.at, rc.at);
    uint32_t first = (uint32_t)get(&form.d, &rd, 0, 0);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        assert_int_equal(get(&form.d, &rd, lane, 1), first);
    return first;
}

static const char f32_of_f16[] = "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32";
static const char f16_of_f16[] = "mma.sync.aligned.m16n8k16.row.col.f16.f16.f16.f16";
enum { HALF_1 = 0x3c00, HALF_2_M13 = 0x0800, HALF_2_M12 = 0x0c00, HALF_INF = 0x7c00, HALF_GREATEST = 0x7bff };

static void small_products_are_cut_before_they_are_added(void **state)
{
    (void)state;
    uint32_t a[16], b[16];
    for (unsigned i = 0; i < 16; i++)
        a[i] = HALF_2_M13, b[i] = HALF_2_M12; /* 16 products of 2^-25 to 1: together 8 of its last bits */
    assert_int_equal(dot(f32_of_f16, 90, a, b, 16, 0x3f800000), 0x3f800004);
    assert_int_equal(dot(f32_of_f16, 80, a, b, 16, 0x3f800000), 0x3f800000); /* one bit less */
    b[0] = HALF_2_M13;                                                       /* 2^-26 is lost */
    assert_int_equal(dot(f32_of_f16, 90, a, b, 16, 0x3f800000), 0x3f800003);
}

static void sums_are_cut_toward_zero(void **state)
{
    (void)state;
    uint32_t a[] = {HALF_2_M12, HALF_2_M13}, minus[] = {HALF_2_M12 | 0x8000, HALF_2_M13 | 0x8000};
    uint32_t b[] = {HALF_2_M12, HALF_2_M12}; /* 2^-24 and 2^-25: three quarters of 1's last bit */
    assert_int_equal(dot(f32_of_f16, 90, a, b, 2, 0x3f800000), 0x3f800000);
    assert_int_equal(dot(f32_of_f16, 90, a, b, 2, 0xbf800000), 0xbf7ffffe);
    assert_int_equal(dot(f32_of_f16, 90, minus, b, 2, 0xbf800000), 0xbf800000);
    /* to f16 they go to the nearest */
    uint32_t two[] = {HALF_1, HALF_1},
             last[] = {0x1000, 0x0c00}; /* 2^-11, 2^-12: 1.5 halves of the last bit */
    assert_int_equal(dot(f16_of_f16, 90, two, last, 2, HALF_1), HALF_1 + 1);
    assert_int_equal(dot(f16_of_f16, 90, two, last, 1, HALF_1), HALF_1);
}

static void what_is_too_large_is_infinite(void **state)
{
    (void)state;
    uint32_t a[] = {HALF_GREATEST}, b[] = {HALF_1}, bf[] = {0x7f7f}, two[] = {0x4000};
    assert_int_equal(dot(f16_of_f16, 90, a, b, 1, HALF_GREATEST), HALF_INF);
    assert_int_equal(dot("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 90, bf, two, 1, 0),
                     0x7f800000);
    assert_int_equal(dot("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32", 80, bf, two, 1, 0),
                     0x7f800000);
}

static void infinities_and_nan_reach_the_result(void **state)
{
    (void)state;
    uint32_t a[] = {HALF_INF, HALF_1}, b[] = {HALF_1, HALF_1}, zero[] = {0, HALF_1},
             minus[] = {0xbc00, HALF_1};
    for (unsigned sm = 80; sm <= 90; sm += 10) {
        assert_int_equal(dot(f32_of_f16, sm, a, b, 2, 0), 0x7f800000);
        assert_int_equal(dot(f32_of_f16, sm, a, minus, 2, 0), 0xff800000);
        assert_int_equal(dot(f32_of_f16, sm, a, zero, 2, 0), NAN_F32);
        assert_int_equal(dot(f32_of_f16, sm, a, minus, 2, 0x7f800000), NAN_F32);
        assert_int_equal(dot(f32_of_f16, sm, b, b, 2, 0x7fc12345), NAN_F32);
        assert_int_equal(dot(f16_of_f16, sm, a, zero, 2, 0), NAN_F16);
        assert_int_equal(dot(f16_of_f16, sm, a, minus, 2, 0), HALF_INF | 0x8000);
    }
}

/* sm_90 has no instruction for it: f16 products without C, to which C is added. */
static void fp8_on_a_gpu_that_only_emulates_it(void **state)
{
    (void)state;
    uint32_t a[] = {0x38}, b[] = {0x38}; /* 1 * 1 */
    static const char opcode[] = "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32";
    assert_int_equal(dot(opcode, 90, a, b, 1, 0x4b800001), 0x4b800002); /* 2^24 + 2 + 1, to the even */
    assert_int_equal(dot(opcode, 89, a, b, 1, 0x4b800001), 0x4b800000); /* 13 bits are kept */
}

static void integers_wrap_or_stop(void **state)
{
    (void)state;
    uint32_t a[] = {127, 127}, b[] = {127, 127}, minus[] = {0x80, 0x80};
    assert_int_equal(dot("mma.sync.aligned.m16n8k16.row.col.s32.s8.s8.s32", 90, a, b, 2, INT32_MAX),
                     (uint32_t)INT32_MAX + 2 * 127 * 127);
    assert_int_equal(dot("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32", 90, a, b, 2, INT32_MAX),
                     INT32_MAX);
    assert_int_equal(
        dot("mma.sync.aligned.m16n8k16.row.col.satfinite.s32.s8.s8.s32", 90, a, minus, 2, 0x80000000),
        0x80000000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wrong_opcodes_are_refused),
        cmocka_unit_test(registers_are_as_many_as_the_instruction_has),
        cmocka_unit_test(elements_are_where_ptx_says),
        cmocka_unit_test(every_element_is_held_equally_often),
        cmocka_unit_test(products_are_products),
        cmocka_unit_test(a_destination_may_be_a_source),
        cmocka_unit_test(small_products_are_cut_before_they_are_added),
        cmocka_unit_test(sums_are_cut_toward_zero),
        cmocka_unit_test(what_is_too_large_is_infinite),
        cmocka_unit_test(infinities_and_nan_reach_the_result),
        cmocka_unit_test(fp8_on_a_gpu_that_only_emulates_it),
        cmocka_unit_test(integers_wrap_or_stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
