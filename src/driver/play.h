/* Graphs as they are launched: work in an order that suits their edges. What a step does is a command that is
 * copied at each launch. In simulated time, steps that no edge orders run concurrently, each in a stream of
 * the graph's own; else one stream has them all, but for those of other devices. */
#ifndef DRIVER_PLAY_H
#define DRIVER_PLAY_H

#include "driver/stream.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct device;
struct driver;
struct launch_config;
struct play;
struct stream;
struct stream_event;

/* ---- what a step does: a command that nodes and graphs share ---- */

struct action;
struct action *action_new(struct command *command); /* which is its own from now on */
struct action *action_keep(struct action *action);  /* or NULL */
void action_release(struct action *action);         /* or NULL */

enum action_kind {
    ACTION_OTHER,
    ACTION_LAUNCH,
    ACTION_COPY,
    ACTION_FILL,
    ACTION_HOST,
    ACTION_ALLOC,
    ACTION_FREE,
    ACTION_RECORD,
    ACTION_CONDITION
};
enum action_kind action_kind(const struct action *action);
bool action_uses_memory(const struct action *action); /* it allocates some of a graph, or frees it */

/* What was asked for. Arguments are in one buffer, laid out as the kernel's are. */
struct function;
struct action_launch {
    struct function *function;
    const struct launch_config *config;
    const void *arguments;
    size_t bytes;
};
struct copy;
struct fill;
void action_launch(const struct action *action, struct action_launch *facts);
void action_copy(const struct action *action, struct copy *copy);
void action_fill(const struct action *action, struct fill *fill);
void action_host(const struct action *action, void **user); /* of stream_host */
uint64_t action_address(const struct action *action);       /* of ACTION_ALLOC and ACTION_FREE */
struct stream_event *action_event(const struct action *action);
/* Where parameter `index` is in the arguments; false beyond the last. */
bool action_parameter(const struct action_launch *facts, const struct device *device, uint32_t index,
                      uint64_t *offset, uint64_t *bytes);

/* ---- plays ---- */

struct play_edge {
    uint32_t step;
    enum launch_wait how; /* else than WAIT_FOR_END only between kernels */
};

struct play_step {
    struct action *action;        /* or NULL: it does nothing */
    struct stream_event *awaited; /* it waits for what was recorded in this last; or NULL */
    struct device *device;
    struct play_edge *after; /* from steps that were added before it */
    uint32_t after_count;
    bool is_off; /* it does nothing for now */
};

struct play *play_new(void);
void play_free(struct play *play); /* or NULL */
uint32_t play_add(struct play *play, const struct play_step *step);
struct play_step *play_step(struct play *play, uint32_t index);
void play_set_action(struct play *play, uint32_t index, struct action *action); /* kept */
/* Kernels may launch it, by this handle. */
void play_set_handle(struct play *play, uint64_t handle);
struct play *play_copy(const struct play *play);

void play_follow(struct play *play,
                 const struct play *before); /* its launches come after those of the other one */
void play_wait(const struct play *play);     /* for its last launch */

/* Launches of one play run one after another. auto_free: memory that it allocates and that is there still is
 * freed before. */
enum result stream_play(struct stream *stream, struct play *play, bool auto_free);

/* The same for a kernel that launches it; the brood is of what it launches. */
struct brood;
enum result stream_play_within(struct stream *stream, struct play *play, struct brood *parent);

/* ---- conditions: plays that run or not, once or again, by a value that kernels set ---- */

enum condition_kind { CONDITION_IF, CONDITION_WHILE, CONDITION_SWITCH }; /* CUDA's numbers */

/* A new value, of 32 bits in the device's memory; 0: there is no room. */
uint64_t condition_new(struct device *device);
/* A step that looks at it. The bodies are its own from now on. */
struct action *condition_action(struct device *device, uint64_t at, enum condition_kind kind,
                                struct play **bodies, uint32_t count);

#endif
