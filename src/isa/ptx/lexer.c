#include "lexer.h"

#include <locale.h>
#include <stdlib.h>
#include <string.h>

enum { BLANK = 1, START = 2, INSIDE = 4, DIGIT = 8 };

static const uint8_t classes[256] = {
    [' '] = BLANK,
    ['\t' ... '\r'] = BLANK,
    ['a' ... 'z'] = START | INSIDE,
    ['A' ... 'Z'] = START | INSIDE,
    ['_'] = START | INSIDE,
    ['$'] = START | INSIDE,
    ['%'] = START,
    ['0' ... '9'] = INSIDE | DIGIT,
};

static bool is(char c, int class)
{
    return classes[(unsigned char)c] & class;
}

static void skip_line(struct lexer *lex)
{
    const char *newline = memchr(lex->at, '\n', (size_t)(lex->end - lex->at));
    lex->at = newline ? newline : lex->end;
}

static void count_lines(struct lexer *lex, const char *to)
{
    while ((lex->at = memchr(lex->at, '\n', (size_t)(to - lex->at)))) {
        lex->line++;
        lex->at++;
    }
    lex->at = to;
}

/* False: a comment does not end. */
static bool skip_blanks(struct lexer *lex)
{
    for (;;) {
        while (is(*lex->at, BLANK))
            lex->line += *lex->at++ == '\n';
        char next = lex->at[0] ? lex->at[1] : 0;
        if (*lex->at == '/' && next == '/') {
            skip_line(lex);
        } else if (*lex->at == '/' && next == '*') {
            const char *close = memmem(lex->at + 2, (size_t)(lex->end - lex->at - 2), "*/", 2);
            if (!close)
                return false;
            count_lines(lex, close + 2);
        } else if (*lex->at == '#' || (*lex->at == '@' && next == '@')) {
            skip_line(lex); /* left by a preprocessor; DWARF as old compilers wrote it */
        } else {
            return true;
        }
    }
}

static void bad(struct lexer *lex, const char *why)
{
    lex->token.kind = TOKEN_BAD;
    lex->why = why;
}

static const char *word_end(const char *at)
{
    while (is(*at, INSIDE))
        at++;
    return at;
}

static int digit_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    c |= 0x20;
    return c >= 'a' && c <= 'f' ? c - 'a' + 10 : 99;
}

/* Digits up to one that is none; false when the number does not fit. */
static bool take_digits(struct lexer *lex, int base, uint64_t *value)
{
    bool fits = true;
    for (int digit; (digit = digit_value(*lex->at)) < base; lex->at++)
        fits = fits && !__builtin_mul_overflow(*value, (uint64_t)base, value) &&
               !__builtin_add_overflow(*value, (uint64_t)digit, value);
    return fits;
}

/* 0f3F800000, 0d3FF0000000000000 */
static void lex_float_bits(struct lexer *lex, bool single)
{
    struct token *token = &lex->token;
    lex->at += 2;
    const char *digits = lex->at;
    take_digits(lex, 16, &token->value);
    token->kind = TOKEN_FLOAT;
    token->single = single;
    if (lex->at - digits != (single ? 8 : 16))
        bad(lex, single ? "8 hexadecimal digits behind 0f" : "16 hexadecimal digits behind 0d");
}

static bool is_decimal_float(const char *at)
{
    while (is(*at, DIGIT))
        at++;
    return *at == '.' || *at == 'e' || *at == 'E';
}

static void lex_decimal_float(struct lexer *lex)
{
    char *end;
    locale_t plain = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* whatever the program's locale writes */
    double value = strtod_l(lex->at, &end, plain);
    freelocale(plain);
    memcpy(&lex->token.value, &value, sizeof value);
    lex->token.kind = TOKEN_FLOAT;
    lex->at = end;
}

static void lex_integer(struct lexer *lex)
{
    struct token *token = &lex->token;
    int base = 10;
    if (lex->at[0] == '0') {
        char letter = lex->at[1] | 0x20;
        base = letter == 'x' ? 16 : letter == 'b' ? 2 : 8;
        lex->at += base == 8 ? 1 : 2;
    }
    const char *digits = lex->at;
    bool fits = take_digits(lex, base, &token->value);
    token->kind = TOKEN_INTEGER;
    token->is_unsigned = token->value > INT64_MAX;
    if (*lex->at == 'U') {
        token->is_unsigned = true;
        lex->at++;
    }
    if (!fits)
        bad(lex, "a number of 64 bits at most");
    else if (lex->at == digits && base != 8)
        bad(lex, base == 16 ? "hexadecimal digits behind 0x" : "binary digits behind 0b");
}

static void lex_number(struct lexer *lex)
{
    char letter = lex->at[0] == '0' ? lex->at[1] | 0x20 : 0;
    if (letter == 'f' || letter == 'd')
        lex_float_bits(lex, letter == 'f');
    else if (letter != 'x' && letter != 'b' && is_decimal_float(lex->at))
        lex_decimal_float(lex);
    else
        lex_integer(lex);
    if (is(*lex->at, INSIDE)) {
        lex->at = word_end(lex->at);
        if (lex->token.kind != TOKEN_BAD)
            bad(lex, "a number");
    }
}

static void lex_string(struct lexer *lex)
{
    const char *open = ++lex->at, *close = open;
    while (close < lex->end && *close != '"')
        close += *close == '\\' && close + 1 < lex->end ? 2 : 1;
    count_lines(lex, close);
    lex->token.at = open;
    lex->token.length = (size_t)(close - open);
    lex->token.kind = TOKEN_STRING;
    if (close == lex->end)
        bad(lex, "a quote that ends the text");
    else
        lex->at++;
}

static const struct {
    char text[3];
    int kind;
} doubles[] = {
    {"<<", TOKEN_SHIFT_LEFT},    {">>", TOKEN_SHIFT_RIGHT}, {"<=", TOKEN_LESS_EQUAL},
    {">=", TOKEN_GREATER_EQUAL}, {"==", TOKEN_EQUAL},       {"!=", TOKEN_NOT_EQUAL},
    {"&&", TOKEN_AND},           {"||", TOKEN_OR},
};

static void lex_sign(struct lexer *lex)
{
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) {
        if (lex->at[0] == doubles[i].text[0] && lex->at[1] == doubles[i].text[1]) {
            lex->token.kind = doubles[i].kind;
            lex->at += 2;
            return;
        }
    }
    lex->token.kind = *lex->at++;
}

void lex_next(struct lexer *lex)
{
    bool good = skip_blanks(lex);
    const char *at = lex->at;
    struct token *token = &lex->token;
    *token = (struct token){.line = lex->line, .at = at};
    if (!good) {
        bad(lex, "a comment that ends");
        lex->at = lex->end;
        token->length = 2;
        return;
    }
    if (is(*at, START) && (*at != '%' || is(at[1], INSIDE))) { /* % alone is an operator */
        token->kind = TOKEN_WORD;
        lex->at = word_end(at + 1);
    } else if (is(*at, DIGIT) || (*at == '.' && is(at[1], DIGIT))) {
        lex_number(lex);
    } else if (*at == '.' && is(at[1], START)) {
        token->kind = TOKEN_DIRECTIVE;
        lex->at = word_end(at + 1);
    } else if (*at == '"') {
        lex_string(lex);
        return;
    } else if (at == lex->end) {
        token->kind = TOKEN_END;
        return;
    } else if (*at <= ' ' || *at >= 0x7f) {
        lex->at++;
        bad(lex, "PTX text");
    } else {
        lex_sign(lex);
    }
    token->length = (size_t)(lex->at - at);
}

char lex_peek(struct lexer *lex)
{
    skip_blanks(lex);
    return *lex->at;
}

bool lex_peek_is_word(struct lexer *lex)
{
    return is(lex_peek(lex), START);
}

/* Behind .part, which may hold :: but does not end in it. */
static const char *opcode_part_end(const char *at)
{
    at = word_end(at + 1);
    while (at[0] == ':' && at[1] == ':' && is(at[2], INSIDE))
        at = word_end(at + 2);
    return at;
}

void lex_opcode(struct lexer *lex)
{
    struct token *token = &lex->token;
    const char *end = token->at + token->length; /* blanks behind it may be skipped already */
    while (lex->at == end && *end == '.')
        lex->at = end = opcode_part_end(end);
    token->length = (size_t)(end - token->at);
    if (lex_peek(lex) != '.')
        return;
    lex->joined.length = 0; /* there are blanks in it */
    text_add_bytes(&lex->joined, token->at, token->length);
    while (lex_peek(lex) == '.') {
        const char *part = lex->at;
        lex->at = opcode_part_end(part);
        text_add_bytes(&lex->joined, part, (size_t)(lex->at - part));
    }
    token->at = lex->joined.at;
    token->length = lex->joined.length;
}

struct lex_text lex_part(struct lexer *lex)
{
    if (*lex->at != '.' || !is(lex->at[1], INSIDE))
        return (struct lex_text){0};
    struct lex_text part = {.at = lex->at + 1};
    lex->at = word_end(part.at);
    part.length = (size_t)(lex->at - part.at);
    return part;
}

void lex_init(struct lexer *lex, const char *text, const char *end)
{
    *lex = (struct lexer){.at = text, .end = end, .line = 1};
    lex_next(lex);
}

void lex_fini(struct lexer *lex)
{
    text_fini(&lex->joined);
}
