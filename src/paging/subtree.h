/* Which pages of a block move together when some of them are wanted on a GPU: the rule of NVIDIA's driver for
 * managed memory. A block of 2 MiB has 32 pages of 64 KiB, a bit each, which are the leaves of a binary tree.
 * Pure. */
#ifndef PAGING_SUBTREE_H
#define PAGING_SUBTREE_H

#include <stdint.h>

enum { SUBTREE_PAGES = 32, SUBTREE_PAGE_SHIFT = 16, SUBTREE_BLOCK_SHIFT = 21, SUBTREE_PERCENT = 51 };

/* The largest subtrees around each wanted page of which more than 51% is there already or wanted now. Of
 * pages that do not exist, none is counted, and none moves. Gives those that are not there yet. */
uint32_t subtree_grow(uint32_t exist, uint32_t there, uint32_t wanted);

#endif
