#!/usr/bin/env bash
# Timing mode: what users see of it, in `heddle run`, in workloads and in the demo. How long things take is not tested
# here.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
saxpy=$HEDDLE_HOME/bench/cuda/saxpy.ptx
small=(--set gpu.sm_count=8)

gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'

# explains FILE KERNEL: the file has a line that says what bounds the kernel, and a row of a table.
explains() {
    expect_line "$1" "^$2(, [0-9]+ launches)?: [0-9,]+ cycles \([0-9.]+ [num]?s\): .*[a-z]"
    expect_line "$1" '^kernel +launches +cycles +time +mach.ins +IPC +occup. L1 hit L2 hit DRAM GB/s$'
    expect_line "$1" "^$2 +[0-9]+ +[0-9,]+ +[0-9.]+ [num]?s .*%"
    local widest
    widest=$(grep -vE '^heddle: |: ok;' "$1" | wc -L)
    ((widest <= 100)) || fail "$ran: a line of $1 has $widest columns"
}

# ---- a program ----

for threads in 1 2; do
    run run --mode timing "${small[@]}" --threads $threads --stats "stats.$threads" ./useptx "$saxpy"
    expect_status 0
    expect_line out '^ptx: ok$'
    expect_line err '^heddle: 1 kernel, 1 launch, [0-9]+ machine warp instructions \('
    machine=$(grep -oE '[0-9]+ machine' err)
    explains err saxpy
    expect_line err "^saxpy +1 .* ${machine% machine} +[0-9.]+ +[0-9]+% "
    expect_line err '^copies: 2 to the device \(8 kB, [0-9.]+ us\), 1 to the host \(4 kB, [0-9.]+ n?u?s\)$'
    expect_line err '^simulated time until the last of these ended: [0-9.]+ us$'
    python3 - "stats.$threads" <<'END' >"same.$threads" || fail 'the statistics cannot be read'
import json, sys
stats = json.load(open(sys.argv[1]))
assert stats["mode"] == "timing"
assert stats["config"]["gpu"]["sm_count"] == 8 and stats["config"]["dram"]["model"] == "banks"
assert stats["program"] == "./useptx" and len(stats["arguments"]) == 1
assert stats["copies"]["to_device"] == {"count": 2, "bytes": 8000, "busy_ps": stats["copies"]["to_device"]["busy_ps"]}
assert stats["copies"]["to_host"]["count"] == 1 and stats["copies"]["fill"]["count"] == 0
assert stats["time_ps"] > stats["launches"][0]["end_ps"]
del stats["host"]
launch, = stats["launches"]
metrics = launch["metrics"]
assert metrics["gpc__cycles_elapsed.max"] > 100 and metrics["gpu__time_duration.sum"] > 100
assert metrics["smsp__inst_executed.sum"] > 32 and metrics["sm__ctas_launched.sum"] == 8
assert 0 <= metrics["l1tex__t_sector_hit_rate.pct"] <= 100 and 0 <= metrics["lts__t_sector_hit_rate.pct"] <= 100
assert launch["end_ps"] > launch["start_ps"] > 0
assert sum(launch["instructions_by_unit"].values()) == metrics["smsp__inst_executed.sum"]
assert len(launch["active_lanes"]) == 33 and sum(launch["active_lanes"]) > 0
assert sum(launch["stall_cycles"].values()) > 0
place = next(place for place in launch["profile"] if place["instruction"] == "ld.global.f32")
assert place["file"].endswith("saxpy.cu") and place["line"] == 8 and place["ptx_line"] > place["line"], place
assert place["module"].endswith("saxpy.ptx") and place["units"] == {"LSU": 1}, place
assert place["issued"] == 32 and 0 < place["threads"] <= 32 * 32 and place["sectors"] >= 125, place
assert place["passes"] == 32 and place["awaited"] > 0 and "extra_sectors" not in place, place
print(json.dumps(stats))
END
    expect_same_file "statistics with $threads threads and with one" same.1 "same.$threads"
done

# --system alone is timing, and --mode functional is stronger
run run --system h100 ./useptx "$saxpy"
expect_status 0
explains err saxpy
run run --system h100 --mode functional ./useptx "$saxpy"
expect_status 0
expect_lines err 1
run run --set gpu.sm_count=8 ./useptx "$saxpy" # functional, which is said
expect_lines err 2
run run --set dram.bandwidth=1TB/s ./useptx "$saxpy" # of no use without time
explains err saxpy

# the environment is as the options, which win over it
HEDDLE_SYSTEM=h100 run run --stats stats.env ./useptx "$saxpy"
expect_status 0
explains err saxpy
expect_line stats.env '"system": "h100"'
HEDDLE_SYSTEM=h100 run bench saxpy --n 1000
explains out saxpy
HEDDLE_MODE=timing run run --mode functional ./useptx "$saxpy"
expect_lines err 1
HEDDLE_SETTINGS=$'gpu.sm_count=8\nsm.alu_latency=5' HEDDLE_KERNELS=1- run run ./useptx "$saxpy"
expect_line err '^1 launch ran without time'
HEDDLE_MODE=timin refuses "HEDDLE_MODE: expected functional or timing, not 'timin'" run ./useptx
HEDDLE_CACHES=hot refuses "HEDDLE_CACHES: expected warm or cold, not 'hot'" run ./useptx
HEDDLE_SETTINGS=gpu.sm_cont=1 refuses 'sm_cont' run ./useptx

run run "${small[@]}" --profile 3 ./useptx "$saxpy"
expect_status 0
expect_line err '^saxpy: where warps wait'
expect_line err '^ +[0-9.]+%  saxpy.cu:[0-9]+ \([a-z0-9.]+\), PTX line [0-9]+: [a-z_]+ [0-9]+%$'

run run "${small[@]}" --cold-caches --no-progress ./useptx "$saxpy"
expect_status 0
explains err saxpy

# ---- launches that are timed, and limits ----

run run "${small[@]}" --kernels 0 ./useptx "$saxpy"
explains err saxpy
run run "${small[@]}" --kernels 1-7 --stats some ./useptx "$saxpy"
expect_status 0
expect_line err '^1 launch ran without time: events and totals leave it out$'
expect_line err '^heddle: 1 kernel, 1 launch, [0-9]+ PTX warp instructions \('
expect_line some '"mode": "timing"'
run run "${small[@]}" --max-cycles 150 ./useptx "$saxpy"
expect_line err '^heddle: .*150 cycles'
expect_line err '^heddle: 1 kernel, 1 launch, failed, '
expect_line err '^saxpy: 150 cycles .*, failed \(the launch timed out and was terminated\): '
run run --mode timing "${small[@]}" --json fault.json ./useptx "$saxpy" fault
expect_line err '^saxpy: .*, failed \(an illegal memory access was encountered\)'
expect_line fault.json '"failed": "an illegal memory access was encountered"'

# the whole system as a description: the same run again
run run "${small[@]}" --mode timing --stats first.json --dump-config dump.ini ./useptx "$saxpy"
run run --system ./dump.ini --stats again.json ./useptx "$saxpy"
expect_status 0
python3 - <<'END' || fail 'a dumped system is not the same'
import json
first, again = json.load(open("first.json")), json.load(open("again.json"))
assert first["config"] == again["config"] and first["launches"] == again["launches"]
END

# saxpy_for ROUNDS: PTX with a saxpy that takes about so many rounds of a loop.
saxpy_for() {
    cat <<END
.version 8.0
.target sm_75
.address_size 64
.visible .entry saxpy(.param .u32 n, .param .f32 a, .param .u64 x, .param .u64 y)
{
    .reg .b32 %r<3>; .reg .pred %p<2>;
    mov.u32 %r1, 0;
again:
    add.u32 %r1, %r1, 1;
    xor.b32 %r2, %r1, %r2;
    setp.lt.u32 %p1, %r1, $1;
    @%p1 bra again;
    ret;
}
END
}

# Ctrl-C: what is known is written, and the program ends as it would have
saxpy_for 4000000000 >long.ptx
for signal in INT TERM; do
    rm -f stopped
    env --default-signal=INT "$HEDDLE" run "${small[@]}" --mode timing --stats stopped ./useptx long.ptx >out 2>err </dev/null &
    child=$!
    ran="heddle run --mode timing ./useptx long.ptx, after SIG$signal"
    sleep 1.5
    interrupt "$signal"
    expect_status $((128 + $(kill -l "$signal")))
    expect_line err 'was ended by signal'
    expect_line err '^saxpy: [0-9,]+ cycles \(.*\), interrupted before its end: '
    expect_line stopped '"interrupted": true'
done

# ---- workloads ----

for threads in 1 2; do
    run bench reduction --mode timing "${small[@]}" --threads $threads --json "bench.$threads"
    expect_status 0
    expect_line out '^reduction: ok; 2 launches'
    explains out reduction
    python3 -c 'import json, sys; s = json.load(open(sys.argv[1])); del s["host"]; print(json.dumps(s))' "bench.$threads" >"bench.same.$threads"
    expect_same_file "a workload on $threads threads and on one" bench.same.1 "bench.same.$threads"
done
for name in bfs histogram spinlock prodcons; do # that copy in between, meet in atomics, wait for each other
    run bench "$name" --mode timing
    expect_status 0
    expect_line out "^$name: ok;"
done
run bench matmul_tiled --n 256 --mode timing --json tiled # shared memory is waited for as itself
expect_status 0
python3 - tiled <<'END' || fail 'waiting for shared memory is counted as something else'
import json, sys
stalls = json.load(open(sys.argv[1]))["launches"][0]["stall_cycles"]
assert stalls["mio_throttle"] > 10 * stalls["lg_throttle"], stalls
END
run bench saxpy --n 100000 --json functional
expect_status 0
expect_lines out 1
expect_line functional '"mode": "functional"'
expect_line functional '"n": 100000'
expect_line functional '"sm_count": 132'
run bench saxpy --n 1000 --dump-config dumped.ini --stats other
expect_status 0
expect_line dumped.ini '^\[dram\]$'
expect_line other '"kernel": "saxpy"'
start bench loop --mode timing --rounds 20000 --blocks 512 --json stopped
sleep 2
interrupt
expect_status 130
expect_line err '^heddle: interrupted'
expect_line stopped '"interrupted": true'
expect_line out 'interrupted before its end'

run demo
expect_status 0
expect_line out '^saxpy: [0-9,]+ cycles'
expect_line out 'the same to the last bit'

# ---- translation takes time where the description has some; the same on any number of threads ----

latency=(bench micro_latency --mode timing "${small[@]}" --kind 1 --kib 1024 --steps 512)
few=(--set tlb.l1_entries=4 --set tlb.l2_entries=8 --set tlb.page=64KiB --set tlb.l2_page=64KiB)
per_load() { awk '$1 == "cycles_per_load" { print int($2) }' out; }
run "${latency[@]}"
expect_status 0
without=$(per_load)
for threads in 1 2; do
    run "${latency[@]}" "${few[@]}" --threads $threads --json "walks.$threads"
    expect_status 0
    (($(per_load) > without + 300)) || fail "$ran: $(per_load) cycles a load, and $without without translation"
    grep -o '"heddle__tlb_walks.sum": [0-9]*' "walks.$threads" >"same_walks.$threads"
    expect_same_file "walks with $threads threads and with one" same_walks.1 "same_walks.$threads"
done
for threads in 1 2 5; do # every load waits for its page before L1 is looked into
    run bench lud --mode timing "${small[@]}" --set sm.l1_tags=physical --set tlb.l1_entries=2 --set tlb.page=4KiB \
        --threads $threads --json "physical.$threads"
    expect_status 0
    grep -E '"(sm__cycles_elapsed.max|heddle__tlb_[a-z_]*.sum)"' "physical.$threads" >"same_physical.$threads"
    expect_same_file "physical tags with $threads threads and with one" same_physical.1 "same_physical.$threads"
done

# ---- docs/statistics.md has what the rows say ----

run stats --markdown
expect_status 0
sed -n '/^<!-- from here on made by/,$p' "$HEDDLE_HOME/docs/statistics.md" | tail -n +2 >documented
expect_same_file 'docs/statistics.md (make its end anew with `heddle stats --markdown`)' documented out
run stats launch
expect_line out 'gpc__cycles_elapsed.max'

# ---- mistakes ----

refuses "expected functional or timing, not 'fast'" run --mode fast ./useptx
refuses '--kernels needs --mode timing' run --mode functional --kernels 1 ./useptx
refuses '--max-cycles needs --mode timing' run --mode functional --max-cycles 5 ./useptx
refuses '--max-cycles: ' run --max-cycles many ./useptx
refuses '--limit: expected --max-cycles' run --mode timing --limit 5 ./useptx
refuses 'dram.bandwidth=1TB/s needs --mode timing' run --mode functional --set dram.bandwidth=1TB/s ./useptx
for numbers in 1-x 3-1 -2 1-2-3 1, ''; do
    refuses '--kernels: expected numbers of launches' run --kernels "$numbers" ./useptx
done
refuses 'sm_cont' run --set gpu.sm_cont=4 ./useptx
refuses 'gpu.sm_count' run --set gpu.sm_count=none ./useptx
refuses "no system 'h2000'" bench saxpy --system h2000
refuses '--profile: ' bench saxpy --profile few
refuses 'cannot write none/x' bench saxpy --json none/x
