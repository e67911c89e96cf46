/* Loops over the 32 lanes of a warp that every instruction needs, compiled for several levels of x86-64; the
 * best one that the machine supports is used. */
#ifndef PTX_RUN_LANES_H
#define PTX_RUN_LANES_H

#include "isa/isa.h"

#include <stdbool.h>

enum { WARP_LANES = 32 };
typedef uint32_t lanes; /* a bit for each lane */

static inline uint32_t lanes_count(lanes who)
{
    if (who == UINT32_MAX) /* mostly: hosts of the base level have no instruction to count */
        return WARP_LANES;
    who -= who >> 1 & UINT32_C(0x55555555);
    who = (who & UINT32_C(0x33333333)) + (who >> 2 & UINT32_C(0x33333333));
    return ((who + (who >> 4)) & UINT32_C(0x0f0f0f0f)) * UINT32_C(0x01010101) >> 24;
}

/* Copies lanes of a register of 2, 4 or 8 bytes; of a predicate with 0. */
void blend(void *to, const void *from, uint32_t bytes, lanes who);

/* One value to lanes of a register of 2, 4 or 8 bytes. */
void lanes_fill(void *to, uint32_t bytes, uint64_t value, lanes who);

/* Lanes' addresses: register plus offset. Those that do not count get the address of one
 * that does, so that loops over all lanes are safe and fast. */
struct lanes_way {
    const void *base; /* a register */
    uint32_t bytes;   /* of a lane: 4 or 8 */
    uint64_t offset;
};
void lanes_addresses(uint64_t at[WARP_LANES], const struct lanes_way *way, lanes who);

/* What all addresses of accesses of one size, a power of two, have in common. */
struct survey {
    uint64_t any; /* the addresses' bits, ORed: those below the size are exact */
    bool within;  /* each access is in [low, low + bytes) */
    bool dense;   /* one behind the other, by lane, a size apart */
    bool same;    /* all at one place */
};
struct survey lanes_survey(const uint64_t at[WARP_LANES], uint64_t low, uint64_t bytes, uint64_t size);

/* Both at once: lanes_addresses, then lanes_survey. */
struct survey lanes_reach(uint64_t at[WARP_LANES], const struct lanes_way *way, lanes who, uint64_t low,
                          uint64_t bytes, uint64_t size);

/* Of what these lanes have in a register of 4 bytes: the bits that some have, and those that all have. */
struct lanes_bits {
    uint32_t some, all;
};
struct lanes_bits lanes_bits(const uint32_t from[WARP_LANES], lanes who);

/* Two registers of 4 bytes as one of 8, and back. */
void lanes_join(void *to, const void *low, const void *high, lanes who);
void lanes_split(void *low, void *high, const void *from, lanes who);

/* Low bits of registers of any width, extended to another: with their sign, or with 0. */
struct extension {
    uint32_t to_bytes, from_bytes; /* of a lane: 2, 4, 8 */
    uint32_t to_bits, from_bits;   /* that count */
    bool to_signed, from_signed;
};
void lanes_extend(void *to, const void *from, const struct extension *how, lanes who);

/* Each of these lanes gets what another of them has in `from` (0 if that one is not among them): lane `by`
 * up, down, across or from the start of its segment, as c, a clamp and a mask of segments, allows; otherwise
 * its own. Gives the lanes that were allowed. */
enum shuffle { SHUFFLE_UP, SHUFFLE_DOWN, SHUFFLE_BUTTERFLY, SHUFFLE_INDEX };
lanes lanes_shuffle(enum shuffle kind, void *to, const void *from, const void *by, const void *c, lanes who);

/* The lane that one of them reads. */
static inline __attribute__((always_inline)) uint32_t
lanes_shuffle_source(enum shuffle kind, uint32_t lane, uint32_t b, uint32_t c, uint32_t *allowed)
{
    uint32_t by = b & 31;
    uint32_t clamp = c & 31, segment = c >> 8 & 31, most = (lane & segment) | (clamp & ~segment);
    uint32_t from = kind == SHUFFLE_UP          ? lane - by
                    : kind == SHUFFLE_DOWN      ? lane + by
                    : kind == SHUFFLE_BUTTERFLY ? lane ^ by
                                                : (lane & segment) | (by & ~segment);
    *allowed = kind == SHUFFLE_UP ? (int32_t)from >= (int32_t)most : from <= most;
    return *allowed ? from & 31 : lane;
}

#endif
