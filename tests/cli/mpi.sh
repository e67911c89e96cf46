#!/usr/bin/env bash
# MPI programs on a simulated cluster: each rank sees the GPUs of its node, messages of device memory are staged, and
# simulated times are the same in each run.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs mpirun
needs mpicc
libraries=$(dirname "$HEDDLE")/cuda
ptx=$HEDDLE_HOME/tests/programs/mpi.ptx
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMPI_MCA_rmaps_base_oversubscribe=1
small='--set gpu.sm_count=8' # as small a GPU as the results need
mpicc -o mpi "$HEDDLE_HOME/tests/programs/mpi.c" -L"$libraries" -l:libcuda.so.1 || fail 'mpi.c does not compile'

# the system: as a tree, and what cannot be
run system cluster-2x4
expect_status 0
expect_line out '^cluster-2x4: 8 GPUs in 2 nodes, '
expect_line out '^\+- gpu5: NVIDIA H200, of node 1$'
refuses 'system.nodes: 8 GPUs are not 3 nodes with as many each' system cluster-2x4 --set system.nodes=3
refuses 'system.nodes: .* cannot be unified' system cluster-2x4 --unified 8
refuses 'several nodes .* does not go with --checkpoint' run --system cluster-2x4 --checkpoint c "$0"

# ranks are spread over nodes, with time and without
for ranks in 1 2 3; do
    for mode in functional timing; do
        # shellcheck disable=SC2086
        run run --mode $mode --system cluster-2x4 $small mpirun -n $ranks ./mpi "$ptx" 1000000
        expect_status 0
        expect_same "$ran" $ranks "$(grep -c '^mpi: ok$' out)"
        expect_same "$ran" $ranks "$(grep -c ' 4 GPUs$' out)"
    done
done

# the same statistics each time, and with any number of threads
for threads in 1 2 2; do
    # shellcheck disable=SC2086
    run run --system cluster-2x4 $small --threads $threads --stats "s$threads.json" mpirun -n 4 ./mpi "$ptx" 4000000
    expect_status 0
    [[ ! -e first ]] || expect_same_file 'statistics of two runs' first <(figures "s$threads.json")
    figures "s$threads.json" >first
done
grep -q '"device": 6' first || fail 'no launch is on a GPU of the second node'

# persistent requests, neighbours, messages that are replaced, matched, packed
mpicc -w -o mpi_more "$HEDDLE_HOME/tests/programs/mpi_more.c" -L"$libraries" -l:libcuda.so.1 ||
    fail 'mpi_more.c does not compile'
for ranks in 1 3; do
    # shellcheck disable=SC2086
    run run --mode timing --system cluster-2x4 $small mpirun -n $ranks ./mpi_more
    expect_status 0
    expect_same "$ran" $ranks "$(grep -c '^mpi_more: ok$' out)"
done
run run --mode functional --system cluster-2x4 mpirun -n 2 ./mpi_more
expect_status 0

# Fortran
if has gfortran 'MPI from Fortran' && has mpif90 'MPI from Fortran'; then
    for how in '' '-DMPIF_H -fallow-argument-mismatch'; do
        # shellcheck disable=SC2086
        mpif90 -w $how -o mpi_fortran "$HEDDLE_HOME/tests/programs/mpi_fortran.F90" -L"$libraries" -l:libcuda.so.1 ||
            fail 'mpi_fortran.F90 does not compile'
        # shellcheck disable=SC2086
        run run --mode timing --system cluster-2x4 $small mpirun -n 3 ./mpi_fortran
        expect_status 0
        expect_same "$ran" 3 "$(grep -c '^mpi_fortran: ok$' out)"
    done
fi

# one job after another, and a program that is in none
cat >twice <<END
mpirun -n 2 ./mpi $ptx && mpirun -n 2 ./mpi $ptx && ./mpi $ptx
END
# shellcheck disable=SC2086
run run --system cluster-2x4 $small bash twice
expect_status 0
expect_same "$ran" 5 "$(grep -c '^mpi: ok$' out)"

# what is not staged says so
cat >refused.c <<'END'
#include <mpi.h>
int cuInit(unsigned), cuDevicePrimaryCtxRetain(void **, int), cuCtxSetCurrent(void *), cuMemAlloc_v2(void **, size_t);
int main(void)
{
    void *context, *at;
    MPI_Win window;
    MPI_Init(NULL, NULL);
    cuInit(0), cuDevicePrimaryCtxRetain(&context, 0), cuCtxSetCurrent(context), cuMemAlloc_v2(&at, 64);
    MPI_Win_create(at, 64, 4, MPI_INFO_NULL, MPI_COMM_WORLD, &window);
    MPI_Finalize();
}
END
mpicc -o refused refused.c -L"$libraries" -l:libcuda.so.1 || fail 'refused.c does not compile'
# shellcheck disable=SC2086
run run --system cluster-2x4 $small mpirun -n 1 ./refused
[[ $status != 0 ]] || fail "$ran: is good"
expect_line err '^heddle: MPI_Win_create does not take memory of a GPU yet: copy it to the host$'

# NCCL: the id goes by MPI, the data by kernels of the ranks' GPUs; two nodes, and two ranks on each
mpicc -o nccl_mpi "$HEDDLE_HOME/tests/programs/nccl_mpi.c" -L"$libraries" -l:libnccl.so.2 -l:libcudart.so.13 ||
    fail 'nccl_mpi.c does not compile'
run run --mode functional --system cluster-2x4 mpirun -n 3 ./nccl_mpi
expect_status 0
expect_same "$ran" 3 "$(grep -c '^nccl_mpi: ok$' out)"
for ranks in 2 2 4; do
    # shellcheck disable=SC2086
    run run --system cluster-2x4 $small --stats "n$ranks.json" mpirun -n $ranks ./nccl_mpi 700
    expect_status 0
    expect_same "$ran" $ranks "$(grep -c '^nccl_mpi: ok$' out)"
    [[ ! -e nccl$ranks ]] || expect_same_file 'statistics of two runs' nccl$ranks <(figures "n$ranks.json")
    figures "n$ranks.json" >nccl$ranks
done

# processes of one node, by --shared; and with a machine each they are refused
# shellcheck disable=SC2086
run run --shared --system h200-x2 $small mpirun -n 2 ./nccl_mpi 700
expect_status 0
expect_same "$ran" 2 "$(grep -c '^nccl_mpi: ok$' out)"
# shellcheck disable=SC2086
run run --mode timing --system h200-x2 $small mpirun -n 2 ./nccl_mpi 700
[[ $status != 0 ]] || fail "$ran: is good"
expect_line err '^heddle: NCCL between processes needs one machine for them: heddle run --shared'
