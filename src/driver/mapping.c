/* Physical memory that cannot be shared is all in one file, so that a program may have more such pieces than
 * a process may have open files. Shareable memory has its own file, whose name tells an importer the device.
 * The host maps all of it for reading and writing; the devices' images, and copies, decide which device may
 * access it. */
#include "driver/internal.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#define FIRST_ADDRESS UINT64_C(0x600000000000)
#define FILE_NAME     "heddle-gpu-"

static void *pointer(uint64_t at)
{
    return (void *)(uintptr_t)at;
}

static uint64_t round_up(uint64_t value, uint64_t unit)
{
    return (value + unit - 1) / unit * unit;
}

void mappings_init(struct mappings *mappings)
{
    mappings->next = FIRST_ADDRESS;
    mappings->file = -1;
}

uint64_t mapping_unit(const struct driver *driver)
{
    return driver->system.gpu.page;
}

/* ---- physical memory ---- */

/* NULL when nobody holds it. */
static struct mapping_physical *held(const struct driver *driver, uint64_t handle)
{
    const struct mappings *mappings = &driver->memory.mappings;
    struct mapping_physical *found =
        handle - 1 < mappings->physical_count ? mappings->physical[handle - 1] : NULL;
    return found && found->held ? found : NULL;
}

static uint64_t add_physical(struct mappings *mappings, struct mapping_physical physical)
{
    mem_grow(mappings->physical, mappings->physical_count, mappings->physical_capacity);
    struct mapping_physical *made = mem_alloc(1, sizeof *made);
    mappings->physical[mappings->physical_count++] = made;
    physical.handle = mappings->physical_count;
    physical.held = 1;
    *made = physical;
    return made->handle;
}

static void end_if_unused(struct driver *driver, struct mapping_physical *physical)
{
    struct mappings *mappings = &driver->memory.mappings;
    if (physical->held || physical->mapped)
        return;
    if (physical->counted)
        physical->facts.device->used -= physical->facts.bytes;
    if (physical->file == mappings->file)
        fallocate(physical->file, FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, (off_t)physical->offset,
                  (off_t)physical->facts.bytes);
    else
        close(physical->file);
    mappings->physical[physical->handle - 1] = NULL;
    mem_free(physical);
}

/* A part of the device's memory that no other has: behind the arena and all that lies there. */
static uint64_t new_place(const struct device *device)
{
    const struct mappings *mappings = &device->driver->memory.mappings;
    uint64_t next = device->arena.end - device->arena.base;
    for (size_t i = 0; i < mappings->physical_count; i++) {
        const struct mapping_physical *other = mappings->physical[i];
        if (other && other->facts.device == device)
            next = max_u64(next, other->place + other->facts.bytes);
    }
    return next;
}

/* That of the same memory, where this process exported it itself; or a new one. */
static uint64_t place_of_file(const struct device *device, const struct stat *about)
{
    const struct mappings *mappings = &device->driver->memory.mappings;
    struct stat other;
    for (size_t i = 0; i < mappings->physical_count; i++) {
        const struct mapping_physical *one = mappings->physical[i];
        if (one && one->file != mappings->file && !fstat(one->file, &other) &&
            other.st_ino == about->st_ino && other.st_dev == about->st_dev)
            return one->place;
    }
    return new_place(device);
}

static bool open_own_file(struct mapping_physical *physical)
{
    char name[32];
    snprintf(name, sizeof name, FILE_NAME "%u", physical->facts.device->index);
    physical->file = memfd_create(name, MFD_CLOEXEC);
    if (physical->file >= 0 && !ftruncate(physical->file, (off_t)physical->facts.bytes))
        return true;
    if (physical->file >= 0)
        close(physical->file);
    return false;
}

static bool open_common_file(struct mappings *mappings, struct mapping_physical *physical)
{
    if (mappings->file < 0)
        mappings->file = memfd_create("heddle-gpus", MFD_CLOEXEC);
    uint64_t end = mappings->file_bytes + physical->facts.bytes;
    if (mappings->file < 0 || ftruncate(mappings->file, (off_t)end))
        return false;
    physical->file = mappings->file;
    physical->offset = mappings->file_bytes;
    mappings->file_bytes = end;
    return true;
}

static enum result take(struct device *device, uint64_t bytes, bool shareable, uint64_t *handle)
{
    struct mappings *mappings = &device->driver->memory.mappings;
    struct mapping_physical physical = {.facts = {device, bytes, shareable}, .counted = true};
    if (!memory_device_has_room(device, bytes))
        return driver_fail(RESULT_OUT_OF_MEMORY,
                           "%llu bytes are asked for, and of %llu bytes %llu are in use",
                           (unsigned long long)bytes, (unsigned long long)device->spec->memory,
                           (unsigned long long)device->used);
    if (shareable ? !open_own_file(&physical) : !open_common_file(mappings, &physical))
        return driver_fail(RESULT_OUT_OF_MEMORY, "the host has no file for %llu bytes of memory: %s",
                           (unsigned long long)bytes, strerror(errno));
    device->used += bytes;
    physical.place = new_place(device);
    *handle = add_physical(mappings, physical);
    return RESULT_SUCCESS;
}

enum result mapping_physical_new(struct device *device, uint64_t bytes, bool shareable, uint64_t *handle)
{
    if (device->driver->ended)
        return RESULT_DEINITIALIZED;
    uint64_t unit = mapping_unit(device->driver);
    if (!bytes || bytes % unit)
        return driver_fail(RESULT_INVALID_VALUE, "%llu bytes are no whole pages of %llu bytes",
                           (unsigned long long)bytes, (unsigned long long)unit);
    if (timeline_is_elsewhere(device->driver))
        return driver_fail(RESULT_NOT_SUPPORTED,
                           "a machine in another process (--attach) does not see memory that is "
                           "mapped: take it from cudaMalloc");
    pthread_mutex_lock(&device->driver->memory.lock);
    enum result result = take(device, bytes, shareable, handle);
    pthread_mutex_unlock(&device->driver->memory.lock);
    return result;
}

static enum result no_handle(uint64_t handle)
{
    return driver_fail(RESULT_INVALID_VALUE, "%llu is no handle of memory", (unsigned long long)handle);
}

enum result mapping_physical_release(struct driver *driver, uint64_t handle)
{
    pthread_mutex_lock(&driver->memory.lock);
    struct mapping_physical *physical = held(driver, handle);
    if (physical) {
        physical->held--;
        end_if_unused(driver, physical);
    }
    pthread_mutex_unlock(&driver->memory.lock);
    return physical ? RESULT_SUCCESS : no_handle(handle);
}

/* What the program mapped here, or NULL. */
static struct allocation *mapped(const struct driver *driver, uint64_t address)
{
    struct allocation *found = memory_holding(driver, address);
    return found && found->kind == MEMORY_MAPPED ? found : NULL;
}

static enum result not_mapped(uint64_t address, uint64_t bytes)
{
    return driver_fail(RESULT_INVALID_VALUE,
                       "the %llu bytes at 0x%llx are not those of memory that is mapped",
                       (unsigned long long)bytes, (unsigned long long)address);
}

enum result mapping_physical_retain(struct driver *driver, uint64_t address, uint64_t *handle)
{
    pthread_mutex_lock(&driver->memory.lock);
    const struct allocation *found = mapped(driver, address);
    if (found) {
        found->physical->held++;
        *handle = found->physical->handle;
    }
    pthread_mutex_unlock(&driver->memory.lock);
    return found ? RESULT_SUCCESS : not_mapped(address, 1);
}

enum result mapping_physical_find(struct driver *driver, uint64_t handle,
                                  struct mapping_physical_facts *facts)
{
    pthread_mutex_lock(&driver->memory.lock);
    const struct mapping_physical *found = held(driver, handle);
    if (found)
        *facts = found->facts;
    pthread_mutex_unlock(&driver->memory.lock);
    return found ? RESULT_SUCCESS : no_handle(handle);
}

enum result mapping_physical_export(struct driver *driver, uint64_t handle, int *file)
{
    pthread_mutex_lock(&driver->memory.lock);
    const struct mapping_physical *found = held(driver, handle);
    bool shareable = found && found->facts.shareable;
    int made = shareable ? fcntl(found->file, F_DUPFD_CLOEXEC, 0) : -1;
    pthread_mutex_unlock(&driver->memory.lock);
    if (!shareable)
        return driver_fail(RESULT_INVALID_VALUE, "the memory was not made to be exported");
    if (made < 0)
        return driver_fail(RESULT_OUT_OF_MEMORY, "no file descriptor is left: %s", strerror(errno));
    *file = made;
    return RESULT_SUCCESS;
}

/* The device that a file is memory of, by its name; NULL when it is none of ours. */
static struct device *device_of_file(struct driver *driver, int file)
{
    static const char start[] = "/memfd:" FILE_NAME;
    char link[32], name[64] = "";
    unsigned index;
    snprintf(link, sizeof link, "/proc/self/fd/%d", file);
    if (readlink(link, name, sizeof name - 1) < 0 || strncmp(name, start, sizeof start - 1) != 0 ||
        sscanf(name + sizeof start - 1, "%u", &index) != 1)
        return NULL;
    return driver_device(driver, index);
}

enum result mapping_physical_import(struct driver *driver, int file, uint64_t *handle)
{
    struct stat about;
    struct mapping_physical physical = {.facts.device = device_of_file(driver, file)};
    if (!physical.facts.device || fstat(file, &about) || about.st_size <= 0)
        return driver_fail(RESULT_INVALID_VALUE, "file descriptor %d is not of memory that was exported",
                           file);
    physical.facts.bytes = (uint64_t)about.st_size;
    physical.file = fcntl(file, F_DUPFD_CLOEXEC, 0);
    if (physical.file < 0)
        return driver_fail(RESULT_OUT_OF_MEMORY, "no file descriptor is left: %s", strerror(errno));
    pthread_mutex_lock(&driver->memory.lock);
    physical.place = place_of_file(physical.facts.device, &about);
    *handle = add_physical(&driver->memory.mappings, physical);
    pthread_mutex_unlock(&driver->memory.lock);
    return RESULT_SUCCESS;
}

/* ---- addresses ---- */

static void *reserve(uint64_t hint, uint64_t bytes)
{
    return mmap(pointer(hint), bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
}

/* Anywhere, aligned: more than is needed, less what is too much. */
static uint64_t reserve_anywhere(uint64_t bytes, uint64_t alignment)
{
    uint64_t all = add_saturating(bytes, alignment);
    void *memory = reserve(0, all);
    if (memory == MAP_FAILED)
        return 0;
    uint64_t from = (uint64_t)(uintptr_t)memory, at = round_up(from, alignment);
    if (at > from)
        munmap(memory, at - from);
    munmap(pointer(at + bytes), from + all - (at + bytes));
    return at;
}

/* The next addresses where they are free, so that a program finds the same ones each time that it runs. */
static uint64_t take_addresses(struct mappings *mappings, uint64_t bytes, uint64_t alignment)
{
    uint64_t hint = round_up(mappings->next, alignment); /* of a page at least */
    void *memory = reserve(hint, bytes);
    if (memory == MAP_FAILED)
        return 0;
    if (memory == pointer(hint)) {
        mappings->next = hint + bytes + alignment;
        return hint;
    }
    munmap(memory, bytes);
    return reserve_anywhere(bytes, alignment);
}

enum result mapping_reserve(struct driver *driver, uint64_t bytes, uint64_t alignment, uint64_t *address)
{
    struct mappings *mappings = &driver->memory.mappings;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    uint64_t unit = mapping_unit(driver);
    if (!bytes || bytes % unit || alignment & (alignment - 1))
        return driver_fail(RESULT_INVALID_VALUE,
                           "%llu bytes are no whole pages of %llu, or their alignment is no power of two",
                           (unsigned long long)bytes, (unsigned long long)unit);
    pthread_mutex_lock(&driver->memory.lock);
    uint64_t at = take_addresses(mappings, bytes, max_u64(alignment, unit));
    if (at) {
        mem_grow(mappings->reserved, mappings->reserved_count, mappings->reserved_capacity);
        mappings->reserved[mappings->reserved_count++] = (struct reservation){at, bytes};
    }
    pthread_mutex_unlock(&driver->memory.lock);
    *address = at;
    return at ? RESULT_SUCCESS
              : driver_fail(RESULT_OUT_OF_MEMORY, "no range of %llu free addresses is left",
                            (unsigned long long)bytes);
}

/* The reservation that these bytes are in, or NULL. */
static struct reservation *reserved(const struct driver *driver, uint64_t address, uint64_t bytes)
{
    const struct mappings *mappings = &driver->memory.mappings;
    for (size_t i = 0; i < mappings->reserved_count; i++) {
        struct reservation *one = &mappings->reserved[i];
        if (address - one->at < one->bytes && bytes <= one->bytes - (address - one->at))
            return one;
    }
    return NULL;
}

static enum result not_reserved(uint64_t address, uint64_t bytes)
{
    return driver_fail(RESULT_INVALID_VALUE, "the %llu bytes at 0x%llx are not reserved, or in use",
                       (unsigned long long)bytes, (unsigned long long)address);
}

enum result mapping_unreserve(struct driver *driver, uint64_t address, uint64_t bytes)
{
    struct mappings *mappings = &driver->memory.mappings;
    pthread_mutex_lock(&driver->memory.lock);
    struct reservation *found = reserved(driver, address, bytes);
    bool good =
        found && found->at == address && found->bytes == bytes && !memory_overlaps(driver, address, bytes);
    if (good) {
        munmap(pointer(address), bytes);
        *found = mappings->reserved[--mappings->reserved_count];
    }
    pthread_mutex_unlock(&driver->memory.lock);
    return good ? RESULT_SUCCESS : not_reserved(address, bytes);
}

bool mapping_range(struct driver *driver, uint64_t address, uint64_t *base, uint64_t *bytes)
{
    pthread_mutex_lock(&driver->memory.lock);
    const struct reservation *found = reserved(driver, address, 1);
    *base = found ? found->at : 0;
    *bytes = found ? found->bytes : 0;
    pthread_mutex_unlock(&driver->memory.lock);
    return found != NULL;
}

/* ---- mappings ---- */

static enum result add(struct driver *driver, uint64_t address, uint64_t bytes, uint64_t handle)
{
    struct mapping_physical *physical = held(driver, handle);
    if (!physical)
        return no_handle(handle);
    if (bytes && bytes != physical->facts.bytes)
        return driver_fail(RESULT_NOT_SUPPORTED, "a part of %llu bytes of memory cannot be mapped alone",
                           (unsigned long long)physical->facts.bytes);
    if (!bytes || address % mapping_unit(driver) || !reserved(driver, address, bytes) ||
        memory_overlaps(driver, address, bytes))
        return not_reserved(address, bytes);
    if (mmap(pointer(address), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED | MAP_NORESERVE,
             physical->file, (off_t)physical->offset) == MAP_FAILED)
        return driver_fail(RESULT_OUT_OF_MEMORY, "the host cannot map the memory: %s", strerror(errno));
    physical->mapped++;
    memory_insert(driver, &(struct allocation){.at = address,
                                               .bytes = bytes,
                                               .kind = MEMORY_MAPPED,
                                               .flags = physical->facts.shareable,
                                               .device = physical->facts.device,
                                               .what = "mapped memory",
                                               .physical = physical});
    return RESULT_SUCCESS;
}

enum result mapping_add(struct driver *driver, uint64_t address, uint64_t bytes, uint64_t handle)
{
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    pthread_mutex_lock(&driver->memory.lock);
    enum result result = add(driver, address, bytes, handle);
    pthread_mutex_unlock(&driver->memory.lock);
    return result;
}

static enum mapping_access access_of(const struct device *device, const struct allocation *allocation)
{
    if (allocation->writers >> device->index & 1)
        return MAPPING_READ_WRITE;
    return allocation->readers >> device->index & 1 ? MAPPING_READ : MAPPING_NONE;
}

static void let(struct device *device, struct allocation *allocation, enum mapping_access access)
{
    uint64_t bit = UINT64_C(1) << device->index;
    enum mapping_access before = access_of(device, allocation);
    if (before == access) /* kernels that run see no gap */
        return;
    if (before)
        image_remove(device->image, allocation->at);
    allocation->readers = access ? allocation->readers | bit : allocation->readers & ~bit;
    allocation->writers =
        access == MAPPING_READ_WRITE ? allocation->writers | bit : allocation->writers & ~bit;
    if (access)
        image_add(device->image, (struct range){allocation->at, allocation->bytes, allocation->what,
                                                access == MAPPING_READ});
}

static void unmap(struct driver *driver, struct allocation *allocation)
{
    struct mapping_physical *physical = allocation->physical;
    for (unsigned i = 0; i < driver->device_count; i++)
        let(&driver->devices[i], allocation, MAPPING_NONE);
    memory_forget(driver, allocation);
    mmap(pointer(allocation->at), allocation->bytes, PROT_NONE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
    memory_remove(driver, allocation);
    physical->mapped--;
    end_if_unused(driver, physical);
}

/* Whether a mapping goes over one of the range's ends. */
static bool cuts(const struct driver *driver, uint64_t address, uint64_t bytes)
{
    const struct allocation *first = memory_holding(driver, address);
    const struct allocation *last = memory_holding(driver, address + bytes - 1);
    return (first && first->at != address) || (last && last->at + last->bytes != address + bytes);
}

enum result mapping_remove(struct driver *driver, uint64_t address, uint64_t bytes)
{
    struct memory *memory = &driver->memory;
    if (driver->ended)
        return RESULT_DEINITIALIZED;
    for (unsigned i = 0; i < driver->device_count; i++)
        device_synchronize(&driver->devices[i]); /* a fault of theirs is no reason to keep the memory */
    pthread_mutex_lock(&memory->lock);
    bool good = bytes && reserved(driver, address, bytes) && !cuts(driver, address, bytes);
    for (size_t i = memory->count; good && i-- > 0;) {
        if (memory->table[i]->kind == MEMORY_MAPPED && memory->table[i]->at - address < bytes)
            unmap(driver, memory->table[i]);
    }
    pthread_mutex_unlock(&memory->lock);
    return good ? RESULT_SUCCESS : not_mapped(address, bytes);
}

/* Whether mappings fill the range, side by side. */
static bool is_full(const struct driver *driver, uint64_t address, uint64_t bytes)
{
    const struct allocation *one = bytes ? mapped(driver, address) : NULL;
    while (one && one->at == address && one->bytes < bytes) {
        address += one->bytes;
        bytes -= one->bytes;
        one = mapped(driver, address);
    }
    return one && one->at == address && one->bytes == bytes;
}

enum result mapping_set_access(struct device *device, uint64_t address, uint64_t bytes,
                               enum mapping_access access)
{
    struct driver *driver = device->driver;
    pthread_mutex_lock(&driver->memory.lock);
    bool good = is_full(driver, address, bytes);
    for (uint64_t at = address; good && at < address + bytes;) {
        struct allocation *one = mapped(driver, at);
        let(device, one, access);
        at += one->bytes;
    }
    pthread_mutex_unlock(&driver->memory.lock);
    return good ? RESULT_SUCCESS : not_mapped(address, bytes);
}

enum result mapping_access(struct device *device, uint64_t address, enum mapping_access *access)
{
    pthread_mutex_lock(&device->driver->memory.lock);
    const struct allocation *found = mapped(device->driver, address);
    if (found)
        *access = access_of(device, found);
    pthread_mutex_unlock(&device->driver->memory.lock);
    return found ? RESULT_SUCCESS : not_mapped(address, 1);
}

/* ---- the end ---- */

static void leave_mappings(struct device *device)
{
    struct memory *memory = &device->driver->memory;
    for (size_t i = memory->count; i-- > 0;) {
        if (memory->table[i]->kind != MEMORY_MAPPED)
            continue;
        if (memory->table[i]->device == device)
            unmap(device->driver, memory->table[i]);
        else
            let(device, memory->table[i], MAPPING_NONE);
    }
}

void mappings_leave(struct device *device)
{
    struct memory *memory = &device->driver->memory;
    pthread_mutex_lock(&memory->lock);
    leave_mappings(device);
    for (size_t i = 0; i < memory->mappings.physical_count; i++) {
        struct mapping_physical *physical = memory->mappings.physical[i];
        if (physical && physical->facts.device == device) {
            physical->held = 0;
            end_if_unused(device->driver, physical);
        }
    }
    pthread_mutex_unlock(&memory->lock);
}

void mappings_fini(struct driver *driver)
{
    struct mappings *mappings = &driver->memory.mappings;
    for (size_t i = 0; i < mappings->reserved_count; i++)
        munmap(pointer(mappings->reserved[i].at), mappings->reserved[i].bytes);
    for (size_t i = 0; i < mappings->physical_count; i++) {
        struct mapping_physical *physical = mappings->physical[i];
        if (physical && physical->file != mappings->file)
            close(physical->file);
        mem_free(physical);
    }
    if (mappings->file >= 0)
        close(mappings->file);
    mem_free(mappings->reserved);
    mem_free(mappings->physical);
}
