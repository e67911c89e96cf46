/* Branches, calls, barriers, waits: instructions that change where a wave is, or whether it goes on. */
#include "gcn3_run/hostcall.h"
#include "base/bits.h"
#include "base/text.h"

#include <string.h>

void gcn3_unknown(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t word;
    memcpy(&word, w->program->object->image + op->at, sizeof word);
    if (op->inst.op == GCN3_INVALID)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "0x%08x is no instruction of %s", word,
                   w->program->object->target);
    struct text text = {0};
    char name[200];
    gcn3_print(&op->inst, &text);
    snprintf(name, sizeof name, "%s", text.at);
    text_fini(&text);
    gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "%s: Heddle does not execute this instruction", name);
}

/* ---- branches ---- */

static void go_to(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    if (op->target == GCN3_NO_OP)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, 0, "a branch to where no instruction begins");
    w->pc = op->target;
}

static void branch(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    w->isa.block->worker->result.branches++;
    go_to(w, op);
}

#define BRANCH_IF(name, condition)                                                                           \
    static void name(struct gcn3_wave *w, const struct gcn3_lowered *op)                                     \
    {                                                                                                        \
        w->isa.block->worker->result.branches++;                                                             \
        if (condition)                                                                                       \
            go_to(w, op);                                                                                    \
    }
BRANCH_IF(branch_scc0, !w->scc)
BRANCH_IF(branch_scc1, w->scc)
BRANCH_IF(branch_vccz, !gcn3_pair(w, GCN3_VCC))
BRANCH_IF(branch_vccnz, gcn3_pair(w, GCN3_VCC))
BRANCH_IF(branch_execz, !gcn3_exec(w))
BRANCH_IF(branch_execnz, gcn3_exec(w))

/* The address of the next instruction. */
static uint64_t next_address(const struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    return w->program->base + op->at + op->inst.bytes;
}

static void go_to_address(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t address)
{
    uint64_t offset = address - w->program->base;
    uint32_t to =
        offset / 4 < w->program->words && offset % 4 == 0 ? w->program->by_word[offset / 4] : GCN3_NO_OP;
    if (to == GCN3_NO_OP)
        gcn3_fault(w, op, 0, FAULT_INSTRUCTION, address,
                   "a jump to 0x%llx, where no instruction of the code begins", (unsigned long long)address);
    w->pc = to;
}

static void getpc(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    gcn3_set_pair(w, op->inst.d.number, next_address(w, op));
}

static void setpc(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    go_to_address(w, op, gcn3_pair(w, op->inst.a.number));
}

static void swappc(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint64_t to = gcn3_pair(w, op->inst.a.number);
    gcn3_set_pair(w, op->inst.d.number, next_address(w, op));
    go_to_address(w, op, to);
}

static void call(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    gcn3_set_pair(w, op->inst.d.number, next_address(w, op));
    go_to(w, op);
}

/* ---- others ---- */

static void nothing(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    (void)w, (void)op;
}

/* After a wave arrived or ended: those that wait go on when all that are left do. */
static void check_barrier(struct block *block)
{
    uint32_t left = 0, waiting = 0;
    for (uint32_t i = 0; i < block->warp_count; i++) {
        const struct isa_warp *warp = block_warp(block, i);
        left += !warp->ended;
        waiting += !warp->ended && gcn3_wave(warp)->waits;
    }
    if (waiting != left)
        return;
    for (uint32_t i = 0; i < block->warp_count; i++)
        gcn3_wave(block_warp(block, i))->waits = false;
    block->opened = true;
}

static uint32_t threads_of(const struct gcn3_wave *w)
{
    uint32_t all = w->isa.block->worker->grid->threads_per_block;
    return (uint32_t)min_u64(all - w->isa.index * GCN3_LANES, GCN3_LANES);
}

static void barrier(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    (void)op;
    w->waits = true;
    w->isa.block->arrival =
        (struct arrival){.threads = threads_of(w), .waits = true, .whole = true, .waiting = UINT64_MAX};
    check_barrier(w->isa.block);
}

static void end(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    (void)op;
    w->isa.ended = true;
    w->isa.block->alive -= threads_of(w);
    check_barrier(w->isa.block);
}

static void trap(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const char *said = gcn3_hostcall_said(w);
    if (said)
        gcn3_fault(w, op, 0, FAULT_ASSERT, 0, "%s", said);
    gcn3_fault(w, op, 0, FAULT_TRAP, 0, "trap %u", op->inst.immediate & 0xff);
}

/* vmcnt, expcnt, lgkmcnt; nothing is exported, so expcnt is always 0. */
static void waitcnt(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t immediate = op->inst.immediate;
    uint32_t vm = (immediate & 15) | (w->program->target == GCN3_GFX803 ? 0 : immediate >> 14 << 4);
    if (w->isa.block->worker->request)
        gcn3_arrived(w, vm, immediate >> 8 & 15);
}

/* ---- hardware registers ---- */

enum { HW_MODE = 1, HW_STATUS = 2, HW_LDS_ALLOC = 6, HW_SH_MEM_BASES = 15 };

static uint32_t hardware_register(const struct gcn3_wave *w, uint32_t number)
{
    switch (number) {
    case HW_MODE:
        return w->mode;
    case HW_STATUS:
        return w->scc | (uint32_t)!gcn3_exec(w) << 9 | (uint32_t)!gcn3_pair(w, GCN3_VCC) << 10;
    case HW_LDS_ALLOC:
        return (uint32_t)((w->isa.block->shared_bytes + 255) / 256) << 12;
    case HW_SH_MEM_BASES: /* gfx9: where flat instructions find private memory and LDS */
        return (uint32_t)(WINDOW_LOCAL >> 48 | WINDOW_SHARED >> 48 << 16);
    default:
        return 0;
    }
}

struct field {
    uint32_t number, first, mask;
};

static struct field field_of(uint32_t immediate)
{
    uint32_t bits = (immediate >> 11) + 1;
    return (struct field){immediate & 63, immediate >> 6 & 31, bits == 32 ? UINT32_MAX : (1u << bits) - 1};
}

static void getreg(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct field field = field_of(op->inst.immediate);
    w->s[op->inst.d.number] = hardware_register(w, field.number) >> field.first & field.mask;
}

static void set_field(struct gcn3_wave *w, uint32_t immediate, uint32_t value)
{
    struct field field = field_of(immediate);
    uint32_t mask = field.mask << field.first;
    if (field.number == HW_MODE)
        w->mode = (w->mode & ~mask) | (value << field.first & mask);
}

static void setreg(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    set_field(w, op->inst.immediate, w->s[op->inst.a.number]);
}

static void setreg_constant(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    set_field(w, op->inst.immediate, op->inst.literal);
}

gcn3_run_fn *gcn3_control(const struct gcn3_inst *inst)
{
    switch ((int)inst->op) {
    case GCN3_S_BRANCH:
        return branch;
    case GCN3_S_CBRANCH_SCC0:
        return branch_scc0;
    case GCN3_S_CBRANCH_SCC1:
        return branch_scc1;
    case GCN3_S_CBRANCH_VCCZ:
        return branch_vccz;
    case GCN3_S_CBRANCH_VCCNZ:
        return branch_vccnz;
    case GCN3_S_CBRANCH_EXECZ:
        return branch_execz;
    case GCN3_S_CBRANCH_EXECNZ:
        return branch_execnz;
    case GCN3_S_CBRANCH_CDBGSYS: /* no debugger is there */
    case GCN3_S_CBRANCH_CDBGUSER:
    case GCN3_S_CBRANCH_CDBGSYS_OR_USER:
    case GCN3_S_CBRANCH_CDBGSYS_AND_USER:
    case GCN3_S_NOP:
    case GCN3_S_WAKEUP:
    case GCN3_S_SETHALT:
    case GCN3_S_SLEEP:
    case GCN3_S_SETPRIO:
    case GCN3_S_SENDMSG:
    case GCN3_S_ICACHE_INV:
    case GCN3_S_INCPERFLEVEL:
    case GCN3_S_DECPERFLEVEL:
    case GCN3_S_TTRACEDATA:
        return nothing;
    case GCN3_S_GETPC_B64:
        return getpc;
    case GCN3_S_SETPC_B64:
        return setpc;
    case GCN3_S_SWAPPC_B64:
        return swappc;
    case GCN3_S_CALL_B64:
        return call;
    case GCN3_S_BARRIER:
        return barrier;
    case GCN3_S_ENDPGM:
    case GCN3_S_ENDPGM_SAVED:
    case GCN3_S_ENDPGM_ORDERED_PS_DONE:
        return end;
    case GCN3_S_TRAP:
        return trap;
    case GCN3_S_WAITCNT:
        return waitcnt;
    case GCN3_S_GETREG_B32:
        return getreg;
    case GCN3_S_SETREG_B32:
        return setreg;
    case GCN3_S_SETREG_IMM32_B32:
        return setreg_constant;
    default:
        return NULL;
    }
}
