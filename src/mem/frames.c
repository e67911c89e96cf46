#include "mem/frames.h"
#include "base/archive.h"
#include "base/mem.h"

enum { LINES_OF_BLOCK = 256 };

void frames_fini(struct frames *frames)
{
    for (size_t i = 0; i < frames->block_count; i++)
        mem_free(frames->blocks[i]);
    mem_free(frames->blocks);
    index_fini(&frames->lines);
    *frames = (struct frames){.line_bytes = frames->line_bytes};
}

static void add_block(struct frames *frames)
{
    mem_grow(frames->blocks, frames->block_count, frames->block_capacity);
    frames->blocks[frames->block_count++] = mem_alloc(LINES_OF_BLOCK, frames->line_bytes);
}

unsigned char *frames_line(struct frames *frames, uint64_t number)
{
    uint32_t place = index_find(&frames->lines, number);
    if (place == INDEX_NONE) {
        place = index_add(&frames->lines, number);
        if (place / LINES_OF_BLOCK == frames->block_count)
            add_block(frames);
    }
    return frames->blocks[place / LINES_OF_BLOCK] + (size_t)(place % LINES_OF_BLOCK) * frames->line_bytes;
}

void frames_archive(struct frames *frames, struct archive *archive)
{
    archive_expect(archive, frames->line_bytes);
    if (archive->reading && archive->good)
        frames_fini(frames);
    index_archive(&frames->lines, archive);
    while (archive->reading && archive->good && frames->block_count * LINES_OF_BLOCK < frames->lines.count)
        add_block(frames);
    for (size_t i = 0; i < frames->block_count && archive->good; i++)
        archive_sparse(archive, frames->blocks[i], (size_t)LINES_OF_BLOCK * frames->line_bytes);
}
