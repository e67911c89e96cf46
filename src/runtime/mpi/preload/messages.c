/* Sends and receives. Those that wait begin as those that do not, and are asked for until they are complete.
 */
#include "runtime/mpi/preload/pending.h"
#include "base/mem.h"

#include <pthread.h>
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

/* What is sent is copied, as it is read while the answer is written. */
EXPORT int MPI_Sendrecv_replace(void *buffer, int count, mpi_handle type, int to, int send_tag, int from,
                                int recv_tag, mpi_handle comm, void *status)
{
    char *room = NULL;
    mpi_handle receives = NULL, sends = NULL;
    bool is_of_host = !staging_side() || !staging_side()->is_device(buffer);
    const void *send = is_of_host ? staging_duplicate(buffer, count, type, &room) : buffer;
    int result = MPI_Isend(send, count, type, to, send_tag, comm, &sends);
    if (!result)
        result = MPI_Irecv(buffer, count, type, from, recv_tag, comm, &receives);
    if (!result)
        result = wait_for_both(&receives, &sends, status);
    mem_free(room);
    return result;
}

/* ---- in one buffer ---- */

EXPORT int MPI_Pack(const void *from, int count, mpi_handle type, void *to, int bytes, int *at,
                    mpi_handle comm)
{
    struct staged read, written;
    from = staging_begin(&read, from, count, NULL, type, STAGING_READ);
    to = staging_begin_bytes(&written, to, (size_t)bytes, STAGING_READ | STAGING_WRITTEN);
    int result = REAL(Pack, const void *, int, mpi_handle, void *, int, int *,
                      mpi_handle)(from, count, type, to, bytes, at, comm);
    staging_end(&read, SIZE_MAX);
    staging_end(&written, SIZE_MAX);
    return result;
}

EXPORT int MPI_Unpack(const void *from, int bytes, int *at, void *to, int count, mpi_handle type,
                      mpi_handle comm)
{
    struct staged read, written;
    from = staging_begin_bytes(&read, from, (size_t)bytes, STAGING_READ);
    to = staging_begin(&written, to, count, NULL, type, STAGING_WRITTEN);
    int result = REAL(Unpack, const void *, int, int *, void *, int, mpi_handle,
                      mpi_handle)(from, bytes, at, to, count, type, comm);
    staging_end(&read, SIZE_MAX);
    staging_end(&written, SIZE_MAX);
    return result;
}

/* ---- messages that are looked for ---- */

struct probe {
    int from, tag;
    mpi_handle comm;
    void *message; /* or NULL: it stays where it is */
    void *status;
};

/* Messages that were found, for who receives them: which communicator they are of. */
static struct found {
    struct found *next;
    mpi_handle message, comm;
} * all_found;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static void note_found(const void *message, mpi_handle comm)
{
    struct found *found = mem_alloc(1, sizeof *found);
    *found = (struct found){all_found, abi_handle(message, 0), comm};
    pthread_mutex_lock(&lock);
    found->next = all_found;
    all_found = found;
    pthread_mutex_unlock(&lock);
}

static mpi_handle take_found(const void *message)
{
    mpi_handle comm = abi_world(), handle = abi_handle(message, 0);
    pthread_mutex_lock(&lock);
    struct found **at = &all_found, *found;
    while (*at && (*at)->message != handle)
        at = &(*at)->next;
    if ((found = *at)) {
        *at = found->next;
        comm = found->comm;
    }
    pthread_mutex_unlock(&lock);
    mem_free(found);
    return comm;
}

EXPORT int MPI_Imrecv(void *buffer, int count, mpi_handle type, void *message, void *handle)
{
    struct pending request = {.is_receive = true,
                              .type = type,
                              .comm = take_found(message),
                              .bytes = (uint64_t)count * staging_size(type),
                              .steps = 1};
    buffer = staging_begin(&request.staged[0], buffer, count, NULL, type, STAGING_WRITTEN);
    int result = REAL(Imrecv, void *, int, mpi_handle, void *, void *)(buffer, count, type, message, handle);
    return pending_begun(&request, result, handle);
}

EXPORT int MPI_Mrecv(void *buffer, int count, mpi_handle type, void *message, void *status)
{
    mpi_handle handle = NULL;
    int result = MPI_Imrecv(buffer, count, type, message, &handle);
    return result ? result : pending_wait(&handle, status);
}

static int look(void *user, int *come)
{
    const struct probe *probe = user;
    if (!probe->message)
        return REAL(Iprobe, int, int, mpi_handle, int *, void *)(probe->from, probe->tag, probe->comm, come,
                                                                 probe->status);
    int result = REAL(Improbe, int, int, mpi_handle, int *, void *,
                      void *)(probe->from, probe->tag, probe->comm, come, probe->message, probe->status);
    if (!result && *come)
        note_found(probe->message, probe->comm);
    return result;
}

static int look_once(struct probe *probe, int *come)
{
    int result = look(probe, come);
    if (!result && !*come && staging_side())
        staging_side()->ask();
    return result;
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
    return look_once(&(struct probe){from, tag, comm, NULL, status}, come);
}

EXPORT int MPI_Improbe(int from, int tag, mpi_handle comm, int *come, void *message, void *status)
{
    return look_once(&(struct probe){from, tag, comm, message, status}, come);
}
