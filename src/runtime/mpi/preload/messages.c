/* Sends and receives. Those that wait begin as those that do not, and are asked for until they are complete.
 */
#include "runtime/mpi/preload/pending.h"

#include <string.h>

typedef int send_function(const void *, int, mpi_handle, int, int, mpi_handle, void *);

static int begin_send(send_function *send, const void *buffer, int count, mpi_handle type, int to, int tag,
                      mpi_handle comm, void *handle)
{
    struct pending request = {.bytes = (uint64_t)count * staging_size(type)};
    if (to != abi()->proc_null)
        buffer = staging_begin(&request.staged[0], buffer, count, NULL, type, STAGING_READ);
    return pending_begun(&request, send(buffer, count, type, to, tag, comm, handle), handle);
}

/* A name, and which of MPI's it is when nobody waits for it. */
#define SENDS(S) S(Send, Isend) S(Ssend, Issend) S(Rsend, Irsend) S(Bsend, Ibsend)
#define S(waits, begins)                                                                                     \
    EXPORT int MPI_##begins(const void *buffer, int count, mpi_handle type, int to, int tag,                 \
                            mpi_handle comm, void *handle)                                                   \
    {                                                                                                        \
        send_function *real = REAL(begins, const void *, int, mpi_handle, int, int, mpi_handle, void *);     \
        return begin_send(real, buffer, count, type, to, tag, comm, handle);                                 \
    }                                                                                                        \
    EXPORT int MPI_##waits(const void *buffer, int count, mpi_handle type, int to, int tag, mpi_handle comm) \
    {                                                                                                        \
        mpi_handle handle = NULL;                                                                            \
        int result = MPI_##begins(buffer, count, type, to, tag, comm, &handle);                              \
        return result ? result : pending_wait(&handle, NULL);                                                \
    }
SENDS(S)
#undef S

EXPORT int MPI_Irecv(void *buffer, int count, mpi_handle type, int from, int tag, mpi_handle comm,
                     void *handle)
{
    struct pending request = {.is_receive = true,
                              .type = type,
                              .comm = comm,
                              .bytes = (uint64_t)count * staging_size(type),
                              .steps = 1};
    if (from != abi()->proc_null)
        buffer = staging_begin(&request.staged[0], buffer, count, NULL, type, STAGING_WRITTEN);
    int result = REAL(Irecv, void *, int, mpi_handle, int, int, mpi_handle, void *)(buffer, count, type, from,
                                                                                    tag, comm, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Recv(void *buffer, int count, mpi_handle type, int from, int tag, mpi_handle comm,
                    void *status)
{
    mpi_handle handle = NULL;
    int result = MPI_Irecv(buffer, count, type, from, tag, comm, &handle);
    return result ? result : pending_wait(&handle, status);
}

/* The receive is begun first, so it is the first to be looked at. */
static int wait_for_both(void *receive, void *send, void *status)
{
    char handles[2 * sizeof(mpi_handle)], statuses[2 * MPI_STATUS_MOST];
    memcpy(handles, receive, abi()->handle_bytes);
    memcpy(handles + abi()->handle_bytes, send, abi()->handle_bytes);
    int result = pending_wait_all(2, handles, statuses);
    if (status && (intptr_t)status != abi()->ignore)
        memcpy(status, statuses, abi()->status_bytes);
    return result;
}

EXPORT int MPI_Sendrecv(const void *send, int send_count, mpi_handle send_type, int to, int send_tag,
                        void *recv, int recv_count, mpi_handle recv_type, int from, int recv_tag,
                        mpi_handle comm, void *status)
{
    mpi_handle receives = NULL, sends = NULL;
    int result = MPI_Irecv(recv, recv_count, recv_type, from, recv_tag, comm, &receives);
    if (!result)
        result = MPI_Isend(send, send_count, send_type, to, send_tag, comm, &sends);
    return result ? result : wait_for_both(&receives, &sends, status);
}

/* ---- messages that are looked for ---- */

struct probe {
    int from, tag;
    mpi_handle comm;
    void *message; /* or NULL: it stays where it is */
    void *status;
};

static int look(void *user, int *come)
{
    const struct probe *probe = user;
    return probe->message ? REAL(Improbe, int, int, mpi_handle, int *, void *, void *)(
                                probe->from, probe->tag, probe->comm, come, probe->message, probe->status)
                          : REAL(Iprobe, int, int, mpi_handle, int *,
                                 void *)(probe->from, probe->tag, probe->comm, come, probe->status);
}

EXPORT int MPI_Probe(int from, int tag, mpi_handle comm, void *status)
{
    return pending_wait_until(look, &(struct probe){from, tag, comm, NULL, status});
}

EXPORT int MPI_Mprobe(int from, int tag, mpi_handle comm, void *message, void *status)
{
    return pending_wait_until(look, &(struct probe){from, tag, comm, message, status});
}

EXPORT int MPI_Iprobe(int from, int tag, mpi_handle comm, int *come, void *status)
{
    int result = look(&(struct probe){from, tag, comm, NULL, status}, come);
    if (!result && !*come && staging_side())
        staging_side()->ask();
    return result;
}
