/* A program without nvcc that uses NCCL: libnccl.so.2 beside the CUDA runtime. Every rank's element i is
 * i % 5 + rank + 1, so sums are small whole numbers. Usage: nccl [quick]; it uses all GPUs. Built against our
 * own declarations, because NVIDIA's header may not be there. */
#include "check.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

/* What is needed of nccl.h and cuda_runtime_api.h. */
struct id {
    char bytes[128];
};
typedef struct comm *comm_t;
typedef struct stream *stream_t;
int ncclGetVersion(int *), ncclGetUniqueId(struct id *), ncclGroupStart(void), ncclGroupEnd(void),
    ncclCommInitAll(comm_t *, int, const int *), ncclCommInitRank(comm_t *, int, struct id, int),
    ncclCommCount(comm_t, int *), ncclCommCuDevice(comm_t, int *), ncclCommUserRank(comm_t, int *),
    ncclCommDestroy(comm_t), ncclCommGetAsyncError(comm_t, int *),
    ncclCommSplit(comm_t, int, int, comm_t *, void *), ncclCommShrink(void),
    ncclRedOpCreatePreMulSum(int *, void *, int, int, comm_t), ncclRedOpDestroy(int, comm_t),
    ncclAllReduce(const void *, void *, size_t, int, int, comm_t, stream_t),
    pncclAllReduce(const void *, void *, size_t, int, int, comm_t, stream_t),
    ncclReduce(const void *, void *, size_t, int, int, int, comm_t, stream_t),
    ncclBroadcast(const void *, void *, size_t, int, int, comm_t, stream_t),
    ncclAllGather(const void *, void *, size_t, int, comm_t, stream_t),
    ncclReduceScatter(const void *, void *, size_t, int, int, comm_t, stream_t),
    ncclSend(const void *, size_t, int, int, comm_t, stream_t),
    ncclRecv(void *, size_t, int, int, comm_t, stream_t), ncclMemAlloc(void **, size_t), ncclMemFree(void *);
const char *ncclGetErrorString(int), *ncclGetLastError(comm_t);
int cudaGetDeviceCount(int *), cudaSetDevice(int), cudaMalloc(void **, size_t), cudaFree(void *),
    cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t),
    cudaStreamCreate(stream_t *), cudaStreamSynchronize(stream_t);

enum { SUM, PROD, MAX, MIN, AVG };
enum { INT32 = 2, FLOAT = 7 };
enum { INVALID_ARGUMENT = 4, INVALID_USAGE = 5 };
enum { MOST = 8, COUNT = 3001 }; /* odd: parts are not aligned */

static int gpus;
static comm_t comms[MOST];
static stream_t streams[MOST];
static float *sends[MOST], *recvs[MOST];
static float host[COUNT * MOST];

static float value(int rank, int at)
{
    return (float)(at % 5 + rank + 1);
}

static void prepare(void)
{
    for (int rank = 0; rank < gpus; rank++) {
        CHECK(cudaSetDevice(rank) == 0);
        CHECK(cudaStreamCreate(&streams[rank]) == 0);
        CHECK(ncclMemAlloc((void **)&sends[rank], sizeof host) == 0);
        CHECK(cudaMalloc((void **)&recvs[rank], sizeof host) == 0);
        for (int i = 0; i < COUNT * MOST; i++)
            host[i] = value(rank, i);
        CHECK(cudaMemcpy(sends[rank], host, sizeof host, 1) == 0);
    }
}

static void clear(void)
{
    for (int rank = 0; rank < gpus; rank++)
        CHECK(cudaSetDevice(rank) == 0 && cudaMemset(recvs[rank], 0xff, sizeof host) == 0);
}

static const float *result(int rank)
{
    CHECK(cudaSetDevice(rank) == 0 && cudaStreamSynchronize(streams[rank]) == 0);
    CHECK(cudaMemcpy(host, recvs[rank], sizeof host, 2) == 0);
    return host;
}

/* What all ranks have at this place, by the operation. */
static float reduced(int op, int at)
{
    float sum = 0, product = 1;
    for (int rank = 0; rank < gpus; rank++) {
        sum += value(rank, at);
        product *= value(rank, at);
    }
    switch (op) {
    case PROD:
        return product;
    case MAX:
        return value(gpus - 1, at);
    case MIN:
        return value(0, at);
    default:
        return sum;
    }
}

/* EACH(call): for every rank, in a group. */
#define EACH(call)                                                                                           \
    do {                                                                                                     \
        clear();                                                                                             \
        CHECK(ncclGroupStart() == 0);                                                                        \
        for (int r = 0; r < gpus; r++)                                                                       \
            CHECK((call) == 0);                                                                              \
        CHECK(ncclGroupEnd() == 0);                                                                          \
    } while (0)

static void reductions(void)
{
    for (int op = SUM; op <= MIN; op++) {
        EACH(ncclAllReduce(sends[r], recvs[r], COUNT, FLOAT, op, comms[r], streams[r]));
        for (int rank = 0; rank < gpus; rank++) {
            const float *got = result(rank);
            for (int i = 0; i < COUNT; i++)
                CHECK(got[i] == reduced(op, i));
        }
    }
    EACH(ncclReduce(sends[r], recvs[r], COUNT, FLOAT, SUM, gpus - 1, comms[r], streams[r]));
    const float *got = result(gpus - 1);
    for (int i = 0; i < COUNT; i++)
        CHECK(got[i] == reduced(SUM, i));
    EACH(ncclReduceScatter(sends[r], recvs[r], COUNT, FLOAT, SUM, comms[r], streams[r]));
    for (int rank = 0; rank < gpus; rank++) {
        got = result(rank);
        for (int i = 0; i < COUNT; i++)
            CHECK(got[i] == reduced(SUM, rank * COUNT + i));
    }
}

/* The mean of integers is cut off; a scaled sum takes its factor from the host, or from the device. */
static void special_operations(void)
{
    int op;
    float factor = 0.5f, *on_device;
    EACH(ncclAllReduce(sends[r], recvs[r], 64, INT32, AVG, comms[r], streams[r]));
    int32_t bits;
    for (int rank = 0; rank < gpus; rank++) { /* patterns of floats are as good as others */
        const float *got = result(rank);
        for (int i = 0; i < 64; i++) {
            int32_t sum = 0, expected;
            for (int k = 0; k < gpus; k++) {
                float one = value(k, i);
                memcpy(&bits, &one, 4);
                sum = (int32_t)((uint32_t)sum + (uint32_t)bits);
            }
            expected = sum / gpus;
            CHECK(memcmp(&got[i], &expected, 4) == 0);
        }
    }
    for (int residence = 0; residence < 2; residence++) {
        clear();
        CHECK(ncclGroupStart() == 0);
        for (int rank = 0; rank < gpus; rank++) {
            CHECK(cudaSetDevice(rank) == 0 && cudaMalloc((void **)&on_device, sizeof factor) == 0);
            CHECK(cudaMemcpy(on_device, &factor, sizeof factor, 1) == 0);
            CHECK(ncclRedOpCreatePreMulSum(&op, residence ? &factor : on_device, FLOAT, residence,
                                           comms[rank]) == 0);
            CHECK(ncclAllReduce(sends[rank], recvs[rank], COUNT, FLOAT, op, comms[rank], streams[rank]) == 0);
            CHECK(ncclRedOpDestroy(op, comms[rank]) == 0);
        }
        CHECK(ncclGroupEnd() == 0);
        const float *got = result(0);
        for (int i = 0; i < COUNT; i++)
            CHECK(got[i] == reduced(SUM, i) / 2);
    }
    CHECK(ncclAllReduce(sends[0], recvs[0], 1, FLOAT, op, comms[0], streams[0]) == INVALID_ARGUMENT);
}

static void copies(void)
{
    EACH(ncclBroadcast(sends[r], recvs[r], COUNT, FLOAT, 1, comms[r], streams[r]));
    for (int rank = 0; rank < gpus; rank++) {
        const float *got = result(rank);
        for (int i = 0; i < COUNT; i++)
            CHECK(got[i] == value(1, i));
    }
    EACH(ncclAllGather(sends[r], recvs[r], COUNT, FLOAT, comms[r], streams[r]));
    for (int rank = 0; rank < gpus; rank++) {
        const float *got = result(rank);
        for (int i = 0; i < COUNT * gpus; i++)
            CHECK(got[i] == value(i / COUNT, i % COUNT));
    }
    clear(); /* every rank sends a part to every rank, itself too */
    CHECK(ncclGroupStart() == 0);
    for (int rank = 0; rank < gpus; rank++)
        for (int peer = 0; peer < gpus; peer++) {
            CHECK(ncclSend(sends[rank] + peer * COUNT, COUNT, FLOAT, peer, comms[rank], streams[rank]) == 0);
            CHECK(ncclRecv(recvs[rank] + peer * COUNT, COUNT, FLOAT, peer, comms[rank], streams[rank]) == 0);
        }
    CHECK(ncclGroupEnd() == 0);
    for (int rank = 0; rank < gpus; rank++) {
        const float *got = result(rank);
        for (int i = 0; i < COUNT * gpus; i++)
            CHECK(got[i] == value(i / COUNT, rank * COUNT + i % COUNT));
    }
}

/* Even and odd ranks apart, in turned order. */
static void splits(void)
{
    comm_t parts[MOST];
    clear();
    CHECK(ncclGroupStart() == 0);
    for (int rank = 0; rank < gpus; rank++)
        CHECK(ncclCommSplit(comms[rank], rank % 2, -rank, &parts[rank], NULL) == 0);
    CHECK(ncclGroupEnd() == 0);
    CHECK(ncclGroupStart() == 0);
    for (int rank = 0; rank < gpus; rank++) {
        int own, count, of_color = (gpus + 1 - rank % 2) / 2;
        CHECK(ncclCommUserRank(parts[rank], &own) == 0 && own == of_color - 1 - rank / 2);
        CHECK(ncclCommCount(parts[rank], &count) == 0 && count == of_color);
        CHECK(pncclAllReduce(sends[rank], recvs[rank], COUNT, FLOAT, SUM, parts[rank], streams[rank]) == 0);
    }
    CHECK(ncclGroupEnd() == 0);
    for (int rank = 0; rank < gpus; rank++) {
        const float *got = result(rank);
        for (int i = 0; i < COUNT; i++) {
            float sum = 0;
            for (int k = rank % 2; k < gpus; k += 2)
                sum += value(k, i);
            CHECK(got[i] == sum);
        }
    }
    for (int rank = 0; rank < gpus; rank++)
        CHECK(ncclCommDestroy(parts[rank]) == 0);
}

static struct id shared_id;

static void *one_rank(void *user)
{
    int rank = *(int *)user, got;
    comm_t comm;
    CHECK(cudaSetDevice(rank) == 0);
    CHECK(ncclCommInitRank(&comm, gpus, shared_id, rank) == 0);
    CHECK(ncclCommCuDevice(comm, &got) == 0 && got == rank);
    for (int i = 0; i < 3; i++) /* without a group, each thread its own */
        CHECK(ncclAllReduce(sends[rank], recvs[rank], COUNT, FLOAT, SUM, comm, streams[rank]) == 0);
    CHECK(cudaStreamSynchronize(streams[rank]) == 0);
    CHECK(ncclCommGetAsyncError(comm, &got) == 0 && got == 0);
    CHECK(ncclCommDestroy(comm) == 0);
    return NULL;
}

static void threads(void)
{
    pthread_t threads_of[MOST];
    int ranks[MOST];
    clear();
    CHECK(ncclGetUniqueId(&shared_id) == 0);
    for (int rank = 0; rank < gpus; rank++) {
        ranks[rank] = rank;
        CHECK(pthread_create(&threads_of[rank], NULL, one_rank, &ranks[rank]) == 0);
    }
    for (int rank = 0; rank < gpus; rank++)
        pthread_join(threads_of[rank], NULL);
    const float *got = result(gpus - 1);
    for (int i = 0; i < COUNT; i++)
        CHECK(got[i] == reduced(SUM, i));
}

static void mistakes(void)
{
    comm_t twice[2];
    int same[2] = {0, 0}, version;
    struct id foreign = {{0}};
    CHECK(ncclGetVersion(&version) == 0 && version >= 22000);
    CHECK(ncclCommInitAll(twice, 2, same) == INVALID_USAGE && strstr(ncclGetLastError(NULL), "twice"));
    CHECK(ncclCommInitAll(twice, 0, NULL) == INVALID_ARGUMENT);
    CHECK(ncclCommInitRank(twice, 2, foreign, 2) == INVALID_ARGUMENT);
    CHECK(ncclCommInitRank(twice, 2, foreign, 0) == INVALID_ARGUMENT);
    CHECK(ncclAllReduce(sends[0], recvs[0], 1, 99, SUM, comms[0], streams[0]) == INVALID_ARGUMENT);
    CHECK(ncclAllReduce(sends[0], recvs[0], 1, FLOAT, 99, comms[0], streams[0]) == INVALID_ARGUMENT);
    CHECK(ncclAllReduce(sends[0], recvs[0], 1, FLOAT, SUM, NULL, streams[0]) == INVALID_ARGUMENT);
    CHECK(ncclAllReduce(sends[0], recvs[0], 1, FLOAT, SUM, comms[0], streams[1]) == INVALID_USAGE);
    CHECK(ncclBroadcast(sends[0], recvs[0], 1, FLOAT, gpus, comms[0], streams[0]) == INVALID_ARGUMENT);
    CHECK(ncclGroupEnd() == INVALID_USAGE);
    CHECK(ncclCommShrink() == INVALID_USAGE && ncclCommShrink() == INVALID_USAGE); /* said once */
    CHECK(!strcmp(ncclGetErrorString(INVALID_USAGE), "invalid usage (run with NCCL_DEBUG=WARN for details)"));
}

int main(int count, char **words)
{
    CHECK(cudaGetDeviceCount(&gpus) == 0 && gpus >= 2 && gpus <= MOST);
    CHECK(ncclCommInitAll(comms, gpus, NULL) == 0);
    prepare();
    copies();
    if (count < 2 || strcmp(words[1], "quick") != 0) {
        reductions();
        special_operations();
        splits();
        threads();
        mistakes();
    }
    for (int rank = 0; rank < gpus; rank++)
        CHECK(ncclCommDestroy(comms[rank]) == 0 && ncclMemFree(sends[rank]) == 0);
    CHECK(ncclCommDestroy(comms[0]) == INVALID_ARGUMENT);
    return check_end("nccl");
}
