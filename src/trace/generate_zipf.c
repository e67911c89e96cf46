/* zipf: the line of rank r is used with a probability that goes with r^-skew. A line is drawn in a few steps,
 * however many there are: ranks lie in bins that grow with them; a bin is drawn by an alias table, as if all
 * of its ranks were as likely as its first; then a rank of it evenly, which is taken with the probability
 * that makes up for that. No bin but the first few ranks' is so wide that more than a few are refused. */
#include "trace/generate.h"
#include "base/mem.h"

#include <math.h>

enum { LINE = 64, BINS_MOST = 1 << 11, BINS_OF_OCTAVE = 32 };

#define ZIPF(P, S)                                                                                           \
    GENERATE_COMMON(P, S)                                                                                    \
    P(S, real, skew, "0.9", "0..10", "how much more often the first lines are used: the n-th with n^-skew")
struct generate_zipf {
    ZIPF(PARAM_FIELD, generate_zipf)
};
PARAM_GROUP(zipf_options, "zipf", "few lines often, many seldom", generate_zipf, ZIPF);

struct bin {
    uint64_t first, count; /* ranks, from 1 on */
    uint64_t stay;         /* drawn below: this bin, else `other` */
    uint32_t other;
    uint32_t surely; /* of 2^32: every rank of it is taken at least so often */
    double weight;   /* of its first rank, with which all of it is drawn */
};

struct zipf {
    uint64_t lines, spread; /* rank r lies in line r * spread mod lines: hot ones are not side by side */
    uint32_t bin_count;
    struct bin bins[BINS_MOST];
};

static uint64_t common_divisor(uint64_t a, uint64_t b)
{
    while (b) {
        uint64_t rest = a % b;
        a = b;
        b = rest;
    }
    return a;
}

static void make_bins(struct zipf *zipf, double skew)
{
    for (uint64_t first = 1; first <= zipf->lines;) {
        uint64_t width = max_u64(1, first / BINS_OF_OCTAVE), last = min_u64(first + width - 1, zipf->lines);
        struct bin *bin = &zipf->bins[zipf->bin_count++];
        REQUIRE(zipf->bin_count <= BINS_MOST);
        bin->first = first;
        bin->count = last - first + 1;
        bin->weight = pow((double)first, -skew);
        bin->surely = (uint32_t)(0xffffffff * pow((double)last / (double)first, -skew));
        first = last + 1;
    }
}

/* Vose's alias method: each bin keeps a part of its place, and another has the rest. */
static void make_alias(struct zipf *zipf)
{
    uint32_t count = zipf->bin_count, small = 0, large = 0;
    uint32_t *smaller = mem_alloc(count, sizeof *smaller), *larger = mem_alloc(count, sizeof *larger);
    double *share = mem_alloc(count, sizeof *share), sum = 0;
    for (uint32_t i = 0; i < count; i++)
        sum += share[i] = zipf->bins[i].weight * (double)zipf->bins[i].count;
    for (uint32_t i = 0; i < count; i++) {
        share[i] *= count / sum;
        *(share[i] < 1 ? &smaller[small++] : &larger[large++]) = i;
    }
    for (uint32_t i = 0; i < count; i++)
        zipf->bins[i].stay = UINT64_MAX;
    while (small && large) {
        uint32_t from = smaller[--small], to = larger[large - 1];
        zipf->bins[from].stay = rng_share(share[from]);
        zipf->bins[from].other = to;
        share[to] -= 1 - share[from];
        if (share[to] < 1)
            smaller[small++] = larger[--large];
    }
    mem_free(share);
    mem_free(larger);
    mem_free(smaller);
}

static bool zipf_begin(struct generator *generator, struct err *err)
{
    (void)err;
    const struct generate_zipf *spec = generator->spec;
    struct zipf *zipf = mem_alloc(1, sizeof *zipf);
    zipf->lines = spec->footprint / LINE;
    zipf->spread = (uint64_t)((double)zipf->lines * 0.6180339887) | 1;
    while (common_divisor(zipf->spread, zipf->lines) != 1)
        zipf->spread += 2;
    make_bins(zipf, spec->skew);
    make_alias(zipf);
    generator->state = zipf;
    return true;
}

static uint64_t draw_rank(const struct zipf *zipf, struct rng *rng, double skew)
{
    for (;;) {
        unsigned __int128 place = (unsigned __int128)rng_next(rng) * zipf->bin_count;
        const struct bin *bin = &zipf->bins[place >> 64];
        if ((uint64_t)place >= bin->stay && bin->stay != UINT64_MAX)
            bin = &zipf->bins[bin->other];
        uint64_t drawn = rng_next(rng);
        uint64_t rank = bin->first + ((drawn >> 32) * bin->count >> 32);
        if (LIKELY((uint32_t)drawn <= bin->surely) ||
            (uint32_t)drawn <= 0xffffffff * pow((double)rank / (double)bin->first, -skew))
            return rank;
    }
}

static void zipf_fill(struct generator *generator, struct trace_access *into, size_t count)
{
    const struct generate_zipf *spec = generator->spec;
    const struct zipf *zipf = generator->state;
    const uint64_t words = LINE / spec->bytes;
    for (size_t i = 0; i < count; i++, generator->made++) {
        uint64_t rank = draw_rank(zipf, &generator->rng, spec->skew), drawn = rng_next(&generator->rng);
        uint64_t line = rank * zipf->spread % zipf->lines;
        uint64_t word = (drawn & 0xffff) * words >> 16;
        into[i] = trace_access(generator->base + line * LINE + word * spec->bytes,
                               generate_instruction(generator), (uint32_t)spec->bytes,
                               drawn >> 16 < generator->writes >> 16 || generator->writes == UINT64_MAX);
    }
}

const struct generate_kind generate_zipf = {&zipf_options, zipf_begin, zipf_fill, false};
