/* Virtual addresses are not the host's: a kernel in time works on memory whose virtual addresses nothing is
 * mapped at in this process. */
#include "check.h"
#include "exec/exec.h"
#include "ptx/ptx.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"
#include "system/machine.h"

enum { COUNT = 4096 };

static const uint64_t elsewhere = UINT64_C(0x123000000000);
static uint32_t numbers[COUNT] __attribute__((aligned(4096)));

static const char text[] = ".version 7.0\n.target sm_70\n.address_size 64\n"
                           ".visible .entry add(.param .u64 numbers) {\n"
                           ".reg .u64 %rd<4>;\n.reg .u32 %r<6>;\n"
                           "ld.param.u64 %rd1, [numbers];\n"
                           "mov.u32 %r1, %ctaid.x;\nmov.u32 %r2, %ntid.x;\nmov.u32 %r3, %tid.x;\n"
                           "mad.lo.u32 %r1, %r1, %r2, %r3;\n"
                           "mul.wide.u32 %rd2, %r1, 4;\nadd.u64 %rd3, %rd1, %rd2;\n"
                           "ld.global.u32 %r4, [%rd3];\nadd.u32 %r4, %r4, %r1;\n"
                           "st.global.u32 [%rd3], %r4;\n"
                           "atom.global.add.u32 %r5, [%rd1], 1;\n"
                           "ret;\n}\n";

static uint64_t no_variables(void *user, const struct ptx_variable *variable, uint64_t bytes,
                             uint64_t alignment)
{
    (void)user, (void)variable, (void)bytes, (void)alignment;
    return 0;
}

static void kernels_use_virtual_addresses_alone(void **state)
{
    (void)state;
    struct err err;
    struct system system;
    struct ptx_module *module = ptx_parse("add.ptx", text, sizeof text - 1, &err);
    assert_non_null(module);
    struct program *program = program_new(&module, 1, &ptxas, no_variables, NULL, &err);
    assert_non_null(program);
    program_set_timed(program);
    struct image *image = image_new();
    image_add(image, (struct range){elsewhere, sizeof numbers, "numbers", false});
    struct launch launch = {.kernel = program_kernel(program, "add"),
                            .image = image,
                            .params = &elsewhere,
                            .grid = {COUNT / 128, 1, 1},
                            .block = {128, 1, 1},
                            .threads = 1,
                            .sm_count = 4,
                            .stack_bytes = 1024};
    struct task task = {.launch = &launch, .blocks_per_sm = 4};
    assert_true(system_load(&system, "", NULL, &err) && system_set(&system, "gpu.sm_count=4", &err));
    struct machine *machine = machine_new(&system, &(struct machine_options){.threads = 2}, &err);
    assert_non_null(machine);
    struct memory_range range = {
        .at = elsewhere, .bytes = sizeof numbers, .to = physical_at(0, 0), .host = (char *)numbers};
    machine_set_memory(machine, &range, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        numbers[i] = 3 * i;
    machine_begin(machine, &task);
    while (task.state == TASK_RUNNING && machine_run(machine, &err))
        ;
    if (task.state != TASK_DONE)
        fail_msg("%s", task.result.fault.text);
    machine_sync_memory(machine, elsewhere, sizeof numbers, MEMORY_READ);
    for (uint32_t i = 1; i < COUNT; i++)
        assert_int_equal(numbers[i], 4 * i);
    gpu_kernel_stats_fini(&task.stats);
    machine_free(machine);
    system_fini(&system);
    image_free(image);
    program_free(program);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(kernels_use_virtual_addresses_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
