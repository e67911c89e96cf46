/* Typed buffers: MUBUF with the format of the resource, MTBUF with the instruction's. */
#include "gcn3_run/buffer.h"
#include "gcn3_run/format.h"
#include "base/mem.h"

#include <string.h>

/* What it takes to make registers of bytes. With time it is the beginning of the stage; elements follow, by
 * lane. */
struct typed {
    uint32_t data, number; /* formats */
    uint32_t select;       /* of the resource: 3 bits for each component of a load */
    lane_mask lanes;       /* that have an element */
};

enum { STAGE_BYTES = sizeof(struct typed) + GCN3_LANES * GCN3_ELEMENT_MOST };

static uint64_t stage_at(uint32_t lane)
{
    return sizeof(struct typed) + (uint64_t)lane * GCN3_ELEMENT_MOST;
}

static struct typed typed_of(const struct gcn3_wave *w, const struct gcn3_inst *inst)
{
    uint32_t word = w->s[inst->resource.number + 3];
    bool is_own = inst->format == GCN3_MTBUF;
    return (struct typed){.data = is_own ? inst->dfmt : word >> 15 & 15,
                          .number = is_own ? inst->nfmt : word >> 12 & 7,
                          .select = word & 0xfff};
}

static uint32_t selected(const struct typed *typed, const uint32_t components[GCN3_COMPONENTS],
                         uint32_t place)
{
    uint32_t select = typed->select >> 3 * place & 7;
    return select >= 4 ? components[select - 4] : select == 1 ? gcn3_format_one(typed->number) : 0;
}

static void take(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed, uint32_t lane,
                 const unsigned char *bytes)
{
    uint32_t(*to)[GCN3_LANES] = gcn3_landing(w) + op->inst.d.number, components[GCN3_COMPONENTS] = {0};
    if (bytes)
        gcn3_format_read(typed->data, typed->number, bytes, components);
    for (uint32_t k = 0; k < op->inst.d.dwords; k++)
        to[k][lane] = selected(typed, components, k);
}

static void give(const struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed,
                 uint32_t lane, unsigned char *bytes)
{
    uint32_t components[GCN3_COMPONENTS] = {0};
    for (uint32_t k = 0; k < op->inst.b.dwords; k++)
        components[k] = w->v[op->inst.b.number + k][lane];
    gcn3_format_write(typed->data, typed->number, components, bytes);
}

/* Elements pass over the request's stage. */
static void ask(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed,
                const struct gcn3_places *places, uint32_t bytes)
{
    struct request *request = w->isa.block->worker->request;
    if (request->stage_capacity < STAGE_BYTES) {
        request->stage = mem_resize(request->stage, request->stage_capacity, STAGE_BYTES, 1);
        request->stage_capacity = STAGE_BYTES;
    }
    memcpy(request->stage, typed, sizeof *typed);
    EACH_LANE (i, places->whole) {
        unsigned char *staged = request->stage + stage_at(i);
        if (op->access.writes)
            give(w, op, typed, i, staged);
        gcn3_ask_piece(w, op, places->at[i], op->access.writes ? (uint32_t *)(void *)staged : NULL, bytes, i);
        request->pieces[request->piece_count - 1].stage_at = stage_at(i);
    }
    request->of.stage_bytes = op->access.writes ? 0 : STAGE_BYTES;
}

void gcn3_typed_complete(struct gcn3_wave *w, const struct gcn3_lowered *op, const unsigned char *stage)
{
    struct typed typed;
    memcpy(&typed, stage, sizeof typed);
    EACH_LANE (i, typed.lanes)
        take(w, op, &typed, i, stage + stage_at(i));
}

static void perform(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed,
                    const struct gcn3_places *places)
{
    EACH_LANE (i, places->whole) {
        unsigned char *place = (unsigned char *)(uintptr_t)places->at[i];
        if (op->access.writes)
            give(w, op, typed, i, place);
        else
            take(w, op, typed, i, place);
    }
}

static void access(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct gcn3_resource r = gcn3_resource_of(w, &op->inst);
    struct typed typed = typed_of(w, &op->inst);
    struct gcn3_places places;
    struct gcn3_lowered sized = *op;
    lane_mask on = gcn3_exec(w);
    sized.access.bytes = (uint8_t)gcn3_format_bytes(typed.data);
    if (!sized.access.bytes)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "a buffer of data format %u, which there is not",
                   typed.data);
    gcn3_find_places(w, &op->inst, &r, on, 0, &places); /* an element is inside or not */
    gcn3_check_global(w, &sized, places.at, places.whole);
    typed.lanes = places.whole;
    EACH_LANE (i, op->access.writes ? 0 : on & ~places.whole)
        take(w, op, &typed, i, NULL);
    if (!w->isa.block->worker->request) {
        perform(w, op, &typed, &places);
        return;
    }
    if (places.whole)
        ask(w, op, &typed, &places, sized.access.bytes);
    gcn3_begin_pending(w, op, 1 << GCN3_VM);
}

gcn3_run_fn *gcn3_typed(struct gcn3_lowered *op)
{
    const struct gcn3_row *row = &gcn3_rows[op->inst.op];
    if (!(row->flags & GCN3_FORMATTED) || row->flags & (GCN3_D16 | GCN3_D16_HI) || op->inst.lds)
        return NULL;
    op->access.bytes = 4; /* or more: the format says */
    op->access.writes = strstr(row->text, "store");
    return access;
}
