#include "mem/frames.h"
#include "base/archive.h"
#include "base/mem.h"

enum { FRAMES_OF_BLOCK = 256, FRAME_NONE = UINT32_MAX };

void frames_fini(struct frames *frames)
{
    for (size_t i = 0; i < frames->block_count; i++)
        mem_free(frames->blocks[i]);
    mem_free(frames->blocks);
    mem_free(frames->of_lines);
    mem_free(frames->idle);
    index_fini(&frames->lines);
    *frames = (struct frames){.line_bytes = frames->line_bytes};
}

static void add_block(struct frames *frames)
{
    mem_grow(frames->blocks, frames->block_count, frames->block_capacity);
    frames->blocks[frames->block_count++] = mem_alloc(FRAMES_OF_BLOCK, frames->line_bytes);
}

static unsigned char *bytes_of(const struct frames *frames, uint32_t frame)
{
    return frames->blocks[frame / FRAMES_OF_BLOCK] + (size_t)(frame % FRAMES_OF_BLOCK) * frames->line_bytes;
}

/* A frame of zeroes: the one that was let go last, or a new one. */
static uint32_t take_frame(struct frames *frames)
{
    if (frames->idle_count) {
        uint32_t frame = frames->idle[--frames->idle_count];
        memset(bytes_of(frames, frame), 0, frames->line_bytes);
        return frame;
    }
    if (frames->frame_count == frames->block_count * FRAMES_OF_BLOCK)
        add_block(frames);
    return (uint32_t)frames->frame_count++;
}

unsigned char *frames_line(struct frames *frames, uint64_t number)
{
    uint32_t place = index_find(&frames->lines, number);
    if (place == INDEX_NONE) {
        mem_grow(frames->of_lines, frames->lines.count, frames->of_lines_capacity);
        place = index_add(&frames->lines, number);
        frames->of_lines[place] = FRAME_NONE;
    }
    if (frames->of_lines[place] == FRAME_NONE)
        frames->of_lines[place] = take_frame(frames);
    return bytes_of(frames, frames->of_lines[place]);
}

void frames_let_go(struct frames *frames, uint64_t number)
{
    uint32_t place = index_find(&frames->lines, number);
    if (place == INDEX_NONE || frames->of_lines[place] == FRAME_NONE)
        return;
    mem_grow(frames->idle, frames->idle_count, frames->idle_capacity);
    frames->idle[frames->idle_count++] = frames->of_lines[place];
    frames->of_lines[place] = FRAME_NONE;
}

size_t frames_in_use(const struct frames *frames)
{
    return frames->frame_count - frames->idle_count;
}

static bool fits(const struct frames *frames, size_t line_count)
{
    bool good = line_count == frames->lines.count;
    for (size_t i = 0; i < line_count; i++)
        good &= frames->of_lines[i] == FRAME_NONE || frames->of_lines[i] < frames->frame_count;
    for (size_t i = 0; i < frames->idle_count; i++)
        good &= frames->idle[i] < frames->frame_count;
    return good && frames->idle_count <= frames->frame_count &&
           frames->frame_count <= line_count; /* each line has had one at most at a time */
}

void frames_archive(struct frames *frames, struct archive *archive)
{
    archive_expect(archive, frames->line_bytes);
    if (archive->reading && archive->good)
        frames_fini(frames);
    index_archive(&frames->lines, archive);
    size_t line_count = frames->lines.count;
    ARCHIVE_LIST(archive, frames->of_lines, line_count, frames->of_lines_capacity);
    ARCHIVE_LIST(archive, frames->idle, frames->idle_count, frames->idle_capacity);
    ARCHIVE_VALUE(archive, frames->frame_count);
    archive_check(archive, archive->good && fits(frames, line_count));
    while (archive->reading && archive->good && frames->block_count * FRAMES_OF_BLOCK < frames->frame_count)
        add_block(frames);
    for (size_t i = 0; i < frames->block_count && archive->good; i++)
        archive_sparse(archive, frames->blocks[i], (size_t)FRAMES_OF_BLOCK * frames->line_bytes);
}
