#include "runtime/mpi/preload/abi.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

/* Open MPI 4.1 and MPICH 4.0 are tested; MPICH and its relatives have a common ABI. */
static const struct mpi_abi rows[] = {
    {.library = "Open MPI",
     .symbol = "ompi_mpi_comm_world",
     .handle_bytes = 8,
     .status_bytes = 24,
     .source_at = 0,
     .in_place = 1,
     .ignore = 0,
     .any_source = -1,
     .proc_null = -2,
     .undefined = -32766,
     .cart = 1,
     .graph = 2,
     .world_symbol = "ompi_mpi_comm_world"},
    {.library = "MPICH",
     .symbol = "MPIR_Err_return_comm", /* or any: the last row is taken where no other fits */
     .handle_bytes = 4,
     .status_bytes = 20,
     .source_at = 8,
     .in_place = -1,
     .ignore = 1,
     .any_source = -2,
     .proc_null = -1,
     .undefined = -32766,
     .cart = 2,
     .graph = 1,
     .world = 0x44000000},
};
enum { ROWS = sizeof rows / sizeof *rows };

const struct mpi_abi *abi(void)
{
    static const struct mpi_abi *found;
    for (size_t i = 0; i < ROWS && !found; i++) {
        if (i + 1 == ROWS || dlsym(RTLD_DEFAULT, rows[i].symbol))
            found = &rows[i];
    }
    return found;
}

mpi_handle abi_world(void)
{
    static mpi_handle world;
    if (!world)
        world = abi()->world_symbol ? dlsym(RTLD_DEFAULT, abi()->world_symbol) : (mpi_handle)abi()->world;
    return world;
}

mpi_handle abi_handle(const void *array, int at)
{
    mpi_handle handle = NULL;
    memcpy(&handle, (const char *)array + (size_t)at * abi()->handle_bytes, abi()->handle_bytes);
    return handle;
}

void *abi_real(const char *name, void **kept)
{
    if (*kept)
        return *kept;
    *kept = dlsym(RTLD_DEFAULT, name);
    if (!*kept) {
        dprintf(STDERR_FILENO, "heddle: the program's MPI has no %s\n", name);
        _exit(1);
    }
    return *kept;
}
