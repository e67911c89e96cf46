/* NCCL over the processes of an MPI job, a GPU for each; needs MPI's compiler, but no nvcc. Every rank's
 * element i is i % 5 + rank + 1, so sums are small whole numbers. Usage: mpirun -n N nccl_mpi [count]. */
#include "check.h"

#include <mpi.h>
#include <string.h>

/* What is needed of nccl.h and cuda_runtime_api.h. */
struct id {
    char bytes[128];
};
typedef struct comm *comm_t;
typedef struct stream *stream_t;
int ncclGetUniqueId(struct id *), ncclGroupStart(void), ncclGroupEnd(void),
    ncclCommInitRank(comm_t *, int, struct id, int), ncclCommCount(comm_t, int *), ncclCommDestroy(comm_t),
    ncclCommSplit(comm_t, int, int, comm_t *, void *),
    ncclAllReduce(const void *, void *, size_t, int, int, comm_t, stream_t),
    ncclReduce(const void *, void *, size_t, int, int, int, comm_t, stream_t),
    ncclBroadcast(const void *, void *, size_t, int, int, comm_t, stream_t),
    ncclAllGather(const void *, void *, size_t, int, comm_t, stream_t),
    ncclReduceScatter(const void *, void *, size_t, int, int, comm_t, stream_t),
    ncclSend(const void *, size_t, int, int, comm_t, stream_t),
    ncclRecv(void *, size_t, int, int, comm_t, stream_t);
int cudaGetDeviceCount(int *), cudaSetDevice(int), cudaMalloc(void **, size_t),
    cudaMemcpy(void *, const void *, size_t, int), cudaMemset(void *, int, size_t),
    cudaStreamCreate(stream_t *), cudaStreamSynchronize(stream_t);

enum { SUM, PROD, MAX, MIN, AVG };
enum { FLOAT = 7 };

static int rank, ranks, count = 3001;
static comm_t comm;
static stream_t stream;
static float *from, *to, *host;

static float value(int of, int at)
{
    return (float)(at % 5 + of + 1);
}

static float sum(int at)
{
    float all = 0;
    for (int i = 0; i < ranks; i++)
        all += value(i, at);
    return all;
}

static void clear(void)
{
    GOOD(cudaMemset(to, 0xff, (size_t)(count * ranks) * sizeof *to));
}

static void fetch(void)
{
    GOOD(cudaStreamSynchronize(stream));
    GOOD(cudaMemcpy(host, to, (size_t)(count * ranks) * sizeof *to, 2));
}

static void begin(void)
{
    struct id id;
    int devices, size;
    if (!rank)
        GOOD(ncclGetUniqueId(&id));
    MPI_Bcast(&id, sizeof id, MPI_BYTE, 0, MPI_COMM_WORLD);
    GOOD(cudaGetDeviceCount(&devices));
    GOOD(cudaSetDevice(rank % devices));
    GOOD(ncclCommInitRank(&comm, ranks, id, rank));
    GOOD(ncclCommCount(comm, &size));
    CHECK(size == ranks);
    GOOD(cudaStreamCreate(&stream));
    size_t bytes = (size_t)(count * ranks) * sizeof *from;
    GOOD(cudaMalloc((void **)&from, bytes));
    GOOD(cudaMalloc((void **)&to, bytes));
    host = malloc(bytes);
    for (int i = 0; i < count * ranks; i++)
        host[i] = value(rank, i);
    GOOD(cudaMemcpy(from, host, bytes, 1));
}

static void collectives(void)
{
    int last = ranks - 1, bad = 0;
    clear();
    GOOD(ncclAllReduce(from, to, (size_t)count, FLOAT, SUM, comm, stream));
    fetch();
    for (int i = 0; i < count; i++)
        bad += host[i] != sum(i);
    CHECK(!bad);
    clear();
    GOOD(ncclReduce(from, to, (size_t)count, FLOAT, MAX, last, comm, stream));
    fetch();
    for (int i = 0; i < count && rank == last; i++)
        bad += host[i] != value(last, i);
    CHECK(!bad);
    clear();
    GOOD(ncclBroadcast(from, to, (size_t)count, FLOAT, last, comm, stream));
    fetch();
    for (int i = 0; i < count; i++)
        bad += host[i] != value(last, i);
    CHECK(!bad);
    clear();
    GOOD(ncclAllGather(from, to, (size_t)count, FLOAT, comm, stream));
    fetch();
    for (int i = 0; i < count * ranks; i++)
        bad += host[i] != value(i / count, i % count);
    CHECK(!bad);
    clear();
    GOOD(ncclReduceScatter(from, to, (size_t)count, FLOAT, SUM, comm, stream));
    fetch();
    for (int i = 0; i < count; i++)
        bad += host[i] != sum(rank * count + i);
    CHECK(!bad);
}

static void messages(void)
{
    int bad = 0, left = (rank + ranks - 1) % ranks;
    clear();
    GOOD(ncclGroupStart());
    GOOD(ncclSend(from, (size_t)count, FLOAT, (rank + 1) % ranks, comm, stream));
    GOOD(ncclRecv(to, (size_t)count, FLOAT, left, comm, stream));
    GOOD(ncclGroupEnd());
    fetch();
    for (int i = 0; i < count; i++)
        bad += host[i] != value(left, i);
    CHECK(!bad);
}

/* Those of even and of odd ranks, backwards. */
static void split(void)
{
    comm_t half;
    int size, bad = 0;
    GOOD(ncclCommSplit(comm, rank % 2, -rank, &half, NULL));
    GOOD(ncclCommCount(half, &size));
    CHECK(size == (ranks + !(rank % 2)) / 2);
    clear();
    GOOD(ncclAllReduce(from, to, (size_t)count, FLOAT, MIN, half, stream));
    fetch();
    for (int i = 0; i < count; i++)
        bad += host[i] != value(rank % 2, i);
    CHECK(!bad);
    GOOD(ncclCommDestroy(half));
}

int main(int words, char **word)
{
    MPI_Init(&words, &word);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    count = words > 1 ? atoi(word[1]) : count;
    begin();
    collectives();
    messages();
    split();
    GOOD(ncclCommDestroy(comm));
    int status = check_end("nccl_mpi");
    MPI_Finalize();
    return status;
}
