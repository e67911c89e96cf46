#include "driver/onlooker.h"
#include "driver/internal.h"
#include "driver/ledger_format.h"
#include "driver/timeline.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"
#include "live/live.h"
#include "system/view.h"

#include <errno.h>
#include <fcntl.h>
#include <time.h>
#include <unistd.h>

enum { NOTES_MOST = 50, COMMANDS_MOST = 8, STREAMS_MOST = 200 };
static const double ANSWERS_WITHIN = 10; /* seconds: a window may take long */
static const double LOOKED_LATELY = 5;   /* seconds: then somebody looks */

enum run_mode { RUN_GOES, RUN_STEPS, RUN_REACHES, RUN_PAUSED };
static const char *const modes[] = {"goes", "steps", "reaches", "paused"};

/* A question of the server's thread, which waits for the answer. */
struct question {
    void (*answer)(struct question *question, struct driver *driver, struct machine *machine, bool in_window);
    const char *name;
    const struct live_order *order;
    struct text *json;
    struct err *err;
    bool good;
};

struct onlooker {
    struct driver *driver;
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
    struct err held;  /* why it waits without an order; or "" */
    double looked_at; /* by the host's clock */
    struct machine_seen seen;
    pthread_mutex_t notes_lock; /* taken last of all; under it: */
    char *notes[NOTES_MOST];    /* a ring */
    uint64_t note_count;
};

/* ---- what is shown ---- */

static void add_names(struct text *json, const struct command *command)
{
    static const char *const kinds[] = {
        [ACTION_OTHER] = "wait", [ACTION_LAUNCH] = "kernel",      [ACTION_COPY] = "copy",
        [ACTION_FILL] = "fill",  [ACTION_HOST] = "host function", [ACTION_ALLOC] = "alloc",
        [ACTION_FREE] = "free",  [ACTION_RECORD] = "event",       [ACTION_CONDITION] = "condition",
    };
    text_add(json, "{\"kind\":\"%s\",\"waits\":[", kinds[command->ops->kind]);
    bool any = false;
    for (size_t i = 0; i < command->wait_count; i++) {
        const struct command_wait *wait = &command->waits[i];
        if (atomic_load(&wait->stream->done) < wait->number) {
            text_add(json, "%s{\"stream\":%llu,\"number\":%llu}", any ? "," : "",
                     (unsigned long long)wait->stream->id, (unsigned long long)wait->number);
            any = true;
        }
    }
    text_add(json, "]}");
}

static void add_stream(struct text *json, const struct stream *stream, bool first)
{
    text_add(json, "%s{\"gpu\":%u,\"id\":%llu,\"done\":%llu,\"submitted\":%llu,\"queue\":[", first ? "" : ",",
             stream->device->index, (unsigned long long)stream->id,
             (unsigned long long)atomic_load(&stream->done), (unsigned long long)stream->submitted);
    int count = 0;
    for (const struct command *command = stream->head; command && count < COMMANDS_MOST;
         command = command->next, count++) {
        text_add(json, "%s", count ? "," : "");
        add_names(json, command);
    }
    text_add(json, "]}");
}

static void show_streams(struct driver *driver, struct text *json)
{
    int count = 0;
    text_add(json, "\"streams\":[");
    pthread_mutex_lock(&driver->commands.lock);
    for (unsigned i = 0; i < driver->device_count; i++)
        for (const struct stream *stream = driver->devices[i].busy; stream && count < STREAMS_MOST;
             stream = stream->next_busy)
            add_stream(json, stream, !count++);
    pthread_mutex_unlock(&driver->commands.lock);
    text_add(json, "],");
}

/* With the lock held. */
static void show_mode(struct onlooker *onlooker, struct text *json)
{
    text_add(json, "\"mode\":\"%s\",\"held\":", modes[onlooker->mode]);
    text_add_quoted(json, onlooker->held.text);
    text_add(json, ",");
}

static void show_notes(struct onlooker *onlooker, struct text *json)
{
    text_add(json, "\"notes\":[");
    pthread_mutex_lock(&onlooker->notes_lock);
    uint64_t from = onlooker->note_count > NOTES_MOST ? onlooker->note_count - NOTES_MOST : 0;
    for (uint64_t i = from; i < onlooker->note_count; i++) {
        text_add(json, "%s", i > from ? "," : "");
        text_add_quoted(json, onlooker->notes[i % NOTES_MOST]);
    }
    pthread_mutex_unlock(&onlooker->notes_lock);
    text_add(json, "],");
}

/* The server's thread has made the object, and adds what is not the machine's when this has answered. */
static void answer_state(struct question *question, struct driver *driver, struct machine *machine,
                         bool in_window)
{
    struct onlooker *onlooker = driver->onlooker;
    show_mode(onlooker, question->json); /* now: the machine stands where this is so */
    text_add(question->json, "\"in_window\":%s,\"why\":[", in_window ? "true" : "false");
    machine_explain(machine, &onlooker->seen, question->json);
    if (question->json->at[question->json->length - 1] == ',')
        question->json->at[--question->json->length] = 0;
    text_add(question->json, "],");
    machine_show_state(machine, question->json);
    question->good = true;
}

static void answer_component(struct question *question, struct driver *driver, struct machine *machine,
                             bool in_window)
{
    (void)driver, (void)in_window;
    question->good = machine_show_component(machine, question->name, question->json, question->err);
}

static void answer_checkpoint(struct question *question, struct driver *driver, struct machine *machine,
                              bool in_window)
{
    (void)driver;
    question->good = machine_wish_checkpoint(machine, in_window, question->err);
}

/* ---- between windows ---- */

static void set_wanted(struct onlooker *onlooker)
{
    onlooker->wanted = onlooker->mode != RUN_GOES || onlooker->asked;
}

/* With the lock held. */
static void answer(struct onlooker *onlooker, struct machine *machine, bool in_window)
{
    struct question *question = onlooker->asked;
    question->answer(question, onlooker->driver, machine, in_window);
    onlooker->asked = NULL;
    pthread_cond_broadcast(&onlooker->changed);
}

static void wait_a_little(struct onlooker *onlooker, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)(seconds * 1e9);
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    pthread_cond_timedwait(&onlooker->changed, &onlooker->lock, &until);
}

static bool is_over(const struct onlooker *onlooker)
{
    const struct driver *driver = onlooker->driver;
    const _Atomic int *interrupt = driver->options.interrupt;
    return onlooker->ended || driver->interrupt || (interrupt && *interrupt);
}

/* Until it may go on. The machine's thread is here, and has the timeline's lock. */
static void stand(struct onlooker *onlooker, struct machine *machine, bool in_window)
{
    onlooker->stands = true;
    for (bool leaves = false; !leaves;) {
        if (onlooker->asked) {
            leaves = in_window && onlooker->asked->answer == answer_checkpoint;
            answer(onlooker, machine, in_window);
        } else if (onlooker->mode != RUN_PAUSED || is_over(onlooker)) {
            leaves = true;
        } else {
            wait_a_little(onlooker, 0.1);
        }
    }
    onlooker->stands = false;
}

static void after_window(void *user, uint64_t time_ps, uint64_t islands)
{
    struct onlooker *onlooker = user;
    (void)islands;
    if (!atomic_load_explicit(&onlooker->wanted, memory_order_relaxed))
        return;
    pthread_mutex_lock(&onlooker->lock);
    bool is_there = (onlooker->mode == RUN_STEPS && !--onlooker->steps) ||
                    (onlooker->mode == RUN_REACHES && time_ps >= onlooker->until_ps);
    if (is_there)
        onlooker->mode = RUN_PAUSED;
    stand(onlooker, timeline_machine(onlooker->driver), true);
    set_wanted(onlooker);
    pthread_mutex_unlock(&onlooker->lock);
}

void onlooker_hold(struct driver *driver, const char *why)
{
    struct onlooker *onlooker = driver->onlooker;
    if (!onlooker)
        return;
    pthread_mutex_lock(&onlooker->lock);
    if (host_seconds() - onlooker->looked_at < LOOKED_LATELY && !is_over(onlooker)) {
        err_set(&onlooker->held, "%s", why);
        onlooker->mode = RUN_PAUSED;
        stand(onlooker, timeline_machine(driver), false);
        onlooker->held.text[0] = 0;
        set_wanted(onlooker);
    }
    pthread_mutex_unlock(&onlooker->lock);
}

/* ---- the server's thread ---- */

/* The machine's thread answers after the window that it is in; or this one does, where nobody runs the
 * machine. */
static bool ask(struct onlooker *onlooker, struct question *question)
{
    double begun = host_seconds();
    question->good = false;
    pthread_mutex_lock(&onlooker->lock);
    onlooker->looked_at = begun;
    onlooker->asked = question;
    onlooker->wanted = true;
    pthread_cond_broadcast(&onlooker->changed);
    while (onlooker->asked == question && !onlooker->ended && host_seconds() - begun < ANSWERS_WITHIN) {
        struct machine *machine = onlooker->stands ? NULL : timeline_try_machine(onlooker->driver);
        if (machine) {
            answer(onlooker, machine, false);
            timeline_give_machine(onlooker->driver);
        } else {
            wait_a_little(onlooker, 1e-3);
        }
    }
    bool answered = onlooker->asked != question;
    onlooker->asked = NULL;
    set_wanted(onlooker);
    pthread_mutex_unlock(&onlooker->lock);
    return answered ? question->good
                    : err_set(question->err, "the machine does not come to the end of a window; ask again");
}

static bool give_state(void *user, struct text *json, struct err *err)
{
    struct onlooker *onlooker = user;
    struct question question = {.answer = answer_state, .json = json, .err = err};
    text_add(json, "{");
    if (!ask(onlooker, &question))
        return false;
    show_streams(onlooker->driver, json);
    show_notes(onlooker, json);
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
    const struct onlooker *onlooker = user;
    struct text description = {0};
    (void)err;
    config_dump(&onlooker->driver->system.config, &description);
    text_add(json, "{\"description\":");
    text_add_quoted(json, description.at ? description.at : "");
    text_add(json, "}");
    text_fini(&description);
    return true;
}

static bool follow(void *user, const struct live_order *order, struct err *err)
{
    struct onlooker *onlooker = user;
    struct question question = {.answer = answer_checkpoint, .order = order, .err = err};
    struct clock_domain clock;
    if (order->kind == LIVE_DO_CHECKPOINT)
        return ask(onlooker, &question);
    if (!order->count)
        return err_set(err, "count: expected a number from 1 on");
    clock_init(&clock, onlooker->driver->system.gpu.clock);
    pthread_mutex_lock(&onlooker->lock);
    onlooker->steps = order->count;
    onlooker->until_ps = clock_time(&clock, order->count);
    onlooker->mode = order->kind == LIVE_DO_PAUSE  ? RUN_PAUSED
                     : order->kind == LIVE_DO_STEP ? RUN_STEPS
                     : order->kind == LIVE_DO_GO   ? RUN_GOES
                                                   : RUN_REACHES;
    set_wanted(onlooker);
    pthread_cond_broadcast(&onlooker->changed);
    pthread_mutex_unlock(&onlooker->lock);
    return true;
}

/* ---- life ---- */

struct onlooker *onlooker_new(struct driver *driver)
{
    struct onlooker *onlooker = mem_alloc(1, sizeof *onlooker);
    onlooker->driver = driver;
    onlooker->windows = (struct machine_windows){after_window, onlooker};
    onlooker->looked_at = -LOOKED_LATELY;
    pthread_mutex_init(&onlooker->lock, NULL);
    pthread_mutex_init(&onlooker->notes_lock, NULL);
    pthread_cond_init(&onlooker->changed, NULL);
    return onlooker;
}

const struct machine_windows *onlooker_windows(const struct onlooker *onlooker)
{
    return onlooker ? &onlooker->windows : NULL;
}

/* The first process of a run has the port that was asked for; others have any. */
static bool is_first(const struct driver *driver)
{
    struct text path = {0};
    if (!driver->options.run_dir)
        return true;
    text_add(&path, "%s/" LEDGER_LIVE, driver->options.run_dir);
    int file = open(path.at, O_CREAT | O_EXCL | O_WRONLY | O_CLOEXEC, 0600);
    bool exists = file < 0 && errno == EEXIST;
    text_fini(&path);
    if (file >= 0)
        close(file);
    return !exists;
}

bool onlooker_begin(struct driver *driver, struct err *err)
{
    static const struct live_ops ops = {give_state, give_component, give_parameters, follow};
    struct onlooker *onlooker = driver->onlooker;
    struct err line;
    struct live_wish wish;
    if (!live_wish_parse(driver->options.live, &wish, err))
        return false;
    if (wish.paused)
        onlooker->mode = RUN_PAUSED;
    set_wanted(onlooker);
    onlooker->live = live_new(is_first(driver) ? wish.port : 0, &ops, onlooker, err);
    if (!onlooker->live)
        return false;
    err_set(&line, "live view at %s", live_url(onlooker->live));
    driver_notice(driver, line.text);
    return true;
}

void onlooker_end(struct driver *driver)
{
    struct onlooker *onlooker = driver->onlooker;
    if (!onlooker)
        return;
    pthread_mutex_lock(&onlooker->lock);
    onlooker->ended = true;
    struct live *live = onlooker->live;
    onlooker->live = NULL;
    pthread_cond_broadcast(&onlooker->changed);
    pthread_mutex_unlock(&onlooker->lock);
    live_free(live);
}

void onlooker_free(struct driver *driver)
{
    struct onlooker *onlooker = driver->onlooker;
    if (!onlooker)
        return;
    onlooker_end(driver);
    for (int i = 0; i < NOTES_MOST; i++)
        mem_free(onlooker->notes[i]);
    pthread_cond_destroy(&onlooker->changed);
    pthread_mutex_destroy(&onlooker->notes_lock);
    pthread_mutex_destroy(&onlooker->lock);
    mem_free(onlooker);
    driver->onlooker = NULL;
}

void onlooker_note(struct driver *driver, const char *text)
{
    struct onlooker *onlooker = driver->onlooker;
    if (!onlooker || !onlooker->live)
        return;
    pthread_mutex_lock(&onlooker->notes_lock);
    char **place = &onlooker->notes[onlooker->note_count++ % NOTES_MOST];
    mem_free(*place);
    *place = mem_text(text);
    pthread_mutex_unlock(&onlooker->notes_lock);
}
