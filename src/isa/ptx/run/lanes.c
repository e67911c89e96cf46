#include "ptx_run/lanes.h"

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) &&              \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_LEVEL __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FOR_EACH_LEVEL
#endif

FOR_EACH_LEVEL static void blend_words(uint32_t *to, const uint32_t *from, lanes who)
{
    for (uint32_t i = 0; i < WARP_LANES; i++)
        to[i] = who >> i & 1 ? from[i] : to[i];
}

FOR_EACH_LEVEL static void blend_longs(uint64_t *to, const uint64_t *from, lanes who)
{
    for (uint32_t i = 0; i < WARP_LANES; i++)
        to[i] = who >> i & 1 ? from[i] : to[i];
}

FOR_EACH_LEVEL static void blend_shorts(uint16_t *to, const uint16_t *from, lanes who)
{
    for (uint32_t i = 0; i < WARP_LANES; i++)
        to[i] = who >> i & 1 ? from[i] : to[i];
}

void blend(void *to, const void *from, uint32_t bytes, lanes who)
{
    if (bytes == 4)
        blend_words(to, from, who);
    else if (bytes == 8)
        blend_longs(to, from, who);
    else if (bytes == 2)
        blend_shorts(to, from, who);
    else
        *(uint32_t *)to = (*(uint32_t *)to & ~who) | (*(const uint32_t *)from & who);
}

FOR_EACH_LEVEL void lanes_fill(void *to, uint32_t bytes, uint64_t value, lanes who)
{
    if (bytes == 4) {
        uint32_t *at = to;
        for (uint32_t i = 0; i < WARP_LANES; i++)
            at[i] = who >> i & 1 ? (uint32_t)value : at[i];
    } else if (bytes == 8) {
        uint64_t *at = to;
        for (uint32_t i = 0; i < WARP_LANES; i++)
            at[i] = who >> i & 1 ? value : at[i];
    } else {
        uint16_t *at = to;
        for (uint32_t i = 0; i < WARP_LANES; i++)
            at[i] = who >> i & 1 ? (uint16_t)value : at[i];
    }
}

#define INSIDE static inline __attribute__((always_inline)) /* of functions for each level */

/* The addresses of the first and of the last lane. */
struct ends {
    uint64_t first, last;
};

INSIDE uint64_t find_address(const struct lanes_way *way, uint32_t lane)
{
    return way->bytes == 8 ? ((const uint64_t *)way->base)[lane] + way->offset
                           : (uint32_t)(((const uint32_t *)way->base)[lane] + (uint32_t)way->offset);
}

INSIDE struct ends find_addresses(uint64_t at[WARP_LANES], const struct lanes_way *way, lanes who)
{
    const uint64_t offset = way->offset, *longs = way->base;
    const uint32_t *words = way->base;
    if (who == UINT32_MAX) {
        for (uint32_t i = 0; i < WARP_LANES; i++)
            at[i] = way->bytes == 8 ? longs[i] + offset : (uint32_t)(words[i] + (uint32_t)offset);
        return (struct ends){find_address(way, 0), find_address(way, WARP_LANES - 1)};
    }
    /* Single lanes are read from the register, not from what has just been written, which would have to wait.
     */
    const uint64_t one = find_address(way, (uint32_t)__builtin_ctz(who));
    if (way->bytes == 8)
        for (uint32_t i = 0; i < WARP_LANES; i++)
            at[i] = who >> i & 1 ? longs[i] + offset : one;
    else
        for (uint32_t i = 0; i < WARP_LANES; i++)
            at[i] = who >> i & 1 ? (uint32_t)(words[i] + (uint32_t)offset) : one;
    return (struct ends){who & 1 ? find_address(way, 0) : one,
                         who >> (WARP_LANES - 1) ? find_address(way, WARP_LANES - 1) : one};
}

/* Most accesses of a warp go to one place, or to one element after another. Then the first and the last
 * address say all, so that only this has to be found out. */
INSIDE struct survey survey(const uint64_t at[WARP_LANES], struct ends ends, uint64_t low, uint64_t bytes,
                            uint64_t size)
{
    const uint64_t first = ends.first, last = ends.last, most = bytes - size;
    uint64_t any = first | last, off = 1;
    bool outside = first - low > most || last - low > most;
    const bool may_be_same = first == last, may_be_dense = last - first == size * (WARP_LANES - 1);
    if (may_be_same) {
        off = 0;
        for (uint64_t i = 0; i < WARP_LANES; i++)
            off |= at[i] ^ first;
    } else if (may_be_dense) {
        const uint32_t shift = (uint32_t)__builtin_ctzll(size);
        off = 0;
        for (uint64_t i = 0; i < WARP_LANES; i++)
            off |= at[i] ^ (first + (i << shift));
    }
    if (off) {
        uint64_t beyond = 0;
        for (uint64_t i = 0; i < WARP_LANES; i++) {
            any |= at[i];
            beyond |= at[i] - low > most ? 1 : 0;
        }
        outside = beyond;
    }
    const bool within = bytes >= size && !outside, dense = !off && may_be_dense, same = !off && may_be_same;
    return (struct survey){any, within, dense, same};
}

FOR_EACH_LEVEL void lanes_addresses(uint64_t at[WARP_LANES], const struct lanes_way *way, lanes who)
{
    find_addresses(at, way, who);
}

FOR_EACH_LEVEL struct survey lanes_survey(const uint64_t at[WARP_LANES], uint64_t low, uint64_t bytes,
                                          uint64_t size)
{
    return survey(at, (struct ends){at[0], at[WARP_LANES - 1]}, low, bytes, size);
}

FOR_EACH_LEVEL struct survey lanes_reach(uint64_t at[WARP_LANES], const struct lanes_way *way, lanes who,
                                         uint64_t low, uint64_t bytes, uint64_t size)
{
    return survey(at, find_addresses(at, way, who), low, bytes, size);
}

FOR_EACH_LEVEL struct lanes_bits lanes_bits(const uint32_t from[WARP_LANES], lanes who)
{
    uint32_t some = 0, all = UINT32_MAX;
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        some |= who >> i & 1 ? from[i] : 0;
        all &= who >> i & 1 ? from[i] : UINT32_MAX;
    }
    return (struct lanes_bits){some, all};
}

FOR_EACH_LEVEL void lanes_join(void *to, const void *low, const void *high, lanes who)
{
    const uint32_t *a = low, *b = high;
    uint64_t *d = to;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        d[i] = who >> i & 1 ? a[i] | (uint64_t)b[i] << 32 : d[i];
}

FOR_EACH_LEVEL void lanes_split(void *low, void *high, const void *from, lanes who)
{
    const uint64_t *a = from;
    uint32_t *d = low, *e = high;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        d[i] = who >> i & 1 ? (uint32_t)a[i] : d[i];
    for (uint32_t i = 0; i < WARP_LANES; i++)
        e[i] = who >> i & 1 ? (uint32_t)(a[i] >> 32) : e[i];
}

INSIDE lanes shuffle_all(enum shuffle kind, uint32_t *d, const uint32_t *a, const uint32_t *b,
                         const uint32_t *c, lanes who)
{
    uint32_t from[WARP_LANES], allowed[WARP_LANES], got[WARP_LANES];
    lanes all = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        from[i] = lanes_shuffle_source(kind, i, b[i], c[i], &allowed[i]);
    for (uint32_t i = 0; i < WARP_LANES; i++)
        got[i] = a[from[i]] & -(who >> from[i] & 1);
    for (uint32_t i = 0; i < WARP_LANES; i++)
        all |= allowed[i] << i;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        d[i] = who >> i & 1 ? got[i] : d[i];
    return all & who;
}

FOR_EACH_LEVEL lanes lanes_shuffle(enum shuffle kind, void *to, const void *from, const void *by,
                                   const void *c, lanes who)
{
    switch (kind) {
    case SHUFFLE_UP:
        return shuffle_all(SHUFFLE_UP, to, from, by, c, who);
    case SHUFFLE_DOWN:
        return shuffle_all(SHUFFLE_DOWN, to, from, by, c, who);
    case SHUFFLE_BUTTERFLY:
        return shuffle_all(SHUFFLE_BUTTERFLY, to, from, by, c, who);
    default:
        return shuffle_all(SHUFFLE_INDEX, to, from, by, c, who);
    }
}

INSIDE void cut(uint64_t at[WARP_LANES], uint32_t bits, bool with_sign)
{
    uint32_t unused = 64 - bits;
    for (uint32_t i = 0; i < WARP_LANES; i++)
        at[i] = with_sign ? (uint64_t)((int64_t)(at[i] << unused) >> unused) : at[i] << unused >> unused;
}

/* The most common one: of low bits of a register of 8 bytes to all of another. */
INSIDE void extend_longs(uint64_t *to, const uint64_t *from, uint32_t bits, bool with_sign, lanes who)
{
    const uint32_t unused = 64 - bits;
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        uint64_t value =
            with_sign ? (uint64_t)((int64_t)(from[i] << unused) >> unused) : from[i] << unused >> unused;
        to[i] = who == UINT32_MAX || who >> i & 1 ? value : to[i];
    }
}

FOR_EACH_LEVEL void lanes_extend(void *to, const void *from, const struct extension *how, lanes who)
{
    uint64_t at[WARP_LANES];
    uint32_t words[WARP_LANES];
    uint16_t shorts[WARP_LANES];
    if (how->from_bytes == 8 && how->to_bytes == 8 && how->to_bits == 64) {
        if (how->from_signed)
            extend_longs(to, from, how->from_bits, true, who);
        else
            extend_longs(to, from, how->from_bits, false, who);
        return;
    }
    for (uint32_t i = 0; i < WARP_LANES; i++)
        at[i] = how->from_bytes == 8   ? ((const uint64_t *)from)[i]
                : how->from_bytes == 4 ? ((const uint32_t *)from)[i]
                                       : ((const uint16_t *)from)[i];
    cut(at, how->from_bits, how->from_signed);
    cut(at, how->to_bits, how->to_signed);
    if (how->to_bytes == 8) {
        blend_longs(to, at, who);
    } else if (how->to_bytes == 4) {
        for (uint32_t i = 0; i < WARP_LANES; i++)
            words[i] = (uint32_t)at[i];
        blend_words(to, words, who);
    } else {
        for (uint32_t i = 0; i < WARP_LANES; i++)
            shorts[i] = (uint16_t)at[i];
        blend_shorts(to, shorts, who);
    }
}
