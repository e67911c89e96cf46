/* Collectives: each begins without waiting, on copies of what is memory of a GPU. What they take is that of a
 * tree: so many messages behind each other, and the bytes that a rank gets. */
#include "runtime/mpi/preload/group.h"

static uint64_t bytes_of(int count, mpi_handle type)
{
    return (uint64_t)count * staging_size(type);
}

static uint64_t sum(const int *counts, mpi_handle comm)
{
    int ranks = 0;
    uint64_t all = 0;
    REAL(Comm_size, mpi_handle, int *)(comm, &ranks);
    for (int i = 0; i < ranks; i++)
        all += (uint64_t)counts[i];
    return all;
}

static int64_t ranks_of(mpi_handle comm)
{
    int ranks = 1;
    REAL(Comm_size, mpi_handle, int *)(comm, &ranks);
    return ranks;
}

static bool is_root(int root, mpi_handle comm)
{
    int own = 0;
    REAL(Comm_rank, mpi_handle, int *)(comm, &own);
    return own == root;
}

static struct staging_parts parts_of(const int *counts, const int *at, mpi_handle comm)
{
    return (struct staging_parts){counts, at, (int)ranks_of(comm)};
}

static void writes(struct pending *request, void **buffer, int64_t count, mpi_handle type)
{
    *buffer = staging_begin(&request->staged[1], *buffer, count, NULL, type, STAGING_WRITTEN);
}

/* Data that MPI takes from there, and puts there. */
static void changes(struct pending *request, void **buffer, int64_t count, mpi_handle type)
{
    *buffer = staging_begin(&request->staged[1], *buffer, count, NULL, type, STAGING_READ | STAGING_WRITTEN);
}

static void takes_all(struct pending *request, const void **buffer, int64_t count, mpi_handle type)
{
    *buffer = staging_begin(&request->staged[0], *buffer, count, NULL, type, STAGING_READ);
}

/* ---- of one to all, of all to one ---- */

EXPORT int MPI_Ibarrier(mpi_handle comm, void *handle)
{
    struct pending request = group_tree_cost(comm, 1, 0);
    return pending_begun(&request, REAL(Ibarrier, mpi_handle, void *)(comm, handle), handle);
}

EXPORT int MPI_Ibcast(void *buffer, int count, mpi_handle type, int root, mpi_handle comm, void *handle)
{
    struct pending request = group_tree_cost(comm, 1, bytes_of(count, type));
    enum staging_use use = is_root(root, comm) ? STAGING_READ : STAGING_WRITTEN;
    buffer = staging_begin(&request.staged[0], buffer, count, NULL, type, use);
    int result = REAL(Ibcast, void *, int, mpi_handle, int, mpi_handle, void *)(buffer, count, type, root,
                                                                                comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Ireduce(const void *send, void *recv, int count, mpi_handle type, mpi_handle op, int root,
                       mpi_handle comm, void *handle)
{
    struct pending request = group_tree_cost(comm, 1, bytes_of(count, type));
    if (is_root(root, comm))
        (abi_is_in_place(send) ? changes : writes)(&request, &recv, count, type);
    takes_all(&request, &send, count, type);
    int result = REAL(Ireduce, const void *, void *, int, mpi_handle, mpi_handle, int, mpi_handle,
                      void *)(send, recv, count, type, op, root, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Igather(const void *send, int send_count, mpi_handle send_type, void *recv, int recv_count,
                       mpi_handle recv_type, int root, mpi_handle comm, void *handle)
{
    bool root_is_here = is_root(root, comm);
    int64_t all = root_is_here ? recv_count * ranks_of(comm) : 0;
    struct pending request =
        group_tree_cost(comm, 1, root_is_here ? all * (int64_t)staging_size(recv_type) : 0);
    if (root_is_here)
        (abi_is_in_place(send) ? changes : writes)(&request, &recv, all, recv_type);
    if (!abi_is_in_place(send))
        takes_all(&request, &send, send_count, send_type);
    int result = REAL(Igather, const void *, int, mpi_handle, void *, int, mpi_handle, int, mpi_handle,
                      void *)(send, send_count, send_type, recv, recv_count, recv_type, root, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Igatherv(const void *send, int send_count, mpi_handle send_type, void *recv,
                        const int *recv_counts, const int *at, mpi_handle recv_type, int root,
                        mpi_handle comm, void *handle)
{
    struct pending request = {0};
    if (is_root(root, comm)) {
        struct staging_parts parts = parts_of(recv_counts, at, comm);
        request = group_tree_cost(comm, 1, sum(recv_counts, comm) * staging_size(recv_type));
        recv = staging_begin(&request.staged[1], recv, 0, &parts, recv_type, STAGING_READ | STAGING_WRITTEN);
    } else {
        request = group_tree_cost(comm, 1, 0);
    }
    if (!abi_is_in_place(send))
        takes_all(&request, &send, send_count, send_type);
    int result = REAL(Igatherv, const void *, int, mpi_handle, void *, const int *, const int *, mpi_handle,
                      int, mpi_handle, void *)(send, send_count, send_type, recv, recv_counts, at, recv_type,
                                               root, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Iscatter(const void *send, int send_count, mpi_handle send_type, void *recv, int recv_count,
                        mpi_handle recv_type, int root, mpi_handle comm, void *handle)
{
    bool in_place = abi_is_in_place(recv);
    struct pending request = group_tree_cost(comm, 1, in_place ? 0 : bytes_of(recv_count, recv_type));
    if (is_root(root, comm))
        takes_all(&request, &send, send_count * ranks_of(comm), send_type);
    if (!in_place)
        writes(&request, &recv, recv_count, recv_type);
    int result = REAL(Iscatter, const void *, int, mpi_handle, void *, int, mpi_handle, int, mpi_handle,
                      void *)(send, send_count, send_type, recv, recv_count, recv_type, root, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Iscatterv(const void *send, const int *send_counts, const int *at, mpi_handle send_type,
                         void *recv, int recv_count, mpi_handle recv_type, int root, mpi_handle comm,
                         void *handle)
{
    bool in_place = abi_is_in_place(recv);
    struct pending request = group_tree_cost(comm, 1, in_place ? 0 : bytes_of(recv_count, recv_type));
    if (is_root(root, comm)) {
        struct staging_parts parts = parts_of(send_counts, at, comm);
        send = staging_begin(&request.staged[0], send, 0, &parts, send_type, STAGING_READ);
    }
    if (!in_place)
        writes(&request, &recv, recv_count, recv_type);
    int result = REAL(Iscatterv, const void *, const int *, const int *, mpi_handle, void *, int, mpi_handle,
                      int, mpi_handle, void *)(send, send_counts, at, send_type, recv, recv_count, recv_type,
                                               root, comm, handle);
    return pending_begun(&request, result, handle);
}

/* ---- of all to all ---- */

typedef int reduce_function(const void *, void *, int, mpi_handle, mpi_handle, mpi_handle, void *);

static int begin_reduce(reduce_function *reduce, uint32_t ways, const void *send, void *recv, int count,
                        mpi_handle type, mpi_handle op, mpi_handle comm, void *handle)
{
    struct pending request = group_tree_cost(comm, ways, ways * bytes_of(count, type));
    (abi_is_in_place(send) ? changes : writes)(&request, &recv, count, type);
    takes_all(&request, &send, count, type);
    return pending_begun(&request, reduce(send, recv, count, type, op, comm, handle), handle);
}

/* How they are called, and how often the data goes up or down the tree. */
#define REDUCTIONS(R) R(Allreduce, Iallreduce, 2) R(Scan, Iscan, 1) R(Exscan, Iexscan, 1)
#define R(waits, begins, ways)                                                                               \
    EXPORT int MPI_##begins(const void *send, void *recv, int count, mpi_handle type, mpi_handle op,         \
                            mpi_handle comm, void *handle)                                                   \
    {                                                                                                        \
        reduce_function *real =                                                                              \
            REAL(begins, const void *, void *, int, mpi_handle, mpi_handle, mpi_handle, void *);             \
        return begin_reduce(real, ways, send, recv, count, type, op, comm, handle);                          \
    }
REDUCTIONS(R)
#undef R

EXPORT int MPI_Ireduce_scatter_block(const void *send, void *recv, int count, mpi_handle type, mpi_handle op,
                                     mpi_handle comm, void *handle)
{
    int64_t all = count * ranks_of(comm);
    struct pending request = group_tree_cost(comm, 1, (uint64_t)all * staging_size(type));
    if (abi_is_in_place(send))
        changes(&request, &recv, all, type);
    else
        writes(&request, &recv, count, type);
    takes_all(&request, &send, all, type);
    int result = REAL(Ireduce_scatter_block, const void *, void *, int, mpi_handle, mpi_handle, mpi_handle,
                      void *)(send, recv, count, type, op, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Ireduce_scatter(const void *send, void *recv, const int *counts, mpi_handle type,
                               mpi_handle op, mpi_handle comm, void *handle)
{
    int own = 0;
    int64_t all = (int64_t)sum(counts, comm);
    struct pending request = group_tree_cost(comm, 1, (uint64_t)all * staging_size(type));
    REAL(Comm_rank, mpi_handle, int *)(comm, &own);
    if (abi_is_in_place(send))
        changes(&request, &recv, all, type);
    else
        writes(&request, &recv, counts[own], type);
    takes_all(&request, &send, all, type);
    int result = REAL(Ireduce_scatter, const void *, void *, const int *, mpi_handle, mpi_handle, mpi_handle,
                      void *)(send, recv, counts, type, op, comm, handle);
    return pending_begun(&request, result, handle);
}

typedef int exchange_function(const void *, int, mpi_handle, void *, int, mpi_handle, mpi_handle, void *);

/* sends: so many of its counts each rank gives. */
static int begin_exchange(exchange_function *exchange, int64_t sends, const void *send, int send_count,
                          mpi_handle send_type, void *recv, int recv_count, mpi_handle recv_type,
                          mpi_handle comm, void *handle)
{
    int64_t all = recv_count * ranks_of(comm);
    struct pending request = group_tree_cost(comm, 1, (uint64_t)all * staging_size(recv_type));
    if (abi_is_in_place(send)) {
        changes(&request, &recv, all, recv_type);
    } else {
        writes(&request, &recv, all, recv_type);
        takes_all(&request, &send, sends * send_count, send_type);
    }
    int result = exchange(send, send_count, send_type, recv, recv_count, recv_type, comm, handle);
    return pending_begun(&request, result, handle);
}

#define EXCHANGES(E) E(Allgather, Iallgather, 1) E(Alltoall, Ialltoall, ranks_of(comm))
#define E(waits, begins, sends)                                                                              \
    EXPORT int MPI_##begins(const void *send, int send_count, mpi_handle send_type, void *recv,              \
                            int recv_count, mpi_handle recv_type, mpi_handle comm, void *handle)             \
    {                                                                                                        \
        exchange_function *real =                                                                            \
            REAL(begins, const void *, int, mpi_handle, void *, int, mpi_handle, mpi_handle, void *);        \
        return begin_exchange(real, sends, send, send_count, send_type, recv, recv_count, recv_type, comm,   \
                              handle);                                                                       \
    }
EXCHANGES(E)
#undef E

EXPORT int MPI_Iallgatherv(const void *send, int send_count, mpi_handle send_type, void *recv,
                           const int *recv_counts, const int *at, mpi_handle recv_type, mpi_handle comm,
                           void *handle)
{
    struct staging_parts parts = parts_of(recv_counts, at, comm);
    struct pending request = group_tree_cost(comm, 1, sum(recv_counts, comm) * staging_size(recv_type));
    recv = staging_begin(&request.staged[1], recv, 0, &parts, recv_type, STAGING_READ | STAGING_WRITTEN);
    if (!abi_is_in_place(send))
        takes_all(&request, &send, send_count, send_type);
    int result =
        REAL(Iallgatherv, const void *, int, mpi_handle, void *, const int *, const int *, mpi_handle,
             mpi_handle, void *)(send, send_count, send_type, recv, recv_counts, at, recv_type, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Ialltoallv(const void *send, const int *send_counts, const int *send_at, mpi_handle send_type,
                          void *recv, const int *recv_counts, const int *recv_at, mpi_handle recv_type,
                          mpi_handle comm, void *handle)
{
    struct staging_parts to = parts_of(recv_counts, recv_at, comm);
    struct pending request = group_tree_cost(comm, 1, sum(recv_counts, comm) * staging_size(recv_type));
    recv = staging_begin(&request.staged[1], recv, 0, &to, recv_type, STAGING_READ | STAGING_WRITTEN);
    if (!abi_is_in_place(send)) {
        struct staging_parts from = parts_of(send_counts, send_at, comm);
        send = staging_begin(&request.staged[0], send, 0, &from, send_type, STAGING_READ);
    }
    int result = REAL(Ialltoallv, const void *, const int *, const int *, mpi_handle, void *, const int *,
                      const int *, mpi_handle, mpi_handle, void *)(
        send, send_counts, send_at, send_type, recv, recv_counts, recv_at, recv_type, comm, handle);
    return pending_begun(&request, result, handle);
}

/* ---- those that wait ---- */

#define UNPACK(...) __VA_ARGS__
#define WAITS(name, begins, parameters, arguments)                                                           \
    EXPORT int MPI_##name(UNPACK parameters)                                                                 \
    {                                                                                                        \
        mpi_handle handle = NULL;                                                                            \
        int result = MPI_##begins(UNPACK arguments, &handle);                                                \
        return result ? result : pending_wait(&handle, NULL);                                                \
    }

WAITS(Barrier, Ibarrier, (mpi_handle comm), (comm))
WAITS(Bcast, Ibcast, (void *buffer, int count, mpi_handle type, int root, mpi_handle comm),
      (buffer, count, type, root, comm))
WAITS(Reduce, Ireduce,
      (const void *send, void *recv, int count, mpi_handle type, mpi_handle op, int root, mpi_handle comm),
      (send, recv, count, type, op, root, comm))
WAITS(Gather, Igather,
      (const void *send, int send_count, mpi_handle send_type, void *recv, int recv_count,
       mpi_handle recv_type, int root, mpi_handle comm),
      (send, send_count, send_type, recv, recv_count, recv_type, root, comm))
WAITS(Gatherv, Igatherv,
      (const void *send, int send_count, mpi_handle send_type, void *recv, const int *recv_counts,
       const int *at, mpi_handle recv_type, int root, mpi_handle comm),
      (send, send_count, send_type, recv, recv_counts, at, recv_type, root, comm))
WAITS(Scatter, Iscatter,
      (const void *send, int send_count, mpi_handle send_type, void *recv, int recv_count,
       mpi_handle recv_type, int root, mpi_handle comm),
      (send, send_count, send_type, recv, recv_count, recv_type, root, comm))
WAITS(Scatterv, Iscatterv,
      (const void *send, const int *send_counts, const int *at, mpi_handle send_type, void *recv,
       int recv_count, mpi_handle recv_type, int root, mpi_handle comm),
      (send, send_counts, at, send_type, recv, recv_count, recv_type, root, comm))
#define R(name, begins, ways)                                                                                \
    WAITS(name, begins,                                                                                      \
          (const void *send, void *recv, int count, mpi_handle type, mpi_handle op, mpi_handle comm),        \
          (send, recv, count, type, op, comm))
REDUCTIONS(R)
#undef R
WAITS(Reduce_scatter_block, Ireduce_scatter_block,
      (const void *send, void *recv, int count, mpi_handle type, mpi_handle op, mpi_handle comm),
      (send, recv, count, type, op, comm))
WAITS(Reduce_scatter, Ireduce_scatter,
      (const void *send, void *recv, const int *counts, mpi_handle type, mpi_handle op, mpi_handle comm),
      (send, recv, counts, type, op, comm))
#define E(name, begins, sends)                                                                               \
    WAITS(name, begins,                                                                                      \
          (const void *send, int send_count, mpi_handle send_type, void *recv, int recv_count,               \
           mpi_handle recv_type, mpi_handle comm),                                                           \
          (send, send_count, send_type, recv, recv_count, recv_type, comm))
EXCHANGES(E)
#undef E
WAITS(Allgatherv, Iallgatherv,
      (const void *send, int send_count, mpi_handle send_type, void *recv, const int *recv_counts,
       const int *at, mpi_handle recv_type, mpi_handle comm),
      (send, send_count, send_type, recv, recv_counts, at, recv_type, comm))
WAITS(Alltoallv, Ialltoallv,
      (const void *send, const int *send_counts, const int *send_at, mpi_handle send_type, void *recv,
       const int *recv_counts, const int *recv_at, mpi_handle recv_type, mpi_handle comm),
      (send, send_counts, send_at, send_type, recv, recv_counts, recv_at, recv_type, comm))
