#include "core/coalesce.h"
#include "base/bits.h"

/* The bits that are set in some address of a lane, on or off; and those that are not the same in all. */
struct address_bits {
    uint64_t set, differ;
};

FOR_EACH_HOST static struct address_bits address_bits(const struct delivery *of)
{
    struct address_bits bits = {0, 0};
    for (uint32_t half = 0; half < of->width; half += 32)
        for (uint32_t i = 0; i < 32; i++) {
            bits.set |= of->at[half + i];
            bits.differ |= of->at[half + i] ^ of->at[0];
        }
    return bits;
}

/* Mostly addresses are multiples of a lane's bytes, and these a power of two: then none does. */
static bool spans(const struct delivery *of, lane_mask lanes, struct address_bits bits)
{
    uint32_t bytes = of->bytes;
    if (LIKELY(!((bits.set | bytes) & (bytes - 1)) && bytes <= MEM_SECTOR))
        return false;
    EACH_LANE (i, lanes)
        if (of->at[i] % MEM_SECTOR + bytes > MEM_SECTOR)
            return true;
    return false;
}

bool coalesce_spans(const struct delivery *of, lane_mask lanes)
{
    return spans(of, lanes, address_bits(of));
}

bool coalesce_some_touch(const struct delivery *of, lane_mask lanes, uint64_t block, uint32_t block_bytes)
{
    EACH_LANE (i, lanes)
        if (coalesce_touches(of, i, block, block_bytes))
            return true;
    return false;
}

/* The lanes of `rest` whose addresses are in a line. */
FOR_EACH_HOST static lane_mask same_line(const struct delivery *of, lane_mask rest, uint64_t line,
                                         uint32_t shift)
{
    lane_mask same = 0;
    uint64_t first = line << shift, of_line = UINT64_MAX << shift;
    for (uint32_t half = 0; half < of->width; half += 32) {
        uint32_t here = 0;
        for (uint32_t i = 0; i < 32; i++)
            here |= (uint32_t)((of->at[half + i] & of_line) == first) << i;
        same |= (lane_mask)here << half;
    }
    return same & rest;
}

static void add_line(struct coalesced *lines, uint64_t line, lane_mask who)
{
    lines->at[lines->count].line = line;
    lines->at[lines->count++].who = who;
}

/* A lane may be of several lines. */
static void coalesce_spanning(const struct delivery *of, lane_mask lanes, struct coalesced *lines)
{
    EACH_LANE (i, lanes) {
        lane_mask before = lanes & ((UINT64_C(1) << i) - 1);
        uint64_t line = of->at[i] >> lines->shift, last = (of->at[i] + of->bytes - 1u) >> lines->shift;
        for (; line <= last; line++) {
            lane_mask who = 0;
            if (coalesce_some_touch(of, before, line, 1u << lines->shift))
                continue;
            EACH_LANE (j, lanes)
                who |= (lane_mask)coalesce_touches(of, j, line, 1u << lines->shift) << j;
            add_line(lines, line, who);
        }
    }
}

void coalesce(const struct delivery *of, lane_mask lanes, uint32_t shift, struct coalesced *lines)
{
    lines->count = 0;
    lines->shift = shift;
    struct address_bits bits = address_bits(of);
    lines->spans = spans(of, lanes, bits);
    if (UNLIKELY(lines->spans)) {
        coalesce_spanning(of, lanes, lines);
        return;
    }
    if (lanes && !(bits.differ >> shift)) { /* most often all are in one line */
        add_line(lines, of->at[0] >> shift, lanes);
        return;
    }
    for (lane_mask rest = lanes; rest;) {
        uint64_t line = of->at[first_lane(rest)] >> shift;
        lane_mask who = same_line(of, rest, line, shift);
        add_line(lines, line, who);
        rest &= ~who;
    }
}

static uint32_t spanned_sectors(const struct delivery *of, lane_mask who, uint64_t line, uint32_t line_bytes)
{
    uint32_t sectors = 0;
    EACH_LANE (i, who) {
        uint64_t from = max_u64(of->at[i], line) - line;
        uint64_t last = min_u64(of->at[i] + of->bytes, line + line_bytes) - 1 - line;
        sectors |= (2u << last / MEM_SECTOR) - (1u << from / MEM_SECTOR);
    }
    return sectors;
}

uint8_t coalesce_sectors(const struct delivery *of, const struct coalesced *lines, uint32_t i)
{
    uint32_t sectors = 0;
    if (UNLIKELY(lines->spans))
        return (uint8_t)spanned_sectors(of, lines->at[i].who, lines->at[i].line << lines->shift,
                                        1u << lines->shift);
    EACH_LANE (lane, lines->at[i].who) /* of 128 bytes, from which a shorter line takes its part */
        sectors |= 1u << of->at[lane] / MEM_SECTOR % MEM_SECTORS_MOST;
    return (uint8_t)(sectors >> (lines->at[i].line << lines->shift) / MEM_SECTOR % MEM_SECTORS_MOST);
}
