#!/usr/bin/env bash
# --trace-mem: traces of what kernels want of global memory, one of each SM.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
saxpy=$HEDDLE_HOME/bench/cuda/saxpy.ptx
gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'

# sums PREFIX: accesses, reads and writes of all its traces.
sums() {
    "$HEDDLE" trace info "$1".*.htrace |
        awk '/accesses/ { a += $2; r += $3; w += $5 } END { print a + 0, "accesses", r + 0, "reads", w + 0, "writes" }'
}

# ---- counts ----

# c = a + b of 100,000 floats: of each array 3,125 lines of 128 bytes, in one access each
for threads in 1 4; do
    run bench vecadd --n 100000 --threads "$threads" --trace-mem "v$threads"
    expect_status 0
    expect_line err '^heddle: traces of 132 SMs, 9375 accesses, [0-9.]+ bytes each: v[14].0.htrace to v[14].131.htrace$'
    expect_same 'accesses' '9375 accesses 6250 reads 3125 writes' "$(sums "v$threads")"
done
for trace in v1.*; do
    expect_same_file 'traces with 1 and 4 threads' "$trace" "v4${trace#v1}"
done
run trace info v1.5.htrace # blocks 5, 137 and 269 of 256 threads: 8 warps, 3 accesses each
expect_line out 'accesses +72: 48 reads, 24 writes'
expect_line out 'bytes +128.00 '

# with a block on each SM, and in simulated time, the same ones
run bench vecadd --n 100000 --mode timing --trace-mem timed
expect_same 'accesses in simulated time' '9375 accesses 6250 reads 3125 writes' "$(sums timed)"
run bench vecadd --n 100000 --set gpu.sm_count=10 --mode functional --trace-mem ten
expect_same 'accesses with 10 SMs' '9375 accesses 6250 reads 3125 writes' "$(sums ten)"
expect_same 'traces of 10 SMs' 10 "$(find . -name 'ten.*.htrace' | wc -l)"

# atomics read and write; what blocks do in turn, racy programs and those with locks: the same in each run
for name in histogram bfs spinlock prodcons; do
    run bench "$name" --trace-mem one --threads 1
    expect_status 0
    run bench "$name" --trace-mem two --threads 4
    expect_status 0
    for trace in one.*; do
        expect_same_file "$name in two runs" "$trace" "two${trace#one}"
    done
done

# ---- programs ----

run run --trace-mem s ./useptx "$saxpy" # 8 blocks of 4 warps: x and y are read, y is written
expect_status 0
expect_line out '^ptx: ok$'
expect_line err '^heddle: traces of 8 SMs, 96 accesses, '
expect_same 'accesses of a program' '96 accesses 64 reads 32 writes' "$(sums s)"
run run --trace-mem t ./useptx "$saxpy"
expect_same_file 'traces of a program in two runs' s.3.htrace t.3.htrace
# and where each warp also reads eight sectors of as many lines, and does atomics there, which read and write
sed 's/^\tfma.rn/\tand.b32 %r3, %r1, 7;\n\tmul.wide.u32 %rd5, %r3, 256;\n\tadd.s64 %rd5, %rd4, %rd5;\n\tld.global.f32 %f4, [%rd5];\n\tred.global.or.b32 [%rd5], 0;\n&/' \
    "$saxpy" >apart.ptx
for mode in timing functional; do
    run run --mode "$mode" --trace-mem t ./useptx apart.ptx
    expect_line out '^ptx: ok$'
    expect_same "accesses apart, $mode" '864 accesses 576 reads 288 writes' "$(sums t)"
done
run trace info t.0.htrace
expect_line out 'bytes +42.67 ' # 12 of 128 bytes, 96 of 32
run run --trace-mem s sh -c "./useptx '$saxpy' && ./useptx '$saxpy'"
expect_status 0
expect_line err '^heddle: traces of 8 SMs, 96 accesses, .*/s.0.htrace to .*/s.7.htrace$'
expect_line err '^heddle: traces of 8 SMs, 96 accesses, .*/s.p1.0.htrace to .*/s.p1.7.htrace$'
expect_same_file 'traces of two processes' s.3.htrace s.p1.3.htrace

# ---- none ----

rm -f ./*.htrace
run run --trace-mem none true
expect_status 1
expect_line err '^heddle: --trace-mem: no kernel accessed global memory: there are no traces$'
run run --trace-mem none ./useptx "$saxpy" killed
expect_status 137
expect_line err '^heddle: --trace-mem: a process of the program ended before its traces were whole: there are none$'
refuses '--trace-mem: cannot write no/such.0.htrace: No such file' bench vecadd --trace-mem no/such
refuses "--trace-mem: expected how names of traces shall begin, not './'" bench vecadd --trace-mem ./
refuses '--trace-mem: a checkpoint has no traces' bench vecadd --trace-mem x --mode timing --checkpoint c
refuses '--trace-mem: a checkpoint has no traces' run --trace-mem x --mode timing --checkpoint c ./useptx
expect_same 'traces of what failed' '' "$(find . -name '*htrace*' -o -name '*unfinished*')"
