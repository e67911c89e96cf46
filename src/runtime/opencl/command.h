/* Queues, events, and how commands get from one to the driver.
 *
 * A command goes to a stream of the driver as soon as all commands that it waits for are there: the stream
 * then waits for their events. One that waits for a user event, or for a command that does, is held until
 * that has been decided. In a queue that is in order, a command behind a held one is held as well. */
#ifndef RUNTIME_OPENCL_COMMAND_H
#define RUNTIME_OPENCL_COMMAND_H

#include "runtime/opencl/objects.h"

enum { QUEUE_STREAMS = 4 }; /* of a queue that is out of order: so many commands at a time */

struct _cl_command_queue {
    struct opencl_object base;
    cl_context context;
    cl_device_id device;
    cl_command_queue_properties properties;
    struct stream *streams[QUEUE_STREAMS];
    unsigned stream_count, next_stream;
    cl_event last;    /* of the last command; or NULL */
    cl_event barrier; /* out of order: all commands wait for it; or NULL */
    cl_event *open;   /* out of order: of commands that may not be done */
    size_t open_count, open_capacity, open_enough;
};

enum event_state {
    EVENT_HELD,      /* its command has not gone to the driver, or it is a user event that is not decided */
    EVENT_SUBMITTED, /* it has */
    EVENT_ENDED,     /* its status is known for good */
};

struct _cl_event {
    struct opencl_object base;
    cl_context context;
    cl_command_queue queue; /* NULL: a user event. Not a reference: the queue may have ended */
    cl_device_id device;
    cl_command_type type;
    bool profiled;
    _Atomic enum event_state state;
    _Atomic cl_int status;            /* of EVENT_ENDED: CL_COMPLETE or an error */
    struct stream_event *start, *end; /* of a command; start only where it is profiled */
    uint64_t queued_ps, submitted_ps;
    struct event_callback *callbacks;
    struct opencl_command **dependents; /* held commands that wait for it */
    size_t dependent_count, dependent_capacity;
};

/* What a command does, and what it needs until then. Each kind begins with this. */
struct opencl_command;
struct opencl_command_ops {
    size_t bytes; /* of a command of this kind */
    enum result (*submit)(struct opencl_command *command, struct stream *stream);
    void (*fini)(struct opencl_command *command); /* or NULL */
};

enum { COMMAND_MEMS = 2 };

struct opencl_command {
    const struct opencl_command_ops *ops;
    cl_command_type type;
    struct opencl_command *next;
    cl_command_queue queue;
    cl_event event;
    cl_event *waits; /* the program's, then those that the queue adds */
    size_t wait_count, explicit_count;
    size_t pending;            /* waits that are held */
    cl_mem mems[COMMAND_MEMS]; /* that must stay until it is submitted; or NULL */
    bool is_barrier;
    bool waits_for_all; /* of the queue's commands before it */
};

struct opencl_command *opencl_command_new(cl_command_queue queue, const struct opencl_command_ops *ops,
                                          cl_command_type type);
void opencl_command_free(struct opencl_command *command);

/* CL_INVALID_COMMAND_QUEUE, CL_INVALID_EVENT_WAIT_LIST or CL_INVALID_CONTEXT; what each enqueue begins with.
 */
cl_int opencl_check_enqueue(cl_command_queue queue, cl_uint wait_count, const cl_event *waits);

/* Takes the command. blocking: until it is done. event (or NULL) gets its event. */
cl_int opencl_enqueue(struct opencl_command *command, bool blocking, cl_uint wait_count,
                      const cl_event *waits, cl_event *event);

cl_event opencl_event_new(cl_context context, cl_command_queue queue, cl_command_type type);
/* What it is now, as CL_EVENT_COMMAND_EXECUTION_STATUS says it. */
cl_int opencl_event_status(cl_event event);
/* Until it is done; its status then. */
cl_int opencl_event_wait(cl_event event);
/* Decides a user event, or ends a command that will not run: what waits for it goes on. */
void opencl_event_decide(cl_event event, cl_int status);

/* For the event's functions: the lock of all events, and callbacks of one that was submitted or has ended. */
void opencl_events_lock(void);
void opencl_events_unlock(void);
void opencl_event_call_back(cl_event event);

/* Whether this thread runs a callback of the program, where nothing can wait for a device. */
bool opencl_is_in_callback(void);

/* Runs a function of the program or of ours when the stream gets there, as a callback. */
enum result opencl_call_in(struct stream *stream, stream_host_fn *function, void *user);

#endif
