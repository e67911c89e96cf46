#include "sampling/sampling.h"
#include "base/bits.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_SAMPLES = 4,  /* of a stratum of launches that differ in size */
    EVEN_SAMPLES = 2,   /* of one of launches that are alike; */
    EVEN_LAUNCHES = 50, /* from so many on three, and one more ... */
    EVEN_MORE = 100,    /* ... for so many launches, up to ... */
    EVEN_MOST = 6,
    FEW_SIZES = 3,      /* of launches of a kernel */
    FIRST_WAVES = 3,    /* of a launch with many blocks: times what the GPU holds */
    MANY_WAVES = 5,     /* from so many on a launch is cut */
    CACHE_FILLS = 2,    /* times the size of the L2 that must have gone through it, before a rate is steady */
    WARM_MOST = 4,      /* launches of its stratum before a sample that are simulated to warm caches, ... */
    WARM_LAUNCHES = 24, /* ... each no more launches back than this */
    PASSES_MOST = 12,
};

/* Of what was not simulated: caches are as another launch left them. This is the same way for all. */
static const double least_error = 0.02;
/* Of what was: copies before it were not made, and memory is refreshed at other times. */
static const double measured_error = 0.003;
static const double even_sizes =
    1.05; /* launches are alike if the largest has so many times the instructions */
/* A launch that would take so much less of its time to move all its bytes from and to memory hardly becomes
 * slower when the L2 is full; the error of this. */
static const double memory_share = 0.7, full_cache_error = 0.03;
static const double cold_most = 4;      /* times that a launch with cold caches may take longer */
static const double warm_enough = 0.03; /* by so much another launch before it may change a sample's time */
static const double like_sizes = 1.2;   /* as many times the work: then their times can be compared */
static const double small_share = 0.01;
static const double most_work = 0.5; /* of all instructions: then simulate all */

struct own_launch {
    bool planned, measured;
    bool alone;        /* the only one of its size, with little of all instructions */
    uint64_t blocks;   /* to be simulated, when its turn comes */
    double ps, error;  /* of the whole launch */
    size_t before;     /* launch of its stratum, when they ran; NONE: it is the first */
    bool exact;        /* all before it was simulated when it was measured: caches were as they are */
    double shown;      /* ps of what was simulated of it in this pass; 0: nothing was */
    double shown_work; /* instructions of that */
    double shown_read; /* and bytes that came from memory */
};

static const size_t NONE = SIZE_MAX;

struct stratum {
    size_t first, count; /* in the order */
    size_t wanted;       /* samples */
    size_t head;         /* so many of launches that are alike are samples, from the first on */
    bool even;           /* launches are alike: in the order in which they ran; else by instructions */
    unsigned depth; /* launches of it before a sample that are simulated, and all behind these; 0: only the
                       launch right before it, in part */
    size_t check;   /* the sample that shows whether this is enough; NONE: nothing is to be found out */
    double drift;   /* how much one more of these launches changed its time */
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

static int by_number(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    return i < k ? -1 : i > k;
}

static bool is_alike(const struct sampling_launch *a, const struct sampling_launch *b)
{
    return a->kernel == b->kernel && a->threads == b->threads;
}

/* How many launches in the order, from this place on, have about as many instructions as it. */
static size_t even_run(const struct sampling *s, size_t first, size_t end)
{
    double most = even_sizes * (double)s->launches[s->order[first]].instructions;
    size_t at = first + 1;
    while (at < end && (double)s->launches[s->order[at]].instructions <= most)
        at++;
    return at - first;
}

static void add_stratum(struct sampling *s, size_t first, size_t count, bool even)
{
    uint64_t wanted = FIRST_SAMPLES;
    if (even) {
        qsort(&s->order[first], count, sizeof *s->order, by_number);
        wanted = EVEN_SAMPLES + (count >= EVEN_LAUNCHES) * max_u64(count / EVEN_MORE, 1);
        wanted = min_u64(wanted, EVEN_MOST);
    }
    mem_grow(s->strata, s->stratum_count, s->stratum_capacity);
    s->strata[s->stratum_count++] = (struct stratum){.first = first,
                                                     .count = count,
                                                     .wanted = min_u64(wanted, count),
                                                     .head = EVEN_SAMPLES,
                                                     .even = even,
                                                     .check = NONE};
}

/* Launches of one kernel, sorted by instructions: of a few sizes, each a stratum; or else one of all. */
static void add_kind(struct sampling *s, size_t first, size_t end)
{
    size_t sizes = 0;
    for (size_t at = first; at < end; at += even_run(s, at, end))
        sizes++;
    if (sizes > FEW_SIZES) {
        add_stratum(s, first, end - first, false);
        return;
    }
    for (size_t at = first, run; at < end; at += run) {
        run = even_run(s, at, end);
        add_stratum(s, at, run, true);
    }
}

static size_t sample_of(const struct sampling *s, const struct stratum *stratum, size_t k);

/* The launch of the same stratum that ran before each. A sample of a stratum with many launches, in the midst
 * of them, is to show how caches become warm. */
static void find_before(struct sampling *s)
{
    size_t *last = mem_alloc(s->stratum_count + 1, sizeof *last);
    size_t *stratum_of = mem_alloc(s->count + 1, sizeof *stratum_of);
    for (size_t i = 0; i < s->stratum_count; i++) {
        struct stratum *stratum = &s->strata[i];
        last[i] = NONE;
        for (size_t at = stratum->first; at < stratum->first + stratum->count; at++)
            stratum_of[s->order[at]] = i;
        if (stratum->count >= EVEN_LAUNCHES && stratum->wanted > 2)
            stratum->check = sample_of(s, stratum, 2);
    }
    for (size_t i = 0; i < s->count; i++) {
        size_t before = last[stratum_of[i]];
        s->own[i].before = before != NONE && i - before <= WARM_LAUNCHES ? before : NONE;
        last[stratum_of[i]] = i;
    }
    mem_free(last);
    mem_free(stratum_of);
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
        add_kind(s, i, end);
    }
    for (size_t i = 0; i < s->stratum_count; i++) {
        size_t number = s->order[s->strata[i].first];
        double share = (double)launches[number].instructions / (double)max_u64(s->all_instructions, 1);
        s->own[number].alone = s->strata[i].count == 1 && share < small_share;
    }
    find_before(s);
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

/* The first wave and the last are not as those between: of three waves, the second is looked at. */
static double steady_rate(const struct sampling_measured *m, double *error)
{
    enum { FROM = 10, MIDDLE = 16, TO = 22, PARTS = (TO - FROM) / 2 };
    double all = rate(m, FROM, TO), early = rate(m, FROM, MIDDLE), late = rate(m, MIDDLE, TO), squares = 0;
    for (int i = FROM; i < TO; i += 2) {
        double one = rate(m, i, i + 2) / all - 1;
        squares += one * one;
    }
    *error = hypot(fabs(late - early) / all / 2, sqrt(squares / (PARTS - 1) / PARTS));
    return (all + late) / 2;
}

/* A cache that still takes what it will have to give back later makes the beginning look fast. */
static bool fills_cache(const struct sampling_launch *launch, const struct sampling_measured *m)
{
    double all = m->cache_missed * (double)launch->blocks / (double)m->blocks;
    return all <= m->cache_bytes || m->cache_missed >= CACHE_FILLS * m->cache_bytes;
}

/* Unless memory could be in the way, even if the cache held nothing. */
static bool waits_for_memory(const struct sampling_measured *m, double block_ps)
{
    return m->cache_traffic / (double)m->blocks > memory_share * block_ps * m->memory_rate;
}

/* From the blocks that were simulated to all. False: more of them must be. */
static bool extrapolate(const struct sampling *s, const struct sampling_launch *launch,
                        struct own_launch *own, const struct sampling_measured *m)
{
    double error, block_ps = steady_rate(m, &error), left = (double)(launch->blocks - m->blocks) * block_ps;
    double before = own->ps;
    bool full = fills_cache(launch, m);
    own->ps = m->ps + left;
    if (before > 0) /* what half as many blocks said of these */
        error = fmin(error, fabs(own->ps / before - 1));
    if (!full)
        error = hypot(error, full_cache_error);
    own->error = error * left / own->ps;
    return own->error <= s->target && (full || !waits_for_memory(m, block_ps));
}

void sampling_take(struct sampling *s, size_t number, const struct sampling_measured *m)
{
    const struct sampling_launch *launch = &s->launches[number];
    struct own_launch *own = &s->own[number];
    own->shown = m->ps;
    own->shown_read = m->memory_read;
    own->shown_work = (double)launch->instructions * (double)m->blocks / (double)max_u64(launch->blocks, 1);
    s->simulated_instructions += (uint64_t)own->shown_work;
    if (!own->planned || own->measured) /* it only warmed caches */
        return;
    if (m->blocks >= launch->blocks) {
        own->error = 0;
        own->ps = m->ps;
    } else if (!extrapolate(s, launch, own, m)) { /* more of it */
        own->blocks = 2 * m->blocks > launch->blocks / 2 ? launch->blocks : 2 * m->blocks;
        own->planned = false;
        return;
    }
    own->measured = true;
}

/* ---- estimates ---- */

struct stratum_estimate {
    double ps, error, bias; /* in ps; error: by chance; bias: what all strata may have in common */
    uint64_t measured, instructions;
};

/* How much wider than a standard deviation two thirds of cases are, of so few samples (Student's t). */
static double widened(uint64_t samples)
{
    static const double t[] = {1.84, 1.84, 1.84, 1.32, 1.20, 1.14, 1.11, 1.09};
    return samples < COUNT_OF(t) ? t[samples] : 1.05;
}

/* The launch in this place of the order, from two that were measured: time is a power of instructions between
 * them, or, where these are about equal, in the middle of both. */
static double between(const struct sampling *s, const struct stratum *stratum, size_t at, size_t low,
                      size_t high)
{
    const struct own_launch *a = &s->own[s->order[low]], *b = &s->own[s->order[high]];
    double x = log((double)max_u64(s->launches[s->order[at]].instructions, 1));
    double from = log((double)max_u64(s->launches[s->order[low]].instructions, 1));
    double to = log((double)max_u64(s->launches[s->order[high]].instructions, 1));
    double share = to > from && !stratum->even ? (x - from) / (to - from) : 0.5;
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

/* How far measured launches of different sizes are from what their neighbours say of them. */
static double misses(const struct sampling *s, const struct stratum *stratum)
{
    double squares = 0, count = 0;
    for (size_t at = stratum->first + 1; at + 1 < stratum->first + stratum->count; at++) {
        if (!s->own[s->order[at]].measured)
            continue;
        size_t low = next_measured(s, stratum, at - 1, -1), high = next_measured(s, stratum, at + 1, 1);
        if (low == SIZE_MAX || high == SIZE_MAX)
            continue;
        double miss = between(s, stratum, at, low, high) / s->own[s->order[at]].ps - 1;
        squares += miss * miss;
        count++;
    }
    return count > 0 ? sqrt(squares / count) * widened((uint64_t)count) / sqrt(count) : 1;
}

/* How far the mean of measured launches that are alike may be from that of all. The first, or some more
 * of them, find caches that are cold: they stand for themselves alone if there are two others, and if they
 * did not take so much longer that this cannot be the reason. */
static double mean_error(const struct sampling *s, const struct stratum *stratum)
{
    double sum = 0, squares = 0, count = 0;
    for (size_t at = stratum->first + stratum->count; at-- > stratum->first;) {
        const struct own_launch *own = &s->own[s->order[at]];
        bool is_cold =
            at + 1 < stratum->first + stratum->head && count >= 2 && own->ps < cold_most * sum / count;
        if (!own->measured || is_cold)
            continue;
        sum += own->ps;
        squares += own->ps * own->ps;
        count++;
    }
    if (count < 2)
        return 1;
    double mean = sum / count, variance = fmax(squares / count - mean * mean, 0) * count / (count - 1);
    return sqrt(variance / count) / mean * widened((uint64_t)count);
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
            other_ps += between(s, stratum, at, low != SIZE_MAX ? low : high, high != SIZE_MAX ? high : low);
    }
    if (!e->measured)
        return;
    e->ps = measured_ps + other_ps;
    if (other_ps > 0)
        e->error = other_ps * (stratum->even ? mean_error(s, stratum) : misses(s, stratum));
    e->bias = measured_ps * measured_error + cut_errors * e->ps / measured_ps +
              other_ps * fmax(least_error, stratum->drift);
}

static void add_strata(const struct sampling *s, bool any, uint32_t kernel, struct sampling_estimate *sum)
{
    double squares = 0, bias = 0;
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
        bias += e.bias;
    }
    sum->error = sum->ps > 0 ? hypot(sqrt(squares), bias) / sum->ps : 0;
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

/* Of launches that are alike the first two are samples, or some more, of others the smallest and the largest;
 * the rest by the golden ratio: samples are spread, keep their places when there are more of them, and do not
 * follow a program's period. Strata with as many launches have samples next to each other, which warm caches
 * for each other. */
static size_t sample_of(const struct sampling *s, const struct stratum *stratum, size_t k)
{
    static const double golden = 0.6180339887498949;
    size_t head = stratum->even ? stratum->head : EVEN_SAMPLES;
    double share = fmod((double)(k + 1 - head) * golden, 1);
    size_t place = k;
    if (stratum->wanted < stratum->count && k == 1 && !stratum->even)
        place = stratum->count - 1;
    if (stratum->wanted < stratum->count && k >= head)
        place = (stratum->even ? 2 : 1) + (size_t)(share * (double)(stratum->count - 2));
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
        if (hypot(e.error, e.bias) <= bound || s->strata[i].wanted == s->strata[i].count)
            continue;
        s->strata[i].wanted = min_u64(2 * s->strata[i].wanted - 1, s->strata[i].count); /* old ones stay */
        more = true;
    }
    return more;
}

/* Launches before a sample are simulated too, so that caches are as these leave them: the one right before
 * it in part, or all from an earlier one of its stratum on. Later passes begin with empty caches. */
static void plan_warming(const struct sampling *s, const struct stratum *stratum, size_t number,
                         uint64_t *blocks)
{
    size_t from = number, depth = max_u64(stratum->depth, s->passes > 0) + (stratum->check == number);
    if (s->own[number].alone)
        return;
    for (; depth && s->own[from].before != NONE; depth--)
        from = s->own[from].before;
    for (size_t i = from; i < number; i++)
        blocks[i] = s->own[i].blocks;
    if (from && !blocks[from - 1]) {
        const struct sampling_launch *launch = &s->launches[from - 1];
        blocks[from - 1] =
            launch->whole ? launch->blocks : min_u64(launch->blocks, max_u64(launch->resident, 1));
    }
}

static bool plan_samples(struct sampling *s, uint64_t *blocks)
{
    bool any = false;
    for (size_t i = 0; i < s->count; i++) {
        blocks[i] = 0;
        s->own[i].shown = 0;
    }
    for (size_t i = 0; i < s->stratum_count; i++)
        for (size_t k = 0; k < s->strata[i].wanted; k++) {
            size_t number = sample_of(s, &s->strata[i], k);
            if (s->own[number].measured)
                continue;
            s->own[number].planned = any = true;
            blocks[number] = s->own[number].blocks;
        }
    for (size_t i = 0; i < s->stratum_count; i++)
        for (size_t k = 0; k < s->strata[i].wanted; k++) {
            size_t number = sample_of(s, &s->strata[i], k);
            if (!s->own[number].measured)
                plan_warming(s, &s->strata[i], number, blocks);
        }
    for (size_t i = 0; i < s->count && blocks[i] >= s->launches[i].blocks; i++)
        s->own[i].exact = true;
    return any;
}

/* How much less time the sample took than the launch of its stratum before it, which found caches with one
 * launch less, if it also read less from memory; beside what may be due to their sizes. Else they differ for
 * another reason, as all samples do. */
static double drift_of(const struct sampling *s, size_t number)
{
    const struct own_launch *own = &s->own[number], *before = &s->own[own->before];
    double work = own->shown_work / before->shown_work, size = sqrt(work);
    if (!(work < like_sizes && work > 1 / like_sizes) ||
        own->shown_read >= (1 - warm_enough) * work * before->shown_read)
        return 0;
    return fmax(1 - own->shown / (before->shown * size) - fabs(size - 1), 0);
}

/* The first launches, each with all before it. While each reads less from memory than the one before, and
 * still reads, caches are not yet as later launches find them: one more of them is a sample. Where there are
 * many launches, others are samples, too. */
static void check_head(struct sampling *s, struct stratum *stratum)
{
    const size_t *order = &s->order[stratum->first];
    if (!stratum->even || stratum->count >= EVEN_LAUNCHES || stratum->head >= stratum->count ||
        stratum->head >= EVEN_SAMPLES + WARM_MOST)
        return;
    const struct own_launch *last = &s->own[order[stratum->head - 1]],
                            *before = &s->own[order[stratum->head - 2]];
    if (!last->measured || !last->exact || !before->exact ||
        last->shown_read >= (1 - warm_enough) * before->shown_read ||
        last->shown_read <= warm_enough * s->own[order[0]].shown_read)
        return;
    stratum->depth = (unsigned)max_u64(stratum->depth, stratum->head);
    stratum->head++;
    stratum->wanted = min_u64(stratum->wanted + 1, stratum->count);
}

/* After a pass: where one launch more changed the time of a sample, samples are simulated again, with more
 * before them. */
static void check_warming(struct sampling *s)
{
    for (size_t i = 0; i < s->stratum_count; i++) {
        struct stratum *stratum = &s->strata[i];
        check_head(s, stratum);
        const struct own_launch *own = stratum->check != NONE ? &s->own[stratum->check] : NULL;
        if (!own || !(own->shown > 0))
            continue;
        bool has_two = own->before != NONE && s->own[own->before].shown > 0;
        stratum->drift = has_two ? drift_of(s, stratum->check) : 0;
        if (stratum->drift <= warm_enough || stratum->depth >= WARM_MOST) {
            stratum->check = NONE;
            continue;
        }
        stratum->depth = stratum->depth ? 2 * stratum->depth : 1;
        for (size_t at = stratum->first; at < stratum->first + stratum->count; at++) {
            struct own_launch *sample = &s->own[s->order[at]];
            if (!sample->exact)
                sample->planned = sample->measured = false;
        }
    }
}

/* More samples do not help where caches do not become warm. */
static bool stays_cold(const struct sampling *s)
{
    double cold = 0, all = 0;
    for (size_t i = 0; i < s->stratum_count; i++) {
        struct stratum_estimate e;
        estimate_stratum(s, &s->strata[i], &e);
        cold += s->strata[i].check == NONE ? e.ps * s->strata[i].drift : 0;
        all += e.ps;
    }
    return cold > s->target * all;
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
    check_warming(s);
    if (s->passes && stays_cold(s)) {
        s->why = "the more launches before a sample are simulated, the faster it is";
        return false;
    }
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
