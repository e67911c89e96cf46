#!/usr/bin/env bash
# Memory that kernels of several ranks share: malloc in kernels of a GPU that is spread in parts, and managed memory that
# moves between GPUs and the program. The same bytes as on one rank, from checkpoints too.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v mpirun >/dev/null && [[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]] || exit 77

# the same but for the host's time, and what the program prints
same() { # WHAT
    diff <(grep -v '"wall_s"\|"cpu_s"\|"threads"' one.json) <(grep -v '"wall_s"\|"cpu_s"\|"threads"' some.json) >differs ||
        fail "$1: $(head -4 differs)"
    cmp -s one.out some.out || fail "$1: the program prints $(head -2 some.out)"
}
# on RANKS THREADS OPTION...: as `program` says, with these options
on() {
    local ranks=$1 threads=$2
    shift 2
    "$HEDDLE" run --mode timing --no-progress --ranks "$ranks" --threads "$threads" --stats some.json "$@" \
        "${program[@]}" >some.out 2>some.err
    same "${program[*]} on $ranks ranks of $threads threads, $*"
}
once() { # as on one rank
    "$HEDDLE" run --mode timing --no-progress --stats one.json "${program[@]}" >one.out 2>one.err ||
        fail "${program[*]}: $(cat one.err)"
}

# ---- malloc and free in kernels, of pieces of other SMs, too ----
if has nvcc 'malloc in kernels'; then
    nvcc -O2 -arch=sm_90 -cudart shared -o heap "$HEDDLE_HOME/tests/programs/heap.cu" >built 2>&1 || fail "$(cat built)"
    program=(--set gpu.sm_count=8 ./heap)
    once
    on 2 2
    on 3 1 --checkpoint three.ckpt --checkpoint-at 100000
    on 4 1 --resume three.ckpt
    "$HEDDLE" run --mode timing --ranks 2 --checkpoint stop.ckpt --checkpoint-at 8000 --checkpoint-stop "${program[@]}" >out 2>&1 ||
        fail "a run that a checkpoint ends has status $?: $(cat out)"
    program=(--set gpu.sm_count=8 --kernels 2- ./heap) # the first one is run by the host itself
    once
    on 2 1
fi

# ---- managed memory that moves on demand ----
if has nvcc 'managed memory'; then
    for name in managed managed_room; do
        nvcc -O2 -arch=sm_90 -cudart shared -o "$name" "$HEDDLE_HOME/tests/programs/$name.cu" >built 2>&1 || fail "$(cat built)"
    done
    program=(--system h200-x2 --set gpu.sm_count=8 ./managed)
    once
    on 2 2 # and GPUs in parts, with a checkpoint when some have pages:
    on 3 1 --checkpoint three.ckpt --checkpoint-at 500000
    on 1 1 --resume three.ckpt
    on 2 1 --resume three.ckpt
    program=(--system h200-x2 --set gpu.sm_count=8 --set gpu.memory=5MiB ./managed_room) # blocks have to leave
    once
    on 2 1
fi
