#!/usr/bin/env bash
# --check: kernels with one mistake each are found, at their lines; their correct twins, and workloads, give no alarm.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs python3
checks=$HEDDLE_HOME/tests/checks
gcc -o suspect "$checks/suspect.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'suspect.c does not compile'
mapfile -t bad < <(python3 "$checks/compare.py" list "$checks/kernels.cu" bad)
mapfile -t good < <(python3 "$checks/compare.py" list "$checks/kernels.cu" good)

# ---- kernels ----

run run --check all --stats bad.json ./suspect "$checks/kernels.ptx" "${bad[@]}"
expect_status 3
expect_line err '^heddle: --check race: [0-9]+ findings in 40 kernels, '
expect_line err '^heddle: --check: [0-9]+ more findings are not shown'
expect_line out '^suspect: ok$'
python3 "$checks/compare.py" compare "$checks/kernels.cu" bad.json >differs || fail "$(cat differs)"

run run --check all ./suspect "$checks/kernels.ptx" "${good[@]}"
expect_status 0
for check in memory race init sync; do
    expect_line err "^heddle: --check $check: nothing found\$"
done

# the same on any number of threads; other checks find nothing
run run --check all --threads 2 --stats two.json ./suspect "$checks/kernels.ptx" "${bad[@]}"
expect_same_file 'findings on 2 threads' <(python3 -c 'import json; print(json.load(open("bad.json"))["findings"])') \
    <(python3 -c 'import json; print(json.load(open("two.json"))["findings"])')
run run --check memory,sync ./suspect "$checks/kernels.ptx" bad_sh_raw:2:64 bad_in_global:2:64
expect_status 0

# a program that ends in the middle: what was found until then counts
run run --check race --stats left.json ./suspect "$checks/kernels.ptx" bad_gl_volatile:2:64 leave
expect_status 3
expect_same 'findings that were left' "$(python3 -c 'import json; print(len(json.load(open("left.json"))["findings"]) > 0)')" True

# what a finding says
run run --check race ./suspect "$checks/kernels.ptx" bad_gl_volatile:2:64
expect_line err '^heddle: --check race: read after write \(global memory, threads of different blocks\)$'
expect_line err '^  first: kernels.cu:[0-9]+, PTX line [0-9]+ of .*kernels.ptx \(st.global.u32\)$'
expect_line err '^  then:  kernels.cu:[0-9]+, PTX line [0-9]+ of .*kernels.ptx \(ld.global.u32\)$'
expect_line err '^  thread \(0,0,0\) of block \(0,0,0\), then thread \(0,0,0\) of block \(1,0,0\): 4 bytes at 0x[0-9a-f]+, 0 bytes into the 16384 bytes of device memory'
expect_line err '^  kernel bad_gl_volatile, launch 0$'
run run --check race --check-show 0 ./suspect "$checks/kernels.ptx" bad_gl_volatile:2:64
expect_status 3
expect_line err '^heddle: --check: 1 more finding is not shown'

# ---- mistakes of the host ----

for case in 'leak:memory: device memory that was never freed' 'twice:memory: memory freed twice' \
    'inside:memory: free of what is no allocation' 'short:init: copy to the host of memory that was never written'; do
    run run --check all ./suspect "${case%%:*}"
    expect_status 3
    expect_line err "^heddle: --check ${case#*:}\$"
done
run run --check all ./suspect none
expect_status 0

# ---- workloads ----

for workload in reduction scan histogram softmax transpose prodcons spinlock allreduce; do
    run bench "$workload" --check all
    expect_status 0
done
run bench bfs --check race --stats bfs.json
expect_status 3
expect_line err '^heddle: --check race: [0-9]+ findings in 1 kernel'

# ---- what does not go together ----

refuses "^heddle: --check: expected memory, race, init, sync or all, not 'speed'\$" run --check speed ./suspect
refuses '^heddle: --check has no timing: use --mode functional$' bench vecadd --check race --mode timing
refuses '^heddle: --check has no timing, so it does not go with --cold-caches$' bench vecadd --check race --cold-caches
refuses '^heddle: --check has no timing, so it does not go with --cpu$' run --check race --cpu epyc true
refuses '^heddle: --check does not go with --record: ' run --check race --record trace ./suspect
refuses '^heddle: --check does not go with --trace-mem: ' bench vecadd --check race --trace-mem t
refuses '^heddle: --check does not go with --attach, --shared or --ranks: ' run --check race --shared ./suspect
refuses '^heddle: --check-show: expected --check LIST with it$' bench vecadd --check-show 3
refuses '^heddle: --check-show: ' bench vecadd --check race --check-show many
