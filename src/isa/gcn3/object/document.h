/* Metadata as a tree: what MessagePack and YAML have in common. Reading ends at the first thing that is
 * broken. Every node takes at least a byte of the input, so that memory is bounded by the input's size. */
#ifndef GCN3_OBJECT_DOCUMENT_H
#define GCN3_OBJECT_DOCUMENT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum document_kind { DOCUMENT_NIL, DOCUMENT_NUMBER, DOCUMENT_TEXT, DOCUMENT_LIST, DOCUMENT_MAP };

enum { DOCUMENT_NONE = 0, DOCUMENT_ROOT = 1, DOCUMENT_DEPTH = 32 };

/* Nodes have numbers, from 1. */
struct document_node {
    enum document_kind kind;
    uint64_t number; /* also of true and false */
    char *key;       /* in a map, or NULL */
    char *text;      /* of TEXT */
    uint32_t first, last, next;
};

struct document {
    struct document_node *nodes;
    uint32_t count, capacity;
};

bool document_read_msgpack(struct document *document, const uint8_t *at, size_t bytes, struct err *err);
bool document_read_yaml(struct document *document, const char *at, size_t bytes, struct err *err);
void document_fini(struct document *document);

/* A new node, the last of its parent; the root when parent is DOCUMENT_NONE. The key is the document's then.
 */
uint32_t document_add(struct document *document, uint32_t parent, char *key);

/* Whether two names are the same but for case, underscores and the prefix of newer versions: .value_kind and
 * ValueKind. */
bool document_same(const char *a, const char *b);

/* The node of this name in a map; DOCUMENT_NONE: not there, or no map. */
uint32_t document_find(const struct document *document, uint32_t map, const char *key);
const struct document_node *document_node(const struct document *document, uint32_t node);
uint64_t document_number(const struct document *document, uint32_t node);  /* 0 when it is none */
const char *document_text(const struct document *document, uint32_t node); /* NULL when it is none */

#endif
