#!/usr/bin/env bash
# AMD kernels give the same output and statistics, byte for byte, with any number of threads, and from checkpoints in
# the middle of a kernel on: with LDS, barriers, atomics, scalar loads, and loads that s_waitcnt still has to wait for.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# timed WORD...: a workload on a small R9 Nano with time; the statistics go to the file stats.
timed() {
    run bench "$@" --system r9nano --mode timing --set gpu.sm_count=8 --no-progress --json stats
    expect_status 0
}

# seen: all that must be the same: the output and the statistics, without what depends on this computer.
seen() {
    grep -v 'million warp' out
    python3 -c 'import json; stats = json.load(open("stats")); del stats["host"]; print(json.dumps(stats, indent=1))'
}

# cycles_at SHARE...: the cycles at which these shares of each kernel's time have passed, at 1 GHz.
cycles_at() {
    python3 - "$@" <<'END'
import json, sys
for launch in json.load(open("stats"))["launches"][:2]:
    begin, end = (launch[key] // 1000 for key in ("start_ps", "end_ps"))
    print(*(int(begin + float(share) * (end - begin)) for share in sys.argv[1:]))
END
}

# same_always SHARES WORD...
same_always() {
    local shares at threads
    read -ra shares <<<"$1"
    shift
    timed "$@" --threads 1
    seen >straight
    local cycles
    cycles=$(cycles_at "${shares[@]}")
    for threads in 2 5 16; do
        timed "$@" --threads "$threads"
        expect_same_file "$ran and with 1 thread" straight <(seen)
    done
    HEDDLE_ISLANDS=apart timed "$@" --threads 1
    expect_same_file "$ran with islands apart" straight <(seen)
    for at in $cycles; do
        rm -f saved
        timed "$@" --threads 2 --checkpoint saved --checkpoint-at "$at"
        expect_line err "^heddle: checkpoint .*saved written at cycle $at; --resume goes on from there$"
        expect_same_file "$ran" straight <(seen)
        timed "$@" --threads 5 --resume saved
        expect_same_file "$ran from cycle $at on" straight <(seen)
    done
}

same_always '0.3 0.6' histogram --n 4000 --bins 64 --blocks 4    # atomics in LDS and in memory
same_always '0.3 0.6' matmul_tiled --m 64 --n 64 --k 64          # LDS and barriers
same_always 0.5 kmeans --n 500 --k 4 --rounds 2                  # 64-bit atomics; two kernels
same_always '0.2 0.5 0.8' spmv --rows 500                        # CUs that tell each other of lines
same_always '0.3 0.6' micro_gcn3_latency --kind 1 --steps 100    # scalar loads
same_always 0.5 micro_gcn3_atomic --return 1 --wavefronts 2      # atomics that return
