#!/usr/bin/env bash
# Programs built by hipcc, unmodified: tests/programs/hip, for both GPUs that Heddle has a system for.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs hipcc
programs=$HEDDLE_HOME/tests/programs/hip

# build NAME TARGET...: NAME.hip for these GPUs
build() {
    local name=$1
    shift
    hipcc -O2 -Wno-deprecated-declarations -I"$HEDDLE_HOME/include" "${@/#/--offload-arch=}" -o "$name" "$programs/$name.hip"
}

echo 'int main() { return 0; }' >empty.hip
hipcc --offload-arch=gfx803 empty.hip -include hip/hip_runtime.h -o empty 2>build.empty ||
    { skip "HIP: hipcc does not build a program: $(head -n 1 build.empty)" && exit 0; }

names=()
for file in "$programs"/*.hip; do
    name=$(basename "$file" .hip)
    [[ $name == @(abi|module|module_code) ]] && continue
    build "$name" gfx803 gfx906 >"build.$name" 2>&1 &
    names+=("$name")
    (($(jobs -pr | wc -l) < 2)) || wait -n
done
wait
for name in "${names[@]}"; do
    if [[ ! -x $name ]]; then
        fail "$name.hip does not compile: $(head -n 5 "build.$name")"
        continue
    fi
    for options in '' '--mode timing' '--mode functional --system mi60'; do
        # shellcheck disable=SC2086 # words
        run run $options "./$name"
        expect_status 0
        expect_line out "^$name: ok\$"
    done
done

run run --mode timing --unified 2 ./locality
expect_status 0
expect_line out '^2 members$'

# ---- printf in kernels: what C's printf gives, in both modes; assertions ----

cat >wanted <<'END'
-1 2147483647 4294967295 abc ABC 10|-1099511627776 4611686018427387904 18446744073709551615 -3 -4|    7|7    |00007|+7|   7|3.14|1.500000 1.500000e+10 0.1 0.667 0x1p+0|ok given by the host abc      right %|
counted
0x1234 8
END
run run --mode functional ./print
expect_same_file 'conversions of printf' wanted <(head -n 3 out)
sort out >functional
run run --mode timing ./print
expect_same_file 'conversions of printf, timing' wanted <(head -n 3 out)
expect_same_file 'printf in both modes' functional <(sort out)

cat >stop.hip <<'END'
#include <hip/hip_runtime.h>
#include <assert.h>
#include <stdio.h>
__global__ void stop(int n)
{
    assert(n < 2);
    if (n)
        abort();
}
int main(int count, char **)
{
    stop<<<2, 64>>>(count);
    printf("%s\n", hipGetErrorName(hipDeviceSynchronize()));
    return 0;
}
END
hipcc -O2 --offload-arch=gfx803 -o stop stop.hip 2>build.stop || fail "stop.hip does not compile: $(head -n 5 build.stop)"
for mode in functional timing; do
    run run --mode $mode ./stop
    expect_line out '^hipErrorLaunchFailure$'
    expect_line err 'kernel stop, work-group .*: trap 2$'
    run run --mode $mode ./stop more
    expect_line out '^hipErrorLaunchFailure$'
    expect_line err "kernel stop, work-group .*: stop.hip:6: void stop\\(int\\): Device-side assertion .n < 2. failed\\.$"
done

# ---- modules: a bundle, a code object ----

build module gfx803 && hipcc --genco --offload-arch=gfx803 --offload-arch=gfx906 -o code.bundle "$programs/module_code.hip" ||
    fail 'module.hip does not compile'
run run ./module code.bundle
expect_status 0
expect_line out '^module: ok$'
run run --mode functional --system mi60 ./module code.bundle
expect_line out '^module: ok$'

# ---- the GPU that a program's kernels are for; one that it has no code for ----

cat >which.hip <<'END'
#include <hip/hip_runtime.h>
#include <stdio.h>
__global__ void nothing() {}
int main()
{
    hipDeviceProp_t properties;
    hipGetDeviceProperties(&properties, 0);
    nothing<<<1, 64>>>();
    printf("%s: %s\n", properties.gcnArchName, hipGetErrorName(hipGetLastError()));
    return hipDeviceSynchronize();
}
END
programs=.
build which gfx906 || fail 'which.hip does not compile'
run run ./which
expect_line out '^gfx906: hipSuccess$'
run run --mode functional --system r9nano ./which
expect_line out '^gfx803: hipErrorInvalidDeviceFunction$'
expect_line err 'there is code for gfx906, and none for gfx803, which AMD Radeon R9 Nano runs'
run run --mode functional --system h200 ./which
expect_line err "it is code for AMD's GPUs, and NVIDIA H200 is none of them"

# ---- a function that is not there says so, once ----

cat >missing.hip <<'END'
#include <hip/hip_runtime.h>
#include <stdio.h>
int main()
{
    hipGraph_t graph;
    printf("%d %d\n", hipGraphCreate(&graph, 0), hipGraphCreate(&graph, 0));
    return 0;
}
END
build missing gfx803 || fail 'missing.hip does not compile'
run run ./missing
expect_line out '^801 801$'
expect_same 'said once' 1 "$(grep -c 'hipGraphCreate is not supported; it answers hipErrorNotSupported' err)"

# ---- the layout of what programs pass ----

programs=$HEDDLE_HOME/tests/programs/hip
gcc -I"$HEDDLE_HOME/src" -o abi.ours "$programs/abi.c" && hipcc -I"$HEDDLE_HOME/src" --offload-arch=gfx803 -o abi.theirs "$programs/abi.hip" ||
    fail 'abi does not compile'
expect_same_file 'layout of structs, and errors' <(./abi.ours) <(./abi.theirs)
