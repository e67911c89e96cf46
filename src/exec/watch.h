/* An observer of kernels' accesses to global memory, as the caches of the SMs see them: including textures,
 * surfaces, matrices and asynchronous copies, but not constants, shared or local memory. */
#ifndef EXEC_WATCH_H
#define EXEC_WATCH_H

#include <stdbool.h>
#include <stdint.h>

enum { WATCH_SECTOR = 32, WATCH_LINE = 128 }; /* bytes */

struct watch {
    uint64_t *instructions; /* by SM: of its warps, so far, in all launches */
    /* A warp touches neighbouring sectors, all of one line. An atomic operation reads, then writes. Called by
     * one thread at a time for each SM: with simulated time, several SMs run at once. */
    void (*accessed)(struct watch *watch, uint32_t sm, uint64_t at, uint32_t bytes, bool writes);
};

/* The same of one request, as calls: for each line that it touches, in the order of its lanes. */
struct request;
void watch_sectors(const struct request *request,
                   void (*accessed)(void *user, uint64_t at, uint32_t bytes, bool writes), void *user);

/* Tells what the team's request wants, if its launch has someone to be told. */
struct team;
void watch_request(struct team *team);

/* Instructions that no access told of count, too: when blocks end. */
void watch_leave(struct team *team);

#endif
