/* The timed machine with its SMs on several threads of the host: the same bytes and the same times as on one
 * thread. The thread sanitizer watches this in its own build. */
#include "base/bits.h"
#include "base/mem.h"
#include "driver_check.h"
#include <heddle.h>

static const char ptx[] =
    ".version 8.0\n.target sm_75\n.address_size 64\n"
    ".extern .func (.param .b32 r) vprintf(.param .b64 f, .param .b64 a);\n"
    ".extern .func (.param .b64 r) malloc(.param .b64 n);\n.extern .func free(.param .b64 p);\n"
    ".global .align 1 .b8 block_number[4] = {37, 117, 10, 0};\n" /* %u and a newline */
    /* Every round a thread adds to its word, a block adds up its threads in shared memory, and all count. */
    ".visible .entry mix(.param .u64 words, .param .u64 sums, .param .u64 count, .param .u32 rounds)\n"
    "{\n"
    "    .shared .align 4 .b32 sum;\n"
    "    .reg .b32 %r<12>; .reg .b64 %rd<8>; .reg .pred %p<3>;\n"
    "    ld.param.u64 %rd1, [words]; ld.param.u64 %rd2, [sums]; ld.param.u64 %rd3, [count];\n"
    "    ld.param.u32 %r1, [rounds];\n"
    "    mov.u32 %r2, %tid.x; mov.u32 %r3, %ctaid.x; mov.u32 %r4, %ntid.x;\n"
    "    mad.lo.u32 %r5, %r3, %r4, %r2;\n"
    "    mul.wide.u32 %rd4, %r5, 4; add.u64 %rd5, %rd1, %rd4;\n"
    "    setp.eq.u32 %p1, %r2, 0;\n"
    "    @%p1 st.shared.u32 [sum], 0;\n"
    "    mov.u32 %r6, 0;\n"
    "again:\n"
    "    bar.sync 0;\n"
    "    ld.global.u32 %r7, [%rd5];\n"
    "    add.u32 %r7, %r7, %r2;\n"
    "    st.global.u32 [%rd5], %r7;\n"
    "    atom.shared.add.u32 %r8, [sum], %r7;\n"
    "    atom.global.add.u32 %r9, [%rd3], 1;\n"
    "    fence.acq_rel.gpu;\n"
    "    add.u32 %r6, %r6, 1;\n"
    "    setp.lt.u32 %p2, %r6, %r1;\n"
    "    @%p2 bra again;\n"
    "    bar.sync 0;\n"
    "    @!%p1 bra done;\n"
    "    ld.shared.u32 %r10, [sum];\n"
    "    mul.wide.u32 %rd6, %r3, 4; add.u64 %rd7, %rd2, %rd6;\n"
    "    st.global.u32 [%rd7], %r10;\n"
    "done:\n"
    "    ret;\n"
    "}\n"
    ".visible .entry say()\n"
    "{\n"
    "    .local .align 8 .b8 place[8];\n"
    "    .reg .b32 %r<2>; .reg .b64 %rd<4>;\n"
    "    mov.u32 %r1, %ctaid.x; mov.u64 %rd1, place; st.local.u32 [%rd1], %r1;\n"
    "    cvta.local.u64 %rd2, %rd1; mov.u64 %rd3, block_number; cvta.global.u64 %rd3, %rd3;\n"
    "    { .param .b64 f; .param .b64 a; .param .b32 r; st.param.b64 [f], %rd3; st.param.b64 [a], %rd2;\n"
    "      call.uni (r), vprintf, (f, a); }\n"
    "    ret;\n"
    "}\n"
    /* A thread takes 16 to 76 bytes, puts its number there, and the place into its slot. */
    ".visible .entry take(.param .u64 slots)\n"
    "{\n"
    "    .reg .b32 %r<8>; .reg .b64 %rd<6>;\n"
    "    ld.param.u64 %rd1, [slots];\n"
    "    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"
    "    and.b32 %r5, %r4, 15; shl.b32 %r5, %r5, 2; add.u32 %r5, %r5, 16; cvt.u64.u32 %rd2, %r5;\n"
    "    { .param .b64 n; .param .b64 r; st.param.b64 [n], %rd2; call.uni (r), malloc, (n);\n"
    "      ld.param.b64 %rd3, [r]; }\n"
    "    st.u32 [%rd3+12], %r4;\n"
    "    mul.wide.u32 %rd4, %r4, 8; add.u64 %rd5, %rd1, %rd4; st.global.u64 [%rd5], %rd3;\n"
    "    ret;\n"
    "}\n"
    /* A thread reads what the one `far` behind it wrote, frees that, and puts what it read into words. */
    ".visible .entry give(.param .u64 slots, .param .u64 words, .param .u32 far, .param .u32 count)\n"
    "{\n"
    "    .reg .b32 %r<9>; .reg .b64 %rd<9>;\n"
    "    ld.param.u64 %rd1, [slots]; ld.param.u64 %rd2, [words]; ld.param.u32 %r5, [far];\n"
    "    ld.param.u32 %r8, [count];\n"
    "    mov.u32 %r1, %tid.x; mov.u32 %r2, %ctaid.x; mov.u32 %r3, %ntid.x; mad.lo.u32 %r4, %r2, %r3, %r1;\n"
    "    add.u32 %r6, %r4, %r5; rem.u32 %r6, %r6, %r8;\n"
    "    mul.wide.u32 %rd3, %r6, 8; add.u64 %rd4, %rd1, %rd3; ld.global.u64 %rd5, [%rd4];\n"
    "    ld.u32 %r7, [%rd5+12];\n"
    "    { .param .b64 p; st.param.b64 [p], %rd5; call.uni free, (p); }\n"
    "    mul.wide.u32 %rd6, %r4, 4; add.u64 %rd7, %rd2, %rd6; st.global.u32 [%rd7], %r7;\n"
    "    ret;\n"
    "}\n";

enum { BLOCKS = 24, THREADS = 64, ROUNDS = 3, WORDS = BLOCKS * THREADS, PARALLEL = 4 };

/* What a program leaves behind. */
struct outcome {
    uint32_t words[2][WORDS], sums[2][BLOCKS], count[2];
    uint64_t time_ps;
    char printed[4096];
};

static const char *const machine[] = {"gpu.sm_count=8", "system.gpus=2", NULL};

static void check_outcome(const struct outcome *outcome, uint32_t first)
{
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(outcome->count[i], WORDS * ROUNDS);
        for (uint32_t block = 0; block < BLOCKS; block++) {
            uint32_t sum = 0;
            for (uint32_t thread = 0; thread < THREADS; thread++) {
                assert_int_equal(outcome->words[i][block * THREADS + thread], first + ROUNDS * thread);
                for (uint32_t round = 1; round <= ROUNDS; round++)
                    sum += first + round * thread;
            }
            assert_int_equal(outcome->sums[i][block], sum);
        }
    }
}

/* ---- heddle.h: two GPUs at once, and copies ---- */

static struct outcome *run_two_gpus(unsigned threads)
{
    static const uint32_t grid[3] = {BLOCKS, 1, 1}, block[3] = {THREADS, 1, 1};
    struct outcome *outcome = mem_alloc(1, sizeof *outcome);
    struct heddle *gpus = heddle_open_timed("h200", machine, threads);
    assert_non_null(gpus);
    struct heddle_module *module = heddle_load_text(gpus, "mix.ptx", ptx);
    assert_non_null(module);
    uint64_t words[2], sums[2], count[2];
    uint32_t rounds = ROUNDS, first[WORDS];
    for (size_t i = 0; i < WORDS; i++)
        first[i] = 5;
    for (unsigned i = 0; i < 2; i++) {
        words[i] = heddle_alloc(gpus, i, sizeof first);
        sums[i] = heddle_alloc(gpus, i, BLOCKS * 4);
        count[i] = heddle_alloc(gpus, i, 4);
    }
    assert_int_equal(heddle_upload(gpus, words[0], first, sizeof first), 0);
    assert_int_equal(heddle_copy(gpus, words[1], words[0], sizeof first), 0);
    for (unsigned i = 0; i < 2; i++)
        assert_int_equal(heddle_launch(gpus, i, module, "mix", grid, block, 0,
                                       (void *[]){&words[i], &sums[i], &count[i], &rounds}),
                         0);
    assert_int_equal(heddle_wait(gpus), 0);
    for (unsigned i = 0; i < 2; i++) {
        assert_int_equal(heddle_download(gpus, outcome->words[i], words[i], sizeof first), 0);
        assert_int_equal(heddle_download(gpus, outcome->sums[i], sums[i], BLOCKS * 4), 0);
        assert_int_equal(heddle_download(gpus, &outcome->count[i], count[i], 4), 0);
    }
    outcome->time_ps = heddle_time_ps(gpus);
    heddle_close(gpus);
    return outcome;
}

/* ---- the driver: two streams of a GPU, copies beside kernels, printf ---- */

static struct outcome *run_streams(unsigned threads, bool islands_apart)
{
    struct outcome *outcome = mem_alloc(1, sizeof *outcome);
    struct under_test t;
    struct module *module;
    struct function *mix, *say;
    struct stream *streams[2];
    uint64_t words[2], sums[2], count[2];
    uint32_t rounds = ROUNDS;
    char *printed = NULL;
    size_t bytes = 0;
    FILE *print = open_memstream(&printed, &bytes);
    start_with(&t, (struct driver_options){.settings = machine,
                                           .threads = threads,
                                           .timing = {.on = true, .islands_apart = islands_apart},
                                           .print = print});
    CHECK(module_load(t.driver, "mix.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "mix", &mix));
    CHECK(module_function(module, "say", &say));
    for (unsigned i = 0; i < 2; i++) {
        CHECK(stream_new(t.device, STREAM_NON_BLOCKING, 0, &streams[i]));
        CHECK(memory_alloc(t.device, WORDS * 4, &words[i]));
        CHECK(memory_alloc(t.device, BLOCKS * 4, &sums[i]));
        CHECK(memory_alloc(t.device, 4, &count[i]));
    }
    struct launch_config config = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    struct launch_config few = {.grid = {BLOCKS, 1, 1}, .block = {1, 1, 1}};
    for (unsigned i = 0; i < 2; i++) {
        CHECK(stream_launch(streams[i], mix, &config, (void *[]){&words[i], &sums[i], &count[i], &rounds}));
        CHECK(stream_launch(streams[i], say, &few, NULL));
        CHECK(stream_copy_bytes(streams[i], address_of(outcome->words[i]), words[i], WORDS * 4, false));
        CHECK(stream_copy_bytes(streams[i], address_of(outcome->sums[i]), sums[i], BLOCKS * 4, false));
        CHECK(stream_copy_bytes(streams[i], address_of(&outcome->count[i]), count[i], 4, false));
    }
    CHECK(device_synchronize(t.device));
    outcome->time_ps = driver_time_ps(t.driver);
    stop(&t);
    fclose(print);
    snprintf(outcome->printed, sizeof outcome->printed, "%s", printed);
    free(printed);
    return outcome;
}

static struct outcome *run_two_streams(unsigned threads)
{
    return run_streams(threads, false);
}

/* ---- one thread and several ---- */

static void check_threads(struct outcome *(*run)(unsigned threads), uint32_t first)
{
    struct outcome *one = run(1), *several = run(PARALLEL);
    check_outcome(one, first);
    assert_int_equal(one->time_ps, several->time_ps);
    assert_string_equal(one->printed, several->printed);
    assert_memory_equal(one, several, sizeof *one);
    mem_free(one);
    mem_free(several);
}

static void two_gpus(void **state)
{
    (void)state;
    check_threads(run_two_gpus, 5);
}

static void two_streams(void **state)
{
    (void)state;
    check_threads(run_two_streams, 0);
    struct outcome *outcome = run_two_streams(PARALLEL);
    size_t lines = 0;
    for (const char *at = outcome->printed; (at = strchr(at, '\n')); at++)
        lines++;
    assert_int_equal(lines, 2 * BLOCKS);
    mem_free(outcome);
}

/* While an island runs, the state of all others is out of reach: none is touched, and all is as before. */
static void islands_share_nothing(void **state)
{
    (void)state;
    struct outcome *together = run_streams(1, false), *apart = run_streams(1, true);
    assert_memory_equal(together, apart, sizeof *together);
    mem_free(together);
    mem_free(apart);
}

/* ---- malloc in kernels: pieces that one SM takes and others free ---- */

enum { MALLOC_ROUNDS = 3 };

struct mallocs {
    uint64_t slots[MALLOC_ROUNDS][WORDS]; /* addresses, from the first */
    uint32_t words[MALLOC_ROUNDS][WORDS];
    uint64_t time_ps;
};

static struct mallocs *run_mallocs(unsigned threads, bool islands_apart)
{
    struct mallocs *mallocs = mem_alloc(1, sizeof *mallocs);
    struct under_test t;
    struct module *module;
    struct function *take, *give;
    uint64_t slots, words;
    uint32_t count = WORDS, far = THREADS + 1;
    start_with(&t, (struct driver_options){.settings = machine,
                                           .threads = threads,
                                           .timing = {.on = true, .islands_apart = islands_apart}});
    CHECK(module_load(t.driver, "mix.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "take", &take));
    CHECK(module_function(module, "give", &give));
    CHECK(memory_alloc(t.device, WORDS * 8, &slots));
    CHECK(memory_alloc(t.device, WORDS * 4, &words));
    struct launch_config config = {.grid = {BLOCKS, 1, 1}, .block = {THREADS, 1, 1}};
    for (int i = 0; i < MALLOC_ROUNDS; i++) {
        CHECK(stream_launch(t.first, take, &config, (void *[]){&slots}));
        CHECK(stream_launch(t.first, give, &config, (void *[]){&slots, &words, &far, &count}));
        CHECK(stream_copy_bytes(t.first, address_of(mallocs->slots[i]), slots, WORDS * 8, true));
        CHECK(stream_copy_bytes(t.first, address_of(mallocs->words[i]), words, WORDS * 4, true));
    }
    mallocs->time_ps = driver_time_ps(t.driver);
    stop(&t);
    uint64_t first = UINT64_MAX; /* where the heap is depends on the host */
    for (uint32_t i = 0; i < WORDS; i++)
        first = mallocs->slots[0][i] < first ? mallocs->slots[0][i] : first;
    for (uint32_t i = 0; i < MALLOC_ROUNDS * WORDS; i++)
        mallocs->slots[i / WORDS][i % WORDS] -= first;
    return mallocs;
}

static void mallocs_are_the_same_on_all_threads_and_apart(void **state)
{
    (void)state;
    static const unsigned threads[] = {1, 2, 5, 16};
    struct mallocs *one = run_mallocs(1, true);
    for (uint32_t i = 0; i < WORDS; i++)
        assert_int_equal(one->words[MALLOC_ROUNDS - 1][i], (i + THREADS + 1) % WORDS);
    uint64_t most[MALLOC_ROUNDS] = {0};
    for (uint32_t i = 0; i < MALLOC_ROUNDS * WORDS; i++)
        most[i / WORDS] = max_u64(most[i / WORDS], one->slots[i / WORDS][i % WORDS]);
    assert_true(most[MALLOC_ROUNDS - 1] < most[0] + 128); /* all was given back, and taken again */
    for (size_t i = 0; i < 4; i++) {
        struct mallocs *other = run_mallocs(threads[i], false);
        assert_memory_equal(one, other, sizeof *one);
        mem_free(other);
    }
    mem_free(one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(two_gpus), cmocka_unit_test(two_streams),
                                       cmocka_unit_test(islands_share_nothing),
                                       cmocka_unit_test(mallocs_are_the_same_on_all_threads_and_apart)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
