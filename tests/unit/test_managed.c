/* Managed memory that moves on demand: the rule which pages move, what programs said of memory, and programs
 * in simulated time. */
#include "driver_check.h"
#include "driver/managed.h"
#include "paging/areas.h"
#include "paging/subtree.h"

/* ---- the rule ---- */

/* Pages that each fault moves, when pages of a block are touched in this order. */
static void touch(const uint32_t *order, uint32_t count, uint32_t exist, uint32_t *moved)
{
    uint32_t there = 0, faults = 0;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t page = UINT32_C(1) << order[i];
        if (there & page)
            continue;
        uint32_t comes = subtree_grow(exist, there, page);
        assert_true(comes & page);
        assert_int_equal(comes & there, 0);
        assert_int_equal(comes & ~exist, 0);
        moved[faults++] = (uint32_t)__builtin_popcount(comes);
        there |= comes;
    }
    moved[faults] = 0;
}

static void a_block_moves_in_six_faults(void **state)
{
    (void)state;
    static const uint32_t measured[] = {1, 1, 2, 4, 8, 16, 0}; /* on an H200 */
    uint32_t up[SUBTREE_PAGES], down[SUBTREE_PAGES], moved[SUBTREE_PAGES + 1];
    for (uint32_t i = 0; i < SUBTREE_PAGES; i++) {
        up[i] = i;
        down[i] = SUBTREE_PAGES - 1 - i;
    }
    touch(up, SUBTREE_PAGES, UINT32_MAX, moved);
    assert_memory_equal(moved, measured, sizeof measured);
    touch(down, SUBTREE_PAGES, UINT32_MAX, moved);
    assert_memory_equal(moved, measured, sizeof measured);
}

static void half_is_not_enough(void **state)
{
    (void)state;
    assert_int_equal(subtree_grow(UINT32_MAX, 0, 0xffff), 0xffff);
    assert_int_equal(subtree_grow(UINT32_MAX, 0, 0x1ffff), UINT32_MAX);
    assert_int_equal(subtree_grow(UINT32_MAX, 0x7fff, 0x18000), 0xffff8000);
    assert_int_equal(subtree_grow(UINT32_MAX, 0, 0x55555555), 0x55555555);
}

static void what_does_not_exist_does_not_count(void **state)
{
    (void)state;
    assert_int_equal(subtree_grow(0x7, 0, 0x3), 0x7);
    assert_int_equal(subtree_grow(0x1, 0, 0x1), 0x1);
    assert_int_equal(subtree_grow(0x1ff, 0xf, 0x10), 0x1f0);
}

/* ---- what programs say ---- */

static void advice_splits_areas(void **state)
{
    (void)state;
    struct areas areas = {0};
    areas_add(&areas, 1 << 20, 1 << 20);
    areas_add(&areas, 4 << 20, 1 << 16);
    assert_null(areas_find(&areas, (1 << 20) - 1));
    assert_non_null(areas_find(&areas, (2 << 20) - 1));
    struct areas_span span = areas_cut(&areas, (1 << 20) + 100, 200);
    assert_int_equal(span.count, 1);
    span.first->advice.read_mostly = true;
    assert_false(areas_find(&areas, 1 << 20)->advice.read_mostly);
    assert_true(areas_find(&areas, (1 << 20) + 299)->advice.read_mostly);
    assert_false(areas_find(&areas, (1 << 20) + 300)->advice.read_mostly);
    assert_int_equal(areas_pages(&areas, 0, SUBTREE_PAGE_SHIFT), 0xffff0000);
    assert_int_equal(areas_pages(&areas, 4 << 20, SUBTREE_PAGE_SHIFT), 1);
    areas_remove(&areas, 1 << 20, 1 << 20);
    assert_int_equal(areas.count, 1);
    areas_fini(&areas);
}

/* ---- programs ---- */

/* add(at, count, stride, more): word i * stride of `at` += more, for i below count. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry add(.param .u64 at, .param .u32 count, .param .u32 stride,"
                          " .param .u32 more)\n"
                          "{\n"
                          "    .reg .b32 %r<12>; .reg .b64 %rd<6>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [at];\n"
                          "    ld.param.u32 %r1, [count];\n"
                          "    ld.param.u32 %r2, [stride];\n"
                          "    ld.param.u32 %r3, [more];\n"
                          "    mov.u32 %r4, %ctaid.x;\n"
                          "    mov.u32 %r5, %ntid.x;\n"
                          "    mov.u32 %r6, %tid.x;\n"
                          "    mad.lo.u32 %r7, %r4, %r5, %r6;\n"
                          "    setp.ge.u32 %p1, %r7, %r1;\n"
                          "    @%p1 bra done;\n"
                          "    mul.lo.u32 %r8, %r7, %r2;\n"
                          "    mul.wide.u32 %rd2, %r8, 4;\n"
                          "    add.s64 %rd3, %rd1, %rd2;\n"
                          "    ld.global.u32 %r9, [%rd3];\n"
                          "    add.u32 %r10, %r9, %r3;\n"
                          "    st.global.u32 [%rd3], %r10;\n"
                          "done:\n"
                          "    ret;\n"
                          "}\n";

enum { WORDS_OF_PAGE = 1 << (SUBTREE_PAGE_SHIFT - 2) };

struct program {
    struct under_test t;
    struct function *add;
    size_t launches;
};

static void begin(struct program *program, const char *const *settings, unsigned threads)
{
    struct module *module;
    *program = (struct program){0};
    start_with(&program->t,
               (struct driver_options){
                   .settings = settings, .timing = {.on = true}, .keep_launches = true, .threads = threads});
    CHECK(module_load(program->t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "add", &program->add));
}

static uint32_t *new_managed(struct program *program, uint64_t bytes)
{
    uint64_t at;
    CHECK(memory_managed_alloc(program->t.driver, bytes, 1, &at));
    return (uint32_t *)(uintptr_t)at;
}

static struct launch_record add(struct program *program, uint32_t *at, uint32_t count, uint32_t stride,
                                uint32_t more)
{
    struct launch_record record;
    struct launch_config grid = {.grid = {(count + 63) / 64, 1, 1}, .block = {64, 1, 1}};
    CHECK(stream_launch(program->t.first, program->add, &grid, (void *[]){&at, &count, &stride, &more}));
    CHECK(stream_synchronize(program->t.first));
    assert_true(driver_launch(program->t.driver, program->launches++, &record));
    return record;
}

static const char *const small[] = {"gpu.sm_count=4", NULL};

static void kernels_and_the_host_see_what_the_other_wrote(void **state)
{
    (void)state;
    struct program program;
    enum { COUNT = 3 * WORDS_OF_PAGE };
    begin(&program, small, 2);
    uint32_t *at = new_managed(&program, COUNT * sizeof *at);
    for (uint32_t i = 0; i < COUNT; i++)
        at[i] = i;
    const struct memsys_counters *first = &add(&program, at, COUNT, 1, 1).timing->mem;
    assert_true(first->managed_faults > 0 && first->managed_batches > 0);
    assert_int_equal(first->managed_bytes_in, 3 << SUBTREE_PAGE_SHIFT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(at[i], i + 1);
    const struct memsys_counters *second = &add(&program, at, COUNT, 1, 1).timing->mem;
    assert_int_equal(second->managed_faults, 0); /* the host has only read */
    at[WORDS_OF_PAGE] = 7;
    const struct memsys_counters *third = &add(&program, at, COUNT, 1, 1).timing->mem;
    assert_true(third->managed_faults > 0);
    assert_int_equal(third->managed_bytes_in, 1 << SUBTREE_PAGE_SHIFT);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(at[i], i == WORDS_OF_PAGE ? 8 : i + 3);
    CHECK(memory_free(program.t.driver, address_of(at)));
    stop(&program.t);
}

/* Pages that the GPU has are changed by the host while another kernel runs. */
static void a_kernel_sees_what_came_while_another_ran(void **state)
{
    (void)state;
    struct program program;
    struct stream *stream;
    enum { COUNT = 2 * WORDS_OF_PAGE, OTHERS = 32 * WORDS_OF_PAGE };
    begin(&program, small, 2);
    CHECK(stream_new(program.t.device, 1, 0, &stream));
    uint32_t *at = new_managed(&program, COUNT * sizeof *at);
    uint32_t *others = new_managed(&program, OTHERS * sizeof *at);
    for (uint32_t i = 0; i < OTHERS; i++)
        others[i] = 1;
    add(&program, at, COUNT, 1, 1);
    uint32_t count = COUNT, other_count = OTHERS, one = 1;
    struct launch_config grid = {.grid = {OTHERS / 64, 1, 1}, .block = {64, 1, 1}};
    CHECK(stream_launch(stream, program.add, &grid, (void *[]){&others, &other_count, &one, &one}));
    assert_int_equal(stream_query(stream), RESULT_NOT_READY); /* it has begun */
    for (uint32_t i = 0; i < COUNT; i++)
        at[i] += i;
    CHECK(stream_launch(program.t.first, program.add, &grid, (void *[]){&at, &count, &one, &one}));
    CHECK(device_synchronize(program.t.device));
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(at[i], i + 2);
    for (uint32_t i = 0; i < OTHERS; i++)
        assert_int_equal(others[i], 2);
    stop(&program.t);
}

/* The cycles of a kernel with one fault, on a page that the host wrote to, or that nobody did. */
static uint64_t one_fault_ps(const char *setting, uint32_t value)
{
    struct program program;
    begin(&program, (const char *const[]){small[0], setting, NULL}, 1);
    uint32_t *at = new_managed(&program, 1 << 21);
    *at = value;
    struct launch_record record = add(&program, at, 1, 1, 1);
    assert_int_equal(*at, value + 1);
    assert_int_equal(record.timing->mem.managed_faults, 1);
    assert_int_equal(record.timing->mem.managed_batches, 1);
    uint64_t ps = record.timing->end_ps - record.timing->start_ps;
    stop(&program.t);
    return ps;
}

static void a_fault_takes_as_long_as_its_parts(void **state)
{
    (void)state;
    enum { CYCLE_PS = 506, MORE_PS = 10 * 1000 * 1000 };
    static const char *const longer[] = {"uvm.batch=18us",   "uvm.fault=10400ns",      "uvm.block=12500ns",
                                         "uvm.page=11700ns", "uvm.block_copy=17300ns", "uvm.wake=22us"};
    uint64_t usual = one_fault_ps("uvm.batch=8us", 5), untouched = one_fault_ps("uvm.batch=8us", 0);
    assert_in_range(usual, 30 * 1000 * 1000, 60 * 1000 * 1000);
    assert_in_range(usual - untouched, 7300 * 1000, 11 * 1000 * 1000); /* nothing is copied */
    for (size_t i = 0; i < sizeof longer / sizeof *longer; i++)
        assert_in_range(one_fault_ps(longer[i], 5) - usual, MORE_PS - CYCLE_PS, MORE_PS + CYCLE_PS);
}

static void prefetched_memory_does_not_fault(void **state)
{
    (void)state;
    struct program program;
    enum { COUNT = 1 << 18 };
    begin(&program, small, 2);
    uint32_t *at = new_managed(&program, COUNT * sizeof *at);
    for (uint32_t i = 0; i < COUNT; i++)
        at[i] = i + 1;
    uint64_t before = driver_time_ps(program.t.driver);
    CHECK(managed_prefetch(program.t.first, address_of(at), COUNT * sizeof *at, 0));
    CHECK(stream_synchronize(program.t.first));
    uint64_t took = driver_time_ps(program.t.driver) - before;
    assert_in_range(took, 19 * 1000 * 1000, 80 * 1000 * 1000); /* 1 MiB over the link is 19 us */
    assert_int_equal(add(&program, at, COUNT, 1, 1).timing->mem.managed_faults, 0);
    CHECK(managed_prefetch(program.t.first, address_of(at), COUNT * sizeof *at, MANAGED_ON_HOST));
    CHECK(stream_synchronize(program.t.first));
    assert_true(add(&program, at, COUNT, 1, 1).timing->mem.managed_faults > 0);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(at[i], i + 3);
    stop(&program.t);
}

static void advice_is_obeyed(void **state)
{
    (void)state;
    struct program program;
    enum { COUNT = 4 * WORDS_OF_PAGE };
    begin(&program, small, 2);
    uint32_t *far = new_managed(&program, COUNT * sizeof *far);
    uint32_t *mapped = new_managed(&program, COUNT * sizeof *mapped);
    far[0] = mapped[0] = 1;
    managed_advise(program.t.driver, address_of(far), COUNT * sizeof *far, ADVICE_ACCESSED_BY, true, 0);
    managed_advise(program.t.driver, address_of(mapped), COUNT * sizeof *far, ADVICE_PREFERRED, true,
                   MANAGED_ON_HOST);
    struct area_advice advice = managed_advice_of(program.t.driver, address_of(mapped), 100);
    assert_int_equal(advice.preferred, MANAGED_ON_HOST);
    assert_int_equal(advice.accessed_by, 0);
    assert_int_equal(managed_advice_of(program.t.driver, address_of(far), 100).accessed_by, 1);
    const struct memsys_counters *reached = &add(&program, far, COUNT, 1, 1).timing->mem;
    assert_int_equal(reached->managed_faults, 0);
    assert_true(reached->host_bytes >= COUNT * sizeof *far);
    const struct memsys_counters *faulted = &add(&program, mapped, COUNT, 1, 1).timing->mem;
    assert_true(faulted->managed_faults > 0);
    assert_int_equal(faulted->managed_bytes_in, 0);
    assert_int_equal(add(&program, mapped, COUNT, 1, 1).timing->mem.managed_faults, 0);
    for (uint32_t i = 0; i < COUNT; i++) {
        assert_int_equal(far[i], 1 + !i);
        assert_int_equal(mapped[i], 2 + !i);
    }
    stop(&program.t);
}

/* 24 MiB on a GPU of 16, of which a word of each page is used, twice. */
static uint64_t oversubscribe(unsigned threads)
{
    enum { PAGES = 384 };
    struct program program;
    begin(&program, (const char *const[]){small[0], "gpu.memory=16MiB", NULL}, threads);
    uint32_t *at = new_managed(&program, PAGES << SUBTREE_PAGE_SHIFT);
    for (uint32_t i = 0; i < PAGES; i++)
        at[i * WORDS_OF_PAGE] = i;
    for (uint32_t round = 1; round <= 2; round++) {
        const struct memsys_counters *mem = &add(&program, at, PAGES, WORDS_OF_PAGE, 1).timing->mem;
        assert_true(mem->managed_evictions > 0);
        assert_true(mem->managed_bytes_out > 0);
        for (uint32_t i = 0; i < PAGES; i++)
            assert_int_equal(at[i * WORDS_OF_PAGE], i + round);
    }
    uint64_t end = driver_time_ps(program.t.driver);
    stop(&program.t);
    return end;
}

static void a_full_gpu_evicts(void **state)
{
    (void)state;
    assert_int_equal(oversubscribe(1), oversubscribe(3));
}

static void gpus_take_pages_from_each_other(void **state)
{
    (void)state;
    struct program program;
    enum { COUNT = 2 * WORDS_OF_PAGE };
    begin(&program, (const char *const[]){small[0], "system.gpus=2", NULL}, 2);
    uint32_t *at = new_managed(&program, COUNT * sizeof *at);
    struct launch_config grid = {.grid = {COUNT / 64, 1, 1}, .block = {64, 1, 1}};
    uint32_t count = COUNT, one = 1;
    for (uint32_t i = 0; i < COUNT; i++)
        at[i] = i;
    for (uint32_t i = 0; i < 4; i++) {
        struct device *device = driver_device(program.t.driver, i % 2);
        CHECK(stream_launch(device_default_stream(device), program.add, &grid,
                            (void *[]){&at, &count, &one, &one}));
        CHECK(device_synchronize(device));
    }
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(at[i], i + 4);
    stop(&program.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_block_moves_in_six_faults),
        cmocka_unit_test(half_is_not_enough),
        cmocka_unit_test(what_does_not_exist_does_not_count),
        cmocka_unit_test(advice_splits_areas),
        cmocka_unit_test(kernels_and_the_host_see_what_the_other_wrote),
        cmocka_unit_test(a_kernel_sees_what_came_while_another_ran),
        cmocka_unit_test(a_fault_takes_as_long_as_its_parts),
        cmocka_unit_test(prefetched_memory_does_not_fault),
        cmocka_unit_test(advice_is_obeyed),
        cmocka_unit_test(a_full_gpu_evicts),
        cmocka_unit_test(gpus_take_pages_from_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
