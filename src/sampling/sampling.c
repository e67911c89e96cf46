#include "sampling/sampling.h"
#include "base/bits.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_SAMPLES = 4, /* of a stratum */
    FIRST_WAVES = 4,   /* of a launch with many blocks: times what the GPU holds */
    MANY_WAVES = 8,    /* from so many on a launch is cut */
    CACHE_FILLS = 3,   /* times the size of the L2 that must have gone through it, before a rate is steady */
    PASSES_MOST = 12,
};

static const double least_error =
    0.02;                            /* of what was not simulated: caches are as another launch left them */
static const double most_work = 0.5; /* of all instructions: then simulate all */

struct own_launch {
    bool planned, measured;
    uint64_t blocks;  /* to be simulated, when its turn comes */
    double ps, error; /* of the whole launch */
};

struct stratum {
    size_t first, count; /* in the order */
    size_t wanted;       /* samples */
};

struct sampling {
    const struct sampling_launch *launches;
    size_t count;
    double target;
    struct own_launch *own;
    size_t *order; /* launches, stratum by stratum */
    struct stratum *strata;
    size_t stratum_count, stratum_capacity;
    uint64_t all_instructions, simulated_instructions;
    unsigned passes;
    const char *why;
};

/* ---- strata ---- */

static const struct sampling_launch *sorted_launches; /* for qsort, within one call */

static int by_kind(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    const struct sampling_launch *x = &sorted_launches[i], *y = &sorted_launches[k];
    if (x->kernel != y->kernel)
        return x->kernel < y->kernel ? -1 : 1;
    if (x->threads != y->threads)
        return x->threads < y->threads ? -1 : 1;
    if (x->instructions != y->instructions)
        return x->instructions < y->instructions ? -1 : 1;
    return i < k ? -1 : 1;
}

static bool is_alike(const struct sampling_launch *a, const struct sampling_launch *b)
{
    return a->kernel == b->kernel && a->threads == b->threads;
}

struct sampling *sampling_new(const struct sampling_launch *launches, size_t count, double target)
{
    struct sampling *s = mem_alloc(1, sizeof *s);
    s->launches = launches;
    s->count = count;
    s->target = target;
    s->own = mem_alloc(count + 1, sizeof *s->own);
    s->order = mem_alloc(count + 1, sizeof *s->order);
    for (size_t i = 0; i < count; i++) {
        const struct sampling_launch *launch = &launches[i];
        bool cuts = !launch->whole && launch->blocks > MANY_WAVES * max_u64(launch->resident, 1);
        s->order[i] = i;
        s->own[i].blocks = cuts ? FIRST_WAVES * max_u64(launch->resident, 1) : launch->blocks;
        s->all_instructions += launch->instructions;
    }
    sorted_launches = launches;
    qsort(s->order, count, sizeof *s->order, by_kind);
    for (size_t i = 0, end; i < count; i = end) {
        for (end = i + 1; end < count && is_alike(&launches[s->order[i]], &launches[s->order[end]]); end++)
            ;
        mem_grow(s->strata, s->stratum_count, s->stratum_capacity);
        s->strata[s->stratum_count++] =
            (struct stratum){.first = i, .count = end - i, .wanted = min_u64(end - i, FIRST_SAMPLES)};
    }
    return s;
}

void sampling_free(struct sampling *s)
{
    if (!s)
        return;
    mem_free(s->own);
    mem_free(s->order);
    mem_free(s->strata);
    mem_free(s);
}

/* ---- what was measured ---- */

/* ps of a block between two marks. */
static double rate(const struct sampling_measured *m, int from, int to)
{
    return (m->marks[to] - m->marks[from]) / ((double)(to - from) * (double)m->blocks / SAMPLING_MARKS);
}

/* The first wave and the last are not as those between: of four waves, marks from the second to the third are
 * looked at. */
static double steady_rate(const struct sampling_measured *m, double *error)
{
    enum { FROM = 9, MIDDLE = 17, TO = 25, PARTS = (TO - FROM) / 2 };
    double all = rate(m, FROM, TO), early = rate(m, FROM, MIDDLE), late = rate(m, MIDDLE, TO), squares = 0;
    for (int i = FROM; i < TO; i += 2) {
        double one = rate(m, i, i + 2) / all - 1;
        squares += one * one;
    }
    *error = fabs(late - early) / all + sqrt(squares / (PARTS - 1) / PARTS);
    return (all + late) / 2;
}

/* A cache that still takes what it will have to give back later makes the beginning look fast. */
static bool fills_cache(const struct sampling_launch *launch, const struct sampling_measured *m)
{
    double all = m->cache_traffic * (double)launch->blocks / (double)m->blocks;
    return all <= m->cache_bytes || m->cache_traffic >= CACHE_FILLS * m->cache_bytes;
}

void sampling_take(struct sampling *s, size_t number, const struct sampling_measured *m)
{
    const struct sampling_launch *launch = &s->launches[number];
    struct own_launch *own = &s->own[number];
    s->simulated_instructions +=
        (uint64_t)((double)launch->instructions * (double)m->blocks / (double)max_u64(launch->blocks, 1));
    if (!own->planned || own->measured) /* it only warmed caches */
        return;
    own->error = 0;
    own->ps = m->ps;
    if (m->blocks < launch->blocks) {
        double left = (double)(launch->blocks - m->blocks) * steady_rate(m, &own->error);
        own->error *= left / (m->ps + left);
        own->ps += left;
    }
    if (m->blocks < launch->blocks && (own->error > s->target || !fills_cache(launch, m))) { /* more of it */
        own->blocks = 2 * m->blocks > launch->blocks / 2 ? launch->blocks : 2 * m->blocks;
        own->planned = false;
        return;
    }
    own->measured = true;
}

/* ---- estimates ---- */

struct stratum_estimate {
    double ps, error; /* error: in ps */
    uint64_t measured, instructions;
};

/* How much wider than a standard deviation two thirds of cases are, of so few samples (Student's t). */
static double widened(uint64_t samples)
{
    static const double t[] = {1.84, 1.84, 1.84, 1.32, 1.20, 1.14, 1.11, 1.09};
    return samples < COUNT_OF(t) ? t[samples] : 1.05;
}

/* The launch in this place of the order, from two that were measured: time is a power of instructions between
 * them, or, where these are equal, between both. */
static double between(const struct sampling *s, size_t at, size_t low, size_t high)
{
    const struct own_launch *a = &s->own[s->order[low]], *b = &s->own[s->order[high]];
    double x = log((double)max_u64(s->launches[s->order[at]].instructions, 1));
    double from = log((double)max_u64(s->launches[s->order[low]].instructions, 1));
    double to = log((double)max_u64(s->launches[s->order[high]].instructions, 1));
    double share = to > from ? (x - from) / (to - from) : 0.5;
    return exp(log(a->ps) * (1 - share) + log(b->ps) * share);
}

/* The next place from here on, up or down, that was measured; or the end of the stratum. */
static size_t next_measured(const struct sampling *s, const struct stratum *stratum, size_t at, int step)
{
    size_t end = stratum->first + stratum->count;
    while (at >= stratum->first && at < end && !s->own[s->order[at]].measured)
        at += (size_t)step; /* wraps below the first, which ends it, too */
    return at >= stratum->first && at < end ? at : SIZE_MAX;
}

/* How far measured launches are from what their neighbours say of them. */
static double misses(const struct sampling *s, const struct stratum *stratum)
{
    double squares = 0, count = 0;
    for (size_t at = stratum->first + 1; at + 1 < stratum->first + stratum->count; at++) {
        if (!s->own[s->order[at]].measured)
            continue;
        size_t low = next_measured(s, stratum, at - 1, -1), high = next_measured(s, stratum, at + 1, 1);
        if (low == SIZE_MAX || high == SIZE_MAX)
            continue;
        double miss = between(s, at, low, high) / s->own[s->order[at]].ps - 1;
        squares += miss * miss;
        count++;
    }
    return count > 0 ? sqrt(squares / count) : 1;
}

static void estimate_stratum(const struct sampling *s, const struct stratum *stratum,
                             struct stratum_estimate *e)
{
    double measured_ps = 0, other_ps = 0, cut_errors = 0;
    *e = (struct stratum_estimate){0};
    for (size_t at = stratum->first; at < stratum->first + stratum->count; at++) {
        const struct own_launch *own = &s->own[s->order[at]];
        e->instructions += s->launches[s->order[at]].instructions;
        if (own->measured) {
            e->measured++;
            measured_ps += own->ps;
            cut_errors += own->ps * own->error; /* they lean the same way */
            continue;
        }
        size_t low = next_measured(s, stratum, at, -1), high = next_measured(s, stratum, at, 1);
        if (low != SIZE_MAX || high != SIZE_MAX)
            other_ps += between(s, at, low != SIZE_MAX ? low : high, high != SIZE_MAX ? high : low);
    }
    if (!e->measured)
        return;
    e->ps = measured_ps + other_ps;
    double spread =
        other_ps > 0 ? other_ps * fmax(misses(s, stratum) * widened(e->measured) / sqrt((double)e->measured),
                                       least_error)
                     : 0;
    e->error = hypot(cut_errors * e->ps / measured_ps, spread);
}

static void add_strata(const struct sampling *s, bool any, uint32_t kernel, struct sampling_estimate *sum)
{
    double squares = 0;
    *sum = (struct sampling_estimate){0};
    for (size_t i = 0; i < s->stratum_count; i++) {
        struct stratum_estimate e;
        if (!any && s->launches[s->order[s->strata[i].first]].kernel != kernel)
            continue;
        estimate_stratum(s, &s->strata[i], &e);
        sum->launches += s->strata[i].count;
        sum->simulated += e.measured;
        sum->instructions += e.instructions;
        sum->ps += e.ps;
        squares += e.error * e.error;
    }
    sum->error = sum->ps > 0 ? sqrt(squares) / sum->ps : 0;
    sum->simulated_instructions = s->simulated_instructions;
}

void sampling_total(const struct sampling *s, struct sampling_estimate *estimate)
{
    add_strata(s, true, 0, estimate);
}

void sampling_kernel(const struct sampling *s, uint32_t kernel, struct sampling_estimate *estimate)
{
    add_strata(s, false, kernel, estimate);
}

const char *sampling_why(const struct sampling *s)
{
    return s->why;
}

/* ---- what next ---- */

/* Samples of a stratum are spread over it, from the smallest to the largest; of equal ones, from the first to
 * the last. */
static size_t sample_of(const struct sampling *s, const struct stratum *stratum, size_t k)
{
    size_t place = stratum->wanted > 1 ? k * (stratum->count - 1) / (stratum->wanted - 1) : 0;
    return s->order[stratum->first + place];
}

/* More samples where most of the error is. */
static bool want_more(struct sampling *s)
{
    struct sampling_estimate sum;
    bool more = false;
    sampling_total(s, &sum);
    double bound = s->target * sum.ps / sqrt((double)max_u64(s->stratum_count, 1));
    for (size_t i = 0; i < s->stratum_count && sum.error > s->target; i++) {
        struct stratum_estimate e;
        estimate_stratum(s, &s->strata[i], &e);
        if (e.error <= bound || s->strata[i].wanted == s->strata[i].count)
            continue;
        s->strata[i].wanted = min_u64(2 * s->strata[i].wanted, s->strata[i].count);
        more = true;
    }
    return more;
}

static bool plan_samples(struct sampling *s, uint64_t *blocks)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++)
        blocks[i] = 0;
    for (size_t i = 0; i < s->stratum_count; i++)
        for (size_t k = 0; k < s->strata[i].wanted; k++) {
            size_t number = sample_of(s, &s->strata[i], k);
            if (s->own[number].measured)
                continue;
            s->own[number].planned = any = true;
            blocks[number] = s->own[number].blocks;
        }
    /* The launch before each is simulated too, in part, so that caches are as it leaves them. */
    for (size_t i = s->count; i-- > 1;)
        if (blocks[i] && s->own[i].planned && !blocks[i - 1])
            blocks[i - 1] = s->launches[i - 1].whole ? s->launches[i - 1].blocks
                                                     : min_u64(s->launches[i - 1].blocks,
                                                               2 * max_u64(s->launches[i - 1].resident, 1));
    return any;
}

/* Whether the error is small enough, and no kernel was left out; if not, this is why. */
static bool is_enough(struct sampling *s, const char *why)
{
    struct sampling_estimate sum;
    bool all = true;
    for (size_t i = 0; i < s->stratum_count; i++) {
        struct stratum_estimate e;
        estimate_stratum(s, &s->strata[i], &e);
        all &= e.measured > 0;
    }
    sampling_total(s, &sum);
    s->why = all && sum.error <= s->target ? NULL : why;
    return !s->why;
}

bool sampling_plan(struct sampling *s, uint64_t *blocks)
{
    for (;;) {
        bool most = (double)s->simulated_instructions > most_work * (double)s->all_instructions;
        if (s->passes && most &&
            !is_enough(s, "half of all instructions were simulated, and times still differ too much"))
            return false;
        if (s->passes && most)
            return false;
        if (s->passes >= PASSES_MOST) {
            is_enough(s, "the times of launches that look alike differ too much");
            return false;
        }
        if (plan_samples(s, blocks)) {
            s->passes++;
            return true;
        }
        if (!want_more(s)) {
            is_enough(s, "all was simulated that could be, and times still differ too much");
            return false;
        }
    }
}
