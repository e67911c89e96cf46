#include "paging/subtree.h"

/* The pages of the subtree of 1 << level pages that has this one. */
static uint32_t pages_around(uint32_t page, uint32_t level)
{
    uint32_t count = UINT32_C(1) << level, first = page / count * count;
    return (count == SUBTREE_PAGES ? UINT32_MAX : (UINT32_C(1) << count) - 1) << first;
}

uint32_t subtree_grow(uint32_t exist, uint32_t there, uint32_t wanted)
{
    enum { LEVELS = 5 };
    uint32_t known = (there | wanted) & exist, moves = wanted;
    for (uint32_t left = wanted; left; left &= left - 1) {
        for (uint32_t level = LEVELS; level > 0; level--) {
            uint32_t pages = pages_around((uint32_t)__builtin_ctz(left), level) & exist;
            if (100 * __builtin_popcount(pages & known) > SUBTREE_PERCENT * __builtin_popcount(pages)) {
                moves |= pages;
                break;
            }
        }
    }
    return moves & exist & ~there;
}
