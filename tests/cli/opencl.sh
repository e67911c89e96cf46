#!/usr/bin/env bash
# The OpenCL kernels of the workloads give what the CPU references give, on PoCL: with the defaults, and with sizes that
# fill no work-group.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

has cc 'OpenCL kernels' || exit 0
icd=$(find /etc/OpenCL/vendors -name 'pocl*.icd' 2>/dev/null | head -1)
[[ $icd ]] || { skip 'OpenCL kernels: no PoCL here' && exit 0; }
echo 'int main(void) { return 0; }' >empty.c
cc empty.c -include CL/cl.h -DCL_TARGET_OPENCL_VERSION=120 -lOpenCL -o empty 2>/dev/null ||
    { skip 'OpenCL kernels: no headers or library of OpenCL here' && exit 0; }
export OCL_ICD_VENDORS=$icd POCL_CACHE_DIR=$PWD/cache

mkdir programs
"$HEDDLE_HOME/bench/opencl/build" programs >build.log 2>&1 || fail "the programs do not build: $(tail -3 build.log)"

# good PROGRAM OPTION...: it ends well and says so
good() {
    local said program=$1
    shift
    said=$("programs/$program" "$@" 2>&1)
    [[ $? == 0 && $said == "$program: ok" ]] || fail "$program $*: $said"
}

count=0
for program in programs/*; do
    [[ $program == */micro_gcn3_* ]] && continue # they are machine code
    good "${program#programs/}"
    count=$((count + 1))
done
((count >= 23)) || fail "only $count programs"

good aes --n 65
good bfs --nodes 1001 --degree 3
good bitonic --log 9
good convolution --width 33 --height 9
good fft --log 1 --batch 3
good fft --log 11 --batch 2
good fir --n 257 --taps 17
good floydwarshall --nodes 17
good histogram --n 10007 --bins 8192 --blocks 3 --block 1024
good histogram --n 1 --bins 1 --blocks 1 --block 1
good kmeans --n 1003 --k 256 --rounds 2
good loop --kind 1 --rounds 33 --blocks 2 --block 1000
good loop --kind 2 --rounds 500 --blocks 3 --block 77
good matmul_naive --m 17 --n 33 --k 65
good matmul_tiled --m 17 --n 33 --k 65
good nbody --n 131 --steps 3
good nw --tiles 1 --penalty 3
good pagerank --nodes 1 --degree 1
good reduction --n 100003 --blocks 7 --warps 3
good relu --n 1001 --block 1000
good saxpy --n 1 --block 1
good simpleconvolution --width 35 --height 19 --radius 16
good spmv --rows 101 --longest 512 --warps 1
good spmv --rows 101 --longest 512 --warps 0
good stencil2d --width 3 --height 67
good transpose --width 33 --height 65 --tiled 0
good transpose --width 1 --height 65 --tiled 1
good vecadd --n 777 --block 7

for kind in 0 1 2; do
    programs/micro_gcn3_stream --kind $kind --kib 65 --groups 3 >out 2>&1
    tail -1 out | grep -q '^micro_gcn3_stream: ok' || fail "micro_gcn3_stream --kind $kind: $(cat out)"
done

programs/micro_gcn3_alu >out 2>&1
[[ $? == 2 && $(wc -l <out) == 1 ]] || fail "micro_gcn3_alu runs on a CPU: $(cat out)"

programs/saxpy --n 0 >out 2>&1
[[ $? == 2 ]] || fail "saxpy --n 0 is taken"
