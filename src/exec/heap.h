/* The heap of malloc in kernels. Each piece is a range of the image, so that accesses beyond it are found. */
#ifndef EXEC_HEAP_H
#define EXEC_HEAP_H

#include "exec/exec.h"

uint64_t heap_take(struct heap *heap, uint64_t bytes); /* 0: there is no room */
bool heap_give(struct heap *heap, uint64_t at);        /* false: nothing was taken there */

#endif
