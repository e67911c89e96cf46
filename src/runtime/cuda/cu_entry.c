/* Functions by their names: cuGetProcAddress, and the runtime's functions over it. */
#include "runtime/cuda/api.h"
#include "runtime/cuda/exports.h"
#include "driver/closed.h"

#include <dlfcn.h>
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { FOUND, NO_SUCH_SYMBOL, VERSION_TOO_OLD };
enum { FLAG_LEGACY = 1, FLAG_PER_THREAD = 2 };
enum { NEWEST = 4 }; /* the highest _vN there is */

/* Names whose newer versions take other arguments than older ones, and the first version of CUDA that means
 * the newer by the plain name. What is not here changed before CUDA 11. */
static const struct {
    const char *name;
    int version;
} newer[] = {
    {"cuCtxCreate_v3", 11040},         {"cuCtxCreate_v4", 13000},          {"cuMemAdvise_v2", 13000},
    {"cuMemPrefetchAsync_v2", 13000},  {"cuGetProcAddress_v2", 12000},     {"cuCtxGetDevice_v2", 99999},
    {"cuCtxSynchronize_v2", 99999},    {"cuStreamGetCtx_v2", 99999},       {"cuEventElapsedTime_v2", 12080},
    {"cuStreamWaitValue32_v2", 11070}, {"cuStreamWriteValue32_v2", 11070}, {"cuDeviceGetUuid_v2", 11040},
};

static void *find(const char *name)
{
    for (const struct export_row *row = heddle_cuda_exports; row->name; row++) {
        if (!strcmp(row->name, name))
            return row->function;
    }
    return NULL;
}

static bool too_new(const char *name, int version)
{
    for (size_t i = 0; i < sizeof newer / sizeof *newer; i++) {
        if (!strcmp(newer[i].name, name))
            return version < newer[i].version;
    }
    return false;
}

/* The newest version of the function that this version of CUDA has, for the kind of default stream that is
 * wanted. */
static void *entry_point(const char *name, int version, bool per_thread)
{
    static const char *const endings[] = {"_ptsz", "_ptds", ""};
    for (int newest = NEWEST; newest >= 1; newest--) {
        char versioned[128], whole[160];
        if (newest > 1)
            snprintf(versioned, sizeof versioned, "%.100s_v%d", name, newest);
        else
            snprintf(versioned, sizeof versioned, "%.100s", name);
        if (too_new(versioned, version))
            continue;
        for (int i = per_thread ? 0 : 2; i < 3; i++) {
            snprintf(whole, sizeof whole, "%s%s", versioned, endings[i]);
            void *found = find(whole);
            if (found)
                return found;
        }
    }
    return NULL;
}

static cudaError_t look_up(const char *name, void **function, int version, uint64_t flags, int *status,
                           cudaError_t missing)
{
    if (!name || !function)
        return cudaErrorInvalidValue;
    *function = entry_point(name, version, flags & FLAG_PER_THREAD);
    if (status)
        *status = *function ? FOUND : NO_SUCH_SYMBOL;
    return *function ? cudaSuccess : missing;
}

EXPORT CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags,
                                    int *status);
EXPORT CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags);

CUresult cuGetProcAddress_v2(const char *name, void **function, int version, uint64_t flags, int *status)
{
    return look_up(name, function, version, flags, status, cudaErrorSymbolNotFound);
}

CUresult cuGetProcAddress(const char *name, void **function, int version, uint64_t flags)
{
    return look_up(name, function, version, flags, NULL, cudaErrorSymbolNotFound);
}

/* Compilers and linkers, which ask for tables as well and do without: they need no GPU. */
static bool is_compiler(const char *name)
{
    return !strncmp(name, "libnvrtc.", 9) || !strncmp(name, "libnvJitLink.", 13);
}

/* Only a runtime of NVIDIA's asks for tables, as it begins: in libcudart, or inside a library that cannot be
 * taken over. Without them it fails with errors that say nothing, so one line says which it is. */
static void tell_runtime(const void *caller)
{
    enum { MOST = 16 };
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    static const void *told[MOST];
    Dl_info info;
    if (!dladdr(caller, &info) || !info.dli_fname || !strcmp(info.dli_fname, program_invocation_name))
        return;
    pthread_mutex_lock(&lock);
    size_t i = 0;
    while (i < MOST && told[i] && told[i] != info.dli_fbase)
        i++;
    bool known = i == MOST || told[i];
    if (!known)
        told[i] = info.dli_fbase;
    pthread_mutex_unlock(&lock);
    const char *slash = strrchr(info.dli_fname, '/');
    const struct closed_library *closed = closed_find(info.dli_fname);
    if (known || is_compiler(slash ? slash + 1 : info.dli_fname))
        return;
    if (!strncmp(slash ? slash + 1 : info.dli_fname, "libcudart.", 10))
        fprintf(stderr,
                "heddle: %s is NVIDIA's own CUDA runtime, and its calls will fail: let the program "
                "load " CUDART_SONAME " by that name, without a path or an RPATH, to find Heddle's\n",
                info.dli_fname);
    else if (closed)
        fprintf(stderr,
                "heddle: %s is %s, whose kernels are machine code without PTX, which Heddle does not "
                "simulate; its calls will fail: %s\n",
                info.dli_fname, closed->name, closed->remedy);
    else
        fprintf(stderr,
                "heddle: %s has a CUDA runtime of its own that cannot be replaced, and its calls will fail: "
                "build it with NVCC_APPEND_FLAGS='-cudart shared'\n",
                info.dli_fname);
}

/* Tables of functions that NVIDIA's libraries share with each other and nobody else. */
EXPORT CUresult cuGetExportTable(const void **table, const struct cudaUUID *id);
CUresult cuGetExportTable(const void **table, const struct cudaUUID *id)
{
    (void)id;
    tell_runtime(__builtin_return_address(0));
    if (table)
        *table = NULL;
    return cudaErrorSymbolNotFound;
}

/* The runtime's say by the status whether there is such a function, and succeed when there is none. */
API_ANY(cudaGetDriverEntryPoint, (name, function, flags, status), const char *name, void **function,
        unsigned long long flags, int *status)
{
    return look_up(name, function, CUDA_VERSION, flags, status, cudaSuccess);
}

API_ANY(cudaGetDriverEntryPoint_ptsz, (name, function, flags, status), const char *name, void **function,
        unsigned long long flags, int *status)
{
    bool legacy = flags & FLAG_LEGACY;
    return look_up(name, function, CUDA_VERSION, legacy ? flags : flags | FLAG_PER_THREAD, status,
                   cudaSuccess);
}

API_ANY(cudaGetDriverEntryPointByVersion, (name, function, version, flags, status), const char *name,
        void **function, unsigned version, unsigned long long flags, int *status)
{
    return look_up(name, function, (int)version, flags, status, cudaSuccess);
}

API_ANY(cudaGetDriverEntryPointByVersion_ptsz, (name, function, version, flags, status), const char *name,
        void **function, unsigned version, unsigned long long flags, int *status)
{
    bool legacy = flags & FLAG_LEGACY;
    return look_up(name, function, (int)version, legacy ? flags : flags | FLAG_PER_THREAD, status,
                   cudaSuccess);
}
