#include "runtime/mpi/preload/group.h"

struct group {
    int ranks, own;
    bool is_far; /* not all are of one node */
};

static struct group group_of(mpi_handle comm)
{
    struct group group = {.ranks = 1};
    mpi_handle all = NULL, world = NULL;
    REAL(Comm_size, mpi_handle, int *)(comm, &group.ranks);
    REAL(Comm_rank, mpi_handle, int *)(comm, &group.own);
    REAL(Comm_group, mpi_handle, mpi_handle *)(comm, &all);
    REAL(Comm_group, mpi_handle, mpi_handle *)(abi_world(), &world);
    for (int i = 0; i < group.ranks && staging_side(); i++) {
        int pair[2] = {group.own, i}, there[2];
        REAL(Group_translate_ranks, mpi_handle, int, const int *, mpi_handle, int *)
        (all, 2, pair, world, there);
        group.is_far |=
            there[0] < 0 || there[1] < 0 ||
            staging_side()->node_of((uint32_t)there[0]) != staging_side()->node_of((uint32_t)there[1]);
    }
    REAL(Group_free, mpi_handle *)(&all);
    REAL(Group_free, mpi_handle *)(&world);
    return group;
}

static uint32_t levels(int ranks)
{
    uint32_t count = 0;
    while (1 << count < ranks)
        count++;
    return count;
}

struct pending group_cost(mpi_handle comm, uint32_t steps, uint64_t bytes)
{
    struct group group = group_of(comm);
    return (struct pending){.bytes = bytes, .steps = steps, .is_far = group.is_far};
}

struct pending group_tree_cost(mpi_handle comm, uint32_t ways, uint64_t bytes)
{
    struct group group = group_of(comm);
    return (struct pending){
        .bytes = group.ranks > 1 ? bytes : 0, .steps = ways * levels(group.ranks), .is_far = group.is_far};
}
