/* An archive of state that is on several ranks, part by part. The file is the same for any number of ranks:
 * rank 0 writes it, and takes the parts of others from them; to read it, all have all of its bytes, and each
 * takes its own parts.
 *
 *   ranks_parts_begin(&parts, ranks, archive);
 *   for (size_t i = 0; i < count; i++)
 *       if (ranks_part_open(&parts, archive, rank_of(i), &one)) {
 *           thing_archive(i, &one);
 *           ranks_part_close(&parts, archive, &one);
 *       }
 *   ranks_parts_end(&parts, archive);
 *
 * A rank that does not lead writes to an archive without a file. */
#ifndef RANKS_PARTS_H
#define RANKS_PARTS_H

#include "base/archive.h"
#include "ranks/ranks.h"

struct ranks_parts {
    struct ranks *ranks;  /* NULL: there is one */
    struct text *others;  /* on rank 0: what ranks have written, and */
    struct archive *left; /* what of it was not passed on yet */
    struct text bytes;    /* of the part that is being read */
    size_t from;          /* where this rank's parts begin in its archive */
};

void ranks_parts_begin(struct ranks_parts *parts, struct ranks *ranks, struct archive *archive);
void ranks_parts_end(struct ranks_parts *parts, struct archive *archive);

/* The next part, which is of this rank: true when it is to be written to or read from `one`. */
bool ranks_part_open(struct ranks_parts *parts, struct archive *archive, uint32_t rank, struct archive *one);
void ranks_part_close(struct ranks_parts *parts, struct archive *archive, struct archive *one);

#endif
