/* What the library that stands between a program and MPI asks of Heddle's: the two are apart, because the
 * first one is loaded into every process that `heddle run` starts. */
#ifndef RUNTIME_MPI_SIDE_H
#define RUNTIME_MPI_SIDE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct mpi_side {
    uint32_t bytes; /* of this struct: both libraries are of the same build */

    /* The process uses a GPU from here on, if it did not: it takes its place in the machine. */
    bool (*start)(void);

    /* Whether this address is of memory that only copies reach. */
    bool (*is_device)(const void *at);
    /* Memory of the host for copies of it, pinned; and back. */
    void *(*take)(size_t bytes);
    void (*give)(void *at);
    bool (*copy)(void *to, const void *from, size_t bytes); /* takes simulated time */

    /* As the functions of these names in driver.h. */
    void (*turn)(uint32_t looks);
    void (*message)(void);
    void (*set_away)(bool away);
    void (*ask)(void); /* a question that takes the host a little time */

    uint32_t (*node_of)(uint32_t rank); /* of the job */
    /* Messages of these bytes together were waited for; is_far: from other nodes. */
    void (*received)(bool is_far, uint64_t bytes, uint32_t steps);
};

#define MPI_SIDE_NAME "mpi_side_get"
const struct mpi_side *mpi_side_get(void);

#endif
