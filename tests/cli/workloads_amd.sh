#!/usr/bin/env bash
# Every workload that has kernels for AMD GPUs gives what its CPU reference gives, by the code object for each GPU.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

names=$("$HEDDLE" help bench | awk '/^[A-Z]/ {on = /^CUDA workloads/} on && /^  [a-z]/ {print $1}')
for system in r9nano mi60; do
    count=0
    for name in $names; do
        run bench "$name" --system "$system" --threads 2
        grep -q 'this workload has no kernels for gfx' err && continue
        expect_status 0
        expect_line out "^$name: ok"
        count=$((count + 1))
    done
    ((count == 23)) || fail "$count workloads, not 23, ran on $system"
done
refuses 'lud: this workload has no kernels for gfx906' bench lud --system mi60
refuses 'micro_gcn3_alu: this workload has no kernels for gfx906' bench micro_gcn3_alu --system mi60
run bench micro_gcn3_lds --system mi60
expect_status 0
