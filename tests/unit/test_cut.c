/* Requests that are cut into those for lines of another size, and their replies put together. */
#include "check.h"
#include "mem/cut.h"

struct message {
    struct memsys_request request;
    unsigned char rest[MEM_PAYLOAD_MOST - sizeof(struct memsys_request)];
};

static void a_request_for_one_line_is_not_cut(void **state)
{
    (void)state;
    struct memsys_request request = {.line = 128, .sectors = 0xf};
    assert_false(memsys_is_cut(&request, 128));
    assert_true(memsys_is_cut(&request, 64));
    request = (struct memsys_request){.line = 64, .sectors = 3};
    assert_false(memsys_is_cut(&request, 64));
    assert_true(memsys_is_cut(&request, 128));
}

static void a_long_line_is_cut_into_short_ones(void **state)
{
    (void)state;
    struct memsys_request request = {.line = 256, .id = 5, .sectors = 0xe};
    struct message part;
    assert_int_equal(memsys_cut(MEM_READ, &request, 64, 0, &part), 2);
    assert_int_equal(part.request.line, 256);
    assert_int_equal(part.request.sectors, 2);
    assert_int_equal(memsys_cut(MEM_READ, &request, 64, 2, &part), 0xc);
    assert_int_equal(part.request.line, 320);
    assert_int_equal(part.request.sectors, 3);
    assert_int_equal(memsys_cut(MEM_READ, &request, 64, 0xe, &part), 0);
}

static void a_short_line_is_a_part_of_a_long_one(void **state)
{
    (void)state;
    struct message message = {.request = {.line = 192, .sectors = 2}}, part;
    struct memsys_write write = {.mask = 0xff, .data = {7}};
    memcpy(message.rest, &write, sizeof write);
    assert_int_equal(memsys_cut(MEM_WRITE, &message, 128, 0, &part), 2);
    assert_int_equal(part.request.line, 128);
    assert_int_equal(part.request.sectors, 8);
    assert_memory_equal(part.rest, &write, sizeof write);
}

static void atoms_go_to_their_lines(void **state)
{
    (void)state;
    struct message message = {.request = {.line = 0, .sectors = 5, .count = 2 | MEM_WANTS_OLD}}, part;
    struct memsys_atom atoms[2] = {{.operand = 1, .offset = 68, .lane = 3},
                                   {.operand = 2, .offset = 4, .lane = 9}};
    memcpy(message.rest, atoms, sizeof atoms);
    struct memsys_atom got;
    assert_int_equal(memsys_cut(MEM_ATOMIC, &message, 64, 1, &part), 4);
    assert_int_equal(part.request.line, 64);
    assert_int_equal(part.request.count, 1 | MEM_WANTS_OLD);
    memcpy(&got, part.rest, sizeof got);
    assert_int_equal(got.offset, 4);
    assert_int_equal(got.lane, 3);
}

/* Whichever comes first. */
static void replies_are_put_together(void **state)
{
    (void)state;
    struct memsys_request request = {.line = 128, .id = 77, .sectors = 0xd};
    struct {
        struct memsys_reply reply;
        unsigned char data[MEM_LINE_MOST];
    } part = {.reply = {.line = 192, .sectors = 3, .hit = 2}}, all;
    struct memsys_whole whole;
    memsys_whole_begin(&whole, MEM_READ, &request, 64);
    memset(part.data, 'c', MEM_SECTOR);
    memset(part.data + MEM_SECTOR, 'd', MEM_SECTOR);
    assert_false(memsys_whole_add(&whole, MEM_DATA, &part));
    part.reply = (struct memsys_reply){.line = 128, .sectors = 1};
    memset(part.data, 'a', MEM_SECTOR);
    assert_true(memsys_whole_add(&whole, MEM_DATA, &part));
    assert_int_equal(memsys_whole_reply(&whole, &all), sizeof(struct memsys_reply) + 3 * MEM_SECTOR);
    assert_int_equal(all.reply.line, 128);
    assert_int_equal(all.reply.id, 77);
    assert_int_equal(all.reply.sectors, 0xd);
    assert_int_equal(all.reply.hit, 2);
    assert_int_equal(all.data[0], 'a');
    assert_int_equal(all.data[MEM_SECTOR], 'c');
    assert_int_equal(all.data[3 * MEM_SECTOR - 1], 'd');
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_request_for_one_line_is_not_cut),
                                       cmocka_unit_test(a_long_line_is_cut_into_short_ones),
                                       cmocka_unit_test(a_short_line_is_a_part_of_a_long_one),
                                       cmocka_unit_test(atoms_go_to_their_lines),
                                       cmocka_unit_test(replies_are_put_together)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
