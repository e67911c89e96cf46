/* cp.async.bulk and cp.reduce.async.bulk: any number of bytes by one thread, between global memory and the
 * shared memory of the cluster. What goes to shared memory is counted by a barrier (mbarrier.c). Copies are
 * performed at once, as those of async.c are. */
#include "ptx_run/async.h"
#include "base/bits.h"
#include "exec/atomics.h"
#include "exec/cga.h"
#include "exec/number.h"

#include <string.h>

/* ---- operands ---- */

bool async_lower_address(struct lower *lower, const struct ptx_operand *operand, enum ptx_space space,
                         struct async_address *address)
{
    struct op part;
    struct access access = {.space = space};
    memset(&part, 0, sizeof part);
    if (!lower_address(lower, operand, &part, &access))
        return false;
    *address = (struct async_address){.place = part.a, .bytes = access.address_bytes, .offset = part.value};
    return true;
}

uint64_t async_address(const struct warp *w, const struct async_address *address, uint32_t lane)
{
    uint64_t at = lane_get(warp_at(w, address->place), address->bytes, lane) + (uint64_t)address->offset;
    return address->bytes == 4 ? (uint32_t)at : at;
}

uint64_t async_ranks(const struct warp *w, const struct async_targets *targets, uint32_t lane, uint64_t at)
{
    if (targets->has_mask)
        return lane_get(warp_at(w, targets->mask), 2, lane);
    return UINT64_C(1) << (at >> CLUSTER_SHARED_SHIFT & 63);
}

/* ---- reductions ---- */

/* What exec/atomics.h has no rows for: minima and maxima of halves, behind its rows. */
enum half_reduction { MIN_F16, MAX_F16, MIN_BF16, MAX_BF16 };

static const char *const half_names[] = {"min.f16", "max.f16", "min.bf16", "max.bf16"};

static uint16_t reduce_halves(enum half_reduction kind, uint16_t a, uint16_t b)
{
    switch (kind) {
    case MIN_F16:
        return min_f16(a, b);
    case MAX_F16:
        return max_f16(a, b);
    case MIN_BF16:
        return min_bf16(a, b);
    default:
        return max_bf16(a, b);
    }
}

bool async_find_reduction(const char *opcode, const char *type, struct async_reduction *reduction)
{
    static const char *const operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
    const char *operation = NULL;
    for (size_t i = 0; i < COUNT_OF(operations); i++)
        if (ptx_opcode_has(opcode, operations[i]))
            operation = operations[i];
    reduction->reduces = operation != NULL;
    if (!operation)
        return false;
    char name[32], rounded[32];
    bool is_logic = !strcmp(operation, "and") || !strcmp(operation, "or") || !strcmp(operation, "xor");
    if (is_logic && (*type == 'u' || *type == 's')) /* of whole numbers, whose bits these are */
        snprintf(name, sizeof name, "%s.b%s", operation, type + 1);
    else
        snprintf(name, sizeof name, "%s.%s", operation, type);
    snprintf(rounded, sizeof rounded, "%s.noftz.%s", operation, type);
    for (uint32_t i = 0; i < atomic_row_count; i++)
        if (!strcmp(atomic_rows[i].name, name) || !strcmp(atomic_rows[i].name, rounded)) {
            reduction->row = i;
            reduction->bytes = atomic_rows[i].bytes;
            return true;
        }
    for (uint32_t i = 0; i < COUNT_OF(half_names); i++)
        if (!strcmp(half_names[i], name)) {
            reduction->row = atomic_row_count + i;
            reduction->bytes = 2;
            return true;
        }
    return false;
}

bool async_is_ordered(const char *opcode)
{
    struct async_reduction reduction;
    return !async_find_reduction(opcode, strrchr(opcode, '.') + 1, &reduction) ||
           reduction.row >= atomic_row_count || !atomic_rows[reduction.row].commutes;
}

void async_reduce(const struct async_reduction *reduction, char *to, const char *from, uint64_t bytes,
                  bool far)
{
    for (uint64_t i = 0; i < bytes; i += reduction->bytes) {
        uint64_t operand = 0, old = 0;
        memcpy(&operand, from + i, reduction->bytes);
        if (reduction->row < atomic_row_count && far) { /* blocks may run on several threads of the host */
            (void)atomic_perform((uint8_t)reduction->row, to + i, operand, 0);
            continue;
        }
        memcpy(&old, to + i, reduction->bytes);
        if (reduction->row < atomic_row_count)
            old = atomic_apply(reduction->row, old, operand, 0, false);
        else
            old = reduce_halves((enum half_reduction)(reduction->row - atomic_row_count), (uint16_t)old,
                                (uint16_t)operand);
        memcpy(to + i, &old, reduction->bytes);
    }
}

/* ---- requests to models that keep time ---- */

void async_request(struct warp *w, uint32_t lane, uint64_t at, char *host, uint64_t bytes, bool writes)
{
    struct request *request = w->isa.block->worker->request;
    request->of.kind = REQUEST_PIECES;
    request->of.is_async = true;
    request->of.keep = false;
    request->writes = writes;
    for (uint64_t done = 0, size; done < bytes; done += size) {
        size = min_u64(128 - (at + done) % 128, bytes - done);
        access_add_piece(request, at + done, host + done, size, lane);
    }
}

void async_request_barrier(struct warp *w, const struct op *op, uint32_t lane, char *barrier, uint64_t bytes)
{
    struct request *request = w->isa.block->worker->request;
    if (request->of.barrier && request->of.barrier != barrier)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, 0,
                   "timing does not know copies of one warp for several barriers at a time");
    request->of.barrier_bytes = bytes + (request->of.barrier ? request->of.barrier_bytes : 0);
    request->of.barrier = barrier;
}

/* ---- the copies ---- */

struct bulk {
    enum ptx_space to_space, from_space; /* PTX_GLOBAL or PTX_CLUSTER */
    struct async_address to, from, barrier;
    uint32_t size; /* place */
    struct async_targets targets;
    struct async_reduction reduction;
};

static void check_bulk(struct warp *w, const struct op *op, uint32_t lane, uint64_t to, uint64_t from,
                       uint64_t bytes)
{
    if ((to | from | bytes) & 15)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_MISALIGNED, to,
                   "a copy of %llu bytes from 0x%llx to 0x%llx, which must be multiples of 16",
                   (unsigned long long)bytes, (unsigned long long)from, (unsigned long long)to);
}

/* A copy between global memory and the block's shared memory, which a model that keeps time performs. */
static void request_bulk(struct warp *w, const struct op *op, uint32_t lane, char *host, uint64_t global,
                         uint64_t bytes)
{
    const struct bulk *bulk = op->more;
    bool writes = bulk->to_space == PTX_GLOBAL;
    async_request(w, lane, global, host, bytes, writes);
    if (!writes)
        async_request_barrier(
            w, op, lane,
            access_bytes(w, op, lane, PTX_CLUSTER, async_address(w, &bulk->barrier, lane), 8, true), bytes);
}

/* To one block: this one, unless the copy is for several, or goes from block to block. */
static void copy_to(struct warp *w, const struct op *op, uint32_t lane, uint64_t to, char *from,
                    uint64_t bytes)
{
    const struct bulk *bulk = op->more;
    char *place = access_bytes(w, op, lane, bulk->to_space, to, bytes, true);
    if (bulk->reduction.reduces)
        async_reduce(&bulk->reduction, place, from, bytes, bulk->to_space == PTX_GLOBAL);
    else
        memcpy(place, from, bytes);
}

/* Between global memory and one block. */
static bool is_plain(const struct bulk *bulk)
{
    return bulk->to_space != bulk->from_space && !bulk->reduction.reduces && !bulk->targets.has_mask;
}

void async_check_timed(struct warp *w, const struct op *op, lanes active)
{
    if (w->isa.block->worker->clock)
        warp_fault(w, op, active, FAULT_INSTRUCTION, 0,
                   "copies between blocks or to several of them, and those that reduce, have no timing: use "
                   "--mode functional");
}

static void run_bulk(struct warp *w, const struct op *op, lanes active)
{
    const struct bulk *bulk = op->more;
    const struct request *request = w->isa.block->worker->request;
    w->wait = WAIT_NOT;
    if (!is_plain(bulk))
        async_check_timed(w, op, active);
    EACH_LANE (lane, active) {
        uint64_t bytes = lane_get(warp_at(w, bulk->size), 4, lane);
        uint64_t to = async_address(w, &bulk->to, lane), from = async_address(w, &bulk->from, lane);
        check_bulk(w, op, lane, to, from, bytes);
        char *source = access_bytes(w, op, lane, bulk->from_space, from, bytes, false);
        if (request && is_plain(bulk)) {
            bool loads = bulk->to_space == PTX_CLUSTER;
            char *target = access_bytes(w, op, lane, bulk->to_space, to, bytes, true);
            request_bulk(w, op, lane, loads ? target : source, loads ? from : to, bytes);
            continue;
        }
        if (bulk->to_space == PTX_GLOBAL) {
            copy_to(w, op, lane, to, source, bytes);
            continue;
        }
        uint64_t barrier = async_address(w, &bulk->barrier, lane);
        for (uint64_t ranks = async_ranks(w, &bulk->targets, lane, to); ranks; ranks &= ranks - 1) {
            uint32_t rank = (uint32_t)__builtin_ctzll(ranks);
            copy_to(w, op, lane, async_address_of(to, rank), source, bytes);
            uint32_t counts = bulk->targets.has_mask ? rank : (uint32_t)(barrier >> CLUSTER_SHARED_SHIFT);
            mbarrier_signal(w, op, lane, async_address_of(barrier, counts), bytes);
        }
    }
}

enum lowered lower_bulk(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct bulk *bulk = lower_own(lower, sizeof *bulk);
    bool counts = ptx_opcode_has(opcode, "mbarrier::complete_tx::bytes");
    bool is_global = ptx_opcode_has(opcode, "global");
    uint32_t i = 0;
    bulk->to_space = counts ? PTX_CLUSTER : PTX_GLOBAL;
    bulk->from_space = counts && is_global ? PTX_GLOBAL : PTX_CLUSTER;
    if ((!counts && (!is_global || !ptx_opcode_has(opcode, "bulk_group"))) ||
        ptx_opcode_has(opcode, "cp_mask"))
        return lower_fail(lower, "Heddle does not know this copy");
    if (ptx_is(lower->inst, "cp.reduce") &&
        !async_find_reduction(opcode, strrchr(opcode, '.') + 1, &bulk->reduction))
        return lower_fail(lower, "Heddle does not know this reduction");
    op->unit = UNIT_LSU;
    op->more = bulk;
    op->run.exec = run_bulk;
    op->flags |= OP_WAITS;
    if (!async_lower_address(lower, lower_operand(lower, i++), bulk->to_space, &bulk->to) ||
        !async_lower_address(lower, lower_operand(lower, i++), bulk->from_space, &bulk->from) ||
        !lower_source(lower, lower_operand(lower, i++), TYPE_u32, &bulk->size) ||
        (counts && !async_lower_address(lower, lower_operand(lower, i++), PTX_CLUSTER, &bulk->barrier)))
        return LOWER_FAILED;
    bulk->targets.has_mask = ptx_opcode_has(opcode, "multicast::cluster");
    return !bulk->targets.has_mask ||
                   lower_source(lower, lower_operand(lower, i), TYPE_u16, &bulk->targets.mask)
               ? LOWERED
               : LOWER_FAILED;
}

/* Copies are done already; this is for the time they take. */
enum lowered lower_bulk_group(struct lower *lower, struct op *op)
{
    bool waits = ptx_is(lower->inst, "cp.async.bulk.wait_group");
    op->role = waits ? ROLE_BULK_WAIT : ROLE_BULK_COMMIT;
    if (waits && lower_operand(lower, 0)->kind != PTX_OP_INTEGER)
        return lower_fail(lower, "a number of groups was expected");
    op->value = waits ? (int64_t)lower_operand(lower, 0)->value : 0;
    return lower_nothing(lower, op);
}
