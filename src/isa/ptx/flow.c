#include "ptx/flow.h"
#include "base/mem.h"

#include <string.h>

/* Instructions that write none of their operands. */
static const char *const write_nothing[] = {
    "st",
    "red",
    "bra",
    "brx",
    "membar",
    "fence",
    "ret",
    "exit",
    "trap",
    "brkpt",
    "sust",
    "sured",
    "prefetch",
    "prefetchu",
    "cp",
    "tensormap",
    "barrier.cluster",
    "mbarrier.init",
    "mbarrier.inval",
    "mbarrier.expect_tx",
    "mbarrier.complete_tx",
    "nanosleep",
    "pmevent",
    "discard",
    "applypriority",
    "wmma.store",
    "stmatrix",
    "setmaxnreg",
    "griddepcontrol",
    "wgmma.fence",
    "wgmma.commit_group",
    "wgmma.wait_group",
    "stackrestore",
    "tensormap",
    "bar",
    "barrier",
    "multimem.st",
    "multimem.red",
};

static bool has_prefix(const char *opcode, const char *prefix)
{
    if (*opcode != *prefix || opcode[1] != prefix[1]) /* mostly */
        return false;
    size_t length = strlen(prefix);
    return !strncmp(opcode, prefix, length) && (opcode[length] == '.' || !opcode[length]);
}

bool ptx_is(const struct ptx_inst *inst, const char *base)
{
    return has_prefix(inst->opcode, base);
}

uint32_t ptx_written_operands(const struct ptx_function *function, const struct ptx_inst *inst)
{
    if (!inst->count)
        return 0;
    if (ptx_is(inst, "call"))
        return function->operands[inst->first].kind == PTX_OP_LIST && inst->count > 1;
    if ((ptx_is(inst, "bar") || ptx_is(inst, "barrier")) && strstr(inst->opcode, ".red."))
        return 1;
    if (ptx_is(inst, "mbarrier") && function->operands[inst->first].kind == PTX_OP_MEMORY)
        return 0;
    for (size_t i = 0; i < sizeof write_nothing / sizeof *write_nothing; i++)
        if (ptx_is(inst, write_nothing[i]))
            return 0;
    return 1;
}

struct register_walk {
    const struct ptx_function *function;
    ptx_register_fn *see;
    void *context;
    bool writes; /* which are seen now */
};

static void see_operand(const struct register_walk *walk, const struct ptx_operand *operand, bool written)
{
    if (operand->kind == PTX_OP_REGISTER) {
        if (written == walk->writes)
            walk->see(walk->context, operand->index, written);
        return;
    }
    if (operand->kind == PTX_OP_MEMORY)
        written = false;
    if (operand->kind >= PTX_OP_MEMORY && operand->kind <= PTX_OP_PAIR)
        for (uint32_t i = 0; i < operand->count; i++)
            see_operand(walk, &walk->function->operands[operand->first + i], written);
}

void ptx_each_register(const struct ptx_function *function, const struct ptx_inst *inst, ptx_register_fn *see,
                       void *context)
{
    struct register_walk walk = {function, see, context, false};
    bool adds = ptx_is(inst, "wgmma.mma_async"); /* to what it writes */
    if (inst->guard >= 0)
        see(context, (uint32_t)inst->guard, false);
    uint32_t written = ptx_written_operands(function, inst);
    for (uint32_t i = 0; i < inst->count; i++)
        see_operand(&walk, &function->operands[inst->first + i], i < written && !adds);
    walk.writes = true;
    for (uint32_t i = 0; i < written; i++)
        see_operand(&walk, &function->operands[inst->first + i], true);
}

const struct ptx_operand *ptx_branch_targets(const struct ptx_function *f, const struct ptx_inst *inst,
                                             uint32_t *count)
{
    const struct ptx_operand *last = inst->count ? &f->operands[inst->first + inst->count - 1] : NULL;
    *count = 0;
    if (!last || last->kind != PTX_OP_SYMBOL || f->symbols[last->index].kind != PTX_SYM_TABLE)
        return NULL;
    const struct ptx_branch_table *table = &f->tables[f->symbols[last->index].index];
    *count = table->count;
    return &f->operands[table->first];
}

/* Blocks and edges */

static bool ends_block(const struct ptx_inst *inst)
{
    return ptx_is(inst, "bra") || ptx_is(inst, "brx") || ptx_is(inst, "ret") || ptx_is(inst, "exit") ||
           ptx_is(inst, "trap");
}

static void add_edge(struct flow *flow, struct flow_block *block, uint32_t to)
{
    mem_grow(flow->edges, flow->edge_count, flow->edge_capacity);
    flow->edges[flow->edge_count++] = to;
    block->next_count++;
}

static void find_blocks(struct flow *flow, const struct ptx_function *f)
{
    uint8_t *leads = mem_alloc(f->inst_count + 1, 1);
    leads[0] = 1;
    for (uint32_t i = 0; i < f->label_count; i++)
        leads[f->labels[i].inst] = 1;
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (ends_block(&f->insts[i]))
            leads[i + 1] = 1;
    for (uint32_t i = 0; i < f->inst_count; i++)
        flow->block_count += leads[i];
    flow->blocks = mem_alloc(flow->block_count + 1, sizeof *flow->blocks);
    flow->block_of = mem_alloc(f->inst_count + 1, sizeof *flow->block_of);
    uint32_t block = UINT32_MAX;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        if (leads[i])
            flow->blocks[++block].first = i;
        flow->blocks[block].count++;
        flow->block_of[i] = block;
    }
    flow->block_of[f->inst_count] = flow->block_count; /* a label at the very end is the end */
    mem_free(leads);
}

static void find_edges(struct flow *flow, const struct ptx_function *f)
{
    for (uint32_t b = 0; b < flow->block_count; b++) {
        struct flow_block *block = &flow->blocks[b];
        const struct ptx_inst *last = &f->insts[block->first + block->count - 1];
        block->next = flow->edge_count;
        bool falls = last->guard >= 0 || !ends_block(last);
        if (ptx_is(last, "bra") && last->count) {
            const struct ptx_operand *target = &f->operands[last->first];
            if (target->kind == PTX_OP_LABEL)
                add_edge(flow, block, flow->block_of[f->labels[target->index].inst]);
        } else if (ptx_is(last, "brx")) {
            uint32_t count;
            const struct ptx_operand *targets = ptx_branch_targets(f, last, &count);
            for (uint32_t i = 0; i < count; i++)
                if (targets[i].kind == PTX_OP_LABEL)
                    add_edge(flow, block, flow->block_of[f->labels[targets[i].index].inst]);
        } else if (ptx_is(last, "ret")) { /* threads that end or trap never meet others again: no edge */
            add_edge(flow, block, flow->block_count);
        }
        if (falls)
            add_edge(flow, block, b + 1);
    }
}

/* Post-dominators: dominators of the graph turned around, from the exit (block number block_count). The
 * method of Cooper, Harvey and Kennedy. */

struct reversed {
    uint32_t *order, *number; /* blocks in postorder of the reversed graph, and the place of each in it */
    uint32_t count;
    uint32_t *from, *first; /* predecessors, grouped by block */
};

static void reverse_graph(const struct flow *flow, struct reversed *r)
{
    uint32_t n = flow->block_count + 1;
    r->first = mem_alloc(n + 1, sizeof *r->first);
    r->from = mem_alloc(flow->edge_count + 1, sizeof *r->from);
    for (uint32_t i = 0; i < flow->edge_count; i++)
        r->first[flow->edges[i] + 1]++;
    for (uint32_t i = 0; i < n; i++)
        r->first[i + 1] += r->first[i];
    uint32_t *at = mem_alloc(n, sizeof *at);
    memcpy(at, r->first, n * sizeof *at);
    for (uint32_t b = 0; b < flow->block_count; b++)
        for (uint32_t e = 0; e < flow->blocks[b].next_count; e++)
            r->from[at[flow->edges[flow->blocks[b].next + e]]++] = b;
    mem_free(at);
}

static void number_postorder(const struct flow *flow, struct reversed *r)
{
    uint32_t n = flow->block_count + 1;
    r->order = mem_alloc(n, sizeof *r->order);
    r->number = mem_alloc(n, sizeof *r->number);
    memset(r->number, 0xff, n * sizeof *r->number);
    uint32_t *stack = mem_alloc(n, sizeof *stack), *edge = mem_alloc(n, sizeof *edge), depth = 0;
    uint8_t *seen = mem_alloc(n, 1);
    stack[depth++] = flow->block_count;
    seen[flow->block_count] = 1;
    while (depth) {
        uint32_t b = stack[depth - 1];
        if (r->first[b] + edge[b] < r->first[b + 1]) {
            uint32_t p = r->from[r->first[b] + edge[b]++];
            if (!seen[p])
                seen[p] = 1, stack[depth++] = p;
        } else {
            r->number[b] = r->count;
            r->order[r->count++] = b;
            depth--;
        }
    }
    mem_free(stack);
    mem_free(edge);
    mem_free(seen);
}

static uint32_t meet(const struct reversed *r, const uint32_t *above, uint32_t a, uint32_t b)
{
    while (a != b) {
        while (r->number[a] < r->number[b])
            a = above[a];
        while (r->number[b] < r->number[a])
            b = above[b];
    }
    return a;
}

static void find_joins(struct flow *flow)
{
    uint32_t n = flow->block_count + 1, end = flow->block_count;
    struct reversed r = {0};
    reverse_graph(flow, &r);
    number_postorder(flow, &r);
    uint32_t *above = mem_alloc(n, sizeof *above);
    memset(above, 0xff, n * sizeof *above);
    above[end] = end;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t i = r.count; i-- > 0;) {
            uint32_t b = r.order[i], best = UINT32_MAX;
            if (b == end)
                continue;
            for (uint32_t e = 0; e < flow->blocks[b].next_count; e++) {
                uint32_t s = flow->edges[flow->blocks[b].next + e];
                if (above[s] == UINT32_MAX)
                    continue;
                best = best == UINT32_MAX ? s : meet(&r, above, best, s);
            }
            if (best != above[b])
                above[b] = best, changed = true;
        }
    }
    for (uint32_t b = 0; b < flow->block_count; b++) /* a block that never reaches the end has no join */
        flow->blocks[b].join = above[b] == UINT32_MAX || above[b] == end ? FLOW_NONE : (int32_t)above[b];
    mem_free(above);
    mem_free(r.order);
    mem_free(r.number);
    mem_free(r.from);
    mem_free(r.first);
}

/* Lifetimes. Most registers live in one block alone; bit sets are kept only for the others. */

struct lives {
    struct flow *flow;
    const struct ptx_function *f;
    uint32_t *home;                     /* by register: the block it is in, or SHARED */
    uint32_t *bit;                      /* its bit, when in several */
    uint32_t words;                     /* of a set */
    uint64_t *in, *out, *killed, *read; /* by block */
    uint32_t block, inst;
};
#define NOWHERE UINT32_MAX
#define SHARED  (UINT32_MAX - 1)

static void see_home(void *context, uint32_t index, bool written)
{
    struct lives *l = context;
    (void)written;
    if (l->home[index] == NOWHERE)
        l->home[index] = l->block;
    else if (l->home[index] != l->block)
        l->home[index] = SHARED;
}

static bool set_has(const uint64_t *set, uint32_t bit)
{
    return set[bit / 64] >> bit % 64 & 1;
}

static void set_add(uint64_t *set, uint32_t bit)
{
    set[bit / 64] |= UINT64_C(1) << bit % 64;
}

static void see_use(void *context, uint32_t index, bool written)
{
    struct lives *l = context;
    const struct ptx_inst *inst = &l->f->insts[l->inst];
    if (l->home[index] != SHARED)
        return;
    uint64_t *killed = l->killed + (size_t)l->block * l->words, *read = l->read + (size_t)l->block * l->words;
    if (!written) {
        if (!set_has(killed, l->bit[index]))
            set_add(read, l->bit[index]);
    } else if (inst->guard < 0) {
        set_add(killed, l->bit[index]);
    }
}

static void extend(struct flow_span *span, uint32_t from, uint32_t to)
{
    if (!span->used)
        *span = (struct flow_span){.from = from, .to = to, .used = true, .at_entry = span->at_entry};
    if (from < span->from)
        span->from = from;
    if (to > span->to)
        span->to = to;
}

static void see_span(void *context, uint32_t index, bool written)
{
    struct lives *l = context;
    struct flow_span *span = &l->flow->spans[index];
    /* in one block alone: read before any write, or written only under a guard, it starts undefined */
    if (l->home[index] != SHARED && !span->used && (!written || l->f->insts[l->inst].guard >= 0))
        span->at_entry = true;
    extend(span, l->inst, l->inst);
    span->writes += written;
}

static void spread(struct lives *l)
{
    struct flow *flow = l->flow;
    for (bool changed = true; changed;) {
        changed = false;
        for (uint32_t b = flow->block_count; b-- > 0;) {
            uint64_t *in = l->in + (size_t)b * l->words, *out = l->out + (size_t)b * l->words;
            for (uint32_t e = 0; e < flow->blocks[b].next_count; e++) {
                uint32_t s = flow->edges[flow->blocks[b].next + e];
                if (s == flow->block_count)
                    continue;
                for (uint32_t w = 0; w < l->words; w++)
                    out[w] |= l->in[(size_t)s * l->words + w];
            }
            for (uint32_t w = 0; w < l->words; w++) {
                size_t at = (size_t)b * l->words + w;
                uint64_t now = l->read[at] | (out[w] & ~l->killed[at]);
                changed |= now != in[w];
                in[w] = now;
            }
        }
    }
}

/* A register of one block that is read there before it is written keeps its value around a loop, so it is
 * live all over the block; its neighbours need not know, as they do not touch it: but its slot must not be
 * given away outside the block either. Such registers are rare: treat them as live everywhere. */
static void close_spans(struct lives *l)
{
    struct flow *flow = l->flow;
    for (uint32_t r = 0; r < l->f->register_count; r++) {
        struct flow_span *span = &flow->spans[r];
        if (!span->used)
            continue;
        if (l->home[r] != SHARED) {
            if (span->at_entry)
                extend(span, 0, l->f->inst_count);
            continue;
        }
        for (uint32_t b = 0; b < flow->block_count; b++) {
            const struct flow_block *block = &flow->blocks[b];
            if (set_has(l->in + (size_t)b * l->words, l->bit[r]))
                extend(span, block->first, block->first);
            if (set_has(l->out + (size_t)b * l->words, l->bit[r]))
                extend(span, block->first + block->count, block->first + block->count);
        }
        span->at_entry = flow->block_count && set_has(l->in, l->bit[r]);
    }
}

static void find_pressure(struct flow *flow, const struct ptx_function *f)
{
    int32_t *change = mem_alloc(f->inst_count + 2, sizeof *change);
    for (uint32_t r = 0; r < f->register_count; r++) {
        const struct flow_span *span = &flow->spans[r];
        if (!span->used || f->registers[r].type == PTX_pred)
            continue;
        int32_t words = (int32_t)(ptx_type_bytes(f->registers[r].type) + 3) / 4;
        change[span->from] += words;
        change[span->to] -= words; /* what is read last here can be written again here */
    }
    int32_t now = 0, most = 0;
    for (uint32_t i = 0; i <= f->inst_count; i++) {
        now += change[i];
        most = now > most ? now : most;
    }
    flow->pressure = (uint32_t)most;
    mem_free(change);
}

static void find_lives(struct flow *flow, const struct ptx_function *f)
{
    struct lives l = {.flow = flow, .f = f};
    flow->spans = mem_alloc(f->register_count + 1, sizeof *flow->spans);
    l.home = mem_alloc(f->register_count + 1, sizeof *l.home);
    l.bit = mem_alloc(f->register_count + 1, sizeof *l.bit);
    memset(l.home, 0xff, f->register_count * sizeof *l.home);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        l.block = flow->block_of[i];
        ptx_each_register(f, &f->insts[i], see_home, &l);
    }
    uint32_t bits = 0;
    for (uint32_t r = 0; r < f->register_count; r++)
        if (l.home[r] == SHARED)
            l.bit[r] = bits++;
    l.words = (bits + 63) / 64;
    size_t total = (size_t)l.words * flow->block_count + 1;
    uint64_t *sets = mem_alloc(4 * total, sizeof *sets);
    l.in = sets, l.out = sets + total, l.killed = sets + 2 * total, l.read = sets + 3 * total;
    for (uint32_t i = 0; i < f->inst_count; i++) {
        l.block = flow->block_of[i], l.inst = i;
        ptx_each_register(f, &f->insts[i], see_use, &l);
    }
    spread(&l);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        l.block = flow->block_of[i], l.inst = i;
        ptx_each_register(f, &f->insts[i], see_span, &l);
    }
    close_spans(&l);
    find_pressure(flow, f);
    mem_free(sets);
    mem_free(l.home);
    mem_free(l.bit);
}

void flow_init(struct flow *flow, const struct ptx_function *function)
{
    *flow = (struct flow){0};
    find_blocks(flow, function);
    find_edges(flow, function);
    find_joins(flow);
    find_lives(flow, function);
}

void flow_fini(struct flow *flow)
{
    mem_free(flow->blocks);
    mem_free(flow->edges);
    mem_free(flow->block_of);
    mem_free(flow->spans);
    *flow = (struct flow){0};
}
