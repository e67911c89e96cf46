/* PTX text as tokens, one at a time. A WORD ends before a dot, so that the parser can choose: after an opcode
 * `lex_opcode` takes the dotted rest, after a register `lex_part` takes .x. */
#ifndef PTX_LEXER_H
#define PTX_LEXER_H

#include "base/text.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A token of one character is of that character as its kind. */
enum token_kind {
    TOKEN_END = 256,
    TOKEN_WORD,      /* foo, %r1, $L__BB0_1 */
    TOKEN_DIRECTIVE, /* .reg */
    TOKEN_INTEGER,
    TOKEN_FLOAT,
    TOKEN_STRING,
    TOKEN_SHIFT_LEFT,
    TOKEN_SHIFT_RIGHT,
    TOKEN_LESS_EQUAL,
    TOKEN_GREATER_EQUAL,
    TOKEN_EQUAL,
    TOKEN_NOT_EQUAL,
    TOKEN_AND,
    TOKEN_OR,
    TOKEN_BAD, /* lexer.why says what was expected in its place */
};

struct token {
    int kind;
    uint32_t line;
    const char *at; /* as written; a STRING without its quotes */
    size_t length;
    uint64_t value;   /* an INTEGER, or the bits of a FLOAT */
    bool is_unsigned; /* an INTEGER that ends in U, or is too large to be signed */
    bool single;      /* a FLOAT written as 0f... */
};

struct lexer {
    const char *at, *end; /* *end is a zero byte */
    uint32_t line;
    const char *why;
    struct token token;
    struct text joined; /* an opcode written with blanks in it */
};

/* The first token is there after lex_init. The text must outlive the lexer. */
void lex_init(struct lexer *lex, const char *text, const char *end);
void lex_fini(struct lexer *lex);

void lex_next(struct lexer *lex);

/* The first character of the token after this one. */
char lex_peek(struct lexer *lex);
bool lex_peek_is_word(struct lexer *lex);

/* Makes the current WORD and the dotted parts behind it one WORD. */
void lex_opcode(struct lexer *lex);

/* What follows the dot that stands right behind the current WORD, which stays the current token; an empty
 * text when there is none. */
struct lex_text {
    const char *at;
    size_t length;
};
struct lex_text lex_part(struct lexer *lex);

#endif
