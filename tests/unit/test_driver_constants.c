/* Constants in simulated time: a load gets the bytes that its cache holds, or that memory sent. */
#include "base/bits.h"
#include "driver_check.h"

/* out[thread] = table[(factor * thread) modulo WORDS], for two loads: the second of the word's neighbour. */
static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n"
                          ".const .align 256 .b32 table[4096];\n"
                          ".visible .entry pick(.param .u64 out, .param .u32 factor)\n"
                          "{\n"
                          "    .reg .b32 %r<10>; .reg .b64 %rd<9>;\n"
                          "    ld.param.u64 %rd1, [out];\n"
                          "    ld.param.u32 %r1, [factor];\n"
                          "    mov.u32 %r2, %tid.x;\n"
                          "    mul.lo.u32 %r3, %r1, %r2;\n"
                          "    and.b32 %r4, %r3, 4095;\n"
                          "    xor.b32 %r5, %r4, 1;\n"
                          "    mov.u64 %rd2, table;\n"
                          "    mul.wide.u32 %rd3, %r4, 4;\n"
                          "    mul.wide.u32 %rd4, %r5, 4;\n"
                          "    add.u64 %rd5, %rd2, %rd3;\n"
                          "    add.u64 %rd6, %rd2, %rd4;\n"
                          "    ld.const.u32 %r6, [%rd5];\n"
                          "    ld.const.u32 %r7, [%rd6];\n"
                          "    sub.u32 %r8, %r6, %r7;\n"
                          "    mad.lo.u32 %r9, %r8, 65536, %r6;\n" /* both count */
                          "    mul.wide.u32 %rd7, %r2, 4;\n"
                          "    add.u64 %rd8, %rd1, %rd7;\n"
                          "    st.global.u32 [%rd8], %r9;\n"
                          "    ret;\n"
                          "}\n";

enum { WORDS = 4096, THREADS = 256 };

struct constants {
    struct under_test t;
    struct function *pick;
    uint64_t table, out;
};

static void open_with(struct constants *c, const char *const *settings)
{
    struct module *module;
    struct symbol symbol;
    start_with(&c->t, (struct driver_options){.settings = settings, .timing.on = true});
    CHECK(module_load(c->t.driver, "test.ptx", ptx, strlen(ptx), &module));
    CHECK(module_function(module, "pick", &c->pick));
    CHECK(module_variable(module, c->t.device, "table", &symbol));
    assert_int_equal(symbol.bytes, WORDS * 4);
    c->table = symbol.address;
    CHECK(memory_alloc(c->t.device, THREADS * 4, &c->out));
}

/* table[i] = i * i + more */
static uint32_t word(uint32_t i, uint32_t more)
{
    return i * i + more;
}

static void set_table(struct constants *c, uint32_t more)
{
    static uint32_t words[WORDS];
    for (uint32_t i = 0; i < WORDS; i++)
        words[i] = word(i, more);
    CHECK(stream_copy_bytes(c->t.first, c->table, address_of(words), sizeof words, true));
}

/* The kernel sees the table as it is with `more`. */
static void check_picks(struct constants *c, uint32_t factor, uint32_t more)
{
    static uint32_t got[THREADS];
    struct launch_config config = {.grid = {1, 1, 1}, .block = {THREADS, 1, 1}};
    CHECK(stream_launch(c->t.first, c->pick, &config, (void *[]){&c->out, &factor}));
    CHECK(stream_copy_bytes(c->t.first, address_of(got), c->out, sizeof got, true));
    for (uint32_t i = 0; i < THREADS; i++) {
        uint32_t first = factor * i % WORDS, one = word(first, more), other = word(first ^ 1, more);
        assert_int_equal(got[i], (one - other) * 65536 + one);
    }
}

/* Whatever caches there are: none, one of the two, both; few lines, or more than can be under way at once. */
static void the_host_changes_constants_between_launches(void **state)
{
    (void)state;
    static const char *const machines[][4] = {
        {"gpu.sm_count=1"},
        {"gpu.sm_count=1", "sm.constant_cache=0"},
        {"gpu.sm_count=1", "sm.l2_constants=0"},
        {"gpu.sm_count=1", "sm.constant_cache=0", "sm.l2_constants=0"},
        {"gpu.sm_count=1", "sm.constant_cache=64B"},
        {"gpu.sm_count=1", "sm.constant_cache=64B", "sm.l2_constants=2KiB"}};
    for (size_t i = 0; i < COUNT_OF(machines); i++) {
        const char *settings[5] = {0};
        memcpy(settings, machines[i], sizeof machines[i]);
        struct constants c;
        open_with(&c, settings);
        for (uint32_t round = 0; round < 6; round++) {
            static const uint32_t factors[] = {0, 1, 16, 64, 67, 1021};
            set_table(&c, 1000 * round);
            check_picks(&c, factors[round], 1000 * round);
            check_picks(&c, factors[round], 1000 * round); /* from the caches, if there are some */
        }
        stop(&c.t);
    }
}

/* Memory is changed behind the machine's back: what was loaded before is still in the cache, until a copy
 * says that memory has changed. */
static void a_cached_line_is_what_is_read(void **state)
{
    (void)state;
    static const char *const settings[] = {"gpu.sm_count=1", NULL};
    struct constants c;
    open_with(&c, settings);
    set_table(&c, 0);
    check_picks(&c, 1, 0); /* words up to THREADS */
    volatile uint32_t *memory = (volatile uint32_t *)(uintptr_t)c.table;
    for (uint32_t i = 0; i < WORDS; i++)
        memory[i] = word(i, 7);
    check_picks(&c, 1, 0);
    set_table(&c, 7);
    check_picks(&c, 1, 7);
    stop(&c.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(the_host_changes_constants_between_launches),
                                       cmocka_unit_test(a_cached_line_is_what_is_read)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
