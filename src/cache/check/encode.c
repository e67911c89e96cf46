/* States as bytes. Caches of CPUs are alike, and so are L1s: of all ways to number them, the one with the
 * least bytes stands for all. Only numberings that order agents by what each holds itself are tried. */
#include "cache/check/model.h"

#include <string.h>

enum { LINE_BYTES = 12, MESSAGE_BYTES = 9, KEY_BYTES = MODEL_LINES * 11 };

struct numbering {
    uint8_t to[MODEL_AGENTS];   /* by old number */
    uint8_t from[MODEL_AGENTS]; /* by new number */
};

static uint8_t renamed(const struct numbering *numbering, uint8_t agent)
{
    return agent < MODEL_AGENTS ? numbering->to[agent] : agent;
}

static uint8_t *put_line(uint8_t *out, const struct numbering *numbering, const struct model_line *at)
{
    uint8_t sharers = 0;
    for (unsigned agent = 0; agent < 8; agent++)
        if (at->sharers & (1u << agent))
            sharers |= (uint8_t)(1u << numbering->to[agent]);
    uint8_t bytes[LINE_BYTES] = {at->state,
                                 at->dirty,
                                 renamed(numbering, at->owner),
                                 renamed(numbering, at->noted),
                                 (uint8_t)at->awaited,
                                 sharers,
                                 at->value,
                                 at->op,
                                 at->op_value,
                                 at->op == COH_NO_OP ? 0 : renamed(numbering, at->op_for),
                                 at->seen,
                                 at->op_seen};
    memcpy(out, bytes, sizeof bytes);
    return out + sizeof bytes;
}

static size_t write_code(const struct model *model, const struct model_state *state,
                         const struct numbering *numbering, uint8_t *code)
{
    uint8_t *out = code, messages[MODEL_MESSAGES][MESSAGE_BYTES];
    for (unsigned line = 0; line < model->setup->lines; line++) {
        for (unsigned agent = 0; agent < model->agents; agent++)
            out = put_line(out, numbering, &state->at[line][numbering->from[agent]]);
        *out++ = state->memory[line];
        *out++ = state->last[line];
    }
    if (model->setup->litmus)
        for (unsigned agent = 0; agent < model->agents; agent++) {
            *out++ = state->at_op[agent];
            memcpy(out, state->registers[agent], MODEL_REGISTERS);
            out += MODEL_REGISTERS;
        }
    *out++ = state->message_count;
    for (unsigned i = 0; i < state->message_count; i++) {
        const struct model_message *message = &state->messages[i];
        uint8_t bytes[MESSAGE_BYTES] = {message->line,
                                        message->kind,
                                        renamed(numbering, message->from),
                                        renamed(numbering, message->to),
                                        renamed(numbering, message->requester),
                                        message->dirty,
                                        (uint8_t)message->count,
                                        message->value,
                                        message->turn};
        unsigned at = i;
        for (; at && memcmp(messages[at - 1], bytes, MESSAGE_BYTES) > 0; at--)
            memcpy(messages[at], messages[at - 1], MESSAGE_BYTES);
        memcpy(messages[at], bytes, MESSAGE_BYTES);
    }
    memcpy(out, messages, (size_t)state->message_count * MESSAGE_BYTES);
    return (size_t)(out - code) + (size_t)state->message_count * MESSAGE_BYTES;
}

void model_decode(const struct model *model, const uint8_t *code, struct model_state *state)
{
    memset(state, 0, sizeof *state);
    for (unsigned line = 0; line < model->setup->lines; line++) {
        for (unsigned agent = 0; agent < model->agents; agent++, code += LINE_BYTES)
            state->at[line][agent] =
                (struct model_line){code[0], code[1], code[2], code[3], (int8_t)code[4], code[5],
                                    code[6], code[7], code[8], code[9], code[10],        code[11]};
        state->memory[line] = *code++;
        state->last[line] = *code++;
    }
    if (model->setup->litmus)
        for (unsigned agent = 0; agent < model->agents; agent++) {
            state->at_op[agent] = *code++;
            memcpy(state->registers[agent], code, MODEL_REGISTERS);
            code += MODEL_REGISTERS;
        }
    state->message_count = *code++;
    for (unsigned i = 0; i < state->message_count; i++, code += MESSAGE_BYTES)
        state->messages[i] = (struct model_message){code[0], code[1],         code[2], code[3], code[4],
                                                    code[5], (int8_t)code[6], code[7], code[8]};
}

/* ---- numberings ---- */

struct search {
    const struct model *model;
    const struct model_state *state;
    uint8_t keys[MODEL_AGENTS][KEY_BYTES];
    struct numbering numbering;
    uint8_t *best;
    size_t best_bytes;
};

/* What an agent holds, whatever the numbers of others. */
static void make_key(struct search *search, unsigned agent)
{
    uint8_t *key = search->keys[agent];
    for (unsigned line = 0; line < search->model->setup->lines; line++) {
        const struct model_line *at = &search->state->at[line][agent];
        const struct model_line *home = &search->state->at[line][search->model->home];
        uint8_t bytes[KEY_BYTES / MODEL_LINES] = {at->state,
                                                  at->value,
                                                  at->dirty,
                                                  (uint8_t)at->awaited,
                                                  at->op,
                                                  at->op_value,
                                                  at->seen,
                                                  at->op_seen,
                                                  home->owner == agent,
                                                  home->noted == agent,
                                                  home->sharers >> agent & 1};
        memcpy(key + line * sizeof bytes, bytes, sizeof bytes);
    }
}

static void settle(struct search *search)
{
    uint8_t code[MODEL_CODE_MOST];
    size_t bytes = write_code(search->model, search->state, &search->numbering, code);
    if (search->best_bytes && memcmp(code, search->best, bytes) >= 0) /* all are of the same length */
        return;
    memcpy(search->best, code, bytes);
    search->best_bytes = bytes;
}

/* Numbers the agents from `next` to `end` in all ways that keep keys in order; then those from `then` to
 * `last`. */
static void number(struct search *search, unsigned next, unsigned end, unsigned then, unsigned last)
{
    if (next == end) {
        if (then < last)
            number(search, then, last, last, last);
        else
            settle(search);
        return;
    }
    unsigned least = next;
    for (unsigned i = next + 1; i < end; i++)
        if (memcmp(search->keys[search->numbering.from[i]], search->keys[search->numbering.from[least]],
                   KEY_BYTES) < 0)
            least = i;
    const uint8_t *key = search->keys[search->numbering.from[least]];
    for (unsigned i = next; i < end; i++) {
        struct numbering before = search->numbering;
        uint8_t chosen = before.from[i];
        if (memcmp(search->keys[chosen], key, KEY_BYTES))
            continue;
        search->numbering.from[i] = before.from[next];
        search->numbering.from[next] = chosen;
        for (unsigned at = next; at < end; at++)
            search->numbering.to[search->numbering.from[at]] = (uint8_t)at;
        number(search, next + 1, end, then, last);
        search->numbering = before;
    }
}

size_t model_encode(const struct model *model, const struct model_state *state, uint8_t code[MODEL_CODE_MOST])
{
    struct search search = {.model = model, .state = state, .best = code};
    for (uint8_t agent = 0; agent < MODEL_AGENTS; agent++)
        search.numbering.to[agent] = search.numbering.from[agent] = agent;
    if (model->setup->litmus) { /* its threads differ */
        settle(&search);
        return search.best_bytes;
    }
    for (unsigned agent = 0; agent < model->agents; agent++)
        make_key(&search, agent);
    number(&search, 0, model->setup->cpus, model->first_l1, model->agents);
    return search.best_bytes;
}
