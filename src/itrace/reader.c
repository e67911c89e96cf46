#include "itrace/reader.h"
#include "base/text.h"

#include <limits.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SPARE_MOST = 64, AHEAD_MOST = 2 }; /* chunks */

struct open_chunk {
    _Alignas(CACHE_LINE) pthread_mutex_t lock; /* while it is inflated */
    struct chunk *chunk;                       /* NULL: not now */
    uint64_t taken, given;                     /* warps */
};

enum { IDLE_MOST = 16 }; /* inflated chunks that no warp uses now, and not all have used yet */

struct open_launch {
    struct open_chunk *_Atomic chunks; /* NULL: none was asked for */
    _Atomic size_t inflated, used; /* the last chunk that was inflated, or that blocks were taken of, + 1 */
};

struct itrace_reader {
    struct itrace *trace;
    char *folder;
    const uint8_t *blocks;
    uint64_t bytes;
    pthread_mutex_t lock; /* of launches' lists, and of spare and idle chunks */
    struct open_launch *launches;
    struct chunk *spare[SPARE_MOST]; /* whose memory is used again: large pieces cost the host page faults */
    size_t spare_count;
    struct open_chunk *idle[IDLE_MOST]; /* a ring; some may be in use again */
    uint32_t next_idle;
};

static bool map_blocks(struct itrace_reader *reader, const char *folder, struct err *err)
{
    struct text path = {0};
    struct stat info = {0};
    text_add(&path, "%s/blocks", folder);
    int file = open(path.at, O_RDONLY | O_CLOEXEC);
    bool good = file >= 0 && !fstat(file, &info);
    if (!good)
        err_set(err, "cannot read %s: %s", path.at, strerror(errno));
    reader->bytes = (uint64_t)info.st_size;
    if (good && reader->bytes) {
        void *at = mmap(NULL, reader->bytes, PROT_READ, MAP_PRIVATE, file, 0);
        good = at != MAP_FAILED || err_set(err, "cannot read %s: %s", path.at, strerror(errno));
        reader->blocks = good ? at : NULL;
    }
    if (file >= 0)
        close(file);
    for (size_t i = 0; i < reader->trace->launch_count && good; i++) {
        const struct itrace_launch *launch = &reader->trace->launches[i];
        for (size_t k = 0; k < launch->chunk_count && good; k++)
            if (launch->chunks[k].at > reader->bytes ||
                launch->chunks[k].bytes > reader->bytes - launch->chunks[k].at)
                good = err_set(err, "%s is cut: it ends before the blocks of launch %llu", path.at,
                               (unsigned long long)launch->number);
    }
    text_fini(&path);
    return good;
}

/* It is written last. */
static bool has_index(const char *folder, struct err *err)
{
    struct text index = {0}, blocks = {0};
    text_add(&index, "%s/index", folder);
    text_add(&blocks, "%s/blocks", folder);
    bool good = !access(index.at, F_OK);
    if (!good && !access(blocks.at, F_OK))
        err_set(err, "%s is not whole: it has no index, which is written last", folder);
    else if (!good)
        err_set(err, "%s holds no trace of instructions (heddle run --record FOLDER PROGRAM)", folder);
    text_fini(&index);
    text_fini(&blocks);
    return good;
}

static char *whole_path(const char *folder)
{
    char room[PATH_MAX];
    return mem_text(realpath(folder, room) ? room : folder);
}

const char *itrace_reader_folder(const struct itrace_reader *reader)
{
    return reader->folder;
}

struct itrace_reader *itrace_reader_new(const char *folder, struct err *err)
{
    struct stat info;
    if (stat(folder, &info) || !S_ISDIR(info.st_mode)) {
        err_set(err, "%s is no folder with a trace of instructions (heddle run --record FOLDER PROGRAM)",
                folder);
        return NULL;
    }
    if (!has_index(folder, err))
        return NULL;
    struct itrace *trace = itrace_read_index(folder, err);
    if (!trace)
        return NULL;
    struct itrace_reader *reader = mem_alloc(1, sizeof *reader);
    reader->trace = trace;
    reader->folder = whole_path(folder);
    reader->launches = mem_alloc(trace->launch_count + 1, sizeof *reader->launches);
    pthread_mutex_init(&reader->lock, NULL);
    if (map_blocks(reader, folder, err))
        return reader;
    itrace_reader_free(reader);
    return NULL;
}

void itrace_reader_free(struct itrace_reader *reader)
{
    if (!reader)
        return;
    for (size_t i = 0; i < reader->trace->launch_count; i++) {
        struct open_chunk *chunks = reader->launches[i].chunks;
        for (size_t k = 0; chunks && k < reader->trace->launches[i].chunk_count; k++) {
            chunk_free(chunks[k].chunk);
            pthread_mutex_destroy(&chunks[k].lock);
        }
        mem_free(chunks);
    }
    mem_free(reader->folder);
    if (reader->blocks)
        munmap((void *)(uintptr_t)reader->blocks, reader->bytes);
    for (size_t i = 0; i < reader->spare_count; i++)
        chunk_free(reader->spare[i]);
    pthread_mutex_destroy(&reader->lock);
    itrace_free(reader->trace);
    mem_free(reader->launches);
    mem_free(reader);
}

const struct itrace *itrace_reader_trace(const struct itrace_reader *reader)
{
    return reader->trace;
}

uint64_t itrace_reader_bytes(const struct itrace_reader *reader)
{
    return reader->bytes;
}

/* Which of the launch's chunks has the block. */
static size_t chunk_of(const struct itrace_launch *launch, uint64_t block)
{
    size_t low = 0, high = launch->chunk_count;
    while (high - low > 1) {
        size_t middle = (low + high) / 2;
        if (launch->chunks[middle].first_block <= block)
            low = middle;
        else
            high = middle;
    }
    return low;
}

static struct open_chunk *open_chunk_of(struct itrace_reader *reader, size_t launch, size_t chunk)
{
    struct open_launch *open = &reader->launches[launch];
    struct open_chunk *chunks = atomic_load_explicit(&open->chunks, memory_order_acquire);
    if (LIKELY(chunks))
        return &chunks[chunk];
    size_t count = reader->trace->launches[launch].chunk_count;
    pthread_mutex_lock(&reader->lock);
    chunks = atomic_load_explicit(&open->chunks, memory_order_relaxed);
    if (!chunks) {
        chunks = mem_alloc_lines(count, sizeof *chunks);
        for (size_t i = 0; i < count; i++)
            pthread_mutex_init(&chunks[i].lock, NULL);
        atomic_store_explicit(&open->chunks, chunks, memory_order_release);
    }
    pthread_mutex_unlock(&reader->lock);
    return &chunks[chunk];
}

static uint64_t warps_of(const struct itrace *trace, const struct itrace_launch *launch)
{
    uint64_t threads = (uint64_t)launch->block[0] * launch->block[1] * launch->block[2];
    return (threads + trace->lanes - 1) / trace->lanes;
}

static void raise_to(_Atomic size_t *number, size_t value)
{
    size_t now = atomic_load_explicit(number, memory_order_relaxed);
    while (now < value && !atomic_compare_exchange_weak(number, &now, value))
        continue;
}

/* With the chunk's lock held. */
static void inflate(struct itrace_reader *reader, size_t launch, size_t number, struct open_chunk *open,
                    struct err *err)
{
    const struct itrace_launch *of = &reader->trace->launches[launch];
    const struct itrace_chunk *place = &of->chunks[number];
    struct chunk *chunk = NULL;
    pthread_mutex_lock(&reader->lock);
    if (reader->spare_count)
        chunk = reader->spare[--reader->spare_count];
    pthread_mutex_unlock(&reader->lock);
    if (!chunk)
        chunk = mem_alloc(1, sizeof *chunk);
    open->taken = open->given = 0;
    if (chunk_unpack_again(chunk, reader->blocks + place->at, place->bytes, place->raw_bytes,
                           place->block_count * warps_of(reader->trace, of), err))
        open->chunk = chunk;
    else
        chunk_free(chunk);
    raise_to(&reader->launches[launch].inflated, number + 1);
}

/* With the chunk's lock held. */
static void discard(struct itrace_reader *reader, struct open_chunk *open)
{
    struct chunk *chunk = open->chunk;
    open->chunk = NULL;
    pthread_mutex_lock(&reader->lock);
    if (reader->spare_count < SPARE_MOST) {
        reader->spare[reader->spare_count++] = chunk;
        chunk = NULL;
    }
    pthread_mutex_unlock(&reader->lock);
    chunk_free(chunk);
}

bool itrace_reader_ahead(struct itrace_reader *reader, size_t launch)
{
    const struct itrace_launch *of = &reader->trace->launches[launch];
    struct open_launch *at = &reader->launches[launch];
    size_t number = atomic_load(&at->inflated), used = atomic_load(&at->used);
    if (!of->recorded || number >= of->chunk_count || number >= used + AHEAD_MOST)
        return false;
    struct open_chunk *open = open_chunk_of(reader, launch, number);
    if (pthread_mutex_trylock(&open->lock))
        return false;
    struct err unused; /* who takes a block of it will learn why */
    bool does = !open->chunk && atomic_load(&at->inflated) == number;
    if (does)
        inflate(reader, launch, number, open, &unused);
    pthread_mutex_unlock(&open->lock);
    return does;
}

/* For one warp of the block, or for all. */
static const struct chunk_warp *take(struct itrace_reader *reader, size_t launch, uint64_t block, bool all,
                                     struct err *err)
{
    const struct itrace_launch *of = &reader->trace->launches[launch];
    size_t number = chunk_of(of, block);
    const struct itrace_chunk *place = &of->chunks[number];
    struct open_chunk *open = open_chunk_of(reader, launch, number);
    uint64_t warps = warps_of(reader->trace, of);
    pthread_mutex_lock(&open->lock);
    if (!open->chunk)
        inflate(reader, launch, number, open, err);
    if (!open->taken)
        raise_to(&reader->launches[launch].used, number + 1);
    open->taken += !open->chunk ? 0 : all ? warps : 1;
    const struct chunk_warp *found =
        open->chunk ? &open->chunk->warps[(block - place->first_block) * warps] : NULL;
    pthread_mutex_unlock(&open->lock);
    return found;
}

/* Not all of its warps may come: after a checkpoint, or if a part of the launch is read. So a chunk that
 * waits for others is freed when more than a few do. */
static void keep_idle(struct itrace_reader *reader, struct open_chunk *chunk)
{
    pthread_mutex_lock(&reader->lock);
    struct open_chunk *oldest = chunk;
    for (uint32_t i = 0; i < IDLE_MOST && oldest; i++)
        oldest = reader->idle[i] == chunk ? NULL : oldest;
    if (oldest) {
        oldest = reader->idle[reader->next_idle];
        reader->idle[reader->next_idle] = chunk;
        reader->next_idle = (reader->next_idle + 1) % IDLE_MOST;
    }
    pthread_mutex_unlock(&reader->lock);
    if (!oldest)
        return;
    pthread_mutex_lock(&oldest->lock);
    if (oldest->chunk && oldest->given == oldest->taken)
        discard(reader, oldest);
    pthread_mutex_unlock(&oldest->lock);
}

static void give(struct itrace_reader *reader, size_t launch, uint64_t block, bool all)
{
    const struct itrace_launch *of = &reader->trace->launches[launch];
    size_t number = chunk_of(of, block);
    struct open_chunk *open = open_chunk_of(reader, launch, number);
    uint64_t warps = warps_of(reader->trace, of), of_chunk = of->chunks[number].block_count * warps;
    pthread_mutex_lock(&open->lock);
    open->given += all ? warps : 1;
    bool is_idle = open->given == open->taken;
    if (is_idle && open->taken >= of_chunk) {
        discard(reader, open);
        is_idle = false;
    }
    pthread_mutex_unlock(&open->lock);
    if (is_idle)
        keep_idle(reader, open);
}

const struct chunk_warp *itrace_reader_take(struct itrace_reader *reader, size_t launch, uint64_t block,
                                            struct err *err)
{
    return take(reader, launch, block, false, err);
}

void itrace_reader_give(struct itrace_reader *reader, size_t launch, uint64_t block)
{
    give(reader, launch, block, false);
}

const struct chunk_warp *itrace_reader_take_block(struct itrace_reader *reader, size_t launch, uint64_t block,
                                                  struct err *err)
{
    return take(reader, launch, block, true, err);
}

void itrace_reader_give_block(struct itrace_reader *reader, size_t launch, uint64_t block)
{
    give(reader, launch, block, true);
}
