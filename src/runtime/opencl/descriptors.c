#include "runtime/opencl/descriptors.h"
#include "base/mem.h"
#include "runtime/opencl/memory.h"

enum { CHUNK = 64 }; /* descriptors that memory is taken for at once */

struct entry {
    struct opencl_descriptor content;
    cl_device_id device;
    uint64_t address;
    bool is_written;
};

struct chunk {
    cl_device_id device;
    uint64_t address;
    uint32_t used;
};

struct opencl_descriptors {
    pthread_mutex_t lock;
    struct entry *entries;
    size_t entry_count, entry_capacity;
    struct chunk *chunks;
    size_t chunk_count, chunk_capacity;
};

struct opencl_descriptors *opencl_descriptors_new(void)
{
    struct opencl_descriptors *all = mem_alloc(1, sizeof *all);
    pthread_mutex_init(&all->lock, NULL);
    return all;
}

void opencl_descriptors_free(struct opencl_descriptors *all)
{
    for (size_t i = 0; i < all->chunk_count; i++)
        opencl_mem_give_back(device_driver(all->chunks[i].device->device), all->chunks[i].address, NULL);
    mem_free(all->chunks);
    mem_free(all->entries);
    pthread_mutex_destroy(&all->lock);
    mem_free(all);
}

/* ---- with the lock held ---- */

static struct entry *find(struct opencl_descriptors *all, cl_device_id device,
                          const struct opencl_descriptor *content)
{
    for (size_t i = all->entry_count; i--;) { /* the newest are asked for most */
        if (all->entries[i].device == device && !memcmp(&all->entries[i].content, content, sizeof *content))
            return &all->entries[i];
    }
    return NULL;
}

static enum result take_room(struct opencl_descriptors *all, cl_device_id device, uint64_t *address)
{
    struct chunk *chunk = NULL;
    for (size_t i = 0; i < all->chunk_count; i++) {
        if (all->chunks[i].device == device && all->chunks[i].used < CHUNK)
            chunk = &all->chunks[i];
    }
    if (!chunk) {
        struct chunk made = {.device = device};
        enum result result =
            memory_alloc(device->device, CHUNK * sizeof(struct opencl_descriptor), &made.address);
        if (result)
            return result;
        mem_grow(all->chunks, all->chunk_count, all->chunk_capacity);
        chunk = &all->chunks[all->chunk_count++];
        *chunk = made;
    }
    *address = chunk->address + chunk->used++ * sizeof(struct opencl_descriptor);
    return RESULT_SUCCESS;
}

static enum result find_or_add(struct opencl_descriptors *all, cl_device_id device,
                               const struct opencl_descriptor *content, uint64_t *address, bool *is_written)
{
    const struct entry *found = find(all, device, content);
    *is_written = found && found->is_written;
    if (found) {
        *address = found->address;
        return RESULT_SUCCESS;
    }
    enum result result = take_room(all, device, address);
    if (result)
        return result;
    mem_grow(all->entries, all->entry_count, all->entry_capacity);
    all->entries[all->entry_count++] =
        (struct entry){.content = *content, .device = device, .address = *address};
    return RESULT_SUCCESS;
}

/* ---- */

/* The lock is not held while the driver copies: two who want the same at once write the same. */
enum result opencl_descriptor_at(cl_context context, cl_device_id device,
                                 const struct opencl_descriptor *descriptor, uint64_t *address)
{
    struct opencl_descriptors *all = context->descriptors;
    bool is_written;
    pthread_mutex_lock(&all->lock);
    enum result result = find_or_add(all, device, descriptor, address, &is_written);
    pthread_mutex_unlock(&all->lock);
    if (result || is_written)
        return result;
    result = stream_copy_bytes(device_default_stream(device->device), *address,
                               (uint64_t)(uintptr_t)descriptor, sizeof *descriptor, true);
    pthread_mutex_lock(&all->lock);
    if (!result)
        find(all, device, descriptor)->is_written = true;
    pthread_mutex_unlock(&all->lock);
    return result;
}
