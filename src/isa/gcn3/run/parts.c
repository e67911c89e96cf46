#include "gcn3_run/parts.h"
#include "gcn3_run/host.h"
#include "gcn3_run/lane.h"

#include <string.h>

/* ---- SDWA ---- */

void gcn3_set_parts(const struct gcn3_inst *inst, uint32_t result[GCN3_LANES], const uint32_t old[GCN3_LANES])
{
    uint32_t part = inst->dst_sel;
    if (part == GCN3_DWORD)
        return;
    uint32_t bits = part < GCN3_WORD_0 ? 8 : 16,
             shift = part < GCN3_WORD_0 ? 8 * part : 16 * (part - GCN3_WORD_0);
    uint32_t low = (1u << bits) - 1, mask = low << shift;
    for (uint32_t i = 0; i < GCN3_LANES; i++) {
        uint32_t value = (result[i] & low) << shift, rest = 0;
        if (inst->dst_unused == GCN3_UNUSED_PRESERVE)
            rest = old[i] & ~mask;
        else if (inst->dst_unused == GCN3_UNUSED_SEXT && result[i] >> (bits - 1) & 1)
            rest = ~(mask | (mask - 1)); /* above the part */
        result[i] = value | rest;
    }
}

/* ---- DPP ---- */

enum { OUTSIDE = -1 };

/* The lane that a lane reads. */
static int source_lane(uint32_t control, int lane)
{
    int row = lane & ~15, in_row = lane & 15, by = (int)(control & 15);
    if (control < 0x100)
        return (lane & ~3) | (int)(control >> 2 * (lane & 3) & 3);
    switch (control & 0x1f0) {
    case 0x100: /* row_shl */
        return in_row + by < 16 ? lane + by : OUTSIDE;
    case 0x110: /* row_shr */
        return in_row >= by ? lane - by : OUTSIDE;
    case 0x120: /* row_ror */
        return row | ((in_row - by) & 15);
    default:
        break;
    }
    switch (control) {
    case 0x130: /* wave_shl */
        return lane < 63 ? lane + 1 : OUTSIDE;
    case 0x134: /* wave_rol */
        return (lane + 1) & 63;
    case 0x138: /* wave_shr */
        return lane ? lane - 1 : OUTSIDE;
    case 0x13c: /* wave_ror */
        return (lane - 1) & 63;
    case 0x140: /* row_mirror */
        return row | (15 - in_row);
    case 0x141: /* row_half_mirror */
        return (lane & ~7) | (7 - (lane & 7));
    case 0x142: /* row_bcast:15 */
        return lane < 16 ? OUTSIDE : row - 1;
    case 0x143: /* row_bcast:31 */
        return lane < 32 ? OUTSIDE : 31;
    default:
        return lane;
    }
}

lane_mask gcn3_dpp(const struct gcn3_inst *inst, lane_mask exec, const uint32_t *source[2],
                   uint32_t buffer[2][GCN3_LANES])
{
    uint32_t got[GCN3_LANES];
    lane_mask written = 0;
    for (int i = 0; i < GCN3_LANES; i++) {
        int from = source_lane(inst->dpp_ctrl, i);
        bool is_valid = from != OUTSIDE && exec >> from & 1;
        bool is_chosen = inst->row_mask >> i / 16 & 1 && inst->bank_mask >> i % 16 / 4 & 1;
        got[i] = is_valid ? source[0][from] : 0;
        written |= (lane_mask)(is_chosen && (is_valid || inst->bound_ctrl)) << i;
    }
    memcpy(buffer[0], got, sizeof got);
    source[0] = buffer[0];
    return written & exec;
}

/* ---- denormals ---- */

static uint32_t denormal_mode(enum gcn3_type type, uint32_t mode)
{
    return (type == GCN3_TYPE_f32 ? mode >> 4 : mode >> 6) & 3;
}

static void flush_all(enum gcn3_type type, uint32_t *const d[2])
{
    uint32_t *words = d[type == GCN3_TYPE_f64];
    uint32_t exponent = type == GCN3_TYPE_f64 ? 0x7ff00000 : type == GCN3_TYPE_f32 ? 0x7f800000 : 0x7c00;
    uint32_t sign = type == GCN3_TYPE_f16 ? 0x8000 : 0x80000000;
    for (uint32_t i = 0; i < GCN3_LANES; i++) {
        bool is_tiny = !(words[i] & exponent);
        words[i] = is_tiny ? words[i] & sign : words[i];
        if (type == GCN3_TYPE_f64)
            d[0][i] = is_tiny ? 0 : d[0][i];
    }
}

void gcn3_flush(enum gcn3_type type, uint32_t mode, uint32_t *const d[2])
{
    if (denormal_mode(type, mode) != 3)
        flush_all(type, d);
}

bool gcn3_flushes_extreme(const struct gcn3_inst *inst, uint32_t op)
{
    if (inst->target == GCN3_GFX803)
        return false;
    switch ((int)op) {
    case GCN3_V_MIN_F16:
    case GCN3_V_MAX_F16:
    case GCN3_V_MIN3_F16:
    case GCN3_V_MAX3_F16:
    case GCN3_V_MED3_F16:
    case GCN3_V_MIN_F32:
    case GCN3_V_MAX_F32:
    case GCN3_V_MIN3_F32:
    case GCN3_V_MAX3_F32:
    case GCN3_V_MED3_F32:
    case GCN3_V_MIN_F64:
    case GCN3_V_MAX_F64:
        return true;
    default:
        return false;
    }
}

/* ---- omod and clamp ---- */

static const double factors[] = {1, 2, 4, 0.5};

static double clamped(double value, bool dx10)
{
    if (value != value)
        return dx10 ? 0 : value;
    return value < 0 ? 0 : value > 1 ? 1 : value != 0 ? value : 0;
}

static double number_of(enum gcn3_type type, uint64_t bits)
{
    return type == GCN3_TYPE_f64   ? f64_bits(bits)
           : type == GCN3_TYPE_f32 ? (double)f32_bits((uint32_t)bits)
                                   : (double)f32_f16((uint16_t)bits);
}

static uint64_t bits_of(enum gcn3_type type, double value, uint32_t rounding)
{
    return type == GCN3_TYPE_f64   ? bits_f64(value)
           : type == GCN3_TYPE_f32 ? bits_f32((float)value)
           : rounding              ? gcn3_f16_rounded((float)value, (uint8_t)rounding)
                                   : f16_f32((float)value);
}

/* omod is ignored where denormals of results are kept, or MODE.ieee is set; else -0 becomes +0, and what is
 * too small is flushed. */
void gcn3_output(const struct gcn3_inst *inst, uint32_t mode, uint32_t *const d[2])
{
    enum gcn3_type type = (enum gcn3_type)gcn3_rows[inst->op].d;
    bool ieee = mode >> 9 & 1, dx10 = mode >> 8 & 1, keeps = denormal_mode(type, mode) & 2;
    bool scales = inst->omod && !ieee && !keeps;
    uint32_t rounding = gcn3_rounding(mode, type);
    gcn3_host_set(gcn3_host_word(rounding, false, false));
    for (uint32_t i = 0; i < GCN3_LANES; i++) {
        uint64_t bits = type == GCN3_TYPE_f64 ? d[0][i] | (uint64_t)d[1][i] << 32 : d[0][i];
        double value = number_of(type, bits);
        if (scales)
            value = value != 0 ? value * factors[inst->omod] : 0;
        if (inst->clamp)
            value = clamped(value, dx10);
        bits = bits_of(type, value, rounding);
        d[0][i] = (uint32_t)bits;
        if (type == GCN3_TYPE_f64)
            d[1][i] = (uint32_t)(bits >> 32);
    }
    gcn3_host_set(GCN3_HOST_USUAL);
    if (scales)
        flush_all(type, d);
}
