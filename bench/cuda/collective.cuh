/* Collective operations as kernels: one of each rank, all running at once. A block is a channel. Blocks of
 * different GPUs hand data to each other through slots in the memory of the receiver, and synchronise by
 * counters with acquire and release at system scope. */
#ifndef BENCH_CUDA_COLLECTIVE_CUH
#define BENCH_CUDA_COLLECTIVE_CUH

#include "collective.h"
#include "collective_types.cuh"

/* ---- counters ---- */

static __device__ uint64_t look(const uint64_t *at)
{
    uint64_t value;
    asm volatile("ld.acquire.sys.global.u64 %0, [%1];"
                 : "=l"(value)
                 : "l"(__cvta_generic_to_global(at))
                 : "memory");
    return value;
}

static __device__ void announce(uint64_t *at, uint64_t value)
{
    asm volatile("st.release.sys.global.u64 [%0], %1;" ::"l"(__cvta_generic_to_global(at)), "l"(value)
                 : "memory");
}

static __device__ void wait_for(const uint64_t *at, uint64_t least)
{
    while (look(at) < least)
        ;
}

/* ---- what a block moves ---- */

/* All sources, combined element by element, go to all targets. */
struct job {
    const char *source[COLLECTIVE_RANKS + 1];
    char *target[COLLECTIVE_RANKS + 1];
    uint64_t bytes;
    uint64_t scale; /* of the first source, if it is `scaled` */
    uint32_t sources, targets, type, op, divisor;
    bool scaled;
};

struct stage { /* in shared memory */
    struct job job;
    uint64_t sent[COLLECTIVE_RANKS], received[COLLECTIVE_RANKS];
};

union pack {
    uint4 words;
    char bytes[16];
};

enum { MANY = 4 /* packs that a thread has in flight */ };

template <class T, int COUNT> static __device__ void combine(uint32_t op, T *to, const T *with)
{
    switch (op) {
    case COLLECTIVE_PRODUCT:
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            to[i] = product(to[i], with[i]);
        break;
    case COLLECTIVE_MAX:
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            to[i] = larger(to[i], with[i]);
        break;
    case COLLECTIVE_MIN:
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            to[i] = smaller(to[i], with[i]);
        break;
    default:
#pragma unroll
        for (int i = 0; i < COUNT; i++)
            to[i] = sum(to[i], with[i]);
    }
}

template <class T, int COUNT> static __device__ void prepare(const struct job *job, T *values)
{
    T scale;
    if (!job->scaled)
        return;
    memcpy(&scale, &job->scale, sizeof scale);
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        values[i] = product(values[i], scale);
}

template <class T, int COUNT> static __device__ void conclude(const struct job *job, T *values)
{
    if (!job->divisor)
        return;
#pragma unroll
    for (int i = 0; i < COUNT; i++)
        values[i] = quotient(values[i], job->divisor);
}

/* A thread's packs from here on, a block's width apart. */
template <int PACKS> static __device__ void load_packs(union pack *packs, const char *from, uint64_t at)
{
#pragma unroll
    for (int i = 0; i < PACKS; i++)
        packs[i].words = ((const uint4 *)from)[at + i * blockDim.x];
}

template <class T, int PACKS> static __device__ void move_packs(const struct job *job, uint64_t at)
{
    enum { ELEMENTS = PACKS * sizeof(union pack) / sizeof(T) };
    union pack result[PACKS], next[PACKS];
    load_packs<PACKS>(result, job->source[0], at);
    if (job->sources > 1)
        load_packs<PACKS>(next, job->source[1], at);
    prepare<T, ELEMENTS>(job, (T *)result);
    for (uint32_t i = 1; i < job->sources; i++) {
        union pack with[PACKS];
#pragma unroll
        for (int k = 0; k < PACKS; k++)
            with[k] = next[k];
        if (i + 1 < job->sources)
            load_packs<PACKS>(next, job->source[i + 1], at);
        combine<T, ELEMENTS>(job->op, (T *)result, (const T *)with);
    }
    conclude<T, ELEMENTS>(job, (T *)result);
    for (uint32_t i = 0; i < job->targets; i++)
#pragma unroll
        for (int k = 0; k < PACKS; k++)
            ((uint4 *)job->target[i])[at + k * blockDim.x] = result[k].words;
}

template <class T> static __device__ void move_elements(const struct job *job, uint64_t from)
{
    for (uint64_t at = from + threadIdx.x; at < job->bytes / sizeof(T); at += blockDim.x) {
        T result = ((const T *)job->source[0])[at];
        prepare<T, 1>(job, &result);
        for (uint32_t i = 1; i < job->sources; i++)
            combine<T, 1>(job->op, &result, &((const T *)job->source[i])[at]);
        conclude<T, 1>(job, &result);
        for (uint32_t i = 0; i < job->targets; i++)
            ((T *)job->target[i])[at] = result;
    }
}

/* Whole packs where all buffers are aligned for them, and the rest one by one. */
template <class T> __device__ __noinline__ void move_of(const struct job *job)
{
    uint64_t bits = 0, done = 0, round = (uint64_t)MANY * blockDim.x;
    for (uint32_t i = 0; i < job->sources; i++)
        bits |= (uint64_t)job->source[i];
    for (uint32_t i = 0; i < job->targets; i++)
        bits |= (uint64_t)job->target[i];
    if (comes_in_packs(T()) && bits % sizeof(union pack) == 0) {
        uint64_t packs = job->bytes / sizeof(union pack);
        for (; done + round <= packs; done += round)
            move_packs<T, MANY>(job, done + threadIdx.x);
        for (uint64_t at = done + threadIdx.x; at < packs; at += blockDim.x)
            move_packs<T, 1>(job, at);
        done = packs * sizeof(union pack) / sizeof(T);
    }
    move_elements<T>(job, done);
}

/* Of the types that the program has: those of its list COLLECTIVE_TYPES(T), a T(id, type) for each. */
static __device__ void move(const struct job *job)
{
    switch (job->type) {
#define T(id, type)                                                                                          \
    case COLLECTIVE_##id:                                                                                    \
        return move_of<type>(job);
        COLLECTIVE_TYPES(T)
#undef T
    }
}

/* ---- steps: wait, move, hand on ---- */

static __device__ struct collective_mailbox *mailbox(char *region, uint32_t ranks, uint32_t channel,
                                                     uint32_t peer)
{
    return (struct collective_mailbox *)region + channel * ranks + peer;
}

static __device__ char *slot(char *region, uint32_t ranks, uint32_t channel, uint32_t peer, uint64_t number,
                             uint32_t slot_bytes)
{
    uint64_t at = ((uint64_t)channel * ranks + peer) * COLLECTIVE_SLOTS + number % COLLECTIVE_SLOTS;
    return region + collective_slots_at(ranks) + at * slot_bytes;
}

/* A block's view of its rank. */
struct lane {
    char *const *region;
    struct stage *shared;
    uint32_t rank, ranks, channel, slot_bytes;
};

enum { NOBODY = -1 };

/* One step: from the own input and up to two peers to the own output and up to two peers. */
struct step {
    const char *input;
    char *output;
    int from[2], to[2];
    uint64_t bytes;
    bool last; /* the result is final */
};

struct arithmetic { /* of a plan */
    uint32_t type, op;
    uint64_t scale;
};

static __device__ struct collective_mailbox *own_box(const struct lane *lane, uint32_t peer)
{
    return mailbox(lane->region[lane->rank], lane->ranks, lane->channel, peer);
}

static __device__ struct collective_mailbox *peers_box(const struct lane *lane, uint32_t peer)
{
    return mailbox(lane->region[peer], lane->ranks, lane->channel, lane->rank);
}

static __device__ void lane_open(const struct lane *lane)
{
    for (uint32_t i = threadIdx.x; i < lane->ranks; i += blockDim.x) {
        lane->shared->sent[i] = own_box(lane, i)->sent;
        lane->shared->received[i] = own_box(lane, i)->received;
    }
    __syncthreads();
}

static __device__ void fill_job(const struct lane *lane, const struct step *step,
                                const struct arithmetic *arithmetic)
{
    struct job *job = &lane->shared->job;
    uint32_t sources = 0, targets = 0;
    if (step->input)
        job->source[sources++] = step->input;
    if (step->output)
        job->target[targets++] = step->output;
    for (int i = 0; i < 2; i++) {
        if (step->from[i] != NOBODY)
            job->source[sources++] = slot(lane->region[lane->rank], lane->ranks, lane->channel, step->from[i],
                                          lane->shared->received[step->from[i]], lane->slot_bytes);
        if (step->to[i] != NOBODY)
            job->target[targets++] = slot(lane->region[step->to[i]], lane->ranks, lane->channel, lane->rank,
                                          lane->shared->sent[step->to[i]], lane->slot_bytes);
    }
    job->sources = sources;
    job->targets = targets;
    job->bytes = step->bytes;
    job->type = arithmetic->type;
    job->op = arithmetic->op;
    job->scaled = arithmetic->op == COLLECTIVE_SCALED_SUM && step->input;
    job->scale = arithmetic->scale;
    job->divisor = arithmetic->op == COLLECTIVE_MEAN && step->last ? lane->ranks : 0;
}

/* By the peer, before a slot can be filled again. */
static __device__ uint64_t slots_to_return(uint64_t sent)
{
    return sent < COLLECTIVE_SLOTS ? 0 : sent + 1 - COLLECTIVE_SLOTS;
}

/* Threads of the first warps look after one peer each, so that the waits overlap. */
__device__ __noinline__ void run_step(const struct lane *lane, const struct step *step,
                                             const struct arithmetic *arithmetic)
{
    uint32_t which = threadIdx.x % 32, warp = threadIdx.x / 32;
    int from = which < 2 && warp == 0 ? step->from[which] : NOBODY;
    int to = which < 2 && warp == 1 ? step->to[which] : NOBODY;
    struct stage *shared = lane->shared;
    if (threadIdx.x == 64)
        fill_job(lane, step, arithmetic);
    if (from != NOBODY)
        wait_for(&own_box(lane, from)->posted, shared->received[from] + 1);
    if (to != NOBODY)
        wait_for(&own_box(lane, to)->returned, slots_to_return(shared->sent[to]));
    __syncthreads();
    move(&shared->job);
    __syncthreads();
    if (from != NOBODY) {
        announce(&peers_box(lane, from)->returned, ++shared->received[from]);
        own_box(lane, from)->received = shared->received[from]; /* for the next kernel */
    }
    if (to != NOBODY) {
        announce(&peers_box(lane, to)->posted, ++shared->sent[to]);
        own_box(lane, to)->sent = shared->sent[to];
    }
    __syncthreads(); /* the counts are read for the next job */
}

/* ---- parts of the data ---- */

static __device__ uint64_t least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

/* The share of one of `parts`; it ends at a line. */
static __device__ uint64_t share(uint64_t bytes, uint32_t parts)
{
    return ((bytes + parts - 1) / parts + COLLECTIVE_LINE - 1) / COLLECTIVE_LINE * COLLECTIVE_LINE;
}

struct range {
    uint64_t from, end;
};

static __device__ struct range channel_part(uint64_t bytes, uint32_t channels, uint32_t channel)
{
    uint64_t part = share(bytes, channels);
    struct range range = {least(channel * part, bytes), least((channel + 1) * part, bytes)};
    return range;
}

/* ---- the algorithms ---- */

struct work { /* a plan, as one block sees it */
    const struct collective_plan *plan;
    struct lane lane;
    struct arithmetic arithmetic;
    struct range part; /* of plan->bytes */
    uint64_t slot;     /* bytes */
    bool goes_down;    /* in a tree */

    __device__ const char *input(uint64_t at) const
    {
        return plan->send + at;
    }
    __device__ char *output(uint64_t at) const
    {
        return plan->recv + at;
    }
    __device__ uint32_t rank_at(uint32_t distance) const /* so far behind this one in the ring */
    {
        return (lane.rank + distance) % lane.ranks;
    }
    __device__ void run(const struct step *step) const
    {
        run_step(&lane, step, &arithmetic);
    }
};

#include "collective_ring.cuh"
#include "collective_tree.cuh"
#include "collective_direct.cuh"

static __device__ void work_init(struct work *work, const struct collective_plan *plan,
                                 struct stage *shared)
{
    work->plan = plan;
    work->goes_down = blockIdx.x >= plan->channels;
    work->lane.region = plan->region;
    work->lane.shared = shared;
    work->lane.rank = plan->rank;
    work->lane.ranks = plan->ranks;
    work->lane.channel = blockIdx.x % plan->channels;
    work->lane.slot_bytes = plan->slot_bytes;
    work->arithmetic.type = plan->type;
    work->arithmetic.op = plan->op;
    work->arithmetic.scale = plan->scale;
    for (uint32_t i = 0; plan->scale_at && i < plan->element_bytes; i++)
        ((char *)&work->arithmetic.scale)[i] = plan->scale_at[i];
    work->slot = plan->slot_bytes;
    work->part = channel_part(plan->bytes, plan->channels, work->lane.channel);
}

/* COLLECTIVE_KERNEL(kernel, allreduce): does one operation by the algorithm that the plan names. */
#define COLLECTIVE_KERNEL(kernel, operation)                                                                 \
    extern "C" __global__ void __launch_bounds__(512)                                                        \
        kernel(const __grid_constant__ struct collective_plan plan)                                          \
    {                                                                                                        \
        __shared__ struct stage shared;                                                                    \
        struct work work;                                                                                    \
        work_init(&work, &plan, &shared);                                                                    \
        lane_open(&work.lane);                                                                               \
        if (plan.algorithm == COLLECTIVE_RING)                                                               \
            ring_##operation(&work);                                                                         \
        else if (plan.algorithm == COLLECTIVE_TREE)                                                          \
            tree_##operation(&work);                                                                         \
        else                                                                                                 \
            direct_##operation(&work);                                                                       \
    }

#endif
