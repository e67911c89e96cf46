/* Dependences between instructions: by registers, by memory, by other lanes, and to preserve contraction. */
#include "ptxas/schedule_parts.h"
#include "base/mem.h"

#include <string.h>

static void add_edge(struct schedule *s, uint32_t from, uint32_t to, uint32_t latency)
{
    if (from == to)
        return;
    mem_grow(s->edges, s->edge_count, s->edge_capacity);
    s->edges[s->edge_count++] = (struct edge){to, s->nodes[from].first, latency};
    s->nodes[from].first = s->edge_count;
    s->nodes[to].waits++;
}

static struct track *track_of(struct schedule *s, uint32_t index)
{
    struct track *track = &s->tracks[index];
    if (track->region != s->region)
        *track = (struct track){.region = s->region};
    return track;
}

static void read_register(struct schedule *s, uint32_t index)
{
    struct track *track = track_of(s, index);
    if (track->writer)
        add_edge(s, track->writer - 1, s->node, s->nodes[track->writer - 1].latency);
    mem_grow(s->links, s->link_count, s->link_capacity);
    s->links[s->link_count++] = (struct link){s->node, track->reader};
    track->reader = s->link_count;
}

static void write_register(struct schedule *s, uint32_t index)
{
    struct track *track = track_of(s, index);
    for (uint32_t link = track->reader; link; link = s->links[link - 1].next)
        add_edge(s, s->links[link - 1].node, s->node, 0);
    if (track->writer)
        add_edge(s, track->writer - 1, s->node, 1);
    track->reader = 0;
    track->writer = s->node + 1;
}

static void see_register(void *context, uint32_t index, bool written)
{
    struct schedule *s = context;
    if (!written) {
        read_register(s, index);
        return;
    }
    if (s->f->insts[s->inst].guard >= 0)
        read_register(s, index); /* what was there shows where the guard does not hold */
    write_register(s, index);
}

/* Memory */

/* [register + offset], seen through sums with numbers. */
static void find_base(struct schedule *s, const struct ptx_operand *operand, struct schedule_access *access)
{
    for (int hops = 0; hops < 8 && operand->kind == PTX_OP_REGISTER; hops++) {
        uint32_t maker = values_maker(&s->plan.values, operand);
        if (maker == VALUES_NONE)
            break;
        const struct opcode *opcode = values_opcode(&s->plan.values, maker);
        const struct ptx_operand *a = values_operand(&s->plan.values, maker, 1);
        const struct ptx_operand *b = values_operand(&s->plan.values, maker, 2);
        bool adds = opcode->kind == KIND_ADD || opcode->kind == KIND_ADD64;
        bool renames = opcode->kind == KIND_MOVE || opcode->kind == KIND_RENAME;
        if (adds && a->kind == PTX_OP_REGISTER && b->kind == PTX_OP_INTEGER &&
            values_maker(&s->plan.values, a) != VALUES_NONE)
            access->offset += opcode->kind == KIND_ADD ? (int32_t)b->value : (int64_t)b->value, operand = a;
        else if (renames && !strncmp(opcode->text, "mov", 3) && a->kind == PTX_OP_SYMBOL)
            access->offset += (int64_t)a->value, operand = a;
        else if (renames && !strncmp(opcode->text, "cvta", 4) && a->kind == PTX_OP_REGISTER)
            operand = a;
        else
            break;
    }
    if (operand->kind == PTX_OP_REGISTER) {
        access->is_known = true;
        access->base = operand->index;
        access->version = track_of(s, operand->index)->writer;
    } else if (operand->kind == PTX_OP_SYMBOL) {
        access->is_known = access->is_symbol = true;
        access->base = operand->index;
    }
}

static struct schedule_access access_of(struct schedule *s)
{
    const struct ptx_inst *inst = &s->f->insts[s->inst];
    const struct opcode *opcode = values_opcode(&s->plan.values, s->inst);
    struct schedule_access access = {.node = s->node,
                                     .space = opcode->space,
                                     .writes = opcode->effect == EFFECT_WRITE,
                                     .strict = opcode->strict,
                                     .wall = opcode->orders};
    access.bytes = opcode->bytes;
    if (!opcode->bytes || opcode->whole_warp)
        return access;
    for (uint32_t i = 0; i < inst->count && !access.is_known; i++) {
        const struct ptx_operand *operand = &s->f->operands[inst->first + i];
        if (operand->kind == PTX_OP_MEMORY && operand->count == 1) {
            access.offset = (int64_t)operand->value;
            find_base(s, &s->f->operands[operand->first], &access);
        }
    }
    return access;
}

/* Two variables that have a place of their own each. */
static bool are_apart(const struct schedule *s, uint32_t a, uint32_t b)
{
    const struct ptx_symbol *x = &s->f->symbols[a], *y = &s->f->symbols[b];
    if (x->kind != PTX_SYM_VARIABLE || y->kind != PTX_SYM_VARIABLE)
        return false;
    return x->index != y->index && s->f->variables[x->index].bytes && s->f->variables[y->index].bytes;
}

static bool may_meet(const struct schedule *s, const struct schedule_access *a,
                     const struct schedule_access *b)
{
    bool same_space = a->space == b->space || a->space == PTX_GENERIC || b->space == PTX_GENERIC;
    if (a->wall || b->wall)
        return true;
    if (!same_space || (!a->writes && !b->writes && !(a->strict && b->strict)))
        return false;
    if (a->strict || b->strict || !a->is_known || !b->is_known || a->space != b->space)
        return true;
    if (a->is_symbol != b->is_symbol)
        return true;
    if (a->base != b->base)
        return !(a->is_symbol && are_apart(s, a->base, b->base));
    if (a->version != b->version)
        return true;
    return a->offset < b->offset + (int64_t)b->bytes && b->offset < a->offset + (int64_t)a->bytes;
}

static void order_memory(struct schedule *s)
{
    const struct opcode *opcode = values_opcode(&s->plan.values, s->inst);
    if (opcode->constant_space || (opcode->kind == KIND_PARAM && s->f->is_kernel))
        return;
    struct schedule_access access = access_of(s);
    if (s->access_count == MEMORY_MOST) { /* too many to compare: nothing passes this one */
        access.wall = true;
        for (uint32_t i = 0; i < s->access_count; i++)
            add_edge(s, s->accesses[i].node, s->node, 0);
        s->access_count = 0;
    }
    for (uint32_t i = 0; i < s->access_count; i++)
        if (may_meet(s, &s->accesses[i], &access))
            add_edge(s, s->accesses[i].node, s->node, s->accesses[i].writes && !access.writes ? 20 : 1);
    s->accesses[s->access_count++] = access;
}

/* Contraction (contract.c) looks at the order of products and sums, and at what stands between. */

struct products {
    struct schedule *s;
    uint32_t *held; /* by register: the product in it, plus 1 */
};

static void see_product(void *context, uint32_t index, bool written)
{
    struct products *products = context;
    struct schedule *s = products->s;
    if (!written)
        return;
    bool product = values_opcode(&s->plan.values, s->inst)->product;
    products->held[index] = product ? s->inst + 1 : 0;
    s->product_register[index] |= product;
}

void schedule_contraction(struct schedule *s)
{
    const struct ptx_function *f = s->f;
    struct products products = {.s = s, .held = mem_alloc(f->register_count + 1, sizeof *products.held)};
    for (s->inst = 0; s->inst < f->inst_count; s->inst++) {
        for (uint32_t k = 0; k < 2 && values_opcode(&s->plan.values, s->inst)->sum; k++) {
            const struct ptx_operand *operand = values_operand(&s->plan.values, s->inst, k + 1);
            uint32_t product = operand->kind == PTX_OP_REGISTER ? products.held[operand->index] : 0;
            s->sums[s->inst].from[k] = product;
            if (product)
                s->uses[product - 1]++;
        }
        ptx_each_register(f, &f->insts[s->inst], see_product, &products);
    }
    mem_free(products.held);
}

static void see_pinned(void *context, uint32_t index, bool written)
{
    bool *pinned = context;
    (void)index;
    *pinned |= written;
}

static bool writes_product_register(const struct schedule *s)
{
    const struct ptx_operand *result = values_operand(&s->plan.values, s->inst, 0);
    bool writes = false;
    if (result->kind == PTX_OP_REGISTER)
        return s->product_register[result->index];
    if (result->kind == PTX_OP_VECTOR || result->kind == PTX_OP_PAIR)
        ptx_each_register(s->f, &s->f->insts[s->inst], see_pinned, &writes);
    return writes;
}

static bool ends_stretch(const struct schedule *s)
{
    const struct opcode *opcode = values_opcode(&s->plan.values, s->inst);
    return opcode->splits ||
           (s->f->insts[s->inst].guard >= 0 && (opcode->effect != EFFECT_NONE || opcode->carry));
}

/* Products and sums stay on their side of what ends a stretch. Several ends with none of them in between may
 * change places: only groups of ends and groups of products and sums are kept in order. */
static void keep_side(struct schedule *s, bool ends)
{
    struct group *own = ends ? &s->ends : &s->pinned, *other = ends ? &s->pinned : &s->ends;
    if (s->last_ends != ends) /* a new group of its kind */
        own->count = 0;
    s->last_ends = ends;
    for (uint32_t i = 0; i < other->count; i++)
        add_edge(s, other->nodes[i], s->node, 0);
    own->nodes[own->count++] = s->node;
}

static void order_contraction(struct schedule *s)
{
    const struct opcode *opcode = values_opcode(&s->plan.values, s->inst);
    if (ends_stretch(s)) {
        keep_side(s, true);
        return;
    }
    if (opcode->product || opcode->sum || writes_product_register(s))
        keep_side(s, false);
    if (!opcode->sum)
        return;
    bool shared = false;
    for (uint32_t k = 0; k < 2; k++) {
        uint32_t product = s->sums[s->inst].from[k];
        if (!product)
            continue;
        shared |= s->uses[product - 1] > 1;
        for (uint32_t i = 1; i <= 2; i++) { /* it would read the factors, as they are here */
            const struct ptx_operand *factor = values_operand(&s->plan.values, product - 1, i);
            if (factor->kind == PTX_OP_REGISTER)
                read_register(s, factor->index);
        }
    }
    if (shared) {
        if (s->shared_sum)
            add_edge(s, s->shared_sum - 1, s->node, 0);
        s->shared_sum = s->node + 1;
    }
}

bool schedule_is_wall(const struct schedule *s, uint32_t inst)
{
    const struct opcode *opcode = values_opcode(&s->plan.values, inst);
    if (opcode->effect == EFFECT_ALL || opcode->splits)
        return true;
    const struct ptx_operand *source = values_operand(&s->plan.values, inst, 1);
    return opcode->kind == KIND_MOVE && source->kind == PTX_OP_SPECIAL &&
           source->index >= PTX_SPECIAL_clock && source->index <= PTX_SPECIAL_globaltimer_hi;
}

void schedule_edges(struct schedule *s)
{
    s->edge_count = s->link_count = s->access_count = s->pinned.count = s->ends.count = 0;
    s->lanes = s->shared_sum = 0;
    s->last_ends = false;
    for (s->node = 0; s->node < s->count; s->node++) {
        s->inst = s->nodes[s->node].inst;
        const struct opcode *opcode = values_opcode(&s->plan.values, s->inst);
        if (opcode->effect == EFFECT_READ || opcode->effect == EFFECT_WRITE)
            order_memory(s); /* before its own result is written */
        order_contraction(s);
        if (opcode->carry) {
            read_register(s, s->f->register_count);
            write_register(s, s->f->register_count);
        }
        ptx_each_register(s->f, &s->f->insts[s->inst], see_register, s);
        if (opcode->effect == EFFECT_LANES) {
            if (s->lanes)
                add_edge(s, s->lanes - 1, s->node, 0);
            s->lanes = s->node + 1;
        }
    }
}
