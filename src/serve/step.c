/* Step by step, beside CPU cores. */
#include "serve/parts.h"

bool serve_take_turn(struct serve *serve, uint64_t until_ps, enum serve_turn *turn, struct err *err)
{
    bool some = false;
    look_rest(serve->look);
    struct guest *running = serve_hear(serve, &some);
    *turn = some ? SERVE_WORKED : SERVE_IDLE;
    if (some)
        return true;
    if (running || !serve_some_wait(serve)) {
        serve_welcome(serve);
        serve_clear_seats(serve);
        return true;
    }
    *turn = SERVE_WORKED;
    serve_begin_jobs(serve);
    serve_count_done(serve);
    serve_show_failures(serve);
    gang_note_messages(serve);
    if (serve_answer_stopped(serve) || serve_answer_waiting(serve) || serve_answer_looking(serve))
        return true;
    if (machine_time(serve->machine) >= until_ps) {
        *turn = SERVE_BEHIND;
        return true;
    }
    serve->until_ps = until_ps;
    return serve_pass_time(serve, err);
}

struct track_picture *serve_picture(const struct serve *serve)
{
    return serve->picture;
}

uint64_t serve_time(const struct serve *serve)
{
    return machine_time(serve->machine);
}

bool serve_is_busy(struct serve *serve)
{
    EACH_GUEST(guest, serve)
    {
        for (const struct job *job = guest->jobs; job; job = job->next) {
            if (job->task.state == TASK_RUNNING)
                return true;
        }
    }
    return false;
}

/* Tasks of a program that makes no call have ended: it begins what waited for them before time goes on. */
static void let_follow(struct serve *serve, struct guest *guest)
{
    struct gate *followed = &guest->seat.mailbox->followed;
    uint32_t ends = gate_number(&guest->seat.mailbox->ended) + 1;
    enum serve_turn turn;
    struct err err;
    gate_set(&guest->seat.mailbox->ended, ends);
    while (gate_number(followed) != ends && (guest->state == GUEST_RUNS || guest->state == GUEST_WAITS) &&
           !serve_is_stopped(serve) && seat_is_alive(&guest->seat)) {
        if (!serve_take_turn(serve, machine_time(serve->machine), &turn, &err))
            return;
        if (turn == SERVE_IDLE)
            ring_wait(&guest->seat.mailbox->to_machine, 2e-5);
    }
}

/* All that was sent before now begins. */
static void begin_heard(struct serve *serve)
{
    bool some = true;
    while (some) {
        some = false;
        serve_hear(serve, &some);
    }
    if (serve_is_busy(serve))
        serve_begin_jobs(serve);
}

static bool has_ended_tasks(const struct guest *guest)
{
    for (const struct job *job = guest->jobs; job; job = job->next) {
        if (job->task.state != TASK_RUNNING)
            return true;
    }
    return false;
}

bool serve_let_on(struct serve *serve, uint64_t time_ps)
{
    struct err err;
    look_rest(serve->look);
    begin_heard(serve);
    bool had_work = serve_is_busy(serve);
    for (uint64_t now; serve_is_busy(serve) && (now = machine_time(serve->machine)) < time_ps;
         begin_heard(serve)) {
        /* A machine that broke tells the program when it waits next. */
        if (!machine_pass(serve->machine, time_ps - now, &err))
            return had_work;
        EACH_GUEST(guest, serve)
        {
            if (guest->state == GUEST_RUNS && has_ended_tasks(guest))
                let_follow(serve, guest);
        }
    }
    return had_work;
}
