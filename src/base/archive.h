/* Saves state to a file and restores it. One function for each struct does both, so reading always matches
 * writing:
 *
 *   static void cache_archive(struct cache *cache, struct archive *archive)
 *   {
 *       archive_expect(archive, sizeof *cache);
 *       ARCHIVE_VALUE(archive, cache->clock);
 *       archive_sparse(archive, cache->data, cache->bytes);
 *   }
 *
 * Pointers cannot be saved: write an index instead, and check it when it is read. After the first mismatch
 * `good` is false, nothing more is read, and zeroes are returned; check `good` at the end, before using what
 * was read. A file has a header, a note and a digest of its contents, so a truncated or damaged one is
 * refused before any of it is used. */
#ifndef BASE_ARCHIVE_H
#define BASE_ARCHIVE_H

#include "base/err.h"
#include "base/file.h"

#include <stdint.h>

struct archive {
    bool reading, good;
    const char *why;      /* why it is not good, if there is more to say than "it does not fit"; or NULL */
    const char *at, *end; /* reading: what is left */
    struct text text;     /* writing: bytes not yet written to the file; all of them if there is no file */
    struct file_writer writer; /* stream NULL: there is none */
    uint64_t digest;           /* of what was written to the file */
    void *mapped;
    size_t mapped_bytes;
};

/* Without a file. To write, start with a zeroed archive whose `good` is true, and take its text. */
struct archive archive_writer(void);
struct archive archive_reader(const void *bytes, size_t count);

/* ---- both ways ---- */

void archive_bytes(struct archive *archive, void *bytes, size_t count);
#define ARCHIVE_VALUE(archive, value) archive_bytes(archive, &(value), sizeof(value))

/* A large array, most of which may be zero. The destination must have that size. */
void archive_sparse(struct archive *archive, void *bytes, size_t count);

/* A number that must have the same value when it is read, such as a size. */
void archive_expect(struct archive *archive, uint64_t number);

/* A number of at most `most`. Returns the number that was read, or 0 if it is larger. */
uint64_t archive_number(struct archive *archive, uint64_t number, uint64_t most);

/* How many elements of so many bytes follow. Returns what was read, or 0 if the rest of the archive has not
 * so many: memory can be made for them. */
uint64_t archive_count(struct archive *archive, uint64_t count, size_t bytes_each);

/* An array that grows (mem_grow), whatever it holds. */
#define ARCHIVE_LIST(archive, list, count, capacity)                                                         \
    do {                                                                                                     \
        size_t archive_elements = (size_t)archive_count(archive, count, sizeof *(list));                     \
        if ((archive)->reading && (archive)->good) {                                                         \
            (list) = mem_resize(list, capacity, archive_elements + 1, sizeof *(list));                       \
            (count) = archive_elements;                                                                      \
            (capacity) = archive_elements + 1;                                                               \
        }                                                                                                    \
        archive_bytes(archive, list, (count) * sizeof *(list));                                              \
    } while (0)

/* A string of bytes: what was read replaces what is in the text. */
void archive_text(struct archive *archive, struct text *text);

/* Checks a condition on what was read. Returns whether all is good so far. */
bool archive_check(struct archive *archive, bool holds);
bool archive_require(struct archive *archive, bool holds, const char *why); /* the same, with a reason */

/* ---- files ---- */

struct archive_kind {
    char magic[8];
    const char *name; /* "checkpoint of Heddle" */
    uint64_t version[2];
};

bool archive_create(struct archive *archive, const char *path, const struct archive_kind *kind,
                    const char *note, struct err *err);
bool archive_commit(struct archive *archive, struct err *err); /* the file is there, whole */

/* Reads the head; the note goes to the end of `note`, which may be NULL. */
bool archive_open(struct archive *archive, const char *path, const struct archive_kind *kind,
                  struct text *note, struct err *err);
bool archive_at_end(const struct archive *archive); /* all of it was read, and was good */
void archive_close(struct archive *archive);        /* of reading */

#endif
