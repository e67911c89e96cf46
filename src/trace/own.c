#include "trace/own.h"
#include "trace/file.h"
#include "base/bits.h"
#include "base/mem.h"
#include "base/workers.h"

#include <fcntl.h>
#include <inttypes.h>
#include <sys/stat.h>
#include <unistd.h>

struct own {
    struct source source;
    struct trace_file *file;
    uint64_t block;            /* the next to be read */
    struct trace_access *kept; /* of the block before it: from kept_at on; a block where it is needed */
    uint32_t kept_at, kept_end;
};

bool own_looks_so(const char *bytes, size_t count)
{
    const size_t magic = sizeof TRACE_MAGIC - 1;
    return count >= magic && !memcmp(bytes, TRACE_MAGIC, magic);
}

bool own_is(const char *path)
{
    char bytes[sizeof TRACE_MAGIC];
    struct stat info;
    bool standard = !strcmp(path, "-");
    if ((standard ? fstat(STDIN_FILENO, &info) : stat(path, &info)) || !S_ISREG(info.st_mode))
        return false; /* pipes are not even opened: that would be felt at the other end */
    int descriptor = standard ? dup(STDIN_FILENO) : open(path, O_RDONLY | O_CLOEXEC);
    ssize_t got = descriptor < 0 ? -1 : pread(descriptor, bytes, sizeof bytes, 0);
    if (descriptor >= 0)
        close(descriptor);
    return got > 0 && own_looks_so(bytes, (size_t)got);
}

static bool keep_block(struct own *own, struct err *err)
{
    if (!own->kept)
        own->kept = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof *own->kept);
    if (!trace_block_read(own->file, own->block, own->kept, err))
        return false;
    own->kept_at = 0;
    own->kept_end = trace_file_block(own->file, own->block++)->count;
    return true;
}

/* ---- whole blocks go straight to where they are wanted ---- */

/* Neighbouring blocks that are read at the same time. */
struct reading {
    struct own *own;
    struct trace_access *into;
    char **wrong; /* of each block */
};

static void read_one(void *user, uint32_t i, unsigned worker)
{
    (void)worker;
    struct reading *reading = user;
    struct own *own = reading->own;
    struct err err;
    if (!trace_block_read(own->file, own->block + i, reading->into + (size_t)i * TRACE_BLOCK_ACCESSES, &err))
        reading->wrong[i] = mem_text(err.text);
}

static bool read_together(struct own *own, struct workers *workers, uint32_t blocks,
                          struct trace_access *into, struct err *err)
{
    struct reading reading = {own, into, mem_alloc(blocks, sizeof *reading.wrong)};
    bool good = true;
    workers_run(workers, blocks, read_one, &reading);
    for (uint32_t i = 0; i < blocks; i++) {
        if (good && reading.wrong[i])
            good = err_set(err, "%s", reading.wrong[i]);
        mem_free(reading.wrong[i]);
    }
    mem_free(reading.wrong);
    return good;
}

/* Those that fit; 0: not one does. -1: err says what is wrong. */
static long read_whole(struct own *own, struct workers *workers, struct trace_access *into, size_t most,
                       struct err *err)
{
    size_t count = 0;
    uint32_t blocks = 0;
    uint64_t last = trace_file_blocks(own->file);
    for (uint64_t i = own->block; i < last && trace_file_block(own->file, i)->count <= most - count; i++) {
        count += trace_file_block(own->file, i)->count;
        blocks++;
        if (!workers)
            break;
    }
    bool good = !blocks                 ? true
                : workers && blocks > 1 ? read_together(own, workers, blocks, into, err)
                                        : trace_block_read(own->file, own->block, into, err);
    own->block += blocks;
    return good ? (long)count : -1;
}

static long own_read_by(struct source *source, struct workers *workers, struct trace_access *into,
                        size_t most, struct err *err)
{
    struct own *own = (struct own *)source;
    size_t count = 0;
    while (count < most) {
        if (own->kept_at < own->kept_end) {
            uint32_t some = (uint32_t)min_u64(own->kept_end - own->kept_at, most - count);
            memcpy(into + count, own->kept + own->kept_at, some * sizeof *into);
            own->kept_at += some;
            count += some;
            continue;
        }
        if (own->block == trace_file_blocks(own->file))
            break;
        long got = read_whole(own, workers, into + count, most - count, err);
        if (got < 0 || (got == 0 && !keep_block(own, err)))
            return -1;
        count += (size_t)got;
    }
    return (long)count;
}

static long own_read(struct source *source, struct trace_access *into, size_t most, struct err *err)
{
    return own_read_by(source, NULL, into, most, err);
}

static void own_close(struct source *source)
{
    struct own *own = (struct own *)source;
    trace_file_close(own->file);
    mem_free(own->kept);
    mem_free(own);
}

static const struct source_ops own_ops = {own_read, own_close, own_read_by};

static bool skip_accesses(struct own *own, const char *path, uint64_t skip, struct err *err)
{
    uint64_t count = trace_file_accesses(own->file);
    if (skip && skip >= count)
        return err_set(err, "%s: it has only %" PRIu64 " accesses: %" PRIu64 " cannot be left out", path,
                       count, skip);
    own->block = skip / TRACE_BLOCK_ACCESSES;
    if (skip % TRACE_BLOCK_ACCESSES == 0)
        return true;
    if (!keep_block(own, err))
        return false;
    own->kept_at = skip % TRACE_BLOCK_ACCESSES;
    return true;
}

struct source *own_open(const char *path, uint64_t skip, struct err *err)
{
    struct own *own = mem_alloc(1, sizeof *own);
    own->source.ops = &own_ops;
    own->file = trace_file_open(path, err);
    if (own->file && skip_accesses(own, path, skip, err))
        return &own->source;
    own_close(&own->source);
    return NULL;
}
