#!/usr/bin/env bash
# What a run over ranks writes about itself is what it writes on one: traces of memory accesses.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v mpirun >/dev/null && [[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]] || exit 77

# same_files PREFIX PREFIX WHAT: files of both beginnings, and no other.
same_files() {
    local file
    for file in "$1".*; do
        expect_same_file "$3" "$file" "$2${file#"$1"}"
    done
    expect_same "$3: files" "$(find . -name "$1.*" | wc -l)" "$(find . -name "$2.*" | wc -l)"
}

# ---- --trace-mem: a GPU in parts, whole ones, a unified one, launches without time in between ----
trace_mem() { # RANKS THREADS WORDS...
    local ranks=$1 threads=$2
    shift 2
    rm -f one.* some.*
    run bench "$@" --mode timing --trace-mem one
    expect_status 0
    run bench "$@" --mode timing --trace-mem some --ranks "$ranks" --threads "$threads"
    expect_status 0
    expect_line err '^heddle: traces of [0-9]+ SMs, '
    same_files one some "$* on $ranks ranks of $threads threads"
}
trace_mem 3 2 vecadd --n 100000
trace_mem 2 1 bfs --nodes 4096 --kernels 1-3
trace_mem 4 1 allreduce --system h200-x8 --set system.gpus=4
trace_mem 2 1 fir --system r9nano-x4 --set system.unified=yes
