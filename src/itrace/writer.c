#include "itrace/writer.h"
#include "base/text.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

enum { CHUNK_BYTES = 1 << 20, CHUNK_BLOCKS = 512 }; /* a chunk is closed when it has so many */

struct itrace_writer {
    char *folder;
    int file;
    uint64_t bytes, limit;
    pthread_mutex_t lock; /* of all of it, and of launches */
    struct err why;
    _Atomic bool full, failed;
};

struct waiting_block {
    struct chunk_block block;
    bool there;
};

struct packed_chunk {
    struct packed_chunk *next;
    uint64_t sequence;
    struct blob packed;
    struct itrace_chunk chunk;
};

struct itrace_launch_writer {
    struct itrace_writer *writer;
    struct waiting_block *waiting; /* a ring; the first is block number `next` */
    size_t first, capacity;
    uint64_t next;
    struct chunk_builder builder;
    uint64_t begun, written;     /* chunks */
    struct packed_chunk *packed; /* those that wait for earlier ones */
    struct itrace_chunk *chunks;
    size_t chunk_count, chunk_capacity;
};

static bool make_folder(const char *folder, struct err *err)
{
    struct text path = {0};
    if (mkdir(folder, 0777) && errno != EEXIST)
        return err_set(err, "cannot make the folder %s: %s", folder, strerror(errno));
    text_add(&path, "%s/index", folder);
    bool taken = !access(path.at, F_OK);
    text_fini(&path);
    return !taken || err_set(err, "%s already holds a trace", folder);
}

struct itrace_writer *itrace_writer_new(const char *folder, uint64_t limit, struct err *err)
{
    struct text path = {0};
    if (!make_folder(folder, err))
        return NULL;
    text_add(&path, "%s/blocks", folder);
    int file = open(path.at, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
    if (file < 0)
        err_set(err, "cannot write %s: %s", path.at, strerror(errno));
    text_fini(&path);
    if (file < 0)
        return NULL;
    struct itrace_writer *writer = mem_alloc(1, sizeof *writer);
    writer->folder = mem_text(folder);
    writer->file = file;
    writer->limit = limit;
    pthread_mutex_init(&writer->lock, NULL);
    return writer;
}

bool itrace_writer_is_full(const struct itrace_writer *writer)
{
    return writer->full;
}

struct itrace_launch_writer *itrace_launch_writer_new(struct itrace_writer *writer)
{
    struct itrace_launch_writer *launch = mem_alloc(1, sizeof *launch);
    launch->writer = writer;
    return launch;
}

/* ---- chunks ---- */

/* Without a buffer of the process: a child of it has none to write, too. */
static bool write_all(const struct itrace_writer *w, const uint8_t *bytes, size_t count)
{
    for (size_t done = 0; done < count;) {
        ssize_t got = pwrite(w->file, bytes + done, count - done, (off_t)(w->bytes + done));
        if (got < 0 && errno != EINTR)
            return false;
        done += got > 0 ? (size_t)got : 0;
    }
    return true;
}

/* With the lock held. */
static void write_chunk(struct itrace_launch_writer *launch, struct packed_chunk *one)
{
    struct itrace_writer *w = launch->writer;
    if (!w->full && w->limit && w->bytes + one->packed.count > w->limit) {
        err_set(&w->why, "the limit of %llu bytes was reached", (unsigned long long)w->limit);
        w->full = true;
    }
    if (!w->full && one->chunk.raw_bytes > CHUNK_RAW_MOST) {
        err_set(&w->why, "a block has more than %d MiB of instructions", CHUNK_RAW_MOST >> 20);
        w->full = true;
    }
    if (!w->full && !write_all(w, one->packed.at, one->packed.count)) {
        err_set(&w->why, "cannot write %s/blocks: %s", w->folder, strerror(errno));
        w->full = w->failed = true;
    }
    one->chunk.at = w->bytes;
    one->chunk.bytes = one->packed.count;
    w->bytes += one->packed.count;
    mem_grow(launch->chunks, launch->chunk_count, launch->chunk_capacity);
    launch->chunks[launch->chunk_count++] = one->chunk;
    launch->written++;
}

/* With the lock held: those whose turn has come. */
static void write_ready(struct itrace_launch_writer *launch)
{
    for (struct packed_chunk **at = &launch->packed; *at;) {
        struct packed_chunk *one = *at;
        if (one->sequence != launch->written) {
            at = &one->next;
            continue;
        }
        *at = one->next;
        write_chunk(launch, one);
        blob_fini(&one->packed);
        mem_free(one);
        at = &launch->packed;
    }
}

/* With the lock held, which is open while the chunk is packed. */
static void close_chunk(struct itrace_launch_writer *launch)
{
    struct packed_chunk *one = mem_alloc(1, sizeof *one);
    struct chunk_builder builder = launch->builder;
    one->sequence = launch->begun++;
    one->chunk.first_block = builder.first_block;
    one->chunk.block_count = builder.block_count;
    launch->builder = (struct chunk_builder){.first_block = builder.first_block + builder.block_count};
    pthread_mutex_unlock(&launch->writer->lock);
    chunk_pack(&builder, &one->packed, &one->chunk.raw_bytes);
    chunk_block_fini(&builder.all);
    pthread_mutex_lock(&launch->writer->lock);
    one->next = launch->packed;
    launch->packed = one;
    write_ready(launch);
}

/* ---- blocks ---- */

static void grow_ring(struct itrace_launch_writer *launch, uint64_t ahead)
{
    size_t capacity = launch->capacity ? launch->capacity : 64;
    while (capacity <= ahead)
        capacity *= 2;
    if (capacity == launch->capacity)
        return;
    struct waiting_block *ring = mem_alloc(capacity, sizeof *ring);
    for (size_t i = 0; i < launch->capacity; i++)
        ring[i] = launch->waiting[(launch->first + i) % launch->capacity];
    mem_free(launch->waiting);
    launch->waiting = ring;
    launch->capacity = capacity;
    launch->first = 0;
}

/* With the lock held, which may be open for a while: the next block. */
static void append(struct itrace_launch_writer *launch, struct chunk_block *block)
{
    chunk_builder_add(&launch->builder, block);
    launch->next++;
    if (chunk_builder_bytes(&launch->builder) >= CHUNK_BYTES || launch->builder.block_count == CHUNK_BLOCKS)
        close_chunk(launch);
}

/* With the lock held: blocks that came before their turn. */
static void append_waiting(struct itrace_launch_writer *launch)
{
    for (struct waiting_block *one; launch->capacity && (one = &launch->waiting[launch->first])->there;) {
        struct chunk_block block = one->block;
        *one = (struct waiting_block){0};
        launch->first = (launch->first + 1) % launch->capacity;
        append(launch, &block);
        chunk_block_fini(&block);
    }
}

void itrace_launch_writer_add(struct itrace_launch_writer *launch, uint64_t number, struct chunk_block *block)
{
    pthread_mutex_lock(&launch->writer->lock);
    REQUIRE(number >= launch->next);
    if (number == launch->next) {
        launch->first = launch->capacity ? (launch->first + 1) % launch->capacity : 0;
        append(launch, block);
        chunk_block_reset(block);
    } else {
        grow_ring(launch, number - launch->next);
        launch->waiting[(launch->first + (number - launch->next)) % launch->capacity] =
            (struct waiting_block){*block, true};
        *block = (struct chunk_block){0};
    }
    append_waiting(launch);
    pthread_mutex_unlock(&launch->writer->lock);
}

bool itrace_launch_writer_end(struct itrace_launch_writer *launch, bool good, struct itrace_launch *to)
{
    struct itrace_writer *w = launch->writer;
    pthread_mutex_lock(&w->lock);
    if (launch->builder.block_count)
        close_chunk(launch);
    good = good && !w->full;
    pthread_mutex_unlock(&w->lock);
    for (size_t i = 0; i < launch->capacity; i++)
        chunk_block_fini(&launch->waiting[i].block);
    chunk_block_fini(&launch->builder.all);
    mem_free(launch->waiting);
    if (good) {
        to->chunks = launch->chunks;
        to->chunk_count = launch->chunk_count;
        to->chunk_capacity = launch->chunk_capacity;
    } else {
        mem_free(launch->chunks);
    }
    to->recorded = good;
    mem_free(launch);
    return good;
}

static void free_writer(struct itrace_writer *writer)
{
    pthread_mutex_destroy(&writer->lock);
    mem_free(writer->folder);
    mem_free(writer);
}

bool itrace_writer_finish(struct itrace_writer *writer, struct itrace *trace, struct err *err)
{
    bool good = !close(writer->file) && !writer->failed;
    if (!good)
        err_set(err, "%s", writer->failed ? writer->why.text : "cannot write the trace: is the disk full?");
    if (good && writer->full && !trace->why_cut)
        trace->why_cut = mem_text(writer->why.text);
    good = good && itrace_write_index(trace, writer->folder, err);
    free_writer(writer);
    return good;
}

void itrace_writer_abandon(struct itrace_writer *writer)
{
    struct text path = {0};
    text_add(&path, "%s/blocks", writer->folder);
    close(writer->file);
    unlink(path.at);
    rmdir(writer->folder); /* if nothing else is there */
    text_fini(&path);
    free_writer(writer);
}
