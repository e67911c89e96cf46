/* Memory and events that two processes share by handles; memory of graphs. */
#include "driver_check.h"
#include "capture_check.h"
#include "driver/arena.h"
#include "driver/memory_graph.h"
#include "driver/ipc.h"
#include "exec/image.h"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

enum { PAGE = 4096 };

static char *bytes_at(uint64_t at)
{
    return (char *)(uintptr_t)at;
}

/* ---- arenas ---- */

static void shared_pages_keep_their_bytes(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    assert_true(arena_init(&arena, 1 << 30, 0, &err));
    uint64_t small = arena_take(&arena, 100, 1), large = arena_take(&arena, 10 * PAGE, 1);
    memset(bytes_at(small), 3, 100);
    memset(bytes_at(large), 4, 10 * PAGE);
    assert_true(arena_share(&arena, large + 2 * PAGE, PAGE, &err)); /* a part, and then all of it */
    assert_true(arena_share(&arena, large, 10 * PAGE, &err));
    for (int i = 0; i < 10 * PAGE; i++)
        assert_int_equal(bytes_at(large)[i], 4);
    assert_int_equal(bytes_at(small)[99], 3);
    char *other = mmap(NULL, 1 << 30, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, arena.file, 0);
    assert_true(other != MAP_FAILED);
    other[large - arena.base + 5 * PAGE] = 9;
    assert_int_equal(bytes_at(large)[5 * PAGE], 9);
    munmap(other, 1 << 30);
    arena_fini(&arena);
}

static void shared_pages_come_back_as_zero(void **state)
{
    (void)state;
    struct arena arena;
    struct err err;
    uint64_t at, bytes = 64 << 20;
    assert_true(arena_init(&arena, 192 << 20, 0, &err));
    at = arena_take(&arena, bytes, 1);
    memset(bytes_at(at), 7, bytes);
    assert_true(arena_share(&arena, at + 8 * PAGE, PAGE, &err)); /* pages of both kinds */
    arena_give(&arena, at, bytes);
    bool again = false;
    for (int i = 0; i < 4 && !again; i++) {
        again = arena_take(&arena, bytes, 1) == at;
        for (uint64_t k = 0; k < bytes && again; k += PAGE)
            assert_int_equal(bytes_at(at)[k], 0);
    }
    assert_true(again);
    arena_fini(&arena);
}

/* ---- two processes ---- */

struct letter {
    struct ipc_handle memory, event;
};

/* The other process: adds one to each byte when the event says that it may, and tells so by the event. */
static void run_other(int from, int to)
{
    struct under_test t;
    struct letter letter;
    struct stream_event *event;
    uint64_t at, again;
    start(&t);
    assert_int_equal(read(from, &letter, sizeof letter), sizeof letter);
    CHECK(ipc_memory_open(t.device, &letter.memory, &at));
    CHECK(ipc_memory_open(t.device, &letter.memory, &again));
    assert_int_equal(again, at);
    CHECK(event_open(t.device, &letter.event, &event));
    CHECK(stream_wait_event(t.first, event));
    CHECK(stream_synchronize(t.first));
    for (int i = 0; i < 3 * PAGE; i++)
        bytes_at(at)[i]++;
    CHECK(event_record(event, t.first));
    assert_int_equal(write(to, "x", 1), 1);
    assert_int_equal(memory_free(t.driver, at), RESULT_INVALID_VALUE);
    CHECK(ipc_memory_close(t.driver, at));
    CHECK(ipc_memory_close(t.driver, at));
    assert_int_equal(ipc_memory_close(t.driver, at), RESULT_INVALID_VALUE);
    letter.memory.bytes[40] ^= 1;
    assert_int_equal(ipc_memory_open(t.device, &letter.memory, &at), RESULT_INVALID_VALUE);
    letter.memory.bytes[40] ^= 1;
    CHECK(ipc_memory_open(t.device, &letter.memory, &at)); /* left open */
    stop(&t);
    _exit(0);
}

static void another_process_has_the_same_memory(void **state)
{
    (void)state;
    struct under_test t;
    struct letter letter;
    struct stream_event *event;
    int there[2], back[2], status;
    uint64_t at;
    char c;
    assert_true(!pipe(there) && !pipe(back));
    pid_t other = fork();
    if (!other)
        run_other(there[0], back[1]);
    start(&t);
    CHECK(memory_alloc(t.device, 3 * PAGE, &at));
    memset(bytes_at(at), 5, 3 * PAGE);
    CHECK(ipc_memory_export(t.driver, at + 700, &letter.memory));
    CHECK(event_new(t.device, EVENT_INTERPROCESS | EVENT_NO_TIMING, &event));
    CHECK(event_record(event, t.first));
    CHECK(event_export(event, &letter.event));
    assert_int_equal(ipc_memory_open(t.device, &letter.memory, &at), RESULT_INVALID_CONTEXT);
    assert_int_equal(write(there[1], &letter, sizeof letter), sizeof letter);
    assert_int_equal(read(back[0], &c, 1), 1);
    CHECK(event_synchronize(event));
    for (int i = 0; i < 3 * PAGE; i++)
        assert_int_equal(bytes_at(at)[i], 6);
    assert_int_equal(waitpid(other, &status, 0), other);
    assert_true(WIFEXITED(status) && !WEXITSTATUS(status));
    stop(&t);
    for (int i = 0; i < 2; i++)
        close(there[i]), close(back[i]);
}

/* ---- memory of graphs ---- */

static bool is_seen(const struct under_test *t, uint64_t at)
{
    struct range range;
    return image_find(device_image(t->device), at, &range);
}

static struct play *record(struct stream *stream, uint64_t *at, bool frees)
{
    struct play *play;
    void *graph;
    CHECK(capture_into(stream, &play));
    CHECK(memory_alloc_async(stream, NULL, 1000, at));
    if (frees)
        CHECK(memory_free_async(stream, *at));
    CHECK(capture_end(stream, &graph));
    return play;
}

static void memory_is_there_between_its_nodes(void **state)
{
    (void)state;
    struct under_test t;
    struct stream *stream;
    struct memory_facts facts;
    struct memory_graph_facts used;
    uint64_t at, other;
    start(&t);
    CHECK(stream_new(t.device, 0, 0, &stream));
    struct play *freed = record(stream, &at, true), *kept = record(stream, &other, false);
    assert_true(at != other && !memory_find(t.driver, at, &facts));
    CHECK(stream_play(stream, freed, false));
    CHECK(stream_synchronize(stream));
    assert_false(is_seen(&t, at));
    CHECK(stream_play(stream, kept, false));
    assert_true(memory_find(t.driver, other, &facts));
    CHECK(stream_synchronize(stream));
    assert_true(is_seen(&t, other));
    assert_int_equal(stream_play(stream, kept, false), RESULT_INVALID_VALUE);
    memory_graph_facts(t.device, &used);
    assert_int_equal(used.used, 32 << 20); /* one after another in one stream */
    play_free(kept);                       /* what it allocated is there until it is freed */
    assert_true(memory_find(t.driver, other, &facts));
    CHECK(memory_free(t.driver, other));
    assert_false(memory_find(t.driver, other, &facts) || is_seen(&t, other));
    memory_graph_trim(t.device);
    memory_graph_facts(t.device, &used);
    assert_int_equal(used.used, 0);
    play_free(freed);
    stop(&t);
}

static void a_reset_ends_memory_of_graphs(void **state)
{
    (void)state;
    struct under_test t;
    struct stream *stream;
    struct memory_facts facts;
    uint64_t at;
    start(&t);
    CHECK(stream_new(t.device, 0, 0, &stream));
    struct play *kept = record(stream, &at, false);
    CHECK(stream_play(stream, kept, false));
    CHECK(device_reset(t.device));
    assert_false(memory_find(t.driver, at, &facts));
    CHECK(stream_play(t.first, kept, false));
    assert_true(memory_find(t.driver, at, &facts));
    play_free(kept);
    stop(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shared_pages_keep_their_bytes),
        cmocka_unit_test(shared_pages_come_back_as_zero),
        cmocka_unit_test(another_process_has_the_same_memory),
        cmocka_unit_test(memory_is_there_between_its_nodes),
        cmocka_unit_test(a_reset_ends_memory_of_graphs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
