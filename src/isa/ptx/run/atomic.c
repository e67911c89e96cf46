/* atom and red. A block runs on one host thread, so its shared memory needs no atomic instructions of the
 * host; global memory does. */
#include "ptx_run/async.h"
#include "isa/request.h"
#include "exec/atomics.h"
#include "exec/cga.h"
#include "base/bits.h"

#include <string.h>

struct atomic_form {
    struct access access;
    uint32_t row;
    bool returns, has_c;
    bool counts;       /* adds whole numbers of 32 bits */
    bool merges;       /* adds 1 and wants no result: lanes with one address are as fast as one */
    uint32_t upper[3]; /* of 16 bytes: places of the upper halves of the result and both operands */
};

#define HOST_ATOMIC(type)                                                                                    \
    {                                                                                                        \
        type *at = (type *)(void *)place, old = __atomic_load_n(at, __ATOMIC_SEQ_CST), new;                  \
        do                                                                                                   \
            new = (type)atomic_apply(row, old, b, c, far);                                                   \
        while (!__atomic_compare_exchange_n(at, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));      \
        return old;                                                                                          \
    }

static uint64_t on_host(char *place, uint32_t bytes, uint32_t row, uint64_t b, uint64_t c, bool far)
{
    switch (bytes) {
    case 2:
        HOST_ATOMIC(uint16_t)
    case 4:
        HOST_ATOMIC(uint32_t)
    default:
        HOST_ATOMIC(uint64_t)
    }
}

static uint64_t alone(char *place, uint32_t bytes, uint32_t row, uint64_t b, uint64_t c)
{
    uint64_t old = 0, new;
    memcpy(&old, place, bytes);
    new = atomic_apply(row, old, b, c, false);
    memcpy(place, &new, bytes);
    return old;
}

/* An address of any space may be one of the block's shared memory. */
static bool is_of(const struct block *block, const char *place)
{
    return block && place >= block->shared && place < block->shared + block->shared_bytes;
}

static bool is_shared(const struct warp *w, const char *place)
{
    return is_of(w->isa.block, place);
}

/* Or one of another block of the cluster. */
static bool is_near(const struct warp *w, const char *place)
{
    const struct cga *cluster = w->isa.block->cluster;
    bool is_one = is_shared(w, place);
    for (uint32_t rank = 0; UNLIKELY(cluster != NULL) && rank < cluster->size && !is_one; rank++)
        is_one = is_of(cluster->blocks[rank], place);
    return is_one;
}

static bool is_local(const struct warp *w, const char *place)
{
    return place >= w->local && place < w->local + w->local_bytes * WARP_LANES;
}

static bool is_far(const struct warp *w, const char *place)
{
    return !is_local(w, place) && !is_near(w, place);
}

/* A thread's own memory, where nobody else is. */
static uint64_t at_home(char *place, uint32_t bytes, uint32_t row, uint64_t b, uint64_t c)
{
    uint64_t value = 0, old;
    memcpy(&value, place, min_u64(bytes, 4));
    if (bytes == 8)
        memcpy((char *)&value + 4, place + LOCAL_STRIDE, 4);
    old = alone((char *)&value, bytes, row, b, c);
    memcpy(place, &value, min_u64(bytes, 4));
    if (bytes == 8)
        memcpy(place + LOCAL_STRIDE, (char *)&value + 4, 4);
    return old;
}

/* The same of 16 bytes. */
static void wide_at_home(char *place, uint32_t row, const uint64_t b[2], const uint64_t c[2], uint64_t old[2])
{
    _Alignas(16) char value[ATOMIC_WIDE_BYTES];
    for (uint32_t i = 0; i < sizeof value; i += 4)
        memcpy(value + i, place + i / 4 * LOCAL_STRIDE, 4);
    atomic_perform_wide((uint8_t)row, value, b, c, old);
    for (uint32_t i = 0; i < sizeof value; i += 4)
        memcpy(place + i / 4 * LOCAL_STRIDE, value + i, 4);
}

/* Counting in shared memory is what most programs do most. */
static void add_words(char *const places[WARP_LANES], const uint32_t *b, uint32_t *d, lanes active)
{
    EACH_LANE (i, active) {
        uint32_t *at = (uint32_t *)(void *)places[i], old = *at;
        *at = old + b[i];
        d[i] = old;
    }
}

static void request_atomics(struct warp *w, const struct op *op, char *const places[WARP_LANES], lanes who)
{
    const struct atomic_form *form = op->more;
    struct request *request = w->isa.block->worker->request;
    request->of.kind = REQUEST_ATOMIC;
    request->of.lanes = who | request->cluster;
    request->of.bytes = form->access.bytes;
    request->of.registers = w->registers;
    request->of.register_bytes = form->access.register_bytes;
    request->of.operation = (uint8_t)form->row;
    request->of.returns = form->returns;
    request->of.acquires = form->access.acquires;
    request->of.d = op->d;
    EACH_LANE (i, who | (lanes)request->cluster) {
        if (places[i])
            request->of.at[i] = (uintptr_t)places[i];
        request->operand[i] = lane_get(warp_at(w, op->b), form->access.register_bytes, i);
        if (form->has_c)
            request->compare[i] = lane_get(warp_at(w, op->c), form->access.register_bytes, i);
    }
    if (LIKELY(form->access.bytes != ATOMIC_WIDE_BYTES))
        return;
    request->of.d_upper = form->upper[0];
    EACH_LANE (i, who | (lanes)request->cluster) {
        request->operand_upper[i] = lane_get(warp_at(w, form->upper[1]), 8, i);
        request->compare_upper[i] = form->has_c ? lane_get(warp_at(w, form->upper[2]), 8, i) : 0;
    }
}

static void run_wide_lanes(struct warp *w, const struct op *op, char *const places[WARP_LANES], lanes active)
{
    const struct atomic_form *form = op->more;
    EACH_LANE (i, active) {
        uint64_t b[2], c[2] = {0}, old[2];
        b[0] = lane_get(warp_at(w, op->b), 8, i), b[1] = lane_get(warp_at(w, form->upper[1]), 8, i);
        if (form->has_c)
            c[0] = lane_get(warp_at(w, op->c), 8, i), c[1] = lane_get(warp_at(w, form->upper[2]), 8, i);
        if (form->access.space == PTX_GENERIC && is_local(w, places[i]))
            wide_at_home(places[i], form->row, b, c, old);
        else
            atomic_perform_wide((uint8_t)form->row, places[i], b, c, old);
        if (!form->returns)
            continue;
        lane_set(warp_at(w, op->d), 8, i, old[0]);
        lane_set(warp_at(w, form->upper[0]), 8, i, old[1]);
    }
}

static void run_atomic(struct warp *w, const struct op *op, lanes active)
{
    const struct atomic_form *form = op->more;
    const struct access *access = &form->access;
    uint32_t bytes = access->bytes, register_bytes = access->register_bytes;
    char *places[WARP_LANES], *d = warp_at(w, op->d);
    const char *b = warp_at(w, op->b), *c = warp_at(w, op->c);
    bool alone_there = access->space == PTX_SHARED;
    w->spins += form->returns;
    access_resolve(w, op, access, active, places);
    struct request *request = w->isa.block->worker->request;
    if (UNLIKELY(request)) {
        request->order = access->order;
        request->scope = access->scope;
    }
    if (UNLIKELY(request) && request->shared) {
        request->shared_use = form->returns                     ? SHARED_CHANGE
                              : atomic_rows[form->row].commutes ? SHARED_COMMUTES
                                                                : SHARED_WRITE;
        request->shared_atomic = alone_there && !form->merges;
    }
    if (alone_there && form->counts) {
        uint32_t old[WARP_LANES];
        add_words(places, (const void *)b, old, active);
        if (form->returns)
            blend(d, old, 4, active);
        return;
    }
    if (UNLIKELY(request)) {
        lanes far = 0;
        const lanes others = (lanes)request->cluster; /* on other SMs */
        EACH_LANE (i, active & ~others)
            far |= (lanes)is_far(w, places[i]) << i;
        if (far | others)
            request_atomics(w, op, places, far);
        active &= ~(far | others);
    }
    if (bytes == ATOMIC_WIDE_BYTES) {
        run_wide_lanes(w, op, places, active);
        return;
    }
    EACH_LANE (i, active) {
        uint64_t with = lane_get(b, register_bytes, i);
        uint64_t other = form->has_c ? lane_get(c, register_bytes, i) : 0;
        uint64_t old = alone_there ? alone(places[i], bytes, form->row, with, other)
                       : access->space == PTX_GENERIC && is_local(w, places[i])
                           ? at_home(places[i], bytes, form->row, with, other)
                           : on_host(places[i], bytes, form->row, with, other, !is_shared(w, places[i]));
        if (form->returns)
            lane_set(d, register_bytes, i, old);
    }
}

/* red.async */
static void run_async(struct warp *w, const struct op *op, lanes active)
{
    const struct atomic_form *form = op->more;
    w->wait = WAIT_NOT;
    run_atomic(w, op, active);
    async_signal_lanes(w, op, &form->access, active);
}

bool access_atomic(const char *opcode, uint32_t *row)
{
    for (uint32_t i = 0; i < atomic_row_count; i++) {
        char name[32];
        snprintf(name, sizeof name, "%s", atomic_rows[i].name);
        bool all = true;
        for (char *part = name, *dot; part && all; part = dot) {
            dot = strchr(part, '.');
            if (dot)
                *dot++ = 0;
            all = ptx_opcode_has(opcode, part);
        }
        if (all) {
            *row = i;
            return true;
        }
    }
    return false;
}

bool access_is_ordered(const char *opcode, bool result_used)
{
    uint32_t row;
    if (access_space_named(opcode) == PTX_SHARED)
        return false;
    return !access_atomic(opcode, &row) || result_used || !atomic_rows[row].commutes;
}

static bool is_pair(const struct ptx_operand *operand)
{
    return operand->kind == PTX_OP_VECTOR && operand->count == 2;
}

/* The operands of one on 16 bytes, each a pair of registers. */
static enum lowered lower_wide(struct lower *lower, struct op *op, struct atomic_form *form)
{
    const struct ptx_operand *d = lower_operand(lower, 0);
    form->has_c = ptx_opcode_has(lower->inst->opcode, "cas");
    form->returns = false;
    if (!ptx_is(lower->inst, "atom") || lower->inst->count < 3u + form->has_c)
        return lower_fail(lower, "Heddle does not know this atomic operation");
    if (d->kind != PTX_OP_SINK) {
        uint32_t *const places[] = {&op->d, &form->upper[0]};
        if (!is_pair(d))
            return lower_fail(lower, "a register of .b128 was expected");
        for (uint32_t i = 0; i < 2; i++) {
            const struct ptx_operand *half = lower_element(lower, d, i);
            if (!lower_destination(lower, half, TYPE_u64, places[i]))
                return LOWER_FAILED;
            form->returns |= half->kind == PTX_OP_REGISTER && lower_reads(lower, half->index);
        }
    }
    if (!lower_address(lower, lower_operand(lower, 1), op, &form->access))
        return LOWER_FAILED;
    uint32_t *const places[] = {&op->b, &form->upper[1], &op->c, &form->upper[2]};
    for (uint32_t i = 0; i < 2u + 2u * form->has_c; i++) {
        const struct ptx_operand *operand = lower_operand(lower, 2 + i / 2);
        if (!is_pair(operand))
            return lower_fail(lower, "a register of .b128 was expected");
        if (!lower_source(lower, lower_element(lower, operand, i % 2), TYPE_u64, places[i]))
            return LOWER_FAILED;
    }
    return LOWERED;
}

enum lowered lower_atomic(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct atomic_form *form = lower_own(lower, sizeof *form);
    struct access *access = &form->access;
    uint32_t i = 0;
    if (!access_atomic(opcode, &form->row) || ptx_opcode_has(opcode, "v2") || ptx_opcode_has(opcode, "v4") ||
        ptx_opcode_has(opcode, "v8"))
        return lower_fail(lower, "Heddle does not know this atomic operation");
    op->unit = UNIT_LSU;
    op->run.exec = run_atomic;
    op->more = form;
    access->acquires = access_acquires(opcode);
    access->order = ORDER_STRONG | access_order(opcode);
    access->scope = access_scope(opcode);
    if (access_releases(opcode))
        op->role = ROLE_RELEASE;
    access->space = access_space_named(opcode);
    access->bytes = atomic_rows[form->row].bytes;
    access->register_bytes = (uint8_t)min_u64(access->bytes, 8);
    access->count = 1;
    access->writes = access->in_halves = access->reaches = true;
    op->bytes = access->bytes;
    if (access->bytes == ATOMIC_WIDE_BYTES)
        return lower_wide(lower, op, form);
    enum isa_type type = isa_type_of(access->bytes);
    if (ptx_opcode_has(opcode, "f32"))
        type = TYPE_f32;
    else if (ptx_opcode_has(opcode, "f64"))
        type = TYPE_f64;
    form->returns = ptx_is(lower->inst, "atom");
    if (form->returns) {
        const struct ptx_operand *d = lower_operand(lower, i++);
        if (!lower_destination(lower, d, type, &op->d))
            return LOWER_FAILED;
        form->returns = d->kind == PTX_OP_REGISTER && lower_reads(lower, d->index);
    }
    if (!lower_address(lower, lower_operand(lower, i++), op, access) ||
        !lower_source(lower, lower_operand(lower, i++), type, &op->b))
        return LOWER_FAILED;
    form->counts =
        ptx_opcode_has(opcode, "add") && (ptx_opcode_has(opcode, "u32") || ptx_opcode_has(opcode, "s32"));
    const struct ptx_operand *operand = lower_operand(lower, i - 1);
    form->merges = form->counts && !form->returns && operand->kind == PTX_OP_INTEGER && operand->value == 1;
    form->has_c = ptx_opcode_has(opcode, "cas");
    if (form->has_c && !lower_source(lower, lower_operand(lower, i), type, &op->c))
        return LOWER_FAILED;
    if (ptx_is(lower->inst, "red.async")) {
        op->run.exec = run_async;
        return lower_async_barrier(lower, op, access);
    }
    return LOWERED;
}
