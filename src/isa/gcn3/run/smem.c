/* Scalar memory: loads to scalar registers, through the scalar data cache; the clock. */
#include "gcn3_run/hostcall.h"
#include "base/bits.h"
#include "base/text.h"
#include "exec/atomics.h"

#include <string.h>

/* The packet that AQL queues have for a launch; code reads the sizes. */
static void fill_packet(const struct gcn3_wave *w, unsigned char packet[64])
{
    const struct grid *grid = w->isa.block->worker->grid;
    const struct launch *launch = grid->launch;
    memset(packet, 0, 64);
    uint16_t setup = launch->dimensions ? (uint16_t)launch->dimensions : 3;
    memcpy(packet + 2, &setup, 2);
    for (uint32_t i = 0; i < 3; i++) {
        uint16_t group = (uint16_t)launch->block[i];
        uint32_t all = launch->grid[i] * launch->block[i];
        memcpy(packet + 4 + 2 * i, &group, 2);
        memcpy(packet + 12 + 4 * i, &all, 4);
    }
    uint32_t private_bytes = gcn3_kernel_of(w)->info->private_bytes;
    uint32_t group_bytes = (uint32_t)w->isa.block->shared_bytes;
    uint64_t kernarg = GCN3_KERNARG;
    memcpy(packet + 24, &private_bytes, 4);
    memcpy(packet + 28, &group_bytes, 4);
    memcpy(packet + 40, &kernarg, 8);
}

static void fill_queue(unsigned char queue[256])
{
    uint32_t bases[2] = {(uint32_t)(WINDOW_SHARED >> 32), (uint32_t)(WINDOW_LOCAL >> 32)};
    memset(queue, 0, 256);
    memcpy(queue + 0x40, bases, sizeof bases);
}

bool gcn3_read_params(struct gcn3_wave *w, uint64_t at, uint32_t bytes, void *to)
{
    const struct grid *grid = w->isa.block->worker->grid;
    unsigned char made[256];
    if (at - GCN3_KERNARG + bytes <= ((grid->param_bytes + 15) & ~UINT64_C(15)) && at >= GCN3_KERNARG) {
        memcpy(to, grid->params + (at - GCN3_KERNARG), bytes);
        return true;
    }
    const unsigned char *hostcall = gcn3_hostcall_place(w, at, bytes);
    if (hostcall) {
        memcpy(to, hostcall, bytes);
        return true;
    }
    bool is_packet = at >= GCN3_PACKET && at - GCN3_PACKET + bytes <= 64;
    bool is_queue = at >= GCN3_QUEUE && at - GCN3_QUEUE + bytes <= 256;
    if (is_packet)
        fill_packet(w, made);
    else if (is_queue)
        fill_queue(made);
    else
        return false;
    memcpy(to, made + (at - (is_packet ? GCN3_PACKET : GCN3_QUEUE)), bytes);
    return true;
}

/* ---- loads ---- */

/* The address, and how many of the bytes are inside of a buffer: of words, those that begin there. */
static uint64_t address_of(const struct gcn3_wave *w, const struct gcn3_lowered *op, uint32_t *inside)
{
    const struct gcn3_inst *inst = &op->inst;
    bool is_buffer = inst->a.dwords == 4;
    uint64_t base = gcn3_pair(w, inst->a.number), offset = (uint64_t)(int64_t)inst->offset;
    if (inst->saddr.kind == GCN3_SGPR || inst->saddr.kind == GCN3_SPECIAL)
        offset += (uint64_t)w->s[inst->saddr.number] * op->access.step;
    uint64_t stride = base >> 48 & 0x3fff;
    base = is_buffer ? base & ((UINT64_C(1) << 48) - 1) : base;
    uint64_t at = (base + offset) & ~UINT64_C(3), place = at - (base & ~UINT64_C(3));
    *inside = op->access.bytes;
    if (is_buffer) {
        uint64_t records = w->s[inst->a.number + 2], size = stride ? stride * records : records;
        uint64_t left = place < size ? (size - place + 3) / 4 * 4 : 0;
        *inside = (uint32_t)min_u64(left, op->access.bytes);
    }
    return at;
}

static void check_address(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at, uint32_t bytes)
{
    struct worker *worker = w->isa.block->worker;
    struct range range;
    if (worker_find(worker, at, &range) && range.bytes - (at - range.at) >= bytes &&
        !(op->access.writes && range.read_only))
        return;
    if (image_in_spare(worker->grid->launch->image, at, bytes))
        return;
    struct text text = {0};
    char nearest[512];
    worker_describe(worker, at, &text);
    snprintf(nearest, sizeof nearest, "%s", text.at ? text.at : "");
    text_fini(&text);
    gcn3_fault(w, op, 0, FAULT_ADDRESS, at, "%s of %u bytes at 0x%llx, %s",
               op->access.writes ? "a write" : "a read", bytes, (unsigned long long)at, nearest);
}

/* The wave's one address is lane 0's. */
static void ask(struct gcn3_wave *w, const struct gcn3_lowered *op, uint64_t at, uint32_t inside,
                enum request_kind kind)
{
    if (inside < op->access.bytes) {
        bool writes = kind == REQUEST_STORE;
        uint32_t *registers = writes ? &w->s[op->inst.b.number] : &w->incoming_s[op->inst.d.number];
        if (!writes)
            memset(registers, 0, op->access.bytes);
        gcn3_ask_piece(w, op, at, registers, inside, 0);
        return;
    }
    struct delivery *of = &w->isa.block->worker->request->of;
    of->kind = (uint8_t)kind;
    of->lanes = 1;
    of->bytes = op->access.bytes;
    of->keep = !op->inst.glc;
    of->acquires = false;
    of->operation = op->access.operation;
    of->returns = op->access.returns;
    of->how = op;
    of->registers = (char *)w;
    for (uint32_t i = 0; i < GCN3_LANES; i++)
        of->at[i] = at;
}

static void load(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct request *request = w->isa.block->worker->request;
    uint32_t bytes = op->access.bytes, *to = request ? w->incoming_s : w->s;
    uint32_t inside;
    uint64_t at = address_of(w, op, &inside);
    uint32_t values[16] = {0};
    bool is_param = at >> 32 == WINDOW_PARAM >> 32;
    if (request)
        gcn3_begin_pending(w, op, 1 << GCN3_LGKM);
    if (is_param) {
        if (!gcn3_read_params(w, at, bytes, values))
            gcn3_fault(w, op, 0, FAULT_ADDRESS, at,
                       "a read of %u bytes at byte %llu of the kernel's arguments", bytes,
                       (unsigned long long)(at - GCN3_KERNARG));
        if (request) {
            request->param = 1;
            request->param_at[0] = at - GCN3_KERNARG;
        }
    } else if (inside) {
        check_address(w, op, at, inside);
        if (request) {
            ask(w, op, at, inside, REQUEST_CONSTANT);
            return;
        }
        memcpy(values, (void *)(uintptr_t)at, inside);
    }
    memcpy(&to[op->inst.d.number], values, bytes);
}

static void store(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    uint32_t inside;
    uint64_t at = address_of(w, op, &inside);
    if (!inside)
        return;
    check_address(w, op, at, inside);
    if (w->isa.block->worker->request) {
        gcn3_begin_pending(w, op, 1 << GCN3_LGKM);
        ask(w, op, at, inside, REQUEST_STORE);
        return;
    }
    memcpy((void *)(uintptr_t)at, &w->s[op->inst.b.number], inside);
}

/* ---- atomics ---- */

static uint64_t operand_of(const struct gcn3_wave *w, uint32_t number, uint32_t bytes)
{
    return bytes == 8 ? gcn3_pair(w, number) : w->s[number];
}

/* The wave's one operation; of a buffer it is inside or not. */
static void change(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    struct request *request = w->isa.block->worker->request;
    uint32_t inside, bytes = op->access.bytes, number = op->inst.b.number;
    uint64_t at = address_of(w, op, &inside), value = operand_of(w, number, bytes);
    bool swaps = op->inst.b.dwords > bytes / 4; /* registers have the new value first */
    uint64_t operand = swaps ? operand_of(w, number + bytes / 4, bytes) : op->access.negates ? -value : value;
    if (request)
        gcn3_begin_pending(w, op, 1 << GCN3_LGKM);
    if (inside < bytes)
        return;
    check_address(w, op, at, bytes);
    if (at % bytes)
        gcn3_fault(w, op, 0, FAULT_MISALIGNED, at,
                   "an atomic operation of %u bytes at 0x%llx, which is not aligned to its size", bytes,
                   (unsigned long long)at);
    if (request) {
        ask(w, op, at, bytes, REQUEST_ATOMIC);
        request->operand[0] = operand;
        request->compare[0] = swaps ? value : 0;
        return;
    }
    uint64_t old = atomic_perform(op->access.operation, (void *)(uintptr_t)at, operand, swaps ? value : 0);
    if (op->access.returns)
        memcpy(&w->s[op->inst.d.number], &old, bytes);
}

/* ---- others ---- */

/* Cycles of the model's clock; without time, instructions. */
static void memtime(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    const struct worker *worker = w->isa.block->worker;
    bool has_time = worker->request;
    uint64_t now = worker->clock ? *worker->clock : worker->result.warp_instructions;
    if (op->inst.op == GCN3_S_MEMREALTIME) /* 100 MHz */
        now = worker->clock ? (uint64_t)((double)now * 1e8 / (double)worker->clock_hz) : now / 10;
    uint32_t *to = has_time ? w->incoming_s : w->s;
    to[op->inst.d.number] = (uint32_t)now;
    to[op->inst.d.number + 1] = (uint32_t)(now >> 32);
    if (has_time)
        gcn3_begin_pending(w, op, 1 << GCN3_LGKM);
}

static void forget(struct gcn3_wave *w, const struct gcn3_lowered *op)
{
    (void)w, (void)op;
}

gcn3_run_fn *gcn3_smem(struct gcn3_lowered *op)
{
    const struct gcn3_row *row = &gcn3_rows[op->inst.op];
    if (op->inst.op == GCN3_S_MEMTIME || op->inst.op == GCN3_S_MEMREALTIME)
        return memtime;
    if (!strncmp(row->text, "s_dcache", 8))
        return forget;
    if (!row->memory_bytes)
        return NULL;
    op->access.step = strstr(row->text, "scratch") ? 64 : 1;
    op->access.bytes = row->memory_bytes;
    op->access.dwords = row->memory_bytes / 4;
    if (row->flags & GCN3_ATOMIC) {
        op->access.is_atomic = op->access.writes = true;
        op->access.returns = op->inst.glc;
        return gcn3_set_atomic(&op->access, row->text) ? change : NULL;
    }
    op->access.writes = strstr(row->text, "store");
    return op->access.writes ? store : load;
}
