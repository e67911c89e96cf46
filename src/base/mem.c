#include "base/mem.h"
#include "base/err.h"
#include "base/pieces.h"
#include "base/zone.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

static void (*on_exhaustion)(size_t bytes);

void mem_on_exhaustion(void (*handler)(size_t bytes))
{
    on_exhaustion = handler;
}

static _Noreturn void exhausted(size_t bytes)
{
    if (on_exhaustion)
        on_exhaustion(bytes);
    BUG("no memory for %zu bytes", bytes);
}

static size_t product(size_t count, size_t bytes_each)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, bytes_each, &bytes))
        exhausted(SIZE_MAX);
    return bytes;
}

/* Of the owner that this thread allocates for (base/zone.h). */
static void *alloc_owned(size_t bytes, size_t alignment)
{
    void *memory = zone_alloc(bytes ? bytes : 1, alignment);
    if (!memory)
        exhausted(bytes);
    return memory;
}

void *mem_alloc(size_t count, size_t bytes_each)
{
    size_t bytes = product(count, bytes_each);
    if (zone_is_owned())
        return alloc_owned(bytes, 16);
    bool is_zeroed;
    void *memory = pieces_take(bytes, &is_zeroed);
    if (memory)
        return is_zeroed ? memory : memset(memory, 0, bytes);
    memory = calloc(1, bytes ? bytes : 1);
    if (!memory)
        exhausted(bytes);
    return memory;
}

static size_t line_bytes(size_t count, size_t bytes_each)
{
    size_t bytes = product(count, bytes_each);
    if (bytes > SIZE_MAX - 2 * CACHE_LINE)
        exhausted(bytes);
    return (bytes + CACHE_LINE) & ~(size_t)(CACHE_LINE - 1);
}

static void *alloc_lines(size_t bytes, bool *is_zeroed)
{
    *is_zeroed = zone_is_owned();
    if (*is_zeroed)
        return alloc_owned(bytes, CACHE_LINE);
    void *memory = pieces_take(bytes, is_zeroed);
    if (!memory)
        memory = aligned_alloc(CACHE_LINE, bytes);
    if (!memory)
        exhausted(bytes);
    return memory;
}

void *mem_alloc_lines_unset(size_t count, size_t bytes_each)
{
    bool is_zeroed;
    return alloc_lines(line_bytes(count, bytes_each), &is_zeroed);
}

void *mem_alloc_lines(size_t count, size_t bytes_each)
{
    bool is_zeroed;
    size_t bytes = line_bytes(count, bytes_each);
    void *memory = alloc_lines(bytes, &is_zeroed);
    return is_zeroed ? memory : memset(memory, 0, bytes);
}

struct mapping { /* stands before the memory of mem_alloc_pages */
    void *from;
    size_t bytes;
};

void *mem_alloc_pages(size_t count, size_t bytes_each)
{
    const size_t small = 4096, large = (size_t)2 << 20;
    size_t bytes = product(count, bytes_each), page = bytes < large ? small : large;
    if (bytes > SIZE_MAX - 2 * page)
        exhausted(bytes);
    if (zone_is_owned())
        return alloc_owned(bytes, small);
    bool is_zeroed;
    void *piece = pieces_take(bytes, &is_zeroed);
    if (piece)
        return is_zeroed ? piece : memset(piece, 0, bytes);
    /* the mapping's note is on a small one's own first page: a page for it alone would cost as much again */
    size_t ahead = page == large ? page : CACHE_LINE;
    bytes = (bytes + ahead + page - 1) / page * page;
    char *from =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (from == MAP_FAILED)
        exhausted(bytes);
    char *memory = from + ahead - (uintptr_t)from % page;
    if (page == large)
        madvise(memory, bytes - (size_t)(memory - from), MADV_HUGEPAGE); /* a wish */
    ((struct mapping *)(void *)memory)[-1] = (struct mapping){from, bytes};
    return memory;
}

void mem_free_pages(void *memory)
{
    if (!memory || zone_has(memory))
        return;
    if (pieces_has(memory)) {
        pieces_give(memory);
        return;
    }
    struct mapping mapping = ((struct mapping *)memory)[-1];
    munmap(mapping.from, mapping.bytes);
}

void *mem_map(uint64_t hint, size_t bytes)
{
    void *memory =
        mmap((void *)(uintptr_t)hint, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED)
        exhausted(bytes);
    return memory;
}

void mem_unmap(void *memory, size_t bytes)
{
    if (memory)
        munmap(memory, bytes);
}

void *mem_resize(void *memory, size_t old_count, size_t new_count, size_t bytes_each)
{
    size_t bytes = product(new_count, bytes_each);
    if (!memory)
        return mem_alloc(new_count, bytes_each);
    if (zone_is_owned() || zone_has(memory) || (pieces_has(memory) && bytes > pieces_bytes(memory))) {
        void *old = memory;
        memory = mem_alloc(new_count, bytes_each);
        if (old_count && new_count)
            memcpy(memory, old, (old_count < new_count ? old_count : new_count) * bytes_each);
        mem_free(old);
        return memory;
    }
    if (!pieces_has(memory))
        memory = realloc(memory, bytes ? bytes : 1);
    if (!memory)
        exhausted(bytes);
    if (new_count > old_count)
        memset((char *)memory + old_count * bytes_each, 0, (new_count - old_count) * bytes_each);
    return memory;
}

char *mem_text(const char *text)
{
    size_t bytes = strlen(text) + 1;
    return memcpy(mem_alloc(bytes, 1), text, bytes);
}

void mem_free(void *memory)
{
    if (pieces_has(memory))
        pieces_give(memory);
    else if (!zone_has(memory))
        free(memory);
}
