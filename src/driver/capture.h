/* Stream capture: what is submitted to a stream that captures is not done. It becomes a node of its owner's
 * graph, which comes after the nodes that the stream has come to. A stream that waits for an event that was
 * recorded in a capture joins it. The owner keeps the graph; what a node is, only it knows. */
#ifndef DRIVER_CAPTURE_H
#define DRIVER_CAPTURE_H

#include "driver/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct device;
struct driver;
struct stream;
struct stream_event;

/* Where a stream has come to: nodes of the owner, and what it wants to know of the edges from them. */
struct captured {
    void *node;
    uint64_t edge;
};
struct captured_list {
    struct captured *at;
    size_t count, capacity;
};

/* Called with the commands' lock held. */
struct capture_owner {
    void *graph;
    /* Makes a node of a command, which is the graph's from now on, or of a wait for an event (command is
     * NULL). */
    void *(*add)(void *graph, struct command *command, struct stream_event *event, struct device *device,
                 const struct captured_list *after);
    /* Whether all of `before` are among `ends`, or before one of them. */
    bool (*covers)(void *graph, const struct captured_list *ends, const struct captured_list *before);
};

/* Which calls that could make a captured stream wait are refused (CUDA's numbers): any thread's, those of the
 * thread that captures, none. CAPTURE_PRIVATE: the stream is nobody else's, and nothing is refused. */
enum capture_mode { CAPTURE_GLOBAL, CAPTURE_THREAD, CAPTURE_RELAXED, CAPTURE_PRIVATE };

/* The stream begins where these nodes are; they are copied. */
enum result capture_begin(struct stream *stream, enum capture_mode mode, const struct capture_owner *owner,
                          const struct captured_list *from);
/* Ends what was begun in this stream. The graph is not NULL where there was a capture; it is of no use if
 * that gives an error. */
enum result capture_end(struct stream *stream, void **graph);

enum capture_state { CAPTURE_NONE, CAPTURE_ACTIVE, CAPTURE_INVALID }; /* CUDA's numbers */
struct capture_facts {
    enum capture_state state;
    uint64_t id;
    void *graph;
};
/* STREAM_CAPTURE_IMPLICIT for the default stream while a blocking stream of its device captures. */
enum result capture_facts(struct stream *stream, struct capture_facts *facts);
bool stream_is_captured(const struct stream *stream);

/* Where the stream has come to is changed. Only the thread that captures may look at it, or change it. */
struct captured_list *
capture_list(struct stream *stream); /* NULL: it is not captured, or the capture is invalid */

/* A call that may make a captured stream wait, though it names none: STREAM_CAPTURE_UNSUPPORTED where a
 * capture forbids that, which becomes invalid. */
enum result capture_check_call(struct driver *driver);
enum result
capture_check_device(struct driver *driver); /* the same for a wait for all streams: any capture forbids it */
void capture_poison(struct stream *stream);  /* its capture, if any, is invalid from now on */
/* Which captures forbid calls of this thread; gives what it was. */
enum capture_mode capture_exchange_mode(enum capture_mode mode);

/* ---- for this room; with the commands' lock held, but for the last ---- */

struct capture;

/* What a submission to the stream, a wait for it or a question means: SUCCESS where it is not captured. */
enum result capture_refuses_wait(struct stream *stream);
/* The default stream cannot be used while a blocking stream of the device captures: that becomes invalid. */
enum result capture_refuses_default(const struct stream *stream);
enum result capture_add(struct stream *stream, struct command *command, struct stream_event *event);
void capture_add_kept(struct capture *capture, struct command *command); /* memory_graph.c looks for it */
struct command *const *capture_commands(const struct capture *capture, size_t *count);
enum result capture_join(struct capture *capture, struct stream *stream, const struct captured_list *list);
enum result capture_invalidate(struct capture *capture, enum result why); /* gives why */
bool capture_began_in(const struct capture *capture, const struct stream *stream);
void capture_leave(struct stream *stream); /* it is destroyed */
void captured_copy(struct captured_list *to, const struct captured_list *from);

#endif
