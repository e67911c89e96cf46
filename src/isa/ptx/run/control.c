/* Branches, calls, the end of threads. */
#include "ptx_run/builtin.h"
#include "ptx_run/lower.h"
#include "ptx_run/warp.h"
#include "base/bits.h"
#include "base/demangle.h"

#include <stdarg.h>
#include <string.h>

/* Branches */

enum lowered lower_branch(struct lower *lower, struct op *op)
{
    const struct ptx_operand *target = lower_operand(lower, 0);
    if (target->kind != PTX_OP_LABEL)
        return lower_fail(lower, "a label was expected");
    op->kind = OP_BRANCH;
    op->unit = UNIT_CONTROL;
    op->target = lower->function->labels[target->index].inst;
    return LOWERED;
}

struct targets {
    uint32_t count, ops[];
};

/* Threads go to different entries of a table: the first one's target is taken, the others stay for the next
 * round. */
static enum next run_indirect_branch(struct warp *w, const struct op *op, lanes active)
{
    const struct targets *targets = op->more;
    struct level *top = &w->now->levels[w->now->depth - 1];
    const uint32_t *index = warp_at(w, op->a);
    uint32_t chosen = index[first_lane(active)], here = top->pc;
    if (chosen >= targets->count)
        warp_fault(w, op, active, FAULT_INSTRUCTION, 0, "entry %u of a table of %u", chosen, targets->count);
    lanes same = 0;
    EACH_LANE (i, active)
        same |= (lanes)(index[i] == chosen) << i;
    w->isa.block->worker->result.branches++;
    if (same == top->mask) {
        top->pc = targets->ops[chosen];
        return NEXT_MOVED;
    }
    if (same != active)
        w->isa.block->worker->result.divergent_branches++;
    lanes rest = top->mask & ~same;
    bool guarded = (rest & active) != rest; /* those whose guard is false go on behind it */
    fragment_diverge(w, targets->ops[chosen], same, guarded && !(rest & active) ? here + 1 : here, rest,
                     op->join);
    return NEXT_MOVED;
}

enum lowered lower_indirect_branch(struct lower *lower, struct op *op)
{
    uint32_t count;
    const struct ptx_operand *labels = ptx_branch_targets(lower->function, lower->inst, &count);
    if (!labels)
        return lower_fail(lower, "its table of targets was not found");
    struct targets *targets = lower_own(lower, sizeof *targets + count * sizeof(uint32_t));
    targets->count = count;
    for (uint32_t i = 0; i < count; i++) {
        if (labels[i].kind != PTX_OP_LABEL)
            return lower_fail(lower, "its table holds something else than labels");
        targets->ops[i] = lower->function->labels[labels[i].index].inst;
    }
    if (!lower_source(lower, lower_operand(lower, 0), TYPE_u32, &op->a))
        return LOWER_FAILED;
    op->kind = OP_CONTROL;
    op->run.control = run_indirect_branch;
    op->unit = UNIT_CONTROL;
    op->more = targets;
    return LOWERED;
}

/* The end of threads, and of functions */

static enum next run_exit(struct warp *w, const struct op *op, lanes active)
{
    struct level *top = &w->now->levels[w->now->depth - 1];
    (void)op;
    top->pc++;
    warp_exit(w, active);
    return NEXT_MOVED;
}

static void copy_local(struct warp *w, uint64_t to, uint64_t from, uint64_t bytes, lanes who)
{
    uint32_t(*rows)[WARP_LANES] = (void *)w->local;
    for (uint64_t word = 0; word < (bytes + 3) / 4; word++)
        blend(rows[to / 4 + word], rows[from / 4 + word], 4, who);
}

/* Arguments of a call: variables of the caller, by place in its local memory. */
struct call {
    struct call_value *results, *params;
    uint32_t result_count, param_count;
    size_t function; /* of the program; SIZE_MAX: through a pointer */
    builtin_fn *builtin;
};

static enum next run_return(struct warp *w, const struct op *op, lanes active)
{
    const struct fragment *f = w->now;
    (void)op;
    const struct frame callee = f->frames[f->frame_count - 1], caller = f->frames[f->frame_count - 2];
    const struct call *call = caller.code->ops[callee.back].more;
    for (uint32_t i = 0; i < call->result_count && i < callee.code->function->result_count; i++)
        copy_local(w, caller.local_at + call->results[i].at, callee.local_at + callee.code->param_at[i],
                   min_u64(call->results[i].bytes, callee.code->function->results[i].bytes), active);
    warp_return(w);
    return NEXT_MOVED;
}

enum lowered lower_end(struct lower *lower, struct op *op)
{
    bool kernel = lower->function->is_kernel;
    op->kind = OP_CONTROL;
    op->unit = UNIT_CONTROL;
    op->target = op->join = NO_OP;
    op->flags = kernel ? OP_EXITS : 0;
    op->run.control = kernel ? run_exit : run_return;
    return LOWERED;
}

enum lowered lower_exit(struct lower *lower, struct op *op)
{
    (void)lower;
    op->kind = OP_CONTROL;
    op->unit = UNIT_CONTROL;
    op->flags = OP_EXITS;
    op->run.control = run_exit;
    return LOWERED;
}

enum lowered lower_return(struct lower *lower, struct op *op)
{
    if (lower->function->is_kernel)
        return lower_exit(lower, op);
    op->kind = OP_BRANCH;
    op->unit = UNIT_CONTROL;
    op->target = lower->function->inst_count;
    return LOWERED;
}

static void run_trap(struct warp *w, const struct op *op, lanes active)
{
    warp_fault(w, op, active, FAULT_TRAP, 0, "the kernel trapped");
}

enum lowered lower_trap(struct lower *lower, struct op *op)
{
    (void)lower;
    op->unit = UNIT_CONTROL;
    op->run.exec = run_trap;
    return LOWERED;
}

static enum next run_yield(struct warp *w, const struct op *op, lanes active)
{
    (void)w, (void)op, (void)active;
    return NEXT_YIELD;
}

enum lowered lower_yield(struct lower *lower, struct op *op)
{
    op->kind = OP_CONTROL;
    op->unit = UNIT_CONTROL;
    op->role = ROLE_SLEEP;
    op->run.control = run_yield;
    return lower_source(lower, lower_operand(lower, 0), TYPE_u32, &op->a) ? LOWERED : LOWER_FAILED;
}

static void run_nothing(struct warp *w, const struct op *op, lanes active)
{
    (void)w, (void)op, (void)active;
}

enum lowered lower_nothing(struct lower *lower, struct op *op)
{
    (void)lower;
    op->unit = UNIT_LSU;
    op->run.exec = run_nothing;
    return LOWERED;
}

/* A matter of when kernels run: what they do does not depend on it. */
enum lowered lower_griddepcontrol(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    bool waits = ptx_opcode_has(opcode, "wait");
    if (!waits && !ptx_opcode_has(opcode, "launch_dependents"))
        return lower_fail(lower, "Heddle does not know this action");
    op->role = waits ? ROLE_GRID_WAIT : ROLE_TRIGGER;
    return lower_nothing(lower, op);
}

/* setmaxnreg moves registers between warps of a block: no warp's registers have other values after it. */
enum lowered lower_setmaxnreg(struct lower *lower, struct op *op)
{
    const struct ptx_operand *count = lower_operand(lower, 0);
    const char *opcode = lower->inst->opcode;
    if (!ptx_opcode_has(opcode, "inc") && !ptx_opcode_has(opcode, "dec"))
        return lower_fail(lower, "Heddle does not know this instruction");
    if (count->kind != PTX_OP_INTEGER || count->value < 24 || count->value > 256 || count->value % 8)
        return lower_fail(lower, "a multiple of 8 from 24 to 256 was expected");
    return lower_nothing(lower, op);
}

/* Calls */

static void enter(struct warp *w, const struct op *op, const struct call *call, size_t function, lanes active)
{
    const struct ptx_kernel *kernel = ptx_kernel_of(w->isa.block->worker->grid->kernel);
    const struct code *code = kernel->codes[function];
    uint64_t from = w->now->frames[w->now->frame_count - 1].local_at;
    warp_enter(w, op, code);
    uint64_t to = w->now->frames[w->now->frame_count - 1].local_at;
    const struct ptx_function *f = code->function;
    for (uint32_t i = 0; i < call->param_count && i < f->param_count; i++)
        copy_local(w, to + code->param_at[f->result_count + i], from + call->params[i].at,
                   min_u64(call->params[i].bytes, f->params[i].bytes), active);
}

/* Functions that only pointers lead to may be such as Heddle does not know. */
static _Noreturn void cannot_call(struct warp *w, const struct op *op, lanes active, size_t function)
{
    const struct ptx_kernel *kernel = ptx_kernel_of(w->isa.block->worker->grid->kernel);
    const struct ptx_function *f = kernel->program->functions[function].function;
    const char *why = kernel->whys[function];
    warp_fault(w, op, active, FAULT_INSTRUCTION, 0, "a call of %s%s%s", demangled(f->name),
               f->is_kernel ? ", which is a kernel"
               : why        ? ", which cannot run: "
                            : ", whose address was taken nowhere",
               why ? why : "");
}

static enum next run_call(struct warp *w, const struct op *op, lanes active)
{
    const struct call *call = op->more;
    struct level *top = &w->now->levels[w->now->depth - 1];
    uint32_t here = top->pc;
    if (call->builtin) {
        uint64_t local = w->now->frames[w->now->frame_count - 1].local_at, params[BUILTIN_PARAMS] = {0};
        for (uint32_t i = 0; i < call->param_count && i < BUILTIN_PARAMS; i++)
            params[i] = local + call->params[i].at;
        call->builtin(w, op, active, params, call->result_count ? local + call->results[0].at : 0);
        return NEXT_OP;
    }
    const struct ptx_kernel *kernel = ptx_kernel_of(w->isa.block->worker->grid->kernel);
    size_t function = call->function;
    lanes same = active;
    if (function == SIZE_MAX) { /* through a pointer: those who call the same go together */
        const uint64_t *pointers = warp_at(w, op->a);
        uint64_t pointer = pointers[first_lane(active)];
        function = program_function_at(kernel->program, pointer);
        if (function == SIZE_MAX)
            warp_fault(w, op, active, FAULT_INSTRUCTION, pointer, "a call through a pointer to %s",
                       program_is_function(pointer) ? "a function of another module" : "no function");
        same = 0;
        EACH_LANE (i, active)
            same |= (lanes)(pointers[i] == pointer) << i;
    }
    if (UNLIKELY(!kernel->codes[function] || kernel->codes[function]->function->is_kernel))
        cannot_call(w, op, active, function);
    if (same != top->mask) {
        lanes rest = top->mask & ~same;
        bool all_wait = !(rest & active);
        fragment_diverge(w, here, same, all_wait ? here + 1 : here, rest, here + 1);
        if (!all_wait || w->now->levels[w->now->depth - 1].mask != same)
            return NEXT_MOVED; /* the others' turn; these come back here */
    }
    enter(w, op, call, function, same);
    return NEXT_MOVED;
}

static bool lower_values(struct lower *lower, const struct ptx_operand *list, struct call_value **values,
                         uint32_t *count)
{
    *values = lower_own(lower, (list->count + 1) * sizeof **values);
    *count = list->count;
    for (uint32_t i = 0; i < list->count; i++) {
        const struct ptx_operand *element = lower_element(lower, list, i);
        struct lower_symbol symbol;
        if (element->kind != PTX_OP_SYMBOL)
            return lower_fail(lower, "arguments of calls must be variables of .param space") == LOWERED;
        if (!lower_symbol(lower, element, &symbol))
            return false;
        if (symbol.kind != CONSTANT_LOCAL)
            return lower_fail(lower, "arguments of calls must be variables of .param space") == LOWERED;
        (*values)[i] = (struct call_value){symbol.value, symbol.bytes};
    }
    return true;
}

enum lowered lower_call(struct lower *lower, struct op *op)
{
    struct call *call = lower_own(lower, sizeof *call);
    uint32_t i = 0;
    op->kind = OP_CONTROL;
    op->unit = UNIT_CONTROL;
    op->run.control = run_call;
    op->role = ROLE_CALL;
    op->more = call;
    op->join = (uint32_t)(lower->inst - lower->function->insts) + 1;
    if (lower_operand(lower, i)->kind == PTX_OP_LIST &&
        !lower_values(lower, lower_operand(lower, i++), &call->results, &call->result_count))
        return LOWER_FAILED;
    const struct ptx_operand *target = lower_operand(lower, i++);
    if (lower_operand(lower, i)->kind == PTX_OP_LIST &&
        !lower_values(lower, lower_operand(lower, i), &call->params, &call->param_count))
        return LOWER_FAILED;
    call->function = SIZE_MAX;
    if (target->kind == PTX_OP_REGISTER)
        return lower_source(lower, target, TYPE_u64, &op->a) ? LOWERED : LOWER_FAILED;
    if (target->kind != PTX_OP_SYMBOL)
        return lower_fail(lower, "a function or a register was expected");
    const char *name = lower->function->symbols[target->index].name;
    call->function = program_function(lower->kernel->program, lower->code->module_index, name);
    call->builtin = call->function == SIZE_MAX ? builtin_find(name) : NULL;
    if (call->function == SIZE_MAX && !call->builtin)
        return lower_fail(lower, "function %s is not defined in any module of the program", name);
    if (call->function != SIZE_MAX && lower->kernel->program->functions[call->function].function->is_kernel)
        return lower_fail(lower, "a kernel cannot be called");
    if (call->builtin &&
        !builtin_fits(name, call->params, call->param_count, call->results, call->result_count))
        return lower_fail(lower, "%s has other parameters", name);
    if (call->builtin && builtin_submits(name))
        op->role = ROLE_LAUNCH;
    return LOWERED;
}

/* Memory of the stack that lives until the function returns */
static void run_alloca(struct warp *w, const struct op *op, lanes active)
{
    struct frame *frame = &w->now->frames[w->now->frame_count - 1];
    const uint64_t *sizes = warp_at(w, op->a);
    uint64_t *d = warp_at(w, op->d), most = 0;
    EACH_LANE (i, active)
        most = sizes[i] > most ? sizes[i] : most;
    most = (most + 15) & ~UINT64_C(15);
    uint64_t at = frame->local_at + frame->code->local_bytes + frame->local_more;
    if (at + most > warp_alloca_limit(w) || most > UINT32_MAX)
        warp_fault(w, op, active, FAULT_STACK, 0, "alloca of %llu bytes", (unsigned long long)most);
    frame->local_more += most;
    warp_need_local(w, at + most);
    EACH_LANE (i, active)
        d[i] = at;
}

enum lowered lower_alloca(struct lower *lower, struct op *op)
{
    op->run.exec = run_alloca;
    return lower_destination(lower, lower_operand(lower, 0), TYPE_u64, &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), TYPE_u64, &op->a)
               ? LOWERED
               : LOWER_FAILED;
}
