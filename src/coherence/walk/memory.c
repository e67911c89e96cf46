/* Memory behind a home, and the cache in front of it, where the home itself is none. */
#include "base/bits.h"
#include "coherence/walk/parts.h"

static uint64_t use_memory(struct walk *walk, uint64_t time_ps)
{
    return walk->memory
               ? walk_narrow_pass(walk->memory, walk->memory_period_ps, walk->spec.line_bytes, time_ps)
               : time_ps;
}

static uint64_t read_dram(struct walk *walk, uint64_t time_ps, enum walk_from *from)
{
    walk->counts.memory_reads++;
    *from = WALK_FROM_MEMORY;
    return use_memory(walk, time_ps) + walk->spec.memory_latency_ps;
}

static void write_dram(struct walk *walk, uint64_t time_ps)
{
    walk->counts.memory_writes++;
    use_memory(walk, time_ps);
}

/* Whether the cache in front has the line; it has from now on. */
static bool use_front(struct walk *walk, struct tags *front, uint64_t line, bool dirty, uint64_t time_ps)
{
    uint32_t slot = tags_find(front, line);
    bool has = slot != TAGS_NONE;
    if (has) {
        tags_touch(front, slot);
    } else {
        slot = tags_victim(front, line);
        if (tags_holds(front, slot) && *tags_dirty(front, slot))
            write_dram(walk, time_ps);
        tags_fill(front, slot, line, TAGS_NORMAL);
    }
    if (dirty)
        *tags_dirty(front, slot) = 1;
    return has;
}

static struct tags *front_of(const struct walk *walk, uint32_t home)
{
    return walk->spec.protocol->memory_apart ? NULL : walk->home_tags[home - walk->caches];
}

uint64_t walk_memory_read(struct walk *walk, uint32_t home, uint64_t line, uint64_t time_ps,
                          enum walk_from *from)
{
    struct tags *front = front_of(walk, home);
    *from = WALK_FROM_HOME;
    if (!front || !use_front(walk, front, line, false, time_ps))
        return read_dram(walk, time_ps, from);
    walk->counts.home_hits++;
    return time_ps;
}

void walk_memory_write(struct walk *walk, uint32_t home, uint64_t line, uint64_t time_ps)
{
    struct tags *front = front_of(walk, home);
    if (front)
        use_front(walk, front, line, true, time_ps);
    else
        write_dram(walk, time_ps);
}
