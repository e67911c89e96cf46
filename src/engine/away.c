#include "engine/away.h"
#include "base/archive.h"
#include "base/log.h"
#include "engine/crew.h"
#include "engine/waits.h"

struct away {
    struct ranks *ranks;
    uint32_t count, self;
    uint64_t horizon;  /* nothing comes from another rank before it */
    uint64_t half;     /* and when the next message is sent, on the way there */
    bool is_under_way; /* the message was sent, and those of others were not taken yet */
    uint64_t *to;      /* [rank][kind]: the least time from an island of this kind to one on that rank */
    uint64_t *back;    /* by kind: to another rank, and from there to this one */
    uint64_t *between; /* [from][to] rank */
    uint64_t *mail;    /* by rank: the earliest event on its way there that it has not said to know of */
    uint64_t *events;  /* by rank: how many it had when it was asked last */
    bool is_asked;     /* rank 0 wants to know, */
    bool is_answered;  /* and does now */
    uint64_t earliest; /* event of all ranks, when they told of it last */
    struct text *out, *in;
    bool failed; /* some rank's component did */
    bool lost;   /* and err says how */
    struct err err;
};

/* What a message of a round begins with. What its sender tells beside events follows (struct engine_asides);
 * then events, as they are in mail. */
struct away_head {
    uint64_t start;   /* the sender's next event, or the earliest of those it sends to anyone */
    uint64_t promise; /* nothing comes from it before, unless something comes to it first */
    uint64_t until;   /* when the run ends, as far as it knows */
    uint64_t events;  /* that the sender had so far, if it was asked */
    uint32_t interrupted, failed;
    uint32_t asks, aside; /* rank 0 wants to know how far all are; bytes that are told beside events */
};

/* ---- how far ranks are apart ---- */

/* Which kinds of islands are on which rank. */
static bool *kinds_of_ranks(const struct engine *engine, uint32_t ranks)
{
    bool *has = mem_alloc((size_t)ranks * engine->kind_count, sizeof *has);
    for (size_t i = 0; i < engine->island_count; i++)
        has[engine->islands[i]->rank * engine->kind_count + engine->kind_of[i]] = true;
    return has;
}

/* The least latency of a link between ranks: where islands are of too many kinds for more. */
static uint64_t least_between_ranks(const struct engine *engine)
{
    uint64_t least = TIME_NEVER;
    for (size_t l = 0; l < engine->link_count; l++) {
        const struct link *link = engine->links[l];
        for (size_t p = 1; p < link->plug_count; p++)
            if (engine->islands[link->plugs[p].island]->rank != engine->islands[link->plugs[0].island]->rank)
                least = min_u64(least, link->latency);
    }
    return least;
}

static uint64_t reach_of(const struct engine *engine, uint32_t from, uint32_t to)
{
    return engine->reach[(size_t)from * engine->kind_count + to];
}

/* From each kind to each rank. */
static void find_ways(struct away *away, const struct engine *engine, const bool *has)
{
    uint32_t kinds = engine->kind_count;
    bool is_unknown = kinds == 1 && !engine->reach[0];
    uint64_t least = is_unknown ? least_between_ranks(engine) : 0;
    for (uint32_t r = 0; r < away->count; r++)
        for (uint32_t k = 0; k < kinds; k++) {
            uint64_t way = is_unknown ? least : TIME_NEVER;
            for (uint32_t at = 0; at < kinds && !is_unknown; at++)
                if (has[r * kinds + at])
                    way = min_u64(way, reach_of(engine, k, at));
            away->to[r * kinds + k] = way;
        }
    for (uint32_t from = 0; from < away->count; from++)
        for (uint32_t to = 0; to < away->count; to++) {
            uint64_t *way = &away->between[from * away->count + to];
            *way = TIME_NEVER;
            for (uint32_t k = 0; k < kinds; k++)
                if (has[from * kinds + k])
                    *way = min_u64(*way, away->to[to * kinds + k]);
        }
    for (uint32_t k = 0; k < kinds; k++) {
        away->back[k] = TIME_NEVER;
        for (uint32_t r = 0; r < away->count; r++)
            if (r != away->self)
                away->back[k] =
                    min_u64(away->back[k], add_saturating(away->to[r * kinds + k],
                                                          away->between[r * away->count + away->self]));
    }
}

/* Kinds with links to other ranks, and how long it takes from these to others. */
static void find_behind(struct crew *crew, const struct away *away)
{
    const struct engine *engine = crew->engine;
    uint32_t kinds = engine->kind_count;
    bool *is_entry = mem_alloc(kinds, sizeof *is_entry);
    for (size_t l = 0; l < engine->link_count; l++) {
        const struct link *link = engine->links[l];
        bool has_others = false;
        for (size_t p = 0; p < link->plug_count; p++)
            has_others |= engine->islands[link->plugs[p].island]->rank != away->self;
        for (size_t p = 0; p < link->plug_count && has_others; p++)
            is_entry[engine->kind_of[link->plugs[p].island]] = true;
    }
    for (uint32_t k = 0; k < kinds; k++) {
        crew->behind[k] = is_entry[k] || !engine->reach[0] ? 0 : TIME_NEVER;
        for (uint32_t from = 0; from < kinds && crew->behind[k]; from++)
            if (is_entry[from])
                crew->behind[k] = min_u64(crew->behind[k], reach_of(engine, from, k));
    }
    mem_free(is_entry);
}

uint64_t away_bound(const struct crew *crew, uint32_t kind)
{
    const struct away *away = crew->away;
    uint64_t most = min_u64(crew->until, add_saturating(away->earliest, crew->widest));
    return max_u64(crew->bound, min_u64(add_saturating(crew->bound, crew->behind[kind]), most));
}

struct away *away_new(struct crew *crew)
{
    const struct engine *engine = crew->engine;
    struct away *away = mem_alloc(1, sizeof *away);
    uint32_t count = ranks_count(engine->spec.ranks), kinds = engine->kind_count;
    away->ranks = engine->spec.ranks;
    away->count = count;
    away->self = ranks_number(away->ranks);
    away->to = mem_alloc((size_t)count * kinds, sizeof *away->to);
    away->back = mem_alloc(kinds, sizeof *away->back);
    away->between = mem_alloc((size_t)count * count, sizeof *away->between);
    away->mail = mem_alloc(count, sizeof *away->mail);
    away->events = mem_alloc(count, sizeof *away->events);
    away->out = mem_alloc(count, sizeof *away->out);
    away->in = mem_alloc(count, sizeof *away->in);
    crew->behind = mem_alloc(kinds, sizeof *crew->behind);
    crew->away = away;
    away_renew(crew);
    return away;
}

void away_renew(struct crew *crew)
{
    struct away *away = crew->away;
    bool *has = kinds_of_ranks(crew->engine, away->count);
    find_ways(away, crew->engine, has);
    mem_free(has);
    find_behind(crew, away);
}

void away_free(struct away *away)
{
    if (!away)
        return;
    for (uint32_t i = 0; i < away->count; i++) {
        text_fini(&away->out[i]);
        text_fini(&away->in[i]);
    }
    mem_free(away->to);
    mem_free(away->back);
    mem_free(away->between);
    mem_free(away->mail);
    mem_free(away->events);
    mem_free(away->out);
    mem_free(away->in);
    mem_free(away);
}

/* ---- a round ---- */

static uint64_t earliest_in(const struct mail *mail, uint64_t earliest)
{
    for (size_t at = 0; at < mail->used;) {
        const struct event *event = (const struct event *)(mail->bytes + at);
        earliest = min_u64(earliest, event->time);
        at += mail_bytes_of(event);
    }
    return earliest;
}

/* In whole words, as events follow. */
static uint32_t add_aside(const struct crew *crew, struct text *out)
{
    static const char padding[sizeof(uint64_t)];
    const struct engine_asides *asides = crew->run->asides;
    size_t before = out->length;
    if (!asides)
        return 0;
    asides->tell(asides->user, crew->away->is_asked, out);
    text_add_bytes(out, padding, -(out->length - before) % sizeof padding);
    return (uint32_t)(out->length - before);
}

/* Behind room for the head: what is told to rank 0, and the events that workers have sent to a rank. Gives
 * how much the former is. */
static uint32_t collect(struct crew *crew, uint32_t rank)
{
    struct away *away = crew->away;
    static const struct away_head room;
    away->out[rank].length = 0;
    away->mail[rank] = TIME_NEVER;
    text_add_bytes(&away->out[rank], (const char *)&room, sizeof room);
    uint32_t aside = rank ? 0 : add_aside(crew, &away->out[rank]);
    for (unsigned w = 0; w < crew->count; w++)
        for (int parity = 0; parity < 2; parity++) {
            struct mail *mail = &crew->workers[w].mail[parity][crew->count + rank];
            if (!mail->used)
                continue;
            away->mail[rank] = earliest_in(mail, away->mail[rank]);
            text_add_bytes(&away->out[rank], (const char *)mail->bytes, mail->used);
            mail->used = 0;
        }
    return aside;
}

/* What goes to other ranks may make something come from there to this one. */
static uint64_t echo_of_mail(const struct away *away, uint32_t rank)
{
    uint64_t echo = TIME_NEVER;
    for (uint32_t by = 0; by < away->count; by++)
        if (by != rank)
            echo = min_u64(echo, add_saturating(away->mail[by], away->between[by * away->count + rank]));
    return echo;
}

/* Events of this rank, and those that it sends to third ranks, may make something come there. */
static uint64_t promise_to(const struct crew *crew, uint32_t rank)
{
    const struct away *away = crew->away;
    uint32_t kinds = crew->engine->kind_count;
    uint64_t promise = TIME_NEVER;
    for (uint32_t k = 0; k < kinds; k++)
        promise = min_u64(promise, add_saturating(crew->least[k], away->to[rank * kinds + k]));
    return min_u64(promise, echo_of_mail(away, rank));
}

static void write_heads(struct crew *crew)
{
    struct away *away = crew->away;
    const struct engine_run *run = crew->run;
    bool asked = run->interrupt && atomic_load_explicit(run->interrupt, memory_order_relaxed);
    struct away_head head = {.start = crew->start,
                             .until = crew->until,
                             .events = away->is_asked ? engine_events(crew->engine) : 0,
                             .asks = !away->is_asked && crew_shows_progress(crew),
                             .interrupted = asked,
                             .failed = atomic_load_explicit(&crew->failed, memory_order_relaxed) ||
                                       engine_first_failure(crew->engine)};
    uint32_t aside = 0;
    for (uint32_t i = 0; i < away->count; i++) {
        away->mail[i] = TIME_NEVER;
        if (i != away->self)
            aside += collect(crew, i);
        head.start = min_u64(head.start, away->mail[i]);
    }
    for (uint32_t i = 0; i < away->count; i++) {
        if (i == away->self)
            away->out[i].length = 0, text_add_bytes(&away->out[i], (const char *)&head, sizeof head);
        head.aside = i ? 0 : aside;
        head.promise = i == away->self ? TIME_NEVER : promise_to(crew, i);
        memcpy(away->out[i].at, &head, sizeof head);
    }
}

/* What was told beside events. */
static bool take_aside(const struct crew *crew, uint32_t from, const struct text *text, uint32_t bytes)
{
    const struct engine_asides *asides = crew->run->asides;
    return !bytes || (asides && bytes <= text->length - sizeof(struct away_head) &&
                      asides->take(asides->user, from, text->at + sizeof(struct away_head), bytes));
}

/* Puts the events that came into the queues. */
static bool deliver(struct crew *crew, const struct text *text, size_t at)
{
    const struct engine *engine = crew->engine;
    while (at + sizeof(struct event) <= text->length) {
        const struct event *event = (const struct event *)(text->at + at);
        at += mail_bytes_of(event);
        if (at > text->length || event->target >= engine->port_count)
            return false;
        struct island *island = engine->ports[event->target]->island;
        if (!island->is_here)
            return false;
        island_deliver(island, event);
        crew_note(crew, island, event->time);
    }
    return at == text->length;
}

static void lose(struct crew *crew)
{
    crew->away->lost = true;
    crew->stop = true;
}

static void send_round(struct crew *crew)
{
    struct away *away = crew->away;
    write_heads(crew);
    away->is_under_way = true;
    if (!ranks_begin_round(away->ranks, away->out, &away->err))
        lose(crew);
}

/* Beside the mail that was sent there is what came to be sent since then. */
static void note_unsent(struct crew *crew)
{
    struct away *away = crew->away;
    for (uint32_t rank = 0; rank < away->count; rank++)
        for (unsigned w = 0; w < crew->count; w++)
            for (int parity = 0; parity < 2; parity++)
                away->mail[rank] =
                    earliest_in(&crew->workers[w].mail[parity][crew->count + rank], away->mail[rank]);
}

/* What all have said is known to all: they decide alike. */
static void take_round(struct crew *crew)
{
    struct away *away = crew->away;
    uint64_t start = TIME_NEVER;
    bool interrupted = false;
    away->is_under_way = false;
    if (!ranks_end_round(away->ranks, away->in, &away->err)) {
        lose(crew);
        return;
    }
    note_unsent(crew);
    away->is_answered = away->is_asked;
    away->is_asked = false;
    uint64_t horizon = echo_of_mail(away, away->self);
    for (uint32_t i = 0; i < away->count; i++) {
        const struct text *from = i == away->self ? &away->out[i] : &away->in[i];
        struct away_head head;
        bool good = from->length >= sizeof head;
        if (good)
            memcpy(&head, from->at, sizeof head);
        if (!good || (i != away->self && !(take_aside(crew, i, from, head.aside) &&
                                           deliver(crew, from, sizeof head + head.aside)))) {
            err_set(&away->err, "rank %u has sent what makes no sense: is it another model?", i);
            lose(crew);
            return;
        }
        start = min_u64(start, head.start);
        horizon = min_u64(horizon, head.promise);
        crew->until = min_u64(crew->until, head.until);
        interrupted |= head.interrupted;
        away->failed |= head.failed;
        away->is_asked |= head.asks;
        if (head.events)
            away->events[i] = head.events;
    }
    crew_find_start(crew);
    for (uint32_t k = 0; k < crew->engine->kind_count; k++)
        horizon = min_u64(horizon, add_saturating(crew->least[k], away->back[k]));
    away->horizon = min_u64(horizon, add_saturating(start, crew->widest));
    away->half = crew->start < away->horizon ? crew->start + (away->horizon - crew->start) / 2 : 0;
    crew->stop = start >= crew->until || start == TIME_NEVER || (interrupted && !away->failed);
    away->earliest = start;
    if (!away->self && crew->run->asides)
        crew->run->asides->passed(crew->run->asides->user, start);
}

/* After a round, as this rank may have had nothing to do for many. */
static void show_progress(struct crew *crew)
{
    const struct away *away = crew->away;
    uint64_t others = 0;
    if (!away->is_answered || away->earliest == TIME_NEVER || !crew->run->progress)
        return;
    for (uint32_t i = 0; i < away->count; i++)
        others += i == away->self ? 0 : away->events[i];
    crew_show_progress(crew, away->earliest, others);
}

void away_turn(struct crew *crew)
{
    struct away *away = crew->away;
    for (crew->stop = false; !crew->stop;) {
        crew->bound = min_u64(crew->until, away->is_under_way ? away->horizon : away->half);
        if (crew->start < crew->bound) {
            if (away->is_under_way)
                ranks_push_on(away->ranks);
            return;
        }
        if (!away->is_under_way) {
            send_round(crew);
        } else {
            take_round(crew);
            show_progress(crew);
        }
    }
    if (!away->lost &&
        away->earliest < crew->until) { /* interrupted: what was not sent yet goes along, too */
        send_round(crew);
        if (!away->lost)
            take_round(crew);
        crew->stop = true;
    }
    crew->start = away->earliest;
}

void away_begin(struct crew *crew)
{
    crew->away->horizon = crew->away->half = 0;
    crew->away->failed = false;
    away_turn(crew);
}

/* ---- after a run ---- */

/* Each rank's text goes to all. False: the others were lost. */
static bool tell_all(const struct engine *engine, const struct text *mine, struct text **all, struct err *err)
{
    *all = mem_alloc(ranks_count(engine->spec.ranks), sizeof **all);
    return ranks_share(engine->spec.ranks, mine, *all, err);
}

static void forget(const struct engine *engine, struct text *all)
{
    for (uint32_t i = 0; i < ranks_count(engine->spec.ranks); i++)
        text_fini(&all[i]);
    mem_free(all);
}

/* The earliest failure of all; of these the first island's. */
static bool share_failure(struct engine *engine, struct err *err)
{
    const struct island *mine = engine_first_failure(engine);
    struct {
        uint64_t at, island;
        struct err why;
    } first = {.at = TIME_NEVER}, one;
    struct text text = {0}, *all;
    if (mine) {
        first.at = mine->failed_at;
        first.island = mine->index;
        first.why = *mine->failure;
    }
    text_add_bytes(&text, (const char *)&first, sizeof first);
    bool good = tell_all(engine, &text, &all, err);
    for (uint32_t i = 0; i < ranks_count(engine->spec.ranks) && good; i++) {
        memcpy(&one, all[i].at, sizeof one);
        if (one.at < first.at || (one.at == first.at && one.island < first.island))
            first = one;
    }
    struct island *island = engine->islands[first.island];
    if (good && first.at != TIME_NEVER && !island->failure) {
        island->failure = mem_alloc(1, sizeof *island->failure);
        *island->failure = first.why;
        island->failed_at = first.at;
    }
    forget(engine, all);
    text_fini(&text);
    return good;
}

bool away_end(struct crew *crew, struct err *err)
{
    struct away *away = crew->away;
    if (away->lost) {
        *err = away->err;
        return false;
    }
    return !away->failed || share_failure(crew->engine, err);
}

uint64_t away_latest(struct engine *engine, uint64_t now)
{
    ranks_most(engine->spec.ranks, &now, 1);
    return now;
}

/* ---- reports of a stall ---- */

static void write_waits(struct engine *engine, struct archive *archive)
{
    for (size_t i = 0; i < engine->port_count; i++) {
        const struct port *port = engine->ports[i];
        if (port->island->is_here && (port->waits_for || port->fill)) {
            archive_number(archive, i + 1, UINT64_MAX);
            archive_number(archive, port->waits_for, UINT32_MAX);
            archive_number(archive, port->fill, UINT32_MAX);
        }
    }
    archive_number(archive, 0, UINT64_MAX);
    for (size_t i = 0; i < engine->component_count; i++) {
        struct text what = {0};
        if (waits_of(engine->components[i], &what)) {
            archive_number(archive, i + 1, UINT64_MAX);
            archive_text(archive, &what);
        }
        text_fini(&what);
    }
    archive_number(archive, 0, UINT64_MAX);
}

static void read_waits(struct engine *engine, struct archive *archive)
{
    for (uint64_t i; (i = archive_number(archive, 0, engine->port_count));) {
        struct port *port = engine->ports[i - 1];
        port->waits_for = (uint32_t)archive_number(archive, 0, UINT32_MAX);
        port->fill = (uint32_t)archive_number(archive, 0, UINT32_MAX);
    }
    for (uint64_t i; (i = archive_number(archive, 0, engine->component_count));) {
        struct text *waits = &engine->components[i - 1]->waits;
        archive_text(archive, waits);
        if (!waits->at)
            text_add(waits, "%s", "something");
    }
}

void away_share_waits(struct engine *engine)
{
    struct archive mine = archive_writer();
    struct text *all;
    struct err unused;
    write_waits(engine, &mine);
    if (tell_all(engine, &mine.text, &all, &unused))
        for (uint32_t i = 0; i < ranks_count(engine->spec.ranks); i++) {
            struct archive other = archive_reader(all[i].at, all[i].length);
            if (i != ranks_number(engine->spec.ranks))
                read_waits(engine, &other);
        }
    forget(engine, all);
    text_fini(&mine.text);
}

/* ---- before the first run ---- */

bool away_check(const struct engine *engine, uint64_t shape, struct err *err)
{
    uint32_t count = ranks_count(engine->spec.ranks);
    bool *is_used = mem_alloc(count, sizeof *is_used);
    for (size_t i = 0; i < engine->island_count; i++) {
        is_used[engine->islands[i]->rank] = true;
        shape = digest_word(shape, engine->islands[i]->rank);
    }
    uint32_t used = 0;
    for (uint32_t i = 0; i < count; i++)
        used += is_used[i];
    mem_free(is_used);
    struct text text = {0}, *all;
    text_add_bytes(&text, (const char *)&shape, sizeof shape);
    bool good = tell_all(engine, &text, &all, err);
    for (uint32_t i = 1; i < count && good; i++)
        good =
            !memcmp(all[i].at, all[0].at, sizeof shape) ||
            err_set(err,
                    "rank %u on %s simulates something else than rank 0 on %s: do all read the same files, "
                    "with the same options?",
                    i, ranks_host(engine->spec.ranks, i), ranks_host(engine->spec.ranks, 0));
    good =
        good && (used == count || err_set(err, "%u ranks are too many: there is work for %u", count, used));
    forget(engine, all);
    text_fini(&text);
    return good;
}
