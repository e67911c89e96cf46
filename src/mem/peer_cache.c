#include "mem/peer_cache.h"
#include "base/address.h"
#include "base/archive.h"
#include "base/mem.h"
#include "mem/cache.h"
#include "mem/left_out.h"

enum {
    MISSES = 4096,
    WAITERS = 16384,
    OFFSET_BITS = 44
}; /* the homes' numbers follow; tags have room for both */

struct peer_cache {
    struct cache cache;
    struct peer_cache_spec spec;
    struct peer_reader *askers;  /* by miss: whose request is on its way */
    struct peer_reader *waiters; /* by their number among the misses' waiters */
    uint32_t *free_waiters;
    struct peer_cache_state {
        uint64_t free_at; /* of the data path, with what is left of a picosecond: */
        uint64_t fs;
        uint32_t free_count, unused;
    } state;
};

struct peer_cache *peer_cache_new(const struct peer_cache_spec *spec)
{
    struct peer_cache *kept = mem_alloc(1, sizeof *kept);
    kept->spec = *spec;
    uint64_t sets = spec->bytes / spec->line_bytes / spec->ways;
    cache_init(&kept->cache,
               &(struct cache_spec){
                   .line_bytes = spec->line_bytes,
                   .sector_bytes = MEM_SECTOR,
                   .tags = {.sets = (uint32_t)(sets ? sets : 1), .ways = spec->ways, .hashed = true},
                   .misses = {.entries = MISSES, .waiters = WAITERS},
                   .has_data = true});
    kept->askers = mem_alloc(MISSES, sizeof *kept->askers);
    kept->waiters = mem_alloc(WAITERS, sizeof *kept->waiters);
    kept->free_waiters = mem_alloc(WAITERS, sizeof *kept->free_waiters);
    kept->state.free_count = WAITERS;
    for (uint32_t i = 0; i < WAITERS; i++)
        kept->free_waiters[i] = WAITERS - 1 - i;
    return kept;
}

void peer_cache_free(struct peer_cache *kept)
{
    if (!kept)
        return;
    cache_fini(&kept->cache);
    mem_free(kept->askers);
    mem_free(kept->waiters);
    mem_free(kept->free_waiters);
    mem_free(kept);
}

static uint64_t key_of(const struct peer_cache *kept, uint64_t line)
{
    struct physical_address address = physical_unpack(line);
    return ((uint64_t)physical_home(address) << OFFSET_BITS | physical_offset(address)) >>
           kept->cache.line_shift;
}

static uint64_t hit_time(struct peer_cache *kept, uint32_t sectors, uint64_t now)
{
    struct peer_cache_state *state = &kept->state;
    if (now > state->free_at) {
        state->free_at = now;
        state->fs = 0;
    }
    state->fs += sector_count(sectors) * kept->spec.sector_fs;
    state->free_at += state->fs / 1000;
    state->fs %= 1000;
    return state->free_at - now + kept->spec.hit_ps;
}

static bool join(struct peer_cache *kept, uint32_t entry, const struct peer_reader *reader)
{
    const struct mshr_entry *miss = cache_miss_at(&kept->cache, entry);
    if (!cache_is_current(&kept->cache, miss) || reader->sectors & ~miss->pending || !kept->state.free_count)
        return false;
    uint32_t number = kept->free_waiters[--kept->state.free_count];
    kept->waiters[number] = *reader;
    REQUIRE(cache_wait(&kept->cache, entry, number)); /* there are as many as numbers */
    return true;
}

/* It asks the home, and the answer is kept where there is room for it. */
static void begin(struct peer_cache *kept, uint64_t key, uint32_t slot, const struct peer_reader *reader)
{
    struct cache *cache = &kept->cache;
    if (cache_is_busy(cache))
        return;
    if (slot == TAGS_NONE) {
        slot = cache_victim(cache, key);
        if (slot == TAGS_NONE)
            return;
        cache_place(cache, slot, key, TAGS_NORMAL);
    }
    uint32_t entry = cache_begin(cache, key, slot, false);
    cache_ask(cache, entry, reader->sectors);
    kept->askers[entry] = *reader;
}

enum peer_answer peer_cache_read(struct peer_cache *kept, uint32_t client,
                                 const struct memsys_request *request, uint64_t now, struct peer_hit *hit)
{
    struct cache *cache = &kept->cache;
    struct peer_reader reader = {.client = client, .id = request->id, .sectors = request->sectors};
    uint64_t key = key_of(kept, request->line);
    uint32_t slot = cache_find(cache, key), entry = cache_miss(cache, key);
    if (!cache_missing(cache, slot, request->sectors)) {
        cache_touch(cache, slot);
        cache_pack(cache, cache_data(cache, slot), request->sectors, hit->data);
        hit->after_ps = hit_time(kept, request->sectors, now);
        return PEER_HIT;
    }
    if (entry != MSHR_NONE)
        return join(kept, entry, &reader) ? PEER_WAITS : PEER_ASKS;
    begin(kept, key, slot, &reader);
    return PEER_ASKS;
}

void peer_cache_came(struct peer_cache *kept, uint32_t client, const struct memsys_reply *reply,
                     const unsigned char *data, peer_reader_fn *call, void *user)
{
    struct cache *cache = &kept->cache;
    uint32_t entry = cache_miss(cache, key_of(kept, reply->line));
    if (entry == MSHR_NONE)
        return;
    const struct peer_reader *asker = &kept->askers[entry];
    if (asker->client != client || asker->id != reply->id || asker->sectors != reply->sectors)
        return; /* the answer to one whose answer is not kept */
    const struct mshr_entry *miss = cache_miss_at(cache, entry);
    unsigned char line[MEM_LINE_MOST];
    cache_unpack(cache, data, reply->sectors, line);
    while (miss->first != MSHR_NONE) {
        uint32_t number = mshr_next(cache->misses, entry);
        kept->free_waiters[kept->state.free_count++] = number;
        call(user, &kept->waiters[number], line);
    }
    if (cache_is_current(cache, miss) && cache_has_place(cache, miss))
        cache_fill(cache, entry, reply->sectors, line);
    else
        cache_came(cache, entry, reply->sectors);
    cache_end(cache, entry);
}

void peer_cache_drop(struct peer_cache *kept, uint64_t line, uint32_t sectors)
{
    struct cache *cache = &kept->cache;
    uint64_t key = key_of(kept, line);
    uint32_t slot = cache_find(cache, key), entry = cache_miss(cache, key);
    if (left_out(LEFT_OUT_KEPT_WRITE))
        return;
    if (slot != TAGS_NONE)
        cache_invalidate(cache, slot, sectors);
    if (entry != MSHR_NONE)
        cache_miss_at(cache, entry)->stale |= (uint16_t)sectors;
}

void peer_cache_forget(struct peer_cache *kept)
{
    if (!left_out(LEFT_OUT_KEPT_FORGET))
        cache_forget(&kept->cache, NULL);
}

uint32_t peer_cache_pack(const struct peer_cache *kept, const unsigned char *line, uint32_t sectors,
                         unsigned char *packed)
{
    return cache_pack(&kept->cache, line, sectors, packed);
}

void peer_cache_archive(struct peer_cache *kept, struct archive *archive)
{
    cache_archive(&kept->cache, WAITERS, archive);
    archive_bytes(archive, kept->askers, MISSES * sizeof *kept->askers);
    archive_bytes(archive, kept->waiters, WAITERS * sizeof *kept->waiters);
    archive_bytes(archive, kept->free_waiters, WAITERS * sizeof *kept->free_waiters);
    ARCHIVE_VALUE(archive, kept->state);
    bool good = kept->state.free_count <= WAITERS;
    for (uint32_t i = 0; i < WAITERS && good; i++)
        good = kept->free_waiters[i] < WAITERS && kept->waiters[i].client < kept->spec.clients;
    archive_check(archive, good);
}
