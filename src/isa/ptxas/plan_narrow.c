/* 64-bit values whose upper half is unused: ptxas computes only the lower half. */
#include "ptxas/plan.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

/* What is the same in the lower half whatever the upper one is, and what then does it. */
static const struct low {
    const char *wide, *narrow;
} lows[] = {
    {"add.s64", "add.s32"}, {"add.u64", "add.u32"},       {"sub.s64", "sub.s32"},
    {"sub.u64", "sub.u32"}, {"and.b64", "and.b32"},       {"or.b64", "or.b32"},
    {"xor.b64", "xor.b32"}, {"not.b64", "not.b32"},       {"neg.s64", "neg.s32"},
    {"shl.b64", "shl.b32"}, {"mul.lo.s64", "mul.lo.s32"}, {"mul.lo.u64", "mul.lo.u32"},
};

struct narrow {
    struct plan *plan;
    bool *upper; /* by register: somebody needs its upper half */
    bool changed;
};

static const struct low *find_low(const char *text)
{
    for (size_t i = 0; i < COUNT_OF(lows); i++)
        if (!strcmp(lows[i].wide, text))
            return &lows[i];
    return NULL;
}

static bool is_text(const struct narrow *n, uint32_t i, const char *text)
{
    return !strcmp(values_opcode(&n->plan->values, i)->text, text);
}

/* Whether the upper half of what it makes is 0 because it was masked. */
static bool is_masked(const struct narrow *n, uint32_t i)
{
    const struct ptx_operand *mask = values_operand(&n->plan->values, i, 2);
    return is_text(n, i, "and.b64") && mask->kind == PTX_OP_INTEGER && !(mask->value >> 32);
}

static bool shifts_masked(const struct narrow *n, uint32_t i)
{
    const struct values *values = &n->plan->values;
    uint32_t maker = values_maker(values, values_operand(values, i, 1));
    const struct ptx_operand *by = values_operand(values, i, 2);
    return is_text(n, i, "shr.u64") && by->kind == PTX_OP_INTEGER && by->value < 32 && maker != VALUES_NONE &&
           is_masked(n, maker);
}

static bool gives_lower_half(const char *text)
{
    static const char *const rows[] = {"cvt.u32.u64", "cvt.s32.u64", "cvt.u32.s64", "cvt.s32.s64",
                                       "cvt.u16.u64", "cvt.u8.u64",  "cvt.u16.s64", "cvt.u8.s64"};
    for (size_t i = 0; i < COUNT_OF(rows); i++)
        if (!strcmp(rows[i], text))
            return true;
    return false;
}

static bool result_needs_upper(const struct narrow *n, uint32_t i)
{
    const struct ptx_operand *result = values_operand(&n->plan->values, i, 0);
    return result->kind != PTX_OP_REGISTER || n->upper[result->index];
}

static bool needs_upper(const struct narrow *n, uint32_t i)
{
    const char *text = values_opcode(&n->plan->values, i)->text;
    if (gives_lower_half(text) || is_masked(n, i) || shifts_masked(n, i))
        return false;
    return !find_low(text) || result_needs_upper(n, i);
}

static void see_read(void *context, uint32_t index, bool written)
{
    struct narrow *n = context;
    if (!written && !n->upper[index])
        n->upper[index] = n->changed = true;
}

static void find_needed(struct narrow *n)
{
    const struct ptx_function *f = n->plan->f;
    do {
        n->changed = false;
        for (uint32_t i = f->inst_count; i-- > 0;)
            if (!n->plan->dead[i] && needs_upper(n, i))
                ptx_each_register(f, &f->insts[i], see_read, n);
    } while (n->changed);
}

void plan_narrow(struct plan *plan)
{
    struct values *values = &plan->values;
    struct narrow n = {.plan = plan, .upper = mem_alloc(plan->f->register_count + 1, sizeof(bool))};
    uint32_t *narrow = mem_alloc(plan->f->inst_count + 1, sizeof *narrow); /* number of its opcode, plus 1 */
    find_needed(&n);
    for (uint32_t i = 0; i < plan->f->inst_count; i++) {
        const struct low *low = find_low(values_opcode(values, i)->text);
        if (low && !result_needs_upper(&n, i))
            narrow[i] = opcodes_find(&values->opcodes, low->narrow) + 1;
        else if (shifts_masked(&n, i))
            narrow[i] = opcodes_find(&values->opcodes, "shr.u32") + 1;
    }
    for (uint32_t i = 0; i < plan->f->inst_count; i++)
        if (narrow[i])
            values->number[i] = narrow[i] - 1;
    mem_free(narrow);
    mem_free(n.upper);
}
