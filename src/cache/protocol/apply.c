#include "cache/protocol/protocol.h"

#include <string.h>

void coh_controller_init(struct coh_controller *controller, const struct protocol *protocol,
                         const struct coh_table *table)
{
    *controller = (struct coh_controller){.protocol = protocol, .table = table};
    for (size_t i = table->row_count; i-- > 0;)
        controller->first[table->rows[i].state][table->rows[i].event] = (uint16_t)(i + 1);
}

static uint64_t bit_of(unsigned agent)
{
    return agent < COH_AGENTS_MOST ? UINT64_C(1) << agent : 0;
}

static bool holds(unsigned condition, const struct coh_line *line, const struct coh_message *message)
{
    uint64_t sender = message ? bit_of(message->from) : 0;
    switch (condition) {
    case COH_IF_ALL_IN:
        return message && line->awaited + message->count == 0;
    case COH_IF_NONE_OUT:
        return line->awaited == 0;
    case COH_IF_FROM_OWNER:
        return message && message->from == line->owner;
    case COH_IF_FROM_SHARER:
        return (line->sharers & sender) != 0;
    case COH_IF_NO_OTHERS:
        return (line->sharers & ~sender) == 0;
    case COH_IF_DIRTY:
        return line->dirty;
    default:
        return true;
    }
}

const struct coh_row *coh_row_of(const struct coh_controller *controller, const struct coh_line *line,
                                 unsigned event, const struct coh_message *message)
{
    const struct coh_table *table = controller->table;
    unsigned first = controller->first[line->state][event];
    for (size_t i = first; i && i <= table->row_count; i++) {
        const struct coh_row *row = &table->rows[i - 1];
        if (row->state == line->state && row->event == event && holds(row->when, line, message))
            return row;
    }
    return NULL;
}

static uint64_t other_sharers(const struct coh_line *line, unsigned requester)
{
    return line->sharers & ~bit_of(requester) & ~bit_of(line->owner);
}

static uint64_t targets(const struct coh_place *place, const struct coh_action *action,
                        const struct coh_line *line, const struct coh_message *message, unsigned requester)
{
    uint64_t caches = place->caches < 64 ? bit_of(place->caches) - 1 : ~UINT64_C(0);
    switch (action->to) {
    case COH_TO_HOME:
        return bit_of(place->home);
    case COH_TO_MEMORY:
        return bit_of(place->memory);
    case COH_TO_SENDER:
        return message ? bit_of(message->from) : 0;
    case COH_TO_REQUESTER:
        return bit_of(requester);
    case COH_TO_NOTED:
        return bit_of(line->noted);
    case COH_TO_OWNER:
        return bit_of(line->owner);
    case COH_TO_SHARERS:
        return line->sharers;
    case COH_TO_OTHER_SHARERS:
        return other_sharers(line, requester);
    case COH_TO_OTHERS:
        return caches & ~bit_of(requester);
    default:
        return caches;
    }
}

static void send(const struct coh_controller *controller, const struct coh_place *place,
                 const struct coh_action *action, const struct coh_line *line,
                 const struct coh_message *message, struct coh_effect *effect)
{
    const struct coh_kind *kind = &controller->protocol->kinds[action->kind];
    unsigned requester = action->flags & COH_FOR_SELF || !message ? place->self
                         : action->flags & COH_FOR_NOTED          ? line->noted
                                                                  : message->requester;
    int count = kind->weight;
    if (action->flags & COH_TELLS)
        count += __builtin_popcountll(other_sharers(line, requester));
    if (action->flags & COH_PASSES && message)
        count += message->count;
    REQUIRE(effect->count < COH_SENDS_MOST);
    effect->sends[effect->count++] = (struct coh_sending){
        .message = {.kind = action->kind,
                    .from = place->self,
                    .requester = (uint8_t)requester,
                    .dirty = kind->has_data && (line->dirty || action->flags & COH_OF_STORE),
                    .count = (int8_t)count},
        .to = targets(place, action, line, message, requester),
        .of_store = (action->flags & COH_OF_STORE) != 0,
        .may_be_none = action->to >= COH_TO_SHARERS};
}

static void take(struct coh_line *line, const struct coh_message *message, bool stays_dirty,
                 struct coh_effect *effect)
{
    line->dirty = (message && message->dirty) || (stays_dirty && line->dirty);
    effect->take = true;
}

static void act(const struct coh_controller *controller, const struct coh_place *place,
                const struct coh_action *action, struct coh_line *line, const struct coh_message *message,
                struct coh_effect *effect)
{
    uint64_t sender = message ? bit_of(message->from) : 0;
    switch ((enum coh_verb)action->verb) {
    case COH_DO_NOTHING:
    case COH_VERB_COUNT:
        break;
    case COH_DO_SEND:
        send(controller, place, action, line, message, effect);
        break;
    case COH_DO_STALL:
        effect->stall = true;
        break;
    case COH_DO_TAKE:
        take(line, message, false, effect);
        break;
    case COH_DO_MERGE:
        take(line, message, true, effect);
        break;
    case COH_DO_PERFORM:
        take(line, message, true, effect);
        effect->performs = true;
        break;
    case COH_DO_SERVE_LOAD:
        effect->serves_load = true;
        break;
    case COH_DO_SERVE_STORE:
        effect->serves_store = true;
        line->dirty = true;
        break;
    case COH_DO_DONE:
        effect->done = true;
        break;
    case COH_DO_COUNT:
        line->awaited = (int16_t)(line->awaited + (message ? message->count : 0));
        break;
    case COH_DO_AWAIT_ALL:
    case COH_DO_AWAIT_EVERYONE:
        line->awaited = (int16_t)(line->awaited + place->caches);
        break;
    case COH_DO_AWAIT_CACHES:
        line->awaited = (int16_t)(line->awaited + place->caches - 1);
        break;
    case COH_DO_AWAIT_SHARERS:
        line->awaited = (int16_t)(line->awaited + __builtin_popcountll(line->sharers));
        break;
    case COH_DO_AWAIT_ONE:
        line->awaited++;
        break;
    case COH_DO_OWNER_IS_SENDER:
        line->owner = message ? message->from : COH_NOBODY;
        break;
    case COH_DO_OWNER_NONE:
        line->owner = COH_NOBODY;
        break;
    case COH_DO_ADD_SENDER:
        line->sharers |= sender;
        break;
    case COH_DO_ONLY_SENDER:
        line->sharers = sender;
        break;
    case COH_DO_NO_SHARERS:
        line->sharers = 0;
        break;
    case COH_DO_CLEAN:
        line->dirty = false;
        break;
    case COH_DO_KEEP_REQUESTER:
        line->noted = message ? message->requester : COH_NOBODY;
        break;
    }
}

void coh_apply(const struct coh_controller *controller, const struct coh_place *place,
               const struct coh_row *row, struct coh_line *line, const struct coh_message *message,
               struct coh_effect *effect)
{
    *effect = (struct coh_effect){0};
    for (size_t i = 0; i < COH_ACTIONS_MOST; i++)
        act(controller, place, &row->actions[i], line, message, effect);
    line->state = row->next;
}
