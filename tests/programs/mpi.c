/* MPI with memory of GPUs; needs MPI's compiler, but no nvcc. Usage: mpirun -n N mpi FILE.ptx [bytes of a
 * large message]. Each rank takes the GPU of its number among those that it sees. A stencil on a ring of
 * numbers, whose ends go to the neighbours; then each collective, with buffers of a GPU, beside the same on
 * the host. */
#include "check.h"

#include <mpi.h>
#include <string.h>

/* What is needed of cuda.h. */
typedef unsigned long long address;
int cuInit(unsigned flags), cuDeviceGet(int *device, int index), cuDeviceGetCount(int *count);
int cuDevicePrimaryCtxRetain(void **context, int device), cuCtxSetCurrent(void *context),
    cuCtxSynchronize(void);
int cuModuleLoad(void **module, const char *path),
    cuModuleGetFunction(void **function, void *module, const char *name);
int cuMemAlloc_v2(address *d, size_t bytes), cuMemcpyHtoD_v2(address d, const void *h, size_t bytes),
    cuMemcpyDtoH_v2(void *h, address d, size_t bytes),
    cuMemsetD32_v2(address d, unsigned value, size_t count);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);

enum { NUMBERS = 2048, BLOCK = 128, STEPS = 5, PART = 300, RANKS_MOST = 16 };

static int rank, ranks;
static void *step;

static void *pointer(address at)
{
    return (void *)(size_t)at;
}

static void open_gpu(const char *file)
{
    void *context, *module;
    int device, count;
    GOOD(cuInit(0));
    GOOD(cuDeviceGetCount(&count));
    GOOD(cuDeviceGet(&device, rank % count));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoad(&module, file));
    GOOD(cuModuleGetFunction(&step, module, "step"));
    printf("rank %d of %d: %d GPUs\n", rank, ranks, count);
}

/* ---- the stencil ---- */

static unsigned all[RANKS_MOST * NUMBERS], next[RANKS_MOST * NUMBERS];

static void expected(void)
{
    unsigned count = (unsigned)(ranks * NUMBERS);
    for (unsigned i = 0; i < count; i++)
        all[i] = i * 2654435761u;
    for (int s = 0; s < STEPS; s++) {
        for (unsigned i = 0; i < count; i++)
            next[i] = all[(i + count - 1) % count] + 2 * all[i] + all[(i + 1) % count];
        memcpy(all, next, sizeof all);
    }
}

static void exchange(address at)
{
    MPI_Request requests[4];
    int left = (rank + ranks - 1) % ranks, right = (rank + 1) % ranks;
    MPI_Irecv(pointer(at), 1, MPI_UNSIGNED, left, 0, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(pointer(at + 4 * (NUMBERS + 1)), 1, MPI_UNSIGNED, right, 1, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(pointer(at + 4 * NUMBERS), 1, MPI_UNSIGNED, right, 0, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(pointer(at + 4), 1, MPI_UNSIGNED, left, 1, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests, MPI_STATUSES_IGNORE);
}

static void stencil(void)
{
    static unsigned own[NUMBERS], got[RANKS_MOST * NUMBERS];
    address at[2], results;
    for (unsigned i = 0; i < NUMBERS; i++)
        own[i] = ((unsigned)rank * NUMBERS + i) * 2654435761u;
    for (int i = 0; i < 2; i++)
        GOOD(cuMemAlloc_v2(&at[i], 4 * (NUMBERS + 2)));
    GOOD(cuMemAlloc_v2(&results, sizeof got));
    GOOD(cuMemcpyHtoD_v2(at[0] + 4, own, sizeof own));
    for (int s = 0; s < STEPS; s++) {
        exchange(at[s % 2]);
        void *arguments[] = {&at[(s + 1) % 2], &at[s % 2]};
        GOOD(cuLaunchKernel(step, NUMBERS / BLOCK, 1, 1, BLOCK, 1, 1, 0, NULL, arguments, NULL));
        GOOD(cuCtxSynchronize());
    }
    MPI_Gather(pointer(at[STEPS % 2] + 4), NUMBERS, MPI_UNSIGNED, pointer(results), NUMBERS, MPI_UNSIGNED, 0,
               MPI_COMM_WORLD);
    expected();
    GOOD(cuMemcpyDtoH_v2(got, results, sizeof got));
    CHECK(rank || !memcmp(got, all, (size_t)ranks * sizeof own));
}

/* ---- collectives ---- */

static int of_host[2][(RANKS_MOST + 1) * PART], of_gpu[(RANKS_MOST + 1) * PART];
static address from, to;

/* The same numbers in memory of the host and of the GPU, and none where results go. */
static void begin(void)
{
    for (int i = 0; i < (RANKS_MOST + 1) * PART; i++)
        of_host[0][i] = (rank + 1) * 1000 + i % 97;
    memset(of_host[1], 0x55, sizeof of_host[1]);
    GOOD(cuMemcpyHtoD_v2(from, of_host[0], sizeof of_host[0]));
    GOOD(cuMemcpyHtoD_v2(to, of_host[1], sizeof of_host[1]));
}

static void same(const char *what)
{
    GOOD(cuMemcpyDtoH_v2(of_gpu, to, sizeof of_gpu));
    CHECK(!memcmp(of_gpu, of_host[1], sizeof of_gpu));
    if (memcmp(of_gpu, of_host[1], sizeof of_gpu))
        printf("rank %d: %s differs\n", rank, what);
}

#define BOTH(name, ...)                                                                                      \
    do {                                                                                                     \
        begin();                                                                                             \
        {                                                                                                    \
            void *send = of_host[0], *recv = of_host[1];                                                     \
            (void)send, (void)recv;                                                                          \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        {                                                                                                    \
            void *send = pointer(from), *recv = pointer(to);                                                 \
            (void)send, (void)recv;                                                                          \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        same(name);                                                                                          \
    } while (0)

static void collectives(void)
{
    MPI_Comm world = MPI_COMM_WORLD, reversed;
    int counts[RANKS_MOST], places[RANKS_MOST], own[RANKS_MOST], last = ranks - 1;
    for (int i = 0; i < ranks; i++) {
        counts[i] = PART / 2 + i;
        places[i] = i * PART + 3;
        own[i] = PART / 2 + rank;
    }
    GOOD(cuMemAlloc_v2(&from, sizeof of_host[0]));
    GOOD(cuMemAlloc_v2(&to, sizeof of_host[0]));
    MPI_Comm_split(world, 0, -rank, &reversed);
    BOTH("Allreduce", MPI_Allreduce(send, recv, PART, MPI_INT, MPI_SUM, world));
    BOTH("Allreduce in place", MPI_Allreduce(MPI_IN_PLACE, recv, PART, MPI_INT, MPI_BXOR, world));
    BOTH("Reduce", MPI_Reduce(send, recv, PART, MPI_INT, MPI_MAX, last, world));
    BOTH("Bcast", MPI_Bcast(rank == last ? send : recv, PART, MPI_INT, last, world));
    BOTH("Allgather", MPI_Allgather(send, PART, MPI_INT, recv, PART, MPI_INT, reversed));
    BOTH("Allgatherv", MPI_Allgatherv(send, counts[rank], MPI_INT, recv, counts, places, MPI_INT, world));
    BOTH("Gatherv", MPI_Gatherv(send, counts[rank], MPI_INT, recv, counts, places, MPI_INT, last, world));
    BOTH("Scatter", MPI_Scatter(send, PART, MPI_INT, recv, PART, MPI_INT, 0, world));
    BOTH("Scatterv", MPI_Scatterv(send, counts, places, MPI_INT, recv, counts[rank], MPI_INT, last, world));
    BOTH("Alltoall", MPI_Alltoall(send, PART, MPI_INT, recv, PART, MPI_INT, world));
    BOTH("Alltoallv", MPI_Alltoallv(send, counts, places, MPI_INT, recv, own, places, MPI_INT, world));
    BOTH("Reduce_scatter_block", MPI_Reduce_scatter_block(send, recv, PART, MPI_INT, MPI_SUM, world));
    BOTH("Scan", MPI_Scan(send, recv, PART, MPI_INT, MPI_SUM, world));
    MPI_Comm_free(&reversed);
}

/* ---- messages ---- */

static void messages(void)
{
    MPI_Datatype rows;
    MPI_Status status;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks, count;
    MPI_Type_vector(20, 3, 10, MPI_INT, &rows);
    MPI_Type_commit(&rows);
    BOTH("Sendrecv", MPI_Sendrecv(send, PART, MPI_INT, right, 5, recv, PART, MPI_INT, left, 5, MPI_COMM_WORLD,
                                  MPI_STATUS_IGNORE));
    BOTH("rows", MPI_Sendrecv(send, 2, rows, right, 6, recv, 2, rows, left, 6, MPI_COMM_WORLD, &status));
    /* fewer than there is room for: the rest stays as it is */
    BOTH("few",
         MPI_Sendrecv(send, 7, MPI_INT, right, 7, recv, PART, MPI_INT, left, 7, MPI_COMM_WORLD, &status));
    MPI_Get_count(&status, MPI_INT, &count);
    CHECK(count == 7 && status.MPI_SOURCE == left && status.MPI_TAG == 7);
    MPI_Type_free(&rows);
    if (ranks > 1 && rank < 2) { /* in turns, with one that looks first */
        begin();
        if (!rank) {
            MPI_Send(pointer(from), PART, MPI_INT, 1, 8, MPI_COMM_WORLD);
            MPI_Recv(pointer(to), PART, MPI_INT, 1, MPI_ANY_TAG, MPI_COMM_WORLD, &status);
            CHECK(status.MPI_TAG == 9);
        } else {
            MPI_Probe(MPI_ANY_SOURCE, 8, MPI_COMM_WORLD, &status);
            MPI_Recv(pointer(to), PART, MPI_INT, status.MPI_SOURCE, 8, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
            MPI_Ssend(pointer(from), PART, MPI_INT, 0, 9, MPI_COMM_WORLD);
        }
        GOOD(cuMemcpyDtoH_v2(of_gpu, to, sizeof of_gpu));
        CHECK(of_gpu[0] == (2 - rank) * 1000 && of_gpu[PART - 1] == (2 - rank) * 1000 + (PART - 1) % 97);
    }
}

static void large(size_t bytes)
{
    address at;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    unsigned first = 0, last = 0;
    if (!bytes)
        return;
    GOOD(cuMemAlloc_v2(&at, 2 * bytes));
    GOOD(cuMemsetD32_v2(at, (unsigned)rank + 7, bytes / 4));
    GOOD(cuCtxSynchronize()); /* a fill is not waited for, and MPI knows nothing of streams */
    MPI_Sendrecv(pointer(at), (int)(bytes / 4), MPI_INT, right, 1, pointer(at + bytes), (int)(bytes / 4),
                 MPI_INT, left, 1, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    GOOD(cuMemcpyDtoH_v2(&first, at + bytes, 4));
    GOOD(cuMemcpyDtoH_v2(&last, at + 2 * bytes - 4, 4));
    CHECK(first == (unsigned)left + 7 && last == first);
}

int main(int count, char **words)
{
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > RANKS_MOST || count < 2)
        return 2;
    open_gpu(words[1]);
    stencil();
    collectives();
    messages();
    large(count > 2 ? strtoull(words[2], NULL, 10) : 0);
    int status = check_end("mpi");
    MPI_Finalize();
    return status;
}
