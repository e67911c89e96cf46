/* A sweep in pieces, which are dealt out to ranks and kept as they come. A piece is some configurations,
 * which share a pass over the accesses: those of stacks cost little more together than alone, and the others
 * read the traces once. */
#include "cachesim/runs/kept.h"
#include "base/bits.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/progress.h"
#include "cachesim/cpu/stack.h"
#include "deal/deal.h"
#include "ranks/ranks.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

/* Further configurations of a pass make reading no cheaper, and a kill loses them all. */
enum { PIECE_LEAST = 2, PIECE_MOST = 16, STACKED_LEAST = 4 };

struct group { /* configurations that can share a pass */
    size_t first, count, taken;
    bool is_stacked;
};

/* The piece that this rank simulates, in a thread. */
struct piece {
    pthread_t thread;
    struct caches_request r;
    struct configurations part; /* whose arrays of counters are the sweep's */
    uint32_t *numbers;
    _Atomic int stop;
    _Atomic bool has_ended;
    bool good;
    struct err err;
};

struct sharing {
    const struct caches_request *r;
    struct configurations *all;
    struct kept *kept;
    uint32_t *order; /* numbers of configurations, those of a group side by side */
    struct group *groups;
    size_t group_count, group_capacity, ended;
    struct piece piece;
    struct progress progress;
};

/* ---- groups ---- */

static bool is_stacked(const struct sharing *s, size_t number)
{
    return s->r->device->shares_cores && stacks_can(&s->all->at[number].spec);
}

static uint64_t sets_of(const struct caches_spec *spec)
{
    return spec->l1.bytes / spec->l1.line_bytes / max_u64(spec->l1.ways, 1);
}

/* Stacks of neighbouring numbers of sets share most. */
static int by_sets(const void *a, const void *b, void *sharing)
{
    const struct sharing *s = sharing;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
    const struct caches_spec *one = &s->all->at[x].spec, *two = &s->all->at[y].spec;
    if (one->l1.line_bytes != two->l1.line_bytes)
        return one->l1.line_bytes < two->l1.line_bytes ? -1 : 1;
    if (sets_of(one) != sets_of(two))
        return sets_of(one) < sets_of(two) ? -1 : 1;
    return x < y ? -1 : 1;
}

/* Those of the pass of configuration `first`. */
static void add_group(struct sharing *s, size_t first, bool stacked, bool *is_placed, size_t *placed)
{
    struct group group = {.first = *placed, .is_stacked = stacked};
    for (size_t i = first; i < s->all->count; i++) {
        if (is_placed[i] || is_stacked(s, i) != stacked ||
            !configurations_share_pass(s->r, &s->all->at[first], &s->all->at[i]))
            continue;
        is_placed[i] = true;
        s->order[(*placed)++] = (uint32_t)i;
        group.count++;
    }
    if (stacked)
        qsort_r(s->order + group.first, group.count, sizeof *s->order, by_sets, s);
    mem_grow(s->groups, s->group_count, s->group_capacity);
    s->groups[s->group_count++] = group;
}

/* The large pieces, those of stacks, come first. */
static void make_groups(struct sharing *s)
{
    bool *is_placed = mem_alloc(s->all->count, sizeof *is_placed);
    size_t placed = 0;
    s->order = mem_alloc(s->all->count, sizeof *s->order);
    for (size_t i = 0; i < s->all->count; i++)
        is_placed[i] = s->all->at[i].is_known;
    for (int stacked = 1; stacked >= 0; stacked--)
        for (size_t i = 0; i < s->all->count; i++)
            if (!is_placed[i] && is_stacked(s, i) == stacked)
                add_group(s, i, stacked, is_placed, &placed);
    mem_free(is_placed);
}

/* Towards the end pieces get smaller, so that all ranks end at about the same time. Small ones cost most:
 * each reads all accesses. */
static size_t size_of_next(const struct sharing *s, const struct group *group)
{
    size_t left = group->count - group->taken, ranks = ranks_count(s->r->ranks);
    size_t share = (left + ranks - 1) / ranks;
    if (group->is_stacked)
        return min_u64(max_u64((group->count + ranks - 1) / ranks, STACKED_LEAST), left);
    if (ranks == 1)
        return min_u64(PIECE_MOST, left);
    return min_u64(max_u64(left / (ranks + 1), min_u64(share, PIECE_LEAST)), PIECE_MOST);
}

static bool next(void *user, struct text *piece)
{
    struct sharing *s = user;
    for (size_t i = 0; i < s->group_count; i++) {
        struct group *group = &s->groups[i];
        size_t size = size_of_next(s, group);
        if (!size)
            continue;
        text_add_bytes(piece, (const char *)(s->order + group->first + group->taken),
                       size * sizeof *s->order);
        group->taken += size;
        return true;
    }
    return false;
}

/* ---- simulating a piece ---- */

static void *simulate(void *user)
{
    struct piece *piece = user;
    piece->good = caches_simulate(&piece->r, &piece->part, &piece->err);
    piece->has_ended = true;
    return NULL;
}

static size_t copy_numbers(const struct sharing *s, const struct text *bytes, uint32_t **numbers)
{
    size_t count = bytes->length / sizeof **numbers;
    *numbers = mem_alloc(count, sizeof **numbers);
    memcpy(*numbers, bytes->at, count * sizeof **numbers);
    for (size_t i = 0; i < count; i++)
        REQUIRE((*numbers)[i] < s->all->count);
    return count;
}

static void fini_piece(struct piece *piece)
{
    for (size_t i = 0; i < piece->part.count; i++)
        mem_free(piece->part.at[i].wrong);
    mem_free(piece->part.at);
    mem_free(piece->numbers);
}

static bool begin(void *user, unsigned place, const struct text *bytes, struct err *err)
{
    struct sharing *s = user;
    struct piece *piece = &s->piece;
    (void)place;
    *piece = (struct piece){.r = *s->r};
    piece->r.interrupt = &piece->stop;
    piece->r.no_progress = true;
    piece->part.count = copy_numbers(s, bytes, &piece->numbers);
    piece->part.at = mem_alloc(piece->part.count, sizeof *piece->part.at);
    for (size_t i = 0; i < piece->part.count; i++)
        piece->part.at[i] = s->all->at[piece->numbers[i]];
    int why = pthread_create(&piece->thread, NULL, simulate, piece);
    if (why) {
        fini_piece(piece);
        return err_set(err, "caches: cannot start a thread: %s", strerror(why));
    }
    return true;
}

static enum deal_state look(void *user, unsigned place, struct text *result, struct err *err)
{
    struct sharing *s = user;
    struct piece *piece = &s->piece;
    (void)place;
    if (!piece->has_ended)
        return DEAL_BUSY;
    pthread_join(piece->thread, NULL);
    bool good = piece->good;
    *err = piece->err;
    for (size_t i = 0; good && i < piece->part.count; i++) {
        struct text one = {0};
        configuration_pack(&piece->part.at[i], &one);
        text_add_bytes(result, (const char *)&one.length, sizeof one.length);
        text_add_bytes(result, one.at, one.length);
        text_fini(&one);
    }
    fini_piece(piece);
    return good ? DEAL_ENDED : DEAL_BROKEN;
}

static void stop(void *user, unsigned place)
{
    struct sharing *s = user;
    (void)place;
    s->piece.stop = 1;
}

/* ---- results ---- */

static bool take_one(struct sharing *s, struct configuration *one, const char *bytes, size_t count,
                     struct err *err)
{
    REQUIRE(configuration_unpack(one, bytes, count));
    s->all->transfer_s += one->result.transfer_s;
    s->all->l1_s += one->result.l1_s;
    s->all->l2_s += one->result.l2_s;
    s->ended++;
    return !s->kept || kept_add(s->kept, one, err);
}

static bool take(void *user, const struct text *piece, const struct text *result, struct err *err)
{
    struct sharing *s = user;
    uint32_t *numbers;
    const char *at = result->at;
    bool good = true;
    size_t count = copy_numbers(s, piece, &numbers), length;
    for (size_t i = 0; good && i < count; i++, at += length) {
        memcpy(&length, at, sizeof length);
        at += sizeof length;
        good = take_one(s, &s->all->at[numbers[i]], at, length, err);
    }
    mem_free(numbers);
    return good;
}

static void show(void *user)
{
    struct sharing *s = user;
    size_t ended = s->all->known + s->ended;
    if (!s->r->no_progress)
        progress_update(&s->progress, (double)ended / (double)s->all->count, ended);
}

/* ---- all ---- */

bool caches_deal(const struct caches_request *r, struct kept *kept, struct configurations *all,
                 struct err *err)
{
    struct sharing s = {.r = r, .all = all, .kept = kept};
    const struct deal_work work = {.places = 1,
                                   .interrupt = r->interrupt,
                                   .next = next,
                                   .take = take,
                                   .show = show,
                                   .begin = begin,
                                   .look = look,
                                   .stop = stop};
    double start = host_seconds();
    make_groups(&s);
    progress_init(&s.progress, "caches", "configurations");
    bool good = deal_run(r->ranks, &work, &s, err);
    progress_fini(&s.progress);
    all->wall_s = host_seconds() - start;
    mem_free(s.order);
    mem_free(s.groups);
    return good && (!*r->interrupt || err_set(err, "interrupted"));
}
