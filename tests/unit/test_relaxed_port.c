/* Parallel ports: any number of threads reserve, and no cycle has more reservations than there are ports. */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "relaxed/port.h"

#include <pthread.h>

enum { EPOCH = 1000, THREADS_MOST = 8, REQUESTS = 3000, CYCLES = 1 << 14 };

static struct relaxed_port_counts counts;

static uint64_t reserve(struct relaxed_port *port, uint64_t cycle, uint64_t cycles)
{
    uint32_t carry = 0;
    return relaxed_port_reserve(port, cycle, cycles * RELAXED_PARTS, &carry, &counts);
}

/* ---- one thread: which slots are given ---- */

static void first_free_slots_are_given(void **state)
{
    struct relaxed_port port;
    (void)state;
    relaxed_port_init(&port, 1, EPOCH, RELAXED_ONE_THREAD);
    relaxed_port_restart(&port, 0);
    assert_int_equal(reserve(&port, 10, 5), 10);
    assert_int_equal(reserve(&port, 10, 5), 15);
    assert_int_equal(reserve(&port, 8, 2), 8);  /* just fits before */
    assert_int_equal(reserve(&port, 7, 2), 20); /* one cycle is free there, not two */
    assert_int_equal(reserve(&port, 7, 1), 7);
    assert_int_equal(reserve(&port, 60, 70), 60); /* over several words */
    assert_int_equal(reserve(&port, 59, 2), 130);
    relaxed_port_fini(&port);
}

static void a_second_port_takes_what_the_first_has_no_room_for(void **state)
{
    struct relaxed_port port;
    (void)state;
    relaxed_port_init(&port, 2, EPOCH, RELAXED_ONE_THREAD);
    relaxed_port_restart(&port, 0);
    assert_int_equal(reserve(&port, 3, 4), 3);
    assert_int_equal(reserve(&port, 3, 4), 3);
    assert_int_equal(reserve(&port, 3, 4), 7);
    assert_int_equal(relaxed_port_taken(&port, 6), 2);
    assert_int_equal(relaxed_port_taken(&port, 7), 1);
    assert_true(relaxed_port_try(&port, 7, 1, &counts));
    assert_false(relaxed_port_try(&port, 7, 1, &counts));
    relaxed_port_fini(&port);
}

static void parts_of_a_cycle_add_up(void **state)
{
    struct relaxed_port port;
    uint64_t last = 0;
    uint32_t carry = 0;
    (void)state;
    relaxed_port_init(&port, 1, EPOCH, RELAXED_ONE_THREAD);
    relaxed_port_restart(&port, 0);
    for (int i = 0; i < 100; i++) /* a cycle and a half each */
        last = relaxed_port_reserve(&port, 0, RELAXED_PARTS * 3 / 2, &carry, &counts);
    assert_in_range(last, 147, 149);
    relaxed_port_fini(&port);
}

static void the_window_moves_and_pays_what_is_owed(void **state)
{
    struct relaxed_port port;
    uint64_t window = 4096, given = 0; /* four epochs, up to a power of two */
    (void)state;
    relaxed_port_init(&port, 1, EPOCH, RELAXED_ONE_THREAD);
    relaxed_port_restart(&port, 0);
    counts = (struct relaxed_port_counts){0};
    for (uint64_t i = 0; i < window + 10; i++)
        given = reserve(&port, 0, 1);
    assert_int_equal(given, window + 9);
    assert_int_equal(counts.beyond, 10);
    relaxed_port_advance(&port, EPOCH);
    assert_int_equal(relaxed_port_taken(&port, window + 9), 1);
    assert_int_equal(relaxed_port_taken(&port, window + 10), 0);
    assert_int_equal(reserve(&port, EPOCH, 3), window + 10);
    assert_int_equal(counts.past, 0);
    assert_int_equal(reserve(&port, EPOCH - 1, 1), window + 13);
    assert_int_equal(counts.past, 1);
    relaxed_port_fini(&port);
}

static void a_slot_before_one_that_was_given_is_late(void **state)
{
    struct relaxed_port port;
    (void)state;
    relaxed_port_init(&port, 1, EPOCH, RELAXED_ONE_THREAD);
    relaxed_port_restart(&port, 0);
    counts = (struct relaxed_port_counts){0};
    reserve(&port, 100, 1);
    reserve(&port, 101, 1);
    assert_int_equal(counts.late, 0);
    reserve(&port, 99, 1); /* in the same word as the others */
    assert_int_equal(counts.late, 1);
    reserve(&port, 101, 1); /* asked for before, but given behind all others */
    assert_int_equal(counts.late, 1);
    reserve(&port, 10, 1); /* in another word */
    assert_int_equal(counts.late, 2);
    assert_int_equal(counts.shared, 5);
    relaxed_port_restart(&port, 0);
    reserve(&port, 10, 1);
    assert_int_equal(counts.late, 2);
    relaxed_port_fini(&port);
}

static void an_sms_own_port_has_no_late_requests(void **state)
{
    struct relaxed_port port;
    (void)state;
    relaxed_port_init(&port, 1, EPOCH, RELAXED_ONE_SM);
    relaxed_port_restart(&port, 0);
    counts = (struct relaxed_port_counts){0};
    reserve(&port, 100, 1);
    reserve(&port, 10, 1);
    assert_int_equal(counts.late, 0);
    assert_int_equal(counts.requests, 2);
    assert_int_equal(counts.shared, 0);
    relaxed_port_fini(&port);
}

/* ---- threads ---- */

struct taker {
    struct relaxed_port *port;
    unsigned number;
    struct relaxed_port_counts counts;
    struct {
        uint64_t at, cycles;
    } taken[REQUESTS];
};

static void *take_many(void *user)
{
    struct taker *taker = user;
    struct rng rng;
    uint32_t carry = 0;
    rng_init(&rng, taker->number, "port");
    for (int i = 0; i < REQUESTS; i++) {
        uint64_t cycle = rng_below(&rng, 1000), cycles = 1 + rng_below(&rng, i % 50 ? 3 : 90);
        taker->taken[i].cycles = cycles;
        taker->taken[i].at =
            relaxed_port_reserve(taker->port, cycle, cycles * RELAXED_PARTS, &carry, &taker->counts);
        assert_true(taker->taken[i].at >= cycle);
    }
    return NULL;
}

static void run_takers(unsigned threads, uint32_t ports)
{
    struct relaxed_port port;
    struct taker *takers = mem_alloc(threads, sizeof *takers);
    pthread_t handles[THREADS_MOST];
    static uint32_t used[CYCLES * 4];
    relaxed_port_init(&port, ports, CYCLES / 4, threads == 1 ? RELAXED_ONE_THREAD : RELAXED_THREADS);
    relaxed_port_restart(&port, 0);
    for (unsigned i = 0; i < threads; i++) {
        takers[i] = (struct taker){.port = &port, .number = i};
        assert_int_equal(pthread_create(&handles[i], NULL, take_many, &takers[i]), 0);
    }
    memset(used, 0, sizeof used);
    for (unsigned i = 0; i < threads; i++) {
        pthread_join(handles[i], NULL);
        for (int k = 0; k < REQUESTS; k++)
            for (uint64_t c = 0; c < takers[i].taken[k].cycles; c++)
                if (takers[i].taken[k].at + c < CYCLES) /* behind the window they are owed */
                    used[takers[i].taken[k].at + c]++;
    }
    for (uint64_t c = 0; c < CYCLES; c++) {
        if (used[c] > ports)
            fail_msg("cycle %llu has %u reservations of %u ports", (unsigned long long)c, used[c], ports);
        if (used[c] != relaxed_port_taken(&port, c))
            fail_msg("cycle %llu: %u were given, %u are taken", (unsigned long long)c, used[c],
                     relaxed_port_taken(&port, c));
    }
    relaxed_port_fini(&port);
    mem_free(takers);
}

static void never_more_than_ports(void **state)
{
    static const unsigned threads[] = {1, 2, 3, 8};
    (void)state;
    for (size_t i = 0; i < sizeof threads / sizeof *threads; i++)
        for (uint32_t ports = 1; ports <= 4; ports *= 2)
            run_takers(threads[i], ports);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_free_slots_are_given),
        cmocka_unit_test(a_second_port_takes_what_the_first_has_no_room_for),
        cmocka_unit_test(parts_of_a_cycle_add_up),
        cmocka_unit_test(the_window_moves_and_pays_what_is_owed),
        cmocka_unit_test(a_slot_before_one_that_was_given_is_late),
        cmocka_unit_test(an_sms_own_port_has_no_late_requests),
        cmocka_unit_test(never_more_than_ports),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
