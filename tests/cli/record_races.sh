#!/usr/bin/env bash
# heddle replay says which recorded launches have data races: their instructions may depend on time.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

races='has threads that (read what others write|write to the same place) at the same time'

# doubts NAME WORD...: records the workload and replays it; what replay says is in err.
doubts() {
    rm -rf trace
    run bench "$@" --record trace
    expect_status 0
    run replay trace --no-progress --set gpu.sm_count=4
    expect_status 0
}

# has_races, has_none NAME WORD...
has_races() {
    doubts "$@"
    expect_line err "^heddle: [0-9]+ launch(es)?, first of $1: $races, so its instructions may depend on time;"
}

has_none() {
    doubts "$@"
    ! grep -qE "$races" err || fail "$ran: $* has no races, but it says: $(cat err)"
}

# Blocks of a level read distances that others write. With time or without, and with any number of threads.
has_races bfs --nodes 4096 --mode functional
cp err one
has_races bfs --nodes 4096 --mode functional --threads 3
expect_same_file 'bfs: what is told of recordings with 1 and 3 threads' one err
has_races bfs --nodes 4096 --mode timing --no-progress

# Sizes at which the edges of blocks are not those of lines.
for mode in functional timing; do
    has_none vecadd --n 5000 --mode $mode
    has_none matmul_tiled --m 49 --n 35 --k 33 --mode $mode
    has_none transpose --width 75 --height 50 --mode $mode
    has_none hotspot --width 45 --height 37 --mode $mode
done
for name in 'spmv --rows 500' 'scan --n 5000' 'bitonic --log 9' 'kmeans --n 500' 'histogram --n 5000' 'reduction --n 5000' \
    'radixsort --n 2000' 'nw --tiles 2' 'lud --tiles 3' 'fft --batch 3' 'pathfinder --columns 700' 'matmul_tensor'; do
    # shellcheck disable=SC2086 # the words of a workload
    has_none $name --mode functional
done
