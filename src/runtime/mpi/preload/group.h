/* Who takes part in a collective, and what one takes. */
#ifndef RUNTIME_MPI_PRELOAD_GROUP_H
#define RUNTIME_MPI_PRELOAD_GROUP_H

#include "runtime/mpi/preload/pending.h"

/* `steps` messages behind each other, with these bytes; between nodes, if the communicator is of several. */
struct pending group_cost(mpi_handle comm, uint32_t steps, uint64_t bytes);

/* The same for `ways` up and down a tree of all ranks. */
struct pending group_tree_cost(mpi_handle comm, uint32_t ways, uint64_t bytes);

#endif
