#include "checks/shadow.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

void shadow_init(struct shadow *shadow, size_t bytes_each)
{
    *shadow = (struct shadow){.bytes = bytes_each, .last.number = UINT64_MAX};
}

void shadow_fini(struct shadow *shadow, void (*fini)(void *data))
{
    for (size_t i = 0; i < shadow->capacity; i++) {
        if (shadow->table[i].data && fini)
            fini(shadow->table[i].data);
        mem_free(shadow->table[i].data);
    }
    mem_free(shadow->table);
    shadow_init(shadow, shadow->bytes);
}

/* The place of a page in the table, or the free one where it would be. */
static struct shadow_page *place_of(const struct shadow *shadow, uint64_t number)
{
    size_t place = (number * UINT64_C(0x9e3779b97f4a7c15)) >> 20 & (shadow->capacity - 1);
    while (shadow->table[place].data && shadow->table[place].number != number)
        place = (place + 1) & (shadow->capacity - 1);
    return &shadow->table[place];
}

static void grow(struct shadow *shadow)
{
    struct shadow_page *old = shadow->table;
    size_t capacity = shadow->capacity;
    shadow->capacity = capacity ? 2 * capacity : 64;
    shadow->table = mem_alloc(shadow->capacity, sizeof *shadow->table);
    for (size_t i = 0; i < capacity; i++)
        if (old[i].data)
            *place_of(shadow, old[i].number) = old[i];
    mem_free(old);
}

void *shadow_find(struct shadow *shadow, uint64_t at, bool make)
{
    uint64_t number = at / SHADOW_PAGE;
    if (LIKELY(shadow->last.number == number))
        return shadow->last.data;
    if (2 * shadow->count >= shadow->capacity)
        grow(shadow);
    struct shadow_page *place = place_of(shadow, number);
    if (!place->data && !make)
        return NULL;
    if (!place->data) {
        *place = (struct shadow_page){number, mem_alloc(1, shadow->bytes)};
        shadow->count++;
    }
    shadow->last = *place;
    return place->data;
}

/* ---- bits ---- */

/* Those of one word: `low` to before `low + count`. */
static uint64_t mask_of(uint64_t low, uint64_t count)
{
    return (count == 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1) << low;
}

#define EACH_WORD(at, count, word, mask)                                                                     \
    for (uint64_t from = (at), end = (at) + (count), part, word, mask;                                       \
         from < end && (part = min_u64(64 - from % 64, end - from), word = from / 64,                        \
                       mask = mask_of(from % 64, part), true);                                               \
         from += part)

void bits_set(uint64_t *words, uint64_t at, uint64_t count)
{
    EACH_WORD(at, count, word, mask)
    words[word] |= mask;
}

void bits_clear(uint64_t *words, uint64_t at, uint64_t count)
{
    EACH_WORD(at, count, word, mask)
    words[word] &= ~mask;
}

bool bits_are_set(const uint64_t *words, uint64_t at, uint64_t count)
{
    EACH_WORD(at, count, word, mask)
    if (~words[word] & mask)
        return false;
    return true;
}

/* Of a range of addresses: what lies in one page. */
static uint64_t part_of(uint64_t at, uint64_t bytes)
{
    return min_u64(SHADOW_PAGE - at % SHADOW_PAGE, bytes);
}

void shadow_set(struct shadow *bits, uint64_t at, uint64_t bytes)
{
    for (uint64_t part; bytes; at += part, bytes -= part) {
        struct shadow_bits *page = shadow_find(bits, at, false);
        part = part_of(at, bytes);
        if (page)
            bits_set(page->words, at % SHADOW_PAGE, part);
    }
}

void shadow_clear(struct shadow *bits, uint64_t at, uint64_t bytes)
{
    for (uint64_t part; bytes; at += part, bytes -= part) {
        bool is_there = shadow_find(bits, at, false);
        struct shadow_bits *page = shadow_find(bits, at, true);
        if (!is_there)
            memset(page->words, 0xff, sizeof page->words);
        part = part_of(at, bytes);
        bits_clear(page->words, at % SHADOW_PAGE, part);
    }
}

bool shadow_is_set(struct shadow *bits, uint64_t at, uint64_t bytes)
{
    for (uint64_t part; bytes; at += part, bytes -= part) {
        const struct shadow_bits *page = shadow_find(bits, at, false);
        part = part_of(at, bytes);
        if (page && !bits_are_set(page->words, at % SHADOW_PAGE, part))
            return false;
    }
    return true;
}

uint64_t shadow_first_clear(struct shadow *bits, uint64_t at, uint64_t bytes)
{
    uint64_t done = 0;
    while (done < bytes && shadow_is_set(bits, at + done, 1))
        done++;
    return done;
}
