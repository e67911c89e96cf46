/* Memory instructions and exports. */
#include "gcn3/print.h"

#include <inttypes.h>

static void print_offset(const struct gcn3_inst *inst, struct text *text)
{
    if (inst->offset)
        text_add(text, " offset:%" PRId32, inst->offset);
}

static void print_glc_slc(const struct gcn3_inst *inst, struct text *text)
{
    gcn3_print_flag(inst->glc, "glc", text);
    gcn3_print_flag(inst->slc, "slc", text);
}

static void print_smem(const struct gcn3_inst *inst, struct text *text)
{
    bool probes = inst->op == GCN3_S_ATC_PROBE || inst->op == GCN3_S_ATC_PROBE_BUFFER;
    if (probes)
        gcn3_print_bits(inst->immediate, text);
    gcn3_print_next(inst, inst->b.kind ? &inst->b : &inst->d, text);
    gcn3_print_next(inst, &inst->a, text);
    gcn3_print_next(inst, &inst->saddr, text);
    if (inst->has_offset) {
        bool both = inst->saddr.kind != GCN3_NOTHING, negative = inst->offset < 0;
        text_add(text, both ? " offset:" : ", ");
        text_add(text, "%s0x%" PRIx32, negative ? "-" : "",
                 (uint32_t)(negative ? -inst->offset : inst->offset));
    }
    gcn3_print_flag(inst->glc && !probes && (inst->d.kind || inst->b.kind) && inst->a.kind, "glc", text);
}

/* Patterns of ds_swizzle_b32 that have names. A lane reads the one whose number is (its own & keep | set) ^
 * flip. */
static void print_swizzle(uint32_t offset, struct text *text)
{
    uint32_t keep = offset & 31, set = offset >> 5 & 31, flip = offset >> 10 & 31, group = 32 - keep;
    text_add(text, " offset:");
    if (offset >> 8 == 0x80) {
        text_add(text, "swizzle(QUAD_PERM,%" PRIu32 ",%" PRIu32 ",%" PRIu32 ",%" PRIu32 ")", offset & 3,
                 offset >> 2 & 3, offset >> 4 & 3, offset >> 6 & 3);
    } else if (offset & 0x8000) {
        text_add(text, "%" PRIu32, offset);
    } else if (keep == 31 && !set && flip && !(flip & (flip - 1))) {
        text_add(text, "swizzle(SWAP,%" PRIu32 ")", flip);
    } else if (keep == 31 && !set && flip && !(flip & (flip + 1))) {
        text_add(text, "swizzle(REVERSE,%" PRIu32 ")", flip + 1);
    } else if (group > 1 && !(group & (group - 1)) && set < group && !flip) {
        text_add(text, "swizzle(BROADCAST,%" PRIu32 ",%" PRIu32 ")", group, set);
    } else {
        char mask[6] = "";
        for (int i = 0; i < 5; i++) {
            uint32_t bit = 16 >> i;
            bool turns = flip & bit;
            mask[i] = keep & bit && !(set & bit) ? turns ? 'i' : 'p' : !(set & bit) != !turns ? '1' : '0';
        }
        text_add(text, "swizzle(BITMASK_PERM,\"%s\")", mask);
    }
}

static void print_ds(const struct gcn3_inst *inst, struct text *text)
{
    gcn3_print_next(inst, &inst->d, text);
    gcn3_print_next(inst, &inst->a, text);
    gcn3_print_next(inst, &inst->b, text);
    gcn3_print_next(inst, &inst->c, text);
    gcn3_print_trim(text);
    if (gcn3_rows[inst->op].flags & GCN3_TWO_OFFSETS) {
        if (inst->offset)
            text_add(text, " offset0:%" PRId32, inst->offset);
        if (inst->offset1)
            text_add(text, " offset1:%u", inst->offset1);
    } else if (inst->op == GCN3_DS_SWIZZLE_B32) {
        if (inst->offset)
            print_swizzle((uint32_t)inst->offset, text);
    } else {
        print_offset(inst, text);
    }
    gcn3_print_flag(inst->gds, "gds", text);
}

static void print_flat(const struct gcn3_inst *inst, struct text *text)
{
    gcn3_print_next(inst, &inst->d, text);
    if (inst->a.kind == GCN3_NOTHING) {
        gcn3_print_comma(text);
        text_add(text, "off");
    }
    gcn3_print_next(inst, &inst->a, text);
    gcn3_print_next(inst, &inst->b, text);
    if (inst->format != GCN3_FLAT && inst->saddr.kind == GCN3_NOTHING)
        text_add(text, ", off");
    gcn3_print_next(inst, &inst->saddr, text);
    print_offset(inst, text);
    print_glc_slc(inst, text);
    gcn3_print_flag(inst->lds, "lds", text);
}

static void print_typed(const struct gcn3_inst *inst, struct text *text)
{
    static const char *const data[] = {
        "INVALID",     "8",        "16",          "8_8",         "32",      "16_16",
        "10_11_11",    "11_11_10", "10_10_10_2",  "2_10_10_10",  "8_8_8_8", "32_32",
        "16_16_16_16", "32_32_32", "32_32_32_32", "RESERVED_15",
    };
    static const char *const number[] = {"UNORM", "SNORM", "USCALED",    "SSCALED",
                                         "UINT",  "SINT",  "RESERVED_6", "FLOAT"};
    bool plain_data = inst->dfmt == 1, plain_number = inst->nfmt == 0; /* are not shown */
    if (plain_data && plain_number)
        return;
    text_add(text, " format:[");
    if (!plain_data)
        text_add(text, "BUF_DATA_FORMAT_%s%s", data[inst->dfmt], plain_number ? "" : ",");
    if (!plain_number)
        text_add(text, "BUF_NUM_FORMAT_%s", number[inst->nfmt]);
    text_add(text, "]");
}

static void print_buffer(const struct gcn3_inst *inst, struct text *text)
{
    if (inst->resource.kind == GCN3_NOTHING)
        return;
    gcn3_print_next(inst, inst->b.kind ? &inst->b : &inst->d, text);
    bool from_lds = inst->op == GCN3_BUFFER_STORE_LDS_DWORD;
    if (inst->a.kind == GCN3_NOTHING && !from_lds) {
        gcn3_print_comma(text);
        text_add(text, "off");
    }
    gcn3_print_next(inst, &inst->a, text);
    gcn3_print_next(inst, &inst->resource, text);
    gcn3_print_next(inst, &inst->saddr, text);
    if (inst->format == GCN3_MTBUF)
        print_typed(inst, text);
    gcn3_print_flag(inst->idxen, "idxen", text);
    gcn3_print_flag(inst->offen, "offen", text);
    print_offset(inst, text);
    gcn3_print_flag(from_lds, "lds", text);
    print_glc_slc(inst, text);
    gcn3_print_flag(inst->tfe, "tfe", text);
    gcn3_print_flag(inst->lds && !from_lds, "lds", text);
}

static void print_mimg(const struct gcn3_inst *inst, struct text *text)
{
    gcn3_print_next(inst, inst->b.kind ? &inst->b : &inst->d, text);
    gcn3_print_next(inst, &inst->a, text);
    gcn3_print_next(inst, &inst->resource, text);
    gcn3_print_next(inst, &inst->sampler, text);
    if (inst->dmask)
        text_add(text, " dmask:0x%x", inst->dmask);
    gcn3_print_flag(inst->unorm, "unorm", text);
    print_glc_slc(inst, text);
    gcn3_print_flag(inst->r128, inst->target == GCN3_GFX803 ? "r128" : "a16", text);
    gcn3_print_flag(inst->tfe, "tfe", text);
    gcn3_print_flag(inst->lwe, "lwe", text);
    gcn3_print_flag(inst->da, "da", text);
    gcn3_print_flag(inst->d16, "d16", text);
}

void gcn3_print_memory(const struct gcn3_inst *inst, struct text *text)
{
    switch (inst->format) {
    case GCN3_SMEM:
        print_smem(inst, text);
        break;
    case GCN3_DS:
        print_ds(inst, text);
        break;
    case GCN3_MUBUF:
    case GCN3_MTBUF:
        print_buffer(inst, text);
        break;
    case GCN3_MIMG:
        print_mimg(inst, text);
        break;
    default:
        print_flat(inst, text);
    }
}

static void print_target(uint32_t target, struct text *text)
{
    if (target < 8)
        text_add(text, "mrt%" PRIu32, target);
    else if (target == 8)
        text_add(text, "mrtz");
    else if (target == 9)
        text_add(text, "null");
    else if (target >= 12 && target < 16)
        text_add(text, "pos%" PRIu32, target - 12);
    else if (target >= 32)
        text_add(text, "param%" PRIu32, target - 32);
    else
        text_add(text, "invalid_target_%" PRIu32, target);
}

/* Compressed, the first two registers hold two values each. */
void gcn3_print_exp(const struct gcn3_inst *inst, struct text *text)
{
    print_target(inst->exp_target, text);
    for (int i = 0; i < 4; i++) {
        const struct gcn3_operand *operand = &inst->exp[inst->compr ? i / 2 : i];
        text_add(text, i ? ", " : " ");
        if (inst->exp_enable >> i & 1)
            gcn3_print_operand(inst, operand, text);
        else
            text_add(text, "off");
    }
    gcn3_print_flag(inst->done, "done", text);
    gcn3_print_flag(inst->compr, "compr", text);
    gcn3_print_flag(inst->vm, "vm", text);
}
