/* Addresses are of three kinds, and each has a type of its own, so that the compiler keeps them apart:
 *
 *   virtual   uint64_t              what programs and registers hold; a process's page table has their places
 *   physical  struct physical_address  a home and an offset there; every byte has one home
 *   host      char *                where the simulator keeps the bytes; only a home knows (mem/home.h)
 *
 * mem/space.h turns the first into the second. In messages and as names of cache lines physical addresses are
 * packed into a word, by the functions here alone. */
#ifndef BASE_ADDRESS_H
#define BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

struct physical_address {
    uint64_t packed;
};

/* Homes: GPUs by their number, and the host; of its memory, that which a driver moves between the host and
 * GPUs on demand has a home of its own. */
enum { HOME_MANAGED = 254, HOME_HOST = 255, HOMES_MOST = 256 };

#define PHYSICAL_HOME_SHIFT  48
#define PHYSICAL_OFFSET_MASK ((UINT64_C(1) << PHYSICAL_HOME_SHIFT) - 1)

static inline struct physical_address physical_at(uint32_t home, uint64_t offset)
{
    return (struct physical_address){(uint64_t)home << PHYSICAL_HOME_SHIFT | offset};
}

static inline uint32_t physical_home(struct physical_address address)
{
    return (uint32_t)(address.packed >> PHYSICAL_HOME_SHIFT);
}

static inline uint64_t physical_offset(struct physical_address address)
{
    return address.packed & PHYSICAL_OFFSET_MASK;
}

static inline struct physical_address physical_unpack(uint64_t packed)
{
    return (struct physical_address){packed};
}

static inline bool physical_is_managed(uint64_t packed)
{
    return packed >> PHYSICAL_HOME_SHIFT == HOME_MANAGED;
}

#endif
