#include "matrix_check.h"

static void move_runs(const struct matrix_operand *o, struct registers *r, unsigned char *memory,
                      int64_t stride, bool store)
{
    for (unsigned lane = 0; lane < WARP_LANES; lane++) {
        struct matrix_run runs[MATRIX_RUNS];
        unsigned count = matrix_runs(o, lane, stride, runs);
        assert_true(count <= MATRIX_RUNS);
        for (unsigned i = 0; i < count; i++) {
            unsigned bytes = o->type == MATRIX_f64 ? 8 : 4;
            unsigned char *in_register = (unsigned char *)r->at[runs[i].number] + lane * bytes + runs[i].byte;
            assert_true(runs[i].byte + runs[i].bytes <= bytes);
            memcpy(store ? memory + runs[i].offset : in_register,
                   store ? in_register : memory + runs[i].offset, runs[i].bytes);
        }
    }
}

/* Loads, multiplies and stores with strides wider than the matrices, as a program does. */
static void wmma_from_memory_to_memory(void **state)
{
    (void)state;
    static const struct {
        const char *shape, *type, *result;
        unsigned m, n, k, bytes;
    } rows[] = {
        {"m16n16k16", "f16", "f32", 16, 16, 16, 2}, {"m32n8k16", "f16", "f32", 32, 8, 16, 2},
        {"m8n32k16", "bf16", "f32", 8, 32, 16, 2},  {"m16n16k8", "tf32", "f32", 16, 16, 8, 4},
        {"m8n8k4", "f64", "f64", 8, 8, 4, 8},       {"m16n16k16", "s8", "s32", 16, 16, 16, 1},
        {"m8n32k16", "s8", "s32", 8, 32, 16, 1},
    };
    enum { STRIDE = 40 };
    struct rng rng;
    rng_init(&rng, 9, "matrix");
    for (unsigned i = 0; i < 16 * COUNT_OF(rows); i++) {
        unsigned m = rows[i / 16].m, n = rows[i / 16].n, k = rows[i / 16].k;
        const char *la = i & 1 ? "col" : "row", *lb = i & 2 ? "col" : "row", *lc = i & 4 ? "col" : "row",
                   *ld = i & 8 ? "col" : "row";
        char text[128];
        const char *shape = rows[i / 16].shape, *type = rows[i / 16].type, *result = rows[i / 16].result;
        snprintf(text, sizeof text, "wmma.load.a.sync.aligned.%s.%s.shared.%s", la, shape, type);
        struct matrix_form load_a = parse(text);
        snprintf(text, sizeof text, "wmma.load.b.sync.aligned.%s.%s.global.%s", lb, shape, type);
        struct matrix_form load_b = parse(text);
        snprintf(text, sizeof text, "wmma.load.c.sync.aligned.%s.%s.%s", lc, shape, result);
        struct matrix_form load_c = parse(text);
        snprintf(text, sizeof text, "wmma.store.d.sync.aligned.%s.%s.%s", ld, shape, result);
        struct matrix_form store = parse(text);
        snprintf(text, sizeof text, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s.%s.%s", la, lb, shape, result, type,
                 type, result);
        if (!strcmp(type, "f16"))
            snprintf(text, sizeof text, "wmma.mma.sync.aligned.%s.%s.%s.%s.%s", la, lb, shape, result,
                     result);
        struct matrix_form form = parse(text);

        static unsigned char memory[4][STRIDE * STRIDE * 8];
        const struct matrix_operand *operands[3] = {&load_a.d, &load_b.d, &load_c.d};
        struct registers r[4];
        memset(memory, 0xa5, sizeof memory);
        for (unsigned o = 0; o < 3; o++) {
            unsigned lines = o == 1 ? k : m, columns = o == 0 ? k : n;
            unsigned bytes = o == 2 ? (!strcmp(result, "f64") ? 8 : 4) : rows[i / 16].bytes;
            for (unsigned row = 0; row < lines; row++)
                for (unsigned column = 0; column < columns; column++) {
                    int value = random_value(operands[o]->type, &rng);
                    uint64_t bits = encode(operands[o]->type, value);
                    unsigned place = operands[o]->by_column ? column * STRIDE + row : row * STRIDE + column;
                    matrices[o][row * columns + column] = value;
                    memcpy(memory[o] + place * bytes, &bits, bytes);
                }
            registers_init(&r[o]);
            move_runs(operands[o], &r[o], memory[o], STRIDE, false);
        }
        registers_init(&r[3]);
        multiply(&form, 90, r[3].at, r[0].at, r[1].at, r[2].at);
        move_runs(&store.d, &r[3], memory[3], STRIDE, true);
        unsigned bytes = store.d.type == MATRIX_f64 ? 8 : 4;
        for (unsigned row = 0; row < m; row++)
            for (unsigned column = 0; column < n; column++) {
                uint64_t expected = encode(store.d.type, product_at(&form, row, column)), found = 0;
                unsigned place = store.d.by_column ? column * STRIDE + row : row * STRIDE + column;
                memcpy(&found, memory[3] + place * bytes, bytes);
                if (found != expected)
                    fail_msg("%s: row %u, column %u", text, row, column);
            }
    }
}

static void runs_are_as_long_as_they_can_be(void **state)
{
    (void)state;
    struct matrix_run runs[MATRIX_RUNS];
    struct matrix_form form = parse("wmma.load.a.sync.aligned.row.m16n16k16.f16");
    assert_int_equal(matrix_runs(&form.d, 5, 16, runs), 8); /* a register each */
    assert_int_equal(runs[1].number, 1);
    assert_int_equal(runs[1].offset, ((1 + 8) * 16 + 2) * 2);
    assert_int_equal(runs[1].bytes, 4);
    form = parse("wmma.load.a.sync.aligned.col.m16n16k16.f16");
    assert_int_equal(matrix_runs(&form.d, 5, 16, runs), 16);
    form = parse("wmma.load.a.sync.aligned.row.m8n8k32.s4");
    assert_int_equal(matrix_runs(&form.d, 5, 64, runs), 1);
    assert_int_equal(runs[0].offset, (1 * 64 + 8) / 2);
    assert_int_equal(runs[0].bytes, 4);
    form = parse("wmma.load.b.sync.aligned.col.m8n8k128.b1");
    assert_int_equal(matrix_runs(&form.d, 5, 128, runs), 1);
    assert_int_equal(runs[0].offset, (1 * 128 + 32) / 8);
}

static void ldmatrix_stmatrix_and_movmatrix(void **state)
{
    (void)state;
    uint16_t rows[WARP_LANES][8], back[WARP_LANES][8];
    struct registers d, turned, moved;
    for (unsigned i = 0; i < WARP_LANES * 8; i++)
        rows[i / 8][i % 8] = (uint16_t)i;
    registers_init(&d);
    registers_init(&turned);
    registers_init(&moved);
    struct matrix_form load = parse("ldmatrix.sync.aligned.m8n8.x4.shared.b16");
    struct matrix_form load_turned = parse("ldmatrix.sync.aligned.m8n8.x4.trans.shared::cta.b16");
    struct matrix_form store = parse("stmatrix.sync.aligned.m8n8.x4.shared.b16");
    struct matrix_form store_turned = parse("stmatrix.sync.aligned.m8n8.x2.trans.shared.b16");
    matrix_ldmatrix(&load, d.at, (const uint16_t(*)[8])rows);
    matrix_ldmatrix(&load_turned, turned.at, (const uint16_t(*)[8])rows);
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        for (unsigned i = 0; i < 4; i++) {
            unsigned first = i * 64 + lane / 4 * 8 + lane % 4 * 2; /* row lane / 4 of matrix i */
            assert_int_equal(((uint32_t *)d.at[i])[lane], first | (first + 1) << 16);
            first = i * 64 + lane % 4 * 2 * 8 + lane / 4;
            assert_int_equal(((uint32_t *)turned.at[i])[lane], first | (first + 8) << 16);
        }
    matrix_stmatrix(&store, back, (const void *const *)d.at);
    assert_memory_equal(back, rows, sizeof rows);
    memset(back, 0, sizeof back);
    matrix_stmatrix(&store_turned, back, (const void *const *)turned.at);
    assert_memory_equal(back, rows, sizeof rows / 2);
    assert_int_equal(back[16][0], 0);
    assert_int_equal(parse("movmatrix.sync.aligned.m8n8.trans.b16").kind, MATRIX_MOVMATRIX);
    matrix_movmatrix(moved.at[0], d.at[0]);
    assert_memory_equal(moved.at[0], turned.at[0], WARP_LANES * 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(wmma_from_memory_to_memory),
        cmocka_unit_test(runs_are_as_long_as_they_can_be),
        cmocka_unit_test(ldmatrix_stmatrix_and_movmatrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
