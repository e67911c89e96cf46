/* Scalar instructions, whose 16-bit constant has many meanings. */
#include "gcn3/print.h"

#include <inttypes.h>

static void print_wait(const struct gcn3_inst *inst, struct text *text)
{
    uint32_t imm = inst->immediate, most = inst->target == GCN3_GFX803 ? 15 : 63;
    uint32_t vm = (imm & 15) | (inst->target == GCN3_GFX803 ? 0 : imm >> 14 << 4);
    uint32_t exp = imm >> 4 & 7, lgkm = imm >> 8 & 15;
    bool all = vm == most && exp == 7 && lgkm == 15; /* waits for nothing: LLVM shows all three */
    const char *blank = "";
    if (all || vm != most)
        text_add(text, "vmcnt(%" PRIu32 ")", vm), blank = " ";
    if (all || exp != 7)
        text_add(text, "%sexpcnt(%" PRIu32 ")", blank, exp), blank = " ";
    if (all || lgkm != 15)
        text_add(text, "%slgkmcnt(%" PRIu32 ")", blank, lgkm);
}

/* Hardware registers that s_getreg and s_setreg name; the last ones only on gfx9. */
static const char *const hardware[] = {
    [1] = "MODE",      [2] = "STATUS",    [3] = "TRAPSTS", [4] = "HW_ID",
    [5] = "GPR_ALLOC", [6] = "LDS_ALLOC", [7] = "IB_STS",  [15] = "SH_MEM_BASES",
    [16] = "TBA_LO",   [17] = "TBA_HI",   [18] = "TMA_LO", [19] = "TMA_HI",
};

static void print_hwreg(const struct gcn3_inst *inst, struct text *text)
{
    uint32_t imm = inst->immediate, id = imm & 63, offset = imm >> 6 & 31, size = (imm >> 11) + 1;
    bool known =
        id < sizeof hardware / sizeof *hardware && hardware[id] && (id < 15 || inst->target != GCN3_GFX803);
    text_add(text, known ? "hwreg(HW_REG_%s" : "hwreg(%.0s%u", known ? hardware[id] : "", id);
    if (offset || size != 32)
        text_add(text, ", %" PRIu32 ", %" PRIu32, offset, size);
    text_add(text, ")");
}

enum { MSG_GS = 2, MSG_GS_DONE = 3, MSG_SYSMSG = 15 };

static const char *message_name(const struct gcn3_inst *inst, uint32_t id)
{
    static const char *const names[] = {
        [1] = "INTERRUPT",      [MSG_GS] = "GS",       [MSG_GS_DONE] = "GS_DONE", [4] = "SAVEWAVE",
        [5] = "STALL_WAVE_GEN", [6] = "HALT_WAVES",    [7] = "ORDERED_PS_DONE",   [8] = "EARLY_PRIM_DEALLOC",
        [9] = "GS_ALLOC_REQ",   [10] = "GET_DOORBELL", [MSG_SYSMSG] = "SYSMSG",
    };
    bool gfx9_only = id >= 5 && id <= 10;
    return gfx9_only && inst->target == GCN3_GFX803 ? NULL : names[id];
}

static const char *message_operation(const struct gcn3_inst *inst, uint32_t id, uint32_t operation)
{
    static const char *const gs[] = {"NOP", "CUT", "EMIT", "EMIT_CUT"};
    static const char *const system[] = {NULL, "ECC_ERR_INTERRUPT", "REG_RD", "HOST_TRAP_ACK", "TTRACE_PC"};
    if (id == MSG_SYSMSG)
        return operation > 4 || (operation == 3 && inst->target != GCN3_GFX803) ? NULL : system[operation];
    return operation > 3 || (id == MSG_GS && !operation) ? NULL : gs[operation];
}

static void print_message(const struct gcn3_inst *inst, struct text *text)
{
    uint32_t imm = inst->immediate, id = imm & 15, operation = imm >> 4 & 7, stream = imm >> 8 & 3;
    const char *name = message_name(inst, id);
    bool gs = id == MSG_GS || id == MSG_GS_DONE, operates = gs || id == MSG_SYSMSG;
    const char *does = operates ? message_operation(inst, id, operation) : NULL;
    bool nop = id == MSG_GS_DONE && !operation;
    uint32_t rest = imm >> 10 << 10 | (imm & 0x80);
    (void)rest;
    if (operates && name && does && (!(stream) || (gs && !nop))) {
        text_add(text, "sendmsg(MSG_%s, %s_OP_%s", name, gs ? "GS" : "SYSMSG", does);
        if (gs && !nop)
            text_add(text, ", %" PRIu32, stream);
        text_add(text, ")");
    } else if (!operates && name && !operation && !stream) {
        text_add(text, "sendmsg(MSG_%s)", name);
    } else if (imm == (id | operation << 4 | stream << 8)) {
        text_add(text, "sendmsg(%" PRIu32 ", %" PRIu32 ", %" PRIu32 ")", id, operation, stream);
    } else {
        text_add(text, "%" PRIu32, imm);
    }
}

static void print_indexed(uint32_t imm, struct text *text)
{
    static const char *const names[] = {"SRC0", "SRC1", "SRC2", "DST"};
    if (imm > 15) {
        text_add(text, "0x%" PRIx32, imm);
        return;
    }
    text_add(text, "gpr_idx(");
    const char *comma = "";
    for (int i = 0; i < 4; i++)
        if (imm >> i & 1)
            text_add(text, "%s%s", comma, names[i]), comma = ",";
    text_add(text, ")");
}

static void print_sopp(const struct gcn3_inst *inst, struct text *text)
{
    uint64_t to;
    switch (inst->op) {
    case GCN3_S_WAITCNT:
        print_wait(inst, text);
        break;
    case GCN3_S_SENDMSG:
    case GCN3_S_SENDMSGHALT:
        print_message(inst, text);
        break;
    case GCN3_S_SET_GPR_IDX_MODE:
        print_indexed(inst->immediate, text);
        break;
    case GCN3_S_ENDPGM:
        if (inst->immediate)
            text_add(text, "%u", inst->immediate);
        break;
    default:
        if (gcn3_rows[inst->op].flags & GCN3_NO_IMMEDIATE)
            break;
        if (gcn3_branch(inst, 0, &to))
            text_add(text, "%u", inst->immediate);
        else
            gcn3_print_bits(inst->immediate, text);
    }
}

static void print_sopk(const struct gcn3_inst *inst, struct text *text)
{
    uint64_t to;
    switch (inst->op) {
    case GCN3_S_SETREG_B32:
        print_hwreg(inst, text);
        gcn3_print_next(inst, &inst->a, text);
        return;
    case GCN3_S_SETREG_IMM32_B32:
        print_hwreg(inst, text);
        text_add(text, ", ");
        gcn3_print_bits(inst->literal, text);
        return;
    case GCN3_S_GETREG_B32:
        gcn3_print_next(inst, &inst->d, text);
        text_add(text, ", ");
        print_hwreg(inst, text);
        return;
    }
    gcn3_print_next(inst, &inst->d, text);
    gcn3_print_next(inst, &inst->a, text);
    text_add(text, gcn3_branch(inst, 0, &to) ? ", %u" : ", 0x%x", inst->immediate);
}

void gcn3_print_scalar(const struct gcn3_inst *inst, struct text *text)
{
    if (inst->format == GCN3_SOPP) {
        print_sopp(inst, text);
        return;
    }
    if (inst->format == GCN3_SOPK) {
        print_sopk(inst, text);
        return;
    }
    gcn3_print_next(inst, &inst->d, text);
    gcn3_print_next(inst, &inst->a, text);
    gcn3_print_next(inst, &inst->b, text);
    if (inst->op == GCN3_S_SET_GPR_IDX_ON) {
        text_add(text, ", ");
        print_indexed(inst->immediate, text);
    }
}
