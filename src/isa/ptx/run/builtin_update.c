/* Functions by which kernels change kernel nodes of graphs. The driver does the work (exec/exec.h). */
#include "ptx_run/access.h"
#include "ptx_run/builtin_rows.h"

enum { SUCCESS, INVALID_VALUE = 1 }; /* CUDA's */

/* Memory of the GPU has its newest bytes in caches while time is kept: the driver reads it when the machine
 * stands still. */
static bool is_for_driver(const struct warp *w, uint64_t at)
{
    return w->isa.block->worker->clock && access_space_at(at) == PTX_GLOBAL;
}

static int update(struct warp *w, const struct op *op, uint32_t lane, struct device_update *what)
{
    const struct launch *launch = w->isa.block->worker->grid->launch;
    const struct device_calls *calls = builtin_calls(w, op, UINT32_C(1) << lane);
    const struct device_moment when = builtin_moment(w, lane, 0);
    char value[UPDATE_MOST];
    if (what->field != UPDATE_PARAM || is_for_driver(w, what->value_at))
        return calls->update(launch->calls_user, what, NULL, &when);
    bool fits = what->bytes <= sizeof value && builtin_get(w, lane, what->value_at, value, what->bytes);
    return fits ? calls->update(launch->calls_user, what, value, &when) : INVALID_VALUE;
}

/* (node, offset, where the value is, bytes) */
static void run_param(struct warp *w, const struct op *op, lanes active,
                      const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    EACH_LANE (lane, active) {
        struct device_update what = {.node = builtin_read(w, lane, params[0], 8),
                                     .field = UPDATE_PARAM,
                                     .offset = builtin_read(w, lane, params[1], 8),
                                     .value_at = builtin_read(w, lane, params[2], 8),
                                     .bytes = builtin_read(w, lane, params[3], 8)};
        builtin_write(w, lane, result, 4, (uint32_t)update(w, op, lane, &what));
    }
}

/* (node, whether it runs) */
static void run_enabled(struct warp *w, const struct op *op, lanes active,
                        const uint64_t params[BUILTIN_PARAMS], uint64_t result)
{
    EACH_LANE (lane, active) {
        struct device_update what = {.node = builtin_read(w, lane, params[0], 8),
                                     .field = UPDATE_ENABLED,
                                     .enabled = builtin_read(w, lane, params[1], 4) & 0xff};
        builtin_write(w, lane, result, 4, (uint32_t)update(w, op, lane, &what));
    }
}

/* (node, grid) */
static void run_grid(struct warp *w, const struct op *op, lanes active, const uint64_t params[BUILTIN_PARAMS],
                     uint64_t result)
{
    EACH_LANE (lane, active) {
        struct device_update what = {.node = builtin_read(w, lane, params[0], 8), .field = UPDATE_GRID};
        for (uint32_t i = 0; i < 3; i++)
            what.grid[i] = (uint32_t)builtin_read(w, lane, params[1] + 4 * i, 4);
        builtin_write(w, lane, result, 4, (uint32_t)update(w, op, lane, &what));
    }
}

/* (where the list is, how many) */
static void run_list(struct warp *w, const struct op *op, lanes active, const uint64_t params[BUILTIN_PARAMS],
                     uint64_t result)
{
    EACH_LANE (lane, active) {
        uint64_t at = builtin_read(w, lane, params[0], 8), count = builtin_read(w, lane, params[1], 8);
        int code = at || !count ? SUCCESS : INVALID_VALUE;
        if (count && at && is_for_driver(w, at)) {
            struct device_update what = {.field = UPDATE_LIST, .value_at = at, .bytes = count};
            code = update(w, op, lane, &what);
            count = 0;
        }
        for (uint64_t i = 0; i < count && !code; i++) {
            struct device_update_row row;
            struct device_update what;
            bool good = builtin_get(w, lane, at + i * sizeof row, &row, sizeof row) &&
                        launch_read_update(&row, &what);
            code = good ? update(w, op, lane, &what) : INVALID_VALUE;
        }
        builtin_write(w, lane, result, 4, (uint32_t)code);
    }
}

const struct builtin builtin_updates[] = {
    {"cudaGraphKernelNodeSetParam", run_param, true, true, {8, 8, 8, 8}, 4, true},
    {"cudaGraphKernelNodeSetEnabled", run_enabled, true, true, {8, 4}, 4, true},
    {"cudaGraphKernelNodeSetGridDim", run_grid, true, true, {8, 12}, 4, true},
    {"cudaGraphKernelNodeUpdatesApply", run_list, true, true, {8, 8}, 4, true},
    {NULL, NULL, false, false, {0}, 0, false}};
