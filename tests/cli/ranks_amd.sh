#!/usr/bin/env bash
# Programs for AMD's GPUs over ranks: the bundled OpenCL workloads as programs, and the programs of tests/programs that
# hipcc builds. Each runs on one process, and on 2 or 3 in turn: the same output and the same statistics.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs mpirun
[[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]] || { skip 'no MPI when Heddle was built' && exit; }

ranks=2
# compare NAME OPTION...: on one process and on some.
compare() {
    local name=$1
    shift
    run run --mode timing --threads 1 "$@" --stats one.json "./$name"
    expect_status 0
    mv out one.out
    run run --mode timing --threads 1 "$@" --ranks $ranks --stats some.json "./$name"
    expect_status 0
    expect_same_file "what $name prints on $ranks ranks" one.out out
    expect_same_file "statistics of $name on $ranks ranks" <(figures one.json) <(figures some.json)
    ranks=$((5 - ranks))
}

# ---- OpenCL ----
opencl=$HEDDLE_HOME/bench/opencl
echo 'int main(void) { return 0; }' >empty.c
if [[ ! -e $(dirname "$HEDDLE")/opencl/libheddle_opencl.so ]]; then
    skip 'OpenCL: no headers when Heddle was built'
elif ! gcc -o empty empty.c -lOpenCL 2>/dev/null; then
    skip 'OpenCL: no libOpenCL to link with (ocl-icd-opencl-dev)'
else
    mkdir cl
    "$opencl/build" "$PWD/cl" >built 2>&1 || fail "bench/opencl: $(tail -3 built)"
    (cd cl && XDG_CACHE_HOME=$PWD/cache "$HEDDLE" run --mode functional ./saxpy >/dev/null 2>compiler) ||
        CFLAGS=-DWORKLOAD_BINARY "$opencl/build" "$PWD/cl" >built 2>&1 # without clang: from code objects
    for file in cl/*; do
        [[ ! -x $file || -d $file ]] || compare "$file"
    done
    compare cl/fir --system r9nano-x2
fi

# ---- HIP ----
if has hipcc HIP; then
    mkdir hip
    for file in "$HEDDLE_HOME"/tests/programs/hip/*.hip; do
        name=$(basename "$file" .hip)
        [[ $name == @(abi|module|module_code) ]] && continue
        hipcc -O2 -Wno-deprecated-declarations -I"$HEDDLE_HOME/include" --offload-arch=gfx803 -o "hip/$name" "$file" \
            >"build.$name" 2>&1 || fail "$name.hip does not compile: $(head -n 5 "build.$name")"
        compare "hip/$name"
    done
    ranks=2
    compare hip/print # two ranks, and three
    ranks=3
    compare hip/print
fi
