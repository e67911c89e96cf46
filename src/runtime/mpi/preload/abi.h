/* MPI as its libraries have it: their own headers are not needed. Handles are pointers or numbers, which pass
 * through; what has to be known of a library is a row of abi.c. */
#ifndef RUNTIME_MPI_PRELOAD_ABI_H
#define RUNTIME_MPI_PRELOAD_ABI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define EXPORT __attribute__((visibility("default")))
#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* MPI's header has them */

typedef struct mpi_object *mpi_handle; /* a pointer, or a number in its lower half */

struct mpi_abi {
    const char *library, *symbol;                 /* that tells it */
    size_t handle_bytes, status_bytes, source_at; /* source_at: in a status */
    intptr_t in_place, ignore;                    /* MPI_IN_PLACE, MPI_STATUS(ES)_IGNORE */
    int any_source, proc_null, undefined;
    int cart, graph;          /* kinds of topologies; the third is MPI_DIST_GRAPH */
    const char *world_symbol; /* of MPI_COMM_WORLD; NULL: it is a number: */
    uintptr_t world;
};

const struct mpi_abi *abi(void);
mpi_handle abi_world(void);

/* A handle in the program's memory, as element `at` of an array. */
mpi_handle abi_handle(const void *array, int at);

static inline bool abi_is_in_place(const void *buffer)
{
    return (intptr_t)buffer == abi()->in_place;
}

enum { MPI_STATUS_MOST = 64 /* bytes */, MPI_ERR_BUFFER = 1, MPI_ERR_OTHER = 16 };

/* The library's own function: REAL(Comm_rank, mpi_handle, int *)(comm, &rank). */
void *abi_real(const char *name, void **kept);
#define REAL(name, ...)                                                                                      \
    ((int (*)(__VA_ARGS__))({                                                                                \
        static void *kept;                                                                                   \
        abi_real("PMPI_" #name, &kept);                                                                      \
    }))

#endif
