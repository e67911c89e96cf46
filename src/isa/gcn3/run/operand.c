/* Values of scalar operands: registers, constants, literals. */
#include "gcn3_run/operand.h"
#include "exec/number.h"

static uint64_t special(const struct gcn3_wave *w, uint32_t number)
{
    switch (number) {
    case GCN3_VCCZ:
        return !gcn3_pair(w, GCN3_VCC);
    case GCN3_EXECZ:
        return !gcn3_exec(w);
    case GCN3_SCC:
        return w->scc;
    case GCN3_SHARED_BASE:
        return WINDOW_SHARED;
    case GCN3_SHARED_LIMIT:
        return WINDOW_SHARED | UINT32_MAX;
    case GCN3_PRIVATE_BASE:
        return WINDOW_LOCAL;
    case GCN3_PRIVATE_LIMIT:
        return WINDOW_LOCAL | UINT32_MAX;
    default:
        return number < GCN3_SCALARS ? gcn3_pair(w, number) : 0;
    }
}

#define ONE_BY_TWO_PI_F32 UINT32_C(0x3e22f983)
#define ONE_BY_TWO_PI_F64 UINT64_C(0x3fc45f306dc9c882) /* the only one that has more bits than f32 */

/* An inline constant in the type of the operand. */
static uint64_t float_constant(uint32_t bits, enum gcn3_type type)
{
    float single = f32_bits(bits);
    if (type == GCN3_TYPE_f64)
        return bits == ONE_BY_TWO_PI_F32 ? ONE_BY_TWO_PI_F64 : bits_f64((double)single);
    return type == GCN3_TYPE_f16 ? f16_f32(single) : bits;
}

uint64_t gcn3_value(const struct gcn3_wave *w, const struct gcn3_operand *operand)
{
    enum gcn3_type type = (enum gcn3_type)operand->type;
    switch ((enum gcn3_kind)operand->kind) {
    case GCN3_SGPR:
    case GCN3_TTMP:
        return gcn3_pair(w, operand->number);
    case GCN3_SPECIAL:
        return special(w, operand->number);
    case GCN3_INTEGER:
        return (uint64_t)(int64_t)(int32_t)operand->value;
    case GCN3_FLOAT:
        return float_constant(operand->value, type);
    case GCN3_LITERAL:
        return type == GCN3_TYPE_f64 ? (uint64_t)operand->value << 32 : operand->value;
    default:
        return 0;
    }
}
