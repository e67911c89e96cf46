/* Communicators. A clique is what its ranks share, in each process that has some of them; it lives until the
 * last of them was destroyed. */
#ifndef RUNTIME_NCCL_COMM_H
#define RUNTIME_NCCL_COMM_H

#include "runtime/nccl/abi.h"
#include "collective.h"

#include <pthread.h>

struct clique {
    struct clique *next; /* of those that ranks can still join */
    ncclUniqueId id;
    uint32_t ranks, joined, alive;
    bool complete;
    ncclResult_t result; /* of making it, when complete */
    struct ncclComm *comms[COLLECTIVE_RANKS];
    char *region[COLLECTIVE_RANKS];
    uint32_t slot_bytes, channels;
    struct meeting *meeting;  /* of ranks of several processes; or NULL: all are of this one */
    struct nccl_split *split; /* that not all ranks have asked for yet; or NULL */
    uint64_t splits;
};

/* An operation that the program made (ncclRedOpCreatePreMulSum). */
struct nccl_scale {
    bool used;
    ncclDataType_t type;
    uint64_t value;     /* bits, or: */
    const void *device; /* where the value is when the operation runs; NULL: it is known */
};
enum { NCCL_SCALES = 64 };

struct ncclComm {
    struct clique *clique;
    struct device *device;
    uint32_t rank;
    bool destroyed;
    struct stream *last_stream; /* of its last operation, and when that is done */
    struct stream_event *done;
    struct nccl_scale scales[NCCL_SCALES];
};

/* Success, or invalid argument: comm is none. Communicators are never freed, so a stale one is noticed. */
ncclResult_t nccl_check_comm(const struct ncclComm *comm);

/* One rank's wish to be in a clique, kept until the end of a group. */
struct nccl_join {
    ncclComm_t *comm;
    struct ncclComm *parent; /* of ncclCommSplit, with color and key; NULL: the rest is given */
    int color, key;
    ncclUniqueId id;
    uint32_t ranks, rank;
    struct device *device;
    uint32_t channels;        /* at most */
    struct nccl_split *split; /* for comm.c */
    struct clique *clique;    /* likewise */
};

/* All of them come before any is waited for: they may be ranks of one clique. */
ncclResult_t nccl_join_all(struct nccl_join *joins, size_t count);

#endif
