/* atom and red. A block runs on one host thread, so its shared memory needs no atomic instructions of the
 * host; global memory does. */
#include "exec/memory.h"
#include "exec/request.h"
#include "exec/number.h"
#include "base/bits.h"

#include <string.h>

/* Floats are given by their bits. */
static uint64_t sum_f32(uint64_t a, uint64_t b)
{
    return bits_f32(add_f32(f32_bits((uint32_t)a), f32_bits((uint32_t)b)));
}

static uint64_t sum_f64(uint64_t a, uint64_t b)
{
    return bits_f64(add_f64(f64_bits(b), f64_bits(a)));
}

/* Global memory adds on its own: subnormal numbers are 0 there, and a NaN of f64 stays as it is. */
static uint64_t far_sum_f32(uint64_t a, uint64_t b)
{
    return bits_f32(ftz(add_f32(ftz(f32_bits((uint32_t)a)), ftz(f32_bits((uint32_t)b)))));
}

static uint64_t far_sum_f64(uint64_t a, uint64_t b)
{
    double x = f64_bits(a), y = f64_bits(b);
    return y != y ? b : x != x ? a : bits_f64(add_f64(x, y));
}

static uint64_t sum_f16x2(uint64_t a, uint64_t b)
{
    return add_f16((uint16_t)a, (uint16_t)b) | (uint64_t)add_f16((uint16_t)(a >> 16), (uint16_t)(b >> 16))
                                                   << 16;
}

static uint64_t sum_bf16x2(uint64_t a, uint64_t b)
{
    return add_bf16((uint16_t)a, (uint16_t)b) | (uint64_t)add_bf16((uint16_t)(a >> 16), (uint16_t)(b >> 16))
                                                    << 16;
}

#define SIGNED32(x) ((int32_t)(uint32_t)(x))
#define SIGNED64(x) ((int64_t)(x))

/*      name, bytes, commutes (its final memory does not depend on the order), meaning */
#define ATOMICS(A)                                                                                           \
    A("add.u32", 4, true, a + b)                                                                             \
    A("add.s32", 4, true, a + b)                                                                             \
    A("add.u64", 8, true, a + b)                                                                             \
    A("add.s64", 8, true, a + b)                                                                             \
    A("add.f32", 4, false, far ? far_sum_f32(a, b) : sum_f32(a, b))                                          \
    A("add.f64", 8, false, far ? far_sum_f64(a, b) : sum_f64(a, b))                                          \
    A("add.noftz.f16", 2, false, add_f16((uint16_t)a, (uint16_t)b))                                          \
    A("add.noftz.f16x2", 4, false, sum_f16x2(a, b))                                                          \
    A("add.noftz.bf16", 2, false, add_bf16((uint16_t)a, (uint16_t)b))                                        \
    A("add.noftz.bf16x2", 4, false, sum_bf16x2(a, b))                                                        \
    A("inc.u32", 4, false, (uint32_t)a >= (uint32_t)b ? 0 : a + 1)                                           \
    A("dec.u32", 4, false, !(uint32_t)a || (uint32_t)a > (uint32_t)b ? b : a - 1)                            \
    A("min.u32", 4, true, (uint32_t)a < (uint32_t)b ? a : b)                                                 \
    A("max.u32", 4, true, (uint32_t)a > (uint32_t)b ? a : b)                                                 \
    A("min.s32", 4, true, SIGNED32(a) < SIGNED32(b) ? a : b)                                                 \
    A("max.s32", 4, true, SIGNED32(a) > SIGNED32(b) ? a : b)                                                 \
    A("min.u64", 8, true, a < b ? a : b)                                                                     \
    A("max.u64", 8, true, a > b ? a : b)                                                                     \
    A("min.s64", 8, true, SIGNED64(a) < SIGNED64(b) ? a : b)                                                 \
    A("max.s64", 8, true, SIGNED64(a) > SIGNED64(b) ? a : b)                                                 \
    A("and.b32", 4, true, a &b)                                                                              \
    A("or.b32", 4, true, a | b)                                                                              \
    A("xor.b32", 4, true, a ^ b)                                                                             \
    A("and.b64", 8, true, a &b)                                                                              \
    A("or.b64", 8, true, a | b)                                                                              \
    A("xor.b64", 8, true, a ^ b)                                                                             \
    A("exch.b32", 4, false, b)                                                                               \
    A("exch.b64", 8, false, b)                                                                               \
    A("cas.b16", 2, false, (uint16_t)a == (uint16_t)b ? c : a)                                               \
    A("cas.b32", 4, false, (uint32_t)a == (uint32_t)b ? c : a)                                               \
    A("cas.b64", 8, false, a == b ? c : a)

/* Old value to new one: `a` is in memory, b and c are the operands; far: not in shared memory. */
static uint64_t apply(uint32_t row, uint64_t a, uint64_t b, uint64_t c, bool far)
{
    uint32_t at = 0;
#define A(name, bytes, commutes, meaning)                                                                    \
    if (row == at++)                                                                                         \
        return meaning;
    ATOMICS(A)
#undef A
    return a;
}

static const struct atomic_row {
    const char *name;
    uint8_t bytes;
    bool commutes;
} rows[] = {
#define A(name, bytes, commutes, meaning) {name, bytes, commutes},
    ATOMICS(A)
#undef A
};

struct atomic_form {
    struct access access;
    uint32_t row;
    bool returns, has_c;
    bool counts; /* adds whole numbers of 32 bits */
    bool merges; /* adds 1 and wants no result: lanes with one address are as fast as one */
};

#define HOST_ATOMIC(type)                                                                                    \
    {                                                                                                        \
        type *at = (type *)(void *)place, old = __atomic_load_n(at, __ATOMIC_SEQ_CST), new;                  \
        do                                                                                                   \
            new = (type)apply(row, old, b, c, far);                                                          \
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
    new = apply(row, old, b, c, false);
    memcpy(place, &new, bytes);
    return old;
}

/* An address of any space may be one of the block's shared memory. */
static bool is_shared(const struct warp *w, const char *place)
{
    const struct block *block = w->block;
    return place >= block->shared && place < block->shared + block->shared_bytes;
}

static bool is_local(const struct warp *w, const char *place)
{
    return place >= w->local && place < w->local + w->local_bytes * WARP_LANES;
}

static bool is_far(const struct warp *w, const char *place)
{
    return !is_local(w, place) && !is_shared(w, place);
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

/* Counting in shared memory is what most programs do most. */
static void add_words(char *const places[WARP_LANES], const uint32_t *b, uint32_t *d, lanes active)
{
    EACH_LANE (i, active) {
        uint32_t *at = (uint32_t *)(void *)places[i], old = *at;
        *at = old + b[i];
        d[i] = old;
    }
}

uint64_t request_atomic(uint8_t operation, void *at, uint64_t operand, uint64_t compare)
{
    uint64_t old = 0, new;
    memcpy(&old, at, rows[operation].bytes);
    new = apply(operation, old, operand, compare, true);
    memcpy(at, &new, rows[operation].bytes);
    return old;
}

bool request_is_float(uint8_t operation)
{
    return strstr(rows[operation].name, ".f") || strstr(rows[operation].name, ".bf");
}

bool request_merge(struct request *request)
{
    struct delivery *of = &request->of;
    uint32_t first = first_lane(of->lanes);
    uint64_t all = request->operand[first];
    if (!rows[of->operation].commutes)
        return false;
    EACH_LANE (i, of->lanes & (of->lanes - 1)) {
        if (of->at[i] != of->at[first] || (of->returns && request->operand[i] != request->operand[first]))
            return false;
        all = apply(of->operation, all, request->operand[i], 0, true);
    }
    of->operand = request->operand[first];
    of->merged = true;
    request->operand[first] = all;
    return true;
}

void request_deliver_old(const struct delivery *of, uint32_t lane, uint64_t old)
{
    if (!of->merged) {
        lane_set(of->registers + of->d, of->register_bytes, lane, old);
        return;
    }
    EACH_LANE (i, of->lanes) {
        lane_set(of->registers + of->d, of->register_bytes, i, old);
        old = apply(of->operation, old, of->operand, 0, true);
    }
}

static void request_atomics(struct warp *w, const struct op *op, char *const places[WARP_LANES], lanes who)
{
    const struct atomic_form *form = op->more;
    struct request *request = w->block->worker->request;
    request->of.kind = REQUEST_ATOMIC;
    request->of.lanes = who;
    request->of.bytes = form->access.bytes;
    request->of.registers = w->registers;
    request->of.register_bytes = form->access.register_bytes;
    request->of.operation = (uint8_t)form->row;
    request->of.returns = form->returns;
    request->of.acquires = form->access.acquires;
    request->of.d = op->d;
    EACH_LANE (i, who) {
        request->of.at[i] = (uintptr_t)places[i];
        request->operand[i] = lane_get(warp_at(w, op->b), form->access.register_bytes, i);
        if (form->has_c)
            request->compare[i] = lane_get(warp_at(w, op->c), form->access.register_bytes, i);
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
    memory_resolve(w, op, access, active, places);
    if (alone_there && w->block->worker->request)
        w->block->worker->request->shared_atomic = !form->merges;
    if (alone_there && form->counts) {
        uint32_t old[WARP_LANES];
        add_words(places, (const void *)b, old, active);
        if (form->returns)
            blend(d, old, 4, active);
        return;
    }
    if (UNLIKELY(w->block->worker->request)) {
        lanes far = 0;
        EACH_LANE (i, active)
            far |= (lanes)is_far(w, places[i]) << i;
        if (far)
            request_atomics(w, op, places, far);
        active &= ~far;
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

static bool find_row(const char *opcode, uint32_t *row)
{
    for (uint32_t i = 0; i < COUNT_OF(rows); i++) {
        char name[32];
        snprintf(name, sizeof name, "%s", rows[i].name);
        bool all = true;
        for (char *part = name, *dot; part && all; part = dot) {
            dot = strchr(part, '.');
            if (dot)
                *dot++ = 0;
            all = opcode_has(opcode, part);
        }
        if (all) {
            *row = i;
            return true;
        }
    }
    return false;
}

bool atomic_is_ordered(const char *opcode, bool result_used)
{
    uint32_t row;
    if (opcode_space(opcode) == PTX_SHARED)
        return false;
    return !find_row(opcode, &row) || result_used || !rows[row].commutes;
}

enum lowered lower_atomic(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    struct atomic_form *form = lower_own(lower, sizeof *form);
    struct access *access = &form->access;
    uint32_t i = 0;
    if (!find_row(opcode, &form->row) || opcode_has(opcode, "v2") || opcode_has(opcode, "v4") ||
        opcode_has(opcode, "v8") || opcode_has(opcode, "b128") || ptx_is(lower->inst, "red.async"))
        return lower_fail(lower, "Heddle does not know this atomic operation");
    op->unit = UNIT_LSU;
    op->run.exec = run_atomic;
    op->more = form;
    access->acquires = opcode_acquires(opcode);
    if (opcode_releases(opcode))
        op->role = ROLE_RELEASE;
    access->space = opcode_space(opcode);
    access->bytes = access->register_bytes = rows[form->row].bytes;
    access->count = 1;
    access->writes = access->in_halves = true;
    op->bytes = access->bytes;
    enum isa_type type = isa_type_of(access->bytes);
    if (opcode_has(opcode, "f32"))
        type = TYPE_f32;
    else if (opcode_has(opcode, "f64"))
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
    form->counts = opcode_has(opcode, "add") && (opcode_has(opcode, "u32") || opcode_has(opcode, "s32"));
    const struct ptx_operand *operand = lower_operand(lower, i - 1);
    form->merges = form->counts && !form->returns && operand->kind == PTX_OP_INTEGER && operand->value == 1;
    form->has_c = opcode_has(opcode, "cas");
    if (form->has_c && !lower_source(lower, lower_operand(lower, i), type, &op->c))
        return LOWER_FAILED;
    return LOWERED;
}
