/* Data races of a launch (itrace/races.h): which uses of memory are one, and which are not. */
#include "check.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/atomics.h"
#include "itrace/races.h"

#include <pthread.h>

enum { BASE = 1 << 20, BLOCKS = 16, WARPS = 4, SHARED_BYTES = 4096 };

static struct races *races;
static struct races_block *places[BLOCKS];

static int begin(void **state)
{
    (void)state;
    races = races_new();
    for (uint32_t i = 0; i < BLOCKS; i++) {
        places[i] = races_block_new(races, WARPS, SHARED_BYTES);
        races_block_begin(places[i], i);
    }
    return 0;
}

static int end(void **state)
{
    (void)state;
    races_free(races);
    return 0;
}

static enum races_found result(void)
{
    for (uint32_t i = 0; i < BLOCKS; i++)
        races_block_end(places[i]);
    return races_find(races);
}

static uint8_t row_of(const char *name)
{
    for (uint32_t i = 0; i < atomic_row_count; i++)
        if (!strcmp(atomic_rows[i].name, name))
            return (uint8_t)i;
    fail_msg("no atomic operation %s", name);
    return 0;
}

/* Lanes that follow each other use elements that do. */
static void use(uint32_t block, uint32_t warp, enum request_kind kind, uint64_t at, uint32_t lanes,
                uint32_t bytes)
{
    static const struct request none;
    struct request request = none;
    request.of.kind = (uint8_t)kind;
    request.of.lanes = lanes == 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
    request.of.bytes = (uint8_t)bytes;
    for (uint32_t i = 0; i < lanes; i++)
        request.of.at[i] = BASE + at + (uint64_t)i * bytes;
    if (kind == REQUEST_ATOMIC)
        request.of.operation = row_of("add.u32");
    races_use(places[block], warp, &request);
}

static void load(uint32_t block, uint32_t warp, uint64_t at, uint32_t lanes)
{
    use(block, warp, REQUEST_LOAD, at, lanes, 4);
}

static void store(uint32_t block, uint32_t warp, uint64_t at, uint32_t lanes)
{
    use(block, warp, REQUEST_STORE, at, lanes, 4);
}

static void add(uint32_t block, uint32_t warp, uint64_t at, uint32_t lanes)
{
    use(block, warp, REQUEST_ATOMIC, at, lanes, 4);
}

static void use_shared(uint32_t warp, enum shared_use how, uint32_t at, uint32_t lanes, uint32_t gap)
{
    static const struct request none;
    struct request request = none;
    request.shared = lanes == 64 ? UINT64_MAX : (UINT64_C(1) << lanes) - 1;
    request.shared_use = (uint8_t)how;
    request.shared_bytes = gap ? 8 : 4;
    request.shared_gap = gap;
    for (uint32_t i = 0; i < lanes; i++)
        request.shared_at[i] = at + 4 * i;
    races_use(places[0], warp, &request);
}

/* By one lane each. */
static void use_shared_bytes(uint32_t warp, enum shared_use how, uint32_t at, uint32_t count)
{
    static const struct request none;
    struct request request = none;
    request.shared = (UINT64_C(1) << count) - 1;
    request.shared_use = (uint8_t)how;
    request.shared_bytes = 1;
    for (uint32_t i = 0; i < count; i++)
        request.shared_at[i] = at + i;
    races_use(places[0], warp, &request);
}

/* ---- blocks ---- */

static void test_blocks_apart(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++)
        for (uint32_t w = 0; w < WARPS; w++) {
            load(i, w, 0, 32); /* the same for all */
            load(i, w, 4096 + 128 * (WARPS * i + w), 32);
            store(i, w, 4096 + 128 * (WARPS * i + w), 32);
        }
    assert_int_equal(result(), RACES_NONE);
}

static void test_read_of_another_blocks_write(void **state)
{
    (void)state;
    store(3, 0, 256, 32);
    load(9, 0, 256 + 31 * 4, 1);
    assert_int_equal(result(), RACES_READS);
}

static void test_write_of_what_another_block_read(void **state)
{
    (void)state;
    load(9, 1, 260, 1);
    store(3, 0, 256, 32);
    assert_int_equal(result(), RACES_READS);
}

static void test_write_of_what_many_blocks_read(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++)
        load(i, 0, 0, 32);
    store(5, 0, 64, 1);
    assert_int_equal(result(), RACES_READS);
}

/* Edges of blocks that do not begin with a line. */
static void test_neighbours_in_a_line(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        load(i, 0, 20 * i, 5);
        store(i, 0, 20 * i, 5);
        load(i, 0, 20 * i, 5);
    }
    assert_int_equal(result(), RACES_NONE);
}

static void test_overlap_of_neighbours(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        store(i, 0, 4096 + 20 * i, 5);
        load(i, 0, 20 * i, 6); /* one of the next block's, too, but nobody writes here */
    }
    load(7, 2, 4096 + 20 * 8, 1);
    assert_int_equal(result(), RACES_READS);
}

/* Words of one line with readers of their own, of which one writes what it alone reads. */
static void test_only_reader_writes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++)
        load(i, 0, 8 * i, 1);
    for (uint32_t i = 0; i < BLOCKS; i++)
        store(i, 0, 8 * i, 1);
    assert_int_equal(result(), RACES_NONE);
}

static void test_blocks_write_the_same(void **state)
{
    (void)state;
    store(1, 0, 1024, 1);
    store(2, 0, 1024, 1);
    assert_int_equal(result(), RACES_WRITES);
}

static void test_reads_are_worse_than_writes(void **state)
{
    (void)state;
    store(1, 0, 1024, 1);
    store(2, 0, 1024, 1);
    load(3, 0, 1024, 1);
    assert_int_equal(result(), RACES_READS);
}

static void test_wide_accesses(void **state)
{
    (void)state;
    use(0, 0, REQUEST_STORE, 0, 32, 16);
    use(1, 0, REQUEST_STORE, 512, 32, 16);
    use(0, 0, REQUEST_LOAD, 512 - 16, 1, 16);
    assert_int_equal(result(), RACES_NONE);
}

static void test_last_word_of_a_wide_access(void **state)
{
    (void)state;
    use(0, 0, REQUEST_STORE, 0, 32, 16);
    load(1, 0, 508, 1);
    assert_int_equal(result(), RACES_READS);
}

static void test_more_lines_than_a_block_keeps(void **state)
{
    (void)state;
    store(0, 0, 0, 1);
    for (uint32_t i = 0; i < 10000; i++)
        load(0, 0, 4096 + 128 * i, 32);
    load(1, 0, 0, 1);
    assert_int_equal(result(), RACES_READS);
}

/* ---- atomic operations ---- */

static void test_atomics_commute(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++)
        for (uint32_t w = 0; w < WARPS; w++)
            add(i, w, 0, 1);
    assert_int_equal(result(), RACES_NONE);
}

static void test_atomic_and_read(void **state)
{
    (void)state;
    add(0, 0, 0, 1);
    load(1, 0, 0, 1);
    assert_int_equal(result(), RACES_READS);
}

static void test_atomic_and_write(void **state)
{
    (void)state;
    add(0, 0, 0, 1);
    store(1, 0, 0, 1);
    assert_int_equal(result(), RACES_WRITES);
}

static void test_atomic_with_a_result(void **state)
{
    (void)state;
    static const struct request none;
    struct request request = none;
    request.of.kind = REQUEST_ATOMIC;
    request.of.lanes = 1;
    request.of.bytes = 4;
    request.of.at[0] = BASE;
    request.of.operation = row_of("add.u32");
    request.of.returns = true;
    races_use(places[0], 0, &request);
    races_use(places[1], 0, &request);
    assert_int_equal(result(), RACES_READS);
}

/* ---- warps of a block ---- */

static void test_warps_without_a_barrier(void **state)
{
    (void)state;
    store(0, 0, 0, 32);
    load(0, 1, 0, 32);
    assert_int_equal(result(), RACES_READS);
}

static void test_warps_with_a_barrier(void **state)
{
    (void)state;
    store(0, 0, 0, 32);
    races_opened(places[0]);
    load(0, 1, 0, 32);
    load(0, 2, 0, 32);
    races_opened(places[0]);
    store(0, 3, 0, 32);
    assert_int_equal(result(), RACES_NONE);
}

static void test_own_warp_needs_no_barrier(void **state)
{
    (void)state;
    for (uint32_t w = 0; w < WARPS; w++) {
        store(0, w, 20 * w, 5);
        load(0, w, 20 * w, 5);
        use_shared(w, SHARED_WRITE, 20 * w, 5, 0);
        use_shared(w, SHARED_READ, 20 * w, 5, 0);
    }
    assert_int_equal(result(), RACES_NONE);
}

static void test_warps_write_the_same(void **state)
{
    (void)state;
    store(0, 0, 0, 1);
    store(0, 1, 0, 1);
    assert_int_equal(result(), RACES_WRITES);
}

static void test_shared_without_a_barrier(void **state)
{
    (void)state;
    use_shared(0, SHARED_READ, 128, 32, 0);
    use_shared(1, SHARED_WRITE, 252, 1, 0);
    assert_int_equal(result(), RACES_READS);
}

static void test_shared_with_a_barrier(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        for (uint32_t w = 0; w < WARPS; w++)
            use_shared(w, SHARED_WRITE, 128 * w, 32, 0);
        races_opened(places[0]);
        for (uint32_t w = 0; w < WARPS; w++)
            for (uint32_t other = 0; other < WARPS; other++)
                use_shared(w, SHARED_READ, 128 * other, 32, 0);
        races_opened(places[0]);
    }
    assert_int_equal(result(), RACES_NONE);
}

static void test_shared_with_a_barrier_in_memory(void **state)
{
    (void)state;
    use_shared(0, SHARED_WRITE, 128, 32, 0);
    use_shared(0, SHARED_SYNC, 0, 1, 0);
    use_shared(1, SHARED_READ, 128, 32, 0);
    assert_int_equal(result(), RACES_NONE);
}

static void test_shared_of_the_next_block(void **state)
{
    (void)state;
    use_shared(0, SHARED_WRITE, 0, 32, 0);
    races_block_end(places[0]);
    races_block_begin(places[0], 0);
    use_shared(1, SHARED_READ, 0, 32, 0);
    assert_int_equal(result(), RACES_NONE);
}

static void test_shared_atomics(void **state)
{
    (void)state;
    for (uint32_t w = 0; w < WARPS; w++)
        use_shared(w, SHARED_COMMUTES, 0, 32, 0);
    races_opened(places[0]);
    use_shared(0, SHARED_CHANGE, 0, 1, 0);
    assert_int_equal(races_find(races), RACES_NONE);
    use_shared(1, SHARED_CHANGE, 0, 1, 0);
    assert_int_equal(result(), RACES_READS);
}

static void test_shared_in_two_halves(void **state)
{
    (void)state;
    use_shared(0, SHARED_WRITE, 0, 1, 256);
    use_shared(1, SHARED_READ, 4, 32, 0);
    assert_int_equal(races_find(races), RACES_NONE);
    use_shared(1, SHARED_READ, 256, 1, 0);
    assert_int_equal(result(), RACES_READS);
}

static void test_64_lanes(void **state)
{
    (void)state;
    store(0, 0, 0, 64);
    store(0, 1, 256, 64);
    use_shared(0, SHARED_WRITE, 0, 64, 0);
    use_shared(1, SHARED_WRITE, 256, 64, 0);
    assert_int_equal(races_find(races), RACES_NONE);
    use_shared(1, SHARED_READ, 252, 1, 0);
    assert_int_equal(result(), RACES_READS);
}

/* ---- smaller than words ---- */

static void test_bytes_of_a_word(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < BLOCKS; i++) {
        use(i, 0, REQUEST_LOAD, 3 * i, 3, 1);
        use(i, 1, REQUEST_STORE, 200 + 6 * i, 3, 2);
        races_opened(places[i]);
        use(i, 2, REQUEST_STORE, 3 * i, 3, 1);
        load(i, 0, 1024 + 4 * i, 1);
        use(i, 0, REQUEST_STORE, 1024 + 4 * i, 2, 1);
    }
    for (uint32_t w = 0; w < WARPS; w++)
        use_shared_bytes(w, SHARED_WRITE, 3 * w, 3);
    assert_int_equal(result(), RACES_NONE);
}

static void test_words_and_bytes(void **state)
{
    (void)state;
    store(0, 0, 0, 8);
    use(1, 0, REQUEST_STORE, 32, 3, 1);
    use(2, 0, REQUEST_STORE, 35, 1, 1);
    store(3, 0, 36, 8);
    use_shared(0, SHARED_WRITE, 0, 8, 0);
    use_shared_bytes(1, SHARED_WRITE, 32, 3);
    use_shared_bytes(2, SHARED_WRITE, 35, 1);
    use_shared(3, SHARED_WRITE, 36, 8, 0);
    assert_int_equal(result(), RACES_NONE);
    use(4, 0, REQUEST_STORE, 3, 1, 1);
    assert_int_equal(result(), RACES_WRITES);
    use_shared(0, SHARED_READ, 32, 1, 0);
    assert_int_equal(result(), RACES_READS);
}

/* ---- against all pairs of uses, one by one ---- */

enum { USES = 40, PLACES = 280 };

struct one_use {
    uint32_t block, warp, epoch, first, count, bytes;
    enum request_kind kind;
};

static bool is_read(const struct one_use *use)
{
    return use->kind == REQUEST_LOAD;
}

static enum races_found of_pair(const struct one_use *a, const struct one_use *b)
{
    bool meet = a->first < b->first + b->count * b->bytes && b->first < a->first + a->count * a->bytes;
    bool ordered = a->block == b->block && (a->warp == b->warp || a->epoch != b->epoch);
    if (!meet || ordered || (is_read(a) && is_read(b)))
        return RACES_NONE;
    if (a->kind == REQUEST_ATOMIC && b->kind == REQUEST_ATOMIC)
        return RACES_NONE;
    return is_read(a) || is_read(b) ? RACES_READS : RACES_WRITES;
}

static uint32_t draw(uint64_t *seed, uint32_t below)
{
    *seed = *seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (uint32_t)((*seed >> 33) % below);
}

/* Uses of any bytes, or of whole words only. */
static void draw_use(uint64_t *seed, struct one_use *one, bool words, uint32_t kinds, uint32_t longest)
{
    static const enum request_kind rare[] = {REQUEST_STORE, REQUEST_ATOMIC};
    one->block = draw(seed, BLOCKS);
    one->warp = draw(seed, WARPS);
    one->bytes = words ? 4 : 1u << draw(seed, 3);
    one->first = draw(seed, PLACES / one->bytes) * one->bytes;
    one->count = 1 + draw(seed, longest);
    one->kind = draw(seed, kinds) ? REQUEST_LOAD : rare[draw(seed, 2)];
    if (!draw(seed, 2))
        return;
    one->bytes = words ? 4 : 1; /* each has places of its own, mostly */
    one->first = 400 + 5 * one->bytes * one->block;
    one->count = 1 + draw(seed, 5);
}

static enum races_found use_all(const struct one_use *uses, uint32_t count, bool shared)
{
    static const enum shared_use shared_uses[] = {
        [REQUEST_LOAD] = SHARED_READ, [REQUEST_STORE] = SHARED_WRITE, [REQUEST_ATOMIC] = SHARED_COMMUTES};
    uint32_t epochs[BLOCKS] = {0};
    for (uint32_t i = 0; i < count; i++) {
        const struct one_use *one = &uses[i];
        for (; epochs[one->block] < one->epoch; epochs[one->block]++)
            races_opened(places[one->block]);
        if (!shared)
            use(one->block, one->warp, one->kind, one->first, one->count, one->bytes);
        else if (one->bytes == 4)
            use_shared(one->warp, shared_uses[one->kind], one->first, one->count, 0);
        else
            use_shared_bytes(one->warp, shared_uses[one->kind], one->first, one->count * one->bytes);
    }
    return result();
}

static void test_random(void **state)
{
    uint64_t seed = 1;
    uint32_t counts[3] = {0};
    for (uint32_t round = 0; round < 12000; round++) {
        struct one_use uses[USES] = {0};
        uint32_t used = 2 + draw(&seed, USES - 2), epochs[BLOCKS] = {0}, kinds = 1 + draw(&seed, 12);
        uint32_t longest = 1 + draw(&seed, 8);
        bool words = draw(&seed, 2), shared = round % 4 == 0;
        enum races_found expected = RACES_NONE;
        for (uint32_t i = 0; i < used; i++) {
            struct one_use *one = &uses[i];
            draw_use(&seed, one, words, kinds, longest);
            one->block = shared ? 0 : one->block;
            epochs[one->block] += draw(&seed, 3) == 0;
            one->epoch = epochs[one->block];
            for (uint32_t k = 0; k < i; k++) {
                enum races_found pair = of_pair(&uses[k], one);
                expected = pair > expected ? pair : expected;
            }
        }
        end(state);
        begin(state);
        enum races_found found = use_all(uses, used, shared);
        if (found != expected)
            fail_msg("round %u: %d, not %d", round, found, expected);
        counts[expected]++;
    }
    for (uint32_t i = 0; i < COUNT_OF(counts); i++)
        assert_true(counts[i] > 100); /* all of them are tried */
}

/* ---- threads ---- */

static void *run_blocks(void *user)
{
    const uint32_t first = *(const uint32_t *)user;
    for (uint32_t round = 0; round < 200; round++)
        for (uint32_t i = first; i < BLOCKS; i += 2) {
            load(i, 0, 0, 32);
            store(i, 1, 4096 + 20 * (BLOCKS * round + i), 5);
            races_block_end(places[i]);
            races_block_begin(places[i], BLOCKS * (round + 1) + i);
        }
    return NULL;
}

static void test_threads(void **state)
{
    (void)state;
    uint32_t firsts[2] = {0, 1};
    pthread_t other;
    assert_false(pthread_create(&other, NULL, run_blocks, &firsts[1]));
    run_blocks(&firsts[0]);
    pthread_join(other, NULL);
    assert_int_equal(races_find(races), RACES_NONE);
    store(0, 0, 4096, 1);
    assert_int_equal(result(), RACES_WRITES);
}

/* Whole lines, of which the table knows less until a part of one is used: nothing may be lost then. */
static void use_whole_lines(void)
{
    for (uint32_t block = 0; block < 4; block++) {
        store(block, 0, 128 * block, 32);
        load(block, 0, 1024, 32);
        add(block, 0, 2048, 32);
    }
    store(4, 0, 4096, 1);
}

static void test_whole_lines_and_words(void **state)
{
    (void)state;
    use_whole_lines();
    load(5, 0, 1024 + 64, 3);
    add(5, 0, 2048 + 64, 3);
    assert_int_equal(result(), RACES_NONE);
}

static void test_word_of_a_whole_line_that_was_written(void **state)
{
    (void)state;
    use_whole_lines();
    load(5, 0, 128 * 3 + 4, 1);
    assert_int_equal(result(), RACES_READS);
}

static void test_word_of_a_whole_line_that_many_read(void **state)
{
    (void)state;
    use_whole_lines();
    store(0, 0, 1024 + 124, 1); /* by one of the readers */
    assert_int_equal(result(), RACES_READS);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_blocks_apart),
        TEST(test_read_of_another_blocks_write),
        TEST(test_write_of_what_another_block_read),
        TEST(test_write_of_what_many_blocks_read),
        TEST(test_neighbours_in_a_line),
        TEST(test_overlap_of_neighbours),
        TEST(test_only_reader_writes),
        TEST(test_blocks_write_the_same),
        TEST(test_reads_are_worse_than_writes),
        TEST(test_wide_accesses),
        TEST(test_last_word_of_a_wide_access),
        TEST(test_more_lines_than_a_block_keeps),
        TEST(test_atomics_commute),
        TEST(test_atomic_and_read),
        TEST(test_atomic_and_write),
        TEST(test_atomic_with_a_result),
        TEST(test_warps_without_a_barrier),
        TEST(test_warps_with_a_barrier),
        TEST(test_own_warp_needs_no_barrier),
        TEST(test_warps_write_the_same),
        TEST(test_shared_without_a_barrier),
        TEST(test_shared_with_a_barrier),
        TEST(test_shared_with_a_barrier_in_memory),
        TEST(test_shared_of_the_next_block),
        TEST(test_shared_atomics),
        TEST(test_shared_in_two_halves),
        TEST(test_64_lanes),
        TEST(test_bytes_of_a_word),
        TEST(test_words_and_bytes),
        TEST(test_whole_lines_and_words),
        TEST(test_word_of_a_whole_line_that_was_written),
        TEST(test_word_of_a_whole_line_that_many_read),
        TEST(test_random),
        TEST(test_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
