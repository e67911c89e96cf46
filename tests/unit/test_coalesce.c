/* Lanes' addresses become lines and sectors: against a model that goes byte by byte. */
#include "check.h"
#include "core/coalesce.h"
#include "base/rng.h"

static void check_line(const struct delivery *of, const struct coalesced *lines, uint32_t i)
{
    uint64_t line = lines->at[i].line;
    lane_mask who = 0;
    uint8_t sectors = 0;
    EACH_LANE (lane, of->lanes)
        for (uint64_t at = of->at[lane]; at < of->at[lane] + of->bytes; at++)
            if (at >> lines->shift == line) {
                who |= UINT64_C(1) << lane;
                sectors |= (uint8_t)(1u << (at & ((1u << lines->shift) - 1)) / MEM_SECTOR);
            }
    assert_true(who && who == lines->at[i].who);
    assert_int_equal(sectors, coalesce_sectors(of, lines, i));
    for (uint32_t k = 0; k < i; k++)
        assert_true(lines->at[k].line != line);
}

static void check(const struct delivery *of, uint32_t shift)
{
    struct coalesced lines;
    bool spans = false;
    coalesce(of, of->lanes, shift, &lines);
    assert_true(lines.count <= COALESCED_MOST);
    for (uint32_t i = 0; i < lines.count; i++)
        check_line(of, &lines, i);
    for (uint32_t i = 1; i < lines.count; i++)
        assert_true(first_lane(lines.at[i - 1].who) <= first_lane(lines.at[i].who));
    EACH_LANE (lane, of->lanes) { /* all lines are there */
        uint64_t first = of->at[lane], last = first + of->bytes - 1;
        spans |= first / MEM_SECTOR != last / MEM_SECTOR;
        for (uint64_t line = first >> shift; line <= last >> shift; line++) {
            bool found = false;
            for (uint32_t i = 0; i < lines.count; i++)
                found |= lines.at[i].line == line;
            assert_true(found);
        }
    }
    assert_int_equal(spans, lines.spans);
}

static void random_lanes_are_as_the_model_has_them(void **state)
{
    (void)state;
    static const uint8_t bytes[] = {1, 2, 4, 8, 12, 16, 32, 48, 64, 130, 255};
    static const uint64_t ranges[] = {64, 512, 4096, 1 << 20};
    struct rng rng;
    rng_init(&rng, 7, "coalesce");
    for (uint32_t trial = 0; trial < 4000; trial++) {
        struct delivery of = {.width = trial % 2 ? 64 : 32, .bytes = bytes[trial % COUNT_OF(bytes)]};
        uint64_t range = ranges[rng_below(&rng, COUNT_OF(ranges))];
        uint64_t aligned = UINT64_C(1) << rng_below(&rng, 6);
        for (uint32_t i = 0; i < of.width; i++)
            of.at[i] = 4096 + rng_below(&rng, range) / aligned * aligned;
        of.lanes = rng_next(&rng) | rng_next(&rng);
        of.lanes = of.width == 32 ? of.lanes & UINT32_MAX : of.lanes;
        of.lanes |= 1;
        check(&of, 7);
        check(&of, 6);
    }
}

/* The most there can be: 64 lanes with five lines each. */
static void every_lane_may_have_five_lines(void **state)
{
    (void)state;
    struct delivery of = {.width = 64, .bytes = 255, .lanes = UINT64_MAX};
    struct coalesced lines;
    for (uint32_t i = 0; i < 64; i++)
        of.at[i] = 512 * i + 63;
    check(&of, 6);
    coalesce(&of, of.lanes, 6, &lines);
    assert_int_equal(lines.count, COALESCED_MOST);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(random_lanes_are_as_the_model_has_them),
                                       cmocka_unit_test(every_lane_may_have_five_lines)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
