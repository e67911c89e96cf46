/* Tables of builtin functions, and what their rows call. */
#ifndef PTX_RUN_BUILTIN_ROWS_H
#define PTX_RUN_BUILTIN_ROWS_H

#include "ptx_run/builtin.h"

struct builtin {
    const char *name;
    builtin_fn *run;
    bool is_ordered;
    bool launches;                          /* it asks the driver for work */
    uint8_t params[BUILTIN_PARAMS], result; /* bytes of each; 0: there is none */
};

extern const struct builtin builtin_launches[]; /* the last one has no name */

/* Of a thread's local memory, where arguments and results are. */
uint64_t builtin_read(const struct warp *w, uint32_t lane, uint64_t at, uint32_t bytes);
void builtin_write(const struct warp *w, uint32_t lane, uint64_t at, uint32_t bytes, uint64_t value);
/* To a generic address; false: the thread may not write there. */
bool builtin_store(const struct warp *w, uint32_t lane, uint64_t at, const void *from, size_t bytes);

#endif
