/* How long requests take, to the picosecond, and what they see. A cycle is 1000 ps. */
#include "memory.h"
#include "mem/dram_timing.h"

/* A sector of the same bytes. */
static struct memsys_write filled_with(int byte, uint32_t mask)
{
    struct memsys_write write = {.mask = mask};
    memset(write.data, byte, sizeof write.data);
    return write;
}

static uint32_t read_at(struct system *system, uint32_t client, uint64_t at, uint64_t line)
{
    return system_send(system, client, at, MEM_READ, line, 1, NULL, 0);
}

static uint32_t write_at(struct system *system, uint32_t client, uint64_t at, uint64_t line, int byte)
{
    struct memsys_write write = filled_with(byte, UINT32_MAX);
    return system_send(system, client, at, MEM_WRITE, line, 1, &write, sizeof write);
}

enum { HIT = 50 + 1 + 20 + 50, LATER = 100000000 /* ps: nothing is under way any more */ };

static void a_miss_waits_for_memory_and_a_hit_does_not(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    uint64_t line = some_line(&system, 0, 3);
    memsys_init(&system);
    system.memory[line] = 77;
    uint32_t miss = read_at(&system, 0, 0, line), hit = read_at(&system, 1, LATER, line);
    system_run(&system);
    assert_int_equal(system_took(&system, 0, miss), (HIT + 300) * 1000);
    assert_int_equal(system_took(&system, 1, hit), HIT * 1000);
    assert_int_equal(system_client(&system, 0)->reply[miss].data[0], 77);
    assert_int_equal(system_client(&system, 1)->reply[hit].data[0], 77);
    assert_int_equal(system_client(&system, 0)->reply[miss].hit, 2);
    assert_int_equal(system_client(&system, 1)->reply[hit].hit, 0);
    memsys_fini(&system);
}

static void a_line_of_the_other_side_is_fetched_once(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    uint64_t line = some_line(&system, 1, 0);
    memsys_init(&system);
    uint32_t miss = read_at(&system, 0, 0, line), copy = read_at(&system, 1, LATER, line);
    uint32_t home = read_at(&system, 2, LATER, line);
    system_run(&system);
    /* to the slice, across with 16 bytes, memory, the slice, across with 48, the slice */
    assert_int_equal(system_took(&system, 0, miss), 50000 + 100016 + 300000 + 21000 + 100048 + 21000 + 50000);
    assert_int_equal(system_took(&system, 1, copy), HIT * 1000);
    assert_int_equal(system_took(&system, 2, home), HIT * 1000);
    memsys_fini(&system);
}

static void a_write_is_done_when_no_stale_copy_is_left(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    uint64_t line = some_line(&system, 1, 0);
    memsys_init(&system);
    read_at(&system, 0, 0, line);
    uint32_t write = write_at(&system, 2, LATER, line, 5), again = write_at(&system, 2, 2 * LATER, line, 6);
    uint32_t stale = read_at(&system, 1, LATER + 50000, line); /* before the copy is told */
    uint32_t far = read_at(&system, 1, 3 * (uint64_t)LATER, line);
    system_run(&system);
    /* the copy is told across with 16 bytes, and that comes back */
    assert_int_equal(system_took(&system, 2, write), 50000 + 100016 + 100000 + 50000);
    assert_int_equal(system_took(&system, 2, again), HIT * 1000);
    assert_int_equal(system_client(&system, 1)->reply[stale].data[0], 0);
    assert_int_equal(system_took(&system, 1, far), 50000 + 100016 + 21000 + 100048 + 21000 + 50000);
    assert_int_equal(system_client(&system, 1)->reply[far].data[31], 6);
    assert_int_equal(system_client(&system, 1)->reply[far].hit, 1);
    memsys_fini(&system);
}

static void a_write_goes_on_to_its_home_and_is_kept_where_it_passed(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    uint64_t line = some_line(&system, 1, 0);
    memsys_init(&system);
    uint32_t write = write_at(&system, 0, 0, line, 9), near = read_at(&system, 1, LATER, line);
    uint32_t home = read_at(&system, 2, LATER, line);
    system_run(&system);
    assert_int_equal(system_took(&system, 0, write), 51000 + 100052 + 21000 + 100000 + 50000);
    assert_int_equal(system_took(&system, 1, near), HIT * 1000);
    assert_int_equal(system_took(&system, 2, home), HIT * 1000);
    assert_int_equal(system_client(&system, 1)->reply[near].data[0], 9);
    assert_int_equal(system_client(&system, 2)->reply[home].data[0], 9);
    struct memsys_counters counters;
    memsys_count(system.mem, &counters);
    assert_int_equal(counters.dram_bytes_read, 0);
    memsys_fini(&system);
}

static void what_is_written_in_part_is_completed_when_read(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    uint64_t line = some_line(&system, 0, 0);
    memsys_init(&system);
    memset(system.memory + line, 1, MEM_LINE_MOST);
    struct memsys_write write = filled_with(2, 0x0000ff00);
    uint32_t done = system_send(&system, 0, 0, MEM_WRITE, line, 1, &write, sizeof write);
    uint32_t read = read_at(&system, 0, LATER, line);
    system_run(&system);
    assert_int_equal(system_took(&system, 0, done), HIT * 1000);
    assert_int_equal(system_took(&system, 0, read), (HIT + 300) * 1000);
    for (int i = 0; i < 32; i++)
        assert_int_equal(system_client(&system, 0)->reply[read].data[i], i / 8 == 1 ? 2 : 1);
    memsys_fini(&system);
}

static void lanes_of_one_word_take_turns(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    uint64_t line = some_line(&system, 0, 0);
    memsys_init(&system);
    struct memsys_atom atoms[4];
    memset(atoms, 0, sizeof atoms);
    for (uint8_t i = 0; i < 4; i++)
        atoms[i] = (struct memsys_atom){.operand = 10, .offset = 4, .lane = i, .bytes = 4};
    write_at(&system, 0, 0, line, 0);
    uint32_t number = system_send(&system, 0, LATER, MEM_ATOMIC, line, 1, atoms, sizeof atoms);
    system.scripts[0].sent[number].request.count = 4 | MEM_WANTS_OLD;
    system_run(&system);
    for (uint8_t i = 0; i < 4; i++) {
        struct memsys_old old;
        memcpy(&old, system_client(&system, 0)->reply[number].data + i * sizeof old, sizeof old);
        assert_int_equal(old.value, 10 * i);
        assert_int_equal(old.lane, i);
    }
    assert_int_equal(system_took(&system, 0, number), 50000 + 4000 + 20000 + 50000);
    memsys_fini(&system);
}

static void sms_of_a_gpc_share_its_port(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    system.noc.gpc_bytes_per_cycle = 32; /* of which each of the side's two slices has a half */
    system.noc.gpc_burst_cycles = 0;
    system.gpcs = 2;
    system.gpc_of[2] = system.gpc_of[3] = 1;
    uint64_t line = some_line(&system, 0, 0);
    memsys_init(&system);
    system_send(&system, 0, 0, MEM_READ, line, 1, NULL, 0);
    uint32_t first = system_send(&system, 0, LATER, MEM_READ, line, 1, NULL, 0);
    uint32_t second = system_send(&system, 1, LATER, MEM_READ, line, 1, NULL, 0);
    system_run(&system);
    assert_int_equal(system_took(&system, 1, second), system_took(&system, 0, first) + 64 * 1000 / 16);
    memsys_fini(&system);
}

static void memory_has_what_was_written_after_a_sync(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    uint64_t line = some_line(&system, 1, 0);
    memsys_init(&system);
    write_at(&system, 0, 0, line, 3);
    system_run(&system);
    assert_int_equal(system.memory[line], 0);
    memsys_sync(system.mem, line + 200, 1, false);
    assert_int_equal(system.memory[line], 0);
    memsys_sync(system.mem, line + 5, 1, false);
    assert_int_equal(system.memory[line], 3);
    system.memory[line] = 4; /* which the caches do not know */
    uint32_t old = read_at(&system, 0, engine_time(system.engine) + LATER, line);
    system_run(&system);
    assert_int_equal(system_client(&system, 0)->reply[old].data[0], 3);
    memsys_sync(system.mem, 0, UINT64_MAX, true);
    assert_int_equal(system.memory[line], 4);
    uint32_t new = read_at(&system, 0, engine_time(system.engine) + LATER, line);
    uint32_t home = read_at(&system, 2, engine_time(system.engine) + 2 * LATER, line);
    system_run(&system);
    assert_int_equal(system_client(&system, 0)->reply[new].data[0], 4);
    assert_int_equal(system_client(&system, 2)->reply[home].data[0], 4);
    memsys_fini(&system);
}

static void the_hosts_memory_is_beyond_a_link_and_not_kept(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    system.noc.host_latency = 1000000;
    system.noc.host_bandwidth = 1000000000000; /* a byte in a picosecond */
    system.noc.overhead_bytes = 0;
    memsys_init(&system);
    uint32_t write = write_at(&system, 0, 0, REMOTE_AT, 8);
    system_run(&system);
    assert_int_equal(system_took(&system, 0, write), 50000 + 1000000 + 52 + 1000000 + 16 + 20000 + 50000);
    assert_int_equal(system.remote[31], 8);
    assert_int_equal(system.remote[32], 0);
    system.remote[0] = 9;
    uint32_t read = read_at(&system, 0, engine_time(system.engine), REMOTE_AT);
    system_run(&system);
    assert_int_equal(system_took(&system, 0, read), 50000 + 1000000 + 16 + 1000000 + 48 + 20000 + 50000);
    assert_int_equal(system_client(&system, 0)->reply[read].data[0], 9);
    struct memsys_atom atom = {.operand = 1, .bytes = 4};
    uint32_t number =
        system_send(&system, 0, engine_time(system.engine), MEM_ATOMIC, REMOTE_AT, 1, &atom, sizeof atom);
    system.scripts[0].sent[number].request.count = 1;
    system_run(&system);
    assert_int_equal(system_client(&system, 0)->reply[number].kind, MEM_DONE);
    assert_int_equal(system.remote[0], 10);
    memsys_fini(&system);
}

static void an_open_row_is_faster_than_a_closed_one_and_that_than_another(void **state)
{
    (void)state;
    struct system system;
    system_defaults(&system);
    system.l2.slices = system.l2.islands = system.l2.partitions = system.dram.channels_per_slice = 1;
    system.dram.model = 0;
    system.dram.bandwidth = 32000000000; /* a sector in a nanosecond */
    system.dram.latency = 50000;
    memsys_init(&system);
    const uint64_t same_bank =
        (64 + 59) * 8; /* the line where row 1 begins in the bank that row 0 of line 0 is in */
    uint32_t closed = read_at(&system, 0, 0, 0), open = read_at(&system, 0, 500000, MEM_LINE_MOST);
    uint32_t other = read_at(&system, 0, 1000000, same_bank * MEM_LINE_MOST);
    uint32_t back =
        read_at(&system, 0, 1000000 + 1000, 2 * MEM_LINE_MOST); /* before the other row may be closed */
    system_run(&system);
    const uint64_t least = (HIT + 50 + 14 + 1) * 1000;
    assert_int_equal(system_took(&system, 0, closed), least + 14000);
    assert_int_equal(system_took(&system, 0, open), least);
    assert_int_equal(system_took(&system, 0, other), least + 14000 + 14000);
    assert_int_equal(system_took(&system, 0, back), least + (14 - 1 + 33 + 14 + 14) * 1000);
    struct memsys_counters counters;
    memsys_count(system.mem, &counters);
    assert_int_equal(counters.dram_row_hits, 1);
    assert_int_equal(counters.dram_row_misses, 3);
    memsys_fini(&system);
}

static void timing_sets_have_the_names_of_the_choice(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < dram_timing_count; i++) {
        struct dram_spec spec;
        fill_defaults(&dram_params, &spec);
        for (size_t r = 0; r < dram_params.row_count; r++) {
            if (!strcmp(dram_params.rows[r].name, "timing"))
                must(param_parse(&dram_params.rows[r], dram_timings[i].name, &spec.timing, err));
        }
        assert_int_equal(spec.timing, i);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_miss_waits_for_memory_and_a_hit_does_not),
        cmocka_unit_test(a_line_of_the_other_side_is_fetched_once),
        cmocka_unit_test(a_write_is_done_when_no_stale_copy_is_left),
        cmocka_unit_test(a_write_goes_on_to_its_home_and_is_kept_where_it_passed),
        cmocka_unit_test(what_is_written_in_part_is_completed_when_read),
        cmocka_unit_test(lanes_of_one_word_take_turns),
        cmocka_unit_test(sms_of_a_gpc_share_its_port),
        cmocka_unit_test(memory_has_what_was_written_after_a_sync),
        cmocka_unit_test(the_hosts_memory_is_beyond_a_link_and_not_kept),
        cmocka_unit_test(an_open_row_is_faster_than_a_closed_one_and_that_than_another),
        cmocka_unit_test(timing_sets_have_the_names_of_the_choice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
