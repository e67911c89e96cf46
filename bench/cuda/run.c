/* workload.h over Heddle's own execution. */
#include "workloads/run.h"
#include "workloads/timed.h"
#include "exec/tensormap.h"
#include "ptx_run/program.h"
#include "ptxas/ptxas.h"
#include "base/host.h"
#include "base/mem.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct dev {
    const struct workload *workload;
    struct image *image;
    struct program *program;
    struct timed *timed; /* NULL: over exec, by all that is above */
    unsigned threads;
    const _Atomic int *interrupt;
    struct workload_result *result;
    struct err *err;
    bool failed;
    void **memories;
    size_t count, capacity;
};

static bool fail(struct dev *gpu, const char *what)
{
    if (!gpu->failed)
        err_set(gpu->err, "%s: %s", gpu->workload->name, what);
    gpu->failed = true;
    return false;
}

static void expect_done(struct dev *gpu, const char *wrong)
{
    if (wrong)
        fail(gpu, wrong);
}

static void *keep(struct dev *gpu, size_t bytes)
{
    mem_grow(gpu->memories, gpu->count, gpu->capacity);
    return gpu->memories[gpu->count++] = mem_alloc_lines(bytes ? bytes : 1, 1);
}

void *dev_host(struct dev *gpu, size_t bytes)
{
    return keep(gpu, bytes);
}

void *dev_alloc(struct dev *gpu, size_t bytes)
{
    if (gpu->timed) {
        void *address = NULL;
        expect_done(gpu, timed_alloc(gpu->timed, bytes, &address));
        return address;
    }
    void *memory = keep(gpu, bytes);
    image_add(gpu->image, (struct range){(uintptr_t)memory, bytes ? bytes : 1, "dev_alloc", false});
    return memory;
}

void dev_upload(struct dev *gpu, void *device, const void *host, size_t bytes)
{
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_copy(gpu->timed, device, host, bytes));
    else if (!gpu->failed && bytes)
        memcpy(device, host, bytes);
}

void dev_download(struct dev *gpu, void *host, const void *device, size_t bytes)
{
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_copy(gpu->timed, host, device, bytes));
    else if (!gpu->failed && bytes)
        memcpy(host, device, bytes);
}

void dev_fill(struct dev *gpu, void *device, int byte, size_t bytes)
{
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_fill(gpu->timed, device, byte, bytes));
    else if (!gpu->failed)
        memset(device, byte, bytes);
}

static void add_counts(struct launch_result *sum, const struct launch_result *one)
{
#define C(name) sum->name += one->name;
    LAUNCH_COUNTS(C)
#undef C
}

void dev_launch(struct dev *gpu, const char *name, struct dev_dim grid, struct dev_dim block,
                size_t shared_bytes, void **arguments, const size_t *argument_bytes)
{
    (void)argument_bytes; /* the kernel tells them */
    if (gpu->failed)
        return;
    if (gpu->timed) {
        expect_done(gpu, timed_launch(gpu->timed, name, grid, block, shared_bytes, arguments));
        return;
    }
    struct kernel *kernel = program_kernel(gpu->program, name);
    if (!kernel) {
        fail(gpu, "its PTX has no such kernel");
        return;
    }
    const struct kernel_facts *facts = kernel_facts(kernel);
    char *params = mem_alloc(1, facts->param_bytes + 1);
    for (uint32_t i = 0; i < facts->param_count; i++) {
        uint64_t offset, bytes;
        ptx_kernel_param(kernel, i, &offset, &bytes);
        memcpy(params + offset, arguments[i], bytes);
    }
    struct launch launch = {.kernel = kernel,
                            .image = gpu->image,
                            .params = params,
                            .grid = {grid.x, grid.y, grid.z},
                            .block = {block.x, block.y, block.z},
                            .cluster = {facts->cluster[0], facts->cluster[1], facts->cluster[2]},
                            .shared_bytes = (uint32_t)shared_bytes,
                            .threads = gpu->threads,
                            .sm_count = 132,
                            .stack_bytes = 1024,
                            .interrupt = gpu->interrupt};
    struct launch_result *result = mem_alloc(1, sizeof *result);
    double from = host_seconds();
    if (!launch_run(&launch, result))
        fail(gpu, result->fault.kind == FAULT_NONE ? "interrupted" : result->fault.text);
    gpu->result->seconds += host_seconds() - from;
    gpu->result->launches++;
    add_counts(&gpu->result->counts, result);
    mem_free(result);
    mem_free(params);
}

void dev_tensor(struct dev *gpu, struct dev_tensor *map, bool brain, void *device, uint64_t inner,
                uint64_t outer, uint32_t box_inner, uint32_t box_outer)
{
    struct tensormap tensor = {.rank = 2,
                               .type = brain ? TENSORMAP_BF16 : TENSORMAP_F16,
                               .swizzle = 3,
                               .promotion = 2,
                               .address = (uintptr_t)device,
                               .dim = {inner, outer},
                               .stride = {0, inner * 2},
                               .box = {box_inner, box_outer},
                               .step = {1, 1}};
    if (gpu->failed)
        return;
    if (tensormap_is_valid(&tensor))
        tensormap_encode(&tensor, (unsigned char *)map->words);
    else
        fail(gpu, "a tensor map that CUDA does not take");
}

double dev_seconds(struct dev *gpu)
{
    double seconds = 0;
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_seconds(gpu->timed, &seconds));
    return seconds;
}

unsigned dev_count(struct dev *gpu)
{
    return gpu->timed ? timed_count(gpu->timed) : 1;
}

void dev_select(struct dev *gpu, unsigned index)
{
    REQUIRE(index < dev_count(gpu));
    if (gpu->timed)
        timed_select(gpu->timed, index);
}

void dev_wait(struct dev *gpu)
{
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_wait(gpu->timed));
}

double dev_span(struct dev *gpu, unsigned launches)
{
    double seconds = 0;
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_span(gpu->timed, launches, &seconds));
    return seconds;
}

unsigned dev_members(struct dev *gpu)
{
    return gpu->timed ? timed_members(gpu->timed) : 1;
}

void dev_place_memory(struct dev *gpu, void *device, size_t offset, size_t bytes, unsigned member)
{
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_place_memory(gpu->timed, (char *)device + offset, bytes, member));
}

void dev_place_blocks(struct dev *gpu, const struct dev_blocks *ranges, size_t count)
{
    if (gpu->timed && !gpu->failed)
        expect_done(gpu, timed_place_blocks(gpu->timed, ranges, count));
}

unsigned dev_lanes(struct dev *gpu)
{
    return gpu->timed ? timed_lanes(gpu->timed) : 32; /* of PTX */
}

void dev_expect(struct dev *gpu, bool holds, const char *what)
{
    if (!holds)
        fail(gpu, what);
}

void dev_expect_bytes(struct dev *gpu, const char *what, const void *got, const void *expected, size_t bytes)
{
    const unsigned char *a = got, *b = expected;
    for (size_t i = 0; i < bytes && !gpu->failed; i++)
        if (a[i] != b[i]) {
            char said[160];
            snprintf(said, sizeof said, "%s differs from the CPU's result, first in byte %zu", what, i);
            fail(gpu, said);
        }
}

void dev_expect_floats(struct dev *gpu, const char *what, const float *got, const float *expected,
                       size_t count, float tolerance)
{
    for (size_t i = 0; i < count && !gpu->failed; i++) {
        float scale = fmaxf(1.0f, fabsf(expected[i]));
        if (!(fabsf(got[i] - expected[i]) <= tolerance * scale)) {
            char said[200];
            snprintf(said, sizeof said, "%s differs from the CPU's result: [%zu] is %.9g, not %.9g", what, i,
                     (double)got[i], (double)expected[i]);
            fail(gpu, said);
        }
    }
}

void dev_figure(struct dev *gpu, const char *name, double value)
{
    struct workload_result *result = gpu->result;
    if (gpu->failed)
        return;
    REQUIRE(result->figure_count < WORKLOAD_FIGURES_MOST);
    struct workload_figure *figure = &result->figures[result->figure_count++];
    snprintf(figure->name, sizeof figure->name, "%s", name);
    figure->value = value;
}

static uint64_t place(void *context, const struct ptx_variable *variable, uint64_t bytes, uint64_t alignment)
{
    struct dev *gpu = context;
    REQUIRE(alignment <= CACHE_LINE);
    void *memory = keep(gpu, bytes);
    image_add(gpu->image,
              (struct range){(uintptr_t)memory, bytes, variable->name, variable->space == PTX_CONST});
    return (uintptr_t)memory;
}

static bool load(struct dev *gpu, struct err *err)
{
    char name[80];
    size_t bytes;
    const char *text = workload_code(gpu->workload, "", &bytes);
    if (!text)
        return err_set(err, "%s: this workload has no kernels in PTX", gpu->workload->name);
    snprintf(name, sizeof name, "%s.ptx", gpu->workload->name);
    struct ptx_module *module = ptx_parse(name, text, bytes, err);
    if (module)
        gpu->program = program_new(&module, 1, &ptxas, place, gpu, err);
    return gpu->program;
}

static void release(struct dev *gpu)
{
    program_free(gpu->program);
    if (gpu->image)
        image_free(gpu->image);
    for (size_t i = 0; i < gpu->count; i++)
        mem_free(gpu->memories[i]);
    mem_free(gpu->memories);
}

bool workload_run(const struct workload *workload, const uint64_t *options, unsigned threads,
                  const _Atomic int *interrupt, struct workload_result *result, struct err *err)
{
    struct dev gpu = {.workload = workload,
                      .image = image_new(),
                      .threads = threads,
                      .interrupt = interrupt,
                      .result = result,
                      .err = err};
    *result = (struct workload_result){0};
    bool good = load(&gpu, err);
    if (good)
        workload->run(&gpu, options);
    release(&gpu);
    return good && !gpu.failed;
}

/* "n=144", up to a blank or the end; returns where it ends. */
static const char *take_option(const struct workload *workload, const char *at, uint64_t *values)
{
    size_t length = strcspn(at, "=");
    char *end;
    for (size_t i = 0; workload->options[i].name; i++) {
        const struct workload_option *option = &workload->options[i];
        if (strlen(option->name) != length || strncmp(at, option->name, length) != 0)
            continue;
        values[i] = strtoull(at + length + 1, &end, 10);
        REQUIRE(values[i] >= option->least && values[i] <= option->most && (!*end || *end == ' '));
        return end;
    }
    BUG("%s has no option '%s'", workload->name, at);
}

void workload_options_of(const struct workload *workload, const char *text,
                         uint64_t values[WORKLOAD_OPTIONS_MOST])
{
    for (size_t i = 0; workload->options[i].name; i++)
        values[i] = workload->options[i].value;
    for (const char *at = text; *at; at += strspn(at, " "))
        at = take_option(workload, at, values);
}

bool workload_run_driven(const struct workload *workload, const uint64_t *options,
                         const struct driver_options *how, void (*look)(void *user, struct driver *driver),
                         void *user, struct workload_result *result, struct err *err)
{
    struct dev gpu = {.workload = workload, .result = result, .err = err};
    *result = (struct workload_result){0};
    gpu.timed = timed_new(workload, how, err);
    if (!gpu.timed)
        return false;
    workload->run(&gpu, options);
    result->is_machine_code = timed_is_machine_code(gpu.timed);
    expect_done(&gpu, timed_finish(gpu.timed, result));
    if (look)
        look(user, timed_driver(gpu.timed));
    timed_free(gpu.timed);
    release(&gpu);
    return !gpu.failed;
}
