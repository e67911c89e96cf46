#include "gcn3_object/document.h"
#include "base/mem.h"

#include <ctype.h>
#include <string.h>

uint32_t document_add(struct document *document, uint32_t parent, char *key)
{
    if (!document->count)
        document->count = 1; /* 0 is none; in memory once it grows */
    if (document->count >= document->capacity) {
        uint32_t more = document->capacity ? 2 * document->capacity : 64;
        document->nodes = mem_resize(document->nodes, document->capacity, more, sizeof *document->nodes);
        document->capacity = more;
    }
    uint32_t added = document->count++;
    document->nodes[added] = (struct document_node){.key = key};
    if (parent) {
        struct document_node *above = &document->nodes[parent];
        if (above->last)
            document->nodes[above->last].next = added;
        else
            above->first = added;
        above->last = added;
    }
    return added;
}

void document_fini(struct document *document)
{
    for (uint32_t i = 1; i < document->count; i++) {
        mem_free(document->nodes[i].key);
        mem_free(document->nodes[i].text);
    }
    mem_free(document->nodes);
    *document = (struct document){0};
}

/* Behind the dot that newer names begin with, or "amdhsa.". */
static const char *bare(const char *name)
{
    const char *dot = strchr(name, '.');
    return dot ? dot + 1 : name;
}

bool document_same(const char *a, const char *b)
{
    a = bare(a);
    b = bare(b);
    for (;; a++, b++) {
        a += strspn(a, "_");
        b += strspn(b, "_");
        if (tolower((unsigned char)*a) != tolower((unsigned char)*b))
            return false;
        if (!*a)
            return true;
    }
}

uint32_t document_find(const struct document *document, uint32_t map, const char *key)
{
    if (!map || map >= document->count || document->nodes[map].kind != DOCUMENT_MAP)
        return DOCUMENT_NONE;
    for (uint32_t node = document->nodes[map].first; node; node = document->nodes[node].next) {
        const char *called = document->nodes[node].key;
        if (called && document_same(called, key))
            return node;
    }
    return DOCUMENT_NONE;
}

const struct document_node *document_node(const struct document *document, uint32_t node)
{
    static const struct document_node none;
    return node && node < document->count ? &document->nodes[node] : &none;
}

uint64_t document_number(const struct document *document, uint32_t node)
{
    return document_node(document, node)->number;
}

const char *document_text(const struct document *document, uint32_t node)
{
    return document_node(document, node)->text;
}
