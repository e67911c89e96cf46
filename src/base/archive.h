/* State on its way into a file, or back out of it. One function for each struct does both, so that what is
 * written is what is read:
 *
 *   static void cache_archive(struct cache *cache, struct archive *archive)
 *   {
 *       archive_expect(archive, sizeof *cache);
 *       ARCHIVE_VALUE(archive, cache->clock);
 *       archive_sparse(archive, cache->data, cache->bytes);
 *   }
 *
 * Pointers cannot travel: write what they point to as a number, and check the number when it is read. Once
 * something did not fit, `good` is false, nothing more is read, and zeroes are given instead: who made things
 * by what was read asks for it at the end. A file has a head, a note and a digest of all of it, so that one
 * that is cut short or damaged is refused before any of it is believed. */
#ifndef BASE_ARCHIVE_H
#define BASE_ARCHIVE_H

#include "base/err.h"
#include "base/file.h"

#include <stdint.h>

struct archive {
    bool reading, good;
    const char *why;      /* it is not good, where that can be said better than "it does not fit"; or NULL */
    const char *at, *end; /* reading: what is left */
    struct text text;     /* writing: what was not yet written to a file; all of it where there is none */
    struct file_writer writer; /* stream NULL: there is none */
    uint64_t digest;           /* of what was written to the file */
    void *mapped;
    size_t mapped_bytes;
};

/* Without a file. To write: begin with a zeroed archive that is good, and take its text. */
struct archive archive_writer(void);
struct archive archive_reader(const void *bytes, size_t count);

/* ---- both ways ---- */

void archive_bytes(struct archive *archive, void *bytes, size_t count);
#define ARCHIVE_VALUE(archive, value) archive_bytes(archive, &(value), sizeof(value))

/* Much of which most may be zero. Where it is read to must be that large. */
void archive_sparse(struct archive *archive, void *bytes, size_t count);

/* A number that must be the same when it is read, such as a size. */
void archive_expect(struct archive *archive, uint64_t number);

/* A number that is at most `most`: gives the one that was read, or 0 if it is not. */
uint64_t archive_number(struct archive *archive, uint64_t number, uint64_t most);

/* A string of bytes: what was read replaces what is in the text. */
void archive_text(struct archive *archive, struct text *text);

/* Something that was read must hold. Gives whether all is good. */
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
