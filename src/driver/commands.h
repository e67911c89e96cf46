/* Commands of streams: who runs which, and when. The rules:
 * - A stream's commands run one after another, in the order of submission.
 * - A command may wait only for commands of other streams that were submitted before it, so there is no
 *   cycle.
 * - A thread that waits for a stream runs its commands itself if nobody else does.
 * - Threads of the driver run the rest: one for each stream with work, because a kernel may run until the
 *   host does something.
 * In timing mode the last two do not apply: commands run in simulated time (timeline.h). */
#ifndef DRIVER_COMMANDS_H
#define DRIVER_COMMANDS_H

#include "driver/capture.h"
#include "driver/play.h"
#include "driver/result.h"
#include "driver/stream.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct brood;
struct capture;
struct command;
struct device;
struct driver;
struct stream;
struct task;

/* What a command is in simulated time, when its turn has come. */
enum command_turn {
    TURN_NOW,   /* it takes no time: run does it */
    TURN_TASK,  /* it takes time: the task was filled, and end is called when that is over */
    TURN_LATER, /* it waits for something that is not of its stream */
};

struct command_ops {
    size_t bytes; /* of a command of this kind: struct command is its first member */
    void (*run)(struct command *command);
    void (*enter)(struct command *command); /* it comes into its stream, under the lock; or NULL */
    void (*copy)(struct command *copy);     /* of a bitwise copy: what it owns becomes its own; or NULL */
    struct command *(*behind)(
        struct command *command);          /* what comes into the stream right behind it; or NULL */
    void (*fini)(struct command *command); /* or NULL */
    bool on_error;                         /* runs also when the device has an error */
    enum action_kind kind;                 /* for who looks at a graph's commands */

    /* In simulated time. begin may be NULL: TURN_NOW; it is called until it is not TURN_LATER. */
    enum command_turn (*begin)(struct command *command, struct task *task);
    void (*end)(struct command *command, struct task *task); /* NULL: run */
    bool is_launch;                                          /* a kernel's: its call takes the host longer */
    uint64_t (*call_ps)(const struct command *command);      /* its call takes so much longer; or NULL */
    bool is_host;                                            /* run is code of the program */
    bool begin_is_pure; /* begin does nothing but fill the task, and can be called at any time */
    bool holds;         /* begin waits until another command stands behind it */
};

struct command_wait {
    struct stream *stream;
    uint64_t number;
    /* For a kernel that waits for a kernel, in simulated time: which may be under way, if so much has
     * happened. */
    enum launch_wait how;
};

struct command {
    const struct command_ops *ops;
    struct command *next;
    struct stream *stream; /* it was submitted to */
    uint64_t number;       /* in its stream, from 1 */
    uint64_t order;        /* of all that were submitted */
    struct command_wait *waits;
    size_t wait_count, wait_capacity;
    bool beside; /* a kernel that is timed: it may begin while kernels are under way that it waits for as
                    above, */
    bool beside_previous; /* or the command before it in its stream (WAIT_FOR_TRIGGER) */
    struct command_wait
        after; /* of a wait for an event: what it waits for, be it done or not; or no stream */
};

struct stream {
    struct device *device;
    struct stream *next;                    /* of the device's */
    struct stream *before_busy, *next_busy; /* of those with commands; in the order they got the first */
    struct stream *next_ended;              /* of those to use again */
    unsigned flags;
    int priority;
    uint32_t first_sm, sm_count; /* that its kernels run on; 0: all */
    uint64_t id;
    bool alive;
    unsigned running; /* commands under way: more than one of kernels alone */
    struct command *head, *tail;
    uint64_t submitted;
    _Atomic uint64_t done;   /* commands; goes on when the stream is used again, so a wait never goes stale */
    uint64_t last_launch;    /* the number of its last launch of a kernel */
    uint64_t default_seen;   /* command of the default stream that was waited for already */
    struct capture *capture; /* or NULL */
    struct captured_list captured;   /* where it has come to there */
    FILE *print;                     /* of its kernels; NULL before the first one */
    uint32_t traced;                 /* its number in a trace, from 1 on; 0: not there (itracing.c) */
    uint64_t traced_id, traced_from; /* the id that it had then; commands before */
};

struct commands {
    pthread_mutex_t lock;
    pthread_cond_t work;     /* for workers */
    pthread_cond_t progress; /* a command was done */
    pthread_t *workers;
    size_t worker_count, worker_capacity;
    size_t idle, called; /* workers that sleep; of these, that were called and are on their way */
    size_t waiting;      /* threads that wait for progress */
    size_t stream_count;
    uint64_t last_stream; /* id */
    uint64_t last_order;
    _Atomic uint64_t captures;         /* that are under way */
    struct capture *first_capture;     /* of these, but for private ones */
    uint64_t last_capture;             /* id */
    struct brood *broods;              /* of what kernels launch (brood.h) */
    _Atomic uint64_t waits_for_others; /* commands that wait for another process */
    bool stop;
    unsigned spins; /* of a wait, before it sleeps */
};

void commands_init(struct commands *commands);
void commands_fini(struct driver *driver); /* lets commands under way end, throws the others away */

struct command *command_new(const struct command_ops *ops);
void command_free(struct command *command);
struct command *command_copy(const struct command *command);
struct command *command_new_nothing(void);
struct command *command_new_wait(struct command_wait wait); /* with the lock held */

/* With the lock held: the command waits for this one of another stream, if it is not done. */
void command_add_wait(struct command *command, struct command_wait wait);

/* With the lock held: into the stream, behind all that it has. soon: as of commands_submit. */
void commands_append(struct stream *stream, struct command *command, bool soon);

/* Takes the command, which is not the caller's from now on, or freed on failure; into the graph, where the
 * stream is captured. number (or NULL): of the command, to wait for; 0 when it was captured. soon: the caller
 * will wait for it at once, so nobody else is called to run it. */
enum result commands_submit(struct stream *stream, struct command *command, bool soon, uint64_t *number);

/* A launch is of a kernel of this graph, which kernels may launch; the brood is of the graph's launch. */
void command_join_graph(struct command *command, struct brood *brood, uint64_t graph);

/* The command that this thread runs now, or NULL. */
const struct command *commands_running(void);
void commands_set_running(const struct command *command);

/* The host makes a call that takes time, if anything does: a launch, a question whether work is done, ... */
enum host_call { HOST_CALLS, HOST_LAUNCHES, HOST_COPIES, HOST_WAITS, HOST_ASKS };
void commands_call(struct driver *driver, enum host_call call);

/* Until the stream has no more commands than it may have. The host does not see that it waits. */
void commands_keep_shallow(struct stream *stream, uint64_t submitted);

/* Until the stream has done this command. */
void commands_wait(struct stream *stream, uint64_t number);

/* With the lock held: the stream has done this command, and nothing else of it runs. */
void stream_has_done(struct stream *stream, uint64_t number);

/* With the lock held: it was destroyed and has nothing left to do, so it is used again. What waits for its
 * commands may still look at its count. */
void stream_retire(struct stream *stream);

/* With the lock held: the first command of the stream may run, and does not yet. */
bool stream_is_ready(const struct stream *stream);

/* With the lock held. */
static inline bool stream_drained(const struct stream *stream)
{
    return atomic_load_explicit(&stream->done, memory_order_acquire) == stream->submitted;
}

#endif
