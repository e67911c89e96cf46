/* Several GPUs that share memory, in simulated time: no update is lost, wherever its home is, and threads of
 * the simulator change nothing. */
#include "driver_check.h"

enum { GPUS = 2, BLOCKS = 64, THREADS = 128, ROUNDS = 8, LAUNCHES = 3 };
enum { COUNTED = GPUS * LAUNCHES * BLOCKS * THREADS * ROUNDS };

/* share(count, cells): ROUNDS times, count += 1, and the thread's cell is what it was, plus 1. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".visible .entry share(.param .u64 count, .param .u64 cells, .param .u32 rounds)\n"
                          "{\n"
                          "    .reg .b32 %r<9>; .reg .b64 %rd<5>; .reg .pred %p<2>;\n"
                          "    ld.param.u64 %rd1, [count];\n"
                          "    ld.param.u64 %rd2, [cells];\n"
                          "    ld.param.u32 %r1, [rounds];\n"
                          "    mov.u32 %r2, %ctaid.x;\n"
                          "    mov.u32 %r3, %ntid.x;\n"
                          "    mov.u32 %r4, %tid.x;\n"
                          "    mad.lo.u32 %r5, %r2, %r3, %r4;\n"
                          "    mul.wide.u32 %rd3, %r5, 4;\n"
                          "    add.s64 %rd4, %rd2, %rd3;\n"
                          "again:\n"
                          "    atom.global.sys.add.u32 %r6, [%rd1], 1;\n"
                          "    ld.volatile.global.u32 %r7, [%rd4];\n"
                          "    add.u32 %r7, %r7, 1;\n"
                          "    st.global.u32 [%rd4], %r7;\n"
                          "    sub.u32 %r1, %r1, 1;\n"
                          "    setp.ne.u32 %p1, %r1, 0;\n"
                          "    @%p1 bra again;\n"
                          "    ret;\n"
                          "}\n";

static const char *const small[] = {"gpu.sm_count=8", "system.gpus=2", NULL};

struct seen {
    uint32_t count, cells[GPUS][BLOCKS * THREADS];
    struct gpu_kernel_stats stats[GPUS * LAUNCHES];
};

/* Both GPUs count in memory of GPU 0, and have their cells in memory of GPU 1. */
static void share(unsigned threads, struct seen *seen)
{
    struct under_test t;
    struct module *module;
    struct function *function;
    uint64_t count, cells[GPUS];
    start_with(&t, (struct driver_options){
                       .settings = small, .timing.on = true, .keep_launches = true, .threads = threads});
    CHECK(module_load(t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "share", &function));
    struct device *device[GPUS] = {driver_device(t.driver, 0), driver_device(t.driver, 1)};
    CHECK(device_enable_peer(device[0], device[1]));
    CHECK(device_enable_peer(device[1], device[0]));
    CHECK(memory_alloc(device[0], sizeof seen->count, &count));
    for (int i = 0; i < GPUS; i++)
        CHECK(memory_alloc(device[1], sizeof seen->cells[i], &cells[i]));
    struct launch_config config = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    for (int launch = 0; launch < LAUNCHES; launch++)
        for (int i = 0; i < GPUS; i++)
            CHECK(stream_launch(device_default_stream(device[i]), function, &config,
                                (void *[]){&count, &cells[i], &(uint32_t){ROUNDS}}));
    for (int i = 0; i < GPUS; i++)
        CHECK(device_synchronize(device[i]));
    CHECK(stream_copy_bytes(t.first, address_of(&seen->count), count, sizeof seen->count, true));
    for (int i = 0; i < GPUS; i++)
        CHECK(stream_copy_bytes(t.first, address_of(seen->cells[i]), cells[i], sizeof seen->cells[i], true));
    for (int i = 0; i < GPUS * LAUNCHES; i++) {
        struct launch_record record;
        assert_true(driver_launch(t.driver, (size_t)i, &record));
        seen->stats[i] = *record.timing;
        seen->stats[i].profile = NULL;
    }
    stop(&t);
}

static void no_update_is_lost_on_any_number_of_threads(void **state)
{
    static const unsigned threads[] = {1, 2, 5, 16};
    static struct seen first, again;
    (void)state;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++) {
        struct seen *seen = i ? &again : &first;
        share(threads[i], seen);
        assert_int_equal(seen->count, COUNTED);
        for (int gpu = 0; gpu < GPUS; gpu++)
            for (int cell = 0; cell < BLOCKS * THREADS; cell++)
                assert_int_equal(seen->cells[gpu][cell], ROUNDS * LAUNCHES);
        assert_memory_equal(seen, &first, sizeof first);
    }
    assert_true(first.stats[0].mem.peer_bytes > 0); /* cells */
    assert_true(first.stats[1].mem.peer_bytes > 0); /* the count */
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_update_is_lost_on_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
