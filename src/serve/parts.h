/* The machine that programs attach to; for this room only. */
#ifndef SERVE_PARTS_H
#define SERVE_PARTS_H

#include "serve/guest.h"
#include "serve/serve.h"
#include "system/machine.h"

/* A job of MPI whose ranks come. */
struct rank_job {
    uint32_t ranks;        /* 0: none has come */
    bool came[SEATS_MOST]; /* by rank */
    uint32_t came_count;
    double last_came; /* host_seconds */
};

struct serve {
    const struct serve_options *options;
    struct machine *machine;
    struct door door;
    struct text description; /* the path of its file */
    struct seat_plan plan;
    struct seat_window window; /* if there is one */
    uint32_t seats;
    struct guest guests[SEATS_MOST];
    struct rank_job job;
    uint32_t messages_seen; /* of all guests: gang_note_messages */
    uint32_t messages_gone; /* of those that have left */
    struct machine_progress progress;
    struct serve_counts counts;
    unsigned letters_open; /* that are under way, while visitors come */
    bool heard_more;       /* letters that are no TURN; whoever wants to know clears it */
    bool memory_changed;   /* since the machine was told last */
    uint64_t until_ps;     /* time passes no further */
};

#define EACH_GUEST(guest, serve)                                                                             \
    for (struct guest *guest = (serve)->guests; guest < (serve)->guests + (serve)->seats; guest++)           \
        if (guest->state != GUEST_NONE)

/* ranks.c: programs that are ranks of a job of MPI, and wait for each other by messages. */

/* The seat that this visitor gets: NULL with the reason. */
struct guest *gang_seat(struct serve *serve, const struct seat_wish *wish, const char **why);
void gang_came(struct serve *serve, const struct seat_wish *wish,
               const struct guest *guest); /* he sits there */
/* All of the job have come; or there is none, or some have not come for long. */
bool gang_are_complete(const struct serve *serve);
uint32_t gang_node(const struct serve *serve, const struct seat_wish *wish);
void gang_share_plan(struct serve *serve, const struct seat_wish *wish); /* before the first one sits */

/* What a guest asks for by TURN. */
bool gang_take_turn(struct guest *guest, struct archive *body);
/* Whether some guest has sent messages since the last call. Those that wait for some look again then, and no
 * guest counts as silent. */
bool gang_note_messages(struct serve *serve);
/* Once all guests wait: one that is to look now, before time passes; or NULL. */
struct guest *gang_next_look(struct serve *serve);
bool gang_all_look(const struct serve *serve); /* no guest waits for time: only messages can go on */

#endif
