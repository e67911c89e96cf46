#include "ptxas/rewrite.h"
#include "ptx/store.h"

#include <string.h>

enum { OLD_PLACE = 1u << 31 }; /* marks a label's place as one of the function as it was */

void rewrite_init(struct rewrite *rewrite, struct ptx_module *module, struct ptx_function *f)
{
    *rewrite = (struct rewrite){.module = module, .f = f};
    rewrite->place = mem_alloc(f->inst_count + 1, sizeof *rewrite->place);
    for (uint32_t i = 0; i < f->operand_count; i++)
        *list_push(rewrite->operands) = f->operands[i];
    for (uint32_t i = 0; i < f->register_count; i++)
        *list_push(rewrite->registers) = f->registers[i];
    for (uint32_t i = 0; i < f->label_count; i++) {
        struct ptx_label *label = list_push(rewrite->labels);
        *label = f->labels[i];
        label->inst |= OLD_PLACE;
    }
}

void rewrite_copy(struct rewrite *rewrite, uint32_t end)
{
    for (; rewrite->next < end; rewrite->next++) {
        rewrite->place[rewrite->next] = (uint32_t)rewrite->insts.count;
        *list_push(rewrite->insts) = rewrite->f->insts[rewrite->next];
    }
}

void rewrite_drop(struct rewrite *rewrite, uint32_t end)
{
    for (; rewrite->next < end; rewrite->next++)
        rewrite->place[rewrite->next] = (uint32_t)rewrite->insts.count;
}

struct ptx_inst *rewrite_add(struct rewrite *rewrite, const char *opcode, const struct ptx_inst *like)
{
    struct ptx_inst *inst = list_push(rewrite->insts);
    *inst = (struct ptx_inst){.opcode = opcode,
                              .line = like->line,
                              .loc = like->loc,
                              .guard = -1,
                              .first = (uint32_t)rewrite->operands.count};
    return inst;
}

void rewrite_operand(struct rewrite *rewrite, struct ptx_operand operand)
{
    *list_push(rewrite->operands) = operand;
    rewrite->insts.at[rewrite->insts.count - 1].count++;
}

uint32_t rewrite_register(struct rewrite *rewrite, const char *name, enum ptx_type type)
{
    *list_push(rewrite->registers) = (struct ptx_register){name, type};
    return (uint32_t)rewrite->registers.count - 1;
}

uint32_t rewrite_label(struct rewrite *rewrite)
{
    *list_push(rewrite->labels) = (struct ptx_label){.name = "(added)", .inst = OLD_PLACE};
    return (uint32_t)rewrite->labels.count - 1;
}

void rewrite_place(struct rewrite *rewrite, uint32_t label)
{
    rewrite->labels.at[label].inst = (uint32_t)rewrite->insts.count;
}

void rewrite_place_old(struct rewrite *rewrite, uint32_t label, uint32_t inst)
{
    rewrite->labels.at[label].inst = inst | OLD_PLACE;
}

static void see_labels(const struct rewrite *rewrite, const struct ptx_operand *operand, uint8_t *named)
{
    if (operand->kind == PTX_OP_LABEL)
        named[operand->index] = 1;
    if (operand->kind >= PTX_OP_MEMORY && operand->kind <= PTX_OP_PAIR)
        for (uint32_t i = 0; i < operand->count; i++)
            see_labels(rewrite, &rewrite->operands.at[operand->first + i], named);
}

/* Labels that nothing names any more would still end blocks: they go to the end. */
static void drop_labels(struct rewrite *rewrite)
{
    const struct ptx_function *f = rewrite->f;
    uint8_t *named = mem_alloc(rewrite->labels.count + 1, 1);
    for (size_t i = 0; i < rewrite->insts.count; i++)
        for (uint32_t k = 0; k < rewrite->insts.at[i].count; k++)
            see_labels(rewrite, &rewrite->operands.at[rewrite->insts.at[i].first + k], named);
    for (uint32_t i = 0; i < f->table_count; i++)
        for (uint32_t k = 0; k < f->tables[i].count; k++)
            see_labels(rewrite, &rewrite->operands.at[f->tables[i].first + k], named);
    for (size_t i = 0; i < rewrite->labels.count; i++)
        if (!named[i])
            rewrite->labels.at[i].inst = (uint32_t)rewrite->insts.count;
    mem_free(named);
}

void rewrite_finish(struct rewrite *rewrite)
{
    struct ptx_function *f = rewrite->f;
    struct ptx_store *store = rewrite->module->store;
    rewrite_copy(rewrite, f->inst_count);
    rewrite->place[f->inst_count] = (uint32_t)rewrite->insts.count;
    for (size_t i = 0; i < rewrite->labels.count; i++) {
        struct ptx_label *label = &rewrite->labels.at[i];
        if (label->inst & OLD_PLACE)
            label->inst = rewrite->place[label->inst & ~OLD_PLACE];
    }
    drop_labels(rewrite);
    f->insts = ptx_store_copy(store, rewrite->insts.at, rewrite->insts.count, sizeof *f->insts);
    f->inst_count = (uint32_t)rewrite->insts.count;
    f->operands = ptx_store_copy(store, rewrite->operands.at, rewrite->operands.count, sizeof *f->operands);
    f->operand_count = (uint32_t)rewrite->operands.count;
    f->registers =
        ptx_store_copy(store, rewrite->registers.at, rewrite->registers.count, sizeof *f->registers);
    f->register_count = (uint32_t)rewrite->registers.count;
    f->labels = ptx_store_copy(store, rewrite->labels.at, rewrite->labels.count, sizeof *f->labels);
    f->label_count = (uint32_t)rewrite->labels.count;
    mem_free(rewrite->insts.at);
    mem_free(rewrite->operands.at);
    mem_free(rewrite->registers.at);
    mem_free(rewrite->labels.at);
    mem_free(rewrite->place);
}
