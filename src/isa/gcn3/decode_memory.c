/* Memory: SMEM, DS, FLAT, MUBUF, MTBUF, MIMG; and exports. */
#include "gcn3/decode.h"

static bool has(const struct gcn3_inst *inst, enum gcn3_flag flag)
{
    return gcn3_rows[inst->op].flags & (uint32_t)flag;
}

/* A field that the row does not use must be 0, if `strict`. */
static bool vgpr_field(uint32_t number, enum gcn3_type type, bool strict, struct gcn3_operand *operand)
{
    return type == GCN3_TYPE_nil ? !strict || !number : gcn3_vgpr(number, type, operand);
}

/* What SMEM reads or writes: neither M0 nor EXEC. */
static bool smem_data(const struct gcn3_bits *bits, uint32_t number, enum gcn3_type type,
                      struct gcn3_operand *operand)
{
    operand->type = (uint8_t)type;
    return type == GCN3_TYPE_nil ||
           (number < GCN3_M0 && gcn3_scalar_register(bits, number, gcn3_type_dwords(type), operand));
}

/* ---- SMEM ---------------------------------------------------------------------------------------------- */

static bool decode_smem_offset(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    bool imm = gcn3_field(bits, 17, 17);
    if (!gcn3_is_gfx9(bits)) {
        if (imm) {
            inst->offset = (int32_t)gcn3_field(bits, 32, 51);
            inst->has_offset = true;
            return true;
        }
        return gcn3_scalar_register(bits, gcn3_field(bits, 32, 38), 1, &inst->saddr);
    }
    bool soe = gcn3_field(bits, 14, 14);
    if (imm) {
        inst->offset = (int32_t)(gcn3_field(bits, 32, 52) << 11) >> 11;
        inst->has_offset = true;
    }
    if (soe)
        return gcn3_scalar_register(bits, gcn3_field(bits, 57, 63), 1, &inst->saddr);
    return imm || gcn3_scalar_register(bits, gcn3_field(bits, 32, 38), 1, &inst->saddr);
}

bool gcn3_decode_smem(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_SMEM, gcn3_field(bits, 18, 25), 8, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t data = gcn3_field(bits, 6, 12);
    inst->glc = gcn3_field(bits, 16, 16);
    inst->nv = gcn3_is_gfx9(bits) && gcn3_field(bits, 15, 15);
    inst->immediate = (uint16_t)data; /* of s_atc_probe */
    bool returns = !has(inst, GCN3_ATOMIC) || inst->glc;
    if ((returns && !smem_data(bits, data, row->d, &inst->d)) || !smem_data(bits, data, row->b, &inst->b))
        return false;
    if (row->a == GCN3_TYPE_nil)
        return !gcn3_field(bits, 17, 17);
    inst->a.type = row->a;
    return gcn3_scalar_register(bits, 2 * gcn3_field(bits, 0, 5), gcn3_type_dwords(row->a), &inst->a) &&
           decode_smem_offset(bits, inst);
}

/* ---- DS ------------------------------------------------------------------------------------------------ */

bool gcn3_decode_ds(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_DS, gcn3_field(bits, 17, 24), 8, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    if (inst->op == GCN3_DS_NOP)
        return !gcn3_field(bits, 0, 16) && !bits->word[1];
    inst->gds = gcn3_field(bits, 16, 16);
    inst->offset = (int32_t)gcn3_field(bits, 0, has(inst, GCN3_TWO_OFFSETS) ? 7 : 15);
    inst->offset1 = has(inst, GCN3_TWO_OFFSETS) ? (uint8_t)gcn3_field(bits, 8, 15) : 0;
    return vgpr_field(gcn3_field(bits, 56, 63), row->d, true, &inst->d) &&
           vgpr_field(gcn3_field(bits, 32, 39), row->a, true, &inst->a) &&
           vgpr_field(gcn3_field(bits, 40, 47), row->b, true, &inst->b) &&
           vgpr_field(gcn3_field(bits, 48, 55), row->c, true, &inst->c) &&
           (inst->gds || !has(inst, GCN3_GDS_ONLY)) && !(inst->gds && has(inst, GCN3_NO_GDS));
}

/* ---- FLAT, GLOBAL, SCRATCH ----------------------------------------------------------------------------- */

static bool decode_segment(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    static const uint8_t formats[] = {GCN3_FLAT, GCN3_SCRATCH, GCN3_GLOBAL};
    uint32_t segment = gcn3_is_gfx9(bits) ? gcn3_field(bits, 14, 15) : 0;
    return segment < 3 && gcn3_begin(bits, formats[segment], gcn3_field(bits, 18, 24), 8, inst);
}

/* The address is in VGPRs; on gfx9 a pair of SGPRs may be its base, or an SGPR replace it for scratch. */
static bool decode_flat_address(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    enum { OFF = 0x7f };
    uint32_t address = gcn3_field(bits, 32, 39), saddr = gcn3_field(bits, 48, 54);
    if (inst->format == GCN3_FLAT && saddr)
        return false;
    if (inst->format == GCN3_FLAT || saddr == OFF)
        return gcn3_vgpr(address, gcn3_rows[inst->op].a, &inst->a);
    if (inst->format == GCN3_GLOBAL)
        return gcn3_vgpr(address, GCN3_TYPE_u32, &inst->a) &&
               gcn3_scalar_register(bits, saddr, 2, &inst->saddr);
    return gcn3_scalar_register(bits, saddr, 1, &inst->saddr);
}

bool gcn3_decode_flat(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!decode_segment(bits, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->glc = gcn3_field(bits, 16, 16);
    inst->slc = gcn3_field(bits, 17, 17);
    if (gcn3_is_gfx9(bits)) {
        inst->nv = gcn3_field(bits, 55, 55);
        inst->lds = gcn3_field(bits, 13, 13);
        inst->offset = inst->format == GCN3_FLAT ? (int32_t)gcn3_field(bits, 0, 12)
                                                 : (int32_t)(gcn3_field(bits, 0, 12) << 19) >> 19;
        if (inst->lds && (inst->nv || !has(inst, GCN3_MAY_LDS)))
            return false;
    } else {
        inst->tfe = gcn3_field(bits, 55, 55);
        if (gcn3_field(bits, 0, 15))
            return false;
    }
    bool returns = has(inst, GCN3_ATOMIC) ? inst->glc : row->d != GCN3_TYPE_nil && !inst->lds;
    return decode_flat_address(bits, inst) && vgpr_field(gcn3_field(bits, 40, 47), row->b, false, &inst->b) &&
           (!returns || gcn3_vgpr(gcn3_field(bits, 56, 63), row->d, &inst->d));
}

/* ---- MUBUF, MTBUF -------------------------------------------------------------------------------------- */

static uint32_t data_dwords(const struct gcn3_bits *bits, const struct gcn3_inst *inst, enum gcn3_type type)
{
    uint32_t dwords = gcn3_type_dwords(type);
    if (has(inst, GCN3_D16) && gcn3_is_gfx9(bits)) /* packed in pairs */
        dwords = (dwords + 1) / 2;
    return dwords + inst->tfe;
}

static bool decode_buffer_address(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t dwords = inst->offen + inst->idxen;
    inst->offset = (int32_t)gcn3_field(bits, 0, 11);
    inst->resource.type = GCN3_TYPE_b128;
    if (row->a != GCN3_TYPE_nil && dwords && !gcn3_vgprs(gcn3_field(bits, 32, 39), dwords, &inst->a))
        return false;
    return gcn3_scalar_register(bits, 4 * gcn3_field(bits, 48, 52), 4, &inst->resource) &&
           gcn3_scalar(bits, gcn3_field(bits, 56, 63), GCN3_TYPE_u32, inst, &inst->saddr);
}

bool gcn3_decode_buffer(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    bool typed = gcn3_field(bits, 26, 31) == 0x3a;
    if (!gcn3_begin(bits, typed ? GCN3_MTBUF : GCN3_MUBUF,
                    typed ? gcn3_field(bits, 15, 18) : gcn3_field(bits, 18, 24), 8, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->form = GCN3_E64; /* no literals */
    inst->offen = gcn3_field(bits, 12, 12);
    inst->idxen = gcn3_field(bits, 13, 13);
    inst->glc = gcn3_field(bits, 14, 14);
    inst->tfe = gcn3_field(bits, 55, 55);
    inst->slc = typed ? gcn3_field(bits, 54, 54) : gcn3_field(bits, 17, 17);
    inst->lds = !typed && gcn3_field(bits, 16, 16);
    inst->dfmt = typed ? (uint8_t)gcn3_field(bits, 19, 22) : 0;
    inst->nfmt = typed ? (uint8_t)gcn3_field(bits, 23, 25) : 0;
    bool from_lds = inst->op == GCN3_BUFFER_STORE_LDS_DWORD;
    if (inst->lds != from_lds && !(inst->lds && has(inst, GCN3_MAY_LDS)))
        return false;
    if (row->d == GCN3_TYPE_nil && row->b == GCN3_TYPE_nil && !inst->lds) /* buffer_wbinvl1 */
        return !inst->offen && !inst->idxen && !inst->glc && !inst->tfe && !gcn3_field(bits, 15, 15);
    if (from_lds && (inst->offen || inst->idxen))
        return false;
    if (inst->tfe && (typed || inst->lds || has(inst, GCN3_ATOMIC)))
        return false;
    uint32_t data = gcn3_field(bits, 40, 47);
    if (row->b != GCN3_TYPE_nil && !gcn3_vgprs(data, data_dwords(bits, inst, row->b), &inst->b))
        return false;
    bool returns = has(inst, GCN3_ATOMIC) ? inst->glc : row->d != GCN3_TYPE_nil && !inst->lds;
    if (returns && !gcn3_vgprs(data, data_dwords(bits, inst, row->d), &inst->d))
        return false;
    return decode_buffer_address(bits, inst);
}

/* ---- MIMG ---------------------------------------------------------------------------------------------- */

static uint32_t image_dwords(const struct gcn3_bits *bits, const struct gcn3_inst *inst)
{
    uint32_t count = (uint32_t)__builtin_popcount(inst->dmask);
    if (has(inst, GCN3_GATHER))
        count = 4;
    else if (!count)
        count = 1;
    if (inst->d16 && gcn3_is_gfx9(bits))
        count = (count + 1) / 2;
    return count + inst->tfe;
}

/* An atomic's data: one or two dwords, twice as many for a comparison. */
static bool is_atomic_mask(const struct gcn3_inst *inst)
{
    uint32_t dmask = inst->dmask;
    return inst->op == GCN3_IMAGE_ATOMIC_CMPSWAP ? dmask == 3 || dmask == 15 : dmask == 1 || dmask == 3;
}

bool gcn3_decode_mimg(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_MIMG, gcn3_field(bits, 18, 24), 8, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->dmask = (uint8_t)gcn3_field(bits, 8, 11);
    inst->unorm = gcn3_field(bits, 12, 12);
    inst->glc = gcn3_field(bits, 13, 13);
    inst->da = gcn3_field(bits, 14, 14);
    inst->r128 = gcn3_field(bits, 15, 15);
    inst->tfe = gcn3_field(bits, 16, 16);
    inst->lwe = gcn3_field(bits, 17, 17);
    inst->slc = gcn3_field(bits, 25, 25);
    inst->d16 = gcn3_field(bits, 63, 63);
    if (gcn3_field(bits, 0, 0) || (inst->d16 && !has(inst, GCN3_MAY_D16)))
        return false;
    if (has(inst, GCN3_ATOMIC) && !is_atomic_mask(inst))
        return false;
    uint32_t data = gcn3_field(bits, 40, 47), samp = gcn3_field(bits, 53, 57);
    if (row->d != GCN3_TYPE_nil && !gcn3_vgprs(data, image_dwords(bits, inst), &inst->d))
        return false;
    if (row->b != GCN3_TYPE_nil && !gcn3_vgprs(data, image_dwords(bits, inst), &inst->b))
        return false;
    inst->resource.type = GCN3_TYPE_b256;
    if (!gcn3_vgprs(gcn3_field(bits, 32, 39), row->addresses, &inst->a) ||
        !gcn3_scalar_register(bits, 4 * gcn3_field(bits, 48, 52), 8, &inst->resource))
        return false;
    inst->sampler.type = GCN3_TYPE_b128;
    return has(inst, GCN3_SAMPLER) ? gcn3_scalar_register(bits, 4 * samp, 4, &inst->sampler) : samp == 0;
}

bool gcn3_decode_exp(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_EXP, 0, 8, inst))
        return false;
    inst->exp_enable = (uint8_t)gcn3_field(bits, 0, 3);
    inst->exp_target = (uint8_t)gcn3_field(bits, 4, 9);
    inst->compr = gcn3_field(bits, 10, 10);
    inst->done = gcn3_field(bits, 11, 11);
    inst->vm = gcn3_field(bits, 12, 12);
    for (int i = 0; i < 4; i++)
        gcn3_vgpr(gcn3_field(bits, 32 + 8 * i, 39 + 8 * i), GCN3_TYPE_b32, &inst->exp[i]);
    return true;
}
