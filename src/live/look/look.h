/* Somebody looks at a machine while it simulates, by a page (live/live.h): its state, and orders to pause and
 * to go on. Whoever has the machine says how it is reached (struct look_ops).
 *
 * The machine is looked at only while it stands still: between windows, by the thread that runs it; while
 * that thread is at rest (look_rest); or, where nobody has it, by the server's thread. A machine that nobody
 * looks at tests one word in each window. Nothing here changes what is computed. */
#ifndef LOOK_LOOK_H
#define LOOK_LOOK_H

#include "base/err.h"
#include "system/machine.h"
#include "system/system.h"

struct look;

struct look_ops {
    struct machine *(*machine)(void *user); /* by the thread that has it */
    /* By another thread: NULL if somebody has it now. Both may be NULL: the one that has it comes to rest. */
    struct machine *(*try_machine)(void *user);
    void (*give_machine)(void *user);
    /* By who has the machine: more members of the state, each with a comma; or NULL. */
    void (*show)(void *user, struct text *json);
    bool (*is_over)(void *user); /* the run was interrupted: nobody waits any more */
};

/* The windows go into the options of the machine; then the server begins, and its URL is given, or NULL. Port
 * 0: any. */
struct look *look_new(const struct look_ops *ops, void *user, const struct system *system);
const struct machine_windows *look_windows(const struct look *look); /* NULL: of nobody */
const char *look_begin(struct look *look, unsigned port, bool paused, struct err *err);

/* Nobody looks any more; what is paused goes on. look_free: no other thread is here. All take NULL, too. */
void look_end(struct look *look);
void look_free(struct look *look);

/* A line that the user was told; a kernel failed, or the machine gave up: where somebody looks, the run waits
 * until it is told to go on. */
void look_note(struct look *look, const char *text);
void look_hold(struct look *look, const char *why);

/* The thread that has the machine is between two runs of it. It answers, and stands if it is to; true: this
 * may have taken long. */
bool look_rest(struct look *look);

#endif
