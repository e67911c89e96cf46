/* Launches inside and outside of ranges and of what a profiler is to see. NVTX is by its header (-DNVTX), or
 * else, as that is not everywhere, by a table of functions like the header's. Launches: 0 nowhere; 1 in
 * outer; 2 in outer and inner, which is of a domain; 3 in outer, with the profiler; 4 with the profiler; 5 in
 * a range of the process, from another thread; 6 nowhere. Kernels: even launches run `add<int>`, odd ones
 * `mul`. */
#define _GNU_SOURCE
#include "check.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>

int cuInit(unsigned flags), cuDevicePrimaryCtxRetain(void **context, int device),
    cuCtxSetCurrent(void *context);
int cuModuleLoadData(void **module, const void *image), cuCtxSynchronize(void);
int cuModuleGetFunction(void **function, void *module, const char *name);
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, void *stream, void **arguments, void **extra);
int cuProfilerStart(void), cuProfilerStop(void);

#ifdef NVTX
#include <nvtx3/nvToolsExt.h>
#else
/* What the header does when it is first used, and the functions that it then calls. */
typedef void function(void);
static function *core[16], *core2[16], **core_places[16], **core2_places[16];
static int find_table(int module, function ****table, unsigned *count)
{
    *table = module == 1 ? core_places : core2_places;
    *count = 16;
    return module == 1 || module == 5;
}
static const struct {
    size_t bytes;
    int (*find)(int, function ****, unsigned *);
} callbacks = {sizeof callbacks, find_table};
static const void *table_of(uint32_t number)
{
    return number == 1 ? &callbacks : NULL;
}
static void begin(void)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");
    void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
    int (*start)(const void *(*)(uint32_t)) = NULL;
    for (int i = 0; i < 16; i++) {
        core_places[i] = &core[i];
        core2_places[i] = &core2[i];
    }
    if (library)
        *(void **)&start = dlsym(library, "InitializeInjectionNvtx2");
    CHECK(!path || (start && start(table_of) == 1));
}
typedef struct {
    uint16_t version, size;
    uint32_t category, colors[2], payload_type, reserved;
    uint64_t payload;
    int messageType;
    union {
        const void *registered;
        const char *ascii;
    } message;
} nvtxEventAttributes_t;
enum { NVTX_MESSAGE_TYPE_REGISTERED = 3 };
typedef const void *nvtxDomainHandle_t;
typedef uint64_t nvtxRangeId_t;
#define CALL(table, at, type, none, ...) (table[at] ? ((type)table[at])(__VA_ARGS__) : none)
#define nvtxRangePushA(name)             CALL(core, 9, int (*)(const char *), 0, name)
#define nvtxRangePop()                   CALL(core, 11, int (*)(void), 0)
#define nvtxRangeStartA(name)            CALL(core, 5, nvtxRangeId_t (*)(const char *), 0, name)
#define nvtxRangeEnd(id)                 (core[7] ? ((void (*)(nvtxRangeId_t))core[7])(id) : (void)0)
#define nvtxDomainCreateA(name)          CALL(core2, 12, nvtxDomainHandle_t (*)(const char *), NULL, name)
#define nvtxDomainRegisterStringA(d, name)                                                                   \
    CALL(core2, 10, const void *(*)(nvtxDomainHandle_t, const char *), NULL, d, name)
#define nvtxDomainRangePushEx(d, event)                                                                      \
    CALL(core2, 4, int (*)(nvtxDomainHandle_t, const nvtxEventAttributes_t *), 0, d, event)
#define nvtxDomainRangePop(d) CALL(core2, 5, int (*)(nvtxDomainHandle_t), 0, d)
#endif

static const char ptx[] = ".version 7.0\n.target sm_50\n.address_size 64\n"
                          ".visible .entry _Z3addIiEvv() { ret; }\n.visible .entry mul() { ret; }\n";
static void *context, *kernels[2];

static void launch(void)
{
    static int count;
    GOOD(cuLaunchKernel(kernels[count++ % 2], 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL));
}

static void *other_thread(void *unused)
{
    GOOD(cuCtxSetCurrent(context));
    launch();
    return unused;
}

int main(void)
{
    void *module;
    pthread_t thread;
#ifndef NVTX
    begin();
#endif
    GOOD(cuInit(0));
    GOOD(cuDevicePrimaryCtxRetain(&context, 0));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoadData(&module, ptx));
    GOOD(cuModuleGetFunction(&kernels[0], module, "_Z3addIiEvv"));
    GOOD(cuModuleGetFunction(&kernels[1], module, "mul"));
    launch();
    nvtxRangePushA("outer loop");
    launch();
    nvtxDomainHandle_t domain = nvtxDomainCreateA("mine");
    nvtxEventAttributes_t event = {.size = sizeof event, .messageType = NVTX_MESSAGE_TYPE_REGISTERED};
    event.message.registered = nvtxDomainRegisterStringA(domain, "inner");
    nvtxDomainRangePushEx(domain, &event);
    launch();
    nvtxDomainRangePop(domain);
    GOOD(cuProfilerStart());
    launch();
    nvtxRangePop();
    launch();
    GOOD(cuProfilerStop());
    nvtxRangeId_t range = nvtxRangeStartA("all of it");
    pthread_create(&thread, NULL, other_thread, NULL);
    pthread_join(thread, NULL);
    nvtxRangeEnd(range);
    launch();
    GOOD(cuCtxSynchronize());
    return check_end("region");
}
