/* A page shows the machine while it simulates: the programs that are attached, with what they wait for. */
#include "live/request.h"
#include "serve/parts.h"

static struct machine *machine_of(void *user)
{
    return ((const struct serve *)user)->machine;
}

static const char *state_of(const struct guest *guest)
{
    return guest->state == GUEST_WAITS  ? "waits for simulated time"
           : guest->state == GUEST_GONE ? "has gone"
           : guest->away                ? "makes no call; time passes without it"
                                        : "runs";
}

static void show_programs(void *user, struct text *json)
{
    struct serve *serve = user;
    bool any = false;
    text_add(json, "\"programs\":[");
    EACH_GUEST(guest, serve)
    {
        unsigned waiting = 0, running = 0;
        for (const struct job *job = guest->jobs; job; job = job->next) {
            waiting += !job->begun;
            running += job->begun && job->task.state == TASK_RUNNING;
        }
        text_add(json, "%s{\"number\":%u,\"node\":%u,\"state\":\"%s\",\"running\":%u,\"waiting\":%u}",
                 any ? "," : "", guest->seat.number + 1, guest->seat.node, state_of(guest), running, waiting);
        any = true;
    }
    text_add(json, "],");
}

static bool is_over(void *user)
{
    return serve_is_stopped(user);
}

bool serve_show_init(struct serve *serve, struct err *err)
{
    static const struct look_ops ops = {.machine = machine_of, .show = show_programs, .is_over = is_over};
    struct live_wish wish;
    if (!serve->options->show)
        return true;
    if (!live_wish_parse(serve->options->show, &wish, err))
        return false;
    serve->look = look_new(&ops, serve, serve->options->system);
    return true;
}

bool serve_show_begin(struct serve *serve, struct err *err)
{
    struct live_wish wish;
    if (!serve->look)
        return true;
    if (!live_wish_parse(serve->options->show, &wish, err))
        return false;
    const char *url = look_begin(serve->look, wish.port, wish.paused, err);
    if (url)
        serve->options->tell_shown(url);
    return url;
}

void serve_show_failures(struct serve *serve)
{
    if (!serve->look)
        return;
    EACH_GUEST(guest, serve)
    {
        for (struct job *job = guest->jobs; job; job = job->next) {
            if (!job->begun || job->shown || job->task.state != TASK_FAILED)
                continue;
            job->shown = true;
            look_note(serve->look, job->task.result.fault.text);
            look_hold(serve->look, job->task.result.fault.text);
        }
    }
}
