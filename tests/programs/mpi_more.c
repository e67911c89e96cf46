/* MPI with memory of a GPU: persistent requests, collectives of neighbours, messages that are replaced,
 * matched or packed. Each is done in memory of the host and of the GPU, and gives the same there. */
#include "check.h"

#include <mpi.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

typedef unsigned long long address;
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *);
int cuMemAlloc_v2(address *, size_t), cuMemcpyHtoD_v2(address, const void *, size_t),
    cuMemcpyDtoH_v2(void *, address, size_t);

enum { NUMBERS = 64, NEIGHBOURS = 4, ROUNDS = 3, ALL = NUMBERS * (NEIGHBOURS + 2) };

static int rank, ranks;
static int of_host[2][ALL], of_gpu[ALL];
static address from, to;

static void *pointer(address at)
{
    return (void *)(size_t)at;
}

static void begin(int round)
{
    for (int i = 0; i < ALL; i++)
        of_host[0][i] = (rank + 1) * 1000 + i % 97 + round;
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
        begin(0);                                                                                            \
        for (int gpu = 0; gpu < 2; gpu++) {                                                                  \
            int *send = gpu ? pointer(from) : of_host[0], *recv = gpu ? pointer(to) : of_host[1];            \
            (void)send, (void)recv;                                                                          \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
        same(name);                                                                                          \
    } while (0)

/* ---- persistent requests: made once, started for new data each time ---- */

static void persistent(void)
{
    MPI_Request requests[2][3];
    MPI_Datatype pairs;
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Type_vector(NUMBERS / 2, 2, 4, MPI_INT, &pairs);
    MPI_Type_commit(&pairs);
    for (int gpu = 0; gpu < 2; gpu++) {
        int *send = gpu ? pointer(from) : of_host[0], *recv = gpu ? pointer(to) : of_host[1];
        MPI_Recv_init(recv, 1, pairs, left, gpu, MPI_COMM_WORLD, &requests[gpu][0]);
        MPI_Send_init(send, NUMBERS, MPI_INT, right, gpu, MPI_COMM_WORLD, &requests[gpu][1]);
        MPI_Ssend_init(send, 1, MPI_INT, MPI_PROC_NULL, gpu, MPI_COMM_WORLD, &requests[gpu][2]);
    }
    for (int round = 0; round < ROUNDS; round++) {
        begin(round);
        for (int gpu = 0; gpu < 2; gpu++) {
            MPI_Status status;
            int number = 0;
            MPI_Startall(2, requests[gpu]);
            MPI_Start(&requests[gpu][2]);
            if (round == 1) {
                MPI_Waitany(1, requests[gpu], &number, &status);
                CHECK(!number && status.MPI_SOURCE == left);
            } else {
                MPI_Wait(&requests[gpu][0], &status);
                CHECK(status.MPI_SOURCE == left && status.MPI_TAG == gpu);
            }
            MPI_Waitall(2, requests[gpu] + 1, MPI_STATUSES_IGNORE);
            CHECK(requests[gpu][0] != MPI_REQUEST_NULL);
        }
        same("persistent");
        CHECK(of_gpu[4] == (left + 1) * 1000 + 2 + round && of_gpu[3] == 0x55555555);
    }
    for (int i = 0; i < 6; i++)
        MPI_Request_free(&requests[i / 3][i % 3]);
    CHECK(requests[1][0] == MPI_REQUEST_NULL);
    MPI_Type_free(&pairs);
}

/* ---- neighbours ---- */

static void neighbours(void)
{
    int sizes[2] = {ranks, 1}, closed[2] = {1, 1},
        around[2] = {(rank + 1) % ranks, (rank + ranks - 1) % ranks};
    int counts[NEIGHBOURS] = {5, 5, 5, 5}, places[NEIGHBOURS] = {70, 0, 50, 20};
    MPI_Comm grid, ring;
    MPI_Cart_create(MPI_COMM_WORLD, 2, sizes, closed, 0, &grid);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 2, around, MPI_UNWEIGHTED, 1, around, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    MPI_Comm_free(&ring);
    MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, 1, around + 1, MPI_UNWEIGHTED, 1, around, MPI_UNWEIGHTED,
                                   MPI_INFO_NULL, 0, &ring);
    BOTH("Neighbor_allgather", MPI_Neighbor_allgather(send, NUMBERS, MPI_INT, recv, NUMBERS, MPI_INT, grid));
    BOTH("Neighbor_allgather, ring", MPI_Neighbor_allgather(send, 9, MPI_INT, recv, 9, MPI_INT, ring));
    CHECK(of_gpu[0] == (around[1] + 1) * 1000);
    BOTH("Neighbor_alltoall", MPI_Neighbor_alltoall(send, NUMBERS, MPI_INT, recv, NUMBERS, MPI_INT, grid));
    BOTH("Neighbor_allgatherv",
         MPI_Neighbor_allgatherv(send, 5, MPI_INT, recv, counts, places, MPI_INT, grid));
    BOTH("Neighbor_alltoallv",
         MPI_Neighbor_alltoallv(send, counts, places, MPI_INT, recv, counts, places, MPI_INT, grid));
    BOTH("Ineighbor_alltoall", MPI_Request request;
         MPI_Ineighbor_alltoall(send, NUMBERS, MPI_INT, recv, NUMBERS, MPI_INT, grid, &request);
         MPI_Wait(&request, MPI_STATUS_IGNORE));
    MPI_Comm_free(&grid);
    MPI_Comm_free(&ring);
}

/* ---- messages ---- */

static void messages(void)
{
    int right = (rank + 1) % ranks, left = (rank + ranks - 1) % ranks;
    MPI_Status status;
    BOTH("Sendrecv_replace",
         MPI_Sendrecv_replace(send, NUMBERS, MPI_INT, right, 3, left, 3, MPI_COMM_WORLD, &status);
         CHECK(status.MPI_SOURCE == left); MPI_Sendrecv(send, NUMBERS, MPI_INT, right, 4, recv, NUMBERS,
                                                        MPI_INT, left, 4, MPI_COMM_WORLD, &status));
    BOTH("Mrecv", MPI_Request request; MPI_Message message;
         MPI_Isend(send, NUMBERS, MPI_INT, right, 5, MPI_COMM_WORLD, &request);
         MPI_Mprobe(left, 5, MPI_COMM_WORLD, &message, &status);
         MPI_Mrecv(recv, NUMBERS, MPI_INT, &message, &status); MPI_Wait(&request, MPI_STATUS_IGNORE));
    BOTH("Pack", int at = 0; MPI_Pack(send, 3, MPI_INT, recv, 64, &at, MPI_COMM_WORLD);
         MPI_Pack(send + 8, 2, MPI_INT, recv, 64, &at, MPI_COMM_WORLD); CHECK(at == 20); at = 0;
         MPI_Unpack(send, 64, &at, recv + 32, 5, MPI_INT, MPI_COMM_WORLD));
}

int main(int count, char **words)
{
    void *context;
    MPI_Init(&count, &words);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    GOOD(cuInit(0));
    GOOD(cuDevicePrimaryCtxRetain(&context, 0));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuMemAlloc_v2(&from, sizeof of_gpu));
    GOOD(cuMemAlloc_v2(&to, sizeof of_gpu));
    persistent();
    neighbours();
    messages();
    int status = check_end("mpi_more");
    MPI_Finalize();
    return status;
}
