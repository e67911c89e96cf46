/* Something for each page of the simulated memory that anybody asked for: data beside the memory. */
#ifndef CHECKS_SHADOW_H
#define CHECKS_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { SHADOW_PAGE = 4096 }; /* bytes of memory */

struct shadow {
    size_t bytes; /* of what a page has */
    struct shadow_page {
        uint64_t number; /* of the page */
        void *data;      /* NULL: the place is free */
    } * table;           /* by hash */
    size_t count, capacity;
    struct shadow_page last; /* that was found */
};

void shadow_init(struct shadow *shadow, size_t bytes_each);
void shadow_fini(struct shadow *shadow, void (*fini)(void *data)); /* fini: or NULL */

/* What the page with this address has; NULL where nothing was made, unless `make`: then it is zeroed. */
void *shadow_find(struct shadow *shadow, uint64_t at, bool make);

/* ---- a bit for each byte: pages that are not there have all bits set ---- */

struct shadow_bits {
    uint64_t words[SHADOW_PAGE / 64];
};

void shadow_set(struct shadow *bits, uint64_t at, uint64_t bytes);
void shadow_clear(struct shadow *bits, uint64_t at, uint64_t bytes);
bool shadow_is_set(struct shadow *bits, uint64_t at, uint64_t bytes);          /* all of them are */
uint64_t shadow_first_clear(struct shadow *bits, uint64_t at, uint64_t bytes); /* from `at`; or `bytes` */

/* The same of an array of bits; false of them: those before were set already. */
void bits_set(uint64_t *words, uint64_t at, uint64_t count);
void bits_clear(uint64_t *words, uint64_t at, uint64_t count);
bool bits_are_set(const uint64_t *words, uint64_t at, uint64_t count);

#endif
