#!/usr/bin/env bash
# Programs for compute capability 9.0 (tests/programs/hopper), built by nvcc: each checks itself against the host. They
# say the same on a real H200.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs nvcc
programs=$HEDDLE_HOME/tests/programs/hopper

names=()
for file in "$programs"/*.cu; do
    name=$(basename "$file" .cu)
    nvcc -O2 -std=c++17 -gencode arch=compute_90a,code=compute_90a -cudart shared -o "$name" "$file" >"build.$name" 2>&1 &
    names+=("$name")
    (($(jobs -pr | wc -l) < 2)) || wait -n
done
wait

for name in "${names[@]}"; do
    [[ -x $name ]] || fail "$name.cu does not compile: $(head -n 5 "build.$name")"
    for options in '--threads 1' '--threads 2' '--trace-mem trace' '--mode timing'; do
        # shellcheck disable=SC2086 # an option and its value
        run run $options "./$name"
        expect_status 0
        expect_line out "^$name: ok\$"
    done
done

# ---- one line for what goes wrong, and the same code as an H200 ----

cat >wrong.cu <<'END'
#include <cstdio>
#include <cstdlib>
__shared__ unsigned variable[256];
__device__ static void meet() { asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory"); }
__global__ void __cluster_dims__(2, 1, 1) wrong(unsigned *out, int what, unsigned rank, unsigned offset)
{
    unsigned own = (unsigned)__cvta_generic_to_shared(variable), far, value = 0;
    variable[0] = 77;
    meet();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(own), "r"(rank));
    if (what == 0)
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(far + offset));
    if (what == 1)
        asm volatile("ld.shared::cta.u32 %0, [%1];" : "=r"(value) : "r"(far + offset));
    if (what == 2 && blockIdx.x == 0) {
        asm volatile("nanosleep.u32 1000000;");
        asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(value) : "r"(far));
    }
    if (what == 2)
        return;
    if (what == 3 && blockIdx.x == 1)
        asm volatile("bar.sync 1, 64;");
    out[blockIdx.x] = value;
    meet();
}
int main(int, char **argv)
{
    unsigned *out;
    cudaMalloc(&out, 8);
    wrong<<<2, 32>>>(out, atoi(argv[1]), strtoul(argv[2], 0, 0), strtoul(argv[3], 0, 0));
    puts(cudaGetErrorName(cudaDeviceSynchronize()));
}
END
nvcc -gencode arch=compute_90,code=compute_90 -cudart shared -o wrong wrong.cu || fail 'wrong.cu does not compile'

# expect_wrong ARGUMENTS CODE LINE: without time, and in time
expect_wrong() {
    for mode in functional timing; do
        # shellcheck disable=SC2086 # several arguments
        run run --mode "$mode" ./wrong $1
        expect_line out "^$2\$"
        expect_line err "$3"
    done
}
expect_wrong '0 1 0' cudaSuccess ''
expect_wrong '0 2 0' cudaErrorLaunchFailure 'of block 2, in a cluster of 2'
expect_wrong '0 1 0x40000' cudaErrorIllegalAddress '1024 bytes of shared memory|block 1 of the cluster has 1024'
expect_wrong '0 1 2' cudaErrorMisalignedAddress 'not aligned'
expect_wrong '1 1 0' cudaErrorIllegalInstruction "another block's shared memory"
expect_wrong '2 1 0' cudaErrorLaunchFailure 'block 1 of the cluster has ended'
expect_wrong '3 0 0' cudaErrorLaunchTimeout 'waiting at the barrier'

# ---- clusters in time: the same cycles with any number of threads, through a checkpoint, and with GPCs of other sizes ----

cycles() {
    python3 -c 'import json, sys; print([launch["metrics"]["gpc__cycles_elapsed.max"] for launch in json.load(open(sys.argv[1]))["launches"]])' "$1"
}
if [[ -x cluster ]]; then
    run run --mode timing --threads 1 --stats one.json ./cluster
    wanted=$(cycles one.json)
    run run --mode timing --threads 3 --stats three.json ./cluster
    [[ $(cycles three.json) == "$wanted" ]] || fail 'clusters take other cycles on three threads'
    run run --mode timing --checkpoint saved --checkpoint-at 40000 --checkpoint-stop ./cluster
    [[ -s saved ]] || fail "$ran: nothing was saved"
    run run --mode timing --resume saved --threads 2 --stats resumed.json ./cluster
    expect_status 0
    [[ $(cycles resumed.json) == "$wanted" ]] || fail 'clusters take other cycles behind a checkpoint'
fi
run run --mode timing --set gpu.sm_count=8 --set 'dispatch.gpcs=1 1 1 1 1 1 1 1' ./wrong 0 1 0
expect_line err 'no GPC of .* has room for a cluster of 2 of its blocks'
