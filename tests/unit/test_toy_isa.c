/* Another instruction set than PTX, with 64 lanes (toy_isa.h): the same results without time and in it. */
#include "check.h"
#include "toy_run.h"

#include <sys/mman.h>
#include <unistd.h>

enum { N = 1000, BLOCK = 192, BLOCKS = 6, ARENA = 1 << 20, ROUNDS = 3, CELLS = 5, SHARED = BLOCK * 4 };

/* Threads beyond N do nothing. x = in[i]; three times y = y * x + i; then the value of the neighbour in the
 * block comes through shared memory; out[i] = y + neighbour; count[i % CELLS] grows by 1. */
static const struct toy_inst mixed[] = {
    {.op = TOY_THREAD, .d = 0},
    {.op = TOY_SET, .d = 7, .number = N},
    {.op = TOY_LESS, .d = 6, .a = 0, .b = 7},
    {.op = TOY_IF, .a = 6},
    {.op = TOY_LOAD, .d = 1, .a = 0, .number = 0},
    {.op = TOY_SET, .d = 2, .number = 1},
    {.op = TOY_SET, .d = 3, .number = ROUNDS},
    {.op = TOY_SET, .d = 4, .number = UINT32_MAX},
    {.op = TOY_MUL, .d = 2, .a = 2, .b = 1}, /* 8 */
    {.op = TOY_ADD, .d = 2, .a = 2, .b = 0},
    {.op = TOY_ADD, .d = 3, .a = 3, .b = 4},
    {.op = TOY_LOOP, .a = 3, .number = 8},
    {.op = TOY_END},
    {.op = TOY_LOAD, .d = 5, .a = 0, .number = 3}, /* the thread's place in its block */
    {.op = TOY_PUT, .a = 5, .b = 2},
    {.op = TOY_BARRIER},
    {.op = TOY_LOAD, .d = 5, .a = 0, .number = 4}, /* its neighbour's */
    {.op = TOY_GET, .d = 5, .a = 5},
    {.op = TOY_IF, .a = 6},
    {.op = TOY_ADD, .d = 2, .a = 2, .b = 5},
    {.op = TOY_STORE, .a = 0, .b = 2, .number = 1},
    {.op = TOY_LOAD, .d = 5, .a = 0, .number = 5}, /* its cell */
    {.op = TOY_SET, .d = 4, .number = 1},
    {.op = TOY_COUNT, .d = 4, .a = 5, .b = 4, .number = 2},
    {.op = TOY_END},
    {.op = TOY_EXIT},
};

struct arrays {
    uint32_t in[BLOCK * BLOCKS], out[BLOCK * BLOCKS], cells[64], own[BLOCK * BLOCKS], next[BLOCK * BLOCKS],
        cell[BLOCK * BLOCKS];
};

static struct arrays *arrays;
static struct image *image;
static uint64_t params[6];

static void fill(void)
{
    memset(arrays, 0, sizeof *arrays);
    for (uint32_t i = 0; i < BLOCK * BLOCKS; i++) {
        arrays->in[i] = i * 2654435761u >> 7;
        arrays->own[i] = i % BLOCK;
        arrays->next[i] = (i + 1) % BLOCK;
        arrays->cell[i] = i % CELLS;
    }
}

static uint32_t power(uint32_t i)
{
    uint32_t y = 1;
    for (uint32_t k = 0; k < ROUNDS && i < N; k++)
        y = y * arrays->in[i] + i;
    return i < N ? y : 0;
}

static void check(void)
{
    for (uint32_t i = 0; i < BLOCK * BLOCKS; i++) {
        uint32_t next = i / BLOCK * BLOCK + (i + 1) % BLOCK;
        assert_int_equal(arrays->out[i], i < N ? power(i) + power(next) : 0);
    }
    for (uint32_t i = 0; i < CELLS; i++)
        assert_int_equal(arrays->cells[i], N / CELLS);
}

static struct toy_kernel *make(const struct toy_inst *insts, uint32_t count)
{
    return toy_make(insts, count, sizeof params, SHARED);
}

static struct launch launch_of(struct toy_kernel *kernel, uint32_t blocks, uint32_t threads)
{
    return (struct launch){.kernel = &kernel->base,
                           .image = image,
                           .params = params,
                           .grid = {blocks, 1, 1},
                           .block = {threads, 1, 1},
                           .threads = 1,
                           .sm_count = 2,
                           .stack_bytes = 1024};
}

static void runs_without_time(void **state)
{
    (void)state;
    struct toy_kernel *kernel = make(mixed, COUNT_OF(mixed));
    for (unsigned threads = 1; threads <= 3; threads += 2) {
        struct launch launch = launch_of(kernel, BLOCKS, BLOCK);
        struct launch_result result;
        launch.threads = threads;
        fill();
        if (!launch_run(&launch, &result))
            fail_msg("%s", result.fault.text);
        check();
        assert_int_equal(result.warps, BLOCKS * (BLOCK / TOY_LANES));
    }
    toy_drop(kernel);
}

/* A run in time from the same memory; gives a digest of all it counted, and its cycles. */
static uint64_t run(const struct launch *launch, const struct machine_options *options, uint64_t *cycles,
                    struct sm_counters *counters)
{
    fill();
    struct toy_ran ran = toy_in_time(launch, options, (uintptr_t)arrays, ARENA, "");
    *cycles = ran.cycles;
    if (counters)
        *counters = ran.counters;
    return ran.digest;
}

static void runs_in_time(void **state)
{
    (void)state;
    struct toy_kernel *kernel = make(mixed, COUNT_OF(mixed));
    struct launch launch = launch_of(kernel, BLOCKS, BLOCK);
    struct sm_counters counters;
    uint64_t cycles, alone = run(&launch, &(struct machine_options){.threads = 1}, &cycles, &counters);
    check();
    assert_true(counters.lanes_active[TOY_LANES] > 0);
    assert_int_equal(counters.warps, BLOCKS * (BLOCK / TOY_LANES));
    assert_true(alone == run(&launch, &(struct machine_options){.threads = 2}, &cycles, NULL));
    check();
    toy_drop(kernel);
}

static void goes_on_from_a_checkpoint(void **state)
{
    (void)state;
    struct toy_kernel *kernel = make(mixed, COUNT_OF(mixed));
    struct launch launch = launch_of(kernel, BLOCKS, BLOCK);
    uint64_t cycles, unused, straight = run(&launch, &(struct machine_options){.threads = 1}, &cycles, NULL);
    char path[64];
    snprintf(path, sizeof path, "toy-%d.checkpoint", (int)getpid());
    struct machine_options options = {.threads = 1,
                                      .checkpoint = {.write = path, .at_cycles = cycles / 2, .stop = true}};
    run(&launch, &options, &unused, NULL);
    options.checkpoint = (struct checkpoint_options){.resume = path};
    assert_true(straight == run(&launch, &options, &unused, NULL));
    check();
    unlink(path);
    toy_drop(kernel);
}

/* A chain of dependent sums: each further one takes the latency that the description has for them. A line of
 * straight code (16 instructions of 8 bytes) comes sooner than the one before it is done: nothing waits for
 * it. */
static void units_are_those_of_the_description(void **state)
{
    (void)state;
    enum { SHORT = 100, LONG = 300, ALU_LATENCY = 4 };
    uint64_t cycles[2];
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t count = k ? LONG : SHORT;
        struct toy_inst *insts = mem_alloc(count + 1, sizeof *insts);
        for (uint32_t i = 0; i < count; i++)
            insts[i] = (struct toy_inst){.op = TOY_ADD, .d = 0, .a = 0, .b = 0};
        insts[count] = (struct toy_inst){.op = TOY_EXIT};
        struct toy_kernel *kernel = make(insts, count + 1);
        struct launch launch = launch_of(kernel, 1, TOY_LANES);
        run(&launch, &(struct machine_options){.threads = 1}, &cycles[k], NULL);
        toy_drop(kernel);
        mem_free(insts);
    }
    uint64_t more = cycles[1] - cycles[0],
             code = (LONG - SHORT) * 8 / 128 * 300; /* lines that come from memory */
    assert_in_range(more, (LONG - SHORT) * ALU_LATENCY, (LONG - SHORT) * ALU_LATENCY + code);
}

/* A GPU whose warps are of 32 lanes. */
static void another_width_is_refused(void **state)
{
    (void)state;
    struct toy_kernel *kernel = make(mixed, COUNT_OF(mixed));
    struct launch launch = launch_of(kernel, BLOCKS, BLOCK);
    struct task task = {.launch = &launch, .blocks_per_sm = 4};
    struct system system;
    struct err err;
    assert_true(system_load(&system, "", NULL, &err));
    struct machine *machine = machine_new(&system, &(struct machine_options){.threads = 1}, &err);
    machine_begin(machine, &task);
    while (task.state == TASK_RUNNING && machine_run(machine, &err))
        ;
    assert_int_equal(task.state, TASK_FAILED);
    assert_string_equal(task.result.fault.text,
                        "toy has warps of 64 lanes, and the GPU of 32 (gpu.warp_lanes)");
    machine_free(machine);
    system_fini(&system);
    toy_drop(kernel);
}

static void bad_addresses_are_faults(void **state)
{
    (void)state;
    static const struct toy_inst wild[] = {
        {.op = TOY_SET, .d = 0, .number = UINT32_MAX}, {.op = TOY_LOAD, .d = 1, .a = 0}, {.op = TOY_EXIT}};
    struct toy_kernel *kernel = make(wild, COUNT_OF(wild));
    struct launch launch = launch_of(kernel, 1, TOY_LANES);
    struct launch_result result;
    assert_false(launch_run(&launch, &result));
    assert_int_equal(result.fault.kind, FAULT_ADDRESS);
    assert_non_null(strstr(result.fault.text, "kernel toy"));
    toy_drop(kernel);
}

static int set_up(void **state)
{
    (void)state;
    arrays = mmap(NULL, ARENA, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    image = image_new();
    image_add(image, (struct range){(uintptr_t)arrays, ARENA, "the test's memory", false});
    const void *const at[] = {arrays->in,  arrays->out,  arrays->cells,
                              arrays->own, arrays->next, arrays->cell};
    for (uint32_t i = 0; i < COUNT_OF(at); i++)
        params[i] = (uintptr_t)at[i];
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    image_free(image);
    munmap(arrays, ARENA);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(runs_without_time),         cmocka_unit_test(runs_in_time),
        cmocka_unit_test(goes_on_from_a_checkpoint), cmocka_unit_test(units_are_those_of_the_description),
        cmocka_unit_test(bad_addresses_are_faults),  cmocka_unit_test(another_width_is_refused),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
