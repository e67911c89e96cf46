/* Whole files: read at once, and written so that a reader sees the old content or all of the new. */
#ifndef BASE_FILE_H
#define BASE_FILE_H

#include "base/err.h"
#include "base/text.h"

#include <stdio.h>

/* Reads a file of at most `limit` bytes to the end of `content`. */
bool file_read(const char *path, size_t limit, struct text *content, struct err *err);

/* Something that may never end, such as a device. (What does not exist is no such thing.) */
bool file_is_endless(const char *path);

/* Whether both names are of one file; a file that does not exist yet is known by its name. */
bool file_same(const char *a, const char *b);

/* A file being written. It goes to PATH.NUMBER.part and takes its name when it is whole; devices, pipes and -
 * (standard output) are written straight. Write to `stream` as you like: errors are told by file_close. */
struct file_writer {
    FILE *stream;
    char *path, *part; /* part is NULL when written straight */
};

bool file_open(struct file_writer *writer, const char *path, struct err *err);
bool file_close(struct file_writer *writer, struct err *err);
void file_abandon(struct file_writer *writer); /* instead of file_close: what PATH was before, it stays */

/* Whether file_open would work; PATH itself is not touched. */
bool file_check(const char *path, struct err *err);

#endif
