/* Ranks of a job of MPI. A rank that waits for a message asks the machine when to look for it (TURN). Time
 * passes only when all such ranks have looked in vain since anyone has last called MPI, one after another, so
 * that the moment at which a message is received does not depend on the host's speed. */
#include "serve/parts.h"
#include "base/host.h"
#include "system/cluster.h"

enum { HELPERS = 8 /* seats for processes of the run that are no ranks */ };
static const double patience_s = 60; /* for ranks that do not come, as they may not use a GPU */

uint32_t gang_node(const struct serve *serve, const struct seat_wish *wish)
{
    return cluster_node_of_rank(serve->options->system, wish->rank, wish->ranks);
}

void gang_share_plan(struct serve *serve, const struct seat_wish *wish)
{
    uint32_t ranks = wish->ranks < SEATS_MOST - HELPERS ? wish->ranks : SEATS_MOST - HELPERS;
    EACH_GUEST(guest, serve)
    return; /* too late */
    if (serve->options->system->spec.nodes == 1 || ranks + HELPERS <= serve->seats)
        return;
    seat_plan_share(&serve->plan, ranks + HELPERS);
    uint32_t most = seat_plan_most(&serve->plan);
    serve->seats = ranks + HELPERS < most ? ranks + HELPERS : most;
}

static struct guest *first_free(struct serve *serve, uint32_t from)
{
    for (uint32_t i = from; i < serve->seats; i++) {
        if (serve->guests[i].state == GUEST_NONE)
            return &serve->guests[i];
    }
    return NULL;
}

/* A rank's seat is that of its number. Processes that it has started have its variables, too: they get
 * others, behind those of ranks. */
struct guest *gang_seat(struct serve *serve, const struct seat_wish *wish, const char **why)
{
    if (wish->seat != SEAT_ANY) {
        *why = "that seat is taken, or there is none of this number";
        return wish->seat < serve->seats && serve->guests[wish->seat].state == GUEST_NONE
                   ? &serve->guests[wish->seat]
                   : NULL;
    }
    *why = "all of its seats are taken";
    if (wish->ranks && wish->rank < serve->seats && serve->guests[wish->rank].state == GUEST_NONE)
        return &serve->guests[wish->rank];
    struct guest *found = wish->ranks ? first_free(serve, wish->ranks) : NULL;
    return found ? found : first_free(serve, 0);
}

static bool others_are_there(const struct serve *serve, const struct guest *one)
{
    for (uint32_t i = 0; i < serve->seats && i < serve->job.ranks; i++) {
        if (serve->guests[i].state != GUEST_NONE && serve->guests + i != one)
            return true;
    }
    return false;
}

/* One that comes when all have gone is of another job: of the next `mpirun` of a script. */
void gang_came(struct serve *serve, const struct seat_wish *wish, const struct guest *guest)
{
    struct rank_job *job = &serve->job;
    if (guest != serve->guests + wish->rank || wish->rank >= wish->ranks || wish->ranks > SEATS_MOST)
        return;
    bool all_have_gone = job->came_count == job->ranks && !others_are_there(serve, guest);
    if (job->ranks != wish->ranks || all_have_gone)
        *job = (struct rank_job){.ranks = wish->ranks};
    job->came_count += !job->came[wish->rank];
    job->came[wish->rank] = true;
    job->last_came = host_seconds();
}

bool gang_are_complete(const struct serve *serve)
{
    const struct rank_job *job = &serve->job;
    return job->came_count == job->ranks || host_seconds() - job->last_came > patience_s;
}

/* ---- turns ---- */

bool gang_take_turn(struct guest *guest, struct archive *body)
{
    static const uint32_t most = 4096;
    struct letter_turn letter = {0};
    letter_turn_archive(&letter, body);
    guest->until_ps = UINT64_MAX;
    guest->looks = letter.looks < most ? letter.looks : most;
    if (!guest->is_looking)
        guest->looks_left = guest->looks;
    guest->is_looking = true;
    guest->state = GUEST_WAITS;
    return archive_at_end(body);
}

bool gang_note_messages(struct serve *serve)
{
    uint32_t messages = serve->messages_gone;
    EACH_GUEST(guest, serve)
    messages += atomic_load(&guest->seat.mailbox->messages);
    if (messages == serve->messages_seen)
        return false;
    serve->messages_seen = messages;
    EACH_GUEST(guest, serve)
    {
        guest->looks_left = guest->looks;
        guest->away = false;
    }
    return true;
}

struct guest *gang_next_look(struct serve *serve)
{
    struct guest *next = NULL;
    EACH_GUEST(guest, serve)
    {
        if (guest->state == GUEST_WAITS && guest->is_looking && guest->looks_left &&
            (!next || guest->looks_left > next->looks_left))
            next = guest;
    }
    if (next)
        next->looks_left--;
    return next;
}

bool gang_all_look(const struct serve *serve)
{
    for (uint32_t i = 0; i < serve->seats; i++) {
        const struct guest *guest = &serve->guests[i];
        if (guest->state == GUEST_WAITS && !guest->is_looking)
            return false;
    }
    return true;
}
