/* Modules and launches: small kernels, from PTX to their result, their faults and their statistics. */
#include "driver_check.h"
#include "capture_check.h"
#include "fatbin_make.h"

#include "base/file.h"
#include "driver/ledger.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

#define PTX(body) ".version 8.0\n.target sm_75\n.address_size 64\n" body

/* out[tid] = a + tid, in a variable's place where out is 0 */
static const char add_ptx[] = PTX(".visible .global .align 4 .u32 total = 40;\n"
                                  ".visible .const .align 4 .u32 fixed = 7;\n"
                                  ".visible .entry add(.param .u32 a, .param .u64 out)\n"
                                  "{\n"
                                  "    .reg .b32 %r<4>; .reg .b64 %rd<4>;\n"
                                  "    ld.param.u32 %r1, [a];\n"
                                  "    ld.param.u64 %rd1, [out];\n"
                                  "    mov.u32 %r2, %tid.x;\n"
                                  "    add.u32 %r3, %r1, %r2;\n"
                                  "    mul.wide.u32 %rd2, %r2, 4;\n"
                                  "    add.u64 %rd3, %rd1, %rd2;\n"
                                  "    st.global.u32 [%rd3], %r3;\n"
                                  "    ret;\n"
                                  "}\n"
                                  ".visible .entry bounded(.param .u32 a) .maxntid 64, 1, 1 { ret; }\n"
                                  ".visible .entry wide() .maxnreg 16\n"
                                  "{ .shared .align 4 .b8 s[40960]; ret; }\n"
                                  ".visible .entry stop() { trap; }\n");

static struct module *load(struct under_test *t, const char *text)
{
    struct module *module;
    CHECK(module_load(t->driver, "test.ptx", text, strlen(text), &module));
    return module;
}

static struct function *find(struct module *module, const char *name)
{
    struct function *function;
    CHECK(module_function(module, name, &function));
    return function;
}

static struct launch_config config(uint32_t grid, uint32_t block)
{
    return (struct launch_config){.grid = {grid, 1, 1}, .block = {block, 1, 1}};
}

static int launch_add(struct under_test *t, struct function *add, uint32_t a, uint64_t out, uint32_t block)
{
    struct launch_config one = config(1, block);
    return stream_launch(t->first, add, &one, (void *[]){&a, &out});
}

static void a_kernel_writes_its_result(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t out;
    uint32_t back[64];
    start(&t);
    struct function *add = find(load(&t, add_ptx), "add");
    CHECK(memory_alloc(t.device, sizeof back, &out));
    CHECK(launch_add(&t, add, 100, out, 64));
    CHECK(stream_copy_bytes(t.first, address_of(back), out, sizeof back, true));
    for (uint32_t i = 0; i < 64; i++)
        assert_int_equal(back[i], 100 + i);
    struct {
        uint32_t a, gap;
        uint64_t out;
    } packed = {.a = 5, .out = out};
    struct launch_config one = config(1, 1);
    CHECK(stream_launch_packed(t.first, add, &one, &packed, sizeof packed));
    CHECK(stream_copy_bytes(t.first, address_of(back), out, 4, true));
    assert_int_equal(back[0], 5);
    assert_int_equal(stream_launch_packed(t.first, add, &one, &packed, 8), RESULT_INVALID_VALUE);
    stop(&t);
}

static void variables_have_a_place_on_each_device(void **state)
{
    (void)state;
    struct under_test t;
    struct symbol total, fixed, none;
    struct memory_facts facts;
    uint32_t value = 0;
    start(&t);
    struct module *module = load(&t, add_ptx);
    CHECK(module_variable(module, t.device, "total", &total));
    CHECK(module_variable(module, t.device, "fixed", &fixed));
    assert_int_equal(total.bytes, 4);
    assert_int_equal(module_variable(module, t.device, "none", &none), RESULT_NOT_FOUND);
    CHECK(stream_copy_bytes(t.first, address_of(&value), total.address, 4, true));
    assert_int_equal(value, 40);
    assert_true(memory_find(t.driver, fixed.address, &facts));
    assert_int_equal(facts.kind, MEMORY_VARIABLE);
    CHECK(module_unload(module));
    assert_false(memory_find(t.driver, fixed.address, &facts));
    stop(&t);
}

static void a_launch_is_checked_as_cuda_does(void **state)
{
    (void)state;
    struct under_test t;
    uint32_t a = 1;
    uint64_t out;
    start(&t);
    struct module *module = load(&t, add_ptx);
    struct function *add = find(module, "add"), *bounded = find(module, "bounded");
    struct function *wide = find(module, "wide"), *none = find(module, "none");
    CHECK(memory_alloc(t.device, 4096, &out));
    void *arguments[] = {&a, &out}, *missing[] = {&a, NULL};
    struct launch_config good = config(1, 1), bad;
#define REFUSED(function, field, value, expected)                                                            \
    bad = good;                                                                                              \
    bad.field = value;                                                                                       \
    assert_int_equal(stream_launch(t.first, function, &bad, arguments), expected)
    REFUSED(add, block[0], 1025, RESULT_INVALID_VALUE);
    REFUSED(add, block[2], 65, RESULT_INVALID_VALUE);
    REFUSED(add, block[1], 0, RESULT_INVALID_VALUE);
    REFUSED(add, grid[0], 0, RESULT_INVALID_VALUE);
    REFUSED(add, grid[1], 65536, RESULT_INVALID_VALUE);
    REFUSED(add, shared_bytes, 48 * 1024 + 1, RESULT_INVALID_VALUE);
    REFUSED(bounded, block[0], 65, RESULT_INVALID_VALUE);
    REFUSED(wide, shared_bytes, 9000, RESULT_INVALID_VALUE);
    REFUSED(none, grid[0], 1, RESULT_INVALID_DEVICE_FUNCTION);
#undef REFUSED
    assert_int_equal(stream_launch(t.first, add, &good, missing), RESULT_INVALID_VALUE);
    assert_int_equal(stream_launch(t.first, add, &good, NULL), RESULT_INVALID_VALUE);
    struct launch_config large = config(132 * 32 + 1, 64);
    large.cooperative = true;
    assert_int_equal(stream_launch(t.first, bounded, &large, arguments), RESULT_COOPERATIVE_LAUNCH_TOO_LARGE);
    CHECK(function_set(wide, t.device, FUNCTION_MAX_DYNAMIC_SHARED, 9000));
    good.shared_bytes = 9000;
    CHECK(stream_launch(t.first, wide, &good, NULL));
    CHECK(device_synchronize(t.device)); /* nothing of this is sticky */
    stop(&t);
}

static void attributes_are_kept_in_their_bounds(void **state)
{
    (void)state;
    struct under_test t;
    struct function_facts facts;
    start(&t);
    struct module *module = load(&t, add_ptx);
    struct function *wide = find(module, "wide"), *bounded = find(module, "bounded");
    CHECK(function_facts(wide, t.device, &facts));
    assert_int_equal(facts.kernel->shared_bytes, 40960);
    assert_int_equal(facts.max_dynamic_shared, 8192);
    assert_int_equal(facts.carveout, -1);
    assert_int_equal(facts.binary_version, 90);
    CHECK(function_facts(bounded, t.device, &facts));
    assert_int_equal(facts.max_threads, 64);
    assert_int_equal(function_set(wide, t.device, FUNCTION_MAX_DYNAMIC_SHARED, 227 * 1024 - 40960 + 1),
                     RESULT_INVALID_VALUE);
    CHECK(function_set(wide, t.device, FUNCTION_MAX_DYNAMIC_SHARED, 227 * 1024 - 40960));
    assert_int_equal(function_set(wide, t.device, FUNCTION_CARVEOUT, 101), RESULT_INVALID_VALUE);
    assert_int_equal(function_set(wide, t.device, 3, 0), RESULT_INVALID_VALUE);
    stop(&t);
}

static void a_fault_fails_the_device_until_it_is_reset(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t out;
    uint32_t word = 0;
    start(&t);
    struct function *add = find(load(&t, add_ptx), "add");
    CHECK(launch_add(&t, add, 1, 0x1000, 1));
    assert_int_equal(device_synchronize(t.device), RESULT_ILLEGAL_ADDRESS);
    assert_int_equal(t.report_count, 1);
    assert_non_null(strstr(t.reports.at, "add"));
    assert_int_equal(memory_alloc(t.device, 4, &out), RESULT_ILLEGAL_ADDRESS);
    assert_int_equal(stream_query(t.first), RESULT_ILLEGAL_ADDRESS);
    assert_int_equal(launch_add(&t, add, 1, 0x1000, 1), RESULT_ILLEGAL_ADDRESS);
    CHECK(device_reset(t.device));
    CHECK(memory_alloc(t.device, 4, &out));
    CHECK(launch_add(&t, add, 3, out, 1));
    CHECK(stream_copy_bytes(t.first, address_of(&word), out, 4, true));
    assert_int_equal(word, 3);
    assert_int_equal(t.report_count, 1);
    stop(&t);
}

static void one_byte_beyond_is_a_fault(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t out;
    start(&t);
    struct function *add = find(load(&t, add_ptx), "add");
    CHECK(memory_alloc(t.device, 4 * 32, &out));
    CHECK(launch_add(&t, add, 1, out, 32));
    CHECK(device_synchronize(t.device));
    CHECK(launch_add(&t, add, 1, out, 33));
    assert_int_equal(device_synchronize(t.device), RESULT_ILLEGAL_ADDRESS);
    assert_non_null(strstr(t.reports.at, "128 bytes of device memory"));
    stop(&t);
}

static void misaligned_and_trap_have_errors_of_their_own(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t out;
    start(&t);
    struct module *module = load(&t, add_ptx);
    CHECK(memory_alloc(t.device, 64, &out));
    CHECK(launch_add(&t, find(module, "add"), 1, out + 1, 1));
    assert_int_equal(device_synchronize(t.device), RESULT_MISALIGNED_ADDRESS);
    CHECK(device_reset(t.device));
    struct launch_config one = config(1, 1);
    CHECK(stream_launch(t.first, find(module, "stop"), &one, NULL));
    assert_int_equal(device_synchronize(t.device), RESULT_LAUNCH_FAILED);
    stop(&t);
}

static void note_result(void *user, enum result result)
{
    atomic_store((atomic_int *)user, (int)result);
}

static void after_a_fault_only_callbacks_are_called(void **state)
{
    (void)state;
    struct under_test t;
    atomic_int host = -1, callback = -1;
    start(&t);
    struct module *module = load(&t, add_ptx);
    struct stream *stream;
    CHECK(stream_new(t.device, 0, 0, &stream));
    struct play *play;
    void *graph;
    CHECK(capture_into(stream, &play)); /* so that all is submitted before it runs */
    struct launch_config one = config(1, 1);
    CHECK(stream_launch(stream, find(module, "stop"), &one, NULL));
    CHECK(stream_host(stream, note_result, &host, false));
    CHECK(stream_host(stream, note_result, &callback, true));
    CHECK(capture_end(stream, &graph));
    int played = stream_play(stream, play, false);
    assert_int_equal(stream_synchronize(stream), RESULT_LAUNCH_FAILED);
    if (!played) {
        while (atomic_load(&callback) == -1) /* a wait ends at once if the fault was there before it */
            sched_yield();
        assert_int_equal(callback, RESULT_LAUNCH_FAILED);
    }
    assert_int_equal(host, -1);
    play_free(play);
    stop(&t);
}

/* ---- the host and other streams meanwhile ---- */

static const char wait_ptx[] = PTX(".visible .entry wait(.param .u64 flag, .param .u64 out)\n"
                                   "{ .reg .b32 %r<2>; .reg .b64 %rd<3>; .reg .pred %p;\n"
                                   "  ld.param.u64 %rd1, [flag]; ld.param.u64 %rd2, [out];\n"
                                   "again: ld.volatile.global.u32 %r1, [%rd1];\n"
                                   "  setp.eq.u32 %p, %r1, 0; @%p bra again;\n"
                                   "  st.volatile.global.u32 [%rd2], %r1; ret; }\n"
                                   ".visible .entry raise(.param .u64 flag)\n"
                                   "{ .reg .b64 %rd<2>; ld.param.u64 %rd1, [flag];\n"
                                   "  st.volatile.global.u32 [%rd1], 5; ret; }\n");

/* What the kernels here do is a race, and meant so: nothing for the thread sanitizer. */
static void skip_where_races_are_looked_for(void)
{
#ifdef __SANITIZE_THREAD__
    skip();
#endif
}

static void a_kernel_sees_what_the_host_writes_meanwhile(void **state)
{
    (void)state;
    skip_where_races_are_looked_for();
    struct under_test t;
    void *pinned;
    start(&t);
    struct function *wait = find(load(&t, wait_ptx), "wait");
    CHECK(memory_host_alloc(t.driver, 8, 0, &pinned));
    volatile uint32_t *words = pinned;
    uint64_t flag = address_of(pinned), out = flag + 4;
    struct launch_config one = config(1, 1);
    CHECK(stream_launch(t.first, wait, &one, (void *[]){&flag, &out}));
    usleep(1000);
    assert_int_equal(stream_query(t.first), RESULT_NOT_READY);
    words[0] = 9;
    while (!words[1]) /* nobody waits for the stream */
        usleep(100);
    assert_int_equal(words[1], 9);
    CHECK(stream_synchronize(t.first));
    stop(&t);
}

static void kernels_of_two_streams_run_at_once(void **state)
{
    (void)state;
    skip_where_races_are_looked_for();
    struct under_test t;
    uint64_t flag;
    start(&t);
    struct module *module = load(&t, wait_ptx);
    struct stream *a, *b;
    CHECK(stream_new(t.device, 0, 0, &a));
    CHECK(stream_new(t.device, 0, 0, &b));
    CHECK(memory_alloc(t.device, 8, &flag));
    uint64_t out = flag + 4;
    struct launch_config one = config(1, 1);
    CHECK(stream_launch(a, find(module, "wait"), &one, (void *[]){&flag, &out}));
    CHECK(stream_launch(b, find(module, "raise"), &one, (void *[]){&flag}));
    CHECK(stream_synchronize(a));
    stop(&t);
}

static void a_driver_that_ends_stops_its_kernels(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t flag;
    start(&t);
    CHECK(memory_alloc(t.device, 8, &flag));
    struct launch_config one = config(1, 1);
    CHECK(stream_launch(t.first, find(load(&t, wait_ptx), "wait"), &one, (void *[]){&flag, &flag}));
    usleep(1000);
    stop(&t);
}

enum { THREADS = 4, ROUNDS = 50 };

struct crowd {
    struct under_test *t;
    struct module *module;
};

static void *one_of_many(void *user)
{
    struct crowd *crowd = user;
    struct device *device = crowd->t->device;
    struct function *add;
    struct stream *stream;
    uint32_t back[32];
    CHECK(module_function(crowd->module, "add", &add));
    CHECK(stream_new(device, STREAM_NON_BLOCKING, 0, &stream));
    for (uint32_t i = 0; i < ROUNDS; i++) {
        uint64_t out;
        struct launch_config one = config(1, 32);
        CHECK(memory_alloc_async(stream, NULL, sizeof back, &out));
        CHECK(stream_launch(stream, add, &one, (void *[]){&i, &out}));
        CHECK(stream_copy_bytes(stream, address_of(back), out, sizeof back, false));
        CHECK(memory_free_async(stream, out));
        assert_int_equal(back[31], i + 31);
    }
    CHECK(stream_free(stream));
    return NULL;
}

static void many_threads_launch_one_kernel(void **state)
{
    (void)state;
    struct under_test t;
    pthread_t threads[THREADS];
    start_with(&t, (struct driver_options){.keep_launches = true});
    struct crowd crowd = {&t, load(&t, add_ptx)};
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, one_of_many, &crowd);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    CHECK(device_synchronize(t.device));
    assert_int_equal(driver_launch_count(t.driver), THREADS * ROUNDS);
    stop(&t);
}

/* ---- modules ---- */

static void a_fatbin_gives_ptx_and_registers(void **state)
{
    (void)state;
    struct under_test t;
    struct text fatbin = {0}, cubin = {0};
    struct module *module;
    struct function_facts facts;
    uint64_t out, blocks;
    uint32_t word = 0;
    cubin_make(&cubin, "add", 200);
    fatbin_begin(&fatbin);
    fatbin_entry(&fatbin, 2, 90, MAKE_ZSTD, cubin.at, cubin.length);
    fatbin_entry(&fatbin, 1, 75, MAKE_LZ4, add_ptx, sizeof add_ptx);
    start(&t);
    CHECK(module_load(t.driver, "t.fatbin", fatbin.at, fatbin.length, &module));
    text_fini(&fatbin); /* it was copied */
    text_fini(&cubin);
    CHECK(function_facts(find(module, "add"), t.device, &facts));
    assert_int_equal(facts.kernel->registers, 200);
    assert_int_equal(facts.max_threads, 256);
    CHECK(function_occupancy(find(module, "add"), t.device, 256, 0, &blocks));
    assert_int_equal(blocks, 1);
    CHECK(memory_alloc(t.device, 4 * 512, &out));
    assert_int_equal(launch_add(&t, find(module, "add"), 9, out, 512), RESULT_LAUNCH_OUT_OF_RESOURCES);
    CHECK(launch_add(&t, find(module, "add"), 9, out, 1));
    CHECK(stream_copy_bytes(t.first, address_of(&word), out, 4, true));
    assert_int_equal(word, 9);
    stop(&t);
}

static void machine_code_alone_is_refused_with_the_remedy(void **state)
{
    (void)state;
    struct under_test t;
    struct text fatbin = {0};
    struct module *module;
    struct function_facts facts;
    fatbin_begin(&fatbin);
    fatbin_entry(&fatbin, 2, 75, 0, "x", 1);
    start(&t);
    CHECK(module_load(t.driver, "program", fatbin.at, fatbin.length, &module));
    assert_int_equal(t.report_count, 0); /* nothing is said before it is used */
    for (int i = 0; i < 2; i++)
        assert_int_equal(function_facts(find(module, "add"), t.device, &facts), RESULT_NO_BINARY_FOR_GPU);
    assert_int_equal(t.report_count, 1);
    assert_non_null(strstr(t.reports.at, "-gencode arch=compute_75,code=compute_75"));
    for (int i = 0; i < 2; i++) { /* several modules of a library of NVIDIA's are told of once */
        CHECK(module_load(t.driver, "/usr/lib/libnccl.so.2", fatbin.at, fatbin.length, &module));
        assert_int_equal(function_facts(find(module, "add"), t.device, &facts), RESULT_NO_BINARY_FOR_GPU);
    }
    assert_int_equal(t.report_count, 2);
    assert_non_null(strstr(
        t.reports.at, "/usr/lib/libnccl.so.2 is NCCL, whose kernels are machine code without "
                      "PTX, which Heddle does not simulate: let the program load libnccl.so.2 by that name"));
    text_fini(&fatbin);
    stop(&t);
}

static void a_linked_module_is_made_of_all_its_parts(void **state)
{
    (void)state;
    struct under_test t;
    struct text linked = {0}, first = {0}, second = {0};
    static const char a[] = PTX(".visible .func (.param .b32 r) twice(.param .b32 x)\n"
                                "{ .reg .b32 %r<3>; ld.param.b32 %r1, [x]; add.u32 %r2, %r1, %r1;\n"
                                "  st.param.b32 [r], %r2; ret; }\n");
    static const char b[] = PTX(".extern .func (.param .b32 r) twice(.param .b32 x);\n"
                                ".visible .entry run(.param .u64 out)\n"
                                "{ .reg .b32 %r<3>; .reg .b64 %rd<2>; ld.param.u64 %rd1, [out];\n"
                                "  { .param .b32 p; .param .b32 q; st.param.b32 [p], 21;\n"
                                "    call.uni (q), twice, (p); ld.param.b32 %r1, [q]; }\n"
                                "  st.global.u32 [%rd1], %r1; ret; }\n");
    fatbin_begin(&linked);
    fatbin_entry(&linked, 2, 90, 0, "x", 1);
    fatbin_begin(&first);
    fatbin_entry(&first, 1, 75, MAKE_ZSTD, a, sizeof a);
    fatbin_begin(&second);
    fatbin_entry(&second, 1, 75, MAKE_ZSTD, b, sizeof b);
    const void *parts[] = {first.at, second.at, NULL};
    struct {
        uint32_t magic, version;
        const void *fatbin;
        const void *const *parts;
    } wrapper = {0x466243b1, 2, linked.at, parts};
    struct module *module;
    uint64_t out;
    uint32_t word = 0;
    start(&t);
    CHECK(module_register(t.driver, &wrapper, &module));
    CHECK(memory_alloc(t.device, 4, &out));
    struct launch_config one = config(1, 1);
    CHECK(stream_launch(t.first, find(module, "run"), &one, (void *[]){&out}));
    CHECK(stream_copy_bytes(t.first, address_of(&word), out, 4, true));
    assert_int_equal(word, 42);
    stop(&t);
    text_fini(&linked);
    text_fini(&first);
    text_fini(&second);
}

static void broken_modules_are_told_of(void **state)
{
    (void)state;
    struct under_test t;
    struct module *module;
    start(&t);
    assert_int_equal(module_load(t.driver, "g", "garbage", 7, &module), RESULT_INVALID_IMAGE);
    assert_int_equal(module_load(t.driver, "g", "garbage", 0, &module), RESULT_INVALID_IMAGE);
    assert_int_equal(module_load_file(t.driver, "/there/is/none.ptx", &module), RESULT_FILE_NOT_FOUND);
    module = load(&t, PTX(".visible .entry k( { ret; }\n"));
    assert_int_equal(module_prepare(module, t.device), RESULT_INVALID_PTX);
    assert_non_null(strstr(t.reports.at, "test.ptx"));
    module = load(&t, ".version 8.0\n.target sm_120\n.address_size 64\n.visible .entry k() { ret; }\n");
    assert_int_equal(module_prepare(module, t.device), RESULT_INVALID_PTX);
    assert_non_null(strstr(driver_detail(), "sm_120"));
    stop(&t);
    /* An older GPU runs PTX that is for sm_75, but is not one. */
    static const char *const v100[] = {"gpu.major=7", "gpu.minor=0", NULL};
    start_with(&t, (struct driver_options){.settings = v100});
    module = load(&t, ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry k() { ret; }\n");
    assert_int_equal(module_prepare(module, t.device), RESULT_SUCCESS);
    module = load(&t, ".version 8.0\n.target sm_80\n.address_size 64\n.visible .entry k() { ret; }\n");
    assert_int_equal(module_prepare(module, t.device), RESULT_INVALID_PTX);
    assert_non_null(strstr(driver_detail(), "its PTX is for sm_80, and the device is an sm_70"));
    stop(&t);
}

static void kernels_can_be_listed(void **state)
{
    (void)state;
    struct under_test t;
    start(&t);
    struct module *module = load(&t, add_ptx);
    size_t count = 0;
    while (module_function_at(module, t.device, count))
        count++;
    assert_int_equal(count, 4);
    assert_ptr_equal(module_function_at(module, t.device, 0),
                     find(module, function_name(module_function_at(module, t.device, 0))));
    stop(&t);
}

/* ---- statistics ---- */

static void launches_are_counted_in_their_order(void **state)
{
    (void)state;
    struct under_test t;
    struct launch_record record;
    uint64_t out;
    start_with(&t, (struct driver_options){.keep_launches = true});
    struct function *add = find(load(&t, add_ptx), "add");
    CHECK(memory_alloc(t.device, 128, &out));
    for (int i = 0; i < 10; i++)
        CHECK(launch_add(&t, add, 1, out, 32));
    CHECK(device_synchronize(t.device));
    assert_int_equal(driver_launch_count(t.driver), 10);
    for (size_t i = 0; i < 10; i++) {
        assert_true(driver_launch(t.driver, i, &record));
        assert_int_equal(record.launch, i);
        assert_string_equal(record.kernel, "add");
        assert_int_equal(record.block[0], 32);
        assert_int_equal(record.threads, 32);
        assert_int_equal(record.result, 0);
    }
    assert_false(driver_launch(t.driver, 10, &record));
    stop(&t);
}

/* The files are there, and right, before the driver ends: whatever ends the process. */
static void launches_are_summed_and_those_asked_for_are_kept(void **state)
{
    (void)state;
    struct under_test t;
    struct folder folder;
    struct text sums = {0}, launches = {0};
    struct err err;
    char launches_name[64], sums_name[64];
    uint64_t out;
    folder_make(&folder);
    snprintf(launches_name, sizeof launches_name, "%d.0.launches", (int)getpid());
    snprintf(sums_name, sizeof sums_name, "%d.0.sums", (int)getpid());
    start_with(&t, (struct driver_options){.run_dir = folder.path, .first_line = 1, .end_line = 3});
    struct function *add = find(load(&t, add_ptx), "add");
    assert_int_equal(access(folder_file(&folder, sums_name), F_OK),
                     -1); /* a program that does nothing leaves none */
    CHECK(memory_alloc(t.device, 128, &out));
    CHECK(launch_add(&t, add, 1, out, 32));
    CHECK(launch_add(&t, add, 1, out, 16));
    CHECK(launch_add(&t, add, 1, 0x1000, 1));
    assert_int_equal(device_synchronize(t.device), RESULT_ILLEGAL_ADDRESS);
    assert_true(file_read(folder_file(&folder, launches_name), 1 << 20, &launches, &err));
    assert_true(*(const uint64_t *)launches.at == LEDGER_LAYOUT);
    const struct ledger_launch *launch = (const struct ledger_launch *)(launches.at + sizeof(uint64_t));
    assert_int_equal(launch->entry.kind, LEDGER_LAUNCH);
    assert_string_equal(ledger_kernel(launch), "add");
    assert_int_equal(launch->numbers.launch, 1);
    assert_int_equal(launch->numbers.block[0], 16);
    assert_int_equal(launch->numbers.result, 0);
    launch = (const struct ledger_launch *)((const char *)launch + launch->entry.bytes);
    assert_int_equal(launch->numbers.result, RESULT_ILLEGAL_ADDRESS);
    assert_ptr_equal((const char *)launch + launch->entry.bytes, launches.at + launches.length);
    text_fini(&launches);
    assert_true(file_read(folder_file(&folder, sums_name), 1 << 20, &sums, &err));
    const struct launch_process *process = (const struct launch_process *)sums.at;
    assert_true(process->layout == LEDGER_LAYOUT);
    const struct ledger_sum *sum = (const struct ledger_sum *)(sums.at + process->bytes);
    assert_string_equal(ledger_sum_name(sum), "add");
    assert_int_equal(sum->launches, 3);
    assert_int_equal(sum->failed, 1);
    assert_int_equal(sum->error, RESULT_ILLEGAL_ADDRESS);
    assert_int_equal(sum->threads, 49);
    assert_int_equal(sum->longest.launch, 0);
    assert_int_equal(process->bytes + sum->bytes, sums.length);
    text_fini(&sums);
    stop(&t);
    folder_remove(&folder, LIST(launches_name, sums_name));
}

/* heddle.h: a child of fork cannot use the driver, and may end. */
static void a_forked_child_has_no_driver(void **state)
{
    (void)state;
    struct under_test t;
    int status;
    start(&t);
    assert_false(driver_is_forked(t.driver));
    pid_t child = fork();
    if (!child) {
        bool forked = driver_is_forked(t.driver);
        driver_free(t.driver);
        _exit(forked ? 7 : 1);
    }
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
    stop(&t);
}

static void what_a_kernel_prints_comes_with_the_next_wait(void **state)
{
    (void)state;
    static const char text[] = PTX(".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
                                   ".global .align 1 .b8 hello[4] = {104, 105, 10, 0};\n"
                                   ".visible .entry hi()\n"
                                   "{ .reg .b64 %rd<3>; mov.u64 %rd1, hello; cvta.global.u64 %rd2, %rd1;\n"
                                   "  { .param .b64 f; .param .b64 a; .param .b32 r;\n"
                                   "    st.param.b64 [f], %rd2; st.param.b64 [a], 0;\n"
                                   "    call.uni (r), vprintf, (f, a); }\n"
                                   "  ret; }\n");
    struct under_test t;
    char *printed = NULL;
    size_t bytes = 0;
    FILE *print = open_memstream(&printed, &bytes);
    start_with(&t, (struct driver_options){.print = print});
    struct launch_config two = config(1, 2);
    struct stream_event *event;
    CHECK(event_new(t.device, 0, &event));
    CHECK(stream_launch(t.first, find(load(&t, text), "hi"), &two, NULL));
    CHECK(event_record(event, t.first));
    while (event_query(event) == RESULT_NOT_READY)
        usleep(100);
    fflush(print);
    assert_int_equal(bytes, 0);
    CHECK(stream_synchronize(t.first));
    fflush(print);
    assert_string_equal(printed, "hi\nhi\n");
    stop(&t);
    fclose(print);
    free(printed);
}

static void limits_are_kept(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t value, out;
    start(&t);
    CHECK(device_limit_get(t.device, LIMIT_MALLOC_HEAP_SIZE, &value));
    assert_int_equal(value, 8 << 20);
    CHECK(device_limit_set(t.device, LIMIT_STACK_SIZE, 100));
    CHECK(device_limit_get(t.device, LIMIT_STACK_SIZE, &value));
    assert_int_equal(value, 112);
    assert_int_equal(device_limit_set(t.device, LIMIT_STACK_SIZE, 1 << 30), RESULT_INVALID_VALUE);
    assert_int_equal(device_limit_get(t.device, LIMIT_RUNTIME_SYNC_DEPTH, &value), RESULT_UNSUPPORTED_LIMIT);
    assert_int_equal(device_limit_get(t.device, 99, &value), RESULT_INVALID_VALUE);
    static const char text[] = PTX(".extern .func (.param .b64 r) malloc(.param .b64 n);\n"
                                   ".visible .entry take() { ret; }\n");
    struct launch_config one = config(1, 1);
    CHECK(memory_alloc(t.device, 4, &out));
    CHECK(launch_add(&t, find(load(&t, add_ptx), "add"), 1, out, 1));
    CHECK(device_limit_set(t.device, LIMIT_MALLOC_HEAP_SIZE, 16 << 20)); /* no kernel with malloc ran yet */
    CHECK(stream_launch(t.first, find(load(&t, text), "take"), &one, NULL));
    assert_int_equal(device_limit_set(t.device, LIMIT_MALLOC_HEAP_SIZE, 32 << 20), RESULT_INVALID_VALUE);
    stop(&t);
}

static int launch_clusters(struct under_test *t, struct function *function, uint32_t grid, uint32_t x,
                           uint32_t y, uint32_t z)
{
    struct launch_config clusters = config(grid, 32);
    memcpy(clusters.cluster, (uint32_t[]){x, y, z}, sizeof clusters.cluster);
    return stream_launch(t->first, function, &clusters, NULL);
}

/* As on an H200. */
static void senseless_clusters_are_refused_by_name(void **state)
{
    (void)state;
    static const char text[] = PTX(".visible .entry pair() .explicitcluster .reqnctapercluster 2, 1, 1\n"
                                   "{ .reg .b32 %r; mov.u32 %r, %cluster_nctaid.x; ret; }\n"
                                   ".visible .entry one() .explicitcluster .reqnctapercluster 1 { ret; }\n"
                                   ".visible .entry asked() .explicitcluster { ret; }\n"
                                   ".visible .entry most() .maxclusterrank 4 { ret; }\n"
                                   ".visible .entry wide() .explicitcluster .reqnctapercluster 16 { ret; }\n"
                                   ".visible .entry plain() { ret; }\n");
    enum { BAD_SIZE = RESULT_INVALID_CLUSTER_SIZE };
    static const struct {
        const char *kernel;
        uint32_t grid, x, y, z;
        int result;
    } rows[] = {
        {"pair", 4, 0, 0, 0, 0},         {"pair", 3, 0, 0, 0, BAD_SIZE},    {"pair", 4, 2, 1, 1, 0},
        {"pair", 8, 4, 1, 1, BAD_SIZE},  {"pair", 4, 1, 1, 1, BAD_SIZE},    {"one", 3, 0, 0, 0, 0},
        {"asked", 4, 0, 0, 0, BAD_SIZE}, {"asked", 4, 1, 1, 1, 0},          {"asked", 4, 2, 1, 1, 0},
        {"most", 4, 0, 0, 0, 0},         {"most", 8, 4, 1, 1, 0},           {"most", 8, 8, 1, 1, BAD_SIZE},
        {"wide", 32, 0, 0, 0, BAD_SIZE}, {"plain", 4, 0, 0, 0, 0},          {"plain", 4, 1, 1, 1, 0},
        {"plain", 4, 2, 1, 1, 0},        {"plain", 3, 2, 1, 1, BAD_SIZE},   {"plain", 4, 2, 2, 1, BAD_SIZE},
        {"plain", 4, 2, 0, 0, BAD_SIZE}, {"plain", 32, 16, 1, 1, BAD_SIZE},
    };
    struct under_test t;
    start(&t);
    struct module *module = load(&t, text);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct function *function = find(module, rows[i].kernel);
        int result = launch_clusters(&t, function, rows[i].grid, rows[i].x, rows[i].y, rows[i].z);
        if (result != rows[i].result)
            fail_msg("row %zu, %s: %d, %s", i, rows[i].kernel, result, driver_detail());
        if (result)
            assert_non_null(strstr(driver_detail(), rows[i].kernel));
    }
    CHECK(stream_synchronize(t.first));
    stop(&t);
}

static void a_launch_without_room_names_the_limit(void **state)
{
    (void)state;
    static const struct {
        const char *setting, *named;
    } rows[] = {{"gpu.registers_per_block=2", "a block can have 2 (gpu.registers_per_block)"},
                {"gpu.registers_per_thread=2", "a thread can have 2 (gpu.registers_per_thread)"}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        struct under_test t;
        start_with(&t, (struct driver_options){.settings = (const char *[]){rows[i].setting, NULL}});
        assert_int_equal(launch_add(&t, find(load(&t, add_ptx), "add"), 1, 0, 256),
                         RESULT_LAUNCH_OUT_OF_RESOURCES);
        if (!strstr(driver_detail(), rows[i].named))
            fail_msg("%s: %s", rows[i].setting, driver_detail());
        stop(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_writes_its_result),
        cmocka_unit_test(variables_have_a_place_on_each_device),
        cmocka_unit_test(a_launch_is_checked_as_cuda_does),
        cmocka_unit_test(attributes_are_kept_in_their_bounds),
        cmocka_unit_test(a_fault_fails_the_device_until_it_is_reset),
        cmocka_unit_test(one_byte_beyond_is_a_fault),
        cmocka_unit_test(misaligned_and_trap_have_errors_of_their_own),
        cmocka_unit_test(after_a_fault_only_callbacks_are_called),
        cmocka_unit_test(a_kernel_sees_what_the_host_writes_meanwhile),
        cmocka_unit_test(kernels_of_two_streams_run_at_once),
        cmocka_unit_test(a_driver_that_ends_stops_its_kernels),
        cmocka_unit_test(many_threads_launch_one_kernel),
        cmocka_unit_test(a_fatbin_gives_ptx_and_registers),
        cmocka_unit_test(machine_code_alone_is_refused_with_the_remedy),
        cmocka_unit_test(a_linked_module_is_made_of_all_its_parts),
        cmocka_unit_test(broken_modules_are_told_of),
        cmocka_unit_test(kernels_can_be_listed),
        cmocka_unit_test(launches_are_counted_in_their_order),
        cmocka_unit_test(launches_are_summed_and_those_asked_for_are_kept),
        cmocka_unit_test(a_forked_child_has_no_driver),
        cmocka_unit_test(what_a_kernel_prints_comes_with_the_next_wait),
        cmocka_unit_test(limits_are_kept),
        cmocka_unit_test(senseless_clusters_are_refused_by_name),
        cmocka_unit_test(a_launch_without_room_names_the_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
