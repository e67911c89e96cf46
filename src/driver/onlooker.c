#include "driver/onlooker.h"
#include "driver/internal.h"
#include "driver/ledger_format.h"
#include "driver/timeline.h"
#include "base/text.h"
#include "live/request.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

enum { COMMANDS_MOST = 8, STREAMS_MOST = 200 };

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

static void show_streams(void *user, struct text *json)
{
    struct driver *driver = user;
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

/* ---- who has the machine: the thread with the timeline's lock ---- */

static struct machine *machine_of(void *user)
{
    return timeline_machine(user);
}

static struct machine *try_machine(void *user)
{
    return timeline_try_machine(user);
}

static void give_machine(void *user)
{
    timeline_give_machine(user);
}

static bool is_over(void *user)
{
    const struct driver *driver = user;
    const _Atomic int *interrupt = driver->options.interrupt;
    return driver->interrupt || (interrupt && *interrupt);
}

/* ---- life ---- */

struct look *onlooker_new(struct driver *driver)
{
    static const struct look_ops ops = {machine_of, try_machine, give_machine, show_streams, is_over};
    return look_new(&ops, driver, &driver->system);
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
    struct err line;
    struct live_wish wish;
    if (!live_wish_parse(driver->options.live, &wish, err))
        return false;
    const char *url = look_begin(driver->onlooker, is_first(driver) ? wish.port : 0, wish.paused, err);
    if (!url)
        return false;
    err_set(&line, "live view at %s", url);
    driver_notice(driver, line.text);
    return true;
}
