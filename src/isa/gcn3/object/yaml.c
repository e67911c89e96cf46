/* The YAML that LLVM writes: maps and lists by indentation, lists in brackets, and scalars that are plain or
 * in quotes. Anchors, tags, folded text and the like do not occur. */
#include "gcn3_object/document.h"
#include "base/mem.h"
#include "base/text.h"

#include <stdlib.h>
#include <string.h>

struct line {
    const char *at; /* its first character that is no blank */
    size_t bytes;   /* without blanks at its end */
    size_t indent;
};

struct input {
    struct document *document;
    struct line *lines;
    size_t count, capacity, next;
    struct err *err;
};

static bool broken(struct input *in, const char *what)
{
    return err_set(in->err, "its metadata is no YAML that is known: %s", what);
}

static void split(struct input *in, const char *at, size_t bytes)
{
    for (const char *end = at + bytes; at < end;) {
        const char *stop = memchr(at, '\n', (size_t)(end - at));
        size_t length = (size_t)((stop ? stop : end) - at), indent = 0;
        while (indent < length && at[indent] == ' ')
            indent++;
        size_t used = length;
        while (used > indent && (at[used - 1] == ' ' || at[used - 1] == '\r' || !at[used - 1]))
            used--;
        struct line line = {at + indent, used - indent, indent};
        bool mark = line.bytes == 3 && (!memcmp(line.at, "---", 3) || !memcmp(line.at, "...", 3));
        if (line.bytes && !mark && *line.at != '#') {
            mem_grow(in->lines, in->count, in->capacity);
            in->lines[in->count++] = line;
        }
        at += length + (stop != NULL);
    }
}

/* ---- scalars ---- */

static size_t escape(const char *at, size_t bytes, char *out)
{
    static const char from[] = "abfnrtv0e\"\\/ ", to[] = "\a\b\f\n\r\t\v\0\033\"\\/ ";
    if (at[0] == 'x' && bytes >= 3) {
        char digits[3] = {at[1], at[2], 0};
        *out = (char)strtoul(digits, NULL, 16);
        return 3;
    }
    const char *found = memchr(from, at[0], sizeof from - 1);
    *out = found ? to[found - from] : at[0];
    return 1;
}

/* The scalar at the beginning of these bytes; sets how many of them it is. */
static char *take_scalar(const char *at, size_t bytes, const char *ends, size_t *used)
{
    struct text out = {0};
    char quote = bytes && (*at == '\'' || *at == '"') ? *at : 0;
    size_t i = quote != 0;
    text_add(&out, "%s", "");
    for (; i < bytes; i++) {
        char c = at[i];
        if (quote ? c == quote && !(quote == '\'' && i + 1 < bytes && at[i + 1] == quote)
                  : strchr(ends, c) && c)
            break;
        if (quote == '\'' && c == quote)
            i++;
        else if (quote == '"' && c == '\\' && i + 1 < bytes)
            i += escape(at + i + 1, bytes - i - 1, &c);
        text_add_bytes(&out, &c, 1);
    }
    *used = i + (quote && i < bytes);
    if (!quote) {
        while (out.length && out.at[out.length - 1] == ' ')
            out.at[--out.length] = 0;
    }
    return out.at;
}

static void set_scalar(struct document_node *node, char *text)
{
    char *end;
    node->kind = DOCUMENT_TEXT;
    node->text = text;
    node->number = strtoull(text, &end, 0);
    if (!strcmp(text, "true"))
        node->number = 1;
    else if (end == text || *end)
        node->number = 0;
}

static void take_brackets(struct input *in, uint32_t node, const char *at, size_t bytes)
{
    in->document->nodes[node].kind = DOCUMENT_LIST;
    for (size_t i = 1; i < bytes && at[i] != ']';) {
        size_t used;
        if (at[i] == ' ' || at[i] == ',') {
            i++;
            continue;
        }
        char *text = take_scalar(at + i, bytes - i, ",]", &used);
        uint32_t item = document_add(in->document, node, NULL);
        set_scalar(&in->document->nodes[item], text);
        i += used;
    }
}

static void take_value(struct input *in, uint32_t node, const char *at, size_t bytes)
{
    size_t used;
    if (bytes && *at == '[')
        take_brackets(in, node, at, bytes);
    else
        set_scalar(&in->document->nodes[node], take_scalar(at, bytes, "", &used));
}

/* ---- blocks ---- */

static bool is_item(const struct line *line)
{
    return line->at[0] == '-' && (line->bytes == 1 || line->at[1] == ' ');
}

static bool take_block(struct input *in, uint32_t node, unsigned depth);

/* Behind the dash, the line goes on as if it began there. */
static bool take_items(struct input *in, uint32_t node, size_t indent, unsigned depth)
{
    in->document->nodes[node].kind = DOCUMENT_LIST;
    while (in->next < in->count && in->lines[in->next].indent == indent && is_item(&in->lines[in->next])) {
        struct line *line = &in->lines[in->next];
        size_t skip = 1;
        while (skip < line->bytes && line->at[skip] == ' ')
            skip++;
        *line = (struct line){line->at + skip, line->bytes - skip, line->indent + skip};
        uint32_t item = document_add(in->document, node, NULL);
        if (!line->bytes)
            in->next++;
        if (in->next < in->count && in->lines[in->next].indent > indent && !take_block(in, item, depth + 1))
            return false;
    }
    return true;
}

/* The colon behind a key: with a blank behind it, or at the end. NULL: this is no key. */
static const char *key_end(const struct line *line)
{
    const char *at = line->at, *end = line->at + line->bytes;
    while ((at = memchr(at, ':', (size_t)(end - at)))) {
        if (at + 1 == end || at[1] == ' ')
            return at;
        at++;
    }
    return NULL;
}

static bool take_pairs(struct input *in, uint32_t node, size_t indent, unsigned depth)
{
    in->document->nodes[node].kind = DOCUMENT_MAP;
    while (in->next < in->count && in->lines[in->next].indent == indent) {
        const struct line *line = &in->lines[in->next++];
        const char *colon = key_end(line);
        size_t used;
        if (!colon)
            return broken(in, "a line without a key");
        char *key = take_scalar(line->at, (size_t)(colon - line->at), "", &used);
        uint32_t value = document_add(in->document, node, key);
        const char *rest = colon + 1, *end = line->at + line->bytes;
        while (rest < end && *rest == ' ')
            rest++;
        const struct line *next = in->next < in->count ? &in->lines[in->next] : NULL;
        if (rest < end)
            take_value(in, value, rest, (size_t)(end - rest));
        else if (next && (next->indent > indent || (next->indent == indent && is_item(next))) &&
                 !take_block(in, value, depth + 1))
            return false;
    }
    return true;
}

static bool take_block(struct input *in, uint32_t node, unsigned depth)
{
    const struct line *line = &in->lines[in->next];
    if (depth == DOCUMENT_DEPTH)
        return broken(in, "too deep");
    if (is_item(line))
        return take_items(in, node, line->indent, depth);
    if (*line->at != '\'' && *line->at != '"' && key_end(line))
        return take_pairs(in, node, line->indent, depth);
    take_value(in, node, line->at, line->bytes);
    in->next++;
    return true;
}

bool document_read_yaml(struct document *document, const char *at, size_t bytes, struct err *err)
{
    struct input in = {.document = document, .err = err};
    split(&in, at, bytes);
    uint32_t root = document_add(document, DOCUMENT_NONE, NULL);
    bool good = !in.count || take_block(&in, root, 0);
    if (good && in.next < in.count)
        good = broken(&in, "a line that belongs to nothing");
    mem_free(in.lines);
    return good;
}
