#!/usr/bin/env bash
# Launches with clusters of blocks: recorded in time, they replay to the same statistics, with any number of threads and
# from a checkpoint on. What cannot take them says so.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# record FOLDER WORD...: a workload in time, recorded; its figures go to the file expected.
record() {
    local folder=$1
    shift
    run bench "$@" --mode timing --no-progress --record "$folder" --json executed.json
    expect_status 0
    figures executed.json >expected
}

# same FOLDER WORD...: the replay of the trace with these options gives what is in the file expected.
same() {
    run replay "$@" --no-progress --stats replayed.json
    expect_status 0
    expect_same_file "$ran and execution" expected <(figures replayed.json)
}

# Loads, streams, the barrier, multicast copies, atomics; products with TMA, barriers in memory and signals to them.
while read -r folder words; do
    # shellcheck disable=SC2086 # several words
    record "$folder" $words
    same "$folder"
    same "$folder" --threads 3
done <<'END_OF_LIST'
load micro_cluster --kind 0 --log 3
stream micro_cluster --kind 1 --log 2
barrier micro_cluster --kind 2 --log 1 --warps 4
multicast micro_cluster --kind 3 --log 2 --clusters 2
atomic micro_cluster --kind 4
bf16 gemm_tma --m 2 --n 2 --k 5 --pairs 2 --type bf16
gemm gemm_tma --m 1 --n 3 --k 6 --pairs 1
END_OF_LIST

# ... from a checkpoint in the middle of the last kernel on
read -r middle < <(python3 -c '
import json
launch = json.load(open("executed.json"))["launches"][0]
print((launch["start_ps"] + launch["end_ps"]) * 198 // 200000)') # 1.98 GHz
run replay gemm --checkpoint saved --checkpoint-at "$middle" --checkpoint-stop --no-progress
expect_status 0
[[ -s saved ]] || fail "$ran: nothing was saved"
same gemm --resume saved
same gemm --resume saved --threads 2

# ... and files are the same for any number of threads
run bench gemm_tma --m 1 --n 3 --k 6 --pairs 1 --mode timing --no-progress --threads 3 --record again
expect_status 0
expect_same_file 'blocks of a trace recorded with 1 and 3 threads' gemm/blocks again/blocks

# ---- other ways to look at them ----

run trace info gemm
expect_status 0
run trace print gemm
expect_status 0
expect_line out "arrives at the cluster's barrier with 32 threads"
expect_line out 'for blocks [12] of the cluster, too:  asynchronously reads'
expect_line out 'of other blocks \([0-9a-f]+\):  signals 8 bytes at'
run replay gemm --sample 5 --no-progress
expect_status 0

refused() {
    local line=$1
    shift
    run "$@"
    expect_status 1
    expect_line err "$line"
    expect_lines err 1
}
refused '--sync relaxed: launch 0 runs in clusters of blocks' replay gemm --sync relaxed
refused 'launch 0 runs in clusters of blocks, which cannot be cut' trace cut gemm --blocks 0-0 --output part
refused 'launch 0 runs in clusters of blocks, which Accel-Sim does not know' trace convert gemm --format accelsim --output sass
run trace cut gemm --output whole
expect_status 0
same whole

# Without time, what goes to other blocks is not seen.
run bench gemm_tma --mode functional --record untimed
expect_status 1
expect_line err 'gemm_tma_f16_2 runs in clusters of blocks, which are recorded with time only: add --mode timing'
