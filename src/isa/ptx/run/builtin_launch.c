/* Functions of the device runtime (cudadevrt): launches by kernels, and what goes with them. The driver does
 * the work (exec/exec.h, struct device_calls). */
#include "ptx_run/builtin_rows.h"

#include "base/clock.h"

#include <string.h>

enum { SUCCESS, INVALID_VALUE = 1, INVALID_FUNCTION = 98 }; /* CUDA's */

static const struct launch *launch_of(const struct warp *w)
{
    return w->isa.block->worker->grid->launch;
}

/* The driver refuses launches that may call these where it cannot answer, so this is a mistake of ours. */
const struct device_calls *builtin_calls(struct warp *w, const struct op *op, lanes active)
{
    const struct device_calls *calls = launch_of(w)->calls;
    if (!calls)
        warp_fault(w, op, active, FAULT_INSTRUCTION, 0, "a launch by a kernel where none is possible");
    return calls;
}

struct device_moment builtin_moment(const struct warp *w, uint32_t lane, uint64_t stream)
{
    const struct worker *worker = w->isa.block->worker;
    struct device_moment when = {
        .stream = stream, .block = w->isa.block->number, .thread = w->isa.index * WARP_LANES + lane};
    struct clock_domain clock;
    if (!worker->clock)
        return when;
    clock_init(&clock, worker->clock_hz);
    when.time_ps = clock_time(&clock, *worker->clock);
    return when;
}

static void read_dims(const struct warp *w, uint32_t lane, uint64_t at, uint32_t dims[3])
{
    for (int i = 0; i < 3; i++)
        dims[i] = (uint32_t)builtin_read(w, lane, at + (uint64_t)i * 4, 4);
}

static uint64_t arguments_for(const struct warp *w, const struct device_launch *what, uint64_t bytes)
{
    const struct launch *launch = launch_of(w);
    struct device_launch made = *what;
    made.arguments = launch->calls->room(launch->calls_user, w->isa.block->worker->sm, bytes);
    if (made.arguments && made.kernel)
        launch->calls->prepare(launch->calls_user, &made);
    return made.arguments;
}

static struct kernel *kernel_at(const struct warp *w, uint64_t pointer)
{
    return ptx_kernel_at(w->isa.block->worker->grid->kernel, pointer);
}

/* (kernel, grid, block, shared bytes) */
static void run_buffer_v2(struct warp *w, const struct op *op, lanes active,
                          const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        struct device_launch what = {.kernel = kernel_at(w, builtin_read(w, lane, params[0], 8))};
        read_dims(w, lane, params[1], what.grid);
        read_dims(w, lane, params[2], what.block);
        what.shared_bytes = (uint32_t)builtin_read(w, lane, params[3], 4);
        uint64_t bytes = what.kernel ? kernel_facts(what.kernel)->param_bytes : 0;
        builtin_write(w, lane, result, 8, what.kernel ? arguments_for(w, &what, bytes) : 0);
    }
}

/* (arguments, stream) */
static void run_launch_v2(struct warp *w, const struct op *op, lanes active,
                          const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_moment when = builtin_moment(w, lane, builtin_read(w, lane, params[1], 8));
        int code = calls->start(launch_of(w)->calls_user, builtin_read(w, lane, params[0], 8), &when);
        builtin_write(w, lane, result, 4, (uint32_t)code);
    }
}

/* (alignment, bytes) */
static void run_buffer(struct warp *w, const struct op *op, lanes active,
                       const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_launch none = {0};
    builtin_calls(w, op, active);
    EACH_LANE (lane, active)
        builtin_write(w, lane, result, 8, arguments_for(w, &none, builtin_read(w, lane, params[1], 8)));
}

/* (kernel, arguments, grid, block, shared bytes, stream) */
static void run_launch(struct warp *w, const struct op *op, lanes active,
                       const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        struct device_launch what = {.kernel = kernel_at(w, builtin_read(w, lane, params[0], 8)),
                                     .arguments = builtin_read(w, lane, params[1], 8)};
        int code = INVALID_FUNCTION;
        read_dims(w, lane, params[2], what.grid);
        read_dims(w, lane, params[3], what.block);
        what.shared_bytes = (uint32_t)builtin_read(w, lane, params[4], 4);
        if (what.kernel) {
            calls->prepare(launch_of(w)->calls_user, &what);
            const struct device_moment when = builtin_moment(w, lane, builtin_read(w, lane, params[5], 8));
            code = calls->start(launch_of(w)->calls_user, what.arguments, &when);
        }
        builtin_write(w, lane, result, 4, (uint32_t)code);
    }
}

/* (where the handle goes, flags) */
static void make_handle(struct warp *w, const struct op *op, lanes active,
                        const uint64_t params[BUILTIN_PARAMS], uint64_t result, bool is_event)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        uint64_t handle = calls->new_handle(launch_of(w)->calls_user, w->isa.block->worker->sm, is_event);
        bool good = builtin_store(w, lane, builtin_read(w, lane, params[0], 8), &handle, sizeof handle);
        builtin_write(w, lane, result, 4, good ? SUCCESS : INVALID_VALUE);
    }
}

static void run_stream_create(struct warp *w, const struct op *op, lanes active,
                              const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    make_handle(w, op, active, params, result, false);
}

static void run_event_create(struct warp *w, const struct op *op, lanes active,
                             const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    make_handle(w, op, active, params, result, true);
}

/* Ends of handles; records of events and waits for them: with events, all is done in the order of the calls.
 */
static void run_in_order(struct warp *w, const struct op *op, lanes active,
                         const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    (void)op, (void)params;
    EACH_LANE (lane, active)
        builtin_write(w, lane, result, 4, SUCCESS);
}

/* (to, from, bytes, kind, stream) */
static void run_copy(struct warp *w, const struct op *op, lanes active, const uint64_t params[BUILTIN_PARAMS],
                     uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_copy what = {.to = builtin_read(w, lane, params[0], 8),
                                         .from = builtin_read(w, lane, params[1], 8),
                                         .bytes = builtin_read(w, lane, params[2], 8),
                                         .rows = 1,
                                         .slices = 1,
                                         .when =
                                             builtin_moment(w, lane, builtin_read(w, lane, params[4], 8))};
        builtin_write(w, lane, result, 4, (uint32_t)calls->move(launch_of(w)->calls_user, &what));
    }
}

/* (to, value, bytes, stream) */
static void run_fill(struct warp *w, const struct op *op, lanes active, const uint64_t params[BUILTIN_PARAMS],
                     uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_copy what = {.is_fill = true,
                                         .to = builtin_read(w, lane, params[0], 8),
                                         .value = (uint32_t)builtin_read(w, lane, params[1], 4) & 0xff,
                                         .bytes = builtin_read(w, lane, params[2], 8),
                                         .rows = 1,
                                         .slices = 1,
                                         .when =
                                             builtin_moment(w, lane, builtin_read(w, lane, params[3], 8))};
        builtin_write(w, lane, result, 4, (uint32_t)calls->move(launch_of(w)->calls_user, &what));
    }
}

/* (to, its pitch, from, its pitch, bytes of a row, rows, kind, stream) */
static void run_copy_rows(struct warp *w, const struct op *op, lanes active,
                          const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_copy what = {.to = builtin_read(w, lane, params[0], 8),
                                         .to_pitch = builtin_read(w, lane, params[1], 8),
                                         .from = builtin_read(w, lane, params[2], 8),
                                         .from_pitch = builtin_read(w, lane, params[3], 8),
                                         .bytes = builtin_read(w, lane, params[4], 8),
                                         .rows = builtin_read(w, lane, params[5], 8),
                                         .slices = 1,
                                         .when =
                                             builtin_moment(w, lane, builtin_read(w, lane, params[7], 8))};
        builtin_write(w, lane, result, 4, (uint32_t)calls->move(launch_of(w)->calls_user, &what));
    }
}

/* A struct cudaPitchedPtr, and where it begins. */
struct pitched {
    uint64_t at, pitch, row_bytes, rows;
};
struct box { /* struct cudaMemcpy3DParms */
    uint64_t from_array, from_at[3];
    struct pitched from;
    uint64_t to_array, to_at[3];
    struct pitched to;
    uint64_t extent[3];
    uint32_t kind, pad;
};

static uint64_t start_of(const struct pitched *side, const uint64_t at[3])
{
    return side->at + (at[2] * side->rows + at[1]) * side->pitch + at[0];
}

/* (where a box is described, stream); of memory, not arrays */
static void run_copy_box(struct warp *w, const struct op *op, lanes active,
                         const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        struct box box;
        int code = INVALID_VALUE;
        if (builtin_load(w, lane, builtin_read(w, lane, params[0], 8), &box, sizeof box) && !box.from_array &&
            !box.to_array) {
            const struct device_copy what = {
                .to = start_of(&box.to, box.to_at),
                .to_pitch = box.to.pitch,
                .to_rows = box.to.rows,
                .from = start_of(&box.from, box.from_at),
                .from_pitch = box.from.pitch,
                .from_rows = box.from.rows,
                .bytes = box.extent[0],
                .rows = box.extent[1],
                .slices = box.extent[2],
                .when = builtin_moment(w, lane, builtin_read(w, lane, params[1], 8))};
            code = calls->move(launch_of(w)->calls_user, &what);
        }
        builtin_write(w, lane, result, 4, (uint32_t)code);
    }
}

/* (to, pitch, value, bytes of a row, rows, stream) */
static void run_fill_rows(struct warp *w, const struct op *op, lanes active,
                          const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_copy what = {.is_fill = true,
                                         .to = builtin_read(w, lane, params[0], 8),
                                         .to_pitch = builtin_read(w, lane, params[1], 8),
                                         .value = (uint32_t)builtin_read(w, lane, params[2], 4) & 0xff,
                                         .bytes = builtin_read(w, lane, params[3], 8),
                                         .rows = builtin_read(w, lane, params[4], 8),
                                         .slices = 1,
                                         .when =
                                             builtin_moment(w, lane, builtin_read(w, lane, params[5], 8))};
        builtin_write(w, lane, result, 4, (uint32_t)calls->move(launch_of(w)->calls_user, &what));
    }
}

/* (pitched pointer, value, extent, stream) */
static void run_fill_box(struct warp *w, const struct op *op, lanes active,
                         const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_copy what = {.is_fill = true,
                                         .to = builtin_read(w, lane, params[0], 8),
                                         .to_pitch = builtin_read(w, lane, params[0] + 8, 8),
                                         .to_rows = builtin_read(w, lane, params[0] + 24, 8),
                                         .value = (uint32_t)builtin_read(w, lane, params[1], 4) & 0xff,
                                         .bytes = builtin_read(w, lane, params[2], 8),
                                         .rows = builtin_read(w, lane, params[2] + 8, 8),
                                         .slices = builtin_read(w, lane, params[2] + 16, 8),
                                         .when =
                                             builtin_moment(w, lane, builtin_read(w, lane, params[3], 8))};
        builtin_write(w, lane, result, 4, (uint32_t)calls->move(launch_of(w)->calls_user, &what));
    }
}

/* (graph, CUDA's name of when) */
static void run_launch_graph(struct warp *w, const struct op *op, lanes active,
                             const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_moment when = builtin_moment(w, lane, builtin_read(w, lane, params[1], 8));
        int code = calls->start_graph(launch_of(w)->calls_user, builtin_read(w, lane, params[0], 8), &when);
        builtin_write(w, lane, result, 4, (uint32_t)code);
    }
}

static void tell_device(struct warp *w, const struct op *op, lanes active,
                        const uint64_t params[BUILTIN_PARAMS], uint64_t result, bool wants_count)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    uint32_t count, index = calls->device(launch_of(w)->calls_user, &count);
    uint32_t value = wants_count ? count : index;
    EACH_LANE (lane, active) {
        bool good = builtin_store(w, lane, builtin_read(w, lane, params[0], 8), &value, sizeof value);
        builtin_write(w, lane, result, 4, good ? SUCCESS : INVALID_VALUE);
    }
}

static void run_device(struct warp *w, const struct op *op, lanes active,
                       const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    tell_device(w, op, active, params, result, false);
}

static void run_device_count(struct warp *w, const struct op *op, lanes active,
                             const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    tell_device(w, op, active, params, result, true);
}

static void tell_error(struct warp *w, const struct op *op, lanes active, uint64_t result, bool clears)
{
    const struct device_calls *calls = builtin_calls(w, op, active);
    EACH_LANE (lane, active) {
        const struct device_moment when = builtin_moment(w, lane, 0);
        int code = calls->last_error(launch_of(w)->calls_user, &when, clears);
        builtin_write(w, lane, result, 4, (uint32_t)code);
    }
}

static void run_last_error(struct warp *w, const struct op *op, lanes active,
                           const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    (void)params;
    tell_error(w, op, active, result, true);
}

static void run_peek_error(struct warp *w, const struct op *op, lanes active,
                           const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    (void)params;
    tell_error(w, op, active, result, false);
}

#define CALL(name, run, ...)                                                                                 \
    {                                                                                                        \
        "__cudaCDP2" name, run, true, true, {__VA_ARGS__}, 4, false                                          \
    }
#define SUBMIT(name, run, ...)                                                                               \
    {                                                                                                        \
        "__cudaCDP2" name, run, true, true, {__VA_ARGS__}, 4, true                                           \
    }
#define SUBMITS(name, run, ...) SUBMIT(name, run, __VA_ARGS__), SUBMIT(name "_ptsz", run, __VA_ARGS__)
#define TWINS(name, run, ...)   CALL(name, run, __VA_ARGS__), CALL(name "_ptsz", run, __VA_ARGS__)

const struct builtin builtin_launches[] = {
    {"__cudaCDP2GetParameterBufferV2", run_buffer_v2, true, true, {8, 12, 12, 4}, 8, false},
    {"__cudaCDP2GetParameterBuffer", run_buffer, true, true, {8, 8}, 8, false},
    SUBMITS("LaunchDeviceV2", run_launch_v2, 8, 8),
    SUBMITS("LaunchDevice", run_launch, 8, 8, 12, 12, 4, 8),
    CALL("StreamCreateWithFlags", run_stream_create, 8, 4),
    CALL("StreamDestroy", run_in_order, 8),
    TWINS("StreamWaitEvent", run_in_order, 8, 8, 4),
    CALL("EventCreateWithFlags", run_event_create, 8, 4),
    TWINS("EventRecord", run_in_order, 8, 8),
    TWINS("EventRecordWithFlags", run_in_order, 8, 8, 4),
    CALL("EventDestroy", run_in_order, 8),
    SUBMITS("MemcpyAsync", run_copy, 8, 8, 8, 4, 8),
    SUBMITS("MemsetAsync", run_fill, 8, 4, 8, 8),
    SUBMITS("Memcpy2DAsync", run_copy_rows, 8, 8, 8, 8, 8, 8, 4, 8),
    SUBMITS("Memcpy3DAsync", run_copy_box, 8, 8),
    SUBMITS("Memset2DAsync", run_fill_rows, 8, 8, 4, 8, 8, 8),
    SUBMITS("Memset3DAsync", run_fill_box, 32, 4, 24, 8),
    {"cudaGraphLaunch", run_launch_graph, true, true, {8, 8}, 4, true},
    CALL("GetLastError", run_last_error, 0),
    CALL("PeekAtLastError", run_peek_error, 0),
    CALL("GetDevice", run_device, 8),
    CALL("GetDeviceCount", run_device_count, 8),
    {NULL, NULL, false, false, {0}, 0, false}};
