/* What lies behind a slice of the L2: DRAM, or an L3 before it, where the description has one.
 *
 * The L3 is a memory-side cache: it belongs to its slice's channels, all accesses of the slice pass it, and
 * nothing else has a way to them. So its bytes are those of the home (mem/home.h), and it keeps tags alone.
 * Copies go around it. */
#ifndef MEM_BEHIND_H
#define MEM_BEHIND_H

#include "mem/dram.h"

/* As the functions of struct dram_model, which do the rest. */
void behind_read(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors, uint32_t entry);
bool behind_room(const struct here *here, uint32_t slice, uint64_t index);
void behind_write(const struct here *here, uint32_t slice, uint64_t index, uint32_t sectors);

#endif
