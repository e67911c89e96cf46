/* Heads of functions, their directives, prototypes and aliases. */
#include "parse.h"
#include "base/bits.h"

#include <stddef.h>

/* What may stand behind the parameters of a function: numbers or a switch, and where they are kept. */
static const struct function_row {
    const char *name;
    int numbers; /* at most; 0: a switch */
    size_t offset;
} rows[] = {
#define FIELD(name) offsetof(struct ptx_function, name)
#define NOWHERE     SIZE_MAX
    {".maxntid", 3, FIELD(maxntid)},
    {".reqntid", 3, FIELD(reqntid)},
    {".minnctapersm", 1, FIELD(minnctapersm)},
    {".maxnctapersm", 1, NOWHERE}, /* a hint of old code */
    {".maxnreg", 1, FIELD(maxnreg)},
    {".reqnctapercluster", 3, FIELD(reqnctapercluster)},
    {".maxclusterrank", 1, FIELD(maxclusterrank)},
    {".explicitcluster", 0, FIELD(explicit_cluster)},
    {".blocksareclusters", 0, FIELD(blocks_are_clusters)},
    {".noreturn", 0, FIELD(is_noreturn)},
    {".abi_preserve", 1, NOWHERE}, /* registers that a call keeps: of no matter to what it does */
    {".abi_preserve_control", 1, NOWHERE},
};

/* 256, 1, 1: what is left out is 1 */
static bool parse_numbers(struct parser *parser, int most, uint32_t *numbers)
{
    for (int i = 0; i < most; i++)
        numbers[i] = 1;
    for (int i = 0; i < most; i++) {
        uint64_t value;
        if (!expect_count(parser, "a number", UINT32_MAX, &value))
            return false;
        numbers[i] = (uint32_t)value;
        if (i + 1 == most || !accept(parser, ','))
            break;
    }
    return true;
}

static bool parse_row(struct parser *parser, const struct function_row *row, struct ptx_function *function)
{
    uint32_t unused[3];
    char *field = row->offset == NOWHERE ? NULL : (char *)function + row->offset;
    next(parser);
    if (row->numbers)
        return parse_numbers(parser, row->numbers, field ? (uint32_t *)(void *)field : unused);
    *(bool *)field = true;
    return true;
}

static bool parse_directives(struct parser *parser, struct ptx_function *function)
{
    bool managed;
    for (;;) {
        const struct function_row *row = DIRECTIVE_ROW(parser, rows);
        bool good;
        if (row)
            good = parse_row(parser, row, function);
        else if (accept_directive(parser, ".pragma"))
            good = parse_pragma(parser);
        else if (accept_directive(parser, ".attribute"))
            good = parse_attribute(parser, &managed);
        else
            return true;
        if (!good)
            return false;
    }
}

/* The place of a function of this name: its own, or a new one. */
static bool claim(struct parser *parser, struct name *name, const struct token *token, bool defines,
                  uint32_t *index)
{
    struct binding *binding = name->binding;
    *index = (uint32_t)parser->functions.count;
    if (!binding) {
        binding = scope_bind(&parser->scopes, name, PTX_SYM_FUNCTION, *index);
        binding->line = token->line;
        *list_push(parser->functions) = (struct ptx_function){.name = name->text, .line = token->line};
        return true;
    }
    if (binding->kind != PTX_SYM_FUNCTION || (defines && parser->functions.at[binding->index].has_body))
        return parse_fail_twice(parser, token, name);
    *index = binding->index;
    return true;
}

/* Results, name, parameters, directives */
static bool parse_head(struct parser *parser, struct ptx_function *function, struct token *token,
                       struct name **name)
{
    if (!parse_directives(parser, function))
        return false;
    if (!function->is_kernel && at(parser, '(') &&
        !parse_params(parser, &function->results, &function->result_count))
        return false;
    *token = parser->lex.token;
    function->line = token->line;
    if (!expect_name(parser, "the name of a function", name))
        return false;
    function->name = (*name)->text;
    if (at(parser, '(') && !parse_params(parser, &function->params, &function->param_count))
        return false;
    return parse_directives(parser, function);
}

bool parse_function(struct parser *parser, enum ptx_linkage linkage, bool is_kernel)
{
    struct ptx_function function = {.is_kernel = is_kernel, .linkage = linkage};
    struct token token;
    struct name *name;
    uint32_t index;
    if (!parse_head(parser, &function, &token, &name))
        return false;
    bool defines = at(parser, '{');
    if (!defines && !at(parser, ';'))
        return parse_fail(parser, "'{', ';' or a directive of a function, such as .maxntid");
    bool is_new = !name->binding;
    if (!claim(parser, name, &token, defines, &index))
        return false;
    if (!defines) {
        if (is_new)
            parser->functions.at[index] = function;
        next(parser);
        return true;
    }
    if (!parse_body(parser, &function))
        return false;
    parser->functions.at[index] = function;
    return true;
}

bool parse_prototype(struct parser *parser, struct ptx_prototype *prototype)
{
    struct ptx_function function = {0};
    struct token token;
    struct name *name;
    if (!parse_head(parser, &function, &token, &name) || !expect_sign(parser, ';'))
        return false;
    prototype->results = function.results;
    prototype->result_count = function.result_count;
    prototype->params = function.params;
    prototype->param_count = function.param_count;
    return true;
}

/* .alias NAME, FUNCTION; */
bool parse_alias(struct parser *parser)
{
    const struct token token = parser->lex.token;
    struct name *name, *of;
    uint32_t index;
    if (!expect_name(parser, "a name", &name) || !claim(parser, name, &token, true, &index) ||
        !expect_sign(parser, ',') || !expect_name(parser, "the name of a function", &of))
        return false;
    parser->functions.at[index].alias = of->text;
    return expect_sign(parser, ';');
}
