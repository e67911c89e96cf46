/* VOP3P, gfx9's packed arithmetic: an executor of 16-bit values runs on the lower halves of registers, then
 * on the upper ones. Mixed multiply-adds convert their sources first. Dot products are here. */
#include "gcn3_run/alu.h"
#include "gcn3_run/operand.h"
#include "gcn3_run/parts.h"

#include <string.h>

typedef uint32_t lane_words[GCN3_LANES];

static void read_words(const struct gcn3_wave *w, const struct gcn3_operand *operand, enum gcn3_type type,
                       lane_words to)
{
    if (operand->kind == GCN3_VGPR) {
        memcpy(to, w->v[operand->number], sizeof(lane_words));
        return;
    }
    struct gcn3_operand typed = *operand;
    typed.type = (uint8_t)type; /* of constants */
    uint32_t value = (uint32_t)gcn3_value(w, &typed);
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        to[i] = value;
}

static void write_words(struct gcn3_wave *w, const struct gcn3_operand *to, const lane_words from)
{
    EACH_LANE (i, gcn3_exec(w))
        w->v[to->number][i] = from[i];
}

static void run_executor(const struct gcn3_wave *w, enum gcn3_op op, bool clamp, lane_words sources[3],
                         lane_words d)
{
    struct gcn3_lanes l = {.d = {d},
                           .a = {sources[0]},
                           .b = {sources[1]},
                           .c = {sources[2]},
                           .exec = gcn3_exec(w),
                           .mode = w->mode,
                           .clamp = clamp};
    gcn3_vector_executor(op)(&l);
}

static void clamp_floats(const struct gcn3_wave *w, const struct gcn3_inst *inst, enum gcn3_op op,
                         lane_words d)
{
    struct gcn3_inst other = *inst;
    uint32_t *const words[2] = {d};
    other.op = (uint16_t)op;
    if (inst->clamp && gcn3_type_is_float((enum gcn3_type)gcn3_rows[op].d))
        gcn3_output(&other, w->mode, words);
}

/* ---- two halves ---- */

static const struct {
    uint16_t packed, half; /* enum gcn3_op */
} halves[] = {{GCN3_V_PK_MAD_I16, GCN3_V_MAD_I16},         {GCN3_V_PK_MUL_LO_U16, GCN3_V_MUL_LO_U16},
              {GCN3_V_PK_ADD_I16, GCN3_V_ADD_I16},         {GCN3_V_PK_SUB_I16, GCN3_V_SUB_I16},
              {GCN3_V_PK_LSHLREV_B16, GCN3_V_LSHLREV_B16}, {GCN3_V_PK_LSHRREV_B16, GCN3_V_LSHRREV_B16},
              {GCN3_V_PK_ASHRREV_I16, GCN3_V_ASHRREV_I16}, {GCN3_V_PK_MAX_I16, GCN3_V_MAX_I16},
              {GCN3_V_PK_MIN_I16, GCN3_V_MIN_I16},         {GCN3_V_PK_MAD_U16, GCN3_V_MAD_U16},
              {GCN3_V_PK_ADD_U16, GCN3_V_ADD_U16},         {GCN3_V_PK_SUB_U16, GCN3_V_SUB_U16},
              {GCN3_V_PK_MAX_U16, GCN3_V_MAX_U16},         {GCN3_V_PK_MIN_U16, GCN3_V_MIN_U16},
              {GCN3_V_PK_FMA_F16, GCN3_V_FMA_F16},         {GCN3_V_PK_ADD_F16, GCN3_V_ADD_F16},
              {GCN3_V_PK_MUL_F16, GCN3_V_MUL_F16},         {GCN3_V_PK_MIN_F16, GCN3_V_MIN_F16},
              {GCN3_V_PK_MAX_F16, GCN3_V_MAX_F16}};

static enum gcn3_op half_of(uint32_t op)
{
    for (size_t i = 0; i < COUNT_OF(halves); i++)
        if (halves[i].packed == op)
            return (enum gcn3_op)halves[i].half;
    return GCN3_INVALID;
}

static void run_half(const struct gcn3_wave *w, const struct gcn3_inst *inst, enum gcn3_op op, bool is_upper,
                     lane_words d)
{
    const struct gcn3_operand *const operands[] = {&inst->a, &inst->b, &inst->c};
    uint32_t select = is_upper ? inst->op_sel_hi : inst->op_sel,
             negate = is_upper ? inst->neg_hi : inst->neg_lo;
    lane_words sources[3];
    for (uint32_t k = 0; k < 3; k++) {
        if (operands[k]->kind == GCN3_NOTHING)
            continue;
        uint32_t shift = select >> k & 1 ? 16 : 0, sign = negate >> k & 1 ? 0x8000 : 0;
        read_words(w, operands[k], (enum gcn3_type)gcn3_rows[op].a, sources[k]);
        for (uint32_t i = 0; i < GCN3_LANES; i++)
            sources[k][i] = (sources[k][i] >> shift & 0xffff) ^ sign;
    }
    run_executor(w, op, inst->clamp, sources, d);
    if (gcn3_flushes_extreme(inst, op))
        gcn3_flush(GCN3_TYPE_f16, w->mode, (uint32_t *const[2]){d});
    clamp_floats(w, inst, op, d);
}

static void packed(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    lane_words low, high;
    enum gcn3_op half = half_of(op->inst.op);
    if (gcn3_run_indexed(w, op))
        return;
    run_half(w, &op->inst, half, false, low);
    run_half(w, &op->inst, half, true, high);
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        low[i] = (low[i] & 0xffff) | high[i] << 16;
    write_words(w, &op->inst.d, low);
}

/* ---- sources of f16 or f32 ---- */

static void convert(const struct gcn3_wave *w, enum gcn3_op op, lane_words words)
{
    lane_words sources[3];
    memcpy(sources[0], words, sizeof(lane_words));
    run_executor(w, op, false, sources, words);
}

/* op_sel_hi: it is f16, in the half that op_sel says. */
static void read_mixed(const struct gcn3_wave *w, const struct gcn3_inst *inst, uint32_t k, lane_words to)
{
    const struct gcn3_operand *operand = k == 0 ? &inst->a : k == 1 ? &inst->b : &inst->c;
    bool is_half = inst->op_sel_hi >> k & 1;
    read_words(w, operand, is_half ? GCN3_TYPE_f16 : GCN3_TYPE_f32, to);
    if (is_half) {
        for (uint32_t i = 0; i < GCN3_LANES; i++)
            to[i] = to[i] >> (inst->op_sel >> k & 1 ? 16 : 0) & 0xffff;
        convert(w, GCN3_V_CVT_F32_F16, to);
    }
    uint32_t keep = operand->abs ? INT32_MAX : UINT32_MAX, flip = (uint32_t)operand->neg << 31;
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        to[i] = (to[i] & keep) ^ flip;
}

static void mixed(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    bool fused = inst->op == GCN3_V_FMA_MIX_F32 || inst->op == GCN3_V_FMA_MIXLO_F16 ||
                 inst->op == GCN3_V_FMA_MIXHI_F16;
    bool is_f32 = inst->op == GCN3_V_MAD_MIX_F32 || inst->op == GCN3_V_FMA_MIX_F32;
    bool is_upper = inst->op == GCN3_V_MAD_MIXHI_F16 || inst->op == GCN3_V_FMA_MIXHI_F16;
    lane_words sources[3], d;
    if (gcn3_run_indexed(w, op))
        return;
    for (uint32_t k = 0; k < 3; k++)
        read_mixed(w, inst, k, sources[k]);
    run_executor(w, fused ? GCN3_V_FMA_F32 : GCN3_V_MAD_F32, false, sources, d);
    if (!is_f32)
        convert(w, GCN3_V_CVT_F16_F32, d);
    clamp_floats(w, inst, is_f32 ? GCN3_V_FMA_F32 : GCN3_V_ADD_F16, d);
    for (uint32_t i = 0; i < GCN3_LANES && !is_f32; i++) {
        uint32_t old = w->v[inst->d.number][i];
        d[i] = is_upper ? (old & 0xffff) | d[i] << 16 : (old & 0xffff0000) | (d[i] & 0xffff);
    }
    write_words(w, &inst->d, d);
}

/* ---- dot products of integers ---- */

static const struct dot {
    uint16_t op;
    uint8_t bits;
    bool is_signed;
} dots[] = {{GCN3_V_DOT2_I32_I16, 16, true}, {GCN3_V_DOT2_U32_U16, 16, false},
            {GCN3_V_DOT4_I32_I8, 8, true},   {GCN3_V_DOT4_U32_U8, 8, false},
            {GCN3_V_DOT8_I32_I4, 4, true},   {GCN3_V_DOT8_U32_U4, 4, false}};

static const struct dot *dot_of(uint32_t op)
{
    for (size_t i = 0; i < COUNT_OF(dots); i++)
        if (dots[i].op == op)
            return &dots[i];
    return NULL;
}

static int64_t element(uint32_t word, uint32_t at, const struct dot *dot)
{
    uint32_t top = word << (32 - at - dot->bits);
    return dot->is_signed ? (int32_t)top >> (32 - dot->bits) : (int64_t)(top >> (32 - dot->bits));
}

static uint32_t dot_product(const struct dot *dot, uint32_t a, uint32_t b, uint32_t c, bool clamp)
{
    int64_t sum = dot->is_signed ? (int32_t)c : (int64_t)c;
    for (uint32_t at = 0; at < 32; at += dot->bits)
        sum += element(a, at, dot) * element(b, at, dot);
    int64_t least = dot->is_signed ? INT32_MIN : 0, most = dot->is_signed ? INT32_MAX : UINT32_MAX;
    if (clamp)
        sum = sum < least ? least : sum > most ? most : sum;
    return (uint32_t)sum;
}

static void dot(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    const struct dot *how = dot_of(inst->op);
    lane_words a, b, c;
    if (gcn3_run_indexed(w, op))
        return;
    read_words(w, &inst->a, GCN3_TYPE_b32, a);
    read_words(w, &inst->b, GCN3_TYPE_b32, b);
    read_words(w, &inst->c, GCN3_TYPE_i32, c);
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        a[i] = dot_product(how, a[i], b[i], c[i], inst->clamp);
    write_words(w, &inst->d, a);
}

/* ---- dot products of floats ---- */

/* Halves of a source as f32. */
static void read_halves(const struct gcn3_wave *w, const struct gcn3_inst *inst, uint32_t k, bool is_upper,
                        lane_words to)
{
    uint32_t select = is_upper ? inst->op_sel_hi : inst->op_sel,
             negate = is_upper ? inst->neg_hi : inst->neg_lo;
    uint32_t shift = select >> k & 1 ? 16 : 0, sign = negate >> k & 1 ? 0x8000 : 0;
    read_words(w, k ? &inst->b : &inst->a, GCN3_TYPE_f16, to);
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        to[i] = (to[i] >> shift & 0xffff) ^ sign;
    convert(w, GCN3_V_CVT_F32_F16, to);
}

/* A fused multiply-add for each half, the upper ones first: of such a chain LLVM makes this instruction. */
static void dot_floats(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct gcn3_inst *inst = &op->inst;
    lane_words sources[3], sum;
    if (gcn3_run_indexed(w, op))
        return;
    read_words(w, &inst->c, GCN3_TYPE_f32, sources[2]);
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        sources[2][i] ^= (uint32_t)(inst->neg_lo >> 2 & 1) << 31;
    for (uint32_t half = 2; half--;) {
        read_halves(w, inst, 0, half, sources[0]);
        read_halves(w, inst, 1, half, sources[1]);
        run_executor(w, GCN3_V_FMA_F32, false, sources, sum);
        memcpy(sources[2], sum, sizeof sum);
    }
    clamp_floats(w, inst, GCN3_V_FMA_F32, sum);
    write_words(w, &inst->d, sum);
}

gcn3_run_fn *gcn3_packed(const struct gcn3_inst *inst)
{
    enum gcn3_op half = half_of(inst->op);
    if (half != GCN3_INVALID)
        return gcn3_vector_executor(half) ? packed : NULL;
    if (gcn3_rows[inst->op].flags & GCN3_MIXED)
        return gcn3_vector_executor(GCN3_V_FMA_F32) && gcn3_vector_executor(GCN3_V_CVT_F32_F16) ? mixed
                                                                                                : NULL;
    if (inst->op == GCN3_V_DOT2_F32_F16)
        return dot_floats;
    return dot_of(inst->op) ? dot : NULL;
}
