/* The Locality API: members of a unified GPU, and where memory and blocks are among them. */
#ifndef DRIVER_LOCALITY_H
#define DRIVER_LOCALITY_H

#include "driver/result.h"

#include <stddef.h>
#include <stdint.h>

struct block_place;
struct device;
struct driver;
struct launch_config;

struct locality_member {
    uint32_t sm_count, first_sm; /* %smid of the first */
    uint64_t memory;             /* bytes */
    uint64_t placed;             /* bytes of it that were placed there */
};

/* 1: the device is one GPU. */
unsigned locality_members(const struct device *device);
enum result locality_member(struct device *device, unsigned member, struct locality_member *facts);

/* Moves the pages of device memory that begin in this range to the member; their contents stay. Waits for the
 * device first. A page is system.interleave bytes. */
enum result locality_place_memory(struct driver *driver, uint64_t address, uint64_t bytes, unsigned member);

/* Of what was freed. With the memory's lock held. */
void locality_forget_memory(struct driver *driver, uint64_t address, uint64_t bytes);

/* Where blocks of the calling thread's next launch run, on whatever stream that is; those in no range run
 * anywhere. Replaces what was said before; no ranges: nothing is said. */
enum result locality_place_blocks(const struct block_place *places, size_t count);

/* The same, as heddle.h has them. */
struct heddle_blocks;
enum result locality_place_ranges(const struct heddle_blocks *ranges, size_t count);

/* What was said, which is then forgotten, or NULL; and back. */
struct locality_blocks;
struct locality_blocks *locality_take_blocks(void);
void locality_give_blocks(struct locality_blocks *blocks);
void locality_free_blocks(struct locality_blocks *blocks);
struct block_place;
struct locality_blocks *locality_new_blocks(const struct block_place *places, size_t count);
struct locality_blocks *locality_copy_blocks(const struct locality_blocks *blocks); /* NULL: NULL */

/* Whether there are such blocks and members; and of a cooperative launch, whether all fit at a time. */
enum result locality_check_blocks(const struct device *device, const struct locality_blocks *blocks,
                                  const struct launch_config *config, uint64_t blocks_per_sm);
const struct block_place *locality_places(const struct locality_blocks *blocks, uint32_t *count);

#endif
