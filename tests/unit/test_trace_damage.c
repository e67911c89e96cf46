/* Traces of ours that are damaged, cut, or lie: each is refused, in a line that says what and where. */
#include "check.h"
#include "base/file.h"
#include "base/mem.h"
#include "trace/codec.h"
#include "trace/file.h"
#include "trace/source.h"
#include "trace/writer.h"

static struct folder folder;
static char path[128];
static struct text good; /* the bytes of a trace of three blocks */

enum { COUNT = 2 * TRACE_BLOCK_ACCESSES + 50, BLOCKS = 3 };

static int make_trace(void **state)
{
    (void)state;
    struct err err;
    folder_make(&folder);
    snprintf(path, sizeof path, "%s", folder_file(&folder, "a.htrace"));
    struct trace_writer *writer = trace_writer_new(path, &err);
    for (uint64_t i = 0; writer && i < COUNT; i++) {
        struct trace_access access = trace_access(i % 50 ? i * 8 : i * i * i, 1000 + i, 8, i % 5 == 0);
        trace_write(writer, &access, 1, &err);
    }
    return !writer || !trace_writer_close(writer, &err) || !file_read(path, 1 << 24, &good, &err);
}

static int remove_trace(void **state)
{
    (void)state;
    text_fini(&good);
    unlink(path);
    return rmdir(folder.path);
}

/* Reads all of a file that has these bytes. */
static bool reads(const char *bytes, size_t count, struct err *err)
{
    FILE *stream = fopen(path, "wb");
    assert_int_equal(fwrite(bytes, 1, count, stream), count);
    fclose(stream);
    struct trace_file *file = trace_file_open(path, err);
    struct trace_access *into = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof *into);
    bool whole = file;
    for (uint64_t i = 0; whole && i < trace_file_blocks(file); i++)
        whole = trace_block_read(file, i, into, err);
    mem_free(into);
    trace_file_close(file);
    if (!whole && strncmp(err->text, path, strlen(path)))
        fail_msg("the file is not named: %s", err->text);
    return whole;
}

static void any_byte(void **state)
{
    (void)state;
    struct err err;
    assert_true(reads(good.at, good.length, &err));
    for (size_t i = 0; i < good.length; i += i < 200 || i + 400 > good.length ? 1 : 97) {
        good.at[i] ^= (char)(1 << i % 8);
        if (reads(good.at, good.length, &err))
            fail_msg("byte %zu may be anything", i);
        good.at[i] ^= (char)(1 << i % 8);
    }
}

static void cut_anywhere(void **state)
{
    (void)state;
    struct err err;
    for (size_t i = 0; i < good.length; i += i < 100 || i + 300 > good.length ? 1 : 997)
        assert_false(reads(good.at, i, &err));
    check_says(&err, "a trace without an end: it was cut, or never closed");
    struct text longer = {0};
    text_add_bytes(&longer, good.at, good.length);
    text_add_bytes(&longer, "x", 1);
    assert_false(reads(longer.at, longer.length, &err));
    text_fini(&longer);
}

/* ---- lies: what the digests do not find ---- */

struct forged {
    char *bytes;
    size_t count;
    struct trace_head head;
    struct trace_tail tail;
    struct trace_index_row rows[BLOCKS];
    struct trace_block_head blocks[BLOCKS];
    uint64_t rows_at, tail_at, blocks_at[BLOCKS], block_bytes[BLOCKS];
};

static void forge(struct forged *it)
{
    it->count = good.length;
    it->bytes = mem_alloc(good.length, 1);
    it->tail_at = good.length - sizeof it->tail;
    memcpy(it->bytes, good.at, good.length);
    memcpy(&it->head, it->bytes, sizeof it->head);
    memcpy(&it->tail, it->bytes + it->tail_at, sizeof it->tail);
    it->rows_at = it->tail.index_offset;
    memcpy(it->rows, it->bytes + it->rows_at, sizeof it->rows);
    for (int i = 0; i < BLOCKS; i++) {
        it->blocks_at[i] = it->rows[i].offset;
        it->block_bytes[i] = it->rows[i].bytes;
        memcpy(&it->blocks[i], it->bytes + it->blocks_at[i], sizeof *it->blocks);
    }
}

enum signing { UNSIGNED, SIGNED }; /* whether digests are made to fit */

static void put_back(struct forged *it, enum signing signing)
{
    const size_t digest = sizeof(uint64_t);
    for (int i = 0; i < BLOCKS; i++) {
        char *block = it->bytes + it->blocks_at[i];
        memcpy(block, &it->blocks[i], sizeof *it->blocks);
        it->blocks[i].digest = trace_digest(0, block + digest, it->block_bytes[i] - digest);
        if (signing == SIGNED)
            memcpy(block, &it->blocks[i], sizeof *it->blocks);
    }
    if (signing == SIGNED)
        it->tail.digest = trace_digest(trace_digest(0, it->rows, sizeof it->rows), &it->tail,
                                       offsetof(struct trace_tail, digest));
    memcpy(it->bytes, &it->head, sizeof it->head);
    memcpy(it->bytes + it->tail_at, &it->tail, sizeof it->tail);
    memcpy(it->bytes + it->rows_at, it->rows, sizeof it->rows);
}

#define LIE(signing, said, ...)                                                                              \
    do {                                                                                                     \
        struct forged it;                                                                                    \
        struct err err;                                                                                      \
        forge(&it);                                                                                          \
        struct trace_block_head *block = &it.blocks[1];                                                      \
        (void)block;                                                                                         \
        __VA_ARGS__;                                                                                         \
        put_back(&it, signing);                                                                              \
        bool is_read = reads(it.bytes, it.count, &err);                                                      \
        mem_free(it.bytes);                                                                                  \
        assert_false(is_read);                                                                               \
        check_says(&err, said);                                                                              \
    } while (0)

static void lies_of_the_file(void **state)
{
    (void)state;
    LIE(UNSIGNED, "this is no trace of Heddle's", it.head.magic[1] = 'h');
    LIE(UNSIGNED, "a trace of version 9; this Heddle reads version 1", it.head.version = 9);
    LIE(UNSIGNED, "blocks of 1000 accesses; expected 65536", it.head.block_accesses = 1000);
    LIE(UNSIGNED, "does not say where its index is", it.tail.blocks = 0);
    LIE(UNSIGNED, "does not say where its index is", it.tail.blocks = UINT64_MAX);
    LIE(UNSIGNED, "does not say where its index is", it.tail.index_offset++);
    LIE(UNSIGNED, "its index is damaged", it.rows[0].count--);
    LIE(SIGNED, "block 0: what the index says of it cannot be", it.rows[0].count--);
    LIE(SIGNED, "block 0: what the index says of it cannot be", it.rows[0].bytes = 1);
    LIE(SIGNED, "block 1: what the index says of it cannot be", it.rows[1].offset++);
    LIE(SIGNED, "block 1: what the index says of it cannot be", it.rows[1].bytes = UINT32_MAX);
    LIE(SIGNED, "block 0: what the index says of it cannot be", it.rows[1].first_instruction = 1,
        it.rows[0].first_instruction = 2);
    LIE(SIGNED, "block 2: what the index says of it cannot be", it.rows[2].count = 0);
    LIE(SIGNED, "block 2: what the index says of it cannot be", it.rows[2].count = 65537);
    LIE(SIGNED, "block 2: what the index says of it cannot be", it.tail.last_instruction = UINT64_MAX);
    LIE(SIGNED, "its blocks are not what its end says", it.tail.accesses = 1);
    LIE(SIGNED, "block 2: its last instruction count is not what the end says", it.tail.last_instruction++);
    LIE(SIGNED, "block 0: its instruction counts go beyond the next block's",
        it.rows[1].first_instruction -= 5);
}

static void lies_of_a_block(void **state)
{
    (void)state;
    LIE(UNSIGNED, "block 1: it is damaged", block->count--);
    LIE(SIGNED, "block 1: it is not what the index says", block->count--);
    LIE(SIGNED, "block 1: it is not what the index says", block->first_instruction++);
    LIE(SIGNED, "block 1: it is not what the index says", block->zero++);
    LIE(SIGNED, "block 1: a stream is larger than can be", block->stream[TRACE_DELTAS].plain = UINT32_MAX);
    LIE(SIGNED, "block 1: a stream is larger than can be", block->stream[TRACE_OTHERS].plain = 0);
    LIE(SIGNED, "block 1: its streams are larger than the block",
        block->stream[TRACE_OTHERS].packed = 1 << 30);
    LIE(SIGNED, "block 1: a stream cannot be unpacked", block->stream[TRACE_TOKENS].plain = 60000);
    LIE(SIGNED, "block 1: a stream cannot be unpacked", block->stream[TRACE_TOKENS].packed--);
    LIE(SIGNED, "block 1: a stream cannot be unpacked", it.bytes[it.blocks_at[1] + sizeof *block] ^= 1);
}

/* ---- streams that make no sense ---- */

struct bytes {
    uint8_t at[64];
    size_t count;
};
#define BYTES(...) ((struct bytes){{__VA_ARGS__}, sizeof((uint8_t[]){__VA_ARGS__})})
#define NO_BYTES   ((struct bytes){{0}, 0})

static const char *decodes(struct bytes tokens, struct bytes deltas, struct bytes others, uint64_t first,
                           struct trace_access *into)
{
    struct trace_streams streams = {0};
    const struct bytes all[] = {tokens, deltas, others};
    for (int i = 0; i < TRACE_STREAMS; i++) {
        memcpy(trace_streams_room(&streams, (enum trace_stream)i, all[i].count), all[i].at, all[i].count);
        streams.bytes[i] = all[i].count;
    }
    const char *why = trace_decode(&streams, first, (uint32_t)tokens.count, into);
    trace_streams_fini(&streams);
    return why;
}

static void expect_why(const char *why, const char *wanted)
{
    if (!why || !strstr(why, wanted))
        fail_msg("'%s', not '%s'", why ? why : "all is good", wanted);
}

/* Step 3, 8 bytes, reads (form 16), slot 2; of two bytes of distance, or -5. */
#define SIZED 3, 16, 2, 2
#define EXACT 3, 17, 2, 0, 9

static void streams(void **state)
{
    (void)state;
    struct trace_access into[16];
    assert_null(decodes(BYTES(0, 1, 255), BYTES(0, 0x80), BYTES(2, SIZED, EXACT, 7, 2, 1, 4), 10, into));
    assert_int_equal(into[0].address, UINT64_C(0xffffffffffff8000));
    assert_int_equal(into[1].address, UINT64_C(0xffffffffffff7ffb));
    assert_int_equal(into[2].address, 2);
    assert_int_equal(into[0].rest, trace_access(0, 13, 8, false).rest);
    assert_int_equal(into[1].rest, trace_access(0, 16, 8, true).rest);
    assert_int_equal(into[2].rest, trace_access(0, 23, 1, false).rest);

    expect_why(decodes(BYTES(0), BYTES(1), BYTES(1, SIZED), 0, into), "fewer distances than accesses");
    expect_why(decodes(BYTES(0), BYTES(1, 2, 3), BYTES(1, SIZED), 0, into), "more than its accesses need");
    expect_why(decodes(BYTES(0), BYTES(1, 2), BYTES(1, SIZED, 0), 0, into), "more than its accesses need");
    expect_why(decodes(BYTES(1), BYTES(1, 2), BYTES(1, SIZED), 0, into), "a token has no pattern");
    expect_why(decodes(BYTES(255), NO_BYTES, BYTES(1, SIZED), 0, into), "a rare access makes no sense");
    expect_why(decodes(BYTES(255), NO_BYTES, BYTES(0, 1, 1, 0, 0), 0, into),
               "a rare access makes no sense"); /* 0 bytes */
    expect_why(decodes(BYTES(255), NO_BYTES, BYTES(0, 1, 2, 8, 0), 0, into),
               "a rare access makes no sense"); /* slot 8 */
    expect_why(decodes(BYTES(0), NO_BYTES, NO_BYTES, 0, into), "its patterns make no sense");
    expect_why(decodes(BYTES(0), NO_BYTES, BYTES(1), 0, into), "its patterns make no sense");
    expect_why(decodes(BYTES(0), NO_BYTES, BYTES(1, 3, 16, 2, 9), 0, into), "its patterns make no sense");
    expect_why(decodes(BYTES(0), NO_BYTES, BYTES(1, 3, 16, 8, 1), 0, into), "its patterns make no sense");
    expect_why(decodes(BYTES(0), NO_BYTES, BYTES(1, 3, 1, 2, 1), 0, into), "its patterns make no sense");
    expect_why(decodes(BYTES(0), BYTES(0), BYTES(1, 3, 0x80, 0x80, 0x08, 2, 1), 0, into),
               "its patterns make no sense");
    expect_why(decodes(BYTES(0), BYTES(0), BYTES(1, 0x80, 0x80, 0x80, 0x80, 0x10, 16, 2, 1), 0, into),
               "its patterns make no sense"); /* a step of 2^32 */
    expect_why(decodes(BYTES(0), NO_BYTES, BYTES(1, EXACT), TRACE_INSTRUCTIONS_MOST - 2, into),
               "its instruction counts are too large");
    expect_why(
        decodes(BYTES(0, 255), NO_BYTES, BYTES(1, EXACT, 0, 2, 0, 0), TRACE_INSTRUCTIONS_MOST - 2, into),
        "its instruction counts are too large");
    expect_why(decodes(BYTES(255), NO_BYTES, BYTES(0, 3, 2, 0, 0), TRACE_INSTRUCTIONS_MOST - 2, into),
               "its instruction counts are too large");
    assert_null(decodes(BYTES(0), NO_BYTES, BYTES(1, EXACT), TRACE_INSTRUCTIONS_MOST - 3, into));
}

/* ---- files of other kinds ---- */

static void not_a_file(void **state)
{
    (void)state;
    struct err err;
    assert_null(trace_file_open("/nowhere", &err));
    check_says(&err, "cannot read /nowhere: No such file");
    assert_null(trace_file_open("/dev/zero", &err));
    check_says(&err, "/dev/zero: a trace of Heddle's must be a file");
    assert_null(trace_file_open(folder.path, &err));
    assert_false(reads("", 0, &err));
    check_says(&err, "this is no trace of Heddle's");
}

/* A source gives what is before the damage, and then an error, not an end. */
static void source_of_it(void **state)
{
    (void)state;
    struct err err;
    struct forged it;
    forge(&it);
    it.blocks[2].count++;
    put_back(&it, UNSIGNED);
    reads(it.bytes, it.count, &err);
    struct trace_access *into = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof *into);
    struct source *source = source_open(path, 0, &err);
    assert_int_equal(source_read(source, into, TRACE_BLOCK_ACCESSES, &err), TRACE_BLOCK_ACCESSES);
    assert_int_equal(source_read(source, into, TRACE_BLOCK_ACCESSES, &err), TRACE_BLOCK_ACCESSES);
    assert_int_equal(source_read(source, into, TRACE_BLOCK_ACCESSES, &err), -1);
    check_says(&err, "block 2: it is damaged");
    source_close(source);
    mem_free(into);
    mem_free(it.bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_byte),     cmocka_unit_test(cut_anywhere), cmocka_unit_test(lies_of_the_file),
        cmocka_unit_test(streams),      cmocka_unit_test(not_a_file),   cmocka_unit_test(lies_of_a_block),
        cmocka_unit_test(source_of_it),
    };
    return cmocka_run_group_tests(tests, make_trace, remove_trace);
}
