#include "runtime/cuda/external.h"
#include "driver/mapping.h"
#include "base/mem.h"

#include <pthread.h>
#include <unistd.h>

enum {
    OPAQUE_FILE = 1,
    OPAQUE_WIN32 = 2,
    LAST_OF_WINDOWS = 7,
    SCI_BUFFER = 8,
    DMA_BUFFER_FILE = 9
}; /* CUDA's */
enum { DEDICATED = 1 };

struct cudaExternalMemoryHandleDesc {
    int type;
    union {
        int file;
        struct {
            void *handle;
            const void *name;
        } win32;
    } handle;
    unsigned long long size;
    unsigned flags; /* behind it, since CUDA 13, words that are 0 */
};

struct cudaExternalMemoryBufferDesc {
    unsigned long long offset, size;
    unsigned flags;
};

/* It is mapped as long as the program has it, or a buffer in it. */
struct external_memory {
    struct external_memory *next;
    uint64_t physical, address, bytes; /* bytes: whole pages */
    uint64_t usable;                   /* of them: as many as the program has named */
    bool is_open;
    uint64_t *buffers; /* addresses that were given and not freed */
    size_t buffer_count, buffer_capacity;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct external_memory *all;

/* With the lock held; NULL when there is no such. */
static struct external_memory *find(const struct external_memory *memory)
{
    struct external_memory *one = all;
    while (one && (one != memory || !one->is_open))
        one = one->next;
    return one;
}

static void unmap(const struct external_memory *memory)
{
    mapping_remove(cuda_driver(), memory->address, memory->bytes);
    mapping_unreserve(cuda_driver(), memory->address, memory->bytes);
    mapping_physical_release(cuda_driver(), memory->physical);
}

static void end_if_unused(struct external_memory *memory)
{
    if (memory->is_open || memory->buffer_count)
        return;
    struct external_memory **place = &all;
    while (*place != memory)
        place = &(*place)->next;
    *place = memory->next;
    unmap(memory);
    mem_free(memory->buffers);
    mem_free(memory);
}

static cudaError_t refuse(cudaError_t error, const char *why)
{
    char text[160];
    snprintf(text, sizeof text, "cannot import external memory: %s", why);
    driver_report(cuda_driver(), text);
    return error;
}

static cudaError_t check(const struct cudaExternalMemoryHandleDesc *desc)
{
    if (desc->type >= OPAQUE_WIN32 && desc->type <= LAST_OF_WINDOWS)
        return refuse(cudaErrorInvalidValue, "handles of Windows and Direct3D are not of this system");
    if (desc->type == SCI_BUFFER || desc->type == DMA_BUFFER_FILE)
        return refuse(cudaErrorNotSupported, "NvSciBuf and dma-buf are not there; only file descriptors of "
                                             "cuMemExportToShareableHandle are");
    bool known = desc->type == OPAQUE_FILE && desc->size && !(desc->flags & ~(unsigned)DEDICATED);
    return known ? cudaSuccess : cudaErrorInvalidValue;
}

static cudaError_t map(struct external_memory *memory)
{
    struct mapping_physical_facts facts;
    cudaError_t error = mapping_physical_find(cuda_driver(), memory->physical, &facts);
    if (!error && facts.bytes < memory->usable)
        error = cudaErrorInvalidValue;
    if (!error)
        error = mapping_reserve(cuda_driver(), facts.bytes, 0, &memory->address);
    if (error)
        return error;
    memory->bytes = facts.bytes;
    error = mapping_add(cuda_driver(), memory->address, memory->bytes, memory->physical);
    if (!error) {
        error = mapping_set_access(cuda_device(), memory->address, memory->bytes, MAPPING_READ_WRITE);
        if (error)
            mapping_remove(cuda_driver(), memory->address, memory->bytes);
    }
    if (error)
        mapping_unreserve(cuda_driver(), memory->address, memory->bytes);
    return error;
}

/* The file descriptor is ours from now on, if all is well. */
static cudaError_t import(struct external_memory **memory, const struct cudaExternalMemoryHandleDesc *desc)
{
    struct external_memory made = {.is_open = true};
    if (!memory || !desc)
        return cudaErrorInvalidValue;
    cudaError_t error = check(desc);
    if (error)
        return error;
    made.usable = desc->size;
    if (mapping_physical_import(cuda_driver(), desc->handle.file, &made.physical))
        return refuse(
            cudaErrorOperatingSystem,
            "the file descriptor is not one that cuMemExportToShareableHandle gave; Vulkan and OpenGL "
            "are not there");
    error = map(&made);
    if (error) {
        mapping_physical_release(cuda_driver(), made.physical);
        return error;
    }
    close(desc->handle.file);
    *memory = mem_alloc(1, sizeof **memory);
    pthread_mutex_lock(&lock);
    made.next = all;
    **memory = made;
    all = *memory;
    pthread_mutex_unlock(&lock);
    return cudaSuccess;
}

static cudaError_t buffer_of(void **pointer, struct external_memory *handle,
                             const struct cudaExternalMemoryBufferDesc *desc)
{
    if (!pointer || !desc || desc->flags || !desc->size)
        return cudaErrorInvalidValue;
    pthread_mutex_lock(&lock);
    struct external_memory *memory = find(handle);
    bool fits = memory && desc->size <= memory->usable && desc->offset <= memory->usable - desc->size;
    if (fits) {
        *pointer = (void *)(uintptr_t)(memory->address + desc->offset);
        mem_grow(memory->buffers, memory->buffer_count, memory->buffer_capacity);
        memory->buffers[memory->buffer_count++] = memory->address + desc->offset;
    }
    pthread_mutex_unlock(&lock);
    return fits ? cudaSuccess : memory ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
}

static cudaError_t destroy(struct external_memory *handle)
{
    pthread_mutex_lock(&lock);
    struct external_memory *memory = find(handle);
    if (memory) {
        memory->is_open = false;
        end_if_unused(memory);
    }
    pthread_mutex_unlock(&lock);
    return memory ? cudaSuccess : cudaErrorInvalidResourceHandle;
}

/* With the lock held; NULL: no memory has such a buffer. */
static struct external_memory *with_buffer(uint64_t address, size_t *place)
{
    for (struct external_memory *memory = all; memory; memory = memory->next)
        for (*place = 0; *place < memory->buffer_count; ++*place)
            if (memory->buffers[*place] == address)
                return memory;
    return NULL;
}

bool external_free(uint64_t address)
{
    size_t place;
    pthread_mutex_lock(&lock);
    struct external_memory *memory = with_buffer(address, &place);
    if (memory) {
        memory->buffers[place] = memory->buffers[--memory->buffer_count];
        device_synchronize(cuda_device());
        end_if_unused(memory);
    }
    pthread_mutex_unlock(&lock);
    return memory;
}

/* Both APIs have the same. */
#define EXTERNAL_FUNCTIONS(KIND, PREFIX)                                                                     \
    KIND(PREFIX##ImportExternalMemory, (memory, desc), struct external_memory **memory,                      \
         const struct cudaExternalMemoryHandleDesc *desc)                                                    \
    {                                                                                                        \
        return import(memory, desc);                                                                         \
    }                                                                                                        \
    KIND(PREFIX##ExternalMemoryGetMappedBuffer, (pointer, memory, desc), void **pointer,                     \
         struct external_memory *memory, const struct cudaExternalMemoryBufferDesc *desc)                    \
    {                                                                                                        \
        return buffer_of(pointer, memory, desc);                                                             \
    }                                                                                                        \
    KIND(PREFIX##DestroyExternalMemory, (memory), struct external_memory *memory)                            \
    {                                                                                                        \
        return destroy(memory);                                                                              \
    }

EXTERNAL_FUNCTIONS(API, cuda)
EXTERNAL_FUNCTIONS(CU, cu)
