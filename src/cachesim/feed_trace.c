/* Traces that several tiles read. */
#include "cachesim/feed_tile.h"
#include "cachesim/feed.h"
#include "base/bits.h"
#include "base/mem.h"
#include "trace/own.h"

#include <sys/stat.h>

enum { CHUNK = 65536 };

static bool is_set(const _Atomic int *interrupt)
{
    return interrupt && *interrupt;
}

bool feed_trace_look(struct feed_trace *trace, struct err *err)
{
    if (!own_is(trace->path))
        return true;
    trace->file = trace_file_open(trace->path, err);
    trace->length = trace->file ? trace_file_accesses(trace->file) : 0;
    return trace->file;
}

void feed_trace_fini(struct feed_trace *trace)
{
    if (trace->file)
        mem_free_pages(trace->kept);
    else
        mem_free(trace->kept);
    trace_file_close(trace->file);
    mem_free(trace->wrong);
}

/* ---- our own ---- */

bool feed_trace_keep_begin(struct feed_trace *trace, uint64_t most, size_t room)
{
    uint64_t count = most ? min_u64(most, trace->length) : trace->length;
    uint64_t blocks = (count + TRACE_BLOCK_ACCESSES - 1) / TRACE_BLOCK_ACCESSES;
    if (blocks * TRACE_BLOCK_ACCESSES > room / sizeof *trace->kept)
        return false;
    trace->kept = mem_alloc_pages(blocks, TRACE_BLOCK_ACCESSES * sizeof *trace->kept);
    trace->count = count;
    return true;
}

bool feed_trace_keep_block(struct feed_trace *trace, uint32_t block, struct err *err)
{
    if (is_set(trace->interrupt))
        return err_set(err, "interrupted");
    return trace_block_read(trace->file, block, trace->kept + (size_t)block * TRACE_BLOCK_ACCESSES, err);
}

/* ---- foreign ones ---- */

bool feed_can_reopen(const char *path)
{
    struct stat info;
    return (!stat(source_file(path), &info) && S_ISREG(info.st_mode)) || own_is(path);
}

static bool keep_some(struct feed_trace *trace, struct source *source, uint64_t most, size_t capacity_most,
                      struct err *err)
{
    size_t capacity = 0;
    long got = 1;
    while (got > 0 && (!most || trace->count < most) && trace->count < capacity_most) {
        if (is_set(trace->interrupt))
            return err_set(err, "interrupted");
        if (trace->count == capacity) {
            size_t more = min_u64(capacity ? 2 * capacity : CHUNK, capacity_most);
            trace->kept = mem_resize(trace->kept, capacity, more, sizeof *trace->kept);
            capacity = more;
        }
        size_t room = capacity - trace->count;
        got = source_read(source, trace->kept + trace->count,
                          most ? min_u64(room, most - trace->count) : room, err);
        trace->count += got > 0 ? (size_t)got : 0;
    }
    trace->length = got == 0 ? trace->count : 0;
    return got >= 0;
}

bool feed_trace_keep(struct feed_trace *trace, uint64_t most, size_t room, struct err *err)
{
    struct source *source = source_open(trace->path, 0, err);
    if (!source)
        return false;
    bool good = keep_some(trace, source, most, room / sizeof *trace->kept, err);
    source_close(source);
    if (good && !trace->length && !(most && trace->count == most)) {
        mem_free(trace->kept);
        trace->kept = NULL;
        trace->count = 0;
        good = feed_can_reopen(trace->path) ||
               err_set(err,
                       "%s: several tiles read this trace, which is too long to be kept in memory and, "
                       "being no plain file, cannot be read again",
                       trace->path);
    }
    return good;
}

bool feed_trace_measure(struct feed_trace *trace, struct err *err)
{
    struct source *source = source_open(trace->path, 0, err);
    if (!source)
        return false;
    struct trace_access *into = mem_alloc(CHUNK, sizeof *into);
    long got;
    while ((got = source_read(source, into, CHUNK, err)) > 0 && !is_set(trace->interrupt))
        trace->length += (uint64_t)got;
    source_close(source);
    mem_free(into);
    return got > 0 ? err_set(err, "interrupted") : got == 0;
}
