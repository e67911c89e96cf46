/* For tests: what the model leaves out, to see that it is missed. Set before a machine is made. */
#ifndef MEM_LEFT_OUT_H
#define MEM_LEFT_OUT_H

#include "base/bits.h"

#include <stdbool.h>

/* id, name, what is left out */
#define LEFT_OUTS(X)                                                                                         \
    X(NOTHING, "nothing")                                                                                    \
    X(COPIES, "copies")       /* a slice does not tell its counterpart that a copy is stale */               \
    X(UNDER_WAY, "under-way") /* slices do not wait for requests under way before a page leaves */           \
    X(RIGHTS, "rights")       /* slices go on using a page that leaves */                                    \
    X(SHARERS, "sharers")     /* the IOMMU does not recall a page from others than who sends it */           \
    X(RECALL, "recall")       /* messages that are not sent: */                                              \
    X(SHOOTDOWN, "shootdown")                                                                                \
    X(DROPPED, "dropped")                                                                                    \
    X(GRANT, "grant")                                                                                        \
    X(GRANTED, "granted")                                                                                    \
    X(KEPT_WRITE, "kept-write")   /* writes do not drop what is kept of peers' lines; */                     \
    X(KEPT_FORGET, "kept-forget") /* nor do fences */                                                        \
    X(MAPPERS, "mappers") /* of managed memory: the IOMMU does not recall a page from who reaches it */      \
    X(READERS, "readers") /* a page is written, and who has a copy for reading keeps it */                   \
    X(EVICTED, "evicted") /* a block leaves, and its GPU goes on using it */                                 \
    X(TAKEN_BACK, "taken-back") /* the host's CPU took a page, and GPUs go on using it */                    \
    X(SETTLED, "settled")       /* what kernels wrote does not become visible to the host */

enum left_out {
#define X(id, ...) LEFT_OUT_##id,
    LEFT_OUTS(X)
#undef X
};

extern enum left_out left_out_now;

static inline bool left_out(enum left_out what)
{
    return UNLIKELY(left_out_now == what);
}

#endif
