#!/usr/bin/env bash
# Traces of instructions: what is recorded replays to the same statistics as execution, on any system, with any number of
# threads and from checkpoints on; and what is damaged, cut or of another kind is refused.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda

# same FOLDER WORD...: the replay of the trace with these options gives what is in the file expected.
same() {
    run replay "$@" --no-progress --stats replayed.json
    expect_status 0
    expect_same_file "$ran and execution" expected <(figures replayed.json)
}

# execute WORD...: a workload in time; its figures go to the file expected.
execute() {
    run bench "$@" --mode timing --no-progress --json executed.json
    expect_status 0
    figures executed.json >expected
}

# ---- the same as execution ----

small=(--set gpu.sm_count=8)
while read -r -a words; do
    name=${words[0]}
    run bench "${words[@]}" "${small[@]}" --mode functional --record "$name"
    expect_status 0
    expect_line err '^heddle: recorded [0-9]+ of [0-9]+ launches, [0-9]+ warp instructions, [0-9.]+ bytes each: '"$name"'$'
    execute "${words[@]}" "${small[@]}"
    same "$name" "${small[@]}"
    same "$name" "${small[@]}" --threads 5
done <<'END'
vecadd --n 20000
matmul_tiled --m 64 --n 64 --k 64
lud
nw
heartwall
radixsort --n 8192
hotspot
END

# ... on other systems than the one it was recorded for
for options in '--system a100' '--system v100 --cold-caches' '--system h200 --set l2.bytes=1MiB --set dram.bandwidth=500GB/s'; do
    read -r -a words <<<"$options"
    execute lud "${words[@]}"
    same lud "${words[@]}"
done

# ... of AMD's GPUs
run bench fir --n 16384 --system r9nano "${small[@]}" --mode functional --record amd
expect_status 0
execute fir --n 16384 --system r9nano "${small[@]}"
same amd "${small[@]}" # it knows its system
same amd --system r9nano "${small[@]}" --threads 2

# ... recorded while time passes: then even programs whose instructions depend on it
for name in prodcons bfs; do
    run bench "$name" --mode timing --no-progress --record "$name" --json executed.json
    expect_status 0
    figures executed.json >expected
    same "$name"
    same "$name" --threads 2
done
run replay prodcons
expect_line err '^heddle: 1 launch, first of prodcons: uses what atomic operations return, or watches memory that others write'

# ... from a checkpoint in the middle of a kernel on
execute lud "${small[@]}"
read -r middle < <(python3 -c '
import json
launch = json.load(open("executed.json"))["launches"][1]
print((launch["start_ps"] + launch["end_ps"]) * 198 // 200000)') # 1.98 GHz
run replay lud "${small[@]}" --checkpoint saved --checkpoint-at "$middle" --checkpoint-stop --no-progress
expect_status 0
same lud "${small[@]}" --resume saved
same lud "${small[@]}" --resume saved --threads 3

# ... and files are the same for any number of threads
run bench vecadd --n 20000 "${small[@]}" --mode functional --threads 3 --record again
expect_same_file 'blocks of a trace recorded with 1 and 3 threads' vecadd/blocks again/blocks

# ---- parts of a program ----

run bench lud --mode functional --record part --kernels 1-3
expect_line err '^heddle: recorded 3 of [0-9]+ launches'
execute lud --kernels 1-3
run replay part --no-progress --stats replayed.json
expect_status 0
for stats in executed replayed; do
    python3 -c 'import json, sys; print(*(l["metrics"]["gpc__cycles_elapsed.max"] for l in json.load(open(sys.argv[1]))["launches"]
        if "gpc__cycles_elapsed.max" in l.get("metrics", {})))' $stats.json >$stats
done
expect_same_file 'cycles of three launches' executed replayed
execute lud --kernels 2
run replay lud --kernels 2 --no-progress --stats replayed.json
expect_line out '^replayed 1 of '

run bench lud --mode functional --record limited --record-limit 1KiB
expect_status 0
expect_line err '^heddle: the trace ends before the program did: the limit of 1024 bytes was reached$'
run replay limited --no-progress
expect_status 0
expect_line err 'the trace ends before the program did'

# ---- a part that stands for all ----

run bench hotspot --steps 100 --mode functional --record steps
run replay steps --sample 5 --no-progress --json sample.json
expect_status 0
expect_line out '^all kernels +50 +3 '
expect_line out '^estimated from [0-9.]+% of all instructions'
run replay steps --no-progress --stats replayed.json
python3 - <<'END' || fail 'the estimate is far off'
import json, sys
estimate = json.load(open("sample.json"))["sample"]
true = 1000 * sum(k["metrics"]["gpu__time_duration.sum"] for k in json.load(open("replayed.json"))["kernels"])
sys.exit(not (abs(estimate["time_ps"] / true - 1) < 0.15 and 0 < estimate["error"] <= 0.05))
END
refuses '--sample: expected percent' replay steps --sample 99
refuses '--sample does not go with' replay steps --sample 5 --kernels 1
refuses 'launch 0 was not recorded' replay part --sample 5

# ---- programs ----

if has gcc 'a program'; then
    gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'
    run run --record program ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx"
    expect_status 0
    expect_line err '^heddle: recorded 1 of 1 launches'
    run run --mode timing --no-progress --stats executed.json ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx"
    figures executed.json >expected
    same program
fi

# ---- what cannot be ----

refuses 'nothing is no folder with a trace of instructions' replay nothing
refuses 'expected the folder of a trace' replay
refuses 'warps of 32 lanes, and the GPU of 64' replay lud --system r9nano
refuses 'already holds a trace' bench lud --mode functional --record lud
refuses 'expected no --checkpoint' bench lud --mode timing --record x --checkpoint y
refuses 'expected --record FOLDER with it' bench lud --record-limit 5KiB
refuses 'a trace is replayed with time' replay lud --mode functional
mkdir empty
refuses 'empty holds no trace of instructions' replay empty

cp -r lud damaged
truncate -s -1 damaged/blocks
refuses 'damaged/blocks is cut' replay damaged
cp lud/blocks damaged/blocks
truncate -s 100 damaged/index
refuses 'damaged/index is damaged' replay damaged
echo 'something else' >damaged/index
refuses 'damaged/index is not the index of a trace' replay damaged
cp lud/index damaged/index
printf '\xff' | dd of=damaged/blocks bs=1 seek=60 conv=notrunc status=none
run replay damaged --no-progress
[[ $status == 1 ]] || fail "a damaged block: status $status"
expect_line err '^heddle: kernel .* in the trace: (a chunk of blocks is|its instructions are|its accesses to memory are) damaged$'
grep -q 'stuck' err && fail 'a damaged block is told as a fault of the simulation'

# a disk that is full: no trace, and that is told
(
    ulimit -f 64
    run bench aes --n 65536 --mode functional --record full
    [[ $status != 0 ]] || fail 'a trace on a full disk'
    expect_line err '^heddle: .*(no trace was recorded|there is no trace): cannot write'
    exit $failures
) || failures=$((failures + 1))
