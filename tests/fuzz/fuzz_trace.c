/* Traces of ours, by the first byte of the input: 0: the rest as a file, its digests made to fit; 1: as the
 * streams of a block, whose sizes come first; 2: as accesses, which must be the same after their way through
 * a file. What is read has accesses of some bytes, in order of instruction counts. */
#include "memory_file.h"
#include "base/bits.h"
#include "base/mem.h"
#include "trace/codec.h"
#include "trace/file.h"
#include "trace/writer.h"

#include <string.h>

static struct trace_access block[TRACE_BLOCK_ACCESSES];
static struct memory_file file;

static void demand_order(uint64_t first, uint32_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        REQUIRE(trace_bytes(block[i]) && trace_instruction(block[i]) >= first);
        first = trace_instruction(block[i]);
    }
}

/* ---- a file ---- */

static void sign(char *bytes, size_t count)
{
    struct trace_tail tail;
    if (count < sizeof tail)
        return;
    memcpy(&tail, bytes + count - sizeof tail, sizeof tail);
    uint64_t most = (count - sizeof tail) / sizeof(struct trace_index_row);
    if (tail.blocks > most ||
        tail.index_offset > count - sizeof tail - tail.blocks * sizeof(struct trace_index_row))
        return;
    for (uint64_t i = 0; i < tail.blocks; i++) {
        struct trace_index_row row;
        memcpy(&row, bytes + tail.index_offset + i * sizeof row, sizeof row);
        if (row.offset > count || row.bytes > count - row.offset || row.bytes < 8)
            continue;
        uint64_t digest = trace_digest(0, bytes + row.offset + 8, row.bytes - 8);
        memcpy(bytes + row.offset, &digest, 8);
    }
    uint64_t rows = trace_digest(0, bytes + tail.index_offset, tail.blocks * sizeof(struct trace_index_row));
    tail.digest = trace_digest(rows, &tail, offsetof(struct trace_tail, digest));
    memcpy(bytes + count - sizeof tail, &tail, sizeof tail);
}

static void as_file(const uint8_t *data, size_t count)
{
    struct err err;
    char *bytes = mem_alloc(count, 1);
    memcpy(bytes, data, count);
    sign(bytes, count);
    memory_file_write(&file, bytes, count);
    mem_free(bytes);
    struct trace_file *trace = trace_file_open(file.path, &err);
    for (uint64_t i = 0; trace && i < trace_file_blocks(trace); i++) {
        const struct trace_index_row *row = trace_file_block(trace, i);
        if (trace_block_read(trace, i, block, &err))
            demand_order(row->first_instruction, row->count);
    }
    trace_file_close(trace);
}

/* ---- streams ---- */

static void as_streams(const uint8_t *data, size_t count)
{
    struct {
        uint64_t first;
        uint16_t tokens, deltas;
    } head;
    if (count < sizeof head)
        return;
    memcpy(&head, data, sizeof head);
    data += sizeof head;
    count -= sizeof head;
    struct trace_streams streams = {0};
    for (int i = 0; i < TRACE_STREAMS; i++) {
        size_t wanted = i == TRACE_TOKENS ? head.tokens : i == TRACE_DELTAS ? head.deltas : count;
        streams.bytes[i] = min_u64(min_u64(wanted, count), trace_stream_most((enum trace_stream)i));
        memcpy(trace_streams_room(&streams, (enum trace_stream)i, streams.bytes[i]), data, streams.bytes[i]);
        data += streams.bytes[i];
        count -= streams.bytes[i];
    }
    uint64_t first = head.first & TRACE_INSTRUCTIONS_MOST;
    if (!trace_decode(&streams, first, (uint32_t)streams.bytes[TRACE_TOKENS], block))
        demand_order(first, (uint32_t)streams.bytes[TRACE_TOKENS]);
    trace_streams_fini(&streams);
}

/* ---- accesses ---- */

enum { MADE_MOST = 1000 }; /* more take too long */

/* A byte says how an access differs from the one before: it is repeated, or changed by what follows. */
static size_t make_accesses(const uint8_t *data, size_t count, struct trace_access *into)
{
    struct trace_access at = trace_access(0, 0, 8, false);
    size_t made = 0;
    while (count && made < MADE_MOST) {
        uint8_t how = *data++;
        size_t size = min_u64(how & 15, --count);
        uint64_t word = 0, instruction = trace_instruction(at);
        memcpy(&word, data, min_u64(size, 8));
        data += size;
        count -= size;
        at.address += word;
        instruction = min_u64(instruction + (how & 16 ? word >> 17 : how >> 5), TRACE_INSTRUCTIONS_MOST);
        uint32_t bytes = how & 32 ? (uint32_t)(word & 0xffff) : trace_bytes(at);
        at = trace_access(at.address, instruction, bytes ? bytes : 1, how & 64);
        for (unsigned i = 0; i <= (how & 128 ? word & 63 : 0) && made < MADE_MOST; i++)
            into[made++] = at;
    }
    return made;
}

static void as_accesses(const uint8_t *data, size_t count)
{
    static struct trace_access accesses[MADE_MOST];
    static struct trace_encoder *encoder; /* kept: they are large */
    static struct trace_streams streams;
    size_t made = make_accesses(data, count, accesses);
    if (!made)
        return;
    encoder = encoder ? encoder : trace_encoder_new();
    trace_encode(encoder, accesses, (uint32_t)made, &streams);
    for (int i = 0; i < TRACE_STREAMS; i++)
        REQUIRE(streams.bytes[i] <= trace_stream_most((enum trace_stream)i));
    REQUIRE(!trace_decode(&streams, trace_instruction(accesses[0]), (uint32_t)made, block));
    REQUIRE(!memcmp(block, accesses, made * sizeof *block));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    static void (*const ways[])(const uint8_t *data, size_t count) = {as_file, as_streams, as_accesses};
    if (count)
        ways[data[0] % COUNT_OF(ways)](data + 1, count - 1);
    return 0;
}
