/* The heap of malloc in kernels, with a part for each SM. */
#include "check.h"
#include "base/archive.h"
#include "base/text.h"
#include "exec/heap.h"

enum { PARTS = 3, BYTES = 4096 };
static const uint64_t base = UINT64_C(0x10000);

static bool is_seen(const struct heap *heap, uint32_t sm, uint64_t at)
{
    struct range range;
    return heap_find(heap, sm, at, &range) && at - range.at < range.bytes;
}

static void an_address_depends_on_its_sm_alone(void **state)
{
    (void)state;
    struct image *image = image_new();
    struct heap *heap = heap_new(image, base, BYTES, PARTS);
    uint64_t first = heap_take(heap, 1, 100);
    assert_int_equal(first, base + BYTES);
    assert_int_equal(heap_take(heap, 0, 100), base);
    assert_int_equal(heap_take(heap, 2, 100), base + 2 * BYTES);
    assert_int_equal(heap_take(heap, HEAP_UNTIMED, 100), base + 112 + 16);
    assert_int_equal(heap_take(heap, 1, BYTES), 0); /* others have room, but that is theirs */
    assert_true(heap_give(heap, 1, first));
    assert_int_equal(heap_take(heap, 1, 50), first);
    assert_ptr_equal(image_heap(image), heap);
    heap_free(heap);
    assert_null(image_heap(image));
    image_free(image);
}

/* An SM knows its own pieces to the byte. Others' it does not know while kernels run; without time all are
 * known. */
static void an_sm_sees_its_own_pieces_to_the_byte(void **state)
{
    (void)state;
    struct image *image = image_new();
    struct heap *heap = heap_new(image, base, BYTES, PARTS);
    uint64_t at = heap_take(heap, 1, 100), end = base + (uint64_t)PARTS * BYTES;
    assert_false(heap_holds(heap, base - 1));
    assert_true(heap_holds(heap, base));
    assert_true(heap_holds(heap, end - 1));
    assert_false(heap_holds(heap, end));
    static const uint32_t exact[] = {1, HEAP_UNTIMED};
    for (int i = 0; i < 2; i++) {
        assert_true(is_seen(heap, exact[i], at));
        assert_true(is_seen(heap, exact[i], at + 99));
        assert_false(is_seen(heap, exact[i], at + 100));
    }
    struct range range;
    assert_true(heap_find(heap, 0, at + 100, &range));
    assert_int_equal(range.at, base + BYTES);
    assert_int_equal(range.bytes, BYTES);
    assert_false(is_seen(heap, 0, base)); /* its own part, where nothing is taken */
    assert_true(heap_give(heap, 1, at));
    assert_false(is_seen(heap, 1, at));
    struct text text = {0};
    heap_describe(heap, at + 4, &text);
    assert_non_null(strstr(text.at, "4 bytes into the 100 bytes of malloc in a kernel"));
    assert_non_null(strstr(text.at, "which were freed"));
    text_fini(&text);
    heap_free(heap);
    image_free(image);
}

static void what_others_gave_back_can_be_taken_later(void **state)
{
    (void)state;
    struct image *image = image_new();
    struct heap *heap = heap_new(image, base, BYTES, PARTS);
    uint64_t one = heap_take(heap, 0, 100), two = heap_take(heap, 0, 200), three = heap_take(heap, 0, 100);
    assert_true(heap_give(heap, 2, two));
    assert_true(heap_give(heap, 1, one));
    assert_true(is_seen(heap, 0, one));    /* its owner has not heard of it */
    assert_false(heap_give(heap, 1, one)); /* twice */
    assert_false(heap_give(heap, 1, base - 16));
    assert_false(heap_give(heap, 1, base + (uint64_t)PARTS * BYTES));
    assert_false(heap_give(heap, 1, three + 8));  /* no piece begins there */
    assert_false(heap_give(heap, 0, three + 16)); /* inside a piece, as the owner knows; */
    assert_true(heap_give(heap, 1, three + 16));  /* others do not: it comes to nothing */
    assert_true(heap_take(heap, 0, 100) > three);
    heap_settle(heap);
    assert_false(is_seen(heap, 0, one));
    assert_true(is_seen(heap, 0, three));
    assert_int_equal(heap_take(heap, 0, 330), one);    /* both together */
    assert_true(heap_give(heap, HEAP_UNTIMED, three)); /* nobody runs: at once */
    assert_int_equal(heap_take(heap, 0, 100), three);
    heap_free(heap);
    image_free(image);
}

static void archive_all(struct heap *heap, struct archive *archive)
{
    for (uint32_t part = 0; part < heap_parts(heap); part++)
        heap_archive_part(heap, part, archive);
}

static void a_checkpoint_has_all_of_it(void **state)
{
    (void)state;
    struct image *images[] = {image_new(), image_new()};
    struct heap *heaps[] = {heap_new(images[0], base, BYTES, PARTS), heap_new(images[1], base, BYTES, PARTS)};
    uint64_t kept = heap_take(heaps[0], 0, 100), given = heap_take(heaps[0], 0, 100);
    heap_take(heaps[0], 2, 10);
    heap_give(heaps[0], 1, given);
    heap_take(heaps[1], 1, 1000); /* is forgotten */
    struct archive out = archive_writer();
    archive_all(heaps[0], &out);
    struct archive in = archive_reader(out.text.at, out.text.length);
    archive_all(heaps[1], &in);
    assert_true(archive_at_end(&in));
    assert_true(is_seen(heaps[1], 0, kept + 99));
    assert_false(is_seen(heaps[1], 0, kept + 100));
    assert_true(is_seen(heaps[1], 0, given));
    assert_false(is_seen(heaps[1], 1, base + BYTES));
    assert_true(is_seen(heaps[1], 2, base + 2 * BYTES));
    assert_false(heap_give(heaps[1], 1, given)); /* it has been */
    for (int settled = 0; settled < 2; settled++) {
        for (uint32_t sm = 0; sm < PARTS; sm++)
            assert_int_equal(heap_take(heaps[1], sm, 60), heap_take(heaps[0], sm, 60));
        heap_settle(heaps[0]);
        heap_settle(heaps[1]);
    }
    for (int i = 0; i < 2; i++) {
        heap_free(heaps[i]);
        image_free(images[i]);
    }
    text_fini(&out.text);
}

/* As over ranks: SM 0 is in one process, and SM 1 in another. */
static void parts_in_two_processes(void **state)
{
    (void)state;
    struct image *images[] = {image_new(), image_new()};
    struct heap *heaps[] = {heap_new(images[0], base, BYTES, PARTS), heap_new(images[1], base, BYTES, PARTS)};
    uint64_t first = heap_take(heaps[0], 0, 100), second = heap_take(heaps[0], 0, 100);
    assert_true(heap_give(heaps[1], 1, first));
    struct archive out = archive_writer();
    heap_archive_given(heaps[1], 1, &out);
    struct archive in = archive_reader(out.text.at, out.text.length);
    heap_archive_given(heaps[0], 1, &in);
    assert_true(archive_at_end(&in));
    for (int i = 0; i < 2; i++)
        heap_settle(heaps[i]);
    assert_int_equal(heap_take(heaps[0], 0, 100), first);
    assert_true(heap_take(heaps[0], 0, 100) > second);
    assert_true(heap_give(heaps[1], 1, first)); /* it can be given back again */
    for (int i = 0; i < 2; i++) {
        heap_free(heaps[i]);
        image_free(images[i]);
    }
    text_fini(&out.text);
}

/* With a cost that grows with the pieces there are, this would take minutes. */
static void many_pieces_are_as_quick_as_few(void **state)
{
    (void)state;
    enum { MANY = 1000000, STEP = 32 };
    struct image *image = image_new();
    struct heap *heap = heap_new(image, base, (uint64_t)MANY * STEP, 1);
    for (uint64_t i = 0; i < MANY; i++)
        assert_int_equal(heap_take(heap, 0, 16), base + i * STEP);
    assert_int_equal(heap_take(heap, 0, 16), 0);
    for (uint64_t i = 0; i < MANY; i += 2)
        assert_true(heap_give(heap, 0, base + i * STEP));
    assert_int_equal(heap_take(heap, 0, STEP), 0);  /* all holes are too small */
    assert_int_equal(heap_take(heap, 0, 16), base); /* the first of them */
    for (uint64_t i = MANY - 1; i < MANY; i -= 2)
        assert_true(heap_give(heap, 0, base + i * STEP));
    assert_int_equal(heap_take(heap, 0, (uint64_t)(MANY - 1) * STEP - 16), base + STEP);
    heap_free(heap);
    image_free(image);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_depends_on_its_sm_alone),
        cmocka_unit_test(an_sm_sees_its_own_pieces_to_the_byte),
        cmocka_unit_test(what_others_gave_back_can_be_taken_later),
        cmocka_unit_test(a_checkpoint_has_all_of_it),
        cmocka_unit_test(parts_in_two_processes),
        cmocka_unit_test(many_pieces_are_as_quick_as_few),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
