/* Memory pools that processes share. What is given on is an unnamed file that says whose pool it is; memory
 * of it goes from process to process by handles, as cudaIpc's does (ipc.h). */
#include "driver/internal.h"
#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MAGIC = 0x6c6f6f70 };

struct pool_note {
    uint32_t magic, process, number, device;
};

enum result memory_pool_share(struct memory_pool *pool)
{
    struct driver *driver = pool->device->driver;
    if (!ipc_can_share(driver))
        return RESULT_NOT_SUPPORTED;
    pthread_mutex_lock(&driver->memory.lock);
    pool->is_shared = true;
    pool->number = ++driver->memory.shared_pools;
    pthread_mutex_unlock(&driver->memory.lock);
    return RESULT_SUCCESS;
}

enum result memory_pool_export(struct memory_pool *pool, int *file)
{
    const struct pool_note note = {MAGIC, (uint32_t)getpid(), pool->number, pool->device->index};
    if (!pool->is_shared || pool->ended)
        return driver_fail(RESULT_INVALID_VALUE, "the pool was not made to be shared");
    int made = memfd_create("heddle-pool", MFD_CLOEXEC);
    bool good = made >= 0 && pwrite(made, &note, sizeof note, 0) == (ssize_t)sizeof note;
    if (!good && made >= 0)
        close(made);
    *file = made;
    return good ? RESULT_SUCCESS
                : driver_fail(RESULT_OUT_OF_MEMORY, "no file can be made for a shared pool: %s",
                              strerror(errno));
}

enum result memory_pool_import(struct driver *driver, int file, struct memory_pool **pool)
{
    struct pool_note note;
    if (pread(file, &note, sizeof note, 0) != (ssize_t)sizeof note || note.magic != MAGIC ||
        note.device >= driver->device_count)
        return driver_fail(RESULT_INVALID_VALUE, "file descriptor %d is of no pool that was exported", file);
    if (!ipc_can_share(driver))
        return RESULT_NOT_SUPPORTED;
    enum result result = memory_pool_new(&driver->devices[note.device], 0, pool);
    if (result)
        return result;
    (*pool)->process = note.process;
    (*pool)->number = note.number;
    return RESULT_SUCCESS;
}

enum result memory_pool_export_pointer(struct driver *driver, uint64_t address, struct ipc_handle *handle)
{
    return ipc_pool_export(driver, address, handle);
}

enum result memory_pool_import_pointer(struct memory_pool *pool, const struct ipc_handle *handle,
                                       uint64_t *address)
{
    if (!pool->process || pool->ended)
        return driver_fail(RESULT_INVALID_VALUE, "the pool is not one that was imported");
    return ipc_pool_open(pool->device, pool->process, pool->number, handle, address);
}
