/* Vector arithmetic: sources of executors are prepared, their results go to the lanes that are on. */
#include "gcn3_run/alu.h"
#include "gcn3_run/lane.h"
#include "gcn3_run/operand.h"
#include "gcn3_run/parts.h"
#include "base/bits.h"

#include <string.h>

struct sources {
    uint32_t a[2][GCN3_LANES], b[2][GCN3_LANES], c[2][GCN3_LANES], d[2][GCN3_LANES];
};

static void repeat(uint32_t to[GCN3_LANES], uint32_t value)
{
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        to[i] = value;
}

/* An operand's words: of VGPRs themselves, of scalars in the buffer. */
static void read_source(const struct gcn3_wave *w, const struct gcn3_operand *operand, const uint32_t *to[2],
                        uint32_t buffer[2][GCN3_LANES])
{
    bool is_wide = gcn3_type_bits((enum gcn3_type)operand->type) == 64;
    if (operand->kind == GCN3_VGPR) {
        to[0] = w->v[operand->number];
        to[1] = is_wide ? w->v[operand->number + 1] : NULL;
        return;
    }
    uint64_t value = gcn3_value(w, operand);
    repeat(buffer[0], (uint32_t)value);
    to[0] = buffer[0];
    if (is_wide) {
        repeat(buffer[1], (uint32_t)(value >> 32));
        to[1] = buffer[1];
    }
}

/* ---- abs, neg, parts of registers ---- */

/* The word that has the sign, and its bit. */
static uint32_t sign_of(enum gcn3_type type, uint32_t *word)
{
    *word = type == GCN3_TYPE_f64;
    return type == GCN3_TYPE_f16 ? 0x8000 : 0x80000000;
}

static void sign(const struct gcn3_operand *operand, const uint32_t *source[2],
                 uint32_t buffer[2][GCN3_LANES])
{
    if (!operand->abs && !operand->neg)
        return;
    uint32_t word, bit = sign_of((enum gcn3_type)operand->type, &word);
    uint32_t keep = operand->abs ? ~bit : UINT32_MAX, flip = operand->neg ? bit : 0;
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        buffer[word][i] = (source[word][i] & keep) ^ flip;
    source[word] = buffer[word];
}

static void select_part(const struct gcn3_operand *operand, uint32_t part, const uint32_t *source[2],
                        uint32_t buffer[2][GCN3_LANES])
{
    if (part == GCN3_DWORD)
        return;
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        buffer[0][i] = gcn3_part(source[0][i], part, operand->sext);
    source[0] = buffer[0];
}

/* ---- results ---- */

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && defined(__OPTIMIZE__) &&              \
    !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#define FOR_EACH_LEVEL __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define FOR_EACH_LEVEL
#endif

FOR_EACH_LEVEL static void blend(uint32_t to[GCN3_LANES], const uint32_t from[GCN3_LANES], lane_mask lanes)
{
    if (lanes == UINT64_MAX) {
        memcpy(to, from, GCN3_LANES * sizeof *to);
        return;
    }
    for (uint32_t half = 0; half < GCN3_LANES; half += 32) {
        uint32_t on = (uint32_t)(lanes >> half);
        for (uint32_t i = 0; i < 32; i++) {
            uint32_t all = -(on >> i & 1);
            to[half + i] = (from[half + i] & all) | (to[half + i] & ~all);
        }
    }
}

static void write_results(struct gcn3_wave *w, const struct gcn3_inst *inst, const struct gcn3_lanes *l,
                          lane_mask lanes)
{
    uint32_t words = gcn3_type_bits((enum gcn3_type)inst->d.type) == 64 ? 2 : 1;
    for (uint32_t k = 0; k < words; k++)
        if (l->d[k] != w->v[inst->d.number + k])
            blend(w->v[inst->d.number + k], l->d[k], lanes);
}

static void write_modified(struct gcn3_wave *w, const struct gcn3_inst *inst, struct gcn3_lanes *l,
                           lane_mask lanes)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    if (gcn3_flushes_extreme(inst, inst->op))
        gcn3_flush((enum gcn3_type)row->d, w->mode, l->d);
    if (gcn3_type_is_float((enum gcn3_type)row->d) && (inst->omod || inst->clamp))
        gcn3_output(inst, w->mode, l->d);
    if (inst->form == GCN3_SDWA)
        gcn3_set_parts(inst, l->d[0], w->v[inst->d.number]);
    if (row->flags & GCN3_OP_SEL && inst->op_sel & 8)
        for (uint32_t i = 0; i < GCN3_LANES; i++)
            l->d[0][i] = (w->v[inst->d.number][i] & 0xffff) | l->d[0][i] << 16;
    write_results(w, inst, l, lanes);
}

static void write_mask(struct gcn3_wave *w, const struct gcn3_operand *to, uint64_t mask)
{
    if (to->kind != GCN3_NOTHING)
        gcn3_set_pair(w, to->number, mask);
}

static void set_destination(struct gcn3_wave *w, const struct gcn3_inst *inst, struct gcn3_lanes *l,
                            struct sources *buffers, bool direct)
{
    for (uint32_t k = 0; k < 2; k++)
        l->d[k] = direct ? w->v[inst->d.number + k] : buffers->d[k];
}

static void begin(const struct gcn3_wave *w, const struct gcn3_inst *inst, struct gcn3_lanes *l)
{
    l->exec = gcn3_exec(w);
    l->mode = w->mode;
    l->clamp = inst->clamp;
    l->mask_in = l->mask_out = 0;
}

/* ---- the usual: nothing but operands ---- */

static void read_unmodified(const struct gcn3_wave *w, const struct gcn3_inst *inst, struct gcn3_lanes *l,
                            struct sources *buffers)
{
    read_source(w, &inst->a, l->a, buffers->a);
    if (inst->b.kind != GCN3_NOTHING)
        read_source(w, &inst->b, l->b, buffers->b);
    if (inst->c.kind != GCN3_NOTHING && inst->c.type != GCN3_TYPE_m64)
        read_source(w, &inst->c, l->c, buffers->c);
}

static void plain(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (gcn3_run_indexed(w, op))
        return;
    struct sources buffers;
    struct gcn3_lanes l;
    const struct gcn3_inst *inst = &op->inst;
    begin(w, inst, &l);
    if (!l.exec)
        return;
    read_unmodified(w, inst, &l, &buffers);
    set_destination(w, inst, &l, &buffers, l.exec == UINT64_MAX);
    ((gcn3_vector_fn *)(uintptr_t)op->more)(&l);
    if (l.exec != UINT64_MAX)
        write_results(w, inst, &l, l.exec);
}

/* ---- with modifiers ---- */

/* Sources with all that changes them, in hardware's order: lanes, parts, signs. Gives the lanes that are
 * written. */
static lane_mask prepare(const struct gcn3_wave *w, const struct gcn3_inst *inst, struct gcn3_lanes *l,
                         struct sources *buffers)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    const struct gcn3_operand *sources[] = {&inst->a, &inst->b, &inst->c};
    const uint32_t **words[] = {l->a, l->b, l->c};
    uint32_t(*room[])[GCN3_LANES] = {buffers->a, buffers->b, buffers->c};
    uint32_t parts[] = {inst->a_sel, inst->b_sel, GCN3_DWORD};
    lane_mask lanes = l->exec;
    if (row->format == GCN3_VOP2_K) {
        repeat(buffers->c[0], inst->literal);
        l->c[0] = buffers->c[0];
    }
    for (uint32_t i = 0; i < COUNT_OF(sources); i++) {
        if (sources[i]->kind == GCN3_NOTHING || sources[i]->type == GCN3_TYPE_m64)
            continue;
        read_source(w, sources[i], words[i], room[i]);
        if (i == 0 && inst->form == GCN3_DPP)
            lanes = gcn3_dpp(inst, l->exec, l->a, buffers->a);
        if (inst->form == GCN3_SDWA)
            select_part(sources[i], parts[i], words[i], room[i]);
        if (row->flags & GCN3_OP_SEL && inst->op_sel >> i & 1)
            select_part(sources[i], GCN3_WORD_1, words[i], room[i]);
        sign(sources[i], words[i], room[i]);
    }
    return lanes;
}

/* Comparisons, and what has carries in or out. */
static inline void run_masked(struct gcn3_wave *w, const struct gcn3_lowered *op, bool has_modifiers)
{
    struct sources buffers;
    struct gcn3_lanes l;
    const struct gcn3_inst *inst = &op->inst;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    if (gcn3_run_indexed(w, op))
        return;
    begin(w, inst, &l);
    lane_mask lanes = l.exec;
    if (has_modifiers)
        lanes = prepare(w, inst, &l, &buffers);
    else
        read_unmodified(w, inst, &l, &buffers);
    l.mask_in = row->c == GCN3_TYPE_m64 ? gcn3_value(w, &inst->c) : gcn3_pair(w, GCN3_VCC);
    bool compares = row->d == GCN3_TYPE_m64;
    if (!compares) /* a lane reads all before it writes its word */
        set_destination(w, inst, &l, &buffers,
                        !has_modifiers && lanes == UINT64_MAX && row->d == GCN3_TYPE_u32);
    ((gcn3_vector_fn *)(uintptr_t)op->more)(&l);
    if (compares) {
        write_mask(w, &inst->d, l.mask_out & l.exec);
        if (row->flags & GCN3_EXEC_OUT)
            gcn3_set_pair(w, GCN3_EXEC, l.mask_out & l.exec);
        return;
    }
    if (has_modifiers)
        write_modified(w, inst, &l, lanes);
    else
        write_results(w, inst, &l, lanes);
    if (row->flags & GCN3_CARRY_OUT)
        write_mask(w, &inst->sd, l.mask_out & l.exec);
}

static void masked(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    run_masked(w, op, false);
}

static void masked_modified(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    run_masked(w, op, true);
}

static void full(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct sources buffers;
    struct gcn3_lanes l;
    if (gcn3_run_indexed(w, op))
        return;
    begin(w, &op->inst, &l);
    lane_mask lanes = prepare(w, &op->inst, &l, &buffers);
    set_destination(w, &op->inst, &l, &buffers, false);
    ((gcn3_vector_fn *)(uintptr_t)op->more)(&l);
    write_modified(w, &op->inst, &l, lanes);
}

/* ---- between lanes and scalars ---- */

static void read_lane(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (gcn3_run_indexed(w, op))
        return;
    uint32_t lane = (uint32_t)gcn3_value(w, &op->inst.b) % GCN3_LANES;
    w->s[op->inst.d.number] = w->v[op->inst.a.number][lane];
}

static void read_first_lane(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (gcn3_run_indexed(w, op))
        return;
    lane_mask lanes = gcn3_exec(w);
    bool is_vector = op->inst.a.kind == GCN3_VGPR;
    w->s[op->inst.d.number] = is_vector ? w->v[op->inst.a.number][lanes ? first_lane(lanes) : 0]
                                        : (uint32_t)gcn3_value(w, &op->inst.a);
}

static void write_lane(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (gcn3_run_indexed(w, op))
        return;
    uint32_t lane = (uint32_t)gcn3_value(w, &op->inst.b) % GCN3_LANES;
    w->v[op->inst.d.number][lane] = (uint32_t)gcn3_value(w, &op->inst.a);
}

static void swap(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (gcn3_run_indexed(w, op))
        return;
    uint32_t *a = w->v[op->inst.d.number], *b = w->v[op->inst.a.number];
    EACH_LANE (i, gcn3_exec(w)) {
        uint32_t was = a[i];
        a[i] = b[i];
        b[i] = was;
    }
}

/* Four sums of absolute differences, of bytes that begin one further each. Bytes of b that are 0 do not
 * count. */
static void masked_sads(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct sources buffers;
    const uint32_t *a[2], *b[2];
    uint32_t sums[4][GCN3_LANES];
    if (gcn3_run_indexed(w, op))
        return;
    read_source(w, &op->inst.a, a, buffers.a);
    read_source(w, &op->inst.b, b, buffers.b);
    bool has_vector = op->inst.c.kind == GCN3_VGPR;
    for (uint32_t k = 0; k < 4; k++) {
        const uint32_t *c = has_vector ? w->v[op->inst.c.number + k] : NULL;
        uint32_t constant = has_vector                        ? 0
                            : op->inst.c.kind == GCN3_INTEGER ? (uint32_t)gcn3_value(w, &op->inst.c)
                                                              : w->s[(op->inst.c.number + k) % GCN3_SCALARS];
        for (uint32_t i = 0; i < GCN3_LANES; i++) {
            uint32_t bytes = (uint32_t)((a[0][i] | (uint64_t)a[1][i] << 32) >> 8 * k);
            sums[k][i] = (c ? c[i] : constant) + masked_sad_u8(bytes, b[0][i]);
        }
    }
    for (uint32_t k = 0; k < 4; k++)
        blend(w->v[op->inst.d.number + k], sums[k], gcn3_exec(w));
}

static void nothing(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    (void)w, (void)op;
}

static bool has_modifiers(const struct gcn3_inst *inst)
{
    const struct gcn3_operand *sources[] = {&inst->a, &inst->b, &inst->c};
    bool has = inst->form == GCN3_SDWA || inst->form == GCN3_DPP || inst->omod || inst->op_sel ||
               gcn3_rows[inst->op].format == GCN3_VOP2_K || gcn3_flushes_extreme(inst, inst->op) ||
               (inst->clamp && gcn3_type_is_float((enum gcn3_type)gcn3_rows[inst->op].d));
    for (uint32_t i = 0; i < COUNT_OF(sources); i++)
        has |= sources[i]->abs || sources[i]->neg;
    return has;
}

gcn3_run_fn *gcn3_alu(struct gcn3_lowered *op)
{
    const struct gcn3_row *row = &gcn3_rows[op->inst.op];
    switch ((int)op->inst.op) {
    case GCN3_V_READLANE_B32:
        return read_lane;
    case GCN3_V_READFIRSTLANE_B32:
        return read_first_lane;
    case GCN3_V_WRITELANE_B32:
        return write_lane;
    case GCN3_V_SWAP_B32:
        return swap;
    case GCN3_V_MQSAD_U32_U8:
        return masked_sads;
    case GCN3_V_NOP:
    case GCN3_V_CLREXCP:
        return nothing;
    default:
        break;
    }
    gcn3_run_fn *indexing = gcn3_index(&op->inst);
    if (indexing)
        return indexing;
    if (op->inst.format <= GCN3_SOPP)
        return gcn3_scalar_alu(op);
    if (op->inst.format == GCN3_VOP3P)
        return gcn3_packed(&op->inst);
    op->more = (const void *)(uintptr_t)gcn3_vector_executor((enum gcn3_op)op->inst.op);
    if (!op->more)
        return NULL;
    bool has_masks = row->d == GCN3_TYPE_m64 || row->c == GCN3_TYPE_m64 ||
                     row->flags & (GCN3_CARRY_IN | GCN3_CARRY_OUT | GCN3_VCC_IN);
    if (has_modifiers(&op->inst))
        return has_masks ? masked_modified : full;
    return has_masks ? masked : plain;
}
