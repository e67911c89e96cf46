/* Bytes between ranks by MPI: a library that heddle loads when it is one of several ranks. Compiled with the
 * headers of whichever MPI is there; nothing else of Heddle knows MPI. */
#include <mpi.h>
#include "ranks/transport.h"

#include <fcntl.h>
#include <unistd.h>

enum { REQUESTS = 4096 };

static MPI_Comm comm;
static MPI_Request requests[REQUESTS];
static int free_numbers[REQUESTS], free_count;

static const char *start(uint32_t *number, uint32_t *count)
{
    int level, rank, size, is_started = 0;
    MPI_Initialized(&is_started);
    if (is_started)
        return "the program has started MPI itself; programs that use MPI run on a cluster (docs/cluster.md)";
    if (MPI_Init_thread(NULL, NULL, MPI_THREAD_SERIALIZED, &level) != MPI_SUCCESS)
        return "MPI cannot be started";
    if (level < MPI_THREAD_SERIALIZED)
        return "this MPI does not let threads take turns in calling it";
    if (MPI_Comm_dup(MPI_COMM_WORLD, &comm) != MPI_SUCCESS)
        return "MPI makes no communicator";
    MPI_Comm_set_errhandler(comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    *number = (uint32_t)rank;
    *count = (uint32_t)size;
    for (free_count = 0; free_count < REQUESTS; free_count++)
        free_numbers[free_count] = REQUESTS - 1 - free_count;
    return NULL;
}

static void end(void)
{
    MPI_Comm_free(&comm);
    MPI_Finalize();
}

/* MPICH's launcher drops what it has not read yet of what ranks have printed, and its library has a text of
 * its own, while who ends all has said why. */
static void kill_all(int status)
{
    enum { READ_US = 100000 };
    int none = open("/dev/null", O_WRONLY);
    usleep(READ_US);
    if (none >= 0)
        dup2(none, STDERR_FILENO);
    MPI_Abort(MPI_COMM_WORLD, status);
}

static int send(uint32_t to, int tag, const void *bytes, size_t count)
{
    if (!free_count)
        return -1;
    int number = free_numbers[--free_count];
    int why = MPI_Isend(bytes, (int)count, MPI_BYTE, (int)to, tag, comm, &requests[number]);
    return why == MPI_SUCCESS ? number : -1;
}

static int receive(uint32_t from, int tag, void *bytes, size_t most)
{
    if (!free_count)
        return -1;
    int number = free_numbers[--free_count];
    int why = MPI_Irecv(bytes, (int)most, MPI_BYTE, (int)from, tag, comm, &requests[number]);
    return why == MPI_SUCCESS ? number : -1;
}

static int done(int number)
{
    int is_done = 0;
    if (MPI_Test(&requests[number], &is_done, MPI_STATUS_IGNORE) != MPI_SUCCESS)
        return -1;
    if (is_done)
        free_numbers[free_count++] = number;
    return is_done;
}

static int waits(int from, int tag, uint32_t *who, size_t *count)
{
    int is_there = 0, bytes = 0;
    MPI_Status status;
    if (MPI_Iprobe(from == TRANSPORT_ANY ? MPI_ANY_SOURCE : from, tag, comm, &is_there, &status) !=
        MPI_SUCCESS)
        return -1;
    if (!is_there)
        return 0;
    MPI_Get_count(&status, MPI_BYTE, &bytes);
    *who = (uint32_t)status.MPI_SOURCE;
    *count = (size_t)bytes;
    return 1;
}

const struct ranks_transport *heddle_transport(void);

const struct ranks_transport *heddle_transport(void)
{
    static const struct ranks_transport transport = {.version = RANKS_TRANSPORT_VERSION,
                                                     .start = start,
                                                     .end = end,
                                                     .kill = kill_all,
                                                     .send = send,
                                                     .receive = receive,
                                                     .done = done,
                                                     .waits = waits};
    return &transport;
}
