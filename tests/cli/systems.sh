#!/usr/bin/env bash
# Descriptions of GPUs: each one of systems/ runs a program in time, and what cannot be is refused in one line.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda

gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'
sed 's/^\.target .*/.target sm_10/' "$HEDDLE_HOME/bench/cuda/saxpy.ptx" >saxpy.ptx # for GPUs of any age

# ---- every description ----

for file in "$HEDDLE_HOME"/systems/*.ini; do
    system=$(basename "$file" .ini)
    if run params gpu --system "$system" && grep -q '^ *target *= *gfx' out; then # AMD's: the OpenCL and HIP tests run programs there
        run run --mode timing --system "$system" ./useptx saxpy.ptx
        expect_line err '^heddle: .* is no code for .*, which runs gfx'
        continue
    fi
    run run --mode timing --system "$system" --stats "$system.json" ./useptx saxpy.ptx
    expect_status 0
    expect_line out '^ptx: ok$'
    expect_line err "^saxpy: [0-9,]+ cycles"
    python3 - "$system.json" <<'END' || fail "$system: the statistics are not what they should be"
import json, sys
launch, = json.load(open(sys.argv[1]))["launches"]
metrics = launch["metrics"]
assert metrics["gpc__cycles_elapsed.max"] > 300, metrics["gpc__cycles_elapsed.max"]
assert metrics["smsp__inst_executed.sum"] > 32
END
done

# each says where its values come from
for file in "$HEDDLE_HOME"/systems/*.ini; do
    grep -q '^# Where the values come from' "$file" || fail "${file##*/} does not say where its values come from"
done

# and they differ
time_of() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))["launches"][0]["metrics"]["gpu__time_duration.sum"])' "$1"; }
[[ $(time_of h200.json) != "$(time_of gtx580.json)" ]] || fail 'an H200 and a GTX 580 take the same time'

# ---- a description of one's own ----

cat >half.ini <<'END'
include = a100.ini
[gpu]
name = half an A100
sm_count = 54
[dram]
bandwidth = 777GB/s
END
run run --mode timing --system half.ini ./useptx saxpy.ptx name
expect_status 0
expect_line out 'half an A100'

# what it leaves out is marked in the dump and in `heddle params`; the dump reads again, as the same system
printf '[gpu]\nname = mine\nsm_count = 4\n[dram]\ntiming = gddr6x\n' >mine.ini
run run --mode timing --system mine.ini --set l2.ways=8 --dump-config dump.ini ./useptx saxpy.ptx
expect_status 0
expect_line dump.ini '^sm_count = 4$'
expect_line dump.ini '^ways = 8$'
expect_line dump.ini '^timing = gddr6x$'
expect_line dump.ini '^clock = 1980MHz ; inherited from h200$'
run run --mode timing --system dump.ini --dump-config again.ini ./useptx saxpy.ptx
expect_status 0
sed 's/ ; inherited from h200$//' dump.ini >bare.ini
expect_same_file 'a dump and the dump of what was read from it' bare.ini again.ini
run params --system mine.ini gpu
expect_status 0
expect_line out '^  sm_count += 4 +count '
expect_line out '^  clock += 1980MHz ; inherited from h200 +freq '
run params --system h200
expect_status 0
! grep inherited out || fail 'h200 inherits from itself'
refuses "there is no system 'h20'" params --system h20

# ---- a functional run says which settings it does not show ----

run run --set gpu.sm_count=16 ./useptx saxpy.ptx
expect_status 0
expect_line err '^heddle: gpu.sm_count affects only device queries and simulated time; this run is functional: add --mode timing to see it$'
expect_lines err 2
run bench saxpy --n 100 --set gpu.clock=1GHz
expect_line err '^heddle: gpu.clock affects only device queries'
for quiet in '--mode timing --set gpu.sm_count=16' '--set gpu.memory=1GiB' '--set gpu.name=mine'; do
    # shellcheck disable=SC2086
    run run $quiet ./useptx saxpy.ptx
    expect_status 0
    ! grep 'affects only' err || fail "$ran: it is said that $quiet does nothing"
done
example=$("$HEDDLE" help run | sed -n 's/.*--set PATH.KEY=VALUE .*such as \([^;]*\);.*/\1/p')
run run --set "$example" ./useptx saxpy.ptx # the example of the help shows in what the run says
expect_status 0
expect_line err '^saxpy: [0-9,]+ cycles'

# ---- what cannot be ----

# cannot EXTENDED_REGEX WORD...: a run with these options fails, with one line that says so, before the program starts
cannot() {
    local expected=$1
    shift
    refuses "$expected" run "$@" ./useptx saxpy.ptx
    expect_status 2
}

cannot 'gpu.sm_count: expected 1\.\.' --set gpu.sm_count=0
cannot 'warps_per_sm \(64\) must be a multiple of gpu.subcores_per_sm \(3\)' --set gpu.subcores_per_sm=3
cannot 'up to 8 sub-cores of an SM, with up to 32 warps' --set gpu.subcores_per_sm=16
cannot "dispatch.gpcs: expected numbers of SMs.*not '16 x'" --set 'dispatch.gpcs=16 x'
cannot 'up to 8 sub-cores of an SM, with up to 32 warps' --set gpu.warps_per_sm=256
cannot 'gpu.shared_per_block \(49152\) cannot be more than gpu.shared_per_sm \(1\)' --set gpu.shared_per_sm=1B
cannot 'sm.l1 \(16384 bytes\) holds gpu.shared_per_sm \(233472\), too, and cannot be less without' --set sm.l1=16KiB
cannot 'gpu.shared_carveouts cannot have 0 KiB with sm.l1_apart: .* always gpu.shared_per_sm \(233472 bytes\)' \
    --set sm.l1_apart=yes
cannot 'gpu.registers_per_block \(65536\) cannot be more than gpu.registers_per_sm \(256\)' --set gpu.registers_per_sm=256
cannot 'gpu.threads_per_block \(1024\) cannot be more than 4 warps' --set gpu.warps_per_sm=4
cannot 'L2 slices cannot be spread over 2 partitions' --set l2.slices=93
cannot 'a slice of [0-9]+ lines: expected' --set l2.bytes=64KiB
cannot 'writes_low < writes_high <= writes' --set dram.writes_low=64
cannot 'gpu.page: expected 4KiB..1GiB, not 0' --set gpu.page=0
cannot 'gpu.page: a page is a power of two, and 12288 bytes are not' --set gpu.page=12KiB
cannot 'gpu.page \(1073741824\) cannot be more than gpu.memory \(2097152\)' --set gpu.page=1GiB --set gpu.memory=2MiB
cannot 'system.host_page: expected a power of two, and 12288 bytes are not' --set system.host_page=12KiB
cannot 'tlb.page: a page is a power of two' --set tlb.page=3MiB
cannot 'tlb.page \(4194304\) cannot be more than tlb.l2_page \(2097152\)' --set tlb.page=4MiB
cannot "sm.l1_tags: expected one of virtual.physical, not 'both'" --set sm.l1_tags=both
cannot 'tlb.l2_entries: expected a whole number' --set tlb.l2_entries=-1
cannot 'tlb.l1_entries: expected 0..1048576' --set tlb.l1_entries=2000000
cannot 'fabric.bandwidth: expected' --set fabric.bandwidth=0
cannot 'fabric.latency: expected' --set fabric.latency=0
cannot 'system.gpus: expected 1..64' --set system.gpus=65
cannot 'gpu.l2 is now l2.bytes' --set gpu.l2=16MiB
cannot 'noc.request_bytes_per_cycle: expected 0\|1\.\.4096, not 1e-7' --set noc.request_bytes_per_cycle=1e-7
cannot 'noc.gpc_bytes_per_cycle: expected 0\|1\.\.65536, not 0.5' --set noc.gpc_bytes_per_cycle=0.5
cannot 'noc.latency_cycles: expected 1\.\.' --set noc.latency_cycles=0
cannot "sm.scheduler: expected one of gto\|" --set sm.scheduler=best
cannot "dram.timing: expected one of gddr5\|" --set dram.timing=ddr4
cannot "no key 'latency_cycle'.*latency_cycles" --set noc.latency_cycle=50
printf '[l2]\nbytes = 4MiB\nbytes = 8MiB\n' >twice.ini
cannot 'twice.ini:3: ' --system twice.ini
