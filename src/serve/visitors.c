/* Programs that come to the machine, and go. */
#include "serve/parts.h"

bool serve_is_stopped(const struct serve *serve)
{
    return serve->options->interrupt && *serve->options->interrupt;
}

void serve_tell(const struct serve *serve, const struct guest *guest, const char *what, const char *why)
{
    struct text line = {0};
    text_add(&line, "program %u %s%s%s", guest->seat.number + 1, what, why ? ": " : "", why ? why : "");
    if (serve->options->tell)
        serve->options->tell(serve->options->user, line.at);
    text_fini(&line);
}

/* ---- who goes ---- */

static bool has_kernels(const struct guest *guest)
{
    for (const struct job *job = guest->jobs; job; job = job->next) {
        if (job->task.launch && job->begun && job->task.state == TASK_RUNNING)
            return true;
    }
    return false;
}

void serve_drop(struct serve *serve, struct guest *guest, const char *why)
{
    serve->messages_gone += 1 + atomic_load(&guest->seat.mailbox->messages);
    serve_tell(serve, guest, why ? "is sent away" : "has gone", why);
    guest->state = GUEST_GONE;
}

/* Kernels of programs that have gone end at once, if no other program has any; else they run on, as nothing
 * can be ended on a GPU but all of it. */
static void end_orphans(struct serve *serve)
{
    bool orphans = false;
    EACH_GUEST(guest, serve)
    {
        if (guest->state != GUEST_GONE && has_kernels(guest))
            return;
        orphans |= guest->state == GUEST_GONE && has_kernels(guest);
    }
    if (orphans && !serve->options->untimed)
        machine_stop_kernels(serve->machine, "its program has gone");
}

/* Tasks that are over; of one who has gone also those that were not begun. */
void serve_free_ended(struct guest *guest)
{
    for (struct job **link = &guest->jobs, *job; (job = *link);) {
        if (job->task.state == TASK_RUNNING && (job->begun || guest->state != GUEST_GONE)) {
            link = &job->next;
            continue;
        }
        *link = job->next;
        job_free(job);
    }
}

/* Whether another program has opened memory of this one. */
static bool is_lender(struct serve *serve, const struct guest *owner)
{
    EACH_GUEST(guest, serve)
    {
        for (size_t i = 0; i < guest->opened_count; i++) {
            if (guest->opened[i].owner == owner)
                return true;
        }
    }
    return false;
}

/* Those that have gone and have nothing under way any more. */
void serve_clear_seats(struct serve *serve)
{
    end_orphans(serve);
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_GONE)
            serve_free_ended(guest);
        if (guest->state == GUEST_GONE && !guest->jobs)
            guest->opened_count = 0;
        if (guest->state == GUEST_GONE && !guest->jobs && !is_lender(serve, guest)) {
            guest_fini(guest);
            serve->memory_changed = true;
        }
    }
}

static void see_who_left(struct serve *serve)
{
    bool some = false;
    if (serve->letters_open) /* one is half read, or half written */
        return;
    serve_hear(serve, &some);
    serve_clear_seats(serve);
}

/* ---- who comes ---- */

bool serve_is_full(const struct serve *serve)
{
    return serve->options->programs && serve->counts.programs == serve->options->programs;
}

void serve_welcome(struct serve *serve)
{
    struct seat_wish wish;
    const char *refusal;
    int visitor = door_answer(&serve->door, &wish);
    if (visitor < 0)
        return;
    see_who_left(serve); /* before he came: their seats are free */
    gang_share_plan(serve, &wish);
    struct guest *guest = gang_seat(serve, &wish, &refusal);
    struct seat_place place = {.node = gang_node(serve, &wish), .now_ps = machine_time(serve->machine)};
    struct err why;
    if (guest)
        place.number = (uint32_t)(guest - serve->guests);
    if (serve_is_full(serve)) {
        door_refuse(visitor, "all programs that it was made for (--programs) have come");
    } else if (!guest) {
        door_refuse(visitor, refusal);
    } else if (door_seat(visitor, &place, &serve->plan, &guest->seat, &why)) {
        gang_came(serve, &wish, guest);
        guest_init(guest);
        guest->sm_count = (uint32_t)serve->options->system->gpu.sm_count;
        serve->counts.programs++;
        serve_tell(serve, guest, "is attached", NULL);
    } else if (serve->options->tell) {
        serve->options->tell(serve->options->user, why.text);
    }
}
