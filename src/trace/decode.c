/* Streams back to accesses (codec.h). They come from a file: every number is checked before it is believed,
 * but once for a pattern or a group of accesses where that is enough. */
#include "trace/codec.h"
#include "base/bits.h"

enum {
    GROUP = 64, /* accesses between two looks at the end of the deltas */
};
_Static_assert(GROUP * 8 + 8 <= TRACE_STREAM_PADDING, "a group may read behind the end");

/* address = slot + ((bytes of the stream & mask) ^ flip) + base, whatever its size: flip and base extend the
 * sign, or the mask is 0 and the base is the distance. */
struct plan {
    uint64_t mask, flip, base;
    uint32_t step;
    uint32_t rest; /* form: 17 bits; slots: 3 + 3; size: 4 */
};
enum { FROM_SHIFT = 17, TO_SHIFT = 20, SIZE_SHIFT = 23 };

struct reader {
    const uint8_t *at, *end;
    bool bad;
};

static uint64_t get_number(struct reader *reader)
{
    uint64_t number = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
        if (reader->at == reader->end)
            break;
        uint8_t byte = *reader->at++;
        number |= (uint64_t)(byte & 0x7f) << shift;
        if (byte < 0x80)
            return number;
    }
    reader->bad = true;
    return 0;
}

static uint64_t get_distance(struct reader *reader)
{
    uint64_t number = get_number(reader);
    return number >> 1 ^ -(number & 1);
}

static uint8_t get_byte(struct reader *reader)
{
    reader->bad |= reader->at == reader->end;
    return reader->bad ? 0 : *reader->at++;
}

struct meaning {
    uint64_t step;
    uint32_t form, from, to;
};

static struct meaning get_meaning(struct reader *reader)
{
    struct meaning meaning;
    meaning.step = get_number(reader);
    uint64_t form = get_number(reader);
    uint8_t slots = get_byte(reader);
    meaning.form = (uint32_t)form;
    meaning.from = slots & 15;
    meaning.to = slots >> 4;
    reader->bad |= meaning.step > TRACE_INSTRUCTIONS_MOST || form < 2 || form >> 17 ||
                   meaning.from >= TRACE_SLOTS || meaning.to >= TRACE_SLOTS;
    return meaning;
}

static uint32_t get_patterns(struct reader *reader, struct plan *plans)
{
    uint32_t count = get_byte(reader);
    for (uint32_t i = 0; i < count && !reader->bad; i++) {
        struct meaning meaning = get_meaning(reader);
        uint8_t size = get_byte(reader);
        struct plan plan = {0};
        reader->bad |= meaning.step >> TRACE_STEP_BITS || size > 8;
        if (reader->bad)
            break;
        if (size) {
            plan.mask = UINT64_MAX >> (64 - 8 * size);
            plan.flip = UINT64_C(1) << (8 * size - 1);
            plan.base = -plan.flip;
        } else {
            plan.base = get_distance(reader);
        }
        plan.step = (uint32_t)meaning.step;
        plan.rest =
            meaning.form | meaning.from << FROM_SHIFT | meaning.to << TO_SHIFT | (uint32_t)size << SIZE_SHIFT;
        plans[i] = plan;
    }
    return count;
}

const char *trace_decode(const struct trace_streams *streams, uint64_t first_instruction, uint32_t count,
                         struct trace_access *into)
{
    struct plan plans[TRACE_PATTERNS_MOST + 1];
    uint64_t slots[TRACE_SLOTS] = {0}, clock = first_instruction;
    const uint8_t *tokens = streams->at[TRACE_TOKENS], *delta = streams->at[TRACE_DELTAS],
                  *delta_end = delta + streams->bytes[TRACE_DELTAS];
    struct reader others = {streams->at[TRACE_OTHERS],
                            streams->at[TRACE_OTHERS] + streams->bytes[TRACE_OTHERS], false};
    if (streams->bytes[TRACE_TOKENS] != count)
        return "it has not as many tokens as accesses";
    uint32_t pattern_count = get_patterns(&others, plans);
    if (others.bad)
        return "its patterns make no sense";
    for (uint32_t i = 0; i < count;) {
        uint32_t group = (uint32_t)min_u64(i + GROUP, count);
        for (; i < group; i++) {
            uint32_t token = tokens[i];
            if (LIKELY(token < pattern_count)) {
                const struct plan *plan = &plans[token];
                uint64_t word;
                uint32_t rest = plan->rest;
                memcpy(&word, delta, 8);
                delta += rest >> SIZE_SHIFT;
                clock += plan->step;
                word = ((word & plan->mask) ^ plan->flip) + plan->base;
                word += slots[rest >> FROM_SHIFT & (TRACE_SLOTS - 1)];
                slots[rest >> TO_SHIFT & (TRACE_SLOTS - 1)] = word;
                into[i].address = word;
                into[i].rest = clock << 17 | (rest & 0x1ffff);
                continue;
            }
            if (token != TRACE_RARE)
                return "a token has no pattern";
            struct meaning meaning = get_meaning(&others);
            uint64_t address = get_distance(&others) + slots[meaning.from % TRACE_SLOTS];
            if (others.bad)
                return "a rare access makes no sense";
            clock += meaning.step;
            slots[meaning.to] = address;
            into[i].address = address;
            into[i].rest = clock << 17 | meaning.form;
        }
        if (delta > delta_end)
            return "it has fewer distances than accesses";
    }
    if (delta != delta_end || others.at != others.end)
        return "it has more than its accesses need";
    if (clock > TRACE_INSTRUCTIONS_MOST) /* they only grow; 65536 steps of 47 bits do not overflow */
        return "its instruction counts are too large";
    return NULL;
}
