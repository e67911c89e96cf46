/* Fatbins in files: in the sections that nvcc puts into programs, libraries and objects, or a fatbin alone.
 * Reads nothing beyond the bytes it is given. */
#ifndef DRIVER_EMBEDDED_H
#define DRIVER_EMBEDDED_H

#include <stdbool.h>
#include <stddef.h>

/* Whether these are the first bytes of a file that may hold fatbins: an ELF file or a fatbin. */
bool embedded_may_be(const void *file, size_t bytes);

/* Calls `each` for every fatbin, in their order; what is broken holds none. */
typedef void embedded_each(void *user, const void *fatbin, size_t bytes);
void embedded_read(const void *file, size_t bytes, embedded_each *each, void *user);

#endif
