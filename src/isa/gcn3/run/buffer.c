/* Memory by buffer resources (MUBUF): mostly private memory, whose resource a kernel gets when it starts. */
#include "gcn3_run/buffer.h"
#include "base/bits.h"

#include <string.h>

struct gcn3_resource gcn3_resource_of(const struct gcn3_wave *w, const struct gcn3_inst *inst)
{
    const uint32_t *words = &w->s[inst->resource.number];
    bool adds_lane = words[3] >> 23 & 1;
    uint32_t more = adds_lane ? (words[3] >> 15 & 15) << 14 : 0; /* bits of the stride in place of a format */
    return (struct gcn3_resource){.base = words[0] | (uint64_t)(words[1] & 0xffff) << 32,
                                  .stride = (words[1] >> 16 & 0x3fff) | more,
                                  .swizzles = words[1] >> 31,
                                  .records = words[2],
                                  .element = 2u << (words[3] >> 19 & 3),
                                  .index_stride = 8u << (words[3] >> 21 & 3),
                                  .adds_lane = adds_lane};
}

/* A lane's place from the resource's base, as the manual has it. */
static uint64_t place_of(const struct gcn3_resource *r, uint64_t index, uint64_t offset)
{
    if (!r->swizzles)
        return index * r->stride + offset;
    return (index / r->index_stride * r->stride + offset / r->element * r->element) * r->index_stride +
           index % r->index_stride * r->element + offset % r->element;
}

/* Outside, loads give 0 and stores do nothing. */
static bool is_inside(const struct gcn3_resource *r, uint64_t index, uint64_t offset, uint64_t soffset)
{
    if (r->swizzles && r->stride)
        return index < r->records && offset < r->stride;
    return place_of(r, index, offset) + soffset < r->records;
}

static uint32_t scalar_offset(const struct gcn3_wave *w, const struct gcn3_operand *operand)
{
    if (operand->kind == GCN3_SGPR || operand->kind == GCN3_SPECIAL)
        return w->s[operand->number];
    return operand->kind == GCN3_NOTHING ? 0 : operand->value;
}

static void zero_lanes(struct gcn3_wave *w, const struct gcn3_lowered *op, lane_mask lanes)
{
    static const unsigned char zeros[16];
    if (!op->access.writes || op->access.returns)
        EACH_LANE (i, lanes)
            gcn3_take_lane(w, op, i, zeros);
}

void gcn3_find_places(const struct gcn3_wave *w, const struct gcn3_inst *inst, const struct gcn3_resource *r,
                      lane_mask on, uint32_t last, struct gcn3_places *places)
{
    uint64_t soffset = scalar_offset(w, &inst->saddr);
    places->whole = places->partly = 0;
    EACH_LANE (i, on) {
        uint64_t index = (inst->idxen ? w->v[inst->a.number][i] : 0) + (r->adds_lane ? i : 0);
        uint64_t offset = (uint64_t)inst->offset + (inst->offen ? w->v[inst->a.number + inst->idxen][i] : 0);
        bool first_in = is_inside(r, index, offset, soffset);
        bool last_in = is_inside(r, index, offset + last, soffset);
        places->at[i] = r->base + soffset + place_of(r, index, offset);
        places->whole |= (lane_mask)(first_in && last_in) << i;
        places->partly |= (lane_mask)(first_in && !last_in) << i;
    }
}

/* Loads and stores are checked word by word, if a lane is partly inside. */
static void find_words(const struct gcn3_wave *w, const struct gcn3_lowered *op,
                       const struct gcn3_resource *r, lane_mask on, struct gcn3_places words[4])
{
    struct gcn3_inst word = op->inst;
    for (uint32_t k = 0; k < op->access.dwords; k++) {
        gcn3_find_places(w, &word, r, on, 0, &words[k]);
        word.offset += 4;
    }
}

static void access_words(struct gcn3_wave *w, const struct gcn3_lowered *op, struct gcn3_places words[4])
{
    struct gcn3_lowered word = *op;
    bool has_time = w->isa.block->worker->request;
    word.access.bytes = 4;
    word.access.dwords = 1;
    for (uint32_t k = 0; k < op->access.dwords; k++) {
        uint32_t *registers =
            op->access.writes ? w->v[word.inst.b.number] : gcn3_landing(w)[word.inst.d.number];
        if (!has_time)
            gcn3_access_global(w, &word, words[k].at, words[k].whole);
        else
            gcn3_check_global(w, &word, words[k].at, words[k].whole);
        EACH_LANE (i, has_time ? words[k].whole : 0)
            gcn3_ask_piece(w, op, words[k].at[i], &registers[i], 4, i);
        word.inst.d.number++;
        word.inst.b.number++;
    }
}

static void access_global(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct gcn3_resource *r,
                          lane_mask on, struct gcn3_places *lanes)
{
    struct gcn3_places words[4];
    bool by_words = UNLIKELY(lanes->partly);
    if (by_words) /* before registers change that have addresses */
        find_words(w, op, r, on, words);
    zero_lanes(w, op, on & ~lanes->whole);
    if (by_words)
        access_words(w, op, words);
    else
        gcn3_access_global(w, op, lanes->at, lanes->whole);
}

static void buffer(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct gcn3_resource r = gcn3_resource_of(w, &op->inst);
    struct gcn3_places lanes;
    lane_mask on = gcn3_exec(w);
    uint32_t last = op->access.is_atomic ? 0 : 4u * (op->access.dwords - 1u); /* an atomic is inside or not */
    gcn3_find_places(w, &op->inst, &r, on, last, &lanes);
    if (r.base >= GCN3_PRIVATE_AT) { /* checked where it is accessed */
        EACH_LANE (i, on)
            lanes.at[i] -= GCN3_PRIVATE_AT;
        gcn3_access_scratch(w, op, lanes.at, on);
    } else {
        access_global(w, op, &r, on, &lanes);
    }
    if (w->isa.block->worker->request)
        gcn3_begin_pending(w, op, 1 << GCN3_VM);
}

/* The L1 is told to forget (ROLE_FORGET); it is written through. */
static void invalidate(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    (void)w, (void)op;
}

gcn3_run_fn *gcn3_buffer(struct gcn3_lowered *op)
{
    if (op->inst.op == GCN3_BUFFER_WBINVL1 || op->inst.op == GCN3_BUFFER_WBINVL1_VOL) {
        op->access = (struct gcn3_data){0};
        return invalidate;
    }
    if (gcn3_rows[op->inst.op].flags & GCN3_FORMATTED || op->inst.lds)
        return gcn3_typed(op);
    return op->access.bytes ? buffer : NULL;
}
