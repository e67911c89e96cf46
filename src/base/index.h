/* Numbers by key: a hash table that only grows, or is emptied as a whole. Iteration is by order of adding, so
 * nothing depends on the hash. */
#ifndef BASE_INDEX_H
#define BASE_INDEX_H

#include <stddef.h>
#include <stdint.h>

enum { INDEX_NONE = UINT32_MAX };

struct index {
    uint64_t *keys;  /* in the order they were added: a key's number is its place */
    uint32_t *slots; /* by hash: a key's number plus 1, or 0 */
    size_t count, capacity;
    size_t slot_count; /* a power of two, or 0 */
};

void index_fini(struct index *index);
uint32_t index_find(const struct index *index, uint64_t key); /* its number, or INDEX_NONE */
uint32_t index_add(struct index *index, uint64_t key);        /* one that is not there; gives its number */

struct archive;
void index_archive(struct index *index, struct archive *archive);

#endif
