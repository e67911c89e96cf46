/* Information about the source only: .file, .loc, debug sections, pragmas. */
#include "parse.h"

#include <string.h>

enum { MOST_FILES = 1 << 16 };

/* 1 "path" [, time, size] */
bool parse_file(struct parser *parser)
{
    uint64_t number, unused;
    if (!expect_count(parser, "the number of a file", MOST_FILES, &number))
        return false;
    if (!at(parser, TOKEN_STRING))
        return parse_fail(parser, "the name of a file in quotes");
    while (parser->files.count <= number)
        *list_push(parser->files) = NULL;
    parser->files.at[number] = ptx_store_text(parser->store, parser->lex.token.at, parser->lex.token.length);
    next(parser);
    return !accept(parser, ',') ||
           (parse_integer(parser, &unused) && expect_sign(parser, ',') && parse_integer(parser, &unused));
}

static bool parse_place(struct parser *parser, struct ptx_loc *loc)
{
    uint64_t file, line, column;
    if (!expect_count(parser, "the number of a file", UINT32_MAX, &file) ||
        !expect_count(parser, "the number of a line", UINT32_MAX, &line) ||
        !expect_count(parser, "the number of a column", UINT32_MAX, &column))
        return false;
    loc->file = (uint32_t)file;
    loc->line = (uint32_t)line;
    loc->column = (uint32_t)column;
    return true;
}

/* function_name LABEL[+4], inlined_at 1 20 3: keeps the label for now */
static bool parse_inlined(struct parser *parser, struct ptx_loc *loc)
{
    struct ptx_loc caller;
    uint64_t offset = 0;
    struct name *label;
    if (!accept_word(parser, "function_name"))
        return parse_fail(parser, "function_name");
    if (!expect_name(parser, "a label", &label) ||
        (accept(parser, '+') && !expect_count(parser, "a number", UINT32_MAX, &offset)) ||
        !expect_sign(parser, ','))
        return false;
    loc->function = offset ? NULL : label->text;
    if (!accept_word(parser, "inlined_at"))
        return parse_fail(parser, "inlined_at");
    if (!parse_place(parser, &caller))
        return false;
    loc->caller_file = caller.file;
    loc->caller_line = caller.line;
    loc->caller_column = caller.column;
    return true;
}

bool parse_loc(struct parser *parser)
{
    struct body *body = &parser->body;
    struct ptx_loc loc = {0};
    if (!parse_place(parser, &loc) || (accept(parser, ',') && !parse_inlined(parser, &loc)))
        return false;
    *list_push(body->locs) = loc; /* also where no instruction follows: inlined ones may refer to it */
    return true;
}

/* The loop that begins at the label just met must not be unrolled. */
static void see_nounroll(struct body *body)
{
    struct ptx_label *label = body->labels.count ? &body->labels.at[body->labels.count - 1] : NULL;
    if (label && label->inst == body->insts.count)
        label->nounroll = true;
}

bool parse_pragma(struct parser *parser)
{
    do {
        const struct token *token = &parser->lex.token;
        if (!at(parser, TOKEN_STRING))
            return parse_fail(parser, "a pragma in quotes");
        if (memmem(token->at, token->length, "nounroll", strlen("nounroll")))
            see_nounroll(&parser->body);
        next(parser);
    } while (accept(parser, ','));
    return expect_sign(parser, ';');
}

/* The bytes collected are what stands behind this label. */
static void end_string(struct parser *parser, struct name *label, struct text *text)
{
    if (label && text->length)
        label->string = ptx_store_text(parser->store, text->at, strlen(text->at));
    text->length = 0;
}

/* LABEL: .b8 95,90,0 ... up to the brace; collects the strings */
static bool parse_strings(struct parser *parser, struct text *text)
{
    struct name *label = NULL;
    for (; !at(parser, '}'); next(parser)) {
        const struct token *token = &parser->lex.token;
        char byte = (char)token->value;
        if (token->kind == TOKEN_END || token->kind == TOKEN_BAD)
            return parse_fail(parser, "'}'");
        if (token->kind == TOKEN_INTEGER)
            text_add_bytes(text, &byte, 1);
        if (token->kind != TOKEN_WORD)
            continue;
        end_string(parser, label, text);
        label = scope_name(&parser->scopes, token->at, token->length);
    }
    end_string(parser, label, text);
    return true;
}

static bool skip_to_brace(struct parser *parser)
{
    for (; !at(parser, '}'); next(parser)) {
        if (at(parser, TOKEN_END) || at(parser, TOKEN_BAD))
            return parse_fail(parser, "'}'");
    }
    return true;
}

bool parse_section(struct parser *parser)
{
    struct text text = {0};
    bool has_strings = accept_directive(parser, ".debug_str");
    if (!has_strings && !accept(parser, TOKEN_DIRECTIVE) && !accept(parser, TOKEN_WORD))
        return parse_fail(parser, "the name of a section");
    if (!expect_sign(parser, '{'))
        return false;
    bool good = has_strings ? parse_strings(parser, &text) : skip_to_brace(parser);
    text_fini(&text);
    return good && expect_sign(parser, '}');
}

void debug_resolve(struct parser *parser)
{
    for (size_t i = 0; i < parser->functions.count; i++) {
        struct ptx_function *function = &parser->functions.at[i];
        for (uint32_t k = 0; k < function->loc_count; k++) {
            struct ptx_loc *loc = &function->locs[k];
            if (loc->function)
                loc->function = scope_name(&parser->scopes, loc->function, strlen(loc->function))->string;
        }
    }
}
