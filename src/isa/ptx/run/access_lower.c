/* Loads and stores as instructions: which space, which registers, which order (access.c does them). */
#include "ptx_run/async.h"
#include "isa/request.h"

enum ptx_space access_space_named(const char *opcode)
{
    static const struct {
        const char *name;
        enum ptx_space space;
    } spaces[] = {{"global", PTX_GLOBAL},      {"shared", PTX_SHARED},
                  {"shared::cta", PTX_SHARED}, {"shared::cluster", PTX_CLUSTER},
                  {"local", PTX_LOCAL},        {"const", PTX_CONST},
                  {"param", PTX_PARAM},        {"param::entry", PTX_PARAM},
                  {"param::func", PTX_PARAM}};
    for (size_t i = 0; i < COUNT_OF(spaces); i++)
        if (ptx_opcode_has(opcode, spaces[i].name))
            return spaces[i].space;
    return PTX_GENERIC;
}

bool access_watches(const char *opcode)
{
    return ptx_opcode_has(opcode, "volatile") || ptx_opcode_has(opcode, "acquire") ||
           ptx_opcode_has(opcode, "relaxed") || ptx_opcode_has(opcode, "cv") ||
           ptx_opcode_has(opcode, "mmio");
}

uint8_t access_order(const char *opcode)
{
    bool both = ptx_opcode_has(opcode, "acq_rel");
    return (
        uint8_t)((access_watches(opcode) || both || ptx_opcode_has(opcode, "release") ? ORDER_STRONG : 0) |
                 (both || ptx_opcode_has(opcode, "acquire") ? ORDER_ACQUIRES : 0) |
                 (both || ptx_opcode_has(opcode, "release") ? ORDER_RELEASES : 0));
}

uint8_t access_scope(const char *opcode)
{
    return ptx_opcode_has(opcode, "cta")                                         ? SCOPE_BLOCK
           : ptx_opcode_has(opcode, "cluster")                                   ? SCOPE_CLUSTER
           : ptx_opcode_has(opcode, "sys") || ptx_opcode_has(opcode, "volatile") ? SCOPE_SYSTEM
                                                                                 : SCOPE_GPU;
}

bool access_releases(const char *opcode)
{
    return (ptx_opcode_has(opcode, "release") || ptx_opcode_has(opcode, "acq_rel")) &&
           !ptx_opcode_has(opcode, "cta");
}

bool access_acquires(const char *opcode)
{
    return (ptx_opcode_has(opcode, "acquire") || ptx_opcode_has(opcode, "acq_rel")) &&
           !ptx_opcode_has(opcode, "cta");
}

bool lower_address(struct lower *lower, const struct ptx_operand *operand, struct op *op,
                   struct access *access)
{
    if (operand->kind != PTX_OP_MEMORY || !operand->count)
        return lower_fail(lower, "an address in brackets was expected") == LOWERED;
    const struct ptx_operand *base = lower_element(lower, operand, 0);
    op->value = (int64_t)operand->value;
    access->number = lower->kernel->base.access_count++;
    struct lower_symbol symbol;
    switch (base->kind) {
    case PTX_OP_REGISTER:
        access->address_bytes = (uint8_t)lower_register_bytes(lower, base);
        if (access->address_bytes != 4 && access->address_bytes != 8)
            return lower_fail(lower, "an address has 32 or 64 bits") == LOWERED;
        op->a = lower->places[base->index];
        return true;
    case PTX_OP_INTEGER:
        access->address_bytes = 8;
        op->a = lower_constant(lower, CONSTANT_VALUE, base->value, 8);
        return true;
    case PTX_OP_SYMBOL:
        if (!lower_symbol(lower, base, &symbol))
            return false;
        access->address_bytes = 8;
        if (access->space == PTX_PARAM && symbol.space == PTX_LOCAL)
            access->space = PTX_LOCAL;
        if (access->space == PTX_GENERIC && symbol.space != PTX_GLOBAL && symbol.space != PTX_CONST)
            access->space = symbol.space;
        op->a = lower_constant(lower, symbol.kind == CONSTANT_PARAM ? CONSTANT_VALUE : symbol.kind,
                               symbol.value + base->value, 8);
        return true;
    default:
        return lower_fail(lower, "a register or a variable was expected in the address") == LOWERED;
    }
}

static bool lower_values(struct lower *lower, const struct ptx_operand *operand, struct access *access)
{
    uint32_t count = operand->kind == PTX_OP_VECTOR ? operand->count : 1;
    if (count > COUNT_OF(access->registers))
        return lower_fail(lower, "more than %zu registers", COUNT_OF(access->registers)) == LOWERED;
    access->count = (uint8_t)count;
    for (uint32_t i = 0; i < count; i++) {
        const struct ptx_operand *one =
            operand->kind == PTX_OP_VECTOR ? lower_element(lower, operand, i) : operand;
        uint32_t bytes;
        if (one->kind == PTX_OP_REGISTER || one->kind == PTX_OP_SINK) {
            if (!lower_register(lower, one, &access->registers[i], &bytes))
                return false;
            if (one->kind == PTX_OP_SINK)
                continue;
            if (access->register_bytes && access->register_bytes != bytes)
                return lower_fail(lower, "registers of different widths") == LOWERED;
        } else {
            bytes = access->bytes < 2 ? 2 : access->bytes;
            enum isa_type type = bytes == 8   ? (access->is_float ? TYPE_f64 : TYPE_u64)
                                 : bytes == 4 ? (access->is_float ? TYPE_f32 : TYPE_u32)
                                              : TYPE_u16;
            if (!lower_source(lower, one, type, &access->registers[i]))
                return false;
        }
        access->register_bytes = (uint8_t)bytes;
    }
    if (!access->register_bytes)
        access->register_bytes = 8;
    if (access->register_bytes < access->bytes)
        return lower_fail(lower, "a register of %u bytes for a value of %u", access->register_bytes,
                          access->bytes) == LOWERED;
    return true;
}

/* A parameter of the kernel at a known offset is a constant of the launch. */
static enum lowered lower_param_load(struct lower *lower, struct op *op, struct access *access,
                                     const struct ptx_operand *base, uint64_t offset)
{
    struct lower_symbol symbol;
    if (!lower_symbol(lower, base, &symbol))
        return LOWER_FAILED;
    if (symbol.kind != CONSTANT_PARAM || access->count != 1)
        return NOT_MINE;
    uint64_t at = symbol.value + base->value + offset;
    if (at + access->bytes > lower->kernel->base.facts.param_bytes)
        return lower_fail(lower, "reads beyond the parameters");
    const char *mov = access->register_bytes == 8   ? "mov.b64"
                      : access->register_bytes == 4 ? "mov.b32"
                                                    : "mov.b16";
    op->kind = OP_ALU;
    op->run.alu = alu_executor(alu_find(mov));
    op->a = lower_param(lower, at, access->bytes, access->is_signed, access->register_bytes);
    op->d = access->registers[0];
    op->bytes = access->register_bytes;
    return LOWERED;
}

static struct access *new_access(struct lower *lower, struct op *op, bool writes)
{
    const char *opcode = lower->inst->opcode;
    struct access *access = lower_own(lower, sizeof *access);
    enum ptx_type type = lower_type(opcode);
    op->unit = UNIT_LSU;
    op->run.exec = access_run;
    op->more = access;
    access->space = access_space_named(opcode);
    access->bytes = (uint8_t)ptx_type_bytes(type);
    access->is_signed = ptx_type_is_signed(type);
    access->is_float = ptx_type_is_float(type);
    access->writes = writes;
    access->spins = access_watches(opcode) && !writes;
    access->passes_by = access_watches(opcode) || ptx_opcode_has(opcode, "cg");
    access->acquires = access_acquires(opcode);
    access->order = access_order(opcode);
    access->scope = access_scope(opcode);
    if (access_releases(opcode))
        op->role = ROLE_RELEASE;
    if (!access->bytes || access->bytes > 8) {
        lower_fail(lower, "Heddle does not know this type");
        return NULL;
    }
    return access;
}

static bool is_words(const struct access *access)
{
    return access->space == PTX_SHARED && access->address_bytes == 4 && access->bytes == 4 &&
           access->register_bytes == 4;
}

/* Parameters and results of calls are kept in local memory here, and in registers by a real compiler. */
static void pass_by_register(struct lower *lower, struct op *op, struct access *access)
{
    if (access_space_named(lower->inst->opcode) != PTX_PARAM || access->space != PTX_LOCAL)
        return;
    access->by_register = true;
    op->unit = UNIT_ALU;
}

enum lowered lower_load(struct lower *lower, struct op *op)
{
    struct access *access = new_access(lower, op, false);
    const struct ptx_operand *address = lower_operand(lower, 1);
    if (!access || !lower_values(lower, lower_operand(lower, 0), access))
        return LOWER_FAILED;
    if (access->space == PTX_PARAM && address->kind == PTX_OP_MEMORY && address->count &&
        lower_element(lower, address, 0)->kind == PTX_OP_SYMBOL) {
        enum lowered done =
            lower_param_load(lower, op, access, lower_element(lower, address, 0), address->value);
        if (done != NOT_MINE)
            return done;
    }
    if (!lower_address(lower, address, op, access))
        return LOWER_FAILED;
    if (access->space == PTX_PARAM && !lower->function->is_kernel)
        access->space = PTX_LOCAL;
    pass_by_register(lower, op, access);
    if (access->space == PTX_CONST) {
        access->space = PTX_GLOBAL;
        access->is_const = true;
    }
    access->is_words = is_words(access);
    return LOWERED;
}

enum lowered lower_async_barrier(struct lower *lower, struct op *op, struct access *access)
{
    op->flags |= OP_WAITS;
    access->counts = true;
    if (!ptx_opcode_has(lower->inst->opcode, "mbarrier::complete_tx::bytes"))
        return lower_fail(lower, "Heddle does not know this asynchronous operation");
    return async_lower_address(lower, lower_operand(lower, 2), PTX_CLUSTER, &access->barrier) ? LOWERED
                                                                                              : LOWER_FAILED;
}

/* st.async */
static void run_async(struct warp *w, const struct op *op, lanes active)
{
    w->wait = WAIT_NOT;
    access_run(w, op, active);
    async_signal_lanes(w, op, op->more, active);
}

enum lowered lower_store(struct lower *lower, struct op *op)
{
    struct access *access = new_access(lower, op, true);
    if (!access || !lower_values(lower, lower_operand(lower, 1), access) ||
        !lower_address(lower, lower_operand(lower, 0), op, access))
        return LOWER_FAILED;
    if (access->space == PTX_PARAM)
        access->space = PTX_LOCAL;
    pass_by_register(lower, op, access);
    access->is_words = is_words(access);
    if (!ptx_is(lower->inst, "st.async"))
        return LOWERED;
    op->run.exec = run_async;
    return lower_async_barrier(lower, op, access);
}

static void run_fence(struct warp *w, const struct op *op, lanes active)
{
    (void)op, (void)active;
    w->spins++;
#ifndef __SANITIZE_THREAD__ /* which does not know fences */
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
#endif
}

enum lowered lower_fence(struct lower *lower, struct op *op)
{
    op->unit = UNIT_SYNC;
    op->run.exec = run_fence;
    op->role = ptx_opcode_has(lower->inst->opcode, "cta")   ? ROLE_FENCE_BLOCK
               : ptx_opcode_has(lower->inst->opcode, "sys") ? ROLE_FENCE_SYSTEM
                                                            : ROLE_FENCE;
    return LOWERED;
}
