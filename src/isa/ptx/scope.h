/* Names and their bindings. A name is interned, so equal names are equal pointers; it knows its binding in
 * the innermost scope that binds it. Scope 0 is the module, 1 a function, more are { }.
 *
 * `.reg .b32 %r<1000>` binds %r as a range; %r7 is bound when it is first looked up. */
#ifndef PTX_SCOPE_H
#define PTX_SCOPE_H

#include "ptx/ptx.h"
#include "store.h"

enum { SCOPE_MODULE = 0, SCOPE_FUNCTION = 1, SCOPE_DEEPEST = 200 };
#define NOTHING UINT32_MAX

/* What names are bound to; the first are the kinds of a ptx_symbol. */
enum binding_kind {
    BIND_LABEL = PTX_SYM_COUNT,
    BIND_REGISTER,
    BIND_SPECIAL,
    BIND_SPECIAL_VECTOR, /* %tid: index is that of %tid.x */
};

struct binding {
    struct name *name;
    struct binding *outer; /* what the name is bound to outside this scope */
    struct binding *next;  /* in this scope */
    uint8_t kind, depth;
    uint8_t type, parts; /* of registers; parts is 1 or, of vectors, more */
    uint32_t index;      /* NOTHING: a register that was not used yet */
    uint32_t line;
    uint32_t range;  /* how many registers, for a range */
    uint32_t symbol; /* the function's symbol for it, or NOTHING */
};

struct name {
    const char *text;
    uint32_t length;
    struct name *stem;  /* %r of %r12, or NULL */
    uint32_t number;    /* 12 */
    uint32_t waiting;   /* + 1: the latest reference to it that waits for its label; see body.h */
    const char *string; /* what stands behind this label in .debug_str */
    struct name *usual; /* as an opcode: with its modifiers in the usual order; NULL: not looked up yet */
    struct binding *binding, *range;
};

/* The key of up to 8 characters is these characters, of more a hash: most names are found by their keys
 * alone, which are the only memory that a search touches. */
struct name_place {
    uint64_t key;
    struct name *name; /* or NULL */
};

struct scope {
    struct binding *bindings, *ranges;
    uint32_t first_waiting; /* of the references that wait */
};

struct scopes {
    struct ptx_store *store;  /* where the texts of names live */
    struct ptx_store *own;    /* where the rest lives, as long as the scopes */
    struct name_place *table; /* at what the key says or the next free place behind it */
    size_t table_size, name_count;
    struct binding *unused;
    struct scope open[SCOPE_DEEPEST + 1];
    uint32_t depth;
};

void scopes_init(struct scopes *scopes, struct ptx_store *store);
void scopes_fini(struct scopes *scopes);

struct name *scope_name(struct scopes *scopes, const char *text, size_t length);

void scope_open(struct scopes *scopes); /* not deeper than SCOPE_DEEPEST */
void scope_close(struct scopes *scopes);

/* What the name means here, or NULL. */
struct binding *scope_find(struct scopes *scopes, struct name *name);

/* Binds the name in the innermost scope. NULL: it is bound there already. */
struct binding *scope_bind(struct scopes *scopes, struct name *name, uint8_t kind, uint32_t index);
struct binding *scope_bind_range(struct scopes *scopes, struct name *name, uint32_t count);

#endif
