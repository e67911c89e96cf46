/* printf of kernels: C's conversions, for arguments that are anywhere, and where the text goes. */
#ifndef EXEC_PRINT_H
#define EXEC_PRINT_H

#include "base/text.h"

#include <stdbool.h>
#include <stdint.h>

struct worker;

/* Where arguments come from, one after the other. One that cannot be read makes `good` false. */
struct print_source {
    uint64_t (*number)(struct print_source *source, uint32_t bytes); /* 4 or 8 */
    bool (*string)(struct print_source *source, struct text *text);  /* false: it is NULL */
    bool good;
};

/* Adds the text to `out`, as far as the source is good. Vectors and %n are not conversions of kernels. */
void print_formatted(struct text *out, const char *format, struct print_source *source);

/* Writes the worker's `line` to where the launch prints, and empties it. */
void print_line(struct worker *worker);

#endif
