#include "runtime/mpi/preload/staging.h"
#include "base/mem.h"

#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const struct mpi_side *_Atomic side;

const struct mpi_side *staging_side(void)
{
    return atomic_load(&side);
}

/* The libraries of `heddle run` are the first that the loader finds. */
void staging_start(void)
{
    void *library = getenv("HEDDLE_RUN_DIR") ? dlopen("libcuda.so.1", RTLD_NOW) : NULL;
    const struct mpi_side *(*get)(void) = NULL;
    *(void **)&get = library ? dlsym(library, MPI_SIDE_NAME) : NULL;
    if (get && get()->bytes == sizeof *side && get()->start())
        atomic_store(&side, get());
}

size_t staging_size(mpi_handle type)
{
    int bytes = 0;
    REAL(Type_size, mpi_handle, int *)(type, &bytes);
    return bytes > 0 ? (size_t)bytes : 0;
}

/* The bytes from the first to behind the last, and where the first is. dense: none of them are gaps. */
struct span {
    intptr_t first;
    size_t bytes;
    bool dense;
};

static struct span span_of(int64_t count, const struct staging_parts *parts, mpi_handle type)
{
    intptr_t lower = 0, extent = 0, true_lower = 0, true_extent = 0;
    int64_t from = 0, to = count;
    REAL(Type_get_extent, mpi_handle, intptr_t *, intptr_t *)(type, &lower, &extent);
    REAL(Type_get_true_extent, mpi_handle, intptr_t *, intptr_t *)(type, &true_lower, &true_extent);
    if (parts) {
        from = INT64_MAX, to = INT64_MIN;
        for (int i = 0; i < parts->number; i++) {
            if (!parts->counts[i])
                continue;
            from = parts->at[i] < from ? parts->at[i] : from;
            to =
                parts->at[i] + (int64_t)parts->counts[i] > to ? parts->at[i] + (int64_t)parts->counts[i] : to;
        }
    }
    if (from >= to)
        return (struct span){0};
    bool dense = !parts && true_extent == extent && (intptr_t)staging_size(type) == extent;
    return (struct span){from * extent + true_lower, (size_t)((to - from - 1) * extent + true_extent), dense};
}

static _Noreturn void fail(const char *what)
{
    dprintf(STDERR_FILENO, "heddle: %s\n", what);
    REAL(Abort, mpi_handle, int)(abi_world(), 1);
    _exit(1);
}

static void copy_in(const struct staged *staged)
{
    bool reads = (staged->use & STAGING_READ) || staged->has_gaps;
    if (reads && !staging_side()->copy(staged->host, staged->user, staged->bytes))
        fail("a buffer of MPI cannot be copied from the GPU");
}

/* `before`: bytes of room that are in front of the copy. */
static void make_copy(struct staged *staged, const void *user, const struct span *span, size_t before)
{
    staged->user = (char *)(uintptr_t)user + span->first;
    staged->bytes = span->bytes;
    staged->has_gaps = !span->dense;
    staged->room = staging_side()->take(before + span->bytes);
    if (!staged->room)
        fail("there is no memory for the copy of a message of MPI");
    staged->host = staged->room + before;
    copy_in(staged);
}

static bool is_staged(const void *user)
{
    const struct mpi_side *heddle = staging_side();
    return heddle && user && !abi_is_in_place(user) && heddle->is_device(user);
}

/* Gaps between elements that MPI writes are to stay as they are, so they are read, too. */
void *staging_begin(struct staged *staged, const void *user, int64_t count, const struct staging_parts *parts,
                    mpi_handle type, enum staging_use use)
{
    *staged = (struct staged){.use = use};
    if (!is_staged(user))
        return (void *)(uintptr_t)user;
    struct span span = span_of(count, parts, type);
    if (!span.bytes)
        return (void *)(uintptr_t)user;
    /* MPICH 4.0 puts what Allgatherv of one rank gives at the buffer's beginning, wherever it belongs */
    make_copy(staged, user, &span, parts && span.first > 0 ? (size_t)span.first : 0);
    return staged->host - span.first;
}

void *staging_begin_bytes(struct staged *staged, const void *user, size_t bytes, enum staging_use use)
{
    *staged = (struct staged){.use = use};
    if (!bytes || !is_staged(user))
        return (void *)(uintptr_t)user;
    make_copy(staged, user, &(struct span){.bytes = bytes, .dense = true}, 0);
    return staged->host;
}

void *staging_duplicate(const void *user, int64_t count, mpi_handle type, char **room)
{
    struct span span = span_of(count, NULL, type);
    *room = mem_alloc(span.bytes + 1, 1);
    memcpy(*room, (const char *)user + span.first, span.bytes);
    return *room - span.first;
}

void staging_again(const struct staged *staged)
{
    if (staged->host)
        copy_in(staged);
}

void staging_drop(struct staged *staged)
{
    if (staged->host)
        staging_side()->give(staged->room);
    staged->host = NULL;
}

void staging_end(struct staged *staged, size_t bytes)
{
    const struct mpi_side *heddle = staging_side();
    if (!staged->host)
        return;
    bytes = bytes < staged->bytes && !staged->has_gaps ? bytes : staged->bytes;
    if ((staged->use & STAGING_WRITTEN) && bytes && !heddle->copy(staged->user, staged->host, bytes))
        fail("a message of MPI cannot be copied to the GPU");
    if (!staged->is_kept)
        staging_drop(staged);
}

bool staging_refuses(const char *function, const void *buffer)
{
    const struct mpi_side *heddle = staging_side();
    if (!heddle || !buffer || abi_is_in_place(buffer) || !heddle->is_device(buffer))
        return false;
    char line[128];
    snprintf(line, sizeof line, "%s does not take memory of a GPU yet: copy it to the host", function);
    fail(line);
}
