/* Instructions that are folded into others. A machine instruction has more operands than one of PTX: it adds
 * three integers, multiplies and adds, shifts and adds, does any logic of three operands, negates its
 * operands, adds a number to an address. Values that are the same for a whole block come from constant
 * memory. */
#include "ptxas/plan.h"
#include "base/mem.h"

#include <string.h>

struct fold {
    struct plan *plan;
    uint32_t *took; /* by instruction: how many others it already does */
    uint32_t shared_moves;
    uint8_t *symbol_seen; /* by symbol: its address is in a register */
    uint8_t *placed;      /* by instruction: its block was put behind another */
};

static const struct opcode *opcode_at(const struct fold *fold, uint32_t i)
{
    return values_opcode(&fold->plan->values, i);
}

static bool reads(const struct fold *fold, uint32_t inst, uint32_t operand, uint32_t index)
{
    const struct ptx_operand *at = values_operand(&fold->plan->values, inst, operand);
    return at->kind == PTX_OP_REGISTER && at->index == index;
}

/* The register that it alone writes, under a guard or not; or VALUES_NONE. */
static uint32_t result_of(const struct fold *fold, uint32_t i)
{
    const struct values *values = &fold->plan->values;
    const struct ptx_operand *result = values_operand(values, i, 0);
    if (result->kind != PTX_OP_REGISTER || !ptx_written_operands(values->f, &values->f->insts[i]))
        return VALUES_NONE;
    const struct value *value = &values->at[result->index];
    return value->writes == 1 && value->maker == i ? result->index : VALUES_NONE;
}

static bool same_guard(const struct fold *fold, uint32_t a, uint32_t b)
{
    const struct ptx_inst *insts = fold->plan->f->insts;
    return insts[a].guard == insts[b].guard && insts[a].guard_not == insts[b].guard_not;
}

typedef bool reader_fn(const struct fold *fold, uint32_t reader, uint32_t index);

/* Whether all living readers of an instruction's result take it as `fits` says. */
static bool all_readers(const struct fold *fold, uint32_t i, reader_fn *fits, uint32_t most)
{
    uint32_t index = result_of(fold, i), living = 0;
    bool guarded = fold->plan->f->insts[i].guard >= 0;
    if (index == VALUES_NONE)
        return false;
    const struct value *value = &fold->plan->values.at[index];
    for (uint32_t k = 0; k < value->count; k++) {
        uint32_t reader = fold->plan->values.readers[value->first + k];
        if (fold->plan->dead[reader])
            continue;
        if (!fits(fold, reader, index) || (guarded && !same_guard(fold, i, reader)))
            return false;
        living++;
    }
    return living && living <= most;
}

/* Folds it into all of its readers, each of which becomes `steps` (or stays as it is: NULL). */
static void fold_into_readers(struct fold *fold, uint32_t i, const char *steps)
{
    const struct value *value = &fold->plan->values.at[result_of(fold, i)];
    fold->plan->steps[i] = "";
    for (uint32_t k = 0; k < value->count; k++) {
        uint32_t reader = fold->plan->values.readers[value->first + k];
        fold->took[reader]++;
        if (steps && !fold->plan->dead[reader])
            fold->plan->steps[reader] = steps;
    }
}

/* One of the two that are added, not both. */
static bool is_added(const struct fold *fold, uint32_t reader, uint32_t index, enum opcode_kind kind)
{
    return opcode_at(fold, reader)->kind == kind && !fold->took[reader] &&
           reads(fold, reader, 1, index) != reads(fold, reader, 2, index);
}

static bool fits_add(const struct fold *fold, uint32_t reader, uint32_t index)
{
    return is_added(fold, reader, index, KIND_ADD);
}

static bool fits_sum(const struct fold *fold, uint32_t reader, uint32_t index)
{
    return is_added(fold, reader, index, KIND_ADD) || is_added(fold, reader, index, KIND_SUB);
}

static bool fits_add64(const struct fold *fold, uint32_t reader, uint32_t index)
{
    return is_added(fold, reader, index, KIND_ADD64);
}

static bool fits_widened(const struct fold *fold, uint32_t reader, uint32_t index)
{
    return opcode_at(fold, reader)->kind == KIND_SHL64 || is_added(fold, reader, index, KIND_ADD64);
}

static bool fits_minmax(const struct fold *fold, uint32_t reader, uint32_t index)
{
    return is_added(fold, reader, index, KIND_MINMAX);
}

static bool fits_logic(const struct fold *fold, uint32_t reader, uint32_t index)
{
    return is_added(fold, reader, index, KIND_LOGIC);
}

static bool fits_negation(const struct fold *fold, uint32_t reader, uint32_t index)
{
    uint8_t kind = opcode_at(fold, reader)->kind;
    (void)index;
    return kind == KIND_ADD || kind == KIND_SUB;
}

static bool fits_sign(const struct fold *fold, uint32_t reader, uint32_t index)
{
    const struct opcode *opcode = opcode_at(fold, reader);
    (void)index;
    return opcode->kind == KIND_FLOAT || opcode->kind == KIND_SIGN ||
           (opcode->kind == KIND_COMPARE && ptx_type_is_float(opcode->type));
}

static bool touches_memory(const struct opcode *opcode)
{
    return opcode->kind == KIND_LOAD || opcode->kind == KIND_STORE || opcode->kind == KIND_ATOMIC;
}

/* As an address alone. */
static bool fits_address(const struct fold *fold, uint32_t reader, uint32_t index)
{
    const struct plan *plan = fold->plan;
    const struct ptx_inst *inst = &plan->f->insts[reader];
    uint32_t uses = 0;
    if (!touches_memory(opcode_at(fold, reader)))
        return false;
    for (uint32_t i = 0; i < inst->count; i++) {
        const struct ptx_operand *operand = &plan->f->operands[inst->first + i];
        if (operand->kind == PTX_OP_REGISTER && operand->index == index)
            return false;
        if (operand->kind == PTX_OP_MEMORY && operand->count)
            uses += plan->f->operands[operand->first].kind == PTX_OP_REGISTER &&
                    plan->f->operands[operand->first].index == index;
        if (operand->kind == PTX_OP_VECTOR)
            for (uint32_t k = 0; k < operand->count; k++)
                if (plan->f->operands[operand->first + k].kind == PTX_OP_REGISTER &&
                    plan->f->operands[operand->first + k].index == index)
                    return false;
    }
    return uses;
}

/* Addresses of constants have 32 bits. */
static bool fits_constant(const struct fold *fold, uint32_t reader, uint32_t index)
{
    return opcode_at(fold, reader)->space == PTX_CONST && fits_address(fold, reader, index);
}

/* Offsets of addresses have 24 bits. */
static bool adds_offset(const struct fold *fold, uint32_t i)
{
    for (uint32_t k = 1; k <= 2; k++) {
        const struct ptx_operand *operand = values_operand(&fold->plan->values, i, k);
        int64_t value = (int64_t)operand->value;
        if (operand->kind == PTX_OP_INTEGER && value >= -(1 << 23) && value < 1 << 23)
            return true;
    }
    return false;
}

static bool shifts_by_literal(const struct fold *fold, uint32_t i)
{
    const struct ptx_operand *by = values_operand(&fold->plan->values, i, 2);
    return by->kind == PTX_OP_INTEGER && by->value < 32;
}

/* A conjunction of predicates is part of the comparison that one of them comes from. */
static void fold_predicates(struct fold *fold, uint32_t i)
{
    const struct values *values = &fold->plan->values;
    for (uint32_t k = 1; k <= 2; k++) {
        uint32_t maker = values_maker(values, values_operand(values, i, k));
        if (maker == VALUES_NONE || opcode_at(fold, maker)->kind != KIND_COMPARE || fold->took[maker] ||
            values->at[values_operand(values, i, k)->index].count != 1)
            continue;
        fold->took[maker] = 1;
        fold->plan->steps[i] = "";
        return;
    }
}

/* Whether a number must be in a register to be read there. */
static bool needs_register(const struct fold *fold, uint32_t reader, uint32_t index)
{
    const struct opcode *opcode = opcode_at(fold, reader);
    (void)index;
    return opcode->kind == KIND_STORE || opcode->kind == KIND_ATOMIC || opcode->kind == KIND_CALL;
}

static void plan_literal(struct fold *fold, uint32_t i, const struct ptx_operand *source)
{
    const struct values *values = &fold->plan->values;
    uint32_t index = values_result(values, i);
    if (index == VALUES_NONE) /* one of the values of a variable */
        return;
    fold->plan->steps[i] = "";
    for (uint32_t k = 0; source->value && k < values->at[index].count; k++)
        if (needs_register(fold, values->readers[values->at[index].first + k], index))
            fold->plan->steps[i] = "A";
}

static const char *special_steps(uint32_t special)
{
    switch (special) {
    case PTX_SPECIAL_ntid_x:
    case PTX_SPECIAL_ntid_y:
    case PTX_SPECIAL_ntid_z:
    case PTX_SPECIAL_nctaid_x:
    case PTX_SPECIAL_nctaid_y:
    case PTX_SPECIAL_nctaid_z:
        return "U"; /* in constant memory */
    case PTX_SPECIAL_ctaid_x:
    case PTX_SPECIAL_ctaid_y:
    case PTX_SPECIAL_ctaid_z:
        return "U";
    case PTX_SPECIAL_warp_size:
        return "";
    default:
        return "R";
    }
}

static enum ptx_space symbol_space(const struct plan *plan, const struct ptx_symbol *symbol)
{
    if (symbol->kind == PTX_SYM_VARIABLE)
        return plan->f->variables[symbol->index].space;
    /* of the module: shared memory is addressed by 32 bits, mostly; what is not known here is global */
    return symbol->kind == PTX_SYM_GLOBAL ? PTX_GLOBAL : PTX_PARAM;
}

/* The address of shared memory is put together from the block's number in its cluster, once. */
static void plan_symbol(struct fold *fold, uint32_t i, const struct ptx_operand *source)
{
    struct plan *plan = fold->plan;
    const struct ptx_symbol *symbol = &plan->f->symbols[source->index];
    enum ptx_space space = symbol_space(plan, symbol);
    const struct ptx_operand *result = values_operand(&plan->values, i, 0);
    bool is_32 =
        result->kind == PTX_OP_REGISTER && ptx_type_bytes(plan->f->registers[result->index].type) == 4;
    if (fold->symbol_seen[source->index]) {
        plan->steps[i] = "";
    } else if (space == PTX_SHARED || is_32) {
        plan->steps[i] = fold->shared_moves++ ? "UU" : "U UU";
    } else {
        plan->steps[i] = space == PTX_GLOBAL ? "K" : "A";
    }
    fold->symbol_seen[source->index] = 1;
}

static void plan_move(struct fold *fold, uint32_t i)
{
    struct plan *plan = fold->plan;
    const struct ptx_operand *result = values_operand(&plan->values, i, 0);
    const struct ptx_operand *source = values_operand(&plan->values, i, 1);
    switch (source->kind) {
    case PTX_OP_SPECIAL:
        plan->steps[i] = special_steps(source->index);
        break;
    case PTX_OP_SYMBOL:
        plan_symbol(fold, i, source);
        break;
    case PTX_OP_INTEGER:
    case PTX_OP_FLOAT:
        plan_literal(fold, i, source);
        break;
    case PTX_OP_VECTOR: /* pairs of 32 bits are side by side already, halves are not */
        plan->steps[i] = opcode_at(fold, i)->type == PTX_b64 ? "" : "A";
        break;
    case PTX_OP_REGISTER:
        /* a copy of what lives on in two places is one, others are names */
        if (values_result(&plan->values, i) != VALUES_NONE || result->kind == PTX_OP_VECTOR ||
            plan->values.at[source->index].count == 1)
            plan->steps[i] = "";
        break;
    default:
        break;
    }
}

bool plan_is_param(const struct plan *plan, uint32_t i)
{
    const struct ptx_operand *address = values_operand(&plan->values, i, 1);
    if (!plan->f->is_kernel || values_opcode(&plan->values, i)->kind != KIND_PARAM)
        return false;
    if (address->kind != PTX_OP_MEMORY || !address->count)
        return true;
    const struct ptx_operand *base = &plan->f->operands[address->first];
    return base->kind != PTX_OP_SYMBOL || plan->f->symbols[base->index].kind != PTX_SYM_VARIABLE;
}

/* Parameters of kernels are in constant memory, those of functions and results of calls in registers. */
static void plan_param(struct fold *fold, uint32_t i)
{
    struct plan *plan = fold->plan;
    if (!plan_is_param(plan, i))
        plan->steps[i] = "";
    else
        plan->steps[i] = opcode_at(fold, i)->bytes > 4 ? "K" : "U";
}

/* A product of two registers has its addend in registers, too: what is the same for the whole block, and so
 * in others, is added behind it. */
static void plan_wide_sum(struct fold *fold, uint32_t i)
{
    const struct values *values = &fold->plan->values;
    uint32_t maker = values_maker(values, values_operand(values, i, 3));
    if (maker != VALUES_NONE && opcode_at(fold, maker)->kind == KIND_PARAM &&
        values_operand(values, i, 1)->kind == PTX_OP_REGISTER &&
        values_operand(values, i, 2)->kind == PTX_OP_REGISTER)
        fold->plan->steps[i] = "Q/AA";
}

/* What a shift takes: without a mask of bits that are shifted out. */
static uint32_t shifted(const struct fold *fold, uint32_t i)
{
    const struct values *values = &fold->plan->values;
    const struct ptx_operand *from = values_operand(values, i, 1), *by = values_operand(values, i, 2);
    uint32_t maker = values_maker(values, from);
    if (maker != VALUES_NONE && opcode_at(fold, maker)->kind == KIND_LOGIC &&
        !strncmp(opcode_at(fold, maker)->text, "and", 3)) {
        const struct ptx_operand *mask = values_operand(values, maker, 2);
        if (mask->kind == PTX_OP_INTEGER && (uint32_t)mask->value == UINT32_MAX << by->value)
            from = values_operand(values, maker, 1);
    }
    return from->kind == PTX_OP_REGISTER ? from->index : VALUES_NONE;
}

static bool is_read_once(const struct fold *fold, uint32_t i)
{
    uint32_t index = result_of(fold, i);
    return index != VALUES_NONE && fold->plan->values.at[index].count == 1;
}

/* x << n | x >> 32 - n, of which the last turns it around (SHF) and the others are part. */
static bool fold_rotation(struct fold *fold, uint32_t i)
{
    const struct values *values = &fold->plan->values;
    uint32_t left = values_maker(values, values_operand(values, i, 1));
    uint32_t right = values_maker(values, values_operand(values, i, 2));
    if (left == VALUES_NONE || right == VALUES_NONE || left == right)
        return false;
    if (opcode_at(fold, left)->kind != KIND_SHL) {
        uint32_t other = left;
        left = right;
        right = other;
    }
    if (opcode_at(fold, left)->kind != KIND_SHL || strcmp(opcode_at(fold, right)->text, "shr.u32") != 0 ||
        !is_read_once(fold, left) || !is_read_once(fold, right) || !shifts_by_literal(fold, left) ||
        !shifts_by_literal(fold, right))
        return false;
    uint64_t all = values_operand(values, left, 2)->value + values_operand(values, right, 2)->value;
    uint32_t index = shifted(fold, left);
    if (all != 32 || index == VALUES_NONE || shifted(fold, right) != index)
        return false;
    uint32_t mask = values_maker(values, values_operand(values, right, 1));
    if (!reads(fold, right, 1, index) && mask != VALUES_NONE && is_read_once(fold, mask))
        fold->plan->steps[mask] = "";
    fold->plan->steps[left] = fold->plan->steps[right] = "";
    fold->took[i] = 2;
    return true;
}

static void fold_one(struct fold *fold, uint32_t i)
{
    struct plan *plan = fold->plan;
    const struct opcode *opcode = opcode_at(fold, i);
    switch (opcode->kind) {
    case KIND_MOVE:
        plan_move(fold, i);
        break;
    case KIND_PARAM:
        plan_param(fold, i);
        break;
    case KIND_WIDE:
        if (all_readers(fold, i, fits_add64, 8))
            fold_into_readers(fold, i, "Q");
        break;
    case KIND_WIDE_SUM:
        plan_wide_sum(fold, i);
        break;
    case KIND_SHL64:
        if (shifts_by_literal(fold, i) && all_readers(fold, i, fits_add64, 8))
            fold_into_readers(fold, i, STEPS_SUM_64);
        break;
    case KIND_SHL:
        if (shifts_by_literal(fold, i) && all_readers(fold, i, fits_add, 8))
            fold_into_readers(fold, i, NULL);
        break;
    case KIND_MUL:
        if (all_readers(fold, i, fits_add, 1))
            fold_into_readers(fold, i, "I");
        break;
    case KIND_ADD:
    case KIND_SUB:
        if (adds_offset(fold, i) && all_readers(fold, i, fits_address, 64))
            fold_into_readers(fold, i, NULL);
        else if (!fold->took[i] &&
                 (all_readers(fold, i, fits_sum, 1) || all_readers(fold, i, fits_minmax, 1)))
            fold_into_readers(fold, i, NULL);
        break;
    case KIND_ADD64:
        if (!strcmp(plan->steps[i], "Q") && all_readers(fold, i, fits_constant, 64))
            plan->steps[i] = "I";
        if (adds_offset(fold, i) && all_readers(fold, i, fits_address, 64))
            fold_into_readers(fold, i, NULL);
        break;
    case KIND_LOGIC:
        if (!fold->took[i] && !strcmp(opcode->text, "or.b32") && fold_rotation(fold, i))
            break;
        if (!fold->took[i] && all_readers(fold, i, fits_logic, 1))
            fold_into_readers(fold, i, NULL);
        break;
    case KIND_NOT:
        if (all_readers(fold, i, fits_logic, 8))
            plan->steps[i] = "";
        break;
    case KIND_NEGATE:
        if (all_readers(fold, i, fits_negation, 8))
            plan->steps[i] = "";
        break;
    case KIND_SIGN:
        if (all_readers(fold, i, fits_sign, 64))
            plan->steps[i] = "";
        break;
    case KIND_END:
        if (plan->f->is_kernel)
            plan->steps[i] = "B";
        break;
    case KIND_PREDICATES:
        fold_predicates(fold, i);
        break;
    default:
        if (!strncmp(opcode->text, "cvt.s64.s32", 11) && all_readers(fold, i, fits_widened, 8))
            plan->steps[i] = "";
        break;
    }
}

static bool never_goes_on(const struct plan *plan, uint32_t i)
{
    uint8_t kind = values_opcode(&plan->values, i)->kind;
    return plan->f->insts[i].guard < 0 && (kind == KIND_BRANCH || kind == KIND_END);
}

/* A branch to the instruction behind it is none; and blocks are put behind the first that goes to them for
 * sure, where no other stands. */
static void plan_branch(struct fold *fold, uint32_t i)
{
    struct plan *plan = fold->plan;
    const struct ptx_operand *target = values_operand(&plan->values, i, 0);
    if (target->kind != PTX_OP_LABEL)
        return;
    uint32_t to = plan->f->labels[target->index].inst;
    bool moves = to > i + 1 && to < plan->f->inst_count && plan->f->insts[i].guard < 0 &&
                 never_goes_on(plan, to - 1) && !fold->placed[to];
    if (moves)
        fold->placed[to] = 1;
    if (moves || to == i + 1)
        plan->steps[i] = "";
}

void plan_fold(struct plan *plan, const bool *absorbed)
{
    const struct ptx_function *f = plan->f;
    struct fold fold = {.plan = plan};
    fold.took = mem_alloc(f->inst_count + 1, sizeof *fold.took);
    fold.symbol_seen = mem_alloc(f->symbol_count + 1, 1);
    fold.placed = mem_alloc(f->inst_count + 1, 1);
    plan->steps = mem_alloc(f->inst_count + 1, sizeof *plan->steps);
    for (uint32_t i = 0; i < f->inst_count; i++)
        plan->steps[i] = plan->dead[i] || (absorbed && absorbed[i]) ? "" : opcode_at(&fold, i)->steps;
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (!plan->dead[i] && !(absorbed && absorbed[i]))
            fold_one(&fold, i);
    for (uint32_t i = 0; i < f->inst_count; i++)
        if (opcode_at(&fold, i)->kind == KIND_BRANCH)
            plan_branch(&fold, i);
    mem_free(fold.took);
    mem_free(fold.placed);
    mem_free(fold.symbol_seen);
}
