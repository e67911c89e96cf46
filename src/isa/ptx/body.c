#include "body.h"

#include <string.h>

#define FOR_LISTS(L)                                                                                         \
    L(insts)                                                                                                 \
    L(operands)                                                                                              \
    L(stack)                                                                                                 \
    L(labels)                                                                                                \
    L(slots)                                                                                                 \
    L(waiting)                                                                                               \
    L(registers)                                                                                             \
    L(variables)                                                                                             \
    L(locs)                                                                                                  \
    L(tables)                                                                                                \
    L(prototypes)

void body_reset(struct body *body)
{
#define L(list) body->list.count = 0;
    FOR_LISTS(L)
#undef L
}

void body_fini(struct body *body)
{
#define L(list) mem_free(body->list.at);
    FOR_LISTS(L)
#undef L
}

/* %v.x of %v */
static const char *part_name(struct ptx_store *store, const struct name *name, int part)
{
    char *text = ptx_store_alloc(store, name->length + 3, 1);
    memcpy(text, name->text, name->length);
    text[name->length] = '.';
    text[name->length + 1] = "xyzw"[part];
    return text;
}

uint32_t body_register(struct body *body, struct ptx_store *store, struct binding *binding)
{
    if (binding->index != NOTHING)
        return binding->index;
    binding->index = (uint32_t)body->registers.count;
    for (int part = 0; part < binding->parts; part++) {
        struct ptx_register *made = list_push(body->registers);
        made->name = binding->parts > 1 ? part_name(store, binding->name, part) : binding->name->text;
        made->type = (enum ptx_type)binding->type;
    }
    return binding->index;
}

static uint32_t new_slot(struct body *body, const struct name *name, enum ptx_symbol_kind kind,
                         uint32_t index, uint32_t line)
{
    *list_push(body->slots) = (struct slot){
        .symbol = {.name = name->text,
                   .kind = kind,
                   .index = index,
                   .variable = kind == PTX_SYM_VARIABLE ? (int32_t)index : -1,
                   .line = line},
        .label = NOTHING,
        .same = NOTHING,
    };
    return (uint32_t)body->slots.count - 1;
}

uint32_t body_symbol(struct body *body, struct binding *binding, uint32_t line)
{
    if (binding->symbol == NOTHING)
        binding->symbol =
            new_slot(body, binding->name, (enum ptx_symbol_kind)binding->kind, binding->index, line);
    return binding->symbol;
}

uint32_t body_wait(struct body *body, const struct scopes *scopes, struct name *name, uint32_t line)
{
    if (name->waiting > scopes->open[scopes->depth].first_waiting)
        return body->waiting.at[name->waiting - 1].slot;
    uint32_t slot = new_slot(body, name, PTX_SYM_COUNT, 0, line);
    *list_push(body->waiting) = (struct waiting){name, slot, name->waiting};
    name->waiting = (uint32_t)body->waiting.count;
    return slot;
}

void body_open(struct body *body, struct scopes *scopes)
{
    scope_open(scopes);
    scopes->open[scopes->depth].first_waiting = (uint32_t)body->waiting.count;
}

/* Whether the scope that ends has what the name waits for. Variables count only when declared before. */
static bool found_here(struct body *body, const struct waiting *waiting, uint32_t depth)
{
    struct binding *binding = waiting->name->binding;
    struct slot *slot = &body->slots.at[waiting->slot];
    if (!binding || binding->depth != depth)
        return false;
    if (binding->kind == BIND_LABEL) {
        slot->label = binding->index;
    } else if (binding->kind == PTX_SYM_TABLE || binding->kind == PTX_SYM_PROTOTYPE) {
        slot->symbol.kind = (enum ptx_symbol_kind)binding->kind;
        slot->symbol.index = binding->index;
    } else {
        return false;
    }
    return true;
}

void body_close(struct body *body, struct scopes *scopes)
{
    uint32_t first = scopes->open[scopes->depth].first_waiting, kept = first;
    uint32_t outer_first = scopes->open[scopes->depth - 1].first_waiting;
    for (uint32_t i = first; i < body->waiting.count; i++) {
        struct waiting waiting = body->waiting.at[i];
        waiting.name->waiting = waiting.outer;
        if (found_here(body, &waiting, scopes->depth) || scopes->depth == SCOPE_FUNCTION)
            continue;
        if (waiting.outer > outer_first) {
            body->slots.at[waiting.slot].same = body->waiting.at[waiting.outer - 1].slot;
        } else {
            body->waiting.at[kept++] = waiting;
            waiting.name->waiting = kept;
        }
    }
    body->waiting.count = kept;
    scope_close(scopes);
}

static void name_symbols(struct body *body, struct ptx_store *store, struct ptx_function *function)
{
    function->symbols = ptx_store_alloc(store, body->slots.count, sizeof *function->symbols);
    for (size_t i = 0; i < body->slots.count; i++) {
        struct slot *slot = &body->slots.at[i];
        slot->place = function->symbol_count;
        if (slot->same == NOTHING && slot->label == NOTHING)
            function->symbols[function->symbol_count++] = slot->symbol;
    }
    for (size_t i = 0; i < body->operands.count; i++) {
        struct ptx_operand *operand = &body->operands.at[i];
        if (operand->kind != PTX_OP_SYMBOL)
            continue;
        const struct slot *slot = &body->slots.at[operand->index];
        while (slot->same != NOTHING)
            slot = &body->slots.at[slot->same];
        operand->kind = slot->label == NOTHING ? PTX_OP_SYMBOL : PTX_OP_LABEL;
        operand->index = slot->label == NOTHING ? slot->place : slot->label;
    }
}

void body_finish(struct body *body, struct ptx_store *store, struct ptx_function *function)
{
    name_symbols(body, store, function);
#define KEEP(list, count_of)                                                                                 \
    function->list = ptx_store_copy(store, body->list.at, body->list.count, sizeof *body->list.at);          \
    function->count_of = (uint32_t)body->list.count;
    KEEP(insts, inst_count)
    KEEP(operands, operand_count)
    KEEP(labels, label_count)
    KEEP(registers, register_count)
    KEEP(variables, variable_count)
    KEEP(locs, loc_count)
    KEEP(tables, table_count)
    KEEP(prototypes, prototype_count)
#undef KEEP
}
