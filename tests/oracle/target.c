/* Two machines behind one table of functions: Heddle's own execution, and a GPU through the CUDA driver. */
#include "target.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"
#include "timed.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

enum { STACK_BYTES = 16384 }; /* of a thread: functions that call themselves need some */

/* --- the CUDA driver: no header of it is needed, only these --------------------------------------------- */

#define DRIVER(F)                                                                                            \
    F(cuInit, (unsigned flags))                                                                              \
    F(cuDeviceGet, (int *device, int number))                                                                \
    F(cuDevicePrimaryCtxRetain, (void **context, int device))                                                \
    F(cuCtxSetLimit, (int limit, size_t value))                                                              \
    F(cuCtxSetCurrent, (void *context))                                                                      \
    F(cuModuleLoadDataEx, (void **module, const void *image, unsigned count, int *options, void **values))   \
    F(cuModuleUnload, (void *module))                                                                        \
    F(cuModuleGetFunction, (void **function, void *module, const char *name))                                \
    F(cuMemAlloc_v2, (uint64_t * address, size_t bytes))                                                     \
    F(cuMemFree_v2, (uint64_t address))                                                                      \
    F(cuMemcpyHtoD_v2, (uint64_t to, const void *from, size_t bytes))                                        \
    F(cuMemcpyDtoH_v2, (void *to, uint64_t from, size_t bytes))                                              \
    F(cuStreamQuery, (void *stream))                                                                         \
    F(cuLaunchKernel, (void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,      \
                       unsigned bz, unsigned shared, void *stream, void **params, void **extra))

struct driver {
#define F(name, arguments) int(*name) arguments;
    DRIVER(F)
#undef F
};

struct target {
    bool is_gpu;
    /* Heddle */
    unsigned threads;
    struct image *image;
    struct program *program;
    void **memories; /* of the program's variables */
    size_t memory_count, memory_capacity;
    struct timed *timed; /* with the timing model; or NULL */
    uint64_t digest;     /* of what it counted */
    /* the GPU */
    struct driver driver;
    void *module;
};

static bool driver_open(struct driver *driver, struct err *err)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);
    if (!library)
        return err_set(err, "%s", dlerror());
#define F(name, arguments)                                                                                   \
    *(void **)&driver->name = dlsym(library, #name);                                                         \
    if (!driver->name)                                                                                       \
        return err_set(err, "libcuda.so.1 has no %s", #name);
    DRIVER(F)
#undef F
    return true;
}

static bool done(const char *what, int code, struct err *err)
{
    return code == 0 || err_set(err, "%s: CUDA error %d", what, code);
}

struct target *target_gpu(struct err *err)
{
    struct target *target = mem_alloc(1, sizeof *target);
    struct driver *driver = &target->driver;
    void *context;
    int device;
    target->is_gpu = true;
    if (driver_open(driver, err) && done("cuInit", driver->cuInit(0), err) &&
        done("cuDeviceGet", driver->cuDeviceGet(&device, 0), err) &&
        done("cuDevicePrimaryCtxRetain", driver->cuDevicePrimaryCtxRetain(&context, device), err) &&
        done("cuCtxSetCurrent", driver->cuCtxSetCurrent(context), err) &&
        done("cuCtxSetLimit", driver->cuCtxSetLimit(0, STACK_BYTES), err)) /* CU_LIMIT_STACK_SIZE */
        return target;
    mem_free(target);
    return NULL;
}

static bool gpu_load(struct target *target, const char *ptx, struct err *err)
{
    enum { ERROR_LOG = 5, ERROR_LOG_BYTES = 6 }; /* CUjit_option */
    char log[2000] = "";
    int options[] = {ERROR_LOG, ERROR_LOG_BYTES};
    void *values[] = {log, (void *)sizeof log};
    if (target->module)
        target->driver.cuModuleUnload(target->module);
    target->module = NULL;
    int code = target->driver.cuModuleLoadDataEx(&target->module, ptx, COUNT_OF(options), options, values);
    return code == 0 || err_set(err, "CUDA error %d: %s", code, log);
}

static bool wait_for_it(const struct driver *driver, const char *kernel, struct err *err)
{
    enum { NOT_READY = 600, SECONDS = 5 };
    double from = host_seconds();
    int code;
    while ((code = driver->cuStreamQuery(NULL)) == NOT_READY)
        if (host_seconds() - from > SECONDS)
            return err_set(err, "%s does not end", kernel);
    return done(kernel, code, err);
}

static bool gpu_launch(struct target *target, const struct target_launch *launch, uint64_t in, uint64_t out,
                       struct err *err)
{
    const struct driver *driver = &target->driver;
    const uint32_t *grid = launch->grid, *block = launch->block;
    void *function, *params[] = {&in, &out};
    return done(launch->kernel, driver->cuModuleGetFunction(&function, target->module, launch->kernel),
                err) &&
           done("copy", driver->cuMemcpyHtoD_v2(in, launch->in, launch->in_bytes), err) &&
           done("copy", driver->cuMemcpyHtoD_v2(out, launch->out, launch->out_bytes), err) &&
           done(launch->kernel,
                driver->cuLaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1], block[2], 0,
                                       NULL, params, NULL),
                err) &&
           wait_for_it(driver, launch->kernel, err) &&
           done("copy", driver->cuMemcpyDtoH_v2(launch->out, out, launch->out_bytes), err);
}

static bool gpu_run(struct target *target, const struct target_launch *launch, struct err *err)
{
    const struct driver *driver = &target->driver;
    uint64_t in, out;
    if (!done("memory", driver->cuMemAlloc_v2(&in, launch->in_bytes), err) ||
        !done("memory", driver->cuMemAlloc_v2(&out, launch->out_bytes), err) ||
        !gpu_launch(target, launch, in, out, err))
        return false; /* a kernel may still run: freeing its memory would wait for it */
    driver->cuMemFree_v2(out);
    driver->cuMemFree_v2(in);
    return true;
}

/* --- Heddle --------------------------------------------------------------------------------------------- */

static struct target *target_over(struct timed *timed)
{
    struct target *target = target_heddle(1);
    target->timed = timed;
    if (target->timed)
        return target;
    target_free(target);
    return NULL;
}

struct target *target_timed(unsigned threads, struct err *err)
{
    return target_over(timed_new(threads, err));
}

struct target *target_cut(struct err *err)
{
    return target_over(timed_new_cut(err));
}

uint64_t target_digest(const struct target *target)
{
    return target->digest;
}

struct target *target_heddle(unsigned threads)
{
    struct target *target = mem_alloc(1, sizeof *target);
    target->threads = threads;
    target->image = image_new();
    return target;
}

static uint64_t place(void *context, const struct ptx_variable *variable, uint64_t bytes, uint64_t alignment)
{
    struct target *target = context;
    REQUIRE(alignment <= CACHE_LINE);
    void *memory = target->timed ? timed_alloc(target->timed, bytes) : mem_alloc_lines(bytes, 1);
    mem_grow(target->memories, target->memory_count, target->memory_capacity);
    target->memories[target->memory_count++] = memory;
    image_add(target->image,
              (struct range){(uintptr_t)memory, bytes, "variable", variable->space == PTX_CONST});
    return (uintptr_t)memory;
}

static void heddle_unload(struct target *target)
{
    program_free(target->program);
    target->program = NULL;
    while (target->memory_count) {
        void *memory = target->memories[--target->memory_count];
        image_remove(target->image, (uintptr_t)memory);
        if (!target->timed)
            mem_free(memory);
    }
    if (target->timed)
        timed_reset(target->timed);
}

static bool heddle_load(struct target *target, const char *ptx, struct err *err)
{
    heddle_unload(target);
    struct ptx_module *module = ptx_parse("oracle.ptx", ptx, strlen(ptx), err);
    if (module && target->timed)
        ptxas_optimize(module);
    if (module)
        target->program = program_new(&module, 1, &ptxas, place, target, err);
    if (target->program && target->timed)
        program_set_timed(target->program);
    return target->program;
}

/* In memory of the GPU, where lines are whole. */
static bool timed_launch(struct target *target, struct launch *run, const struct target_launch *launch,
                         struct launch_result *result, struct err *err)
{
    char *in = timed_alloc(target->timed, launch->in_bytes),
         *out = timed_alloc(target->timed, launch->out_bytes);
    const uint64_t params[] = {(uintptr_t)in, (uintptr_t)out};
    memcpy(in, launch->in, launch->in_bytes);
    memcpy(out, launch->out, launch->out_bytes);
    run->params = params;
    image_add(target->image, (struct range){params[0], launch->in_bytes, "the input", true});
    image_add(target->image, (struct range){params[1], launch->out_bytes, "the output", false});
    bool good = timed_run(target->timed, run, result, &target->digest, err);
    memcpy(launch->out, out, launch->out_bytes);
    image_remove(target->image, params[0]);
    image_remove(target->image, params[1]);
    return good;
}

static bool heddle_run(struct target *target, const struct target_launch *launch, struct err *err)
{
    struct kernel *kernel = program_kernel(target->program, launch->kernel);
    if (!kernel)
        return err_set(err, "there is no kernel %s", launch->kernel);
    const uint64_t params[] = {(uintptr_t)launch->in, (uintptr_t)launch->out};
    struct launch run = {.kernel = kernel,
                         .image = target->image,
                         .params = params,
                         .threads = target->threads,
                         .sm_count = 132,
                         .stack_bytes = STACK_BYTES,
                         .instruction_limit = 20000000}; /* a kernel that does not end is a wrong one */
    memcpy(run.grid, launch->grid, sizeof run.grid);
    memcpy(run.block, launch->block, sizeof run.block);
    static _Thread_local struct launch_result result;
    if (target->timed)
        return timed_launch(target, &run, launch, &result, err);
    image_add(target->image, (struct range){params[0], launch->in_bytes, "the input", true});
    image_add(target->image, (struct range){params[1], launch->out_bytes, "the output", false});
    bool good = launch_run(&run, &result) || err_set(err, "%s", result.fault.text);
    image_remove(target->image, params[0]);
    image_remove(target->image, params[1]);
    return good;
}

bool target_load(struct target *target, const char *ptx, struct err *err)
{
    return (target->is_gpu ? gpu_load : heddle_load)(target, ptx, err);
}

bool target_run(struct target *target, const struct target_launch *launch, struct err *err)
{
    return (target->is_gpu ? gpu_run : heddle_run)(target, launch, err);
}

void target_free(struct target *target)
{
    if (!target->is_gpu) {
        heddle_unload(target);
        image_free(target->image);
        if (target->timed)
            timed_free(target->timed);
    }
    mem_free(target->memories);
    mem_free(target);
}
