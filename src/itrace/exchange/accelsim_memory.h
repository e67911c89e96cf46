/* What the addresses of an imported instruction want of memory. */
#ifndef EXCHANGE_ACCELSIM_MEMORY_H
#define EXCHANGE_ACCELSIM_MEMORY_H

#include "exchange/accelsim_code.h"

/* The traced program's memory of the GPU, by regions of 64 MiB, in the order they were met: the n-th becomes
 * the n-th of the memory that Heddle has. Regions that touched each other may not do so any more. */
enum { REGION_SHIFT = 26, REGIONS_MOST = 4096 };

struct regions {
    uint64_t *at; /* address >> REGION_SHIFT */
    size_t count, capacity, last;
};

/* False: there are too many. */
bool regions_move(struct regions *regions, uint64_t address, uint64_t *moved);
uint64_t regions_bytes(const struct regions *regions); /* of memory, from ITRACE_DEVICE_AT on */

struct sass_windows { /* where generic addresses mean others; 0: not known */
    uint64_t shared, local;
};

/* Fills the request. False: addresses of too much memory. */
bool sass_request(const struct sass_row *row, const struct accelsim_line *line,
                  const struct sass_windows *windows, struct regions *regions, struct request *request);

#endif
