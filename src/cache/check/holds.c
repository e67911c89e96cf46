/* What must hold in every state, and states as text. */
#include "cache/check/model.h"

#include <stdio.h>
#include <string.h>

static bool found(struct model_finding *finding, const char *what, unsigned line)
{
    snprintf(finding->text, sizeof finding->text, "%s (line %u)", what, line);
    return false;
}

static bool flags(const struct model *model, const struct model_state *state, unsigned line, unsigned agent,
                  unsigned wanted)
{
    return coh_state_is(model->controllers[model_role(model, agent)].table, state->at[line][agent].state,
                        wanted);
}

bool model_holds(const struct model *model, const struct model_state *state, struct model_finding *finding)
{
    for (unsigned line = 0; line < model->setup->lines; line++) {
        unsigned readers = 0, writers = 0, owners = 0;
        const struct model_line *home = &state->at[line][model->home];
        for (unsigned agent = 0; agent < model->caches; agent++) {
            bool reads = flags(model, state, line, agent, COH_READ);
            readers += reads;
            writers += flags(model, state, line, agent, COH_WRITE);
            owners += flags(model, state, line, agent, COH_OWNS);
            if (reads && state->at[line][agent].value != state->last[line])
                return found(finding, "a copy that can be read has an old value", line);
        }
        if (writers > 1 || (writers && readers > 1))
            return found(finding, "one cache may write while another may read or write", line);
        if (owners > 1)
            return found(finding, "two caches own the line", line);
        if (flags(model, state, line, model->home, COH_OWNS) && home->value != state->last[line])
            return found(finding, "the home's copy is not the last value: a write-back is lost", line);
        if (model->protocol->memory_apart && home->state == 0 && state->memory[line] != state->last[line])
            return found(finding, "memory is not the last value: a write-back is lost", line);
    }
    return true;
}

bool model_rests(const struct model *model, const struct model_state *state)
{
    if (state->message_count)
        return false;
    for (unsigned line = 0; line < model->setup->lines; line++)
        for (unsigned agent = 0; agent < model->agents; agent++) {
            if (agent == model->memory)
                continue;
            if (state->at[line][agent].op != COH_NO_OP || state->at[line][agent].awaited ||
                !flags(model, state, line, agent, COH_REST))
                return false;
        }
    return true;
}

/* ---- as text ---- */

void model_describe(const struct model *model, const struct model_state *state, const struct model_step *step,
                    struct text *text)
{
    char room[2][16];
    if (step->message >= 0) {
        const struct model_message *message = &state->messages[step->message];
        const struct coh_kind *kind = &model->protocol->kinds[message->kind];
        text_add(text, "%s gets %s from %s", model_name(model, message->to, room[0]), kind->name,
                 model_name(model, message->from, room[1]));
        if (kind->has_data)
            text_add(text, ", value %u", message->value);
        if (message->requester != message->from && message->requester != message->to)
            text_add(text, ", for %s", model_name(model, message->requester, room[0]));
    } else {
        text_add(text, "%s: %s", model_name(model, step->agent, room[0]),
                 coh_event_name(model->protocol, step->event));
        if (step->event == COH_STORE || step->event == COH_DMA_WRITE)
            text_add(text, " of %u", step->value);
    }
    if (model->setup->lines > 1)
        text_add(text, " (line %u)", step->line);
}

void model_print_state(const struct model *model, const struct model_state *state, struct text *text)
{
    char room[16];
    for (unsigned line = 0; line < model->setup->lines; line++) {
        for (unsigned agent = 0; agent < model->agents; agent++) {
            if (agent == model->memory)
                continue;
            const struct model_line *at = &state->at[line][agent];
            text_add(text, "%s%s %s", agent || line ? ", " : "", model_name(model, agent, room),
                     model->controllers[model_role(model, agent)].table->states[at->state].name);
            if (at->awaited)
                text_add(text, "(awaits %d)", at->awaited);
        }
    }
}
