/* Modules: declarations outside of functions. */
#include "parse.h"
#include "base/bits.h"

#include <stdio.h>

enum { NEWEST_VERSION = 90 };
#define MOST_TEXT ((size_t)INT32_MAX) /* so that no count of what is in it can be too large */

/* 9.0 */
static bool parse_version(struct parser *parser)
{
    const struct token *token = &parser->lex.token;
    bool good = token->kind == TOKEN_FLOAT && token->length >= 3 && token->length <= 4;
    uint32_t major = 0;
    for (size_t i = 0; good && i + 2 < token->length; i++) {
        good = token->at[i] >= '0' && token->at[i] <= '9';
        major = 10 * major + (uint32_t)(token->at[i] - '0');
    }
    if (!good || token->at[token->length - 2] != '.')
        return parse_fail(parser, "a version such as 9.0");
    parser->module->version = 10 * major + (uint32_t)(token->at[token->length - 1] - '0');
    next(parser);
    return true;
}

/* sm_90a, texmode_independent, debug */
static bool parse_target(struct parser *parser)
{
    do {
        const struct token *token = &parser->lex.token;
        if (token->kind != TOKEN_WORD)
            return parse_fail(parser, "a target such as sm_90");
        if (token->length >= 5 && token->length <= 7 && strncmp(token->at, "sm_", 3) == 0) {
            uint32_t number = 0;
            size_t i = 3;
            for (; i < token->length && token->at[i] >= '0' && token->at[i] <= '9'; i++)
                number = 10 * number + (uint32_t)(token->at[i] - '0');
            parser->module->target = number;
            parser->module->target_specific = i < token->length;
        }
        parser->module->debug |= token->length == 5 && strncmp(token->at, "debug", 5) == 0;
        next(parser);
    } while (accept(parser, ','));
    return parser->module->target || parse_fail(parser, "a target such as sm_90 before this");
}

static bool parse_address_size(struct parser *parser)
{
    if (at(parser, TOKEN_INTEGER) && parser->lex.token.value != 64)
        return parse_fail(parser, "64: only addresses of 64 bits are supported");
    uint64_t bits;
    return expect_count(parser, "64", 64, &bits);
}

static bool declare_global(struct parser *parser, struct ptx_variable *variable, const struct token *token)
{
    struct name *name = scope_name(&parser->scopes, token->at, token->length);
    struct binding *binding = name->binding;
    if (!binding) {
        binding = scope_bind(&parser->scopes, name, PTX_SYM_GLOBAL, (uint32_t)parser->variables.count);
        binding->line = token->line;
        *list_push(parser->variables) = *variable;
        return true;
    }
    if (binding->kind != PTX_SYM_GLOBAL)
        return parse_fail_twice(parser, token, name);
    struct ptx_variable *old = &parser->variables.at[binding->index];
    if (old->linkage == PTX_EXTERN)
        *old = *variable;
    else if (variable->linkage != PTX_EXTERN)
        return parse_fail_twice(parser, token, name);
    return true;
}

static bool parse_entry(struct parser *parser)
{
    return parse_function(parser, PTX_INTERNAL, true);
}

static bool parse_func(struct parser *parser)
{
    return parse_function(parser, PTX_INTERNAL, false);
}

static const struct directive_row {
    const char *name;
    bool (*parse)(struct parser *parser); /* behind it */
} directives[] = {
    {".entry", parse_entry}, {".func", parse_func},       {".file", parse_file},
    {".loc", parse_loc},     {".section", parse_section}, {".pragma", parse_pragma},
    {".alias", parse_alias}, {".target", parse_target},   {".address_size", parse_address_size},
};

static bool parse_directive(struct parser *parser)
{
    enum ptx_space space;
    enum ptx_linkage linkage;
    const struct directive_row *row = DIRECTIVE_ROW(parser, directives);
    if (row) {
        next(parser);
        return row->parse(parser);
    }
    bool linked = parse_linkage(parser, &linkage);
    if (at_space(parser, &space) && (space == PTX_GLOBAL || space == PTX_CONST || space == PTX_SHARED))
        return parse_variables(parser, linkage, declare_global);
    if (linked && accept_directive(parser, ".entry"))
        return parse_function(parser, linkage, true);
    if (linked && accept_directive(parser, ".func"))
        return parse_function(parser, linkage, false);
    return parse_fail(parser, "a directive of a module, such as .visible, .entry or .global");
}

static bool parse_text(struct parser *parser)
{
    if (!accept_directive(parser, ".version"))
        return parse_fail(parser, ".version: PTX starts with it");
    if (!parse_version(parser))
        return false;
    if (!accept_directive(parser, ".target"))
        return parse_fail(parser, ".target");
    if (!parse_target(parser))
        return false;
    while (!at(parser, TOKEN_END)) {
        if (!accept(parser, ';') && !parse_directive(parser))
            return false;
    }
    return true;
}

/* Symbols that functions left to the module, which all of it may declare. */
static bool find_symbols(struct parser *parser)
{
    for (size_t i = 0; i < parser->functions.count; i++) {
        struct ptx_function *function = &parser->functions.at[i];
        for (uint32_t k = 0; k < function->symbol_count; k++) {
            struct ptx_symbol *symbol = &function->symbols[k];
            if (symbol->kind != PTX_SYM_COUNT)
                continue;
            struct binding *binding =
                scope_name(&parser->scopes, symbol->name, strlen(symbol->name))->binding;
            if (!binding)
                return err_set(parser->err,
                               "%s:%u: found '%.80s', expected a name that is declared (in function %.200s)",
                               parser->module->name, symbol->line, symbol->name, function->name);
            symbol->kind = (enum ptx_symbol_kind)binding->kind;
            symbol->index = binding->index;
        }
    }
    return true;
}

/* The special registers are names like any other, in the scope around all. */
static void bind_specials(struct scopes *scopes)
{
    for (uint32_t i = 0; i < PTX_SPECIAL_COUNT; i++) {
        const char *text = ptx_special_names[i], *dot = strchr(text, '.');
        struct name *name = scope_name(scopes, text, dot ? (size_t)(dot - text) : strlen(text));
        scope_bind(scopes, name, dot ? BIND_SPECIAL_VECTOR : BIND_SPECIAL, i); /* of .x .y .z the first */
    }
}

static void finish(struct parser *parser)
{
    struct ptx_module *module = parser->module;
#define KEEP(list, count_of)                                                                                 \
    module->list = ptx_store_copy(parser->store, parser->list.at, parser->list.count, sizeof *module->list); \
    module->count_of = (uint32_t)parser->list.count;
    KEEP(variables, variable_count)
    KEEP(functions, function_count)
    KEEP(files, file_count)
#undef KEEP
}

static void parser_fini(struct parser *parser)
{
    body_fini(&parser->body);
    mem_free(parser->variables.at);
    mem_free(parser->functions.at);
    mem_free(parser->files.at);
    mem_free(parser->initials.at);
    scopes_fini(&parser->scopes);
    lex_fini(&parser->lex);
    mem_free(parser);
}

static bool parse_module(struct ptx_module *module, const char *text, const char *end, struct err *err)
{
    struct parser *parser = mem_alloc(1, sizeof *parser);
    parser->module = module;
    parser->store = module->store;
    parser->err = err;
    scopes_init(&parser->scopes, module->store);
    bind_specials(&parser->scopes);
    lex_init(&parser->lex, text, end);
    bool good = parse_text(parser) && find_symbols(parser);
    if (good) {
        debug_resolve(parser);
        finish(parser);
    } else if (module->version > NEWEST_VERSION) {
        err_add(err, " (the module is of PTX ISA %u.%u; the newest known here is %d.%d)",
                module->version / 10, module->version % 10, NEWEST_VERSION / 10, NEWEST_VERSION % 10);
    }
    parser_fini(parser);
    return good;
}

struct ptx_module *ptx_parse(const char *name, const char *text, size_t bytes, struct err *err)
{
    while (bytes && !text[bytes - 1])
        bytes--;
    if (bytes > MOST_TEXT) {
        err_set(err, "%.1000s: a module of %zu bytes, expected %zu at most", name, bytes, MOST_TEXT);
        return NULL;
    }
    struct ptx_store *store = ptx_store_new();
    struct ptx_module *module = ptx_store_alloc(store, 1, sizeof *module);
    module->store = store;
    module->name = ptx_store_text(store, name, strlen(name));
    module->address_bits = 64;
    char *copy = mem_alloc(bytes + 1, 1); /* with a zero at its end, on which the lexer relies */
    memcpy(copy, text, bytes);
    if (!parse_module(module, copy, copy + bytes, err)) {
        ptx_store_free(store);
        module = NULL;
    }
    mem_free(copy);
    return module;
}

void ptx_free(struct ptx_module *module)
{
    if (module)
        ptx_store_free(module->store);
}
