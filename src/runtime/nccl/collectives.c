/* Collectives, sends and receives: checked, and made into plans for kernels. */
#include "runtime/nccl/group.h"

#include <math.h>
#include <string.h>
#include <strings.h>

static const uint32_t type_bytes[NCCL_TYPES] = {
#define E(id, number, bytes) [number] = bytes,
    COLLECTIVE_ELEMENTS(E)
#undef E
};

/* Bits of exponent and fraction of the small floats; none of others. */
static const struct {
    int exponent, fraction;
} formats[NCCL_TYPES] = {
    [COLLECTIVE_F16] = {5, 10}, [COLLECTIVE_F32] = {8, 23},   [COLLECTIVE_F64] = {11, 52},
    [COLLECTIVE_BF16] = {8, 7}, [COLLECTIVE_F8E4M3] = {4, 3}, [COLLECTIVE_F8E5M2] = {5, 2},
};

/* Of 1/ranks, to the nearest. It is normal in all formats, as there are at most 64 ranks. */
static uint64_t bits_of_share(int type, uint32_t ranks)
{
    int exponent, bias = (1 << (formats[type].exponent - 1)) - 1;
    double fraction = frexp(1.0 / ranks, &exponent); /* in [0.5, 1) */
    double scaled = nearbyint(ldexp(fraction, formats[type].fraction + 1));
    return (uint64_t)scaled + ((uint64_t)(exponent - 2 + bias) << formats[type].fraction);
}

/* ---- reduction operations ---- */

static ncclResult_t take_op(const struct ncclComm *comm, ncclDataType_t type, ncclRedOp_t op,
                            struct collective_plan *plan)
{
    uint32_t ranks = comm->clique->ranks;
    if (op >= NCCL_SUM && op < NCCL_AVG) {
        plan->op = (uint32_t)op; /* numbered alike */
        return NCCL_SUCCESS;
    }
    if (op == NCCL_AVG) {
        bool is_float = formats[type].exponent;
        plan->op = is_float ? COLLECTIVE_SCALED_SUM : COLLECTIVE_MEAN;
        plan->scale = is_float ? bits_of_share(type, ranks) : 0;
        return NCCL_SUCCESS;
    }
    if (op < NCCL_OPS || op >= NCCL_OPS + NCCL_SCALES || !comm->scales[op - NCCL_OPS].used)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "there is no reduction operation %d", op);
    const struct nccl_scale *scale = &comm->scales[op - NCCL_OPS];
    if (scale->type != type)
        return nccl_fail(NCCL_INVALID_ARGUMENT, "operation %d was made for data type %d, not %d", op,
                         scale->type, type);
    plan->op = COLLECTIVE_SCALED_SUM;
    plan->scale = scale->value;
    plan->scale_at = scale->device;
    return NCCL_SUCCESS;
}

static ncclResult_t check_type(ncclDataType_t type)
{
    return type >= 0 && type < NCCL_TYPES
               ? NCCL_SUCCESS
               : nccl_fail(NCCL_INVALID_ARGUMENT, "there is no data type %d", type);
}

NCCL(ncclRedOpCreatePreMulSum, ncclRedOp_t *op, void *scalar, ncclDataType_t type, int residence,
     ncclComm_t comm)
{
    ncclResult_t result = nccl_check_comm(comm);
    if (!result)
        result = check_type(type);
    if (!result && (!op || !scalar || (residence != NCCL_SCALAR_DEVICE && residence != NCCL_SCALAR_HOST)))
        result = nccl_fail(NCCL_INVALID_ARGUMENT, "ncclRedOpCreatePreMulSum: there is no scalar");
    for (int i = 0; i < NCCL_SCALES && !result; i++) {
        struct nccl_scale *scale = &comm->scales[i];
        if (scale->used)
            continue;
        *scale = (struct nccl_scale){.used = true, .type = type};
        if (residence == NCCL_SCALAR_HOST)
            memcpy(&scale->value, scalar, type_bytes[type]);
        else
            scale->device = scalar;
        *op = NCCL_OPS + i;
        return NCCL_SUCCESS;
    }
    return result ? result
                  : nccl_fail(NCCL_INVALID_USAGE, "a communicator has at most %d operations of its own",
                              NCCL_SCALES);
}

NCCL(ncclRedOpDestroy, ncclRedOp_t op, ncclComm_t comm)
{
    ncclResult_t result = nccl_check_comm(comm);
    if (!result && (op < NCCL_OPS || op >= NCCL_OPS + NCCL_SCALES || !comm->scales[op - NCCL_OPS].used))
        result = nccl_fail(NCCL_INVALID_ARGUMENT, "there is no operation %d to destroy", op);
    if (!result)
        comm->scales[op - NCCL_OPS].used = false;
    return result;
}

/* ---- how an operation is done ---- */

/* Up to this size, GPUs read each other's buffers at once, which takes the fewest steps. Beyond, rings. */
enum { DIRECT_BYTES = 256 << 10 };

/* NCCL_ALGO, where it names one that we have; -1 else. */
static int wished_algorithm(void)
{
    static const char *const names[] = {"ring", "tree", "direct"};
    const char *wish = getenv("NCCL_ALGO");
    for (int i = 0; wish && i < 3; i++)
        if (!strcasecmp(wish, names[i]))
            return i;
    return -1;
}

static uint32_t choose_algorithm(const struct collective_plan *plan, uint64_t bytes, bool is_of_processes)
{
    int wished = wished_algorithm();
    bool scales = plan->op == COLLECTIVE_SCALED_SUM;
    if (plan->ranks == 1)
        return COLLECTIVE_RING;
    if (is_of_processes) /* which have only each other's mailboxes */
        return wished == COLLECTIVE_TREE || (wished < 0 && bytes <= DIRECT_BYTES && plan->ranks > 2)
                   ? COLLECTIVE_TREE
                   : COLLECTIVE_RING;
    if (wished >= 0 && !(scales && wished == COLLECTIVE_DIRECT))
        return (uint32_t)wished;
    return bytes <= DIRECT_BYTES && !scales ? COLLECTIVE_DIRECT : COLLECTIVE_RING;
}

static ncclResult_t take_stream(const struct ncclComm *comm, cudaStream_t handle, struct stream **stream)
{
    if (!cuda_stream_known(handle))
        return nccl_fail(NCCL_INVALID_ARGUMENT, "the stream is none");
    if (handle == STREAM_PER_THREAD)
        *stream = device_thread_stream(comm->device);
    else
        *stream = cuda_is_default(handle) ? device_default_stream(comm->device) : handle;
    if (stream_device(*stream) != comm->device)
        return nccl_fail(NCCL_INVALID_USAGE, "the stream is of GPU %u, the communicator of GPU %u",
                         device_index(stream_device(*stream)), device_index(comm->device));
    return NCCL_SUCCESS;
}

static ncclResult_t check_peer(const struct ncclComm *comm, int peer)
{
    return peer >= 0 && (uint32_t)peer < comm->clique->ranks
               ? NCCL_SUCCESS
               : nccl_fail(NCCL_INVALID_ARGUMENT, "there is no rank %d among %u", peer, comm->clique->ranks);
}

struct request {
    const char *kernel;
    bool reduces, splits; /* splits: the data has a part for each rank */
    const void *send;
    void *recv;
    size_t count;
    ncclDataType_t type;
    ncclRedOp_t op;
    int root;
};

static ncclResult_t collective(const struct request *request, ncclComm_t comm, cudaStream_t stream)
{
    struct nccl_call call = {.comm = comm, .kernel = request->kernel};
    struct collective_plan *plan = &call.plan;
    ncclResult_t result = nccl_check_comm(comm);
    if (!result)
        result = check_type(request->type);
    if (!result)
        result = check_peer(comm, request->root);
    if (!result)
        result = take_stream(comm, stream, &call.stream);
    if (!result && request->reduces)
        result = take_op(comm, request->type, request->op, plan);
    if (result || !request->count)
        return result;
    const struct clique *clique = comm->clique;
    memcpy(plan->region, clique->region, sizeof plan->region);
    plan->send = request->send;
    plan->recv = request->recv;
    plan->bytes = request->count * type_bytes[request->type];
    plan->element_bytes = type_bytes[request->type];
    plan->type = request->reduces ? (uint32_t)request->type : COLLECTIVE_U8;
    plan->slot_bytes = clique->slot_bytes;
    plan->rank = comm->rank;
    plan->ranks = clique->ranks;
    plan->root = (uint32_t)request->root;
    uint64_t all = plan->bytes * (request->splits ? plan->ranks : 1);
    plan->algorithm = choose_algorithm(plan, all, clique->meeting);
    plan->channels = collective_channels(all, clique->channels);
    return nccl_group_call(&call);
}

NCCL(ncclAllReduce, const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
     ncclComm_t comm, cudaStream_t stream)
{
    struct request request = {.kernel = "nccl_allreduce",
                              .reduces = true,
                              .send = send,
                              .recv = recv,
                              .count = count,
                              .type = type,
                              .op = op};
    return collective(&request, comm, stream);
}

NCCL(ncclReduce, const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t op, int root,
     ncclComm_t comm, cudaStream_t stream)
{
    struct request request = {.kernel = "nccl_reduce",
                              .reduces = true,
                              .send = send,
                              .recv = recv,
                              .count = count,
                              .type = type,
                              .op = op,
                              .root = root};
    return collective(&request, comm, stream);
}

NCCL(ncclReduceScatter, const void *send, void *recv, size_t count, ncclDataType_t type, ncclRedOp_t op,
     ncclComm_t comm, cudaStream_t stream)
{
    struct request request = {.kernel = "nccl_reducescatter",
                              .reduces = true,
                              .splits = true,
                              .send = send,
                              .recv = recv,
                              .count = count,
                              .type = type,
                              .op = op};
    return collective(&request, comm, stream);
}

NCCL(ncclAllGather, const void *send, void *recv, size_t count, ncclDataType_t type, ncclComm_t comm,
     cudaStream_t stream)
{
    struct request request = {
        .kernel = "nccl_allgather", .splits = true, .send = send, .recv = recv, .count = count, .type = type};
    return collective(&request, comm, stream);
}

NCCL(ncclBroadcast, const void *send, void *recv, size_t count, ncclDataType_t type, int root,
     ncclComm_t comm, cudaStream_t stream)
{
    struct request request = {
        .kernel = "nccl_broadcast", .send = send, .recv = recv, .count = count, .type = type, .root = root};
    return collective(&request, comm, stream);
}

NCCL(ncclBcast, void *buffer, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
     cudaStream_t stream)
{
    return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

/* ---- messages ---- */

static ncclResult_t message(void *at, bool is_send, size_t count, ncclDataType_t type, int peer,
                            ncclComm_t comm, cudaStream_t stream)
{
    struct nccl_call call = {.comm = comm};
    ncclResult_t result = nccl_check_comm(comm);
    if (!result)
        result = check_type(type);
    if (!result)
        result = check_peer(comm, peer);
    if (!result)
        result = take_stream(comm, stream, &call.stream);
    if (result)
        return result;
    call.message = (struct collective_message){
        .at = at, .bytes = count * type_bytes[type], .peer = (uint32_t)peer, .is_send = is_send};
    return nccl_group_call(&call);
}

NCCL(ncclSend, const void *send, size_t count, ncclDataType_t type, int peer, ncclComm_t comm,
     cudaStream_t stream)
{
    return message((void *)(uintptr_t)send, true, count, type, peer, comm, stream);
}

NCCL(ncclRecv, void *recv, size_t count, ncclDataType_t type, int peer, ncclComm_t comm, cudaStream_t stream)
{
    return message(recv, false, count, type, peer, comm, stream);
}

enum { ALL = -1, NOBODY = -2 }; /* instead of a rank */

/* Sends and receives of parts, in a group of their own. With ALL, the buffer has a part for each rank. */
static ncclResult_t exchange(const char *send, int to, char *recv, int from, size_t bytes, ncclComm_t comm,
                             cudaStream_t stream)
{
    ncclResult_t result = NCCL_SUCCESS;
    int ranks = (int)comm->clique->ranks;
    nccl_group_start();
    for (int i = 0; i < ranks && !result; i++) {
        if (to == ALL || to == i)
            result =
                ncclSend(send + (to == ALL ? (size_t)i * bytes : 0), bytes, COLLECTIVE_U8, i, comm, stream);
        if (!result && (from == ALL || from == i))
            result =
                ncclRecv(recv + (from == ALL ? (size_t)i * bytes : 0), bytes, COLLECTIVE_U8, i, comm, stream);
    }
    ncclResult_t end = nccl_group_end();
    return result ? result : end;
}

static ncclResult_t check_exchange(ncclComm_t comm, ncclDataType_t type, int root)
{
    ncclResult_t result = nccl_check_comm(comm);
    if (!result)
        result = check_type(type);
    return result ? result : check_peer(comm, root);
}

NCCL(ncclAlltoAll, const void *send, void *recv, size_t count, ncclDataType_t type, ncclComm_t comm,
     cudaStream_t stream)
{
    ncclResult_t result = check_exchange(comm, type, 0);
    return result ? result : exchange(send, ALL, recv, ALL, count * type_bytes[type], comm, stream);
}

NCCL(ncclGather, const void *send, void *recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
     cudaStream_t stream)
{
    ncclResult_t result = check_exchange(comm, type, root);
    if (result)
        return result;
    int from = comm->rank == (uint32_t)root ? ALL : NOBODY;
    return exchange(send, root, recv, from, count * type_bytes[type], comm, stream);
}

NCCL(ncclScatter, const void *send, void *recv, size_t count, ncclDataType_t type, int root, ncclComm_t comm,
     cudaStream_t stream)
{
    ncclResult_t result = check_exchange(comm, type, root);
    if (result)
        return result;
    int to = comm->rank == (uint32_t)root ? ALL : NOBODY;
    return exchange(send, to, recv, root, count * type_bytes[type], comm, stream);
}
