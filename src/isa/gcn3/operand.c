/* Operands: what the numbers in an instruction's fields stand for. */
#include "gcn3/decode.h"

#include <string.h>

uint32_t gcn3_type_dwords(enum gcn3_type type)
{
    return (gcn3_type_bits(type) + 31) / 32;
}

bool gcn3_vgprs(uint32_t number, uint32_t dwords, struct gcn3_operand *operand)
{
    operand->kind = GCN3_VGPR;
    operand->number = (uint16_t)number;
    operand->dwords = (uint8_t)dwords;
    return number + dwords <= 256;
}

bool gcn3_vgpr(uint32_t number, enum gcn3_type type, struct gcn3_operand *operand)
{
    operand->type = (uint8_t)type;
    return gcn3_vgprs(number, gcn3_type_dwords(type), operand);
}

/* Several registers begin at a multiple of 2 or 4: lower bits of the number are ignored. */
static uint32_t aligned(uint32_t number, uint32_t dwords)
{
    return number & ~(dwords == 1 ? 0u : dwords == 2 ? 1u : 3u);
}

bool gcn3_scalar_register(const struct gcn3_bits *bits, uint32_t number, uint32_t dwords,
                          struct gcn3_operand *operand)
{
    bool gfx9 = gcn3_is_gfx9(bits);
    uint32_t ttmp = gfx9 ? GCN3_TBA : GCN3_TTMP0;
    operand->dwords = (uint8_t)dwords;
    if (number < GCN3_FLAT_SCRATCH) {
        operand->kind = GCN3_SGPR;
        operand->number = (uint16_t)aligned(number, dwords);
        return operand->number + dwords <= GCN3_FLAT_SCRATCH;
    }
    if (number >= ttmp && number < GCN3_M0) {
        operand->kind = GCN3_TTMP;
        operand->number = (uint16_t)aligned(number - ttmp, dwords);
        return ttmp + operand->number + dwords <= GCN3_M0;
    }
    operand->kind = GCN3_SPECIAL;
    operand->number = (uint16_t)number;
    if (number == GCN3_M0)
        return dwords == 1;
    return number != GCN3_M0 + 1 && number < 128 && dwords <= 2 && number % dwords == 0;
}

/* The floats from 240 on; the last is 1/(2*pi). */
static const float inline_floats[] = {0.5f, -0.5f, 1.0f, -1.0f, 2.0f, -2.0f, 4.0f, -4.0f, 0.15915494f};

/* Constants and registers that can only be read. */
static bool constant(const struct gcn3_bits *bits, uint32_t number, struct gcn3_operand *operand)
{
    operand->number = (uint16_t)number;
    if (number >= 128 && number <= 208) {
        operand->kind = GCN3_INTEGER;
        operand->value = number <= 192 ? number - 128 : 192 - number;
        return true;
    }
    if (number >= 240 && number <= 248) {
        operand->kind = GCN3_FLOAT;
        memcpy(&operand->value, &inline_floats[number - 240], 4);
        return true;
    }
    operand->kind = GCN3_SPECIAL;
    if (number >= GCN3_SHARED_BASE && number <= GCN3_POPS_EXITING_WAVE_ID)
        return gcn3_is_gfx9(bits);
    return number >= GCN3_VCCZ && number <= GCN3_SCC;
}

bool gcn3_scalar(const struct gcn3_bits *bits, uint32_t number, enum gcn3_type type, struct gcn3_inst *inst,
                 struct gcn3_operand *operand)
{
    operand->type = (uint8_t)type;
    operand->dwords = (uint8_t)gcn3_type_dwords(type);
    if (number < 128)
        return gcn3_scalar_register(bits, number, operand->dwords, operand);
    if (number != 255)
        return constant(bits, number, operand);
    /* a literal: two sources may share it; long forms have none */
    if (inst->form != GCN3_E32 || inst->format == GCN3_VOP3 || inst->format == GCN3_VOP3P)
        return false;
    operand->kind = GCN3_LITERAL;
    operand->value = bits->word[1];
    inst->literal = bits->word[1];
    inst->bytes = 8;
    return true;
}

bool gcn3_source(const struct gcn3_bits *bits, uint32_t number, enum gcn3_type type, struct gcn3_inst *inst,
                 struct gcn3_operand *operand)
{
    if (number == GCN3_LDS_DIRECT) {
        *operand = (struct gcn3_operand){
            .kind = GCN3_SPECIAL, .type = (uint8_t)type, .dwords = 1, .number = GCN3_LDS_DIRECT};
        return gcn3_type_dwords(type) == 1;
    }
    return number >= 256 ? gcn3_vgpr(number - 256, type, operand)
                         : gcn3_scalar(bits, number, type, inst, operand);
}
