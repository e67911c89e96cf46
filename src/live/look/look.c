#include "live/look/look.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/mem.h"
#include "live/live.h"
#include "system/view.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { NOTES_MOST = 50 };
static const double ANSWERS_WITHIN = 10; /* seconds: a window may take long */
static const double LOOKED_LATELY = 5;   /* seconds: then somebody looks */

enum run_mode { RUN_GOES, RUN_STEPS, RUN_REACHES, RUN_PAUSED };
static const char *const modes[] = {"goes", "steps", "reaches", "paused"};

/* A question of the server's thread, which waits for the answer. */
struct question {
    void (*answer)(struct question *question, struct look *look, struct machine *machine, bool in_window);
    const char *name;
    const struct live_order *order;
    struct text *json;
    struct err *err;
    bool good;
};

struct look {
    const struct look_ops *ops;
    void *user;
    const struct config *config; /* of the system, whose SMs have this clock: */
    uint64_t clock;
    struct live *live;
    struct machine_windows windows;
    _Atomic bool wanted; /* the thread that runs the machine has something to do after this window */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    /* under the lock: */
    enum run_mode mode;
    uint64_t steps, until_ps;
    struct question *asked; /* not answered yet */
    bool stands;            /* the machine's thread waits here, between windows */
    bool ended;
    bool waits_for_window; /* it is paused from the beginning: in its first window */
    struct err held;       /* why it waits without an order; or "" */
    double looked_at;      /* by the host's clock */
    struct machine_seen seen;
    pthread_mutex_t notes_lock; /* taken last of all; under it: */
    char *notes[NOTES_MOST];    /* a ring */
    uint64_t note_count;
};

/* ---- what is shown ---- */

/* With the lock held. */
static void show_mode(struct look *look, struct text *json)
{
    text_add(json, "\"mode\":\"%s\",\"held\":", modes[look->mode]);
    text_add_quoted(json, look->held.text);
    text_add(json, ",");
}

static void show_notes(struct look *look, struct text *json)
{
    text_add(json, "\"notes\":[");
    pthread_mutex_lock(&look->notes_lock);
    uint64_t from = look->note_count > NOTES_MOST ? look->note_count - NOTES_MOST : 0;
    for (uint64_t i = from; i < look->note_count; i++) {
        text_add(json, "%s", i > from ? "," : "");
        text_add_quoted(json, look->notes[i % NOTES_MOST]);
    }
    pthread_mutex_unlock(&look->notes_lock);
    text_add(json, "],");
}

/* The server's thread has made the object, and adds what is not the machine's when this has answered. */
static void answer_state(struct question *question, struct look *look, struct machine *machine,
                         bool in_window)
{
    show_mode(look, question->json); /* now: the machine stands where this is so */
    text_add(question->json, "\"in_window\":%s,\"why\":[", in_window ? "true" : "false");
    machine_explain(machine, &look->seen, question->json);
    if (question->json->at[question->json->length - 1] == ',')
        question->json->at[--question->json->length] = 0;
    text_add(question->json, "],");
    machine_show_state(machine, question->json);
    if (look->ops->show)
        look->ops->show(look->user, question->json);
    question->good = true;
}

static void answer_component(struct question *question, struct look *look, struct machine *machine,
                             bool in_window)
{
    (void)look, (void)in_window;
    question->good = machine_show_component(machine, question->name, question->json, question->err);
}

static void answer_checkpoint(struct question *question, struct look *look, struct machine *machine,
                              bool in_window)
{
    (void)look;
    question->good = machine_wish_checkpoint(machine, in_window, question->err);
}

static void answer_until(struct question *question, struct look *look, struct machine *machine,
                         bool in_window)
{
    struct clock_domain clock;
    uint64_t cycle = machine_shown_cycle(machine);
    (void)in_window;
    question->good = question->order->count > cycle ||
                     err_set(question->err, "until: expected a cycle after %llu, where the run is",
                             (unsigned long long)cycle);
    if (!question->good)
        return;
    clock_init(&clock, look->clock);
    look->until_ps = clock_time(&clock, question->order->count);
    look->mode = RUN_REACHES;
}

/* ---- between windows ---- */

static void set_wanted(struct look *look)
{
    look->wanted = look->mode != RUN_GOES || look->asked;
}

/* With the lock held. */
static void answer(struct look *look, struct machine *machine, bool in_window)
{
    struct question *question = look->asked;
    question->answer(question, look, machine, in_window);
    look->asked = NULL;
    pthread_cond_broadcast(&look->changed);
}

static void wait_a_little(struct look *look, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)(seconds * 1e9);
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&look->changed, &look->lock, &until);
}

static bool is_over(const struct look *look)
{
    return look->ended || look->ops->is_over(look->user);
}

/* Until it may go on. The machine's thread is here. */
static void stand(struct look *look, struct machine *machine, bool in_window)
{
    look->stands = true;
    for (bool leaves = false; !leaves;) {
        struct question *question = look->asked; /* whose asker waits for the lock */
        if (question) {
            answer(look, machine, in_window);
            leaves = in_window && question->answer == answer_checkpoint && question->good;
        } else if (look->mode != RUN_PAUSED || is_over(look)) {
            leaves = true;
        } else {
            wait_a_little(look, 0.1);
        }
    }
    look->stands = false;
}

static void after_window(void *user, uint64_t time_ps, uint64_t islands)
{
    struct look *look = user;
    (void)islands;
    if (!atomic_load_explicit(&look->wanted, memory_order_relaxed))
        return;
    pthread_mutex_lock(&look->lock);
    bool is_there = (look->mode == RUN_STEPS && !--look->steps) ||
                    (look->mode == RUN_REACHES && time_ps >= look->until_ps);
    if (is_there)
        look->mode = RUN_PAUSED;
    look->waits_for_window = false;
    stand(look, look->ops->machine(look->user), true);
    set_wanted(look);
    pthread_mutex_unlock(&look->lock);
}

void look_hold(struct look *look, const char *why)
{
    if (!look)
        return;
    pthread_mutex_lock(&look->lock);
    if (host_seconds() - look->looked_at < LOOKED_LATELY && !is_over(look)) {
        err_set(&look->held, "%s", why);
        look->mode = RUN_PAUSED;
        stand(look, look->ops->machine(look->user), false);
        look->held.text[0] = 0;
        set_wanted(look);
    }
    pthread_mutex_unlock(&look->lock);
}

bool look_rest(struct look *look)
{
    if (!look || !atomic_load_explicit(&look->wanted, memory_order_relaxed))
        return false;
    pthread_mutex_lock(&look->lock);
    if (look->asked && look->asked->answer != answer_checkpoint && look->waits_for_window)
        answer(look, look->ops->machine(look->user), false);
    else if (!look->waits_for_window)
        stand(look, look->ops->machine(look->user), false);
    set_wanted(look);
    pthread_mutex_unlock(&look->lock);
    return true;
}

/* ---- the server's thread ---- */

/* The machine's thread answers after the window that it is in; or this one does, where nobody runs the
 * machine. */
static bool ask(struct look *look, struct question *question)
{
    double begun = host_seconds();
    question->good = false;
    pthread_mutex_lock(&look->lock);
    look->looked_at = begun;
    look->asked = question;
    look->wanted = true;
    pthread_cond_broadcast(&look->changed);
    while (look->asked == question && !look->ended && host_seconds() - begun < ANSWERS_WITHIN) {
        bool tries = !look->stands && look->ops->try_machine;
        struct machine *machine = tries ? look->ops->try_machine(look->user) : NULL;
        if (machine) {
            answer(look, machine, false);
            look->ops->give_machine(look->user);
        } else {
            wait_a_little(look, 1e-3);
        }
    }
    bool answered = look->asked != question;
    look->asked = NULL;
    set_wanted(look);
    pthread_mutex_unlock(&look->lock);
    return answered ? question->good
                    : err_set(question->err, "the machine does not come to the end of a window; ask again");
}

static bool give_state(void *user, struct text *json, struct err *err)
{
    struct look *look = user;
    struct question question = {.answer = answer_state, .json = json, .err = err};
    text_add(json, "{");
    if (!ask(look, &question))
        return false;
    show_notes(look, json);
    json->at[json->length - 1] = '}';
    return true;
}

static bool give_component(void *user, const char *name, struct text *json, struct err *err)
{
    struct question question = {.answer = answer_component, .name = name, .json = json, .err = err};
    return ask(user, &question);
}

static bool give_parameters(void *user, struct text *json, struct err *err)
{
    const struct look *look = user;
    struct text description = {0};
    (void)err;
    config_dump(look->config, &description);
    text_add(json, "{\"description\":");
    text_add_quoted(json, description.at ? description.at : "");
    text_add(json, "}");
    text_fini(&description);
    return true;
}

static bool follow(void *user, const struct live_order *order, struct err *err)
{
    struct look *look = user;
    bool is_until = order->kind == LIVE_DO_UNTIL;
    struct question question = {
        .answer = is_until ? answer_until : answer_checkpoint, .order = order, .err = err};
    if (!order->count)
        return err_set(err, "count: expected a number from 1 on");
    if (is_until || order->kind == LIVE_DO_CHECKPOINT)
        return ask(look, &question);
    pthread_mutex_lock(&look->lock);
    look->steps = order->count;
    look->mode = order->kind == LIVE_DO_PAUSE  ? RUN_PAUSED
                 : order->kind == LIVE_DO_STEP ? RUN_STEPS
                                               : RUN_GOES;
    set_wanted(look);
    pthread_cond_broadcast(&look->changed);
    pthread_mutex_unlock(&look->lock);
    return true;
}

/* ---- life ---- */

struct look *look_new(const struct look_ops *ops, void *user, const struct system *system)
{
    struct look *look = mem_alloc(1, sizeof *look);
    look->ops = ops;
    look->user = user;
    look->config = &system->config;
    look->clock = system->gpu.clock;
    look->windows = (struct machine_windows){after_window, look};
    look->looked_at = -LOOKED_LATELY;
    pthread_mutex_init(&look->lock, NULL);
    pthread_mutex_init(&look->notes_lock, NULL);
    pthread_cond_init(&look->changed, NULL);
    return look;
}

const struct machine_windows *look_windows(const struct look *look)
{
    return look ? &look->windows : NULL;
}

const char *look_begin(struct look *look, unsigned port, bool paused, struct err *err)
{
    static const struct live_ops ops = {give_state, give_component, give_parameters, follow};
    if (paused)
        look->mode = RUN_PAUSED;
    look->waits_for_window = paused;
    set_wanted(look);
    look->live = live_new(port, &ops, look, err);
    return look->live ? live_url(look->live) : NULL;
}

void look_end(struct look *look)
{
    if (!look)
        return;
    pthread_mutex_lock(&look->lock);
    look->ended = true;
    struct live *live = look->live;
    look->live = NULL;
    pthread_cond_broadcast(&look->changed);
    pthread_mutex_unlock(&look->lock);
    live_free(live);
}

void look_free(struct look *look)
{
    if (!look)
        return;
    look_end(look);
    for (int i = 0; i < NOTES_MOST; i++)
        mem_free(look->notes[i]);
    pthread_cond_destroy(&look->changed);
    pthread_mutex_destroy(&look->notes_lock);
    pthread_mutex_destroy(&look->lock);
    mem_free(look);
}

void look_note(struct look *look, const char *text)
{
    if (!look || !look->live)
        return;
    pthread_mutex_lock(&look->notes_lock);
    char **place = &look->notes[look->note_count++ % NOTES_MOST];
    mem_free(*place);
    *place = mem_text(text);
    pthread_mutex_unlock(&look->notes_lock);
}
