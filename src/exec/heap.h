/* The heap of malloc in kernels. Each allocation is a range of the image, so that out-of-bounds accesses are
 * detected. */
#ifndef EXEC_HEAP_H
#define EXEC_HEAP_H

#include "exec/exec.h"

#define HEAP_UNTIMED UINT32_MAX /* in place of an SM: the kernel runs without time, from the first part */

uint64_t heap_take(struct heap *heap, uint32_t sm, uint64_t bytes); /* 0: the SM's part has no room */
/* False: nothing was taken there. What another SM took can be taken again when no kernel runs. */
bool heap_give(struct heap *heap, uint32_t sm, uint64_t at);

#endif
