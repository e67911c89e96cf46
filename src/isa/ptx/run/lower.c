/* Translates a function's instructions to operations: slots for registers and constants, and a row for each
 * family of instructions. */
#include "ptx_run/lower.h"
#include "ptx_run/meet.h"
#include "ptx_run/access.h"
#include "base/bits.h"
#include "base/mem.h"

#include <stdarg.h>
#include <string.h>

/* By the first part of the opcode, or more of it; the first row that fits counts. */
static const struct family {
    const char *prefix;
    lower_fn *lower; /* NULL: known, but not done yet */
    uint32_t least;  /* operands */
} families[] = {
    /* clang-format off */
    {"mov", lower_mov, 2},
    {"setp", lower_setp, 3},
    {"cvt", lower_cvt, 2},
    {"cvta", lower_cvta, 2},
    {"isspacep", lower_isspacep, 2},
    {"mapa", lower_mapa, 3},
    {"getctarank", lower_getctarank, 2},
    {"add", lower_carry, 3},
    {"addc", lower_carry, 3},
    {"sub", lower_carry, 3},
    {"subc", lower_carry, 3},
    {"mad", lower_carry, 4},
    {"madc", lower_carry, 4},
    {"ld", lower_load, 2},
    {"ldu", lower_load, 2},
    {"st", lower_store, 2},
    {"atom", lower_atomic, 3},
    {"red", lower_atomic, 2},
    {"membar", lower_fence, 0},
    {"fence", lower_fence, 0},
    {"prefetch", lower_nothing, 0},
    {"prefetchu", lower_nothing, 0},
    {"discard", lower_nothing, 0},
    {"applypriority", lower_nothing, 0},
    {"createpolicy", lower_policy, 1},
    {"pmevent", lower_nothing, 0},
    {"griddepcontrol", lower_griddepcontrol, 0},
    {"setmaxnreg", lower_setmaxnreg, 1},
    {"cp.async.bulk.tensor", lower_tensor, 2},
    {"cp.async.bulk.prefetch.tensor", lower_tensor, 1},
    {"cp.async.bulk.prefetch", lower_nothing, 0},
    {"cp.async.bulk.commit_group", lower_bulk_group, 0},
    {"cp.async.bulk.wait_group", lower_bulk_group, 1},
    {"cp.async.bulk", lower_bulk, 3},
    {"cp.reduce.async.bulk.tensor", lower_tensor, 2},
    {"cp.reduce.async.bulk", lower_bulk, 3},
    {"cp.async", lower_cp, 0},
    {"mbarrier", lower_mbarrier, 1},
    {"tensormap", lower_tensormap, 2},
    {"bra", lower_branch, 1},
    {"brx", lower_indirect_branch, 2},
    {"call", lower_call, 1},
    {"ret", lower_return, 0},
    {"exit", lower_exit, 0},
    {"trap", lower_trap, 0},
    {"brkpt", lower_trap, 0},
    {"nanosleep", lower_yield, 0},
    {"alloca", lower_alloca, 2},
    {"bar.warp.sync", lower_vote, 1},
    {"barrier.cluster", lower_cluster_barrier, 0},
    {"bar", lower_barrier, 1},
    {"barrier", lower_barrier, 1},
    {"shfl", lower_shuffle, 4},
    {"vote", lower_vote, 2},
    {"match", lower_match, 3},
    {"redux", lower_redux, 3},
    {"activemask", lower_activemask, 1},
    {"elect", lower_elect, 2},
    {"tex", lower_texture, 2},
    {"tld4", lower_texture, 2},
    {"txq", lower_texture, 2},
    {"suld", lower_texture, 2},
    {"sust", lower_texture, 2},
    {"sured", lower_texture, 2},
    {"suq", lower_texture, 2},
    {"vadd", lower_video, 3},
    {"vadd2", lower_video, 3},
    {"vadd4", lower_video, 3},
    {"vsub", lower_video, 3},
    {"vsub2", lower_video, 3},
    {"vsub4", lower_video, 3},
    {"vabsdiff", lower_video, 3},
    {"vabsdiff2", lower_video, 3},
    {"vabsdiff4", lower_video, 3},
    {"vmin", lower_video, 3},
    {"vmin2", lower_video, 3},
    {"vmin4", lower_video, 3},
    {"vmax", lower_video, 3},
    {"vmax2", lower_video, 3},
    {"vmax4", lower_video, 3},
    {"vavrg2", lower_video, 3},
    {"vavrg4", lower_video, 3},
    {"vset", lower_video, 3},
    {"vset2", lower_video, 3},
    {"vset4", lower_video, 3},
    {"vshl", lower_video, 3},
    {"vshr", lower_video, 3},
    {"vmad", lower_video, 4},
    {"ldmatrix", lower_matrix, 2},
    {"stmatrix", lower_matrix, 2},
    {"mma", lower_matrix, 4},
    {"movmatrix", lower_matrix, 2},
    {"wmma", lower_matrix, 2},
    {"wgmma", lower_wgmma, 0},
    /* clang-format on */
};

static const struct family *find_family(const char *opcode)
{
    for (size_t i = 0; i < COUNT_OF(families); i++) {
        size_t length = strlen(families[i].prefix);
        if (!strncmp(opcode, families[i].prefix, length) && (!opcode[length] || opcode[length] == '.'))
            return &families[i];
    }
    return NULL;
}

bool program_knows(const char *opcode)
{
    const struct family *family = find_family(opcode);
    return (family && family->lower) || alu_find(opcode) >= 0;
}

enum ptx_type lower_type(const char *opcode)
{
    const char *dot = strrchr(opcode, '.');
    return dot ? ptx_type_of(dot + 1, strlen(dot + 1)) : PTX_NO_TYPE;
}

enum lowered lower_fail(struct lower *lower, const char *format, ...)
{
    char text[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    err_set(lower->err, "%s, PTX line %u: %s: %s", lower->code->module->name, lower->inst->line,
            lower->inst->opcode, text);
    return LOWER_FAILED;
}

const struct ptx_operand *lower_operand(const struct lower *lower, uint32_t i)
{
    static const struct ptx_operand none = {.kind = PTX_OP_SINK};
    return i < lower->inst->count ? &lower->function->operands[lower->inst->first + i] : &none;
}

const struct ptx_operand *lower_element(const struct lower *lower, const struct ptx_operand *operand,
                                        uint32_t i)
{
    REQUIRE(i < operand->count);
    return &lower->function->operands[operand->first + i];
}

void *lower_own(struct lower *lower, size_t bytes)
{
    struct code *code = lower->code;
    mem_grow(code->owned, code->owned_count, code->owned_capacity);
    return code->owned[code->owned_count++] = mem_alloc(1, bytes);
}

/* Constants */

static uint32_t add_constant(struct lower *lower, struct constant constant)
{
    struct code *code = lower->code;
    if (2 * (code->constant_count + 1) > lower->table_size) {
        lower->table_size = lower->table_size ? 2 * lower->table_size : 256;
        mem_free(lower->table);
        lower->table = mem_alloc(lower->table_size, sizeof *lower->table);
        for (uint32_t i = 0; i < code->constant_count; i++) {
            uint64_t at = digest_word(code->constants[i].kind, code->constants[i].value) >> 32;
            while (lower->table[at & (lower->table_size - 1)])
                at++;
            lower->table[at & (lower->table_size - 1)] = i + 1;
        }
    }
    uint64_t at = digest_word(constant.kind, constant.value) >> 32;
    for (;; at++) {
        uint32_t number = lower->table[at & (lower->table_size - 1)];
        if (!number)
            break;
        const struct constant *old = &code->constants[number - 1];
        if (old->kind == constant.kind && old->value == constant.value && old->bytes == constant.bytes &&
            old->source_bytes == constant.source_bytes && old->is_signed == constant.is_signed)
            return old->place;
    }
    constant.place = lower->frame;
    lower->frame += WARP_LANES * constant.bytes;
    mem_grow(code->constants, code->constant_count, code->constant_capacity);
    code->constants[code->constant_count++] = constant;
    lower->table[at & (lower->table_size - 1)] = code->constant_count;
    return constant.place;
}

uint32_t lower_constant(struct lower *lower, enum constant_kind kind, uint64_t value, uint32_t bytes)
{
    if (kind == CONSTANT_VALUE && bytes < 8)
        value &= (UINT64_C(1) << 8 * bytes) - 1;
    return add_constant(lower,
                        (struct constant){.kind = (uint8_t)kind, .bytes = (uint8_t)bytes, .value = value});
}

uint32_t lower_param(struct lower *lower, uint64_t offset, uint32_t source_bytes, bool is_signed,
                     uint32_t bytes)
{
    return add_constant(lower, (struct constant){.kind = CONSTANT_PARAM,
                                                 .bytes = (uint8_t)bytes,
                                                 .source_bytes = (uint8_t)source_bytes,
                                                 .is_signed = is_signed,
                                                 .value = offset});
}

/* Operands */

uint32_t lower_register_bytes(const struct lower *lower, const struct ptx_operand *operand)
{
    if (operand->kind != PTX_OP_REGISTER)
        return 0;
    return ptx_type_bytes(lower->function->registers[operand->index].type);
}

static const char *register_name(const struct lower *lower, const struct ptx_operand *operand)
{
    return lower->function->registers[operand->index].name;
}

bool lower_register(struct lower *lower, const struct ptx_operand *operand, uint32_t *place, uint32_t *bytes)
{
    if (operand->kind == PTX_OP_SINK) {
        *place = FRAME_SCRATCH;
        *bytes = 8;
        return true;
    }
    if (operand->kind != PTX_OP_REGISTER)
        return lower_fail(lower, "a register was expected") == LOWERED;
    *place = lower->places[operand->index];
    uint32_t size = lower_register_bytes(lower, operand);
    *bytes = size == 1 ? 2 : size;
    if (!size)
        return lower_fail(lower, "%s is a predicate, a value was expected", register_name(lower, operand)) ==
               LOWERED;
    return true;
}

static void count_read(void *context, uint32_t index, bool written)
{
    if (!written)
        ((uint32_t *)context)[index]++;
}

uint32_t lower_reads(struct lower *lower, uint32_t index)
{
    const struct ptx_function *f = lower->function;
    if (!lower->reads) {
        lower->reads = mem_alloc(f->register_count + 1, sizeof *lower->reads);
        for (uint32_t i = 0; i < f->inst_count; i++)
            ptx_each_register(f, &f->insts[i], count_read, lower->reads);
    }
    return lower->reads[index];
}

bool lower_destination(struct lower *lower, const struct ptx_operand *operand, enum isa_type type,
                       uint32_t *place)
{
    uint32_t bytes;
    if (type == TYPE_pred && operand->kind != PTX_OP_SINK) {
        if (operand->kind != PTX_OP_REGISTER)
            return lower_fail(lower, "a predicate was expected") == LOWERED;
        return lower_predicate(lower, operand, place);
    }
    if (!lower_register(lower, operand, place, &bytes))
        return false;
    if (operand->kind != PTX_OP_SINK && bytes != isa_type_bytes(type))
        return lower_fail(lower, "%s has %u bytes, %u are written", register_name(lower, operand), bytes,
                          isa_type_bytes(type)) == LOWERED;
    return true;
}

bool lower_predicate(struct lower *lower, const struct ptx_operand *operand, uint32_t *place)
{
    if (operand->kind == PTX_OP_INTEGER) { /* mov.pred %p1, 1 */
        *place = lower_constant(lower, CONSTANT_VALUE, operand->value ? UINT32_MAX : 0, 4);
        return true;
    }
    if (operand->kind == PTX_OP_SPECIAL && operand->index == PTX_SPECIAL_is_explicit_cluster) {
        *place = lower_constant(lower, CONSTANT_SPECIAL, operand->index, 4);
        return true;
    }
    if (operand->kind != PTX_OP_REGISTER || lower->function->registers[operand->index].type != PTX_pred)
        return lower_fail(lower, "a predicate was expected") == LOWERED;
    *place = lower->places[operand->index];
    return true;
}

static uint64_t float_bits(const struct ptx_operand *operand, enum isa_type type)
{
    double value;
    if (operand->single) {
        float single;
        uint32_t bits = (uint32_t)operand->value;
        memcpy(&single, &bits, 4);
        if (type != TYPE_f64 && type != TYPE_u64 && type != TYPE_s64)
            return bits;
        value = (double)single;
    } else {
        memcpy(&value, &operand->value, 8);
        if (type == TYPE_f32 || type == TYPE_u32 || type == TYPE_s32) {
            float single = (float)value;
            uint32_t bits;
            memcpy(&bits, &single, 4);
            return bits;
        }
    }
    uint64_t bits;
    memcpy(&bits, &value, 8);
    return bits;
}

/* Offset of a shared variable in the block's memory. */
static uint64_t shared_at(const struct ptx_kernel *kernel, const struct ptx_variable *variable)
{
    for (size_t i = 0; i < kernel->shared_count; i++)
        if (kernel->shared[i].variable == variable)
            return kernel->shared[i].at;
    BUG("%s was not placed", variable->name);
}

/* A variable of the function, or one of its parameters. */
static void own_symbol(const struct lower *lower, const struct ptx_symbol *name, struct lower_symbol *symbol)
{
    const struct ptx_function *f = lower->function;
    const struct ptx_variable *variable = name->kind == PTX_SYM_PARAM    ? &f->params[name->index]
                                          : name->kind == PTX_SYM_RESULT ? &f->results[name->index]
                                                                         : &f->variables[name->index];
    symbol->bytes = variable->bytes;
    symbol->space = PTX_LOCAL; /* arguments of calls live there, too */
    symbol->kind = CONSTANT_LOCAL;
    if (name->kind == PTX_SYM_VARIABLE) {
        symbol->value = lower->code->variable_at[name->index];
        if (variable->space == PTX_SHARED)
            symbol->space = PTX_SHARED, symbol->kind = CONSTANT_SHARED;
    } else if (f->is_kernel) {
        symbol->space = PTX_PARAM;
        symbol->kind = CONSTANT_PARAM;
        symbol->value = variable->offset;
    } else {
        symbol->value =
            lower->code->param_at[name->kind == PTX_SYM_RESULT ? name->index : f->result_count + name->index];
    }
}

bool lower_symbol(struct lower *lower, const struct ptx_operand *operand, struct lower_symbol *symbol)
{
    const struct ptx_symbol *name = &lower->function->symbols[operand->index];
    const struct program *program = lower->kernel->program;
    *symbol = (struct lower_symbol){.function = SIZE_MAX};
    if (name->kind == PTX_SYM_VARIABLE && (lower->function->variables[name->index].space == PTX_GLOBAL ||
                                           lower->function->variables[name->index].space == PTX_CONST))
        return lower_fail(lower, "%s: variables of global memory inside of functions are not supported",
                          name->name) == LOWERED;
    if (name->kind == PTX_SYM_VARIABLE || name->kind == PTX_SYM_PARAM || name->kind == PTX_SYM_RESULT) {
        own_symbol(lower, name, symbol);
        return true;
    }
    if (name->kind == PTX_SYM_GLOBAL) {
        const struct ptx_variable *variable = &lower->code->module->variables[name->index];
        symbol->space = variable->space;
        symbol->bytes = variable->bytes;
        if (variable->space == PTX_SHARED) {
            symbol->value = shared_at(lower->kernel, variable);
            symbol->kind = CONSTANT_SHARED;
            return true;
        }
        const struct variable_entry *entry = program_variable(program, lower->code->module_index, name->name);
        if (entry) {
            symbol->value = entry->address;
            symbol->bytes = entry->bytes;
            return true;
        }
    }
    if (name->kind == PTX_SYM_FUNCTION) {
        symbol->function = program_function(program, lower->code->module_index, name->name);
        symbol->value = program_function_address(lower->kernel->program, symbol->function);
        if (symbol->function != SIZE_MAX)
            return true;
    }
    return lower_fail(lower, "%s is not defined in any module of the program", name->name) == LOWERED;
}

bool lower_source(struct lower *lower, const struct ptx_operand *operand, enum isa_type type, uint32_t *place)
{
    uint32_t bytes = isa_type_bytes(type), have;
    struct lower_symbol symbol;
    if (type == TYPE_pred)
        return operand->negated ? lower_fail(lower, "a negated predicate is not possible here") == LOWERED
                                : lower_predicate(lower, operand, place);
    switch (operand->kind) {
    case PTX_OP_REGISTER:
        if (!lower_register(lower, operand, place, &have))
            return false;
        if (operand->negated)
            return lower_fail(lower, "a negated register is not possible here") == LOWERED;
        if (have != bytes)
            return lower_fail(lower, "%s has %u bytes, %u are read", register_name(lower, operand), have,
                              bytes) == LOWERED;
        return true;
    case PTX_OP_INTEGER:
        *place = lower_constant(lower, CONSTANT_VALUE, operand->value, bytes);
        return true;
    case PTX_OP_FLOAT:
        *place = lower_constant(lower, CONSTANT_VALUE, float_bits(operand, type), bytes);
        return true;
    case PTX_OP_SPECIAL:
        *place = lower_constant(lower, CONSTANT_SPECIAL, operand->index, bytes);
        if (operand->index >= PTX_SPECIAL_clock && operand->index <= PTX_SPECIAL_globaltimer_hi)
            return lower_fail(lower, "clocks can only be moved to a register") == LOWERED;
        lower->code->sees_block |= special_differs_by_block(operand->index);
        return true;
    case PTX_OP_SYMBOL:
        if (!lower_symbol(lower, operand, &symbol))
            return false;
        if (symbol.kind == CONSTANT_PARAM)
            symbol.kind = CONSTANT_VALUE; /* the offset, for cvta.param */
        *place = lower_constant(lower, symbol.kind, symbol.value + operand->value, bytes);
        return true;
    default:
        return lower_fail(lower, "a register or a number was expected") == LOWERED;
    }
}

/* Rows of alu.def */
static enum lowered lower_row(struct lower *lower, struct op *op, int row,
                              const struct ptx_operand *const sources[])
{
    const struct alu_row *alu = &alu_rows[row];
    uint32_t *const places[] = {&op->a, &op->b, &op->c, &op->e};
    for (uint32_t i = 0; i < 4 && alu->s[i] != TYPE_nil; i++)
        if (!lower_source(lower, sources[i], alu->s[i], places[i]))
            return LOWER_FAILED;
    if (!lower_destination(lower, lower_operand(lower, 0), alu->d, &op->d))
        return LOWER_FAILED;
    op->kind = OP_ALU;
    op->run.alu = alu_executor(row);
    op->bytes = (uint8_t)isa_type_bytes(alu->d);
    return LOWERED;
}

/* A sum that takes a product: its sources are the product's, and the other of its own. */
/* "fma.rn.f32" for add.f32 that takes a product. */
static void contracted_opcode(const char *sum, bool second, char *opcode, size_t bytes)
{
    const char *fused = !strncmp(sum, "add", 3) ? "fma.rn" : second ? "sub-mul" : "mul-sub";
    snprintf(opcode, bytes, "%s%s", fused, sum + 3);
}

static enum lowered lower_contracted(struct lower *lower, struct op *op, struct ptx_taken taken)
{
    char opcode[32];
    contracted_opcode(lower->inst->opcode, taken.second, opcode, sizeof opcode);
    int row = alu_find(opcode);
    const struct ptx_inst *product = &lower->function->insts[taken.product - 1];
    const struct ptx_operand *of = &lower->function->operands[product->first];
    return row < 0 ? lower_fail(lower, "there is no %s", opcode)
                   : lower_row(lower, op, row,
                               (const struct ptx_operand *const[]){
                                   of + 1, of + 2, lower_operand(lower, taken.second ? 1 : 2), NULL});
}

static enum lowered lower_alu(struct lower *lower, struct op *op)
{
    struct ptx_taken taken = lower->taken[lower->inst - lower->function->insts];
    if (taken.product)
        return lower_contracted(lower, op, taken);
    int row = alu_find(lower->inst->opcode);
    if (row < 0)
        return lower_fail(lower, "Heddle does not know this instruction");
    uint32_t sources = 0;
    while (sources < 4 && alu_rows[row].s[sources] != TYPE_nil)
        sources++;
    if (lower->inst->count != sources + 1)
        return lower_fail(lower, "%u operands were expected, there are %u", sources + 1, lower->inst->count);
    return lower_row(lower, op, row,
                     (const struct ptx_operand *const[]){lower_operand(lower, 1), lower_operand(lower, 2),
                                                         lower_operand(lower, 3), lower_operand(lower, 4)});
}

/* Places for registers: lifetimes that do not meet share one. A place is free again only behind the last
 * instruction that names its register, so that no operation writes a place it still reads in another width.
 */
static void place_registers(struct lower *lower)
{
    const struct ptx_function *f = lower->function;
    struct code *code = lower->code;
    const struct flow_span *spans = lower->flow.spans;
    uint32_t n = f->register_count, end = f->inst_count + 1;
    lower->places = mem_alloc(n + 1, sizeof *lower->places);
    uint32_t *next = mem_alloc(n + 1, sizeof *next), *ending = mem_alloc(n + 1, sizeof *ending);
    uint32_t *starts = mem_alloc(end + 2, sizeof *starts), *ends = mem_alloc(end + 2, sizeof *ends);
    for (uint32_t r = n; r-- > 0;) { /* lists by instruction, of register + 1 */
        if (!spans[r].used)
            continue;
        next[r] = starts[spans[r].from], starts[spans[r].from] = r + 1;
        ending[r] = ends[spans[r].to + 1], ends[spans[r].to + 1] = r + 1;
    }
    struct {
        uint32_t *at, count, capacity;
    } unused[3] = {0}; /* places of 64, 128 and 256 bytes */
    uint32_t predicate = FRAME_PREDICATES;
    for (uint32_t r = 0; r < n; r++)
        if (f->registers[r].type == PTX_pred)
            lower->places[r] = predicate, predicate += 4;
    lower->frame = (predicate + 255) & ~255u;
    for (uint32_t i = 0; i <= end; i++) {
        for (uint32_t r = ends[i]; r; r = ending[r - 1]) {
            uint32_t bytes = max_u64(ptx_type_bytes(f->registers[r - 1].type), 2);
            if (f->registers[r - 1].type == PTX_pred)
                continue;
            uint32_t kind = bytes > 4 ? 2 : bytes > 2;
            mem_grow(unused[kind].at, unused[kind].count, unused[kind].capacity);
            unused[kind].at[unused[kind].count++] = lower->places[r - 1];
        }
        for (uint32_t r = starts[i]; r; r = next[r - 1]) {
            uint32_t bytes = max_u64(ptx_type_bytes(f->registers[r - 1].type), 2);
            if (f->registers[r - 1].type != PTX_pred) {
                uint32_t kind = bytes > 4 ? 2 : bytes > 2;
                if (unused[kind].count) {
                    lower->places[r - 1] = unused[kind].at[--unused[kind].count];
                } else {
                    lower->places[r - 1] = lower->frame;
                    lower->frame += 64u << kind;
                }
            }
            if (spans[r - 1].at_entry) {
                mem_grow(code->zeroed, code->zeroed_count, code->zeroed_capacity);
                uint32_t size = f->registers[r - 1].type == PTX_pred ? 4 : WARP_LANES * bytes;
                code->zeroed[code->zeroed_count++] = (struct zeroed){lower->places[r - 1], size};
            }
        }
    }
    lower->constants_at = lower->frame = (lower->frame + 63) & ~63u;
    lower->homes = mem_alloc(n + 1, sizeof *lower->homes);
    memcpy(lower->homes, lower->places, n * sizeof *lower->homes);
    for (int k = 0; k < 3; k++)
        mem_free(unused[k].at);
    mem_free(next);
    mem_free(ending);
    mem_free(starts);
    mem_free(ends);
}

/* Local memory of a function: its variables, the arguments of its calls, its own parameters. */
static void place_variables(struct lower *lower)
{
    struct code *code = lower->code;
    const struct ptx_function *f = lower->function;
    uint64_t local = 0;
    code->variable_at = mem_alloc(f->variable_count + 1, sizeof *code->variable_at);
    code->param_at = mem_alloc(f->result_count + f->param_count + 1, sizeof *code->param_at);
    for (uint32_t i = 0; i < f->result_count + f->param_count && !f->is_kernel; i++) {
        const struct ptx_variable *formal =
            i < f->result_count ? &f->results[i] : &f->params[i - f->result_count];
        local = (local + 15) & ~UINT64_C(15);
        code->param_at[i] = local;
        local += max_u64(formal->bytes, 4);
    }
    for (uint32_t i = 0; i < f->variable_count; i++) {
        const struct ptx_variable *variable = &f->variables[i];
        if (variable->space == PTX_LOCAL || variable->space == PTX_PARAM) {
            uint64_t alignment = max_u64(max_u64(variable->alignment, 4), ptx_type_bytes(variable->type));
            local = (local + alignment - 1) / alignment * alignment;
            code->variable_at[i] = local;
            local += max_u64(variable->bytes, 4);
        } else if (variable->space == PTX_SHARED) {
            code->variable_at[i] = shared_at(lower->kernel, variable);
        }
    }
    code->local_bytes = (local + 15) & ~UINT64_C(15);
}

static void move_nothing(void *d, const void *a, const void *b, const void *c, const void *e)
{
    (void)d, (void)a, (void)b, (void)c, (void)e;
}

/* A register that is only ever a copy of a constant has the constant's place: nothing is copied. */
static void fold_constant(struct lower *lower, uint32_t i, struct op *op)
{
    const struct ptx_operand *d = lower_operand(lower, 0);
    if (op->kind != OP_ALU || lower->inst->guard >= 0 || d->kind != PTX_OP_REGISTER ||
        op->a < lower->constants_at)
        return;
    const struct flow_span *span = &lower->flow.spans[d->index];
    if (span->writes != 1 || span->at_entry || span->from != i ||
        (op->run.alu != lower->moves[0] && op->run.alu != lower->moves[1] && op->run.alu != lower->moves[2]))
        return;
    lower->places[d->index] = op->a;
    op->run.alu = move_nothing;
    op->d = op->a = FRAME_SCRATCH;
}

static bool lower_one(struct lower *lower, uint32_t i)
{
    struct op *op = &lower->code->ops[i];
    const struct ptx_inst *inst = lower->inst = &lower->function->insts[i];
    const struct family *family = find_family(inst->opcode);
    op->target = op->join = NO_OP;
    op->kind = OP_EXEC;
    op->bytes = 4;
    if (family && !family->lower)
        return lower_fail(lower, "Heddle does not know this instruction yet") == LOWERED;
    if (family && inst->count < family->least)
        return lower_fail(lower, "%u operands were expected, there are %u", family->least, inst->count) ==
               LOWERED;
    enum lowered done = family ? family->lower(lower, op) : NOT_MINE;
    if (done == NOT_MINE)
        done = lower_alu(lower, op);
    if (done == LOWER_FAILED)
        return false;
    fold_constant(lower, i, op);
    if (inst->guard >= 0) {
        if (lower->function->registers[inst->guard].type != PTX_pred)
            return lower_fail(lower, "its guard is not a predicate") == LOWERED;
        op->flags |= inst->guard_not ? OP_GUARD | OP_GUARD_NOT : OP_GUARD;
        op->guard = lower->places[inst->guard];
    }
    if (op->kind == OP_CONTROL || op->kind == OP_BRANCH)
        op->flags |= OP_STEERS;
    if (lower->kernel->base.facts.ordered && meet_others(lower->function, inst))
        op->flags |= OP_MEETS;
    return true;
}

/* Where the threads that part at the end of this block meet again. */
static void set_joins(struct lower *lower)
{
    struct code *code = lower->code;
    for (uint32_t b = 0; b < lower->flow.block_count; b++) {
        const struct flow_block *block = &lower->flow.blocks[b];
        struct op *last = &code->ops[block->first + block->count - 1];
        if (last->join != NO_OP) /* a call, which ends where it stands */
            continue;
        if (block->join != FLOW_NONE)
            last->join = lower->flow.blocks[block->join].first;
        else if (!lower->function->is_kernel)
            last->join = lower->function->inst_count;
        if (last->join != NO_OP && block->next_count > 1)
            code->ops[last->join].flags |= OP_JOIN;
    }
    for (uint32_t i = 0; i < code->op_count; i++) /* a call through pointers may part them, too */
        if (code->ops[i].kind == OP_CONTROL && code->ops[i].join == i + 1)
            code->ops[i + 1].flags |= OP_JOIN;
}

/* On a GPU a warp that loads from memory waits, and meanwhile the block's other warps do the same. Programs
 * that let several warps work on the same data by mistake get away with it there; so that they do here, too,
 * a kernel's loads outside of loops end the warp's turn. (In loops it would cost much and change little.) The
 * same goes for a read of shared memory that a write follows without a barrier: all warps have read before
 * the first of them gets as far as to write. */
static void set_pauses(struct lower *lower)
{
    struct code *code = lower->code;
    if (!lower->function->is_kernel)
        return;
    uint32_t loop_end = 0, plain_end = 0; /* of the loops that began so far; of those without barriers */
    uint32_t *ends = mem_alloc(code->op_count, sizeof *ends);
    uint32_t *barriers = mem_alloc(code->op_count + 1, sizeof *barriers); /* before each operation */
    for (uint32_t i = 0; i < code->op_count; i++) {
        barriers[i + 1] = barriers[i] + (code->ops[i].role == ROLE_BARRIER);
        if (code->ops[i].kind == OP_BRANCH && code->ops[i].target <= i && ends[code->ops[i].target] < i)
            ends[code->ops[i].target] = i;
    }
    struct op *read = NULL; /* the last read of shared memory since a barrier */
    for (uint32_t i = 0; i < code->op_count; i++) {
        struct op *op = &code->ops[i];
        loop_end = (uint32_t)max_u64(loop_end, ends[i]);
        if (barriers[ends[i]] == barriers[i])
            plain_end = (uint32_t)max_u64(plain_end, ends[i]);
        if (i >= loop_end && access_waits(op))
            op->flags |= OP_PAUSES;
        if (op->role == ROLE_BARRIER)
            read = NULL;
        else if (i >= plain_end && access_reads_shared(op))
            read = op;
        else if (read && access_writes_shared(op))
            read->flags |= OP_PAUSES;
    }
    mem_free(ends);
    mem_free(barriers);
}

enum { LOCAL_MOST = 524288 }; /* bytes of a thread */

/* What would need more than frames and stacks have. */
static bool check_function(const struct code *code, struct err *err)
{
    const struct ptx_function *f = code->function;
    uint64_t local = 0;
    for (uint32_t r = 0; r < f->register_count; r++)
        if (ptx_type_bytes(f->registers[r].type) > 8)
            return err_set(err, "%s: register %s has 128 bits, which is not supported", code->module->name,
                           f->registers[r].name);
    for (uint32_t i = 0; i < f->variable_count; i++)
        if (f->variables[i].space == PTX_LOCAL || f->variables[i].space == PTX_PARAM)
            local = add_saturating(local, f->variables[i].bytes);
    for (uint32_t i = 0; i < f->result_count + f->param_count; i++)
        local = add_saturating(
            local, (i < f->result_count ? &f->results[i] : &f->params[i - f->result_count])->bytes);
    if (local > LOCAL_MOST)
        return err_set(err, "%s: %s has %llu bytes of local memory, a GPU has %d", code->module->name,
                       f->name, (unsigned long long)local, LOCAL_MOST);
    return true;
}

/* Sums that take a product read its factors: they live on as long as the product does. */
static void find_taken(struct lower *lower)
{
    const struct ptx_function *f = lower->function;
    struct flow_span *spans = lower->flow.spans;
    lower->taken = mem_alloc(f->inst_count + 1, sizeof *lower->taken);
    if (lower->code->module->debug)
        return;
    lower->kernel->program->assembler->contract(f, &lower->flow, lower->taken);
    for (uint32_t i = 0; i < f->inst_count; i++) {
        if (!lower->taken[i].product)
            continue;
        const struct ptx_operand *product = &f->operands[f->insts[lower->taken[i].product - 1].first];
        const struct flow_span *life = &spans[product->index];
        for (uint32_t k = 1; k <= 2; k++) {
            if (product[k].kind != PTX_OP_REGISTER)
                continue;
            struct flow_span *span = &spans[product[k].index];
            span->from = (uint32_t)min_u64(span->from, life->from);
            span->to = (uint32_t)max_u64(span->to, life->to);
        }
    }
}

struct code *code_new(struct ptx_kernel *kernel, size_t function, struct err *err)
{
    const struct function_entry *entry = &kernel->program->functions[function];
    const struct ptx_function *f = entry->function;
    struct code *code = mem_alloc(1, sizeof *code);
    struct lower lower = {.kernel = kernel, .code = code, .function = f, .err = err};
    code->function = f;
    code->module_index = entry->module;
    code->module = kernel->program->modules[entry->module];
    code->op_count = f->inst_count + 1;
    code->ops = mem_alloc(code->op_count, sizeof *code->ops);
    if (!check_function(code, err)) {
        code_free(code);
        return NULL;
    }
    flow_init(&lower.flow, f);
    code->pressure = lower.flow.pressure;
    find_taken(&lower);
    place_registers(&lower);
    for (int k = 0; k < 3; k++)
        lower.moves[k] = alu_executor(alu_find((const char *[]){"mov.b16", "mov.b32", "mov.b64"}[k]));
    place_variables(&lower);
    bool good = true;
    for (uint32_t i = 0; i < f->inst_count && good; i++)
        good = lower_one(&lower, i);
    if (good) {
        lower.inst = NULL;
        lower_end(&lower, &code->ops[f->inst_count]);
        code->ops[f->inst_count].flags |= OP_STEERS;
        set_joins(&lower);
        set_pauses(&lower);
        if (kernel->program->timed)
            code_time(&lower);
        code->frame_bytes = (lower.frame + 255) & ~255u;
    }
    flow_fini(&lower.flow);
    mem_free(lower.taken);
    mem_free(lower.places);
    mem_free(lower.homes);
    mem_free(lower.reads);
    mem_free(lower.table);
    if (good)
        return code;
    code_free(code);
    return NULL;
}

void code_free(struct code *code)
{
    if (!code)
        return;
    for (size_t i = 0; i < code->owned_count; i++)
        mem_free(code->owned[i]);
    mem_free(code->owned);
    mem_free(code->ops);
    code_forget_timing(code);
    mem_free(code->constants);
    mem_free(code->zeroed);
    mem_free(code->variable_at);
    mem_free(code->param_at);
    mem_free(code);
}
