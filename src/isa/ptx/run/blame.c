/* In timing mode, instructions are in the order that ptxas would give them, so a load may run before a store
 * that precedes it in the program. If both are faulty, the one that comes first in the program is reported.
 */
#include "ptx_run/access.h"
#include "base/mem.h"

static void note_write(void *context, uint32_t index, bool written)
{
    uint8_t *writes = context;
    writes[index] |= written;
}

/* Whether its value may not be there yet, as it comes from memory. */
static bool is_awaited(const struct code *code, uint32_t index)
{
    const struct ptx_function *f = code->function;
    uint8_t *writes = mem_alloc(f->register_count + 1, 1);
    bool awaited = false;
    for (uint32_t i = 0; i < f->inst_count && !awaited; i++) {
        if (code->ops[i].kind == OP_ALU)
            continue;
        ptx_each_register(f, &f->insts[i], note_write, writes);
        awaited = writes[index];
    }
    mem_free(writes);
    return awaited;
}

/* The register with the address; false: there is none. */
static bool address_register(const struct ptx_function *f, const struct ptx_inst *inst, uint32_t *index)
{
    for (uint32_t i = 0; i < inst->count; i++) {
        const struct ptx_operand *operand = &f->operands[inst->first + i];
        if (operand->kind != PTX_OP_MEMORY || !operand->count)
            continue;
        *index = f->operands[operand->first].index;
        return f->operands[operand->first].kind == PTX_OP_REGISTER;
    }
    return false;
}

/* The lanes that would do it; 0 when that cannot be known yet. */
static lanes ready_lanes(const struct warp *w, uint32_t i, const uint8_t *writes)
{
    const struct ptx_function *f = w->code->function;
    const struct ptx_inst *inst = &f->insts[i];
    const struct op *op = &w->code->ops[i];
    uint32_t address;
    if (address_register(f, inst, &address) && (writes[address] || is_awaited(w->code, address)))
        return 0;
    if (inst->guard < 0)
        return (lanes)w->isa.active;
    if (writes[inst->guard] || is_awaited(w->code, (uint32_t)inst->guard))
        return 0;
    uint32_t guard = *warp_predicate(w, op->guard);
    return (lanes)w->isa.active & (op->flags & OP_GUARD_NOT ? ~guard : guard);
}

enum { SUSPECTS = 64 };

struct suspect {
    const struct op *op;
    uint32_t order;
    lanes who;
};

/* Accesses up to the end of the block that the program has before this one, and that could be done by now. */
static uint32_t find_suspects(const struct warp *w, uint32_t at, struct suspect suspects[SUSPECTS])
{
    const struct code *code = w->code;
    const struct ptx_function *f = code->function;
    uint8_t *writes = mem_alloc(f->register_count + 1, 1);
    uint32_t count = 0;
    for (uint32_t i = at; i < f->inst_count && count < SUSPECTS; i++) {
        const struct op *op = &code->ops[i];
        if (op->kind == OP_CONTROL || op->kind == OP_BRANCH || (i > at && op->flags & OP_JOIN))
            break;
        bool before = f->insts[i].order < f->insts[at].order && access_is_one(op);
        lanes who = before ? ready_lanes(w, i, writes) : 0;
        if (who)
            suspects[count++] = (struct suspect){op, f->insts[i].order, who};
        ptx_each_register(f, &f->insts[i], note_write, writes);
    }
    mem_free(writes);
    return count;
}

void access_blame(struct warp *w, const struct op *op)
{
    struct suspect suspects[SUSPECTS];
    uint32_t at = (uint32_t)(op - w->code->ops);
    if (!w->code->isa.timing || at >= w->code->function->inst_count)
        return;
    uint32_t count = find_suspects(w, at, suspects);
    for (; count; count--) {
        uint32_t first = 0;
        for (uint32_t i = 1; i < count; i++)
            first = suspects[i].order < suspects[first].order ? i : first;
        access_check(w, suspects[first].op, suspects[first].who);
        suspects[first] = suspects[count - 1];
    }
}
