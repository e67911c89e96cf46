/* Launches: checked as CUDA checks them, then run when their stream gets there. */
#include "driver/modules.h"
#include "driver/brood.h"
#include "driver/checking.h"
#include "driver/itracing.h"
#include "driver/locality.h"
#include "driver/region.h"
#include "driver/timeline.h"
#include "driver/tracing.h"
#include "driver/updates.h"
#include "driver/watch.h"
#include "base/bits.h"
#include "base/demangle.h"
#include "base/host.h"
#include "base/mem.h"
#include "system/machine.h"
#include "system/occupancy.h"

struct launch_command {
    struct command base;
    struct function *function; /* NULL: replayed */
    struct kernel *kernel;
    struct launch_config config;
    struct launch_record record; /* what is known before it runs */
    bool uses_heap;
    uint64_t resident; /* blocks that the GPU holds at a time */
    uint64_t limit;    /* warp instructions; 0: none */
    uint32_t carveout_bytes;
    struct locality_blocks *places; /* or NULL */
    struct brood *brood;            /* what it launches; NULL: it launches nothing */
    struct brood *family; /* of the graph that it is a part of, and that kernels may launch; or NULL */
    uint64_t graph;       /* that one, as programs name it */
    void *params;
    size_t param_bytes;
    int64_t max_dynamic; /* as set for the function, as are these */
    int carveout, cache;
    struct launch launch; /* filled when its turn has come */
    bool chosen;          /* to be timed, or recorded */
    double started;       /* of the host, in seconds */
};

/* As an H200 tells the same faults, where it has them. */
static enum result result_of(enum fault_kind fault)
{
    switch (fault) {
    case FAULT_NONE:
        return RESULT_SUCCESS;
    case FAULT_ADDRESS:
    case FAULT_TEXTURE:
    case FAULT_STACK: /* there, the stack grows into what is not its own */
        return RESULT_ILLEGAL_ADDRESS;
    case FAULT_MISALIGNED:
        return RESULT_MISALIGNED_ADDRESS;
    case FAULT_INSTRUCTION:
        return RESULT_ILLEGAL_INSTRUCTION;
    case FAULT_ASSERT:
        return RESULT_ASSERT;
    case FAULT_LIMIT:
    case FAULT_DEADLOCK: /* there, it would hang until a watchdog comes */
        return RESULT_LAUNCH_TIMEOUT;
    default:
        return RESULT_LAUNCH_FAILED;
    }
}

static void enter_launch(struct command *command)
{
    struct launch_command *own = (struct launch_command *)command;
    struct driver *driver = command->stream->device->driver;
    own->record.launch = atomic_fetch_add(&driver->ledger.submitted, 1);
    own->record.stream = command->stream->id; /* that of a graph is known only now */
    own->chosen = region_is_open() && choice_has(&driver->kernels, own->record.launch, own->record.kernel);
    command->beside = own->chosen && driver->timeline && !own->config.cooperative;
    if (!driver->itracing)
        return;
    struct itracing_launch launch = {.number = own->record.launch,
                                     .kernel = own->kernel,
                                     .config = &own->config,
                                     .device = command->stream->device->index,
                                     .carveout_bytes = own->carveout_bytes,
                                     .max_dynamic = own->max_dynamic,
                                     .carveout = own->carveout,
                                     .cache = own->cache,
                                     .uses_heap = own->uses_heap};
    launch.places = locality_places(own->places, &launch.place_count);
    itracing_launch(driver, &launch);
}

static void note(struct driver *driver, struct launch_record *record, const struct launch_result *result,
                 double now_s)
{
#define C(name) record->name = result->name;
    LAUNCH_COUNTS(C)
#undef C
    ledger_add(&driver->ledger, record, driver->options.keep_launches, now_s);
}

/* As asked for, or as the kernel is built. */
static void fill_cluster(struct launch_command *own)
{
    const uint32_t *asked = own->config.cluster;
    const uint32_t *size = asked[0] || asked[1] || asked[2] ? asked : kernel_facts(own->kernel)->cluster;
    memcpy(own->launch.cluster, size, sizeof own->launch.cluster);
}

static void fill_launch(struct launch_command *own)
{
    struct stream *stream = own->base.stream;
    struct device *device = stream->device;
    struct driver *driver = device->driver;
    if (!stream->print)
        stream->print = device_print_stream(device);
    own->launch = (struct launch){.kernel = own->kernel,
                                  .image = device->image,
                                  .heap = own->uses_heap ? device_heap(device) : NULL,
                                  .params = own->params,
                                  .dimensions = own->config.dimensions,
                                  .shared_bytes = own->config.shared_bytes,
                                  .threads = driver->threads,
                                  .resident_blocks = (uint32_t)min_u64(own->resident, UINT32_MAX),
                                  .sm_count = (uint32_t)device->spec->sm_count,
                                  .stack_bytes = device->limits[LIMIT_STACK_SIZE],
                                  .instruction_limit = own->limit,
                                  .cooperative = own->config.cooperative,
                                  .print = stream->print,
                                  .interrupt = &driver->interrupt};
    own->launch.graph = own->graph;
    own->launch.places = locality_places(own->places, &own->launch.place_count);
    if (own->brood) {
        own->launch.calls = &brood_calls;
        own->launch.calls_user = own->brood;
    }
    if (driver->tracing)
        own->launch.watch = tracing_watch(driver->tracing, device->index);
    if (driver->checking)
        own->launch.threads = 1;
    if (own->chosen)
        own->launch.observer = itracing_begin(driver, own->record.launch, own->kernel);
    memcpy(own->launch.grid, own->config.grid, sizeof own->launch.grid);
    memcpy(own->launch.block, own->config.block, sizeof own->launch.block);
    fill_cluster(own);
    own->started = host_seconds();
    ledger_begin(&driver->ledger, own->started);
}

static void finish(struct launch_command *own, bool good, const struct launch_result *result)
{
    struct device *device = own->base.stream->device;
    struct driver *driver = device->driver;
    double now_s = host_seconds();
    own->record.wall_seconds = now_s - own->started;
    fflush(own->launch.print);
    bool stopped = driver_is_interrupted(driver);
    if (stopped)
        own->record.result = RESULT_DEINITIALIZED;
    else if (!good)
        own->record.result = result_of(result->fault.kind);
    if (!good && !stopped && !result->fault.kind)
        own->record.result = RESULT_LAUNCH_FAILED; /* the machine broke, which was told */
    if (!good && !stopped && result->fault.kind)
        driver_report(driver, result->fault.text);
    if (!good && !stopped)
        device_fail(device, own->record.result);
    itracing_end(driver, own->launch.observer, good, result);
    note(driver, &own->record, result, now_s);
}

/* A launch without time, on its way. One of them is shown at a time. */
struct view {
    struct driver *driver;
    const struct launch *launch;
    pthread_mutex_t lock; /* of the line on the terminal: several threads may write to it */
    struct driver_watch watch;
    bool shown;
};

static void show_line(struct view *view, uint64_t begun, uint64_t instructions)
{
    pthread_mutex_lock(&view->lock);
    driver_watch_begun(&view->watch, view->launch, begun, instructions);
    pthread_mutex_unlock(&view->lock);
}

static void show_begun(void *user, uint64_t begun, uint64_t instructions)
{
    struct view *view = user;
    if (!view->shown)
        view->shown = !atomic_exchange(&view->driver->showing, true);
    if (view->shown)
        show_line(view, begun, instructions);
}

static void tell_stuck(void *user, const char *text)
{
    struct view *view = user;
    pthread_mutex_lock(&view->lock);
    driver_watch_fini(&view->watch);
    driver_notice(view->driver, text);
    pthread_mutex_unlock(&view->lock);
}

static void end_view(struct view *view)
{
    driver_watch_fini(&view->watch);
    if (view->shown)
        atomic_store(&view->driver->showing, false);
}

/* What kernels before it have changed of it. False: it does nothing. */
static bool take_updates(struct launch_command *own)
{
    if (!own->config.updates)
        return true;
    bool is_on = updates_apply(own->config.updates, &own->config, own->params, own->param_bytes);
    memcpy(own->record.grid, own->config.grid, sizeof own->record.grid);
    return is_on;
}

static void run_launch(struct command *command)
{
    struct launch_command *own = (struct launch_command *)command;
    struct launch_result result;
    if (!take_updates(own))
        return;
    timeline_touch(command->stream->device->driver, 0, UINT64_MAX, MEMORY_TAKEN_OVER);
    fill_launch(own);
    struct driver *driver = command->stream->device->driver;
    struct view view = {.driver = driver, .launch = &own->launch, .lock = PTHREAD_MUTEX_INITIALIZER};
    own->launch.user = &view;
    own->launch.stuck = tell_stuck;
    own->launch.stuck_seconds = 10;
    own->launch.show = driver->options.timing.progress ? show_begun : NULL;
    if (driver->checking)
        own->launch.observer = checking_begin(driver, &own->launch, own->record.launch, own->chosen);
    tracing_lock(command->stream->device->driver->tracing);
    bool good = launch_run(&own->launch, &result);
    tracing_unlock(command->stream->device->driver->tracing);
    end_view(&view);
    if (driver->checking) {
        checking_end(driver, own->launch.observer, &result);
        own->launch.observer = NULL;
    }
    finish(own, good, &result);
}

/* ---- in simulated time ---- */

static enum command_turn begin_launch(struct command *command, struct task *task)
{
    struct launch_command *own = (struct launch_command *)command;
    struct device *device = command->stream->device;
    if (!own->chosen || !take_updates(own))
        return TURN_NOW;
    fill_launch(own);
    task->launch = &own->launch;
    task->gpu = device->index;
    task->blocks_per_sm = own->record.blocks_per_sm;
    task->shared_carveout_bytes = own->carveout_bytes;
    task->first_sm = command->stream->first_sm;
    task->sm_count = command->stream->sm_count;
    return TURN_TASK;
}

static void end_launch(struct command *command, struct task *task)
{
    struct launch_command *own = (struct launch_command *)command;
    own->record.interrupted = task->state == TASK_RUNNING;
    if (!own->base.stream->device->driver->options.timing.untimed) {
        own->record.timing = mem_alloc(1, sizeof *own->record.timing);
        *own->record.timing = task->stats;
        task->stats.profile = NULL; /* the record's now */
        own->record.timed_kernel = own->kernel;
    }
    finish(own, task->state == TASK_DONE, &task->result);
}

static void *copy_bytes(const void *from, size_t bytes)
{
    void *to = mem_alloc(bytes, 1);
    return bytes ? memcpy(to, from, bytes) : to;
}

static void copy_launch(struct command *command)
{
    struct launch_command *own = (struct launch_command *)command;
    own->params = copy_bytes(own->params, own->param_bytes);
    own->places = locality_copy_blocks(own->places);
    updates_keep(own->config.updates);
    own->brood = own->family = NULL;
}

static struct command *behind_launch(struct command *command)
{
    struct launch_command *own = (struct launch_command *)command;
    if (!kernel_facts(own->kernel)->launches || !own->function)
        return NULL;
    own->brood = brood_new(command->stream->device, own->function->module, own->family);
    return brood_command(own->brood);
}

static void fini_launch(struct command *command)
{
    struct launch_command *own = (struct launch_command *)command;
    mem_free(own->params);
    brood_release(own->brood);
    brood_release(own->family);
    updates_release(own->config.updates);
    locality_free_blocks(own->places);
}

static const struct command_ops launch_ops = {.bytes = sizeof(struct launch_command),
                                              .run = run_launch,
                                              .enter = enter_launch,
                                              .copy = copy_launch,
                                              .behind = behind_launch,
                                              .fini = fini_launch,
                                              .begin = begin_launch,
                                              .end = end_launch,
                                              .kind = ACTION_LAUNCH,
                                              .is_launch = true};

void command_join_graph(struct command *command, struct brood *brood, uint64_t graph)
{
    struct launch_command *own = (struct launch_command *)command;
    own->family = brood_keep(brood);
    own->graph = graph;
}

void command_launch_facts(const struct command *command, struct action_launch *facts)
{
    const struct launch_command *own = (const struct launch_command *)command;
    *facts = (struct action_launch){own->function, &own->config, own->params, own->param_bytes};
}

bool action_parameter(const struct action_launch *facts, const struct device *device, uint32_t index,
                      uint64_t *offset, uint64_t *bytes)
{
    struct kernel *kernel = facts->function->on[device->index].kernel;
    if (!kernel || index >= kernel_facts(kernel)->param_count)
        return false;
    ptx_kernel_param(kernel, index, offset, bytes);
    return true;
}

/* ---- checks ---- */

static bool dims_fit(const uint32_t dims[3], uint64_t x, uint64_t y, uint64_t z)
{
    return dims[0] && dims[1] && dims[2] && dims[0] <= x && dims[1] <= y && dims[2] <= z;
}

static enum result check_dims(const struct gpu_spec *gpu, const struct launch_config *config)
{
    const uint32_t *grid = config->grid, *block = config->block;
    if (!dims_fit(grid, gpu->grid_x, gpu->grid_y, gpu->grid_z))
        return driver_fail(RESULT_INVALID_VALUE,
                           "a grid is of 1 to %llu x %llu x %llu blocks, not %u x %u x %u",
                           (unsigned long long)gpu->grid_x, (unsigned long long)gpu->grid_y,
                           (unsigned long long)gpu->grid_z, grid[0], grid[1], grid[2]);
    if (!dims_fit(block, gpu->block_x, gpu->block_y, gpu->block_z) ||
        (uint64_t)block[0] * block[1] * block[2] > gpu->threads_per_block)
        return driver_fail(RESULT_INVALID_VALUE,
                           "a block is of 1 to %llu x %llu x %llu threads, %llu in all, not %u x %u x %u",
                           (unsigned long long)gpu->block_x, (unsigned long long)gpu->block_y,
                           (unsigned long long)gpu->block_z, (unsigned long long)gpu->threads_per_block,
                           block[0], block[1], block[2]);
    return RESULT_SUCCESS;
}

static enum result check_threads(const struct gpu_spec *gpu, const struct kernel_facts *kernel,
                                 const struct launch_config *config)
{
    const uint32_t *block = config->block, *required = kernel->required;
    uint64_t threads = (uint64_t)block[0] * block[1] * block[2];
    if (kernel->max_threads && threads > kernel->max_threads)
        return driver_fail(RESULT_INVALID_VALUE,
                           "%s is built for blocks of %u threads at most (__launch_bounds__), "
                           "not %llu",
                           demangled(kernel->name), kernel->max_threads, (unsigned long long)threads);
    if (required[0] && (required[0] != block[0] || max_u64(required[1], 1) != block[1] ||
                        max_u64(required[2], 1) != block[2]))
        return driver_fail(RESULT_INVALID_VALUE, "%s is built for blocks of %u x %u x %u threads",
                           demangled(kernel->name), required[0], required[1], required[2]);
    if (kernel->registers > gpu->registers_per_thread)
        return driver_fail(
            RESULT_LAUNCH_OUT_OF_RESOURCES,
            "%s has %u registers a thread, and a thread can have %llu (gpu.registers_per_thread)",
            demangled(kernel->name), kernel->registers, (unsigned long long)gpu->registers_per_thread);
    if (threads > occupancy_threads(gpu, kernel->registers))
        return driver_fail(
            RESULT_LAUNCH_OUT_OF_RESOURCES,
            "%s has %u registers a thread, which leaves room for blocks of %llu threads, not %llu",
            demangled(kernel->name), kernel->registers,
            (unsigned long long)occupancy_threads(gpu, kernel->registers), (unsigned long long)threads);
    return RESULT_SUCCESS;
}

static enum result check_shared(const struct gpu_spec *gpu, const struct function_copy *copy,
                                const struct launch_config *config)
{
    const struct kernel_facts *kernel = kernel_facts(copy->kernel);
    uint64_t allowed = copy->max_dynamic > 0 ? (uint64_t)copy->max_dynamic : 0;
    uint64_t most = max_u64(gpu->shared_per_block, kernel->shared_bytes + allowed);
    if (kernel->shared_bytes + config->shared_bytes > most)
        return driver_fail(RESULT_INVALID_VALUE,
                           "%s asks for %llu + %u bytes of shared memory, and may have %llu "
                           "(cudaFuncAttributeMaxDynamicSharedMemorySize raises it, up to %llu)",
                           demangled(kernel->name), (unsigned long long)kernel->shared_bytes,
                           config->shared_bytes, (unsigned long long)most,
                           (unsigned long long)gpu->shared_per_block_optin);
    return RESULT_SUCCESS;
}

/* A launch may only repeat the size that a kernel is built for; results as on an H200. */
static enum result check_cluster_size(const struct kernel_facts *kernel, const struct launch_config *config,
                                      const uint32_t size[3])
{
    const char *name = demangled(kernel->name);
    if (kernel->cluster[0] && memcmp(size, kernel->cluster, sizeof kernel->cluster) != 0)
        return driver_fail(
            RESULT_INVALID_CLUSTER_SIZE, "%s is built for clusters of %u x %u x %u blocks, not %u x %u x %u",
            name, kernel->cluster[0], kernel->cluster[1], kernel->cluster[2], size[0], size[1], size[2]);
    for (int i = 0; i < 3; i++) {
        if (!size[i] || config->grid[i] % size[i])
            return driver_fail(RESULT_INVALID_CLUSTER_SIZE,
                               "%s: a grid of %u x %u x %u blocks is not a multiple of its clusters of "
                               "%u x %u x %u blocks",
                               name, config->grid[0], config->grid[1], config->grid[2], size[0], size[1],
                               size[2]);
    }
    return RESULT_SUCCESS;
}

/* Blocks of a cluster, as the launch or else the kernel says. */
static uint64_t cluster_blocks(const struct kernel_facts *kernel, const struct launch_config *config)
{
    bool asked = config->cluster[0] || config->cluster[1] || config->cluster[2];
    const uint32_t *size = asked ? config->cluster : kernel->cluster;
    return (uint64_t)size[0] * size[1] * size[2];
}

static enum result check_cluster(const struct device *device, const struct function_copy *copy,
                                 const struct launch_config *config)
{
    const struct gpu_spec *gpu = device->spec;
    const struct kernel_facts *kernel = kernel_facts(copy->kernel);
    bool asked = config->cluster[0] || config->cluster[1] || config->cluster[2];
    const uint32_t *size = asked ? config->cluster : kernel->cluster;
    if (!asked && !kernel->cluster[0])
        return kernel->explicit_cluster ? driver_fail(RESULT_INVALID_CLUSTER_SIZE,
                                                      "%s has to be launched with a cluster size "
                                                      "(cudaLaunchAttributeClusterDimension)",
                                                      demangled(kernel->name))
                                        : RESULT_SUCCESS;
    enum result result = check_cluster_size(kernel, config, size);
    if (result)
        return result;
    uint64_t blocks = (uint64_t)size[0] * size[1] * size[2];
    uint64_t most = copy->non_portable ? gpu->cluster_blocks_optin : gpu->cluster_blocks;
    if (kernel->max_cluster)
        most = min_u64(most, kernel->max_cluster);
    if (blocks > most && blocks > 1)
        return driver_fail(RESULT_INVALID_CLUSTER_SIZE,
                           "%s: a cluster of %llu blocks is more than the %llu that it can have on %s",
                           demangled(kernel->name), (unsigned long long)blocks, (unsigned long long)most,
                           gpu->name);
    if (blocks > 1 && device->driver->itracing && !device->driver->timeline)
        return driver_fail(
            RESULT_NOT_SUPPORTED,
            "%s runs in clusters of blocks, which are recorded with time only: add --mode timing",
            demangled(kernel->name));
    return RESULT_SUCCESS;
}

/* Names the limit that a block is over. */
static enum result no_room(const struct gpu_spec *gpu, const char *kernel, const struct occupancy_need *need)
{
    unsigned long long taken = occupancy_block_registers(gpu, need);
    if (taken > gpu->registers_per_block)
        return driver_fail(
            RESULT_LAUNCH_OUT_OF_RESOURCES,
            "%s takes %llu registers for a block (%llu threads with %llu each), and a block can have %llu "
            "(gpu.registers_per_block)",
            demangled(kernel), taken, (unsigned long long)need->threads, (unsigned long long)need->registers,
            (unsigned long long)gpu->registers_per_block);
    return driver_fail(
        RESULT_LAUNCH_OUT_OF_RESOURCES,
        "no SM has room for a block of %s: it has %llu threads with %llu registers each and %llu + %llu "
        "bytes of shared memory, an SM has %llu registers and %llu bytes",
        demangled(kernel), (unsigned long long)need->threads, (unsigned long long)need->registers,
        (unsigned long long)need->shared_static, (unsigned long long)need->shared_dynamic,
        (unsigned long long)gpu->registers_per_sm, (unsigned long long)gpu->shared_per_sm);
}

static enum result check_resident(const struct launch_config *config, const char *kernel, uint64_t resident)
{
    uint64_t blocks = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    if (config->cooperative && blocks > resident)
        return driver_fail(RESULT_COOPERATIVE_LAUNCH_TOO_LARGE,
                           "%s is launched cooperatively with %llu blocks, and the GPU holds %llu of it",
                           demangled(kernel), (unsigned long long)blocks, (unsigned long long)resident);
    return RESULT_SUCCESS;
}

/* What it launches is known to this process alone, and decided while it runs. */
static enum result check_launches(const struct device *device, const char *kernel)
{
    const struct driver *driver = device->driver;
    const struct timing_options *timing = &driver->options.timing;
    const char *why = driver->itracing ? "cannot be recorded"
                      : timeline_is_elsewhere(driver) || timing->over_ranks
                          ? "needs a machine in this process alone"
                      : timing->checkpoint || timing->resume ? "cannot be in checkpoints"
                                                             : NULL;
    return why ? driver_fail(RESULT_NOT_SUPPORTED, "%s launches kernels, or changes graphs, which %s",
                             demangled(kernel), why)
               : RESULT_SUCCESS;
}

static enum result check(const struct stream *stream, const struct function_copy *copy,
                         const struct launch_config *config, uint64_t *blocks_per_sm)
{
    const struct device *device = stream->device;
    const struct gpu_spec *gpu = device->spec;
    const struct kernel_facts *kernel = kernel_facts(copy->kernel);
    enum result result = check_threads(gpu, kernel, config);
    if (!result)
        result = check_shared(gpu, copy, config);
    if (!result)
        result = check_cluster(device, copy, config);
    if (result)
        return result;
    if (kernel->launches)
        result = check_launches(device, kernel->name);
    if (result)
        return result;
    struct occupancy_need need;
    uint64_t threads = (uint64_t)config->block[0] * config->block[1] * config->block[2];
    function_need(copy, threads, config->shared_bytes, &need);
    *blocks_per_sm = occupancy_of(gpu, &need).blocks;
    if (!*blocks_per_sm)
        return no_room(gpu, kernel->name, &need);
    uint64_t cluster = cluster_blocks(kernel, config);
    if (cluster > 1 && !occupancy_clusters(gpu, &device->driver->system.dispatch, *blocks_per_sm, cluster))
        return driver_fail(RESULT_INVALID_CLUSTER_SIZE,
                           "%s: no GPC of %s has room for a cluster of %llu of its blocks",
                           demangled(kernel->name), gpu->name, (unsigned long long)cluster);
    if (cluster > 1 && stream->sm_count && device->driver->timeline)
        return driver_fail(
            RESULT_NOT_SUPPORTED,
            "%s runs in clusters of blocks, in a stream with SMs of its own; with --mode timing "
            "only one of both is possible",
            demangled(kernel->name));
    return check_resident(config, kernel->name,
                          *blocks_per_sm * (stream->sm_count ? stream->sm_count : gpu->sm_count));
}

/* ---- the calls ---- */

/* All that must hold before parameters are looked at; gives a command to fill them into, which has the places
 * then. */
static enum result begin_copy_placed(struct stream *stream, const struct function_copy *copy,
                                     const struct launch_config *config, struct locality_blocks *places,
                                     struct launch_command **command)
{
    struct device *device = stream->device;
    uint64_t blocks_per_sm = 0;
    enum result result = check(stream, copy, config, &blocks_per_sm);
    if (!result)
        result = locality_check_blocks(device, places, config, blocks_per_sm);
    if (result)
        return result;
    const struct kernel_facts *kernel = kernel_facts(copy->kernel);
    struct launch_command *made = (struct launch_command *)command_new(&launch_ops);
    made->kernel = copy->kernel;
    made->places = places;
    made->config = *config;
    updates_keep(config->updates);
    made->base.beside_previous = config->programmatic;
    made->uses_heap = copy->uses_heap;
    made->limit = device->driver->instruction_limit;
    made->max_dynamic = copy->max_dynamic;
    made->carveout = copy->carveout;
    made->cache = copy->cache;
    if (copy->carveout > 0)
        made->carveout_bytes = (uint32_t)(device->spec->shared_per_sm * (uint64_t)copy->carveout / 100);
    made->resident = blocks_per_sm * device->spec->sm_count;
    made->record = (struct launch_record){.kernel = copy->name,
                                          .device = device->driver->first_gpu + device->index,
                                          .stream = stream->id,
                                          .registers = kernel->registers,
                                          .blocks_per_sm = (uint32_t)blocks_per_sm,
                                          .shared_bytes = kernel->shared_bytes,
                                          .dynamic_shared_bytes = config->shared_bytes};
    memcpy(made->record.grid, config->grid, sizeof config->grid);
    memcpy(made->record.block, config->block, sizeof config->block);
    made->param_bytes = kernel->param_bytes;
    *command = made;
    return RESULT_SUCCESS;
}

static enum result begin_placed(struct stream *stream, struct function *function,
                                const struct launch_config *config, struct locality_blocks *places,
                                struct launch_command **command)
{
    struct device *device = stream->device;
    struct function_copy *copy;
    enum result result = device_usable(device);
    if (!result)
        result = check_dims(device->spec, config);
    if (!result)
        result = function_prepare(function, device, &copy);
    if (!result)
        result = begin_copy_placed(stream, copy, config, places, command);
    if (!result)
        (*command)->function = function;
    return result;
}

/* What the thread said of its next launch is over, be that good or not. */
static enum result begin(struct stream *stream, struct function *function, const struct launch_config *config,
                         struct launch_command **command)
{
    struct locality_blocks *places = locality_take_blocks();
    enum result result = begin_placed(stream, function, config, places, command);
    if (result)
        locality_free_blocks(places);
    return result;
}

/* The parameters of a kernel in PTX, from where each is. */
static enum result pack(struct kernel *kernel, void *const *arguments, char *params)
{
    const struct kernel_facts *facts = kernel_facts(kernel);
    for (uint32_t i = 0; i < facts->param_count; i++) {
        uint64_t offset, bytes;
        ptx_kernel_param(kernel, i, &offset, &bytes);
        if (!arguments || !arguments[i])
            return driver_fail(RESULT_INVALID_VALUE, "%s: parameter %u of %u is missing",
                               demangled(facts->name), i, facts->param_count);
        memcpy(params + offset, arguments[i], bytes);
    }
    return RESULT_SUCCESS;
}

enum result stream_launch(struct stream *stream, struct function *function,
                          const struct launch_config *config, void *const *arguments)
{
    struct launch_command *command;
    enum result result = begin(stream, function, config, &command);
    if (result)
        return result;
    command->params = mem_alloc(command->param_bytes, 1);
    if (module_code_is(command->kernel))
        result = module_code_pack(command->kernel, config, arguments, command->params);
    else
        result = pack(command->kernel, arguments, command->params);
    if (result) {
        command_free(&command->base);
        return result;
    }
    return commands_submit(stream, &command->base, false, NULL);
}

enum result stream_launch_packed(struct stream *stream, struct function *function,
                                 const struct launch_config *config, const void *arguments, size_t bytes)
{
    struct launch_command *command;
    enum result result = begin(stream, function, config, &command);
    if (result)
        return result;
    if (bytes < command->param_bytes) {
        result = driver_fail(RESULT_INVALID_VALUE, "%s takes %zu bytes of parameters, not %zu",
                             demangled(command->record.kernel), command->param_bytes, bytes);
        command_free(&command->base);
        return result;
    }
    command->params = copy_bytes(arguments, command->param_bytes);
    return commands_submit(stream, &command->base, false, NULL);
}

enum result function_replay(struct stream *stream, const struct function_copy *copy,
                            const struct launch_config *config, const struct locality_blocks *places,
                            struct command **command)
{
    struct launch_command *made;
    struct locality_blocks *own_places = locality_copy_blocks(places);
    enum result result = check_dims(stream->device->spec, config);
    if (!result)
        result = begin_copy_placed(stream, copy, config, own_places, &made);
    if (result) {
        locality_free_blocks(own_places);
        return result;
    }
    made->params = mem_alloc(made->param_bytes, 1);
    *command = &made->base;
    return RESULT_SUCCESS;
}
