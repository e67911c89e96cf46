/* Heddle's side of MPI: copies of device memory, and waiting. */
#include "runtime/mpi/side.h"
#include "runtime/cuda/api.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/cluster.h"

#include <pthread.h>

enum { KEPT = 64 /* pieces of pinned memory, for the next message */ };

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct {
    void *at;
    size_t bytes;
} kept[KEPT];
static struct stream **streams; /* by device: copies of MPI are in none of the program's */

static bool start(void)
{
    common_enter("MPI start");
    bool good = !cuda_initialize();
    common_leave(0);
    return good;
}

static bool find(const void *at, struct memory_facts *facts)
{
    return common_is_started() && !common_is_forked() &&
           memory_find(cuda_driver(), (uint64_t)(uintptr_t)at, facts);
}

static bool is_device(const void *at)
{
    struct memory_facts facts;
    if (!find(at, &facts))
        return false;
    return facts.kind == MEMORY_DEVICE || facts.kind == MEMORY_VARIABLE || facts.kind == MEMORY_MAPPED ||
           facts.kind == MEMORY_MANAGED;
}

/* ---- memory of the host ---- */

/* Powers of two, so that they fit again. */
static size_t piece_bytes(size_t bytes)
{
    size_t piece = 4096;
    while (piece < bytes)
        piece *= 2;
    return piece;
}

static void *take(size_t bytes)
{
    void *at = NULL;
    size_t piece = piece_bytes(bytes);
    pthread_mutex_lock(&lock);
    for (int i = 0; i < KEPT && !at; i++) {
        if (kept[i].at && kept[i].bytes == piece) {
            at = kept[i].at;
            kept[i].at = NULL;
        }
    }
    pthread_mutex_unlock(&lock);
    if (!at && memory_host_alloc(cuda_driver(), piece, HOST_PORTABLE, &at))
        at = NULL;
    return at;
}

static void give(void *at)
{
    struct memory_facts facts;
    bool is_kept = false;
    if (!find(at, &facts))
        return;
    pthread_mutex_lock(&lock);
    for (int i = 0; i < KEPT && !is_kept; i++) {
        if (!kept[i].at) {
            kept[i].at = at;
            kept[i].bytes = facts.bytes;
            is_kept = true;
        }
    }
    pthread_mutex_unlock(&lock);
    if (!is_kept)
        memory_host_free(cuda_driver(), at);
}

/* ---- copies ---- */

static struct stream *stream_of(struct device *device)
{
    unsigned index = device_index(device);
    pthread_mutex_lock(&lock);
    if (!streams)
        streams = mem_alloc(driver_device_count(cuda_driver()), sizeof *streams);
    if (!streams[index] && stream_new(device, STREAM_NON_BLOCKING, 0, &streams[index]))
        streams[index] = NULL;
    struct stream *stream = streams[index];
    pthread_mutex_unlock(&lock);
    return stream ? stream : device_default_stream(device);
}

static bool copy(void *to, const void *from, size_t bytes)
{
    struct memory_facts facts;
    const void *of_device = is_device(to) ? to : from;
    if (!find(of_device, &facts))
        return false;
    struct device *device = facts.device ? facts.device : driver_device(cuda_driver(), 0);
    struct stream *stream = stream_of(device);
    common_enter("MPI copy");
    enum result result = stream_copy_bytes(stream, (uintptr_t)to, (uintptr_t)from, bytes, true);
    if (!result)
        result = stream_synchronize(stream);
    common_leave(0);
    return !result;
}

/* ---- waiting ---- */

static void turn(uint32_t looks)
{
    driver_turn(cuda_driver(), looks);
}

static void message(void)
{
    driver_message(cuda_driver());
}

static void set_away(bool away)
{
    driver_set_away(cuda_driver(), away);
}

static void ask(void)
{
    driver_pass(cuda_driver(), driver_system(cuda_driver())->spec.call_time);
}

static uint32_t node_of(uint32_t rank)
{
    return driver_node_of_rank(cuda_driver(), rank);
}

static void received(bool is_far, uint64_t bytes, uint32_t steps)
{
    driver_pass(cuda_driver(), cluster_message_ps(driver_system(cuda_driver()), is_far, bytes, steps));
}

EXPORT const struct mpi_side *mpi_side_get(void)
{
    static const struct mpi_side side = {.bytes = sizeof side,
                                         .start = start,
                                         .is_device = is_device,
                                         .take = take,
                                         .give = give,
                                         .copy = copy,
                                         .turn = turn,
                                         .message = message,
                                         .set_away = set_away,
                                         .ask = ask,
                                         .node_of = node_of,
                                         .received = received};
    return &side;
}
