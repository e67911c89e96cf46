/* Replacement policies: which line of a set is evicted. Pure, and the same for the timed caches, for
 * simulators of many caches on the CPU, and on a GPU (CUDA compiles this header as it stands).
 *
 * The state of a policy for a set is its row: a byte for each way, up to whole words of eight
 * (replace_words); zeroed bytes are an empty set.
 *
 *   lru, fifo   the byte is the way's place in the order: the smallest leaves
 *   srrip       how soon it is expected again: 0 (farthest) to 3
 *   tree        bits of the tree, in the first word
 *   random      how many left, in the first word: the n-th choice of a set depends on seed and n alone, so
 *               that sets may be looked at in any order
 *   a plugin's  its own matter (cache/replace_own.h); not on a GPU */
#ifndef CACHE_REPLACE_H
#define CACHE_REPLACE_H

#include "cache/bytes.h"

#include <stdbool.h>

/*    name    text      help */
#define REPLACE_POLICIES(X)                                                                                  \
    X(LRU, "lru", "the line used the longest time ago leaves")                                               \
    X(FIFO, "fifo", "the line that came first leaves")                                                       \
    X(RANDOM, "random", "any line leaves, by a seeded stream")                                               \
    X(TREE, "tree", "pseudo-LRU: a tree of bits points away from what was used")                             \
    X(SRRIP, "srrip", "static re-reference prediction of two bits")

enum replace_policy {
#define X(name, text, help) REPLACE_##name,
    REPLACE_POLICIES(X)
#undef X
        REPLACE_OWN /* the first of plugins' policies */
};

#ifndef __CUDACC__
#include "cache/replace_own.h"
#endif

enum { REPLACE_WAYS_MOST = 64, REPLACE_NEAR = 3, REPLACE_NEW = 1 }; /* of srrip: after a use; when it comes */

CACHE_CALL uint32_t replace_words(uint32_t ways)
{
    return (ways + 7) / 8;
}

/* ---- orders (lru, fifo) ---- */

/* The way becomes the youngest: all that were younger move down one place. From zeroed bytes this makes each
 * way's place in the order in which they came. */
CACHE_CALL void order_renew(uint64_t *row, uint32_t ways, uint32_t way)
{
#if defined(__SSE2__) && !defined(__CUDA_ARCH__)
    if (replace_words(ways) == 2) { /* as one word, which the next to look at it gets from here at once */
        __m128i *both = (__m128i *)(void *)row, old = _mm_loadu_si128(both);
        __m128i place = bytes_all(((uint8_t *)row)[way]);
        __m128i ways16 = _mm_setr_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
        __m128i mine = _mm_cmpeq_epi8(ways16, bytes_all(way));
        __m128i moved = _mm_add_epi8(old, _mm_cmpgt_epi8(old, place));
        _mm_storeu_si128(both, _mm_or_si128(_mm_andnot_si128(mine, moved),
                                            _mm_and_si128(mine, _mm_set1_epi8((char)(ways - 1)))));
        return;
    }
#endif
    uint8_t *place = (uint8_t *)row + way;
    uint32_t above = *place + 1u;
    for (uint32_t i = 0; i < replace_words(ways); i++)
        row[i] -= bytes_from(row[i], above) >> 7;
    *place = (uint8_t)(ways - 1);
}

/* The smallest byte of the ways in `from` (never 0), the first of equals. */
CACHE_CALL uint32_t smallest_byte(const uint64_t *row, uint64_t from)
{
    uint32_t way = 0, best = 256;
    for (; from; from &= from - 1) {
        uint32_t i = lowest_bit(from), byte = ((const uint8_t *)row)[i];
        if (byte < best) {
            best = byte;
            way = i;
        }
    }
    return way;
}

/* Of a full set where all ways may leave, the oldest is the one whose place is 0. */
CACHE_CALL uint32_t order_oldest(const uint64_t *row, uint32_t ways, uint64_t from)
{
#if defined(__SSE2__) && !defined(__CUDA_ARCH__)
    if (replace_words(ways) == 2) {
        __m128i both = _mm_loadu_si128((const __m128i *)(const void *)row);
        uint64_t zero = (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(both, _mm_setzero_si128())) & from;
        return zero ? lowest_bit(zero) : smallest_byte(row, from);
    }
#endif
    for (uint32_t i = 0; i < replace_words(ways); i++) {
        uint64_t zero = bytes_zero(row[i]);
        uint32_t way = zero ? i * 8 + lowest_bit(zero) / 8 : 64;
        if (way < ways && from >> way & 1)
            return way;
    }
    return smallest_byte(row, from);
}

/* ---- srrip ---- */

/* The first that is expected in the farthest future; all of `from` grow older until there is one. */
CACHE_CALL uint32_t srrip_farthest(uint64_t *row, uint64_t from)
{
    uint8_t *near = (uint8_t *)row;
    uint32_t way = smallest_byte(row, from);
    uint8_t least = near[way];
    if (least) {
        for (; from; from &= from - 1)
            near[lowest_bit(from)] -= least;
    }
    return way;
}

/* ---- tree: over the ways, up to a power of two; node 1 is its root. A set bit points to the right ---- */

CACHE_CALL uint32_t tree_size(uint32_t ways)
{
    uint32_t size = 1;
    while (size < ways)
        size *= 2;
    return size;
}

CACHE_CALL uint32_t tree_pointed_at(uint64_t tree, uint32_t ways, uint64_t from)
{
    uint32_t node = 1, low = 0;
    for (uint32_t half = tree_size(ways) / 2; half; half /= 2) {
        uint64_t run = (UINT64_C(1) << half) - 1; /* the ways below a node are a run of bits */
        bool left = (from & run << low) != 0, right = (from & run << (low + half)) != 0;
        bool go_right = right && (!left || (tree >> node & 1));
        low += go_right ? half : 0;
        node = 2 * node + go_right;
    }
    return low;
}

CACHE_CALL uint64_t tree_point_away(uint64_t tree, uint32_t ways, uint32_t way)
{
    uint32_t node = 1;
    for (uint32_t half = tree_size(ways) / 2; half; half /= 2) {
        bool is_right = (way & half) != 0;
        tree = (tree & ~(UINT64_C(1) << node)) | (uint64_t)!is_right << node;
        node = 2 * node + is_right;
    }
    return tree;
}

/* ---- random ---- */

CACHE_CALL uint32_t any_way(uint64_t *count, uint64_t seed, uint64_t from)
{
    uint64_t drawn = (seed ^ (*count)++ * UINT64_C(0x9e3779b97f4a7c15)) + UINT64_C(0xd6e8feb86659fd93);
    drawn = (drawn ^ drawn >> 32) * UINT64_C(0xd6e8feb86659fd93);
    drawn = (drawn ^ drawn >> 32) * UINT64_C(0xd6e8feb86659fd93) >> 32;
    uint32_t many = 0;
    for (uint64_t left = from; left; left &= left - 1)
        many++;
    for (uint32_t skip = (uint32_t)(drawn * many >> 32); skip; skip--)
        from &= from - 1;
    return lowest_bit(from);
}

/* ---- all of them ---- */

/* The way's line was used again. */
CACHE_CALL void replace_use(uint32_t policy, uint64_t *row, uint32_t ways, uint32_t way)
{
    if (policy == REPLACE_LRU)
        order_renew(row, ways, way);
    else if (policy == REPLACE_TREE)
        *row = tree_point_away(*row, ways, way);
    else if (policy == REPLACE_SRRIP)
        ((uint8_t *)row)[way] = REPLACE_NEAR;
#ifndef __CUDACC__
    else if (policy >= REPLACE_OWN)
        replace_owns[policy - REPLACE_OWN].used((uint8_t *)row, ways, way);
#endif
}

/* A line came to the way. */
CACHE_CALL void replace_come(uint32_t policy, uint64_t *row, uint32_t ways, uint32_t way)
{
    if (policy == REPLACE_LRU || policy == REPLACE_FIFO)
        order_renew(row, ways, way);
    else if (policy == REPLACE_TREE)
        *row = tree_point_away(*row, ways, way);
    else if (policy == REPLACE_SRRIP)
        ((uint8_t *)row)[way] = REPLACE_NEW;
#ifndef __CUDACC__
    else if (policy >= REPLACE_OWN)
        replace_owns[policy - REPLACE_OWN].came((uint8_t *)row, ways, way);
#endif
}

/* The way in `from` (never 0; all of them hold lines) whose line leaves. */
CACHE_CALL uint32_t replace_choose(uint32_t policy, uint64_t *row, uint32_t ways, uint64_t from,
                                   uint64_t seed)
{
    switch (policy) {
    case REPLACE_RANDOM:
        return any_way(row, seed, from);
    case REPLACE_TREE:
        return tree_pointed_at(*row, ways, from);
    case REPLACE_SRRIP:
        return srrip_farthest(row, from);
    default:
#ifndef __CUDACC__
        if (policy >= REPLACE_OWN)
            return replace_own_choose(policy, row, ways, from, seed);
#endif
        return order_oldest(row, ways, from);
    }
}

/* ---- what simulators of many caches may leave out; those who add a policy answer here ---- */

/* Whether one more use in a row of a line changes nothing. `was_used`: since it came. */
CACHE_CALL bool replace_is_settled(uint32_t policy, bool was_used)
{
    switch (policy) {
    case REPLACE_SRRIP:
        return was_used;
    case REPLACE_LRU:
    case REPLACE_FIFO:
    case REPLACE_RANDOM:
    case REPLACE_TREE:
        return true;
    default:
        return false;
    }
}

/* Whether, of several uses with nothing else between them, only the last one of each way counts. */
CACHE_CALL bool replace_last_uses_count(uint32_t policy)
{
    return policy <= REPLACE_SRRIP;
}

#endif
