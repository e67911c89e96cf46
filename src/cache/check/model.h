/* A small system of controllers, as the checker explores it: one or two lines, a few caches, a network that
 * may reorder everything. For this room only. */
#ifndef CHECK_MODEL_H
#define CHECK_MODEL_H

#include "cache/check/check.h"

enum { MODEL_LINES = 2, MODEL_AGENTS = 10, MODEL_MESSAGES = 24, MODEL_REGISTERS = 4 };

/* A line at an agent: its coh_line, small, and what the checker knows. */
struct model_line {
    uint8_t state, dirty, owner, noted;
    int8_t awaited;
    uint8_t sharers;
    uint8_t value; /* of the copy here; 0 where there is none, so that states are not told apart by it */
    uint8_t op, op_value, op_for; /* what waits here (COH_NO_OP: nothing), and for whom */
    uint8_t seen;                 /* L1s: bits of the values that were current since the last acquire */
    uint8_t op_seen;              /* of those that the waiting load may give; 0: none waits */
};

struct model_message {
    uint8_t line, kind, from, to, requester, dirty;
    int8_t count;
    uint8_t value;
    uint8_t turn; /* of ordered kinds: so many of the same line are ahead of it on this way */
};

struct model_state {
    struct model_line at[MODEL_LINES][MODEL_AGENTS];
    uint8_t memory[MODEL_LINES];
    uint8_t last[MODEL_LINES];   /* the value that was written last */
    uint8_t at_op[MODEL_AGENTS]; /* litmus: how far each thread is */
    uint8_t registers[MODEL_AGENTS][MODEL_REGISTERS];
    uint8_t message_count;
    struct model_message messages[MODEL_MESSAGES];
};

struct model {
    const struct protocol *protocol;
    const struct check_setup *setup;
    struct coh_controller controllers[COH_ROLE_COUNT];
    uint8_t agents, caches, home, memory, first_l1;
    uint64_t *covered[COH_ROLE_COUNT]; /* rows that were taken, as bits; or NULL */
};

enum model_verdict { MODEL_NO_STEP, MODEL_STEP, MODEL_WRONG };

/* A step: a message that arrives, or an operation. */
struct model_step {
    uint8_t agent, line, event, value;
    int message; /* its number, or -1 */
};

/* What was found wrong, and what happened. */
struct model_finding {
    char text[256];
};

void model_init(struct model *model, const struct protocol *protocol, const struct check_setup *setup);
void model_start(const struct model *model, struct model_state *state);
enum coh_role model_role(const struct model *model, unsigned agent);
const char *model_name(const struct model *model, unsigned agent, char room[16]);

/* All steps that might be possible in a state; `try` says whether they are. */
size_t model_steps(const struct model *model, const struct model_state *state, struct model_step *steps,
                   size_t most);

/* Changes the state. MODEL_NO_STEP: the event waits, or cannot happen now, and nothing is changed. */
enum model_verdict model_try(const struct model *model, struct model_state *state,
                             const struct model_step *step, struct model_finding *finding);

/* Whether what must always hold does. */
bool model_holds(const struct model *model, const struct model_state *state, struct model_finding *finding);

/* Nothing is under way or waits. */
bool model_rests(const struct model *model, const struct model_state *state);

void model_describe(const struct model *model, const struct model_state *state, const struct model_step *step,
                    struct text *text);
void model_print_state(const struct model *model, const struct model_state *state, struct text *text);

/* The state as bytes, the same for all that differ only in the numbers of caches or of L1s. */
enum { MODEL_CODE_MOST = 512 };
size_t model_encode(const struct model *model, const struct model_state *state,
                    uint8_t code[MODEL_CODE_MOST]);
void model_decode(const struct model *model, const uint8_t *code, struct model_state *state);

#endif
