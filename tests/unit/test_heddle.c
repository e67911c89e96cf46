/* libheddle as a program sees it. */
#include "check.h"
#include <heddle.h>

#include <sys/wait.h>
#include <unistd.h>

static const char ptx[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                          ".visible .global .align 4 .u32 answer = 42;\n"
                          ".visible .entry put(.param .u64 to, .param .u32 value)\n"
                          "{\n"
                          "    .reg .b32 %r<2>; .reg .b64 %rd<2>;\n"
                          "    ld.param.u64 %rd1, [to];\n"
                          "    ld.param.u32 %r1, [value];\n"
                          "    st.global.u32 [%rd1], %r1;\n"
                          "    ret;\n"
                          "}\n";

static const uint32_t one[3] = {1, 1, 1};

static int put_value(struct heddle *gpu, unsigned device, struct heddle_module *module, uint64_t to,
                     uint32_t value)
{
    return heddle_launch(gpu, device, module, "put", one, one, 0, (void *[]){&to, &value});
}

static void a_kernel_runs_and_is_counted(void **state)
{
    (void)state;
    uint32_t back[2] = {0};
    struct heddle *gpu = heddle_open(NULL);
    assert_non_null(gpu);
    assert_int_equal(heddle_device_count(gpu), 1);
    assert_int_equal(heddle_property(gpu, "sm_count"), 132);
    assert_int_equal(heddle_property(gpu, "nothing"), 0);
    struct heddle_module *module = heddle_load_text(gpu, "put.ptx", ptx);
    assert_non_null(module);
    uint64_t at = heddle_alloc(gpu, 0, 8), copy = heddle_alloc(gpu, 0, 8);
    assert_int_equal(heddle_fill(gpu, at, 0xff, 8), 0);
    assert_int_equal(put_value(gpu, 0, module, at, 7), 0);
    assert_int_equal(heddle_copy(gpu, copy, at, 8), 0);
    assert_int_equal(heddle_download(gpu, back, copy, 8), 0);
    assert_int_equal(back[0], 7);
    assert_int_equal(back[1], 0xffffffff);
    assert_int_equal(heddle_launch_count(gpu), 1);
    assert_string_equal(heddle_launch_kernel(gpu, 0), "put");
    assert_null(heddle_launch_kernel(gpu, 1));
    assert_int_equal(heddle_statistic(gpu, 0, "threads"), 1);
    assert_int_equal(heddle_statistic(gpu, 0, "nothing"), 0);
    assert_int_equal(heddle_release(gpu, at), 0);
    assert_int_equal(heddle_unload(gpu, module), 0);
    heddle_close(gpu);
}

static void mistakes_are_explained(void **state)
{
    (void)state;
    assert_null(heddle_open("no such system"));
    assert_non_null(strstr(heddle_error(), "there is no system 'no such system'"));
    struct heddle *gpu = heddle_open(NULL);
    assert_null(heddle_load(gpu, "/there/is/no.ptx"));
    assert_non_null(strstr(heddle_error(), "/there/is/no.ptx"));
    assert_null(heddle_load_text(gpu, "bad.ptx", ".version 8.0\n.target sm_75\nnonsense\n"));
    assert_non_null(strstr(heddle_error(), "bad.ptx"));
    assert_int_equal(heddle_alloc(gpu, 0, (size_t)1 << 50), 0);
    assert_int_equal(heddle_alloc(gpu, 1, 8), 0);
    assert_non_null(strstr(heddle_error(), "there is no device 1"));
    assert_int_equal(heddle_upload(gpu, 64, "x", 1), 1);
    heddle_close(gpu);
}

static void a_fault_is_reported_whole(void **state)
{
    (void)state;
    struct heddle *gpu = heddle_open(NULL);
    struct heddle_module *module = heddle_load_text(gpu, "put.ptx", ptx);
    assert_int_equal(put_value(gpu, 0, module, 0x1000, 7), 0);
    assert_int_equal(heddle_wait(gpu), 700);
    assert_non_null(strstr(heddle_error(), "put"));
    assert_int_equal(heddle_alloc(gpu, 0, 8), 0);
    heddle_close(gpu);
}

static void a_limit_ends_what_would_not_end(void **state)
{
    (void)state;
    static const char endless[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry wait()\n{\n"
        "    .reg .pred %p<2>; .reg .b32 %r<2>;\n    mov.u32 %r1, %tid.x;\n    setp.lt.u32 %p1, %r1, 32;\n"
        "    @!%p1 bra OUT;\n    LOOP: bra LOOP;\n    OUT: bar.sync 0;\n    ret;\n}\n";
    for (int timed = 0; timed < 2; timed++) {
        struct heddle *gpu = timed ? heddle_open_timed(NULL, NULL, 1) : heddle_open(NULL);
        struct heddle_module *module = heddle_load_text(gpu, "wait.ptx", endless);
        assert_non_null(module);
        heddle_limit(gpu, 100000);
        assert_int_equal(heddle_launch(gpu, 0, module, "wait", one, (const uint32_t[]){96, 1, 1}, 0, NULL),
                         0);
        assert_int_equal(heddle_wait(gpu), 702);
        assert_non_null(strstr(heddle_error(), "more than 100000"));
        assert_non_null(strstr(heddle_error(), "block (0,0,0) has warp 0 (32 threads) at PTX line 10"));
        assert_non_null(
            strstr(heddle_error(), "; warps 1-2 (64 threads) waiting at the barrier of PTX line 11"));
        heddle_close(gpu);
    }
}

/* In time loads run before stores, as ptxas orders them; what the program does first is named all the same.
 */
static void the_first_wrong_access_is_named(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry beyond(.param .u64 to)\n{\n"
        "    .reg .b32 %r<4>; .reg .b64 %rd<4>; .shared .align 4 .b8 s[256];\n    ld.param.u64 %rd1, [to];\n"
        "    mov.u32 %r1, %tid.x;\n    mov.u32 %r2, s;\n    mad.lo.u32 %r2, %r1, 4, %r2;\n"
        "    st.shared.u32 [%r2+4000], %r1;\n    ld.shared.u32 %r3, [%r2+8000];\n"
        "    st.global.u32 [%rd1], %r3;\n    ret;\n}\n";
    for (int timed = 0; timed < 2; timed++) {
        struct heddle *gpu = timed ? heddle_open_timed(NULL, NULL, 1) : heddle_open(NULL);
        struct heddle_module *module = heddle_load_text(gpu, "beyond.ptx", text);
        assert_non_null(module);
        uint64_t to = heddle_alloc(gpu, 0, 8);
        assert_int_equal(
            heddle_launch(gpu, 0, module, "beyond", one, (const uint32_t[]){64, 1, 1}, 0, (void *[]){&to}),
            0);
        assert_int_equal(heddle_wait(gpu), 700);
        assert_non_null(strstr(heddle_error(), "PTX line 11 of beyond.ptx (st.shared.u32): a write"));
        heddle_close(gpu);
    }
}

static void local_memory_has_atomics_in_time(void **state)
{
    (void)state;
    static const char text[] =
        ".version 8.0\n.target sm_75\n.address_size 64\n.visible .entry own(.param .u64 to)\n{\n"
        "    .reg .b32 %r<4>; .reg .b64 %rd<9>; .local .align 8 .b8 l[8];\n    ld.param.u64 %rd1, [to];\n"
        "    mov.u32 %r1, %tid.x; mul.wide.u32 %rd2, %r1, 8; add.u64 %rd1, %rd1, %rd2;\n"
        "    mov.u64 %rd3, l; cvta.local.u64 %rd3, %rd3; shl.b64 %rd4, %rd2, 32; st.u64 [%rd3], %rd4;\n"
        "    atom.add.u64 %rd5, [%rd3], 7; atom.add.u64 %rd6, [%rd3], %rd5;\n"
        "    ld.u64 %rd7, [%rd3]; st.global.u64 [%rd1], %rd7;\n    ret;\n}\n";
    struct heddle *gpu = heddle_open_timed(NULL, NULL, 1);
    struct heddle_module *module = heddle_load_text(gpu, "own.ptx", text);
    assert_non_null(module);
    uint64_t back[32], to = heddle_alloc(gpu, 0, sizeof back);
    const uint32_t warp[] = {32, 1, 1};
    assert_int_equal(heddle_launch(gpu, 0, module, "own", one, warp, 0, (void *[]){&to}), 0);
    assert_int_equal(heddle_download(gpu, back, to, sizeof back), 0);
    for (uint64_t i = 0; i < 32; i++)
        assert_int_equal(back[i], (i * 8 << 32) * 2 + 7);
    heddle_close(gpu);
}

static void each_device_has_variables_of_its_own(void **state)
{
    (void)state;
    uint32_t value = 1;
    struct heddle *gpus = heddle_open_with(NULL, (const char *const[]){"system.gpus=2", NULL}, 1);
    struct heddle_module *module = heddle_load_text(gpus, "put.ptx", ptx);
    uint64_t first = heddle_variable(gpus, 0, module, "answer");
    uint64_t second = heddle_variable(gpus, 1, module, "answer");
    assert_true(first && second && first != second);
    assert_int_equal(put_value(gpus, 1, module, second, 5), 0);
    assert_int_equal(heddle_download(gpus, &value, first, 4), 0);
    assert_int_equal(value, 42);
    assert_int_equal(heddle_download(gpus, &value, second, 4), 0);
    assert_int_equal(value, 5);
    assert_int_equal(heddle_variable(gpus, 0, module, "nothing"), 0);
    heddle_close(gpus);
}

/* Also when the module is gone. */
static void what_a_launch_waits_for_has_a_place(void **state)
{
    (void)state;
    static const char chase[] = ".version 8.0\n.target sm_75\n.address_size 64\n"
                                ".visible .entry chase(.param .u64 at)\n"
                                "{ .reg .b64 %rd<3>; .reg .b32 %r<2>; .reg .pred %p<2>;\n"
                                "  ld.param.u64 %rd1, [at]; mov.u32 %r1, 0;\n"
                                "again:\n"
                                "  ld.global.cg.u64 %rd1, [%rd1];\n" /* line 7 */
                                "  add.u32 %r1, %r1, 1; setp.lt.u32 %p1, %r1, 500; @%p1 bra again;\n"
                                "  st.global.u32 [%rd1], %r1; ret; }\n";
    const char *settings[] = {"gpu.sm_count=1", NULL};
    struct heddle *gpu = heddle_open_timed(NULL, settings, 1);
    assert_non_null(gpu);
    struct heddle_module *module = heddle_load_text(gpu, "chase.ptx", chase);
    uint64_t at = heddle_alloc(gpu, 0, 8);
    void *arguments[] = {&at};
    assert_int_equal(heddle_upload(gpu, at, &at, sizeof at), 0);
    assert_int_equal(heddle_launch(gpu, 0, module, "chase", one, one, 0, arguments), 0);
    assert_int_equal(heddle_wait(gpu), 0);
    assert_int_equal(heddle_unload(gpu, module), 0);
    const char *why = heddle_bottleneck(gpu, 0);
    assert_non_null(why);
    if (!strstr(why, "latency of global memory") || !strstr(why, "at PTX line "))
        fail_msg("%s", why);
    heddle_close(gpu);
}

/* It gets an error from every call, and no call waits for a lock that another thread of the parent held. */
static void a_forked_child_cannot_use_the_system(void **state)
{
    (void)state;
    for (int timed = 0; timed < 2; timed++) {
        struct heddle *gpu = timed ? heddle_open_timed(NULL, NULL, 1) : heddle_open(NULL);
        struct heddle_module *module = heddle_load_text(gpu, "put.ptx", ptx);
        uint64_t at = heddle_alloc(gpu, 0, 8);
        int status;
        assert_int_equal(put_value(gpu, 0, module, at, 7), 0);
        pid_t child = fork();
        if (!child) {
            alarm(200); /* a lock that is never let go, not a slow machine */
            heddle_limit(gpu, 1);
            bool good = put_value(gpu, 0, module, at, 8) == 3 && heddle_wait(gpu) == 3 &&
                        !heddle_alloc(gpu, 0, 8) && heddle_release(gpu, at) == 3 &&
                        heddle_unload(gpu, module) == 3 && !heddle_load_text(gpu, "put.ptx", ptx) &&
                        !heddle_launch_count(gpu) && !heddle_launch_kernel(gpu, 0) && !heddle_time_ps(gpu) &&
                        !heddle_bottleneck(gpu, 0);
            heddle_close(gpu);
            struct heddle *own = heddle_open(NULL); /* one of its own works */
            struct heddle_module *again = heddle_load_text(own, "put.ptx", ptx);
            good = good && !put_value(own, 0, again, heddle_alloc(own, 0, 8), 8) && !heddle_wait(own);
            _exit(good ? 7 : 1);
        }
        assert_int_equal(waitpid(child, &status, 0), child);
        assert_true(WIFEXITED(status) && WEXITSTATUS(status) == 7);
        assert_int_equal(heddle_wait(gpu), 0);
        heddle_close(gpu);
    }
}

static void time_is_told(void **state)
{
    (void)state;
    const char *settings[] = {"gpu.sm_count=4", NULL};
    struct heddle *gpu = heddle_open_timed(NULL, settings, 1);
    assert_non_null(gpu);
    struct heddle_module *module = heddle_load_text(gpu, "put.ptx", ptx);
    uint64_t at = heddle_alloc(gpu, 0, 8);
    uint32_t back = 0;
    assert_int_equal(put_value(gpu, 0, module, at, 7), 0);
    assert_int_equal(heddle_download(gpu, &back, at, 4), 0);
    assert_int_equal(back, 7);
    assert_true(heddle_time_ps(gpu) > 0);
    assert_true(heddle_metric(gpu, 0, "gpc__cycles_elapsed.max") > 100);
    assert_true(heddle_metric(gpu, 0, "launch__grid_size") == 1);
    assert_true(heddle_metric(gpu, 0, "nothing") != heddle_metric(gpu, 0, "nothing")); /* NaN */
    assert_true(heddle_metric(gpu, 1, "launch__grid_size") != 1);
    assert_non_null(heddle_bottleneck(gpu, 0));
    assert_null(heddle_bottleneck(gpu, 1));
    heddle_close(gpu);
    gpu = heddle_open(NULL);
    module = heddle_load_text(gpu, "put.ptx", ptx);
    assert_int_equal(put_value(gpu, 0, module, heddle_alloc(gpu, 0, 8), 7), 0);
    assert_int_equal(heddle_wait(gpu), 0);
    assert_int_equal(heddle_time_ps(gpu), 0);
    assert_true(heddle_metric(gpu, 0, "smsp__inst_executed.sum") > 0);
    assert_null(heddle_bottleneck(gpu, 0));
    size_t names = 0;
    while (heddle_metric_name(names))
        names++;
    assert_true(names > 50);
    heddle_close(gpu);
}

static void what_is_missing_is_an_error(void **state)
{
    (void)state;
    enum { INVALID_VALUE = 1 };
    uint64_t at = 0;
    uint32_t value = 1;
    void *const arguments[] = {&at, &value};
    struct heddle *gpu = heddle_open(NULL);
    struct heddle_module *module = heddle_load_text(gpu, "put.ptx", ptx);
    assert_int_equal(heddle_launch(NULL, 0, module, "put", one, one, 0, arguments), INVALID_VALUE);
    assert_int_equal(heddle_launch(gpu, 0, NULL, "put", one, one, 0, arguments), INVALID_VALUE);
    assert_string_equal(heddle_error(), "the module is NULL");
    assert_int_equal(heddle_launch(gpu, 0, module, NULL, one, one, 0, arguments), INVALID_VALUE);
    assert_int_equal(heddle_launch(gpu, 0, module, "put", NULL, one, 0, arguments), INVALID_VALUE);
    assert_int_equal(heddle_launch(gpu, 0, module, "put", one, NULL, 0, arguments), INVALID_VALUE);
    assert_int_equal(heddle_launch(gpu, 0, module, "put", one, one, 0, NULL), INVALID_VALUE);
    assert_int_equal(heddle_launch(gpu, 0, module, "put", one, one, 0, (void *[]){&at, NULL}), INVALID_VALUE);
    assert_int_equal(heddle_upload(gpu, heddle_alloc(gpu, 0, 8), NULL, 8), INVALID_VALUE);
    assert_int_equal(heddle_download(gpu, NULL, heddle_alloc(gpu, 0, 8), 8), INVALID_VALUE);
    assert_int_equal(heddle_unload(gpu, NULL), INVALID_VALUE);
    assert_int_equal(heddle_variable(gpu, 0, module, NULL), 0);
    assert_null(heddle_load(gpu, NULL));
    assert_null(heddle_load_text(gpu, "put.ptx", NULL));
    assert_null(heddle_load_text(NULL, "put.ptx", ptx));
    heddle_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(time_is_told),
        cmocka_unit_test(a_forked_child_cannot_use_the_system),
        cmocka_unit_test(what_a_launch_waits_for_has_a_place),
        cmocka_unit_test(a_kernel_runs_and_is_counted),
        cmocka_unit_test(mistakes_are_explained),
        cmocka_unit_test(a_fault_is_reported_whole),
        cmocka_unit_test(a_limit_ends_what_would_not_end),
        cmocka_unit_test(the_first_wrong_access_is_named),
        cmocka_unit_test(local_memory_has_atomics_in_time),
        cmocka_unit_test(each_device_has_variables_of_its_own),
        cmocka_unit_test(what_is_missing_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
