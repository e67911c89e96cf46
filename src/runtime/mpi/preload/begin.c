/* The beginning and the end, and calls of all ranks of a communicator that nobody can look at: they meet
 * before. Others do not know memory of a GPU, and say so. */
#include "runtime/mpi/preload/pending.h"

/* The process has its place in the machine before it waits for others: time begins when all are there. */
static void enter(void)
{
    staging_start();
    if (staging_side())
        staging_side()->set_away(true);
}

static int entered(int result)
{
    if (staging_side()) {
        staging_side()->set_away(false);
        pending_note_message();
    }
    return result;
}

EXPORT int MPI_Init(int *count, char ***words)
{
    enter();
    return entered(REAL(Init, int *, char ***)(count, words));
}

EXPORT int MPI_Init_thread(int *count, char ***words, int wanted, int *given)
{
    enter();
    return entered(REAL(Init_thread, int *, char ***, int, int *)(count, words, wanted, given));
}

static int look(void *user, int *come)
{
    return REAL(Test, void *, int *, void *)(user, come, (void *)abi()->ignore);
}

/* All ranks of the communicator come here; it takes no simulated time. */
static void meet(mpi_handle comm)
{
    mpi_handle handle = NULL;
    if (!staging_side() || REAL(Ibarrier, mpi_handle, void *)(comm, &handle))
        return;
    pending_note_message();
    pending_wait_until(look, &handle);
}

EXPORT int MPI_Finalize(void)
{
    meet(abi_world());
    return REAL(Finalize, void)();
}

#define UNPACK(...) __VA_ARGS__
#define MEETS(name, types, parameters, arguments)                                                            \
    EXPORT int MPI_##name(UNPACK parameters)                                                                 \
    {                                                                                                        \
        meet(comm);                                                                                          \
        int result = REAL(name, UNPACK types)(UNPACK arguments);                                             \
        pending_note_message();                                                                              \
        return result;                                                                                       \
    }

MEETS(Comm_dup, (mpi_handle, void *), (mpi_handle comm, void *made), (comm, made))
MEETS(Comm_split, (mpi_handle, int, int, void *), (mpi_handle comm, int color, int key, void *made),
      (comm, color, key, made))
MEETS(Comm_split_type, (mpi_handle, int, int, mpi_handle, void *),
      (mpi_handle comm, int kind, int key, mpi_handle info, void *made), (comm, kind, key, info, made))
MEETS(Comm_create, (mpi_handle, mpi_handle, void *), (mpi_handle comm, mpi_handle group, void *made),
      (comm, group, made))
MEETS(Cart_create, (mpi_handle, int, const int *, const int *, int, void *),
      (mpi_handle comm, int axes, const int *sizes, const int *closed, int reorder, void *made),
      (comm, axes, sizes, closed, reorder, made))
MEETS(Graph_create, (mpi_handle, int, const int *, const int *, int, void *),
      (mpi_handle comm, int nodes, const int *index, const int *edges, int reorder, void *made),
      (comm, nodes, index, edges, reorder, made))
MEETS(Dist_graph_create_adjacent,
      (mpi_handle, int, const int *, const int *, int, const int *, const int *, mpi_handle, int, void *),
      (mpi_handle comm, int from_count, const int *from, const int *from_weights, int to_count, const int *to,
       const int *to_weights, mpi_handle info, int reorder, void *made),
      (comm, from_count, from, from_weights, to_count, to, to_weights, info, reorder, made))
MEETS(Dist_graph_create,
      (mpi_handle, int, const int *, const int *, const int *, const int *, mpi_handle, int, void *),
      (mpi_handle comm, int count, const int *from, const int *degrees, const int *to, const int *weights,
       mpi_handle info, int reorder, void *made),
      (comm, count, from, degrees, to, weights, info, reorder, made))
MEETS(Win_create, (void *, intptr_t, int, mpi_handle, mpi_handle, void *),
      (void *at, intptr_t bytes, int unit, mpi_handle info, mpi_handle comm, void *made),
      (staging_refuses("MPI_Win_create", at) ? NULL : at, bytes, unit, info, comm, made))

/* ---- what does not take memory of a GPU ---- */

#define REFUSES(name, buffer, types, parameters, arguments)                                                  \
    EXPORT int MPI_##name(UNPACK parameters)                                                                 \
    {                                                                                                        \
        staging_refuses("MPI_" #name, buffer);                                                               \
        return REAL(name, UNPACK types)(UNPACK arguments);                                                   \
    }
REFUSES(Alltoallw, send,
        (const void *, const int *, const int *, const void *, void *, const int *, const int *, const void *,
         mpi_handle),
        (const void *send, const int *send_counts, const int *send_at, const void *send_types, void *recv,
         const int *recv_counts, const int *recv_at, const void *recv_types, mpi_handle comm),
        (send, send_counts, send_at, send_types, recv, recv_counts, recv_at, recv_types, comm))
REFUSES(Neighbor_alltoallw, send,
        (const void *, const int *, const intptr_t *, const void *, void *, const int *, const intptr_t *,
         const void *, mpi_handle),
        (const void *send, const int *send_counts, const intptr_t *send_at, const void *send_types,
         void *recv, const int *recv_counts, const intptr_t *recv_at, const void *recv_types,
         mpi_handle comm),
        (send, send_counts, send_at, send_types, recv, recv_counts, recv_at, recv_types, comm))
REFUSES(Put, from, (const void *, int, mpi_handle, int, intptr_t, int, mpi_handle, mpi_handle),
        (const void *from, int count, mpi_handle type, int rank, intptr_t at, int there,
         mpi_handle there_type, mpi_handle window),
        (from, count, type, rank, at, there, there_type, window))
REFUSES(Get, to, (void *, int, mpi_handle, int, intptr_t, int, mpi_handle, mpi_handle),
        (void *to, int count, mpi_handle type, int rank, intptr_t at, int there, mpi_handle there_type,
         mpi_handle window),
        (to, count, type, rank, at, there, there_type, window))
#define FILES(name)                                                                                          \
    REFUSES(name, buffer, (mpi_handle, const void *, int, mpi_handle, void *),                               \
            (mpi_handle file, const void *buffer, int count, mpi_handle type, void *status),                 \
            (file, buffer, count, type, status))
FILES(File_read)
FILES(File_write)
FILES(File_read_all)
FILES(File_write_all)
