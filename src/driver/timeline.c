#include "driver/timeline.h"
#include "driver/picture.h"
#include "driver/internal.h"
#include "driver/brood.h"
#include "driver/itracing.h"
#include "driver/managed.h"
#include "driver/onlooker.h"
#include "driver/watch.h"
#include "attach/attach.h"
#include "ranked/ranked.h"
#include "plugin/plugin.h"
#include "base/bits.h"
#include "base/clock.h"
#include "base/host.h"
#include "base/mem.h"
#include "base/text.h"
#include "system/machine.h"

#include <time.h>

enum {
    SLICE_PS = 20 * 1000 * 1000, /* then the other threads of the host are heard */
    LOOKS_AGAIN = 8, /* slices of a wait: then what other threads of the host wrote is seen, and what could
                        not be before, as a miss of its line was under way */
    PATIENCE_S = 2,  /* for the host: then time goes on without it */
};

/* A command that takes time. */
struct running {
    struct running *next;
    struct command *command;
    struct task task;
};

struct timeline {
    struct driver *driver;
    struct machine *machine;
    pthread_mutex_t lock; /* around the machine; taken last of all */
    struct driver_watch watch;
    struct text note; /* of checkpoints: what must be the same */
    char *checkpoint, *resume;
    /* with the commands' lock held: */
    _Atomic bool driving;    /* some thread lets time pass, and has all that follows */
    struct running *running; /* in the order they were begun */
    size_t host_functions;   /* that run now */
    uint64_t ranges_told;    /* memory.ranges_changed, when the machine was told last */
    bool broken;             /* the machine gave up */
    bool is_elsewhere;       /* in another process, that programs attach to */
    uint64_t calls;          /* of the host */
    _Atomic uint32_t works;  /* calls that load code or prepare kernels now */
    bool is_watching;
    pthread_t watcher;
};

static void *watch_host(void *user);
static void *follow_machine(void *user);

/* ---- checkpoints ---- */

static void tell_written(void *user, uint64_t time_ps, const char *failure)
{
    struct driver *driver = user;
    struct timeline *timeline = driver->timeline;
    struct clock_domain clock;
    struct text text = {0};
    clock_init(&clock, driver->system.gpu.clock);
    driver_watch_fini(&timeline->watch);
    unsigned long long cycle = clock_cycle(&clock, time_ps);
    if (failure)
        text_add(&text, "no checkpoint at cycle %llu: %s", cycle, failure);
    else
        text_add(&text, "checkpoint %s written at cycle %llu; --resume goes on from there",
                 timeline->checkpoint, cycle);
    driver_notice(driver, text.at);
    text_fini(&text);
}

static struct checkpoint_options checkpoint_of(struct timeline *timeline)
{
    struct driver *driver = timeline->driver;
    const struct timing_options *timing = &driver->options.timing;
    timeline->checkpoint = timing->checkpoint ? mem_text(timing->checkpoint) : NULL;
    timeline->resume = timing->resume ? mem_text(timing->resume) : NULL;
    text_add(&timeline->note, "%skernels = %s\nregion = %s\nbounds = %s\nlimit = %llu\n",
             timing->identity ? timing->identity : "",
             driver->options.kernels ? driver->options.kernels : "all",
             driver->options.region ? driver->options.region : "all",
             driver->options.padded_bounds ? "padded" : "exact",
             (unsigned long long)driver->options.instruction_limit);
    return (struct checkpoint_options){.write = timeline->checkpoint,
                                       .at_cycles = timing->checkpoint_at,
                                       .every_cycles = timing->checkpoint_every,
                                       .stop = timing->checkpoint_stop,
                                       .resume = timeline->resume,
                                       .note = timeline->note.at,
                                       .written = tell_written,
                                       .user = driver};
}

bool timeline_ends(struct driver *driver)
{
    const struct timing_options *timing = &driver->options.timing;
    const struct timeline *timeline = driver->timeline;
    if (!timeline || timeline->broken)
        return true;
    if (machine_is_replaying(timeline->machine)) {
        driver_notice(driver, "the program ended before it came to where the checkpoint was written");
        return false;
    }
    if (timeline->checkpoint && timing->checkpoint_at && !machine_has_written(timeline->machine))
        driver_notice(driver, "the program ended before the cycle of --checkpoint-at: none was written");
    return true;
}

static void free_texts(struct timeline *timeline)
{
    text_fini(&timeline->note);
    mem_free(timeline->checkpoint);
    mem_free(timeline->resume);
}

static void take_sample(void *user, const struct machine_sample *sample)
{
    ledger_add_sample(user, &(struct series_head){.bytes = sizeof *sample}, sample);
}

static void take_part_sample(void *user, const struct machine_part_sample *sample)
{
    ledger_add_sample(user, &(struct series_head){.is_part = true, .bytes = sizeof *sample}, sample);
}

bool timeline_new(struct driver *driver, struct err *err)
{
    const struct timing_options *timing = &driver->options.timing;
    struct timeline *made = mem_alloc(1, sizeof *made);
    made->driver = driver;
    driver_watch_init(&made->watch, timing->progress);
    struct machine_options options = {
        .threads = driver->threads,
        .wishes = {.max_cycles = timing->max_cycles,
                   .cold_caches = timing->cold_caches,
                   .share_code = timing->share_code,
                   .profile = timing->profile},
        .islands_apart = timing->islands_apart,
        .windows = timing->windows ? timing->windows : look_windows(driver->onlooker),
        .interrupt = driver->options.interrupt ? driver->options.interrupt : &driver->interrupt,
        .progress = made->watch.line.terminal ? driver_watch_show : NULL,
        .user = &made->watch,
        .checkpoint = checkpoint_of(made),
        .series_cycles = driver->ledger.folder ? timing->series_cycles : 0,
        .sample = take_sample,
        .sample_part = take_part_sample,
        .sample_user = &driver->ledger,
        .measures = timing->write_load,
        .placement = timing->placement};
    made->machine = driver->attach       ? attach_machine(driver->attach, &options, err)
                    : timing->over_ranks ? ranked_new(timing->over_ranks, &driver->system, &options, err)
                                         : machine_new(&driver->system, &options, err);
    if (!made->machine) {
        free_texts(made);
        mem_free(made);
        return false;
    }
    pthread_mutex_init(&made->lock, NULL);
    made->is_elsewhere = driver->attach;
    driver->attach = NULL;
    for (unsigned i = 0; i < driver->device_count && machine_wants_code(made->machine); i++)
        machine_set_image(made->machine, i, driver->devices[i].image);
    driver->timeline = made; /* which the thread looks at */
    bool follows = timing->follow_machine && made->is_elsewhere;
    made->is_watching = (timing->watch_host || follows) &&
                        !pthread_create(&made->watcher, NULL, follows ? follow_machine : watch_host, driver);
    return true;
}

static void drop_running(struct running *running)
{
    gpu_kernel_stats_fini(&running->task.stats);
    mem_free(running);
}

void timeline_free(struct timeline *timeline)
{
    if (!timeline)
        return;
    driver_watch_fini(&timeline->watch);
    machine_free(timeline->machine);
    free_texts(timeline);
    for (struct running *next, *running = timeline->running; running; running = next) {
        next = running->next;
        command_free(running->command);
        drop_running(running);
    }
    pthread_mutex_destroy(&timeline->lock);
    mem_free(timeline);
}

uint64_t timeline_now(struct driver *driver)
{
    struct timeline *timeline = driver->timeline;
    pthread_mutex_lock(&timeline->lock);
    uint64_t now = machine_time(timeline->machine);
    pthread_mutex_unlock(&timeline->lock);
    return now;
}

struct machine *timeline_machine(const struct driver *driver)
{
    return driver->timeline->machine;
}

struct machine *timeline_try_machine(const struct driver *driver)
{
    return pthread_mutex_trylock(&driver->timeline->lock) ? NULL : driver->timeline->machine;
}

void timeline_give_machine(const struct driver *driver)
{
    pthread_mutex_unlock(&driver->timeline->lock);
}

void timeline_touch(struct driver *driver, uint64_t at, uint64_t bytes, enum memory_use use)
{
    struct timeline *timeline = driver->timeline;
    itracing_touch(driver, at, bytes, (uint32_t)(use == MEMORY_DROPPED ? MEMORY_CHANGED : use));
    if (!timeline)
        return;
    pthread_mutex_lock(&timeline->lock);
    machine_sync_memory(timeline->machine, at, bytes, use);
    pthread_mutex_unlock(&timeline->lock);
}

void timeline_manage(struct driver *driver, const struct managed_order *order)
{
    struct timeline *timeline = driver->timeline;
    itracing_manage(driver, order);
    if (!timeline)
        return;
    pthread_mutex_lock(&timeline->lock);
    machine_manage(timeline->machine, order);
    pthread_mutex_unlock(&timeline->lock);
}

void timeline_set_heap(struct device *device, struct heap *heap)
{
    struct timeline *timeline = device->driver->timeline;
    if (!timeline)
        return;
    pthread_mutex_lock(&timeline->lock);
    machine_set_heap(timeline->machine, device->index, heap);
    pthread_mutex_unlock(&timeline->lock);
}

bool timeline_listen(struct driver *driver, const struct probe *probe, struct err *err)
{
    struct probe all = driver->ears ? plugin_ears_probe(driver->ears, probe) : *probe;
    pthread_mutex_lock(&driver->timeline->lock);
    bool good = machine_listen(driver->timeline->machine, &all, err);
    pthread_mutex_unlock(&driver->timeline->lock);
    return good;
}

bool timeline_begin_listening(struct driver *driver, struct err *err)
{
    struct err why;
    driver->ears = plugin_ears_new();
    return !driver->ears || timeline_listen(driver, &probe_of_nobody, &why) ||
           err_set(err, "a plugin listens, but %.300s", why.text);
}

void timeline_end_listening(struct driver *driver)
{
    struct plugin_ears *ears = driver->ears;
    struct err unused;
    if (!ears)
        return;
    driver->ears = NULL;
    if (driver->timeline)
        timeline_listen(driver, &probe_of_nobody, &unused);
    plugin_ears_free(ears);
}

bool timeline_is_elsewhere(const struct driver *driver)
{
    return driver->timeline && driver->timeline->is_elsewhere;
}

void timeline_write_load(struct driver *driver)
{
    const char *path = driver->options.timing.write_load;
    struct err err;
    if (!driver->timeline || !path)
        return;
    pthread_mutex_lock(&driver->timeline->lock);
    bool good = machine_write_load(driver->timeline->machine, path, &err);
    pthread_mutex_unlock(&driver->timeline->lock);
    if (!good)
        driver_notice(driver, err.text);
    driver->options.timing.write_load = NULL; /* once */
}

void timeline_leave_ranks(struct driver *driver)
{
    if (!driver->timeline || !driver->options.timing.over_ranks)
        return;
    pthread_mutex_lock(&driver->timeline->lock); /* whoever lets time pass has seen the interruption */
    ranked_leave(driver->timeline->machine);
    pthread_mutex_unlock(&driver->timeline->lock);
}

bool timeline_wants_code(const struct driver *driver)
{
    return driver->timeline && machine_wants_code(driver->timeline->machine);
}

uint64_t timeline_load(struct driver *driver, const struct code_object *object)
{
    pthread_mutex_lock(&driver->timeline->lock);
    uint64_t number = machine_load(driver->timeline->machine, object);
    pthread_mutex_unlock(&driver->timeline->lock);
    return number;
}

void timeline_unload(struct driver *driver, uint64_t object)
{
    pthread_mutex_lock(&driver->timeline->lock);
    machine_unload(driver->timeline->machine, object);
    pthread_mutex_unlock(&driver->timeline->lock);
}

void timeline_open_memory(struct driver *driver, uint64_t at, uint64_t bytes)
{
    if (timeline_is_elsewhere(driver))
        attach_open_memory(driver->timeline->machine, at, bytes);
}

void timeline_close_memory(struct driver *driver, uint64_t at)
{
    if (timeline_is_elsewhere(driver))
        attach_close_memory(driver->timeline->machine, at);
}

void timeline_signal(struct driver *driver)
{
    if (timeline_is_elsewhere(driver))
        attach_signal(driver->timeline->machine);
}

void timeline_message(struct driver *driver)
{
    if (timeline_is_elsewhere(driver))
        attach_message(driver->timeline->machine);
}

void timeline_set_away(struct driver *driver, bool away)
{
    if (timeline_is_elsewhere(driver))
        attach_set_away(driver->timeline->machine, away);
}

void timeline_set_limit(struct driver *driver, uint64_t cycles)
{
    pthread_mutex_lock(&driver->timeline->lock);
    machine_set_limit(driver->timeline->machine, cycles);
    pthread_mutex_unlock(&driver->timeline->lock);
}

/* ---- where memory is ---- */

static void tell_ranges(struct timeline *timeline)
{
    struct driver *driver = timeline->driver;
    struct memory_ranges ranges = {0};
    if (timeline->ranges_told == atomic_load(&driver->memory.ranges_changed))
        return;
    pthread_mutex_lock(&driver->memory.lock);
    timeline->ranges_told = driver->memory.ranges_changed;
    memory_list_ranges(driver, &ranges);
    pthread_mutex_lock(&timeline->lock);
    machine_set_memory(timeline->machine, ranges.at, (uint32_t)ranges.count);
    pthread_mutex_unlock(&timeline->lock);
    pthread_mutex_unlock(&driver->memory.lock);
    mem_free(ranges.at);
}

/* ---- commands begin and end; all with the commands' lock held, which is open while one is run ---- */

static void close_command(struct driver *driver, struct command *command)
{
    struct stream *stream = command->stream;
    uint64_t number = command->number;
    pthread_mutex_unlock(&driver->commands.lock);
    command_free(command);
    pthread_mutex_lock(&driver->commands.lock);
    stream_has_done(stream, number);
    pthread_cond_broadcast(&driver->commands.progress);
}

static void *run_host_function(void *user)
{
    struct command *command = user;
    struct driver *driver = command->stream->device->driver;
    command->ops->run(command);
    pthread_mutex_lock(&driver->commands.lock);
    close_command(driver, command);
    driver->timeline->host_functions--;
    pthread_cond_broadcast(&driver->commands.progress);
    pthread_mutex_unlock(&driver->commands.lock);
    return NULL;
}

/* With the commands' lock held; false when the time was over. */
static bool wait_for(struct commands *commands, pthread_cond_t *what, double seconds)
{
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    uint64_t ns = (uint64_t)until.tv_nsec + (uint64_t)(seconds * 1e9);
    until.tv_sec += (time_t)(ns / 1000000000);
    until.tv_nsec = (long)(ns % 1000000000);
    return !pthread_cond_timedwait(what, &commands->lock, &until);
}

/* A thread of its own, as in CUDA: it may wait for what another thread of the program does. It takes no time,
 * so time stands still meanwhile. */
static void start_host_function(struct driver *driver, struct command *command)
{
    struct timeline *timeline = driver->timeline;
    pthread_t thread;
    const struct stream *stream = command->stream;
    uint64_t number = command->number;
    timeline->host_functions++;
    if (pthread_create(&thread, NULL, run_host_function, command))
        BUG("cannot start a thread for a function of the host");
    pthread_detach(thread);
    while (stream->done < number && wait_for(&driver->commands, &driver->commands.progress, PATIENCE_S))
        ;
}

static void begin_task(struct timeline *timeline, struct running *running)
{
    struct running **last = &timeline->running;
    while (*last)
        last = &(*last)->next;
    *last = running;
    driver_watch_task(&timeline->watch, running->task.launch);
    pthread_mutex_lock(&timeline->lock);
    machine_begin(timeline->machine, &running->task);
    pthread_mutex_unlock(&timeline->lock);
}

static void take_off(struct stream *stream)
{
    stream->head = stream->head->next;
}

/* ---- kernels beside kernels that they wait for ---- */

static bool add_after(const struct timeline *timeline, const struct command *command,
                      struct command_wait wait, struct task *task)
{
    const struct running *running = timeline->running;
    while (running && (running->command->stream != wait.stream || running->command->number != wait.number))
        running = running->next;
    if (!running || !running->task.launch || running->task.gpu != command->stream->device->index ||
        task->after_count == TASK_AFTER)
        return false;
    task->after[task->after_count++] = (struct task_after){.number = running->task.number,
                                                           .at_start = wait.how >= WAIT_FOR_START,
                                                           .apart = wait.how == WAIT_FOR_START_APART};
    return true;
}

/* A kernel may begin now, with those it waits for that are under way; these go into the task. */
static bool begins_beside(const struct timeline *timeline, const struct stream *stream, struct task *task)
{
    const struct command *head = stream->head;
    if (!head || !head->beside || stream->device->error || timeline->broken)
        return false;
    const struct command_wait before = {(struct stream *)(uintptr_t)stream, head->number - 1,
                                        WAIT_FOR_TRIGGER};
    if (stream->running && !(head->beside_previous && add_after(timeline, head, before, task)))
        return false;
    for (size_t i = 0; i < head->wait_count; i++) {
        const struct command_wait *wait = &head->waits[i];
        bool done = atomic_load_explicit(&wait->stream->done, memory_order_acquire) >= wait->number;
        if (!done && !(wait->how && add_after(timeline, head, *wait, task)))
            return false;
    }
    return true;
}

/* False: its time has not come. */
static bool start_head(struct driver *driver, struct stream *stream)
{
    struct timeline *timeline = driver->timeline;
    struct command *command = stream->head;
    const struct command_ops *ops = command->ops;
    bool wanted = (ops->on_error || !stream->device->error) && !(ops->begin && timeline->broken);
    struct running *running = mem_alloc(1, sizeof *running);
    enum command_turn turn = TURN_NOW;
    running->command = command;
    if (command->beside)
        begins_beside(timeline, stream, &running->task);
    stream->running++;
    pthread_mutex_unlock(&driver->commands.lock);
    commands_set_running(command);
    if (wanted && ops->begin) {
        tell_ranges(timeline);
        managed_tell_rooms(driver);
        turn = ops->begin(command, &running->task);
    }
    if (wanted && turn == TURN_NOW && !ops->is_host)
        ops->run(command);
    commands_set_running(NULL);
    pthread_mutex_lock(&driver->commands.lock);
    if (turn == TURN_LATER)
        stream->running--;
    else
        take_off(stream);
    if (turn == TURN_TASK)
        begin_task(timeline, running);
    else
        mem_free(running);
    if (turn == TURN_NOW && wanted && ops->is_host)
        start_host_function(driver, command);
    else if (turn == TURN_NOW)
        close_command(driver, command);
    return turn != TURN_LATER;
}

static bool can_begin(const struct driver *driver, const struct stream *stream)
{
    struct task unused;
    if (stream_is_ready(stream))
        return true;
    unused.after_count = 0;
    return stream->head->beside && begins_beside(driver->timeline, stream, &unused);
}

/* The stream whose first command is ready and was submitted first, but behind this one. */
static struct stream *next_ready(struct driver *driver, uint64_t behind)
{
    struct stream *first = NULL;
    for (unsigned i = 0; i < driver->device_count; i++) {
        for (struct stream *stream = driver->devices[i].busy; stream; stream = stream->next_busy) {
            if (stream->head && stream->head->order > behind && can_begin(driver, stream) &&
                (!first || stream->head->order < first->head->order))
                first = stream;
        }
    }
    return first;
}

static bool start_ready(struct driver *driver)
{
    bool any = false;
    uint64_t behind = 0;
    for (struct stream *stream; !driver->commands.stop && (stream = next_ready(driver, behind));) {
        behind = stream->head->order;
        any |= start_head(driver, stream);
    }
    return any;
}

static void end_task(struct driver *driver, struct running *running)
{
    struct command *command = running->command;
    driver_watch_fini(&driver->timeline->watch);
    picture_task(driver, command, &running->task);
    pthread_mutex_unlock(&driver->commands.lock);
    commands_set_running(command);
    if (command->ops->end)
        command->ops->end(command, &running->task);
    else if (running->task.state == TASK_DONE)
        command->ops->run(command);
    commands_set_running(NULL);
    pthread_mutex_lock(&driver->commands.lock);
    close_command(driver, command);
    drop_running(running);
}

/* Those that are done, or all of them. */
static bool end_tasks(struct driver *driver, bool all)
{
    struct timeline *timeline = driver->timeline;
    bool any = false;
    for (struct running **at = &timeline->running; *at;) {
        struct running *running = *at;
        if (!all && running->task.state == TASK_RUNNING) {
            at = &running->next;
            continue;
        }
        *at = running->next;
        end_task(driver, running);
        any = true;
    }
    return any;
}

/* All that can happen at this moment. */
static void settle(struct driver *driver)
{
    bool more = true;
    while (more) {
        more = end_tasks(driver, false);
        more |= broods_begin_due(driver, timeline_now(driver));
        more |= start_ready(driver);
    }
}

/* ---- time ---- */

/* Interrupted, or the model failed: nothing that runs will end by itself. */
static void give_up(struct driver *driver, const struct err *why)
{
    struct timeline *timeline = driver->timeline;
    enum machine_end end = machine_end(timeline->machine);
    bool by_checkpoint = end == MACHINE_STOPPED || end == MACHINE_CANNOT_RESUME;
    timeline->broken = true;
    driver_watch_fini(&timeline->watch);
    if (end == MACHINE_CANNOT_RESUME)
        driver_report(driver, why->text);
    if (by_checkpoint)
        driver->interrupt = 1; /* the program is not to go on */
    if (!driver_is_interrupted(driver)) {
        driver_report(driver, why->text);
        for (unsigned i = 0; i < driver->device_count; i++) /* nothing can be done on any from now on */
            device_fail(&driver->devices[i], RESULT_LAUNCH_FAILED);
    }
    end_tasks(driver, true);
    if (end == MACHINE_STOPPED && driver->options.timing.stopped)
        *driver->options.timing.stopped = true;
    if (by_checkpoint && driver->on_end) {
        if (driver->options.timing.over_ranks) /* who would wait for orders */
            ranked_leave(timeline->machine);
        driver->on_end(end == MACHINE_STOPPED);
    } else if (driver->on_interrupt && driver_is_interrupted(driver))
        driver->on_interrupt(driver);
}

/* What passed over the fabric up to now. */
static void note_links(struct driver *driver)
{
    struct machine_link links[LEDGER_LINKS];
    size_t count = machine_links(driver->timeline->machine, links, LEDGER_LINKS);
    if (count)
        ledger_set_links(&driver->ledger, links, min_u64(count, LEDGER_LINKS));
}

/* Why somebody may want to look before the run goes on; NULL: for nothing. */
static const char *failure_of(const struct timeline *timeline, bool good, const struct err *why)
{
    for (const struct running *running = timeline->running; running; running = running->next)
        if (running->task.state == TASK_FAILED)
            return running->task.result.fault.text;
    return good ? NULL : why->text;
}

/* Lets this much pass, or less when a task ends before; where there are looks, as attach_turn does. */
static void advance_or_turn(struct driver *driver, uint64_t ps, uint32_t looks)
{
    struct timeline *timeline = driver->timeline;
    struct err why = {.text = "the simulation cannot go on"};
    uint64_t due = broods_next_ps(driver), now = due == TIME_NEVER ? 0 : timeline_now(driver);
    if (due != TIME_NEVER && !looks)
        ps = min_u64(ps, due > now ? due - now : 0);
    pthread_mutex_unlock(&driver->commands.lock);
    pthread_mutex_lock(&timeline->lock);
    bool good = !driver_is_interrupted(driver) && (looks ? attach_turn(timeline->machine, looks, &why)
                                                         : machine_pass(timeline->machine, ps, &why));
    if (driver_is_interrupted(driver))
        machine_interrupted(timeline->machine, &why);
    note_links(driver);
    const char *failure = failure_of(timeline, good, &why);
    if (failure)
        look_hold(driver->onlooker, failure);
    pthread_mutex_unlock(&timeline->lock);
    pthread_mutex_lock(&driver->commands.lock);
    if (!good)
        give_up(driver, &why);
}

static void advance(struct driver *driver, uint64_t ps)
{
    advance_or_turn(driver, ps, 0);
}

bool timeline_is_driving(const struct driver *driver)
{
    return driver->timeline && driver->timeline->driving;
}

static bool is_done(const struct stream *stream, uint64_t number)
{
    return atomic_load_explicit(&stream->done, memory_order_acquire) >= number;
}

static void stop_driving(struct driver *driver)
{
    driver->timeline->driving = false;
    pthread_cond_broadcast(&driver->commands.progress);
}

/* Lets time pass for the host: so much, and up to this time at least. */
static void pass_for_host(struct driver *driver, uint64_t ps, uint64_t at_least)
{
    struct timeline *timeline = driver->timeline;
    struct commands *commands = &driver->commands;
    pthread_mutex_lock(&commands->lock);
    timeline->calls++;
    if (!timeline->driving && !commands->stop) { /* else time passes anyway */
        timeline->driving = true;
        uint64_t now = timeline_now(driver), until = max_u64(now + ps, at_least);
        settle(driver);
        if (timeline->running)
            managed_call(driver);
        for (; now < until && !timeline->broken; now = timeline_now(driver)) {
            advance(driver, until - now);
            settle(driver);
        }
        stop_driving(driver);
    }
    pthread_mutex_unlock(&commands->lock);
}

void timeline_call(struct driver *driver, bool is_launch)
{
    pass_for_host(driver, is_launch ? driver->system.spec.launch_time : driver->system.spec.call_time, 0);
}

void timeline_pass(struct driver *driver, uint64_t ps)
{
    if (ps)
        pass_for_host(driver, ps, 0);
}

uint64_t timeline_copy_ps(const struct driver *driver, const struct task *task)
{
    const struct transfer transfer = {.bytes = task->width * task->height * task->depth,
                                      .to_host = task->to.is_host,
                                      .pageable = task->to.is_pageable || task->from.is_pageable};
    bool with_host = task->to.is_host != task->from.is_host;
    return with_host ? transfer_call_ps(&system_of_device(&driver->system, task->gpu)->copies, &transfer) : 0;
}

void timeline_host_reached(struct driver *driver, uint64_t time_ps)
{
    pass_for_host(driver, 0, time_ps);
}

void timeline_begin_work(struct driver *driver)
{
    if (driver->timeline)
        atomic_fetch_add(&driver->timeline->works, 1);
}

void timeline_end_work(struct driver *driver)
{
    if (driver->timeline)
        atomic_fetch_sub(&driver->timeline->works, 1);
}

void timeline_settle(struct driver *driver)
{
    pass_for_host(driver, 0, 0);
}

void timeline_tell_memory(struct driver *driver)
{
    struct commands *commands = &driver->commands;
    struct timeline *timeline = driver->timeline;
    if (!timeline)
        return;
    pthread_mutex_lock(&commands->lock);
    while (timeline->driving)
        pthread_cond_wait(&commands->progress, &commands->lock);
    timeline->driving = true;
    pthread_mutex_unlock(&commands->lock);
    tell_ranges(timeline);
    pthread_mutex_lock(&commands->lock);
    stop_driving(driver);
    pthread_mutex_unlock(&commands->lock);
}

/* Time may bring something: a task ends, or another process does what a stream waits for. */
static bool can_advance(const struct driver *driver)
{
    return driver->timeline->running || driver->commands.waits_for_others ||
           broods_next_ps(driver) != TIME_NEVER;
}

void timeline_wait_for_other(struct driver *driver, const struct ipc_event *event, uint64_t record)
{
    struct timeline *timeline = driver->timeline;
    struct commands *commands = &driver->commands;
    pthread_mutex_lock(&commands->lock);
    timeline->calls++;
    while (!ipc_event_is_done(event, record) && !commands->stop && !timeline->broken) {
        if (timeline->driving) {
            wait_for(commands, &commands->progress, 1e-3);
            continue;
        }
        timeline->driving = true;
        settle(driver);
        if (!ipc_event_is_done(event, record))
            advance(driver, SLICE_PS);
        settle(driver);
        stop_driving(driver);
    }
    pthread_mutex_unlock(&commands->lock);
}

/* Where the machine is this process's own, others are none of its, and time passes a little. */
void timeline_turn(struct driver *driver, uint32_t looks)
{
    struct timeline *timeline = driver->timeline;
    struct commands *commands = &driver->commands;
    bool is_elsewhere = timeline_is_elsewhere(driver);
    pthread_mutex_lock(&commands->lock);
    timeline->calls++;
    if (timeline->driving) {
        wait_for(commands, &commands->progress, 1e-3);
    } else if (!commands->stop && !timeline->broken) {
        timeline->driving = true;
        settle(driver);
        if (is_elsewhere)
            advance_or_turn(driver, 0, looks);
        else if (timeline->running)
            advance(driver, SLICE_PS);
        settle(driver);
        stop_driving(driver);
    }
    pthread_mutex_unlock(&commands->lock);
}

void timeline_wait(struct stream *stream, uint64_t number)
{
    struct driver *driver = stream->device->driver;
    struct timeline *timeline = driver->timeline;
    struct commands *commands = &driver->commands;
    pthread_mutex_lock(&commands->lock);
    timeline->calls++;
    uint64_t turns = 0;
    bool gives_up = false; /* nothing can happen any more, and the user wants it to end */
    while (!is_done(stream, number) && !commands->stop && !gives_up) {
        if (timeline->driving) {
            pthread_cond_wait(&commands->progress, &commands->lock);
            continue;
        }
        timeline->driving = true;
        settle(driver);
        if (turns++ % LOOKS_AGAIN == 0 && timeline->running)
            managed_call(driver);
        if (!is_done(stream, number) && can_advance(driver))
            advance(driver, SLICE_PS);
        else if (!is_done(stream, number)) { /* something of the host must happen first */
            gives_up = driver->options.interrupt && *driver->options.interrupt;
            wait_for(commands, &commands->progress, 50e-6);
        }
        settle(driver);
        stop_driving(driver);
    }
    pthread_mutex_unlock(&commands->lock);
}

/* ---- a host that is silent ---- */

static bool has_work(const struct driver *driver)
{
    for (unsigned i = 0; i < driver->device_count; i++) {
        if (driver->devices[i].busy)
            return true;
    }
    return false;
}

/* Some call of the host's is not done yet: it loads code, or asks the machine for something. */
static bool is_in_call(struct timeline *timeline)
{
    bool asks = pthread_mutex_trylock(&timeline->lock) != 0;
    if (!asks)
        pthread_mutex_unlock(&timeline->lock);
    return asks || atomic_load(&timeline->works);
}

/* A program may look at memory, without a call, until a kernel has written to it. So when it has made no call
 * for long, time goes on without it; this is the one thing that the host's speed has a say in. */
static void *watch_host(void *user)
{
    struct driver *driver = user;
    struct timeline *timeline = driver->timeline;
    struct commands *commands = &driver->commands;
    uint64_t heard = 0;
    double since = host_seconds();
    pthread_mutex_lock(&commands->lock);
    while (!commands->stop) {
        if (timeline->calls != heard || timeline->driving || !has_work(driver) || is_in_call(timeline)) {
            heard = timeline->calls;
            since = host_seconds();
        }
        if (host_seconds() - since < PATIENCE_S) {
            wait_for(commands, &commands->work, 0.25);
            continue;
        }
        timeline->driving = true;
        settle(driver);
        if (can_advance(driver)) {
            advance(driver, SLICE_PS);
            managed_look(driver);
        }
        settle(driver);
        stop_driving(driver);
        if (!can_advance(driver))
            wait_for(commands, &commands->work, 0.25);
        since = timeline->calls == heard ? since : host_seconds();
    }
    pthread_mutex_unlock(&commands->lock);
    return NULL;
}

/* On simulated cores the host computes while the machine runs, and makes no calls. The machine stands still
 * after tasks have ended, until the commands behind them were begun. */
static void *follow_machine(void *user)
{
    struct driver *driver = user;
    struct timeline *timeline = driver->timeline;
    struct commands *commands = &driver->commands;
    uint32_t seen = 0;
    pthread_mutex_lock(&commands->lock);
    while (!commands->stop) {
        pthread_mutex_unlock(&commands->lock);
        uint32_t ends = attach_wait_for_ends(timeline->machine, seen, 0.25);
        pthread_mutex_lock(&commands->lock);
        if (ends == seen)
            continue;
        if (!timeline->driving) {
            timeline->driving = true;
            advance(driver, 0);
            settle(driver);
            stop_driving(driver);
        }
        attach_has_followed(timeline->machine, seen = ends);
    }
    pthread_mutex_unlock(&commands->lock);
    return NULL;
}

void timeline_stop(struct driver *driver)
{
    pthread_mutex_lock(&driver->commands.lock);
    while (driver->timeline->host_functions || driver->timeline->driving)
        pthread_cond_wait(&driver->commands.progress, &driver->commands.lock);
    pthread_mutex_unlock(&driver->commands.lock);
    if (driver->timeline->is_watching)
        pthread_join(driver->timeline->watcher, NULL);
}
