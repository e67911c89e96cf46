/* Vector arithmetic: VOP1, VOP2 and VOPC with their SDWA and DPP forms, VOP3, VOP3P and interpolation. */
#include "gcn3/decode.h"

enum { SRC_SDWA = 249, SRC_DPP = 250 };

static struct gcn3_operand vcc(void)
{
    return (struct gcn3_operand){
        .kind = GCN3_SPECIAL, .type = GCN3_TYPE_m64, .dwords = 2, .number = GCN3_VCC};
}

/* ---- SDWA and DPP -------------------------------------------------------------------------------------- */

static bool is_wide(enum gcn3_type type)
{
    return gcn3_type_bits(type) > 32 && type != GCN3_TYPE_m64;
}

/* Whether these forms exist: they select parts of one register. */
static bool has_parts(const struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    return row->a != GCN3_TYPE_nil && row->format != GCN3_VOP1_E32 && row->format != GCN3_VOP2_K &&
           !(row->flags & GCN3_WHOLE) && !is_wide(row->d) && !is_wide(row->a) && !is_wide(row->b);
}

static bool takes_signs(const struct gcn3_row *row, enum gcn3_type type)
{
    return gcn3_type_is_float(type) || row->flags & GCN3_FMODS;
}

/* An integer beside a float, such as ldexp's exponent: LLVM ignores abs, and shows neg as an extension. */
static bool is_exponent(const struct gcn3_row *row, enum gcn3_type type)
{
    return gcn3_type_is_float(row->a) && row->format != GCN3_VOPC && type != GCN3_TYPE_nil &&
           !takes_signs(row, type);
}

static void set_signs(const struct gcn3_row *row, bool abs, bool neg, struct gcn3_operand *operand)
{
    bool exponent = is_exponent(row, operand->type);
    operand->abs = abs && !exponent;
    operand->neg = neg && !exponent;
    operand->sext = neg && exponent;
}

/* Floats take a sign, integers an extension of theirs. */
static bool signs_fit(const struct gcn3_inst *inst, const struct gcn3_operand *operand)
{
    bool is_float = takes_signs(&gcn3_rows[inst->op], operand->type);
    return !(operand->sext && is_float) && !((operand->abs || operand->neg) && !is_float);
}

/* A source of SDWA: eight bits of selection and signs. gfx9 allows scalars. */
static bool decode_sdwa_source(const struct gcn3_bits *bits, uint32_t number, uint32_t control,
                               enum gcn3_type type, struct gcn3_inst *inst, struct gcn3_operand *operand,
                               uint8_t *select)
{
    bool scalar = control & 0x80 && gcn3_is_gfx9(bits);
    *select = control & 7;
    if (*select > GCN3_DWORD || !gcn3_source(bits, scalar ? number : number + 256, type, inst, operand))
        return false;
    operand->sext = control >> 3 & 1;
    operand->neg = control >> 4 & 1;
    operand->abs = control >> 5 & 1;
    return signs_fit(inst, operand);
}

static bool decode_sdwa_destination(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    bool gfx9 = gcn3_is_gfx9(bits);
    if (inst->format == GCN3_VOPC && gfx9) { /* may have another destination than VCC */
        inst->dst_sel = GCN3_DWORD;
        inst->d = vcc();
        return !gcn3_field(bits, 47, 47) || gcn3_scalar_register(bits, gcn3_field(bits, 40, 46), 2, &inst->d);
    }
    inst->dst_sel = (uint8_t)gcn3_field(bits, 40, 42);
    inst->dst_unused = (uint8_t)gcn3_field(bits, 43, 44);
    inst->clamp = gcn3_field(bits, 45, 45);
    if (gfx9)
        inst->omod = (uint8_t)gcn3_field(bits, 46, 47);
    bool omod = gcn3_type_is_float(gcn3_rows[inst->op].d);
    return inst->format == GCN3_VOPC ||
           (inst->dst_sel <= GCN3_DWORD && inst->dst_unused <= GCN3_UNUSED_PRESERVE && (omod || !inst->omod));
}

static bool decode_sdwa(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->form = GCN3_SDWA;
    inst->bytes = 8;
    if (row->flags & GCN3_ACCUMULATES && gcn3_is_gfx9(bits))
        return false;
    if (!has_parts(inst) || !decode_sdwa_destination(bits, inst) ||
        !decode_sdwa_source(bits, gcn3_field(bits, 32, 39), gcn3_field(bits, 48, 55), row->a, inst, &inst->a,
                            &inst->a_sel))
        return false;
    uint32_t control = gcn3_field(bits, 56, 63);
    return inst->format == GCN3_VOP1 ? !(control & (gcn3_is_gfx9(bits) ? 0xbf : 0x3f))
                                     : decode_sdwa_source(bits, gcn3_field(bits, 9, 16), control, row->b,
                                                          inst, &inst->b, &inst->b_sel);
}

static bool is_dpp_control(uint32_t control)
{
    if (control < 0x130)
        return control < 0x100 || control & 15;
    return control < 0x140 ? control % 4 == 0 : control < 0x144;
}

static bool decode_dpp(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->form = GCN3_DPP;
    inst->bytes = 8;
    inst->dpp_ctrl = (uint16_t)gcn3_field(bits, 40, 48);
    inst->bound_ctrl = gcn3_field(bits, 51, 51);
    inst->bank_mask = (uint8_t)gcn3_field(bits, 56, 59);
    inst->row_mask = (uint8_t)gcn3_field(bits, 60, 63);
    if (!has_parts(inst) || inst->format == GCN3_VOPC || !is_dpp_control(inst->dpp_ctrl) ||
        !gcn3_vgpr(gcn3_field(bits, 32, 39), row->a, &inst->a))
        return false;
    inst->a.neg = gcn3_field(bits, 52, 52);
    inst->a.abs = gcn3_field(bits, 53, 53);
    uint32_t signs = gcn3_field(bits, 54, 55);
    if (inst->format == GCN3_VOP1)
        return !signs && signs_fit(inst, &inst->a);
    if (!gcn3_vgpr(gcn3_field(bits, 9, 16), row->b, &inst->b))
        return false;
    set_signs(row, signs >> 1, signs & 1, &inst->b);
    return signs_fit(inst, &inst->a) && signs_fit(inst, &inst->b);
}

/* ---- the short forms ----------------------------------------------------------------------------------- */

/* The first source, which may say that SDWA or DPP follow, and the second. */
static bool decode_short_sources(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t a = gcn3_field(bits, 0, 8);
    if (a == SRC_SDWA)
        return decode_sdwa(bits, inst);
    if (a == SRC_DPP)
        return decode_dpp(bits, inst);
    if (row->a == GCN3_TYPE_nil) /* v_nop */
        return !a && !gcn3_field(bits, 17, 24);
    if (!gcn3_source(bits, a, row->a, inst, &inst->a))
        return false;
    return inst->format == GCN3_VOP1 || gcn3_vgpr(gcn3_field(bits, 9, 16), row->b, &inst->b);
}

bool gcn3_decode_short(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    uint32_t first = gcn3_field(bits, 25, 30);
    bool is_compare = first == 0x3e, is_vop1 = first == 0x3f;
    enum gcn3_format format = is_compare ? GCN3_VOPC : is_vop1 ? GCN3_VOP1 : GCN3_VOP2;
    uint32_t opcode = is_compare ? gcn3_field(bits, 17, 24) : is_vop1 ? gcn3_field(bits, 9, 16) : first;
    if (!gcn3_begin(bits, format, opcode, 4, inst) || !decode_short_sources(bits, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t d = gcn3_field(bits, 17, 24);
    if (is_compare) {
        if (inst->d.kind == GCN3_NOTHING)
            inst->d = vcc();
        return true;
    }
    if (row->flags & GCN3_SCALAR_D) {
        if (!gcn3_scalar_register(bits, d, 1, &inst->d))
            return false;
    } else if (row->d != GCN3_TYPE_nil && !gcn3_vgpr(d, row->d, &inst->d)) {
        return false;
    }
    if (row->flags & GCN3_VECTOR_A && inst->a.kind != GCN3_VGPR)
        return false;
    if (row->flags & GCN3_CARRY_OUT)
        inst->sd = vcc();
    if (row->c == GCN3_TYPE_m64)
        inst->c = vcc();
    if (row->flags & GCN3_ACCUMULATES)
        inst->c = inst->d;
    if (row->format == GCN3_VOP2_K) {
        inst->literal = bits->word[1];
        inst->bytes = 8;
        return inst->form == GCN3_E32;
    }
    return true;
}

/* ---- VOP3 ---------------------------------------------------------------------------------------------- */

/* A modifier that the row's types do not allow must not be set. */
static bool modifiers_fit(const struct gcn3_inst *inst, uint32_t abs, uint32_t neg)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    bool is_float = gcn3_type_is_float(row->d), compares = row->format == GCN3_VOPC;
    bool clamp = is_float || row->flags & GCN3_CLAMP || (compares && gcn3_type_is_float(row->b));
    bool omod = (is_float && !(row->flags & GCN3_NO_OMOD)) || row->flags & GCN3_OMOD;
    if ((inst->clamp && !clamp) || (inst->omod && !omod))
        return false;
    if (row->flags & GCN3_OP_SEL)
        return row->c != GCN3_TYPE_nil || !((abs | neg | inst->op_sel) & 4);
    const uint8_t types[] = {row->a, row->b, row->c};
    for (int i = 0; i < 3; i++) {
        bool signs = (takes_signs(row, types[i]) || is_exponent(row, types[i])) &&
                     types[i] != GCN3_TYPE_m64 && !(i == 2 && row->flags & GCN3_ACCUMULATES);
        if ((abs >> i & 1 || neg >> i & 1) && !signs)
            return false;
    }
    return true;
}

static bool decode_vop3_sources(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t a = gcn3_field(bits, 32, 40), b = gcn3_field(bits, 41, 49), c = gcn3_field(bits, 50, 58);
    bool has_c = row->c != GCN3_TYPE_nil && !(row->flags & GCN3_ACCUMULATES);
    if (row->a == GCN3_TYPE_nil ? a != 0 : !gcn3_source(bits, a, row->a, inst, &inst->a))
        return false;
    if (row->b == GCN3_TYPE_nil ? b != 0 : !gcn3_source(bits, b, row->b, inst, &inst->b))
        return false;
    return has_c ? gcn3_source(bits, c, row->c, inst, &inst->c) : c == 0;
}

/* Some operands are vectors only, and those that choose a lane scalars only. */
static bool kinds_fit(const struct gcn3_inst *inst)
{
    if (inst->op == GCN3_V_WRITELANE_B32)
        return inst->a.kind != GCN3_VGPR && inst->b.kind != GCN3_VGPR;
    if (inst->op == GCN3_V_READLANE_B32 && inst->b.kind == GCN3_VGPR)
        return false;
    if (inst->op == GCN3_V_MQSAD_U32_U8)
        return inst->c.kind == GCN3_VGPR;
    return !(gcn3_rows[inst->op].flags & GCN3_VECTOR_A) || inst->a.kind == GCN3_VGPR;
}

static bool decode_vop3_destination(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t d = gcn3_field(bits, 0, 7);
    if (row->d == GCN3_TYPE_nil)
        return d == 0;
    if (row->format == GCN3_VOPC || row->flags & GCN3_SCALAR_D) {
        inst->d.type = row->d;
        return d < 128 && gcn3_scalar_register(bits, d, gcn3_type_dwords(row->d), &inst->d);
    }
    return gcn3_vgpr(d, row->d, &inst->d);
}

/* A mask to read: a pair of SGPRs or VCC, not EXEC. */
static bool is_mask(const struct gcn3_operand *operand)
{
    return operand->kind == GCN3_SGPR || operand->kind == GCN3_TTMP ||
           (operand->kind == GCN3_SPECIAL && operand->number != GCN3_EXEC);
}

bool gcn3_decode_vop3(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_VOP3, gcn3_field(bits, 16, 25), 8, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    inst->form = GCN3_E64;
    if (row->format == GCN3_VINTRP || row->format == GCN3_VOP3_INTERP)
        return gcn3_decode_interp(bits, inst);
    bool has_sd = row->flags & GCN3_CARRY_OUT;
    uint32_t abs = has_sd ? 0 : gcn3_field(bits, 8, 10), neg = gcn3_field(bits, 61, 63);
    inst->clamp = gcn3_field(bits, 15, 15);
    inst->omod = (uint8_t)gcn3_field(bits, 59, 60);
    if (row->flags & GCN3_OP_SEL)
        inst->op_sel = (uint8_t)gcn3_field(bits, 11, 14);
    if (!decode_vop3_sources(bits, inst) || !decode_vop3_destination(bits, inst) || !kinds_fit(inst) ||
        !modifiers_fit(inst, abs, neg))
        return false;
    struct gcn3_operand *sources[] = {&inst->a, &inst->b, &inst->c};
    for (int i = 0; i < 3; i++)
        if (!(row->flags & GCN3_OP_SEL) || takes_signs(row, sources[i]->type))
            set_signs(row, abs >> i & 1, neg >> i & 1, sources[i]);
    if (row->flags & GCN3_ACCUMULATES)
        inst->c = inst->d;
    if (row->c == GCN3_TYPE_m64 && !is_mask(&inst->c))
        return false;
    inst->sd.type = GCN3_TYPE_m64;
    return !has_sd || gcn3_scalar_register(bits, gcn3_field(bits, 8, 14), 2, &inst->sd);
}

bool gcn3_decode_vop3p(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_VOP3P, gcn3_field(bits, 16, 22), 8, inst))
        return false;
    inst->form = GCN3_E64;
    inst->clamp = gcn3_field(bits, 15, 15);
    inst->op_sel = (uint8_t)gcn3_field(bits, 11, 13);
    inst->op_sel_hi = (uint8_t)(gcn3_field(bits, 59, 60) | gcn3_field(bits, 14, 14) << 2);
    inst->neg_hi = (uint8_t)gcn3_field(bits, 8, 10);
    inst->neg_lo = (uint8_t)gcn3_field(bits, 61, 63);
    if (!decode_vop3_sources(bits, inst) || !decode_vop3_destination(bits, inst) ||
        (inst->c.kind == GCN3_NOTHING && (inst->neg_hi | inst->neg_lo | inst->op_sel) >> 2))
        return false;
    if (gcn3_rows[inst->op].flags & GCN3_MIXED) { /* neg_hi means abs */
        struct gcn3_operand *sources[] = {&inst->a, &inst->b, &inst->c};
        for (int i = 0; i < 3; i++) {
            sources[i]->abs = inst->neg_hi >> i & 1;
            sources[i]->neg = inst->neg_lo >> i & 1;
        }
    }
    return true;
}

/* ---- interpolation ------------------------------------------------------------------------------------- */

/* v_interp_mov_f32 reads a parameter, not a register: p10, p20 or p0. */
static bool parameter(uint32_t number, struct gcn3_inst *inst)
{
    inst->immediate = (uint16_t)number;
    return number < 3;
}

bool gcn3_decode_vintrp(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    if (!gcn3_begin(bits, GCN3_VINTRP, gcn3_field(bits, 16, 17), 4, inst))
        return false;
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t source = gcn3_field(bits, 0, 7);
    inst->attribute = (uint8_t)gcn3_field(bits, 10, 15);
    inst->channel = (uint8_t)gcn3_field(bits, 8, 9);
    return gcn3_vgpr(gcn3_field(bits, 18, 25), row->d, &inst->d) &&
           (row->a == GCN3_TYPE_nil ? parameter(source, inst) : gcn3_vgpr(source, row->a, &inst->a));
}

bool gcn3_decode_interp(const struct gcn3_bits *bits, struct gcn3_inst *inst)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    uint32_t a = gcn3_field(bits, 41, 49), c = gcn3_field(bits, 50, 58);
    uint32_t abs = gcn3_field(bits, 8, 10), neg = gcn3_field(bits, 61, 63);
    inst->attribute = (uint8_t)gcn3_field(bits, 32, 37);
    inst->channel = (uint8_t)gcn3_field(bits, 38, 39);
    inst->high = gcn3_field(bits, 40, 40);
    inst->clamp = gcn3_field(bits, 15, 15);
    inst->omod = (uint8_t)gcn3_field(bits, 59, 60);
    if (!gcn3_vgpr(gcn3_field(bits, 0, 7), row->d, &inst->d) || (abs | neg) & 1 ||
        (inst->high && row->format != GCN3_VOP3_INTERP) || (inst->omod && row->flags & GCN3_NO_OMOD))
        return false;
    if (row->a == GCN3_TYPE_nil)
        return parameter(a, inst) && !c && !abs && !neg;
    if (a < 256 || !gcn3_vgpr(a - 256, row->a, &inst->a))
        return false;
    inst->a.abs = abs >> 1 & 1;
    inst->a.neg = neg >> 1 & 1;
    if (row->c == GCN3_TYPE_nil)
        return !c && !(abs >> 2) && !(neg >> 2);
    inst->c.abs = abs >> 2;
    inst->c.neg = neg >> 2;
    return c >= 256 && gcn3_vgpr(c - 256, row->c, &inst->c);
}
