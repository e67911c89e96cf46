/* Memory of a follower at the addresses where the leader keeps GPUs' memory: so addresses mean the same on
 * all ranks. Only what is on this rank is ever touched. For this room only. */
#ifndef RANKED_MIRROR_H
#define RANKED_MIRROR_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

struct mirror {
    struct mirrored {
        uint64_t at, bytes;
    } * list; /* by address; they do not touch each other */
    size_t count, capacity;
};

void mirror_fini(struct mirror *mirror);

/* There is memory at these addresses from now on. False: this process has something else there. */
bool mirror_open(struct mirror *mirror, uint64_t at, uint64_t bytes, struct err *err);

#endif
