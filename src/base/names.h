/* Names and their numbers: each new name gets the next number, and is found again in one step. */
#ifndef BASE_NAMES_H
#define BASE_NAMES_H

#include <stddef.h>
#include <stdint.h>

#define NO_NAME SIZE_MAX

struct names {
    char **at; /* by number; the names are copies */
    size_t count, capacity;
    uint32_t *table; /* number + 1, or 0; at the name's digest or the next free place behind it */
    size_t table_size;
};

void names_fini(struct names *names);

/* The number of this name, or NO_NAME. */
size_t names_find(const struct names *names, const char *name);

/* The number it has, or a new one. */
size_t names_add(struct names *names, const char *name);

#endif
