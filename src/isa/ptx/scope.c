#include "scope.h"
#include "base/bits.h"
#include "base/mem.h"

enum { MOST_DIGITS = 8 }; /* of the number of a register in a range */

static bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

void scopes_init(struct scopes *scopes, struct ptx_store *store)
{
    scopes->store = store;
    scopes->own = ptx_store_new();
    scopes->table_size = 1024;
    scopes->table = mem_alloc(scopes->table_size, sizeof *scopes->table);
}

void scopes_fini(struct scopes *scopes)
{
    mem_free(scopes->table);
    ptx_store_free(scopes->own);
}

#define IS_HASH (UINT64_C(1) << 63) /* characters of names have no eighth bit */

static uint64_t key_of(const char *text, size_t length)
{
    uint64_t key = 0;
    if (length > 8)
        return digest_word(digest_bytes(0, text, length), length) | IS_HASH;
    for (size_t i = 0; i < length; i++)
        key |= (uint64_t)(unsigned char)text[i] << 8 * i;
    return key;
}

/* Where the name is, or the free place where it belongs; the size is a power of two. */
static struct name_place *place_of(const struct scopes *scopes, const char *text, size_t length, uint64_t key)
{
    for (size_t at = digest_word(key, 0) >> 32;; at++) {
        struct name_place *place = &scopes->table[at & (scopes->table_size - 1)];
        if (!place->name ||
            (place->key == key && (length <= 8 || (place->name->length == length &&
                                                   memcmp(place->name->text, text, length) == 0))))
            return place;
    }
}

static void grow(struct scopes *scopes)
{
    struct name_place *old = scopes->table;
    size_t old_size = scopes->table_size;
    scopes->table_size *= 2;
    scopes->table = mem_alloc(scopes->table_size, sizeof *scopes->table);
    for (size_t i = 0; i < old_size; i++) {
        if (old[i].name)
            *place_of(scopes, old[i].name->text, old[i].name->length, old[i].key) = old[i];
    }
    mem_free(old);
}

/* Where the number at the end of a name starts, if it is one that a range makes: without leading zeros. */
static size_t number_at(const char *text, size_t length)
{
    size_t at = length;
    while (at && is_digit(text[at - 1]))
        at--;
    bool as_made = length - at == 1 || (text[at] != '0' && length - at <= MOST_DIGITS);
    return as_made ? at : length;
}

static uint32_t number_of(const char *text, size_t length)
{
    uint32_t number = 0;
    for (size_t i = 0; i < length; i++)
        number = 10 * number + (uint32_t)(text[i] - '0');
    return number;
}

struct name *scope_name(struct scopes *scopes, const char *text, size_t length)
{
    uint64_t key = key_of(text, length);
    struct name_place *place = place_of(scopes, text, length, key);
    if (place->name)
        return place->name;
    struct name *name = ptx_store_alloc(scopes->own, 1, sizeof *name);
    name->text = ptx_store_text(scopes->store, text, length);
    name->length = (uint32_t)length;
    *place = (struct name_place){key, name};
    if (2 * ++scopes->name_count > scopes->table_size)
        grow(scopes);
    size_t at = number_at(name->text, length);
    if (at && at < length) { /* the stem has no number itself */
        name->number = number_of(text + at, length - at);
        name->stem = scope_name(scopes, text, at);
    }
    return name;
}

void scope_open(struct scopes *scopes)
{
    REQUIRE(scopes->depth < SCOPE_DEEPEST);
    scopes->open[++scopes->depth] = (struct scope){0};
}

void scope_close(struct scopes *scopes)
{
    struct scope *scope = &scopes->open[scopes->depth--];
    for (struct binding *binding = scope->bindings, *next; binding; binding = next) {
        next = binding->next;
        binding->name->binding = binding->outer;
        binding->next = scopes->unused;
        scopes->unused = binding;
    }
    for (struct binding *range = scope->ranges, *next; range; range = next) {
        next = range->next;
        range->name->range = range->outer;
        range->next = scopes->unused;
        scopes->unused = range;
    }
}

static struct binding *new_binding(struct scopes *scopes, struct name *name, struct binding *outer)
{
    struct binding *binding = scopes->unused;
    if (binding)
        scopes->unused = binding->next;
    else
        binding = ptx_store_alloc(scopes->own, 1, sizeof *binding);
    *binding = (struct binding){.name = name, .outer = outer, .symbol = NOTHING};
    return binding;
}

/* Binds in an open scope that is not outside of what the name is bound to now. */
static struct binding *bind_at(struct scopes *scopes, uint32_t depth, struct name *name, uint8_t kind,
                               uint32_t index)
{
    struct binding *binding = new_binding(scopes, name, name->binding);
    binding->kind = kind;
    binding->depth = (uint8_t)depth;
    binding->index = index;
    binding->next = scopes->open[depth].bindings;
    scopes->open[depth].bindings = binding;
    return name->binding = binding;
}

static struct binding *range_with(struct name *stem, uint32_t number)
{
    struct binding *range = stem->range;
    while (range && number >= range->range)
        range = range->outer;
    return range;
}

struct binding *scope_find(struct scopes *scopes, struct name *name)
{
    struct binding *binding = name->binding;
    struct binding *range = name->stem ? range_with(name->stem, name->number) : NULL;
    if (!range || (binding && binding->depth >= range->depth))
        return binding;
    binding = bind_at(scopes, range->depth, name, BIND_REGISTER, NOTHING);
    binding->type = range->type;
    binding->parts = range->parts;
    binding->line = range->line;
    return binding;
}

struct binding *scope_bind(struct scopes *scopes, struct name *name, uint8_t kind, uint32_t index)
{
    if (name->binding && name->binding->depth == scopes->depth)
        return NULL;
    return bind_at(scopes, scopes->depth, name, kind, index);
}

struct binding *scope_bind_range(struct scopes *scopes, struct name *name, uint32_t count)
{
    if (name->range && name->range->depth == scopes->depth)
        return NULL;
    struct binding *range = new_binding(scopes, name, name->range);
    range->depth = (uint8_t)scopes->depth;
    range->range = count;
    range->next = scopes->open[scopes->depth].ranges;
    scopes->open[scopes->depth].ranges = range;
    return name->range = range;
}
