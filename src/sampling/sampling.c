#include "sampling/sampling.h"
#include "base/bits.h"
#include "base/mem.h"

#include <math.h>
#include <stdlib.h>

enum {
    FIRST_SAMPLES = 3, /* of a stratum */
    FIRST_WAVES = 8,   /* of a launch with many blocks: times what the GPU holds */
    MANY_WAVES = 16,   /* from so many on a launch is cut */
    PASSES_MOST = 12,
};

static const double same_instructions = 1.25; /* most by least, in a stratum */
static const double least_error = 0.01;       /* of what was not simulated, however alike samples are */
static const double most_work = 0.5;          /* of all instructions: then simulate all */

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

static int by_number(const void *a, const void *b)
{
    size_t i = *(const size_t *)a, k = *(const size_t *)b;
    return i < k ? -1 : i > k;
}

static bool is_alike(const struct sampling_launch *a, const struct sampling_launch *b)
{
    return a->kernel == b->kernel && a->threads == b->threads &&
           (double)b->instructions <= same_instructions * (double)a->instructions;
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
        qsort(s->order + i, end - i, sizeof *s->order, by_number); /* in the order of time */
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

/* The first wave and the last are not as those between: of eight waves, the marks of the second to the
 * seventh are looked at. */
static double steady_rate(const struct sampling_measured *m, double *error)
{
    enum { FROM = 7, MIDDLE = 17, TO = 27 };
    double all = rate(m, FROM, TO), early = rate(m, FROM, MIDDLE), late = rate(m, MIDDLE, TO), squares = 0;
    for (int i = FROM; i < TO; i += 2) {
        double one = rate(m, i, i + 2) / all - 1;
        squares += one * one;
    }
    enum { PARTS = (TO - FROM) / 2 };
    *error = fabs(late - early) / all + sqrt(squares / (PARTS - 1) / PARTS);
    return late > 0 ? (all + late) / 2 : all;
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
    if (m->blocks < launch->blocks && own->error > s->target) { /* not steady yet: more of it */
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
    static const double t[] = {0, 0, 1.84, 1.32, 1.20, 1.14, 1.11, 1.09};
    return samples < COUNT_OF(t) ? t[samples] : 1.05;
}

static void estimate_stratum(const struct sampling *s, const struct stratum *stratum,
                             struct stratum_estimate *e)
{
    double ps = 0, squares = 0, cut_errors = 0;
    uint64_t weight = 0;
    *e = (struct stratum_estimate){0};
    for (size_t i = stratum->first; i < stratum->first + stratum->count; i++) {
        const struct own_launch *own = &s->own[s->order[i]];
        e->instructions += s->launches[s->order[i]].instructions;
        if (!own->measured)
            continue;
        e->measured++;
        ps += own->ps;
        weight += s->launches[s->order[i]].instructions;
        cut_errors += own->ps * own->error; /* they lean the same way */
    }
    if (!e->measured)
        return;
    double ratio = ps / (double)max_u64(weight, 1), n = (double)e->measured, all = (double)stratum->count;
    for (size_t i = stratum->first; i < stratum->first + stratum->count; i++) {
        const struct own_launch *own = &s->own[s->order[i]];
        double differs = own->ps - ratio * (double)s->launches[s->order[i]].instructions;
        squares += own->measured ? differs * differs : 0;
    }
    e->ps = weight ? ratio * (double)e->instructions : ps / n * all;
    e->error = cut_errors * e->ps / ps;
    if (n < all && n > 1) {
        double spread = all * sqrt((1 - n / all) * squares / (n - 1) / n) * widened(e->measured);
        e->error = hypot(e->error, fmax(spread, least_error * e->ps * (1 - n / all)));
    }
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

/* Samples of a stratum are spread over it in time. */
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

bool sampling_plan(struct sampling *s, uint64_t *blocks)
{
    struct sampling_estimate sum;
    for (;;) {
        if (s->passes && (double)s->simulated_instructions > most_work * (double)s->all_instructions) {
            sampling_total(s, &sum);
            if (sum.error > s->target || sum.ps == 0)
                s->why = "half of all instructions were simulated, and times still differ too much";
            return false;
        }
        if (plan_samples(s, blocks)) {
            s->passes++;
            return true;
        }
        if (!want_more(s))
            return false;
        if (s->passes >= PASSES_MOST) {
            s->why = "the times of launches that look alike differ too much";
            return false;
        }
    }
}
