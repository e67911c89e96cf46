/* Traces of instructions, by the first byte of the input: 0: the rest as an index; else as a chunk, inflated,
 * of so many warps, whose instructions are read; every other two are of a launch with clusters. What is read
 * stays within the code, and lanes within the warp. */
#include "itrace/chunk.h"
#include "itrace/itrace.h"

#include <zstd.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count);

static void as_index(const uint8_t *data, size_t count)
{
    struct err err;
    itrace_free(itrace_decode_index(data, count, "index", &err));
}

static void read_warp(const struct chunk_warp *warp, uint32_t width, bool has_clusters)
{
    static const struct isa_timing rows[] = {{.guards = 1}, {.plain = 1}, {0}, {.guards = 2}, {.plain = 1}};
    static const struct isa_code code = {.timing = rows, .count = COUNT_OF(rows)};
    uint32_t contexts = 0;
    struct istream_code own;
    istream_code_init(&own, &code, &contexts);
    struct istream_codes codes = {.at = &own, .count = 1, .context_count = contexts};
    struct istream_reader reader = {.runs = {.at = warp->runs, .end = warp->runs + warp->runs_bytes},
                                    .data = {.at = warp->data, .end = warp->data + warp->data_bytes},
                                    .firsts = warp->firsts,
                                    .firsts_end = warp->firsts + warp->first_count,
                                    .has_clusters = has_clusters,
                                    .contexts = mem_alloc(contexts, sizeof *reader.contexts)};
    struct request request = {.of.width = (uint8_t)width};
    lane_mask all = UINT64_MAX >> (ISA_LANES - width);
    while (istream_next_run(&reader, &codes) && !istream_is_bad(&reader))
        for (uint32_t i = 0; i < reader.run.count && !istream_is_bad(&reader); i++) {
            uint32_t at = reader.run.first + i;
            lane_mask mask = reader.run.active & all;
            if (rows[at].guards)
                mask &= istream_guard(&reader, mask);
            if (rows[at].plain)
                continue;
            istream_access(&reader, own.context[at], mask, &request);
            REQUIRE(!(request.of.kind && request.of.kind != REQUEST_PIECES && request.of.lanes & ~all) &&
                    !(request.shared & ~all) && !(request.local & ~all));
            REQUIRE(!(request.cluster & ~request.of.lanes) && reader.run.barrier < ISTREAM_BARRIERS);
            REQUIRE(has_clusters || (!request.cluster && !request.of.targets && !request.of.reduces));
            request_clear(&request);
        }
    mem_free(request.pieces);
    mem_free(request.stage);
    mem_free(reader.contexts);
    istream_code_fini(&own);
}

static void as_chunk(const uint8_t *data, size_t count, uint64_t warps)
{
    struct err err;
    size_t most = ZSTD_compressBound(count);
    void *packed = mem_alloc(most, 1);
    size_t bytes = ZSTD_compress(packed, most, data, count, 1);
    struct chunk *chunk = chunk_unpack(packed, bytes, count, warps, &err);
    for (uint64_t i = 0; chunk && i < warps; i++)
        read_warp(&chunk->warps[i], i % 2 ? 64 : 32, i / 2 % 2);
    chunk_free(chunk);
    mem_free(packed);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t count)
{
    if (!count)
        return 0;
    if (!data[0])
        as_index(data + 1, count - 1);
    else
        as_chunk(data + 1, count - 1, data[0]);
    return 0;
}
