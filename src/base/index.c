#include "base/index.h"
#include "base/archive.h"
#include "base/mem.h"

void index_fini(struct index *index)
{
    mem_free(index->keys);
    mem_free(index->slots);
    *index = (struct index){0};
}

static size_t slot_of(const struct index *index, uint64_t key)
{
    return (size_t)((key ^ key >> 29) * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (index->slot_count - 1);
}

uint32_t index_find(const struct index *index, uint64_t key)
{
    if (!index->slot_count)
        return INDEX_NONE;
    for (size_t slot = slot_of(index, key); index->slots[slot]; slot = (slot + 1) & (index->slot_count - 1))
        if (index->keys[index->slots[slot] - 1] == key)
            return index->slots[slot] - 1;
    return INDEX_NONE;
}

static void enter(struct index *index, uint32_t number)
{
    size_t slot = slot_of(index, index->keys[number]);
    while (index->slots[slot])
        slot = (slot + 1) & (index->slot_count - 1);
    index->slots[slot] = number + 1;
}

/* At most half of the slots are taken. */
static void rehash(struct index *index)
{
    mem_free(index->slots);
    index->slot_count = index->slot_count ? 2 * index->slot_count : 64;
    while (index->slot_count < 2 * index->count)
        index->slot_count *= 2;
    index->slots = mem_alloc(index->slot_count, sizeof *index->slots);
    for (size_t i = 0; i < index->count; i++)
        enter(index, (uint32_t)i);
}

uint32_t index_add(struct index *index, uint64_t key)
{
    mem_grow(index->keys, index->count, index->capacity);
    index->keys[index->count] = key;
    uint32_t number = (uint32_t)index->count++;
    if (2 * index->count > index->slot_count)
        rehash(index);
    else
        enter(index, number);
    return number;
}

void index_archive(struct index *index, struct archive *archive)
{
    if (archive->reading)
        index_fini(index);
    ARCHIVE_LIST(archive, index->keys, index->count, index->capacity);
    if (archive->reading && archive->good && index->count)
        rehash(index);
}
