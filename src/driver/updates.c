#include "driver/updates.h"
#include "driver/internal.h"
#include "base/mem.h"
#include "base/pointers.h"
#include "exec/exec.h"

struct updates {
    _Atomic unsigned users;
    const struct device *device; /* NULL: not described yet */
    bool is_taken, is_off;
    uint32_t grid[3], cluster[3];
    char *params;
    uint64_t param_bytes;
};

/* Kernels name any bits as a handle: one that is none of these is refused. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pointers known;

struct updates *updates_new(void)
{
    struct updates *updates = mem_alloc(1, sizeof *updates);
    updates->users = 1;
    pthread_mutex_lock(&lock);
    pointers_set(&known, updates, updates);
    pthread_mutex_unlock(&lock);
    return updates;
}

struct updates *updates_keep(struct updates *updates)
{
    if (updates)
        updates->users++;
    return updates;
}

void updates_release(struct updates *updates)
{
    if (!updates || --updates->users)
        return;
    pthread_mutex_lock(&lock);
    pointers_remove(&known, updates);
    pthread_mutex_unlock(&lock);
    mem_free(updates->params);
    mem_free(updates);
}

uint64_t updates_handle(const struct updates *updates)
{
    return (uintptr_t)updates;
}

bool updates_take(struct updates *updates)
{
    bool was_taken = updates->is_taken;
    updates->is_taken = true;
    return !was_taken;
}

bool updates_is_taken(const struct updates *updates)
{
    return updates->is_taken;
}

void updates_give_back(struct updates *updates)
{
    updates->is_taken = false;
}

void updates_describe(struct updates *updates, const struct device *device,
                      const struct launch_config *config, const void *params, uint64_t param_bytes)
{
    char *own = mem_alloc(param_bytes, 1);
    for (uint64_t i = 0; i < param_bytes; i++)
        own[i] = ((const char *)params)[i];
    pthread_mutex_lock(&lock);
    mem_free(updates->params);
    updates->device = device;
    updates->params = own;
    updates->param_bytes = param_bytes;
    memcpy(updates->grid, config->grid, sizeof updates->grid);
    memcpy(updates->cluster, config->cluster, sizeof updates->cluster);
    pthread_mutex_unlock(&lock);
}

void updates_enable(struct updates *updates, bool enabled)
{
    pthread_mutex_lock(&lock);
    updates->is_off = !enabled;
    pthread_mutex_unlock(&lock);
}

bool updates_is_enabled(const struct updates *updates)
{
    pthread_mutex_lock(&lock);
    bool is_on = !updates->is_off;
    pthread_mutex_unlock(&lock);
    return is_on;
}

static bool grid_fits(const struct updates *updates, const uint32_t grid[3])
{
    const struct gpu_spec *gpu = updates->device->spec;
    const uint64_t most[] = {gpu->grid_x, gpu->grid_y, gpu->grid_z};
    for (int i = 0; i < 3; i++)
        if (!grid[i] || grid[i] > most[i] || (updates->cluster[i] && grid[i] % updates->cluster[i]))
            return false;
    return true;
}

/* With the lock held. */
static struct updates *find(const struct device *device, const struct device_update *update)
{
    struct updates *updates = update->node ? pointers_get(&known, (void *)(uintptr_t)update->node) : NULL;
    bool fits = updates && updates->device == device;
    if (fits && update->field == UPDATE_GRID)
        fits = grid_fits(updates, update->grid);
    else if (fits && update->field == UPDATE_PARAM)
        fits =
            update->bytes <= updates->param_bytes && update->offset <= updates->param_bytes - update->bytes;
    else
        fits = fits && update->field == UPDATE_ENABLED;
    return fits ? updates : NULL;
}

bool updates_check(const struct device *device, const struct device_update *update)
{
    pthread_mutex_lock(&lock);
    bool good = find(device, update);
    pthread_mutex_unlock(&lock);
    return good;
}

bool updates_make(const struct device *device, const struct device_update *update, const void *value)
{
    pthread_mutex_lock(&lock);
    struct updates *updates = find(device, update);
    if (updates && update->field == UPDATE_GRID)
        memcpy(updates->grid, update->grid, sizeof updates->grid);
    else if (updates && update->field == UPDATE_PARAM)
        memcpy(updates->params + update->offset, value, update->bytes);
    else if (updates)
        updates->is_off = !update->enabled;
    pthread_mutex_unlock(&lock);
    return updates;
}

bool updates_apply(struct updates *updates, struct launch_config *config, void *params, uint64_t param_bytes)
{
    pthread_mutex_lock(&lock);
    if (updates->param_bytes == param_bytes) {
        memcpy(config->grid, updates->grid, sizeof updates->grid);
        if (param_bytes)
            memcpy(params, updates->params, param_bytes);
    }
    bool is_on = !updates->is_off;
    pthread_mutex_unlock(&lock);
    return is_on;
}
