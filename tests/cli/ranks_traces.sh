#!/usr/bin/env bash
# Traces that a run over ranks writes are those that it writes on one: of memory accesses, of instructions.
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
trace_mem 2 1 bfs --nodes 1024 --kernels 1-3
trace_mem 4 1 allreduce --system h200-x8 --set system.gpus=4
trace_mem 2 1 fir --system r9nano-x4 --set system.unified=yes --n 2048

# ---- --record: instructions, byte for byte, and what is in doubt. The index differs by the command and by addresses of
# the host, but replays are the same ----
facts() { # FOLDER
    "$HEDDLE" trace info "$1" | grep -v '^  program\|^  bytes' | tail -n +2
}
statistics() { # FOLDER
    "$HEDDLE" replay "$1" --json "$1.json" >/dev/null
    grep -v '"program"\|"wall_s"\|"cpu_s"\|"threads"' "$1.json"
}
record() { # RANKS THREADS WORDS...
    local ranks=$1 threads=$2
    shift 2
    rm -rf one some
    run bench "$@" --mode timing --record one
    expect_status 0
    run bench "$@" --mode timing --record some --ranks "$ranks" --threads "$threads"
    expect_status 0
    expect_line err '^heddle: recorded [0-9]+ of [0-9]+ launches, '
    expect_same_file "$* on $ranks ranks of $threads threads" one/blocks some/blocks
    expect_same "$*: facts" "$(facts one)" "$(facts some)"
    expect_same "$*: replay" "$(statistics one)" "$(statistics some)"
}
record 3 2 bfs --nodes 1024 # blocks that race
record 2 1 bfs --nodes 1024 --kernels 2-4
record 4 1 allreduce --system h200-x8 --set system.gpus=4
record 2 1 fir --system r9nano-x4 --set system.unified=yes --n 2048
