#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "cache/tags.h"

static const struct {
    uint32_t sets, ways;
    bool hashed;
} shapes[] = {{1, 1, false},   {1, 64, true}, {4, 64, false}, {64, 4, true},
              {320, 16, true}, {7, 3, false}, {31, 17, true}};

/* The same by plain means, for LRU and FIFO. */
struct plain {
    uint64_t line, used;
};

static void agrees_with_a_plain_one(void **state)
{
    (void)state;
    for (unsigned trial = 0; trial < 2 * COUNT_OF(shapes); trial++) {
        bool fifo = trial % 2;
        uint32_t sets = shapes[trial / 2].sets, ways = shapes[trial / 2].ways;
        struct tags *tags = tags_new(&(struct tags_spec){.sets = sets,
                                                         .ways = ways,
                                                         .policy = fifo ? REPLACE_FIFO : REPLACE_LRU,
                                                         .hashed = shapes[trial / 2].hashed,
                                                         .scattered = !shapes[trial / 2].hashed && fifo});
        struct plain *plain = mem_alloc((size_t)sets * ways, sizeof *plain);
        struct rng rng;
        rng_init(&rng, trial, "tags");
        for (uint64_t now = 1; now < 20000; now++) {
            uint64_t line = rng_below(&rng, 3 * sets * ways) * (now % 2 ? 1 : sets);
            struct plain *set = plain + (size_t)tags_set_of(tags, line) * ways, *found = NULL, *oldest = set;
            for (uint32_t w = 0; w < ways; w++) {
                if (set[w].used && set[w].line == line)
                    found = &set[w];
                if (set[w].used < oldest->used)
                    oldest = &set[w];
            }
            uint32_t slot = tags_find(tags, line);
            assert_true((slot != TAGS_NONE) == (found != NULL));
            if (found) {
                assert_int_equal(slot, found - plain);
                assert_int_equal(tags_line(tags, slot), line);
                tags_touch(tags, slot);
                found->used = fifo ? found->used : now;
                if (rng_below(&rng, 20) == 0) {
                    tags_drop(tags, slot);
                    *found = (struct plain){0};
                }
            } else {
                slot = tags_victim(tags, line);
                assert_int_equal(slot, oldest - plain);
                assert_int_equal(tags_holds(tags, slot), oldest->used != 0);
                tags_fill(tags, slot, line, TAGS_NORMAL);
                *oldest = (struct plain){line, now};
            }
            if (rng_below(&rng, 5000) == 0) {
                tags_drop_all(tags);
                memset(plain, 0, (size_t)sets * ways * sizeof *plain);
            }
        }
        mem_free(plain);
        tags_free(tags);
    }
}

static void strides_reach_all_sets(void **state)
{
    (void)state;
    for (unsigned i = 0; i < COUNT_OF(shapes); i++) {
        if (!shapes[i].hashed)
            continue;
        uint32_t sets = shapes[i].sets;
        struct tags *tags = tags_new(&(struct tags_spec){.sets = sets, .ways = 1, .hashed = true});
        for (uint64_t stride = 1; stride <= sets; stride += sets - (sets > 1)) {
            uint32_t *count = mem_alloc(sets, sizeof *count);
            for (uint64_t n = 0; n < sets; n++)
                assert_int_equal(count[tags_set_of(tags, 123456789 * (uint64_t)sets + n * stride)]++, 0);
            mem_free(count);
        }
        tags_free(tags);
    }
}

static struct tags *one_set(uint32_t ways, enum replace_policy policy)
{
    struct tags *tags = tags_new(&(struct tags_spec){.sets = 1, .ways = ways, .policy = policy, .seed = 5});
    for (uint32_t i = 0; i < ways; i++)
        tags_fill(tags, tags_victim(tags, i), i, TAGS_NORMAL);
    return tags;
}

static void every_policy_spares_what_is_pinned_or_wanted(void **state)
{
    (void)state;
#define PLUS_ONE(...) +1
    for (unsigned policy = 0; policy < 0 REPLACE_POLICIES(PLUS_ONE); policy++) {
#undef PLUS_ONE
        struct tags *tags = one_set(6, policy);
        for (uint32_t i = 0; i < 6; i++) {
            if (i != 3)
                tags_pin(tags, tags_find(tags, i));
        }
        assert_int_equal(tags_line(tags, tags_victim(tags, 100)), 3);
        tags_pin(tags, tags_find(tags, 3));
        assert_int_equal(tags_victim(tags, 100), TAGS_NONE);
        tags_unpin(tags, tags_find(tags, 5));
        assert_int_equal(tags_line(tags, tags_victim(tags, 100)), 5);
        for (uint32_t i = 0; i < 5; i++)
            tags_unpin(tags, tags_find(tags, i));
        tags_fill(tags, tags_find(tags, 2), 2, TAGS_FIRST);
        assert_int_equal(tags_line(tags, tags_victim(tags, 100)), 2);
        for (uint32_t i = 0; i < 6; i++)
            tags_fill(tags, tags_find(tags, i), i, i == 4 ? TAGS_NORMAL : TAGS_LAST);
        assert_int_equal(tags_line(tags, tags_victim(tags, 100)), 4);
        tags_free(tags);
    }
}

static void the_tree_points_away_from_what_was_used(void **state)
{
    (void)state;
    struct tags *tags = one_set(4, REPLACE_TREE);
    tags_touch(tags, 0);
    assert_true(tags_victim(tags, 100) >= 2);
    tags_touch(tags, 2);
    assert_int_equal(tags_victim(tags, 100), 1);
    tags_touch(tags, 1);
    assert_int_equal(tags_victim(tags, 100), 3);
    tags_free(tags);
}

static void srrip_keeps_what_was_used_again(void **state)
{
    (void)state;
    struct tags *tags = one_set(4, REPLACE_SRRIP);
    tags_touch(tags, tags_find(tags, 0));
    tags_touch(tags, tags_find(tags, 1));
    for (uint64_t line = 10; line < 14; line++) { /* a stream passes */
        uint32_t slot = tags_victim(tags, line);
        assert_true(tags_line(tags, slot) > 1);
        tags_fill(tags, slot, line, TAGS_NORMAL);
    }
    tags_free(tags);
}

static void random_is_of_its_seed(void **state)
{
    (void)state;
    struct tags *a = one_set(16, REPLACE_RANDOM), *b = one_set(16, REPLACE_RANDOM);
    uint32_t seen = 0;
    for (unsigned i = 0; i < 200; i++) {
        uint32_t slot = tags_victim(a, 100);
        assert_int_equal(slot, tags_victim(b, 100));
        seen |= 1u << slot;
    }
    assert_int_equal(seen, 0xffff);
    tags_free(a);
    tags_free(b);
}

static void a_line_that_comes_has_an_empty_note(void **state)
{
    (void)state;
    struct tags *tags = one_set(4, REPLACE_LRU);
    *tags_note(tags, 2) = 7;
    tags_fill(tags, 2, 50, TAGS_NORMAL);
    assert_int_equal(*tags_note(tags, 2), 0);
    tags_free(tags);
}

static void a_copy_goes_on_as_the_original(void **state)
{
    (void)state;
    struct tags *tags = one_set(8, REPLACE_LRU);
    struct tags *copy = mem_alloc_lines(1, tags->bytes);
    memcpy(copy, tags, tags->bytes);
    *tags_dirty(copy, 3) = 5;
    assert_int_equal(*tags_dirty(tags, 3), 0);
    assert_int_equal(tags_find(copy, 7), tags_find(tags, 7));
    tags_free(tags);
    assert_int_equal(tags_victim(copy, 100), 0);
    tags_free(copy);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(agrees_with_a_plain_one),
        cmocka_unit_test(strides_reach_all_sets),
        cmocka_unit_test(every_policy_spares_what_is_pinned_or_wanted),
        cmocka_unit_test(the_tree_points_away_from_what_was_used),
        cmocka_unit_test(srrip_keeps_what_was_used_again),
        cmocka_unit_test(random_is_of_its_seed),
        cmocka_unit_test(a_line_that_comes_has_an_empty_note),
        cmocka_unit_test(a_copy_goes_on_as_the_original),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
