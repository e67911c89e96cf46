#!/usr/bin/env bash
# bench/hetero: programs that use CPU and GPU, on this machine's CPU and on a simulated one.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
hetero=$(dirname "$HEDDLE")/hetero/heddle_hetero
programs=(backprop bfs hotspot kmeans lud nn nw pathfinder srad coalescing cache latency bandwidth copy zerocopy atomics beside)

# all_right COUNT: as many lines, and each result is right.
all_right() {
    expect_status 0
    [[ $(grep -c ' result=right ' out) == "$1" ]] || fail "$ran: expected $1 right results: $(cat out)"
}

for options in '' --zero-copy; do
    # shellcheck disable=SC2086 # words
    run run --system gtx580 --mode functional "$hetero" "${programs[@]}" flag --size least --patience 20000 $options
    all_right 18
done
run run --system gtx580 --mode timing --no-progress "$hetero" "${programs[@]}" flag --size least --patience 20000
all_right 18
expect_line out '^program=latency .* cycles=[1-9][0-9.]+$'

run run --mode functional "$hetero" bfs --size 1
[[ $status == 2 ]] || fail "a size that is too small: status $status"
expect_line err "no size for all of these programs: '1'"
run run --mode functional "$hetero" bfz
[[ $status == 2 ]] || fail "a program that does not exist: status $status"
expect_line err "no program 'bfz'"

needs qemu-x86_64

# On a simulated CPU. The parts make up the region, to the nanosecond, and times are the same in each run.
for options in '' --zero-copy; do
    # shellcheck disable=SC2086 # words
    run run --cpu simple --system gtx580 --no-progress "$hetero" "${programs[@]}" --size least $options
    all_right 17
    while read -r line; do
        [[ $line =~ \ cpu_ns=([0-9]+)\ copy_ns=([0-9]+)\ kernel_ns=([0-9]+)\ region_ns=([0-9]+)\  ]] || fail "no times: $line"
        sum=$((BASH_REMATCH[1] + BASH_REMATCH[2] + BASH_REMATCH[3]))
        [[ $sum == "${BASH_REMATCH[4]}" && $sum -gt 0 ]] || fail "the parts are not the region: $line"
    done <out
done
cp out first
run run --cpu simple --system gtx580 --no-progress "$hetero" "${programs[@]}" --size least --zero-copy
expect_same_file 'two runs' first out
