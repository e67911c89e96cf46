/* Kernels: one handle for all devices, and the state on each device. */
#include "driver/modules.h"
#include "driver/timeline.h"
#include "isa/warp.h"
#include "base/bits.h"
#include "base/mem.h"
#include "system/occupancy.h"

enum { CACHE_SHARED = 1, CACHE_L1 = 2, CACHE_EQUAL = 3 }; /* cudaFuncCache's numbers */

static const struct function_copy fresh = {.max_dynamic = -1, .carveout = -1};

static struct function *add_function(struct module *module, const char *name)
{
    unsigned devices = module->driver->device_count;
    struct function *function = mem_alloc(1, sizeof *function + devices * sizeof *function->on);
    function->module = module;
    function->name = mem_text(name);
    for (unsigned i = 0; i < devices; i++)
        function->on[i] = fresh;
    function->next = module->functions;
    return module->functions = function;
}

void function_free(struct function *function)
{
    mem_free(function->name);
    mem_free(function);
}

void function_leave(struct function *function, const struct device *device)
{
    function->on[device->index] = fresh;
}

enum result module_function(struct module *module, const char *name, struct function **function)
{
    if (module->driver->ended)
        return RESULT_DEINITIALIZED;
    pthread_mutex_lock(&module->lock);
    struct function *found = module->functions;
    while (found && strcmp(found->name, name) != 0)
        found = found->next;
    *function = found ? found : add_function(module, name);
    pthread_mutex_unlock(&module->lock);
    return RESULT_SUCCESS;
}

struct function *module_function_at(struct module *module, struct device *device, size_t index)
{
    struct function *function = NULL;
    if (module_prepare(module, device))
        return NULL;
    const struct module_copy *copy = &module->on[device->index];
    struct kernel *kernel = copy->code ? NULL : program_kernel_at(copy->program, index);
    const char *name = copy->code ? module_code_kernel_name(copy->code, index) : NULL;
    if (kernel)
        name = kernel_facts(kernel)->name;
    if (name)
        module_function(module, name, &function);
    return function;
}

const char *function_name(const struct function *function)
{
    return function->name;
}

struct module *function_module(const struct function *function)
{
    return function->module;
}

/* ---- on a device ---- */

/* With the module's lock held. */
static enum result find(struct function *function, struct device *device)
{
    struct module *module = function->module;
    struct function_copy *copy = &function->on[device->index];
    if (copy->kernel)
        return RESULT_SUCCESS;
    enum result result = module_make(module, device);
    if (result)
        return result;
    const struct module_copy *code = &module->on[device->index];
    if (code->code)
        result = module_code_kernel(code->code, function->name, &copy->kernel);
    else
        copy->kernel = program_kernel(code->program, function->name);
    if (result)
        return result;
    if (!copy->kernel)
        return driver_fail(RESULT_INVALID_DEVICE_FUNCTION, "%s has no kernel %s", module->parts[0].name,
                           function->name);
    const struct isa_ops *isa = copy->kernel->isa;
    if (isa->lanes != device->spec->warp_lanes)
        return driver_fail(RESULT_NO_BINARY_FOR_GPU,
                           "%s has warps of %u lanes, and the GPU of %llu (gpu.warp_lanes)", isa->name,
                           isa->lanes, (unsigned long long)device->spec->warp_lanes);
    copy->uses_heap = module->on[device->index].uses_heap;
    copy->name = ledger_name(&device->driver->ledger, function->name);
    return RESULT_SUCCESS;
}

enum result function_find(struct function *function, struct device *device, struct function_copy **copy)
{
    enum result result = device_usable(device);
    if (result)
        return result;
    pthread_mutex_lock(&function->module->lock);
    result = find(function, device);
    pthread_mutex_unlock(&function->module->lock);
    *copy = &function->on[device->index];
    return result;
}

/* A kernel with something in it that Heddle does not know is told of once, by its name and line. */
static enum result prepare(struct function *function, struct device *device)
{
    struct function_copy *copy = &function->on[device->index];
    enum result result = find(function, device);
    struct err why;
    if (result || copy->ready)
        return result;
    timeline_begin_work(device->driver);
    copy->ready = kernel_prepare(copy->kernel, &why);
    timeline_end_work(device->driver);
    if (copy->ready)
        return RESULT_SUCCESS;
    driver_report(device->driver, why.text);
    return driver_fail(RESULT_NOT_SUPPORTED, "%s", why.text);
}

enum result function_prepare(struct function *function, struct device *device, struct function_copy **copy)
{
    pthread_mutex_lock(&function->module->lock);
    enum result result = prepare(function, device);
    pthread_mutex_unlock(&function->module->lock);
    *copy = &function->on[device->index];
    return result;
}

static uint64_t usual_dynamic(const struct gpu_spec *gpu, const struct kernel_facts *kernel)
{
    return gpu->shared_per_block - min_u64(gpu->shared_per_block, kernel->shared_bytes);
}

enum result function_facts(struct function *function, struct device *device, struct function_facts *facts)
{
    const struct gpu_spec *gpu = device->spec;
    struct function_copy *copy;
    enum result result = function_find(function, device, &copy);
    if (result)
        return result;
    const struct kernel_facts *kernel = kernel_facts(copy->kernel);
    uint64_t threads = occupancy_threads(gpu, kernel->registers);
    if (kernel->max_threads)
        threads = min_u64(threads, kernel->max_threads);
    *facts =
        (struct function_facts){.kernel = kernel,
                                .max_threads = (uint32_t)threads,
                                .binary_version = (uint32_t)(10 * gpu->major + gpu->minor),
                                .max_dynamic_shared = copy->max_dynamic >= 0 ? (uint64_t)copy->max_dynamic
                                                                             : usual_dynamic(gpu, kernel),
                                .carveout = copy->carveout,
                                .cache = copy->cache,
                                .non_portable = copy->non_portable};
    return RESULT_SUCCESS;
}

static enum result set_max_dynamic(struct function_copy *copy, const struct gpu_spec *gpu, int64_t value)
{
    uint64_t fixed = kernel_facts(copy->kernel)->shared_bytes;
    uint64_t most = gpu->shared_per_block_optin - min_u64(gpu->shared_per_block_optin, fixed);
    if (value < 0 || (uint64_t)value > most)
        return driver_fail(RESULT_INVALID_VALUE, "dynamic shared memory of this kernel is 0 to %llu bytes",
                           (unsigned long long)most);
    copy->max_dynamic = value;
    return RESULT_SUCCESS;
}

enum result function_parameter(struct function *function, struct device *device, uint64_t index,
                               uint64_t *offset, uint64_t *bytes)
{
    struct function_copy *copy;
    enum result result = function_find(function, device, &copy);
    if (result)
        return result;
    if (index >= kernel_facts(copy->kernel)->param_count)
        return driver_fail(RESULT_INVALID_VALUE, "%s has %u parameters", function->name,
                           kernel_facts(copy->kernel)->param_count);
    ptx_kernel_param(copy->kernel, (uint32_t)index, offset, bytes);
    return RESULT_SUCCESS;
}

enum result function_set(struct function *function, struct device *device, int setting, int64_t value)
{
    struct function_copy *copy;
    enum result result = function_find(function, device, &copy);
    if (result)
        return result;
    switch (setting) {
    case FUNCTION_MAX_DYNAMIC_SHARED:
        return set_max_dynamic(copy, device->spec, value);
    case FUNCTION_CARVEOUT:
        if (value < -1 || value > 100)
            return driver_fail(RESULT_INVALID_VALUE, "a carveout is -1, or 0 to 100 percent");
        copy->carveout = (int)value;
        return RESULT_SUCCESS;
    case FUNCTION_NON_PORTABLE_CLUSTER:
        copy->non_portable = value != 0;
        return RESULT_SUCCESS;
    case FUNCTION_CACHE:
        if (value < 0 || value > CACHE_EQUAL)
            return driver_fail(RESULT_INVALID_VALUE, "there is no cache preference %lld", (long long)value);
        copy->cache = (int)value;
        return RESULT_SUCCESS;
    default:
        return driver_fail(RESULT_INVALID_VALUE, "attribute %d of a function cannot be set", setting);
    }
}

/* ---- occupancy ---- */

void function_need(const struct function_copy *copy, uint64_t threads, uint64_t dynamic_shared,
                   struct occupancy_need *need)
{
    const struct kernel_facts *kernel = kernel_facts(copy->kernel);
    int carveout = copy->carveout;
    if (carveout < 0 && copy->cache == CACHE_L1)
        carveout = 0;
    else if (carveout < 0 && copy->cache == CACHE_EQUAL)
        carveout = 50;
    *need =
        (struct occupancy_need){.threads = threads,
                                .registers = kernel->registers,
                                .shared_static = kernel->shared_bytes,
                                .shared_dynamic = dynamic_shared,
                                .dynamic_limit = (uint64_t)(copy->max_dynamic > 0 ? copy->max_dynamic : 0),
                                .carveout = carveout};
}

enum result function_occupancy(struct function *function, struct device *device, uint64_t block_threads,
                               uint64_t dynamic_shared, uint64_t *blocks)
{
    struct function_copy *copy;
    struct occupancy_need need;
    enum result result = function_find(function, device, &copy);
    if (result)
        return result;
    function_need(copy, block_threads, dynamic_shared, &need);
    *blocks = occupancy_of(device->spec, &need).blocks;
    return RESULT_SUCCESS;
}

enum result function_clusters(struct function *function, struct device *device, uint64_t block_threads,
                              uint64_t dynamic_shared, uint64_t cluster_blocks, uint64_t *clusters)
{
    uint64_t blocks;
    enum result result = function_occupancy(function, device, block_threads, dynamic_shared, &blocks);
    if (!result)
        *clusters =
            occupancy_clusters(device->spec, &device->driver->system.dispatch, blocks, cluster_blocks);
    return result;
}

enum result function_best_block(struct function *function, struct device *device, int most,
                                size_t (*shared_of)(int threads), size_t dynamic_shared, int *grid,
                                int *block)
{
    const struct gpu_spec *gpu = device->spec;
    int warp = (int)gpu->warp_lanes, full = (int)gpu->warps_per_sm * warp, best = 0;
    for (int threads = (most + warp - 1) / warp * warp; threads > 0 && best < full; threads -= warp) {
        int tried = threads < most ? threads : most;
        uint64_t blocks = 0;
        enum result result = function_occupancy(function, device, (uint64_t)tried,
                                                shared_of ? shared_of(tried) : dynamic_shared, &blocks);
        if (result)
            return result;
        if (tried * (int)blocks > best) {
            best = tried * (int)blocks;
            *block = tried;
            *grid = (int)blocks * (int)gpu->sm_count;
        }
    }
    return RESULT_SUCCESS;
}

enum result function_available_shared(struct function *function, struct device *device, uint64_t blocks,
                                      uint64_t block_threads, uint64_t *bytes)
{
    struct function_copy *copy;
    struct occupancy_need need;
    enum result result = function_find(function, device, &copy);
    if (result)
        return result;
    function_need(copy, block_threads, 0, &need);
    if (!occupancy_shared(device->spec, &need, blocks, bytes))
        return driver_fail(RESULT_INVALID_VALUE, "an SM does not hold %llu blocks of this kernel",
                           (unsigned long long)blocks);
    return RESULT_SUCCESS;
}
