/* The loop of a rank: letters, places, and a nap when nothing has happened.
 *
 * Letters begin with their kind. To rank 0: ASKS for a piece; GIVES a piece's result; FAILS, with why;
 * LEAVES. From rank 0: a PIECE; END, there are no more; STOP, drop all. A rank has one question at a time. */
#include "deal/deal.h"
#include "base/host.h"
#include "base/mem.h"
#include "ranks/ranks.h"

#include <string.h>
#include <time.h>

enum letter { ASKS = 'a', GIVES = 'g', FAILS = 'f', LEAVES = 'l', PIECE = 'p', END = 'e', STOP = 's' };

struct place {
    struct text piece;
    bool is_busy;
};

struct dealing {
    struct ranks *ranks;
    const struct deal_work *work;
    void *user;
    struct place *places;
    struct text letter, scratch;
    bool *has_left; /* rank 0's, of each rank */
    bool asked;     /* other ranks': no answer has come yet */
    bool no_more;
    bool is_stopping; /* nothing is begun, and results are dropped */
    bool went_wrong;
    bool any; /* something has happened since the last nap */
    struct err *err;
};

/* The first error is the one that is told. */
static void go_wrong(struct dealing *d, const struct err *why)
{
    if (!d->went_wrong)
        *d->err = *why;
    d->went_wrong = d->is_stopping = true;
}

static bool is_interrupted(const struct dealing *d)
{
    return *d->work->interrupt;
}

/* ---- letters ---- */

static bool send(struct dealing *d, uint32_t to, enum letter kind, const struct text *bytes,
                 const struct text *more, struct err *err)
{
    const char first = (char)kind;
    uint64_t length = bytes ? bytes->length : 0;
    d->scratch.length = 0;
    text_add_bytes(&d->scratch, &first, 1);
    if (more)
        text_add_bytes(&d->scratch, (const char *)&length, sizeof length);
    if (length)
        text_add_bytes(&d->scratch, bytes->at, length);
    if (more && more->length)
        text_add_bytes(&d->scratch, more->at, more->length);
    return ranks_send(d->ranks, to, d->scratch.at, d->scratch.length, err);
}

/* A letter, if one is there; its kind, or 0. */
static int receive(struct dealing *d, uint32_t *who)
{
    struct err err;
    if (ranks_count(d->ranks) == 1)
        return 0;
    if (!ranks_receive(d->ranks, RANKS_ANY, 0, &d->letter, who, &err)) {
        if (err.text[0])
            go_wrong(d, &err);
        return 0;
    }
    d->any = true;
    return d->letter.length ? d->letter.at[0] : 0;
}

/* A part of the letter, as a text of its own. */
static struct text part(const struct dealing *d, size_t from, size_t length)
{
    struct text bytes = {0};
    text_add_bytes(&bytes, d->letter.at + from, length);
    return bytes;
}

/* ---- places ---- */

static void begin(struct dealing *d, unsigned number, struct text piece)
{
    struct err err;
    struct place *place = &d->places[number];
    text_fini(&place->piece);
    place->piece = piece;
    place->is_busy = d->work->begin(d->user, number, &place->piece, &err);
    if (!place->is_busy)
        go_wrong(d, &err);
    d->any = true;
}

static void end(struct dealing *d, struct place *place, enum deal_state state, const struct text *result,
                const struct err *why)
{
    struct err err = *why;
    place->is_busy = false;
    d->any = true;
    if (d->is_stopping || (state == DEAL_BROKEN && is_interrupted(d)))
        return;
    bool good =
        state == DEAL_ENDED && (ranks_number(d->ranks) ? send(d, 0, GIVES, &place->piece, result, &err)
                                                       : d->work->take(d->user, &place->piece, result, &err));
    if (!good)
        go_wrong(d, &err);
}

/* Returns how many are still busy. */
static unsigned look(struct dealing *d)
{
    unsigned busy = 0;
    for (unsigned i = 0; i < d->work->places; i++) {
        struct place *place = &d->places[i];
        struct text result = {0};
        struct err err = {{0}};
        if (!place->is_busy)
            continue;
        if (d->is_stopping || is_interrupted(d))
            d->work->stop(d->user, i);
        enum deal_state state = d->work->look(d->user, i, &result, &err);
        if (state != DEAL_BUSY)
            end(d, place, state, &result, &err);
        busy += place->is_busy;
        text_fini(&result);
    }
    return busy;
}

static unsigned free_place(const struct dealing *d)
{
    unsigned i = 0;
    while (i < d->work->places && d->places[i].is_busy)
        i++;
    return i;
}

static void nap(struct dealing *d)
{
    static const struct timespec alone = {.tv_nsec = 4000 * 1000}, with_others = {.tv_nsec = 1000 * 1000};
    if (!d->any)
        nanosleep(ranks_count(d->ranks) > 1 ? &with_others : &alone, NULL);
    d->any = false;
}

/* ---- other ranks than 0 ---- */

static void tell_failure(struct dealing *d)
{
    struct text why = {0};
    struct err unused;
    text_add(&why, "%s", d->err->text);
    if (send(d, 0, FAILS, &why, NULL, &unused))
        d->err->text[0] = 0; /* rank 0 says it */
    text_fini(&why);
}

static void read_letter(struct dealing *d)
{
    uint32_t who;
    int kind = receive(d, &who);
    d->asked &= kind != PIECE && kind != END;
    d->no_more |= kind == END;
    if (kind == STOP)
        d->is_stopping = true;
    if (kind == PIECE && !d->is_stopping)
        begin(d, free_place(d), part(d, 1, d->letter.length - 1));
}

static void work_for_rank_0(struct dealing *d)
{
    struct err err;
    bool has_told = false;
    for (;;) {
        read_letter(d);
        unsigned busy = look(d);
        if (is_interrupted(d) && !d->is_stopping) {
            err_set(&err, "it was interrupted");
            go_wrong(d, &err);
        }
        if (d->went_wrong && !has_told) {
            has_told = true;
            tell_failure(d);
        }
        if (!d->is_stopping && !d->asked && !d->no_more && free_place(d) < d->work->places) {
            d->asked = send(d, 0, ASKS, NULL, NULL, &err);
            if (!d->asked)
                go_wrong(d, &err);
        }
        if (!busy && (d->is_stopping || d->no_more))
            break;
        nap(d);
    }
    if (d->is_stopping && !d->went_wrong) { /* rank 0 has an error to tell */
        d->went_wrong = true;
        d->err->text[0] = 0;
    }
    send(d, 0, LEAVES, NULL, NULL, &err);
}

/* ---- rank 0 ---- */

static void deal_to(struct dealing *d, uint32_t who)
{
    struct text piece = {0};
    struct err err;
    bool is_one = !d->is_stopping && !is_interrupted(d) && d->work->next(d->user, &piece);
    if (!send(d, who, is_one ? PIECE : END, &piece, NULL, &err))
        go_wrong(d, &err);
    text_fini(&piece);
}

static void take_letter(struct dealing *d)
{
    uint64_t length;
    struct err err;
    memcpy(&length, d->letter.at + 1, sizeof length);
    size_t from = 1 + sizeof length;
    struct text piece = part(d, from, length);
    struct text result = part(d, from + length, d->letter.length - from - length);
    if (!d->is_stopping && !d->work->take(d->user, &piece, &result, &err))
        go_wrong(d, &err);
    text_fini(&piece);
    text_fini(&result);
}

static void tell_of(const struct dealing *d, uint32_t who, const char *why, struct err *err)
{
    err_set(err, "rank %u on %s: %.3000s", who, ranks_host(d->ranks, who), why);
}

/* All that have come. */
static void read_letters(struct dealing *d)
{
    uint32_t who;
    struct err err;
    for (int kind; (kind = receive(d, &who));) {
        if (kind == ASKS)
            deal_to(d, who);
        if (kind == GIVES)
            take_letter(d);
        if (kind == LEAVES)
            d->has_left[who] = true;
        if (kind == FAILS) {
            tell_of(d, who, d->letter.at + 1, &err);
            go_wrong(d, &err);
        }
    }
}

static bool all_have_left(const struct dealing *d)
{
    for (uint32_t i = 1; i < ranks_count(d->ranks); i++)
        if (!d->has_left[i])
            return false;
    return true;
}

static void stop_others(struct dealing *d)
{
    struct err unused;
    for (uint32_t i = 1; i < ranks_count(d->ranks); i++)
        if (!d->has_left[i])
            send(d, i, STOP, NULL, NULL, &unused);
}

static bool may_begin(const struct dealing *d)
{
    return !d->no_more && !d->is_stopping && !is_interrupted(d);
}

static void fill_places(struct dealing *d)
{
    for (unsigned place; may_begin(d) && (place = free_place(d)) < d->work->places;) {
        struct text piece = {0};
        d->no_more = !d->work->next(d->user, &piece);
        if (!d->no_more)
            begin(d, place, piece);
    }
}

/* Interrupted, it does not wait for others: the launcher, which has told all ranks to end, soon makes them.
 * Neither does it wait for ever for one that it has told to stop. */
static void lead(struct dealing *d)
{
    static const double grace = 10; /* seconds */
    double stopped_at = 0;
    for (;;) {
        read_letters(d);
        fill_places(d);
        unsigned busy = look(d);
        if (d->is_stopping && !stopped_at) {
            stopped_at = host_seconds();
            stop_others(d);
        }
        if (!busy && (is_interrupted(d) || (all_have_left(d) && !may_begin(d)) ||
                      (stopped_at && host_seconds() > stopped_at + grace)))
            break;
        if (d->work->show)
            d->work->show(d->user);
        nap(d);
    }
}

/* ---- all ---- */

bool deal_run(struct ranks *ranks, const struct deal_work *work, void *user, struct err *err)
{
    struct dealing d = {.ranks = ranks,
                        .work = work,
                        .user = user,
                        .places = mem_alloc(work->places, sizeof *d.places),
                        .has_left = mem_alloc(ranks_count(ranks), sizeof *d.has_left),
                        .err = err};
    if (ranks_number(ranks))
        work_for_rank_0(&d);
    else
        lead(&d);
    for (unsigned i = 0; i < work->places; i++)
        text_fini(&d.places[i].piece);
    mem_free(d.places);
    mem_free(d.has_left);
    text_fini(&d.letter);
    text_fini(&d.scratch);
    return !d.went_wrong;
}
