/* Data that a model with time delivers to lanes' registers, and takes from them. */
#include "gcn3_run/wave.h"
#include "gcn3_run/buffer.h"
#include "gcn3_run/image.h"
#include "base/bits.h"
#include "base/mem.h"

#include <string.h>

static struct gcn3_wave *wave_of(const struct delivery *of)
{
    return (struct gcn3_wave *)(void *)of->registers;
}

void gcn3_deliver(const struct delivery *of, uint64_t from, const unsigned char *data, lane_mask who)
{
    struct gcn3_wave *w = wave_of(of);
    const struct gcn3_lowered *op = of->how;
    if (op->inst.format == GCN3_SMEM) {
        if (who & 1)
            memcpy(&w->incoming_s[op->inst.d.number], data + (of->at[0] - from), of->bytes);
        return;
    }
    if (LIKELY(op->access.bytes == 4 && op->access.dwords == 1)) {
        uint32_t *to = gcn3_landing(w)[op->inst.d.number];
        EACH_LANE (i, who)
            memcpy(&to[i], data + (of->at[i] - from), 4);
        return;
    }
    EACH_LANE (i, who)
        gcn3_take_lane(w, op, i, data + (of->at[i] - from));
}

void gcn3_collect(const struct request *request, uint64_t from, lane_mask who, unsigned char *data,
                  uint32_t *masks)
{
    const struct gcn3_wave *w = wave_of(&request->of);
    const struct gcn3_lowered *op = request->of.how;
    uint32_t bytes = request->of.bytes;
    EACH_LANE (i, who) {
        unsigned char own[64];
        uint32_t at = (uint32_t)(request->of.at[i] - from);
        if (op->inst.format == GCN3_SMEM)
            memcpy(own, &w->s[op->inst.b.number], bytes);
        else
            gcn3_give_lane(w, op, i, own);
        memcpy(data + at, own, bytes);
        for (uint32_t b = at; b < at + bytes; b++)
            masks[b / 32] |= UINT32_C(1) << b % 32;
    }
}

void gcn3_deliver_old(const struct delivery *of, uint32_t lane, uint64_t old)
{
    const struct gcn3_lowered *op = of->how;
    if (op->inst.format == GCN3_SMEM)
        memcpy(&wave_of(of)->incoming_s[op->inst.d.number], &old, of->bytes);
    else
        gcn3_take_lane(wave_of(of), op, lane, (const unsigned char *)&old);
}

unsigned char *gcn3_ask_stage(struct gcn3_wave *w, size_t bytes)
{
    struct request *request = w->isa.block->worker->request;
    if (request->stage_capacity < bytes) {
        request->stage = mem_resize(request->stage, request->stage_capacity, bytes, 1);
        request->stage_capacity = bytes;
    }
    return request->stage;
}

void gcn3_ask_staged(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at, uint64_t stage_at,
                     uint32_t bytes, uint32_t lane)
{
    struct request *request = w->isa.block->worker->request;
    unsigned char *staged = request->stage + stage_at;
    gcn3_ask_piece(w, op, at, op->access.writes ? (uint32_t *)(void *)staged : NULL, bytes, lane);
    request->pieces[request->piece_count - 1].stage_at = stage_at;
}

void gcn3_ask_piece(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at, uint32_t *registers,
                    uint32_t bytes, uint32_t lane)
{
    struct request *request = w->isa.block->worker->request;
    struct delivery *of = &request->of;
    of->kind = REQUEST_PIECES;
    of->lanes |= UINT64_C(1) << lane;
    of->bytes = 4;
    of->keep = !op->inst.glc;
    of->acquires = of->returns = false;
    of->how = op;
    of->registers = (char *)w;
    request->writes = op->access.writes;
    mem_grow(request->pieces, request->piece_count, request->piece_capacity);
    request->pieces[request->piece_count++] =
        (struct piece){.at = at, .host = (char *)registers, .bytes = bytes, .lane = lane};
}

/* Only typed loads and images are staged. */
void gcn3_complete(struct isa_warp *warp, const struct delivery *of, const unsigned char *stage)
{
    const struct gcn3_lowered *op = of->how;
    if (!of->stage_bytes)
        return;
    if (op->inst.format == GCN3_MIMG)
        gcn3_image_complete(gcn3_wave(warp), op, stage);
    else
        gcn3_typed_complete(gcn3_wave(warp), op, stage);
}
