/* The bytes of lines that an island of a GPU's memory holds of other homes' pages. By the number of the line.
 */
#ifndef MEM_FRAMES_H
#define MEM_FRAMES_H

#include "base/index.h"

struct frames {
    uint32_t line_bytes;
    struct index lines;
    unsigned char **blocks; /* of so many lines each: */
    size_t block_count, block_capacity;
};

void frames_fini(struct frames *frames);

/* The bytes of a line: zeroes, if nothing was written yet. */
unsigned char *frames_line(struct frames *frames, uint64_t number);

struct archive;
void frames_archive(struct frames *frames, struct archive *archive);

#endif
