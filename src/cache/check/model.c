#include "cache/check/model.h"
#include "cache/check/litmus.h"

#include <stdio.h>
#include <string.h>

void model_init(struct model *model, const struct protocol *protocol, const struct check_setup *setup)
{
    *model = (struct model){.protocol = protocol, .setup = setup};
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        if (protocol_table(protocol, role))
            coh_controller_init(&model->controllers[role], protocol, protocol_table(protocol, role));
    model->caches = (uint8_t)(setup->cpus + (setup->l1s > 0));
    model->home = model->caches;
    model->memory = (uint8_t)(model->caches + 1);
    model->first_l1 = (uint8_t)(model->caches + 2);
    model->agents = (uint8_t)(model->first_l1 + setup->l1s);
    REQUIRE(model->caches <= 8 && model->agents <= MODEL_AGENTS && setup->lines <= MODEL_LINES);
}

enum coh_role model_role(const struct model *model, unsigned agent)
{
    return agent < model->setup->cpus ? COH_CACHE
           : agent < model->caches    ? COH_GPU_L2
           : agent < model->first_l1  ? COH_HOME
                                      : COH_L1;
}

const char *model_name(const struct model *model, unsigned agent, char room[16])
{
    if (agent == model->home)
        return "home";
    if (agent == model->memory)
        return "memory";
    if (agent >= model->caches)
        snprintf(room, 16, "l1 %u", agent - model->first_l1);
    else if (agent >= model->setup->cpus)
        return "gpu l2";
    else
        snprintf(room, 16, "cache %u", agent);
    return room;
}

void model_start(const struct model *model, struct model_state *state)
{
    memset(state, 0, sizeof *state);
    for (unsigned line = 0; line < model->setup->lines; line++)
        for (unsigned agent = 0; agent < model->agents; agent++)
            state->at[line][agent] = (struct model_line){.owner = COH_NOBODY,
                                                         .noted = COH_NOBODY,
                                                         .op = COH_NO_OP,
                                                         .seen = agent >= model->first_l1 ? 1 : 0};
}

/* ---- what is done at one line ---- */

/* An event under way, at one line of one agent. */
struct deed {
    const struct model *model;
    struct model_state *state;
    struct model_finding *finding;
    struct model_line *at;
    unsigned line, agent;
    bool wrong;
};

static void wrong(struct deed *deed, const char *what)
{
    char room[16];
    if (!deed->wrong)
        snprintf(deed->finding->text, sizeof deed->finding->text, "%s (%s, line %u)", what,
                 model_name(deed->model, deed->agent, room), deed->line);
    deed->wrong = true;
}

static bool is_ordered(const struct model *model, unsigned kind)
{
    const struct coh_below *below = &model->protocol->below;
    return model->setup->l1s &&
           (kind == below->get || kind == below->put || kind == below->data || kind == below->ack);
}

static void post(struct deed *deed, struct model_message message)
{
    struct model_state *state = deed->state;
    if (state->message_count == MODEL_MESSAGES) {
        wrong(deed, "messages without end");
        return;
    }
    if (is_ordered(deed->model, message.kind))
        for (unsigned i = 0; i < state->message_count; i++) {
            const struct model_message *other = &state->messages[i];
            message.turn += is_ordered(deed->model, other->kind) && other->from == message.from &&
                            other->to == message.to && other->line == message.line;
        }
    state->messages[state->message_count++] = message;
}

/* A value is written for all to see. */
static void write_value(struct deed *deed, uint8_t value)
{
    deed->state->last[deed->line] = value;
    for (unsigned agent = 0; agent < deed->model->agents; agent++) {
        struct model_line *at = &deed->state->at[deed->line][agent];
        at->seen |= agent >= deed->model->first_l1 ? (uint8_t)(1u << value) : 0;
        at->op_seen |= at->op_seen ? (uint8_t)(1u << value) : 0;
    }
}

/* A load ends, with the value of the copy here. */
static void end_load(struct deed *deed, uint8_t whose, uint8_t seen)
{
    const struct model *model = deed->model;
    uint8_t value = deed->at->value;
    if (model_role(model, deed->agent) == COH_GPU_L2) {
        const struct coh_kind *kind = &model->protocol->kinds[model->protocol->below.data];
        post(deed, (struct model_message){.line = (uint8_t)deed->line,
                                          .kind = model->protocol->below.data,
                                          .from = (uint8_t)deed->agent,
                                          .to = whose,
                                          .requester = whose,
                                          .count = kind->weight,
                                          .value = value});
        return;
    }
    if (!(seen & (1u << value)))
        wrong(deed, "a load gives an old value");
    if (model->setup->litmus)
        litmus_loaded(model->setup, deed->state->registers[deed->agent], deed->state->at_op[deed->agent],
                      value);
}

static void end_store(struct deed *deed, uint8_t whose)
{
    const struct model *model = deed->model;
    if (model_role(model, deed->agent) != COH_GPU_L2)
        return;
    const struct coh_kind *kind = &model->protocol->kinds[model->protocol->below.ack];
    post(deed, (struct model_message){.line = (uint8_t)deed->line,
                                      .kind = model->protocol->below.ack,
                                      .from = (uint8_t)deed->agent,
                                      .to = whose,
                                      .requester = whose,
                                      .count = kind->weight});
}

/* The operation that waits at the line, or that the event itself is. */
struct asked {
    uint8_t op, value, whose, seen;
};

static void serve(struct deed *deed, const struct coh_effect *effect, const struct coh_message *message,
                  uint8_t got, struct asked *own)
{
    struct model_line *at = deed->at;
    struct asked waiting = {at->op, at->op_value, at->op_for, at->op_seen};
    struct asked *both[2] = {&waiting, own};
    (void)message;
    if (effect->take)
        at->value = got;
    if (effect->performs)
        write_value(deed, got);
    for (int i = 0; i < 2; i++) {
        struct asked *asked = both[i];
        bool is_load = asked->op == COH_LOAD || asked->op == COH_DMA_READ;
        if (asked->op == COH_NO_OP)
            continue;
        if (is_load ? effect->serves_load : effect->serves_store) {
            if (is_load)
                end_load(deed, asked->whose, asked->seen);
            else {
                at->value = asked->value;
                /* A copy that is written through was written at home. */
                if (!(model_role(deed->model, deed->agent) == COH_GPU_L2 &&
                      deed->model->protocol->gpu_l2_writes_through))
                    write_value(deed, asked->value);
                end_store(deed, asked->whose);
            }
            asked->op = COH_NO_OP;
        } else if (effect->done && !is_load) {
            end_store(deed, asked->whose);
            asked->op = COH_NO_OP;
        }
    }
    if (waiting.op == COH_NO_OP)
        at->op = COH_NO_OP, at->op_value = 0, at->op_for = 0, at->op_seen = 0;
}

static void send_all(struct deed *deed, const struct coh_effect *effect, uint8_t store_value)
{
    for (unsigned i = 0; i < effect->count; i++) {
        const struct coh_sending *sending = &effect->sends[i];
        bool has_data = deed->model->protocol->kinds[sending->message.kind].has_data;
        for (unsigned to = 0; to < deed->model->agents; to++)
            if (sending->to & (UINT64_C(1) << to))
                post(deed, (struct model_message){.line = (uint8_t)deed->line,
                                                  .kind = sending->message.kind,
                                                  .from = (uint8_t)deed->agent,
                                                  .to = (uint8_t)to,
                                                  .requester = sending->message.requester,
                                                  .dirty = sending->message.dirty,
                                                  .count = sending->message.count,
                                                  .value = !has_data           ? 0
                                                           : sending->of_store ? store_value
                                                                               : deed->at->value});
        if (!sending->to && !sending->may_be_none)
            wrong(deed, "a message has no receiver");
    }
}

/* Values and dirty bits of lines that hold nothing must not tell states apart. */
static void forget(struct deed *deed)
{
    const struct coh_table *table = deed->model->controllers[model_role(deed->model, deed->agent)].table;
    if (!(table->states[deed->at->state].flags & (COH_READ | COH_OWNS | COH_COPY)) &&
        model_role(deed->model, deed->agent) != COH_HOME)
        deed->at->value = deed->at->dirty = 0;
    if (model_role(deed->model, deed->agent) == COH_HOME) {
        if (!deed->model->protocol->memory_apart)
            deed->at->dirty = 0; /* the home's copy is memory */
        else if (deed->at->state == 0)
            deed->at->value = deed->at->dirty = 0;
    }
    if (coh_state_is(table, deed->at->state, COH_REST))
        deed->at->noted = COH_NOBODY;
}

static enum model_verdict apply(struct deed *deed, unsigned event, const struct coh_message *message,
                                uint8_t got, struct asked own, bool *consumed)
{
    const struct model *model = deed->model;
    enum coh_role role = model_role(model, deed->agent);
    const struct coh_controller *controller = &model->controllers[role];
    struct model_line *at = deed->at, before = *at;
    struct coh_line line = {.state = at->state,
                            .dirty = at->dirty,
                            .owner = at->owner,
                            .noted = at->noted,
                            .awaited = at->awaited,
                            .sharers = at->sharers};
    struct coh_place place = {.self = (uint8_t)deed->agent,
                              .home = role == COH_L1 ? (uint8_t)(model->caches - 1) : model->home,
                              .memory = model->memory,
                              .caches = model->caches};
    struct coh_effect effect;
    const struct coh_row *row = coh_row_of(controller, &line, event, message);
    if (!row) {
        if (event < COH_OP_COUNT && !message)
            return MODEL_NO_STEP;
        char what[128];
        snprintf(what, sizeof what, "no row for %s in state %s", coh_event_name(model->protocol, event),
                 controller->table->states[at->state].name);
        wrong(deed, what);
        return MODEL_WRONG;
    }
    if (model->covered[role]) {
        size_t number = (size_t)(row - controller->table->rows);
        model->covered[role][number / 64] |= UINT64_C(1) << (number % 64);
    }
    coh_apply(controller, &place, row, &line, message, &effect);
    *consumed = !effect.stall;
    if (effect.stall && !effect.count && line.state == at->state)
        return MODEL_NO_STEP;
    at->state = line.state;
    at->dirty = line.dirty;
    at->owner = line.owner;
    at->noted = line.noted;
    at->awaited = (int8_t)line.awaited;
    at->sharers = (uint8_t)line.sharers;
    if (line.awaited < -8 || line.awaited > 8)
        wrong(deed, "answers without end");
    if (effect.stall)
        own.op = COH_NO_OP;
    uint8_t store_value = own.op == COH_STORE ? own.value : at->op == COH_STORE ? at->op_value : 0;
    if ((effect.serves_load || effect.serves_store) && event >= COH_OP_COUNT && before.op == COH_NO_OP)
        wrong(deed, "serves an operation that is not there");
    if (own.op != COH_NO_OP && !effect.serves_load && !effect.serves_store && !effect.done) {
        if (before.op != COH_NO_OP)
            wrong(deed, "accepts a second operation while one waits");
        at->op = own.op, at->op_value = own.value, at->op_for = own.whose, at->op_seen = own.seen;
        own.op = COH_NO_OP;
    }
    serve(deed, &effect, message, got, &own);
    if (own.op != COH_NO_OP)
        wrong(deed, "an operation is lost");
    send_all(deed, &effect, store_value);
    forget(deed);
    return deed->wrong ? MODEL_WRONG : MODEL_STEP;
}

/* With two lines a cache has room for one, and so has a home that is a cache. */
static bool has_room(const struct model *model, const struct model_state *state, unsigned agent,
                     unsigned line)
{
    for (unsigned other = 0; other < model->setup->lines && !model->setup->litmus; other++)
        if (other != line && state->at[other][agent].state != 0)
            return false;
    return true;
}

/* ---- messages ---- */

static void remove_message(struct model_state *state, unsigned number, bool ordered)
{
    struct model_message gone = state->messages[number];
    for (unsigned i = number; i + 1 < state->message_count; i++)
        state->messages[i] = state->messages[i + 1];
    state->message_count--;
    memset(&state->messages[state->message_count], 0, sizeof *state->messages);
    for (unsigned i = 0; ordered && i < state->message_count; i++) {
        struct model_message *other = &state->messages[i];
        if (other->from == gone.from && other->to == gone.to && other->line == gone.line &&
            other->turn > gone.turn)
            other->turn--;
    }
}

static enum model_verdict memory_gets(struct deed *deed, const struct model_message *message)
{
    const struct protocol *protocol = deed->model->protocol;
    bool is_read = message->kind == protocol->memory_read;
    if (!is_read)
        deed->state->memory[deed->line] = message->value;
    post(deed, (struct model_message){.line = (uint8_t)deed->line,
                                      .kind = is_read ? protocol->memory_data : protocol->memory_ack,
                                      .from = deed->model->memory,
                                      .to = message->from,
                                      .requester = message->requester,
                                      .value = is_read ? deed->state->memory[deed->line] : 0});
    return deed->wrong ? MODEL_WRONG : MODEL_STEP;
}

static enum model_verdict deliver(const struct model *model, struct model_state *state, unsigned number,
                                  struct model_finding *finding)
{
    struct model_message message = state->messages[number];
    struct deed deed = {.model = model,
                        .state = state,
                        .finding = finding,
                        .at = &state->at[message.line][message.to],
                        .line = message.line,
                        .agent = message.to};
    struct model_state before = *state;
    struct coh_message as_sent = {.kind = message.kind,
                                  .from = message.from,
                                  .to = message.to,
                                  .requester = message.requester,
                                  .dirty = message.dirty,
                                  .count = message.count};
    struct asked own = {.op = COH_NO_OP};
    unsigned event = coh_event_of(message.kind);
    bool consumed = true;
    if (message.to == model->home && model->protocol->memory_apart &&
        message.kind != model->protocol->memory_ack && !has_room(model, state, message.to, message.line))
        return MODEL_NO_STEP;
    remove_message(state, number, is_ordered(model, message.kind));
    if (message.to == model->memory)
        return memory_gets(&deed, &message);
    const struct coh_message *shown = &as_sent;
    if (model_role(model, message.to) == COH_GPU_L2 && is_ordered(model, message.kind)) {
        bool is_get = message.kind == model->protocol->below.get;
        own = (struct asked){
            .op = is_get ? COH_LOAD : COH_STORE, .value = message.value, .whose = message.from};
        event = own.op;
        shown = NULL;
    }
    enum model_verdict verdict = apply(&deed, event, shown, message.value, own, &consumed);
    if (verdict == MODEL_NO_STEP) {
        *state = before;
    } else if (!consumed) { /* it waits, but the line went on */
        if (state->message_count == MODEL_MESSAGES) {
            wrong(&deed, "messages without end");
            return MODEL_WRONG;
        }
        for (unsigned i = 0; i < state->message_count; i++) {
            struct model_message *other = &state->messages[i];
            other->turn += is_ordered(model, message.kind) && is_ordered(model, other->kind) &&
                           other->from == message.from && other->to == message.to &&
                           other->line == message.line;
        }
        state->messages[state->message_count++] = message;
    }
    return verdict;
}

/* ---- operations ---- */

static bool core_waits(const struct model *model, const struct model_state *state, unsigned agent)
{
    for (unsigned line = 0; line < model->setup->lines; line++)
        if (state->at[line][agent].op != COH_NO_OP)
            return true;
    return false;
}

static enum model_verdict operate(const struct model *model, struct model_state *state,
                                  const struct model_step *step, struct model_finding *finding)
{
    struct model_line *at = &state->at[step->line][step->agent];
    struct deed deed = {model, state, finding, at, step->line, step->agent, false};
    struct model_state before = *state;
    bool is_access = step->event == COH_LOAD || step->event == COH_STORE || step->event == COH_DMA_READ ||
                     step->event == COH_DMA_WRITE;
    bool consumed, waits = core_waits(model, state, step->agent);
    if (step->event == COH_EVICT && at->state == 0)
        return MODEL_NO_STEP;
    if (is_access && step->agent != model->home && !has_room(model, state, step->agent, step->line))
        return MODEL_NO_STEP;
    struct asked own = {.op = COH_NO_OP};
    if (is_access) {
        uint8_t op = step->event == COH_DMA_READ    ? COH_LOAD
                     : step->event == COH_DMA_WRITE ? COH_STORE
                                                    : step->event;
        uint8_t seen =
            model_role(model, step->agent) == COH_L1 ? at->seen : (uint8_t)(1u << state->last[step->line]);
        own = (struct asked){op, step->value, (uint8_t)step->agent, op == COH_LOAD ? seen : 0};
    }
    bool is_l1 = model_role(model, step->agent) == COH_L1;
    if (is_l1 && step->event == COH_STORE && at->awaited >= (model->setup->l1s > 1 ? 1 : 2))
        return MODEL_NO_STEP;
    if (step->event == COH_ACQUIRE)
        at->seen = (uint8_t)(1u << state->last[step->line]);
    if (is_l1 && step->event == COH_STORE)
        at->seen = (uint8_t)(1u << step->value);
    enum model_verdict verdict = apply(&deed, step->event, NULL, 0, own, &consumed);
    if (verdict == MODEL_STEP && is_access && consumed) {
        bool is_at_once = at->op == before.at[step->line][step->agent].op;
        if (waits && !is_at_once) /* a core does one thing at a time; hits are no matter */
            verdict = MODEL_NO_STEP;
    }
    if (verdict == MODEL_STEP && model->setup->litmus && !consumed && step->agent != model->home)
        verdict = MODEL_NO_STEP;
    if (verdict == MODEL_NO_STEP ||
        (verdict == MODEL_STEP && !model->setup->litmus && !memcmp(&before, state, sizeof before))) {
        *state = before;
        return MODEL_NO_STEP;
    }
    return verdict;
}

enum model_verdict model_try(const struct model *model, struct model_state *state,
                             const struct model_step *step, struct model_finding *finding)
{
    if (step->message >= 0)
        return deliver(model, state, (unsigned)step->message, finding);
    if (model->setup->litmus && step->event != COH_EVICT)
        return litmus_try(model, state, step, finding, operate);
    return operate(model, state, step, finding);
}

size_t model_steps(const struct model *model, const struct model_state *state, struct model_step *steps,
                   size_t most)
{
    size_t count = 0;
#define ADD(...)                                                                                             \
    do {                                                                                                     \
        REQUIRE(count < most);                                                                               \
        steps[count++] = (struct model_step)__VA_ARGS__;                                                     \
    } while (0)
    for (unsigned i = 0; i < state->message_count; i++) {
        const struct model_message *message = &state->messages[i];
        if (!message->turn)
            ADD({message->to, message->line, 0, 0, (int)i});
    }
    for (uint8_t agent = 0; agent < model->agents; agent++) {
        enum coh_role role = model_role(model, agent);
        if (agent == model->memory)
            continue;
        uint32_t ops = protocol_table(model->protocol, role)->ops;
        if (role == COH_GPU_L2)
            ops &= 1u << COH_EVICT; /* its loads and stores are the L1s' */
        if (role == COH_HOME && !model->setup->dma)
            ops &= ~(1u << COH_DMA_READ | 1u << COH_DMA_WRITE);
        if (model->setup->litmus) {
            litmus_steps(model, state, agent, steps, &count);
            ops &= model->setup->litmus->threads[2] ? 0 : 1u << COH_EVICT; /* four threads do enough */
        }
        for (uint8_t line = 0; line < model->setup->lines; line++)
            for (uint8_t op = 0; op < COH_OP_COUNT; op++) {
                if (!(ops & (1u << op)))
                    continue;
                bool writes = op == COH_STORE || op == COH_DMA_WRITE;
                for (uint8_t value = 0; value <= writes; value++)
                    ADD({agent, line, op, value, -1});
            }
    }
#undef ADD
    return count;
}
