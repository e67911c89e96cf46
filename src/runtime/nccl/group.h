/* Groups: between ncclGroupStart and ncclGroupEnd, a thread's calls are kept, and done at the end. */
#ifndef RUNTIME_NCCL_GROUP_H
#define RUNTIME_NCCL_GROUP_H

#include "runtime/nccl/comm.h"

/* One call for a collective, a send or a receive. */
struct nccl_call {
    struct ncclComm *comm;
    struct stream *stream;
    const char *kernel; /* NULL: a message */
    struct collective_plan plan;
    struct collective_message message;
};

void nccl_group_start(void);
ncclResult_t nccl_group_end(void);

/* These do it at once where no group is open. */
ncclResult_t nccl_group_call(const struct nccl_call *call);
ncclResult_t nccl_group_join(const struct nccl_join *join);

/* From the kernels of all calls to the streams, in this order; messages of a communicator run together, after
 * the rest. */
ncclResult_t nccl_launch(const struct nccl_call *calls, size_t count);

#endif
