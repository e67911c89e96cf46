/* Races of a launch, from its first block to its last. */
#include "base/mem.h"
#include "itrace/races_parts.h"

#include <string.h>

void races_note(struct races *races, enum races_found what)
{
    int before = atomic_load_explicit(&races->found, memory_order_relaxed);
    while (before < (int)what && !atomic_compare_exchange_weak(&races->found, &before, (int)what))
        ;
}

/* ---- blocks ---- */

void races_forget(struct races_block *own)
{
    for (size_t i = 0; i < own->line_count; i++)
        own->slots[own->lines[i].slot] = 0;
    own->line_count = 0;
}

void races_block_begin(struct races_block *own, uint64_t number)
{
    own->block = (uint32_t)number;
    races_opened(own);
}

void races_block_end(struct races_block *own)
{
    if (atomic_load_explicit(&own->races->found, memory_order_relaxed) == RACES_READS)
        races_forget(own);
    else
        races_merge(own);
}

/* ---- on several ranks ---- */

struct told_line {
    uint64_t number; /* TOLD_FOUND: what was found, in `block` */
    uint32_t block, in_parts;
    struct masks masks;
    uint32_t unused;
};
#define TOLD_FOUND UINT64_MAX

void races_gather(struct races_block *own)
{
    struct races *races = own->races;
    pthread_mutex_lock(&races->lock);
    for (size_t i = 0; i < own->line_count; i++) {
        const struct used_line *used = &own->lines[i];
        struct told_line one = {
            .number = used->number, .block = own->block, .in_parts = used->in_parts, .masks = used->at_all};
        text_add_bytes(&races->told, (const char *)&one, sizeof one);
    }
    pthread_mutex_unlock(&races->lock);
    races_forget(own);
}

/* ---- on several ranks ---- */

void races_send(struct races *races)
{
    races->sends = true;
}

void races_tell(struct races *races, struct text *bytes)
{
    struct told_line one = {.number = TOLD_FOUND, .block = (uint32_t)races->found};
    if (races->told.length)
        text_add_bytes(bytes, races->told.at, races->told.length);
    races->told.length = 0;
    if (races->found != races->told_found)
        text_add_bytes(bytes, (const char *)&one, sizeof one);
    races->told_found = races->found;
}

bool races_take(struct races *races, const char *bytes, size_t count)
{
    struct told_line one;
    if (!races->taker)
        races->taker = races_block_new(races, 0, 0);
    struct races_block *own = races->taker;
    for (size_t at = 0; at + sizeof one <= count; at += sizeof one) {
        memcpy(&one, bytes + at, sizeof one);
        if (one.number == TOLD_FOUND) {
            races_note(races, (enum races_found)one.block);
            continue;
        }
        if (own->block != one.block)
            races_block_end(own);
        own->block = one.block;
        struct used_line *used = races_add_line(own, one.number);
        used->at_all = one.masks;
        used->in_parts = one.in_parts;
    }
    races_block_end(own);
    return count % sizeof one == 0;
}

/* ---- life ---- */

struct races_block *races_block_new(struct races *races, uint32_t warp_count, uint64_t shared_bytes)
{
    struct races_block *own = mem_alloc(1, sizeof *own);
    own->races = races;
    own->warp_count = warp_count;
    own->slot_bits = 6;
    own->slots = mem_alloc((size_t)1 << own->slot_bits, sizeof *own->slots);
    own->shared_lines = warp_count > 1 ? (shared_bytes + LINE_BYTES - 1) / LINE_BYTES : 0;
    own->shared = own->shared_lines ? mem_alloc_lines(own->shared_lines, sizeof *own->shared) : NULL;
    pthread_mutex_lock(&races->lock);
    own->made_before = races->blocks;
    races->blocks = own;
    pthread_mutex_unlock(&races->lock);
    return own;
}

struct races *races_new(void)
{
    struct races *races = mem_alloc(1, sizeof *races);
    pthread_mutex_init(&races->lock, NULL);
    return races;
}

static void free_block(struct races_block *own)
{
    mem_free(own->slots);
    mem_free(own->lines);
    mem_free(own->shared);
    mem_free(own->shared_part);
    mem_free(own->shared_in_parts);
    mem_free(own);
}

void races_free(struct races *races)
{
    if (!races)
        return;
    for (struct races_block *block = races->blocks, *next; block; block = next) {
        next = block->made_before;
        free_block(block);
    }
    for (uint32_t i = 0; i < SHARDS; i++) {
        struct shard *shard = &races->shards[i];
        for (size_t k = 0; k < shard->region_capacity; k++) {
            if (shard->regions[k])
                mem_free(shard->regions[k]->lines);
            mem_free(shard->regions[k]);
        }
        mem_free(shard->regions);
        mem_free(shard->details);
        mem_free(shard->parts);
    }
    pthread_mutex_destroy(&races->lock);
    text_fini(&races->told);
    mem_free(races);
}

enum races_found races_find(const struct races *races)
{
    return (enum races_found)races->found;
}
