/* Moves: between registers, packing and unpacking, special registers that change while a kernel runs, and
 * addresses from one space to another. */
#include "ptx_run/lower.h"
#include "ptx_run/access.h"
#include "base/bits.h"

#include <string.h>

/* {a, b} to one register, or back */
struct pack {
    bool packs;
    uint8_t count, part_bytes, whole_bytes;
    uint32_t parts[8]; /* places */
};

static void run_pack(struct warp *w, const struct op *op, lanes active)
{
    const struct pack *pack = op->more;
    uint32_t bits = 8u * pack->part_bytes;
    bool halves = pack->part_bytes == 4 && pack->count == 2; /* the usual case */
    if (halves && pack->packs) {
        lanes_join(warp_at(w, op->d), warp_at(w, pack->parts[0]), warp_at(w, pack->parts[1]), active);
    } else if (halves) {
        lanes_split(warp_at(w, pack->parts[0]), warp_at(w, pack->parts[1]), warp_at(w, op->a), active);
    } else if (pack->packs) {
        uint64_t values[WARP_LANES] = {0};
        for (uint32_t p = 0; p < pack->count; p++)
            for (uint32_t i = 0; i < WARP_LANES; i++)
                values[i] |= lane_get(warp_at(w, pack->parts[p]), pack->part_bytes, i) << bits * p;
        EACH_LANE (i, active)
            lane_set(warp_at(w, op->d), pack->whole_bytes, i, values[i]);
    } else {
        uint64_t values[WARP_LANES];
        for (uint32_t i = 0; i < WARP_LANES; i++)
            values[i] = lane_get(warp_at(w, op->a), pack->whole_bytes, i);
        for (uint32_t p = 0; p < pack->count; p++)
            EACH_LANE (i, active)
                lane_set(warp_at(w, pack->parts[p]), pack->part_bytes, i, values[i] >> bits * p);
    }
}

static enum lowered lower_pack(struct lower *lower, struct op *op, bool packs)
{
    const struct ptx_operand *parts = lower_operand(lower, packs ? 1 : 0);
    const struct ptx_operand *whole = lower_operand(lower, packs ? 0 : 1);
    struct pack *pack = lower_own(lower, sizeof *pack);
    pack->packs = packs;
    pack->whole_bytes = (uint8_t)ptx_type_bytes(lower_type(lower->inst->opcode));
    pack->count = (uint8_t)parts->count;
    if (!parts->count || pack->whole_bytes > 8 || pack->whole_bytes / parts->count < 2)
        return lower_fail(lower, "Heddle packs registers of 16 and 32 bits only");
    pack->part_bytes = pack->whole_bytes / pack->count;
    for (uint32_t i = 0; i < parts->count; i++) {
        const struct ptx_operand *part = lower_element(lower, parts, i);
        enum isa_type type = isa_type_of(pack->part_bytes);
        if (packs ? !lower_source(lower, part, type, &pack->parts[i])
                  : !lower_destination(lower, part, type, &pack->parts[i]))
            return LOWER_FAILED;
    }
    enum isa_type type = isa_type_of(pack->whole_bytes);
    if (packs ? !lower_destination(lower, whole, type, &op->d) : !lower_source(lower, whole, type, &op->a))
        return LOWER_FAILED;
    op->run.exec = run_pack;
    op->more = pack;
    return LOWERED;
}

enum { TIMER_STEP = 32 }; /* nanoseconds: as a GPU's timer was seen to move */

/* Cycles of a model that keeps time as nanoseconds. */
static uint64_t nanoseconds(const struct worker *worker)
{
    uint64_t ns = (uint64_t)((unsigned __int128)*worker->clock * 1000000000 / worker->clock_hz);
    return ns / TIMER_STEP * TIMER_STEP;
}

/* Without such a model clocks count instructions of the block: the same in every run, and never standing
 * still. */
static uint64_t clock_now(struct block *block, int64_t which)
{
    const struct worker *worker = block->worker;
    if (!worker->clock)
        return 4 * (worker->result.warp_instructions - block->clock_from) + ++block->clock_reads;
    return which >= PTX_SPECIAL_globaltimer ? nanoseconds(worker) : *worker->clock;
}

static void run_clock(struct warp *w, const struct op *op, lanes active)
{
    uint64_t now = clock_now(w->isa.block, op->value);
    if (op->value == PTX_SPECIAL_clock_hi || op->value == PTX_SPECIAL_globaltimer_hi)
        now >>= 32;
    w->spins++; /* a loop that waits for a time to come */
    EACH_LANE (i, active)
        lane_set(warp_at(w, op->d), op->bytes, i, now);
}

enum lowered lower_mov(struct lower *lower, struct op *op)
{
    const struct ptx_operand *d = lower_operand(lower, 0), *a = lower_operand(lower, 1);
    if (a->kind == PTX_OP_VECTOR)
        return lower_pack(lower, op, true);
    if (d->kind == PTX_OP_VECTOR)
        return lower_pack(lower, op, false);
    if (a->kind != PTX_OP_SPECIAL || a->index < PTX_SPECIAL_clock || a->index > PTX_SPECIAL_globaltimer_hi)
        return NOT_MINE;
    uint32_t bytes = ptx_type_bytes(lower_type(lower->inst->opcode));
    if (bytes != 4 && bytes != 8)
        return lower_fail(lower, "a clock has 32 or 64 bits");
    if (!lower_destination(lower, d, isa_type_of(bytes), &op->d))
        return LOWER_FAILED;
    op->run.exec = run_clock;
    op->bytes = (uint8_t)bytes;
    op->value = a->index;
    return LOWERED;
}

/* Generic addresses are those of the space plus the start of its window. */
static uint64_t window_of(enum ptx_space space)
{
    return space == PTX_SHARED || space == PTX_CLUSTER ? WINDOW_SHARED
           : space == PTX_LOCAL                        ? WINDOW_LOCAL
           : space == PTX_PARAM                        ? WINDOW_PARAM
                                                       : 0;
}

enum lowered lower_cvta(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    uint64_t window = window_of(access_space_named(opcode));
    if (!ptx_opcode_has(opcode, "u64"))
        return lower_fail(lower, "only addresses of 64 bits are supported");
    if (ptx_opcode_has(opcode, "to"))
        window = -window;
    op->kind = OP_ALU;
    op->bytes = 8;
    op->run.alu = alu_executor(alu_find(window ? "add.u64" : "mov.b64"));
    op->b = lower_constant(lower, CONSTANT_VALUE, window, 8);
    return lower_destination(lower, lower_operand(lower, 0), TYPE_u64, &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), TYPE_u64, &op->a)
               ? LOWERED
               : LOWER_FAILED;
}

static void run_isspacep(struct warp *w, const struct op *op, lanes active)
{
    const uint64_t *a = warp_at(w, op->a);
    lanes result = 0;
    EACH_LANE (i, active) {
        enum ptx_space space = access_space_at(a[i]);
        if (space == PTX_SHARED && op->value == PTX_CLUSTER)
            space = PTX_CLUSTER;
        else if (space == PTX_SHARED && a[i] - WINDOW_SHARED - w->isa.block->shared_from >= WINDOW_BYTES)
            space = PTX_CLUSTER; /* another block's */
        result |= (lanes)(space == (enum ptx_space)op->value) << i;
    }
    predicate_set(w, op->d, active, result);
}

enum lowered lower_isspacep(struct lower *lower, struct op *op)
{
    op->run.exec = run_isspacep;
    op->value = access_space_named(lower->inst->opcode);
    return lower_destination(lower, lower_operand(lower, 0), TYPE_pred, &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), TYPE_u64, &op->a)
               ? LOWERED
               : LOWER_FAILED;
}
