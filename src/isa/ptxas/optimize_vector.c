/* Adjacent loads from shared memory become one, as in ptxas: it knows where variables are, and so whether
 * addresses are aligned. Variables that it relies on become aligned here, too. */
#include "ptxas/optimize_parts.h"
#include "base/mem.h"

#include <string.h>

enum { ALIGNED_MOST = 4, GROUPS_MOST = 64, ROUNDS_MOST = 20 }; /* 16 bytes, as a power of two */

struct group {     /* loads from one address */
    uint32_t base; /* register, or symbol */
    bool is_symbol;
    const char *opcode;
    int64_t offset; /* of the first word of the four */
    uint32_t at[4]; /* instructions that load each word, plus 1 */
};

struct vector {
    struct pass *pass;
    uint8_t *aligned; /* by register: bits of its value that are zero for sure, from the lowest, up to four */
    struct group groups[GROUPS_MOST];
    uint32_t count;
    uint32_t *joined;     /* by instruction: how many words it loads now; 0: as before */
    uint32_t (*words)[4]; /* by instruction: the registers for them */
    bool *gone;           /* by instruction */
    bool changed;
};

static uint32_t zeros_of(uint64_t value)
{
    uint32_t zeros = value ? (uint32_t)__builtin_ctzll(value) : ALIGNED_MOST;
    return zeros < ALIGNED_MOST ? zeros : ALIGNED_MOST;
}

static bool is_shared(const struct pass *pass, uint32_t symbol)
{
    const struct ptx_symbol *name = &pass->f->symbols[symbol];
    if (name->kind == PTX_SYM_VARIABLE)
        return pass->f->variables[name->index].space == PTX_SHARED;
    return name->kind == PTX_SYM_GLOBAL && pass->module->variables[name->index].space == PTX_SHARED;
}

static uint32_t aligned_source(const struct vector *v, uint32_t inst, uint32_t i)
{
    const struct ptx_operand *operand = values_operand(&v->pass->plan.values, inst, i);
    switch (operand->kind) {
    case PTX_OP_REGISTER:
        return operand->negated ? 0 : v->aligned[operand->index];
    case PTX_OP_INTEGER:
        return zeros_of(operand->value);
    case PTX_OP_SYMBOL:
        return is_shared(v->pass, operand->index) ? zeros_of(operand->value) : 0;
    default:
        return 0;
    }
}

static uint32_t at_most(uint32_t a, uint32_t b)
{
    return a < b ? a : b;
}

static uint32_t aligned_result(const struct vector *v, uint32_t inst)
{
    const char *text = v->pass->f->insts[inst].opcode;
    const struct ptx_operand *second = values_operand(&v->pass->plan.values, inst, 2);
    uint32_t a = aligned_source(v, inst, 1), b = aligned_source(v, inst, 2), c = aligned_source(v, inst, 3);
    switch (values_opcode(&v->pass->plan.values, inst)->kind) {
    case KIND_MOVE:
        return a;
    case KIND_ADD:
    case KIND_SUB:
        return at_most(a, b);
    case KIND_MUL:
        return at_most(a + b, ALIGNED_MOST);
    case KIND_SHL:
        return second->kind == PTX_OP_INTEGER
                   ? at_most(a + (uint32_t)at_most((uint32_t)second->value, 32), ALIGNED_MOST)
                   : a;
    case KIND_LOGIC:
        return !strncmp(text, "and", 3) ? (a > b ? a : b) : at_most(a, b);
    default:
        if (!strcmp(text, "mad.lo.s32") || !strcmp(text, "mad.lo.u32"))
            return at_most(at_most(a + b, ALIGNED_MOST), c);
        return 0;
    }
}

/* From the best that could be, down to what all writers of a register agree on. */
static void find_alignment(struct vector *v)
{
    const struct ptx_function *f = v->pass->f;
    memset(v->aligned, ALIGNED_MOST, f->register_count);
    bool changed = true;
    for (int round = 0; changed && round < ROUNDS_MOST; round++) {
        changed = false;
        for (uint32_t i = 0; i < f->inst_count; i++) {
            const struct ptx_inst *inst = &f->insts[i];
            for (uint32_t k = 0; k < ptx_written_operands(f, inst); k++) {
                const struct ptx_operand *d = &f->operands[inst->first + k];
                uint32_t count =
                    d->kind == PTX_OP_REGISTER                                                     ? 1
                    : d->kind == PTX_OP_VECTOR || d->kind == PTX_OP_PAIR || d->kind == PTX_OP_LIST ? d->count
                                                                                                   : 0;
                for (uint32_t e = 0; e < count; e++) {
                    const struct ptx_operand *word =
                        d->kind == PTX_OP_REGISTER ? d : &f->operands[d->first + e];
                    uint32_t now = d->kind == PTX_OP_REGISTER ? aligned_result(v, i) : 0;
                    if (word->kind == PTX_OP_REGISTER && now < v->aligned[word->index]) {
                        v->aligned[word->index] = (uint8_t)now;
                        changed = true;
                    }
                }
            }
        }
    }
    if (changed)
        memset(v->aligned, 0, f->register_count);
}

/* Collecting */

static bool is_word_load(const struct vector *v, uint32_t i)
{
    const struct opcode *opcode = values_opcode(&v->pass->plan.values, i);
    const struct ptx_inst *inst = &v->pass->f->insts[i];
    static const char *const opcodes[] = {"ld.shared.f32", "ld.shared.u32", "ld.shared.s32", "ld.shared.b32"};
    if (opcode->kind != KIND_LOAD || inst->guard >= 0 || inst->count != 2 || v->pass->plan.dead[i])
        return false;
    for (size_t k = 0; k < sizeof opcodes / sizeof *opcodes; k++)
        if (!strcmp(inst->opcode, opcodes[k]))
            return values_result(&v->pass->plan.values, i) != VALUES_NONE;
    return false;
}

static const char *opcode_of(const char *word, uint32_t words)
{
    static const char *const opcodes[][3] = {
        {"ld.shared.f32", "ld.shared.v2.f32", "ld.shared.v4.f32"},
        {"ld.shared.u32", "ld.shared.v2.u32", "ld.shared.v4.u32"},
        {"ld.shared.s32", "ld.shared.v2.s32", "ld.shared.v4.s32"},
        {"ld.shared.b32", "ld.shared.v2.b32", "ld.shared.v4.b32"},
    };
    for (size_t k = 0; k < sizeof opcodes / sizeof *opcodes; k++)
        if (!strcmp(word, opcodes[k][0]))
            return opcodes[k][words / 2];
    BUG("no vector of %s", word);
}

/* Whether what it loads is read before it, in the round of a loop before: then it cannot be loaded earlier.
 */
static bool is_read_between(const struct vector *v, uint32_t leader, uint32_t load)
{
    const struct values *values = &v->pass->plan.values;
    const struct value *value = &values->at[values_result(values, load)];
    for (uint32_t k = 0; k < value->count; k++)
        if (values->readers[value->first + k] > leader && values->readers[value->first + k] <= load)
            return true;
    return false;
}

static void join(struct vector *v, const struct group *group, uint32_t first, uint32_t words)
{
    uint32_t leader = UINT32_MAX;
    for (uint32_t k = first; k < first + words; k++) {
        if (!group->at[k])
            return;
        leader = at_most(leader, group->at[k] - 1);
    }
    for (uint32_t k = first; k < first + words; k++)
        if (is_read_between(v, leader, group->at[k] - 1))
            return;
    for (uint32_t k = first; k < first + words; k++) {
        v->gone[group->at[k] - 1] = group->at[k] - 1 != leader;
        v->words[leader][k - first] = values_result(&v->pass->plan.values, group->at[k] - 1);
    }
    v->joined[leader] = words;
    v->changed = true;
}

static void close_groups(struct vector *v)
{
    for (uint32_t g = 0; g < v->count; g++) {
        const struct group *group = &v->groups[g];
        const uint32_t *at = group->at;
        if (at[0] && at[1] && at[2] && at[3]) {
            join(v, group, 0, 4);
        } else {
            join(v, group, 0, 2);
            join(v, group, 2, 2);
        }
    }
    v->count = 0;
}

static void see_load(struct vector *v, uint32_t i)
{
    const struct ptx_function *f = v->pass->f;
    const struct ptx_operand *address = &f->operands[f->insts[i].first + 1];
    if (address->kind != PTX_OP_MEMORY || address->count != 1)
        return;
    const struct ptx_operand *base = &f->operands[address->first];
    int64_t offset = (int64_t)address->value;
    bool is_symbol = base->kind == PTX_OP_SYMBOL;
    if (is_symbol ? !is_shared(v->pass, base->index)
                  : base->kind != PTX_OP_REGISTER || v->aligned[base->index] < ALIGNED_MOST)
        return;
    offset += is_symbol ? (int64_t)base->value : 0;
    if (offset & 3)
        return;
    int64_t first = offset & ~INT64_C(15);
    uint32_t word = (uint32_t)(offset - first) / 4, g = 0;
    while (g < v->count && !(v->groups[g].base == base->index && v->groups[g].is_symbol == is_symbol &&
                             v->groups[g].offset == first && v->groups[g].opcode == f->insts[i].opcode))
        g++;
    if (g == GROUPS_MOST)
        return;
    if (g == v->count)
        v->groups[v->count++] = (struct group){
            .base = base->index, .is_symbol = is_symbol, .offset = first, .opcode = f->insts[i].opcode};
    if (!v->groups[g].at[word])
        v->groups[g].at[word] = i + 1;
}

static void see_written(void *context, uint32_t index, bool written)
{
    struct vector *v = context;
    for (uint32_t g = 0; g < v->count && written; g++)
        if (!v->groups[g].is_symbol && v->groups[g].base == index) { /* from here on it is another address */
            close_groups(v);
            return;
        }
}

static void see_block(struct vector *v, const struct flow_block *block)
{
    for (uint32_t i = block->first; i < block->first + block->count; i++) {
        const struct opcode *opcode = values_opcode(&v->pass->plan.values, i);
        bool stores =
            opcode->effect == EFFECT_WRITE && (opcode->space == PTX_SHARED || opcode->space == PTX_GENERIC);
        if (stores || opcode->effect == EFFECT_ALL || opcode->splits || opcode->orders)
            close_groups(v);
        if (is_word_load(v, i))
            see_load(v, i);
        ptx_each_register(v->pass->f, &v->pass->f->insts[i], see_written, v);
    }
    close_groups(v);
}

/* Writing */

static void add_vector(struct vector *v, struct rewrite *rewrite, uint32_t i)
{
    const struct ptx_function *f = v->pass->f;
    const struct ptx_inst *inst = &f->insts[i];
    struct ptx_operand address = f->operands[inst->first + 1];
    uint32_t first = (uint32_t)rewrite->operands.count, words = v->joined[i], least = 0;
    for (uint32_t k = 0; k < words; k++)
        *list_push(rewrite->operands) = operand_register(v->words[i][k]);
    while (v->words[i][least] != values_result(&v->pass->plan.values, i))
        least++; /* which of the words it loaded itself */
    address.value -= 4 * least;
    rewrite_add(rewrite, opcode_of(inst->opcode, words), inst);
    rewrite_operand(rewrite,
                    (struct ptx_operand){.kind = PTX_OP_VECTOR, .part = -1, .first = first, .count = words});
    rewrite_operand(rewrite, address);
}

static void align_variables(struct vector *v)
{
    const struct ptx_function *f = v->pass->f;
    for (uint32_t s = 0; s < f->symbol_count; s++) {
        if (!is_shared(v->pass, s))
            continue;
        const struct ptx_symbol *symbol = &f->symbols[s];
        struct ptx_variable *variable = symbol->kind == PTX_SYM_VARIABLE
                                            ? &v->pass->f->variables[symbol->index]
                                            : &v->pass->module->variables[symbol->index];
        if (variable->alignment < 16)
            variable->alignment = 16;
    }
}

void optimize_vectors(struct ptx_module *module, struct ptx_function *f)
{
    struct pass pass;
    struct rewrite rewrite;
    struct vector v = {.pass = &pass};
    pass_init(&pass, module, f);
    v.aligned = mem_alloc(f->register_count + 1, sizeof *v.aligned);
    v.joined = mem_alloc(f->inst_count + 1, sizeof *v.joined);
    v.words = mem_alloc(f->inst_count + 1, sizeof *v.words);
    v.gone = mem_alloc(f->inst_count + 1, sizeof *v.gone);
    find_alignment(&v);
    for (uint32_t b = 0; b < pass.flow.block_count; b++)
        see_block(&v, &pass.flow.blocks[b]);
    if (v.changed) {
        align_variables(&v);
        rewrite_init(&rewrite, module, f);
        for (uint32_t i = 0; i < f->inst_count; i++) {
            if (!v.joined[i] && !v.gone[i])
                continue;
            rewrite_copy(&rewrite, i);
            rewrite_drop(&rewrite, i + 1); /* first: a label at the load is then one at the vector */
            if (v.joined[i])
                add_vector(&v, &rewrite, i);
        }
        rewrite_finish(&rewrite);
    }
    pass_fini(&pass);
    mem_free(v.aligned);
    mem_free(v.joined);
    mem_free(v.words);
    mem_free(v.gone);
}
