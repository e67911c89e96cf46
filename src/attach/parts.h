/* The machine's stand-in; for this room only. */
#ifndef ATTACH_PARTS_H
#define ATTACH_PARTS_H

#include "attach/attach.h"
#include "mailbox/images.h"
#include "mailbox/letters.h"

#include <pthread.h>

struct attach {
    struct machine base;
    struct seat seat;
    char *path;
    struct machine_options options;
    struct ring_patience posting, waiting;
    pthread_mutex_t lock; /* around a letter: several threads may send some */
    struct watched_image images[SEAT_GPUS_MOST];
    struct task *running;    /* in the order they were begun */
    uint64_t tasks, objects; /* so far */
    uint64_t bounced;        /* copies under way whose bytes are in seat.bounce, */
    uint64_t bounce_next;    /* up to here */
    uint64_t now_ps;
    enum machine_end end;
    _Atomic bool gone; /* the machine's process has ended */
};

/* Sends a letter; what happens when the machine has gone is seen when something is asked. */
void attach_post(struct attach *attach, enum letter_kind kind, struct archive *body);

/* tasks.c */
void attach_begin(struct machine *machine, struct task *task);
bool attach_pass(struct machine *machine, uint64_t ps, struct err *err);

#endif
