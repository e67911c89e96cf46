/* The bytes of lines that somebody holds of other homes' pages, by the number of the line: an island of a
 * GPU's memory, or the host. */
#ifndef MEM_FRAMES_H
#define MEM_FRAMES_H

#include "base/index.h"

struct frames {
    uint32_t line_bytes;
    struct index lines;
    uint32_t *of_lines; /* the frame of each line, by its number in the index */
    size_t of_lines_capacity;
    uint32_t *idle; /* frames that were let go; the last is taken first */
    size_t idle_count, idle_capacity;
    size_t frame_count;
    unsigned char **blocks; /* of so many frames each: */
    size_t block_count, block_capacity;
};

void frames_fini(struct frames *frames);

/* The bytes of a line: zeroes, if nothing was written yet. */
unsigned char *frames_line(struct frames *frames, uint64_t number);

/* The line is held no more: another may have its frame. */
void frames_let_go(struct frames *frames, uint64_t number);

size_t frames_in_use(const struct frames *frames);

struct archive;
void frames_archive(struct frames *frames, struct archive *archive);

#endif
