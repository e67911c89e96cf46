/* Collective instructions of a warp. */
#ifndef PTX_RUN_SYNC_H
#define PTX_RUN_SYNC_H

#include "ptx_run/lower.h"
#include "ptx_run/warp.h"

enum members {
    MEMBERS_ACTIVE, /* who comes together: code of before Volta */
    MEMBERS_GIVEN,  /* a mask names them */
    MEMBERS_ALL,    /* the whole warp */
};

struct sync_form { /* the first member of what such an operation has in `more` */
    exec_fn *run;  /* for all members at once; NULL: it only waits */
    enum members who;
    uint32_t members; /* place of the mask */
};

/* Makes the operation one that waits for its members; `bytes` of a struct that begins with sync_form. */
struct sync_form *lower_sync(struct lower *lower, struct op *op, exec_fn *run, size_t bytes);
bool lower_members(struct lower *lower, struct sync_form *form, uint32_t operand);

/* Runs one of the operations that all members of have come to. False: there is none. With `force`, one runs
 * though some are missing. */
bool warp_check_sync(struct warp *warp, bool force);

#endif
