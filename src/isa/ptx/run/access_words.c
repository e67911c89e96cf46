/* Words of shared memory, by all lanes of a warp: what most accesses of most kernels are. Addresses of 32
 * bits are looked at as such, in a few vectors of the host. What is wrong or unusual is left to access.c. */
#include "ptx_run/access.h"
#include "isa/request.h"
#include "base/bits.h"

#include <string.h>

struct word_survey {
    uint32_t any;  /* bits that some address has */
    uint32_t most; /* how far the last one is from the first byte */
    bool dense;    /* one behind the other, by lane */
    bool same;     /* all at one place */
};

FOR_EACH_HOST static struct word_survey word_addresses(uint32_t at[WARP_LANES], const uint32_t *base,
                                                       uint32_t offset, uint32_t from, uint32_t step)
{
    uint32_t first = base[0] + offset, any = 0, most = 0, off = 0, differs = 0;
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        uint32_t one = base[i] + offset;
        at[i] = one;
        any |= one;
        most = one - from > most ? one - from : most;
        off |= one - first - i * step;
        differs |= one - first;
    }
    return (struct word_survey){.any = any, .most = most, .dense = !off, .same = !differs};
}

static inline uint32_t word_at(const char *at)
{
    return *(const uint32_t *)(const void *)at;
}

static void gather_words(uint32_t *restrict d, const char *from, const uint32_t *restrict at)
{
    for (uint32_t i = 0; i < WARP_LANES; i += 8) { /* eight at a time: compilers do not see that it pays */
        uint32_t a = word_at(from + at[i]), b = word_at(from + at[i + 1]);
        uint32_t c = word_at(from + at[i + 2]), e = word_at(from + at[i + 3]);
        d[i] = a, d[i + 1] = b, d[i + 2] = c, d[i + 3] = e;
        a = word_at(from + at[i + 4]), b = word_at(from + at[i + 5]);
        c = word_at(from + at[i + 6]), e = word_at(from + at[i + 7]);
        d[i + 4] = a, d[i + 5] = b, d[i + 6] = c, d[i + 7] = e;
    }
}

static void load_words(uint32_t d[WARP_LANES], const char *from, const uint32_t at[WARP_LANES],
                       struct word_survey survey, bool alone)
{
    if (survey.dense && alone)
        memcpy(d, from + at[0], WARP_LANES * sizeof *d);
    else if (survey.same)
        lanes_fill(d, 4, word_at(from + at[0]), UINT32_MAX);
    else
        gather_words(d, from, at);
}

static void store_words(const uint32_t s[WARP_LANES], char *to, const uint32_t at[WARP_LANES],
                        struct word_survey survey, bool alone)
{
    if (survey.dense && alone)
        memcpy(to + at[0], s, WARP_LANES * sizeof *s);
    else
        for (uint32_t i = 0; i < WARP_LANES; i++)
            *(uint32_t *)(void *)(to + at[i]) = s[i];
}

bool access_words(struct warp *w, const struct op *op, const struct access *access)
{
    struct block *block = w->isa.block;
    struct request *request = block->worker->request;
    const uint32_t size = 4 * (uint32_t)access->count, from = block->shared_from;
    uint32_t own[WARP_LANES], *at = own;
    if (request) {
        if (UNLIKELY(request->looks))
            return false;
        at = request->shared_at;
    }
    struct word_survey survey = word_addresses(at, warp_at(w, op->a), (uint32_t)op->value, from, size);
    if (UNLIKELY(survey.any & (size - 1) || (uint64_t)survey.most + size > block->shared_bytes))
        return false;
    if (request) {
        request->shared = UINT32_MAX;
        request->shared_bytes = (uint8_t)size;
        request->shared_use = access->writes ? SHARED_WRITE : SHARED_READ;
        request->shared_layout = (uint8_t)(survey.dense  ? LAYOUT_DENSE
                                           : survey.same ? LAYOUT_SAME
                                                         : LAYOUT_UNKNOWN);
    }
    char *base = block->shared - from;
    for (uint32_t v = 0; v < access->count; v++, base += 4) {
        if (access->writes)
            store_words(warp_at(w, access->registers[v]), base, at, survey, access->count == 1);
        else
            load_words(warp_at(w, access->registers[v]), base, at, survey, access->count == 1);
    }
    return true;
}
