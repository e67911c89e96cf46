/* Where ranks of several processes meet: a file in the folder of the run, which they all map. */
#ifndef RUNTIME_NCCL_MEETING_H
#define RUNTIME_NCCL_MEETING_H

#include "driver/ipc.h"
#include "runtime/nccl/comm.h"

struct meeting_rank {
    _Atomic uint32_t is_there; /* all below is as it stays */
    int32_t process;
    uint32_t gpu; /* of the system */
    uint32_t channels;
    int32_t color, key;       /* of a split */
    struct ipc_handle region; /* else */
};

struct meeting {
    _Atomic uint32_t left; /* ranks whose communicator was destroyed */
    struct meeting_rank ranks[COLLECTIVE_RANKS];
};

/* By the name of what they are to be ranks of. NULL: there is no such folder. */
struct meeting *meeting_open(const char *name);
void meeting_close(struct meeting *meeting);

void meeting_post(struct meeting *meeting, uint32_t rank, const struct meeting_rank *own);
bool meeting_is_complete(const struct meeting *meeting, uint32_t ranks);

#endif
