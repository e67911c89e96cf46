#!/usr/bin/env bash
# Memory that graphs allocate, in both modes, and on a machine in another process.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
program=(./graph_memory "$HEDDLE_HOME/tests/programs/ipc.ptx")
gcc -o graph_memory "$HEDDLE_HOME/tests/programs/graph_memory.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 ||
    fail 'graph_memory.c does not compile'
for how in '--mode functional' '--mode timing' --shared; do
    # shellcheck disable=SC2086
    run run $how --set gpu.sm_count=8 --no-progress "${program[@]}"
    expect_status 0
    expect_line out '^graph_memory: ok$'
    expect_line err '^heddle: 1 kernel, 4 launches'
done

# after the graph has freed it, a kernel that touches it fails
cat >stale.c <<'END'
#include <stddef.h>
typedef unsigned long long address;
int cuInit(unsigned f), cuDeviceGet(int *d, int i), cuDevicePrimaryCtxRetain(void **c, int d), cuCtxSetCurrent(void *c);
int cuModuleLoad(void **m, const char *p), cuModuleGetFunction(void **f, void *m, const char *n);
int cuMemAllocAsync(address *d, size_t n, void *s), cuMemFreeAsync(address d, void *s);
int cuStreamCreate(void **s, unsigned f), cuStreamSynchronize(void *s), cuStreamBeginCapture_v2(void *s, int m);
int cuStreamEndCapture(void *s, void **g), cuGraphInstantiateWithFlags(void **e, void *g, unsigned long long f);
int cuGraphLaunch(void *e, void *s);
int cuLaunchKernel(void *f, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned, void *s, void **a, void **e);
int main(int count, char **words)
{
    void *c, *m, *f, *s, *g, *e;
    address at;
    unsigned one = 1;
    void *arguments[] = {&at, &one, &one};
    int device;
    cuInit(0), cuDeviceGet(&device, 0), cuDevicePrimaryCtxRetain(&c, device), cuCtxSetCurrent(c);
    cuModuleLoad(&m, words[1]), cuModuleGetFunction(&f, m, "change"), cuStreamCreate(&s, 1);
    cuStreamBeginCapture_v2(s, 2), cuMemAllocAsync(&at, 512, s), cuMemFreeAsync(at, s);
    cuLaunchKernel(f, 1, 1, 1, 128, 1, 1, 0, s, arguments, NULL);
    cuStreamEndCapture(s, &g), cuGraphInstantiateWithFlags(&e, g, 0), cuGraphLaunch(e, s);
    return cuStreamSynchronize(s) == 700 && count == 2 ? 7 : 0;
}
END
gcc -o stale stale.c -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'stale.c does not compile'
for mode in functional timing; do
    run run --mode $mode --set gpu.sm_count=8 --no-progress ./stale "$HEDDLE_HOME/tests/programs/ipc.ptx"
    expect_status 7
done
