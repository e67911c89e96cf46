/* The page table of a process: where virtual addresses are at home. It is written between runs, and all SMs
 * look at it while they run.
 *
 * A table of three levels, of 1 GiB, 2 MiB and 4 KiB. Pages side by side that are so in their home, too, are
 * one entry of the largest level that they fill, so that memory of a GPU in one piece takes an entry for each
 * GiB. Aliases (two virtual pages for one physical) are as good as any.
 *
 * Virtual addresses are the host's own and differ from run to run, so no time may depend on them. What is
 * known by its virtual address (lines of caches, pages of TLBs) is known by a tag: the physical address, and
 * which of its aliases this is. */
#ifndef MEM_SPACE_H
#define MEM_SPACE_H

#include "base/address.h"

#include <stdbool.h>

enum { SPACE_PAGE_LEAST = 4096 };

struct space;

struct space *space_new(void);
void space_free(struct space *space);
void space_clear(struct space *space);

/* Maps whole pages of at least 4 KiB: both addresses must lie alike in theirs. What is mapped already stays.
 * When all is mapped, space_ready: from then on it is found. A mapping that was there when the space was
 * ready before keeps its tags, also if it was cleared and mapped anew. */
void space_map(struct space *space, uint64_t at, uint64_t bytes, struct physical_address to);
void space_ready(struct space *space);

/* Maps pages of this size, a power of two, to `homes` homes in turn, from that of `to` on: where nothing else
 * is mapped. In each home they lie side by side. Such pages have no aliases. */
void space_spread(struct space *space, uint64_t at, uint64_t bytes, struct physical_address to, uint64_t page,
                  uint32_t homes);

/* An entry: what addresses around one that was looked up become. */
struct space_block {
    uint64_t at, bytes; /* virtual; 0 bytes: none */
    struct physical_address to;
    uint8_t alias;    /* 0, or which of several that have a physical address in common */
    bool has_aliases; /* some physical address of the space has several names */
};

/* The entry for an address; of 0 bytes when it is not mapped. */
struct space_block space_find(const struct space *space, uint64_t address);

/* The tag of an address in a block. SPACE_ANY_ALIAS in place of the alias stands for all of them. */
enum { SPACE_ALIAS_SHIFT = 56, SPACE_ANY_ALIAS = 255 };

static inline uint64_t space_tag(const struct space_block *block, uint64_t address)
{
    return (block->to.packed + (address - block->at)) | (uint64_t)block->alias << SPACE_ALIAS_SHIFT;
}

static inline uint64_t tag_physical(uint64_t tag) /* packed */
{
    return tag & ((UINT64_C(1) << SPACE_ALIAS_SHIFT) - 1);
}

static inline uint32_t tag_alias(uint64_t tag)
{
    return (uint32_t)(tag >> SPACE_ALIAS_SHIFT);
}

static inline uint64_t tag_any(uint64_t tag)
{
    return tag | (uint64_t)SPACE_ANY_ALIAS << SPACE_ALIAS_SHIFT;
}

/* The other way round: entries that have this physical address, one after the other from number 0 on; of 0
 * bytes when there are no more. Where nothing has two names, there is one at most. */
struct space_block space_name(const struct space *space, struct physical_address address, uint32_t number);

#endif
