#include "trace/file.h"
#include "trace/codec.h"
#include "base/bits.h"
#include "base/mem.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <pthread.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

/* What one thread needs to read a block. Kept for the next one. */
struct desk {
    struct desk *next;
    ZSTD_DCtx *zstd;
    struct trace_streams streams;
    uint8_t *packed; /* the block as it is in the file */
    size_t packed_room;
};

struct trace_file {
    char *name;
    int descriptor;
    uint64_t bytes;
    struct trace_tail tail;
    struct trace_index_row *index;
    pthread_mutex_t lock; /* of the desks that nobody sits at */
    struct desk *desks;
};

uint64_t trace_digest(uint64_t digest, const void *bytes, size_t count)
{
    const unsigned char *at = bytes;
    uint64_t lanes[4] = {digest, 1, 2, 3};
    for (; count >= 32; at += 32, count -= 32) {
        uint64_t words[4];
        memcpy(words, at, 32);
        for (int i = 0; i < 4; i++)
            lanes[i] = digest_word(lanes[i], words[i]);
    }
    return digest_bytes(digest_bytes(0, lanes, sizeof lanes), at, count);
}

static bool read_at(const struct trace_file *file, uint64_t offset, void *into, size_t count, struct err *err)
{
    for (char *at = into; count;) {
        ssize_t got = pread(file->descriptor, at, count, (off_t)offset);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0)
            return err_set(err, "cannot read %s: %s", file->name, strerror(errno));
        if (!got)
            return err_set(err, "%s: it ends before its index says so: was it cut while being read?",
                           file->name);
        at += got;
        offset += (uint64_t)got;
        count -= (size_t)got;
    }
    return true;
}

/* ---- opening ---- */

static bool open_descriptor(struct trace_file *file, const char *path, struct err *err)
{
    struct stat info;
    file->descriptor = strcmp(path, "-") ? open(path, O_RDONLY | O_CLOEXEC) : dup(STDIN_FILENO);
    if (file->descriptor < 0 || fstat(file->descriptor, &info))
        return err_set(err, "cannot read %s: %s", file->name, strerror(errno));
    if (!S_ISREG(info.st_mode))
        return err_set(err, "%s: a trace of Heddle's must be a file: it is read from its end", file->name);
    file->bytes = (uint64_t)info.st_size;
    return true;
}

static bool read_head(struct trace_file *file, struct err *err)
{
    struct trace_head head;
    if (file->bytes < sizeof head || !read_at(file, 0, &head, sizeof head, err) ||
        memcmp(head.magic, TRACE_MAGIC, sizeof head.magic))
        return err_set(err, "%s: this is no trace of Heddle's", file->name);
    if (head.version != TRACE_VERSION)
        return err_set(err, "%s: a trace of version %" PRIu32 "; this Heddle reads version %d", file->name,
                       head.version, TRACE_VERSION);
    return head.block_accesses == TRACE_BLOCK_ACCESSES ||
           err_set(err, "%s: blocks of %" PRIu32 " accesses; expected %d", file->name, head.block_accesses,
                   TRACE_BLOCK_ACCESSES);
}

static bool read_tail(struct trace_file *file, struct err *err)
{
    struct trace_tail *tail = &file->tail;
    if (file->bytes < sizeof(struct trace_head) + sizeof *tail)
        return err_set(err, "%s: a trace without an end: it was cut, or never closed", file->name);
    uint64_t offset = file->bytes - sizeof *tail;
    if (!read_at(file, offset, tail, sizeof *tail, err))
        return false;
    if (memcmp(tail->magic, TRACE_TAIL_MAGIC, sizeof tail->magic))
        return err_set(err, "%s: a trace without an end: it was cut, or never closed", file->name);
    uint64_t most = (offset - sizeof(struct trace_head)) / sizeof *file->index;
    if (!tail->blocks || tail->blocks > most ||
        tail->index_offset != offset - tail->blocks * sizeof *file->index)
        return err_set(err, "%s: its end does not say where its index is", file->name);
    return true;
}

/* Blocks lie one behind the other, and all but the last are full. */
static bool row_fits(const struct trace_file *file, uint64_t number, uint64_t offset)
{
    const struct trace_index_row *row = &file->index[number];
    bool last = number + 1 == file->tail.blocks;
    uint64_t next = last ? file->tail.last_instruction : row[1].first_instruction;
    return row->offset == offset && row->bytes >= sizeof(struct trace_block_head) &&
           row->bytes <= trace_block_most() && row->bytes <= file->tail.index_offset - offset &&
           row->first_instruction <= next && next <= TRACE_INSTRUCTIONS_MOST &&
           (last ? row->count >= 1 && row->count <= TRACE_BLOCK_ACCESSES
                 : row->count == TRACE_BLOCK_ACCESSES);
}

static bool read_index(struct trace_file *file, struct err *err)
{
    const struct trace_tail *tail = &file->tail;
    size_t bytes = tail->blocks * sizeof *file->index;
    file->index = mem_alloc(tail->blocks, sizeof *file->index);
    if (!read_at(file, tail->index_offset, file->index, bytes, err))
        return false;
    if (trace_digest(trace_digest(0, file->index, bytes), tail, offsetof(struct trace_tail, digest)) !=
        tail->digest)
        return err_set(err, "%s: its index is damaged (the digest differs)", file->name);
    uint64_t offset = sizeof(struct trace_head), accesses = 0;
    for (uint64_t i = 0; i < tail->blocks; i++) {
        if (!row_fits(file, i, offset))
            return err_set(err, "%s: block %" PRIu64 ": what the index says of it cannot be", file->name, i);
        offset += file->index[i].bytes;
        accesses += file->index[i].count;
    }
    if (offset != tail->index_offset || accesses != tail->accesses)
        return err_set(err, "%s: its blocks are not what its end says", file->name);
    return true;
}

struct trace_file *trace_file_open(const char *path, struct err *err)
{
    struct trace_file *file = mem_alloc(1, sizeof *file);
    file->name = mem_text(strcmp(path, "-") ? path : "standard input");
    pthread_mutex_init(&file->lock, NULL);
    if (open_descriptor(file, path, err) && read_head(file, err) && read_tail(file, err) &&
        read_index(file, err))
        return file;
    trace_file_close(file);
    return NULL;
}

static void desk_free(struct desk *desk)
{
    ZSTD_freeDCtx(desk->zstd);
    trace_streams_fini(&desk->streams);
    mem_free(desk->packed);
    mem_free(desk);
}

void trace_file_close(struct trace_file *file)
{
    if (!file)
        return;
    while (file->desks) {
        struct desk *desk = file->desks;
        file->desks = desk->next;
        desk_free(desk);
    }
    if (file->descriptor >= 0)
        close(file->descriptor);
    pthread_mutex_destroy(&file->lock);
    mem_free(file->index);
    mem_free(file->name);
    mem_free(file);
}

uint64_t trace_file_accesses(const struct trace_file *file)
{
    return file->tail.accesses;
}

uint64_t trace_file_blocks(const struct trace_file *file)
{
    return file->tail.blocks;
}

uint64_t trace_file_bytes(const struct trace_file *file)
{
    return file->bytes;
}

uint64_t trace_file_last_instruction(const struct trace_file *file)
{
    return file->tail.last_instruction;
}

const struct trace_index_row *trace_file_block(const struct trace_file *file, uint64_t number)
{
    REQUIRE(number < file->tail.blocks);
    return &file->index[number];
}

/* ---- blocks ---- */

static struct desk *take_desk(struct trace_file *file)
{
    pthread_mutex_lock(&file->lock);
    struct desk *desk = file->desks;
    if (desk)
        file->desks = desk->next;
    pthread_mutex_unlock(&file->lock);
    if (desk)
        return desk;
    desk = mem_alloc(1, sizeof *desk);
    desk->zstd = ZSTD_createDCtx();
    return desk;
}

static void give_desk(struct trace_file *file, struct desk *desk)
{
    pthread_mutex_lock(&file->lock);
    desk->next = file->desks;
    file->desks = desk;
    pthread_mutex_unlock(&file->lock);
}

/* NULL, or what is wrong. */
static const char *unpack_stream(struct desk *desk, const struct trace_block_head *head, int stream,
                                 const uint8_t *packed)
{
    struct trace_streams *streams = &desk->streams;
    size_t packed_bytes = head->stream[stream].packed, bytes = head->stream[stream].plain;
    if (bytes > trace_stream_most((enum trace_stream)stream) || packed_bytes > bytes)
        return "a stream is larger than can be";
    uint8_t *into = trace_streams_room(streams, (enum trace_stream)stream, bytes);
    if (packed_bytes == bytes) {
        memcpy(into, packed, bytes);
    } else {
        size_t got = ZSTD_decompressDCtx(desk->zstd, into, bytes, packed, packed_bytes);
        if (ZSTD_isError(got) || got != bytes)
            return "a stream cannot be unpacked";
    }
    streams->bytes[stream] = bytes;
    memset(into + bytes, 0, TRACE_STREAM_PADDING);
    return NULL;
}

static const char *decode(struct desk *desk, const struct trace_index_row *row, struct trace_access *into)
{
    struct trace_block_head head;
    memcpy(&head, desk->packed, sizeof head);
    if (trace_digest(0, desk->packed + sizeof head.digest, row->bytes - sizeof head.digest) != head.digest)
        return "it is damaged (the digest differs)";
    if (head.count != row->count || head.first_instruction != row->first_instruction || head.zero)
        return "it is not what the index says";
    uint64_t at = sizeof head;
    for (int i = 0; i < TRACE_STREAMS; i++) {
        if (head.stream[i].packed > row->bytes - at)
            return "its streams are larger than the block";
        const char *why = unpack_stream(desk, &head, i, desk->packed + at);
        if (why)
            return why;
        at += head.stream[i].packed;
    }
    if (at != row->bytes)
        return "its streams are smaller than the block";
    return trace_decode(&desk->streams, head.first_instruction, head.count, into);
}

static bool read_block(struct trace_file *file, struct desk *desk, uint64_t number, struct trace_access *into,
                       struct err *err)
{
    const struct trace_index_row *row = trace_file_block(file, number);
    bool last = number + 1 == file->tail.blocks;
    if (!desk->zstd)
        return err_set(err, "%s: no memory for zstd", file->name);
    if (desk->packed_room < row->bytes) {
        mem_free(desk->packed);
        desk->packed = mem_alloc(row->bytes, 1);
        desk->packed_room = row->bytes;
    }
    if (!read_at(file, row->offset, desk->packed, row->bytes, err))
        return false;
    const char *why = decode(desk, row, into);
    uint64_t end = why ? 0 : trace_instruction(into[row->count - 1]);
    if (!why && last && end != file->tail.last_instruction)
        why = "its last instruction count is not what the end says";
    if (!why && !last && end > row[1].first_instruction)
        why = "its instruction counts go beyond the next block's";
    return !why || err_set(err, "%s: block %" PRIu64 ": %s", file->name, number, why);
}

bool trace_block_read(struct trace_file *file, uint64_t number, struct trace_access *into, struct err *err)
{
    struct desk *desk = take_desk(file);
    bool good = read_block(file, desk, number, into, err);
    give_desk(file, desk);
    return good;
}
