/* Initial values of variables. */
#include "parse.h"
#include "base/bits.h"

static uint64_t bytes_below(const struct ptx_variable *variable, const struct shape *shape, uint32_t level)
{
    uint64_t bytes = ptx_type_bytes(variable->type);
    for (uint32_t i = level; i < shape->dims; i++)
        bytes *= shape->counts[i];
    return bytes;
}

/* Puts a value beside or into the one before where both fit into 8 bytes: a table of bytes takes a sixth of
 * the memory. */
static void add_value(struct parser *parser, uint64_t offset, uint32_t bytes, uint64_t value)
{
    if (bytes < 8)
        value &= (UINT64_C(1) << 8 * bytes) - 1;
    if (!value)
        return;
    struct ptx_initial *last =
        parser->initials.count ? &parser->initials.at[parser->initials.count - 1] : NULL;
    if (last && !last->symbol && offset + bytes - last->offset <= 8) {
        last->value |= value << 8 * (offset - last->offset);
        last->bytes = (uint8_t)(offset + bytes - last->offset);
        return;
    }
    *list_push(parser->initials) =
        (struct ptx_initial){.offset = offset, .value = value, .bytes = (uint8_t)bytes};
}

/* The bits of a constant in a variable of this type. */
static bool fit(struct parser *parser, enum ptx_type type, const struct ptx_constant *c, uint64_t *bits)
{
    *bits = c->value;
    if (type == PTX_f64 && (!c->is_float || c->single)) {
        double real = ptx_constant_real(c);
        memcpy(bits, &real, sizeof real);
    } else if (type == PTX_f32 && !c->single) {
        float real = (float)ptx_constant_real(c);
        uint32_t low;
        memcpy(&low, &real, sizeof low);
        *bits = low;
    } else if (c->is_float && ptx_type_bytes(type) != (c->single ? 4 : 8)) {
        return parse_fail(parser, "an integer before this");
    }
    return true;
}

/* sym, sym+4, generic(sym), generic(sym)+4 */
static bool parse_address(struct parser *parser, struct ptx_initial *initial)
{
    struct name *name;
    uint64_t more;
    if (accept_word(parser, "generic") && !(initial->generic = expect_sign(parser, '(')))
        return false;
    if (!expect_name(parser, "a number or a name", &name))
        return false;
    initial->symbol = name->text;
    if ((at(parser, '+') || at(parser, '-')) && !parse_integer(parser, &initial->value))
        return false;
    if (!initial->generic)
        return true;
    if (!expect_sign(parser, ')'))
        return false;
    if (at(parser, '+') || at(parser, '-')) {
        if (!parse_integer(parser, &more))
            return false;
        initial->value += more;
    }
    return true;
}

/* A number, or an address, or some of an address' bits: 0xFF00(sym). */
static bool parse_scalar(struct parser *parser, const struct ptx_variable *variable, uint64_t offset)
{
    uint32_t bytes = (uint32_t)min_u64(ptx_type_bytes(variable->type), 8);
    struct ptx_initial initial = {.offset = offset, .bytes = (uint8_t)bytes};
    bool masked = at(parser, TOKEN_INTEGER) && lex_peek(&parser->lex) == '(';
    if (!masked && (!at(parser, TOKEN_WORD) || token_is(&parser->lex.token, "WARP_SZ"))) {
        struct ptx_constant c;
        if (!parse_constant(parser, &c) || !fit(parser, variable->type, &c, &c.value))
            return false;
        add_value(parser, offset, bytes, c.value);
        return true;
    }
    if (masked) {
        initial.mask = parser->lex.token.value;
        if (!initial.mask)
            return parse_fail(parser, "a mask with some bits set");
        next(parser);
        next(parser);
    }
    if (!parse_address(parser, &initial) || (masked && !expect_sign(parser, ')')))
        return false;
    *list_push(parser->initials) = initial;
    return true;
}

/* Behind the { of a list of what is `level` dimensions deep in the variable, at *offset and before `limit`;
 * *offset becomes that behind the last. */
static bool parse_list(struct parser *parser, const struct ptx_variable *variable, const struct shape *shape,
                       uint32_t level, uint64_t *offset, uint64_t limit)
{
    if (!parse_nest(parser))
        return false;
    while (!at(parser, '}')) {
        bool inner = at(parser, '{') && level < shape->dims;
        uint64_t bytes = inner ? bytes_below(variable, shape, level + 1) : ptx_type_bytes(variable->type);
        uint64_t start = *offset;
        if (bytes > limit || start > limit - bytes)
            return parse_fail(parser, "'}': the variable has %llu bytes",
                              (unsigned long long)variable->bytes);
        if (inner) {
            next(parser);
            if (!parse_list(parser, variable, shape, level + 1, &start, start + bytes))
                return false;
        } else if (!parse_scalar(parser, variable, start)) {
            return false;
        }
        *offset += bytes;
        if (!accept(parser, ',') && !at(parser, '}'))
            return parse_fail(parser, "',' or '}'");
    }
    parser->nesting--;
    next(parser);
    return true;
}

/* {addr_mode_0 = wrap, ...} of a texture or sampler; programs that run set these through the driver */
static bool skip_braces(struct parser *parser)
{
    if (!expect_sign(parser, '{'))
        return false;
    while (!at(parser, '}')) {
        if (at(parser, TOKEN_END) || at(parser, TOKEN_BAD) || at(parser, '{'))
            return parse_fail(parser, "'}'");
        next(parser);
    }
    next(parser);
    return true;
}

bool parse_initial(struct parser *parser, struct ptx_variable *variable, struct shape *shape)
{
    uint64_t end = 0;
    enum ptx_type type = variable->type;
    if (type == PTX_texref || type == PTX_samplerref || type == PTX_surfref)
        return skip_braces(parser);
    parser->initials.count = 0;
    if (accept(parser, '{')) {
        uint64_t limit = shape->unsized ? UINT64_MAX : variable->bytes;
        if (!parse_list(parser, variable, shape, 0, &end, limit))
            return false;
    } else if (shape->dims) {
        return parse_fail(parser, "'{'");
    } else if (!parse_scalar(parser, variable, 0)) {
        return false;
    }
    if (shape->unsized) {
        uint64_t row = max_u64(bytes_below(variable, shape, 1), 1);
        shape->counts[0] = (end + row - 1) / row;
        variable->bytes = shape->counts[0] * row;
    }
    variable->initials = ptx_store_copy(parser->store, parser->initials.at, parser->initials.count,
                                        sizeof *variable->initials);
    variable->initial_count = parser->initials.count;
    return true;
}
