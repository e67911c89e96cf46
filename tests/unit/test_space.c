#include "check.h"
#include "mem/space.h"

#define GIB UINT64_C(0x40000000)
#define MIB UINT64_C(0x100000)

static void assert_becomes(const struct space *space, uint64_t from, uint32_t home, uint64_t offset)
{
    struct space_block found = space_find(space, from);
    assert_true(from - found.at < found.bytes);
    struct physical_address to = physical_unpack(found.to.packed + (from - found.at));
    assert_int_equal(physical_home(to), home);
    assert_int_equal(physical_offset(to), offset);
}

static void a_range_is_mapped_from_its_first_page_to_its_last(void **state)
{
    (void)state;
    struct space *space = space_new();
    uint64_t at = 5 * GIB - 3 * MIB - 4096, bytes = 3 * GIB + 7 * MIB + 100;
    space_map(space, at, bytes, physical_at(3, 4096));
    space_ready(space);
    assert_int_equal(space_find(space, at - 1).bytes, 0);
    assert_becomes(space, at, 3, 4096);
    for (uint64_t step = 0; step < bytes; step += 777 * 1024)
        assert_becomes(space, at + step, 3, 4096 + step);
    assert_becomes(space, at + bytes - 1, 3, 4096 + bytes - 1);
    assert_int_equal(space_find(space, at + bytes + 4096).bytes, 0);
    space_clear(space);
    assert_int_equal(space_find(space, at).bytes, 0);
    space_free(space);
}

static void what_lies_alike_takes_large_entries(void **state)
{
    (void)state;
    struct space *space = space_new();
    space_map(space, 64 * GIB, 2 * GIB, physical_at(0, 0));
    space_map(space, 70 * GIB, 2 * GIB, physical_at(0, 4 * GIB + 2 * MIB));
    space_map(space, 80 * GIB, 2 * GIB, physical_at(HOME_HOST, 4096));
    space_ready(space);
    assert_int_equal(space_find(space, 65 * GIB).bytes, GIB);
    assert_int_equal(space_find(space, 71 * GIB).bytes, 2 * MIB);
    assert_int_equal(space_find(space, 81 * GIB).bytes, 4096);
    assert_becomes(space, 81 * GIB + 5, HOME_HOST, GIB + 4096 + 5);
    space_free(space);
}

/* Memory that a program registered begins and ends anywhere. */
static void a_page_that_two_share_is_the_first_ones(void **state)
{
    (void)state;
    struct space *space = space_new();
    space_map(space, GIB + 100, 4096, physical_at(HOME_HOST, 8 * 4096 + 100));
    space_map(space, GIB + 4096 + 500, 4096, physical_at(HOME_HOST, 16 * 4096 + 500));
    space_ready(space);
    assert_becomes(space, GIB + 4096 + 600, HOME_HOST, 9 * 4096 + 600);
    assert_becomes(space, GIB + 2 * 4096 + 1, HOME_HOST, 17 * 4096 + 1);
    space_free(space);
}

static void names_of_a_physical_address_are_all_found(void **state)
{
    (void)state;
    struct space *space = space_new();
    space_map(space, GIB, 4 * MIB, physical_at(1, 0));
    space_map(space, 2 * GIB, 4 * MIB, physical_at(1, 4 * MIB));
    space_ready(space);
    assert_false(space_find(space, GIB).has_aliases);
    assert_int_equal(space_name(space, physical_at(1, 5 * MIB), 0).at, 2 * GIB);
    assert_int_equal(space_name(space, physical_at(1, 5 * MIB), 1).bytes, 0);
    space_map(space, 3 * GIB, 2 * MIB, physical_at(1, 2 * MIB));
    space_ready(space);
    assert_true(space_find(space, GIB).has_aliases);
    assert_int_equal(space_name(space, physical_at(1, 3 * MIB), 0).at, GIB);
    assert_int_equal(space_name(space, physical_at(1, 3 * MIB), 1).at, 3 * GIB);
    assert_int_equal(space_name(space, physical_at(0, 3 * MIB), 0).bytes, 0);
    space_free(space);
}

static uint64_t tag_of(const struct space *space, uint64_t address)
{
    struct space_block found = space_find(space, address);
    return space_tag(&found, address);
}

/* A tag does not depend on the virtual address, but tells those of one physical address apart. */
static void aliases_have_tags_of_their_own(void **state)
{
    (void)state;
    for (uint64_t base = GIB; base <= 8 * GIB; base += 7 * GIB) {
        struct space *space = space_new();
        space_map(space, base, 4 * MIB, physical_at(1, 0));
        space_map(space, base + 3 * GIB, 2 * MIB, physical_at(1, 2 * MIB));
        space_map(space, base + 4 * GIB, 4096, physical_at(1, 2 * MIB + 4096));
        space_map(space, base + 5 * GIB, 2 * MIB, physical_at(1, 4 * MIB)); /* behind them */
        space_ready(space);
        uint64_t physical = physical_at(1, 2 * MIB + 4100).packed;
        uint64_t tags[] = {tag_of(space, base + 2 * MIB + 4100), tag_of(space, base + 3 * GIB + 4100),
                           tag_of(space, base + 4 * GIB + 4)};
        for (uint32_t i = 0; i < 3; i++) {
            assert_int_equal(tag_physical(tags[i]), physical);
            assert_int_equal(tag_alias(tags[i]), i);
        }
        assert_int_equal(tag_of(space, base + 5 * GIB + 4), physical_at(1, 4 * MIB + 4).packed);
        assert_int_equal(tag_physical(tag_any(tags[1])), physical);
        assert_int_equal(tag_alias(tag_any(tags[1])), SPACE_ANY_ALIAS);
        space_free(space);
    }
}

/* Caches and TLBs know lines and pages by tags: a mapping keeps its own when others come and go. */
static void mappings_keep_their_tags(void **state)
{
    (void)state;
    struct space *space = space_new();
    const uint64_t at[] = {4 * GIB, 5 * GIB, 2 * GIB, 3 * GIB},
                   offsets[] = {4 * MIB, 4 * MIB, 2 * MIB, 4 * MIB};
    static const struct {
        bool there[4];
        int alias[4];
    } rows[] = {{{true, true, false, false}, {0, 1, 0, 0}},
                {{true, true, true, false}, {0, 1, 2, 0}}, /* in front of them, and overlaps both */
                {{true, true, true, true}, {0, 1, 2, 3}},  /* at a lower virtual address */
                {{false, true, true, true}, {0, 1, 2, 3}},
                {{true, true, true, true}, {0, 1, 2, 3}},
                {{false, true, false, false}, {0, 1, 0, 0}}, /* alone */
                {{false, true, false, true}, {0, 1, 0, 0}}};
    for (size_t row = 0; row < sizeof rows / sizeof *rows; row++) {
        space_clear(space);
        assert_int_equal(space_name(space, physical_at(1, 5 * MIB), 0).bytes, 0);
        for (uint32_t i = 0; i < 4; i++)
            if (rows[row].there[i])
                space_map(space, at[i], 4 * MIB, physical_at(1, offsets[i]));
        space_ready(space);
        for (uint32_t i = 0; i < 4; i++)
            if (rows[row].there[i])
                assert_int_equal(tag_alias(tag_of(space, at[i])), rows[row].alias[i]);
    }
    space_free(space);
}

/* Of 300 names of a page some have a tag in common; none is that of all aliases. */
static void there_may_be_more_aliases_than_tags(void **state)
{
    (void)state;
    enum { NAMES = 300 };
    struct space *space = space_new();
    for (uint32_t round = 0; round < 2; round++) {
        space_clear(space);
        for (uint64_t i = round; i < NAMES; i++)
            space_map(space, GIB + 4096 * i, 4096, physical_at(0, 0));
        space_ready(space);
        for (uint64_t i = round; i < NAMES; i++)
            assert_int_not_equal(tag_alias(tag_of(space, GIB + 4096 * i)), SPACE_ANY_ALIAS);
        assert_int_equal(tag_alias(tag_of(space, GIB + 4096 * 7)), 7);
    }
    space_free(space);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_range_is_mapped_from_its_first_page_to_its_last),
        cmocka_unit_test(what_lies_alike_takes_large_entries),
        cmocka_unit_test(a_page_that_two_share_is_the_first_ones),
        cmocka_unit_test(names_of_a_physical_address_are_all_found),
        cmocka_unit_test(aliases_have_tags_of_their_own),
        cmocka_unit_test(mappings_keep_their_tags),
        cmocka_unit_test(there_may_be_more_aliases_than_tags),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
