#include "driver/locality.h"
#include "driver/internal.h"
#include "driver/timeline.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/exec.h"
#include "heddle.h"

#include <stdlib.h>

/* Physical memory of members for what was placed: beyond all that is interleaved or mapped. */
#define PLACED_FROM (UINT64_C(1) << 42)
#define PLACED_END  (UINT64_C(1) << 43)

/* ---- members ---- */

unsigned locality_members(const struct device *device)
{
    return system_members(&device->driver->system);
}

static enum result check_member(const struct device *device, unsigned member)
{
    unsigned count = locality_members(device);
    if (member < count)
        return RESULT_SUCCESS;
    return driver_fail(RESULT_INVALID_VALUE, "there is no member %u: device %u has %u", member, device->index,
                       count);
}

static uint64_t placed_on(const struct memory *memory, const struct device *device, unsigned member)
{
    uint64_t bytes = 0;
    for (size_t i = 0; i < memory->placed_count; i++)
        if (memory->placed[i].device == device && memory->placed[i].member == member)
            bytes += memory->placed[i].bytes;
    return bytes;
}

enum result locality_member(struct device *device, unsigned member, struct locality_member *facts)
{
    const struct gpu_spec *gpu = &device->driver->system.gpu;
    enum result result = check_member(device, member);
    if (result)
        return result;
    pthread_mutex_lock(&device->driver->memory.lock);
    *facts = (struct locality_member){.sm_count = (uint32_t)gpu->sm_count,
                                      .first_sm = member * (uint32_t)gpu->sm_count,
                                      .memory = gpu->memory,
                                      .placed = placed_on(&device->driver->memory, device, member)};
    pthread_mutex_unlock(&device->driver->memory.lock);
    return RESULT_SUCCESS;
}

/* ---- memory; with its lock held ---- */

/* The first that ends behind an address. */
static size_t first_behind(const struct memory *memory, uint64_t at)
{
    size_t low = 0, high = memory->placed_count;
    while (low < high) {
        size_t middle = (low + high) / 2;
        if (memory->placed[middle].at + memory->placed[middle].bytes <= at)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static void insert(struct memory *memory, size_t at, const struct placed_memory *one)
{
    mem_grow(memory->placed, memory->placed_count, memory->placed_capacity);
    memmove(&memory->placed[at + 1], &memory->placed[at],
            (memory->placed_count - at) * sizeof *memory->placed);
    memory->placed[at] = *one;
    memory->placed_count++;
}

static void delete (struct memory *memory, size_t at, size_t count)
{
    memory->placed_count -= count;
    memmove(&memory->placed[at], &memory->placed[at + count],
            (memory->placed_count - at) * sizeof *memory->placed);
}

/* Nothing of [at, end) is placed any more. Gives where in the list it would be. */
static size_t cut_out(struct memory *memory, uint64_t at, uint64_t end)
{
    size_t i = first_behind(memory, at), behind;
    if (i < memory->placed_count && memory->placed[i].at < at) {
        struct placed_memory *one = &memory->placed[i], rest = *one;
        uint64_t kept = at - one->at;
        one->bytes = kept;
        rest.at += kept;
        rest.place += kept;
        rest.bytes -= kept;
        insert(memory, ++i, &rest);
    }
    for (behind = i; behind < memory->placed_count; behind++) {
        struct placed_memory *one = &memory->placed[behind];
        if (one->at + one->bytes <= end)
            continue;
        uint64_t cut = one->at < end ? end - one->at : 0;
        one->at += cut;
        one->place += cut;
        one->bytes -= cut;
        break;
    }
    delete (memory, i, behind - i);
    return i;
}

static uint64_t new_place(const struct memory *memory, const struct device *device, unsigned member)
{
    uint64_t next = PLACED_FROM;
    for (size_t i = 0; i < memory->placed_count; i++) {
        const struct placed_memory *one = &memory->placed[i];
        if (one->device == device && one->member == member)
            next = max_u64(next, one->place + one->bytes);
    }
    return next;
}

static bool follows(const struct placed_memory *before, const struct placed_memory *one)
{
    return before->device == one->device && before->member == one->member &&
           before->at + before->bytes == one->at && before->place + before->bytes == one->place;
}

/* Pages go where their first byte is to go, so that ranges side by side share none. */
static uint64_t page_from(const struct device *device, uint64_t address)
{
    uint64_t page = device->driver->system.spec.interleave, base = device->arena.base;
    return base + (address - base + page - 1) / page * page;
}

static enum result place(struct device *device, uint64_t at, uint64_t end, unsigned member)
{
    struct memory *memory = &device->driver->memory;
    uint64_t most = device->driver->system.gpu.memory;
    timeline_touch(device->driver, at, end - at, MEMORY_CHANGED); /* where it was until now */
    size_t i = cut_out(memory, at, end);
    memory->ranges_changed++;
    struct placed_memory one = {.at = at,
                                .bytes = end - at,
                                .device = device,
                                .member = member,
                                .place = new_place(memory, device, member)};
    if (one.bytes > most - min_u64(most, placed_on(memory, device, member)) ||
        one.bytes > PLACED_END - min_u64(PLACED_END, one.place))
        return driver_fail(
            RESULT_OUT_OF_MEMORY,
            "%llu bytes are to be placed on member %u, whose memory has %llu, with %llu placed",
            (unsigned long long)one.bytes, member, (unsigned long long)most,
            (unsigned long long)placed_on(memory, device, member));
    if (i && follows(&memory->placed[i - 1], &one))
        memory->placed[i - 1].bytes += one.bytes;
    else
        insert(memory, i, &one);
    return RESULT_SUCCESS;
}

/* The device whose memory these bytes are; NULL: they are not, and the error is set. */
static struct device *device_of(struct driver *driver, uint64_t address, uint64_t bytes, enum result *result)
{
    const struct allocation *holder = memory_holding(driver, address);
    *result = RESULT_SUCCESS;
    if (!holder || bytes > holder->bytes - (address - holder->at))
        *result = driver_fail(RESULT_INVALID_VALUE,
                              "%llu bytes at 0x%llx are to be placed, and are not all of one allocation",
                              (unsigned long long)bytes, (unsigned long long)address);
    else if (!holder->device || holder->kind == MEMORY_MAPPED)
        *result = driver_fail(RESULT_INVALID_VALUE, "%s at 0x%llx cannot be placed",
                              holder->device ? "memory that the program mapped" : "memory of the host",
                              (unsigned long long)address);
    return *result ? NULL : holder->device;
}

enum result locality_place_memory(struct driver *driver, uint64_t address, uint64_t bytes, unsigned member)
{
    enum result result;
    pthread_mutex_lock(&driver->memory.lock);
    struct device *device = device_of(driver, address, bytes, &result);
    pthread_mutex_unlock(&driver->memory.lock);
    if (!result)
        result = check_member(device, member);
    if (!result)
        result = device_synchronize(device);
    if (result)
        return result;
    uint64_t at = page_from(device, address), end = page_from(device, address + bytes);
    if (at == end || locality_members(device) == 1)
        return RESULT_SUCCESS;
    pthread_mutex_lock(&driver->memory.lock);
    result = place(device, at, end, member);
    pthread_mutex_unlock(&driver->memory.lock);
    return result;
}

void locality_forget_memory(struct driver *driver, uint64_t address, uint64_t bytes)
{
    struct memory *memory = &driver->memory;
    size_t i = first_behind(memory, address);
    if (i == memory->placed_count || memory->placed[i].at >= address + bytes)
        return;
    const struct device *device = memory->placed[i].device;
    cut_out(memory, page_from(device, address), page_from(device, address + bytes));
    memory->ranges_changed++;
}

/* ---- blocks ---- */

struct locality_blocks {
    uint32_t count;
    struct block_place places[];
};

static _Thread_local struct locality_blocks *next_blocks;

static int by_first(const void *a, const void *b)
{
    const struct block_place *x = a, *y = b;
    return (x->first > y->first) - (x->first < y->first);
}

struct locality_blocks *locality_new_blocks(const struct block_place *places, size_t count)
{
    struct locality_blocks *blocks =
        mem_alloc(1, sizeof *blocks + count * sizeof *places); /* filled, as it is flexible */
    blocks->count = (uint32_t)count;
    memcpy(blocks->places, places, count * sizeof *places);
    return blocks;
}

enum result locality_place_blocks(const struct block_place *places, size_t count)
{
    locality_give_blocks(NULL);
    if (!count)
        return RESULT_SUCCESS;
    if (count > UINT32_MAX)
        return driver_fail(RESULT_INVALID_VALUE, "%zu ranges of blocks are too many", count);
    struct locality_blocks *blocks = locality_new_blocks(places, count);
    qsort(blocks->places, count, sizeof *places, by_first);
    for (size_t i = 0; i < count; i++) {
        const struct block_place *one = &blocks->places[i];
        bool overlaps = i && one->first < one[-1].end;
        if (one->first < one->end && !overlaps)
            continue;
        enum result result = driver_fail(RESULT_INVALID_VALUE, "blocks %llu to before %llu: %s",
                                         (unsigned long long)one->first, (unsigned long long)one->end,
                                         overlaps ? "another range has some of them" : "there are none");
        locality_free_blocks(blocks);
        return result;
    }
    locality_give_blocks(blocks);
    return RESULT_SUCCESS;
}

enum result locality_place_ranges(const struct heddle_blocks *ranges, size_t count)
{
    struct block_place *places = mem_alloc(count + 1, sizeof *places);
    for (size_t i = 0; i < count; i++)
        places[i] = (struct block_place){ranges[i].first, ranges[i].end, ranges[i].member};
    enum result result = locality_place_blocks(places, count);
    mem_free(places);
    return result;
}

struct locality_blocks *locality_take_blocks(void)
{
    struct locality_blocks *blocks = next_blocks;
    next_blocks = NULL;
    return blocks;
}

void locality_give_blocks(struct locality_blocks *blocks)
{
    mem_free(next_blocks);
    next_blocks = blocks;
}

void locality_free_blocks(struct locality_blocks *blocks)
{
    mem_free(blocks);
}

struct locality_blocks *locality_copy_blocks(const struct locality_blocks *blocks)
{
    return blocks ? locality_new_blocks(blocks->places, blocks->count) : NULL;
}

/* All blocks of a cooperative launch are resident at a time, wherever they are placed. */
static enum result check_cooperative(const struct device *device, const struct locality_blocks *blocks,
                                     uint64_t blocks_per_sm)
{
    uint64_t most = blocks_per_sm * device->driver->system.gpu.sm_count;
    for (unsigned member = 0; member < locality_members(device); member++) {
        uint64_t sum = 0;
        for (uint32_t i = 0; i < blocks->count; i++)
            if (blocks->places[i].member == member)
                sum += blocks->places[i].end - blocks->places[i].first;
        if (sum > most)
            return driver_fail(
                RESULT_COOPERATIVE_LAUNCH_TOO_LARGE,
                "%llu blocks of a cooperative launch are placed on member %u, which holds %llu of them",
                (unsigned long long)sum, member, (unsigned long long)most);
    }
    return RESULT_SUCCESS;
}

enum result locality_check_blocks(const struct device *device, const struct locality_blocks *blocks,
                                  const struct launch_config *config, uint64_t blocks_per_sm)
{
    uint64_t grid = (uint64_t)config->grid[0] * config->grid[1] * config->grid[2];
    if (blocks && blocks->count && config->cluster[0])
        return driver_fail(RESULT_NOT_SUPPORTED, "blocks of clusters cannot be placed on members");
    for (uint32_t i = 0; blocks && i < blocks->count; i++) {
        const struct block_place *one = &blocks->places[i];
        enum result result = check_member(device, one->member);
        if (result)
            return result;
        if (one->end > grid)
            return driver_fail(
                RESULT_INVALID_VALUE, "blocks %llu to before %llu are placed, and the grid has %llu",
                (unsigned long long)one->first, (unsigned long long)one->end, (unsigned long long)grid);
    }
    return blocks && config->cooperative ? check_cooperative(device, blocks, blocks_per_sm) : RESULT_SUCCESS;
}

const struct block_place *locality_places(const struct locality_blocks *blocks, uint32_t *count)
{
    *count = blocks ? blocks->count : 0;
    return blocks ? blocks->places : NULL;
}
