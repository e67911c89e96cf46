/* Memory with owners, for a debug mode: what one owner has can be taken out of reach of the others, so that a
 * touch faults. Memory of a zone is not used again when it is freed, and there is a limit for each owner: it
 * is for tests. */
#ifndef BASE_ZONE_H
#define BASE_ZONE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct zone;

struct zone *zone_new(uint32_t owners);
void zone_free(struct zone *zone); /* and all memory in it */
uint32_t zone_owners(const struct zone *zone);

/* `touched` is called, in a handler of SIGSEGV, when memory of an owner was touched that is out of reach. */
void zone_on_touch(struct zone *zone, void (*touched)(void *user, uint32_t owner), void *user);

/* What this thread allocates from now on (base/mem.h) is the owner's; ZONE_NOBODY: usual memory. */
#define ZONE_NOBODY UINT32_MAX
void zone_own(struct zone *zone, uint32_t owner);

/* The same for a while: nobody's, then the owner's again. */
struct zone_pause {
    struct zone *zone;
    uint32_t owner;
};
struct zone_pause zone_pause(void);
void zone_go_on(struct zone_pause pause);

/* Puts memory of all owners out of reach, or back, or that of one back. */
void zone_close(struct zone *zone);
void zone_open(struct zone *zone);
void zone_open_one(struct zone *zone, uint32_t owner);

/* For mem.c: whether this thread's allocations have an owner, zeroed memory of that one's (NULL: none is
 * left), and whether some zone has this address. */
bool zone_is_owned(void);
void *zone_alloc(size_t bytes, size_t alignment);
bool zone_has(const void *memory);

#endif
