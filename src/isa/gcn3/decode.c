/* Finds an instruction's format by its first bits, and decodes those of scalar formats. */
#include "gcn3/decode.h"

#include <string.h>

bool gcn3_begin(const struct gcn3_bits *bits, enum gcn3_format format, uint32_t opcode, uint32_t bytes,
                struct gcn3_inst *inst)
{
    inst->op = (uint16_t)gcn3_find(bits->target, format, opcode);
    inst->target = (uint8_t)bits->target;
    inst->format = (uint8_t)format;
    inst->bytes = (uint8_t)bytes;
    return inst->op != GCN3_INVALID;
}

static bool decode_sop2(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_SOP2, gcn3_field(bits, 23, 29), 4, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    return (row->d == GCN3_TYPE_nil || gcn3_scalar(bits, gcn3_field(bits, 16, 22), row->d, inst, &inst->d)) &&
           gcn3_scalar(bits, gcn3_field(bits, 0, 7), row->a, inst, &inst->a) &&
           gcn3_scalar(bits, gcn3_field(bits, 8, 15), row->b, inst, &inst->b);
}

/* The 7-bit register is written, or read where the instruction writes none. */
static bool decode_sopk(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_SOPK, gcn3_field(bits, 23, 27), 4, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->immediate = (uint16_t)gcn3_field(bits, 0, 15);
    if (inst->op == GCN3_S_SETREG_IMM32_B32) {
        inst->literal = bits->word[1];
        inst->bytes = 8;
        return true;
    }
    bool writes = row->d != GCN3_TYPE_nil;
    return gcn3_scalar(bits, gcn3_field(bits, 16, 22), writes ? row->d : row->a, inst,
                       writes ? &inst->d : &inst->a);
}

static bool decode_sop1(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_SOP1, gcn3_field(bits, 8, 15), 4, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    return (row->d == GCN3_TYPE_nil || gcn3_scalar(bits, gcn3_field(bits, 16, 22), row->d, inst, &inst->d)) &&
           (row->a == GCN3_TYPE_nil || gcn3_scalar(bits, gcn3_field(bits, 0, 7), row->a, inst, &inst->a)) &&
           !(row->flags & GCN3_REGISTER_A && inst->a.kind >= GCN3_INTEGER);
}

static bool decode_sopc(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_SOPC, gcn3_field(bits, 16, 22), 4, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->immediate = (uint16_t)gcn3_field(bits, 8, 15);
    return gcn3_scalar(bits, gcn3_field(bits, 0, 7), row->a, inst, &inst->a) &&
           (row->b == GCN3_TYPE_nil || gcn3_scalar(bits, gcn3_field(bits, 8, 15), row->b, inst, &inst->b));
}

static bool decode_sopp(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_SOPP, gcn3_field(bits, 16, 22), 4, inst))
        return false;
    inst->immediate = (uint16_t)gcn3_field(bits, 0, 15);
    return !(gcn3_rows[inst->op].flags & GCN3_NO_IMMEDIATE) || !inst->immediate;
}

bool gcn3_decode_scalar(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    switch (gcn3_field(bits, 23, 31)) {
    case 0x17d:
        return decode_sop1(bits, inst);
    case 0x17e:
        return decode_sopc(bits, inst);
    case 0x17f:
        return decode_sopp(bits, inst);
    default:
        return gcn3_field(bits, 28, 31) == 0xb ? decode_sopk(bits, inst) : decode_sop2(bits, inst);
    }
}

static bool decode_by_format(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_field(bits, 31, 31))
        return gcn3_decode_short(bits, inst);
    if (gcn3_field(bits, 30, 31) == 2)
        return gcn3_decode_scalar(bits, inst);
    switch (gcn3_field(bits, 26, 31)) {
    case 0x30:
        return gcn3_decode_smem(bits, inst);
    case 0x31:
        return gcn3_decode_exp(bits, inst);
    case 0x34:
        return gcn3_field(bits, 23, 31) == 0x1a7 ? gcn3_decode_vop3p(bits, inst)
                                                 : gcn3_decode_vop3(bits, inst);
    case 0x35:
        return gcn3_decode_vintrp(bits, inst);
    case 0x36:
        return gcn3_decode_ds(bits, inst);
    case 0x37:
        return gcn3_decode_flat(bits, inst);
    case 0x38:
    case 0x3a:
        return gcn3_decode_buffer(bits, inst);
    case 0x3c:
        return gcn3_decode_mimg(bits, inst);
    default:
        return false;
    }
}

bool gcn3_decode(enum gcn3_target target, const void *at, size_t left, struct gcn3_inst *inst)
{
    struct gcn3_bits bits = {.target = target, .words = left < 12 ? (uint32_t)left / 4 : 3};
    if (!bits.words)
        return false;
    memcpy(bits.word, at, 4 * bits.words);
    memset(inst, 0, sizeof *inst);
    return decode_by_format(&bits, inst) && inst->bytes <= 4 * bits.words;
}

bool gcn3_branch(const struct gcn3_inst *inst, uint64_t pc, uint64_t *to)
{
    bool direct =
        inst->format == GCN3_SOPP
            ? inst->op == GCN3_S_BRANCH ||
                  (inst->op >= GCN3_S_CBRANCH_SCC0 && inst->op <= GCN3_S_CBRANCH_EXECNZ) ||
                  (inst->op >= GCN3_S_CBRANCH_CDBGSYS && inst->op <= GCN3_S_CBRANCH_CDBGSYS_AND_USER)
            : inst->op == GCN3_S_CALL_B64 || inst->op == GCN3_S_CBRANCH_I_FORK;
    if (direct)
        *to = pc + 4 + (uint64_t)((int64_t)(int16_t)inst->immediate * 4);
    return direct;
}
