/* Caches of code and of constants are made here. Instruction fetch, and parameters whose place is computed:
 * which cache has what is next, and how long it takes. */
#include "core/parts.h"
#include "base/archive.h"
#include "base/mem.h"

/* What the description says of a level. */
struct fetch_level_spec {
    uint64_t bytes; /* 0: there is none */
    uint32_t line_bytes, ways;
    bool of_subcore; /* each has one of its own */
    uint64_t latency, interval;
    bool has_data; /* not only tags */
};

static void level_make(struct fetch_level *level, const struct fetch_level_spec *spec, uint32_t subcores)
{
    *level = (struct fetch_level){.latency = (uint32_t)spec->latency, .interval = (uint32_t)spec->interval};
    level->count = spec->of_subcore ? subcores : 1;
    level->caches = mem_alloc(level->count, sizeof *level->caches);
    uint32_t sets = (uint32_t)max_u64(spec->bytes / spec->line_bytes / spec->ways, 1);
    struct cache_spec cache = {.line_bytes = spec->line_bytes,
                               .sector_bytes = spec->line_bytes,
                               .tags = {.sets = sets, .ways = spec->ways}};
    if (spec->has_data) {
        cache.sector_bytes = MEM_SECTOR;
        cache.misses = (struct mshr_spec){.entries = CONSTANT_MISSES, .waiters = 8 * CONSTANT_MISSES};
        cache.has_data = true;
    }
    for (uint32_t i = 0; i < level->count; i++)
        cache_init(&level->caches[i], &cache);
}

/* From the nearest on; the last row is what is behind all caches. */
static void levels_make(struct fetch_levels *levels, const struct fetch_level_spec *specs, uint32_t count,
                        uint32_t subcores)
{
    REQUIRE(count <= FETCH_LEVELS_MOST + 1);
    for (uint32_t i = 0; i + 1 < count; i++) {
        if (!specs[i].bytes)
            continue;
        level_make(&levels->at[levels->count++], &specs[i], subcores);
        levels->own += specs[i].of_subcore;
    }
    levels->at[levels->count] = (struct fetch_level){.latency = (uint32_t)specs[count - 1].latency,
                                                     .interval = (uint32_t)specs[count - 1].interval};
}

void fetch_make(struct sm *sm)
{
    const struct sm_spec *s = sm->config.spec;
    const uint32_t line = (uint32_t)s->code_line;
    const struct fetch_level_spec code[] = {
        {s->l0_code, line, 4, true, 0, 0, false},
        {s->l1_code, line, 4, false, s->l1_code_latency, s->l1_code_interval, false},
        {s->l2_code, line, 8, false, s->l2_code_latency, s->l2_code_interval, false},
        {0, 0, 0, false, s->memory_code_latency, s->memory_code_interval, false}};
    const struct fetch_level_spec constants[] = {
        {s->constant_cache, CONSTANT_LINE, 4, false, 0, 0, true},
        {s->l2_constants, CONSTANT_LINE_BEHIND, 8, false, s->constant_miss_cycles, 0, true},
        {0, 0, 0, false, s->constant_memory_cycles, 0, true}};
    sm->code_line_shift = (uint32_t)__builtin_ctz(line);
    levels_make(&sm->code, code, COUNT_OF(code), sm->config.subcores);
    levels_make(&sm->constants, constants, COUNT_OF(constants), sm->config.subcores);
}

/* Every cache of code and of constants. */
#define EACH_CACHE(cache, levels)                                                                            \
    for (struct fetch_level *level = (levels)->at; level < (levels)->at + (levels)->count; level++)          \
        for (struct cache *cache = level->caches; cache < level->caches + level->count; cache++)

static void levels_free(struct fetch_levels *levels)
{
    EACH_CACHE(cache, levels)
    cache_fini(cache);
    for (uint32_t i = 0; i < levels->count; i++)
        mem_free(levels->at[i].caches);
}

static void levels_forget(struct fetch_levels *levels, uint64_t time)
{
    levels->forgot_at = time;
    EACH_CACHE(cache, levels)
    cache_forget(cache, NULL);
}

static void levels_archive(struct fetch_levels *levels, uint32_t who_most, struct archive *archive)
{
    ARCHIVE_VALUE(archive, levels->forgot_at);
    EACH_CACHE(cache, levels)
    cache_archive(cache, who_most, archive);
}

void fetch_free(struct sm *sm)
{
    levels_free(&sm->code);
    levels_free(&sm->constants);
    mem_free(sm->new_code);
}

void fetch_forget(struct sm *sm, uint64_t time)
{
    levels_forget(&sm->code, time);
    levels_forget(&sm->constants, time);
}

void fetch_forget_constants(struct sm *sm, uint64_t time)
{
    levels_forget(&sm->constants, time);
}

void fetch_archive(struct sm *sm, struct archive *archive)
{
    levels_archive(&sm->code, 0, archive);
    levels_archive(&sm->constants, sm->load_count, archive);
    ARCHIVE_VALUE(archive, sm->constants_asked);
}

/* The level that has what is at this address; the nearer ones have it from now on. */
static const struct fetch_level *__attribute__((noinline))
look(const struct fetch_levels *levels, uint32_t subcore, uint64_t address)
{
    const struct fetch_level *level = levels->at;
    for (; level < levels->at + levels->count; level++) {
        struct cache *cache = &level->caches[level->count == 1 ? 0 : subcore];
        if (cache_touch_or_place(cache, cache_line(cache, address)))
            break;
    }
    return level;
}

void fetch_place(const struct fetch_levels *levels, uint64_t address)
{
    for (uint32_t i = levels->own; i < levels->count; i++)
        cache_touch_or_place(levels->at[i].caches, cache_line(levels->at[i].caches, address));
}

const uint64_t *sm_new_code(const struct sm *sm, size_t *count)
{
    *count = sm->new_code_count;
    return sm->new_code;
}

void sm_clear_new_code(struct sm *sm)
{
    sm->notes_code = true;
    sm->new_code_count = 0;
}

void sm_add_code(struct sm *sm, const uint64_t *lines, size_t count)
{
    for (size_t i = 0; i < count; i++)
        fetch_place(&sm->code, lines[i]);
}

/* None of those that siblings share had it, where it was found. */
static bool is_new_to_siblings(const struct sm *sm, const struct fetch_levels *levels,
                               const struct fetch_level *found)
{
    return UNLIKELY(sm->siblings) && found > levels->at + levels->own;
}

/* The kernel's first lines, which the dispatcher fetches before its warps begin. */
static bool comes_with_kernel(const struct sm *sm, const struct sm_warp *w, uint64_t line)
{
    return line - w->code_first < sm->config.spec->code_first >> sm->code_line_shift;
}

/* Straight code streams: a line comes so long after the one before it. Elsewhere a line is waited for. */
uint32_t fetch_wait(struct sm *sm, struct sm_warp *w, uint64_t line)
{
    bool follows = line == w->code_line + 1;
    if (!w->code_line)
        w->code_first = line;
    uint64_t now = max_u64(sm->cycle, w->since), before = w->code_at;
    w->code_line = line;
    w->code_at = now;
    const struct fetch_level *level = look(&sm->code, w->place / SUBCORE_WARPS, line << sm->code_line_shift);
    if (level->latency && !comes_with_kernel(sm, w, line)) {
        w->kernel->counters.fetch_misses++;
        bool streams = follows && level->interval;
        w->code_at = streams ? max_u64(now, before + level->interval) : now + level->latency;
    }
    if (UNLIKELY(sm->notes_code) && level == sm->code.at + sm->code.count) {
        mem_grow(sm->new_code, sm->new_code_count, sm->new_code_capacity);
        sm->new_code[sm->new_code_count++] = line << sm->code_line_shift;
    }
    if (is_new_to_siblings(sm, &sm->code, level))
        siblings_tell_line(sm, SIBLING_CODE, line << sm->code_line_shift, w->code_at);
    return (uint32_t)(w->code_at - now);
}

/* Parameters are constants, too, and others at each launch. They never change, so their values are at hand.
 */
#define PARAMS_FROM  (UINT64_C(1) << 45)
#define PARAMS_APART (UINT64_C(1) << 16)

uint32_t fetch_param_wait(struct sm *sm, const struct sm_warp *w, const struct request *request)
{
    struct sm_kernel *kernel = w->kernel;
    uint32_t most = 0;
    uint64_t last = UINT64_MAX;
    EACH_LANE (i, request->param) {
        uint64_t at = PARAMS_FROM + kernel->serial * PARAMS_APART + request->param_at[i];
        uint64_t line = at / CONSTANT_LINE;
        if (line == last)
            continue;
        last = line;
        const struct fetch_level *level = look(&sm->constants, w->place / SUBCORE_WARPS, at);
        kernel->counters.const_misses += level->latency > 0;
        most = level->latency > most ? level->latency : most;
        if (is_new_to_siblings(sm, &sm->constants, level))
            siblings_tell_line(sm, SIBLING_PARAM, at, sm->cycle + level->latency);
    }
    return most;
}
