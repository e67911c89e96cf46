/* A trace of ours: what is written is read, whole and in any order, by any thread; what is damaged is refused
 * in a line that says where. */
#include "base/file.h"
#include "base/mem.h"
#include "base/rng.h"
#include "base/workers.h"
#include "trace/codec.h"
#include "trace/file.h"
#include "trace/writer.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

static char path[] = "/tmp/test_trace.XXXXXX";

static int make_path(void **state)
{
    (void)state;
    int descriptor = mkstemp(path);
    return descriptor < 0 || close(descriptor);
}

static int remove_path(void **state)
{
    (void)state;
    return unlink(path);
}

/* ---- what is written ---- */

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

static void write_trace(const struct trace_access *accesses, size_t count, struct rng *rng)
{
    struct err err;
    struct trace_writer *writer = trace_writer_new(path, &err);
    assert_non_null(writer);
    for (size_t at = 0; at < count;) {
        size_t some = (size_t)min_u64(1 + rng_below(rng, 100000), count - at);
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
    struct rng rng;
    rng_init(&rng, 1, "extremes");
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
        write_trace(accesses, count, &rng);
        expect_trace(accesses, count);
    }
    struct trace_access *full = mem_alloc(3 * TRACE_BLOCK_ACCESSES, sizeof *full);
    for (size_t i = 0; i < 3 * TRACE_BLOCK_ACCESSES; i++)
        full[i] = trace_access(i * 8, i, 8, false);
    for (int more = -1; more <= 1; more++) {
        write_trace(full, (size_t)(2 * TRACE_BLOCK_ACCESSES + more), &rng);
        expect_trace(full, (size_t)(2 * TRACE_BLOCK_ACCESSES + more));
    }
    mem_free(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(round_trips),
        cmocka_unit_test(extremes),
    };
    return cmocka_run_group_tests(tests, make_path, remove_path);
}
