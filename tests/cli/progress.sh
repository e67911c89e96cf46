#!/usr/bin/env bash
# Progress is shown on a terminal, for runs that take over a second, and nowhere else.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

if ! script -qec true /dev/null </dev/null >/dev/null 2>&1; then
    skip 'all of it: no script command (of util-linux) here, which makes a terminal'
    exit 0
fi

# on_terminal WORD...: runs with stdout in the file out, and stderr a terminal, whose text goes to the file err.
on_terminal() {
    ran="heddle $* (on a terminal)"
    # Ctrl-C after 3 s: the runs below are longer on any host
    script -qec "timeout --foreground -s INT 3 '$HEDDLE' $* >out" /dev/null </dev/null >err
    status=$?
}

long=(bench phold --islands 64 --time 3ms)
clear=$'\r\033\\[K'
on_terminal "${long[@]}"
expect_line out '^phold events='
expect_line err "${clear}phold: [0-9]+\.[0-9]% done, [0-9.e+]+ [KMG] events/s, [0-9]+ (s|min) left"
shown=$(grep -oE 'phold: [0-9.]+% done' err | wc -l)
((shown >= 3 && shown <= 12)) || fail "$ran: progress was shown $shown times in 3 s"
# shares rise, and the line is gone when the run is over
grep -oE '[0-9.]+% done' err | grep -oE '[0-9.]+' >shares
sort -n shares | cmp -s - shares || fail "$ran: shares fall: $(paste -sd' ' shares)"
expect_line err "${clear}heddle: interrupted: "

# a benchmark without an end in time tells how much of its work is done
on_terminal bench gpu-traffic --requests 1000000 --threads 2
expect_line err "${clear}gpu-traffic: [0-9]+\.[0-9]% done, [0-9.e+]+ [KMG] events/s, [0-9]+ (s|min) left"

# a kernel in simulated time
loop=(bench loop --mode timing --rounds 20000 --blocks 4096 --set gpu.sm_count=8)
on_terminal "${loop[@]}"
expect_line err "${clear}loop_int: [0-9]+ of 4096 blocks, [0-9]+ cycles: .*[0-9.e+]+ [KMG] warp instructions/s"
on_terminal "${loop[@]}" --no-progress
if grep -q 'of 4096 blocks' err; then fail "$ran: shows progress"; fi

# a kernel without time, and Ctrl-C in it
gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'ptx.c does not compile'
blocks=(run ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx" blocks)
on_terminal "${blocks[@]}"
expect_line err "${clear}saxpy: [0-9]+ of 2147483647 blocks: [0-9.]+% done, [0-9.e+]+ [KMG] warp instructions/s, [0-9]+ min left"
expect_line err "${clear}heddle: ./useptx was ended by signal 2"
on_terminal run --no-progress "${blocks[@]:1}"
if grep -q 'of 2147483647 blocks' err; then fail "$ran: shows progress"; fi

# over ranks: what all of them have done, here the second, which has the GPU
if command -v mpirun >/dev/null && [[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]]; then
    on_terminal run --mode timing --system h200-x2 --set gpu.sm_count=8 --ranks 2 "${blocks[@]:1}" 1
    expect_line err "${clear}saxpy: [1-9][0-9]* of 2147483647 blocks, [0-9]+ cycles: .*, [1-9][0-9.]* [KMG] warp instructions/s"
fi

# short runs show nothing
on_terminal bench phold --islands 4 --time 50ns
expect_status 0
expect_empty err

# no terminal, no progress
ran="heddle ${long[*]} (no terminal)"
timeout --foreground -s INT 2.5 "$HEDDLE" "${long[@]}" >out 2>err </dev/null
expect_lines err 1
expect_line err '^heddle: interrupted: '
