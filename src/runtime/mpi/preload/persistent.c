/* Persistent requests: the copy of a buffer that is memory of a GPU lives as long as the request; what is
 * sent is read at each start. */
#include "runtime/mpi/preload/pending.h"
#include "base/mem.h"

#include <pthread.h>

struct persistent {
    struct persistent *next;
    struct pending request; /* for each start */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct persistent *persistents;

static struct persistent **find(mpi_handle handle)
{
    struct persistent **at = &persistents;
    while (*at && (*at)->request.handle != handle)
        at = &(*at)->next;
    return at;
}

typedef int init_function(const void *, int, mpi_handle, int, int, mpi_handle, void *);

static int make(init_function *init, const void *buffer, int count, mpi_handle type, int other, int tag,
                mpi_handle comm, void *handle, bool is_receive)
{
    struct pending request = {.is_receive = is_receive,
                              .type = type,
                              .comm = comm,
                              .bytes = (uint64_t)count * staging_size(type),
                              .steps = is_receive};
    if (other != abi()->proc_null)
        buffer = staging_begin(&request.staged[0], buffer, count, NULL, type,
                               is_receive ? STAGING_WRITTEN : STAGING_READ);
    request.staged[0].is_kept = true;
    int result = init(buffer, count, type, other, tag, comm, handle);
    if (!staging_side() || result) {
        staging_drop(&request.staged[0]);
        return result;
    }
    struct persistent *one = mem_alloc(1, sizeof *one);
    one->request = request;
    one->request.handle = abi_handle(handle, 0);
    pthread_mutex_lock(&lock);
    one->next = persistents;
    persistents = one;
    pthread_mutex_unlock(&lock);
    return result;
}

#define INITS(I)                                                                                             \
    I(Send_init, false) I(Ssend_init, false) I(Rsend_init, false) I(Bsend_init, false) I(Recv_init, true)
#define I(name, is_receive)                                                                                  \
    EXPORT int MPI_##name(const void *buffer, int count, mpi_handle type, int other, int tag,                \
                          mpi_handle comm, void *handle)                                                     \
    {                                                                                                        \
        init_function *real = REAL(name, const void *, int, mpi_handle, int, int, mpi_handle, void *);       \
        return make(real, buffer, count, type, other, tag, comm, handle, is_receive);                        \
    }
INITS(I)
#undef I

/* Of a request of another kind, such as a collective's, nothing is known: it is started as it is. */
static struct pending request_of(mpi_handle handle, bool *found)
{
    pthread_mutex_lock(&lock);
    struct persistent *one = *find(handle);
    struct pending request = one ? one->request : (struct pending){0};
    pthread_mutex_unlock(&lock);
    *found = one;
    return request;
}

EXPORT int MPI_Start(void *handle)
{
    bool found;
    struct pending request = request_of(abi_handle(handle, 0), &found);
    if (found)
        staging_again(&request.staged[0]);
    int result = REAL(Start, void *)(handle);
    return found && !result ? pending_begun(&request, result, handle) : result;
}

EXPORT int MPI_Startall(int count, void *handles)
{
    int result = 0;
    for (int i = 0; i < count && !result; i++)
        result = MPI_Start((char *)handles + (size_t)i * abi()->handle_bytes);
    return result;
}

/* One that is under way is completed by MPI alone, and its copy stays. */
EXPORT int MPI_Request_free(void *handle)
{
    pthread_mutex_lock(&lock);
    struct persistent **at = find(abi_handle(handle, 0)), *one = *at;
    if (one)
        *at = one->next;
    pthread_mutex_unlock(&lock);
    if (one && !pending_is_known(one->request.handle))
        staging_drop(&one->request.staged[0]);
    mem_free(one);
    return REAL(Request_free, void *)(handle);
}
