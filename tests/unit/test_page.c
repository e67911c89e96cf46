/* Floating-point operations of instructions, for rooflines. */
#include "check.h"
#include "report/page/page.h"

#include <string.h>

static void counts(const char *instruction, const char *wanted_kind, double wanted)
{
    const char *kind = "";
    double flops = html_flops(instruction, &kind);
    if (flops != wanted || strcmp(kind, wanted_kind) != 0)
        print_error("%s: %g %s\n", instruction, flops, kind);
    assert_true(flops == wanted);
    assert_string_equal(kind, wanted_kind);
}

static void operations_of_a_thread(void **state)
{
    (void)state;
    counts("fma.rn.f32", "fp32", 2);
    counts("add.f32", "fp32", 1);
    counts("mul.rn.ftz.f64", "fp64", 1);
    counts("fma.rn.f16x2", "fp16", 4);
    counts("add.bf16x2", "fp16", 2);
    counts("v_mac_f32_e32", "fp32", 2);
    counts("v_mul_f32_e64", "fp32", 1);
    counts("v_fma_f64", "fp64", 2);
}

/* A thread's share of the product. */
static void matrices(void **state)
{
    (void)state;
    counts("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32", "tensor", 2 * 16 * 8 * 16 / 32.0);
    counts("wmma.mma.sync.aligned.row.col.m16n16k16.f32.f16", "tensor", 2 * 16 * 16 * 16 / 32.0);
    counts("wgmma.mma_async.sync.aligned.m64n128k16.f32.f16.f16", "tensor", 2 * 64 * 128 * 16 / 128.0);
}

static void others_do_none(void **state)
{
    (void)state;
    counts("add.s32", "", 0);
    counts("mad.lo.u32", "", 0);
    counts("ld.global.f32", "", 0);
    counts("atom.global.add.f32", "", 0);
    counts("red.global.add.f32", "", 0);
    counts("cvt.rn.f32.s32", "", 0);
    counts("v_mul_lo_u32", "", 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(operations_of_a_thread),
        cmocka_unit_test(matrices),
        cmocka_unit_test(others_do_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
