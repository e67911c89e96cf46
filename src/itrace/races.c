#include "itrace/races.h"
#include "base/bits.h"
#include "base/mem.h"
#include "exec/atomics.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>

enum {
    LINE_BYTES = 128,
    PARTS =
        4, /* of a line whose bytes are looked at one by one: a bit of a mask is a byte there, not a word */
    REGION_LINES = 64, /* lines that are found together in the launch's table */
    SHARDS = 32,       /* of that table, each with a lock */
    WARP_BITS = 5,
    LINES_MOST = 4096, /* of a running block; then they go to the launch, and warps are looked at anew */
};

enum use {
    USE_READS = 1,
    USE_WRITES = 2,
    USE_PLAIN = 4
}; /* plain: not by an atomic operation that commutes */

#define PART (UINT64_C(1) << 63) /* in the number of a line: it is one of those parts */

/* Words of a line as bytes of one of its parts. */
static uint32_t part_of(uint32_t mask, uint32_t part)
{
    uint32_t x = mask >> 8 * part & 0xff;
    x = (x | x << 12) & 0x000f000f;
    x = (x | x << 6) & 0x03030303;
    x = (x | x << 3) & 0x11111111;
    return 15 * x;
}

/* ---- words of a line, by warp ---- */

/* Which warps used the words of a line: a bit for each word. */
struct users {
    uint32_t any, many;     /* at least one; at least two */
    uint32_t id[WARP_BITS]; /* of the only one: the bits of its number, the lowest first */
};

struct words {
    uint32_t epoch; /* barriers that had opened; another one: all that follows is 0 */
    uint32_t plain; /* of those written */
    struct users readers, writers;
};

static inline void users_add(struct users *users, uint32_t mask, uint32_t warp)
{
    uint32_t new = mask & ~users->any;
    if (!(mask & ~users->many))
        return;
    if (new != mask) { /* some words have users: is it this one? */
        uint32_t differ = 0;
        for (uint32_t b = 0; b < WARP_BITS; b++)
            differ |= users->id[b] ^ (0 - (warp >> b & 1));
        users->many |= mask & users->any & differ;
    }
    if (!new)
        return;
    for (uint32_t b = 0; b < WARP_BITS; b++)
        users->id[b] = (users->id[b] & ~new) | (new &(0 - (warp >> b & 1)));
    users->any |= new;
}

static inline uint32_t users_differ(const struct users *a, const struct users *b)
{
    uint32_t differ = a->many | b->many;
    for (uint32_t i = 0; i < WARP_BITS; i++)
        differ |= a->id[i] ^ b->id[i];
    return a->any & b->any & differ;
}

static void users_part(struct users *to, const struct users *from, uint32_t part)
{
    to->any = part_of(from->any, part);
    to->many = part_of(from->many, part);
    for (uint32_t b = 0; b < WARP_BITS; b++)
        to->id[b] = part_of(from->id[b], part);
}

static void words_part(struct words *to, const struct words *from, uint32_t part)
{
    to->epoch = from->epoch;
    to->plain = part_of(from->plain, part);
    users_part(&to->readers, &from->readers, part);
    users_part(&to->writers, &from->writers, part);
}

static inline enum races_found words_use(struct words *words, uint32_t epoch, uint32_t mask, uint32_t warp,
                                         uint32_t use)
{
    if (words->epoch != epoch)
        *words = (struct words){.epoch = epoch};
    if (use & USE_READS)
        users_add(&words->readers, mask, warp);
    if (use & USE_WRITES)
        users_add(&words->writers, mask, warp);
    if (use & USE_PLAIN)
        words->plain |= mask;
    if (LIKELY(!(words->writers.any & mask)))
        return RACES_NONE;
    if (UNLIKELY(users_differ(&words->readers, &words->writers) & mask))
        return RACES_READS;
    return UNLIKELY(words->writers.many & words->plain & mask) ? RACES_WRITES : RACES_NONE;
}

/* ---- lines of the launch, by block ---- */

struct line { /* a bit for each word */
    uint32_t reader, read, read_many;
    uint32_t writer, written, written_many, plain;
    uint32_t detail; /* 0: `reader` and `writer` are the only ones; else theirs by word, from 1 on */
};
#define IN_PARTS (UINT32_C(1) << 31) /* in `detail`: where the line's parts are, which say all */

struct detail {
    uint32_t reader[32], writer[32]; /* of words that are read, written by one alone */
};

struct line_parts {
    struct line parts[PARTS];
};

/* A line of which blocks use all words alike. Most are, so a region has these until one is not. */
enum brief {
    BRIEF_READ = 1,
    BRIEF_MANY = 2, /* by several blocks */
    BRIEF_WRITTEN = 4,
    BRIEF_PLAIN = 8,
    BRIEF_BLOCK = 32 /* from this bit on: the only block, or the first reader */
};

struct region {
    uint64_t number;
    struct line *lines; /* or NULL: all is in `briefs` */
    uint64_t briefs[REGION_LINES];
};

struct shard {
    _Atomic bool locked;     /* for a few lines at a time */
    struct region **regions; /* by hash; NULL: none */
    size_t region_count, region_capacity;
    struct detail *details;
    size_t detail_count, detail_capacity;
    struct line_parts *parts;
    size_t part_count, part_capacity;
};

struct races {
    _Atomic int found;    /* enum races_found */
    pthread_mutex_t lock; /* of the list, and of `told` */
    struct races_block *blocks;
    bool sends;                /* blocks go to another rank: */
    struct text told;          /* struct told_line */
    int told_found;            /* and what was found that was told */
    struct races_block *taker; /* of blocks of other ranks */
    struct shard shards[SHARDS];
};

/* ---- running blocks ---- */

struct masks {
    uint32_t read, written, plain;
};

struct used_line {
    uint64_t number;
    uint32_t slot; /* of the table */
    bool in_parts; /* which say all */
    struct masks at_all;
    struct words now;
};

struct races_block {
    struct races *races;
    struct races_block *made_before;
    uint32_t block, warp_count;
    uint32_t epoch;  /* goes on from block to block */
    uint32_t *slots; /* by hash: a line's place in the list, from 1 on */
    uint32_t slot_bits;
    struct used_line *lines;
    size_t line_count, line_capacity;
    struct words *shared;      /* by line of shared memory */
    struct words *shared_part; /* by part; NULL: no line is in parts */
    bool *shared_in_parts;
    uint64_t shared_lines;
};

static void found(struct races *races, enum races_found what)
{
    int before = atomic_load_explicit(&races->found, memory_order_relaxed);
    while (before < (int)what && !atomic_compare_exchange_weak(&races->found, &before, (int)what))
        ;
}

static uint64_t hash_of(uint64_t number)
{
    return number * UINT64_C(0x9e3779b97f4a7c15);
}

/* ---- into the launch's table ---- */

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

static struct masks masks_part(const struct masks *of, uint32_t part)
{
    return (struct masks){part_of(of->read, part), part_of(of->written, part), part_of(of->plain, part)};
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

static void forget(struct races_block *own)
{
    for (size_t i = 0; i < own->line_count; i++)
        own->slots[own->lines[i].slot] = 0;
    own->line_count = 0;
}

struct told_line {
    uint64_t number; /* TOLD_FOUND: what was found, in `block` */
    uint32_t block, in_parts;
    struct masks masks;
    uint32_t unused;
};
#define TOLD_FOUND UINT64_MAX

static void send(struct races_block *own)
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
    forget(own);
}

/* All that the block used goes to the launch. */
static void merge(struct races_block *own)
{
    struct races *races = own->races;
    if (races->sends) {
        send(own);
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
        found(races, most);
}

/* ---- a running block ---- */

static uint32_t free_slot(const struct races_block *own, uint64_t number)
{
    uint32_t slot = (uint32_t)(hash_of(number) >> (64 - own->slot_bits));
    while (own->slots[slot])
        slot = (slot + 1) & ((1u << own->slot_bits) - 1);
    return slot;
}

static void grow_slots(struct races_block *own)
{
    mem_free(own->slots);
    own->slot_bits++;
    own->slots = mem_alloc((size_t)1 << own->slot_bits, sizeof *own->slots);
    for (size_t i = 0; i < own->line_count; i++) {
        struct used_line *used = &own->lines[i];
        used->slot = free_slot(own, used->number);
        own->slots[used->slot] = (uint32_t)i + 1;
    }
}

static struct used_line *add_line(struct races_block *own, uint64_t number)
{
    if (own->line_count == LINES_MOST)
        merge(own);
    if (2 * own->line_count >= (size_t)1 << own->slot_bits)
        grow_slots(own);
    mem_grow(own->lines, own->line_count, own->line_capacity);
    struct used_line *made = &own->lines[own->line_count++];
    *made = (struct used_line){.number = number, .slot = free_slot(own, number)};
    own->slots[made->slot] = (uint32_t)own->line_count;
    return made;
}

static inline struct used_line *find_line(struct races_block *own, uint64_t number)
{
    uint32_t slot = (uint32_t)(hash_of(number) >> (64 - own->slot_bits));
    for (uint32_t place; (place = own->slots[slot]) != 0; slot = (slot + 1) & ((1u << own->slot_bits) - 1))
        if (own->lines[place - 1].number == number)
            return &own->lines[place - 1];
    return add_line(own, number);
}

/* What one warp uses, and how. */
struct user {
    struct races_block *own;
    uint32_t warp, use;
    enum races_found most;
};

static void saw(struct user *user, enum races_found what)
{
    user->most = what > user->most ? what : user->most;
}

static inline void use_line(struct user *user, struct used_line *line, uint32_t mask)
{
    const struct races_block *own = user->own;
    line->at_all.read |= user->use & USE_READS ? mask : 0;
    line->at_all.written |= user->use & USE_WRITES ? mask : 0;
    line->at_all.plain |= user->use & USE_PLAIN ? mask : 0;
    if (own->warp_count > 1)
        saw(user, words_use(&line->now, own->epoch, mask, user->warp, user->use));
}

/* Words of a line whose parts are in the table. */
static void use_parts(struct user *user, uint64_t number, uint32_t mask)
{
    for (uint32_t part = 0; part < PARTS; part++)
        if (part_of(mask, part))
            use_line(user, find_line(user->own, PART | (PARTS * number + part)), part_of(mask, part));
}

/* Words of a line. */
static inline void use_global(struct user *user, uint64_t number, uint32_t mask)
{
    struct used_line *line = find_line(user->own, number);
    if (UNLIKELY(line->in_parts))
        use_parts(user, number, mask);
    else
        use_line(user, line, mask);
}

/* Bytes of a part. */
static void use_global_bytes(struct user *user, uint64_t number, uint32_t mask)
{
    struct races_block *own = user->own;
    if (own->line_count + 1 + PARTS > LINES_MOST) /* a line and its parts come and go together */
        merge(own);
    struct used_line *line = find_line(own, number / PARTS);
    if (!line->in_parts) {
        struct used_line whole = *line;
        line->in_parts = true;
        line->at_all = (struct masks){0};
        for (uint32_t part = 0; part < PARTS; part++) {
            struct used_line *made = find_line(own, PART | (number / PARTS * PARTS + part));
            made->at_all = masks_part(&whole.at_all, part);
            words_part(&made->now, &whole.now, part);
        }
    }
    use_line(user, find_line(own, PART | number), mask);
}

static inline void use_shared(struct user *user, uint64_t number, uint32_t mask)
{
    struct races_block *own = user->own;
    if (UNLIKELY(number >= own->shared_lines))
        return;
    if (LIKELY(!own->shared_part || !own->shared_in_parts[number])) {
        saw(user, words_use(&own->shared[number], own->epoch, mask, user->warp, user->use));
        return;
    }
    for (uint32_t part = 0; part < PARTS; part++)
        if (part_of(mask, part))
            saw(user, words_use(&own->shared_part[PARTS * number + part], own->epoch, part_of(mask, part),
                                user->warp, user->use));
}

static void use_shared_bytes(struct user *user, uint64_t number, uint32_t mask)
{
    struct races_block *own = user->own;
    uint64_t line = number / PARTS;
    if (UNLIKELY(line >= own->shared_lines))
        return;
    if (!own->shared_part) {
        own->shared_part = mem_alloc_lines(PARTS * own->shared_lines, sizeof *own->shared_part);
        own->shared_in_parts = mem_alloc(own->shared_lines, sizeof *own->shared_in_parts);
    }
    for (uint32_t part = 0; part < PARTS && !own->shared_in_parts[line]; part++)
        words_part(&own->shared_part[PARTS * line + part], &own->shared[line], part);
    own->shared_in_parts[line] = true;
    saw(user, words_use(&own->shared_part[number], own->epoch, mask, user->warp, user->use));
}

/* How a user uses words of a line, or bytes of a part. */
typedef void use_mask(struct user *user, uint64_t number, uint32_t mask);

static inline void use_units(struct user *user, uint64_t first, uint64_t end, use_mask *use)
{
    while (first < end) {
        uint64_t low = first % 32, count = min_u64(end - first, 32 - low);
        use(user, first / 32, (uint32_t)(((UINT64_C(1) << count) - 1) << low));
        first += count;
    }
}

/* Any bytes from one address on. */
static inline void use_range(struct user *user, uint64_t at, uint64_t bytes, use_mask *words, use_mask *parts)
{
    if (LIKELY(!((at | bytes) % 4)))
        use_units(user, at / 4, (at + bytes) / 4, words);
    else
        use_units(user, at, at + bytes, parts);
}

/* Words of lines near each other, such as those of a table: each line is used once. */
struct window {
    uint64_t first; /* line */
    uint32_t used;  /* a bit for each of the 32 */
    uint32_t masks[32];
};

static inline void window_add(struct window *window, struct user *user, uint64_t line, uint32_t mask,
                              use_mask *use)
{
    uint64_t place = line - window->first;
    if (UNLIKELY(place >= 32)) {
        use(user, line, mask);
        return;
    }
    uint32_t bit = UINT32_C(1) << place;
    window->masks[place] = (window->used & bit ? window->masks[place] : 0) | mask;
    window->used |= bit;
}

static inline void window_use(const struct window *window, struct user *user, use_mask *use)
{
    EACH_LANE (i, window->used)
        use(user, window->first + i, window->masks[i]);
}

/* The same number of bytes for each lane. Lanes that follow each other mostly use the same line. */
#define USE_LANES(user, at, lanes, bytes, use, use_bytes)                                                    \
    do {                                                                                                     \
        uint64_t line = UINT64_MAX, ones = (UINT64_C(1) << (bytes) / 4) - 1;                                 \
        uint64_t near = (at)[first_lane(lanes)] / LINE_BYTES;                                                \
        struct window window = {.first = near > 16 ? near - 16 : 0};                                         \
        uint32_t mask = 0;                                                                                   \
        EACH_LANE (i, lanes) {                                                                               \
            uint64_t word = (at)[i] / 4, bits = ones << word % 32;                                           \
            if (UNLIKELY(((at)[i] | (bytes)) % 4)) {                                                         \
                use_units(user, (at)[i], (at)[i] + (bytes), use_bytes);                                      \
                continue;                                                                                    \
            }                                                                                                \
            if (word / 32 != line) {                                                                         \
                if (mask)                                                                                    \
                    window_add(&window, user, line, mask, use);                                              \
                line = word / 32;                                                                            \
                mask = 0;                                                                                    \
            }                                                                                                \
            mask |= (uint32_t)bits;                                                                          \
            if (UNLIKELY(bits >> 32))                                                                        \
                window_add(&window, user, line + 1, (uint32_t)(bits >> 32), use);                            \
        }                                                                                                    \
        if (mask)                                                                                            \
            window_add(&window, user, line, mask, use);                                                      \
        window_use(&window, user, use);                                                                      \
    } while (0)

/* Whether 32 lanes use bytes that follow each other. */
FOR_EACH_HOST static bool are_dense(const uint64_t at[32], uint64_t bytes)
{
    uint64_t differ = 0;
    for (uint32_t i = 0; i < 32; i++)
        differ |= at[i] ^ (at[0] + bytes * i);
    return !differ;
}

/* The same in shared memory. */
FOR_EACH_HOST static bool are_dense_shared(const uint32_t at[32], uint32_t bytes)
{
    uint32_t differ = 0;
    for (uint32_t i = 0; i < 32; i++)
        differ |= at[i] ^ (at[0] + bytes * i);
    return !differ;
}

/* The words of 32 lanes, if they are all in one line of shared memory; else 0. A lane has 4, 8 or 16 bytes,
 * and is aligned to these. */
FOR_EACH_HOST static uint32_t words_of_line(const uint32_t at[32], uint32_t bytes)
{
    uint32_t differ = 0, low = 0, mask = 0, ones = (UINT32_C(1) << bytes / 4) - 1;
    for (uint32_t i = 0; i < 32; i++) {
        differ |= at[i] ^ at[0];
        low |= at[i];
        mask |= ones << (at[i] / 4 % 32);
    }
    return differ < LINE_BYTES && !(low & (bytes - 1)) ? mask : 0;
}

static void use_global_lanes(struct user *user, const uint64_t at[], lane_mask lanes, uint64_t bytes,
                             uint32_t layout)
{
    if (layout == LAYOUT_SAME)
        use_range(user, at[0], bytes, use_global, use_global_bytes);
    else if (layout == LAYOUT_DENSE || (lanes == UINT32_MAX && are_dense(at, bytes)))
        use_range(user, at[0], isa_count_lanes(lanes) * bytes, use_global, use_global_bytes);
    else
        USE_LANES(user, at, lanes, bytes, use_global, use_global_bytes);
}

static void use_shared_lanes(struct user *user, const uint32_t at[], lane_mask lanes, uint32_t bytes,
                             uint32_t layout)
{
    if (LIKELY(layout)) {
        use_range(user, at[0], layout == LAYOUT_SAME ? bytes : isa_count_lanes(lanes) * bytes, use_shared,
                  use_shared_bytes);
        return;
    }
    bool even = bytes == 4 || bytes == 8 || bytes == 16;
    uint32_t words = lanes == UINT32_MAX && even ? words_of_line(at, bytes) : 0;
    if (LIKELY(words))
        use_shared(user, at[0] / LINE_BYTES, words);
    else if (lanes == UINT32_MAX && are_dense_shared(at, bytes))
        use_range(user, at[0], UINT64_C(32) * bytes, use_shared, use_shared_bytes);
    else
        USE_LANES(user, at, lanes, bytes, use_shared, use_shared_bytes);
}

static void see_shared(struct user *user, const struct request *request)
{
    static const uint8_t uses[] = {[SHARED_READ] = USE_READS,
                                   [SHARED_WRITE] = USE_WRITES | USE_PLAIN,
                                   [SHARED_COMMUTES] = USE_WRITES,
                                   [SHARED_CHANGE] = USE_READS | USE_WRITES | USE_PLAIN,
                                   [SHARED_SYNC] = 0};
    uint32_t bytes = request->shared_bytes;
    user->use = uses[request->shared_use];
    if (request->shared_use == SHARED_SYNC) {
        races_opened(user->own);
        return;
    }
    if (LIKELY(!request->shared_gap)) {
        use_shared_lanes(user, request->shared_at, request->shared, bytes, request->shared_layout);
        return;
    }
    uint32_t second[ISA_LANES];
    EACH_LANE (i, request->shared)
        second[i] = request->shared_at[i] + request->shared_gap;
    use_shared_lanes(user, request->shared_at, request->shared, bytes / 2, LAYOUT_UNKNOWN);
    use_shared_lanes(user, second, request->shared, bytes / 2, LAYOUT_UNKNOWN);
}

static void see_global(struct user *user, const struct request *request)
{
    const struct delivery *of = &request->of;
    switch ((enum request_kind)of->kind) {
    case REQUEST_NONE:
    case REQUEST_CONSTANT:
        return;
    case REQUEST_LOAD:
        user->use = USE_READS;
        break;
    case REQUEST_STORE:
        user->use = USE_WRITES | USE_PLAIN;
        break;
    case REQUEST_ATOMIC:
        user->use = of->returns                           ? USE_READS | USE_WRITES | USE_PLAIN
                    : atomic_rows[of->operation].commutes ? USE_WRITES
                                                          : USE_WRITES | USE_PLAIN;
        break;
    case REQUEST_PIECES:
        user->use = request->writes ? USE_WRITES | USE_PLAIN : USE_READS;
        for (size_t i = 0; i < request->piece_count; i++)
            use_range(user, request->pieces[i].at, request->pieces[i].bytes, use_global, use_global_bytes);
        return;
    }
    use_global_lanes(user, of->at, of->lanes, of->bytes, of->layout);
}

void races_use(struct races_block *own, uint32_t warp, const struct request *request)
{
    if (UNLIKELY(atomic_load_explicit(&own->races->found, memory_order_relaxed) == RACES_READS))
        return; /* there is nothing worse to be found */
    struct user user = {.own = own, .warp = warp};
    if (request->shared && own->warp_count > 1)
        see_shared(&user, request);
    if (request->of.kind)
        see_global(&user, request);
    if (UNLIKELY(user.most))
        found(own->races, user.most);
}

void races_opened(struct races_block *own)
{
    if (UNLIKELY(!++own->epoch)) { /* no state is as old as the epoch that follows */
        own->epoch = 1;
        for (uint64_t i = 0; i < own->shared_lines; i++)
            own->shared[i].epoch = 0;
        for (uint64_t i = 0; own->shared_part && i < PARTS * own->shared_lines; i++)
            own->shared_part[i].epoch = 0;
        for (size_t i = 0; i < own->line_count; i++)
            own->lines[i].now.epoch = 0;
    }
}

void races_block_begin(struct races_block *own, uint64_t number)
{
    own->block = (uint32_t)number;
    races_opened(own);
}

void races_block_end(struct races_block *own)
{
    if (atomic_load_explicit(&own->races->found, memory_order_relaxed) == RACES_READS)
        forget(own);
    else
        merge(own);
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
            found(races, (enum races_found)one.block);
            continue;
        }
        if (own->block != one.block)
            races_block_end(own);
        own->block = one.block;
        struct used_line *used = add_line(own, one.number);
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
