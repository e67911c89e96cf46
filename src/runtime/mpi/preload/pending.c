#include "runtime/mpi/preload/pending.h"
#include "base/mem.h"

#include <pthread.h>
#include <sched.h>
#include <string.h>

enum {
    LOOKS_AT_ONCE = 8,  /* of MPI's: it may have more to do than it does at one */
    LOOKS_LEAST = 8,    /* of ours, each time that another process calls MPI; */
    LOOK_BYTES = 16384, /* and one more for so many bytes, which libraries hand over in pieces */
    LOOKS_MOST = 2048
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pending *requests;
static size_t largest; /* message so far, bytes */

void pending_note_message(void)
{
    const struct mpi_side *heddle = staging_side();
    if (heddle)
        heddle->message();
}

/* ---- what is known of them ---- */

static void note_size(size_t bytes)
{
    largest = bytes > largest ? bytes : largest;
}

int pending_begun(const struct pending *request, int result, const void *handle)
{
    if (!staging_side())
        return result;
    pending_note_message();
    struct pending *kept = mem_alloc(1, sizeof *kept);
    *kept = *request;
    kept->handle = abi_handle(handle, 0);
    pthread_mutex_lock(&lock);
    note_size(request->bytes);
    kept->next = requests;
    requests = kept;
    pthread_mutex_unlock(&lock);
    return result;
}

/* Some of one handle may be the same to the library, which are complete then. */
static struct pending *take(mpi_handle handle)
{
    struct pending **at = &requests, *found;
    pthread_mutex_lock(&lock);
    while (*at && (*at)->handle != handle)
        at = &(*at)->next;
    found = *at;
    if (found)
        *at = found->next;
    pthread_mutex_unlock(&lock);
    return found;
}

bool pending_is_known(mpi_handle handle)
{
    pthread_mutex_lock(&lock);
    struct pending *at = requests;
    while (at && at->handle != handle)
        at = at->next;
    pthread_mutex_unlock(&lock);
    return at;
}

/* ---- what has come, while it is added up ---- */

struct arrivals {
    uint64_t bytes[2]; /* near, far */
    uint32_t steps[2];
};

static void account(const struct arrivals *arrivals)
{
    for (int far = 0; far < 2; far++) {
        if (arrivals->steps[far])
            staging_side()->received(far, arrivals->bytes[far], arrivals->steps[far]);
    }
}

static int source_of(const char *status)
{
    int source;
    memcpy(&source, status + abi()->source_at, sizeof source);
    return source;
}

static bool is_far(mpi_handle comm, int source)
{
    int own, there;
    mpi_handle group = NULL, world = NULL;
    REAL(Comm_rank, mpi_handle, int *)(abi_world(), &own);
    if (comm == abi_world())
        return staging_side()->node_of((uint32_t)source) != staging_side()->node_of((uint32_t)own);
    REAL(Comm_group, mpi_handle, mpi_handle *)(comm, &group);
    REAL(Comm_group, mpi_handle, mpi_handle *)(abi_world(), &world);
    REAL(Group_translate_ranks, mpi_handle, int, const int *, mpi_handle, int *)
    (group, 1, &source, world, &there);
    REAL(Group_free, mpi_handle *)(&group);
    REAL(Group_free, mpi_handle *)(&world);
    return there < 0 || staging_side()->node_of((uint32_t)there) != staging_side()->node_of((uint32_t)own);
}

/* Of a receive: how many bytes there are, by its status. */
static uint64_t received_bytes(const struct pending *request, const char *status)
{
    int count = 0;
    REAL(Get_count, const void *, mpi_handle, int *)(status, request->type, &count);
    return count == abi()->undefined ? UINT64_MAX : (uint64_t)count * staging_size(request->type);
}

static void complete(mpi_handle handle, const char *status, struct arrivals *arrivals)
{
    struct pending *request = take(handle);
    uint64_t bytes = UINT64_MAX;
    if (!request)
        return;
    if (request->is_receive)
        bytes = received_bytes(request, status);
    if (request->steps && !(request->is_receive && source_of(status) == abi()->proc_null)) {
        bool far = request->is_receive ? is_far(request->comm, source_of(status)) : request->is_far;
        arrivals->bytes[far] += bytes == UINT64_MAX ? request->bytes : bytes;
        arrivals->steps[far] = request->steps > arrivals->steps[far] ? request->steps : arrivals->steps[far];
    }
    for (int i = 0; i < STAGED_MOST; i++)
        staging_end(&request->staged[i], bytes);
    mem_free(request);
}

/* ---- waiting ---- */

static uint32_t looks_wanted(void)
{
    size_t looks = LOOKS_LEAST + largest / LOOK_BYTES;
    return (uint32_t)(looks < LOOKS_MOST ? looks : LOOKS_MOST);
}

int pending_wait_until(int (*look)(void *user, int *come), void *user)
{
    for (;;) {
        int come = 0, result = 0;
        for (int i = 0; i < LOOKS_AT_ONCE && !come && !result; i++)
            result = look(user, &come);
        if (come || result) {
            pending_note_message();
            return result;
        }
        if (staging_side())
            staging_side()->turn(looks_wanted());
        else
            sched_yield();
    }
}

/* What a program asks of some requests: all functions that wait and test are made of it. */
struct question {
    int count;
    void *handles;
    void *statuses;        /* as many as can be complete; of the program, or our own */
    int *number, *numbers; /* of those that are: of any, of some */
    enum { ONE, ALL, ANY, SOME } kind;
};

static int ask(void *user, int *come)
{
    const struct question *q = user;
    int result = 0;
    switch (q->kind) {
    case ONE:
        return REAL(Test, void *, int *, void *)(q->handles, come, q->statuses);
    case ALL:
        return REAL(Testall, int, void *, int *, void *)(q->count, q->handles, come, q->statuses);
    case ANY:
        return REAL(Testany, int, void *, int *, int *, void *)(q->count, q->handles, q->number, come,
                                                                q->statuses);
    case SOME:
        result = REAL(Testsome, int, void *, int *, int *, void *)(q->count, q->handles, q->number,
                                                                   q->numbers, q->statuses);
        *come = *q->number != 0;
    }
    return result;
}

static void complete_those(const struct question *q, const mpi_handle *before)
{
    struct arrivals arrivals = {0};
    bool any = q->kind == ANY, some = q->kind == SOME;
    int count = any ? *q->number != abi()->undefined : some ? *q->number : q->count;
    for (int i = 0; i < count; i++) {
        int at = any ? *q->number : some ? q->numbers[i] : i;
        const char *status = (const char *)q->statuses + (any ? 0 : (size_t)i * abi()->status_bytes);
        complete(before[at], status, &arrivals);
    }
    account(&arrivals);
}

/* waits: until it has come; else it is asked once, which takes a little time where it has not. */
static int answer(struct question *q, bool waits, int *come)
{
    char one[MPI_STATUS_MOST];
    size_t count = (size_t)(q->count > 0 ? q->count : 0);
    bool ignored = !q->statuses || (intptr_t)q->statuses == abi()->ignore;
    char *own = ignored ? count > 1 ? mem_alloc(count, MPI_STATUS_MOST) : one : NULL;
    mpi_handle *before = mem_alloc(count + 1, sizeof *before);
    int result;
    for (size_t i = 0; i < count; i++)
        before[i] = abi_handle(q->handles, (int)i);
    if (own)
        q->statuses = own;
    *come = 1;
    result = waits ? pending_wait_until(ask, q) : ask(q, come);
    if (!result && *come && staging_side() && !(q->kind == SOME && *q->number == abi()->undefined))
        complete_those(q, before);
    else if (!result && !*come && staging_side())
        staging_side()->ask();
    if (own && own != one)
        mem_free(own);
    mem_free(before);
    return result;
}

int pending_wait(void *handle, void *status)
{
    int come;
    return answer(&(struct question){.count = 1, .handles = handle, .statuses = status, .kind = ONE}, true,
                  &come);
}

int pending_wait_all(int count, void *handles, void *statuses)
{
    int come;
    return answer(&(struct question){.count = count, .handles = handles, .statuses = statuses, .kind = ALL},
                  true, &come);
}

EXPORT int MPI_Wait(void *handle, void *status)
{
    return pending_wait(handle, status);
}

EXPORT int MPI_Waitall(int count, void *handles, void *statuses)
{
    return pending_wait_all(count, handles, statuses);
}

EXPORT int MPI_Waitany(int count, void *handles, int *number, void *status)
{
    int come;
    struct question q = {
        .count = count, .handles = handles, .statuses = status, .number = number, .kind = ANY};
    return answer(&q, true, &come);
}

EXPORT int MPI_Waitsome(int count, void *handles, int *number, int *numbers, void *statuses)
{
    int come;
    struct question q = {.count = count,
                         .handles = handles,
                         .statuses = statuses,
                         .number = number,
                         .numbers = numbers,
                         .kind = SOME};
    return answer(&q, true, &come);
}

EXPORT int MPI_Test(void *handle, int *come, void *status)
{
    return answer(&(struct question){.count = 1, .handles = handle, .statuses = status, .kind = ONE}, false,
                  come);
}

EXPORT int MPI_Testall(int count, void *handles, int *come, void *statuses)
{
    return answer(&(struct question){.count = count, .handles = handles, .statuses = statuses, .kind = ALL},
                  false, come);
}

EXPORT int MPI_Testany(int count, void *handles, int *number, int *come, void *status)
{
    struct question q = {
        .count = count, .handles = handles, .statuses = status, .number = number, .kind = ANY};
    return answer(&q, false, come);
}

EXPORT int MPI_Testsome(int count, void *handles, int *number, int *numbers, void *statuses)
{
    int come;
    struct question q = {.count = count,
                         .handles = handles,
                         .statuses = statuses,
                         .number = number,
                         .numbers = numbers,
                         .kind = SOME};
    return answer(&q, false, &come);
}
