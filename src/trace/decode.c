/* Streams back to accesses (codec.h). They come from a file: every number is checked before it is believed,
 * but once for a pattern or a group of accesses where that is enough. */
#include "trace/codec.h"
#include "base/bits.h"

enum {
    GROUP = 64, /* accesses between two looks at the end of the deltas */
};
_Static_assert((uint64_t)GROUP << TRACE_STEP_BITS <= TRACE_INSTRUCTIONS_MOST,
               "a group's steps do not overflow twice");
_Static_assert(GROUP * 8 + 8 <= TRACE_STREAM_PADDING, "a group may read behind the end");

/* address = slot + ((bytes of the stream & mask) ^ flip) + base, whatever its size: flip and base extend the
 * sign, or the mask is 0 and the base is the distance. */
struct plan {
    uint64_t mask, flip, base;
    uint64_t step, form; /* as in an access's `rest` */
    uint64_t slot, size;
    uint64_t zero; /* plans of 64 bytes are found fastest */
};

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
    uint32_t form, slot;
};

static struct meaning get_meaning(struct reader *reader)
{
    struct meaning meaning;
    meaning.step = get_number(reader);
    uint64_t form = get_number(reader);
    meaning.slot = get_byte(reader);
    meaning.form = (uint32_t)form;
    reader->bad |=
        meaning.step > TRACE_INSTRUCTIONS_MOST || form < 2 || form >> 17 || meaning.slot >= TRACE_SLOTS;
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
        plan.step = meaning.step << 17;
        plan.form = meaning.form;
        plan.slot = meaning.slot;
        plan.size = size;
        plans[i] = plan;
    }
    return count;
}

/* What is known between two accesses. */
struct state {
    uint64_t slots[TRACE_SLOTS];
    uint64_t clock;  /* instructions << 17 */
    uint64_t before; /* a clock that it must not fall below: then it was too large */
    struct reader others;
};

/* NULL, or what is wrong. */
static const char *decode_rare(struct state *state, struct trace_access *into)
{
    struct meaning meaning = get_meaning(&state->others);
    uint64_t address = get_distance(&state->others) + state->slots[meaning.slot % TRACE_SLOTS];
    if (state->others.bad)
        return "a rare access makes no sense";
    if (state->clock < state->before || meaning.step > TRACE_INSTRUCTIONS_MOST - (state->clock >> 17))
        return "its instruction counts are too large";
    state->clock += meaning.step << 17;
    state->before = state->clock;
    state->slots[meaning.slot] = address;
    *into = (struct trace_access){address, state->clock | meaning.form};
    return NULL;
}

const char *trace_decode(const struct trace_streams *streams, uint64_t first_instruction, uint32_t count,
                         struct trace_access *into)
{
    struct plan plans[TRACE_PATTERNS_MOST];
    struct state state = {.clock = first_instruction << 17,
                          .others = {streams->at[TRACE_OTHERS],
                                     streams->at[TRACE_OTHERS] + streams->bytes[TRACE_OTHERS], false}};
    const uint8_t *tokens = streams->at[TRACE_TOKENS], *deltas = streams->at[TRACE_DELTAS],
                  *deltas_end = deltas + streams->bytes[TRACE_DELTAS];
    if (streams->bytes[TRACE_TOKENS] != count)
        return "it has not as many tokens as accesses";
    uint32_t pattern_count = get_patterns(&state.others, plans);
    if (state.others.bad)
        return "its patterns make no sense";
    for (uint32_t i = 0; i < count;) {
        uint32_t group = (uint32_t)min_u64(i + GROUP, count);
        uint64_t clock = state.before = state.clock;
        for (; i < group; i++) {
            uint32_t token = tokens[i];
            if (LIKELY(token < pattern_count)) {
                const struct plan *plan = &plans[token];
                uint64_t distance;
                memcpy(&distance, deltas, 8);
                deltas += plan->size;
                distance = ((distance & plan->mask) ^ plan->flip) + plan->base;
                uint64_t address = state.slots[plan->slot] + distance;
                state.slots[plan->slot] = address;
                clock += plan->step;
                into[i] = (struct trace_access){address, clock | plan->form};
                continue;
            }
            state.clock = clock;
            const char *why = token == TRACE_RARE ? decode_rare(&state, &into[i]) : "a token has no pattern";
            if (why)
                return why;
            clock = state.clock;
        }
        if (deltas > deltas_end)
            return "it has fewer distances than accesses";
        if (clock < state.before) /* it grew by less than 2^64 and is smaller */
            return "its instruction counts are too large";
        state.clock = clock;
    }
    if (deltas != deltas_end || state.others.at != state.others.end)
        return "it has more than its accesses need";
    return NULL;
}
