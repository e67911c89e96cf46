/* Memory at several homes, page by page: page tables, homes and the machine's own table agree on every byte.
 */
#include "check.h"
#include "base/bits.h"
#include "base/mem.h"
#include "mem/home.h"
#include "mem/space.h"
#include "system/homes.h"

enum { PAGE = 8192, HOMES = 3, PAGES = 1000, PLACED = 100, FIRST_HOME = 2 };
static const uint64_t base = UINT64_C(0x500000000000), beyond = UINT64_C(1) << 42;

struct scene {
    char *host; /* of the first byte */
    struct homes table;
    struct space *space;
    struct home homes[HOMES];
};

static struct memory_range spread(const struct scene *scene)
{
    return (struct memory_range){.at = base,
                                 .bytes = PAGES * PAGE,
                                 .to = physical_at(FIRST_HOME, 0),
                                 .host = scene->host,
                                 .page = PAGE,
                                 .homes = HOMES};
}

/* Every ninth page, or none, is placed elsewhere, in an order of no meaning. */
static void make(struct scene *scene, bool placed)
{
    struct memory_range ranges[PLACED + 1];
    struct home_range list[PLACED + 1];
    scene->host = mem_alloc_pages(PAGES, PAGE);
    ranges[0] = spread(scene);
    for (uint32_t i = 0; i < PLACED; i++) {
        uint64_t page = (i * 37 % PLACED) * 9 + 4;
        ranges[1 + i] = (struct memory_range){.at = base + page * PAGE,
                                              .bytes = PAGE,
                                              .to = physical_at(FIRST_HOME + i % HOMES, beyond + i * PAGE),
                                              .host = scene->host + page * PAGE};
    }
    homes_set(&scene->table, ranges, placed ? PLACED + 1 : 1);
    scene->space = space_new();
    homes_map(&scene->table, scene->space);
    space_ready(scene->space);
    for (uint32_t i = 0; i < HOMES; i++)
        home_set(&scene->homes[i], list, homes_ranges_of(&scene->table, FIRST_HOME + i, list));
}

static void end(struct scene *scene)
{
    for (uint32_t i = 0; i < HOMES; i++)
        home_fini(&scene->homes[i]);
    space_free(scene->space);
    homes_fini(&scene->table);
    mem_free_pages(scene->host);
}

static void all_agree_on_every_page(void **state)
{
    (void)state;
    for (int placed = 0; placed < 2; placed++) {
        struct scene scene = {0};
        uint32_t here[HOMES] = {0};
        make(&scene, placed);
        for (uint64_t at = 0; at < PAGES * PAGE; at += 1000) {
            struct homes_piece piece = homes_find(&scene.table, base + at);
            struct space_block block = space_find(scene.space, base + at);
            assert_true(base + at - block.at < block.bytes);
            assert_true(piece.bytes > 0);
            assert_int_equal(piece.to.packed, block.to.packed + (base + at - block.at));
            uint32_t home = physical_home(piece.to) - FIRST_HOME;
            assert_true(home < HOMES);
            here[home]++;
            assert_ptr_equal(home_host(&scene.homes[home], physical_offset(piece.to)), scene.host + at);
            struct space_block name = space_name(scene.space, piece.to, 0);
            assert_int_equal(name.at + (piece.to.packed - name.to.packed), base + at);
            assert_int_equal(space_name(scene.space, piece.to, 1).bytes, 0);
            assert_ptr_equal(homes_bytes(&scene.table, base + at, 1), scene.host + at);
        }
        for (uint32_t i = 0; i < HOMES; i++)
            assert_true(here[i] > PAGES * PAGE / 1000 / 5);
        assert_int_equal(homes_find(&scene.table, base + PAGES * PAGE).bytes, 0);
        assert_int_equal(homes_find(&scene.table, base - 1).bytes, 0);
        assert_int_equal(space_find(scene.space, base + PAGES * PAGE).bytes, 0);
        assert_null(homes_bytes(&scene.table, base + 5, PAGES * PAGE));
        assert_true(homes_keeps(&scene.table, (uintptr_t)scene.host + 77, 3 * PAGE));
        assert_false(homes_keeps(&scene.table, (uintptr_t)scene.host - 1, 1));
        end(&scene);
    }
}

static void pages_lie_in_turn(void **state)
{
    (void)state;
    struct scene scene = {0};
    make(&scene, false);
    for (uint64_t page = 0; page < 10; page++) {
        struct physical_address to = homes_find(&scene.table, base + page * PAGE + 5).to;
        assert_int_equal(physical_home(to), FIRST_HOME + page % HOMES);
        assert_int_equal(physical_offset(to), page / HOMES * PAGE + 5);
    }
    end(&scene);
}

/* What placed pages had before is told, too; it is of no use, and does no harm. */
struct told {
    const struct scene *scene;
    bool *seen; /* by byte of the host's */
    uint64_t calls, bytes;
};

static void tell_home(void *user, struct physical_address from, uint64_t bytes)
{
    struct told *told = user;
    told->calls++;
    for (uint64_t i = 0; i < bytes; i++) {
        const char *host =
            home_host(&told->scene->homes[physical_home(from) - FIRST_HOME], physical_offset(from) + i);
        assert_non_null(host);
        told->seen[host - told->scene->host] = true;
    }
}

static void tell_bytes(void *user, char *host, uint64_t bytes)
{
    struct told *told = user;
    assert_true(host >= told->scene->host);
    told->bytes += bytes;
}

static void parts_are_told_of_once_for_each_home(void **state)
{
    (void)state;
    struct scene scene = {0};
    make(&scene, true);
    static const struct {
        uint64_t at, bytes;
    } parts[] = {{0, PAGES * PAGE}, {100, 50}, {PAGE - 1, 2}, {4 * PAGE + 7, 3 * PAGE}, {12345, 678901}};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        struct told told = {.scene = &scene, .seen = mem_alloc(PAGES * PAGE, 1)};
        homes_each_home(&scene.table, base + parts[i].at, parts[i].bytes, tell_home, &told);
        assert_true(told.calls <= HOMES + PLACED);
        for (uint64_t at = 0; at < PAGES * PAGE; at++)
            assert_int_equal(told.seen[at], at - parts[i].at < parts[i].bytes);
        homes_each_bytes(&scene.table, base + parts[i].at, parts[i].bytes, tell_bytes, &told);
        assert_int_equal(told.bytes, parts[i].bytes);
        mem_free(told.seen);
    }
    end(&scene);
}

static void of_ranges_that_overlap_the_first_counts(void **state)
{
    (void)state;
    static char a[300], b[300];
    struct home home = {0};
    struct home_range ranges[] = {{.at = 1000, .bytes = 300, .host = a},
                                  {.at = 1100, .bytes = 100, .host = b},
                                  {.at = 1200, .bytes = 300, .host = b}};
    home_set(&home, ranges, 3);
    assert_ptr_equal(home_host(&home, 1150), a + 150);
    assert_ptr_equal(home_host(&home, 1299), a + 299);
    assert_ptr_equal(home_host(&home, 1300), b + 100);
    assert_ptr_equal(home_host(&home, 1499), b + 299);
    assert_null(home_host(&home, 1500));
    assert_null(home_host(&home, 999));
    home_fini(&home);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_agree_on_every_page),
        cmocka_unit_test(pages_lie_in_turn),
        cmocka_unit_test(parts_are_told_of_once_for_each_home),
        cmocka_unit_test(of_ranges_that_overlap_the_first_counts),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
