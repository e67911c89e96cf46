/* Litmus tests: small programs of several threads, explored in all ways that a protocol allows.
 *
 * A thread is text: "Wx" stores 1 to x, "Rx" loads x into the thread's next register, "A" acquires, "L"
 * releases. All values are 0 at first. */
#ifndef CHECK_LITMUS_H
#define CHECK_LITMUS_H

#include "cache/check/model.h"

enum { LITMUS_THREADS = 4 };

struct litmus {
    const char *name, *help;
    const char *threads[LITMUS_THREADS];
    const char *forbidden; /* values of all registers, in the order of threads; '.' for any */
    bool on_gpus;          /* forbidden where threads run on a GPU, too (those without it need no scopes) */
};

extern const struct litmus litmus_tests[]; /* ends with a NULL name */

/* A load of a thread ended: the operation before `at_op`. */
void litmus_loaded(const struct check_setup *setup, uint8_t *registers, unsigned at_op, uint8_t value);
void litmus_steps(const struct model *model, const struct model_state *state, uint8_t agent,
                  struct model_step *steps, size_t *count);
enum model_verdict litmus_try(const struct model *model, struct model_state *state,
                              const struct model_step *step, struct model_finding *finding,
                              enum model_verdict (*operate)(const struct model *, struct model_state *,
                                                            const struct model_step *,
                                                            struct model_finding *));

/* Whether all threads are at their ends; and their registers as text. */
bool litmus_ended(const struct model *model, const struct model_state *state);
void litmus_outcome(const struct model *model, const struct model_state *state, char room[16]);
bool litmus_is_forbidden(const struct litmus *litmus, const char *outcome);

#endif
