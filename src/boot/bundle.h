/* The folder with a guest's job: the programs to run, the libraries that they load, a script that runs them,
 * and then their exit status and statistics. The guest sees it as /job. */
#ifndef BOOT_BUNDLE_H
#define BOOT_BUNDLE_H

#include "base/err.h"
#include "base/text.h"

#include <stdint.h>

struct bundle_plan {
    const char *folder;           /* to be filled; it has `ledger`, a folder of a run, in it */
    const char *const *libraries; /* folders of ours, ends in NULL: the last part of their paths names them */
    const char *const *programs;  /* of the host, for the guest's PATH; ends in NULL, or NULL */
    char *const *command;         /* ends in NULL; or NULL: a shell */
    const char *description;      /* the file with the machine's system */
    bool shares;
    uint64_t first_line, end_line; /* launches that are kept one by one */
};

/* False: err says why not; *status is what a shell would give. */
bool bundle_make(const struct bundle_plan *plan, int *status, struct err *err);

/* What came of it; false: the guest ended without having written it. */
bool bundle_ended(const char *folder, int *status, int *signal);

#endif
