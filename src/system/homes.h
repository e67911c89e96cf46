/* All memory that a machine was told of, to be found by virtual address. For this room only. */
#ifndef SYSTEM_HOMES_H
#define SYSTEM_HOMES_H

#include "system/machine.h"

struct home_range;
struct space;

struct homes {
    struct memory_range *ranges; /* in one home each, by address */
    struct memory_range *spread; /* at several homes, page by page: few */
    uint32_t count, spread_count;
};

void homes_set(struct homes *table, const struct memory_range *ranges, uint32_t count);
void homes_fini(struct homes *table);

/* Memory at one home, side by side, from a virtual address on. */
struct homes_piece {
    struct physical_address to;
    uint64_t bytes; /* 0: nothing is there */
};
struct homes_piece homes_find(const struct homes *table, uint64_t at);

/* Where the bytes at these virtual addresses are kept; NULL: they are not all of one range. */
char *homes_bytes(const struct homes *table, uint64_t at, uint64_t bytes);

/* Whether these addresses of the host's are where bytes are kept. */
bool homes_keeps(const struct homes *table, uint64_t host, uint64_t bytes);

/* Calls for all offsets in homes of GPUs that these virtual addresses have; or have no more, as another range
 * is there. */
typedef void homes_range_fn(void *user, struct physical_address from, uint64_t bytes);
void homes_each_home(const struct homes *table, uint64_t at, uint64_t bytes, homes_range_fn *call,
                     void *user);

/* Calls for all places where the host keeps GPUs' memory at these virtual addresses, once for each byte. */
typedef void homes_bytes_fn(void *user, char *host, uint64_t bytes);
void homes_each_bytes(const struct homes *table, uint64_t at, uint64_t bytes, homes_bytes_fn *call,
                      void *user);

/* What is at home there: fills a list with room for all ranges, and gives their count. */
uint32_t homes_ranges_of(const struct homes *table, uint32_t home, struct home_range *list);

/* Fills a page table. */
void homes_map(const struct homes *table, struct space *space);

#endif
