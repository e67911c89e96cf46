#include "cpu/memory.h"
#include "base/bits.h"
#include "base/mem.h"
#include "cache/tags.h"

enum { LINE_WRITABLE = 1 }; /* in tags_note: no other core has a copy */

static const struct stat_row memory_rows[] = {CPU_MEMORY_STATS(STAT_ROW, cpu_memory)};
const struct stat_table cpu_memory_stats = {memory_rows, COUNT_OF(memory_rows)};

/* ---- caches ---- */

static void cache_init(struct cpu_cache *cache, const struct cpu_cache_spec *spec)
{
    uint32_t sets = (uint32_t)(spec->bytes / (spec->ways * CPU_LINE));
    cache->tags = tags_new(
        &(struct tags_spec){.sets = sets, .ways = (uint32_t)spec->ways, .policy = spec->policy, .seed = 1});
    cache->arrives = mem_alloc_pages((size_t)sets * spec->ways, sizeof *cache->arrives);
    cache->latency = spec->latency;
    cache->flights.count = (uint32_t)spec->misses;
}

static void cache_fini(struct cpu_cache *cache)
{
    tags_free(cache->tags);
    mem_free_pages(cache->arrives);
}

/* When a miss can begin that would at `cycle`; *slot is its place, to be told when it is over. */
static uint64_t flight_begin(struct cpu_flights *flights, uint64_t cycle, uint32_t *slot)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < flights->count && flights->done[first] > cycle; i++)
        first = flights->done[i] < flights->done[first] ? i : first;
    *slot = first;
    return max_u64(cycle, flights->done[first]);
}

static uint64_t to_cycle(const struct cpu_memory *memory, uint64_t time_ps)
{
    uint64_t cycle = clock_cycle(&memory->clock, time_ps);
    return cycle + (clock_time(&memory->clock, cycle) < time_ps);
}

/* ---- the L2 and what is below ---- */

static void drop_line(struct cpu_cache *cache, uint64_t line, bool *dirty)
{
    uint32_t slot = tags_find(cache->tags, line);
    if (slot == TAGS_NONE)
        return;
    *dirty |= *tags_dirty(cache->tags, slot) != 0;
    tags_drop(cache->tags, slot);
}

static uint32_t l2_place(struct cpu_memory *memory, uint64_t line, uint64_t cycle)
{
    struct tags *tags = memory->l2.tags;
    uint32_t slot = tags_victim(tags, line);
    if (tags_holds(tags, slot)) {
        uint64_t old = tags_line(tags, slot);
        bool dirty = *tags_dirty(tags, slot) != 0, unused = false;
        drop_line(&memory->l1d, old, &dirty);
        drop_line(&memory->l1i, old, &unused);
        memory->outer->request(memory->outer, memory->core, old, dirty ? OUTER_WRITE_BACK : OUTER_DROP,
                               clock_time(&memory->clock, cycle));
    }
    tags_fill(tags, slot, line, TAGS_NORMAL);
    return slot;
}

static const enum cpu_level level_from[] = {
    [OUTER_FROM_CACHE] = CPU_L3, [OUTER_FROM_MEMORY] = CPU_MEMORY, [OUTER_FROM_CORE] = CPU_L3};

static uint64_t ask_outer(struct cpu_memory *memory, uint64_t line, enum outer_kind kind, uint64_t cycle,
                          uint32_t slot, enum cpu_level *level)
{
    uint32_t flight;
    uint64_t begin = flight_begin(&memory->l2.flights, cycle, &flight);
    struct outer_reply reply =
        memory->outer->request(memory->outer, memory->core, line, kind, clock_time(&memory->clock, begin));
    uint64_t done = max_u64(to_cycle(memory, reply.done_ps), begin);
    memory->l2.flights.done[flight] = done;
    *level = level_from[reply.from];
    memory->l2.arrives[slot] = done;
    *tags_note(memory->l2.tags, slot) = reply.exclusive ? LINE_WRITABLE : 0;
    return done;
}

/* A line for an L1, which asks at `cycle`; its latency is counted from there. */
static struct cpu_reply l2_read(struct cpu_memory *memory, uint64_t line, bool writes, uint64_t cycle)
{
    struct cpu_reply reply = {.done = cycle + memory->l2.latency, .level = CPU_L2};
    uint32_t slot = tags_find(memory->l2.tags, line);
    enum outer_kind kind = writes ? OUTER_READ_EXCLUSIVE : OUTER_READ_SHARED;
    if (slot == TAGS_NONE) {
        memory->l2_misses++;
        slot = l2_place(memory, line, reply.done);
        reply.done = ask_outer(memory, line, kind, reply.done, slot, &reply.level);
        return reply;
    }
    tags_touch(memory->l2.tags, slot);
    reply.done = max_u64(reply.done, memory->l2.arrives[slot]);
    if (writes && !(*tags_note(memory->l2.tags, slot) & LINE_WRITABLE)) {
        memory->upgrades++;
        reply.done = ask_outer(memory, line, kind, reply.done, slot, &reply.level);
    }
    return reply;
}

/* ---- TLBs ---- */

static bool tlb_holds(struct tags *tags, uint64_t page)
{
    uint32_t slot = tags_find(tags, page);
    if (slot != TAGS_NONE) {
        tags_touch(tags, slot);
        return true;
    }
    tags_fill(tags, tags_victim(tags, page), page, TAGS_NORMAL);
    return false;
}

/* The cycle from which the address is known. The last entry of a walk is read through the L2: entries of
 * neighbouring pages share a line, at a place that no program uses. */
static uint64_t translate(struct cpu_memory *memory, uint64_t address, bool data, uint64_t cycle,
                          bool *walked)
{
    static const uint64_t table_at = UINT64_C(1) << 48;
    struct cpu_tlb *tlb = &memory->tlb;
    uint64_t page = address >> tlb->page_shift;
    if (LIKELY(page == tlb->last_page[data]))
        return cycle;
    tlb->last_page[data] = page;
    if (LIKELY(tlb_holds(data ? tlb->first_data : tlb->first_instructions, page)))
        return cycle;
    if (data)
        memory->dtlb_misses++;
    else
        memory->itlb_misses++;
    cycle += memory->spec->tlb.second_latency;
    if (tlb_holds(tlb->second, page))
        return cycle;
    memory->walks++;
    *walked = true;
    uint64_t entry = table_at + page * 8;
    return l2_read(memory, entry >> CPU_LINE_SHIFT, false, cycle + memory->spec->tlb.walk).done;
}

/* ---- the L1s ---- */

static void l1_place(struct cpu_memory *memory, struct cpu_cache *cache, uint64_t line, uint64_t arrives,
                     bool dirty, bool writable)
{
    uint32_t slot = tags_victim(cache->tags, line);
    if (tags_holds(cache->tags, slot) && *tags_dirty(cache->tags, slot)) {
        uint32_t below = tags_find(memory->l2.tags, tags_line(cache->tags, slot));
        REQUIRE(below != TAGS_NONE); /* the L2 holds all that an L1 does */
        *tags_dirty(memory->l2.tags, below) = 1;
    }
    tags_fill(cache->tags, slot, line, TAGS_NORMAL);
    *tags_dirty(cache->tags, slot) = dirty;
    *tags_note(cache->tags, slot) = writable ? LINE_WRITABLE : 0;
    cache->arrives[slot] = arrives;
}

static bool l2_writable(const struct cpu_memory *memory, uint64_t line)
{
    uint32_t slot = tags_find(memory->l2.tags, line);
    return slot != TAGS_NONE && *tags_note(memory->l2.tags, slot) & LINE_WRITABLE;
}

static struct cpu_reply l1_miss(struct cpu_memory *memory, struct cpu_cache *cache, uint64_t line,
                                bool writes, uint64_t cycle)
{
    uint32_t flight;
    uint64_t begin = flight_begin(&cache->flights, cycle, &flight);
    struct cpu_reply reply = l2_read(memory, line, writes, begin);
    cache->flights.done[flight] = reply.done;
    l1_place(memory, cache, line, reply.done, writes, l2_writable(memory, line));
    return reply;
}

static struct cpu_reply l1_access(struct cpu_memory *memory, struct cpu_cache *cache, uint64_t line,
                                  bool writes, uint64_t cycle)
{
    struct cpu_reply reply = {.done = cycle + cache->latency, .level = CPU_L1};
    uint32_t slot = tags_find(cache->tags, line);
    if (UNLIKELY(slot == TAGS_NONE))
        return l1_miss(memory, cache, line, writes, cycle);
    tags_touch(cache->tags, slot);
    if (cache->arrives[slot] > reply.done) { /* it is on its way */
        reply.done = cache->arrives[slot];
        reply.level = cache->arrives[slot] > cycle + memory->l2.latency ? CPU_L3 : CPU_L2;
    }
    if (writes) {
        *tags_dirty(cache->tags, slot) = 1;
        if (UNLIKELY(!(*tags_note(cache->tags, slot) & LINE_WRITABLE))) {
            struct cpu_reply upgraded = l2_read(memory, line, true, cycle);
            *tags_note(cache->tags, slot) |= LINE_WRITABLE;
            upgraded.done = max_u64(upgraded.done, reply.done);
            return upgraded;
        }
    }
    return reply;
}

static void prefetch(struct cpu_memory *memory, uint64_t pc, uint64_t address, uint64_t cycle)
{
    uint64_t addresses[STRIDE_MOST];
    uint32_t count = stride_learn(&memory->strides, pc, address, addresses);
    for (uint32_t i = 0; i < count; i++) {
        uint64_t line = addresses[i] >> CPU_LINE_SHIFT;
        if (tags_find(memory->l1d.tags, line) != TAGS_NONE)
            continue;
        memory->prefetches++;
        struct cpu_reply reply = l2_read(memory, line, false, cycle);
        l1_place(memory, &memory->l1d, line, reply.done, false, l2_writable(memory, line));
    }
}

/* ---- what the core calls ---- */

struct cpu_reply cpu_memory_fetch(struct cpu_memory *memory, uint64_t pc, uint64_t cycle)
{
    bool walked = false;
    uint64_t from = translate(memory, pc, false, cycle, &walked);
    struct cpu_reply reply = l1_access(memory, &memory->l1i, pc >> CPU_LINE_SHIFT, false, from);
    memory->fetches++;
    memory->l1i_misses += reply.level != CPU_L1;
    reply.walked = walked;
    return reply;
}

static struct cpu_reply access_line(struct cpu_memory *memory, uint64_t pc, uint64_t address, bool writes,
                                    uint64_t cycle)
{
    bool walked = false;
    uint64_t from = translate(memory, address, true, cycle, &walked);
    struct cpu_reply reply = l1_access(memory, &memory->l1d, address >> CPU_LINE_SHIFT, writes, from);
    if (writes)
        memory->stores++;
    else
        memory->loads++;
    memory->l1d_misses += reply.level != CPU_L1;
    if (memory->spec->prefetch.on)
        prefetch(memory, pc, address, from);
    reply.walked = walked;
    return reply;
}

struct cpu_reply cpu_memory_access(struct cpu_memory *memory, uint64_t pc, const struct cpu_access *access,
                                   bool writes, uint64_t cycle)
{
    uint64_t last = access->address + access->bytes - 1;
    struct cpu_reply reply = access_line(memory, pc, access->address, writes, cycle);
    for (uint64_t line = (access->address >> CPU_LINE_SHIFT) + 1; line <= last >> CPU_LINE_SHIFT; line++) {
        struct cpu_reply more = access_line(memory, pc, line << CPU_LINE_SHIFT, writes, cycle);
        if (more.done > reply.done)
            reply = more;
    }
    return reply;
}

bool cpu_memory_probe(struct cpu_memory *memory, uint64_t line, bool invalidate)
{
    uint32_t slot = tags_find(memory->l2.tags, line), above = tags_find(memory->l1d.tags, line);
    if (slot == TAGS_NONE)
        return false;
    memory->probes++;
    bool dirty = *tags_dirty(memory->l2.tags, slot) != 0, unused = false;
    if (above != TAGS_NONE)
        dirty |= *tags_dirty(memory->l1d.tags, above) != 0;
    if (invalidate) {
        drop_line(&memory->l1d, line, &unused);
        drop_line(&memory->l1i, line, &unused);
        tags_drop(memory->l2.tags, slot);
        return dirty;
    }
    *tags_dirty(memory->l2.tags, slot) = 0;
    *tags_note(memory->l2.tags, slot) = 0;
    if (above != TAGS_NONE) {
        *tags_dirty(memory->l1d.tags, above) = 0;
        *tags_note(memory->l1d.tags, above) = 0;
    }
    return dirty;
}

bool cpu_memory_is_dirty(const struct cpu_memory *memory, uint64_t line)
{
    uint32_t slot = tags_find(memory->l2.tags, line), above = tags_find(memory->l1d.tags, line);
    return (slot != TAGS_NONE && *tags_dirty(memory->l2.tags, slot)) ||
           (above != TAGS_NONE && *tags_dirty(memory->l1d.tags, above));
}

static struct tags *tlb_new(uint64_t entries, uint64_t ways)
{
    return tags_new(&(struct tags_spec){
        .sets = (uint32_t)(entries / ways), .ways = (uint32_t)ways, .policy = REPLACE_LRU});
}

void cpu_memory_init(struct cpu_memory *memory, const struct cpu_spec *spec, uint32_t core,
                     struct outer *outer)
{
    const struct cpu_tlb_spec *tlb = &spec->tlb;
    *memory = (struct cpu_memory){.spec = spec, .outer = outer, .core = core};
    clock_init(&memory->clock, spec->core.clock);
    cache_init(&memory->l1i, &spec->l1i);
    cache_init(&memory->l1d, &spec->l1d);
    cache_init(&memory->l2, &spec->l2);
    memory->tlb = (struct cpu_tlb){.first_instructions = tlb_new(tlb->instructions, tlb->instructions),
                                   .first_data = tlb_new(tlb->data, tlb->data),
                                   .second = tlb_new(tlb->second, tlb->second_ways),
                                   .page_shift = (uint64_t)__builtin_ctzll(tlb->page),
                                   .last_page = {UINT64_MAX, UINT64_MAX}};
    stride_init(&memory->strides, &spec->prefetch);
}

void cpu_memory_fini(struct cpu_memory *memory)
{
    cache_fini(&memory->l1i);
    cache_fini(&memory->l1d);
    cache_fini(&memory->l2);
    tags_free(memory->tlb.first_instructions);
    tags_free(memory->tlb.first_data);
    tags_free(memory->tlb.second);
    stride_fini(&memory->strides);
}
