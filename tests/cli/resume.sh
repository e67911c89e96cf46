#!/usr/bin/env bash
# Timed runs that are saved in the middle and gone on with: the same output and statistics, byte for byte, as of one that
# ran straight on, with any number of threads; and files that do not fit.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
small=(--set gpu.sm_count=8 --no-progress)
gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'
saxpy=$HEDDLE_HOME/bench/cuda/saxpy.ptx

# without_host FILE: the statistics, without what depends on this computer.
without_host() {
    python3 -c 'import json, sys; stats = json.load(open(sys.argv[1])); del stats["host"]; print(json.dumps(stats, indent=1))' "$1"
}

# cycle_at SHARE FILE: the cycle at which this share of the time has passed that the launches took.
cycle_at() {
    python3 -c 'import json, sys; share, name = sys.argv[1:]; launches = json.load(open(name))["launches"]
print(max(1, int(float(share) * max(launch.get("end_ps", 0) for launch in launches) * 1980e6 / 1e12)))' "$1" "$2"
}

# cycle_in FILE: a cycle in the middle of the last launch. (Copies before it may take longer than it does.)
cycle_in() {
    python3 -c 'import json, sys; launch = json.load(open(sys.argv[1]))["launches"][-1]
print(int((launch["start_ps"] + launch["end_ps"]) / 2 * 1980e6 / 1e12))' "$1"
}

# with OPTIONS WORD...: runs heddle with WORD..., of which one is @: the options stand there.
with() {
    local -a words=() options
    local word
    read -ra options <<<"$1"
    shift
    for word; do
        if [[ $word == @ ]]; then words+=("${options[@]}"); else words+=("$word"); fi
    done
    run "${words[@]}"
}

# same_from_checkpoints OPTION SHARES WORD...: straight on, and from checkpoints at these shares of the time on. OPTION is
# that which asks for statistics.
same_from_checkpoints() {
    local option=$1 shares=$2 share
    shift 2
    with "--threads 1 $option straight" "$@"
    expect_status 0
    grep -v 'million warp' out >straight.out
    without_host straight >straight.same
    for share in $shares; do
        rm -f saved
        with "--threads 2 $option stats --checkpoint saved --checkpoint-at $(cycle_at "$share" straight)" "$@"
        expect_status 0
        expect_line err '^heddle: checkpoint .*saved written at cycle [0-9]+; --resume goes on from there$'
        expect_same_file "$ran: output" <(grep -v 'million warp' out) straight.out
        expect_same_file "$ran: statistics" <(without_host stats) straight.same
        with "--threads 5 $option stats --resume saved" "$@"
        expect_status 0
        expect_same_file "$ran: output" <(grep -v 'million warp' out) straight.out
        expect_same_file "$ran: statistics" <(without_host stats) straight.same
    done
}

# ---- programs and workloads ----

same_from_checkpoints --stats '0.2 0.9' run --mode timing "${small[@]}" @ ./useptx "$saxpy"
same_from_checkpoints --json '0 0.00001' bench vecadd --mode timing "${small[@]}" --set system.gpus=2 @ # before the first copy
for workload in spinlock matmul_tiled prodcons lud; do # locks; shared memory and barriers; flags; several kernels
    same_from_checkpoints --json 0.7 bench "$workload" --mode timing "${small[@]}" @
done
# pages that are walked for, and hits that wait for them
same_from_checkpoints --json '0.3 0.6' bench lud --mode timing "${small[@]}" --set sm.l1_tags=physical \
    --set tlb.l1_entries=2 --set tlb.page=4KiB @
if has nvcc "checkpoints of nvcc's programs"; then
    if nvcc -O2 -arch=sm_90 -cudart shared -o checkpoint "$HEDDLE_HOME/tests/programs/checkpoint.cu" >built 2>&1; then
        same_from_checkpoints --stats '0.019 0.05 0.5 0.96 0.99' run --mode timing "${small[@]}" @ ./checkpoint
        same_from_checkpoints --stats 0.6 run --mode timing "${small[@]}" --kernels 4- @ ./checkpoint
    else
        fail "checkpoint.cu does not compile: $(head -n 5 built)"
    fi
    # malloc and free of many SMs' pieces: a checkpoint among them, in the middle of each kernel
    nvcc -O2 -arch=sm_90 -cudart shared -o heap "$HEDDLE_HOME/tests/programs/heap.cu" >built 2>&1 || fail heap.cu
    same_from_checkpoints --stats '0.1 0.45 0.9' run --mode timing "${small[@]}" @ ./heap
    for name in streams texture texels constants; do # of the last two, loads are under way for most of the time
        nvcc -O2 -cudart shared -o "$name" "$HEDDLE_HOME/tests/programs/$name.cu" >built 2>&1 || fail "$name.cu"
        same_from_checkpoints --stats '0.5 0.8' run --mode timing "${small[@]}" @ "./$name"
    done
fi

# ---- ending there, and from one checkpoint to the next ----

long=(bench spinlock --mode timing "${small[@]}")
run "${long[@]}" --json straight
without_host straight >straight.same
run "${long[@]}" --checkpoint first --checkpoint-at 100000 --checkpoint-stop
expect_status 0
expect_line err '^heddle: checkpoint first written at cycle 100000; --resume goes on from there$'
run "${long[@]}" --resume first --checkpoint second --checkpoint-at 300000 --checkpoint-stop
expect_status 0
run "${long[@]}" --resume second --json stats
expect_status 0
expect_same_file 'statistics over two checkpoints' <(without_host stats) straight.same

run "${long[@]}" --checkpoint never --checkpoint-at 100000000
expect_status 0
expect_line err '^heddle: the program ended before the cycle of --checkpoint-at: none was written$'
[[ ! -e never ]] || fail 'a checkpoint was written behind the end'

# a signal, in a run of a second or two
longer=(bench spinlock --rounds 150 --mode timing "${small[@]}")
run "${longer[@]}" --json straight
start "${longer[@]}" --checkpoint told
sleep 0.2
kill -TERM "$child" 2>/dev/null
wait "$child"
child=''
if [[ -e told ]]; then # it may have ended before
    run "${longer[@]}" --resume told --json stats
    expect_status 0
    expect_same_file 'statistics behind a signal' <(without_host stats) <(without_host straight)
fi

# ---- what does not fit ----

# refused STATUS PATTERN WORD...: heddle says so in one line, and ends.
refused() {
    local expected=$1 pattern=$2
    shift 2
    run "$@"
    expect_status "$expected"
    expect_line err "$pattern"
    expect_lines err 1
}

program=(run --mode timing "${small[@]}")
run "${program[@]}" --checkpoint saved --checkpoint-at 8000 --checkpoint-stop ./useptx "$saxpy"
expect_status 0
refused 1 'cannot read nothing: No such file' "${program[@]}" --resume nothing ./useptx "$saxpy"
refused 1 'is no checkpoint of a timed run' "${program[@]}" --resume "$saxpy" ./useptx "$saxpy"
refused 1 "with 'words = .*saxpy.ptx', where this one has 'words = .*saxpy.ptx more'" "${program[@]}" --resume saved \
    ./useptx "$saxpy" more
refused 1 "with 'program = ./useptx, digest .*', where this one has 'program = .*true" "${program[@]}" --resume saved \
    "$(command -v true)"
run "${program[@]}" --set sm.l1_latency=40 --resume saved ./useptx "$saxpy"
expect_status 1
expect_line err "with 'l1_latency = 32', where this one has 'l1_latency = 40'"
refused 1 "with 'workload = spinlock" bench vecadd --mode timing "${small[@]}" --resume first
head -c 5000 saved >cut
refused 1 'cut is damaged or cut short' "${program[@]}" --resume cut ./useptx "$saxpy"
for at in 3 30 3000 $(($(wc -c <saved) - 9)); do
    cp saved damaged
    printf 'x' | dd of=damaged bs=1 seek="$at" conv=notrunc 2>/dev/null
    run "${program[@]}" --resume damaged ./useptx "$saxpy"
    expect_status 1
    expect_line err 'damaged '
done
refused 2 '--checkpoint-at needs --checkpoint FILE' "${program[@]}" --checkpoint-at 5 ./useptx "$saxpy"
refused 2 'needs --mode timing' run --mode functional --checkpoint saved ./useptx "$saxpy"
refused 2 'cannot write nowhere/saved' "${program[@]}" --checkpoint nowhere/saved ./useptx "$saxpy"

# again and again, while a program runs
run "${program[@]}" --stats straight ./useptx "$saxpy"
run "${program[@]}" --checkpoint again --checkpoint-every 2000 ./useptx "$saxpy"
expect_status 0
run "${program[@]}" --resume again --stats stats ./useptx "$saxpy"
expect_status 0
expect_same_file 'from the last of several checkpoints' <(without_host stats) <(without_host straight)

# the same script, which starts something else
printf '#!/bin/sh\n%s\n' 'exec ./useptx "$@" $WHAT' >script
chmod +x script
export WHAT=''
run "${program[@]}" --stats straight ./script "$saxpy"
run "${program[@]}" --checkpoint saved --checkpoint-at "$(cycle_in straight)" --checkpoint-stop ./script "$saxpy"
expect_status 0
run "${program[@]}" --resume saved ./script "$saxpy"
expect_status 0
expect_line out '^ptx: ok$'
export WHAT=fault
run "${program[@]}" --resume saved ./script "$saxpy"
expect_status 1
expect_line err '^heddle: the program does something else than when the checkpoint was written: it begins .*, where it '
export WHAT=name
run "${program[@]}" --resume saved ./script "$saxpy"
expect_status 1
expect_line err '^heddle: the program ended before it came to where the checkpoint was written$'
