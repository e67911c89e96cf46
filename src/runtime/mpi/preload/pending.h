/* Requests of MPI: what is to be done when they are complete; and waiting for them. */
#ifndef RUNTIME_MPI_PRELOAD_PENDING_H
#define RUNTIME_MPI_PRELOAD_PENDING_H

#include "runtime/mpi/preload/staging.h"

enum { STAGED_MOST = 2 };

/* What is known of a request. */
struct pending {
    struct pending *next;
    mpi_handle handle;
    struct staged staged[STAGED_MOST];
    bool is_receive; /* its bytes are those of its status: of elements */
    mpi_handle type; /* of this type, */
    mpi_handle comm; /* from a rank of this communicator */
    uint64_t bytes;  /* that a collective brings, */
    uint32_t steps;  /* in so many messages that follow each other; 0: nothing is waited for */
    bool is_far;
};

/* The library has begun it, with this result; it is kept until it is complete. Gives the result. */
int pending_begun(const struct pending *request, int result, const void *handle);

bool pending_is_known(mpi_handle handle); /* begun, and not complete */

/* MPI's own functions. A status that the program does not want may be NULL or what its library has for it. */
int pending_wait(void *handle, void *status);
int pending_wait_all(int count, void *handles, void *statuses);

/* Until this looks and finds it has come: with time passing meanwhile. */
int pending_wait_until(int (*look)(void *user, int *come), void *user);
void pending_note_message(void); /* others may wait for what was just done */

#endif
