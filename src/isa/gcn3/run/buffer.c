/* Memory by buffer resources (MUBUF): mostly private memory, whose resource a kernel gets when it starts. */
#include "gcn3_run/wave.h"
#include "base/bits.h"

#include <string.h>

struct resource {
    uint64_t base;
    uint32_t stride, records, element, index_stride;
    bool swizzles, adds_lane;
};

static struct resource resource_of(const struct gcn3_wave *w, const struct gcn3_inst *inst)
{
    const uint32_t *words = &w->s[inst->resource.number];
    return (struct resource){.base = words[0] | (uint64_t)(words[1] & 0xffff) << 32,
                             .stride = words[1] >> 16 & 0x3fff,
                             .swizzles = words[1] >> 31,
                             .records = words[2],
                             .element = 2u << (words[3] >> 19 & 3),
                             .index_stride = 8u << (words[3] >> 21 & 3),
                             .adds_lane = words[3] >> 23 & 1};
}

/* A lane's place from the resource's base, as the manual has it. False: outside, where loads give 0 and
 * stores do nothing. */
static bool place_of(const struct resource *r, uint64_t index, uint64_t offset, uint32_t bytes,
                     uint64_t *place)
{
    if (r->swizzles) {
        *place = (index / r->index_stride * r->stride + offset / r->element * r->element) * r->index_stride +
                 index % r->index_stride * r->element + offset % r->element;
        return r->adds_lane || !r->stride || index < r->records;
    }
    *place = index * r->stride + offset;
    return r->stride ? index < r->records : *place + bytes <= r->records;
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
    EACH_LANE (i, lanes)
        if (!op->access.writes || op->access.returns)
            gcn3_take_lane(w, op, i, zeros);
}

static void buffer(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    struct resource r = resource_of(w, inst);
    uint64_t at[GCN3_LANES] = {0}, soffset = scalar_offset(w, &inst->saddr);
    lane_mask lanes = gcn3_exec(w), inside = 0;
    bool is_scratch = r.base >= GCN3_PRIVATE_AT && r.base - GCN3_PRIVATE_AT < UINT32_MAX;
    EACH_LANE (i, lanes) {
        uint64_t index = (inst->idxen ? w->v[inst->a.number][i] : 0) + (r.adds_lane ? i : 0), place;
        uint64_t offset = (uint64_t)inst->offset + (inst->offen ? w->v[inst->a.number + inst->idxen][i] : 0);
        inside |= (lane_mask)place_of(&r, index, offset, op->access.bytes, &place) << i;
        at[i] = r.base + soffset + place;
    }
    zero_lanes(w, op, lanes & ~inside);
    if (is_scratch) {
        EACH_LANE (i, inside)
            at[i] -= GCN3_PRIVATE_AT;
        gcn3_access_scratch(w, op, at, inside);
    } else {
        gcn3_access_global(w, op, at, inside);
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
    if (gcn3_rows[op->inst.op].flags & GCN3_FORMATTED || op->inst.lds || !op->access.bytes)
        return NULL;
    return buffer;
}
