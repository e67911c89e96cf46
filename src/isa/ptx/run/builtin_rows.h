/* Tables of builtin functions, and what their rows call. */
#ifndef PTX_RUN_BUILTIN_ROWS_H
#define PTX_RUN_BUILTIN_ROWS_H

#include "ptx_run/builtin.h"

struct builtin {
    const char *name;
    builtin_fn *run;
    bool is_ordered;
    bool launches;                          /* it needs the driver */
    uint8_t params[BUILTIN_PARAMS], result; /* bytes of each; 0: there is none */
    bool submits;                           /* it asks for work */
};

extern const struct builtin builtin_launches[]; /* the last one has no name */

/* Of a kernel that may ask the driver. */
const struct device_calls *builtin_calls(struct warp *w, const struct op *op, lanes active);
extern const struct builtin builtin_questions[]; /* likewise */
extern const struct builtin builtin_updates[];

struct device_moment builtin_moment(const struct warp *w, uint32_t lane, uint64_t stream);

/* Of a thread's local memory, where arguments and results are. */
uint64_t builtin_read(const struct warp *w, uint32_t lane, uint64_t at, uint32_t bytes);
void builtin_write(const struct warp *w, uint32_t lane, uint64_t at, uint32_t bytes, uint64_t value);
/* To a generic address; false: the thread may not write there. */
bool builtin_store(const struct warp *w, uint32_t lane, uint64_t at, const void *from, size_t bytes);
/* Any bytes. */
bool builtin_get(const struct warp *w, uint32_t lane, uint64_t at, void *to, size_t bytes);
bool builtin_load(const struct warp *w, uint32_t lane, uint64_t at, void *to, size_t bytes);

#endif
