#include "cache/protocol/words.h"
#include "base/text.h"

static void print_flags(struct text *text, const struct coh_word *words, unsigned flags)
{
    for (; words->name; words++)
        if (flags & words->value)
            text_add(text, " %s", words->name);
}

static void print_action(const struct protocol *protocol, const struct coh_action *action, struct text *text)
{
    text_add(text, "%s", coh_word_name(coh_verbs, action->verb));
    if (action->verb != COH_DO_SEND)
        return;
    text_add(text, " %s to %s", protocol->kinds[action->kind].name, coh_word_name(coh_targets, action->to));
    print_flags(text, coh_send_flags, action->flags);
}

static void print_row(const struct protocol *protocol, const struct coh_table *table,
                      const struct coh_row *row, struct text *text)
{
    text_add(text, "  %-4s %-9s", table->states[row->state].name, coh_event_name(protocol, row->event));
    if (row->when != COH_IF_ANY)
        text_add(text, " if %s", coh_condition_name(row->when));
    text_add(text, " -> %s", table->states[row->next].name);
    bool is_first = true;
    for (size_t i = 0; i < COH_ACTIONS_MOST; i++) {
        if (row->actions[i].verb == COH_DO_NOTHING)
            continue;
        text_add(text, is_first ? ": " : "; ");
        print_action(protocol, &row->actions[i], text);
        is_first = false;
    }
    text_add(text, "\n");
}

static void print_table(const struct protocol *protocol, enum coh_role role, struct text *text)
{
    const struct coh_table *table = protocol->tables[role];
    text_add(text, "\ntable %s \"%s\" \"%s\"\n", coh_word_name(coh_roles, role), table->name, table->help);
    text_add(text, "operations");
    for (unsigned op = 0; op < COH_OP_COUNT; op++)
        if (table->ops & (1u << op))
            text_add(text, " %s", coh_event_name(protocol, op));
    text_add(text, "\n");
    for (size_t i = 0; i < table->state_count; i++) {
        text_add(text, "state %s", table->states[i].name);
        print_flags(text, coh_state_flags, table->states[i].flags);
        text_add(text, "\n");
    }
    text_add(text, "rows\n");
    for (size_t i = 0; i < table->row_count; i++)
        print_row(protocol, table, &table->rows[i], text);
}

void protocol_print(const struct protocol *protocol, struct text *text)
{
    text_add(text, "protocol %s \"%s\"\n", protocol->name, protocol->help);
    if (protocol->is_incoherent)
        text_add(text, "incoherent\n");
    if (protocol->gpu_l2_writes_through)
        text_add(text, "gpu-l2-writes-through\n");
    for (size_t i = 0; i < protocol->kind_count; i++) {
        const struct coh_kind *kind = &protocol->kinds[i];
        text_add(text, "message %s %s", kind->name, coh_word_name(coh_classes, kind->class));
        if (kind->has_data)
            text_add(text, " data");
        if (kind->weight)
            text_add(text, " weight %d", kind->weight);
        text_add(text, "\n");
    }
#define KIND_NAME(kind) protocol->kinds[kind].name
    if (protocol->memory_apart)
        text_add(text, "memory %s %s %s %s\n", KIND_NAME(protocol->memory_read),
                 KIND_NAME(protocol->memory_write), KIND_NAME(protocol->memory_data),
                 KIND_NAME(protocol->memory_ack));
    if (protocol->tables[COH_L1])
        text_add(text, "below %s %s %s %s\n", KIND_NAME(protocol->below.get), KIND_NAME(protocol->below.put),
                 KIND_NAME(protocol->below.data), KIND_NAME(protocol->below.ack));
    for (int role = 0; role < COH_ROLE_COUNT; role++)
        if (protocol->tables[role])
            print_table(protocol, role, text);
}
