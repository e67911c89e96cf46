/* Managed memory that moves on demand: the rule which pages move, what programs said of memory, and programs
 * in simulated time. */
#include "driver_check.h"
#include "driver/managed.h"
#include "paging/areas.h"
#include "paging/subtree.h"
#include "paging/tally.h"
#include "paging/thrashing.h"

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

static void a_counter_tells_once(void **state)
{
    (void)state;
    struct tally tally;
    uint64_t at = UINT64_C(0xfe) << 48 | 5 << 21;
    tally_init(&tally, 21, 3);
    assert_false(tally_add(&tally, 1, at));
    assert_false(tally_add(&tally, 1, at + (9 << 16)));
    assert_false(tally_add(&tally, 0, at)); /* another GPU's */
    assert_true(tally_add(&tally, 1, at + (2 << 20) - 1));
    assert_false(tally_add(&tally, 1, at + (1 << 16)));
    assert_int_equal(tally_parts(&tally, 1, at + 77), UINT32_C(1) << 31 | 1 << 9 | 1 << 1 | 1);
    assert_int_equal(tally_parts(&tally, 0, at), 1);
    tally_clear(&tally, 1, at);
    assert_int_equal(tally_parts(&tally, 1, at), 0);
    assert_false(tally_add(&tally, 1, at));
    assert_false(tally_add(&tally, 1, at));
    assert_true(tally_add(&tally, 1, at));
    tally_fini(&tally);
}

/* ---- pages that bounce ---- */

static const struct thrashing_rule rule = {.on = true,
                                           .events = 3,
                                           .throttles = 2,
                                           .lapse = 500,
                                           .nap = 500,
                                           .epoch = 10000,
                                           .pin = 5000,
                                           .resets = 1};

/* A processor wants a page, and gets it: what was said. */
static enum thrashing_hint wants(struct thrashing *thrashing, uint64_t at, uint32_t processor, uint64_t now)
{
    enum thrashing_hint hint = thrashing_ask(thrashing, at, processor, now);
    if (hint == THRASHING_NONE)
        thrashing_moved(thrashing, at, processor, now);
    return hint;
}

/* It goes to and fro, until one is throttled. Gives when. */
static uint64_t bounce(struct thrashing *thrashing, uint64_t at, uint64_t now, uint64_t apart)
{
    for (uint32_t turn = 0; turn < 8; turn++, now += apart)
        if (wants(thrashing, at, turn % 2, now) == THRASHING_THROTTLE)
            return now;
    return 0;
}

static void what_bounces_is_throttled_in_turn(void **state)
{
    (void)state;
    struct thrashing thrashing;
    thrashing_init(&thrashing, &rule);
    assert_int_equal(bounce(&thrashing, 1 << 16, 1, 501), 0); /* not so often */
    assert_int_equal(bounce(&thrashing, 4 << 21, 10001, 100), 10601);
    assert_true(thrashing_is_on(&thrashing, 4 << 21));
    assert_false(thrashing_is_on(&thrashing, (4 << 21) + (1 << 16)));
    assert_int_equal(wants(&thrashing, 4 << 21, 0, 10650), THRASHING_THROTTLE);
    assert_int_equal(wants(&thrashing, 4 << 21, 1, 10650), THRASHING_NONE); /* it need not wait */
    thrashing_forget(&thrashing, 4 << 21);
    assert_int_equal(wants(&thrashing, 4 << 21, 0, 10660), THRASHING_NONE);
    thrashing_fini(&thrashing);
}

static void what_waited_often_is_pinned_for_a_while(void **state)
{
    (void)state;
    struct thrashing thrashing;
    thrashing_init(&thrashing, &rule);
    uint64_t now = bounce(&thrashing, 0, 1, 100);
    assert_true(now);
    for (uint32_t turn = 0; !thrashing_is_pinned(&thrashing, 0); turn++, now += 100) {
        assert_true(turn < 100);
        wants(&thrashing, 0, turn % 2, now);
    }
    assert_int_equal(wants(&thrashing, 0, 0, now), THRASHING_PIN);
    assert_int_equal(wants(&thrashing, 0, 1, now + 2000), THRASHING_PIN);
    assert_int_equal(thrashing_count(&thrashing), 1);
    assert_int_equal(thrashing_unpin(&thrashing, 0, now), 0);
    assert_int_equal(thrashing_unpin(&thrashing, 0, now + 5000), 1);
    assert_false(thrashing_is_pinned(&thrashing, 0));
    thrashing_pin(&thrashing, 0, now + 6000); /* it was busy */
    assert_int_equal(thrashing_unpin(&thrashing, 0, now + 5999), 0);
    assert_int_equal(thrashing_unpin(&thrashing, 0, now + 6000), 1);
    assert_int_equal(wants(&thrashing, 0, 1, now + 6001), THRASHING_NONE);
    thrashing_fini(&thrashing);
}

static void what_does_not_bounce_any_more_is_forgotten(void **state)
{
    (void)state;
    struct thrashing thrashing;
    thrashing_init(&thrashing, &rule);
    uint64_t now = bounce(&thrashing, 0, 1, 100);
    assert_int_equal(wants(&thrashing, 0, 0, now + 10001), THRASHING_NONE);
    assert_false(thrashing_is_on(&thrashing, 0));
    now = bounce(&thrashing, 0, now + 20000, 100);
    assert_true(now);
    assert_int_equal(wants(&thrashing, 0, 0, now + 10001), THRASHING_NONE); /* as it is long ago */
    assert_false(thrashing_is_on(&thrashing, 0)); /* reset by that move, and not forgiven: once is enough */
    thrashing_fini(&thrashing);
}

/* ---- programs ---- */

/* again(at, count): the word at `at` += 1, count times. until(at): once, when it is 99. busy(at, by_atomics):
 * counts in the next word until then, and has the fourth know how far. add(at, count, stride, more): word
 * i * stride of `at` += more, for i below count. */
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
                          "}\n"
                          ".visible .entry again(.param .u64 at, .param .u32 count)\n"
                          "{\n"
                          "    .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [at];\n"
                          "    ld.param.u32 %r1, [count];\n"
                          "    mov.u32 %r2, 0;\n"
                          "next:\n"
                          "    atom.relaxed.sys.global.add.u32 %r3, [%rd1], 1;\n"
                          "    and.b32 %r4, %r3, 0;\n"
                          "    add.u32 %r2, %r2, 1;\n"
                          "    add.u32 %r2, %r2, %r4;\n" /* so it waits for the one before */
                          "    setp.lt.u32 %p1, %r2, %r1;\n"
                          "    @%p1 bra next;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry until(.param .u64 at)\n"
                          "{\n"
                          "    .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [at];\n"
                          "next:\n"
                          "    ld.relaxed.sys.global.u32 %r1, [%rd1];\n"
                          "    setp.ne.u32 %p1, %r1, 99;\n"
                          "    @%p1 bra next;\n"
                          "    atom.relaxed.sys.global.add.u32 %r2, [%rd1], 1;\n"
                          "    ret;\n"
                          "}\n"
                          ".visible .entry busy(.param .u64 at, .param .u32 by_atomics)\n"
                          "{\n"
                          "    .reg .b32 %r<6>; .reg .b64 %rd<3>; .reg .pred %p<3>;\n"
                          "    ld.param.u64 %rd1, [at];\n"
                          "    ld.param.u32 %r3, [by_atomics];\n"
                          "    setp.ne.u32 %p2, %r3, 0;\n"
                          "    mov.u32 %r2, 0;\n"
                          "next:\n"
                          "    add.u32 %r2, %r2, 1;\n"
                          "    @!%p2 st.relaxed.sys.global.u32 [%rd1+4], %r2;\n"
                          "    @%p2 atom.relaxed.sys.global.add.u32 %r4, [%rd1+4], 1;\n"
                          "    ld.relaxed.sys.global.u32 %r1, [%rd1];\n"
                          "    setp.ne.u32 %p1, %r1, 99;\n"
                          "    @%p1 bra next;\n"
                          "    st.relaxed.sys.global.u32 [%rd1+12], %r2;\n"
                          "    ret;\n"
                          "}\n";

enum { WORDS_OF_PAGE = 1 << (SUBTREE_PAGE_SHIFT - 2) };

struct program {
    struct under_test t;
    struct function *add, *again, *until, *busy;
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
    CHECK(module_function(module, "again", &program->again));
    CHECK(module_function(module, "until", &program->until));
    CHECK(module_function(module, "busy", &program->busy));
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

/* A kernel writes to a page, and the host to another word of it while the kernel runs. */
static void both_write_to_a_page(void **state)
{
    (void)state;
    struct program program;
    enum { COUNT = WORDS_OF_PAGE, OTHER = COUNT / 2 };
    begin(&program, small, 2);
    uint32_t *at = new_managed(&program, COUNT * sizeof *at), count = 500;
    add(&program, at, COUNT, 1, 1); /* caches have all of it */
    struct launch_config grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(stream_launch(program.t.first, program.again, &grid, (void *[]){&at, &count}));
    assert_int_equal(stream_query(program.t.first), RESULT_NOT_READY);
    at[OTHER] = 7;
    CHECK(stream_synchronize(program.t.first));
    program.launches++;
    add(&program, at, COUNT, 1, 1);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(at[i], i == OTHER ? 8 : i ? 2 : count + 2);
    stop(&program.t);
}

/* A kernel waits for a word that the host writes, and that the GPU has. */
static void a_kernel_sees_what_the_host_writes(void **state)
{
    (void)state;
    struct program program;
    begin(&program, small, 1);
    uint32_t *at = new_managed(&program, 1 << 16);
    add(&program, at, WORDS_OF_PAGE, 1, 1);
    struct launch_config grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(stream_launch(program.t.first, program.until, &grid, (void *[]){&at}));
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(stream_query(program.t.first), RESULT_NOT_READY);
    at[0] = 99;
    CHECK(stream_synchronize(program.t.first));
    assert_int_equal(at[0], 100);
    stop(&program.t);
}

/* It does so, too, if it writes to the same sector all the time; and what each wrote there is kept. */
static void see_while_busy(uint32_t by_atomics)
{
    struct program program;
    begin(&program, small, 1);
    uint32_t *at = new_managed(&program, 1 << 16);
    struct launch_config grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    CHECK(stream_launch(program.t.first, program.busy, &grid, (void *[]){&at, &by_atomics}));
    for (uint32_t i = 0; i < 200; i++)
        assert_int_equal(stream_query(program.t.first), RESULT_NOT_READY);
    at[2] = 7;
    at[0] = 99;
    CHECK(stream_synchronize(program.t.first));
    assert_int_equal(at[0], 99);
    assert_int_equal(at[2], 7);
    assert_true(at[1] > 0);
    assert_int_equal(at[1], at[3]);
    stop(&program.t);
}

static void a_kernel_sees_it_in_a_sector_that_it_writes(void **state)
{
    (void)state;
    see_while_busy(0);
    see_while_busy(1);
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
    static const char *const longer[] = {"uvm.batch=18us",   "uvm.fault=10350ns",      "uvm.block=12500ns",
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

/* Whether 8 pages that the GPU is said to access come in seven passes: the eighth does not reach the host.
 * What is in them is right in any case. */
static bool come_with(const char *first, const char *second, enum managed_advice more, uint32_t place)
{
    struct program program;
    enum { COUNT = 8 * WORDS_OF_PAGE, PASSES = 8 };
    begin(&program, (const char *const[]){small[0], first, second, NULL}, 2);
    uint32_t *at = new_managed(&program, COUNT * sizeof *at);
    for (uint32_t i = 0; i < COUNT; i++)
        at[i] = i;
    managed_advise(program.t.driver, address_of(at), COUNT * sizeof *at, ADVICE_ACCESSED_BY, true, 0);
    managed_advise(program.t.driver, address_of(at), COUNT * sizeof *at, more, true, place);
    struct launch_record record = {0};
    uint64_t pages = 0;
    for (uint32_t i = 0; i < PASSES; i++) {
        record = add(&program, at, COUNT, 1, 1);
        pages += record.timing->mem.managed_counted;
    }
    uint64_t reached = record.timing->mem.host_bytes;
    assert_true(pages ? !reached : reached >= 2 * COUNT * sizeof *at);
    for (uint32_t i = 0; i < COUNT; i++)
        assert_int_equal(at[i], i + PASSES);
    stop(&program.t);
    return pages;
}

static void what_a_gpu_often_reaches_comes(void **state)
{
    (void)state;
    const char *on = "uvm.access_counters=yes", *often = "uvm.counter_threshold=256";
    assert_false(come_with("uvm.access_counters=no", often, ADVICE_ACCESSED_BY, 0));
    assert_true(come_with(on, often, ADVICE_ACCESSED_BY, 0));
    assert_false(come_with(on, often, ADVICE_PREFERRED, MANAGED_ON_HOST)); /* advice goes first */
    assert_false(come_with(on, "uvm.counter_threshold=65535", ADVICE_ACCESSED_BY, 0));
    assert_true(come_with(on, "uvm.counter_granularity=64KiB", ADVICE_ACCESSED_BY, 0));
    assert_true(come_with(on, "uvm.counter_granularity=16MiB", ADVICE_ACCESSED_BY, 0));
}

/* With counters, what was evicted is reached at the host first. */
static void what_was_evicted_is_reached_at_the_host(void **state)
{
    (void)state;
    enum { PAGES = 64 };
    struct program program;
    begin(&program, (const char *const[]){small[0], "gpu.memory=2MiB", "uvm.access_counters=yes", NULL}, 1);
    uint32_t *at = new_managed(&program, PAGES << SUBTREE_PAGE_SHIFT);
    for (uint32_t i = 0; i < PAGES; i++)
        at[i * WORDS_OF_PAGE] = i;
    assert_true(add(&program, at, PAGES, WORDS_OF_PAGE, 1).timing->mem.managed_evictions > 0);
    const struct memsys_counters *again = &add(&program, at, PAGES, WORDS_OF_PAGE, 1).timing->mem;
    assert_int_equal(again->managed_faults, 0);
    for (uint32_t i = 0; i < PAGES; i++)
        assert_int_equal(at[i * WORDS_OF_PAGE], i + 2);
    stop(&program.t);
}

/* The host and a GPU write the same word in turn. On an H200 every third fault waits from the fourth on, for
 * about 415 us. */
static void cpu_and_gpu_in_turn_are_slowed_down(void **state)
{
    (void)state;
    struct program program;
    begin(&program, small, 1);
    uint32_t *at = new_managed(&program, 1 << 21), value = 0;
    for (uint32_t round = 0; round < 24; round++) {
        at[0] = value += 7;
        struct launch_record record = add(&program, at, 1, 1, 1);
        assert_int_equal(at[0], ++value);
        uint64_t us = (record.timing->end_ps - record.timing->start_ps) / 1000000;
        bool waits = round && round % 3 == 0;
        assert_int_equal(record.timing->mem.managed_throttled, waits);
        assert_int_equal(record.timing->mem.managed_batches, waits ? 2 : 1);
        assert_int_equal(record.timing->mem.managed_faults, waits ? 2 : 1);
        assert_in_range(us, waits ? 350 : 30, waits ? 600 : 60);
    }
    stop(&program.t);
}

/* The CPU is slow enough for a page to be pinned: the GPU reaches it at the host. Then it is let go again,
 * while a kernel uses it. */
static void what_waits_too_often_stays_at_the_host_for_a_while(void **state)
{
    (void)state;
    enum { ROUNDS = 8 };
    struct program program;
    begin(&program,
          (const char *const[]){small[0], "uvm.thrashing_pin_threshold=1", "uvm.cpu_page=100us",
                                "uvm.thrashing_pin=2", NULL},
          1);
    uint32_t *at = new_managed(&program, 1 << 21), value = 0, pinned = 0, count = 2000;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        at[0] = value += 7;
        pinned += !add(&program, at, 1, 1, 1).timing->mem.managed_faults;
        assert_int_equal(at[0], ++value);
    }
    assert_int_equal(pinned, 4);
    struct launch_config grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct launch_record record;
    CHECK(stream_launch(program.t.first, program.again, &grid, (void *[]){&at, &count}));
    CHECK(stream_synchronize(program.t.first));
    assert_true(driver_launch(program.t.driver, ROUNDS, &record));
    assert_int_equal(record.timing->mem.managed_faults, 1);
    assert_int_equal(record.timing->mem.managed_bytes_in, 1 << SUBTREE_PAGE_SHIFT);
    assert_int_equal(at[0], value + count);
    stop(&program.t);
}

/* It is a fault of the CPU that pins the page: the GPU, which had it, then reaches it without a fault of its
 * own, until it is let go. */
static void what_the_cpu_pins_is_let_go_again(void **state)
{
    (void)state;
    enum { ROUNDS = 8, FIRST_PINNED = 4 };
    struct program program;
    begin(&program,
          (const char *const[]){small[0], "uvm.thrashing_pin_threshold=1", "uvm.cpu_page=100us",
                                "uvm.thrashing_pin=3", NULL},
          1);
    uint32_t *at = new_managed(&program, 1 << 21), value = 0, count = 4000;
    for (uint32_t round = 0; round < ROUNDS; round++) {
        at[0] = value += 7;
        const struct memsys_counters *mem = &add(&program, at, 1, 1, 1).timing->mem;
        assert_int_equal(mem->managed_faults > 0, round < FIRST_PINNED);
        assert_int_equal(mem->managed_pinned, 0); /* by the GPU */
        assert_int_equal(at[0], ++value);
    }
    struct launch_config grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct launch_record record;
    CHECK(stream_launch(program.t.first, program.again, &grid, (void *[]){&at, &count}));
    CHECK(stream_synchronize(program.t.first));
    assert_true(driver_launch(program.t.driver, ROUNDS, &record));
    assert_int_equal(record.timing->mem.managed_faults, 1);
    assert_int_equal(at[0], value + count);
    stop(&program.t);
}

/* Two GPUs add to words of one page, all the time: how many faults had to wait. */
static uint64_t throttled_with(const char *setting)
{
    struct program program;
    begin(&program, (const char *const[]){small[0], "system.gpus=2", setting, NULL}, 2);
    uint32_t *at = new_managed(&program, 1 << 21), count = 2000;
    struct launch_config grid = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    uint64_t throttled = 0;
    for (uint32_t i = 0; i < 2; i++) {
        uint32_t *word = at + i;
        CHECK(stream_launch(device_default_stream(driver_device(program.t.driver, i)), program.again, &grid,
                            (void *[]){&word, &count}));
    }
    for (uint32_t i = 0; i < 2; i++) {
        struct launch_record record;
        CHECK(device_synchronize(driver_device(program.t.driver, i)));
        assert_int_equal(at[i], count);
        assert_true(driver_launch(program.t.driver, i, &record));
        throttled += record.timing->mem.managed_throttled;
    }
    stop(&program.t);
    return throttled;
}

static void gpus_that_fight_for_a_page_wait(void **state)
{
    (void)state;
    assert_int_equal(throttled_with("uvm.thrashing=no"), 0);
    uint64_t naps = throttled_with("uvm.thrashing=yes");
    assert_in_range(naps, 1, 20); /* each counts once, however many batches there are meanwhile */
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
        cmocka_unit_test(a_counter_tells_once),
        cmocka_unit_test(what_bounces_is_throttled_in_turn),
        cmocka_unit_test(what_waited_often_is_pinned_for_a_while),
        cmocka_unit_test(what_does_not_bounce_any_more_is_forgotten),
        cmocka_unit_test(what_a_gpu_often_reaches_comes),
        cmocka_unit_test(what_was_evicted_is_reached_at_the_host),
        cmocka_unit_test(cpu_and_gpu_in_turn_are_slowed_down),
        cmocka_unit_test(what_waits_too_often_stays_at_the_host_for_a_while),
        cmocka_unit_test(what_the_cpu_pins_is_let_go_again),
        cmocka_unit_test(gpus_that_fight_for_a_page_wait),
        cmocka_unit_test(kernels_and_the_host_see_what_the_other_wrote),
        cmocka_unit_test(a_kernel_sees_what_came_while_another_ran),
        cmocka_unit_test(both_write_to_a_page),
        cmocka_unit_test(a_kernel_sees_what_the_host_writes),
        cmocka_unit_test(a_kernel_sees_it_in_a_sector_that_it_writes),
        cmocka_unit_test(a_fault_takes_as_long_as_its_parts),
        cmocka_unit_test(prefetched_memory_does_not_fault),
        cmocka_unit_test(advice_is_obeyed),
        cmocka_unit_test(a_full_gpu_evicts),
        cmocka_unit_test(gpus_take_pages_from_each_other),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
