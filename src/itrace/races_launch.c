/* The table of the launch: which blocks use which words of a line. */
#include "base/mem.h"
#include "itrace/races_parts.h"

#include <sched.h>

/* With the shard's lock held. */
static void grow_regions(struct shard *shard)
{
    size_t capacity = shard->region_capacity ? 2 * shard->region_capacity : 16;
    struct region **grown = mem_alloc(capacity, sizeof *grown);
    for (size_t i = 0; i < shard->region_capacity; i++) {
        struct region *region = shard->regions[i];
        if (!region)
            continue;
        size_t at = hash_of(region->number) >> 16 & (capacity - 1);
        while (grown[at])
            at = (at + 1) & (capacity - 1);
        grown[at] = region;
    }
    mem_free(shard->regions);
    shard->regions = grown;
    shard->region_capacity = capacity;
}

static struct region *find_region(struct shard *shard, uint64_t number)
{
    if (2 * shard->region_count >= shard->region_capacity)
        grow_regions(shard);
    size_t at = hash_of(number) >> 16 & (shard->region_capacity - 1);
    for (; shard->regions[at]; at = (at + 1) & (shard->region_capacity - 1))
        if (shard->regions[at]->number == number)
            return shard->regions[at];
    struct region *made = mem_alloc(1, sizeof *made);
    made->number = number;
    shard->region_count++;
    return shard->regions[at] = made;
}

static struct detail *add_detail(struct shard *shard, struct line *line)
{
    mem_grow(shard->details, shard->detail_count, shard->detail_capacity);
    struct detail *detail = &shard->details[shard->detail_count++];
    line->detail = (uint32_t)shard->detail_count;
    for (uint32_t i = 0; i < 32; i++) {
        detail->reader[i] = line->reader;
        detail->writer[i] = line->writer;
    }
    return detail;
}

static void add_to_detail(uint32_t ids[32], uint32_t mask, uint32_t block, uint32_t any, uint32_t *many)
{
    EACH_LANE (i, mask & ~*many) {
        if (!(any >> i & 1))
            ids[i] = block;
        else if (ids[i] != block)
            *many |= UINT32_C(1) << i;
    }
}

static uint32_t differ_in_detail(const struct detail *detail, uint32_t mask)
{
    uint32_t differ = 0;
    EACH_LANE (i, mask)
        differ |= (uint32_t)(detail->reader[i] != detail->writer[i]) << i;
    return differ;
}

/* A user of words, where there are no details: false, if there have to be. */
static bool add_user(uint32_t *only, uint32_t *any, uint32_t *many, uint32_t mask, uint32_t block)
{
    if (!*any)
        *only = block;
    if (*only == block)
        *any |= mask;
    else if (!(mask & ~*any))
        *many |= mask;
    else
        return false;
    return true;
}

static enum races_found line_use(struct shard *shard, struct line *line, const struct masks *used,
                                 uint32_t block)
{
    struct detail *detail = line->detail ? &shard->details[line->detail - 1] : NULL;
    if (!detail && !(add_user(&line->reader, &line->read, &line->read_many, used->read, block) &&
                     add_user(&line->writer, &line->written, &line->written_many, used->written, block)))
        detail = add_detail(shard, line);
    if (detail) {
        add_to_detail(detail->reader, used->read, block, line->read, &line->read_many);
        add_to_detail(detail->writer, used->written, block, line->written, &line->written_many);
        line->read |= used->read;
        line->written |= used->written;
    }
    line->plain |= used->plain;
    uint32_t both = line->read & line->written, many = line->read_many | line->written_many;
    if (both &&
        ((both & many) || (detail ? differ_in_detail(detail, both) != 0 : line->reader != line->writer)))
        return RACES_READS;
    return line->written_many & line->plain ? RACES_WRITES : RACES_NONE;
}

static void part_line(struct shard *shard, struct line *line)
{
    mem_grow(shard->parts, shard->part_count, shard->part_capacity);
    struct line_parts *made = &shard->parts[shard->part_count++];
    for (uint32_t part = 0; part < PARTS; part++) {
        struct line *to = &made->parts[part];
        *to = (struct line){.reader = line->reader,
                            .read = part_of(line->read, part),
                            .read_many = part_of(line->read_many, part),
                            .writer = line->writer,
                            .written = part_of(line->written, part),
                            .written_many = part_of(line->written_many, part),
                            .plain = part_of(line->plain, part)};
        if (!line->detail)
            continue;
        struct detail *detail = add_detail(shard, to);
        const struct detail *whole = &shard->details[line->detail - 1];
        for (uint32_t i = 0; i < 32; i++) {
            detail->reader[i] = whole->reader[8 * part + i / 4];
            detail->writer[i] = whole->writer[8 * part + i / 4];
        }
    }
    *line = (struct line){.detail = IN_PARTS | (uint32_t)(shard->part_count - 1)};
}

/* The same where the block or the launch has the line in parts. */
static enum races_found parts_use(struct shard *shard, struct line *line, const struct used_line *used,
                                  uint32_t block)
{
    enum races_found most = RACES_NONE;
    if (used->in_parts)
        return RACES_NONE;
    if (!(line->detail & IN_PARTS))
        part_line(shard, line);
    struct line *parts = shard->parts[line->detail & ~IN_PARTS].parts;
    if (used->number & PART)
        return line_use(shard, &parts[used->number % PARTS], &used->at_all, block);
    for (uint32_t part = 0; part < PARTS; part++) {
        struct masks masks = masks_part(&used->at_all, part);
        enum races_found what = line_use(shard, &parts[part], &masks, block);
        most = what > most ? what : most;
    }
    return most;
}

static void region_expand(struct region *region)
{
    region->lines = mem_alloc(REGION_LINES, sizeof *region->lines);
    for (uint32_t i = 0; i < REGION_LINES; i++) {
        uint64_t brief = region->briefs[i];
        uint32_t block = (uint32_t)(brief >> BRIEF_BLOCK);
        region->lines[i] = (struct line){.reader = block,
                                         .read = brief & BRIEF_READ ? UINT32_MAX : 0,
                                         .read_many = brief & BRIEF_MANY ? UINT32_MAX : 0,
                                         .writer = block,
                                         .written = brief & BRIEF_WRITTEN ? UINT32_MAX : 0,
                                         .plain = brief & BRIEF_PLAIN ? UINT32_MAX : 0};
    }
}

static bool is_alike(uint32_t mask)
{
    return !mask || mask == UINT32_MAX;
}

/* Whether the line stays one of which blocks use all words alike, and no two where one writes. */
static inline bool brief_use(uint64_t *brief, const struct masks *used, uint32_t block)
{
    if (!is_alike(used->read) || !is_alike(used->written) || !is_alike(used->plain))
        return false;
    uint64_t now =
        (used->read ? BRIEF_READ : 0) | (used->written ? BRIEF_WRITTEN : 0) | (used->plain ? BRIEF_PLAIN : 0);
    if (!*brief || (*brief >> BRIEF_BLOCK == block && !(*brief & BRIEF_MANY)))
        *brief |= (uint64_t)block << BRIEF_BLOCK | now;
    else if ((*brief | now) & BRIEF_WRITTEN)
        return false;
    else
        *brief |= BRIEF_MANY;
    return true;
}

/* Lighter than a mutex: lines that a block used may each be in another shard. */
static void lock(struct shard *shard)
{
    while (atomic_exchange_explicit(&shard->locked, true, memory_order_acquire))
        sched_yield();
}

static void unlock(struct shard *shard)
{
    atomic_store_explicit(&shard->locked, false, memory_order_release);
}

/* All that the block used goes to the launch. */
void races_merge(struct races_block *own)
{
    struct races *races = own->races;
    if (races->sends) {
        races_gather(own);
        return;
    }
    struct shard *shard = NULL;
    struct region *region = NULL;
    enum races_found most = RACES_NONE;
    for (size_t i = 0; i < own->line_count; i++) {
        struct used_line *used = &own->lines[i];
        bool is_part = used->number & PART;
        uint64_t at = is_part ? (used->number & ~PART) / PARTS : used->number, number = at / REGION_LINES;
        if (!region || region->number != number) {
            struct shard *next = &races->shards[hash_of(number) >> 59];
            if (next != shard) {
                if (shard)
                    unlock(shard);
                lock(next);
                shard = next;
            }
            region = find_region(shard, number);
        }
        own->slots[used->slot] = 0;
        if (!region->lines) {
            if (LIKELY(!is_part && !used->in_parts &&
                       brief_use(&region->briefs[at % REGION_LINES], &used->at_all, own->block)))
                continue;
            region_expand(region);
        }
        struct line *line = &region->lines[at % REGION_LINES];
        enum races_found what = UNLIKELY(is_part || used->in_parts || line->detail & IN_PARTS)
                                    ? parts_use(shard, line, used, own->block)
                                    : line_use(shard, line, &used->at_all, own->block);
        most = what > most ? what : most;
    }
    if (shard)
        unlock(shard);
    own->line_count = 0;
    if (most)
        races_note(races, most);
}
