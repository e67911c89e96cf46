/* All memory of Heddle comes from here. Memory is zeroed. An allocation never returns NULL: when there is no
 * memory left, the handler that the cli has set is called with the number of bytes, and does not return. */
#ifndef BASE_MEM_H
#define BASE_MEM_H

#include <stddef.h>
#include <stdint.h>

void *mem_alloc(size_t count, size_t bytes_each);

/* The same, starting at a cache line, so that two threads' data never share one. */
void *mem_alloc_lines(size_t count, size_t bytes_each);
void *mem_alloc_lines_unset(size_t count,
                            size_t bytes_each); /* not zeroed: all of it is set before it is read */

/* A large, sparsely used array: pages of the host that cost nothing until they are touched, and huge pages
 * where the host has them. It starts at a cache line. Freed by mem_free_pages. */
void *mem_alloc_pages(size_t count, size_t bytes_each);
void mem_free_pages(void *memory);

/* Whole pages, at the address `hint` if nothing is there. Ends with mem_unmap. */
void *mem_map(uint64_t hint, size_t bytes);
void mem_unmap(void *memory, size_t bytes);

/* Grows or shrinks; bytes beyond `old_count` elements are zeroed. */
void *mem_resize(void *memory, size_t old_count, size_t new_count, size_t bytes_each);

char *mem_text(const char *text); /* a copy */
void mem_free(void *memory);

void mem_on_exhaustion(void (*handler)(size_t bytes));

enum { CACHE_LINE = 64 };

/* Makes room for one more in an array that doubles. */
#define mem_grow(array, count, capacity)                                                                     \
    do {                                                                                                     \
        if ((count) == (capacity)) {                                                                         \
            size_t mem_more = (capacity) ? 2 * (size_t)(capacity) : 16;                                      \
            (array) = mem_resize((array), (capacity), mem_more, sizeof *(array));                            \
            (capacity) = mem_more;                                                                           \
        }                                                                                                    \
    } while (0)

#endif
