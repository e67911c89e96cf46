#!/usr/bin/env bash
# heddle run and what programs do to themselves: fork.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
ptx=$HEDDLE_HOME/tests/programs/processes.ptx
gcc -o processes "$HEDDLE_HOME/tests/programs/processes.c" -L"$libraries" -l:libcuda.so.1 || fail 'processes.c does not compile'

# ---- fork: the child gets CUDA's error and ends; what it becomes by exec starts afresh ----

for mode in functional timing; do
    run run --mode $mode ./processes "$ptx" fork
    expect_status 0
    expect_line out '^processes: ok$'
    expect_line err '^heddle: 2 kernels, 5 launches'
done
