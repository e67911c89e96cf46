/* Lines by number: a pool and a hash table. */
#include "base/mem.h"
#include "coherence/follow/parts.h"

#include <string.h>

enum { LINES_FIRST = 1024 };

void follow_lines_init(struct follow_lines *lines, size_t bytes_each)
{
    *lines = (struct follow_lines){.bytes_each = (bytes_each + 7) / 8 * 8, .bucket_count = LINES_FIRST};
    lines->buckets = mem_alloc(lines->bucket_count, sizeof *lines->buckets);
}

void follow_lines_fini(struct follow_lines *lines)
{
    mem_free(lines->at);
    mem_free(lines->buckets);
}

static uint32_t bucket_of(const struct follow_lines *lines, uint64_t line)
{
    return (uint32_t)((line * UINT64_C(0x9e3779b97f4a7c15)) >> 32) & (lines->bucket_count - 1);
}

struct follow_line *follow_line_find(const struct follow_lines *lines, uint64_t line)
{
    for (uint32_t at = lines->buckets[bucket_of(lines, line)]; at;) {
        struct follow_line *found = follow_line_at(lines, at - 1);
        if (found->line == line)
            return found;
        at = found->next;
    }
    return NULL;
}

static void put_in_bucket(struct follow_lines *lines, uint32_t number)
{
    struct follow_line *line = follow_line_at(lines, number);
    uint32_t *bucket = &lines->buckets[bucket_of(lines, line->line)];
    line->next = *bucket;
    *bucket = number + 1;
}

/* All places are in use: each is in a bucket. */
static void grow(struct follow_lines *lines)
{
    uint32_t capacity = lines->capacity ? 2 * lines->capacity : LINES_FIRST;
    lines->at = mem_resize(lines->at, lines->capacity * lines->bytes_each, capacity * lines->bytes_each, 1);
    lines->capacity = capacity;
    mem_free(lines->buckets);
    lines->bucket_count = capacity;
    lines->buckets = mem_alloc(lines->bucket_count, sizeof *lines->buckets);
    for (uint32_t i = 0; i < lines->used; i++)
        put_in_bucket(lines, i);
}

struct follow_line *follow_line_make(struct follow_lines *lines, uint64_t line)
{
    uint32_t number = lines->spare - 1;
    if (lines->spare) {
        lines->spare = follow_line_at(lines, number)->next;
    } else {
        if (lines->used == lines->capacity)
            grow(lines);
        number = lines->used++;
    }
    struct follow_line *made = follow_line_at(lines, number);
    memset(made, 0, lines->bytes_each);
    made->line = line;
    put_in_bucket(lines, number);
    return made;
}

void follow_line_free(struct follow_lines *lines, struct follow_line *line)
{
    uint32_t number = (uint32_t)((size_t)((char *)line - lines->at) / lines->bytes_each) + 1;
    uint32_t *at = &lines->buckets[bucket_of(lines, line->line)];
    while (*at != number)
        at = &follow_line_at(lines, *at - 1)->next;
    *at = line->next;
    line->next = lines->spare;
    line->line = UINT64_MAX;
    lines->spare = number;
}
