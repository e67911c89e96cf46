/* Copies alone, beside kernels and beside each other, by the driver's streams: one at a time each way, and
 * none waits for a kernel of another stream.
 *
 * A copy takes a latency and its bytes at a bandwidth, unless something of it comes later than that: then the
 * host looks again every 100 ns. */
#include "timing.h"
#include "driver/driver.h"

#define CHECK(call)                                                                                          \
    do {                                                                                                     \
        if (call)                                                                                            \
            fail_msg("%s: %s", #call, driver_detail());                                                      \
    } while (0)

enum { PS = 1000, LATENCY_NS = 500, BYTES = 40000 /* at a byte in a nanosecond */, LATE_NS = 100 };
enum { L2_NS = 10, DRAM_NS = 100 };

static const char sleeper[] = ".version 8.0\n.target sm_90\n.address_size 64\n"
                              ".visible .entry sleeper(.param .u32 ns)\n{\n.reg .b32 %r1;\n"
                              "ld.param.u32 %r1, [ns];\nnanosleep.u32 %r1;\nret;\n}\n";

struct copier {
    struct driver *driver;
    struct device *device;
    struct stream *a, *b;
    struct function *sleeper;
    void *host;
    uint64_t at;
};

/* Calls take the host no time, so what is submitted is submitted at once. */
static struct copier copier_open(const char *const *more)
{
    const char *settings[32] = {"gpu.sm_count=1",
                                "gpu.clock=1GHz",
                                "system.call_time=0",
                                "system.launch_time=0",
                                "noc.host_bandwidth=1GB/s",
                                "noc.spread_cycles=0",
                                "l2.clock=1GHz",
                                "l2.hit_cycles=10",
                                "dram.model=fixed",
                                "dram.latency=100ns",
                                "dram.bandwidth=8GB/s",
                                "noc.latency_cycles=50",
                                "noc.copy_start=0",
                                "copies.submit=0",
                                "copies.to_device_start=0",
                                "copies.inline_pinned=0B",
                                "copies.inline_pageable=0B",
                                "copies.to_host_start=0",
                                "copies.to_device_chunk=0B",
                                "copies.to_host_chunk=0B",
                                "copies.chunk_time=0",
                                "copies.to_device_memcpy_far=0",
                                "system.wait_time=0"};
    size_t count = 23;
    while (*more)
        settings[count++] = *more++;
    struct driver_options options = {.settings = settings, .timing.on = true, .threads = 1};
    struct err err;
    struct module *module;
    struct copier c = {.driver = driver_new(&options, &err)};
    if (!c.driver)
        fail_msg("%s", err.text);
    c.device = driver_device(c.driver, 0);
    CHECK(stream_new(c.device, STREAM_NON_BLOCKING, 0, &c.a));
    CHECK(stream_new(c.device, STREAM_NON_BLOCKING, 0, &c.b));
    CHECK(module_load(c.driver, "sleeper.ptx", sleeper, strlen(sleeper), &module));
    CHECK(module_function(module, "sleeper", &c.sleeper));
    CHECK(memory_host_alloc(c.driver, 4 * BYTES, 0, &c.host));
    CHECK(memory_alloc(c.device, 4 * BYTES, &c.at));
    return c;
}

static void to_device(struct copier *c, struct stream *stream, uint64_t bytes)
{
    CHECK(stream_copy_bytes(stream, c->at, (uintptr_t)c->host, bytes, false));
}

static void to_host(struct copier *c, struct stream *stream, uint64_t bytes)
{
    CHECK(stream_copy_bytes(stream, (uintptr_t)c->host + 2 * BYTES, c->at + 2 * BYTES, bytes, false));
}

static void sleep_for(struct copier *c, struct stream *stream, uint32_t ns)
{
    struct launch_config one = {.grid = {1, 1, 1}, .block = {32, 1, 1}};
    CHECK(stream_launch(stream, c->sleeper, &one, (void *[]){&ns}));
}

/* Until all that was submitted since `from` is done. */
static uint64_t passed(struct copier *c, uint64_t from)
{
    CHECK(device_synchronize(c->device));
    return driver_time_ps(c->driver) - from;
}

static const char *const latency_500[] = {"noc.host_latency=500ns", NULL};
static const char *const latency_501[] = {"noc.host_latency=501ns", NULL};

static void a_copy_takes_the_links_latency_and_its_bytes(void **state)
{
    (void)state;
    for (uint64_t more = 0; more < 2; more++) {
        struct copier c = copier_open(more ? latency_501 : latency_500);
        for (uint64_t bytes = BYTES; bytes < BYTES + 2; bytes++) {
            uint64_t now = driver_time_ps(c.driver);
            to_device(&c, c.a, bytes);
            assert_int_equal(passed(&c, now), (LATENCY_NS + more + bytes) * PS);
        }
        driver_free(c.driver);
    }
}

/* The DMA engine reads each line before it sends it: over the crossbar, in memory, through the slice and
 * back. The first has so much longer to go, and the link is never idle from then on, so the copy is late by
 * that. It must be there before the host looks. */
static void a_copy_to_the_host_is_read_first(void **state)
{
    (void)state;
    for (uint64_t cycles = 44; cycles < 46; cycles++) {
        char crossbar[64];
        snprintf(crossbar, sizeof crossbar, "noc.latency_cycles=%u", (unsigned)cycles);
        struct copier c = copier_open((const char *const[]){latency_500[0], crossbar, NULL});
        uint64_t reading = cycles + DRAM_NS + L2_NS + cycles, looks = reading / LATE_NS + 1;
        assert_int_equal(looks, cycles == 44 ? 2 : 3);
        uint64_t now = driver_time_ps(c.driver);
        to_host(&c, c.a, BYTES + 1);
        assert_int_equal(passed(&c, now), (LATENCY_NS + BYTES + 1 + looks * LATE_NS) * PS);
        driver_free(c.driver);
    }
}

/* Read and written at half of what memory gives each; a fill is only written. */
static void copies_on_the_device_take_memorys_bandwidth(void **state)
{
    (void)state;
    enum { COPIED_NS = BYTES / 4, FILLED_NS = BYTES / 8 };
    struct copier c = copier_open(latency_500);
    uint64_t now = driver_time_ps(c.driver);
    CHECK(stream_copy_bytes(c.a, c.at + 2 * BYTES, c.at, BYTES, false));
    assert_int_equal(passed(&c, now), (LATENCY_NS + COPIED_NS) * PS);
    now = driver_time_ps(c.driver);
    struct fill fill = {.to.address = c.at, .width = BYTES, .height = 1, .depth = 1, .element_bytes = 1};
    CHECK(stream_fill(c.a, &fill, false));
    assert_int_equal(passed(&c, now), (LATENCY_NS + FILLED_NS) * PS);
    driver_free(c.driver);
}

/* One channel takes two nanoseconds for a byte, from when the first line is there on. It holds 64 sectors
 * that it has not written yet. */
static void a_copy_waits_for_slow_memory(void **state)
{
    (void)state;
    struct copier c = copier_open((const char *const[]){
        latency_500[0], "l2.slices=1", "l2.islands=1", "l2.partitions=1", "dram.channels_per_slice=1",
        "dram.model=simple", "dram.bandwidth=500MB/s", "dram.writes=64", "l2.bytes=1MiB", NULL});
    uint64_t now = driver_time_ps(c.driver);
    to_device(&c, c.a, BYTES);
    uint64_t planned = LATENCY_NS + BYTES, taken = LATENCY_NS + 128 + 2 * BYTES - 2 * 64 * 32;
    uint64_t looks = (taken - planned + LATE_NS - 1) / LATE_NS;
    assert_int_equal(passed(&c, now), (planned + looks * LATE_NS) * PS);
    driver_free(c.driver);
}

/* An engine needs a while to begin; a fill has none, and the host sends at once. */
static void a_copy_begins_when_its_engine_is_ready(void **state)
{
    (void)state;
    for (uint64_t start = 700; start < 702; start++) {
        char setting[64];
        snprintf(setting, sizeof setting, "noc.copy_start=%uns", (unsigned)start);
        struct copier c = copier_open((const char *const[]){latency_500[0], setting, NULL});
        uint64_t now = driver_time_ps(c.driver);
        CHECK(stream_copy_bytes(c.a, c.at + 2 * BYTES, c.at, BYTES, false));
        assert_int_equal(passed(&c, now), (start + LATENCY_NS + BYTES / 4) * PS);
        now = driver_time_ps(c.driver);
        struct fill fill = {.to.address = c.at, .width = BYTES, .height = 1, .depth = 1, .element_bytes = 1};
        CHECK(stream_fill(c.a, &fill, false));
        assert_int_equal(passed(&c, now), (LATENCY_NS + BYTES / 8) * PS);
        now = driver_time_ps(c.driver);
        to_device(&c, c.a, BYTES);
        assert_int_equal(passed(&c, now), (LATENCY_NS + BYTES) * PS);
        driver_free(c.driver);
    }
}

/* ---- what the driver and its engines need ---- */

static void copies_with_the_host_begin_when_their_engine_is_ready(void **state)
{
    (void)state;
    for (uint64_t start = 700; start < 702; start++) {
        char setting[64], back[64];
        snprintf(setting, sizeof setting, "copies.to_device_start=%uns", (unsigned)start);
        snprintf(back, sizeof back, "copies.to_host_start=%uns", (unsigned)start + 50);
        struct copier c = copier_open((const char *const[]){latency_500[0], setting, back, NULL});
        uint64_t now = driver_time_ps(c.driver);
        to_device(&c, c.a, BYTES);
        assert_int_equal(passed(&c, now), (start + LATENCY_NS + BYTES) * PS);
        now = driver_time_ps(c.driver);
        to_host(&c, c.a, BYTES + 1);
        uint64_t looks = (2 * 50 + DRAM_NS + L2_NS) / LATE_NS + 1;
        assert_int_equal(passed(&c, now), (start + 50 + LATENCY_NS + BYTES + 1 + looks * LATE_NS) * PS);
        driver_free(c.driver);
    }
}

/* The call of an asynchronous copy returns when it is submitted; one that waits notices the end later. */
static void calls_of_copies_take_their_time(void **state)
{
    (void)state;
    struct copier c = copier_open(
        (const char *const[]){latency_500[0], "copies.submit=300ns", "system.wait_time=700ns", NULL});
    uint64_t now = driver_time_ps(c.driver);
    to_device(&c, c.a, BYTES);
    assert_int_equal(driver_time_ps(c.driver) - now, 300 * PS);
    assert_int_equal(passed(&c, now), (300 + LATENCY_NS + BYTES + 700) * PS);
    now = driver_time_ps(c.driver);
    assert_int_equal(passed(&c, now), 0);                                /* there is nothing to wait for */
    CHECK(stream_copy_bytes(c.a, c.at + 2 * BYTES, c.at, BYTES, false)); /* the host has no part in it */
    assert_int_equal(driver_time_ps(c.driver) - now, 0);
    passed(&c, now);
    driver_free(c.driver);
}

/* The host writes a small copy into its command, and the GPU reads it from there. */
static void small_copies_travel_inside_the_command(void **state)
{
    (void)state;
    struct copier c = copier_open((const char *const[]){
        latency_500[0], "copies.inline_pinned=1000B", "copies.inline_pageable=2000B",
        "copies.inline_start=200ns", "copies.inline_write=250MB/s", "copies.inline_read=500MB/s", NULL});
    static char pageable[4000];
    for (uint64_t bytes = 1000; bytes < 1002; bytes++) {
        uint64_t now = driver_time_ps(c.driver);
        to_device(&c, c.a, bytes);
        assert_int_equal(driver_time_ps(c.driver) - now, (bytes == 1000 ? 4 * bytes : 0) * PS);
        assert_int_equal(passed(&c, now), (LATENCY_NS + (bytes == 1000 ? 200 + 6 * bytes : bytes)) * PS);
    }
    for (uint64_t bytes = 2000; bytes < 2002; bytes++) {
        uint64_t now = driver_time_ps(c.driver);
        CHECK(stream_copy_bytes(c.a, c.at, (uintptr_t)pageable, bytes, true));
        assert_int_equal(passed(&c, now), (LATENCY_NS + (bytes == 2000 ? 200 + 6 * bytes : bytes)) * PS);
    }
    driver_free(c.driver);
}

/* Of four chunks, three are on the link while the CPU works on others: the first one to the host is not, nor
 * is the last one from there. */
static void pageable_memory_is_staged(void **state)
{
    (void)state;
    enum { CHUNK = BYTES / 4, CHUNK_NS = 50 };
    static char pageable[BYTES];
    for (unsigned far = 0; far < 2; far++) {
        struct copier c = copier_open((const char *const[]){
            latency_500[0], "copies.to_device_chunk=10000B", "copies.to_host_chunk=10000B",
            "copies.chunk_time=50ns", "copies.to_device_memcpy=500MB/s",
            far ? "copies.cached=20000B" : "copies.cached=1GiB", "copies.to_device_memcpy_far=250MB/s",
            "copies.to_host_memcpy=200MB/s", NULL});
        uint64_t staging = far ? (2 + 4) * BYTES / 2 : 2 * BYTES;
        memset(pageable, 5, BYTES);
        uint64_t now = driver_time_ps(c.driver);
        CHECK(stream_copy_bytes(c.a, c.at, (uintptr_t)pageable, BYTES, true));
        uint64_t taken = driver_time_ps(c.driver) - now;
        uint64_t expected = LATENCY_NS + 4 * CHUNK_NS + staging + CHUNK;
        assert_in_range(taken, expected * PS, expected * PS + PS); /* a rate is whole bytes in a second */
        memset(pageable, 0, BYTES);
        now = driver_time_ps(c.driver);
        CHECK(stream_copy_bytes(c.a, (uintptr_t)pageable, c.at, BYTES, true));
        taken = driver_time_ps(c.driver) - now;
        expected = LATENCY_NS + CHUNK + 4 * CHUNK_NS + 5 * BYTES;
        assert_in_range(taken, expected * PS, expected * PS + PS);
        for (unsigned i = 0; i < BYTES; i++)
            assert_int_equal(pageable[i], 5);
        now = driver_time_ps(c.driver);
        to_device(&c, c.a, BYTES);
        assert_int_equal(passed(&c, now), (LATENCY_NS + BYTES) * PS); /* pinned memory is not */
        driver_free(c.driver);
    }
}

/* Each page has the link's latency, as it must be there before the next one begins. */
static void copies_go_page_by_page(void **state)
{
    (void)state;
    enum { PAGE = 4096, PAGE_NS = 100, START_NS = 30 };
    struct copier c = copier_open((const char *const[]){
        latency_500[0], "copies.page=4KiB", "copies.page_time=100ns", "copies.to_device_start=30ns", NULL});
    assert_int_equal(c.at % PAGE, 0);
    unsigned char *host = c.host;
    for (unsigned i = 0; i < 4 * BYTES; i++)
        host[i] = (unsigned char)(i * 7 + i / 256);
    for (uint64_t skip = 0; skip < 2000; skip += 1000) {
        uint64_t bytes = 4 * PAGE, pages = skip ? 5 : 4, now = driver_time_ps(c.driver);
        CHECK(stream_copy_bytes(c.a, c.at + skip, (uintptr_t)host, bytes, false));
        assert_int_equal(passed(&c, now),
                         (START_NS + (pages - 1) * PAGE_NS + pages * LATENCY_NS + bytes) * PS);
        CHECK(stream_copy_bytes(c.a, (uintptr_t)host + 2 * BYTES, c.at + skip, bytes, true));
        assert_memory_equal(host, host + 2 * BYTES, bytes);
    }
    /* Rows of 1000 bytes: a page ends in the middle of one. */
    struct copy rows = {.to = {.address = c.at, .pitch = 1500},
                        .from = {.address = (uintptr_t)host, .pitch = 1200},
                        .width_bytes = 1000,
                        .height = 10,
                        .depth = 1};
    uint64_t now = driver_time_ps(c.driver);
    CHECK(stream_copy(c.a, &rows, false));
    assert_int_equal(passed(&c, now), (START_NS + 2 * PAGE_NS + 3 * LATENCY_NS + 10000) * PS);
    for (unsigned row = 0; row < 10; row++) {
        CHECK(stream_copy_bytes(c.a, (uintptr_t)host + 2 * BYTES, c.at + row * 1500, 1000, true));
        assert_memory_equal(host + row * 1200, host + 2 * BYTES, 1000);
    }
    driver_free(c.driver);
}

static void enable_peers(struct copier *c, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        for (unsigned k = 0; k < count; k++)
            if (i != k)
                CHECK(device_enable_peer(driver_device(c->driver, i), driver_device(c->driver, k)));
}

/* Planned are the bytes over the fabric, and the way of the word that all is there, back over it. Later than
 * that by: reading (two crossings of the own crossbar, memory, a slice), the own crossbar to the gateway, the
 * peer's to a slice, which takes its time, and back, and the own one from the gateway. */
static void check_copy_to_peer(const char *latency, unsigned latency_ns)
{
    enum { CROSSBAR_NS = 50 };
    struct copier c = copier_open((const char *const[]){
        latency_500[0], "system.gpus=2", latency, "fabric.bandwidth=2GB/s", "fabric.overhead_bytes=0", NULL});
    uint64_t far;
    enable_peers(&c, 2);
    CHECK(memory_alloc(driver_device(c.driver, 1), BYTES, &far));
    uint64_t now = driver_time_ps(c.driver);
    CHECK(stream_copy_bytes(c.a, far, c.at, BYTES, false));
    uint64_t late = 6 * CROSSBAR_NS + DRAM_NS + 2 * L2_NS, looks = late / LATE_NS + 1;
    assert_in_range(late % LATE_NS, 10, 80); /* headers on the fabric take less than what is left */
    assert_int_equal(passed(&c, now), (2 * latency_ns + BYTES / 2 + looks * LATE_NS) * PS);
    driver_free(c.driver);
}

static void copies_to_peers_take_the_fabrics_bandwidth(void **state)
{
    (void)state;
    check_copy_to_peer("fabric.latency=300ns", 300);
}

/* As much is under way as keeps a long fabric busy. */
static void copies_over_long_fabrics_take_its_bandwidth(void **state)
{
    (void)state;
    check_copy_to_peer("fabric.latency=8us", 8000);
}

/* Each GPU's engine sends what comes from its memory, so two copies to one GPU go on at the same time, and
 * share what it gets from the fabric: together they take their bytes, and the latency once. Those from one
 * GPU to another follow each other. */
static void copies_from_two_peers_go_on_beside_each_other(void **state)
{
    (void)state;
    enum { FABRIC_NS = 300, LOOKS = 5 /* as above */ };
    enum { ALONE_NS = 2 * FABRIC_NS + BYTES / 2 + LOOKS * LATE_NS };
    struct copier c =
        copier_open((const char *const[]){latency_500[0], "system.gpus=3", "fabric.latency=300ns",
                                          "fabric.bandwidth=2GB/s", "fabric.overhead_bytes=0", NULL});
    uint64_t from[2];
    struct stream *of[2];
    enable_peers(&c, 3);
    for (unsigned i = 0; i < 2; i++) {
        CHECK(memory_alloc(driver_device(c.driver, i + 1), BYTES, &from[i]));
        CHECK(stream_new(driver_device(c.driver, i + 1), STREAM_NON_BLOCKING, 0, &of[i]));
    }
    for (unsigned second = 0; second < 2; second++) {
        uint64_t now = driver_time_ps(c.driver);
        CHECK(stream_copy_bytes(of[0], c.at, from[0], BYTES, false));
        CHECK(stream_copy_bytes(of[1], c.at + 2 * BYTES, from[second], BYTES, false));
        CHECK(stream_synchronize(of[0]));
        CHECK(stream_synchronize(of[1]));
        uint64_t expected = second ? ALONE_NS + BYTES / 2 : 2 * ALONE_NS;
        assert_int_equal(driver_time_ps(c.driver) - now, expected * PS);
    }
    driver_free(c.driver);
}

/* Without peer access, both links are on the way, and the driver adds what it needs to begin. What comes
 * later is reading, and what a line takes on the second link. */
static void copies_without_peer_access_go_by_the_host(void **state)
{
    (void)state;
    enum { START_NS = 2000, LINE_NS = 128, LATE = 2 * 50 + DRAM_NS + L2_NS + LINE_NS };
    for (unsigned with = 0; with < 2; with++) {
        struct copier c =
            copier_open((const char *const[]){latency_500[0], "system.gpus=2", "noc.staged_start=2us",
                                              "fabric.bandwidth=1TB/s", "fabric.overhead_bytes=0", NULL});
        uint64_t far;
        if (with)
            CHECK(device_enable_peer(driver_device(c.driver, 1), c.device)); /* either way will do */
        CHECK(memory_alloc(driver_device(c.driver, 1), BYTES, &far));
        memset(c.host, 7, BYTES);
        to_device(&c, c.a, BYTES);
        CHECK(device_synchronize(c.device));
        uint64_t now = driver_time_ps(c.driver);
        CHECK(stream_copy_bytes(c.a, far, c.at, BYTES, false));
        uint64_t taken = passed(&c, now), planned = START_NS + 2 * LATENCY_NS + BYTES;
        if (with)
            assert_in_range(taken, 0, BYTES / 2 * PS);
        else
            assert_int_equal(taken, (planned + (LATE / LATE_NS + 1) * LATE_NS) * PS);
        memset(c.host, 0, BYTES);
        CHECK(stream_copy_bytes(c.a, (uintptr_t)c.host, far, BYTES, true));
        for (unsigned i = 0; i < BYTES; i++)
            assert_int_equal(((unsigned char *)c.host)[i], 7);
        driver_free(c.driver);
    }
}

/* Acknowledgements of one are on the links that data of the other takes: a header for two lines. */
static void copies_both_ways_leave_each_other_the_links(void **state)
{
    (void)state;
    enum { LONG = 8 * BYTES, WIRE = 144 + 8, EXPECTED_NS = LONG / 2 * WIRE / 128 };
    struct copier c = copier_open((const char *const[]){latency_500[0], "system.gpus=2",
                                                        "fabric.latency=300ns", "fabric.bandwidth=2GB/s",
                                                        "fabric.overhead_bytes=16", "fabric.flit=16B", NULL});
    uint64_t near, far;
    struct stream *back;
    enable_peers(&c, 2);
    CHECK(memory_alloc(c.device, 2 * LONG, &near));
    CHECK(memory_alloc(driver_device(c.driver, 1), 2 * LONG, &far));
    CHECK(stream_new(driver_device(c.driver, 1), STREAM_NON_BLOCKING, 0, &back));
    uint64_t now = driver_time_ps(c.driver);
    CHECK(stream_copy_bytes(c.a, far, near, LONG, false));
    CHECK(stream_copy_bytes(back, near + LONG, far + LONG, LONG, false));
    CHECK(stream_synchronize(back));
    assert_in_range(passed(&c, now), EXPECTED_NS * PS, EXPECTED_NS * PS / 100 * 101);
    driver_free(c.driver);
}

/* Two ways at a time, one copy each. */
static void copies_one_way_follow_each_other(void **state)
{
    (void)state;
    struct copier c = copier_open(latency_500);
    uint64_t now = driver_time_ps(c.driver);
    to_device(&c, c.a, BYTES);
    to_device(&c, c.b, BYTES / 2);
    assert_int_equal(passed(&c, now), (2 * LATENCY_NS + BYTES + BYTES / 2) * PS);
    now = driver_time_ps(c.driver);
    to_device(&c, c.a, BYTES);
    to_host(&c, c.b, BYTES / 2);
    assert_int_equal(passed(&c, now), (LATENCY_NS + BYTES) * PS);
    driver_free(c.driver);
}

/* A kernel whose time is known from running it alone, and a copy that is shorter, or longer. */
static void a_copy_goes_on_beside_a_kernel(void **state)
{
    (void)state;
    enum { SLEEP_NS = 20000 };
    struct copier c = copier_open(latency_500);
    for (int i = 0; i < 4; i++) { /* until its code is everywhere */
        sleep_for(&c, c.a, SLEEP_NS);
        passed(&c, 0);
    }
    uint64_t now = driver_time_ps(c.driver);
    sleep_for(&c, c.a, SLEEP_NS);
    uint64_t kernel = passed(&c, now);
    for (uint64_t bytes = 100; bytes <= BYTES; bytes += BYTES - 100) {
        uint64_t copy = (LATENCY_NS + bytes) * PS;
        now = driver_time_ps(c.driver);
        sleep_for(&c, c.a, SLEEP_NS);
        to_device(&c, c.b, bytes);
        assert_int_equal(passed(&c, now), kernel > copy ? kernel : copy);
        now = driver_time_ps(c.driver);
        sleep_for(&c, c.a, SLEEP_NS);
        to_device(&c, c.a, bytes);
        assert_int_equal(passed(&c, now), kernel + copy);
    }
    driver_free(c.driver);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_copy_takes_the_links_latency_and_its_bytes),
        cmocka_unit_test(a_copy_to_the_host_is_read_first),
        cmocka_unit_test(copies_on_the_device_take_memorys_bandwidth),
        cmocka_unit_test(a_copy_waits_for_slow_memory),
        cmocka_unit_test(a_copy_begins_when_its_engine_is_ready),
        cmocka_unit_test(copies_with_the_host_begin_when_their_engine_is_ready),
        cmocka_unit_test(calls_of_copies_take_their_time),
        cmocka_unit_test(small_copies_travel_inside_the_command),
        cmocka_unit_test(pageable_memory_is_staged),
        cmocka_unit_test(copies_go_page_by_page),
        cmocka_unit_test(copies_to_peers_take_the_fabrics_bandwidth),
        cmocka_unit_test(copies_over_long_fabrics_take_its_bandwidth),
        cmocka_unit_test(copies_from_two_peers_go_on_beside_each_other),
        cmocka_unit_test(copies_without_peer_access_go_by_the_host),
        cmocka_unit_test(copies_both_ways_leave_each_other_the_links),
        cmocka_unit_test(copies_one_way_follow_each_other),
        cmocka_unit_test(a_copy_goes_on_beside_a_kernel)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
