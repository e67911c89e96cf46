/* VSKIP: vector instructions do nothing while it is set, by s_setvskip or by s_setreg; scalar ones go on. */
#include "check.h"

#include "base/mem.h"
#include "gcn3_run/program.h"
#include "gcn3_run/wave.h"

static const uint32_t code[] = {
    0x7e000281,             /* v_mov_b32 v0, 1 */
    0xbe800082,             /* s_mov_b32 s0, 2 */
    0xbf108100,             /* s_setvskip s0, 1: its bit 1 is set */
    0x7e000285,             /* v_mov_b32 v0, 5: skipped */
    0xbe810087,             /* s_mov_b32 s1, 7 */
    0xbf108000,             /* s_setvskip s0, 0: its bit 0 is not */
    0x7e020286,             /* v_mov_b32 v1, 6 */
    0xbf110800,             /* s_set_gpr_idx_on s0, gpr_idx(DST) */
    0x7e020288,             /* v_mov_b32 v1, 8: to v3 */
    0xbf9c0000,             /* s_set_gpr_idx_off */
    0xba000701, 0x00000001, /* s_setreg_imm32_b32 hwreg(HW_REG_MODE, 28, 1), 1 */
    0x7e000289,             /* v_mov_b32 v0, 9: skipped */
    0xbf810000,             /* s_endpgm */
};

static struct gcn3_program *make_program(void)
{
    struct gcn3_object *object = mem_alloc(1, sizeof *object);
    object->name = mem_text("skip");
    object->gfx = 803;
    object->target = "gfx803";
    object->image_bytes = GCN3_PAGE;
    object->image = mem_alloc(object->image_bytes, 1);
    memcpy(object->image, code, sizeof code);
    object->segments = mem_alloc(1, sizeof *object->segments);
    object->segments[0] = (struct gcn3_segment){0, sizeof code, GCN3_EXECUTE};
    object->segment_count = 1;
    object->kernels = mem_alloc(1, sizeof *object->kernels);
    object->kernels[0] = (struct gcn3_kernel_info){.name = mem_text("skip"), .vgprs = 4};
    object->kernel_count = 1;
    return gcn3_program_new(object, 0x100000);
}

static void vector_instructions_are_skipped(void **state)
{
    (void)state;
    struct gcn3_program *program = make_program();
    struct kernel *kernel = gcn3_program_kernel_at(program, 0);
    struct image *image = image_new();
    struct err err;
    assert_true(kernel_prepare(kernel, &err));
    struct launch launch = {
        .kernel = kernel, .image = image, .grid = {1, 1, 1}, .block = {GCN3_LANES, 1, 1}, .threads = 1};
    struct grid grid = {0};
    struct fault fault = {0};
    grid_init(&grid, &launch, 1, 0, &fault);
    struct worker *worker = worker_new(&grid);
    struct block *block = worker_begin_block(worker, 0);
    struct gcn3_wave *w = gcn3_wave(block_warp(block, 0));
    assert_int_equal(gcn3_run(&w->isa), RAN_OUT);
    assert_int_equal(w->v[0][0], 1);
    assert_int_equal(w->s[1], 7);
    assert_int_equal(w->v[1][63], 6);
    assert_int_equal(w->v[3][63], 8);
    worker_end_block(worker, block);
    worker_free(worker);
    grid_fini(&grid);
    image_free(image);
    gcn3_program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(vector_instructions_are_skipped)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
