#include "cache/check/litmus.h"

#include <string.h>

const struct litmus litmus_tests[] = {
    {"MP", "message passing", {"WxWy", "RyRx"}, "10", false},
    {"MP+sync", "... with release and acquire", {"WxLWy", "RyARx"}, "10", true},
    {"MP+stale", "... where the reader had read before", {"WxLWy", "RxRyARx"}, ".10", true},
    {"MP+cached", "... without an acquire behind it", {"WxLWy", "RxRyRx"}, ".10", false},
    {"SB", "store buffering", {"WxRy", "WyRx"}, "00", false},
    {"SB+sync", "... with release and acquire", {"WxLARy", "WyLARx"}, "00", true},
    {"LB", "load buffering", {"RxWy", "RyWx"}, "11", true},
    {"IRIW", "independent reads of independent writes", {"Wx", "Wy", "RxRy", "RyRx"}, "1010", false},
    {"IRIW+sync", "... with acquires", {"Wx", "Wy", "RxARy", "RyARx"}, "1010", true},
    {"CoRR", "two reads of one line", {"Wx", "RxRx"}, "10", true},
    {"CoWR", "a read after the own write", {"WxRx"}, "0", true},
    {NULL, NULL, {NULL}, NULL, false},
};

/* The operation with this number, or NULL; `line` is set. */
static const char *op_at(const char *thread, unsigned number, uint8_t *line)
{
    for (; *thread; number--) {
        bool has_line = *thread == 'W' || *thread == 'R';
        *line = has_line && thread[1] == 'y';
        if (!number)
            return thread;
        thread += has_line ? 2 : 1;
    }
    return NULL;
}

static const char *thread_of(const struct check_setup *setup, unsigned agent, unsigned *number)
{
    for (*number = 0; *number < LITMUS_THREADS && setup->litmus->threads[*number]; ++*number)
        if (setup->places[*number] == agent)
            return setup->litmus->threads[*number];
    return NULL;
}

static unsigned loads_before(const char *thread, unsigned at_op)
{
    unsigned count = 0;
    uint8_t line;
    for (unsigned i = 0; i < at_op; i++) {
        const char *op = op_at(thread, i, &line);
        count += op && *op == 'R';
    }
    return count;
}

/* `at_op` is behind the load; the register says 2 and 3 for loaded 0 and 1, so that 0 is "not yet". Registers
 * are of the agent, and an agent has one thread: its number is not needed here. */
void litmus_loaded(const struct check_setup *setup, uint8_t *registers, unsigned at_op, uint8_t value)
{
    (void)setup;
    (void)at_op;
    for (unsigned i = 0; i < MODEL_REGISTERS; i++)
        if (!registers[i]) {
            registers[i] = 2 + value;
            return;
        }
}

void litmus_steps(const struct model *model, const struct model_state *state, uint8_t agent,
                  struct model_step *steps, size_t *count)
{
    unsigned number;
    uint8_t line;
    const char *thread = thread_of(model->setup, agent, &number);
    const char *op = thread ? op_at(thread, state->at_op[agent], &line) : NULL;
    for (unsigned i = 0; i < model->setup->lines; i++)
        if (state->at[i][agent].op != COH_NO_OP)
            return;
    if (!op)
        return;
    uint8_t event = *op == 'W' ? COH_STORE : *op == 'R' ? COH_LOAD : *op == 'A' ? COH_ACQUIRE : COH_RELEASE;
    steps[(*count)++] = (struct model_step){agent, line, event, *op == 'W', -1};
}

enum model_verdict litmus_try(const struct model *model, struct model_state *state,
                              const struct model_step *step, struct model_finding *finding,
                              enum model_verdict (*operate)(const struct model *, struct model_state *,
                                                            const struct model_step *,
                                                            struct model_finding *))
{
    struct model_state before = *state;
    bool is_fence = step->event == COH_ACQUIRE || step->event == COH_RELEASE;
    state->at_op[step->agent]++;
    if (is_fence && model_role(model, step->agent) == COH_CACHE)
        return MODEL_STEP; /* CPUs are sequentially consistent */
    for (uint8_t line = 0; line < model->setup->lines; line++) {
        struct model_step one = *step;
        if (is_fence)
            one.line = line;
        else if (line)
            break;
        enum model_verdict verdict = operate(model, state, &one, finding);
        if (verdict != MODEL_STEP) {
            if (verdict == MODEL_NO_STEP)
                *state = before;
            return verdict;
        }
    }
    return MODEL_STEP;
}

bool litmus_ended(const struct model *model, const struct model_state *state)
{
    uint8_t line;
    for (unsigned i = 0; i < LITMUS_THREADS && model->setup->litmus->threads[i]; i++) {
        unsigned agent = model->setup->places[i];
        if (op_at(model->setup->litmus->threads[i], state->at_op[agent], &line))
            return false;
        for (unsigned j = 0; j < model->setup->lines; j++)
            if (state->at[j][agent].op != COH_NO_OP)
                return false;
    }
    return true;
}

void litmus_outcome(const struct model *model, const struct model_state *state, char room[16])
{
    size_t at = 0;
    for (unsigned i = 0; i < LITMUS_THREADS && model->setup->litmus->threads[i]; i++) {
        const char *thread = model->setup->litmus->threads[i];
        unsigned loads = loads_before(thread, (unsigned)strlen(thread));
        for (unsigned j = 0; j < loads; j++)
            room[at++] = (char)('0' + (state->registers[model->setup->places[i]][j] & 1));
    }
    room[at] = 0;
}

bool litmus_is_forbidden(const struct litmus *litmus, const char *outcome)
{
    for (size_t i = 0; litmus->forbidden[i]; i++)
        if (litmus->forbidden[i] != '.' && litmus->forbidden[i] != outcome[i])
            return false;
    return true;
}
