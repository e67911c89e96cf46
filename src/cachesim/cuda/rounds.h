/* The state of the backend, and the launches of a round; for this room only. */
#ifndef CACHESIM_CUDA_ROUNDS_H
#define CACHESIM_CUDA_ROUNDS_H

#include "cachesim/cuda/card.h"
#include "cachesim/cuda/stage.h"
#include "cachesim/cuda/work.h"

/*  name  whether it has dynamic shared memory */
#define KERNELS(X)                                                                                           \
    X(walk_l1, true)                                                                                         \
    X(walk_l1_lru16, true)                                                                                   \
    X(walk_l1_warps, true)                                                                                   \
    X(walk_l1_warps_lru16, true)                                                                             \
    X(walk_l1_group_warps, true)                                                                             \
    X(walk_l1_group_warps_lru16, true)                                                                       \
    X(walk_l1_group, true)                                                                                   \
    X(walk_l1_group_lru16, true)                                                                             \
    X(walk_l2, true)                                                                                         \
    X(walk_l2_lru16, true)                                                                                   \
    X(walk_l2_group, true)                                                                                   \
    X(walk_l2_group_lru16, true)                                                                             \
    X(walk_slices, true)                                                                                     \
    X(walk_slices_lru16, true)                                                                               \
    X(walk_tell, true)                                                                                       \
    X(merge, false)                                                                                          \
    X(slices_place, false)                                                                                   \
    X(slices_scatter, false)                                                                                 \
    X(slices_sort, false)

struct kernels {
#define X(name, dynamic) device_handle name;
    KERNELS(X)
#undef X
};

/* Memory that grows; what was in it is lost then. */
struct room {
    uint64_t address;
    size_t bytes;
};

struct host_room {
    char *memory;
    size_t bytes;
};

/* Accesses that are on the device. */
struct round {
    struct room items; /* starts, words, whens */
    uint32_t count;    /* of items */
};

/* Of groups of more tiles than this, tallies are in the device's memory. */
enum { TALLIED_MOST = 128, TALLY_BYTES = sizeof(struct coherent_counters) / 2 };

/* Two rounds are under way at a time: while the caches of one are simulated, the next is transferred. */
struct round_slot {
    struct host_room staged;
    struct round round;
    struct room asks;         /* words, tiles or whens, counts */
    struct room slice_counts; /* of what is asked; 0 before and after each round */
    device_handle transfer_from, transfer_to, l1_from, l1_to, l2_from, l2_to; /* events */
    bool is_used;
};

enum { SLOTS = 2 };

/* How a level is walked. */
struct round_level {
    device_handle walk;
    struct work_walk work; /* what is the same in all rounds */
    uint32_t threads, threads_y;
};

struct caches {
    struct caches_plan plan;
    struct caches_host host;
    struct card *device;
    struct kernels kernels;
    struct workers *workers;
    uint64_t l1, l2, l1_counts, l2_counts, l1_tallies, l2_tallies; /* on the device */
    struct coherent_counters *accessed;                            /* of each L1: reads and writes */
    struct round_level l1_level, l2_level, l1_tell, l2_tell;
    device_handle transfers, l1_stream, l2_stream;
    struct round_slot slots[SLOTS];
    uint64_t rounds;
    struct room merged[2];
    struct room l1_told, l2_told;
    struct room slice_lists, unsorted, sorted, slice_words;
    size_t *from, *to;
    struct round *kept; /* resident: rounds that wait for caches_cuda.count */
    size_t kept_count, kept_capacity;
    struct caches_result times; /* so far: only its seconds */
};

/* Chooses kernels, threads and places in shared memory. */
void levels_plan(struct caches *caches);

bool room_for(struct card *device, struct room *room, size_t bytes);

/* The kernels of a round whose accesses are on the device, or on their way (the slot's events). */
void round_launch(struct caches *caches, struct round_slot *slot, const struct round *round);

/* Where a round's arrays are. */
static inline uint64_t round_words_at(const struct caches *caches)
{
    return ((uint64_t)(caches->plan.spec.tiles + 1) * sizeof(uint32_t) + 15) / 16 * 16;
}

static inline bool wants_whens(const struct caches *caches)
{
    const struct caches_spec *spec = &caches->plan.spec;
    return spec->machine == CACHES_SHARED || (spec->snoop > 1 && !spec->quantum);
}

#endif
