/* Shared by the parts of the parser. Each parse_ function starts at the current token and ends after what it
 * parsed; false: the error is set. */
#ifndef PTX_PARSE_H
#define PTX_PARSE_H

#include "body.h"
#include "lexer.h"
#include "scope.h"

struct parser {
    struct lexer lex;
    struct scopes scopes;
    struct ptx_store *store;
    struct ptx_module *module;
    struct err *err;
    LIST_OF(struct ptx_variable) variables;
    LIST_OF(struct ptx_function) functions;
    LIST_OF(const char *) files;
    LIST_OF(struct ptx_initial) initials; /* of the variable being parsed */
    struct body body;
    int nesting;  /* of expressions, initializers and operands */
    bool in_call; /* parentheses are lists there, and part of expressions elsewhere */
};

enum { MOST_NESTING = 60 };

/* ---- tokens (parse.c) ---- */

/* "NAME:LINE: found 'TOKEN', expected ..." of the current token; returns false. */
/* What an opcode that only code for sm_1x may have (mad.f32) is on later GPUs (order.c). */
bool parse_older_opcode(const char *opcode, char *now, size_t room);

bool parse_fail(struct parser *parser, const char *format, ...) __attribute__((format(__printf__, 2, 3)));
bool parse_fail_twice(struct parser *parser, const struct token *token, const struct name *name);

static inline bool at(const struct parser *parser, int kind)
{
    return parser->lex.token.kind == kind;
}

static inline void next(struct parser *parser)
{
    lex_next(&parser->lex);
}

/* Takes the token if it is of this kind. */
static inline bool accept(struct parser *parser, int kind)
{
    if (parser->lex.token.kind != kind)
        return false;
    lex_next(&parser->lex);
    return true;
}

bool token_is(const struct token *token, const char *text);
bool accept_directive(struct parser *parser, const char *text);
bool accept_word(struct parser *parser, const char *text);
bool expect_sign(struct parser *parser, char sign);
bool expect_name(struct parser *parser, const char *what, struct name **name);
bool expect_count(struct parser *parser, const char *what, uint64_t most, uint64_t *count);

/* Of rows that each begin with the name of a directive: the one that the current token names, or NULL. */
#define DIRECTIVE_ROW(parser, rows) directive_row(parser, rows, COUNT_OF(rows), sizeof *(rows))
const void *directive_row(const struct parser *parser, const void *rows, size_t count, size_t bytes_each);

bool parse_nest(struct parser *parser); /* false: too deep */

/* ---- constants (constant.c) ---- */

struct ptx_constant {
    uint64_t value; /* or the bits of a float */
    bool is_float, single, is_unsigned;
};
bool parse_constant(struct parser *parser, struct ptx_constant *constant);
bool parse_integer(struct parser *parser, uint64_t *value);
double ptx_constant_real(const struct ptx_constant *constant);

/* ---- variables (declare.c, initial.c) ---- */

bool parse_linkage(struct parser *parser, enum ptx_linkage *linkage);
bool at_space(const struct parser *parser, enum ptx_space *space); /* .global, ... */
bool parse_attribute(struct parser *parser, bool *managed);        /* behind .attribute */

struct shape { /* of a variable: its elements, row by row */
    uint64_t counts[8];
    uint32_t dims;
    bool unsized; /* counts[0] is to be found out */
};

/* All variables of one declaration, up to and with the semicolon: `declared` is called for each. */
typedef bool declared_fn(struct parser *parser, struct ptx_variable *variable, const struct token *name);
bool parse_variables(struct parser *parser, enum ptx_linkage linkage, declared_fn *declared);
bool parse_initial(struct parser *parser, struct ptx_variable *variable, struct shape *shape);

/* (.param .b32 a, ...): in the store. */
bool parse_params(struct parser *parser, struct ptx_variable **params, uint32_t *count);

/* .reg .b32 a, %r<5>; */
bool parse_registers(struct parser *parser);

/* ---- functions (function.c, statement.c, operand.c) ---- */

/* behind .entry or .func, .alias, .callprototype */
bool parse_function(struct parser *parser, enum ptx_linkage linkage, bool is_kernel);
bool parse_alias(struct parser *parser);
bool parse_prototype(struct parser *parser, struct ptx_prototype *prototype);
bool parse_body(struct parser *parser, struct ptx_function *function);
bool parse_operands(struct parser *parser, uint32_t *first, uint32_t *count); /* up to the semicolon */
bool parse_register(struct parser *parser, uint32_t *index);

/* ---- what debuggers need (debug.c) ---- */

bool parse_file(struct parser *parser);
bool parse_loc(struct parser *parser);
bool parse_section(struct parser *parser);
bool parse_pragma(struct parser *parser);
void debug_resolve(struct parser *parser); /* functions that .loc names by labels of .debug_str */

#endif
