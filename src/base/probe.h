/* What happens in a simulated machine, told to a tool that listens: tasks begin, pass stops on their way, and
 * end. The tool may alter data that passes. When nobody listens, this costs a test of one word.
 *
 * While somebody listens, one thread runs the machine, moment by moment (engine_run.by_moment): events come
 * in the order in which they happen in simulated time; at one time, place by place. Over ranks, too
 * (system/heard.h). */
#ifndef BASE_PROBE_H
#define BASE_PROBE_H

#include "base/bits.h"

#include <stdbool.h>

/*    id, what the task is; its id; its stops */
#define PROBE_KINDS(K)                                                                                       \
    K(KERNEL, "a launch on a GPU; its number there; none")                                                   \
    K(BLOCK, "a block on an SM; its number in the grid; none")                                               \
    K(REQUEST, "a memory request of an SM, or of a copy; probe_request_id; l1, l2, dram, fabric, host")      \
    K(COPY, "a copy or fill; its number in the machine; none")                                               \
    K(TRANSLATION, "an SM waits for a page's translation; the page; tlb, of the GPU")                        \
    K(FAULT, "a kernel fails, as `what` tells; its number; none")                                            \
    K(PAGE, "a page moves to a GPU or the host; its address; none")                                          \
    K(LINK, "a message passes a link of the fabric; the link's number; none")

enum probe_kind {
#define K(id, help) PROBE_##id,
    PROBE_KINDS(K)
#undef K
        PROBE_KIND_COUNT
};

enum probe_phase { PROBE_BEGINS, PROBE_PASSES, PROBE_ENDS };

struct probe_event {
    uint32_t kind;  /* enum probe_kind */
    uint32_t phase; /* enum probe_phase */
    uint64_t time_ps;
    uint64_t id;      /* the same from begin to end, free for others afterwards: include/heddle.h */
    uint32_t gpu;     /* where it is now; UINT32_MAX: the host's memory */
    uint32_t place;   /* SM, or slice where it passes the L2 or DRAM; on the fabric, the other GPU; of a page,
                       * where it is from; of a link, 1: from its second end to the first */
    const char *stop; /* "sm", "l1", "l2", "dram", "fabric", "host", "dma", "tlb", "gpu", "link" */
    const char *what; /* a message's kind, "hit", "miss", ...; a kernel's name; a fault's text */
    uint64_t address; /* of a request's line, and of a page: physical (base/address.h) */
    uint64_t bytes;   /* of a copy, a page; of a message on a link, on the wire */
    unsigned char *data; /* that passes here, and may be altered; or NULL */
    uint32_t data_bytes;
    uint64_t busy_ps; /* how long the message keeps the link busy */
};

/* The id of a request: who asks (a client of a GPU's crossbar, as SMs are) and its number there. */
static inline uint64_t probe_request_id(uint32_t gpu, uint32_t client, uint32_t number)
{
    return (uint64_t)gpu << 48 | (uint64_t)client << 32 | number;
}
#define PROBE_NO_ID UINT64_MAX

struct probe {
    uint32_t kinds; /* a bit for each that is listened to */
    void (*call)(void *user, struct probe_event *event);
    void *user;
};

extern const struct probe probe_of_nobody;

static inline bool probe_wants(const struct probe *probe, enum probe_kind kind)
{
    return UNLIKELY(probe->kinds >> kind & 1);
}

static inline void probe_tell(const struct probe *probe, struct probe_event event)
{
    probe->call(probe->user, &event);
}

#endif
