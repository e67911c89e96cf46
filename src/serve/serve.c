/* The loop: it hears all programs, begins what they asked for, lets time pass, and answers. */
#include "base/host.h"
#include "serve/parts.h"

#include <poll.h>
#include <time.h>

/* ---- time ---- */

bool serve_pass_time(struct serve *serve, struct err *err)
{
    uint64_t until = serve->until_ps, now = machine_time(serve->machine);
    struct err why = {{0}};
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && guest->until_ps < until)
            until = guest->until_ps;
    }
    serve_tell_memory(serve);
    bool good = machine_pass(serve->machine, until == UINT64_MAX ? until : until - now, &why);
    if (good || machine_end(serve->machine) == MACHINE_GOES_ON)
        return true;
    if (!serve->options->untimed)
        machine_look(serve->machine);
    if (serve_is_stopped(serve))
        err_set(&why, "the machine was stopped");
    else
        look_hold(serve->look, why.text);
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS)
            serve_answer(serve, guest, true, false, &why);
    }
    return serve_is_stopped(serve) || err_set(err, "%.250s", why.text);
}

bool serve_some_wait(const struct serve *serve)
{
    for (uint32_t i = 0; i < serve->seats; i++) {
        if (serve->guests[i].state == GUEST_WAITS)
            return true;
    }
    return false;
}

/* Others wait for a program that makes no call. True: no longer. */
static bool is_too_silent(struct serve *serve, struct guest *guest, double seconds)
{
    static const double tell_after = 10, until_away = 0.1;
    const struct serve_options *options = serve->options;
    if (!serve_some_wait(serve))
        return false;
    bool waits_itself = atomic_load(&guest->seat.mailbox->is_away);
    if ((options->patience_s > 0 && seconds >= options->patience_s) ||
        (waits_itself && seconds >= until_away))
        return true;
    if (seconds > tell_after && !guest->told_silent)
        serve_tell(serve, guest,
                   "makes no call, and others wait for it (--patience lets time pass without it)", NULL);
    guest->told_silent |= seconds > tell_after;
    return false;
}

/* Until all programs wait that are there; false: none is. */
static bool hear_all(struct serve *serve)
{
    static const double look_again = 2e-4; /* seconds: another one may send a letter */
    static const unsigned turns = 5;       /* of these: then ranks look again */
    double since = host_seconds();
    unsigned turn = 0;
    for (struct guest *running; !serve_is_stopped(serve);) {
        bool some = false;
        serve_welcome(serve);
        running = serve_hear(serve, &some);
        if (look_rest(serve->look) || serve->heard_more)
            since = host_seconds();
        serve->heard_more = false;
        if (some) /* once more: what was sent before one of these letters is to be heard, too */
            continue;
        if (!running)
            break;
        if (is_too_silent(serve, running, host_seconds() - since)) {
            running->away = true;
            continue;
        }
        ring_wait(&running->seat.mailbox->to_machine, look_again);
        if (++turn % turns == 0)
            serve_let_look(serve);
    }
    return serve_some_wait(serve);
}

static bool is_over(const struct serve *serve)
{
    if (!serve_is_full(serve))
        return false;
    for (uint32_t i = 0; i < serve->seats; i++) {
        if (serve->guests[i].state == GUEST_RUNS || serve->guests[i].state == GUEST_WAITS)
            return false;
    }
    return true;
}

/* Nothing is under way in the machine, and only messages can go on. */
static bool wait_for_messages(struct serve *serve)
{
    static const struct timespec a_while = {.tv_nsec = 1000 * 1000};
    if (serve_is_busy(serve) || !gang_all_look(serve))
        return false;
    nanosleep(&a_while, NULL);
    serve_let_look(serve);
    return true;
}

static bool work(struct serve *serve, struct err *err)
{
    while (!serve_is_stopped(serve) && !is_over(serve)) {
        look_rest(serve->look);
        serve_welcome(serve);
        serve_clear_seats(serve);
        bool ready = (!serve->options->programs || serve_is_full(serve)) && gang_are_complete(serve);
        if (!ready || !hear_all(serve)) {
            poll(&(struct pollfd){.fd = serve->door.socket, .events = POLLIN}, 1, 100);
            continue;
        }
        if (gang_note_messages(serve))
            continue;
        serve_begin_jobs(serve);
        serve_count_done(serve);
        serve_show_failures(serve);
        if (!serve_answer_stopped(serve) && !serve_answer_waiting(serve) && !serve_answer_looking(serve) &&
            !wait_for_messages(serve) && !serve_pass_time(serve, err))
            return false;
    }
    return true;
}

bool serve_run(const struct serve_options *options, struct serve_counts *counts, struct err *err)
{
    struct serve *serve = serve_new(options, err);
    *counts = (struct serve_counts){0};
    if (!serve)
        return false;
    bool good = work(serve, err);
    serve_free(serve, counts);
    return good;
}
