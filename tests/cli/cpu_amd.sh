#!/usr/bin/env bash
# OpenCL and HIP programs on simulated CPU cores: what the libraries do takes none of the core's time, kernels run in a
# machine of their own.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs qemu-x86_64
libraries=$(dirname "$HEDDLE")
on=(--system r9nano --no-progress)

# ---- HIP, and a kernel whose machine is in another process ----

gcc -o plain "$HEDDLE_HOME/tests/programs/hip/plain.c" -L"$libraries/hip" -lamdhip64 || fail 'plain.c does not compile'
run run --shared "${on[@]}" ./plain "$HEDDLE_HOME/bench/opencl/vecadd.hsaco"
expect_status 0
expect_line out '^plain: ok$'
for i in 1 2; do
    run run --cpu simple "${on[@]}" ./plain "$HEDDLE_HOME/bench/opencl/vecadd.hsaco"
    expect_status 0
    expect_line out '^plain: ok$'
    expect_line out '^kernel_ns=[0-9]{4,5}$' # the kernel's microseconds, not the library's milliseconds
    mv out "$i"
done
expect_same_file 'two runs' 1 2

# ---- OpenCL ----

[[ -e $libraries/opencl/libheddle_opencl.so ]] || {
    skip 'no OpenCL headers when Heddle was built'
    exit
}
export XDG_CACHE_HOME=$PWD/cache
for name in memory queues launches; do
    gcc -o $name "$HEDDLE_HOME/tests/programs/opencl/$name.c" -lOpenCL -lpthread -lm 2>/dev/null || {
        skip 'no libOpenCL to link with (ocl-icd-opencl-dev)'
        exit
    }
done
for name in memory queues; do # another thread decides what a call of queues waits for
    run run --cpu simple "${on[@]}" ./$name
    expect_status 0
    expect_line out "^$name: ok\$"
done
run run --mode functional "${on[@]}" ./launches
if ((status)); then
    skip "kernels in OpenCL: they cannot be compiled here: $(head -n 1 out err)"
    exit
fi
run run --cpu simple "${on[@]}" ./launches
expect_status 0
expect_line out '^launches: ok$'
expect_line err '^see .* 4 '
