#!/usr/bin/env bash
# MPICH, where it is: ranks that its launcher starts, by itself and by --ranks, and programs built with its compiler.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs mpirun.mpich
needs mpicc.mpich
same() { # FILE FILE WHAT: but for the host's time
    expect_same_file "$3" <(grep -v '"wall_s"\|"cpu_s"\|"threads"' "$1") <(grep -v '"wall_s"\|"cpu_s"\|"threads"' "$2")
}

# ---- our ranks ----
if [[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks_mpich.so ]]; then
    words=(bench bfs --nodes 4096 --mode timing)
    run "${words[@]}" --json one.json
    timeout 60 mpirun.mpich -n 3 "$HEDDLE" "${words[@]}" --json three.json >out 2>err || fail "mpirun.mpich: $(cat err)"
    same one.json three.json 'three ranks of MPICH'
    mkdir bin
    printf '#!/bin/sh\nexec mpirun.mpich "$@"\n' >bin/mpirun
    chmod +x bin/mpirun
    PATH=$PWD/bin:$PATH run "${words[@]}" --ranks 2 --json two.json
    expect_status 0
    same one.json two.json 'two ranks by --ranks, with MPICH'
    PATH=$PWD/bin:$PATH refuses 'there is work for 2' bench phold --islands 2 --ranks 4

    # a rank that is killed is named
    PATH=$PWD/bin:$PATH "$HEDDLE" bench phold --time 1s --ranks 2 >out 2>err &
    run=$!
    rank=''
    for ((i = 0; i < 100 && ${#rank} == 0; i++)); do
        sleep 0.1
        rank=$(pgrep -f "^$HEDDLE bench phold --time 1s$" | while read -r process; do
            ! tr '\0' '\n' <"/proc/$process/environ" | grep -q '^PMI_RANK=1$' || echo "$process"
        done | tail -1)
    done
    sleep 1
    kill -KILL "$rank"
    ! wait "$run" || fail 'a run without one of its ranks ended well'
    expect_line err "^heddle: rank 1 on $(hostname) was ended by signal 9 \\(Killed\\); --resume goes on"
else
    skip 'no MPICH, or no other MPI, when Heddle was built'
fi

# ---- programs ----
ptx=$HEDDLE_HOME/tests/programs/mpi.ptx
mpicc.mpich -w -o mpi "$HEDDLE_HOME/tests/programs/mpi.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 ||
    fail 'mpi.c does not compile'
for ranks in 2 3; do # one rank: its Allgatherv does not look at displacements
    for mode in functional timing; do
        run run --mode $mode --system cluster-2x4 --stats s.json mpirun.mpich -n $ranks ./mpi "$ptx" 1000000
        expect_status 0
        expect_same "$ran" $ranks "$(grep -c '^mpi: ok$' out)"
    done
done
mpicc.mpich -w -o mpi_more "$HEDDLE_HOME/tests/programs/mpi_more.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 ||
    fail 'mpi_more.c does not compile'
run run --mode timing --system cluster-2x4 mpirun.mpich -n 2 ./mpi_more
expect_status 0
expect_same "$ran" 2 "$(grep -c '^mpi_more: ok$' out)"
if has gfortran 'MPI from Fortran' && has mpif90.mpich 'MPI from Fortran'; then
    mpif90.mpich -w -DMPIF_H -fallow-argument-mismatch -o mpi_fortran "$HEDDLE_HOME/tests/programs/mpi_fortran.F90" \
        -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'mpi_fortran.F90 does not compile'
    run run --mode timing --system cluster-2x4 mpirun.mpich -n 2 ./mpi_fortran
    expect_status 0
    expect_same "$ran" 2 "$(grep -c '^mpi_fortran: ok$' out)"
fi
run run --mode timing --system cluster-2x4 --stats s.json mpirun.mpich -n 3 ./mpi "$ptx" 1000000
figures s.json >first
run run --system cluster-2x4 --stats s.json mpirun.mpich -n 3 ./mpi "$ptx" 1000000
expect_same_file 'statistics of two runs' first <(figures s.json)
