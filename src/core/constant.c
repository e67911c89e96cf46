/* Loads from constant memory: through the SM's constant caches, which hold the bytes, and from L2 and memory
 * where these have none. Kernels do not write what is read here, so nothing is ever stale; when the host or a
 * copy does, all of it is forgotten (sm_forget_data). */
#include "core/l1.h"
#include "core/coalesce.h"

#include <string.h>

/* What is looked up at once: a line of the nearest cache. */
enum { CHUNK = CONSTANT_LINE, CHUNK_SECTORS = CHUNK / MEM_SECTOR };

static uint32_t sector_of(const struct cache *cache, uint64_t at)
{
    return (uint32_t)(at & (cache->spec.line_bytes - 1)) / MEM_SECTOR;
}

/* The nearest level that has the chunk with this tag (mem/space.h); those before it have a place for it from
 * now on. levels->count: none has. */
static uint32_t look(const struct fetch_levels *levels, uint64_t at)
{
    uint32_t i = 0;
    for (; i < levels->count; i++) {
        struct cache *cache = levels->at[i].caches;
        uint64_t line = cache_line(cache, at);
        uint32_t sectors = ((1u << CHUNK_SECTORS) - 1) << sector_of(cache, at);
        if (cache_touch_or_place(cache, line) && !cache_missing(cache, cache_find(cache, line), sectors))
            break;
    }
    return i;
}

/* A sector comes to the first `count` levels that have a place for it. */
static void keep(const struct fetch_levels *levels, uint32_t count, uint64_t at, const unsigned char *bytes)
{
    for (uint32_t i = 0; i < count; i++) {
        struct cache *cache = levels->at[i].caches;
        uint32_t slot = cache_find(cache, cache_line(cache, at));
        if (slot != TAGS_NONE)
            cache_write(cache, slot, sector_of(cache, at), cache->whole, bytes, CACHE_ALLOCATE);
    }
}

/* Some level has the chunk. */
static void hit(struct sm *sm, const struct load *load, uint64_t at, uint32_t level)
{
    const struct cache *cache = sm->constants.at[level].caches;
    uint32_t slot = cache_find(cache, cache_line(cache, at));
    const unsigned char *bytes = cache_data(cache, slot) + (size_t)sector_of(cache, at) * MEM_SECTOR;
    unsigned char line[MEM_LINE_MOST];
    uint32_t first = l1_sectors_before(sm, at);
    memcpy(line + (size_t)first * MEM_SECTOR, bytes, CHUNK);
    for (uint32_t s = 0; s < CHUNK_SECTORS; s++)
        keep(&sm->constants, level, at + (uint64_t)s * MEM_SECTOR, bytes + (size_t)s * MEM_SECTOR);
    load_deliver(sm, load, at - first * MEM_SECTOR, ((1u << CHUNK_SECTORS) - 1) << first, line);
}

/* The load waits for the line of the last level that the chunk is in, which comes as a whole. False: it
 * cannot. */
static bool wait_for_line(struct sm *sm, struct load *load, uint64_t at, uint64_t cycle)
{
    if (!sm->constants.count)
        return false;
    struct cache *cache = sm->constants.at[sm->constants.count - 1].caches;
    uint64_t line = cache_line(cache, at), from = line << cache->line_shift;
    uint32_t slot = cache_find(cache, line), entry = cache_miss(cache, line);
    if (entry == MSHR_NONE && slot != TAGS_NONE) {
        entry = cache_begin(cache, line, slot, false);
        if (UNLIKELY(sm->siblings) && entry != MSHR_NONE)
            sm->constants_asked[entry] = sm_time(sm, sm->cycle);
    }
    if (entry == MSHR_NONE || !cache_is_current(cache, cache_miss_at(cache, entry)))
        return false;
    uint32_t more = cache_ask(cache, entry, cache_missing(cache, slot, (1u << cache->sectors) - 1));
    uint32_t before = l1_sectors_before(sm, from), of_line = sm->memory_line / MEM_SECTOR;
    for (uint64_t rest = (uint64_t)more << before, to = from - before * MEM_SECTOR; rest;
         rest >>= of_line, to += sm->memory_line) {
        uint8_t sectors = rest & ((1u << of_line) - 1);
        if (sectors)
            l1_ask(sm, &load->warp->kernel->counters, to, sectors, TO_CONSTANT | entry, cycle);
    }
    return cache_wait(cache, entry, (uint32_t)(load - sm->loads));
}

static void miss(struct sm *sm, struct load *load, uint64_t at, uint64_t cycle)
{
    load->lines_left++;
    if (!wait_for_line(sm, load, at, cycle))
        l1_ask(sm, &load->warp->kernel->counters, at, (1u << CHUNK_SECTORS) - 1,
               TO_LOAD | (uint32_t)(load - sm->loads), cycle);
}

/* How much later it comes, if some level has it. */
static uint32_t load_chunk(struct sm *sm, struct load *load, uint64_t chunk, uint64_t cycle)
{
    uint64_t at = l1_tag(sm, chunk * CHUNK);
    uint32_t level = look(&sm->constants, at);
    bool is_there = level < sm->constants.count;
    uint32_t latency = is_there ? sm->constants.at[level].latency : 0;
    load->warp->kernel->counters.const_misses += latency > 0 || !is_there;
    if (is_there)
        hit(sm, load, at, level);
    else
        miss(sm, load, at, cycle);
    return latency;
}

/* The bytes of some lanes go on in another sector, which may be of another chunk. */
static uint32_t load_spanning(struct sm *sm, struct load *load, uint64_t cycle)
{
    uint64_t most = 0;
    const struct delivery *of = &load->of;
    EACH_LANE (i, of->lanes) {
        lane_mask before = of->lanes & ((UINT64_C(1) << i) - 1);
        uint64_t chunk = of->at[i] / CHUNK, last = (of->at[i] + of->bytes - 1u) / CHUNK;
        for (; chunk <= last; chunk++)
            if (!coalesce_some_touch(of, before, chunk, CHUNK))
                most = max_u64(most, load_chunk(sm, load, chunk, cycle));
    }
    return (uint32_t)most;
}

uint32_t constant_load(struct sm *sm, struct load *load, uint64_t cycle)
{
    uint64_t most = 0;
    const struct delivery *of = &load->of;
    if (UNLIKELY(of->stage_bytes))
        return load_spanning(sm, load, cycle);
    for (lane_mask rest = of->lanes; rest;) {
        uint64_t chunk = of->at[first_lane(rest)] / CHUNK;
        EACH_LANE (i, rest)
            if (of->at[i] / CHUNK == chunk)
                rest &= ~(UINT64_C(1) << i);
        most = max_u64(most, load_chunk(sm, load, chunk, cycle));
    }
    return (uint32_t)most;
}

void constant_came(struct sm *sm, const struct memsys_reply *reply, const unsigned char *data)
{
    struct cache *cache = sm->constants.at[sm->constants.count - 1].caches;
    uint32_t entry = reply->id & TO_MASK, came = 0;
    const struct mshr_entry *miss = cache_miss_at(cache, entry);
    bool is_current = cache_is_current(cache, miss);
    uint64_t of = miss->line << cache->line_shift, from = of - tag_physical(of) + reply->line; /* the tag */
    unsigned char line[MEM_LINE_MOST];
    cache_unpack(&sm->l1, data, reply->sectors, line);
    for (uint32_t left = reply->sectors; left; left &= left - 1) {
        uint32_t at = (uint32_t)__builtin_ctz(left) * MEM_SECTOR;
        came |= 1u << sector_of(cache, from + at);
        if (is_current)
            keep(&sm->constants, sm->constants.count, from + at, line + at);
    }
    if (UNLIKELY(sm->siblings) && is_current)
        siblings_tell_constants(sm, from, reply->sectors, data, sm->constants_asked[entry]);
    cache_came(cache, entry, came);
    for (uint32_t w = miss->first; w != MSHR_NONE; w = mshr_waiter(cache->misses, w)->next)
        load_deliver(sm, &sm->loads[mshr_waiter(cache->misses, w)->who], from, reply->sectors, line);
    if (!miss->pending)
        loads_end_miss(sm, cache, entry,
                       sm->cycle + sm->config.spec->l1_fill_cycles + sm->cost[UNIT_CONST].latency);
}

/* What is there already stays: it may be newer. */
static void place_sector(struct cache *cache, uint64_t at, const unsigned char *bytes)
{
    cache_touch_or_place(cache, cache_line(cache, at));
    uint32_t slot = cache_find(cache, cache_line(cache, at)), sector = sector_of(cache, at);
    if (slot != TAGS_NONE && cache_missing(cache, slot, 1u << sector))
        cache_write(cache, slot, sector, cache->whole, bytes, CACHE_ALLOCATE);
}

void constant_place(struct sm *sm, uint64_t from, uint32_t sectors, const unsigned char *line)
{
    for (uint32_t i = 0; i < sm->constants.count; i++)
        for (uint32_t left = sectors; left; left &= left - 1) {
            uint32_t at = (uint32_t)__builtin_ctz(left) * MEM_SECTOR;
            place_sector(sm->constants.at[i].caches, from + at, line + at);
        }
}
