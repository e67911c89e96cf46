/* Windows: all islands run at once, each up to the time before which no message can reach it; then mail is
 * exchanged.
 *
 * Let T be the earliest time of any pending event. Every message is sent at T or later and takes the latency
 * of a link into its island. So an island may handle all events before T + (least latency of a link into it)
 * without communication. Then all threads meet at a barrier and a new T is found, which skips idle time.
 *
 * A worker is a thread. Each island is owned by one worker, which reads its mail. Any worker may run it: each
 * takes islands with work from its own list first, then from the others' lists. Mail written in one window is
 * read in the next, so each window needs only one barrier.
 *
 * A single worker runs one region in a window (engine_region), and islands of none. The others wait; what
 * they may send bounds how far the region can go. */
#include "engine/crew.h"
#include "engine/away.h"
#include "base/host.h"
#include "base/log.h"
#include "base/zone.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

/* A window is no wider than this, so that interrupts are heard on islands that nothing reaches. */
#define WIDEST_WINDOW UINT64_C(1000000) /* ps */

enum { SPINS = 4000, RENEW_TURNS_WINDOWS = 64 };
static const double progress_every = 0.1; /* seconds */

static inline void note_next(struct crew_worker *worker, uint32_t island, uint64_t time)
{
    uint64_t *least = &worker->least[worker->crew->engine->kind_of[island]];
    *least = min_u64(*least, time);
}

struct event *crew_append(struct crew_worker *worker, uint32_t island, const struct event *header)
{
    const struct crew *crew = worker->crew;
    uint32_t box = crew->box_of[island];
    if (LIKELY(box < crew->count)) /* other ranks note what is sent to them */
        note_next(worker, island, header->time);
    return mail_append(&worker->out[box], header->bytes);
}

void crew_note(struct crew *crew, const struct island *island, uint64_t time)
{
    struct crew_worker *owner = &crew->workers[crew->box_of[island->index]];
    uint64_t *next = &owner->next[crew->place_of[island->index]];
    *next = min_u64(*next, time);
    note_next(owner, island->index, time);
}

/* Puts the mail of the last window into the queues of the islands this worker owns. */
static void read_mail(struct crew_worker *me, unsigned parity)
{
    struct crew *crew = me->crew;
    struct engine *engine = crew->engine;
    for (unsigned i = 0; i < crew->count; i++) {
        struct mail *mail = &crew->workers[i].mail[parity][me->index];
        for (size_t at = 0; at < mail->used;) {
            const struct event *event = (const struct event *)(mail->bytes + at);
            struct island *island = engine->ports[event->target]->island;
            at += mail_bytes_of(event);
            island_deliver(island, event);
            uint64_t *next = &me->next[crew->place_of[island->index]];
            *next = min_u64(*next, event->time);
        }
        mail->used = 0;
    }
}

/* How far islands of a kind may run, whatever others on this rank do. */
static uint64_t bound_of(const struct crew *crew, uint32_t kind)
{
    return LIKELY(!crew->behind) ? crew->bound : away_bound(crew, kind);
}

static uint64_t window_limit(const struct crew_worker *owner, uint32_t place)
{
    const struct crew *crew = owner->crew;
    uint32_t kind = crew->engine->kind_of[owner->owned[place]->index];
    if (UNLIKELY(crew->run->by_moment))
        return min_u64(crew->start + 1, bound_of(crew, kind));
    uint64_t limit = max_u64(add_saturating(crew->start, owner->width[place]), crew->ahead[kind]);
    return min_u64(limit, bound_of(crew, kind));
}

static int by_events(const void *a, const void *b)
{
    const struct turn *x = a, *y = b;
    return x->events < y->events ? 1 : x->events > y->events ? -1 : 0;
}

/* Long islands first: what is begun last then ends soon, and the others wait little for it. */
static void renew_turns(struct crew_worker *me)
{
    for (uint32_t i = 0; i < me->owned_count; i++)
        me->turns[i].events = me->last_events[me->turns[i].place];
    qsort(me->turns, me->owned_count, sizeof *me->turns, by_events);
}

static void list_turns(struct crew_worker *me, uint32_t from, uint32_t end)
{
    uint32_t count = me->active_count;
    for (uint32_t k = from; k < end; k++) {
        uint32_t i = me->turns[k].place;
        me->active[count] = i;
        if (me->next[i] < window_limit(me, i))
            count++;
        else
            note_next(me, me->owned[i]->index, me->next[i]);
    }
    me->active_count = count;
}

static void list_active(struct crew_worker *me, uint32_t window)
{
    uint32_t region = me->crew->region;
    if (me->crew->count > 1 && window % RENEW_TURNS_WINDOWS == 0)
        renew_turns(me);
    me->active_count = 0;
    if (region) {
        list_turns(me, 0, me->region_turns[1]);
        list_turns(me, me->region_turns[region], me->region_turns[region + 1]);
    } else {
        list_turns(me, 0, me->owned_count);
    }
    atomic_store_explicit(&me->taken, 0, memory_order_relaxed);
    atomic_store_explicit(&me->listed, window, memory_order_release);
}

/* With the state of all others out of reach. */
static void run_apart(struct engine *engine, struct island *island, uint64_t limit)
{
    engine->running = island;
    zone_close(engine->spec.apart);
    zone_open_one(engine->spec.apart, island->index);
    island_own(engine, island);
    island_run(island, limit);
    island_own(engine, NULL);
    zone_open(engine->spec.apart);
    engine->running = NULL;
}

static void run_moment(struct engine *engine, struct island *island, uint64_t limit)
{
    engine->running = island;
    island_run(island, limit);
    engine->running = NULL;
}

bool engine_moment(const struct engine *engine, uint64_t *time, uint64_t *place)
{
    if (!engine->running)
        return false;
    *time = engine->crew->start;
    *place = (uint64_t)engine->running->region << 32 | engine->running->index;
    return true;
}

static void run_measured(struct island *island, uint64_t limit)
{
    double begun = host_seconds();
    island_run(island, limit);
    island->busy += host_seconds() - begun;
}

static void run_from_list(struct crew_worker *me, struct crew_worker *owner)
{
    for (;;) {
        uint32_t place = atomic_fetch_add_explicit(&owner->taken, 1, memory_order_relaxed);
        if (place >= owner->active_count)
            return;
        uint32_t i = owner->active[place];
        struct island *island = owner->owned[i];
        island->worker = me;
        uint64_t events = island->events;
        if (UNLIKELY(me->crew->engine->spec.apart))
            run_apart(me->crew->engine, island, window_limit(owner, i));
        else if (UNLIKELY(me->crew->run->by_moment))
            run_moment(me->crew->engine, island, window_limit(owner, i));
        else if (UNLIKELY(me->crew->engine->spec.measures))
            run_measured(island, window_limit(owner, i));
        else
            island_run(island, window_limit(owner, i));
        owner->last_events[i] = (uint32_t)(island->events - events);
        if (UNLIKELY(island->failure))
            atomic_store_explicit(&me->crew->failed, true, memory_order_relaxed);
        owner->next[i] = island->failure ? TIME_NEVER : island_next_time(island);
        note_next(me, island->index, owner->next[i]);
        me->island_windows++;
    }
}

/* After a failure the others run on up to its time, since they might fail before it: the first failure of all
 * is told, whatever windows and cuts there were. */
static void stop_at_failure(struct crew *crew)
{
    const struct island *failed = engine_first_failure(crew->engine);
    crew->until = min_u64(crew->until, failed->failed_at + 1);
}

/* Whether islands of this kind are run in this window. */
static bool has_turn(const struct crew *crew, uint32_t kind)
{
    uint32_t region = crew->engine->region_of[kind];
    return !crew->region || !region || region == crew->region;
}

/* The region goes on if it can; else that which is most behind goes on. */
static void choose_region(struct crew *crew)
{
    const struct engine *engine = crew->engine;
    uint64_t earliest = TIME_NEVER;
    uint32_t region = crew->region;
    for (uint32_t k = 0; k < engine->kind_count; k++) {
        if (!engine->region_of[k])
            continue;
        if (engine->region_of[k] == crew->region &&
            crew->least[k] < min_u64(crew->ahead[k], bound_of(crew, k)))
            return;
        if (crew->least[k] < earliest) {
            earliest = crew->least[k];
            region = engine->region_of[k];
        }
    }
    crew->region = region;
}

/* From when on, at the earliest, something happens on islands of each kind: the next window begins with that.
 */
static void set_start(struct crew *crew)
{
    const struct engine *engine = crew->engine;
    uint32_t kinds = engine->kind_count;
    crew->start = TIME_NEVER;
    for (uint32_t k = 0; k < kinds; k++)
        crew->start = min_u64(crew->start, crew->least[k]);
    if (crew->count > 1)
        return;
    uint64_t most = add_saturating(crew->start, crew->widest);
    for (uint32_t k = 0; k < kinds; k++)
        crew->ahead[k] = most;
    for (uint32_t from = 0; from < kinds; from++) {
        const uint64_t *reach = &engine->reach[(size_t)from * kinds];
        if (crew->least[from] >= most)
            continue;
        for (uint32_t k = 0; k < kinds; k++)
            crew->ahead[k] = min_u64(crew->ahead[k], add_saturating(crew->least[from], reach[k]));
    }
    if (crew->region)
        choose_region(crew);
}

void crew_find_start(struct crew *crew)
{
    for (uint32_t k = 0; k < crew->engine->kind_count; k++) {
        crew->least[k] = TIME_NEVER;
        for (unsigned i = 0; i < crew->count; i++)
            crew->least[k] = min_u64(crew->least[k], crew->workers[i].least[k]);
    }
    set_start(crew);
}

static void tell_window(struct crew *crew)
{
    uint64_t sum = 0;
    for (unsigned i = 0; i < crew->count; i++)
        sum += crew->workers[i].island_windows;
    crew->run->window(crew->run->user, crew->start, sum - crew->told_island_windows);
    crew->told_island_windows = sum;
}

bool crew_shows_progress(const struct crew *crew)
{
    return crew->run->progress && host_seconds() - crew->told_progress > progress_every;
}

void crew_show_progress(struct crew *crew, uint64_t time, uint64_t other_events)
{
    const struct engine_run *run = crew->run;
    run->progress(run->user, time, engine_events(crew->engine) + other_events);
    crew->told_progress = host_seconds();
}

/* What the last worker to arrive at the meeting does for all. */
static void turn(struct crew *crew)
{
    struct engine *engine = crew->engine;
    const struct engine_run *run = crew->run;
    if (run->window)
        tell_window(crew);
    crew_find_start(crew);
    engine->windows++;
    bool failed = atomic_load_explicit(&crew->failed, memory_order_relaxed);
    if (UNLIKELY(failed))
        stop_at_failure(crew);
    crew->until = min_u64(crew->until, atomic_load_explicit(&engine->stop_at, memory_order_relaxed));
    crew->bound = crew->until;
    if (crew->away)
        away_turn(crew);
    else
        crew->stop =
            crew->start >= crew->until || crew->start == TIME_NEVER ||
            (!failed && run->interrupt && atomic_load_explicit(run->interrupt, memory_order_relaxed));
    if (!crew->away && crew_shows_progress(crew))
        crew_show_progress(crew, crew->start, 0);
}

static void meet(struct crew *crew, uint32_t window)
{
    if (atomic_fetch_add_explicit(&crew->arrived, 1, memory_order_acq_rel) + 1 == crew->count) {
        turn(crew);
        atomic_store_explicit(&crew->arrived, 0, memory_order_relaxed);
        gate_set(&crew->window, window + 1);
    } else {
        gate_wait(&crew->window, window, crew->spins);
    }
}

static void work(struct crew_worker *me)
{
    struct crew *crew = me->crew;
    while (!crew->stop) {
        uint32_t window = gate_number(&crew->window);
        for (uint32_t k = 0; k < crew->engine->kind_count; k++)
            if (has_turn(crew, k)) /* for the others it stays, but for what is sent to them */
                me->least[k] = TIME_NEVER;
        me->out = me->mail[window & 1];
        read_mail(me, (window & 1) ^ 1);
        list_active(me, window);
        for (unsigned i = 0; i < crew->count; i++) {
            unsigned other = me->index + i < crew->count ? me->index + i : me->index + i - crew->count;
            struct crew_worker *owner = &crew->workers[other];
            if (atomic_load_explicit(&owner->listed, memory_order_acquire) == window)
                run_from_list(me, owner);
        }
        meet(crew, window);
    }
}

/* ---- the crew: threads that sleep between runs ---- */

static void *thread_main(void *argument)
{
    struct crew_worker *me = argument;
    struct crew *crew = me->crew;
    for (uint64_t calls = 0;;) {
        pthread_mutex_lock(&crew->lock);
        while (crew->calls == calls && !crew->dismissed)
            pthread_cond_wait(&crew->called, &crew->lock);
        bool dismissed = crew->dismissed;
        calls = crew->calls;
        pthread_mutex_unlock(&crew->lock);
        if (dismissed)
            return NULL;
        work(me);
        if (atomic_fetch_add_explicit(&crew->back, 1, memory_order_acq_rel) + 1 == crew->count - 1)
            gate_set(&crew->ended, (uint32_t)calls);
    }
}

uint64_t engine_widest_window(const struct engine *engine)
{
    uint64_t widest = 0;
    for (size_t i = 0; i < engine->island_count; i++)
        widest = max_u64(widest, min_u64(engine->islands[i]->lookahead, WIDEST_WINDOW));
    return widest;
}

/* By region. */
static void set_turns(struct crew_worker *worker)
{
    const struct engine *engine = worker->crew->engine;
    uint32_t regions = engine->region_count + 1, count = 0;
    worker->turns = mem_alloc_lines(worker->owned_count, sizeof *worker->turns);
    worker->region_turns = mem_alloc_lines(regions + 1, sizeof *worker->region_turns);
    for (uint32_t region = 0; region < regions; region++) {
        worker->region_turns[region] = count;
        for (uint32_t i = 0; i < worker->owned_count; i++)
            if (engine->region_of[engine->kind_of[worker->owned[i]->index]] == region)
                worker->turns[count++].place = i;
    }
    worker->region_turns[regions] = count;
}

/* Every count-th of this rank's. */
static void set_owned(struct crew_worker *worker)
{
    const struct crew *crew = worker->crew;
    for (int pass = 0; pass < 2; pass++) {
        worker->owned_count = 0;
        for (size_t i = 0; i < crew->engine->island_count; i++) {
            if (crew->box_of[i] != worker->index)
                continue;
            if (pass)
                worker->owned[worker->owned_count] = crew->engine->islands[i];
            worker->owned_count++;
        }
        if (!pass)
            worker->owned = mem_alloc_lines(worker->owned_count + 1, sizeof *worker->owned);
    }
}

static void set_boxes(struct crew *crew)
{
    const struct engine *engine = crew->engine;
    uint32_t ranks = ranks_count(engine->spec.ranks), here = 0;
    crew->boxes = crew->count + (ranks > 1 ? ranks : 0);
    crew->box_of = mem_alloc_lines(engine->island_count, sizeof *crew->box_of);
    crew->place_of = mem_alloc_lines(engine->island_count, sizeof *crew->place_of);
    for (size_t i = 0; i < engine->island_count; i++) {
        const struct island *island = engine->islands[i];
        crew->box_of[i] = island->is_here ? here % crew->count : crew->count + island->rank;
        crew->place_of[i] = island->is_here ? here++ / crew->count : UINT32_MAX;
    }
}

static void worker_init(struct crew_worker *worker, struct crew *crew, unsigned index)
{
    worker->crew = crew;
    worker->index = index;
    set_owned(worker);
    worker->next = mem_alloc_lines(worker->owned_count, sizeof *worker->next);
    worker->width = mem_alloc_lines(worker->owned_count, sizeof *worker->width);
    for (uint32_t i = 0; i < worker->owned_count; i++)
        worker->width[i] = min_u64(worker->owned[i]->lookahead, WIDEST_WINDOW);
    set_turns(worker);
    worker->least = mem_alloc_lines(crew->engine->kind_count, sizeof *worker->least);
    worker->last_events = mem_alloc_lines(worker->owned_count, sizeof *worker->last_events);
    worker->active = mem_alloc_lines(worker->owned_count + 1, sizeof *worker->active);
    for (int parity = 0; parity < 2; parity++)
        worker->mail[parity] = mem_alloc_lines(crew->boxes, sizeof *worker->mail[parity]);
    worker->out = worker->mail[0];
}

static struct crew *crew_new(struct engine *engine, unsigned count, struct err *err)
{
    struct crew *crew = mem_alloc_lines(1, sizeof *crew);
    crew->engine = engine;
    crew->count = count;
    crew->widest = engine_widest_window(engine);
    crew->ahead = mem_alloc_lines(engine->kind_count, sizeof *crew->ahead);
    crew->least = mem_alloc_lines(engine->kind_count, sizeof *crew->least);
    crew->spins = count <= host_cores() ? SPINS : 0;
    set_boxes(crew);
    if (crew->boxes > count)
        crew->away = away_new(crew);
    gate_set(&crew->window, 1); /* 0 is in `listed`: nothing was listed yet */
    crew->workers = mem_alloc_lines(count, sizeof *crew->workers);
    crew->threads = mem_alloc(count, sizeof *crew->threads);
    pthread_mutex_init(&crew->lock, NULL);
    pthread_cond_init(&crew->called, NULL);
    for (unsigned i = 0; i < count; i++)
        worker_init(&crew->workers[i], crew, i);
    for (unsigned i = 1; i < count; i++) {
        int why = pthread_create(&crew->threads[i], NULL, thread_main, &crew->workers[i]);
        if (why) {
            err_set(err, "cannot start thread %u of %u: %s", i + 1, count, strerror(why));
            crew->threads[i] = 0;
            crew_free(crew);
            return NULL;
        }
    }
    return crew;
}

/* Islands are farther from each other, or nearer, than they were. */
void crew_renew(struct crew *crew)
{
    crew->widest = engine_widest_window(crew->engine);
    for (unsigned i = 0; i < crew->count; i++) {
        struct crew_worker *worker = &crew->workers[i];
        for (uint32_t k = 0; k < worker->owned_count; k++)
            worker->width[k] = min_u64(worker->owned[k]->lookahead, WIDEST_WINDOW);
    }
    if (crew->away)
        away_renew(crew);
}

void crew_free(struct crew *crew)
{
    if (!crew)
        return;
    pthread_mutex_lock(&crew->lock);
    crew->dismissed = true;
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
    for (unsigned i = 1; i < crew->count && crew->threads[i]; i++)
        pthread_join(crew->threads[i], NULL);
    for (unsigned i = 0; i < crew->count; i++) {
        struct crew_worker *worker = &crew->workers[i];
        for (int parity = 0; parity < 2; parity++) {
            for (unsigned box = 0; box < crew->boxes; box++)
                mem_free(worker->mail[parity][box].bytes);
            mem_free(worker->mail[parity]);
        }
        mem_free(worker->owned);
        mem_free(worker->next);
        mem_free(worker->width);
        mem_free(worker->turns);
        mem_free(worker->region_turns);
        mem_free(worker->least);
        mem_free(worker->last_events);
        mem_free(worker->active);
    }
    pthread_cond_destroy(&crew->called);
    pthread_mutex_destroy(&crew->lock);
    away_free(crew->away);
    mem_free(crew->behind);
    mem_free(crew->box_of);
    mem_free(crew->place_of);
    mem_free(crew->ahead);
    mem_free(crew->least);
    mem_free(crew->threads);
    mem_free(crew->workers);
    mem_free(crew);
}

/* ---- a run ---- */

/* Puts all mail into the queues; only while no worker runs. */
static void read_all_mail(struct crew *crew)
{
    for (unsigned i = 0; i < crew->count; i++) {
        read_mail(&crew->workers[i], 0);
        read_mail(&crew->workers[i], 1);
    }
}

static void start_components(struct engine *engine)
{
    for (size_t i = 0; i < engine->component_count; i++) {
        struct component *component = engine->components[i];
        if (component->ops->start && component->island->is_here)
            component->ops->start(component, component->state);
    }
    engine->started = true;
}

/* Readies all for the first window and finds its start. */
static void begin(struct crew *crew, const struct engine_run *run)
{
    struct engine *engine = crew->engine;
    crew->run = run;
    crew->told_island_windows = 0;
    crew->region = crew->count == 1 && engine->region_count > 1 && !run->by_moment;
    crew->until = run->until;
    atomic_store_explicit(&engine->stop_at, TIME_NEVER, memory_order_relaxed);
    atomic_store_explicit(&crew->failed, false, memory_order_relaxed);
    atomic_store_explicit(&crew->back, 0, memory_order_relaxed);
    for (size_t i = 0; i < engine->island_count; i++)
        engine->islands[i]->worker = &crew->workers[0];
    if (!engine->started)
        start_components(engine);
    read_all_mail(crew);
    for (uint32_t k = 0; k < engine->kind_count; k++)
        crew->least[k] = TIME_NEVER;
    for (unsigned w = 0; w < crew->count; w++) {
        const struct crew_worker *owner = &crew->workers[w];
        for (uint32_t i = 0; i < owner->owned_count; i++) {
            const struct island *island = owner->owned[i];
            uint64_t next = island->failure ? TIME_NEVER : island_next_time(island);
            owner->next[i] = next;
            uint64_t *least = &crew->least[engine->kind_of[island->index]];
            *least = min_u64(*least, next);
            if (island->failure)
                crew->until = 0; /* it failed in its `start`: nothing happens at all */
        }
    }
    for (unsigned w = 1; w < crew->count; w++)
        for (uint32_t k = 0; k < engine->kind_count; k++)
            crew->workers[w].least[k] = TIME_NEVER;
    memcpy(crew->workers[0].least, crew->least, engine->kind_count * sizeof *crew->least);
    set_start(crew);
    crew->bound = crew->until;
    if (crew->away)
        away_begin(crew);
    else
        crew->stop = crew->start >= crew->until || crew->start == TIME_NEVER;
}

static void run_all(struct crew *crew)
{
    pthread_mutex_lock(&crew->lock);
    crew->calls++;
    pthread_cond_broadcast(&crew->called);
    pthread_mutex_unlock(&crew->lock);
    work(&crew->workers[0]);
    if (crew->count > 1)
        gate_wait(&crew->ended, (uint32_t)crew->calls - 1, crew->spins);
}

static enum engine_outcome fail(struct engine *engine, const struct err *why)
{
    engine->failure = mem_alloc(1, sizeof *engine->failure);
    *engine->failure = *why;
    return ENGINE_FAILED;
}

static enum engine_outcome outcome(struct crew *crew, struct err *err)
{
    struct engine *engine = crew->engine;
    if (crew->away && !away_end(crew, err))
        return fail(engine, err);
    const struct island *failed = engine_first_failure(engine);
    if (failed) {
        engine->time = failed->failed_at;
        *err = *failed->failure;
        return fail(engine, err);
    }
    if (crew->start == TIME_NEVER) {
        for (size_t i = 0; i < engine->island_count; i++)
            engine->time = max_u64(engine->time, engine->islands[i]->now);
        if (crew->away)
            engine->time = away_latest(engine, engine->time);
        return engine_is_stalled(engine, err) ? fail(engine, err) : ENGINE_FINISHED;
    }
    bool until = crew->start >= crew->until;
    engine->time = max_u64(engine->time, until ? crew->until : crew->start);
    return until ? ENGINE_UNTIL : ENGINE_INTERRUPTED;
}

static size_t islands_here(const struct engine *engine)
{
    size_t here = 0;
    for (size_t i = 0; i < engine->island_count; i++)
        here += engine->islands[i]->is_here;
    return here;
}

enum engine_outcome engine_run(struct engine *engine, const struct engine_run *run, struct err *err)
{
    REQUIRE(engine->ready);
    if (engine->failure) {
        *err = *engine->failure;
        return ENGINE_FAILED;
    }
    unsigned threads =
        (unsigned)min_u64(max_u64(run->threads, 1), islands_here(engine)); /* more would idle */
    if (engine->spec.apart || run->by_moment)
        threads = 1;
    log_debug("running from %llu to %llu ps on %u threads", (unsigned long long)engine->time,
              (unsigned long long)run->until, threads);
    if (engine->crew && engine->crew->count != threads) {
        crew_free(engine->crew);
        engine->crew = NULL;
    }
    if (!engine->crew && !(engine->crew = crew_new(engine, threads, err)))
        return ENGINE_FAILED;
    struct crew *crew = engine->crew;
    begin(crew, run);
    run_all(crew);
    read_all_mail(crew);
    for (unsigned i = 0; i < crew->count; i++) {
        engine->island_windows += crew->workers[i].island_windows;
        crew->workers[i].island_windows = 0;
    }
    for (size_t i = 0; i < engine->island_count; i++)
        engine->islands[i]->worker = NULL;
    return outcome(crew, err);
}
