/* The bytes of a foreign trace, from a file or standard input, as a window that moves on: memory is bounded
 * however long it is. What zstd, gzip or xz packed is unpacked, the latter two by the programs of that name.
 */
#ifndef TRACE_INPUT_H
#define TRACE_INPUT_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum { INPUT_WINDOW = 1 << 20, INPUT_ENOUGH = 1 << 16 };

struct input {
    char *name;     /* for people */
    char *at, *end; /* what is there now; the reader moves `at` on */
    bool ended;     /* nothing follows behind `end` */
    uint64_t bytes; /* that were there so far, unpacked */

    int descriptor;
    char *window;
    struct input_zstd *zstd; /* or NULL */
    pid_t child;             /* that unpacks; or 0 */
    const char *child_name;  /* the program */
};

/* The first INPUT_ENOUGH bytes of it are there then, or all. "-" is standard input. */
bool input_open(struct input *input, const char *path, struct err *err);
void input_close(struct input *input);

/* Puts more behind what is there; the pointers change. Needs room: less than half of the window is left. */
bool input_more(struct input *input, struct err *err);

#endif
