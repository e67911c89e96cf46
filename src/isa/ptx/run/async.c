/* Asynchronous copies of threads (cp.async). Copies are performed at once: waiting for them is short, and no
 * program can tell, because it must not look before it has waited. */
#include "ptx_run/access.h"
#include "ptx_run/warp.h"

#include <string.h>

/* cp.async */

struct copy {
    struct access to, from;
    uint32_t from_place; /* of the source's address */
    int64_t from_offset;
    uint32_t bytes;
    bool has_size, keeps; /* a size of its own; in the SM's own cache, too */
};

static void run_copy(struct warp *w, const struct op *op, lanes active)
{
    const struct copy *copy = op->more;
    char *to[WARP_LANES], *from[WARP_LANES];
    struct op source = *op;
    source.a = copy->from_place;
    source.value = copy->from_offset;
    source.more = op;
    access_resolve(w, op, &copy->to, active, to);
    lanes reading = active; /* a size of 0 reads nothing, so its address need not be good */
    const uint32_t *sizes = warp_at(w, op->b);
    EACH_LANE (lane, active)
        if (copy->has_size && !sizes[lane])
            reading &= ~(UINT32_C(1) << lane);
    if (reading)
        access_resolve(w, &source, &copy->from, reading, from);
    struct request *request = w->isa.block->worker->request;
    if (request) {
        request->of.kind = REQUEST_PIECES;
        request->of.is_async = true;
        request->of.keep = copy->keeps;
    }
    EACH_LANE (lane, active) {
        uint32_t size = copy->has_size && sizes[lane] < copy->bytes ? sizes[lane] : copy->bytes;
        if (size && request)
            access_add_piece(request, (uintptr_t)from[lane], to[lane], size, lane);
        else if (size)
            memcpy(to[lane], from[lane], size);
        memset(to[lane] + size, 0, copy->bytes - size);
    }
}

enum lowered lower_cp(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    if (ptx_is(lower->inst, "cp.async.mbarrier"))
        return lower_mbarrier(lower, op);
    if (ptx_is(lower->inst, "cp.async.commit_group") || ptx_is(lower->inst, "cp.async.wait_group") ||
        ptx_is(lower->inst, "cp.async.wait_all")) {
        op->role = ptx_is(lower->inst, "cp.async.commit_group") ? ROLE_COMMIT
                   : ptx_is(lower->inst, "cp.async.wait_all")   ? ROLE_ALL_COPIES
                                                                : ROLE_COPIES;
        if (lower->inst->count && lower_operand(lower, 0)->kind == PTX_OP_INTEGER)
            op->value = (int64_t)lower_operand(lower, 0)->value;
        return lower_nothing(lower, op);
    }
    if (!ptx_opcode_has(opcode, "ca") && !ptx_opcode_has(opcode, "cg"))
        return lower_fail(lower, "Heddle does not know this copy");
    struct copy *copy = lower_own(lower, sizeof *copy);
    struct op source = {0};
    const struct ptx_operand *bytes = lower_operand(lower, 2), *size = lower_operand(lower, 3);
    op->unit = UNIT_LSU;
    op->more = copy;
    op->run.exec = run_copy;
    if (bytes->kind != PTX_OP_INTEGER || (bytes->value != 4 && bytes->value != 8 && bytes->value != 16))
        return lower_fail(lower, "4, 8 or 16 bytes were expected");
    copy->bytes = copy->to.bytes = copy->from.bytes = (uint8_t)bytes->value;
    copy->to.count = copy->from.count = 1;
    copy->to.space = PTX_SHARED;
    copy->to.writes = true;
    copy->from.space = PTX_GLOBAL;
    copy->keeps = ptx_opcode_has(opcode, "ca");
    if (!lower_address(lower, lower_operand(lower, 1), &source, &copy->from) ||
        !lower_address(lower, lower_operand(lower, 0), op, &copy->to))
        return LOWER_FAILED;
    copy->from_place = source.a;
    copy->from_offset = source.value;
    bool is_number = size->kind == PTX_OP_REGISTER || size->kind == PTX_OP_INTEGER;
    copy->has_size =
        is_number && lower_register_bytes(lower, size) != 8 && !ptx_opcode_has(opcode, "L2::cache_hint");
    if (copy->has_size && !lower_source(lower, size, TYPE_u32, &op->b))
        return LOWER_FAILED;
    return LOWERED;
}
