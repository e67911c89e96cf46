#!/usr/bin/env bash
# OpenCL programs, unmodified: they find our driver through the loader, linked with it or not.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
programs=$HEDDLE_HOME/tests/programs/opencl
[[ -e $(dirname "$HEDDLE")/opencl/libheddle_opencl.so ]] || {
    skip 'no OpenCL headers when Heddle was built'
    exit
}
cat >gpu.ini <<'END'
[gpu]
name = A GPU of 64 lanes
target = gfx803
major = 8
minor = 0
warp_lanes = 64
sm_count = 8
memory = 4GiB
shared_per_sm = 64KiB
shared_per_block = 64KiB
shared_per_block_optin = 64KiB
shared_carveouts = 64
END
on=(run --system ./gpu.ini --mode functional)
export XDG_CACHE_HOME=$PWD/cache

echo 'int main(void) { return 0; }' >empty.c
gcc -o empty empty.c -lOpenCL 2>/dev/null || {
    skip 'no libOpenCL to link with (ocl-icd-opencl-dev)'
    exit
}
for name in memory queues programs launches images times svm; do
    gcc -Wall -Wextra -Werror -o $name "$programs/$name.c" -lOpenCL -lpthread -lm || fail "$name.c does not compile"
done

# ---- what needs no compiler ----

for mode in functional timing; do
    for name in memory queues; do
        run run --system ./gpu.ini --mode $mode ./$name
        expect_status 0
        expect_line out "^$name: ok\$"
    done
done
run run --system ./gpu.ini --set system.gpus=3 --mode functional ./memory
expect_line out '^memory: ok$'

# A program that loads the loader itself
cat >loads.c <<'END'
#include <dlfcn.h>
#include <stdio.h>
int main(void)
{
    unsigned count = 0;
    void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
    int (*platforms)(unsigned, void *, unsigned *) = (int (*)(unsigned, void *, unsigned *))dlsym(library, "clGetPlatformIDs");
    int (*devices)(void *, unsigned long, unsigned, void *, unsigned *) =
        (int (*)(void *, unsigned long, unsigned, void *, unsigned *))dlsym(library, "clGetDeviceIDs");
    void *platform;
    int error = platforms(1, &platform, &count);
    printf("%d %u\n", error, count);
    error = devices(platform, 4, 0, 0, &count);
    return printf("devices %d %u\n", error, count) < 0;
}
END
gcc -o loads loads.c -ldl || fail 'loads.c does not compile'
run "${on[@]}" ./loads
expect_line out '^0 1$'
expect_line out '^devices 0 1$'
run run --system h200 --mode functional ./loads
expect_line out '^devices -1 0$'
expect_line err "OpenCL programs run on AMD's GPUs; choose one, such as --system r9nano"

if has clinfo 'the page of clinfo'; then
    run "${on[@]}" clinfo
    expect_status 0
    expect_line out 'Device Name +A GPU of 64 lanes$'
    expect_line out 'Max compute units +8$'
    expect_line out 'Global memory size +4294967296'
fi

# ---- the compiler ----

cat >build.c <<'END'
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>
#include <stdio.h>
int main(void)
{
    static char log[10000];
    const char *text = "kernel void k(global int *a) { *a = 1; }";
    cl_platform_id platform;
    cl_device_id device;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_program program = clCreateProgramWithSource(context, 1, &text, NULL, NULL);
    printf("%d\n", clBuildProgram(program, 1, &device, "", NULL, NULL));
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, sizeof log, log, NULL);
    printf("%s\n", log);
    return 0;
}
END
gcc -o build build.c -lOpenCL || fail 'build.c does not compile'
HEDDLE_LLVM=/nowhere run "${on[@]}" ./build
expect_line out '^-3$'
expect_line out 'clang is not installed: apt install clang-19 lld-19 llvm-19 rocm-device-libs$'
expect_line err 'clang is not installed: apt install clang-19 lld-19 llvm-19 rocm-device-libs$'
HEDDLE_DEVICE_LIBS=/nowhere run "${on[@]}" ./build
expect_line out 'the libraries are not installed: apt install'

rm -rf cache
run "${on[@]}" ./build
if grep -q '^0$' out; then
    [[ $(find cache/heddle/opencl -name '*.code' | wc -l) == 1 ]] || fail 'the code object is not in the cache'
    for name in programs images; do
        run "${on[@]}" ./$name
        expect_status 0
        expect_line out "^$name: ok\$"
    done
    for system in r9nano mi60; do
        run run --system $system --mode timing ./images four
        expect_status 0
        expect_line out '^images: ok$'
    done
    run run --system mi60 --mode functional ./images
    expect_line out '^images: ok$'
    for mode in functional timing; do
        run run --system r9nano --mode $mode ./launches
        expect_status 0
        expect_line out '^launches: ok$'
    done
    # Shared virtual memory: on one device, on several, and where its pages move.
    run run --system r9nano-x2 --mode functional ./svm
    expect_line out '^svm: ok$'
    for how in '--system r9nano' '--system mi60 --gpus 2' '--system r9nano-x4 --set paging.policy=esi --set paging.room=64KiB' \
        '--unified 2' '--unified 2 --set paging.policy=pm' '--unified 2 --set paging.policy=ps'; do
        # shellcheck disable=SC2086 # several words
        run run --system r9nano $how --mode timing ./svm
        expect_status 0
        expect_line out '^svm: ok$'
    done
    # Signals of a program do not disturb the compiler.
    cat >signals.c <<'END'
#include <signal.h>
#include <string.h>
#include <sys/time.h>
int heddle_test_main(void);
static void nothing(int number) { (void)number; }
int main(int count, char **words)
{
    struct itimerval often = {{0, 2000}, {0, 2000}};
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGALRM, &action, NULL);
    if (count > 1 && !strcmp(words[1], "ignore"))
        signal(SIGCHLD, SIG_IGN);
    else
        setitimer(ITIMER_REAL, &often, NULL);
    return heddle_test_main();
}
END
    gcc -Dmain=heddle_test_main -c -o build.o build.c && gcc -o signals signals.c build.o -lOpenCL || fail 'signals.c does not compile'
    for how in ignore often; do
        rm -rf cache
        run "${on[@]}" ./signals $how
        expect_line out '^0$'
    done
    # An event's time is the kernel's own, to the nanosecond; what a kernel printed before its fault is shown.
    run run --system r9nano --mode timing --stats times.json ./times
    expect_line out '^times: ok$'
    expect_line out '^before$'
    python3 - times.json >expected <<'END' || fail 'times.json cannot be read'
import json, sys
for launch in json.load(open(sys.argv[1]))["launches"][:2]:
    print(launch["name"], launch["end_ps"] // 1000 - launch["start_ps"] // 1000)
END
    grep -E '^(plain|prints) ' out | diff - expected || fail 'the times of events are not those of the launches'
    run "${on[@]}" ./times
    expect_line out '^before$'
    expect_line err ' [0-9]+ wave instructions '
else
    skip 'no clang with device libraries for OpenCL C'
fi

# ---- kernels of a code object; what they execute is counted in AMD's words ----

CFLAGS=-DWORKLOAD_BINARY "$HEDDLE_HOME/bench/opencl/build" . vecadd >built 2>&1 || fail "vecadd: $(tail -3 built)"
for mode in functional timing; do
    run run --system r9nano --mode $mode --no-progress ./vecadd --n 1000
    expect_line out '^vecadd: ok$'
    expect_line err '^heddle: 1 kernel, 1 launch, [0-9]+ wave instructions \([0-9.]+ thousand of work-items\) in '
done

# ---- what the programs expect is right on another implementation, too ----

icd=$(find /etc/OpenCL/vendors -name 'pocl*.icd' 2>/dev/null | head -1)
if [[ $icd ]]; then
    OCL_ICD_VENDORS=$icd POCL_CACHE_DIR=$PWD/pocl ./images plain >out 2>&1
    expect_line out '^images: ok$'
else
    skip 'images on PoCL: it is not here'
fi

# ---- calls that are not supported ----

cat >unknown.c <<'END'
#define CL_TARGET_OPENCL_VERSION 200
#include <CL/cl.h>
#include <stdio.h>
int main(void)
{
    cl_platform_id platform;
    cl_device_id device;
    clGetPlatformIDs(1, &platform, NULL);
    clGetDeviceIDs(platform, CL_DEVICE_TYPE_GPU, 1, &device, NULL);
    cl_context context = clCreateContext(NULL, 1, &device, NULL, NULL, NULL);
    cl_int error = 0;
    for (int i = 0; i < 3; i++)
        clCreatePipe(context, 0, 4, 4, NULL, &error);
    printf("%d\n", error);
    return 0;
}
END
gcc -o unknown unknown.c -lOpenCL || fail 'unknown.c does not compile'
run "${on[@]}" ./unknown
expect_line out '^-59$'
[[ $(grep -c 'clCreatePipe is not supported; it answers CL_INVALID_OPERATION' err) == 1 ]] || fail 'clCreatePipe is not named once'
