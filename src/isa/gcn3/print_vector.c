/* Vector arithmetic with its modifiers. */
#include "gcn3/print.h"

#include <inttypes.h>

static void print_sdwa(const struct gcn3_inst *inst, struct text *text)
{
    static const char *const parts[] = {"BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD"};
    static const char *const unused[] = {"PAD", "SEXT", "PRESERVE"};
    if (inst->format != GCN3_VOPC)
        text_add(text, " dst_sel:%s dst_unused:UNUSED_%s", parts[inst->dst_sel], unused[inst->dst_unused]);
    text_add(text, " src0_sel:%s", parts[inst->a_sel]);
    if (inst->b.kind != GCN3_NOTHING)
        text_add(text, " src1_sel:%s", parts[inst->b_sel]);
}

static void print_dpp_control(uint32_t control, struct text *text)
{
    static const char *const shifts[] = {"row_shl", "row_shr", "row_ror"};
    static const char *const wave[] = {"wave_shl", "wave_rol", "wave_shr", "wave_ror"};
    static const char *const others[] = {"row_mirror", "row_half_mirror", "row_bcast:15", "row_bcast:31"};
    if (control < 0x100)
        text_add(text, " quad_perm:[%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 "]", control & 3,
                 control >> 2 & 3, control >> 4 & 3, control >> 6);
    else if (control < 0x130)
        text_add(text, " %s:%" PRIu32, shifts[control >> 4 & 3], control & 15);
    else if (control < 0x140)
        text_add(text, " %s:1", wave[control >> 2 & 3]);
    else
        text_add(text, " %s", others[control & 3]);
}

static void print_dpp(const struct gcn3_inst *inst, struct text *text)
{
    print_dpp_control(inst->dpp_ctrl, text);
    text_add(text, " row_mask:0x%x bank_mask:0x%x", inst->row_mask, inst->bank_mask);
    gcn3_print_flag(inst->bound_ctrl, "bound_ctrl:1", text);
}

static void print_omod(const struct gcn3_inst *inst, struct text *text)
{
    static const char *const factors[] = {"", " mul:2", " mul:4", " div:2"};
    gcn3_print_flag(inst->clamp, "clamp", text);
    text_add(text, "%s", factors[inst->omod]);
}

/* A bit for each source, unless all are as they mostly are. */
static void print_bits_of(const char *name, uint32_t bits, uint32_t mostly, int count, struct text *text)
{
    if (bits == mostly)
        return;
    text_add(text, " %s:[", name);
    for (int i = 0; i < count; i++)
        text_add(text, "%s%" PRIu32, i ? "," : "", bits >> i & 1);
    text_add(text, "]");
}

static int sources(const struct gcn3_inst *inst)
{
    return (inst->a.kind != GCN3_NOTHING) + (inst->b.kind != GCN3_NOTHING) + (inst->c.kind != GCN3_NOTHING);
}

/* op_sel of VOP3: the destination's bit is the last, behind those of the sources. */
static void print_op_sel(const struct gcn3_inst *inst, struct text *text)
{
    int count = sources(inst);
    uint32_t mask = (1u << count) - 1;
    print_bits_of("op_sel", (inst->op_sel & mask) | inst->op_sel >> 3 << count, 0, count + 1, text);
}

static void print_packed(const struct gcn3_inst *inst, struct text *text)
{
    int count = sources(inst);
    uint32_t mask = (1u << count) - 1;
    bool mixed = gcn3_rows[inst->op].flags & GCN3_MIXED;
    print_bits_of("op_sel", inst->op_sel & mask, 0, count, text);
    print_bits_of("op_sel_hi", inst->op_sel_hi & mask, mixed ? 0 : mask, count, text);
    if (!mixed) {
        print_bits_of("neg_lo", inst->neg_lo & mask, 0, count, text);
        print_bits_of("neg_hi", inst->neg_hi & mask, 0, count, text);
    }
    gcn3_print_flag(inst->clamp, "clamp", text);
}

static void print_interp(const struct gcn3_inst *inst, struct text *text)
{
    static const char *const parameters[] = {"p10", "p20", "p0"};
    gcn3_print_next(inst, &inst->d, text);
    if (inst->op == GCN3_V_INTERP_MOV_F32)
        text_add(text, ", %s", parameters[inst->immediate]);
    gcn3_print_next(inst, &inst->a, text);
    text_add(text, ", attr%u.%c", inst->attribute, "xyzw"[inst->channel]);
    gcn3_print_next(inst, &inst->c, text);
    gcn3_print_flag(inst->high, "high", text);
    print_omod(inst, text);
}

static void print_k(const struct gcn3_inst *inst, struct text *text)
{
    bool last = inst->op == GCN3_V_MADAK_F32 || inst->op == GCN3_V_MADAK_F16;
    gcn3_print_next(inst, &inst->d, text);
    gcn3_print_next(inst, &inst->a, text);
    if (last)
        gcn3_print_next(inst, &inst->b, text);
    text_add(text, ", ");
    gcn3_print_bits(inst->literal, text);
    if (!last)
        gcn3_print_next(inst, &inst->b, text);
}

void gcn3_print_vector(const struct gcn3_inst *inst, struct text *text)
{
    const struct gcn3_row *row = &gcn3_rows[inst->op];
    if (row->format == GCN3_VINTRP || row->format == GCN3_VOP3_INTERP) {
        print_interp(inst, text);
        return;
    }
    if (row->format == GCN3_VOP2_K) {
        print_k(inst, text);
        return;
    }
    gcn3_print_next(inst, &inst->d, text);
    gcn3_print_next(inst, &inst->sd, text);
    gcn3_print_next(inst, &inst->a, text);
    gcn3_print_next(inst, &inst->b, text);
    if (!(row->flags & GCN3_ACCUMULATES))
        gcn3_print_next(inst, &inst->c, text);
    if (row->format == GCN3_VOP3P) {
        print_packed(inst, text);
        return;
    }
    if (row->flags & GCN3_OP_SEL)
        print_op_sel(inst, text);
    print_omod(inst, text);
    if (inst->form == GCN3_SDWA)
        print_sdwa(inst, text);
    if (inst->form == GCN3_DPP)
        print_dpp(inst, text);
}
