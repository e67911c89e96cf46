/* Memory of devices and of the host, as the driver gives it. */
#include "driver_check.h"
#include "driver/arena.h"
#include "exec/image.h"

/* ---- arenas ---- */

static void pieces_start_at_512_and_read_as_zero(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    assert_true(arena_init(&arena, 1 << 30, 0, &err));
    for (uint64_t bytes = 1; bytes < 3000000; bytes = 3 * bytes + 1) {
        uint64_t at = arena_take(&arena, bytes, 1);
        assert_int_equal(at % 512, 0);
        const char *piece = (const char *)(uintptr_t)at;
        for (uint64_t i = 0; i < bytes; i++)
            assert_int_equal(piece[i], 0);
    }
    arena_fini(&arena);
}

static void no_two_pieces_touch(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    assert_true(arena_init(&arena, 1 << 30, 0, &err));
    uint64_t last = 0;
    for (int i = 0; i < 100; i++) {
        uint64_t at = arena_take(&arena, 512, 1);
        assert_true(at > last + 512);
        last = at;
    }
    arena_fini(&arena);
}

static void freed_addresses_rest_and_come_back_as_zero(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    assert_true(arena_init(&arena, 64 << 20, 0, &err));
    uint64_t first = arena_take(&arena, 1000, 1);
    memset((void *)(uintptr_t)first, 7, 1000);
    arena_give(&arena, first, 1000);
    for (int i = 0; i < 1000; i++) { /* not at once */
        uint64_t at = arena_take(&arena, 1000, 1);
        assert_true(at != first);
        arena_give(&arena, at, 1000);
    }
    bool again = false;
    for (int i = 0; i < 10000 && !again; i++) { /* but in the end */
        uint64_t at = arena_take(&arena, 1000, 1);
        assert_int_equal(*(const char *)(uintptr_t)at, 0);
        again = at == first;
        arena_give(&arena, at, 1000);
    }
    assert_true(again);
    arena_fini(&arena);
}

static void an_arena_that_is_full_uses_what_rests(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    assert_true(arena_init(&arena, 64 << 20, 0, &err));
    for (int i = 0; i < 100; i++) {
        uint64_t at = arena_take(&arena, 40 << 20, 1);
        assert_true(at);
        assert_int_equal(*(const char *)(uintptr_t)at, 0);
        *(char *)(uintptr_t)at = 1;
        assert_int_equal(arena_take(&arena, 40 << 20, 1), 0);
        arena_give(&arena, at, 40 << 20);
    }
    arena_fini(&arena);
}

/* ---- allocations ---- */

static uint64_t resident_bytes(void)
{
    unsigned long long all = 0, resident = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    assert_non_null(file);
    assert_int_equal(fscanf(file, "%llu %llu", &all, &resident), 2);
    fclose(file);
    return resident * 4096;
}

static void sparse_use_costs_the_pages_that_are_touched(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20, bytes = 2048 * mib;
    struct arena arena;
    struct err err;
    assert_true(arena_init(&arena, 4 * bytes, 0, &err));
    char *piece = (char *)(uintptr_t)arena_take(&arena, bytes, 1);
    uint64_t before = resident_bytes();
    for (uint64_t i = 0; i < bytes; i += mib)
        piece[i] = 1;
    assert_true(resident_bytes() < before + 64 * mib);
    arena_fini(&arena);
}

static void zeros_cost_nothing_where_nothing_was(void **state)
{
    (void)state;
    const uint64_t mib = 1 << 20, bytes = 4096 * mib;
    struct arena arena;
    struct err err;
    assert_true(arena_init(&arena, 2 * bytes, 0, &err));
    uint64_t at = arena_take(&arena, bytes, 1), before = resident_bytes();
    char *piece = (char *)(uintptr_t)at;
    for (uint64_t i = 0; i < bytes; i += 63 * mib + 4097)
        piece[i] = 1;
    piece[100] = piece[bytes - 101] = piece[101] = piece[bytes - 102] = 5;
    arena_zero(at + 101, bytes - 202);
    assert_true(resident_bytes() < before + 64 * mib);
    assert_int_equal(piece[0], 1);
    for (uint64_t i = 63 * mib + 4097; i < bytes; i += 63 * mib + 4097)
        assert_int_equal(piece[i], 0);
    assert_int_equal(piece[100], 5);
    assert_int_equal(piece[bytes - 101], 5);
    assert_int_equal(piece[101], 0);
    assert_int_equal(piece[bytes - 102], 0);
    arena_fini(&arena);
}

static void kernels_see_exactly_what_was_asked_for(void **state)
{
    (void)state;
    struct under_test t;
    struct range range;
    uint64_t at;
    start(&t);
    CHECK(memory_alloc(t.device, 1000, &at));
    assert_true(image_find(device_image(t.device), at + 999, &range));
    assert_int_equal(range.bytes, 1000);
    assert_false(image_find(device_image(t.device), at + 1000, &range));
    CHECK(memory_free(t.driver, at));
    assert_false(image_find(device_image(t.device), at, &range));
    stop(&t);
}

static void no_bytes_are_no_address(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at = 1;
    start(&t);
    CHECK(memory_alloc(t.device, 0, &at));
    assert_int_equal(at, 0);
    CHECK(memory_free(t.driver, 0));
    stop(&t);
}

static void more_than_the_gpu_has_is_out_of_memory(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t a, b, free_bytes, total;
    start(&t);
    CHECK(memory_info(t.device, &free_bytes, &total));
    assert_int_equal(free_bytes, total);
    assert_int_equal(memory_alloc(t.device, total + 1, &a), RESULT_OUT_OF_MEMORY);
    CHECK(memory_alloc(t.device, total - 1024, &a));
    assert_int_equal(memory_alloc(t.device, 1025, &b), RESULT_OUT_OF_MEMORY);
    CHECK(memory_alloc(t.device, 1024, &b));
    CHECK(memory_info(t.device, &free_bytes, &total));
    assert_int_equal(free_bytes, 0);
    CHECK(memory_free(t.driver, a));
    CHECK(memory_info(t.device, &free_bytes, &total));
    assert_int_equal(free_bytes, total - 1024);
    stop(&t);
}

static void only_the_start_of_an_allocation_can_be_freed(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at;
    void *pinned;
    start(&t);
    CHECK(memory_alloc(t.device, 1024, &at));
    CHECK(memory_host_alloc(t.driver, 64, 0, &pinned));
    assert_int_equal(memory_free(t.driver, at + 256), RESULT_INVALID_VALUE);
    assert_int_equal(memory_free(t.driver, 0x1234), RESULT_INVALID_VALUE);
    assert_int_equal(memory_free(t.driver, address_of(pinned)), RESULT_INVALID_VALUE);
    assert_int_equal(memory_host_free(t.driver, (void *)(uintptr_t)at), RESULT_INVALID_VALUE);
    CHECK(memory_free(t.driver, at));
    assert_int_equal(memory_free(t.driver, at), RESULT_INVALID_VALUE);
    CHECK(memory_host_free(t.driver, pinned));
    stop(&t);
}

static void a_pitch_is_a_multiple_of_512(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at, pitch;
    start(&t);
    CHECK(memory_alloc_pitch(t.device, 513, 10, &at, &pitch));
    assert_int_equal(pitch, 1024);
    assert_int_equal(memory_alloc_pitch(t.device, UINT64_MAX / 2, 10, &at, &pitch), RESULT_OUT_OF_MEMORY);
    stop(&t);
}

static void a_pointer_is_known_by_any_byte(void **state)
{
    (void)state;
    struct under_test t;
    struct memory_facts facts;
    uint64_t device, managed;
    void *pinned;
    start(&t);
    CHECK(memory_alloc(t.device, 100, &device));
    CHECK(memory_managed_alloc(t.driver, 100, 1, &managed));
    CHECK(memory_host_alloc(t.driver, 100, HOST_MAPPED, &pinned));
    assert_true(memory_find(t.driver, device + 99, &facts));
    assert_int_equal(facts.kind, MEMORY_DEVICE);
    assert_ptr_equal(facts.device, t.device);
    assert_int_equal(facts.base, device);
    assert_true(memory_find(t.driver, managed, &facts));
    assert_int_equal(facts.kind, MEMORY_MANAGED);
    assert_true(memory_find(t.driver, address_of(pinned) + 5, &facts));
    assert_int_equal(facts.kind, MEMORY_HOST);
    assert_int_equal(facts.flags, HOST_MAPPED);
    assert_false(memory_find(t.driver, device + 100, &facts));
    assert_false(memory_find(t.driver, address_of(&t), &facts));
    stop(&t);
}

static void registered_memory_does_not_overlap(void **state)
{
    (void)state;
    static char mine[8192];
    struct under_test t;
    struct range range;
    start(&t);
    CHECK(memory_host_register(t.driver, mine, 8192, HOST_READ_ONLY));
    assert_true(image_find(device_image(t.device), address_of(mine), &range));
    assert_true(range.read_only);
    assert_int_equal(memory_host_register(t.driver, mine + 4096, 4096, 0),
                     RESULT_HOST_MEMORY_ALREADY_REGISTERED);
    assert_int_equal(memory_host_register(t.driver, mine, 0, 0), RESULT_INVALID_VALUE);
    assert_int_equal(memory_host_unregister(t.driver, mine + 16), RESULT_INVALID_VALUE);
    CHECK(memory_host_unregister(t.driver, mine));
    assert_int_equal(memory_host_unregister(t.driver, mine), RESULT_HOST_MEMORY_NOT_REGISTERED);
    stop(&t);
}

static void peers_see_each_others_memory_when_told(void **state)
{
    (void)state;
    struct folder folder;
    struct under_test t;
    struct range range;
    uint64_t before, after;
    folder_make(&folder);
    start_with(&t,
               (struct driver_options){.system = folder_write(&folder, "two.ini", "[system]\ngpus = 2\n")});
    assert_int_equal(driver_device_count(t.driver), 2);
    struct device *other = driver_device(t.driver, 1);
    CHECK(memory_alloc(t.device, 64, &before));
    assert_false(image_find(device_image(other), before, &range));
    CHECK(device_enable_peer(other, t.device));
    assert_int_equal(device_enable_peer(other, t.device), RESULT_PEER_ACCESS_ALREADY_ENABLED);
    CHECK(memory_alloc(t.device, 64, &after));
    assert_true(image_find(device_image(other), before, &range));
    assert_true(image_find(device_image(other), after, &range));
    CHECK(device_disable_peer(other, t.device));
    assert_false(image_find(device_image(other), after, &range));
    assert_int_equal(device_disable_peer(other, t.device), RESULT_PEER_ACCESS_NOT_ENABLED);
    assert_int_equal(device_enable_peer(other, other), RESULT_PEER_ACCESS_UNSUPPORTED);
    stop(&t);
    folder_remove(&folder, LIST("two.ini"));
}

static void peers_see_a_pools_memory_when_told(void **state)
{
    (void)state;
    struct folder folder;
    struct under_test t;
    struct range range;
    uint64_t before, after;
    folder_make(&folder);
    start_with(&t,
               (struct driver_options){.system = folder_write(&folder, "two.ini", "[system]\ngpus = 2\n")});
    struct device *other = driver_device(t.driver, 1);
    struct memory_pool *pool = memory_pool_default(t.device);
    CHECK(memory_alloc_async(t.first, pool, 64, &before));
    assert_false(memory_pool_has_access(pool, other));
    CHECK(memory_pool_set_access(pool, other, true));
    CHECK(memory_pool_set_access(pool, other, true));
    CHECK(memory_alloc_async(t.first, pool, 64, &after));
    assert_true(memory_pool_has_access(pool, other));
    assert_true(image_find(device_image(other), before, &range));
    assert_true(image_find(device_image(other), after, &range));
    CHECK(device_enable_peer(other, t.device)); /* of which the pool is independent */
    CHECK(device_disable_peer(other, t.device));
    assert_true(image_find(device_image(other), before, &range));
    CHECK(memory_pool_set_access(pool, other, false));
    assert_false(image_find(device_image(other), before, &range));
    assert_false(image_find(device_image(other), after, &range));
    assert_true(image_find(device_image(t.device), after, &range));
    assert_int_equal(memory_pool_set_access(pool, t.device, false), RESULT_INVALID_VALUE);
    stop(&t);
    folder_remove(&folder, LIST("two.ini"));
}

static void memory_of_a_stream_is_freed_in_its_order(void **state)
{
    (void)state;
    struct under_test t;
    struct memory_pool_facts facts;
    uint64_t at;
    start(&t);
    CHECK(memory_alloc_async(t.first, NULL, 100, &at));
    memory_pool_facts(memory_pool_default(t.device), &facts);
    assert_int_equal(facts.used, 100);
    CHECK(memory_free_async(t.first, at));
    CHECK(stream_synchronize(t.first));
    memory_pool_facts(memory_pool_default(t.device), &facts);
    assert_int_equal(facts.used, 0);
    assert_int_equal(facts.used_high, 100);
    assert_int_equal(memory_free_async(t.first, at), RESULT_INVALID_VALUE);
    stop(&t);
}

static void a_pool_has_its_limit(void **state)
{
    (void)state;
    struct under_test t;
    struct memory_pool *pool;
    uint64_t at;
    start(&t);
    CHECK(memory_pool_new(t.device, 1000, &pool));
    CHECK(memory_pool_set_current(t.device, pool));
    assert_int_equal(memory_alloc_async(t.first, NULL, 1001, &at), RESULT_OUT_OF_MEMORY);
    CHECK(memory_alloc_async(t.first, NULL, 1000, &at));
    CHECK(memory_pool_free(pool));
    assert_ptr_equal(memory_pool_current(t.device), memory_pool_default(t.device));
    CHECK(memory_free(t.driver, at));
    stop(&t);
}

static void arrays_have_a_shape(void **state)
{
    (void)state;
    struct under_test t;
    struct array *array;
    start(&t);
    struct array_shape shape = {.width = 100, .height = 10, .format = ARRAY_F32, .channels = 2};
    CHECK(array_new(t.device, &shape, &array));
    assert_int_equal(array->element_bytes, 8);
    assert_int_equal(array->pitch, 800);
    assert_int_equal(array->bytes, 8000);
    CHECK(array_free(t.driver, array));
    assert_int_equal(array_free(t.driver, array), RESULT_INVALID_HANDLE);
    shape.channels = 3;
    assert_int_equal(array_new(t.device, &shape, &array), RESULT_INVALID_CHANNEL_DESCRIPTOR);
    shape = (struct array_shape){.width = 131073, .format = ARRAY_U8, .channels = 1};
    assert_int_equal(array_new(t.device, &shape, &array), RESULT_INVALID_VALUE);
    stop(&t);
}

static void a_reset_frees_all(void **state)
{
    (void)state;
    struct under_test t;
    uint64_t at, free_bytes, total;
    struct stream *stream;
    start(&t);
    CHECK(memory_alloc(t.device, 1 << 20, &at));
    CHECK(stream_new(t.device, 0, 0, &stream));
    CHECK(device_reset(t.device));
    CHECK(memory_info(t.device, &free_bytes, &total));
    assert_int_equal(free_bytes, total);
    assert_int_equal(stream_free(stream), RESULT_INVALID_HANDLE);
    assert_int_equal(memory_free(t.driver, at), RESULT_INVALID_VALUE);
    CHECK(memory_alloc(t.device, 1 << 20, &at));
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pieces_start_at_512_and_read_as_zero),
        cmocka_unit_test(no_two_pieces_touch),
        cmocka_unit_test(freed_addresses_rest_and_come_back_as_zero),
        cmocka_unit_test(an_arena_that_is_full_uses_what_rests),
        cmocka_unit_test(sparse_use_costs_the_pages_that_are_touched),
        cmocka_unit_test(zeros_cost_nothing_where_nothing_was),
        cmocka_unit_test(kernels_see_exactly_what_was_asked_for),
        cmocka_unit_test(no_bytes_are_no_address),
        cmocka_unit_test(more_than_the_gpu_has_is_out_of_memory),
        cmocka_unit_test(only_the_start_of_an_allocation_can_be_freed),
        cmocka_unit_test(a_pitch_is_a_multiple_of_512),
        cmocka_unit_test(a_pointer_is_known_by_any_byte),
        cmocka_unit_test(registered_memory_does_not_overlap),
        cmocka_unit_test(peers_see_each_others_memory_when_told),
        cmocka_unit_test(peers_see_a_pools_memory_when_told),
        cmocka_unit_test(memory_of_a_stream_is_freed_in_its_order),
        cmocka_unit_test(a_pool_has_its_limit),
        cmocka_unit_test(arrays_have_a_shape),
        cmocka_unit_test(a_reset_frees_all),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
