/* Launches that are meant, by their numbers or the names of their kernels: "3-5,9-,scale*". */
#ifndef BASE_CHOICE_H
#define BASE_CHOICE_H

#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct choice_item;

/* Without items: all. */
struct choice {
    char *text; /* the items' patterns are in it */
    struct choice_item *items;
    size_t count, capacity;
};

/* Numbers are "7", "3-5" or "3-"; all else are patterns of the shell (fnmatch) of names, as they are or
 * demangled: whole, without template arguments, or without these and namespaces. NULL: all. */
bool choice_init(struct choice *choice, const char *option, const char *text, struct err *err);
void choice_fini(struct choice *choice);

bool choice_has(const struct choice *choice, uint64_t launch, const char *kernel);

#endif
