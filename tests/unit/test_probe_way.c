/* The way of one request, as listeners are told of it (base/probe.h): under one id from where it begins to
 * where it ends, at each stop. */
#include "driver_check.h"
#include "base/mem.h"
#include "driver/timeline.h"
#include "mem/message.h"

#include <string.h>

enum { MAGIC = 0x5eedbeef, GPUS = 2 };

#define ENTRY(name, body)                                                                                    \
    ".visible .entry " name "(.param .u64 at)\n{\n.reg .b32 %r<3>; .reg .b64 %rd<2>;\n"                      \
    "ld.param.u64 %rd1, [at];\nmov.u32 %r1, 7;\n" body "\nret;\n}\n"

static const char ptx[] = ".version 8.0\n.target sm_80\n.address_size 64\n" /* each of one lane */
    ENTRY("load", "ld.volatile.global.u32 %r2, [%rd1];")                    /* */
    ENTRY("store", "st.volatile.global.u32 [%rd1], %r1;")                   /* */
    ENTRY("stores", "st.volatile.global.u32 [%rd1], %r1; st.volatile.global.u32 [%rd1], %r1;")
        ENTRY("count", "red.global.sys.add.u32 [%rd1], %r1;")
            ENTRY("fetch", "atom.global.sys.add.u32 %r2, [%rd1], %r1; st.volatile.global.u32 [%rd1+4], %r2;");

struct seen {
    struct probe_event *at;
    size_t count, capacity;
    uint32_t flips; /* bits of what DRAM reads */
};

static void see(void *user, struct probe_event *event)
{
    struct seen *seen = user;
    mem_grow(seen->at, seen->count, seen->capacity);
    if (event->data)
        memcpy(&event->bytes, event->data, sizeof(uint32_t)); /* only copies have these */
    seen->at[seen->count++] = *event;
    if (seen->flips && event->data && !strcmp(event->stop, "dram"))
        event->data[0] ^= (unsigned char)seen->flips;
}

struct test {
    struct under_test t;
    struct module *module;
    struct seen seen;
};

static void open_with(struct test *test, const char *setting)
{
    const char *const settings[] = {"gpu.sm_count=4", "system.gpus=2", setting, NULL};
    *test = (struct test){0};
    start_with(&test->t, (struct driver_options){.settings = settings, .timing.on = true});
    CHECK(module_load(test->t.driver, "test.ptx", ptx, strlen(ptx), &test->module));
    CHECK(device_enable_peer(test->t.device, driver_device(test->t.driver, 1)));
}

static void close_all(struct test *test)
{
    mem_free(test->seen.at);
    stop(&test->t);
}

static void listen_to(struct test *test, uint32_t kinds)
{
    struct err err;
    struct probe probe = {.kinds = kinds, .call = see, .user = &test->seen};
    assert_true(timeline_listen(test->t.driver, &probe, &err));
}

/* One thread of GPU 0 does this. */
static void go(struct test *test, const char *kernel, uint64_t at, enum probe_kind kind)
{
    struct launch_config one = {.grid = {1, 1, 1}, .block = {1, 1, 1}};
    struct function *function;
    CHECK(module_function(test->module, kernel, &function));
    listen_to(test, 1u << kind);
    CHECK(stream_launch(test->t.first, function, &one, (void *[]){&at}));
    CHECK(device_synchronize(test->t.device));
    listen_to(test, 0);
}

/* Memory of a GPU that holds MAGIC, and is in no cache. */
static uint64_t memory_of(struct test *test, unsigned gpu)
{
    uint32_t value = MAGIC;
    uint64_t at;
    CHECK(memory_alloc(driver_device(test->t.driver, gpu), 16 * MEM_LINE_MOST, &at));
    CHECK(stream_copy_bytes(test->t.first, at, address_of(&value), sizeof value, true));
    return at;
}

/* The next event of requests at this stop; all have an id. */
static const struct probe_event *find(const struct seen *seen, const struct probe_event *behind,
                                      const char *stop, const char *what)
{
    for (size_t i = behind ? (size_t)(behind - seen->at) + 1 : 0; i < seen->count; i++) {
        assert_true(seen->at[i].id != PROBE_NO_ID);
        if (!strcmp(seen->at[i].stop, stop) && !strcmp(seen->at[i].what, what))
            return &seen->at[i];
    }
    return NULL;
}

/* All stops that the request of an event makes, in order of time; about one line. */
static void check_way(const struct seen *seen, const struct probe_event *of, const char *expected)
{
    struct text way = {0};
    uint64_t last_ps = 0;
    assert_non_null(of);
    for (size_t i = 0; i < seen->count; i++) {
        const struct probe_event *event = &seen->at[i];
        if (event->id != of->id)
            continue;
        text_add(&way, "%s%s %s", way.length ? ", " : "", event->stop, event->what);
        assert_true(event->time_ps >= last_ps);
        last_ps = event->time_ps;
    }
    assert_string_equal(way.at, expected);
    text_fini(&way);
}

static const char one_partition[] = "l2.partitions=1", two_partitions[] = "l2.partitions=2";

static void a_load_from_own_memory(void **state)
{
    (void)state;
    struct test test;
    open_with(&test, one_partition);
    go(&test, "load", memory_of(&test, 0), PROBE_REQUEST);
    const struct probe_event *dram = NULL;
    do
        dram = find(&test.seen, dram, "dram", "read");
    while (dram && dram->bytes != MAGIC); /* constants come from there, too */
    check_way(&test.seen, dram, "sm read, l2 miss, dram read, sm data");
    close_all(&test);
}

/* Of many lines, half are at home in the other partition. */
static void a_load_over_both_partitions(void **state)
{
    (void)state;
    struct test test;
    unsigned far = 0;
    open_with(&test, two_partitions);
    for (int i = 0; i < 16 && !far; i++) {
        test.seen.count = 0;
        go(&test, "load", memory_of(&test, 0) + MEM_LINE_MOST * (uint64_t)i, PROBE_REQUEST);
        const struct probe_event *first = find(&test.seen, NULL, "l2", "miss");
        const struct probe_event *second = find(&test.seen, first, "l2", "miss");
        if (!second || second->id != first->id)
            continue;
        far++;
        assert_true(first->place != second->place && first->address == second->address);
        check_way(&test.seen, first, "sm read, l2 miss, l2 miss, dram read, sm data");
    }
    assert_true(far);
    close_all(&test);
}

static void a_load_from_a_peer(void **state)
{
    (void)state;
    struct test test;
    open_with(&test, one_partition);
    go(&test, "load", memory_of(&test, 1), PROBE_REQUEST);
    const struct probe_event *there = find(&test.seen, NULL, "fabric", "read");
    check_way(&test.seen, there, "sm read, fabric read, l2 miss, dram read, fabric data, sm data");
    const struct probe_event *dram = there;
    do
        dram = find(&test.seen, dram, "dram", "read");
    while (dram && dram->id != there->id);
    assert_non_null(dram);
    assert_int_equal(there->gpu, 0);
    assert_int_equal(dram->gpu, 1);
    assert_int_equal(there->id >> 48, 0); /* who asks: an SM of GPU 0 */
    assert_true((there->id >> 32 & 0xffff) < 4);
    close_all(&test);
}

static void requests_to_the_hosts_memory(void **state)
{
    static const struct {
        const char *kernel, *kind, *way;
        uint32_t leaves;
    } rows[] = {
        {"load", "read", "sm read, l2 forwarded, host read, sm data", MAGIC},
        {"store", "write", "sm write, l2 forwarded, host write, sm done", 7},
        {"count", "atomic", "sm atomic, l2 forwarded, host atomic, sm done", MAGIC + 7u},
        {"fetch", "atomic", "sm atomic, l2 forwarded, host atomic, sm old", MAGIC + 7u},
    };
    (void)state;
    struct test test;
    open_with(&test, one_partition);
    void *host;
    CHECK(memory_host_alloc(test.t.driver, 4096, 0, &host));
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        uint32_t value = MAGIC;
        memcpy(host, &value, sizeof value);
        test.seen.count = 0;
        go(&test, rows[i].kernel, address_of(host), PROBE_REQUEST);
        check_way(&test.seen, find(&test.seen, NULL, "host", rows[i].kind), rows[i].way);
        memcpy(&value, host, sizeof value);
        assert_int_equal(value, rows[i].leaves);
    }
    close_all(&test);
}

static void two_stores_of_a_thread_to_a_line_have_ids_of_their_own(void **state)
{
    (void)state;
    struct test test;
    open_with(&test, one_partition);
    go(&test, "stores", memory_of(&test, 0), PROBE_REQUEST);
    const struct probe_event *first = find(&test.seen, NULL, "sm", "write");
    const struct probe_event *second = find(&test.seen, first, "sm", "write");
    assert_non_null(second);
    assert_true(first->address == second->address && first->id != second->id);
    check_way(&test.seen, first, "sm write, l2 hit, sm done");
    check_way(&test.seen, second, "sm write, l2 hit, sm done");
    close_all(&test);
}

/* What memory gives to a copy is seen, and the copy brings what was made of it. */
static void a_copy_to_the_host(void **state)
{
    (void)state;
    struct test test;
    uint32_t value = 0;
    open_with(&test, one_partition);
    uint64_t at = memory_of(&test, 0);
    test.seen.flips = 0x11;
    listen_to(&test, 1u << PROBE_REQUEST);
    CHECK(stream_copy_bytes(test.t.first, address_of(&value), at, sizeof value, true));
    listen_to(&test, 0);
    assert_int_equal(value, MAGIC ^ 0x11);
    check_way(&test.seen, find(&test.seen, NULL, "dram", "read"), "dma read, l2 miss, dram read, dma done");
    close_all(&test);
}

static void a_copy_to_a_peer(void **state)
{
    (void)state;
    struct test test;
    open_with(&test, one_partition);
    uint64_t from = memory_of(&test, 0), to = memory_of(&test, 1);
    listen_to(&test, 1u << PROBE_REQUEST);
    CHECK(stream_copy_bytes(test.t.first, to, from, 4, true));
    CHECK(device_synchronize(test.t.device));
    listen_to(&test, 0);
    check_way(&test.seen, find(&test.seen, NULL, "dram", "read"),
              "dma read, l2 miss, dram read, fabric write, dram write, fabric done, dma done");
    close_all(&test);
}

static void a_translation(void **state)
{
    (void)state;
    struct test test;
    open_with(&test, "tlb.l1_entries=16");
    go(&test, "load", memory_of(&test, 0), PROBE_TRANSLATION);
    size_t walks = 0;
    for (size_t i = 0; i < test.seen.count; i++) {
        const struct probe_event *event = &test.seen.at[i];
        if (event->phase != PROBE_PASSES)
            continue;
        assert_string_equal(event->stop, "tlb");
        walks += !strcmp(event->what, "walk");
        assert_true(i && event[-1].phase == PROBE_BEGINS && event[-1].id == event->id);
        assert_int_equal(event->place, event[-1].place);
        assert_true(i + 1 < test.seen.count && event[1].phase == PROBE_ENDS && event[1].id == event->id);
    }
    assert_true(walks);
    close_all(&test);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_load_from_own_memory),
        cmocka_unit_test(a_load_over_both_partitions),
        cmocka_unit_test(a_load_from_a_peer),
        cmocka_unit_test(requests_to_the_hosts_memory),
        cmocka_unit_test(two_stores_of_a_thread_to_a_line_have_ids_of_their_own),
        cmocka_unit_test(a_copy_to_the_host),
        cmocka_unit_test(a_copy_to_a_peer),
        cmocka_unit_test(a_translation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
