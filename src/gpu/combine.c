#include "gpu/combine.h"
#include "base/archive.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* What each rank gave, to be freed by give_back; NULL: there is one, or some were lost. */
static struct text *share(struct ranks *ranks, const struct text *mine)
{
    struct err unused; /* the next run fails */
    if (ranks_count(ranks) == 1)
        return NULL;
    struct text *all = mem_alloc(ranks_count(ranks), sizeof *all);
    if (!ranks_share(ranks, mine, all, &unused))
        for (uint32_t i = 0; i < ranks_count(ranks); i++)
            text_fini(&all[i]);
    return all;
}

static void give_back(const struct ranks *ranks, struct text *all)
{
    for (uint32_t i = 0; i < ranks_count(ranks) && all; i++)
        text_fini(&all[i]);
    mem_free(all);
}

/* ---- counts ---- */

struct counted {
    struct launch_result result;
    struct gpu_kernel_stats stats;
    uint32_t fault_sm, padding;
};

static void add_words(void *to, const void *from, size_t bytes)
{
    uint64_t *sum = to;
    const uint64_t *part = from;
    for (size_t i = 0; i < bytes / sizeof *sum; i++)
        sum[i] += part[i];
}

static void add_profile(struct gpu_kernel_stats *stats, const struct text *profile)
{
    uint32_t count = (uint32_t)(profile->length / sizeof *stats->profile);
    if (count && !stats->profile) {
        stats->profile = mem_alloc(count, sizeof *stats->profile);
        stats->profile_count = count;
    }
    for (uint32_t i = 0; i < count; i++) {
        struct op_profile one;
        memcpy(&one, profile->at + i * sizeof one, sizeof one);
        op_profile_sum(&stats->profile[i], &one);
        stats->profile[i].stalls[STALL_selected] = stats->profile[i].issued;
    }
}

static void add_counted(struct launch_result *result, struct gpu_kernel_stats *stats, uint32_t *fault_sm,
                        const struct counted *other)
{
#define C(name) result->name += other->result.name;
    LAUNCH_COUNTS(C)
#undef C
    if (other->result.fault.kind && (!result->fault.kind || other->fault_sm < *fault_sm)) {
        result->fault = other->result.fault;
        *fault_sm = other->fault_sm;
    }
    add_words(&stats->sm, &other->stats.sm, sizeof stats->sm);
    add_words(&stats->mem, &other->stats.mem, sizeof stats->mem);
    bool had_none = !stats->sms_used;
    stats->sms_used += other->stats.sms_used;
    stats->busiest_sm_cycles = max_u64(stats->busiest_sm_cycles, other->stats.busiest_sm_cycles);
    stats->busiest_sm_instructions =
        max_u64(stats->busiest_sm_instructions, other->stats.busiest_sm_instructions);
    if (other->stats.sms_used)
        stats->idlest_sm_cycles = had_none ? other->stats.idlest_sm_cycles
                                           : min_u64(stats->idlest_sm_cycles, other->stats.idlest_sm_cycles);
}

void combine_counts(struct ranks *ranks, struct launch_result *result, struct gpu_kernel_stats *stats,
                    uint32_t fault_sm)
{
    struct archive mine = archive_writer();
    struct counted here = {.result = *result, .stats = *stats, .fault_sm = fault_sm};
    struct text profile = {.at = (char *)stats->profile,
                           .length = stats->profile_count * sizeof *stats->profile};
    ARCHIVE_VALUE(&mine, here);
    archive_text(&mine, &profile);
    struct text *all = share(ranks, &mine.text);
    for (uint32_t i = 0; i < ranks_count(ranks) && all; i++) {
        struct archive from = archive_reader(all[i].at, all[i].length);
        struct counted other;
        struct text more = {0};
        ARCHIVE_VALUE(&from, other);
        archive_text(&from, &more);
        if (i != ranks_number(ranks) && from.good) {
            add_counted(result, stats, &fault_sm, &other);
            add_profile(stats, &more);
        }
        text_fini(&more);
    }
    give_back(ranks, all);
    text_fini(&mine.text);
}

/* ---- texts ---- */

bool combine_text(struct ranks *ranks, uint32_t sm, struct text *text)
{
    struct text mine = {0};
    text_add_bytes(&mine, (const char *)&sm, sizeof sm);
    text_add_bytes(&mine, text->at ? text->at : "", text->length);
    struct text *all = share(ranks, &mine);
    for (uint32_t i = 0; i < ranks_count(ranks) && all; i++) {
        uint32_t other = UINT32_MAX;
        if (all[i].length >= sizeof other)
            memcpy(&other, all[i].at, sizeof other);
        if (other >= sm)
            continue;
        sm = other;
        text->length = 0;
        text_add_bytes(text, all[i].at + sizeof sm, all[i].length - sizeof sm);
    }
    give_back(ranks, all);
    text_fini(&mine);
    return sm != UINT32_MAX;
}

/* ---- prints ---- */

void combine_add_piece(struct text *pieces, const struct print_piece *piece, const char *text)
{
    text_add_bytes(pieces, (const char *)piece, sizeof *piece);
    text_add_bytes(pieces, text, piece->bytes);
}

/* The next piece of a rank's; NULL: it has no more. */
static const char *next_piece(const struct text *pieces, size_t at, struct print_piece *piece)
{
    if (at + sizeof *piece > pieces->length)
        return NULL;
    memcpy(piece, pieces->at + at, sizeof *piece);
    return piece->bytes <= pieces->length - at - sizeof *piece ? pieces->at + at + sizeof *piece : NULL;
}

static bool comes_first(const struct print_piece *a, const struct print_piece *b)
{
    return a->cycle != b->cycle ? a->cycle < b->cycle : a->sm < b->sm;
}

void combine_prints(struct ranks *ranks, const struct text *pieces, combine_print_fn *print, void *user)
{
    uint32_t count = ranks_count(ranks);
    struct text *all = share(ranks, pieces);
    size_t *at = mem_alloc(count, sizeof *at);
    while (!ranks_number(ranks)) {
        struct print_piece best = {.cycle = UINT64_MAX, .sm = UINT32_MAX}, one;
        const char *text = NULL;
        uint32_t from = 0;
        for (uint32_t i = 0; i < count; i++) {
            const char *next = next_piece(all ? &all[i] : pieces, at[i], &one);
            if (next && (!text || comes_first(&one, &best))) {
                best = one;
                text = next;
                from = i;
            }
        }
        if (!text)
            break;
        print(user, text, best.bytes);
        at[from] += sizeof best + best.bytes;
    }
    mem_free(at);
    give_back(ranks, all);
}
