#include "base/pointers.h"
#include "base/mem.h"

#include <stdint.h>

static size_t start_of(const struct pointers *pointers, const void *key)
{
    return (size_t)((uint64_t)(uintptr_t)key * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (pointers->capacity - 1);
}

/* The place of this key, or the free one where it belongs. */
static struct pointers_place *place(const struct pointers *pointers, const void *key)
{
    for (size_t i = start_of(pointers, key);; i++) {
        struct pointers_place *at = &pointers->at[i & (pointers->capacity - 1)];
        if (!at->key || at->key == key)
            return at;
    }
}

static void grow(struct pointers *pointers)
{
    enum { FIRST = 64 };
    struct pointers larger = {.capacity = pointers->capacity ? 2 * pointers->capacity : FIRST};
    larger.at = mem_alloc(larger.capacity, sizeof *larger.at);
    for (size_t i = 0; i < pointers->capacity; i++) {
        if (pointers->at[i].key)
            *place(&larger, pointers->at[i].key) = pointers->at[i];
    }
    larger.count = pointers->count;
    mem_free(pointers->at);
    *pointers = larger;
}

void pointers_set(struct pointers *pointers, const void *key, void *value)
{
    if (2 * (pointers->count + 1) > pointers->capacity)
        grow(pointers);
    struct pointers_place *at = place(pointers, key);
    pointers->count += !at->key;
    *at = (struct pointers_place){key, value};
}

void *pointers_get(const struct pointers *pointers, const void *key)
{
    return pointers->capacity && key ? place(pointers, key)->value : NULL;
}

/* Those behind it move up, so that each is still found from where it belongs. */
void pointers_remove(struct pointers *pointers, const void *key)
{
    struct pointers_place *at = pointers->capacity && key ? place(pointers, key) : NULL;
    if (!at || !at->key)
        return;
    *at = (struct pointers_place){0};
    pointers->count--;
    size_t mask = pointers->capacity - 1;
    for (size_t i = (size_t)(at - pointers->at + 1) & mask; pointers->at[i].key; i = (i + 1) & mask) {
        struct pointers_place moved = pointers->at[i];
        pointers->at[i] = (struct pointers_place){0};
        *place(pointers, moved.key) = moved;
    }
}

void pointers_fini(struct pointers *pointers)
{
    mem_free(pointers->at);
    *pointers = (struct pointers){0};
}
