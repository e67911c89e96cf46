#!/usr/bin/env bash
# The sentence that says why a kernel is slow: small kernels that are each slow for a known reason, on 8 SMs.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
ptx=$HEDDLE_HOME/tests/programs/causes.ptx

gcc -o launch "$HEDDLE_HOME/tests/programs/launch.c" -L"$libraries" -l:libcuda.so.1 || fail 'launch.c does not compile'

# why KERNEL BLOCKS THREADS BYTES SENTENCE...: what --stats and the summary say of it begins so (each is a part, in order).
why() {
    local kernel=$1 blocks=$2 threads=$3 bytes=$4
    shift 4
    run run --mode timing --set gpu.sm_count=8 --stats stats ./launch "$ptx" "$kernel" "$blocks" "$threads" "$bytes"
    expect_status 0
    python3 - "$@" <<'END_OF_PYTHON' || fail "the sentence of $kernel"
import json, re, sys
launch, = json.load(open("stats"))["launches"]
why, at = launch["why"], 0
for part in sys.argv[1:]:
    found = re.compile(part).match(why, at)
    if not found:
        sys.exit(f"it says\n  {why}\nand not, from column {at} on,\n  {part}")
    at = found.end()
told = " ".join(line.strip() for line in open("err"))
if why not in told:
    sys.exit(f"the summary does not say\n  {why}")
END_OF_PYTHON
}

why divergent 64 256 64 'divergence: 18\.[0-9] of 32 lanes active, most at causes.cu:12 \(xor.b32\)'
why contended 64 256 64 'contended atomics: each waits [0-9.]+ [nu]s for others in its L2 slice, most at causes.cu:23 \(atom.global.add.u32\)'
why contended_red 64 256 64 'contended atomics: each waits [0-9.]+ us for others in its L2 slice, most at causes.cu:33 \(red.global.add.f32\)'
why scattered 64 256 1048576 'accesses that do not coalesce: 8[0-9]% of the sectors they touch are not needed, most at causes.cu:43 \(ld.global.u32\)'
why scattered 1 256 1048576 'too few blocks: only 1 of 8 SMs has work; then ' 'accesses that do not coalesce: .*, most at causes.cu:43 \(ld.global.u32\)'
why conflicts 64 256 64 'bank conflicts: shared memory [0-9]+% busy, most at causes.cu:53 \(ld.shared.u32\)'
why conflicts_atomic 64 256 64 'contended atomics of shared memory: shared memory [0-9]+% busy, most at causes.cu:63 \(atom.shared.exch.b32\)'
why units 64 256 64 'special function units [0-9]+% busy, most at causes.cu:73 \(ex2.approx.f32\)'
why latency 8 32 1024 'latency of global memory: warps wait for it [0-9]+% of the time, most at causes.cu:84 \(add.u64\); occupancy 2%$'
why latency 8 8 1024 'latency of global memory: .* \(add.u64\); then ' "blocks that do not fill their warps: 8 of a warp's 32 lanes have a thread; occupancy"

# products of wgmma keep tensor cores busy, and copies of tiles the L2
run bench gemm_tma --cluster 1 --k 40 --mode timing --set gpu.sm_count=2
expect_line out 'tensor cores [6-9][0-9]% busy, most at PTX line [0-9]+'
run bench gemm_tma --m 2 --n 2 --k 40 --pairs 4 --cluster 1 --mode timing --set gpu.sm_count=8 --set l2.bytes_per_cycle=2
expect_line out 'L2 bandwidth: [0-9]+% of peak, most at PTX line [0-9]+$'
expect_line out '^ +\(cp.async.bulk.tensor.2d'

# copies of a line that an unrolled loop has are one place
run run --mode timing --set gpu.sm_count=8 --profile 2 ./launch "$ptx" units 64 256 64
expect_line err '^ +[0-9.]+%  causes.cu:73 \(ex2.approx.f32\), PTX line [0-9]+ and 3 more: '
expect_line err '^ +[0-9.]+%  causes.cu:74 \(ex2.approx.f32\), PTX line [0-9]+: '
