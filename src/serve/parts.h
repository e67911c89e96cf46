/* The machine that programs attach to; for this room only. */
#ifndef SERVE_PARTS_H
#define SERVE_PARTS_H

#include "live/look/look.h"
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
    struct look *look;             /* somebody may look at it; or NULL */
    struct track_picture *picture; /* that is drawn of it; or NULL */
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

/* visitors.c: who comes and who goes. */
bool serve_is_stopped(const struct serve *serve);
bool serve_is_full(const struct serve *serve); /* all have come that it was made for */
void serve_tell(const struct serve *serve, const struct guest *guest, const char *what, const char *why);
void serve_welcome(struct serve *serve); /* one visitor, if there is one */
void serve_drop(struct serve *serve, struct guest *guest, const char *why);
void serve_clear_seats(struct serve *serve); /* of those that have gone and have nothing under way any more */
void serve_free_ended(struct guest *guest);  /* tasks that are over */

/* letters.c. Letters that are there: gives the first program that does not wait, and is waited for, or NULL.
 */
struct guest *serve_hear(struct serve *serve, bool *some);
void serve_tell_memory(struct serve *serve); /* the machine learns where memory is, if that has changed */
void serve_begin_jobs(struct serve *serve);  /* that programs have asked for */

struct listening {
    struct serve *serve;
    struct guest *guest;
};

/* Of struct ring_patience, with a struct listening: while a program is waited for, others come. */
bool serve_listens_on(void *user);

/* answers.c. `all`: of all tasks, not only what is new; an answer that is not `good` says why in `err`. */
void serve_answer(struct serve *serve, struct guest *guest, bool all, bool good, const struct err *err);
void serve_count_done(struct serve *serve); /* tasks that have ended, before programs hear of them */
/* True: some program was answered: */
bool serve_answer_stopped(struct serve *serve); /* as it was interrupted, */
bool serve_answer_waiting(struct serve *serve); /* as something has ended, or its time is over, */
bool serve_answer_looking(struct serve *serve); /* as it waits for messages, and looks for them */
void serve_let_look(struct serve *serve);       /* all that wait for messages */

/* show.c: a page shows the machine, if that was asked for. */
bool serve_show_init(struct serve *serve, struct err *err); /* before there is a machine */
bool serve_show_begin(struct serve *serve, struct err *err);
void serve_show_failures(struct serve *serve); /* kernels that failed just now: it waits if somebody looks */

/* serve.c */
bool serve_some_wait(const struct serve *serve);
bool serve_pass_time(struct serve *serve, struct err *err); /* false: the machine broke */

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
