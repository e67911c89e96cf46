/* MessagePack: a byte says what follows and how long it is. Numbers are big-endian. */
#include "gcn3_object/document.h"
#include "base/mem.h"

#include <string.h>

struct input {
    struct document *document;
    const uint8_t *at;
    size_t bytes;
    struct err *err;
};

static bool broken(struct input *in)
{
    return err_set(in->err, "its metadata ends in the middle, or is no MessagePack");
}

static bool take_number(struct input *in, size_t bytes, uint64_t *number)
{
    *number = 0;
    if (in->bytes < bytes)
        return broken(in);
    for (size_t i = 0; i < bytes; i++)
        *number = *number << 8 | in->at[i];
    in->at += bytes;
    in->bytes -= bytes;
    return true;
}

static bool take_text(struct input *in, uint64_t bytes, char **text)
{
    if (in->bytes < bytes)
        return broken(in);
    *text = memcpy(mem_alloc(bytes + 1, 1), in->at, bytes);
    in->at += bytes;
    in->bytes -= bytes;
    return true;
}

enum shape { NIL, FALSE, TRUE, NUMBER, INTEGER, SKIP, STRING, LIST, MAP };

/* What a first byte means: the value or length is in its low bits, or in the bytes that follow. */
static const struct form {
    uint8_t first, last;
    enum shape shape;
    uint8_t mask, following;
} forms[] = {
    {0x00, 0x7f, NUMBER, 0x7f, 0},  {0x80, 0x8f, MAP, 0x0f, 0},  {0x90, 0x9f, LIST, 0x0f, 0},
    {0xa0, 0xbf, STRING, 0x1f, 0},  {0xc0, 0xc0, NIL, 0, 0},     {0xc2, 0xc2, FALSE, 0, 0},
    {0xc3, 0xc3, TRUE, 0, 0},       {0xc4, 0xc4, STRING, 0, 1},  {0xc5, 0xc5, STRING, 0, 2},
    {0xc6, 0xc6, STRING, 0, 4},     {0xca, 0xca, SKIP, 0, 4},    {0xcb, 0xcb, SKIP, 0, 8},
    {0xcc, 0xcc, NUMBER, 0, 1},     {0xcd, 0xcd, NUMBER, 0, 2},  {0xce, 0xce, NUMBER, 0, 4},
    {0xcf, 0xcf, NUMBER, 0, 8},     {0xd0, 0xd0, INTEGER, 0, 1}, {0xd1, 0xd1, INTEGER, 0, 2},
    {0xd2, 0xd2, INTEGER, 0, 4},    {0xd3, 0xd3, INTEGER, 0, 8}, {0xd9, 0xd9, STRING, 0, 1},
    {0xda, 0xda, STRING, 0, 2},     {0xdb, 0xdb, STRING, 0, 4},  {0xdc, 0xdc, LIST, 0, 2},
    {0xdd, 0xdd, LIST, 0, 4},       {0xde, 0xde, MAP, 0, 2},     {0xdf, 0xdf, MAP, 0, 4},
    {0xe0, 0xff, INTEGER, 0xff, 0},
};

static bool take_head(struct input *in, enum shape *shape, uint64_t *number)
{
    uint64_t first;
    if (!take_number(in, 1, &first))
        return false;
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        const struct form *form = &forms[i];
        if (first < form->first || first > form->last)
            continue;
        *shape = form->shape;
        *number = first & form->mask;
        if (form->following && !take_number(in, form->following, number))
            return false;
        unsigned bits = form->following ? 8 * form->following : 8;
        if (*shape == INTEGER && bits < 64 && *number >> (bits - 1) & 1)
            *number |= ~UINT64_C(0) << bits;
        return true;
    }
    return broken(in);
}

static bool take_node(struct input *in, uint32_t node, unsigned depth);

static bool take_children(struct input *in, uint32_t node, bool keys, uint64_t count, unsigned depth)
{
    if (depth == DOCUMENT_DEPTH || count > in->bytes)
        return broken(in);
    for (uint64_t i = 0; i < count; i++) {
        char *key = NULL;
        if (keys) {
            enum shape shape;
            uint64_t number;
            if (!take_head(in, &shape, &number))
                return false;
            if (shape != STRING)
                return broken(in);
            if (!take_text(in, number, &key))
                return false;
        }
        if (!take_node(in, document_add(in->document, node, key), depth + 1))
            return false;
    }
    return true;
}

static bool take_node(struct input *in, uint32_t node, unsigned depth)
{
    enum shape shape;
    uint64_t number;
    if (!take_head(in, &shape, &number))
        return false;
    struct document_node *made = &in->document->nodes[node];
    switch (shape) {
    case FALSE:
    case TRUE:
    case NUMBER:
    case INTEGER:
        made->kind = DOCUMENT_NUMBER;
        made->number = shape == TRUE ? 1 : shape == FALSE ? 0 : number;
        return true;
    case STRING:
        made->kind = DOCUMENT_TEXT;
        return take_text(in, number, &made->text);
    case LIST:
    case MAP:
        made->kind = shape == MAP ? DOCUMENT_MAP : DOCUMENT_LIST;
        return take_children(in, node, shape == MAP, number, depth);
    default:
        return true;
    }
}

bool document_read_msgpack(struct document *document, const uint8_t *at, size_t bytes, struct err *err)
{
    struct input in = {document, at, bytes, err};
    return take_node(&in, document_add(document, DOCUMENT_NONE, NULL), 0);
}
