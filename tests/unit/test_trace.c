/* A trace of ours: what is written is read, whole and in any order, by any thread; what is damaged is refused
 * in a line that says where. */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/workers.h"
#include "trace/codec.h"
#include "trace/file.h"
#include "trace/source.h"
#include "trace/writer.h"

static struct folder folder;
static char path[128];

static int make_folder(void **state)
{
    (void)state;
    folder_make(&folder);
    snprintf(path, sizeof path, "%s", folder_file(&folder, "a.htrace"));
    return 0;
}

static int remove_folder(void **state)
{
    (void)state;
    unlink(path);
    return rmdir(folder.path);
}

/* ---- what is written is read ---- */

static struct trace_access *random_accesses(size_t count, struct rng *rng)
{
    struct trace_access *accesses = mem_alloc(count, sizeof *accesses);
    uint64_t kind = rng_below(rng, 5), instruction = rng_below(rng, 3) ? 0 : rng_next(rng) >> 18, address = 0;
    for (size_t i = 0; i < count; i++) {
        uint64_t bits = kind == 4 ? rng_below(rng, 64) : 2 + 9 * kind;
        address = rng_below(rng, 4) ? address + (rng_next(rng) & ((UINT64_C(1) << bits) - 1)) : rng_next(rng);
        instruction += kind == 3 && !rng_below(rng, 100) ? UINT64_C(1) << 33 : rng_below(rng, 1 + 5 * kind);
        uint32_t bytes = kind == 4 ? 1 + (uint32_t)rng_below(rng, 65535) : 1u << rng_below(rng, 4);
        accesses[i] = trace_access(address, instruction, bytes, rng_below(rng, 3) == 0);
    }
    return accesses;
}

/* As a program has it: loops over arrays, and jumps. */
static struct trace_access *regular_accesses(size_t count)
{
    struct trace_access *accesses = mem_alloc(count, sizeof *accesses);
    for (size_t i = 0; i < count; i++) {
        uint64_t array = i % 3, address = (array + 1) << 32 | i / 3 * (8 + 8 * array);
        accesses[i] = trace_access(i % 1000 ? address : i * i, i * 2, 8, array == 2);
    }
    return accesses;
}

static void write_trace(const struct trace_access *accesses, size_t count, struct rng *rng)
{
    struct err err;
    struct trace_writer *writer = trace_writer_new(path, &err);
    assert_non_null(writer);
    for (size_t at = 0; at < count;) {
        size_t some = rng ? (size_t)min_u64(1 + rng_below(rng, 100000), count - at) : count;
        assert_true(trace_write(writer, accesses + at, some, &err));
        at += some;
    }
    assert_true(trace_writer_close(writer, &err));
}

static struct trace_file *open_trace(void)
{
    struct err err;
    struct trace_file *file = trace_file_open(path, &err);
    if (!file)
        fail_msg("%s", err.text);
    return file;
}

static void expect_trace(const struct trace_access *accesses, size_t count)
{
    struct err err;
    struct trace_file *file = open_trace();
    struct trace_access *block = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof *block);
    assert_int_equal(trace_file_accesses(file), count);
    assert_int_equal(trace_file_last_instruction(file), trace_instruction(accesses[count - 1]));
    size_t at = 0;
    for (uint64_t i = 0; i < trace_file_blocks(file); i++) {
        uint32_t some = trace_file_block(file, i)->count;
        if (!trace_block_read(file, i, block, &err))
            fail_msg("%s", err.text);
        assert_memory_equal(block, accesses + at, some * sizeof *block);
        at += some;
    }
    assert_int_equal(at, count);
    mem_free(block);
    trace_file_close(file);
}

static void round_trips(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "round trips");
    for (int i = 0; i < 60; i++) {
        size_t count = 1 + rng_below(&rng, i % 3 ? 1000 : 200000);
        struct trace_access *accesses = random_accesses(count, &rng);
        write_trace(accesses, count, &rng);
        expect_trace(accesses, count);
        mem_free(accesses);
    }
}

static void extremes(void **state)
{
    (void)state;
    const uint64_t most = TRACE_INSTRUCTIONS_MOST;
    const struct trace_access accesses[] = {
        trace_access(UINT64_MAX, 0, 65535, true),
        trace_access(0, 0, 1, false),
        trace_access(UINT64_C(1) << 63, 0, 1, false),
        trace_access(0, 1, 65535, true),
        trace_access(INT64_MAX, UINT64_C(1) << 32, 2, true),
        trace_access(UINT64_MAX, most, 1, true),
        trace_access(UINT64_MAX, most, 1, false),
    };
    for (size_t count = 1; count <= COUNT_OF(accesses); count++) {
        write_trace(accesses, count, NULL);
        expect_trace(accesses, count);
    }
}

static void block_borders(void **state)
{
    (void)state;
    struct trace_access *accesses = regular_accesses(3 * TRACE_BLOCK_ACCESSES);
    for (int more = -1; more <= 1; more++) {
        write_trace(accesses, (size_t)(2 * TRACE_BLOCK_ACCESSES + more), NULL);
        expect_trace(accesses, (size_t)(2 * TRACE_BLOCK_ACCESSES + more));
    }
    mem_free(accesses);
}

/* What programs do takes little room. */
static void compactness(void **state)
{
    (void)state;
    size_t count = 4 * TRACE_BLOCK_ACCESSES;
    struct trace_access *accesses = regular_accesses(count);
    write_trace(accesses, count, NULL);
    struct trace_file *file = open_trace();
    assert_true(trace_file_bytes(file) < count / 10);
    trace_file_close(file);
    mem_free(accesses);
}

/* ---- in any order ---- */

struct readers {
    struct trace_file *file;
    const struct trace_access *accesses;
    struct trace_access *into[8];
    _Atomic int wrong;
};

static void read_one(void *user, uint32_t piece, unsigned worker)
{
    struct readers *readers = user;
    struct err err;
    uint64_t number = piece * 7 % trace_file_blocks(readers->file);
    size_t bytes = trace_file_block(readers->file, number)->count * sizeof(struct trace_access);
    if (!trace_block_read(readers->file, number, readers->into[worker], &err) ||
        memcmp(readers->into[worker], readers->accesses + number * TRACE_BLOCK_ACCESSES, bytes))
        readers->wrong++;
}

static void by_threads(void **state)
{
    (void)state;
    size_t count = 10 * TRACE_BLOCK_ACCESSES + 17;
    struct trace_access *accesses = regular_accesses(count);
    write_trace(accesses, count, NULL);
    struct readers readers = {.file = open_trace(), .accesses = accesses};
    for (int i = 0; i < 8; i++)
        readers.into[i] = mem_alloc(TRACE_BLOCK_ACCESSES, sizeof **readers.into);
    struct workers *workers = workers_new(8);
    workers_run(workers, 88, read_one, &readers);
    workers_free(workers);
    assert_int_equal(readers.wrong, 0);
    for (int i = 0; i < 8; i++)
        mem_free(readers.into[i]);
    trace_file_close(readers.file);
    mem_free(accesses);
}

/* From `skip` on, in pieces of `most`. */
static void expect_source(const struct trace_access *accesses, size_t count, uint64_t skip, size_t most)
{
    struct err err;
    struct trace_access *into = mem_alloc(most, sizeof *into);
    struct source *source = source_open(path, skip, &err);
    if (!source)
        fail_msg("%s", err.text);
    size_t at = skip;
    for (long got; (got = source_read(source, into, most, &err)); at += (size_t)got) {
        if (got < 0)
            fail_msg("%s", err.text);
        assert_true((size_t)got <= most && (size_t)got <= count - at);
        assert_memory_equal(into, accesses + at, (size_t)got * sizeof *into);
    }
    assert_int_equal(at, count);
    assert_int_equal(source_read(source, into, most, &err), 0);
    source_close(source);
    mem_free(into);
}

static void skipping(void **state)
{
    (void)state;
    struct err err;
    const size_t block = TRACE_BLOCK_ACCESSES, count = 2 * block + 300;
    struct trace_access *accesses = regular_accesses(count);
    write_trace(accesses, count, NULL);
    const size_t skips[] = {0, 1, block - 1, block, block + 1, 2 * block, count - 1};
    const size_t pieces[] = {999, block - 1, block, block + 1, 3 * block};
    for (size_t i = 0; i < COUNT_OF(skips); i++) {
        for (size_t k = 0; k < COUNT_OF(pieces); k++)
            expect_source(accesses, count, skips[i], pieces[k]);
    }
    expect_source(accesses, count, count - 5, 1);
    assert_null(source_open(path, count, &err));
    check_says(&err, "it has only 131372 accesses: 131372 cannot be left out");
    mem_free(accesses);
}

/* ---- what is not written ---- */

static void refused_accesses(void **state)
{
    (void)state;
    struct err err;
    unlink(path);
    const struct trace_access first = trace_access(64, 10, 8, true);
    const struct {
        struct trace_access access;
        const char *why;
    } cases[] = {
        {trace_access(0, 9, 8, false), "access 2 has instruction count 9, after 10: counts must not go back"},
        {trace_access(0, 10, 0, false), "access 2 is of 0 bytes"},
    };
    for (size_t i = 0; i < COUNT_OF(cases); i++) {
        struct trace_writer *writer = trace_writer_new(path, &err);
        assert_true(trace_write(writer, &first, 1, &err));
        assert_false(trace_write(writer, &cases[i].access, 1, &err));
        check_says(&err, cases[i].why);
        trace_writer_abandon(writer);
        assert_int_not_equal(access(path, F_OK), 0);
    }
    struct trace_writer *writer = trace_writer_new(path, &err);
    assert_false(trace_writer_close(writer, &err));
    check_says(&err, "a trace of no accesses is not written");
    assert_int_not_equal(access(path, F_OK), 0);
    assert_null(trace_writer_new("/nowhere/at/all.htrace", &err));
    check_says(&err, "cannot write /nowhere/at/all.htrace: No such file");
}

static void abandoned(void **state)
{
    (void)state;
    struct err err;
    struct trace_access *accesses = regular_accesses(2 * TRACE_BLOCK_ACCESSES);
    write_trace(accesses, 5, NULL);
    struct trace_writer *writer = trace_writer_new(path, &err);
    assert_true(trace_write(writer, accesses, 2 * TRACE_BLOCK_ACCESSES, &err));
    trace_writer_abandon(writer);
    expect_trace(accesses, 5); /* what was there before */
    mem_free(accesses);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips), cmocka_unit_test(extremes),         cmocka_unit_test(block_borders),
        cmocka_unit_test(compactness), cmocka_unit_test(by_threads),       cmocka_unit_test(skipping),
        cmocka_unit_test(abandoned),   cmocka_unit_test(refused_accesses),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
