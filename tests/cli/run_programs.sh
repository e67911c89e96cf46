#!/usr/bin/env bash
# Programs built by nvcc, unmodified: tests/programs, with the CUDA runtime as a library and inside the program.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs nvcc
programs=$HEDDLE_HOME/tests/programs

# build NAME WORD...: an object of NAME.cu, linked in both ways; for compute capability 7.5, as nvcc does by itself.
build() {
    local name=$1
    shift
    nvcc -O2 -c "$@" -o "$name.o" "$programs/$name.cu" &&
        nvcc -cudart shared -o "$name.shared" "$name.o" "$@" && nvcc -cudart static -o "$name.static" "$name.o" "$@"
}

# replays NAME: recorded without time and replayed, it gives what execution gave; or says why it may not.
replays() {
    run run --mode functional --record "$1.trace" "./$1.shared"
    case $1 in
    graph_nodes) expect_line err '^heddle: a graph with conditional nodes cannot be recorded' && return ;;
    launches | device_graph | graph_updates) expect_line err 'launches kernels, or changes graphs, which cannot be recorded' && return ;;
    esac
    expect_status 0
    run replay "$1.trace" --no-progress --stats replayed.json
    expect_status 0
    case $1 in
    assert | errors) expect_line err '^heddle: the trace ends before the program did: a launch failed$' ;;
    checkpoint | heap | kernels) expect_line err 'first of .*: allocates memory, so its instructions may depend on time' ;;
    batch) ;; # prefetches pages to the host that are there: docs/replay.md
    external) ;; # its other process is a trace of its own
    managed) ;; # its kernels answer the program while they run
    pdl | green) ;; # a trace has no kernels that overlap as these do, and no parts of the GPU
    *) expect_same_file "$ran and execution" <(figures executed.json) <(figures replayed.json) ;;
    esac
}

names=()
for file in "$programs"/*.cu; do
    name=$(basename "$file" .cu)
    case $name in
    apart | apart_more | abi | launches | device_graph | graph_updates | jit) continue ;; # built otherwise: below, or by other tests
    pdl) build "$name" -arch=sm_90 >"build.$name" 2>&1 & ;;
    batch | driver | external | mapping | queries | green) build "$name" -lcuda >"build.$name" 2>&1 & ;;
    *) build "$name" >"build.$name" 2>&1 & ;;
    esac
    names+=("$name")
    (($(jobs -pr | wc -l) < 3)) || wait -n
done
wait
for kind in shared static; do
    nvcc -rdc=true -cudart $kind -o apart.$kind "$programs/apart.cu" "$programs/apart_more.cu" >build.apart 2>&1 ||
        fail "apart.cu does not compile: $(head -n 5 build.apart)"
done

for kind in shared static; do
    nvcc -rdc=true -arch=sm_90 -cudart $kind -o device_graph.$kind "$programs/device_graph.cu" -lcudadevrt >build.device_graph 2>&1 ||
        fail "device_graph.cu does not compile: $(head -n 5 build.device_graph)"
    nvcc -rdc=true -arch=sm_90 -cudart $kind -o graph_updates.$kind "$programs/graph_updates.cu" -lcudadevrt >build.graph_updates 2>&1 ||
        fail "graph_updates.cu does not compile: $(head -n 5 build.graph_updates)"
    nvcc -rdc=true -arch=sm_90 -cudart $kind -o launches.$kind "$programs/launches.cu" -lcudadevrt >build.launches 2>&1 ||
        fail "launches.cu does not compile: $(head -n 5 build.launches)"
done

for name in "${names[@]}" apart launches device_graph graph_updates; do
    for kind in shared static; do
        if [[ ! -x $name.$kind ]]; then
            fail "$name.cu does not compile: $(head -n 5 "build.$name")"
            continue
        fi
        run run "./$name.$kind"
        expect_status 0
        expect_line out "^$name: ok\$"
    done
    run run --mode timing --stats executed.json "./$name.shared"
    expect_status 0
    expect_line out "^$name: ok\$"
    replays "$name"
done
run run ./kernels.static
expect_line out '^thread 5 of calls: 1.50     7\|ab   \|$'
run run ./assert.shared
expect_line err 'assertion `\(int\)threadIdx.x < limit` failed'

# ---- the layout of what programs pass ----

gcc -I"$HEDDLE_HOME/src" -o abi.ours "$programs/abi.c" && nvcc -o abi.theirs "$programs/abi.cu" || fail 'abi does not compile'
expect_same_file 'layout of structs' <(./abi.ours) <(./abi.theirs)

# ---- the runtime inside a library; an own default stream per thread; a program that was stripped; one without PTX ----

cat >twice.cu <<'END'
__global__ void twice(int *p) { *p *= 2; }
extern "C" int run_twice(int x)
{
    int *d;
    cudaMalloc(&d, 4);
    cudaMemcpy(d, &x, 4, cudaMemcpyHostToDevice);
    twice<<<1, 1>>>(d);
    cudaMemcpy(&x, d, 4, cudaMemcpyDeviceToHost);
    return cudaFree(d) ? -1 : x;
}
END
echo 'int run_twice(int); int main(void) { return run_twice(21); }' >main.c
gcc -c main.c
nvcc -shared -Xcompiler -fPIC -o libtwice.so twice.cu && gcc -o user main.o -L. -ltwice -Wl,-rpath,"$PWD"
run run ./user
expect_status 42
for kind in shared static; do
    nvcc -default-stream per-thread -cudart $kind -o per_thread twice.cu main.o
    run run ./per_thread
    expect_status 42
done
nvcc -o stripped twice.cu main.o && strip stripped
run run ./stripped
expect_line err "heddle: ./stripped was stripped .*NVCC_APPEND_FLAGS='-cudart shared'"
nvcc -cudart shared -o stripped twice.cu main.o && strip stripped
run run ./stripped
expect_status 42
nvcc -gencode arch=compute_75,code=sm_75 -o without twice.cu main.o
run run ./without
expect_line err 'no PTX'
