#!/usr/bin/env bash
# Every bundled workload gives what its CPU reference gives, with its defaults and on several threads.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

names=$("$HEDDLE" help bench | awk '/^[A-Z]/ {on = /^CUDA workloads/} on && /^  [a-z]/ {print $1}')
[[ $(wc -w <<<"$names") -ge 30 ]] || fail "the list of workloads is too short: $names"
for name in $names; do
    for threads in 1 3; do
        run bench "$name" --threads "$threads"
        expect_status 0
        expect_line out "^$name: ok"
    done
done

# the order of blocks and threads does not show in the counts
counts() { "$HEDDLE" bench "$@" | sed 's/ thread instructions,.*/ thread instructions/'; }
for name in spmv histogram radixsort kmeans; do
    [[ $(counts "$name" --threads 1) == $(counts "$name" --threads 4) ]] || fail "$name: counts differ between 1 and 4 threads"
done

# atomics of blocks on several threads of the host: PTX and AMD's code
for system in h200 r9nano; do
    for words in 'kmeans --n 16000' 'histogram --n 200000'; do
        # shellcheck disable=SC2086
        run bench $words --system "$system" --threads 4
        expect_status 0
    done
done

# a lock that only independent progress of lanes can pass
run bench spinlock --after 1
expect_status 0

# options that are 0 or 1, and those that have names
chosen() { # KERNEL WORD...
    run bench "${@:2}" --mode timing
    expect_status 0
    expect_line out "^$1 "
}
chosen transpose_tiled transpose --tiled 1 --width 64
chosen transpose_naive transpose --tiled 0 --width 64
chosen spmv_warp spmv --warps 1 --rows 64
run bench allreduce --gpus 2 --algorithm direct --bytes 1KiB --json chosen.json
expect_line chosen.json '"algorithm": 2,'
run bench allreduce --gpus 2 --algorithm 1 --bytes 1KiB --json chosen.json
expect_line chosen.json '"algorithm": 1,'

# workloads whose kernels are for AMD GPUs only
refuses 'micro_gcn3_alu: this workload has no kernels in PTX' bench micro_gcn3_alu
refuses 'micro_gcn3_alu: this workload has no kernels in PTX' bench micro_gcn3_alu --mode timing

refuses '--n: 0 is not from 1' bench saxpy --n 0
refuses 'unknown option --count' bench saxpy --count 4
