#include "itrace/cut.h"
#include "itrace/iwalk.h"
#include "itrace/writer.h"

bool itrace_part_has(const struct itrace_part *part, const struct itrace_launch *launch)
{
    uint64_t first, end;
    itrace_part_blocks(part, launch, &first, &end);
    return launch->recorded && launch->number >= part->first_launch &&
           (!part->end_launch || launch->number < part->end_launch) && first < end;
}

void itrace_part_blocks(const struct itrace_part *part, const struct itrace_launch *launch, uint64_t *first,
                        uint64_t *end)
{
    uint64_t blocks = itrace_launch_blocks(launch);
    *end = part->end_block ? min_u64(part->end_block, blocks) : blocks;
    *first = min_u64(part->first_block, *end);
}

static void copy_warp(struct chunk_block *block, const struct chunk_warp *warp)
{
    blob_put_varint(&block->lengths, warp->runs_bytes);
    blob_put_varint(&block->lengths, warp->data_bytes);
    blob_put_varint(&block->lengths, warp->first_count);
    blob_put_all(&block->runs, warp->runs, warp->runs_bytes);
    blob_put_all(&block->data, warp->data, warp->data_bytes);
    blob_put_all(&block->firsts, warp->firsts, warp->first_count * sizeof *warp->firsts);
}

/* Warps' streams are copied as they are. */
static bool copy_blocks(struct itrace_reader *reader, size_t launch, uint64_t first, uint64_t end,
                        uint32_t warps, struct itrace_launch_writer *to, struct err *err)
{
    struct chunk_block copy = {0};
    bool good = true;
    for (uint64_t block = first; block < end && good; block++) {
        for (uint32_t i = 0; i < warps && good; i++) { /* each is taken and given back, as replay does */
            const struct chunk_warp *at = itrace_reader_take(reader, launch, block, err);
            if (!(good = at))
                break;
            copy_warp(&copy, &at[i]);
            itrace_reader_give(reader, launch, block);
        }
        if (good)
            itrace_launch_writer_add(to, block - first, &copy);
    }
    chunk_block_fini(&copy);
    return good;
}

static void leave_out(struct itrace_launch *launch)
{
    mem_free(launch->chunks);
    launch->chunks = NULL;
    launch->chunk_count = launch->chunk_capacity = 0;
    launch->recorded = false;
}

static bool cut_launch(struct itrace_reader *reader, size_t number, const struct itrace_part *part,
                       struct itrace_writer *writer, struct itrace_launch *to, struct err *err)
{
    uint64_t first, end, blocks = itrace_launch_blocks(to);
    bool is_in = itrace_part_has(part, to);
    itrace_part_blocks(part, to, &first, &end);
    leave_out(to);
    if (!is_in)
        return true;
    if (end - first < blocks && itrace_launch_cluster(to) > 1)
        return err_set(err,
                       "launch %llu runs in clusters of blocks, which cannot be cut: expected all its blocks",
                       (unsigned long long)to->number);
    struct iwalk *walk = iwalk_new(reader, number);
    struct itrace_launch_writer *copy = itrace_launch_writer_new(writer);
    bool good = copy_blocks(reader, number, first, end, iwalk_warps(walk), copy, err);
    if (good && end - first < blocks) {
        to->counts = (struct launch_result){0};
        good = iwalk_count(walk, first, end, &to->counts, err);
        to->grid[0] = (uint32_t)(end - first);
        to->grid[1] = to->grid[2] = 1;
        mem_free(to->places);
        to->places = NULL;
        to->place_count = 0;
    }
    iwalk_free(walk);
    return itrace_launch_writer_end(copy, good, to) || !good;
}

static bool has_some(const struct itrace *trace, const struct itrace_part *part, struct err *err)
{
    for (size_t i = 0; i < trace->launch_count; i++)
        if (itrace_part_has(part, &trace->launches[i]))
            return true;
    return err_set(err, "no recorded launch is in this part: nothing was written");
}

bool itrace_cut(const char *from, const struct itrace_part *part, const char *to, struct err *err)
{
    struct itrace_reader *reader = itrace_reader_new(from, err);
    struct itrace *trace = reader ? itrace_read_index(from, err) : NULL;
    bool good = trace && has_some(trace, part, err);
    struct itrace_writer *writer = good ? itrace_writer_new(to, 0, err) : NULL;
    good = writer;
    for (size_t i = 0; i < (good ? trace->launch_count : 0) && good; i++)
        good = cut_launch(reader, i, part, writer, &trace->launches[i], err);
    if (good)
        good = itrace_writer_finish(writer, trace, err);
    else if (writer)
        itrace_writer_abandon(writer);
    itrace_free(trace);
    itrace_reader_free(reader);
    return good;
}
