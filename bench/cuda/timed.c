#include "workloads/timed.h"
#include "base/bits.h"
#include "base/mem.h"
#include "driver/driver.h"
#include "driver/locality.h"
#include "exec/exec.h"

#include <stdio.h>

struct timed {
    struct driver *driver;
    struct device *device; /* the selected one, and its stream */
    struct stream *stream;
    struct module *module;
    char fault[2048]; /* what a kernel did wrong */
    bool frees;       /* what was allocated, at the end: somebody looks for leaks */
    uint64_t *allocated;
    size_t allocated_count, allocated_capacity;
};

static void keep_report(void *user, const char *text)
{
    struct timed *timed = user;
    if (!*timed->fault)
        snprintf(timed->fault, sizeof timed->fault, "%s", text);
}

static const char *told(struct timed *timed, enum result result)
{
    if (!result)
        return NULL;
    if (*timed->fault)
        return timed->fault;
    return *driver_detail() ? driver_detail() : result_text(result);
}

bool timed_is_machine_code(const struct timed *timed)
{
    return *device_spec(timed->device)->target;
}

unsigned timed_count(const struct timed *timed)
{
    return driver_device_count(timed->driver);
}

void timed_select(struct timed *timed, unsigned index)
{
    timed->device = driver_device(timed->driver, index);
    timed->stream = device_default_stream(timed->device);
}

const char *timed_wait(struct timed *timed)
{
    const char *wrong = NULL;
    for (unsigned i = 0; i < timed_count(timed); i++) {
        const char *one = told(timed, device_synchronize(driver_device(timed->driver, i)));
        wrong = wrong ? wrong : one;
    }
    return wrong;
}

/* Kernels of every GPU may access the memory of all. */
static const char *connect(struct timed *timed)
{
    const char *wrong = NULL;
    unsigned count = timed_count(timed);
    for (unsigned i = 0; i < count * count && !wrong; i++) {
        struct device *device = driver_device(timed->driver, i / count);
        struct device *peer = driver_device(timed->driver, i % count);
        if (device_can_access_peer(device, peer))
            wrong = told(timed, device_enable_peer(device, peer));
    }
    return wrong;
}

/* The code that the system's GPUs run. */
static const char *load(struct timed *timed, const struct workload *workload)
{
    char name[80];
    size_t bytes;
    const char *target = device_spec(timed->device)->target, *code = workload_code(workload, target, &bytes);
    if (!code) {
        snprintf(timed->fault, sizeof timed->fault, "%s: this workload has no kernels %s%s", workload->name,
                 *target ? "for " : "in PTX", target);
        return timed->fault;
    }
    snprintf(name, sizeof name, "%s.%s", workload->name, *target ? "hsaco" : "ptx");
    return told(timed, module_load(timed->driver, name, code, bytes, &timed->module));
}

unsigned timed_lanes(const struct timed *timed)
{
    return (unsigned)device_spec(timed->device)->warp_lanes;
}

struct timed *timed_new(const struct workload *workload, const struct driver_options *options,
                        struct err *err)
{
    struct timed *timed = mem_alloc(1, sizeof *timed);
    struct driver_options own = *options;
    const char *wrong = NULL;
    own.keep_launches = true;
    timed->frees = options->check;
    own.timing.plain_copies = true; /* what is measured are kernels, which start as they always did */
    own.report = keep_report;
    own.user = timed;
    timed->driver = driver_new(&own, err);
    if (!timed->driver) {
        timed_free(timed);
        return NULL;
    }
    timed_select(timed, 0);
    wrong = connect(timed);
    if (!wrong)
        wrong = load(timed, workload);
    if (wrong) {
        err_set(err, "%s", wrong);
        timed_free(timed);
        return NULL;
    }
    return timed;
}

void timed_free(struct timed *timed)
{
    if (!timed)
        return;
    for (size_t i = 0; i < timed->allocated_count; i++)
        memory_free(timed->driver, timed->allocated[i]);
    driver_free(timed->driver);
    mem_free(timed->allocated);
    mem_free(timed);
}

struct driver *timed_driver(struct timed *timed)
{
    return timed->driver;
}

const char *timed_alloc(struct timed *timed, size_t bytes, void **memory)
{
    uint64_t address;
    const char *wrong = told(timed, memory_alloc(timed->device, bytes ? bytes : 1, &address));
    *memory = (void *)(uintptr_t)address;
    if (!wrong && timed->frees) {
        mem_grow(timed->allocated, timed->allocated_count, timed->allocated_capacity);
        timed->allocated[timed->allocated_count++] = address;
    }
    return wrong;
}

const char *timed_copy(struct timed *timed, void *to, const void *from, size_t bytes)
{
    return told(timed, stream_copy_bytes(timed->stream, (uintptr_t)to, (uintptr_t)from, bytes, true));
}

const char *timed_fill(struct timed *timed, void *at, int byte, size_t bytes)
{
    struct fill fill = {.to.address = (uintptr_t)at,
                        .value = (uint32_t)byte & 0xff,
                        .element_bytes = 1,
                        .width = bytes,
                        .height = 1,
                        .depth = 1};
    return told(timed, stream_fill(timed->stream, &fill, false));
}

const char *timed_launch(struct timed *timed, const char *kernel, struct dev_dim grid, struct dev_dim block,
                         size_t shared_bytes, void **arguments)
{
    struct function *function;
    struct launch_config config = {.grid = {grid.x, grid.y, grid.z},
                                   .block = {block.x, block.y, block.z},
                                   .shared_bytes = (uint32_t)shared_bytes};
    const char *wrong = told(timed, module_function(timed->module, kernel, &function));
    if (!wrong && shared_bytes > device_spec(timed->device)->shared_per_block)
        wrong = told(
            timed, function_set(function, timed->device, FUNCTION_MAX_DYNAMIC_SHARED, (int64_t)shared_bytes));
    return wrong ? wrong : told(timed, stream_launch(timed->stream, function, &config, arguments));
}

unsigned timed_members(const struct timed *timed)
{
    return locality_members(timed->device);
}

const char *timed_place_memory(struct timed *timed, const void *at, size_t bytes, unsigned member)
{
    return told(timed, locality_place_memory(timed->driver, (uintptr_t)at, bytes, member));
}

const char *timed_place_blocks(struct timed *timed, const struct dev_blocks *ranges, size_t count)
{
    struct block_place *places = mem_alloc(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct block_place){ranges[i].first, ranges[i].end, ranges[i].member};
    const char *wrong = told(timed, locality_place_blocks(places, count));
    mem_free(places);
    return wrong;
}

const char *timed_seconds(struct timed *timed, double *seconds)
{
    const char *wrong = timed_wait(timed);
    struct launch_record record;
    size_t count = driver_launch_count(timed->driver);
    if (!wrong && count && driver_launch(timed->driver, count - 1, &record) && record.timing)
        *seconds = (double)(record.timing->end_ps - record.timing->start_ps) * 1e-12;
    return wrong;
}

const char *timed_span(struct timed *timed, unsigned launches, double *seconds)
{
    const char *wrong = timed_wait(timed);
    struct launch_record record;
    size_t count = driver_launch_count(timed->driver), first = count > launches ? count - launches : 0;
    uint64_t from = UINT64_MAX, end = 0;
    for (size_t i = first; !wrong && driver_launch(timed->driver, i, &record) && record.timing; i++) {
        from = min_u64(from, record.timing->start_ps);
        end = max_u64(end, record.timing->end_ps);
    }
    if (end > from)
        *seconds = (double)(end - from) * 1e-12;
    return wrong;
}

const char *timed_finish(struct timed *timed, struct workload_result *result)
{
    const char *wrong = timed_wait(timed);
    struct launch_record record;
    for (size_t i = 0; driver_launch(timed->driver, i, &record); i++) {
#define C(name) result->counts.name += record.name;
        LAUNCH_COUNTS(C)
#undef C
        result->launches++;
        result->seconds += record.wall_seconds;
        result->interrupted |= record.interrupted;
    }
    return wrong;
}
