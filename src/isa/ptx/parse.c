/* Matching of expected tokens. */
#include "parse.h"
#include "base/bits.h"

#include <stdarg.h>
#include <stdio.h>

/* The token as an error shows it: cut when long, without odd bytes. */
static void show(const struct token *token, char shown[64])
{
    enum { MOST = 40 };
    size_t length = min_u64(token->length, MOST), i;
    if (token->kind == TOKEN_END) {
        strcpy(shown, "the end of the text");
        return;
    }
    *shown++ = '\'';
    for (i = 0; i < length; i++)
        shown[i] = token->at[i] >= ' ' && token->at[i] < 0x7f ? token->at[i] : '?';
    strcpy(shown + i, token->length > MOST ? "...'" : "'");
}

static bool fail_at(struct parser *parser, const struct token *token, const char *expected)
{
    char shown[64];
    show(token, shown);
    return err_set(parser->err, "%s:%u: found %s, expected %s", parser->module->name, token->line, shown,
                   expected);
}

bool parse_fail(struct parser *parser, const char *format, ...)
{
    char expected[300];
    va_list args;
    va_start(args, format);
    vsnprintf(expected, sizeof expected, format, args);
    va_end(args);
    const struct token *token = &parser->lex.token;
    return fail_at(parser, token, token->kind == TOKEN_BAD ? parser->lex.why : expected);
}

bool parse_fail_twice(struct parser *parser, const struct token *token, const struct name *name)
{
    char expected[80];
    uint32_t line = name->binding ? name->binding->line : name->range->line;
    if (!line)
        return fail_at(parser, token, "a name that no special register has");
    snprintf(expected, sizeof expected, "a name that is not declared yet (line %u has it)", line);
    return fail_at(parser, token, expected);
}

bool token_is(const struct token *token, const char *text)
{
    return strncmp(token->at, text, token->length) == 0 && !text[token->length];
}

bool accept_directive(struct parser *parser, const char *text)
{
    return at(parser, TOKEN_DIRECTIVE) && token_is(&parser->lex.token, text) &&
           accept(parser, TOKEN_DIRECTIVE);
}

bool accept_word(struct parser *parser, const char *text)
{
    return at(parser, TOKEN_WORD) && token_is(&parser->lex.token, text) && accept(parser, TOKEN_WORD);
}

bool expect_sign(struct parser *parser, char sign)
{
    return accept(parser, sign) || parse_fail(parser, "'%c'", sign);
}

bool expect_name(struct parser *parser, const char *what, struct name **name)
{
    const struct token *token = &parser->lex.token;
    if (token->kind != TOKEN_WORD)
        return parse_fail(parser, "%s", what);
    *name = scope_name(&parser->scopes, token->at, token->length);
    next(parser);
    return true;
}

bool expect_count(struct parser *parser, const char *what, uint64_t most, uint64_t *count)
{
    const struct token token = parser->lex.token;
    if (token.kind != TOKEN_INTEGER)
        return parse_fail(parser, "%s", what);
    if (token.value > most)
        return parse_fail(parser, "%s, %llu at most", what, (unsigned long long)most);
    *count = token.value;
    next(parser);
    return true;
}

const void *directive_row(const struct parser *parser, const void *rows, size_t count, size_t bytes_each)
{
    if (!at(parser, TOKEN_DIRECTIVE))
        return NULL;
    for (size_t i = 0; i < count; i++) {
        const void *row = (const char *)rows + i * bytes_each;
        if (token_is(&parser->lex.token, *(const char *const *)row))
            return row;
    }
    return NULL;
}

bool parse_nest(struct parser *parser)
{
    return ++parser->nesting <= MOST_NESTING || parse_fail(parser, "less nesting (%d at most)", MOST_NESTING);
}
