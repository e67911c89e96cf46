/* The kernels of the stand-in: the collectives of bench/cuda for all types of NCCL, and sends with receives. */
#include "types.cuh"

#define COLLECTIVE_TYPES(T)                                                                                  \
    T(I8, signed char)                                                                                       \
    T(U8, unsigned char)                                                                                     \
    T(I32, int)                                                                                              \
    T(U32, unsigned)                                                                                         \
    T(I64, long long)                                                                                        \
    T(U64, unsigned long long)                                                                               \
    T(F16, __half)                                                                                           \
    T(F32, float)                                                                                            \
    T(F64, double)                                                                                           \
    T(BF16, struct bfloat)                                                                                   \
    T(F8E4M3, struct float8<__NV_E4M3>)                                                                      \
    T(F8E5M2, struct float8<__NV_E5M2>)
#include "collective.cuh"

COLLECTIVE_KERNEL(nccl_allreduce, allreduce)
COLLECTIVE_KERNEL(nccl_reduce, reduce)
COLLECTIVE_KERNEL(nccl_reducescatter, reducescatter)
COLLECTIVE_KERNEL(nccl_allgather, allgather)
COLLECTIVE_KERNEL(nccl_broadcast, broadcast)

/* The part of a message that is this channel's, one slot at a time. A short message has fewer channels. */
static __device__ void exchange(const struct lane *lane, const struct collective_message *message,
                                uint32_t channels)
{
    uint64_t useful = message->bytes / COLLECTIVE_MESSAGE_SHARE + 1;
    uint32_t used = (uint32_t)least(useful, channels);
    struct arithmetic plain = {COLLECTIVE_U8, COLLECTIVE_SUM, 0};
    struct range part = channel_part(message->bytes, used, lane->channel);
    int peer = (int)message->peer;
    for (uint64_t at = part.from; lane->channel < used && at < part.end; at += lane->slot_bytes) {
        struct step step = {message->is_send ? message->at + at : 0,
                            message->is_send ? 0 : message->at + at,
                            {message->is_send ? NOBODY : peer, NOBODY},
                            {message->is_send ? peer : NOBODY, NOBODY},
                            least(lane->slot_bytes, part.end - at),
                            false};
        run_step(lane, &step, &plain);
    }
}

/* A block is for one channel (x), one peer (y), and sends or receives (z). */
extern "C" __global__ void __launch_bounds__(512)
    nccl_exchange(const __grid_constant__ struct collective_exchange plan)
{
    __shared__ struct stage shared;
    struct lane lane = {plan.region, &shared, plan.rank, plan.ranks, blockIdx.x, plan.slot_bytes};
    lane_open(&lane);
    for (uint32_t i = 0; i < plan.messages; i++)
        if (plan.message[i].peer == blockIdx.y && plan.message[i].is_send == blockIdx.z)
            exchange(&lane, &plan.message[i], plan.channels);
}
