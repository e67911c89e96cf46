/* Which patterns tell the accesses of a block, and the streams that follow (codec.h). Each access gets a slot
 * and a distance; what comes often just so gets a pattern with the distance in it; the rest get patterns by
 * the size of their distance. How often is counted on a part of the accesses, in a table that forgets what is
 * rare.
 *
 * How near an access must be to a slot to move it on, and not to take the oldest, matters much: arrays that
 * are walked at once want slots of their own, pointers that jump about are better told by one. So some widths
 * are tried on a piece of the block. */
#include "trace/codec.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>

enum {
    EXACT_MOST = 64,    /* patterns with distances */
    EXACT_SHARE = 1024, /* one such for at least so manieth of the accesses */
    COUNT_RUN = 64,     /* so many accesses are counted ... */
    COUNT_EVERY = 256,  /* ... of so many */
    SEEN_BITS = 12,     /* of the table that counts */
    FOUND_BITS = 10,    /* of the table that finds */
    FORM_BITS = 12,     /* of the table of steps and forms */
    FORMS_MOST = 1 << 11,
    TRIAL = 1 << 12, /* accesses of a piece that widths are tried on */
};
static const uint64_t widths[] = {1 << 13, 1 << 17, 1 << 20, 1 << 24};

/* A pattern as a number: step and form by their place in a table, slot, size, and for size 0 the distance. */
enum { DELTA_BITS = 45, SIZE_AT = DELTA_BITS, SLOT_AT = SIZE_AT + 4, FORM_AT = SLOT_AT + 3 };
_Static_assert(FORMS_MOST <= 1 << (64 - FORM_AT) && TRACE_SLOTS <= 8, "they fit");

struct told { /* of an access */
    int64_t delta;
    uint16_t form; /* or FORMS_MOST: none */
    uint8_t slot, size;
};

struct seen {
    uint64_t pattern, count;
};

struct trace_encoder {
    struct told told[TRACE_BLOCK_ACCESSES];
    uint64_t forms[FORMS_MOST]; /* step << 17 | form */
    uint32_t form_count;
    uint16_t form_found[1 << FORM_BITS]; /* place in forms + 1; or 0 */
    struct seen seen[1 << SEEN_BITS], chosen[1 << SEEN_BITS];
    uint64_t patterns[TRACE_PATTERNS_MOST];
    uint32_t pattern_count;
    uint8_t found[1 << FOUND_BITS]; /* number of a pattern + 1; or 0 */
};

struct trace_encoder *trace_encoder_new(void)
{
    return mem_alloc(1, sizeof(struct trace_encoder));
}

void trace_encoder_free(struct trace_encoder *encoder)
{
    mem_free(encoder);
}

static uint32_t hash_of(uint64_t number, unsigned bits)
{
    return (uint32_t)(number * UINT64_C(0x9e3779b97f4a7c15) >> (64 - bits));
}

/* ---- accesses ---- */

/* Bytes that hold a signed number: 1 to 8. */
static uint8_t size_of(int64_t delta)
{
    uint64_t magnitude = (uint64_t)(delta ^ delta >> 63);
    return (uint8_t)((64 - __builtin_clzll(magnitude | 1) + 8) / 8);
}

struct slots {
    uint64_t address[TRACE_SLOTS], used[TRACE_SLOTS]; /* used: when last */
};

static uint32_t nearest(const struct slots *slots, uint64_t address, uint64_t *distance)
{
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < TRACE_SLOTS; i++) {
        int64_t delta = (int64_t)(address - slots->address[i]);
        uint64_t magnitude = (uint64_t)(delta ^ delta >> 63);
        best = magnitude < least ? i : best;
        least = magnitude < least ? magnitude : least;
    }
    *distance = least;
    return best;
}

static uint32_t oldest(const struct slots *slots)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < TRACE_SLOTS; i++)
        best = slots->used[i] < slots->used[best] ? i : best;
    return best;
}

/* The place of a step and form in the table. */
static uint16_t form_of(struct trace_encoder *encoder, uint64_t rest)
{
    uint32_t at = hash_of(rest, FORM_BITS);
    for (; encoder->form_found[at]; at = (at + 1) % (1 << FORM_BITS)) {
        if (encoder->forms[encoder->form_found[at] - 1] == rest)
            return (uint16_t)(encoder->form_found[at] - 1);
    }
    if (encoder->form_count == FORMS_MOST || rest >> 17 >> TRACE_STEP_BITS)
        return FORMS_MOST;
    encoder->forms[encoder->form_count] = rest;
    encoder->form_found[at] = (uint16_t)++encoder->form_count;
    return (uint16_t)(encoder->form_count - 1);
}

/* What is told of an access beside its address: step << 17 | form. */
static uint64_t rest_of(const struct trace_access *accesses, uint32_t i)
{
    uint64_t before = accesses[i ? i - 1 : 0].rest >> 17;
    return accesses[i].rest - (before << 17);
}

static void tell(struct trace_encoder *encoder, const struct trace_access *accesses, uint32_t count,
                 uint64_t width)
{
    struct slots slots = {0};
    encoder->form_count = 0;
    memset(encoder->form_found, 0, sizeof encoder->form_found);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = accesses[i].address, distance;
        uint32_t slot = nearest(&slots, address, &distance);
        if (distance >= width)
            slot = oldest(&slots);
        int64_t delta = (int64_t)(address - slots.address[slot]);
        slots.address[slot] = address;
        slots.used[slot] = i + 1;
        encoder->told[i] =
            (struct told){delta, form_of(encoder, rest_of(accesses, i)), (uint8_t)slot, size_of(delta)};
    }
}

/* ---- patterns ---- */

static bool can_be(const struct told *told)
{
    return told->form != FORMS_MOST;
}

static uint64_t sized(const struct told *told, uint32_t size)
{
    return (uint64_t)told->form << FORM_AT | (uint64_t)told->slot << SLOT_AT | (uint64_t)size << SIZE_AT;
}

/* With its distance, where there is room for it. */
static uint64_t exact(const struct told *told)
{
    const uint64_t mask = (UINT64_C(1) << DELTA_BITS) - 1;
    bool fits = told->delta == (int64_t)((uint64_t)told->delta << (64 - DELTA_BITS)) >> (64 - DELTA_BITS);
    return fits ? sized(told, 0) | ((uint64_t)told->delta & mask) : sized(told, told->size);
}

static uint32_t pattern_size(uint64_t pattern)
{
    return pattern >> SIZE_AT & 15;
}

/* What shares a place pushes out what came less often. */
static void count_one(struct trace_encoder *encoder, uint64_t pattern)
{
    struct seen *seen = &encoder->seen[hash_of(pattern, SEEN_BITS)];
    bool same = seen->pattern == pattern, gone = !same && !seen->count;
    seen->pattern = gone ? pattern : seen->pattern;
    seen->count += same || gone ? 1 : -1;
}

static int by_count(const void *left, const void *right)
{
    const struct seen *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    return a->pattern < b->pattern ? -1 : a->pattern > b->pattern;
}

/* The most frequent of what was counted, until there are `most` patterns. */
static void choose(struct trace_encoder *encoder, uint32_t most, uint32_t least)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < 1 << SEEN_BITS; i++) {
        if (encoder->seen[i].count >= least)
            encoder->chosen[count++] = encoder->seen[i];
    }
    qsort(encoder->chosen, count, sizeof *encoder->chosen, by_count);
    for (uint32_t i = 0; i < count && encoder->pattern_count < most; i++) {
        uint64_t pattern = encoder->chosen[i].pattern;
        uint32_t at = hash_of(pattern, FOUND_BITS);
        while (encoder->found[at])
            at = (at + 1) % (1 << FOUND_BITS);
        encoder->patterns[encoder->pattern_count] = pattern;
        encoder->found[at] = (uint8_t)++encoder->pattern_count;
    }
    memset(encoder->seen, 0, sizeof encoder->seen);
}

/* Its number, or TRACE_RARE. */
static uint32_t find(const struct trace_encoder *encoder, uint64_t pattern)
{
    for (uint32_t at = hash_of(pattern, FOUND_BITS); encoder->found[at]; at = (at + 1) % (1 << FOUND_BITS)) {
        if (encoder->patterns[encoder->found[at] - 1] == pattern)
            return encoder->found[at] - 1u;
    }
    return TRACE_RARE;
}

static void choose_all(struct trace_encoder *encoder, uint32_t count)
{
    encoder->pattern_count = 0;
    memset(encoder->found, 0, sizeof encoder->found);
    for (uint32_t i = 0; i < count; i++) {
        if (can_be(&encoder->told[i]) && i % COUNT_EVERY < COUNT_RUN)
            count_one(encoder, exact(&encoder->told[i]));
    }
    choose(encoder, EXACT_MOST, max_u64(2, count / EXACT_SHARE / (COUNT_EVERY / COUNT_RUN)));
    for (uint32_t i = 0; i < count; i++) {
        const struct told *told = &encoder->told[i];
        if (can_be(told) && i % COUNT_EVERY < COUNT_RUN && find(encoder, exact(told)) == TRACE_RARE)
            count_one(encoder, sized(told, told->size));
    }
    choose(encoder, TRACE_PATTERNS_MOST, 1);
}

/* ---- streams ---- */

static uint8_t *put_number(uint8_t *to, uint64_t number)
{
    for (; number >= 0x80; number >>= 7)
        *to++ = (uint8_t)(number | 0x80);
    *to++ = (uint8_t)number;
    return to;
}

static uint8_t *put_distance(uint8_t *to, int64_t delta)
{
    return put_number(to, (uint64_t)delta << 1 ^ (uint64_t)(delta >> 63));
}

static uint8_t *put_meaning(uint8_t *to, uint64_t rest, uint32_t slot)
{
    to = put_number(put_number(to, rest >> 17), rest & 0x1ffff);
    *to++ = (uint8_t)slot;
    return to;
}

static uint8_t *put_patterns(const struct trace_encoder *encoder, uint8_t *to)
{
    *to++ = (uint8_t)encoder->pattern_count;
    for (uint32_t i = 0; i < encoder->pattern_count; i++) {
        uint64_t pattern = encoder->patterns[i];
        to = put_meaning(to, encoder->forms[pattern >> FORM_AT], pattern >> SLOT_AT & (TRACE_SLOTS - 1));
        *to++ = (uint8_t)pattern_size(pattern);
        if (!pattern_size(pattern))
            to = put_distance(to, (int64_t)(pattern << (64 - DELTA_BITS)) >> (64 - DELTA_BITS));
    }
    return to;
}

/* The best pattern for it: one with room for the distance, if more than it needs. Or TRACE_RARE. */
static uint32_t token_of(const struct trace_encoder *encoder, const struct told *told)
{
    uint32_t token = can_be(told) ? find(encoder, exact(told)) : TRACE_RARE;
    for (uint32_t size = told->size; size <= 8 && token == TRACE_RARE && can_be(told); size++)
        token = find(encoder, sized(told, size));
    return token;
}

static void encode(struct trace_encoder *encoder, const struct trace_access *accesses, uint32_t count,
                   uint64_t width, struct trace_streams *streams)
{
    uint8_t *tokens = streams->at[TRACE_TOKENS], *deltas = streams->at[TRACE_DELTAS];
    tell(encoder, accesses, count, width);
    choose_all(encoder, count);
    uint8_t *others = put_patterns(encoder, streams->at[TRACE_OTHERS]);
    for (uint32_t i = 0; i < count; i++) {
        const struct told *told = &encoder->told[i];
        uint32_t token = token_of(encoder, told);
        tokens[i] = (uint8_t)token;
        if (token != TRACE_RARE) {
            memcpy(deltas, &told->delta, 8);
            deltas += pattern_size(encoder->patterns[token]);
        } else {
            others = put_distance(put_meaning(others, rest_of(accesses, i), told->slot), told->delta);
        }
    }
    streams->bytes[TRACE_TOKENS] = count;
    streams->bytes[TRACE_DELTAS] = (size_t)(deltas - streams->at[TRACE_DELTAS]);
    streams->bytes[TRACE_OTHERS] = (size_t)(others - streams->at[TRACE_OTHERS]);
}

static uint64_t best_width(struct trace_encoder *encoder, const struct trace_access *accesses, uint32_t count,
                           struct trace_streams *streams)
{
    uint32_t piece = (uint32_t)min_u64(count, TRIAL);
    size_t least = SIZE_MAX, best = 0;
    for (size_t i = 0; i < COUNT_OF(widths); i++) {
        encode(encoder, accesses + (count - piece) / 2, piece, widths[i], streams);
        size_t bytes = streams->bytes[TRACE_DELTAS] + streams->bytes[TRACE_OTHERS];
        best = bytes < least ? i : best;
        least = bytes < least ? bytes : least;
    }
    return widths[best];
}

void trace_encode(struct trace_encoder *encoder, const struct trace_access *accesses, uint32_t count,
                  struct trace_streams *streams)
{
    REQUIRE(count && count <= TRACE_BLOCK_ACCESSES);
    for (int i = 0; i < TRACE_STREAMS; i++)
        trace_streams_room(streams, (enum trace_stream)i, trace_stream_most((enum trace_stream)i));
    encode(encoder, accesses, count, best_width(encoder, accesses, count, streams), streams);
}
