#include "trace/writer.h"
#include "trace/codec.h"
#include "base/file.h"
#include "base/mem.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <zstd.h>

enum {
    LEVEL = -1, /* of zstd: a third less to unpack than at level 1 takes, for an eighth more in size */
    WORTH = 16, /* packed where that makes it smaller by so manieth */
};

struct trace_writer {
    struct file_writer file;
    struct trace_access *accesses; /* of the block to come */
    uint32_t count;
    uint64_t last, total; /* instruction count of the last access; accesses in all */
    uint64_t offset;      /* in the file */
    struct trace_index_row *index;
    size_t block_count, block_capacity;
    struct trace_encoder *encoder;
    struct trace_streams streams;
    ZSTD_CCtx *zstd;
    uint8_t *packed;
    size_t packed_most;
};

static bool put(struct trace_writer *writer, const void *bytes, size_t count, struct err *err)
{
    writer->offset += count;
    return fwrite(bytes, 1, count, writer->file.stream) == count ||
           err_set(err, "cannot write %s: %s", writer->file.path, strerror(errno));
}

static void writer_free(struct trace_writer *writer)
{
    ZSTD_freeCCtx(writer->zstd);
    trace_encoder_free(writer->encoder);
    trace_streams_fini(&writer->streams);
    mem_free(writer->packed);
    mem_free(writer->index);
    mem_free(writer->accesses);
    mem_free(writer);
}

void trace_writer_abandon(struct trace_writer *writer)
{
    file_abandon(&writer->file);
    writer_free(writer);
}

struct trace_writer *trace_writer_new(const char *path, struct err *err)
{
    struct trace_writer *writer = mem_alloc(1, sizeof *writer);
    struct trace_head head = {TRACE_MAGIC, TRACE_VERSION, TRACE_BLOCK_ACCESSES};
    if (!file_open(&writer->file, path, err)) {
        mem_free(writer);
        return NULL;
    }
    writer->accesses = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof *writer->accesses);
    writer->encoder = trace_encoder_new();
    writer->packed_most = ZSTD_compressBound(trace_block_most()); /* zstd is faster where it need not look */
    writer->packed = mem_alloc(writer->packed_most, 1);
    writer->zstd = ZSTD_createCCtx();
    if (!writer->zstd)
        err_set(err, "cannot write %s: no memory for zstd", path);
    else if (put(writer, &head, sizeof head, err))
        return writer;
    trace_writer_abandon(writer);
    return NULL;
}

/* Behind `bytes` bytes of the block; gives how many there are then. */
static size_t pack_stream(struct trace_writer *writer, struct trace_block_head *head, int stream,
                          size_t bytes)
{
    const uint8_t *plain = writer->streams.at[stream];
    size_t count = writer->streams.bytes[stream];
    size_t packed = ZSTD_compressCCtx(writer->zstd, writer->packed + bytes, writer->packed_most - bytes,
                                      plain, count, LEVEL);
    if (ZSTD_isError(packed) || packed >= count - count / WORTH) { /* as it is */
        packed = count;
        memcpy(writer->packed + bytes, plain, count);
    }
    head->stream[stream].packed = (uint32_t)packed;
    head->stream[stream].plain = (uint32_t)count;
    return bytes + packed;
}

static bool put_block(struct trace_writer *writer, struct err *err)
{
    struct trace_block_head head = {0};
    size_t bytes = sizeof head;
    trace_encode(writer->encoder, writer->accesses, writer->count, &writer->streams);
    for (int i = 0; i < TRACE_STREAMS; i++)
        bytes = pack_stream(writer, &head, i, bytes);
    head.count = writer->count;
    head.first_instruction = trace_instruction(writer->accesses[0]);
    memcpy(writer->packed, &head, sizeof head);
    head.digest = trace_digest(0, writer->packed + sizeof head.digest, bytes - sizeof head.digest);
    memcpy(writer->packed, &head, sizeof head);
    mem_grow(writer->index, writer->block_count, writer->block_capacity);
    writer->index[writer->block_count++] =
        (struct trace_index_row){writer->offset, head.first_instruction, head.count, (uint32_t)bytes};
    writer->count = 0;
    return put(writer, writer->packed, bytes, err);
}

static bool refuse(const struct trace_writer *writer, struct trace_access access, struct err *err)
{
    uint64_t number = writer->total + 1;
    if (!trace_bytes(access))
        return err_set(err, "%s: access %" PRIu64 " is of 0 bytes", writer->file.path, number);
    return err_set(err,
                   "%s: access %" PRIu64 " has instruction count %" PRIu64 ", after %" PRIu64
                   ": counts must not go back",
                   writer->file.path, number, trace_instruction(access), writer->last);
}

bool trace_write(struct trace_writer *writer, const struct trace_access *accesses, size_t count,
                 struct err *err)
{
    for (size_t i = 0; i < count; i++) {
        struct trace_access access = accesses[i];
        if (trace_instruction(access) < writer->last || !trace_bytes(access))
            return refuse(writer, access, err);
        writer->last = trace_instruction(access);
        writer->accesses[writer->count++] = access;
        writer->total++;
        if (writer->count == TRACE_BLOCK_ACCESSES && !put_block(writer, err))
            return false;
    }
    return true;
}

static bool put_end(struct trace_writer *writer, struct err *err)
{
    if (!writer->total)
        return err_set(err, "%s: a trace of no accesses is not written", writer->file.path);
    if (writer->count && !put_block(writer, err))
        return false;
    size_t bytes = writer->block_count * sizeof *writer->index;
    struct trace_tail tail = {writer->offset,  writer->block_count, writer->total, writer->last, 0,
                              TRACE_TAIL_MAGIC};
    tail.digest =
        trace_digest(trace_digest(0, writer->index, bytes), &tail, offsetof(struct trace_tail, digest));
    return put(writer, writer->index, bytes, err) && put(writer, &tail, sizeof tail, err);
}

bool trace_writer_close(struct trace_writer *writer, struct err *err)
{
    if (!put_end(writer, err)) {
        trace_writer_abandon(writer);
        return false;
    }
    bool good = file_close(&writer->file, err);
    writer_free(writer);
    return good;
}
