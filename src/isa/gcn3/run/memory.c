/* Vector memory: lanes' addresses, checked to the byte, then the data. Flat addresses may be of global
 * memory, LDS or private memory, lane by lane. With time, global memory is asked by a request; what it brings
 * lands in `incoming` until the program has waited for it. */
#include "gcn3_run/wave.h"
#include "gcn3_run/buffer.h"
#include "gcn3_run/hostcall.h"
#include "gcn3_run/image.h"
#include "base/bits.h"
#include "base/text.h"
#include "exec/atomics.h"

#include <string.h>

/* ---- lanes and registers ---- */

uint32_t (*gcn3_landing(const struct gcn3_wave *w))[GCN3_LANES]
{
    return w->isa.block->worker->request ? w->incoming : w->v;
}

/* One that is shorter than a register fills it, or half of it (d16). */
static uint32_t widened(const struct gcn3_lowered *op, uint32_t value, uint32_t old)
{
    uint32_t bits = 8u * op->access.bytes, flags = gcn3_rows[op->inst.op].flags;
    if (op->access.is_signed)
        value = (uint32_t)((int32_t)(value << (32 - bits)) >> (32 - bits));
    if (flags & GCN3_D16)
        return (old & 0xffff0000) | (value & 0xffff);
    return flags & GCN3_D16_HI ? (old & 0xffff) | value << 16 : value;
}

void gcn3_take_lane(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                    const unsigned char *bytes)
{
    uint32_t(*to)[GCN3_LANES] = gcn3_landing(w) + op->inst.d.number;
    if (op->access.bytes >= 4) {
        for (uint32_t k = 0; k < op->access.dwords; k++)
            memcpy(&to[k][lane], bytes + 4 * k, 4);
        return;
    }
    uint32_t value = 0;
    memcpy(&value, bytes, op->access.bytes);
    to[0][lane] = widened(op, value, w->v[op->inst.d.number][lane]);
}

void gcn3_give_lane(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                    unsigned char *bytes)
{
    const uint32_t(*from)[GCN3_LANES] = (const uint32_t(*)[GCN3_LANES])w->v + op->inst.b.number;
    if (op->access.bytes >= 4) {
        for (uint32_t k = 0; k < op->access.dwords; k++)
            memcpy(bytes + 4 * k, &from[k][lane], 4);
        return;
    }
    uint32_t value = from[0][lane] >> (gcn3_rows[op->inst.op].flags & GCN3_D16_HI ? 16 : 0);
    memcpy(bytes, &value, op->access.bytes);
}

static uint64_t operand_of(const struct gcn3_wave *w, uint32_t number, uint32_t lane, uint32_t bytes)
{
    uint64_t low = w->v[number][lane];
    return bytes == 8 ? low | (uint64_t)w->v[number + 1][lane] << 32 : low;
}

/* Of an atomic operation, as exec/atomics.c has them: what it applies; of a compare-and-swap what it compares
 * with, and the new value. */
static void operands_of(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                        uint64_t *operand, uint64_t *compare)
{
    uint32_t bytes = op->access.bytes, number = op->inst.b.number;
    uint64_t value = operand_of(w, number, lane, bytes);
    bool swaps = op->inst.b.dwords > bytes / 4; /* registers have the new value first */
    *operand = swaps ? operand_of(w, number + bytes / 4, lane, bytes) : op->access.negates ? -value : value;
    *compare = swaps ? value : 0;
}

static void take_old(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint64_t old)
{
    if (op->access.returns)
        gcn3_take_lane(w, op, lane, (const unsigned char *)&old);
}

/* ---- global memory ---- */

static _Noreturn void bad_address(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                                  uint64_t at)
{
    struct text text = {0};
    char nearest[512];
    worker_describe(w->isa.block->worker, at, &text);
    snprintf(nearest, sizeof nearest, "%s", text.at ? text.at : "");
    text_fini(&text);
    gcn3_fault(w, op, lane, FAULT_ADDRESS, at, "%s of %u bytes at 0x%llx, %s",
               op->access.writes ? "a write" : "a read", op->access.bytes, (unsigned long long)at, nearest);
}

static void check_lane(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, uint64_t at)
{
    struct worker *worker = w->isa.block->worker;
    struct found *found = &worker->found[op->access.number];
    uint32_t bytes = op->access.bytes;
    if (LIKELY(at - found->at < found->bytes && found->bytes - (at - found->at) >= bytes &&
               !(op->access.writes && found->read_only)))
        return;
    struct range range;
    bool known = worker_find(worker, at, &range);
    if (known && op->access.writes && range.read_only)
        bad_address(w, op, lane, at);
    if (!known || range.bytes - (at - range.at) < bytes) {
        if (!image_in_spare(worker->grid->launch->image, at, bytes))
            bad_address(w, op, lane, at);
        return;
    }
    *found = (struct found){range.at, range.bytes, range.read_only};
}

/* How far behind this place the farthest lane is. */
FOR_EACH_HOST static uint64_t farthest(const uint64_t at[GCN3_LANES], uint64_t from)
{
    uint64_t most = 0;
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        most = at[i] - from > most ? at[i] - from : most;
    return most;
}

/* All lanes are where this instruction last found memory. */
static bool is_where_it_was(const struct gcn3_wave *w, const struct gcn3_lowered *op,
                            const uint64_t at[GCN3_LANES])
{
    const struct found *found = &w->isa.block->worker->found[op->access.number];
    if (op->access.is_atomic || (op->access.writes && found->read_only) || found->bytes < op->access.bytes)
        return false;
    return farthest(at, found->at) <= found->bytes - op->access.bytes;
}

void gcn3_check_global(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                       lane_mask lanes)
{
    if (LIKELY(lanes == UINT64_MAX && is_where_it_was(w, op, at)))
        return;
    EACH_LANE (i, lanes) {
        check_lane(w, op, i, at[i]);
        if (op->access.is_atomic && at[i] % op->access.bytes)
            gcn3_fault(w, op, i, FAULT_MISALIGNED, at[i],
                       "an atomic operation of %u bytes at 0x%llx, which is not aligned to its size",
                       op->access.bytes, (unsigned long long)at[i]);
    }
}

/* Words that lie side by side, for all lanes, are the usual case. */
static bool is_dense(const uint64_t at[GCN3_LANES])
{
    uint64_t wrong = 0;
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        wrong |= at[i] ^ (at[0] + 4 * (uint64_t)i);
    return !wrong;
}

static void move_words(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                       lane_mask lanes)
{
    bool dense = lanes == UINT64_MAX && op->access.dwords == 1 && is_dense(at);
    if (dense && op->access.writes)
        memcpy((void *)(uintptr_t)at[0], w->v[op->inst.b.number], sizeof *w->v);
    else if (dense)
        memcpy(w->v[op->inst.d.number], (void *)(uintptr_t)at[0], sizeof *w->v);
    else if (op->access.writes)
        for (uint32_t k = 0; k < op->access.dwords; k++)
            EACH_LANE (i, lanes)
                memcpy((char *)(uintptr_t)at[i] + 4 * k, &w->v[op->inst.b.number + k][i], 4);
    else
        for (uint32_t k = 0; k < op->access.dwords; k++)
            EACH_LANE (i, lanes)
                memcpy(&w->v[op->inst.d.number + k][i], (char *)(uintptr_t)at[i] + 4 * k, 4);
}

/* Without time: done at once. */
static void perform(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                    lane_mask lanes)
{
    if (LIKELY(!op->access.is_atomic && op->access.bytes >= 4)) {
        move_words(w, op, at, lanes);
        return;
    }
    EACH_LANE (i, lanes) {
        unsigned char *place = (unsigned char *)(uintptr_t)at[i];
        uint64_t operand, compare;
        if (op->access.is_atomic) {
            operands_of(w, op, i, &operand, &compare);
            take_old(w, op, i, atomic_perform(op->access.operation, place, operand, compare));
        } else if (op->access.writes) {
            gcn3_give_lane(w, op, i, place);
        } else {
            gcn3_take_lane(w, op, i, place);
        }
    }
}

static void ask(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                lane_mask lanes)
{
    struct request *request = w->isa.block->worker->request;
    const struct gcn3_data *access = &op->access;
    struct delivery *of = &request->of;
    of->kind = access->is_atomic ? REQUEST_ATOMIC : access->writes ? REQUEST_STORE : REQUEST_LOAD;
    of->lanes = lanes;
    of->bytes = access->bytes;
    of->keep = !op->inst.glc;
    of->acquires = false;
    of->operation = access->operation;
    of->returns = access->returns;
    of->how = op;
    of->registers = (char *)w;
    memcpy(of->at, at, sizeof of->at);
    if (access->is_atomic)
        EACH_LANE (i, lanes)
            operands_of(w, op, i, &request->operand[i], &request->compare[i]);
    /* coalescing looks at all lanes at once: those that are off are where the first one is */
    for (lane_mask off = ~lanes; off; off &= off - 1)
        of->at[first_lane(off)] = at[first_lane(lanes)];
}

void gcn3_access_global(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at[GCN3_LANES],
                        lane_mask lanes)
{
    if (!lanes)
        return;
    gcn3_check_global(w, op, at, lanes);
    if (w->isa.block->worker->request)
        ask(w, op, at, lanes);
    else
        perform(w, op, at, lanes);
}

/* ---- private memory: `at` is a place in the wave's ---- */

/* Words of a work-item's private memory are STRIDE apart: those of other lanes stand between them. */
enum { STRIDE = 4 * GCN3_LANES };

static void read_scratch(const char *from, void *bytes, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += 4)
        memcpy((char *)bytes + done, from + (uint64_t)done / 4 * STRIDE, min_u64(count - done, 4));
}

static void write_scratch(char *to, const void *bytes, uint32_t count)
{
    for (uint32_t done = 0; done < count; done += 4)
        memcpy(to + (uint64_t)done / 4 * STRIDE, (const char *)bytes + done, min_u64(count - done, 4));
}

/* An atomic operation through a flat address that turns out to be private. */
static void change_scratch(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane, char *place)
{
    uint64_t old = 0, operand, compare;
    read_scratch(place, &old, op->access.bytes);
    operands_of(w, op, lane, &operand, &compare);
    uint64_t new = atomic_apply(op->access.operation, old, operand, compare, false);
    write_scratch(place, &new, op->access.bytes);
    take_old(w, op, lane, old);
}

void gcn3_access_scratch(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at[GCN3_LANES],
                         lane_mask lanes)
{
    struct request *request = w->isa.block->worker->request;
    EACH_LANE (i, lanes) {
        unsigned char bytes[16];
        uint32_t piece = (uint32_t)min_u64(op->access.bytes, 4);
        uint64_t last = at[i] + (op->access.bytes > 4 ? (uint64_t)(op->access.dwords - 1) * STRIDE : 0);
        if (at[i] >= w->scratch_bytes || last + piece > w->scratch_bytes)
            gcn3_fault(w, op, i, FAULT_ADDRESS, at[i] / STRIDE * 4,
                       "%s at byte %llu of the work-item's %llu bytes of private memory",
                       op->access.writes ? "a write" : "a read", (unsigned long long)(at[i] / STRIDE * 4),
                       (unsigned long long)(w->scratch_bytes / GCN3_LANES));
        if (op->access.is_atomic) {
            change_scratch(w, op, i, w->scratch + at[i]);
        } else if (op->access.writes) {
            gcn3_give_lane(w, op, i, bytes);
            write_scratch(w->scratch + at[i], bytes, op->access.bytes);
        } else {
            read_scratch(w->scratch + at[i], bytes, op->access.bytes);
            gcn3_take_lane(w, op, i, bytes);
        }
        if (request)
            request->local_at[i] = at[i] / STRIDE * 4 + at[i] % 4;
    }
    if (request) {
        request->local = lanes;
        request->local_bytes = op->access.bytes;
        request->local_writes = op->access.writes;
    }
}

/* ---- LDS, by flat addresses ---- */

/* Of memory that no other block sees. */
static void access_place(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t lane,
                         unsigned char *place)
{
    if (op->access.is_atomic) {
        uint64_t old = 0, operand, compare;
        memcpy(&old, place, op->access.bytes);
        operands_of(w, op, lane, &operand, &compare);
        uint64_t new = atomic_apply(op->access.operation, old, operand, compare, false);
        memcpy(place, &new, op->access.bytes);
        take_old(w, op, lane, old);
    } else if (op->access.writes) {
        gcn3_give_lane(w, op, lane, place);
    } else {
        gcn3_take_lane(w, op, lane, place);
    }
}

void gcn3_access_lds(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                     lane_mask lanes)
{
    struct block *block = w->isa.block;
    struct request *request = block->worker->request;
    EACH_LANE (i, lanes) {
        access_place(w, op, i, gcn3_lds_place(w, op, i, at[i], op->access.bytes));
        if (request)
            request->shared_at[i] = (uint32_t)at[i];
    }
    if (request) {
        request->shared = lanes;
        request->shared_bytes = op->access.bytes;
        request->shared_atomic = op->access.is_atomic;
        request->shared_use = !op->access.is_atomic ? (op->access.writes ? SHARED_WRITE : SHARED_READ)
                              : op->access.returns  ? SHARED_CHANGE
                              : atomic_rows[op->access.operation].commutes ? SHARED_COMMUTES
                                                                           : SHARED_WRITE;
    }
}

/* ---- flat addresses ---- */

/* Of 64 bits in two VGPRs, or of 32 bits beside a scalar base (GLOBAL). */
static void flat_addresses(const struct gcn3_wave *w, const struct gcn3_inst *inst, uint64_t at[GCN3_LANES])
{
    const uint32_t *low = w->v[inst->a.number];
    bool has_base = inst->saddr.kind == GCN3_SGPR || inst->saddr.kind == GCN3_SPECIAL;
    uint64_t more = (uint64_t)(int64_t)inst->offset + (has_base ? gcn3_pair(w, inst->saddr.number) : 0);
    if (inst->a.dwords < 2) {
        for (uint32_t i = 0; i < GCN3_LANES; i++)
            at[i] = low[i] + more;
        return;
    }
    const uint32_t *high = w->v[inst->a.number + 1];
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        at[i] = (low[i] | (uint64_t)high[i] << 32) + more;
}

static lane_mask in_window(const uint64_t at[GCN3_LANES], lane_mask lanes, uint64_t window)
{
    lane_mask in = 0;
    EACH_LANE (i, lanes)
        in |= (lane_mask)(at[i] >> 32 == window >> 32) << i;
    return in;
}

/* Arguments can be read, and host calls written, too. */
static void access_param(struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t i, uint64_t at)
{
    unsigned char bytes[16], *hostcall = gcn3_hostcall_place(w, at, op->access.bytes);
    if (hostcall) {
        access_place(w, op, i, hostcall);
        if (op->access.writes)
            gcn3_hostcall_written(w, op, at);
        return;
    }
    if (op->access.writes || !gcn3_read_params(w, at, op->access.bytes, bytes))
        gcn3_fault(w, op, i, FAULT_ADDRESS, at, "%s at byte %llu of the kernel's arguments",
                   op->access.writes ? "a write" : "a read", (unsigned long long)(at - GCN3_KERNARG));
    gcn3_take_lane(w, op, i, bytes);
}

static void access_params(struct gcn3_wave *w, const struct gcn3_lowered *op, const uint64_t at[GCN3_LANES],
                          lane_mask lanes)
{
    struct request *request = w->isa.block->worker->request;
    EACH_LANE (i, lanes) {
        access_param(w, op, i, at[i]);
        if (request)
            request->param_at[i] = at[i] - GCN3_KERNARG;
    }
    if (request)
        request->param = lanes;
}

static void access_windows(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at[GCN3_LANES],
                           lane_mask *lanes)
{
    lane_mask shared = in_window(at, *lanes, WINDOW_SHARED), local = in_window(at, *lanes, WINDOW_LOCAL);
    lane_mask params = in_window(at, *lanes, WINDOW_PARAM);
    EACH_LANE (i, shared)
        at[i] -= WINDOW_SHARED;
    EACH_LANE (i, local)
        at[i] = (at[i] - WINDOW_LOCAL) / 4 * 4 * GCN3_LANES + 4 * i + at[i] % 4;
    if (shared)
        gcn3_access_lds(w, op, at, shared);
    if (local)
        gcn3_access_scratch(w, op, at, local);
    if (params)
        access_params(w, op, at, params);
    *lanes &= ~(shared | local | params);
}

static void flat(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint64_t at[GCN3_LANES], all = 0;
    lane_mask lanes = gcn3_exec(w);
    if (!lanes && !w->isa.block->worker->request)
        return;
    w->polls += op->inst.glc;
    flat_addresses(w, &op->inst, at);
    EACH_LANE (i, lanes)
        all |= at[i];
    if (UNLIKELY(all >= WINDOW_SHARED))
        access_windows(w, op, at, &lanes);
    gcn3_access_global(w, op, at, lanes);
    if (w->isa.block->worker->request)
        gcn3_begin_pending(w, op,
                           op->inst.format == GCN3_FLAT ? 1 << GCN3_VM | 1 << GCN3_LGKM : 1 << GCN3_VM);
}

/* gfx9: a lane's own offset, a scalar one, or none. */
static void scratch(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint64_t at[GCN3_LANES];
    const struct gcn3_inst *inst = &op->inst;
    bool has_lanes = inst->a.kind == GCN3_VGPR;
    bool has_base = inst->saddr.kind == GCN3_SGPR || inst->saddr.kind == GCN3_SPECIAL;
    for (uint32_t i = 0; i < GCN3_LANES; i++) {
        uint64_t place = (uint64_t)(int64_t)inst->offset + (has_lanes ? w->v[inst->a.number][i] : 0) +
                         (has_base ? w->s[inst->saddr.number] : 0);
        at[i] = place / 4 * 4 * GCN3_LANES + 4 * i + place % 4;
    }
    gcn3_access_scratch(w, op, at, gcn3_exec(w));
    if (w->isa.block->worker->request)
        gcn3_begin_pending(w, op, 1 << GCN3_VM);
}

/* ---- what an instruction is ---- */

/* Names of atomic operations behind "atomic_", and rows of exec/atomics.c for 4 and 8 bytes. */
static const struct {
    const char *name, *row[2];
    bool negates;
} atomics[] = {{"swap", {"exch.b32", "exch.b64"}, false}, {"cmpswap", {"cas.b32", "cas.b64"}, false},
               {"add", {"add.u32", "add.u64"}, false},    {"sub", {"add.u32", "add.u64"}, true},
               {"smin", {"min.s32", "min.s64"}, false},   {"umin", {"min.u32", "min.u64"}, false},
               {"smax", {"max.s32", "max.s64"}, false},   {"umax", {"max.u32", "max.u64"}, false},
               {"and", {"and.b32", "and.b64"}, false},    {"or", {"or.b32", "or.b64"}, false},
               {"xor", {"xor.b32", "xor.b64"}, false},    {"inc", {"inc.u32", "inc.u64"}, false},
               {"dec", {"dec.u32", "dec.u64"}, false}};

bool gcn3_set_atomic(struct gcn3_data *access, const char *text)
{
    const char *name = strstr(text, "atomic_");
    size_t length = name ? strcspn(name + 7, "_") : 0;
    for (size_t i = 0; name && i < COUNT_OF(atomics); i++) {
        if (strlen(atomics[i].name) != length || strncmp(atomics[i].name, name + 7, length) != 0)
            continue;
        for (uint32_t row = 0; row < atomic_row_count; row++)
            if (!strcmp(atomic_rows[row].name, atomics[i].row[access->bytes == 8])) {
                access->operation = (uint8_t)row;
                access->negates = atomics[i].negates;
                return true;
            }
    }
    return false;
}

gcn3_run_fn *gcn3_memory(struct gcn3_lowered *op)
{
    const struct gcn3_row *row = &gcn3_rows[op->inst.op];
    struct gcn3_data *access = &op->access;
    uint8_t format = op->inst.format;
    if (format == GCN3_SMEM)
        return gcn3_smem(op);
    if (format == GCN3_DS)
        return gcn3_lds(op);
    if (format == GCN3_MTBUF)
        return gcn3_typed(op);
    if (format == GCN3_MIMG)
        return gcn3_image(op);
    bool is_flat = format == GCN3_FLAT || format == GCN3_GLOBAL || format == GCN3_SCRATCH;
    if (!is_flat && format != GCN3_MUBUF)
        return NULL;
    access->bytes = row->memory_bytes;
    access->is_atomic = (row->flags & GCN3_ATOMIC) != 0;
    access->writes = access->is_atomic || strstr(row->text, "store");
    access->returns = access->is_atomic && op->inst.glc;
    access->is_signed = strstr(row->text, "sbyte") || strstr(row->text, "sshort");
    access->dwords = (uint8_t)((access->bytes + 3) / 4);
    if (access->is_atomic && !gcn3_set_atomic(access, row->text))
        return NULL;
    if (format == GCN3_MUBUF)
        return gcn3_buffer(op);
    if (op->inst.lds)
        return NULL;
    return format == GCN3_SCRATCH ? scratch : flat;
}
