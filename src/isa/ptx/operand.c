/* Operands. The elements of a list are on a stack until the list is complete; then they are moved to the
 * function's operands, so that they are contiguous there. */
#include "parse.h"

#include <string.h>

static bool parse_operand(struct parser *parser, struct ptx_operand *operand);

static struct ptx_operand plain(enum ptx_operand_kind kind, uint32_t index)
{
    return (struct ptx_operand){.kind = (uint8_t)kind, .part = -1, .index = index};
}

static void push(struct parser *parser, struct ptx_operand operand)
{
    *list_push(parser->body.stack) = operand;
}

/* Moves what is on the stack from `from` on to the function's operands. */
static void flush(struct parser *parser, size_t from, uint32_t *first, uint32_t *count)
{
    struct body *body = &parser->body;
    *first = (uint32_t)body->operands.count;
    *count = (uint32_t)(body->stack.count - from);
    for (size_t i = from; i < body->stack.count; i++)
        *list_push(body->operands) = body->stack.at[i];
    body->stack.count = from;
}

/* .x .y .z .w or .r .g .b .a: 0 to 3; -1 when it is none */
static int vector_part(struct lex_text part)
{
    static const char letters[] = "xyzwrgba";
    const char *found = part.length == 1 ? strchr(letters, *part.at) : NULL;
    return found ? (int)(found - letters) % 4 : -1;
}

/* .b0 to .b3, .h0, .h1, of video instructions; those on several parts choose each: .b3210, .h10 */
static int video_part(struct lex_text part, uint64_t *chosen)
{
    bool is_byte = part.length && part.at[0] == 'b';
    if (part.length < 2 || part.length > 5 || (!is_byte && part.at[0] != 'h'))
        return -1;
    for (size_t i = 1; i < part.length; i++) {
        if (part.at[i] < '0' || part.at[i] > '7')
            return -1;
        *chosen = *chosen << 4 | (uint64_t)(part.at[i] - '0');
    }
    if (part.length > 2)
        return is_byte ? PTX_PART_BYTES : PTX_PART_HALVES;
    return *chosen >= (is_byte ? 4 : 2) ? -1 : (is_byte ? PTX_PART_BYTE : PTX_PART_HALF) + (int)*chosen;
}

static bool use_register(struct parser *parser, struct binding *binding, struct lex_text part,
                         struct ptx_operand *operand)
{
    uint32_t index = body_register(&parser->body, parser->store, binding);
    *operand = plain(PTX_OP_REGISTER, index);
    int number = binding->parts > 1 ? vector_part(part) : video_part(part, &operand->value);
    if (part.length && (number < 0 || (binding->parts > 1 && number >= binding->parts)))
        return parse_fail(parser, "a register with a part it has");
    if (binding->parts == 1) {
        operand->part = (int8_t)number;
    } else if (part.length) {
        operand->index += (uint32_t)number;
    } else {
        size_t from = parser->body.stack.count;
        *operand = plain(PTX_OP_VECTOR, 0);
        for (uint32_t i = 0; i < binding->parts; i++)
            push(parser, plain(PTX_OP_REGISTER, index + i));
        flush(parser, from, &operand->first, &operand->count);
    }
    return true;
}

/* %tid.x; %tid alone is all of its parts, of which the fourth is 0 */
static bool use_special(struct parser *parser, const struct binding *binding, struct lex_text part,
                        struct ptx_operand *operand)
{
    int number = vector_part(part);
    *operand = plain(PTX_OP_SPECIAL, binding->index);
    if (binding->kind == BIND_SPECIAL)
        return !part.length || parse_fail(parser, "a special register without parts");
    if (part.length && number < 0)
        return parse_fail(parser, "a special register with a part it has");
    if (number >= 0) {
        *operand =
            number < 3 ? plain(PTX_OP_SPECIAL, binding->index + (uint32_t)number) : plain(PTX_OP_INTEGER, 0);
        return true;
    }
    size_t from = parser->body.stack.count;
    *operand = plain(PTX_OP_VECTOR, 0);
    for (uint32_t i = 0; i < 3; i++)
        push(parser, plain(PTX_OP_SPECIAL, binding->index + i));
    push(parser, plain(PTX_OP_INTEGER, 0));
    flush(parser, from, &operand->first, &operand->count);
    return true;
}

static bool use_binding(struct parser *parser, struct name *name, struct lex_text part,
                        struct ptx_operand *operand)
{
    struct binding *binding = scope_find(&parser->scopes, name);
    uint32_t line = parser->lex.token.line;
    if (binding && binding->kind == BIND_REGISTER)
        return use_register(parser, binding, part, operand);
    if (binding && (binding->kind == BIND_SPECIAL || binding->kind == BIND_SPECIAL_VECTOR))
        return use_special(parser, binding, part, operand);
    if (part.length)
        return parse_fail(parser, "a register before the part .%.*s", (int)part.length, part.at);
    if (!binding && token_is(&parser->lex.token, "_"))
        *operand = plain(PTX_OP_SINK, 0);
    else if (!binding || binding->depth == SCOPE_MODULE)
        *operand = plain(PTX_OP_SYMBOL, body_wait(&parser->body, &parser->scopes, name, line));
    else if (binding->kind == BIND_LABEL)
        *operand = plain(PTX_OP_LABEL, binding->index);
    else
        *operand = plain(PTX_OP_SYMBOL, body_symbol(&parser->body, binding, line));
    return true;
}

/* A register, a name; without what may follow */
static bool parse_word(struct parser *parser, struct ptx_operand *operand)
{
    const struct token *token = &parser->lex.token;
    if (token->kind != TOKEN_WORD)
        return parse_fail(parser, "a register or a name");
    struct name *name = scope_name(&parser->scopes, token->at, token->length);
    struct lex_text part = lex_part(&parser->lex);
    if (!use_binding(parser, name, part, operand))
        return false;
    next(parser);
    return true;
}

/* +4, -4, +-4 */
static bool parse_offset(struct parser *parser, uint64_t *value)
{
    if (at(parser, '+'))
        next(parser);
    else if (!at(parser, '-'))
        return true;
    return parse_integer(parser, value);
}

static bool parse_immediate(struct parser *parser, struct ptx_operand *operand)
{
    struct ptx_constant c;
    static const char signs[] = "+-~!(";
    int kind = parser->lex.token.kind;
    if (kind != TOKEN_INTEGER && kind != TOKEN_FLOAT && (kind >= TOKEN_END || !strchr(signs, kind)))
        return parse_fail(parser, "an operand");
    if (!parse_constant(parser, &c))
        return false;
    *operand = plain(c.is_float ? PTX_OP_FLOAT : PTX_OP_INTEGER, 0);
    operand->value = c.value;
    operand->single = c.single;
    return true;
}

/* !p, -%r1 */
static bool parse_negated(struct parser *parser, struct ptx_operand *operand)
{
    next(parser);
    if (!parse_word(parser, operand))
        return false;
    operand->negated = true;
    return operand->kind == PTX_OP_REGISTER || parse_fail(parser, "a register before this");
}

/* Operands onto the stack, up to the sign that closes them. */
static bool parse_up_to(struct parser *parser, char close)
{
    if (accept(parser, close))
        return true;
    do {
        struct ptx_operand operand;
        if (!parse_operand(parser, &operand))
            return false;
        push(parser, operand);
    } while (accept(parser, ','));
    return accept(parser, close) || parse_fail(parser, "',' or '%c'", close);
}

/* ... as the elements of one. */
static bool parse_elements(struct parser *parser, enum ptx_operand_kind kind, char close,
                           struct ptx_operand *operand)
{
    size_t from = parser->body.stack.count;
    if (!parse_nest(parser))
        return false;
    next(parser);
    if (!parse_up_to(parser, close))
        return false;
    parser->nesting--;
    *operand = plain(kind, 0);
    flush(parser, from, &operand->first, &operand->count);
    return true;
}

/* [address], [address + 4], [texture, {x, y}] */
static bool parse_memory(struct parser *parser, struct ptx_operand *operand)
{
    struct ptx_operand element;
    uint64_t offset = 0;
    size_t from = parser->body.stack.count;
    next(parser);
    if (!parse_nest(parser) ||
        !(at(parser, TOKEN_WORD) ? parse_word(parser, &element) && parse_offset(parser, &offset)
                                 : parse_immediate(parser, &element)))
        return false;
    push(parser, element);
    while (accept(parser, ',')) {
        if (!parse_operand(parser, &element))
            return false;
        push(parser, element);
    }
    if (!expect_sign(parser, ']'))
        return false;
    accept_directive(parser, ".unified"); /* a promise about the address, which nothing depends on */
    parser->nesting--;
    *operand = plain(PTX_OP_MEMORY, 0);
    operand->value = offset;
    flush(parser, from, &operand->first, &operand->count);
    return true;
}

static bool parse_one(struct parser *parser, struct ptx_operand *operand)
{
    switch (parser->lex.token.kind) {
    case TOKEN_WORD:
        return parse_word(parser, operand) &&
               (operand->kind != PTX_OP_SYMBOL || parse_offset(parser, &operand->value));
    case '[':
        return parse_memory(parser, operand);
    case '{':
        return parse_elements(parser, PTX_OP_VECTOR, '}', operand);
    case '(':
        return parser->in_call ? parse_elements(parser, PTX_OP_LIST, ')', operand)
                               : parse_immediate(parser, operand);
    case '!':
    case '-':
        if (lex_peek_is_word(&parser->lex))
            return parse_negated(parser, operand);
        return parse_immediate(parser, operand);
    default:
        return parse_immediate(parser, operand);
    }
}

static bool parse_operand(struct parser *parser, struct ptx_operand *operand)
{
    struct ptx_operand second;
    if (!parse_one(parser, operand))
        return false;
    if (!accept(parser, '|'))
        return true;
    size_t from = parser->body.stack.count;
    push(parser, *operand);
    if (!parse_word(parser, &second))
        return false;
    push(parser, second);
    *operand = plain(PTX_OP_PAIR, 0);
    flush(parser, from, &operand->first, &operand->count);
    return true;
}

bool parse_operands(struct parser *parser, uint32_t *first, uint32_t *count)
{
    size_t from = parser->body.stack.count;
    if (!parse_up_to(parser, ';'))
        return false;
    flush(parser, from, first, count);
    return true;
}

bool parse_register(struct parser *parser, uint32_t *index)
{
    struct ptx_operand operand;
    struct token token = parser->lex.token;
    if (!parse_word(parser, &operand))
        return false;
    *index = operand.index;
    if (operand.kind == PTX_OP_REGISTER)
        return true;
    parser->lex.token = token;
    return parse_fail(parser, "a predicate that is declared");
}
