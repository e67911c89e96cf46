/* Instructions of warps become streams, chunks and files, and come back as they were. */
#include "check.h"
#include "base/mem.h"
#include "base/rng.h"
#include "itrace/chunk.h"
#include "itrace/itrace.h"

enum { ROWS = 24, STEPS = 400, WARPS = 6, PIECES = 3 };

/* ---- random instructions ---- */

struct known_step {
    uint32_t instruction;
    lane_mask active;
    struct isa_stepped stepped;
    struct istream_step step;
    struct request request;
    struct piece pieces[PIECES];
};

static struct isa_timing rows[ROWS];
static struct isa_code code = {.timing = rows, .count = ROWS, .code_at = 64};
static struct istream_code own;
static uint32_t contexts;

static void make_code(struct rng *rng)
{
    contexts = 0;
    for (uint32_t i = 0; i < ROWS; i++)
        rows[i] = (struct isa_timing){.plain = rng_below(rng, 2) & 1, .guards = rng_below(rng, 3) == 0};
    istream_code_init(&own, &code, &contexts);
}

static lane_mask some_lanes(struct rng *rng, uint32_t width, lane_mask of)
{
    lane_mask all = width == 64 ? UINT64_MAX : UINT32_MAX;
    switch (rng_below(rng, 4)) {
    case 0:
        return of & (rng_next(rng) | rng_next(rng)) & all;
    case 1:
        return of & (UINT64_C(1) << rng_below(rng, width));
    default:
        return of & all;
    }
}

/* Lines, rows of a matrix, places in a table, anything. Tables are near each other, and mostly one. */
static void some_addresses(struct rng *rng, uint64_t at[], uint32_t width)
{
    uint64_t base = rng_below(rng, UINT64_C(1) << 46), kind = rng_below(rng, 6);
    uint64_t table = 4096 + 64 * rng_below(rng, 3), unit = kind == 4 ? 4 : 1;
    uint64_t stride = rng_below(rng, 3) ? 4 : rng_next(rng) % 1000 - 500, row = rng_next(rng) % 10000 - 5000;
    uint32_t shift = (uint32_t)rng_below(rng, 7);
    for (uint32_t i = 0; i < width; i++)
        at[i] = kind == 0   ? rng_next(rng) >> rng_below(rng, 60)
                : kind == 1 ? base + stride * i
                : kind == 2 ? base + stride * (i & ((1u << shift) - 1)) + row * (i >> shift)
                : kind == 3 ? base
                            : table + unit * rng_below(rng, 256);
}

/* What an instruction set may know of a full warp. */
static uint8_t layout_of(struct rng *rng, const uint64_t at[], lane_mask lanes, uint32_t width,
                         uint64_t bytes)
{
    bool same = true, dense = true;
    if (lanes != UINT64_MAX >> (64 - width) || rng_below(rng, 4) == 0)
        return LAYOUT_UNKNOWN;
    for (uint32_t i = 0; i < width; i++) {
        same &= at[i] == at[0];
        dense &= at[i] == at[0] + i * bytes;
    }
    return same ? LAYOUT_SAME : dense ? LAYOUT_DENSE : LAYOUT_UNKNOWN;
}

/* What it has to do with other blocks of the cluster. */
static void some_far(struct rng *rng, struct request *request, uint32_t width)
{
    request->forgets = rng_below(rng, 2);
    if (request->of.kind != REQUEST_PIECES) {
        request->cluster = some_lanes(rng, width, request->of.lanes);
        request->signals = request->cluster && rng_below(rng, 2);
        EACH_LANE (i, request->cluster)
            request->compare[i] = rng_below(rng, 1 << 16);
        if (request->cluster == request->of.lanes && request->cluster && rng_below(rng, 3) == 0)
            request->of.kind = REQUEST_SIGNAL;
        request->of.bytes = request->of.kind == REQUEST_SIGNAL ? 8 : request->of.bytes;
        request->of.layout = LAYOUT_UNKNOWN;
        return;
    }
    if (rng_below(rng, 2))
        return;
    request->of.is_async = true; /* a bulk copy: pieces of lines */
    request->of.targets = 1 + rng_below(rng, 255);
    request->of.barrier_at = (uint32_t)rng_below(rng, 1 << 16);
    for (size_t i = 0; i < request->piece_count; i++) {
        request->pieces[i].at = (request->pieces[i].at | 128) & ~UINT64_C(127);
        request->pieces[i].bytes = 1 + (uint32_t)rng_below(rng, 128);
        request->pieces[i].stage_at = rng_below(rng, 1 << 17);
    }
}

static void some_request(struct rng *rng, struct known_step *step, uint32_t width, bool has_clusters)
{
    struct request *request = &step->request;
    lane_mask mask = step->stepped.mask;
    request->of.width = (uint8_t)width;
    if (rng_below(rng, 5) == 0 || !mask)
        return;
    if (rng_below(rng, 4)) {
        request->of.kind = (uint8_t)(REQUEST_LOAD + rng_below(rng, 4));
        request->of.lanes = some_lanes(rng, width, mask);
        request->of.bytes = 4;
        request->of.keep = rng_below(rng, 2);
        some_addresses(rng, request->of.at, width);
        request->of.layout = layout_of(rng, request->of.at, request->of.lanes, width, request->of.bytes);
        if (!request->of.lanes)
            request->of.kind = REQUEST_NONE;
        if (request->of.kind == REQUEST_ATOMIC)
            request->of.returns = rng_below(rng, 2);
    } else {
        request->of.kind = REQUEST_PIECES;
        request->of.lanes = mask;
        request->writes = rng_below(rng, 2);
        request->pieces = step->pieces;
        request->piece_count = 1 + rng_below(rng, PIECES);
        for (size_t i = 0; i < request->piece_count; i++)
            step->pieces[i] =
                (struct piece){.at = rng_next(rng) >> 20, .bytes = 1 + (uint32_t)rng_below(rng, 99)};
    }
    if (has_clusters)
        some_far(rng, request, width);
    if (rng_below(rng, 3) == 0) {
        uint64_t at[ISA_LANES];
        request->shared = some_lanes(rng, width, mask);
        request->shared_bytes = 8;
        some_addresses(rng, at, width);
        for (uint32_t i = 0; i < width; i++)
            at[i] = request->shared_at[i] = (uint32_t)at[i] & 0xffff;
        request->shared_layout = layout_of(rng, at, request->shared, width, request->shared_bytes);
    }
    if (rng_below(rng, 6) == 0) {
        request->local = some_lanes(rng, width, mask);
        request->local_bytes = 4;
        some_addresses(rng, request->local_at, width);
    }
}

static void make_steps(struct rng *rng, struct known_step *steps, uint32_t width, bool has_clusters)
{
    uint32_t at = 0;
    lane_mask active = some_lanes(rng, width, UINT64_MAX);
    for (uint32_t i = 0; i < STEPS; i++) {
        struct known_step *step = &steps[i];
        *step = (struct known_step){.instruction = at, .active = active};
        step->stepped.mask = rows[at].guards ? some_lanes(rng, width, active) : active;
        step->stepped.moved = at == ROWS - 1 || rng_below(rng, 6) == 0;
        if (step->stepped.moved) {
            step->stepped.branched = rng_below(rng, 2);
            step->stepped.diverged = rng_below(rng, 2);
            step->stepped.sleep_ns = rng_below(rng, 9) ? 0 : 77;
            step->step.exits = rng_below(rng, 9) ? 0 : 5;
        }
        if (!rows[at].plain)
            some_request(rng, step, width, has_clusters);
        at = step->stepped.moved ? (uint32_t)rng_below(rng, ROWS) : at + 1;
        if (step->stepped.moved && rng_below(rng, 3) == 0)
            active = some_lanes(rng, width, UINT64_MAX);
    }
}

/* ---- and back ---- */

static void check_lanes(lane_mask lanes, const uint64_t a[], const uint64_t b[])
{
    EACH_LANE (i, lanes)
        assert_true(a[i] == b[i]);
}

static void check_request(const struct request *was, const struct request *is)
{
    assert_int_equal(was->of.kind, is->of.kind);
    assert_true(was->shared == is->shared && was->local == is->local && was->param == is->param);
    EACH_LANE (i, was->shared)
        assert_int_equal(was->shared_at[i], is->shared_at[i]);
    check_lanes(was->local, was->local_at, is->local_at);
    if (was->of.kind == REQUEST_NONE)
        return;
    assert_true(was->of.lanes == is->of.lanes && was->of.keep == is->of.keep);
    assert_int_equal(was->writes, is->writes);
    assert_true(was->cluster == is->cluster && was->signals == is->signals && was->forgets == is->forgets);
    check_lanes(was->signals ? was->cluster : 0, was->compare, is->compare);
    assert_true(was->of.targets == is->of.targets);
    if (was->of.targets)
        assert_int_equal(was->of.barrier_at, is->of.barrier_at);
    if (was->of.kind != REQUEST_PIECES) {
        assert_int_equal(was->of.bytes, is->of.bytes);
        check_lanes(was->of.lanes, was->of.at, is->of.at);
        return;
    }
    assert_int_equal(was->piece_count, is->piece_count);
    for (size_t i = 0; i < was->piece_count; i++) {
        assert_true(was->pieces[i].at == is->pieces[i].at);
        assert_int_equal(was->pieces[i].bytes, is->pieces[i].bytes);
        if (was->of.targets)
            assert_true(was->pieces[i].stage_at == is->pieces[i].stage_at);
    }
}

static void check_warp(const struct known_step *steps, const struct chunk_warp *warp, uint32_t width,
                       bool has_clusters)
{
    struct istream_codes codes = {.at = &own, .count = 1, .context_count = contexts};
    struct istream_reader reader = {.runs = {.at = warp->runs, .end = warp->runs + warp->runs_bytes},
                                    .data = {.at = warp->data, .end = warp->data + warp->data_bytes},
                                    .firsts = warp->firsts,
                                    .firsts_end = warp->firsts + warp->first_count,
                                    .has_clusters = has_clusters,
                                    .contexts = mem_alloc(contexts + 1, sizeof *reader.contexts)};
    struct request request = {.of.width = (uint8_t)width};
    const struct istream_run *run = &reader.run;
    uint32_t done = 0;
    while (istream_next_run(&reader, &codes)) {
        for (uint32_t i = 0; i < run->count; i++, done++) {
            const struct known_step *step = &steps[done];
            bool last = i == run->count - 1;
            assert_true(done < STEPS && step->instruction == run->first + i && step->active == run->active);
            lane_mask mask = run->active;
            if (last && (run->moved || run->has_mask))
                mask = run->mask;
            else if (rows[step->instruction].guards)
                mask = istream_guard(&reader, run->active);
            assert_true(mask == step->stepped.mask);
            if (step->stepped.moved)
                assert_true(last && run->moved && run->branched == step->stepped.branched &&
                            run->diverged == step->stepped.diverged && run->exits == step->step.exits &&
                            run->sleep_ns == step->stepped.sleep_ns);
            if (rows[step->instruction].plain)
                continue;
            istream_access(&reader, own.context[step->instruction], mask, &request);
            check_request(&step->request, &request);
            request_clear(&request);
        }
    }
    assert_false(istream_is_bad(&reader));
    assert_int_equal(done, STEPS);
    mem_free(request.pieces);
    mem_free(request.stage);
    mem_free(reader.contexts);
}

static void instructions_come_back_as_they_were(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 5, "itrace");
    struct known_step *steps = mem_alloc((size_t)WARPS * STEPS, sizeof *steps);
    for (int round = 0; round < 60; round++) {
        uint32_t width = round % 2 ? 64 : 32;
        bool has_clusters = round / 2 % 2;
        struct chunk_builder builder = {0};
        struct blob packed = {0};
        uint64_t raw_bytes;
        make_code(&rng);
        for (uint32_t w = 0; w < WARPS; w++) {
            struct istream_writer writer = {.has_clusters = has_clusters};
            struct chunk_block block = {0};
            make_steps(&rng, steps + w * STEPS, width, has_clusters);
            for (struct known_step *step = steps + w * STEPS; step < steps + (w + 1) * STEPS; step++)
                istream_put(&writer, &own, contexts, step->instruction, step->active, &step->stepped,
                            &step->step, &step->request);
            istream_end(&writer);
            chunk_block_add(&block, &writer);
            chunk_builder_add(&builder, &block);
            istream_writer_fini(&writer);
            chunk_block_fini(&block);
        }
        chunk_pack(&builder, &packed, &raw_bytes);
        struct err err;
        struct chunk *chunk = chunk_unpack(packed.at, packed.count, raw_bytes, WARPS, &err);
        assert_non_null(chunk);
        for (uint32_t w = 0; w < WARPS; w++)
            check_warp(steps + w * STEPS, &chunk->warps[w], width, has_clusters);
        assert_null(chunk_unpack(packed.at, packed.count - 1, raw_bytes, WARPS, &err));
        assert_null(chunk_unpack(packed.at, packed.count, raw_bytes, WARPS + 1, &err));
        chunk_free(chunk);
        chunk_block_fini(&builder.all);
        blob_fini(&packed);
        istream_code_fini(&own);
    }
    mem_free(steps);
}

/* Who arrives at a barrier, and goes on behind it. */
static void barriers_are_before_the_run_that_waited(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "itrace");
    make_code(&rng);
    rows[0].plain = rows[1].plain = true;
    rows[0].guards = rows[1].guards = 0;
    struct istream_writer writer = {0};
    struct istream_step arrives = {
        .arrives = true, .waits = true, .whole = true, .barrier = 3, .threads = 32, .waiting = UINT32_MAX};
    struct isa_stepped moved = {.mask = UINT32_MAX, .moved = true}, stays = {.mask = UINT32_MAX};
    istream_put(&writer, &own, contexts, 0, UINT32_MAX, &moved, &arrives, NULL);
    istream_put(&writer, &own, contexts, 1, UINT32_MAX, &stays, &(struct istream_step){0}, NULL);
    istream_end(&writer);
    struct istream_codes codes = {.at = &own, .count = 1};
    struct istream_reader reader = {
        .runs = {.at = writer.runs.at, .end = writer.runs.at + writer.runs.count}};
    assert_true(istream_next_run(&reader, &codes));
    assert_int_equal(reader.run.events, EVENT_ARRIVES | EVENT_WAITS | EVENT_WHOLE);
    assert_int_equal(reader.run.barrier, 3);
    assert_int_equal(reader.run.threads, 32);
    assert_true(istream_next_run(&reader, &codes));
    assert_int_equal(reader.run.opened, 1 << 3);
    assert_false(istream_next_run(&reader, &codes));
    istream_writer_fini(&writer);
    istream_code_fini(&own);
}

/* The barrier of a cluster has two halves: its number is behind those of the block. */
static void who_waits_for_the_cluster_is_behind_its_barrier(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "itrace");
    make_code(&rng);
    rows[0].plain = rows[1].plain = rows[2].plain = true;
    rows[0].guards = rows[1].guards = rows[2].guards = 0;
    struct istream_writer writer = {.has_clusters = true};
    struct istream_step arrives = {.arrives = true, .barrier = ISTREAM_CLUSTER, .threads = 32},
                        waits = {.waiting_for_cluster = UINT32_MAX};
    struct isa_stepped moved = {.mask = UINT32_MAX, .moved = true}, stays = {.mask = UINT32_MAX};
    istream_put(&writer, &own, contexts, 0, UINT32_MAX, &moved, &arrives, NULL);
    istream_put(&writer, &own, contexts, 1, UINT32_MAX, &moved, &waits, NULL);
    istream_put(&writer, &own, contexts, 2, UINT32_MAX, &stays, &(struct istream_step){0}, NULL);
    istream_end(&writer);
    struct istream_codes codes = {.at = &own, .count = 1};
    struct istream_reader reader = {.runs = {.at = writer.runs.at, .end = writer.runs.at + writer.runs.count},
                                    .has_clusters = true};
    assert_true(istream_next_run(&reader, &codes));
    assert_int_equal(reader.run.barrier, ISTREAM_CLUSTER);
    assert_true(istream_next_run(&reader, &codes));
    assert_int_equal(reader.run.opened, 0); /* it has arrived, and need not wait yet */
    assert_true(istream_next_run(&reader, &codes));
    assert_int_equal(reader.run.opened, 1 << ISTREAM_CLUSTER);
    istream_writer_fini(&writer);
    istream_code_fini(&own);
}

/* ---- the index ---- */

/* Launches with clusters are told at its end; it is as it always was without them. */
static void clusters_of_launches_come_back(void **state)
{
    (void)state;
    struct itrace *trace = itrace_new();
    struct blob plain = {0}, bytes = {0};
    struct err err;
    trace->command = mem_text("x");
    trace->system = mem_text("h200");
    trace->isa = mem_text("PTX");
    trace->lanes = 32;
    mem_grow(trace->kernels, trace->kernel_count, trace->kernel_capacity);
    struct itrace_kernel *kernel = &trace->kernels[trace->kernel_count++];
    kernel->facts.name = itrace_text(trace, "k");
    kernel->codes = mem_alloc(1, sizeof *kernel->codes);
    kernel->code_count = kernel->code_capacity = 1;
    for (int i = 0; i < 3; i++) {
        mem_grow(trace->launches, trace->launch_count, trace->launch_capacity);
        trace->launches[trace->launch_count++] =
            (struct itrace_launch){.grid = {8, 6, 1}, .block = {32, 1, 1}, .cluster = {1, 1, 1}};
    }
    itrace_encode_index(trace, &plain);
    memcpy(trace->launches[1].cluster, (uint32_t[3]){4, 2, 1}, sizeof trace->launches[1].cluster);
    itrace_encode_index(trace, &bytes);
    assert_true(bytes.count > plain.count && !memcmp(bytes.at, plain.at, plain.count));
    struct itrace *read = itrace_decode_index(bytes.at, bytes.count, "x", &err);
    assert_non_null(read);
    assert_int_equal(itrace_launch_cluster(&read->launches[0]), 1);
    assert_int_equal(itrace_launch_cluster(&read->launches[1]), 8);
    assert_int_equal(read->launches[1].cluster[1], 2);
    itrace_free(read);
    trace->launches[1].cluster[0] = 3; /* of 8 blocks */
    bytes.count = 0;
    itrace_encode_index(trace, &bytes);
    assert_null(itrace_decode_index(bytes.at, bytes.count, "x", &err));
    blob_fini(&plain);
    blob_fini(&bytes);
    itrace_free(trace);
}

static void the_index_comes_back_as_it_was(void **state)
{
    (void)state;
    struct itrace *trace = itrace_new();
    trace->command = mem_text("./program with words");
    trace->system = mem_text("h200");
    trace->isa = mem_text("PTX");
    trace->lanes = 32;
    mem_grow(trace->calls, trace->call_count, trace->call_capacity);
    trace->calls[trace->call_count++] = (struct itrace_call){.kind = CALL_STREAM, .field = {0, 7, 1, 2}};
    mem_grow(trace->calls, trace->call_count, trace->call_capacity);
    trace->calls[trace->call_count++] = (struct itrace_call){.kind = CALL_WAIT, .field = {0, UINT64_MAX}};
    struct blob bytes = {0};
    struct err err;
    itrace_encode_index(trace, &bytes);
    struct itrace *read = itrace_decode_index(bytes.at, bytes.count, "x", &err);
    assert_non_null(read);
    assert_string_equal(read->command, trace->command);
    assert_int_equal(read->call_count, 2);
    assert_int_equal(read->calls[0].field[1], 7);
    assert_true(read->calls[1].field[1] == UINT64_MAX);
    itrace_free(read);
    for (size_t cut = 0; cut < bytes.count; cut++) /* nothing that is cut is taken */
        assert_null(itrace_decode_index(bytes.at, cut, "x", &err));
    trace->calls[1].field[0] = 1; /* a stream that is not there */
    bytes.count = 0;
    itrace_encode_index(trace, &bytes);
    assert_null(itrace_decode_index(bytes.at, bytes.count, "x", &err));
    assert_string_equal(err.text, "x is damaged");
    blob_fini(&bytes);
    itrace_free(trace);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(instructions_come_back_as_they_were),
        cmocka_unit_test(barriers_are_before_the_run_that_waited),
        cmocka_unit_test(who_waits_for_the_cluster_is_behind_its_barrier),
        cmocka_unit_test(the_index_comes_back_as_it_was),
        cmocka_unit_test(clusters_of_launches_come_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
