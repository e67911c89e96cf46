/* Bodies of functions: statements, scopes, labels. */
#include "parse.h"
#include "base/bits.h"

static bool declare_variable(struct parser *parser, struct ptx_variable *variable, const struct token *token)
{
    struct name *name = scope_name(&parser->scopes, token->at, token->length);
    struct binding *binding =
        scope_bind(&parser->scopes, name, PTX_SYM_VARIABLE, (uint32_t)parser->body.variables.count);
    if (!binding)
        return parse_fail_twice(parser, token, name);
    binding->line = token->line;
    *list_push(parser->body.variables) = *variable;
    return true;
}

/* Parameters and results are known by name in the body; those in registers are registers. */
static bool bind_params(struct parser *parser, struct ptx_variable *params, uint32_t count,
                        enum ptx_symbol_kind kind)
{
    for (uint32_t i = 0; i < count; i++) {
        bool in_register = params[i].space == PTX_REG;
        struct name *name = scope_name(&parser->scopes, params[i].name, strlen(params[i].name));
        struct binding *binding = in_register ? scope_bind(&parser->scopes, name, BIND_REGISTER, NOTHING)
                                              : scope_bind(&parser->scopes, name, (uint8_t)kind, i);
        if (!binding)
            return parse_fail(parser, "no second parameter named %.80s before this", params[i].name);
        binding->line = params[i].line;
        if (in_register) {
            binding->type = (uint8_t)params[i].type;
            binding->parts = 1;
            params[i].offset = body_register(&parser->body, parser->store, binding);
        }
    }
    return true;
}

enum { OLDEST_TARGET = 20 }; /* code for GPUs before is older PTX */

static struct name *usual_opcode(struct parser *parser, struct name *opcode)
{
    char ordered[128];
    if (!opcode->usual)
        opcode->usual = (parser->module->target < OLDEST_TARGET &&
                         parse_older_opcode(opcode->text, ordered, sizeof ordered)) ||
                                ptx_order_opcode(opcode->text, ordered, sizeof ordered)
                            ? scope_name(&parser->scopes, ordered, strlen(ordered))
                            : opcode;
    return opcode->usual;
}

/* "atom.global.v4.add.f32" without its v4; how many elements it has, or 0. */
static uint32_t vector_atomic(const char *opcode, char *single, size_t room)
{
    if ((strncmp(opcode, "atom.", 5) != 0 && strncmp(opcode, "red.", 4) != 0) || strlen(opcode) >= room)
        return 0;
    for (const char *at = strchr(opcode, '.'); at; at = strchr(at + 1, '.'))
        if (at[1] == 'v' && strchr("248", at[2]) && at[2] && at[3] == '.') {
            snprintf(single, room, "%.*s%s", (int)(at - opcode), opcode, at + 3);
            return (uint32_t)(at[2] - '0');
        }
    return 0;
}

static bool is_register(const struct ptx_operand *operand, uint32_t index)
{
    return operand->kind == PTX_OP_REGISTER && operand->index == index;
}

/* Whether the first of several, one after another, would write what a later one reads. */
static bool splits(const struct body *body, const struct ptx_operand *operands, bool returns, uint32_t count)
{
    const struct ptx_operand *memory = &operands[returns], *values = &operands[returns + 1u];
    if (memory->kind != PTX_OP_MEMORY || values->kind != PTX_OP_VECTOR || values->count != count ||
        (returns && (operands[0].kind != PTX_OP_VECTOR || operands[0].count != count)))
        return false;
    for (uint32_t i = 0; returns && i < count; i++) {
        const struct ptx_operand *d = &body->operands.at[operands[0].first + i];
        if (d->kind != PTX_OP_REGISTER)
            continue;
        bool read = i + 1 < count && is_register(&body->operands.at[memory->first], d->index);
        for (uint32_t later = i + 1; later < count; later++)
            read |= is_register(&body->operands.at[values->first + later], d->index);
        if (read)
            return false;
    }
    return true;
}

/* An atomic operation on a vector is one for each element: no other thread may rely on seeing all of them. */
static bool split_atomic(struct parser *parser, const struct ptx_inst *inst)
{
    struct body *body = &parser->body;
    char single[128];
    uint32_t count = vector_atomic(inst->opcode, single, sizeof single);
    bool returns = inst->opcode[0] == 'a';
    const char *type = strrchr(single, '.');
    uint32_t bytes = count ? ptx_type_bytes(ptx_type_of(type + 1, strlen(type + 1))) : 0;
    if (!count || !bytes || inst->count < 2u + returns ||
        !splits(body, &body->operands.at[inst->first], returns, count))
        return false;
    const char *opcode = scope_name(&parser->scopes, single, strlen(single))->text;
    for (uint32_t i = 0; i < count; i++) {
        struct ptx_inst one = *inst;
        one.opcode = opcode;
        one.first = (uint32_t)body->operands.count;
        one.count = 2u + returns;
        for (uint32_t k = 0; k < one.count; k++) {
            struct ptx_operand operand = body->operands.at[inst->first + k];
            if (operand.kind == PTX_OP_MEMORY)
                operand.value += (uint64_t)i * bytes;
            else
                operand = body->operands.at[operand.first + i];
            *list_push(body->operands) = operand;
        }
        *list_push(body->insts) = one;
    }
    return true;
}

enum { WIDE_PARTS = 8 }; /* 128 bits as registers of 16 */

/* The elements of an operand that are this half of 128 bits: one, or a vector of smaller ones. */
static struct ptx_operand half_of(const struct body *body, const struct ptx_operand *operand, uint32_t half)
{
    uint32_t count = operand->count / 2;
    if (count == 1)
        return body->operands.at[operand->first + half];
    struct ptx_operand vector = *operand;
    vector.first += half * count;
    vector.count = count;
    return vector;
}

/* mov.b128: a register of 128 bits is a pair, so it is one mov for each half. */
static bool split_wide_move(struct parser *parser, const struct ptx_inst *inst)
{
    struct body *body = &parser->body;
    if (strcmp(inst->opcode, "mov.b128") != 0 || inst->count != 2)
        return false;
    const struct ptx_operand d = body->operands.at[inst->first], a = body->operands.at[inst->first + 1];
    const struct ptx_operand *const both[] = {&d, &a};
    for (uint32_t i = 0; i < COUNT_OF(both); i++)
        if (both[i]->kind != PTX_OP_VECTOR || both[i]->count % 2 || !both[i]->count ||
            both[i]->count > WIDE_PARTS)
            return false;
    const struct ptx_operand first = half_of(body, &d, 0), later = half_of(body, &a, 1);
    if (first.kind == PTX_OP_REGISTER && is_register(&later, first.index))
        return false;
    for (uint32_t half = 0; half < 2; half++) {
        struct ptx_inst one = *inst;
        one.opcode = scope_name(&parser->scopes, "mov.b64", 7)->text;
        one.first = (uint32_t)body->operands.count;
        for (uint32_t i = 0; i < COUNT_OF(both); i++) {
            struct ptx_operand operand = half_of(body, both[i], half);
            *list_push(body->operands) = operand;
        }
        if (body->operands.at[one.first].kind != PTX_OP_SINK)
            *list_push(body->insts) = one;
    }
    return true;
}

/* Loads and stores of .b128 are those of a pair. */
static const char *paired_opcode(struct parser *parser, const char *opcode)
{
    char paired[128];
    size_t length = strlen(opcode);
    if ((strncmp(opcode, "ld.", 3) != 0 && strncmp(opcode, "ldu.", 4) != 0 &&
         strncmp(opcode, "st.", 3) != 0) ||
        length < 6 || length + 3 > sizeof paired || strcmp(opcode + length - 5, ".b128") != 0)
        return opcode;
    snprintf(paired, sizeof paired, "%.*s.v2.b64", (int)(length - 5), opcode);
    return scope_name(&parser->scopes, paired, strlen(paired))->text;
}

static bool parse_instruction(struct parser *parser, int32_t guard, bool guard_not)
{
    struct body *body = &parser->body;
    struct ptx_inst inst = {.line = parser->lex.token.line, .guard = guard, .guard_not = guard_not};
    struct name *opcode;
    lex_opcode(&parser->lex);
    if (!expect_name(parser, "an instruction", &opcode))
        return false;
    parser->in_call = strncmp(opcode->text, "call", 4) == 0;
    if (!parse_operands(parser, &inst.first, &inst.count))
        return false;
    inst.opcode = paired_opcode(parser, usual_opcode(parser, opcode)->text);
    inst.loc = (uint32_t)body->locs.count;
    if (!split_atomic(parser, &inst) && !split_wide_move(parser, &inst))
        *list_push(body->insts) = inst;
    return true;
}

static bool parse_guarded(struct parser *parser)
{
    uint32_t guard;
    next(parser);
    bool guard_not = accept(parser, '!');
    return parse_register(parser, &guard) && parse_instruction(parser, (int32_t)guard, guard_not);
}

/* NAME: .branchtargets A, B; */
static bool parse_table(struct parser *parser, struct name *name, const struct token *token)
{
    struct body *body = &parser->body;
    struct ptx_branch_table table = {.name = name->text};
    struct binding *binding = scope_bind(&parser->scopes, name, PTX_SYM_TABLE, (uint32_t)body->tables.count);
    if (!binding)
        return parse_fail_twice(parser, token, name);
    binding->line = token->line;
    next(parser);
    if (!parse_operands(parser, &table.first, &table.count))
        return false;
    *list_push(body->tables) = table;
    return true;
}

/* NAME: .callprototype (.param .b32 _) _ (.param .b64 _); */
static bool parse_named_prototype(struct parser *parser, struct name *name, const struct token *token)
{
    struct body *body = &parser->body;
    struct ptx_prototype prototype = {.name = name->text};
    struct binding *binding =
        scope_bind(&parser->scopes, name, PTX_SYM_PROTOTYPE, (uint32_t)body->prototypes.count);
    if (!binding)
        return parse_fail_twice(parser, token, name);
    binding->line = token->line;
    next(parser);
    if (!parse_prototype(parser, &prototype))
        return false;
    *list_push(body->prototypes) = prototype;
    return true;
}

static const struct named_row {
    const char *name;
    bool (*parse)(struct parser *parser, struct name *name, const struct token *token);
} named_directives[] = {
    {".branchtargets", parse_table},
    {".calltargets", parse_table},
    {".callprototype", parse_named_prototype},
};

static bool parse_label(struct parser *parser)
{
    struct body *body = &parser->body;
    const struct token token = parser->lex.token;
    struct name *name = scope_name(&parser->scopes, token.at, token.length);
    next(parser);
    next(parser); /* the colon */
    const struct named_row *row = DIRECTIVE_ROW(parser, named_directives);
    if (row)
        return row->parse(parser, name, &token);
    struct binding *binding = scope_bind(&parser->scopes, name, BIND_LABEL, (uint32_t)body->labels.count);
    if (!binding)
        return parse_fail_twice(parser, &token, name);
    binding->line = token.line;
    *list_push(body->labels) = (struct ptx_label){.name = name->text, .inst = (uint32_t)body->insts.count};
    return true;
}

static const struct directive_row {
    const char *name;
    bool (*parse)(struct parser *parser); /* behind it */
} directives[] = {
    {".loc", parse_loc}, {".pragma", parse_pragma}, {".file", parse_file}, {".section", parse_section}};

static bool parse_directive(struct parser *parser)
{
    enum ptx_space space;
    enum ptx_linkage linkage;
    if (at_space(parser, &space) && space == PTX_REG)
        return parse_registers(parser);
    const struct directive_row *row = DIRECTIVE_ROW(parser, directives);
    if (row) {
        next(parser);
        return row->parse(parser);
    }
    parse_linkage(parser, &linkage);
    if (at_space(parser, &space) && space != PTX_REG)
        return parse_variables(parser, linkage, declare_variable);
    return parse_fail(parser, "a directive of a function's body, such as .reg or .shared");
}

static bool parse_statement(struct parser *parser)
{
    switch (parser->lex.token.kind) {
    case TOKEN_WORD:
        return lex_peek(&parser->lex) == ':' ? parse_label(parser) : parse_instruction(parser, -1, false);
    case '@':
        return parse_guarded(parser);
    case TOKEN_DIRECTIVE:
        return parse_directive(parser);
    case ';':
        next(parser);
        return true;
    default:
        return parse_fail(parser, "an instruction, a label, a directive, '{' or '}'");
    }
}

/* Opens or closes a scope, or parses what is in it. */
static bool step(struct parser *parser)
{
    if (at(parser, '{')) {
        if (parser->scopes.depth == SCOPE_DEEPEST)
            return parse_fail(parser, "no more than %d scopes, one in the other", SCOPE_DEEPEST);
        body_open(&parser->body, &parser->scopes);
        next(parser);
        return true;
    }
    if (!at(parser, '}'))
        return parse_statement(parser);
    body_close(&parser->body, &parser->scopes);
    next(parser);
    return true;
}

bool parse_body(struct parser *parser, struct ptx_function *function)
{
    struct body *body = &parser->body;
    body_reset(body);
    if (!step(parser) || !bind_params(parser, function->results, function->result_count, PTX_SYM_RESULT) ||
        !bind_params(parser, function->params, function->param_count, PTX_SYM_PARAM))
        return false;
    while (parser->scopes.depth > SCOPE_MODULE) {
        if (!step(parser))
            return false;
    }
    function->has_body = true;
    body_finish(body, parser->store, function);
    return true;
}
