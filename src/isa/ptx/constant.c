/* Constant expressions: 64-bit integers, signed or unsigned as in C, and floats. */
#include "parse.h"
#include "base/bits.h"

static const struct operator_row {
    int token, precedence;
} operators[] = {
    {'*', 10},
    {'/', 10},
    {'%', 10},
    {'+', 9},
    {'-', 9},
    {TOKEN_SHIFT_LEFT, 8},
    {TOKEN_SHIFT_RIGHT, 8},
    {'<', 7},
    {'>', 7},
    {TOKEN_LESS_EQUAL, 7},
    {TOKEN_GREATER_EQUAL, 7},
    {TOKEN_EQUAL, 6},
    {TOKEN_NOT_EQUAL, 6},
    {'&', 5},
    {'^', 4},
    {'|', 3},
    {TOKEN_AND, 2},
    {TOKEN_OR, 1},
};

static int precedence_of(int token)
{
    for (size_t i = 0; i < COUNT_OF(operators); i++) {
        if (operators[i].token == token)
            return operators[i].precedence;
    }
    return 0;
}

double ptx_constant_real(const struct ptx_constant *c)
{
    if (!c->is_float)
        return c->is_unsigned ? (double)c->value : (double)(int64_t)c->value;
    double real;
    float single;
    uint32_t low = (uint32_t)c->value;
    memcpy(&single, &low, sizeof single);
    memcpy(&real, &c->value, sizeof real);
    return c->single ? (double)single : real;
}

static bool parse_choice(struct parser *parser, struct ptx_constant *c);

/* (.s64) x, (.u64) x */
static bool parse_cast(struct parser *parser, bool *is_unsigned)
{
    *is_unsigned = accept_directive(parser, ".u64");
    return *is_unsigned || accept_directive(parser, ".s64") || parse_fail(parser, ".s64 or .u64");
}

static bool parse_unary(struct parser *parser, struct ptx_constant *c);

static bool parse_in_parentheses(struct parser *parser, struct ptx_constant *c)
{
    bool is_unsigned;
    if (!at(parser, TOKEN_DIRECTIVE))
        return parse_choice(parser, c) && expect_sign(parser, ')');
    if (!parse_cast(parser, &is_unsigned) || !expect_sign(parser, ')') || !parse_unary(parser, c))
        return false;
    c->is_unsigned = is_unsigned;
    return !c->is_float || parse_fail(parser, "an integer before this");
}

static bool parse_number(struct parser *parser, struct ptx_constant *c)
{
    const struct token *token = &parser->lex.token;
    if (token->kind == TOKEN_INTEGER || token->kind == TOKEN_FLOAT)
        *c = (struct ptx_constant){token->value, token->kind == TOKEN_FLOAT, token->single,
                                   token->is_unsigned};
    else if (token->kind == TOKEN_WORD && token_is(token, "WARP_SZ"))
        *c = (struct ptx_constant){.value = 32};
    else
        return parse_fail(parser, "a number");
    next(parser);
    return true;
}

static void negate(struct ptx_constant *c)
{
    if (c->is_float)
        c->value ^= c->single ? UINT64_C(1) << 31 : UINT64_C(1) << 63;
    else
        c->value = -c->value;
}

static bool parse_unary(struct parser *parser, struct ptx_constant *c)
{
    static const char signs[] = "+-~!(";
    int sign = parser->lex.token.kind;
    if (sign >= TOKEN_END || !strchr(signs, sign))
        return parse_number(parser, c);
    next(parser);
    if (!parse_nest(parser) || !(sign == '(' ? parse_in_parentheses(parser, c) : parse_unary(parser, c)))
        return false;
    parser->nesting--;
    if (c->is_float && (sign == '~' || sign == '!'))
        return parse_fail(parser, "an integer before this");
    if (sign == '-')
        negate(c);
    else if (sign == '~')
        c->value = ~c->value;
    else if (sign == '!')
        c->value = !c->value;
    return true;
}

static uint64_t divide(uint64_t a, uint64_t b, bool is_unsigned, bool remainder)
{
    int64_t s = (int64_t)a, t = (int64_t)b;
    if (is_unsigned)
        return remainder ? a % b : a / b;
    if (t == -1) /* the smallest number has no opposite */
        return remainder ? 0 : -a;
    return (uint64_t)(remainder ? s % t : s / t);
}

static uint64_t shift_right(uint64_t a, uint64_t by, bool is_unsigned)
{
    if (is_unsigned)
        return by > 63 ? 0 : a >> by;
    return (uint64_t)((int64_t)a >> min_u64(by, 63));
}

static bool less(uint64_t a, uint64_t b, bool is_unsigned)
{
    return is_unsigned ? a < b : (int64_t)a < (int64_t)b;
}

static uint64_t apply(int sign, uint64_t a, uint64_t b, bool u)
{
    switch (sign) {
    case '*':
        return a * b;
    case '/':
    case '%':
        return divide(a, b, u, sign == '%');
    case '+':
        return a + b;
    case '-':
        return a - b;
    case TOKEN_SHIFT_LEFT:
        return b > 63 ? 0 : a << b;
    case TOKEN_SHIFT_RIGHT:
        return shift_right(a, b, u);
    case '<':
        return less(a, b, u);
    case '>':
        return less(b, a, u);
    case TOKEN_LESS_EQUAL:
        return !less(b, a, u);
    case TOKEN_GREATER_EQUAL:
        return !less(a, b, u);
    case TOKEN_EQUAL:
        return a == b;
    case TOKEN_NOT_EQUAL:
        return a != b;
    case '&':
        return a & b;
    case '^':
        return a ^ b;
    case '|':
        return a | b;
    case TOKEN_AND:
        return a && b;
    default: /* TOKEN_OR */
        return a || b;
    }
}

/* Floats together are a double; they are only added, subtracted, multiplied and divided. */
static bool apply_real(struct parser *parser, int sign, struct ptx_constant *c,
                       const struct ptx_constant *right)
{
    double a = ptx_constant_real(c), b = ptx_constant_real(right), result;
    switch (sign) {
    case '*':
        result = a * b;
        break;
    case '/':
        result = a / b;
        break;
    case '+':
        result = a + b;
        break;
    case '-':
        result = a - b;
        break;
    default:
        return parse_fail(parser, "integers before this");
    }
    *c = (struct ptx_constant){.is_float = true};
    memcpy(&c->value, &result, sizeof result);
    return true;
}

static bool parse_binary(struct parser *parser, int least, struct ptx_constant *c)
{
    if (!parse_unary(parser, c))
        return false;
    for (int sign, precedence; (precedence = precedence_of(sign = parser->lex.token.kind)) >= least;) {
        struct ptx_constant right;
        next(parser);
        if (!parse_binary(parser, precedence + 1, &right))
            return false;
        if (c->is_float || right.is_float) {
            if (!apply_real(parser, sign, c, &right))
                return false;
            continue;
        }
        if ((sign == '/' || sign == '%') && !right.value)
            return parse_fail(parser, "no division by zero before this");
        bool is_unsigned = c->is_unsigned || (right.is_unsigned && precedence_of(sign) != 8);
        c->value = apply(sign, c->value, right.value, is_unsigned);
        c->is_unsigned = is_unsigned;
    }
    return true;
}

static bool parse_choice(struct parser *parser, struct ptx_constant *c)
{
    struct ptx_constant yes, no;
    if (!parse_nest(parser) || !parse_binary(parser, 1, c))
        return false;
    if (accept(parser, '?')) {
        if (!parse_choice(parser, &yes) || !expect_sign(parser, ':') || !parse_choice(parser, &no))
            return false;
        *c = c->value ? yes : no;
    }
    parser->nesting--;
    return true;
}

bool parse_constant(struct parser *parser, struct ptx_constant *constant)
{
    return parse_choice(parser, constant);
}

bool parse_integer(struct parser *parser, uint64_t *value)
{
    struct ptx_constant constant;
    if (!parse_choice(parser, &constant))
        return false;
    *value = constant.value;
    return !constant.is_float || parse_fail(parser, "an integer before this");
}
