/* wgmma: where descriptors say that elements are, as an H200 reads them. (Products are compared by
 * oracle.groups.) */
#include "matrix_check.h"
#include "ptx_run/matrix_group.h"

enum { COLUMNS = 64, BYTES = 40960, LEADING = 1024, STRIDE = 2048 };

/* B in memory: whether it is transposed, swizzle, start, base; an element, and its address in 2048 bytes. */
static const struct {
    uint8_t transposed, swizzle;
    uint16_t start;
    uint8_t base, k, column;
    uint16_t address;
} rows[] = {
    {0, 0, 0, 0, 8, 45, 1104},    {0, 1, 0, 3, 0, 59, 384},    {0, 1, 0, 4, 7, 6, 814},
    {0, 1, 0, 7, 5, 14, 890},     {0, 1, 0, 0, 11, 60, 598},   {0, 1, 1664, 0, 7, 48, 1758},
    {0, 1, 384, 3, 3, 31, 1398},  {0, 1, 512, 4, 0, 27, 944},  {0, 1, 896, 7, 13, 35, 1322},
    {0, 1, 96, 0, 5, 49, 250},    {0, 2, 0, 3, 5, 9, 90},      {0, 2, 0, 4, 4, 56, 8},
    {0, 2, 0, 7, 4, 16, 24},      {0, 2, 0, 0, 0, 0, 0},       {0, 2, 1664, 0, 6, 27, 1900},
    {0, 2, 384, 3, 5, 21, 746},   {0, 2, 512, 4, 9, 40, 530},  {0, 2, 896, 7, 6, 26, 1052},
    {0, 2, 96, 0, 5, 25, 186},    {0, 3, 0, 3, 12, 38, 216},   {0, 3, 0, 4, 0, 46, 208},
    {0, 3, 0, 7, 13, 21, 186},    {0, 3, 0, 0, 4, 33, 40},     {0, 3, 1664, 0, 2, 42, 1748},
    {0, 3, 384, 3, 9, 0, 402},    {0, 3, 512, 4, 10, 8, 532},  {0, 3, 896, 7, 9, 45, 1058},
    {0, 3, 96, 0, 9, 61, 274},    {1, 0, 0, 0, 10, 23, 1070},  {1, 1, 0, 3, 15, 60, 952},
    {1, 1, 0, 4, 5, 7, 670},      {1, 1, 0, 7, 8, 2, 20},      {1, 1, 0, 0, 11, 51, 470},
    {1, 1, 1664, 0, 0, 53, 1722}, {1, 1, 384, 3, 11, 48, 848}, {1, 1, 512, 4, 0, 57, 626},
    {1, 1, 896, 7, 1, 23, 1086},  {1, 1, 96, 0, 6, 15, 798},   {1, 2, 0, 3, 7, 59, 1526},
    {1, 2, 0, 4, 11, 45, 1226},   {1, 2, 0, 7, 8, 59, 1062},   {1, 2, 0, 0, 3, 47, 1230},
    {1, 2, 1664, 0, 9, 4, 1752},  {1, 2, 384, 3, 13, 11, 758}, {1, 2, 512, 4, 6, 43, 1958},
    {1, 2, 896, 7, 11, 18, 1140}, {1, 2, 96, 0, 10, 35, 1270}, {1, 3, 0, 3, 2, 39, 94},
    {1, 3, 0, 4, 10, 39, 78},     {1, 3, 0, 7, 5, 10, 180},    {1, 3, 0, 0, 4, 39, 158},
    {1, 3, 1664, 0, 15, 20, 872}, {1, 3, 384, 3, 1, 10, 436},  {1, 3, 512, 4, 12, 4, 664},
    {1, 3, 896, 7, 7, 44, 1128},  {1, 3, 96, 0, 8, 58, 1140},
};

/* A has a 1 for each k, so that the result is B, whose elements are half their addresses. */
static void elements_are_where_an_h200_reads_them(void **state)
{
    (void)state;
    static uint16_t memory[BYTES / 2];
    static uint32_t a[GROUP_A][WARP_LANES], d[COLUMNS / 2][WARP_LANES];
    struct matrix_group group = {.tiles = COLUMNS / 8, .a_in_registers = true};
    unsigned columns;
    void *of_d[COLUMNS / 2];
    assert_true(
        matrix_parse_group("wgmma.mma_async.sync.aligned.m64n64k16.f32.f16.f16", &group.tile, &columns));
    assert_int_equal(columns, COLUMNS);
    matrix_plan_group(&group.tile, &group.plan);
    for (unsigned i = 0; i < BYTES / 2; i++)
        memory[i] = f16_f32((float)(i & 1023));
    for (unsigned lane = 0; lane < WARP_LANES; lane++)
        for (unsigned element = 0; element < 8; element++) {
            unsigned row, column;
            matrix_element(&group.tile.a, lane, element, &row, &column);
            a[element / 2][lane] |= row == column ? 0x3c00u << element % 2 * 16 : 0;
        }
    for (unsigned i = 0; i < COLUMNS / 2; i++)
        of_d[i] = d[i];
    for (unsigned i = 0; i < COUNT_OF(rows); i++) {
        uint64_t bits = rows[i].start / 16 | (uint64_t)LEADING / 16 << 16 | (uint64_t)STRIDE / 16 << 32 |
                        (uint64_t)rows[i].base << 49 | (uint64_t)rows[i].swizzle << 62;
        struct matrix_group_call call = {.of_b = matrix_descriptor(bits)};
        struct matrix_memory shared = {.at = (const char *)memory, .bytes = BYTES};
        for (unsigned r = 0; r < GROUP_A; r++)
            call.a[r] = a[r];
        group.transpose_b = rows[i].transposed;
        assert_true(matrix_group_multiply(&group, &call, &shared, of_d));
        unsigned lane = rows[i].k % 8 * 4 + rows[i].column % 8 / 2;
        unsigned r = rows[i].column / 8 * 4 + rows[i].k / 8 * 2 + rows[i].column % 2;
        if (f32_bits(d[r][lane]) != (float)rows[i].address / 2)
            fail_msg("row %u: %g, not %u", i, 2 * (double)f32_bits(d[r][lane]), rows[i].address);
    }
}

static void reads_beyond_shared_memory_are_found(void **state)
{
    (void)state;
    static uint32_t a[WARP_LANES], d[4][WARP_LANES];
    static char memory[256];
    struct matrix_group group = {.tiles = 1, .a_in_registers = true};
    void *of_d[] = {d[0], d[1], d[2], d[3]};
    unsigned columns;
    assert_true(
        matrix_parse_group("wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16", &group.tile, &columns));
    matrix_plan_group(&group.tile, &group.plan);
    for (unsigned bytes = 255; bytes <= 256; bytes++) {
        struct matrix_memory shared = {.at = memory, .bytes = bytes};
        struct matrix_group_call call = {.a = {a, a, a, a}, .of_b = matrix_descriptor(128 / 16 << 16)};
        assert_int_equal(matrix_group_multiply(&group, &call, &shared, of_d), bytes == 256);
        if (bytes == 255)
            assert_int_equal(shared.outside_at, 240);
    }
}

static void opcodes_are_those_of_ptx(void **state)
{
    (void)state;
    static const struct {
        const char *opcode;
        bool known;
    } opcodes[] = {
        {"wgmma.mma_async.sync.aligned.m64n256k8.f32.tf32.tf32", true},
        {"wgmma.mma_async.sync.aligned.m64n24k32.s32.u8.s8.satfinite", true},
        {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.and.popc", true},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k64.f16.e5m2.e4m3", true},
        {"wgmma.mma_async.sync.aligned.m64n264k8.f32.tf32.tf32", false},
        {"wgmma.mma_async.sync.aligned.m64n12k8.f32.tf32.tf32", false},
        {"wgmma.mma_async.sync.aligned.m64n40k32.s32.u8.s8", false}, /* integers: not of 32 on, by 8 */
        {"wgmma.mma_async.sync.aligned.m64n8k16.f16.bf16.bf16", false},
        {"wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.bf16", false},
        {"wgmma.mma_async.sync.aligned.m64n8k8.f32.f16.f16", false},
        {"wgmma.mma_async.sync.aligned.m64n8k256.s32.b1.b1.xor.popc", false},
        {"wgmma.mma_async.sp.sync.aligned.m64n8k512.s32.b1.b1.and.popc", false},
        {"wgmma.mma_async.sync.aligned.m64n8k4.f64.f64.f64", false},
        {"wgmma.mma_async.sync.aligned.m64n8k64.s32.s4.s4", false},
        {"wgmma.mma_async.sync.aligned.m16n8k16.f32.f16.f16", false},
    };
    for (unsigned i = 0; i < COUNT_OF(opcodes); i++) {
        struct matrix_form tile;
        unsigned columns;
        if (matrix_parse_group(opcodes[i].opcode, &tile, &columns) != opcodes[i].known)
            fail_msg("%s is %s", opcodes[i].opcode, opcodes[i].known ? "not known" : "taken");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(elements_are_where_an_h200_reads_them),
        cmocka_unit_test(reads_beyond_shared_memory_are_found),
        cmocka_unit_test(opcodes_are_those_of_ptx),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
