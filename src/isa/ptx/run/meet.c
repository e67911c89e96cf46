/* See meet.h. */
#include "ptx_run/meet.h"
#include "ptx_run/access.h"
#include "ptx_run/async.h"
#include "ptx_run/builtin.h"

static bool is_shared(const char *opcode)
{
    enum ptx_space space = access_space_named(opcode);
    return space != PTX_GENERIC && space != PTX_GLOBAL;
}

bool meet_is_ordered(const struct ptx_function *f, const struct ptx_inst *inst, const uint8_t *read)
{
    const struct ptx_operand *d = inst->count ? &f->operands[inst->first] : NULL;
    if (ptx_is(inst, "atom"))
        return access_is_ordered(inst->opcode, d && d->kind == PTX_OP_REGISTER && read[d->index]);
    if (ptx_is(inst, "red"))
        return access_is_ordered(inst->opcode, false);
    if (ptx_is(inst, "cp.reduce.async.bulk.tensor"))
        return true; /* the map says of which type */
    if (ptx_is(inst, "cp.reduce"))
        return async_is_ordered(inst->opcode);
    return ptx_is(inst, "ld") && access_watches(inst->opcode) && !is_shared(inst->opcode);
    /* the order of reductions of a surface leaves no trace */
}

static bool calls_ordered(const struct ptx_function *f, const struct ptx_inst *inst)
{
    for (uint32_t o = 0; o < inst->count; o++) {
        const struct ptx_operand *operand = &f->operands[inst->first + o];
        if (operand->kind == PTX_OP_SYMBOL && f->symbols[operand->index].kind == PTX_SYM_FUNCTION &&
            builtin_is_ordered(f->symbols[operand->index].name))
            return true;
    }
    return false;
}

bool meet_others(const struct ptx_function *f, const struct ptx_inst *inst)
{
    const char *opcode = inst->opcode;
    if (ptx_is(inst, "ld") || ptx_is(inst, "st"))
        return (access_watches(opcode) || access_releases(opcode)) && !is_shared(opcode);
    if (ptx_is(inst, "atom") || ptx_is(inst, "red"))
        return !is_shared(opcode);
    if (ptx_is(inst, "membar") || ptx_is(inst, "fence"))
        return !ptx_opcode_has(opcode, "cta");
    if (ptx_is(inst, "call"))
        return calls_ordered(f, inst);
    return ptx_is(inst, "cp.reduce") || ptx_is(inst, "sured") || ptx_is(inst, "multimem");
}
