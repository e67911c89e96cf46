/* Prints an instruction as llvm-objdump does: its name, then what its format shows. */
#include "gcn3/print.h"

/* Whether a short form says that it is one: those that have no other do not. */
static const char *suffix(const struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    switch (row->format) {
    case GCN3_VOPC:
        if (inst->form == GCN3_SDWA && inst->target == GCN3_GFX803)
            return "";
        break;
    case GCN3_VOP1:
    case GCN3_VOP2:
        if (row->d == GCN3_TYPE_nil)
            return "";
        break;
    case GCN3_VINTRP:
        break;
    default:
        return "";
    }
    static const char *const suffixes[] = {"_e32", "_e64", "_sdwa", "_dpp"};
    return suffixes[inst->form];
}

void gcn3_print_comma(struct text *text)
{
    text_add(text, text->at[text->length - 1] == ' ' ? "" : ", ");
}

void gcn3_print_next(const struct gcn3_inst *inst, const struct gcn3_operand *operand, struct text *text)
{
    if (operand->kind == GCN3_NOTHING)
        return;
    gcn3_print_comma(text);
    gcn3_print_operand(inst, operand, text);
}

void gcn3_print_flag(bool set, const char *name, struct text *text)
{
    if (set)
        text_add(text, " %s", name);
}

void gcn3_print_trim(struct text *text)
{
    if (text->at[text->length - 1] == ' ')
        text->at[--text->length] = 0;
}

void gcn3_print(const struct gcn3_inst *inst, struct text *text)
{
    int length;
    const char *name = gcn3_name(inst->op, inst->target, &length);
    text_add(text, "%.*s%s ", length, name, suffix(inst));
    switch (inst->format) {
    case GCN3_SOP2:
    case GCN3_SOPK:
    case GCN3_SOP1:
    case GCN3_SOPC:
    case GCN3_SOPP:
        gcn3_print_scalar(inst, text);
        break;
    case GCN3_VOP1:
    case GCN3_VOP2:
    case GCN3_VOPC:
    case GCN3_VOP3:
    case GCN3_VOP3P:
    case GCN3_VINTRP:
        gcn3_print_vector(inst, text);
        break;
    case GCN3_EXP:
        gcn3_print_exp(inst, text);
        break;
    default:
        gcn3_print_memory(inst, text);
    }
    gcn3_print_trim(text);
}
