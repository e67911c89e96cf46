#include "base/names.h"
#include "base/bits.h"
#include "base/mem.h"

void names_fini(struct names *names)
{
    for (size_t i = 0; i < names->count; i++)
        mem_free(names->at[i]);
    mem_free(names->at);
    mem_free(names->table);
    *names = (struct names){0};
}

/* The place of the name in the table, or the free one where it belongs; the size is a power of two. */
static size_t place_of(const struct names *names, const char *name)
{
    size_t place = digest_word(digest_bytes(0, name, strlen(name)), 0) >> 32;
    for (;; place++) {
        uint32_t number = names->table[place & (names->table_size - 1)];
        if (!number || strcmp(names->at[number - 1], name) == 0)
            return place & (names->table_size - 1);
    }
}

size_t names_find(const struct names *names, const char *name)
{
    uint32_t number = names->count ? names->table[place_of(names, name)] : 0;
    return number ? number - 1 : NO_NAME;
}

static void grow(struct names *names)
{
    mem_free(names->table);
    names->table_size = names->table_size ? 2 * names->table_size : 64;
    names->table = mem_alloc(names->table_size, sizeof *names->table);
    for (size_t i = 0; i < names->count; i++)
        names->table[place_of(names, names->at[i])] = (uint32_t)i + 1;
}

size_t names_add(struct names *names, const char *name)
{
    if (2 * (names->count + 1) > names->table_size)
        grow(names);
    uint32_t *number = &names->table[place_of(names, name)];
    if (!*number) {
        mem_grow(names->at, names->count, names->capacity);
        names->at[names->count++] = mem_text(name);
        *number = (uint32_t)names->count;
    }
    return *number - 1;
}
