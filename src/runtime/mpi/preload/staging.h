/* Buffers of MPI that are memory of a GPU: a copy in the host's memory takes their place. */
#ifndef RUNTIME_MPI_PRELOAD_STAGING_H
#define RUNTIME_MPI_PRELOAD_STAGING_H

#include "runtime/mpi/preload/abi.h"
#include "runtime/mpi/side.h"

/* Heddle's library; NULL before MPI_Init, and where the process is in no run of Heddle. */
const struct mpi_side *staging_side(void);
void staging_start(void);

enum staging_use { STAGING_READ = 1, STAGING_WRITTEN = 2 }; /* by MPI */

struct staged {
    char *user, *host; /* host NULL: the buffer is used as it is */
    char *room;        /* that host is in */
    size_t bytes;
    bool has_gaps; /* between elements: those of the user's buffer are in the copy, too */
    bool is_kept;  /* for the next time: staging_drop ends it */
    enum staging_use use;
};

/* `count` elements from there on; parts (or NULL) says where so many parts of other counts begin, in
 * elements. */
struct staging_parts {
    const int *counts, *at;
    int number;
};
/* What MPI is to be given. */
void *staging_begin(struct staged *staged, const void *user, int64_t count, const struct staging_parts *parts,
                    mpi_handle type, enum staging_use use);
/* `bytes` of data: no more was written. */
void staging_end(struct staged *staged, size_t bytes);

/* Of a copy that is kept: what MPI reads is read again; it ends. */
void staging_again(const struct staged *staged);
void staging_drop(struct staged *staged);

/* A buffer of so many bytes, whatever is in them. */
void *staging_begin_bytes(struct staged *staged, const void *user, size_t bytes, enum staging_use use);

/* A copy of elements of the host's memory, and where to free it by mem_free. */
void *staging_duplicate(const void *user, int64_t count, mpi_handle type, char **room);

size_t staging_size(mpi_handle type); /* bytes of data in an element */

/* Refuses a buffer that is memory of a GPU, in one line. */
bool staging_refuses(const char *function, const void *buffer);

#endif
