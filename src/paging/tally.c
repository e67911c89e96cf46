#include "paging/tally.h"
#include "base/archive.h"
#include "base/mem.h"

enum { GPU_SHIFT = 58 }; /* of a key: regions are numbered below */

void tally_init(struct tally *tally, uint32_t region_shift, uint32_t threshold)
{
    *tally = (struct tally){.shift = region_shift, .threshold = threshold};
}

void tally_fini(struct tally *tally)
{
    index_fini(&tally->regions);
    mem_free(tally->list);
}

static uint64_t key_of(const struct tally *tally, uint32_t gpu, uint64_t at)
{
    return (uint64_t)gpu << GPU_SHIFT | at >> tally->shift;
}

static struct tally_count *find(const struct tally *tally, uint32_t gpu, uint64_t at)
{
    uint32_t number = index_find(&tally->regions, key_of(tally, gpu, at));
    return number == INDEX_NONE ? NULL : &tally->list[number];
}

static struct tally_count *find_or_add(struct tally *tally, uint32_t gpu, uint64_t at)
{
    struct tally_count *counter = find(tally, gpu, at);
    if (counter)
        return counter;
    size_t number = index_add(&tally->regions, key_of(tally, gpu, at));
    mem_grow(tally->list, number, tally->capacity);
    tally->list[number] = (struct tally_count){0};
    return &tally->list[number];
}

bool tally_add(struct tally *tally, uint32_t gpu, uint64_t at)
{
    struct tally_count *counter = find_or_add(tally, gpu, at);
    counter->parts |= UINT32_C(1) << (at - tally_region(tally, at)) / tally_part_bytes(tally);
    if (counter->count == tally->threshold)
        return false; /* the driver knows */
    return ++counter->count == tally->threshold;
}

uint32_t tally_parts(const struct tally *tally, uint32_t gpu, uint64_t at)
{
    const struct tally_count *counter = find(tally, gpu, at);
    return counter ? counter->parts : 0;
}

void tally_clear(struct tally *tally, uint32_t gpu, uint64_t at)
{
    struct tally_count *counter = find(tally, gpu, at);
    if (counter)
        *counter = (struct tally_count){0};
}

void tally_archive(struct tally *tally, struct archive *archive)
{
    archive_expect(archive, tally->shift);
    archive_expect(archive, tally->threshold);
    index_archive(&tally->regions, archive);
    if (archive->reading && archive->good) {
        mem_free(tally->list);
        tally->capacity = tally->regions.count + 1;
        tally->list = mem_alloc(tally->capacity, sizeof *tally->list);
    }
    archive_bytes(archive, tally->list, tally->regions.count * sizeof *tally->list);
}
