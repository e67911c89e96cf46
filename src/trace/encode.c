/* Which patterns tell the accesses of a block, and the streams that follow (codec.h). Found in three passes:
 * each access gets its slots and its distance; those that come often just so get patterns with the distance
 * in them; the rest get patterns by the size of their distance. How often is counted in tables that forget
 * what is rare. */
#include "trace/codec.h"
#include "base/bits.h"
#include "base/err.h"
#include "base/mem.h"

#include <stdlib.h>

enum {
    NEAR = 1 << 12,    /* nearer than so many bytes to a slot: it moves on; else the oldest slot is taken */
    EXACT_MOST = 160,  /* patterns with distances */
    EXACT_LEAST = 48,  /* accesses that make such a one worth it */
    SIZED_LEAST = 2,   /* ... and one without */
    SEEN_BITS = 12,    /* of the tables that count */
    FOUND_BITS = 10,   /* of the table that finds */
    SIZE_OF_EXACT = 0, /* of a pattern: bytes of the distance in the stream */
    FAR_SIZE_MOST = 8,
};

struct pattern {
    uint64_t rest; /* step << 17 | form */
    int64_t delta;
    uint32_t slots, size;
};

struct seen {
    struct pattern pattern;
    uint32_t count;
};

struct told { /* of an access */
    uint64_t rest;
    int64_t delta;
    uint8_t slots, size;
};

struct trace_encoder {
    struct told told[TRACE_BLOCK_ACCESSES];
    struct seen seen[1 << SEEN_BITS];
    struct seen chosen[1 << SEEN_BITS];
    struct pattern patterns[TRACE_PATTERNS_MOST];
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

void trace_streams_init(struct trace_streams *streams)
{
    for (int i = 0; i < TRACE_STREAMS; i++) {
        streams->at[i] = mem_alloc(trace_stream_most((enum trace_stream)i) + TRACE_STREAM_PADDING, 1);
        streams->bytes[i] = 0;
    }
}

void trace_streams_fini(struct trace_streams *streams)
{
    for (int i = 0; i < TRACE_STREAMS; i++)
        mem_free(streams->at[i]);
}

/* ---- slots ---- */

/* Bytes that hold a signed number: 1 to 8. */
static uint8_t size_of(int64_t delta)
{
    uint64_t magnitude = (uint64_t)(delta ^ delta >> 63);
    return (uint8_t)((64 - (magnitude ? __builtin_clzll(magnitude) : 64)) / 8 + 1);
}

struct slots {
    uint64_t address[TRACE_SLOTS], used[TRACE_SLOTS]; /* used: when last */
};

static uint32_t nearest(const struct slots *slots, uint64_t address)
{
    uint32_t best = 0;
    uint64_t least = UINT64_MAX;
    for (uint32_t i = 0; i < TRACE_SLOTS; i++) {
        int64_t delta = (int64_t)(address - slots->address[i]);
        uint64_t magnitude = (uint64_t)(delta ^ delta >> 63);
        best = magnitude < least ? i : best;
        least = magnitude < least ? magnitude : least;
    }
    return best;
}

static uint32_t oldest(const struct slots *slots)
{
    uint32_t best = 0;
    for (uint32_t i = 1; i < TRACE_SLOTS; i++)
        best = slots->used[i] < slots->used[best] ? i : best;
    return best;
}

static void tell_all(struct trace_encoder *encoder, const struct trace_access *accesses, uint32_t count)
{
    struct slots slots = {0};
    uint64_t before = accesses[0].rest;
    for (uint32_t i = 0; i < count; i++) {
        uint64_t address = accesses[i].address, rest = accesses[i].rest;
        uint32_t from = nearest(&slots, address), to = from;
        int64_t delta = (int64_t)(address - slots.address[from]);
        if (delta >= NEAR || delta <= -NEAR)
            to = oldest(&slots);
        slots.address[to] = address;
        slots.used[to] = i + 1;
        uint64_t step = (rest >> 17) - (before >> 17);
        encoder->told[i] =
            (struct told){step << 17 | (rest & 0x1ffff), delta, (uint8_t)(from | to << 4), size_of(delta)};
        before = rest;
    }
}

/* ---- patterns ---- */

static uint64_t hash_of(const struct pattern *pattern)
{
    uint64_t hash = digest_word(pattern->rest, (uint64_t)pattern->delta);
    return digest_word(hash, pattern->slots | (uint64_t)pattern->size << 32);
}

static bool same(const struct pattern *a, const struct pattern *b)
{
    return a->rest == b->rest && a->delta == b->delta && a->slots == b->slots && a->size == b->size;
}

static bool can_be(const struct told *told)
{
    return told->rest >> 17 >> TRACE_STEP_BITS == 0;
}

static struct pattern exactly(const struct told *told)
{
    return (struct pattern){told->rest, told->delta, told->slots, SIZE_OF_EXACT};
}

static struct pattern by_size(const struct told *told, uint32_t size)
{
    return (struct pattern){told->rest, 0, told->slots, size};
}

/* What shares a place pushes out what came less often. */
static void count_one(struct trace_encoder *encoder, const struct pattern *pattern)
{
    struct seen *seen = &encoder->seen[hash_of(pattern) >> (64 - SEEN_BITS)];
    if (same(&seen->pattern, pattern)) {
        seen->count++;
    } else if (seen->count) {
        seen->count--;
    } else {
        *seen = (struct seen){*pattern, 1};
    }
}

static int by_count(const void *left, const void *right)
{
    const struct seen *a = left, *b = right;
    if (a->count != b->count)
        return a->count < b->count ? 1 : -1;
    uint64_t x = hash_of(&a->pattern), y = hash_of(&b->pattern);
    return x < y ? -1 : x > y;
}

static uint32_t place_of(const struct pattern *pattern)
{
    return (uint32_t)(hash_of(pattern) >> (64 - FOUND_BITS));
}

static void add_pattern(struct trace_encoder *encoder, const struct pattern *pattern)
{
    uint32_t at = place_of(pattern);
    while (encoder->found[at])
        at = (at + 1) % (1 << FOUND_BITS);
    encoder->patterns[encoder->pattern_count] = *pattern;
    encoder->found[at] = (uint8_t)++encoder->pattern_count;
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
    for (uint32_t i = 0; i < count && encoder->pattern_count < most; i++)
        add_pattern(encoder, &encoder->chosen[i].pattern);
    memset(encoder->seen, 0, sizeof encoder->seen);
}

/* Its number, or TRACE_RARE. */
static uint32_t find(const struct trace_encoder *encoder, const struct pattern *pattern)
{
    for (uint32_t at = place_of(pattern); encoder->found[at]; at = (at + 1) % (1 << FOUND_BITS)) {
        if (same(&encoder->patterns[encoder->found[at] - 1], pattern))
            return encoder->found[at] - 1u;
    }
    return TRACE_RARE;
}

static void choose_exact(struct trace_encoder *encoder, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        struct pattern exact = exactly(&encoder->told[i]);
        if (can_be(&encoder->told[i]))
            count_one(encoder, &exact);
    }
    choose(encoder, EXACT_MOST, EXACT_LEAST);
}

static void choose_sized(struct trace_encoder *encoder, uint32_t count, uint8_t *tokens)
{
    for (uint32_t i = 0; i < count; i++) {
        const struct told *told = &encoder->told[i];
        struct pattern exact = exactly(told), sized = by_size(told, told->size);
        tokens[i] = (uint8_t)find(encoder, &exact);
        if (tokens[i] == TRACE_RARE && can_be(told))
            count_one(encoder, &sized);
    }
    choose(encoder, TRACE_PATTERNS_MOST, SIZED_LEAST);
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

static uint8_t *put_meaning(uint8_t *to, uint64_t rest, uint32_t slots)
{
    to = put_number(put_number(to, rest >> 17), rest & 0x1ffff);
    *to++ = (uint8_t)slots;
    return to;
}

static uint8_t *put_patterns(const struct trace_encoder *encoder, uint8_t *to)
{
    *to++ = (uint8_t)encoder->pattern_count;
    for (uint32_t i = 0; i < encoder->pattern_count; i++) {
        const struct pattern *pattern = &encoder->patterns[i];
        to = put_meaning(to, pattern->rest, pattern->slots);
        *to++ = (uint8_t)pattern->size;
        if (pattern->size == SIZE_OF_EXACT)
            to = put_distance(to, pattern->delta);
    }
    return to;
}

/* A pattern that has room for the distance, if more than it needs. */
static uint32_t find_sized(const struct trace_encoder *encoder, const struct told *told, uint32_t *size)
{
    uint32_t token = TRACE_RARE;
    for (*size = told->size; can_be(told) && token == TRACE_RARE && *size <= FAR_SIZE_MOST; ++*size) {
        struct pattern sized = by_size(told, *size);
        token = find(encoder, &sized);
        if (token != TRACE_RARE)
            break;
    }
    return token;
}

void trace_encode(struct trace_encoder *encoder, const struct trace_access *accesses, uint32_t count,
                  struct trace_streams *streams)
{
    REQUIRE(count && count <= TRACE_BLOCK_ACCESSES);
    uint8_t *tokens = streams->at[TRACE_TOKENS], *deltas = streams->at[TRACE_DELTAS];
    encoder->pattern_count = 0;
    memset(encoder->found, 0, sizeof encoder->found);
    tell_all(encoder, accesses, count);
    choose_exact(encoder, count);
    choose_sized(encoder, count, tokens);
    uint8_t *others = put_patterns(encoder, streams->at[TRACE_OTHERS]);
    for (uint32_t i = 0; i < count; i++) {
        const struct told *told = &encoder->told[i];
        uint32_t size;
        if (tokens[i] != TRACE_RARE)
            continue;
        tokens[i] = (uint8_t)find_sized(encoder, told, &size);
        if (tokens[i] == TRACE_RARE) {
            others = put_distance(put_meaning(others, told->rest, told->slots), told->delta);
        } else {
            memcpy(deltas, &told->delta, 8);
            deltas += size;
        }
    }
    streams->bytes[TRACE_TOKENS] = count;
    streams->bytes[TRACE_DELTAS] = (size_t)(deltas - streams->at[TRACE_DELTAS]);
    streams->bytes[TRACE_OTHERS] = (size_t)(others - streams->at[TRACE_OTHERS]);
}
