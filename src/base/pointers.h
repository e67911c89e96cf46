/* A map from pointers to pointers: what a program was given as a handle, and what it stands for. Not for
 * several threads at once. */
#ifndef BASE_POINTERS_H
#define BASE_POINTERS_H

#include <stddef.h>

struct pointers_place {
    const void *key; /* NULL: free */
    void *value;
};

/* Empty when zeroed; its owner calls pointers_fini. */
struct pointers {
    struct pointers_place *at; /* open addressing */
    size_t count, capacity;    /* a power of 2, at least twice the count */
};

/* Keys and values are not NULL. A key that is there gets the new value. */
void pointers_set(struct pointers *pointers, const void *key, void *value);
void *pointers_get(const struct pointers *pointers, const void *key); /* NULL when it is not there */
void pointers_remove(struct pointers *pointers, const void *key);     /* nothing when it is not there */
void pointers_fini(struct pointers *pointers);

#endif
