/* The heap of malloc in kernels. It knows its pieces byte by byte, so that out-of-bounds accesses are
 * detected: all of them without time, and in time those that an SM makes in its own part. SMs share nothing
 * while kernels run in time, so an SM may access all of another SM's part. */
#ifndef EXEC_HEAP_H
#define EXEC_HEAP_H

#include "exec/exec.h"
#include "exec/image.h"

#define HEAP_UNTIMED UINT32_MAX /* in place of an SM: the kernel runs without time, from the first part */

uint64_t heap_take(struct heap *heap, uint32_t sm, uint64_t bytes); /* 0: the SM's part has no room */
/* False: nothing was taken there. What another SM took can be taken again when no kernel runs; only then is
 * it known whether it was taken at all. */
bool heap_give(struct heap *heap, uint32_t sm, uint64_t at);

/* Who is told of each piece that is taken from now on, by the thread that takes it; NULL: nobody any more. */
struct heap_observer {
    void (*took)(void *user, uint64_t at, uint64_t bytes);
    void *user;
};
void heap_observe(struct heap *heap, const struct heap_observer *observer);

/* What was taken and not given back. No kernel runs. */
void heap_taken(const struct heap *heap, uint64_t *pieces, uint64_t *bytes);

/* Whether an address is in the heap; if it is, the range around it that the SM may touch (false: none), and
 * where it is, for a report of such a one. */
bool heap_holds(const struct heap *heap, uint64_t at);
bool heap_find(const struct heap *heap, uint32_t sm, uint64_t at, struct range *range);
void heap_describe(const struct heap *heap, uint64_t at, struct text *text);

#endif
