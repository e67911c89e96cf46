/* Functions that a GPU's system software provides to kernels: printf, assert, malloc, free, and the values
 * of conditional handles, launches by kernels (builtin_launch.c). */
#ifndef PTX_RUN_BUILTIN_H
#define PTX_RUN_BUILTIN_H

#include "ptx_run/warp.h"

/* Arguments and the result are in local memory, at these offsets. */
enum { BUILTIN_PARAMS = 8 };
typedef void builtin_fn(struct warp *warp, const struct op *op, lanes active,
                        const uint64_t params[BUILTIN_PARAMS], uint64_t result);

/* An argument or result of a call: where in the caller's local memory, and how long. */
struct call_value {
    uint64_t at, bytes;
};

builtin_fn *builtin_find(const char *name); /* or NULL */
bool builtin_fits(const char *name, const struct call_value *params, uint32_t param_count,
                  const struct call_value *results, uint32_t result_count);
bool builtin_launches_any(const char *name); /* it asks the driver for work, or what only that knows */
bool builtin_submits(const char *name);      /* it asks for work */
bool builtin_is_ordered(const char *name);   /* what it leaves behind depends on the order of blocks */

#endif
