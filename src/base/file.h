/* Whole files: read at once, and written so that a reader sees the old content or all of the new. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"
#include "base/text.h"

#include <stdio.h>

/* Reads a file of at most `limit` bytes to the end of `content`. */
bool file_read(const char *path, size_t limit, struct text *content, struct err *err);

/* Whether the file may be endless, such as a device. False for a file that does not exist. */
bool file_is_endless(const char *path);

/* Whether both names refer to the same file. Files that do not exist yet are compared by name. */
bool file_same(const char *a, const char *b);

/* A file being written. It is written as PATH.NUMBER.part and renamed when it is complete; devices, pipes and
 * - (standard output) are written directly. Write to `stream` without checks: file_close reports errors. */
struct file_writer {
    FILE *stream;
    char *path, *part; /* part is NULL when written straight */
};

bool file_open(struct file_writer *writer, const char *path, struct err *err);
bool file_close(struct file_writer *writer, struct err *err);
void file_abandon(struct file_writer *writer); /* instead of file_close: PATH stays as it was */

/* Whether file_open would work; PATH itself is not touched. */
bool file_check(const char *path, struct err *err);

#endif
