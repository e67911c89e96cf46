#include "check.h"
#include "base/mem.h"

static void memory_is_zeroed(void **state)
{
    (void)state;
    unsigned char *memory = mem_alloc(100, 3);
    for (int i = 0; i < 300; i++)
        assert_int_equal(memory[i], 0);
    mem_free(memory);
}

static void lines_start_at_a_cache_line(void **state)
{
    (void)state;
    for (size_t bytes = 0; bytes < 200; bytes++) {
        void *memory = mem_alloc_lines(bytes, 1);
        assert_int_equal((uintptr_t)memory % CACHE_LINE, 0);
        mem_free(memory);
    }
}

static void large_pages_are_zeroed_too(void **state)
{
    (void)state;
    unsigned char *memory = mem_alloc_pages(3, 1 << 20);
    assert_int_equal((uintptr_t)memory % (2 << 20), 0);
    for (int i = 0; i < 3 << 20; i += 4095)
        assert_int_equal(memory[i], 0);
    mem_free_pages(memory);
    mem_free_pages(mem_alloc_pages(3, 1));
    mem_free_pages(NULL);
}

static void nothing_is_memory_too(void **state)
{
    (void)state;
    void *memory = mem_alloc(0, 8);
    assert_non_null(memory);
    mem_free(memory);
    mem_free(NULL);
}

static void resizing_keeps_the_old_and_zeroes_the_new(void **state)
{
    (void)state;
    uint32_t *memory = mem_alloc(2, sizeof *memory);
    memory[0] = 7;
    memory[1] = 8;
    memory = mem_resize(memory, 2, 100, sizeof *memory);
    assert_int_equal(memory[1], 8);
    for (int i = 2; i < 100; i++)
        assert_int_equal(memory[i], 0);
    memory = mem_resize(memory, 100, 1, sizeof *memory);
    assert_int_equal(memory[0], 7);
    mem_free(memory);
}

static void an_array_grows_one_by_one(void **state)
{
    (void)state;
    int *array = NULL;
    uint32_t count = 0, capacity = 0;
    for (int i = 0; i < 1000; i++) {
        mem_grow(array, count, capacity);
        array[count++] = i;
    }
    assert_true(capacity >= 1000);
    assert_int_equal(array[999], 999);
    mem_free(array);
}

static jmp_buf out;
static size_t wanted;

static void leave(size_t bytes)
{
    wanted = bytes;
    longjmp(out, 1);
}

/* A product that wraps would give a small array for a large count. */
static void a_count_that_overflows_is_exhaustion(void **state)
{
    (void)state;
    volatile size_t count = SIZE_MAX / 2; /* the compiler would warn of it */
    mem_on_exhaustion(leave);
    if (setjmp(out) == 0) {
        mem_alloc(count, 3);
        fail();
    }
    mem_on_exhaustion(NULL);
    assert_int_equal(wanted, SIZE_MAX);
}

static void a_copy_of_a_text_is_apart(void **state)
{
    (void)state;
    char original[] = "abc";
    char *copy = mem_text(original);
    original[0] = 'x';
    assert_string_equal(copy, "abc");
    mem_free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_zeroed),
        cmocka_unit_test(lines_start_at_a_cache_line),
        cmocka_unit_test(large_pages_are_zeroed_too),
        cmocka_unit_test(nothing_is_memory_too),
        cmocka_unit_test(resizing_keeps_the_old_and_zeroes_the_new),
        cmocka_unit_test(an_array_grows_one_by_one),
        cmocka_unit_test(a_count_that_overflows_is_exhaustion),
        cmocka_unit_test(a_copy_of_a_text_is_apart),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
