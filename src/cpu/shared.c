#include "cpu/shared.h"
#include "cpu/memory.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/mem.h"
#include "cache/tags.h"

/* Which cores have copies of a line. */
struct cpu_copies {
    uint64_t cores; /* a bit each */
    bool exclusive; /* the only one may have changed it */
};

enum { PERIOD_LINES = 16 }; /* lines that pass in a period of bandwidth */

static const struct stat_row shared_rows[] = {CPU_SHARED_STATS(STAT_ROW, cpu_shared)};
const struct stat_table cpu_shared_stats = {shared_rows, COUNT_OF(shared_rows)};

/* ---- the directory ---- */

static struct cpu_copies *copies_of(struct cpu_shared *shared, uint64_t line)
{
    uint32_t at = index_find(&shared->lines, line);
    if (at == INDEX_NONE) {
        mem_grow(shared->copies, shared->lines.count, shared->copies_capacity);
        at = index_add(&shared->lines, line);
        shared->copies[at] = (struct cpu_copies){0};
    }
    return &shared->copies[at];
}

/* Tells all other cores; whether one of them had changed the line. */
static bool probe_others(struct cpu_shared *shared, uint64_t cores, uint64_t line, bool invalidate)
{
    bool changed = false;
    for (; cores; cores &= cores - 1) {
        struct cpu_memory *other = shared->cores[__builtin_ctzll(cores)];
        changed |= cpu_memory_probe(other, line, invalidate);
        shared->invalidations += invalidate;
    }
    return changed;
}

/* Whether the line comes from another core; *exclusive: the asking core is the only one with a copy. */
static bool look_up(struct cpu_shared *shared, uint32_t core, uint64_t line, bool to_write, bool *exclusive)
{
    struct cpu_copies *copies = copies_of(shared, line);
    uint64_t own = UINT64_C(1) << core, others = copies->cores & ~own;
    bool changed = false;
    if (others && (to_write || copies->exclusive))
        changed = probe_others(shared, others, line, to_write);
    copies->cores = to_write ? own : copies->cores | own;
    *exclusive = copies->exclusive = copies->cores == own;
    shared->transfers += changed;
    return changed;
}

static void forget_copy(struct cpu_shared *shared, uint32_t core, uint64_t line)
{
    struct cpu_copies *copies = copies_of(shared, line);
    copies->cores &= ~(UINT64_C(1) << core);
    copies->exclusive = false;
}

/* ---- the L3 and memory ---- */

static uint64_t pass(struct calendar *ports, uint64_t period, uint64_t time)
{
    return max_u64(time, calendar_take(ports, time / period, PERIOD_LINES) * period);
}

/* Whether it was there; it is from now on. */
static bool l3_holds(struct cpu_shared *shared, uint64_t line, bool dirty, uint64_t time)
{
    if (!shared->l3) {
        if (dirty) {
            shared->memory_writes++;
            pass(&shared->memory_ports, shared->memory_period, time);
        }
        return false;
    }
    uint32_t slot = tags_find(shared->l3, line);
    bool held = slot != TAGS_NONE;
    if (held) {
        tags_touch(shared->l3, slot);
    } else {
        slot = tags_victim(shared->l3, line);
        if (tags_holds(shared->l3, slot) && *tags_dirty(shared->l3, slot)) {
            shared->memory_writes++;
            pass(&shared->memory_ports, shared->memory_period, time);
        }
        tags_fill(shared->l3, slot, line, TAGS_NORMAL);
    }
    if (dirty)
        *tags_dirty(shared->l3, slot) = 1;
    return held;
}

static struct outer_reply request(struct outer *outer, uint32_t core, uint64_t line, enum outer_kind kind,
                                  uint64_t time_ps)
{
    struct cpu_shared *shared = (struct cpu_shared *)outer;
    struct outer_reply reply = {.exclusive = true, .from = OUTER_FROM_CACHE};
    bool single = shared->core_count == 1, transferred = false;
    reply.done_ps = time_ps;
    if (kind == OUTER_DROP) /* the directory learns of it when it asks */
        return reply;
    if (kind == OUTER_WRITE_BACK) {
        shared->write_backs++;
        if (!single)
            forget_copy(shared, core, line);
        l3_holds(shared, line, true, time_ps);
        return reply;
    }
    shared->l3_reads++;
    if (!single)
        transferred = look_up(shared, core, line, kind == OUTER_READ_EXCLUSIVE, &reply.exclusive);
    uint64_t time = time_ps;
    if (shared->l3)
        time = pass(&shared->l3_ports, shared->l3_period, time) + shared->spec->l3.latency;
    if (transferred) {
        l3_holds(shared, line, true, time);
        time += shared->spec->memory.transfer;
        reply.from = OUTER_FROM_CORE;
    } else if (!l3_holds(shared, line, false, time)) {
        shared->l3_misses++;
        time = pass(&shared->memory_ports, shared->memory_period, time) + shared->spec->memory.latency;
        reply.from = OUTER_FROM_MEMORY;
    }
    reply.done_ps = time;
    return reply;
}

static uint64_t period_of(uint64_t bytes_per_second)
{
    uint64_t period = (uint64_t)((double)PS_PER_SECOND * PERIOD_LINES * CPU_LINE / (double)bytes_per_second);
    return period ? period : 1;
}

void cpu_shared_init(struct cpu_shared *shared, const struct cpu_spec *spec, struct cpu_memory **cores)
{
    const struct cpu_l3_spec *l3 = &spec->l3;
    *shared = (struct cpu_shared){.base.request = request,
                                  .spec = spec,
                                  .cores = cores,
                                  .core_count = (uint32_t)spec->core.cores,
                                  .l3_period = period_of(l3->bandwidth),
                                  .memory_period = period_of(spec->memory.bandwidth)};
    if (l3->on)
        shared->l3 = tags_new(&(struct tags_spec){.sets = (uint32_t)(l3->bytes / (l3->ways * CPU_LINE)),
                                                  .ways = (uint32_t)l3->ways,
                                                  .policy = REPLACE_LRU,
                                                  .scattered = true});
}

void cpu_shared_fini(struct cpu_shared *shared)
{
    tags_free(shared->l3);
    index_fini(&shared->lines);
    mem_free(shared->copies);
}
