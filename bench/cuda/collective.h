/* Collective operations over the memory of peers: what the host, the kernels and the stand-in for NCCL share.
 *
 * Every rank has a region in the memory of its GPU, with one mailbox for each channel and peer: counters, and
 * slots that the peer writes to. A channel is one block of each rank's kernel (two in a tree); it moves its
 * own part of the data. */
#ifndef BENCH_CUDA_COLLECTIVE_H
#define BENCH_CUDA_COLLECTIVE_H

#include <stddef.h>
#include <stdint.h>

enum {
    COLLECTIVE_RANKS = 64,
    COLLECTIVE_CHANNELS = 64,
    COLLECTIVE_SLOTS = 4,             /* of a mailbox */
    COLLECTIVE_CHANNEL_BYTES = 32768, /* of data that make one more channel worth while */
    COLLECTIVE_LINE = 128             /* bytes; counters that different GPUs write are this far apart */
};

enum collective_algorithm { COLLECTIVE_RING, COLLECTIVE_TREE, COLLECTIVE_DIRECT };

/* Of the numbers that NCCL has for them; the last two are its own. */
enum collective_op {
    COLLECTIVE_SUM,
    COLLECTIVE_PRODUCT,
    COLLECTIVE_MAX,
    COLLECTIVE_MIN,
    COLLECTIVE_SCALED_SUM, /* each rank's input times its `scale` */
    COLLECTIVE_MEAN        /* of integers: the sum, divided at the end */
};

struct collective_mailbox {
    uint64_t posted; /* by the peer: slots that it has filled here */
    uint64_t pad0[15];
    uint64_t returned; /* by the peer: slots there that it has emptied again */
    uint64_t pad1[15];
    uint64_t arrived; /* by the peer: barriers that it has come to, and its buffers */
    uint64_t peer_send, peer_recv;
    uint64_t pad2[13];
    uint64_t sent, received, barriers; /* own counts */
    uint64_t pad3[13];
};

/*   id, its number in NCCL, bytes */
#define COLLECTIVE_ELEMENTS(E)                                                                               \
    E(I8, 0, 1)                                                                                              \
    E(U8, 1, 1)                                                                                              \
    E(I32, 2, 4)                                                                                             \
    E(U32, 3, 4)                                                                                             \
    E(I64, 4, 8)                                                                                             \
    E(U64, 5, 8)                                                                                             \
    E(F16, 6, 2)                                                                                             \
    E(F32, 7, 4)                                                                                             \
    E(F64, 8, 8)                                                                                             \
    E(BF16, 9, 2)                                                                                            \
    E(F8E4M3, 10, 1)                                                                                         \
    E(F8E5M2, 11, 1)
enum collective_type {
#define E(id, number, bytes) COLLECTIVE_##id = number,
    COLLECTIVE_ELEMENTS(E)
#undef E
};

/* What a kernel is told. `bytes` are the part of one rank in a reduce-scatter and an all-gather. */
struct collective_plan {
    char *region[COLLECTIVE_RANKS];
    const char *send;
    char *recv;
    uint64_t bytes;
    uint64_t scale;       /* of COLLECTIVE_SCALED_SUM: an element's bits, or: */
    const char *scale_at; /* where it is in memory; NULL: above */
    uint32_t slot_bytes;
    uint32_t rank, ranks, root, channels;
    uint32_t algorithm, type, op, element_bytes;
};

/* Sends and receives of one rank that run at once. Those with the same peer are in the same order there. */
enum {
    COLLECTIVE_MESSAGES = 112,
    COLLECTIVE_MESSAGE_SHARE = 65536 /* bytes that a channel has at least, where a message has several */
};
struct collective_message {
    char *at;
    uint64_t bytes;
    uint32_t peer, is_send;
};
struct collective_exchange {
    char *region[COLLECTIVE_RANKS];
    uint32_t slot_bytes;
    uint32_t rank, ranks, channels;
    uint32_t messages;
    struct collective_message message[COLLECTIVE_MESSAGES];
};

#ifdef __CUDACC__
#define COLLECTIVE_BOTH static inline __host__ __device__
#else
#define COLLECTIVE_BOTH static inline
#endif

/* Where the slots begin in a region, and its size. Mailboxes are ordered by channel, then by peer. */
COLLECTIVE_BOTH uint64_t collective_slots_at(uint32_t ranks)
{
    uint64_t bytes = (uint64_t)COLLECTIVE_CHANNELS * ranks * sizeof(struct collective_mailbox);
    return (bytes + 4095) / 4096 * 4096;
}

static inline uint64_t collective_region_bytes(uint32_t ranks, uint32_t slot_bytes)
{
    return collective_slots_at(ranks) + (uint64_t)COLLECTIVE_CHANNELS * ranks * COLLECTIVE_SLOTS * slot_bytes;
}

/* Channels for so many bytes in all. */
static inline uint32_t collective_channels(uint64_t bytes, uint32_t most)
{
    uint64_t useful = bytes / COLLECTIVE_CHANNEL_BYTES + 1;
    return useful < most ? (uint32_t)useful : most;
}

/* Blocks of a kernel: a tree has one that goes up and one that goes down. */
static inline uint32_t collective_blocks(const struct collective_plan *plan)
{
    return plan->algorithm == COLLECTIVE_TREE ? 2 * plan->channels : plan->channels;
}

#endif
