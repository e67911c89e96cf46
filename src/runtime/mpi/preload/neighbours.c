/* Collectives of neighbours in a topology: one message time, and the bytes that a rank gets. */
#include "runtime/mpi/preload/group.h"
#include "runtime/mpi/preload/pending.h"
#include "base/mem.h"

struct neighbours {
    int from, to;
};

static struct neighbours neighbours_of(mpi_handle comm)
{
    struct neighbours count = {0, 0};
    int kind = 0, axes = 0, own = 0, weighted = 0;
    REAL(Topo_test, mpi_handle, int *)(comm, &kind);
    if (kind == abi()->cart) {
        REAL(Cartdim_get, mpi_handle, int *)(comm, &axes);
        count.from = count.to = 2 * axes;
    } else if (kind == abi()->graph) {
        REAL(Comm_rank, mpi_handle, int *)(comm, &own);
        REAL(Graph_neighbors_count, mpi_handle, int, int *)(comm, own, &count.from);
        count.to = count.from;
    } else if (kind != abi()->undefined) {
        REAL(Dist_graph_neighbors_count, mpi_handle, int *, int *, int *)
        (comm, &count.from, &count.to, &weighted);
    }
    return count;
}

static uint64_t bytes_of(const int *counts, int number, mpi_handle type)
{
    uint64_t all = 0;
    for (int i = 0; i < number; i++)
        all += (uint64_t)counts[i];
    return all * staging_size(type);
}

/* The copy of what is received is whole: places in the middle may belong to nobody. */
static void *gets(struct pending *request, void *recv, int64_t count, const struct staging_parts *parts,
                  mpi_handle type)
{
    return staging_begin(&request->staged[1], recv, count, parts, type,
                         parts ? STAGING_READ | STAGING_WRITTEN : STAGING_WRITTEN);
}

static const void *gives(struct pending *request, const void *send, int64_t count,
                         const struct staging_parts *parts, mpi_handle type)
{
    return staging_begin(&request->staged[0], send, count, parts, type, STAGING_READ);
}

/* Those with a count for all: the one gives the same to each neighbour, the other something of its own. */
#define EXCHANGES(E)                                                                                         \
    E(Neighbor_allgather, Ineighbor_allgather, 1) E(Neighbor_alltoall, Ineighbor_alltoall, count.to)
#define E(waits, begins, parts)                                                                              \
    EXPORT int MPI_##begins(const void *send, int send_count, mpi_handle send_type, void *recv,              \
                            int recv_count, mpi_handle recv_type, mpi_handle comm, void *handle)             \
    {                                                                                                        \
        struct neighbours count = neighbours_of(comm);                                                       \
        int64_t all = (int64_t)recv_count * count.from;                                                      \
        struct pending request = group_cost(comm, 1, (uint64_t)all * staging_size(recv_type));               \
        recv = gets(&request, recv, all, NULL, recv_type);                                                   \
        send = gives(&request, send, (int64_t)send_count * (parts), NULL, send_type);                        \
        int result = REAL(begins, const void *, int, mpi_handle, void *, int, mpi_handle, mpi_handle,        \
                          void *)(send, send_count, send_type, recv, recv_count, recv_type, comm, handle);   \
        return pending_begun(&request, result, handle);                                                      \
    }                                                                                                        \
    EXPORT int MPI_##waits(const void *send, int send_count, mpi_handle send_type, void *recv,               \
                           int recv_count, mpi_handle recv_type, mpi_handle comm)                            \
    {                                                                                                        \
        mpi_handle handle = NULL;                                                                            \
        int result = MPI_##begins(send, send_count, send_type, recv, recv_count, recv_type, comm, &handle);  \
        return result ? result : pending_wait(&handle, NULL);                                                \
    }
EXCHANGES(E)
#undef E

EXPORT int MPI_Ineighbor_allgatherv(const void *send, int send_count, mpi_handle send_type, void *recv,
                                    const int *recv_counts, const int *at, mpi_handle recv_type,
                                    mpi_handle comm, void *handle)
{
    struct neighbours count = neighbours_of(comm);
    struct staging_parts parts = {recv_counts, at, count.from};
    struct pending request = group_cost(comm, 1, bytes_of(recv_counts, count.from, recv_type));
    recv = gets(&request, recv, 0, &parts, recv_type);
    send = gives(&request, send, send_count, NULL, send_type);
    int result = REAL(Ineighbor_allgatherv, const void *, int, mpi_handle, void *, const int *, const int *,
                      mpi_handle, mpi_handle,
                      void *)(send, send_count, send_type, recv, recv_counts, at, recv_type, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Neighbor_allgatherv(const void *send, int send_count, mpi_handle send_type, void *recv,
                                   const int *recv_counts, const int *at, mpi_handle recv_type,
                                   mpi_handle comm)
{
    mpi_handle handle = NULL;
    int result = MPI_Ineighbor_allgatherv(send, send_count, send_type, recv, recv_counts, at, recv_type, comm,
                                          &handle);
    return result ? result : pending_wait(&handle, NULL);
}

EXPORT int MPI_Ineighbor_alltoallv(const void *send, const int *send_counts, const int *send_at,
                                   mpi_handle send_type, void *recv, const int *recv_counts,
                                   const int *recv_at, mpi_handle recv_type, mpi_handle comm, void *handle)
{
    struct neighbours count = neighbours_of(comm);
    struct staging_parts to = {recv_counts, recv_at, count.from}, from = {send_counts, send_at, count.to};
    struct pending request = group_cost(comm, 1, bytes_of(recv_counts, count.from, recv_type));
    recv = gets(&request, recv, 0, &to, recv_type);
    send = gives(&request, send, 0, &from, send_type);
    int result = REAL(Ineighbor_alltoallv, const void *, const int *, const int *, mpi_handle, void *,
                      const int *, const int *, mpi_handle, mpi_handle, void *)(
        send, send_counts, send_at, send_type, recv, recv_counts, recv_at, recv_type, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Neighbor_alltoallv(const void *send, const int *send_counts, const int *send_at,
                                  mpi_handle send_type, void *recv, const int *recv_counts,
                                  const int *recv_at, mpi_handle recv_type, mpi_handle comm)
{
    mpi_handle handle = NULL;
    int result = MPI_Ineighbor_alltoallv(send, send_counts, send_at, send_type, recv, recv_counts, recv_at,
                                         recv_type, comm, &handle);
    return result ? result : pending_wait(&handle, NULL);
}
