/* Typed buffers: MUBUF with the format of the resource, MTBUF with the instruction's. Loads to LDS, and
 * stores from there, are typed accesses, too: each lane has a word of LDS in place of registers. */
#include "gcn3_run/buffer.h"
#include "gcn3_run/format.h"

#include <string.h>

/* What it takes to make registers of bytes. With time it is the beginning of the stage; elements follow, by
 * lane. */
struct typed {
    uint32_t data, number; /* formats */
    uint32_t select;       /* of the resource: 3 bits for each component of a load */
    uint32_t lds_at;       /* of an access to LDS: where lane 0's word is */
    lane_mask lanes;       /* that have an element */
};

enum { STAGE_BYTES = sizeof(struct typed) + GCN3_LANES * GCN3_ELEMENT_MOST };

static uint64_t stage_at(uint32_t lane)
{
    return sizeof(struct typed) + (uint64_t)lane * GCN3_ELEMENT_MOST;
}

/* ---- components and registers ---- */

static bool is_half(const struct gcn3_inst *inst)
{
    return inst->d16 || gcn3_rows[inst->op].flags & (GCN3_D16 | GCN3_D16_HI);
}

/* Halves lie in pairs; on gfx803 each has a register. */
static uint32_t half_register(const struct gcn3_inst *inst, uint32_t k, uint32_t *shift)
{
    bool is_packed = inst->target != GCN3_GFX803;
    bool is_high = gcn3_rows[inst->op].flags & GCN3_D16_HI || (is_packed && k % 2);
    *shift = is_high ? 16 : 0;
    return is_packed ? k / 2 : k;
}

void gcn3_take_components(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint32_t number,
                          const uint32_t *components, uint32_t count)
{
    const struct gcn3_operand *d = &op->inst.d;
    uint32_t(*to)[GCN3_LANES] = gcn3_landing(w) + d->number;
    uint32_t used = count, shift;
    for (uint32_t k = 0; k < count; k++) {
        if (!is_half(&op->inst)) {
            to[k][lane] = components[k];
            continue;
        }
        uint32_t place = half_register(&op->inst, k, &shift), half = gcn3_format_half(number, components[k]);
        uint32_t old = k % 2 && shift ? to[place][lane] : w->v[d->number + place][lane];
        bool keeps = op->inst.target != GCN3_GFX803;
        to[place][lane] = (keeps ? old & ~(0xffffu << shift) : 0) | half << shift;
        used = place + 1;
    }
    for (; used < d->dwords; used++) /* tfe: all of it was there */
        to[used][lane] = 0;
}

void gcn3_give_components(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                          uint32_t number, uint32_t *components, uint32_t count)
{
    const uint32_t(*from)[GCN3_LANES] = (const uint32_t(*)[GCN3_LANES])w->v + op->inst.b.number;
    for (uint32_t k = 0; k < count; k++) {
        uint32_t shift = 0, place = is_half(&op->inst) ? half_register(&op->inst, k, &shift) : k;
        uint32_t value = from[place][lane] >> shift;
        components[k] = is_half(&op->inst) ? gcn3_format_whole(number, value & 0xffff) : value;
    }
}

/* ---- words of LDS ---- */

static unsigned char *lds_word(const struct gcn3_wave *w, const struct typed *typed, uint32_t lane)
{
    return (unsigned char *)w->isa.block->shared + typed->lds_at + 4 * lane;
}

static void check_lds(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed)
{
    uint64_t room = w->isa.block->shared_bytes;
    if (typed->lds_at % 4)
        gcn3_fault(w, op, 0, FAULT_MISALIGNED, typed->lds_at,
                   "words from byte %u of LDS on, which is not aligned to 4", typed->lds_at);
    EACH_LANE (i, gcn3_exec(w)) {
        uint64_t at = typed->lds_at + 4 * i;
        if (at + 4 > room)
            gcn3_fault(w, op, i, FAULT_ADDRESS, at,
                       "%s of 4 bytes at byte %llu of the work-group's %llu bytes of LDS",
                       op->access.writes ? "a read" : "a write", (unsigned long long)at,
                       (unsigned long long)room);
    }
}

/* Plain loads: an unsigned or signed integer of so many bytes. */
static void set_plain_format(const struct gcn3_lowered *op, struct typed *typed)
{
    enum { DATA_8 = 1, DATA_16 = 2, DATA_32 = 4, NUMBER_UINT = 4, NUMBER_SINT = 5, ONLY_X = 4 };
    uint32_t bytes = gcn3_rows[op->inst.op].memory_bytes;
    typed->data = bytes == 1 ? DATA_8 : bytes == 2 ? DATA_16 : DATA_32;
    typed->number = op->access.is_signed ? NUMBER_SINT : NUMBER_UINT;
    typed->select = ONLY_X;
}

/* ---- elements ---- */

static struct typed typed_of(const struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    enum { IDENTITY = 4 | 5 << 3 | 6 << 6 | 7 << 9 };
    uint32_t word = w->s[inst->resource.number + 3];
    bool is_own = inst->format == GCN3_MTBUF;
    struct typed typed = {.data = is_own ? inst->dfmt : word >> 15 & 15,
                          .number = is_own ? inst->nfmt : word >> 12 & 7,
                          .select = is_own ? IDENTITY : word & 0xfff};
    if (inst->lds && !(gcn3_rows[inst->op].flags & GCN3_FORMATTED))
        set_plain_format(op, &typed);
    if (inst->lds)
        typed.lds_at = (w->s[GCN3_M0] & 0xffff) + (uint32_t)inst->offset;
    return typed;
}

static void take(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed, uint32_t lane,
                 const unsigned char *bytes)
{
    uint32_t components[GCN3_COMPONENTS] = {0}, selected[GCN3_COMPONENTS];
    if (bytes)
        gcn3_format_read(typed->data, typed->number, bytes, components);
    gcn3_format_select(typed->select, typed->number, components, selected);
    if (op->inst.lds)
        memcpy(lds_word(w, typed, lane), selected, 4);
    else
        gcn3_take_components(w, op, lane, typed->number, selected, op->access.dwords);
}

static void give(const struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed,
                 uint32_t lane, unsigned char *bytes)
{
    uint32_t given[GCN3_COMPONENTS] = {0}, components[GCN3_COMPONENTS] = {0};
    if (op->inst.lds)
        memcpy(given, lds_word(w, typed, lane), 4);
    else
        gcn3_give_components(w, op, lane, typed->number, given, op->access.dwords);
    gcn3_format_place(typed->select, given, components);
    gcn3_format_write(typed->data, typed->number, components, bytes);
}

/* Elements pass over the request's stage. */
static void ask(struct gcn3_wave *w, const struct gcn3_lowered *op, const struct typed *typed,
                const struct gcn3_places *places, uint32_t bytes)
{
    unsigned char *stage = gcn3_ask_stage(w, STAGE_BYTES);
    memcpy(stage, typed, sizeof *typed);
    EACH_LANE (i, places->whole) {
        if (op->access.writes)
            give(w, op, typed, i, stage + stage_at(i));
        gcn3_ask_staged(w, op, places->at[i], stage_at(i), bytes, i);
    }
    w->isa.block->worker->request->of.stage_bytes = op->access.writes ? 0 : STAGE_BYTES;
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
    struct typed typed = typed_of(w, op);
    struct gcn3_places places;
    struct gcn3_lowered sized = *op;
    lane_mask on = gcn3_exec(w);
    sized.access.bytes = (uint8_t)gcn3_format_bytes(typed.data);
    if (!sized.access.bytes)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "a buffer of data format %u, which there is not",
                   typed.data);
    if (op->inst.lds)
        check_lds(w, op, &typed);
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
    if (!(row->flags & GCN3_FORMATTED) && !op->inst.lds)
        return NULL;
    op->access.bytes = 4; /* or more: the format says */
    op->access.writes = strstr(row->text, "store");
    op->access.dwords = (uint8_t)(gcn3_type_bits(op->access.writes ? row->b : row->d) / 32);
    return access;
}
