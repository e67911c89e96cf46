#include "cache/protocol/protocol.h"

#include <string.h>

extern const struct protocol protocol_mi, protocol_mesi, protocol_moesi, protocol_moesi_hammer,
    protocol_vi_hammer, protocol_moesi_hsc, protocol_viper, protocol_none;

const struct protocol *const protocols[] = {&protocol_mi,           &protocol_mesi,      &protocol_moesi,
                                            &protocol_moesi_hammer, &protocol_vi_hammer, &protocol_moesi_hsc,
                                            &protocol_viper,        &protocol_none,      NULL};

const struct protocol *protocol_find(const char *name)
{
    for (size_t i = 0; protocols[i]; i++)
        if (!strcmp(protocols[i]->name, name))
            return protocols[i];
    return NULL;
}

const struct coh_table *protocol_table(const struct protocol *protocol, enum coh_role role)
{
    if (role == COH_GPU_L2 && !protocol->tables[role])
        return protocol->tables[COH_L1] ? protocol->tables[COH_CACHE] : NULL;
    return protocol->tables[role];
}

const char *coh_event_name(const struct protocol *protocol, unsigned event)
{
#define OP_NAME(id, name) name,
    static const char *const names[] = {COH_OPS(OP_NAME)};
    return event < COH_OP_COUNT ? names[event] : protocol->kinds[event - COH_OP_COUNT].name;
}

const char *coh_condition_name(unsigned condition)
{
#define CONDITION_NAME(id, name) name,
    static const char *const names[] = {COH_CONDITIONS(CONDITION_NAME)};
    return names[condition];
}

/* ---- whether a table makes sense by itself ---- */

/* Actions that use a message's data, or memory, where there is none. */
static bool action_valid(const struct protocol *protocol, const struct coh_table *table,
                         const struct coh_row *row, const struct coh_action *action)
{
    bool uses_data =
        action->verb == COH_DO_TAKE || action->verb == COH_DO_MERGE || action->verb == COH_DO_PERFORM;
    if (action->verb >= COH_VERB_COUNT)
        return false;
    if (uses_data)
        return row->event >= COH_OP_COUNT && protocol->kinds[row->event - COH_OP_COUNT].has_data;
    if (action->verb != COH_DO_SEND)
        return true;
    return action->kind < protocol->kind_count && action->to < COH_TARGET_COUNT &&
           (action->to != COH_TO_MEMORY || (protocol->memory_apart && table == protocol->tables[COH_HOME]));
}

static bool row_valid(const struct protocol *protocol, const struct coh_table *table,
                      const struct coh_row *row, struct err *err)
{
    size_t number = (size_t)(row - table->rows) + 1, sends = 0;
    if (row->state >= table->state_count || row->next >= table->state_count ||
        row->event >= COH_OP_COUNT + protocol->kind_count || row->when >= COH_CONDITION_COUNT)
        return err_set(err, "protocol %s, %s, row %zu: no such state, event or condition", protocol->name,
                       table->name, number);
    for (size_t i = 0; i < COH_ACTIONS_MOST; i++) {
        const struct coh_action *action = &row->actions[i];
        sends += action->verb == COH_DO_SEND;
        if (!action_valid(protocol, table, row, action) || sends > COH_SENDS_MOST)
            return err_set(err, "protocol %s, %s, row %zu (%s, %s): action %zu cannot be here",
                           protocol->name, table->name, number, table->states[row->state].name,
                           coh_event_name(protocol, row->event), i + 1);
    }
    for (const struct coh_row *before = table->rows; before < row; before++)
        if (before->state == row->state && before->event == row->event &&
            (before->when == COH_IF_ANY || before->when == row->when))
            return err_set(err, "protocol %s, %s: row %zu (%s, %s) is never reached: row %zu is taken",
                           protocol->name, table->name, number, table->states[row->state].name,
                           coh_event_name(protocol, row->event), (size_t)(before - table->rows) + 1);
    return true;
}

/* A hole is a state without a row for an operation of its controller. Only copies at rest must be evictable.
 */
static bool holes_none(const struct protocol *protocol, const struct coh_table *table, struct err *err)
{
    for (unsigned state = 0; state < table->state_count; state++)
        for (unsigned op = 0; op < COH_OP_COUNT; op++) {
            uint8_t flags = table->states[state].flags;
            bool holds_copy = flags & COH_REST && flags & (COH_READ | COH_OWNS | COH_COPY);
            bool has_row = !(table->ops & (1u << op)) || (op == COH_EVICT && !holds_copy);
            for (size_t i = 0; i < table->row_count && !has_row; i++)
                has_row = table->rows[i].state == state && table->rows[i].event == op;
            if (!has_row)
                return err_set(err, "protocol %s, %s: state %s has no row for '%s'", protocol->name,
                               table->name, table->states[state].name, coh_event_name(protocol, op));
        }
    return true;
}

/* The kinds that the protocol names for memory and for L1s. */
static bool four_differ(const uint8_t kinds[4], size_t count)
{
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++)
            if (kinds[i] >= count || (i != j && kinds[i] == kinds[j]))
                return false;
    return true;
}

static bool kinds_valid(const struct protocol *protocol, struct err *err)
{
    const uint8_t memory[] = {protocol->memory_read, protocol->memory_write, protocol->memory_data,
                              protocol->memory_ack};
    const uint8_t below[] = {protocol->below.get, protocol->below.put, protocol->below.data,
                             protocol->below.ack};
    if (protocol->memory_apart && !four_differ(memory, protocol->kind_count))
        return err_set(err, "protocol %s: memory needs four different messages", protocol->name);
    if (protocol->tables[COH_L1] && !four_differ(below, protocol->kind_count))
        return err_set(err, "protocol %s: a table of L1s needs a line 'below' with four different messages",
                       protocol->name);
    if (protocol->memory_apart &&
        (protocol->kinds[protocol->memory_data].weight || protocol->kinds[protocol->memory_ack].weight))
        return err_set(err, "protocol %s: memory's answers are not counted and have no weight",
                       protocol->name);
    return true;
}

bool protocol_valid(const struct protocol *protocol, struct err *err)
{
    if (!protocol->tables[COH_CACHE] || !protocol->tables[COH_HOME])
        return err_set(err, "protocol %s: a table of caches and one of the home are needed", protocol->name);
    if (protocol->kind_count > COH_KINDS_MOST)
        return err_set(err, "protocol %s: %zu kinds of messages are too many (%d)", protocol->name,
                       protocol->kind_count, COH_KINDS_MOST);
    if (!kinds_valid(protocol, err))
        return false;
    for (int role = 0; role < COH_ROLE_COUNT; role++) {
        const struct coh_table *table = protocol->tables[role];
        if (!table)
            continue;
        uint8_t held = role == COH_HOME ? 0 : COH_READ | COH_WRITE | COH_OWNS | COH_COPY;
        if (!table->state_count || !(table->states[0].flags & COH_REST) || table->states[0].flags & held)
            return err_set(err, "protocol %s, %s: the first state must be one of rest, without a copy",
                           protocol->name, table->name);
        if (table->state_count > COH_STATES_MOST)
            return err_set(err, "protocol %s, %s: %zu states are too many (%d)", protocol->name, table->name,
                           table->state_count, COH_STATES_MOST);
        for (size_t i = 0; i < table->row_count; i++)
            if (!row_valid(protocol, table, &table->rows[i], err))
                return false;
        if (!holes_none(protocol, table, err))
            return false;
    }
    return true;
}
