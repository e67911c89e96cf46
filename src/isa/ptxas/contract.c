/* Fusion of products and sums. PTX leaves it to the compiler whether a mul and an add (or sub) without an
 * explicit rounding are rounded twice or, as an fma, once. nvcc fuses most of them itself and leaves the rest
 * to ptxas. So results equal those of a GPU, bit for bit, only if fusion is done here in the same way. The
 * rules of ptxas (13.0, for sm_90) were found in the code it generates:
 *
 * - Both have the same type, and both or none have .ftz. The sum may have .sat and a guard, the product not.
 * - Both are in one stretch of straight-line code, or one factor is a constant. An instruction that becomes a
 *   branch or a call also ends a stretch.
 * - Only such sums read the product, each of them once.
 * - Sums choose in program order: first all among products that they alone read, then among others. Of two
 *   products a sum takes the one that fewer sums read, else the first. A product that it then reads as a
 *   plain operand, beside the one it took, cannot be fused any more.
 *
 * The product itself is computed all the same: its register has the value that PTX gives it. */
#include "ptxas/ptxas.h"
#include "ptx/alu_rows.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

struct item {         /* of an instruction */
    uint32_t end;     /* of the stretch it is in */
    uint32_t from[2]; /* a sum: the products it reads, plus 1; 0: something else */
    uint32_t uses;    /* a product: how often sums read it */
    bool is_sum;
    bool anywhere; /* a product: it can be taken in other stretches, too */
    bool closed;   /* a product: its register is written again in the same stretch */
    bool whole;    /* a product: something reads it that cannot take it */
};

struct contract {
    const struct ptx_function *f;
    const struct flow *flow;
    struct item *items;
    struct ptx_taken *taken;
    struct value {        /* by register */
        uint32_t product; /* it holds, plus 1; 0: none */
        uint32_t written; /* the last instruction that wrote it, plus 1 */
        uint32_t writes;  /* in all */
        uint32_t maker;   /* the first that does */
    } * values;
    uint32_t inst;
};

/* Whether an opcode is this one with a type of floats, and no modifiers but .ftz and .sat. */
static bool is_plain(const char *opcode, const char *base, bool may_sat)
{
    static const char *const types[] = {".f32", ".f64", ".f16", ".f16x2", ".bf16", ".bf16x2"};
    if (strncmp(opcode, base, 3) != 0)
        return false;
    const char *at = opcode + 3;
    at += strncmp(at, ".ftz", 4) ? 0 : 4;
    at += may_sat && !strncmp(at, ".sat", 4) ? 4 : 0;
    for (size_t i = 0; i < COUNT_OF(types); i++)
        if (!strcmp(at, types[i]))
            return true;
    return false;
}

static bool is_product(const struct ptx_inst *inst)
{
    return is_plain(inst->opcode, "mul", false) && inst->guard < 0 && inst->count == 3;
}

static bool is_sum(const struct ptx_inst *inst)
{
    return (is_plain(inst->opcode, "add", true) || is_plain(inst->opcode, "sub", true)) && inst->count == 3;
}

static bool any_of(const struct ptx_inst *inst, const char *const *bases, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (ptx_is(inst, bases[i]))
            return true;
    return false;
}

/* Whether ptxas makes several blocks of this instruction. */
static bool splits(const struct ptx_inst *inst)
{
    static const char *const always[] = {"call", "membar", "fence", "brkpt", "pmevent"};
    static const char *const exact[] = {"div", "rem", "rcp", "sqrt"};
    static const char *const of_lanes[] = {"mov", "cvt", "cvta", "setp", "isspacep"};
    const char *opcode = inst->opcode;
    if (any_of(inst, always, COUNT_OF(always)) || !strcmp(opcode, "rsqrt.approx.f64"))
        return true;
    if (any_of(inst, exact, COUNT_OF(exact)))
        return !strstr(opcode, ".approx") && !strstr(opcode, ".full") && strcmp(opcode + 3, ".u32") != 0;
    if (ptx_is(inst, "bfind"))
        return strstr(opcode, "64");
    return inst->guard >= 0 && !any_of(inst, of_lanes, COUNT_OF(of_lanes)) && alu_find(opcode) < 0;
}

/* Labels that no branch names do not end a stretch. */
static void find_stretches(struct contract *c)
{
    const struct flow *flow = c->flow;
    uint32_t *entries = mem_alloc(flow->block_count + 1, sizeof *entries);
    for (uint32_t i = 0; i < flow->edge_count; i++)
        entries[flow->edges[i]]++;
    for (uint32_t b = flow->block_count; b-- > 0;) {
        const struct flow_block *block = &flow->blocks[b];
        uint32_t end = block->first + block->count;
        bool goes_on = block->next_count == 1 && flow->edges[block->next] == b + 1 &&
                       b + 1 < flow->block_count && entries[b + 1] == 1;
        for (uint32_t i = end; i-- > block->first;) {
            bool last = splits(&c->f->insts[i]) || (i + 1 == end && !goes_on);
            c->items[i].end = last ? i + 1 : c->items[i + 1].end;
        }
    }
    mem_free(entries);
}

static const struct ptx_operand *operand_of(const struct contract *c, uint32_t inst, uint32_t i)
{
    return &c->f->operands[c->f->insts[inst].first + i];
}

static void see_writes(void *context, uint32_t index, bool written)
{
    struct contract *c = context;
    if (written && !c->values[index].writes++)
        c->values[index].maker = c->inst;
}

/* Whether an operand has one value wherever it can be read at all. */
static bool is_fixed(const struct contract *c, const struct ptx_operand *operand)
{
    if (operand->kind == PTX_OP_REGISTER)
        return c->values[operand->index].writes == 1 && !c->flow->spans[operand->index].at_entry;
    return operand->kind == PTX_OP_FLOAT || operand->kind == PTX_OP_INTEGER;
}

/* A literal, or what lies at a fixed place of constant memory, where parameters are, too. */
static bool is_constant(const struct contract *c, const struct ptx_operand *operand)
{
    for (int hops = 0; operand->kind == PTX_OP_REGISTER && hops < 8; hops++) {
        if (!is_fixed(c, operand))
            return false;
        uint32_t maker = c->values[operand->index].maker;
        const struct ptx_inst *inst = &c->f->insts[maker];
        if (inst->guard >= 0 || inst->count != 2)
            return false;
        operand = operand_of(c, maker, 1);
        if ((ptx_is(inst, "ld.param") && c->f->is_kernel) || ptx_is(inst, "ld.const"))
            return operand->kind == PTX_OP_MEMORY && operand->count == 1 &&
                   c->f->operands[operand->first].kind == PTX_OP_SYMBOL;
        if (!ptx_is(inst, "mov") && !ptx_is(inst, "neg"))
            return false;
    }
    return operand->kind == PTX_OP_FLOAT || operand->kind == PTX_OP_INTEGER;
}

/* Whether a product's factors are still what they were. */
static bool is_intact(const struct contract *c, uint32_t product)
{
    for (uint32_t i = 1; i <= 2; i++) {
        const struct ptx_operand *factor = operand_of(c, product, i);
        if (factor->kind == PTX_OP_REGISTER && c->values[factor->index].written > product)
            return false;
    }
    return true;
}

static void see_sum(struct contract *c, struct item *sum)
{
    const char *opcode = c->f->insts[c->inst].opcode;
    for (uint32_t i = 0; i < 2; i++) {
        const struct ptx_operand *source = operand_of(c, c->inst, i + 1);
        uint32_t at = source->kind == PTX_OP_REGISTER ? c->values[source->index].product : 0;
        if (!at)
            continue;
        struct item *product = &c->items[at - 1];
        const char *of = c->f->insts[at - 1].opcode;
        bool fits = (product->anywhere || (product->end == sum->end && is_intact(c, at - 1))) &&
                    at != sum->from[0] && !strcmp(strrchr(of, '.'), strrchr(opcode, '.')) &&
                    !strstr(of, ".ftz") == !strstr(opcode, ".ftz");
        product->whole |= !fits;
        product->uses += fits;
        sum->from[i] = fits ? at : 0;
    }
}

static void see_register(void *context, uint32_t index, bool written)
{
    struct contract *c = context;
    const struct ptx_inst *inst = &c->f->insts[c->inst];
    struct value *value = &c->values[index];
    struct item *product = value->product ? &c->items[value->product - 1] : NULL;
    if (!written) {
        if (product && !c->items[c->inst].is_sum)
            product->whole = true;
        return;
    }
    if (product) {
        product->whole |= inst->guard >= 0;
        product->closed = product->end == c->items[c->inst].end;
    }
    value->product = is_product(inst) ? c->inst + 1 : 0;
    value->written = c->inst + 1;
}

static void see_all(struct contract *c)
{
    for (c->inst = 0; c->inst < c->f->inst_count; c->inst++)
        ptx_each_register(c->f, &c->f->insts[c->inst], see_writes, c);
    for (c->inst = 0; c->inst < c->f->inst_count; c->inst++) {
        const struct ptx_inst *inst = &c->f->insts[c->inst];
        struct item *item = &c->items[c->inst];
        const struct ptx_operand *operands = &c->f->operands[inst->first];
        if (is_product(inst))
            item->anywhere = is_fixed(c, &operands[0]) && is_fixed(c, &operands[1]) &&
                             is_fixed(c, &operands[2]) &&
                             (is_constant(c, &operands[1]) || is_constant(c, &operands[2]));
        item->is_sum = is_sum(inst);
        if (item->is_sum)
            see_sum(c, item);
        ptx_each_register(c->f, inst, see_register, c);
    }
    for (uint32_t i = 0; i < c->f->inst_count; i++) { /* those that are read behind the stretch */
        struct item *item = &c->items[i];
        if (item->uses && !item->anywhere && !item->closed)
            item->whole |= c->flow->spans[operand_of(c, i, 0)->index].to >= item->end;
    }
}

static void take_product(struct contract *c, uint32_t sum, uint32_t which)
{
    const uint32_t *from = c->items[sum].from;
    if (from[1 - which])
        c->items[from[1 - which] - 1].whole = true;
    c->taken[sum] = (struct ptx_taken){from[which], which == 1};
}

/* Among products that at most so many sums read. */
static void choose(struct contract *c, uint32_t most)
{
    for (uint32_t i = 0; i < c->f->inst_count; i++) {
        uint32_t uses[2];
        for (uint32_t which = 0; which < 2; which++) {
            uint32_t product = c->items[i].from[which];
            bool can = product && !c->items[product - 1].whole && c->items[product - 1].uses <= most;
            uses[which] = can ? c->items[product - 1].uses : UINT32_MAX;
        }
        uint32_t which = uses[1] < uses[0];
        if (uses[which] < UINT32_MAX && !c->taken[i].product)
            take_product(c, i, which);
    }
}

void ptxas_contract(const struct ptx_function *f, const struct flow *flow, struct ptx_taken *taken)
{
    struct contract c = {.f = f, .flow = flow, .taken = taken};
    c.items = mem_alloc(f->inst_count + 1, sizeof *c.items);
    c.values = mem_alloc(f->register_count + 1, sizeof *c.values);
    find_stretches(&c);
    see_all(&c);
    choose(&c, 1);
    choose(&c, UINT32_MAX);
    mem_free(c.items);
    mem_free(c.values);
}
