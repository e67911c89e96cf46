/* The cache that L1, L2 and all others are (mem/cache.h), without a machine around it. */
#include "check.h"
#include "base/archive.h"
#include "base/rng.h"
#include "mem/cache.h"

enum { LINE = 128, SECTOR = 32, WHOLE = -1 };

static struct cache_spec small(uint32_t sets, uint32_t ways, uint32_t misses)
{
    return (struct cache_spec){.line_bytes = LINE,
                               .sector_bytes = SECTOR,
                               .tags = {.sets = sets, .ways = ways, .policy = REPLACE_LRU},
                               .misses = {.entries = misses, .waiters = 2 * misses},
                               .has_data = true,
                               .has_masks = true};
}

static struct cache make(uint32_t sets, uint32_t ways, uint32_t misses)
{
    struct cache cache;
    struct cache_spec spec = small(sets, ways, misses);
    cache_init(&cache, &spec);
    return cache;
}

static uint32_t place(struct cache *cache, uint64_t line)
{
    uint32_t slot = cache_victim(cache, line);
    assert_int_not_equal(slot, TAGS_NONE);
    cache_place(cache, slot, line, TAGS_NORMAL);
    return slot;
}

/* A miss that begins in a new slot, and asks for these sectors. */
static uint32_t ask(struct cache *cache, uint64_t line, uint32_t sectors)
{
    uint32_t entry = cache_begin(cache, line, place(cache, line), false);
    assert_int_equal(cache_ask(cache, entry, sectors), sectors);
    return entry;
}

static const unsigned char *line_of(unsigned char value)
{
    static unsigned char line[LINE];
    memset(line, value, LINE);
    return line;
}

static void bring(struct cache *cache, uint64_t line, uint32_t sectors, unsigned char value)
{
    uint32_t entry = ask(cache, line, sectors);
    cache_fill(cache, entry, sectors, line_of(value));
    cache_end(cache, entry);
}

static void expect(const struct cache *cache, uint64_t line, uint32_t from, uint32_t to, unsigned char value)
{
    uint32_t slot = cache_find(cache, line);
    assert_int_not_equal(slot, TAGS_NONE);
    for (uint32_t at = from; at < to; at++)
        assert_int_equal(cache_data(cache, slot)[at], value);
}

static void a_line_misses_comes_and_hits(void **state)
{
    (void)state;
    struct cache cache = make(2, 2, 4);
    assert_int_equal(cache_find(&cache, 7), TAGS_NONE);
    assert_int_equal(cache_missing(&cache, TAGS_NONE, 6), 6);
    bring(&cache, 7, 6, 0xa5);
    uint32_t slot = cache_find(&cache, 7);
    assert_int_equal(cache_missing(&cache, slot, 6), 0);
    assert_int_equal(cache_missing(&cache, slot, 15), 9); /* sectors that nobody asked for */
    expect(&cache, 7, SECTOR, 3 * SECTOR, 0xa5);
    cache_fini(&cache);
}

static void misses_of_a_line_merge(void **state)
{
    (void)state;
    struct cache cache = make(2, 2, 4);
    uint32_t entry = ask(&cache, 7, 3);
    assert_true(cache_wait(&cache, entry, 10));
    assert_int_equal(cache_miss(&cache, 7), entry);
    assert_int_equal(cache_ask(&cache, entry, 2), 0); /* is under way */
    assert_int_equal(cache_ask(&cache, entry, 6), 4); /* half of it is */
    assert_true(cache_wait(&cache, entry, 11));
    cache_fill(&cache, entry, 3, line_of(1));
    assert_int_equal(cache_miss_at(&cache, entry)->pending, 4);
    cache_fill(&cache, entry, 4, line_of(2));
    assert_int_equal(mshr_next(cache.misses, entry), 10);
    assert_int_equal(mshr_next(cache.misses, entry), 11);
    cache_end(&cache, entry);
    assert_int_equal(cache_miss(&cache, 7), MSHR_NONE);
    expect(&cache, 7, 0, 2 * SECTOR, 1);
    expect(&cache, 7, 2 * SECTOR, 3 * SECTOR, 2);
    cache_fini(&cache);
}

static void a_full_table_takes_no_more(void **state)
{
    (void)state;
    struct cache cache = make(4, 2, 2);
    uint32_t first = ask(&cache, 0, 1);
    assert_false(cache_is_busy(&cache));
    ask(&cache, 1, 1);
    assert_true(cache_is_busy(&cache));
    uint32_t slot = place(&cache, 2);
    assert_int_equal(cache_begin(&cache, 2, slot, false), MSHR_NONE);
    for (uint32_t who = 0; who < 4; who++)
        assert_true(cache_wait(&cache, first, who));
    assert_false(cache_wait(&cache, first, 4)); /* nor more who wait */
    cache_fill(&cache, first, 1, line_of(1));
    cache_end(&cache, first);
    assert_int_not_equal(cache_begin(&cache, 2, slot, false), MSHR_NONE);
    cache_fini(&cache);
}

/* Lines under way cannot leave. */
static void a_set_full_of_misses_has_no_victim(void **state)
{
    (void)state;
    struct cache cache = make(1, 2, 4);
    ask(&cache, 0, 1);
    assert_int_equal(cache_ways_under_way(&cache, 2), 1);
    uint32_t entry = ask(&cache, 1, 1);
    assert_int_equal(cache_ways_under_way(&cache, 2), 2);
    assert_int_equal(cache_victim(&cache, 2), TAGS_NONE);
    cache_fill(&cache, entry, 1, line_of(1));
    cache_end(&cache, entry);
    assert_int_equal(cache_victim(&cache, 2), cache_find(&cache, 1));
    cache_fini(&cache);
}

static void a_victim_has_its_dirty_sectors_and_bytes(void **state)
{
    (void)state;
    struct cache cache = make(1, 1, 4);
    bring(&cache, 5, 1, 0x11);
    uint32_t slot = cache_find(&cache, 5);
    assert_true(cache_write(&cache, slot, 0, 2, line_of(0x22), CACHE_WRITE_BACK)); /* of a valid one */
    assert_true(cache_write(&cache, slot, 1, 0xf0, line_of(0x33), CACHE_WRITE_BACK));
    assert_true(cache_write(&cache, slot, 3, WHOLE, line_of(0x44), CACHE_WRITE_BACK));
    assert_int_equal(*cache_valid(&cache, slot), 1 | 8);
    assert_int_equal(cache_victim(&cache, 6), slot);
    assert_true(cache_holds(&cache, slot));
    struct cache_victim victim = cache_take_dirty(&cache, slot);
    assert_int_equal(victim.line, 5);
    assert_int_equal(victim.sectors, 1 | 2 | 8);
    assert_int_equal(victim.masks[0], 0x2); /* all of it is known, but no more was written */
    assert_int_equal(victim.masks[1], 0xf0);
    assert_int_equal(victim.masks[3], UINT32_MAX);
    assert_int_equal(victim.data[0], 0x11);
    assert_int_equal(victim.data[1], 0x22);
    assert_int_equal(victim.data[SECTOR + 4], 0x33);
    assert_int_equal(victim.data[3 * SECTOR], 0x44);
    assert_int_equal(cache_take_dirty(&cache, slot).sectors, 0);
    cache_fini(&cache);
}

static void a_sector_written_in_part_keeps_its_bytes_when_the_rest_comes(void **state)
{
    (void)state;
    struct cache cache = make(1, 1, 4);
    uint32_t entry = ask(&cache, 5, 3), slot = cache_find(&cache, 5);
    cache_write(&cache, slot, 0, 0x0000ff00, line_of(0x77), CACHE_WRITE_BACK);
    assert_int_equal(cache_missing(&cache, slot, 1), 1);
    cache_fill(&cache, entry, 3, line_of(0x11));
    cache_end(&cache, entry);
    assert_int_equal(cache_missing(&cache, slot, 3), 0);
    expect(&cache, 5, 0, 8, 0x11);
    expect(&cache, 5, 8, 16, 0x77);
    expect(&cache, 5, 16, 2 * SECTOR, 0x11);
    assert_int_equal(cache_take_dirty(&cache, slot).masks[0], 0xff00);
    cache_fini(&cache);
}

static void parts_that_make_a_whole_sector_make_it_valid(void **state)
{
    (void)state;
    struct cache cache = make(1, 1, 4);
    uint32_t slot = place(&cache, 5);
    cache_write(&cache, slot, 2, 0x0000ffff, line_of(1), CACHE_WRITE_BACK);
    cache_write(&cache, slot, 2, 0xfffe0000, line_of(2), CACHE_WRITE_BACK);
    assert_int_equal(cache_missing(&cache, slot, 4), 4);
    cache_write(&cache, slot, 2, 0x00010000, line_of(3), CACHE_WRITE_BACK);
    assert_int_equal(cache_missing(&cache, slot, 4), 0);
    expect(&cache, 5, 2 * SECTOR, 2 * SECTOR + 16, 1);
    expect(&cache, 5, 2 * SECTOR + 16, 2 * SECTOR + 17, 3);
    expect(&cache, 5, 2 * SECTOR + 17, 3 * SECTOR, 2);
    cache_fini(&cache);
}

/* Sector 0 is there, sector 1 is not: what each way of writing through leaves of them. */
static void writing_through_leaves_nothing_dirty(void **state)
{
    (void)state;
    const struct {
        enum cache_write how;
        uint32_t whole_of_old, whole_of_new, part_of_old, part_of_new; /* sectors valid afterwards */
    } rows[] = {{CACHE_UPDATE, 1, 1, 1, 1}, {CACHE_INVALIDATE, 0, 1, 0, 1}, {CACHE_ALLOCATE, 1, 3, 1, 1}};
    for (unsigned i = 0; i < 3; i++) {
        const uint32_t after[] = {rows[i].whole_of_old, rows[i].whole_of_new, rows[i].part_of_old,
                                  rows[i].part_of_new};
        for (uint32_t kind = 0; kind < 4; kind++) {
            struct cache cache = make(1, 1, 4);
            uint32_t sector = kind % 2, mask = kind < 2 ? UINT32_MAX : 0xff;
            bring(&cache, 5, 1, 0x11);
            uint32_t slot = cache_find(&cache, 5);
            bool kept = cache_write(&cache, slot, sector, mask, line_of(0x22), rows[i].how);
            assert_int_equal(*cache_valid(&cache, slot), after[kind]);
            assert_int_equal(*cache_dirty(&cache, slot), 0);
            assert_int_equal(kept, after[kind] >> sector & 1);
            if (kept) {
                expect(&cache, 5, sector * SECTOR, sector * SECTOR + 8, 0x22);
                expect(&cache, 5, sector * SECTOR + 8, (sector + 1) * SECTOR, kind < 2 ? 0x22 : 0x11);
            }
            cache_fini(&cache);
        }
    }
}

static void what_is_stale_is_not_kept(void **state)
{
    (void)state;
    struct cache cache = make(1, 2, 4);
    uint32_t entry = ask(&cache, 5, 3);
    assert_true(cache_is_current(&cache, cache_miss_at(&cache, entry)));
    cache_miss_at(&cache, entry)->stale |= 1;
    assert_false(cache_is_current(&cache, cache_miss_at(&cache, entry)));
    cache_fill(&cache, entry, 3, line_of(1)); /* for those who wait */
    cache_end(&cache, entry);
    assert_int_equal(*cache_valid(&cache, cache_find(&cache, 5)), 2);

    entry = ask(&cache, 6, 1);
    cache_miss_at(&cache, entry)->stale |= 1;
    cache_came(&cache, entry, 1);
    cache_end(&cache, entry);
    assert_int_equal(cache_find(&cache, 6), TAGS_NONE); /* nothing is left of it */
    cache_fini(&cache);
}

static void a_line_dropped_under_way_leaves_when_it_has_come(void **state)
{
    (void)state;
    struct cache cache = make(1, 2, 4);
    bring(&cache, 4, 15, 1);
    cache_drop(&cache, cache_find(&cache, 4));
    assert_int_equal(cache_find(&cache, 4), TAGS_NONE);

    uint32_t entry = ask(&cache, 5, 3), slot = cache_find(&cache, 5);
    cache_fill(&cache, entry, 1, line_of(1));
    cache_drop(&cache, slot);
    assert_int_equal(cache_find(&cache, 5), slot); /* what is under way has its place */
    assert_int_equal(cache_missing(&cache, slot, 1), 1);
    cache_invalidate(&cache, slot, 3);
    cache_drop_if_empty(&cache, slot);
    assert_int_equal(cache_find(&cache, 5), slot);
    cache_fill(&cache, entry, 2, line_of(1));
    cache_end(&cache, entry);
    assert_int_equal(*cache_valid(&cache, slot),
                     2); /* this was asked for and came: only a stale one is not kept */
    cache_invalidate(&cache, slot, 3);
    cache_drop_if_empty(&cache, slot);
    assert_int_equal(cache_find(&cache, 5), TAGS_NONE);
    cache_fini(&cache);
}

static bool is_even(const struct cache *cache, uint64_t line)
{
    (void)cache;
    return line % 2 == 0;
}

static void what_is_forgotten_under_way_is_not_joined_nor_kept(void **state)
{
    (void)state;
    struct cache cache = make(1, 4, 4);
    bring(&cache, 1, 15, 1);
    bring(&cache, 2, 15, 2);
    uint32_t odd = ask(&cache, 3, 1), lasting = cache_begin(&cache, 4, place(&cache, 4), true);
    cache_ask(&cache, lasting, 1);
    cache_forget(&cache, is_even);
    assert_int_equal(cache_find(&cache, 1), TAGS_NONE);
    expect(&cache, 2, 0, LINE, 2);
    assert_false(cache_is_current(&cache, cache_miss_at(&cache, odd)));
    assert_true(cache_is_current(&cache, cache_miss_at(&cache, lasting)));
    assert_true(cache_has_place(&cache, cache_miss_at(&cache, odd)));
    cache_came(&cache, odd, 1);
    cache_end(&cache, odd);
    assert_int_equal(cache_find(&cache, 3), TAGS_NONE);
    cache_forget(&cache, NULL); /* all: even what lasts has no place any more */
    assert_false(cache_has_place(&cache, cache_miss_at(&cache, lasting)));
    cache_came(&cache, lasting, 1);
    cache_end(&cache, lasting);
    assert_int_equal(cache_find(&cache, 4), TAGS_NONE);
    assert_int_equal(cache.misses->used, 0);
    cache_fini(&cache);
}

static void a_resized_cache_is_empty(void **state)
{
    (void)state;
    struct cache cache = make(8, 2, 4);
    bring(&cache, 5, 15, 1);
    cache_resize(&cache, 3);
    assert_int_equal(cache_slots(&cache), 6);
    assert_int_equal(cache_find(&cache, 5), TAGS_NONE);
    cache_fini(&cache);
}

static void caches_in_blocks_do_not_touch_each_other(void **state)
{
    (void)state;
    struct cache_spec spec = small(3, 2, 4);
    struct cache_blocks blocks = cache_blocks_new(&spec, 3);
    struct cache caches[3];
    for (uint32_t i = 0; i < 3; i++)
        cache_init_in(&caches[i], &spec, &blocks, i);
    for (uint32_t i = 0; i < 3; i++)
        for (uint64_t line = 0; line < 6; line++) {
            bring(&caches[i], line, 7, (unsigned char)(0x10 * i + line));
            cache_write(&caches[i], cache_find(&caches[i], line), 3, 1u << line, line_of(0xff),
                        CACHE_WRITE_BACK);
        }
    for (uint32_t i = 0; i < 3; i++) {
        for (uint64_t line = 0; line < 6; line++) {
            expect(&caches[i], line, 0, 3 * SECTOR, (unsigned char)(0x10 * i + line));
            assert_int_equal(cache_take_dirty(&caches[i], cache_find(&caches[i], line)).masks[3], 1u << line);
        }
        cache_fini(&caches[i]);
    }
    cache_blocks_free(&blocks);
}

static void archived_it_is_the_same(void **state)
{
    (void)state;
    struct cache cache = make(4, 2, 4), copy = make(4, 2, 4), other = make(4, 4, 4);
    bring(&cache, 5, 3, 0x55);
    cache_write(&cache, cache_find(&cache, 5), 3, 0xf, line_of(0x66), CACHE_WRITE_BACK);
    cache_forget(&cache, is_even);
    bring(&cache, 6, 15, 0x77);
    uint32_t entry = ask(&cache, 9, 2);
    cache_wait(&cache, entry, 3);
    cache_write(&cache, cache_find(&cache, 9), 1, 0xf, line_of(0x66), CACHE_WRITE_BACK);
    struct archive writer = archive_writer();
    cache_archive(&cache, 4, &writer);
    struct archive reader = archive_reader(writer.text.at, writer.text.length);
    cache_archive(&copy, 4, &reader);
    assert_true(archive_at_end(&reader));
    expect(&copy, 6, 0, LINE, 0x77);
    assert_int_equal(copy.generation, cache.generation);
    assert_int_equal(cache_miss(&copy, 9), entry);
    cache_fill(&copy, entry, 2, line_of(0x11));
    assert_int_equal(mshr_next(copy.misses, entry), 3);
    cache_end(&copy, entry);
    expect(&copy, 9, SECTOR, SECTOR + 4, 0x66);
    expect(&copy, 9, SECTOR + 4, 2 * SECTOR, 0x11);

    reader = archive_reader(writer.text.at, writer.text.length);
    cache_archive(&other, 4, &reader); /* of another shape */
    assert_false(reader.good);
    reader = archive_reader(writer.text.at, writer.text.length);
    cache_archive(&copy, 3, &reader); /* nobody of number 3 can wait */
    assert_false(reader.good);
    text_fini(&writer.text);
    cache_fini(&cache);
    cache_fini(&copy);
    cache_fini(&other);
}

/* ---- against a model that is a few arrays ---- */

enum { LINES = 12, STEPS = 200000 };

struct model {
    unsigned char memory[LINES][256]; /* behind the cache, as it is now */
    unsigned char now[LINES][256];    /* as a program must see it */
    uint32_t entry[LINES];
};

struct shape {
    uint32_t line_bytes, sector_bytes, sets, ways, policy;
};

static void leave(struct cache *cache, struct model *model, uint32_t slot)
{
    struct cache_victim victim = cache_take_dirty(cache, slot);
    uint32_t bytes = cache->spec.sector_bytes;
    for (uint32_t s = 0; s < cache->sectors; s++)
        for (uint32_t b = 0; b < bytes && (victim.sectors >> s & 1); b++)
            if (victim.masks[s] >> b & 1)
                model->memory[victim.line][s * bytes + b] = victim.data[s * bytes + b];
}

/* Where a line is or can be, or TAGS_NONE. */
static uint32_t slot_for(struct cache *cache, struct model *model, uint64_t line)
{
    uint32_t slot = cache_find(cache, line);
    if (slot != TAGS_NONE)
        return slot;
    slot = cache_victim(cache, line);
    if (slot == TAGS_NONE)
        return slot;
    if (cache_holds(cache, slot))
        leave(cache, model, slot);
    cache_place(cache, slot, line, TAGS_NORMAL);
    return slot;
}

static void arrive(struct cache *cache, struct model *model, uint64_t line, uint32_t some)
{
    uint32_t entry = model->entry[line], sectors = cache_miss_at(cache, entry)->pending & some;
    cache_fill(cache, entry, sectors, model->memory[line]);
    if (cache_miss_at(cache, entry)->pending)
        return;
    cache_end(cache, entry);
    model->entry[line] = MSHR_NONE;
}

static void read_some(struct cache *cache, struct model *model, uint64_t line, uint32_t sectors)
{
    uint32_t slot = slot_for(cache, model, line), bytes = cache->spec.sector_bytes;
    if (slot == TAGS_NONE)
        return;
    cache_touch(cache, slot);
    uint32_t missing = cache_missing(cache, slot, sectors);
    for (uint32_t s = 0; s < cache->sectors; s++)
        if ((sectors & ~missing) >> s & 1)
            assert_memory_equal(cache_data(cache, slot) + s * bytes, model->now[line] + s * bytes, bytes);
    if (!missing)
        return;
    assert_int_equal(cache_miss(cache, line), model->entry[line]);
    if (model->entry[line] == MSHR_NONE && !cache_is_busy(cache))
        model->entry[line] = cache_begin(cache, line, slot, false);
    if (model->entry[line] != MSHR_NONE)
        cache_ask(cache, model->entry[line], missing);
}

static void write_some(struct cache *cache, struct model *model, uint64_t line, uint32_t sector,
                       uint32_t mask, struct rng *rng)
{
    uint32_t slot = slot_for(cache, model, line), bytes = cache->spec.sector_bytes;
    unsigned char data[32];
    if (slot == TAGS_NONE)
        return;
    for (uint32_t b = 0; b < bytes; b++) {
        data[b] = (unsigned char)rng_below(rng, 256);
        if (mask >> b & 1)
            model->now[line][sector * bytes + b] = data[b];
    }
    cache_write(cache, slot, sector, mask & cache->whole, data, CACHE_WRITE_BACK);
}

static void random_use(const struct shape *shape, uint64_t seed)
{
    struct cache cache;
    struct model model = {0};
    struct rng rng;
    rng_init(&rng, seed, "cache");
    cache_init(&cache, &(struct cache_spec){.line_bytes = shape->line_bytes,
                                            .sector_bytes = shape->sector_bytes,
                                            .tags = {shape->sets, shape->ways, shape->policy, .seed = seed},
                                            .misses = {.entries = 3, .waiters = 3},
                                            .has_data = true,
                                            .has_masks = true});
    for (uint32_t line = 0; line < LINES; line++)
        model.entry[line] = MSHR_NONE;
    for (uint32_t step = 0; step < STEPS; step++) {
        uint64_t line = rng_below(&rng, LINES);
        uint32_t what = (uint32_t)rng_below(&rng, 16), slot = cache_find(&cache, line);
        uint32_t sectors = (uint32_t)rng_below(&rng, 1u << cache.sectors);
        if (what < 6)
            read_some(&cache, &model, line, sectors);
        else if (what < 11)
            write_some(&cache, &model, line, (uint32_t)rng_below(&rng, cache.sectors),
                       what == 10 ? UINT32_MAX : (uint32_t)rng_below(&rng, UINT64_C(1) << 32), &rng);
        else if (what < 15 && model.entry[line] != MSHR_NONE)
            arrive(&cache, &model, line, what == 14 ? UINT32_MAX : sectors);
        else if (what == 15 && slot != TAGS_NONE)
            leave(&cache, &model, slot), cache_drop(&cache, slot);
    }
    for (uint64_t line = 0; line < LINES; line++)
        if (model.entry[line] != MSHR_NONE)
            arrive(&cache, &model, line, UINT32_MAX);
    for (uint32_t slot = 0; slot < cache_slots(&cache); slot++)
        if (cache_holds(&cache, slot))
            leave(&cache, &model, slot);
    assert_memory_equal(model.memory, model.now, sizeof model.now); /* nothing that was written is lost */
    cache_fini(&cache);
}

static void random_use_agrees_with_a_simple_model(void **state)
{
    (void)state;
    const struct shape shapes[] = {{128, 32, 2, 2, REPLACE_LRU},   {128, 32, 3, 3, REPLACE_RANDOM},
                                   {64, 8, 1, 4, REPLACE_TREE},    {64, 16, 5, 1, REPLACE_FIFO},
                                   {256, 32, 2, 3, REPLACE_SRRIP}, {32, 32, 4, 2, REPLACE_LRU}};
    for (uint64_t i = 0; i < sizeof shapes / sizeof *shapes; i++)
        random_use(&shapes[i], i);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_misses_comes_and_hits),
        cmocka_unit_test(misses_of_a_line_merge),
        cmocka_unit_test(a_full_table_takes_no_more),
        cmocka_unit_test(a_set_full_of_misses_has_no_victim),
        cmocka_unit_test(a_victim_has_its_dirty_sectors_and_bytes),
        cmocka_unit_test(a_sector_written_in_part_keeps_its_bytes_when_the_rest_comes),
        cmocka_unit_test(parts_that_make_a_whole_sector_make_it_valid),
        cmocka_unit_test(writing_through_leaves_nothing_dirty),
        cmocka_unit_test(what_is_stale_is_not_kept),
        cmocka_unit_test(a_line_dropped_under_way_leaves_when_it_has_come),
        cmocka_unit_test(what_is_forgotten_under_way_is_not_joined_nor_kept),
        cmocka_unit_test(a_resized_cache_is_empty),
        cmocka_unit_test(caches_in_blocks_do_not_touch_each_other),
        cmocka_unit_test(archived_it_is_the_same),
        cmocka_unit_test(random_use_agrees_with_a_simple_model),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
