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
    return false;
}

bool async_is_ordered(const char *opcode)
{
    struct async_reduction reduction;
    return !async_find_reduction(opcode, strrchr(opcode, '.') + 1, &reduction) ||
           !atomic_rows[reduction.row].commutes;
}

void async_reduce(const struct async_reduction *reduction, char *to, const char *from, uint64_t bytes,
                  bool far)
{
    for (uint64_t i = 0; i < bytes; i += reduction->bytes) {
        uint64_t operand = 0, old = 0;
        memcpy(&operand, from + i, reduction->bytes);
        if (far) { /* blocks may run on several threads of the host */
            (void)atomic_perform((uint8_t)reduction->row, to + i, operand, 0);
            continue;
        }
        memcpy(&old, to + i, reduction->bytes);
        old = atomic_apply(reduction->row, old, operand, 0, false);
        memcpy(to + i, &old, reduction->bytes);
    }
}

/* ---- requests to models that keep time ---- */

static struct request *begin_request(struct warp *w)
{
    struct request *request = w->isa.block->worker->request;
    request->of.kind = REQUEST_PIECES;
    request->of.is_async = true;
    request->of.keep = false;
    return request;
}

void async_request(struct warp *w, uint32_t lane, uint64_t at, char *host, uint64_t offset, uint64_t bytes,
                   bool writes)
{
    struct request *request = begin_request(w);
    bool is_memory = at >= PIECE_AT_MOST;
    request->writes = writes;
    for (uint64_t done = 0, size; done < bytes; done += size) {
        size = min_u64(128 - (is_memory ? at + done : offset + done) % 128, bytes - done);
        access_add_piece(request, is_memory ? at + done : at, host ? host + done : NULL, size, lane);
        request->pieces[request->piece_count - 1].stage_at = offset + done;
    }
}

struct async_ends async_ends(struct warp *w, const struct op *op, uint32_t lane,
                             const struct async_targets *targets, uint64_t to, uint64_t bytes)
{
    uint64_t ranks = async_ranks(w, targets, lane, to), own = UINT64_C(1) << w->isa.block->rank;
    for (uint64_t rest = ranks & ~own; rest; rest &= rest - 1)
        (void)access_cluster_place(w, op, lane, async_address_of(to, (uint32_t)__builtin_ctzll(rest)), bytes,
                                   true);
    return (struct async_ends){.is_own = (ranks & own) != 0, .others = ranks & ~own};
}

void async_request_barrier(struct warp *w, const struct op *op, uint32_t lane, struct async_ends ends,
                           uint64_t barrier, uint64_t bytes)
{
    const struct block *block = w->isa.block;
    struct delivery *of = &begin_request(w)->of;
    uint32_t offset = (uint32_t)(barrier & (WINDOW_BYTES - 1));
    char *own =
        ends.is_own ? access_bytes(w, op, lane, PTX_CLUSTER, block->shared_from | offset, 8, true) : NULL;
    bool is_first = !of->barrier && !of->targets;
    for (uint64_t rest = ends.others; rest; rest &= rest - 1)
        (void)access_cluster_place(w, op, lane, async_address_of(offset, (uint32_t)__builtin_ctzll(rest)), 8,
                                   true);
    if (!is_first && (of->barrier != own || of->targets != ends.others || of->barrier_at != offset))
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, 0,
                   "timing does not know copies of one warp for several barriers at a time");
    of->barrier_bytes = bytes + (is_first ? 0 : of->barrier_bytes);
    of->barrier = own;
    of->barrier_at = offset;
    of->targets = ends.others;
}

void async_request_reduction(struct warp *w, const struct async_reduction *reduction)
{
    struct delivery *of = &begin_request(w)->of;
    of->reduces = reduction->reduces;
    of->operation = (uint8_t)reduction->row;
    of->bytes = reduction->bytes;
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

struct bulk_copy {
    uint32_t lane;
    uint64_t to, from, bytes, barrier;
    char *source; /* on the host */
};

static void copy_at_once(struct warp *w, const struct op *op, const struct bulk_copy *copy)
{
    const struct bulk *bulk = op->more;
    uint32_t lane = copy->lane;
    if (bulk->to_space == PTX_GLOBAL) {
        copy_to(w, op, lane, copy->to, copy->source, copy->bytes);
        return;
    }
    for (uint64_t ranks = async_ranks(w, &bulk->targets, lane, copy->to); ranks; ranks &= ranks - 1) {
        uint32_t rank = (uint32_t)__builtin_ctzll(ranks);
        copy_to(w, op, lane, async_address_of(copy->to, rank), copy->source, copy->bytes);
        uint32_t counts = bulk->targets.has_mask ? rank : (uint32_t)(copy->barrier >> CLUSTER_SHARED_SHIFT);
        mbarrier_signal(w, op, lane, async_address_of(copy->barrier, counts), copy->bytes);
    }
}

/* To a block on the same SM, which needs no network: as without time. */
static bool is_near(const struct warp *w, const struct bulk *bulk, uint64_t to)
{
    const struct cga *cluster = w->isa.block->cluster;
    return bulk->from_space == PTX_CLUSTER && bulk->to_space == PTX_CLUSTER &&
           (!cluster || cga_block(cluster, to >> CLUSTER_SHARED_SHIFT));
}

/* What a model that keeps time is asked for. */
static void copy_in_time(struct warp *w, const struct op *op, const struct bulk_copy *copy)
{
    const struct bulk *bulk = op->more;
    uint32_t lane = copy->lane;
    uint64_t offset = copy->to & (WINDOW_BYTES - 1), bytes = copy->bytes;
    if (bulk->to_space == PTX_GLOBAL) {
        (void)access_bytes(w, op, lane, PTX_GLOBAL, copy->to, bytes, true);
        async_request(w, lane, copy->to, copy->source, 0, bytes, true);
        async_request_reduction(w, &bulk->reduction);
        return;
    }
    if (!bulk->targets.has_mask && (copy->to ^ copy->barrier) >> CLUSTER_SHARED_SHIFT)
        warp_fault(w, op, UINT32_C(1) << lane, FAULT_INSTRUCTION, copy->barrier,
                   "a copy whose barrier is in another block's shared memory than its bytes");
    struct async_ends ends = async_ends(w, op, lane, &bulk->targets, copy->to, bytes);
    char *own = ends.is_own
                    ? access_bytes(w, op, lane, PTX_CLUSTER, w->isa.block->shared_from | offset, bytes, true)
                    : NULL;
    bool is_here = bulk->from_space == PTX_CLUSTER;
    async_request(w, lane, is_here ? PIECE_IS_HERE : copy->from, is_here ? copy->source : own, offset, bytes,
                  is_here);
    async_request_reduction(w, &bulk->reduction);
    async_request_barrier(w, op, lane, ends, copy->barrier, bytes);
}

/* Without time, but with someone who is told of accesses to global memory. */
static void copy_watched(struct warp *w, const struct op *op, const struct bulk_copy *copy)
{
    const struct bulk *bulk = op->more;
    bool loads = bulk->to_space == PTX_CLUSTER;
    char *target = access_bytes(w, op, copy->lane, bulk->to_space, copy->to, copy->bytes, true);
    async_request(w, copy->lane, loads ? copy->from : copy->to, loads ? target : copy->source, 0, copy->bytes,
                  !loads);
    if (!loads)
        return;
    struct delivery *of = &w->isa.block->worker->request->of;
    char *barrier = access_bytes(w, op, copy->lane, PTX_CLUSTER, copy->barrier, 8, true);
    if (of->barrier && of->barrier != barrier)
        warp_fault(w, op, UINT32_C(1) << copy->lane, FAULT_INSTRUCTION, 0,
                   "nobody can watch copies of one warp for several barriers at a time");
    of->barrier_bytes = copy->bytes + (of->barrier ? of->barrier_bytes : 0);
    of->barrier = barrier;
}

static void run_bulk(struct warp *w, const struct op *op, lanes active)
{
    const struct bulk *bulk = op->more;
    const bool is_plain = !bulk->reduction.reduces && !bulk->targets.has_mask;
    const bool is_far = bulk->to_space != bulk->from_space;
    const struct worker *worker = w->isa.block->worker;
    w->wait = WAIT_NOT;
    EACH_LANE (lane, active) {
        struct bulk_copy copy = {.lane = lane,
                                 .to = async_address(w, &bulk->to, lane),
                                 .from = async_address(w, &bulk->from, lane),
                                 .bytes = lane_get(warp_at(w, bulk->size), 4, lane)};
        if (bulk->to_space == PTX_CLUSTER)
            copy.barrier = async_address(w, &bulk->barrier, lane);
        if (!copy.bytes) /* CUB makes such copies, also of null pointers and odd addresses: they touch nothing
                          */
            continue;
        check_bulk(w, op, lane, copy.to, copy.from, copy.bytes);
        copy.source = access_bytes(w, op, lane, bulk->from_space, copy.from, copy.bytes, false);
        if (worker->clock && !is_near(w, bulk, copy.to))
            copy_in_time(w, op, &copy);
        else if (!worker->clock && worker->request && is_plain && is_far)
            copy_watched(w, op, &copy);
        else
            copy_at_once(w, op, &copy);
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
