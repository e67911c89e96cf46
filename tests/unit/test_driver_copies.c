/* Copies and fills of one to three dimensions, and when they read and write. */
#include "driver_check.h"

#include <stdatomic.h>
#include <time.h>

static char *at_host(uint64_t address)
{
    return (char *)(uintptr_t)address;
}

static uint64_t device_bytes(struct under_test *t, uint64_t bytes)
{
    uint64_t at;
    CHECK(memory_alloc(t->device, bytes, &at));
    return at;
}

static void hold(void *user, enum result result)
{
    (void)result;
    while (!*(_Atomic bool *)user)
        nanosleep(&(struct timespec){.tv_nsec = 100000}, NULL);
}

static void bytes_go_there_and_back(void **state)
{
    (void)state;
    struct under_test t;
    char from[1000], back[1000];
    start(&t);
    for (int i = 0; i < 1000; i++)
        from[i] = (char)i;
    uint64_t a = device_bytes(&t, 1000), b = device_bytes(&t, 1000);
    CHECK(stream_copy_bytes(t.first, a, address_of(from), 1000, true));
    CHECK(stream_copy_bytes(t.first, b, a, 1000, false));
    CHECK(stream_copy_bytes(t.first, address_of(back), b, 1000, false)); /* to pageable memory: waits */
    assert_memory_equal(from, back, 1000);
    stop(&t);
}

static void a_copy_stays_inside_its_allocation(void **state)
{
    (void)state;
    struct under_test t;
    char host[2048];
    start(&t);
    uint64_t at = device_bytes(&t, 1024), mine = address_of(host);
    assert_int_equal(stream_copy_bytes(t.first, mine, at, 1025, true), RESULT_INVALID_VALUE);
    assert_int_equal(stream_copy_bytes(t.first, at + 1, mine, 1024, true), RESULT_INVALID_VALUE);
    assert_int_equal(stream_copy_bytes(t.first, 0, at, 16, true), RESULT_INVALID_VALUE);
    CHECK(stream_copy_bytes(t.first, 0, at, 0, true));
    struct copy copy = {.to = {.address = mine, .must_be_device = true},
                        .from.address = at,
                        .width_bytes = 16,
                        .height = 1,
                        .depth = 1};
    assert_int_equal(stream_copy(t.first, &copy, true), RESULT_INVALID_VALUE);
    stop(&t);
}

static void pageable_memory_is_read_before_the_call_returns(void **state)
{
    (void)state;
    struct under_test t;
    _Atomic bool open = false;
    char source[100], back[100];
    start(&t);
    uint64_t at = device_bytes(&t, 100);
    memset(source, 1, sizeof source);
    CHECK(stream_host(t.first, hold, (void *)&open, false));
    CHECK(stream_copy_bytes(t.first, at, address_of(source), 100, false)); /* returns, though held */
    memset(source, 2, sizeof source);
    open = true;
    CHECK(stream_copy_bytes(t.first, address_of(back), at, 100, true));
    assert_int_equal(back[0], 1);
    assert_int_equal(back[99], 1);
    stop(&t);
}

static void pinned_memory_is_read_when_the_copy_runs(void **state)
{
    (void)state;
    struct under_test t;
    _Atomic bool open = false;
    void *source;
    start(&t);
    uint64_t at = device_bytes(&t, 100);
    CHECK(memory_host_alloc(t.driver, 100, 0, &source));
    CHECK(stream_host(t.first, hold, (void *)&open, false));
    CHECK(stream_copy_bytes(t.first, at, address_of(source), 100, false));
    memset(source, 2, 100);
    open = true;
    CHECK(stream_synchronize(t.first));
    assert_int_equal(*at_host(at), 2);
    stop(&t);
}

static void rows_are_copied_by_their_pitch(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at, pitch;
    char from[3 * 10], back[3 * 7];
    start(&t);
    for (int i = 0; i < 30; i++)
        from[i] = (char)i;
    CHECK(memory_alloc_pitch(t.device, 10, 3, &at, &pitch));
    struct copy copy = {.to = {.address = at, .pitch = pitch},
                        .from = {.address = address_of(from), .pitch = 10},
                        .width_bytes = 10,
                        .height = 3,
                        .depth = 1};
    CHECK(stream_copy(t.first, &copy, true));
    assert_int_equal(at_host(at)[2 * pitch + 9], 29);
    copy = (struct copy){.to = {.address = address_of(back)},
                         .from = {.address = at, .pitch = pitch, .x_bytes = 3},
                         .width_bytes = 7,
                         .height = 3,
                         .depth = 1};
    CHECK(stream_copy(t.first, &copy, true));
    assert_int_equal(back[0], 3);
    assert_int_equal(back[7], 13);
    assert_int_equal(back[20], 29);
    copy.to.pitch = 6;
    assert_int_equal(stream_copy(t.first, &copy, true), RESULT_INVALID_PITCH);
    stop(&t);
}

static void boxes_are_copied_to_arrays(void **state)
{
    (void)state;
    struct under_test t;
    struct array *array;
    short from[4][3][5], back[2][2][2];
    start(&t);
    for (int i = 0; i < 60; i++)
        (&from[0][0][0])[i] = (short)i;
    struct array_shape shape = {.width = 5, .height = 3, .depth = 4, .format = ARRAY_S16, .channels = 1};
    CHECK(array_new(t.device, &shape, &array));
    struct copy copy = {.to.array = array,
                        .from = {.address = address_of(from), .pitch = 10, .rows = 3},
                        .width_bytes = 10,
                        .height = 3,
                        .depth = 4};
    CHECK(stream_copy(t.first, &copy, true));
    copy = (struct copy){.to = {.address = address_of(back), .pitch = 4, .rows = 2},
                         .from = {.array = array, .x_bytes = 6, .y = 1, .z = 2},
                         .width_bytes = 4,
                         .height = 2,
                         .depth = 2};
    CHECK(stream_copy(t.first, &copy, true));
    assert_int_equal(back[0][0][0], from[2][1][3]);
    assert_int_equal(back[1][1][1], from[3][2][4]);
    copy.from.x_bytes = 8;
    assert_int_equal(stream_copy(t.first, &copy, true), RESULT_INVALID_VALUE);
    stop(&t);
}

static void fills_are_of_elements(void **state)
{
    (void)state;
    struct under_test t;
    start(&t);
    uint64_t at = device_bytes(&t, 64);
    struct fill fill = {
        .to.address = at, .value = 0x12345678, .element_bytes = 4, .width = 16, .height = 1, .depth = 1};
    CHECK(stream_fill(t.first, &fill, true));
    fill = (struct fill){
        .to.address = at + 2, .value = 0xabcd, .element_bytes = 2, .width = 1, .height = 1, .depth = 1};
    CHECK(stream_fill(t.first, &fill, true));
    fill = (struct fill){
        .to.address = at + 60, .value = 0xff, .element_bytes = 1, .width = 4, .height = 1, .depth = 1};
    CHECK(stream_fill(t.first, &fill, true));
    CHECK(device_synchronize(t.device));
    const uint32_t *words = (const uint32_t *)(uintptr_t)at;
    assert_int_equal(words[0], 0xabcd5678);
    assert_int_equal(words[14], 0x12345678);
    assert_int_equal(words[15], 0xffffffff);
    fill.width = 5;
    assert_int_equal(stream_fill(t.first, &fill, true), RESULT_INVALID_VALUE);
    fill = (struct fill){.to.address = at + 2, .element_bytes = 4, .width = 1, .height = 1, .depth = 1};
    assert_int_equal(stream_fill(t.first, &fill, true), RESULT_INVALID_VALUE);
    fill =
        (struct fill){.to.address = address_of(&t), .element_bytes = 1, .width = 1, .height = 1, .depth = 1};
    assert_int_equal(stream_fill(t.first, &fill, true), RESULT_INVALID_VALUE);
    stop(&t);
}

static void a_fill_of_rows_leaves_the_rest(void **state)
{
    (void)state;
    struct under_test t;
    start(&t);
    uint64_t at = device_bytes(&t, 30);
    struct fill fill = {.to = {.address = at, .pitch = 10},
                        .value = 7,
                        .element_bytes = 1,
                        .width = 4,
                        .height = 3,
                        .depth = 1};
    CHECK(stream_fill(t.first, &fill, false));
    CHECK(stream_synchronize(t.first));
    assert_int_equal(at_host(at)[23], 7);
    assert_int_equal(at_host(at)[24], 0);
    fill.to.pitch = 3;
    assert_int_equal(stream_fill(t.first, &fill, false), RESULT_INVALID_VALUE);
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(bytes_go_there_and_back),
        cmocka_unit_test(a_copy_stays_inside_its_allocation),
        cmocka_unit_test(pageable_memory_is_read_before_the_call_returns),
        cmocka_unit_test(pinned_memory_is_read_when_the_copy_runs),
        cmocka_unit_test(rows_are_copied_by_their_pitch),
        cmocka_unit_test(boxes_are_copied_to_arrays),
        cmocka_unit_test(fills_are_of_elements),
        cmocka_unit_test(a_fill_of_rows_leaves_the_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
