#include "itrace/chunk.h"

#include <zstd.h>

enum { LEVEL = 3, LEVEL_TABLES = 1 }; /* places in tables repeat so little that it is no use to search */

void chunk_block_add(struct chunk_block *block, const struct istream_writer *warp)
{
    blob_put_varint(&block->lengths, warp->runs.count);
    blob_put_varint(&block->lengths, warp->data.count);
    blob_put_varint(&block->lengths, warp->firsts.count / sizeof(uint64_t));
    blob_put_all(&block->runs, warp->runs.at, warp->runs.count);
    blob_put_all(&block->data, warp->data.at, warp->data.count);
    blob_put_all(&block->firsts, warp->firsts.at, warp->firsts.count);
    block->table_bytes += warp->table_bytes;
}

void chunk_block_reset(struct chunk_block *block)
{
    block->lengths.count = block->runs.count = block->data.count = block->firsts.count = 0;
    block->table_bytes = 0;
}

void chunk_block_fini(struct chunk_block *block)
{
    blob_fini(&block->lengths);
    blob_fini(&block->runs);
    blob_fini(&block->data);
    blob_fini(&block->firsts);
}

void chunk_builder_add(struct chunk_builder *builder, const struct chunk_block *block)
{
    blob_put_all(&builder->all.lengths, block->lengths.at, block->lengths.count);
    blob_put_all(&builder->all.runs, block->runs.at, block->runs.count);
    blob_put_all(&builder->all.data, block->data.at, block->data.count);
    blob_put_all(&builder->all.firsts, block->firsts.at, block->firsts.count);
    builder->all.table_bytes += block->table_bytes;
    builder->block_count++;
}

/* ---- firsts ---- */

/* The same first of the warp before, and how far it was from the one before that. */
struct prediction {
    struct {
        uint64_t value, delta;
    } * at;
    size_t count, capacity;
};

/* The next value is told as its distance from the prediction; gives the value. */
static uint64_t predict(struct prediction *p, size_t i, uint64_t *distance, bool reading)
{
    while (p->count <= i) {
        mem_grow(p->at, p->count, p->capacity);
        p->at[p->count].value = p->at[p->count].delta = 0;
        p->count++;
    }
    uint64_t expected = p->at[i].value + p->at[i].delta;
    uint64_t value = reading ? expected + *distance : *distance;
    if (!reading)
        *distance = value - expected;
    p->at[i].delta = p->at[i].value ? value - p->at[i].value : 0;
    p->at[i].value = value;
    return value;
}

static void put_firsts(struct blob *raw, const struct chunk_block *all)
{
    struct scan lengths = {.at = all->lengths.at, .end = all->lengths.at + all->lengths.count};
    const uint8_t *at = all->firsts.at;
    struct prediction prediction = {0};
    while (lengths.at != lengths.end) {
        scan_varint(&lengths);
        scan_varint(&lengths);
        uint64_t count = scan_varint(&lengths);
        for (uint64_t i = 0; i < count; i++, at += sizeof(uint64_t)) {
            uint64_t distance = unaligned_u64(at);
            predict(&prediction, i, &distance, false);
            blob_put_signed(raw, (int64_t)distance);
        }
    }
    mem_free(prediction.at);
}

void chunk_pack(struct chunk_builder *builder, struct blob *packed, uint64_t *raw_bytes)
{
    struct chunk_block *all = &builder->all;
    struct blob raw = {0};
    blob_put_all(&raw, all->lengths.at, all->lengths.count);
    blob_put_all(&raw, all->runs.at, all->runs.count);
    blob_put_all(&raw, all->data.at, all->data.count);
    put_firsts(&raw, all);
    *raw_bytes = raw.count;
    size_t most = ZSTD_compressBound(raw.count);
    packed->count = 0;
    blob_room(packed, most);
    ZSTD_CCtx *context = ZSTD_createCCtx();
    REQUIRE(context);
    ZSTD_CCtx_setParameter(context, ZSTD_c_compressionLevel,
                           2 * all->table_bytes > raw.count ? LEVEL_TABLES : LEVEL);
    ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
    packed->count = ZSTD_compress2(context, packed->at, most, raw.at, raw.count);
    ZSTD_freeCCtx(context);
    REQUIRE(!ZSTD_isError(packed->count));
    blob_fini(&raw);
    chunk_block_reset(all);
    builder->first_block += builder->block_count;
    builder->block_count = 0;
}

/* ---- reading ---- */

/* Memory for so many at least, with anything in it. */
static void *make_room(void *at, uint64_t *room, uint64_t count, size_t bytes_each)
{
    if (*room >= count)
        return at;
    mem_free(at);
    *room = count;
    return mem_alloc_lines_unset(count, bytes_each);
}

/* Where each warp's streams are; false: that is more than there is. */
static bool find_streams(struct chunk *chunk, struct scan *raw)
{
    uint64_t runs = 0, data = 0, firsts = 0, left = (uint64_t)(raw->end - raw->at);
    for (uint64_t i = 0; i < chunk->warp_count && !raw->bad; i++) {
        struct chunk_warp *warp = &chunk->warps[i];
        runs += warp->runs_bytes = scan_varint(raw);
        data += warp->data_bytes = scan_varint(raw);
        firsts += warp->first_count = scan_varint(raw);
        raw->bad |= warp->runs_bytes > left || warp->data_bytes > left || warp->first_count > left ||
                    runs > left || data > left || firsts > left;
    }
    const uint8_t *runs_at = raw->bad ? NULL : scan_take(raw, runs);
    const uint8_t *data_at = raw->bad ? NULL : scan_take(raw, data);
    if (raw->bad || firsts > (uint64_t)(raw->end - raw->at))
        return false;
    chunk->firsts = make_room(chunk->firsts, &chunk->first_room, firsts + 1, sizeof *chunk->firsts);
    uint64_t *firsts_at = chunk->firsts;
    for (uint64_t i = 0; i < chunk->warp_count; i++) {
        struct chunk_warp *warp = &chunk->warps[i];
        warp->runs = runs_at;
        warp->data = data_at;
        warp->firsts = firsts_at;
        runs_at += warp->runs_bytes;
        data_at += warp->data_bytes;
        firsts_at += warp->first_count;
    }
    return true;
}

static void read_firsts(struct chunk *chunk, struct scan *raw)
{
    struct prediction prediction = {0};
    uint64_t *at = chunk->firsts;
    for (uint64_t w = 0; w < chunk->warp_count; w++)
        for (uint64_t i = 0; i < chunk->warps[w].first_count; i++) {
            uint64_t distance = (uint64_t)scan_signed(raw);
            *at++ = predict(&prediction, i, &distance, true);
        }
    mem_free(prediction.at);
}

bool chunk_unpack_again(struct chunk *chunk, const void *packed, size_t bytes, uint64_t raw_bytes,
                        uint64_t warp_count, struct err *err)
{
    chunk->warp_count = 0;
    if (raw_bytes > CHUNK_RAW_MOST || warp_count > raw_bytes)
        return err_set(err, "a chunk of blocks is damaged");
    chunk->raw = make_room(chunk->raw, &chunk->raw_room, raw_bytes + 1, 1);
    chunk->warps = make_room(chunk->warps, &chunk->warp_room, warp_count + 1, sizeof *chunk->warps);
    chunk->warp_count = warp_count;
    size_t got = ZSTD_decompress(chunk->raw, raw_bytes, packed, bytes);
    struct scan raw = {.at = chunk->raw, .end = chunk->raw + raw_bytes};
    bool good = got == raw_bytes && find_streams(chunk, &raw);
    if (good)
        read_firsts(chunk, &raw);
    return (good && !raw.bad && raw.at == raw.end) || err_set(err, "a chunk of blocks is damaged");
}

struct chunk *chunk_unpack(const void *packed, size_t bytes, uint64_t raw_bytes, uint64_t warp_count,
                           struct err *err)
{
    struct chunk *chunk = mem_alloc(1, sizeof *chunk);
    if (chunk_unpack_again(chunk, packed, bytes, raw_bytes, warp_count, err))
        return chunk;
    chunk_free(chunk);
    return NULL;
}

void chunk_free(struct chunk *chunk)
{
    if (!chunk)
        return;
    mem_free(chunk->raw);
    mem_free(chunk->firsts);
    mem_free(chunk->warps);
    mem_free(chunk);
}
