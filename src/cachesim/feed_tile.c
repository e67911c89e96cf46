#include "cachesim/feed_tile.h"
#include "base/bits.h"
#include "base/mem.h"

static bool open_at(struct feed_tile *tile, uint64_t start, struct err *err)
{
    source_close(tile->source);
    tile->source = tile->trace->kept ? NULL : source_open(tile->trace->path, start, err);
    tile->place = start;
    return tile->trace->kept || tile->source;
}

/* Raw ones, as the trace has them. */
static long read_some(struct feed_tile *tile, struct trace_access *into, size_t most, struct err *err)
{
    if (tile->source)
        return source_read_by(tile->source, tile->workers, into, most, err);
    size_t here = min_u64(most, tile->trace->count - tile->place);
    memcpy(into, tile->trace->kept + tile->place, here * sizeof *into);
    tile->place += here;
    return (long)here;
}

bool tile_start(struct feed_tile *tile, uint64_t start, struct err *err)
{
    tile->start = tile->trace->length ? start % tile->trace->length : start;
    if (!open_at(tile, tile->start, err))
        return false;
    tile_fill(tile, true);
    return true;
}

static void end(struct feed_tile *tile)
{
    tile->ended = true;
    source_close(tile->source);
    tile->source = NULL;
}

/* Past the end of its trace: on from its beginning, up to where it started. */
static bool go_round(struct feed_tile *tile, struct err *err)
{
    bool has_more = tile->trace && tile->start && !tile->is_round;
    if (!has_more) {
        end(tile);
        return true;
    }
    tile->is_round = true;
    tile->left = min_u64(tile->left, tile->start);
    return open_at(tile, 0, err);
}

/* Instruction counts of what was read, which goes behind what is at hand. */
static bool take_new(struct feed_tile *tile, size_t count, bool begins_again, struct err *err)
{
    struct trace_access *new = tile->buffer + tile->count;
    if (begins_again)
        tile->shift = tile->last + 1 - trace_instruction(new[0]);
    tile->last = trace_instruction(new[count - 1]) + tile->shift;
    if (tile->last > TRACE_INSTRUCTIONS_MOST)
        return err_set(err, "%s: its instruction counts, gone round, are more than 2^47", tile->trace->path);
    for (size_t i = 0; tile->shift && i < count; i++)
        new[i].rest += tile->shift << 17;
    tile->count += count;
    tile->left -= count;
    return true;
}

static bool fill_buffer(struct feed_tile *tile, struct err *err)
{
    bool begins_again = false;
    if (tile->count && tile->at != tile->buffer)
        memmove(tile->buffer, tile->at, tile->count * sizeof *tile->buffer);
    tile->at = tile->buffer;
    while (!tile->ended && tile->count < tile->capacity) {
        size_t most = min_u64(tile->capacity - tile->count, tile->left);
        if (!most) {
            end(tile);
            break;
        }
        long got = read_some(tile, tile->buffer + tile->count, most, err);
        bool good = got > 0    ? take_new(tile, (size_t)got, begins_again, err)
                    : got == 0 ? go_round(tile, err)
                               : false;
        if (!good)
            return false;
        begins_again = got == 0;
    }
    return true;
}

/* What was kept is at hand as it stands, as long as it is in one piece. */
static bool look_at_kept(struct feed_tile *tile)
{
    const struct feed_trace *trace = tile->trace;
    if (!trace || !trace->kept || tile->shift || tile->is_round)
        return false;
    size_t more = min_u64(min_u64(tile->capacity - tile->count, trace->count - tile->place), tile->left);
    bool is_last = more == tile->left || (tile->place + more == trace->count && !tile->start);
    if (tile->count + more < tile->capacity && !is_last)
        return false;
    tile->at = trace->kept + tile->place - tile->count;
    tile->place += more;
    tile->left -= more;
    tile->count += more;
    tile->ended = is_last;
    if (tile->count)
        tile->last = trace_instruction(tile->at[tile->count - 1]);
    return true;
}

void tile_fill(struct feed_tile *tile, bool even_if_half_full)
{
    struct err err;
    if (tile->ended || (!even_if_half_full && tile->count > tile->capacity / 2))
        return;
    if (!look_at_kept(tile) && !fill_buffer(tile, &err))
        tile->wrong = mem_text(err.text);
}

void tile_shift(struct feed_tile *tile, uint64_t by)
{
    if (!by)
        return;
    if (tile->at != tile->buffer)
        memcpy(tile->buffer, tile->at, tile->count * sizeof *tile->buffer);
    tile->at = tile->buffer;
    for (size_t i = 0; i < tile->count; i++)
        tile->buffer[i].rest += by << 17;
    tile->shift += by;
    tile->last += by;
}

void tile_fini(struct feed_tile *tile)
{
    source_close(tile->source);
    mem_free(tile->wrong);
}
