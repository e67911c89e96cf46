#!/usr/bin/env bash
# A program of heddle.h over ranks: its listener is told of the same events in the same order as on one.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v mpirun >/dev/null && [[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]] || exit 77
libraries=$(dirname "$HEDDLE")/cuda
saxpy=$HEDDLE_HOME/bench/cuda/saxpy.ptx
gcc -I "$HEDDLE_HOME/include" -o listen "$HEDDLE_HOME/tests/programs/listen.c" -L"$libraries" -lheddle ||
    fail 'listen.c does not compile'

run run --mode timing ./listen "$saxpy"
expect_status 0
expect_line out '^[0-9]{4} events, '
mv out one
for ranks in 2 3; do # whole GPUs, and one in parts
    run run --mode timing --ranks "$ranks" --threads 2 ./listen "$saxpy"
    expect_status 0
    expect_same_file "events on $ranks ranks" one out
done

# one that is not closed leaves nothing behind; data can only be looked at
run run --mode timing --ranks 2 ./listen "$saxpy" leave
expect_status 0
run run --mode timing --ranks 2 ./listen "$saxpy" alter
expect_status 1
expect_line err '^listen: a listener changed data that passes: over ranks it can only look at it; run it on one rank$'
# another system while the first has the ranks
run run --mode timing --ranks 2 ./listen "$saxpy" twice
expect_status 1
expect_line err "^listen: another system of this program has the run's ranks: close it first$"
