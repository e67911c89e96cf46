/* Memory behind a home, and the cache in front of it, where the home itself is none. */
#include "base/bits.h"
#include "coherence/follow/parts.h"

static uint64_t use_memory(struct follow *follow, uint64_t time_ps)
{
    return follow->memory ? follow_narrow_pass(follow->memory, follow->memory_period_ps,
                                               follow->spec.line_bytes, time_ps)
                          : time_ps;
}

static uint64_t read_dram(struct follow *follow, uint64_t time_ps, enum follow_from *from)
{
    follow->counts.memory_reads++;
    *from = FOLLOW_FROM_MEMORY;
    return use_memory(follow, time_ps) + follow->spec.memory_latency_ps;
}

static void write_dram(struct follow *follow, uint64_t time_ps)
{
    follow->counts.memory_writes++;
    use_memory(follow, time_ps);
}

/* Whether the cache in front has the line; it has from now on. */
static bool use_front(struct follow *follow, struct tags *front, uint64_t line, bool dirty, uint64_t time_ps)
{
    uint32_t slot = tags_find(front, line);
    bool has = slot != TAGS_NONE;
    if (has) {
        tags_touch(front, slot);
    } else {
        slot = tags_victim(front, line);
        if (tags_holds(front, slot) && *tags_dirty(front, slot))
            write_dram(follow, time_ps);
        tags_fill(front, slot, line, TAGS_NORMAL);
    }
    if (dirty)
        *tags_dirty(front, slot) = 1;
    return has;
}

static struct tags *front_of(const struct follow *follow, uint32_t home)
{
    return follow->spec.protocol->memory_apart ? NULL : follow->home_tags[home - follow->caches];
}

uint64_t follow_memory_read(struct follow *follow, uint32_t home, uint64_t line, uint64_t time_ps,
                            enum follow_from *from)
{
    struct tags *front = front_of(follow, home);
    *from = FOLLOW_FROM_HOME;
    if (!front || !use_front(follow, front, line / follow->spec.homes, false, time_ps))
        return read_dram(follow, time_ps, from);
    follow->counts.home_hits++;
    return time_ps;
}

void follow_memory_write(struct follow *follow, uint32_t home, uint64_t line, uint64_t time_ps)
{
    struct tags *front = front_of(follow, home);
    if (front)
        use_front(follow, front, line / follow->spec.homes, true, time_ps);
    else
        write_dram(follow, time_ps);
}
