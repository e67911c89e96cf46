/* Declarations of variables, parameters and registers. */
#include "parse.h"
#include "base/bits.h"

enum { MOST_ALIGNMENT = 1 << 16, MOST_RANGE = 1 << 24 };
#define MOST_BYTES (UINT64_C(1) << 40)

static const struct space_row {
    const char *name;
    enum ptx_space space;
} spaces[] = {
    {".reg", PTX_REG},     {".const", PTX_CONST}, {".global", PTX_GLOBAL},
    {".local", PTX_LOCAL}, {".param", PTX_PARAM}, {".shared", PTX_SHARED},
};

static const struct linkage_row {
    const char *name;
    enum ptx_linkage linkage;
} linkages[] = {
    {".visible", PTX_VISIBLE}, {".extern", PTX_EXTERN}, {".weak", PTX_WEAK}, {".common", PTX_COMMON}};

/* What a declaration says of all its variables. */
struct head {
    struct ptx_variable variable;
    uint32_t vector; /* elements: 1, 2, 4 */
};

bool at_space(const struct parser *parser, enum ptx_space *space)
{
    const struct space_row *row = DIRECTIVE_ROW(parser, spaces);
    if (row)
        *space = row->space;
    return row;
}

bool parse_linkage(struct parser *parser, enum ptx_linkage *linkage)
{
    const struct linkage_row *row = DIRECTIVE_ROW(parser, linkages);
    *linkage = row ? row->linkage : PTX_INTERNAL;
    if (row)
        next(parser);
    return row;
}

/* .attribute(.managed), .attribute(.unified(1, 2)), or several of them */
bool parse_attribute(struct parser *parser, bool *managed)
{
    uint64_t value;
    if (!expect_sign(parser, '('))
        return false;
    do {
        if (accept_directive(parser, ".managed")) {
            *managed = true;
        } else if (accept_directive(parser, ".unified")) {
            if (!expect_sign(parser, '(') || !parse_integer(parser, &value) || !expect_sign(parser, ',') ||
                !parse_integer(parser, &value) || !expect_sign(parser, ')'))
                return false;
        } else {
            return parse_fail(parser, ".managed or .unified");
        }
    } while (accept(parser, ','));
    return expect_sign(parser, ')');
}

static bool parse_alignment(struct parser *parser, uint32_t *alignment)
{
    const struct token *token = &parser->lex.token;
    uint64_t value = token->value;
    if (token->kind != TOKEN_INTEGER || !value || (value & (value - 1)) || value > MOST_ALIGNMENT)
        return parse_fail(parser, "an alignment: a power of two, %d at most", MOST_ALIGNMENT);
    *alignment = (uint32_t)value;
    next(parser);
    return true;
}

/* .ptr .global .align 16: of what a parameter points to, which nothing here depends on */
static bool parse_pointer(struct parser *parser)
{
    enum ptx_space space;
    uint32_t alignment;
    if (at_space(parser, &space))
        next(parser);
    return !accept_directive(parser, ".align") || parse_alignment(parser, &alignment);
}

static bool parse_type(struct parser *parser, enum ptx_type *type)
{
    const struct token *token = &parser->lex.token;
    *type = token->kind == TOKEN_DIRECTIVE ? ptx_type_of(token->at + 1, token->length - 1) : PTX_NO_TYPE;
    if (*type == PTX_NO_TYPE)
        return parse_fail(parser, "a type such as .b32");
    next(parser);
    return true;
}

static bool parse_head(struct parser *parser, struct head *head)
{
    *head = (struct head){.vector = 1};
    struct ptx_variable *variable = &head->variable;
    if (!at_space(parser, &variable->space))
        return parse_fail(parser, "a state space such as .param");
    next(parser);
    while (variable->type == PTX_NO_TYPE) {
        bool good = true;
        if (accept_directive(parser, ".align"))
            good = parse_alignment(parser, &variable->alignment);
        else if (accept_directive(parser, ".attribute"))
            good = parse_attribute(parser, &variable->managed);
        else if (accept_directive(parser, ".v2"))
            head->vector = 2;
        else if (accept_directive(parser, ".v4"))
            head->vector = 4;
        else
            good = parse_type(parser, &variable->type);
        if (!good)
            return false;
    }
    if (variable->space == PTX_PARAM && accept_directive(parser, ".ptr") && !parse_pointer(parser))
        return false;
    return !accept_directive(parser, ".align") || parse_alignment(parser, &variable->alignment);
}

/* [4][], up to where no bracket follows */
static bool parse_dims(struct parser *parser, struct shape *shape)
{
    while (accept(parser, '[')) {
        if (shape->dims == COUNT_OF(shape->counts) - 1)
            return parse_fail(parser, "%d dimensions at most", (int)COUNT_OF(shape->counts) - 1);
        uint64_t *count = &shape->counts[shape->dims++];
        if (shape->dims == 1 && accept(parser, ']')) {
            shape->unsized = true;
            continue;
        }
        if (!parse_integer(parser, count) || !expect_sign(parser, ']'))
            return false;
    }
    return true;
}

static bool count_bytes(struct parser *parser, const struct shape *shape, uint64_t *bytes)
{
    for (uint32_t i = shape->dims; i-- > 0;) { /* the first comes last: it may be 0, which hides the others */
        if (__builtin_mul_overflow(*bytes, shape->counts[i], bytes) || *bytes > MOST_BYTES)
            return parse_fail(parser, "a variable of %llu bytes at most before this",
                              (unsigned long long)MOST_BYTES);
    }
    return true;
}

static bool parse_value(struct parser *parser, struct ptx_variable *variable, struct shape *shape)
{
    if (variable->space != PTX_GLOBAL && variable->space != PTX_CONST)
        return parse_fail(parser, "',' or ';': only .global and .const variables have initial values");
    next(parser);
    return parse_initial(parser, variable, shape);
}

/* NAME[4] = {1, 2} */
static bool parse_declarator(struct parser *parser, const struct head *head, bool may_have_value,
                             struct ptx_variable *variable, struct token *token)
{
    struct shape shape = {0};
    struct name *name;
    *variable = head->variable;
    *token = parser->lex.token;
    variable->line = token->line;
    variable->bytes = ptx_type_bytes(variable->type);
    if (!variable->bytes && variable->space != PTX_REG)
        return parse_fail(parser, "a variable with another type than .%s", ptx_type_name(variable->type));
    if (!variable->alignment)
        variable->alignment = (uint32_t)max_u64(variable->bytes * head->vector, 1);
    if (!expect_name(parser, "a name", &name) || !parse_dims(parser, &shape))
        return false;
    variable->name = name->text;
    if (head->vector > 1)
        shape.counts[shape.dims++] = head->vector;
    if (!count_bytes(parser, &shape, &variable->bytes))
        return false;
    return !may_have_value || !at(parser, '=') || parse_value(parser, variable, &shape);
}

bool parse_variables(struct parser *parser, enum ptx_linkage linkage, declared_fn *declared)
{
    struct head head;
    struct ptx_variable variable;
    struct token name;
    if (!parse_head(parser, &head))
        return false;
    head.variable.linkage = linkage;
    do {
        if (!parse_declarator(parser, &head, true, &variable, &name) || !declared(parser, &variable, &name))
            return false;
    } while (accept(parser, ','));
    return accept(parser, ';') || parse_fail(parser, "',' or ';'");
}

bool parse_params(struct parser *parser, struct ptx_variable **params, uint32_t *count)
{
    LIST_OF(struct ptx_variable) list = {0};
    uint64_t offset = 0;
    bool good = expect_sign(parser, '(');
    while (good && !at(parser, ')')) {
        struct head head;
        struct token name;
        struct ptx_variable variable;
        good = parse_head(parser, &head) && parse_declarator(parser, &head, false, &variable, &name);
        if (good) {
            variable.offset = (offset + variable.alignment - 1) & ~(uint64_t)(variable.alignment - 1);
            offset = variable.offset + variable.bytes;
            *list_push(list) = variable;
            good = accept(parser, ',') || at(parser, ')') || parse_fail(parser, "',' or ')'");
        }
    }
    *params = ptx_store_copy(parser->store, list.at, list.count, sizeof *list.at);
    *count = (uint32_t)list.count;
    mem_free(list.at);
    return good && expect_sign(parser, ')');
}

/* %r<100> */
static bool parse_range(struct parser *parser, const struct token *token, struct name *name,
                        struct binding **binding)
{
    uint64_t count;
    if (!expect_count(parser, "a number of registers", MOST_RANGE, &count) || !expect_sign(parser, '>'))
        return false;
    *binding = scope_bind_range(&parser->scopes, name, (uint32_t)count);
    return *binding || parse_fail_twice(parser, token, name);
}

bool parse_registers(struct parser *parser)
{
    struct head head;
    if (!parse_head(parser, &head))
        return false;
    if (head.variable.type == PTX_b128 && head.vector > 1)
        return parse_fail(parser, "no vector of .b128 before this");
    do {
        struct binding *binding;
        struct name *name;
        const struct token token = parser->lex.token;
        if (!expect_name(parser, "the name of a register", &name))
            return false;
        if (accept(parser, '<')) {
            if (!parse_range(parser, &token, name, &binding))
                return false;
        } else {
            binding = scope_bind(&parser->scopes, name, BIND_REGISTER, NOTHING);
            if (!binding)
                return parse_fail_twice(parser, &token, name);
        }
        bool is_wide = head.variable.type == PTX_b128; /* a pair of 64 bits: statement.c makes use of it */
        binding->type = (uint8_t)(is_wide ? PTX_b64 : head.variable.type);
        binding->parts = (uint8_t)(is_wide ? 2 : head.vector);
        binding->line = token.line;
    } while (accept(parser, ','));
    return accept(parser, ';') || parse_fail(parser, "',' or ';'");
}
