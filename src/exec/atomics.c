#include "exec/atomics.h"
#include "exec/number.h"

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

#define OF_PAIR(f, a, b)                                                                                     \
    (f((uint16_t)(a), (uint16_t)(b)) | (uint64_t)f((uint16_t)((a) >> 16), (uint16_t)((b) >> 16)) << 16)

#define SIGNED32(x) ((int32_t)(uint32_t)(x))
#define SIGNED64(x) ((int64_t)(x))

/*      name, bytes, on floats, commutes (its final memory does not depend on the order), meaning */
#define ATOMICS(A)                                                                                           \
    A("add.u32", 4, false, true, a + b)                                                                      \
    A("add.s32", 4, false, true, a + b)                                                                      \
    A("add.u64", 8, false, true, a + b)                                                                      \
    A("add.s64", 8, false, true, a + b)                                                                      \
    A("add.f32", 4, true, false, far ? far_sum_f32(a, b) : sum_f32(a, b))                                    \
    A("add.f64", 8, true, false, far ? far_sum_f64(a, b) : sum_f64(a, b))                                    \
    A("add.noftz.f16", 2, true, false, add_f16((uint16_t)a, (uint16_t)b))                                    \
    A("add.noftz.f16x2", 4, true, false, OF_PAIR(add_f16, a, b))                                             \
    A("add.noftz.bf16", 2, true, false, add_bf16((uint16_t)a, (uint16_t)b))                                  \
    A("add.noftz.bf16x2", 4, true, false, OF_PAIR(add_bf16, a, b))                                           \
    A("min.noftz.f16", 2, true, true, min_f16((uint16_t)a, (uint16_t)b))                                     \
    A("max.noftz.f16", 2, true, true, max_f16((uint16_t)a, (uint16_t)b))                                     \
    A("min.noftz.bf16", 2, true, true, min_bf16((uint16_t)a, (uint16_t)b))                                   \
    A("max.noftz.bf16", 2, true, true, max_bf16((uint16_t)a, (uint16_t)b))                                   \
    A("min.noftz.f16x2", 4, true, true, OF_PAIR(min_f16, a, b))                                              \
    A("max.noftz.f16x2", 4, true, true, OF_PAIR(max_f16, a, b))                                              \
    A("min.noftz.bf16x2", 4, true, true, OF_PAIR(min_bf16, a, b))                                            \
    A("max.noftz.bf16x2", 4, true, true, OF_PAIR(max_bf16, a, b))                                            \
    A("inc.u32", 4, false, false, (uint32_t)a >= (uint32_t)b ? 0 : a + 1)                                    \
    A("dec.u32", 4, false, false, !(uint32_t)a || (uint32_t)a > (uint32_t)b ? b : a - 1)                     \
    A("inc.u64", 8, false, false, a >= b ? 0 : a + 1)                                                        \
    A("dec.u64", 8, false, false, !a || a > b ? b : a - 1)                                                   \
    A("min.u32", 4, false, true, (uint32_t)a < (uint32_t)b ? a : b)                                          \
    A("max.u32", 4, false, true, (uint32_t)a > (uint32_t)b ? a : b)                                          \
    A("min.s32", 4, false, true, SIGNED32(a) < SIGNED32(b) ? a : b)                                          \
    A("max.s32", 4, false, true, SIGNED32(a) > SIGNED32(b) ? a : b)                                          \
    A("min.u64", 8, false, true, a < b ? a : b)                                                              \
    A("max.u64", 8, false, true, a > b ? a : b)                                                              \
    A("min.s64", 8, false, true, SIGNED64(a) < SIGNED64(b) ? a : b)                                          \
    A("max.s64", 8, false, true, SIGNED64(a) > SIGNED64(b) ? a : b)                                          \
    A("and.b32", 4, false, true, a &b)                                                                       \
    A("or.b32", 4, false, true, a | b)                                                                       \
    A("xor.b32", 4, false, true, a ^ b)                                                                      \
    A("and.b64", 8, false, true, a &b)                                                                       \
    A("or.b64", 8, false, true, a | b)                                                                       \
    A("xor.b64", 8, false, true, a ^ b)                                                                      \
    A("exch.b32", 4, false, false, b)                                                                        \
    A("exch.b64", 8, false, false, b)                                                                        \
    A("cas.b16", 2, false, false, (uint16_t)a == (uint16_t)b ? c : a)                                        \
    A("cas.b32", 4, false, false, (uint32_t)a == (uint32_t)b ? c : a)                                        \
    A("cas.b64", 8, false, false, a == b ? c : a)

/*      name, meaning: of 16 bytes, which no other operation has */
#define WIDE_ATOMICS(A)                                                                                      \
    A("exch.b128", b)                                                                                        \
    A("cas.b128", a == b ? c : a)

/* Old value to new one: `a` is in memory, b and c are the operands; far: not in shared memory. */
uint64_t atomic_apply(uint32_t row, uint64_t a, uint64_t b, uint64_t c, bool far)
{
    uint32_t at = 0;
#define A(name, bytes, floats, commutes, meaning)                                                            \
    if (row == at++)                                                                                         \
        return meaning;
    ATOMICS(A)
#undef A
    return a;
}

enum {
#define A(name, bytes, floats, commutes, meaning) +1
    PLAIN_ROWS = 0 ATOMICS(A)
#undef A
};

const struct atomic_row atomic_rows[] = {
#define A(name, bytes, floats, commutes, meaning) {name, bytes, floats, commutes},
    ATOMICS(A)
#undef A
#define A(name, meaning) {name, ATOMIC_WIDE_BYTES, false, false},
        WIDE_ATOMICS(A)
#undef A
};

const uint32_t atomic_row_count = sizeof atomic_rows / sizeof *atomic_rows;

/* Blocks may run on several threads of the host. */
#define PERFORM(type)                                                                                        \
    static uint64_t perform_##type(uint8_t operation, type *at, uint64_t operand, uint64_t compare)          \
    {                                                                                                        \
        type old = __atomic_load_n(at, __ATOMIC_SEQ_CST), new;                                               \
        do                                                                                                   \
            new = (type)atomic_apply(operation, old, operand, compare, true);                                \
        while (!__atomic_compare_exchange_n(at, &old, new, false, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST));      \
        return old;                                                                                          \
    }
PERFORM(uint16_t)
PERFORM(uint32_t)
PERFORM(uint64_t)
#undef PERFORM

uint64_t atomic_perform(uint8_t operation, void *at, uint64_t operand, uint64_t compare)
{
    switch (atomic_rows[operation].bytes) {
    case 2:
        return perform_uint16_t(operation, at, operand, compare);
    case 4:
        return perform_uint32_t(operation, at, operand, compare);
    default:
        return perform_uint64_t(operation, at, operand, compare);
    }
}

typedef unsigned __int128 wide;

static wide wide_of(const uint64_t halves[2])
{
    return (wide)halves[1] << 64 | halves[0];
}

static wide apply_wide(uint32_t row, wide a, wide b, wide c)
{
    uint32_t at = PLAIN_ROWS;
#define A(name, meaning)                                                                                     \
    if (row == at++)                                                                                         \
        return meaning;
    WIDE_ATOMICS(A)
#undef A
    return a;
}

/* Every x86-64 that runs CUDA has cmpxchg16b, but compilers must be told. */
__attribute__((target("cx16"))) void atomic_perform_wide(uint8_t operation, void *at,
                                                         const uint64_t operand[2], const uint64_t compare[2],
                                                         uint64_t old[2])
{
    wide *place = at, was, seen;
    memcpy(&was, at, sizeof was); /* maybe half new: then it is not what is there */
    for (;; was = seen) {
        seen = __sync_val_compare_and_swap(place, was,
                                           apply_wide(operation, was, wide_of(operand), wide_of(compare)));
        if (seen == was)
            break;
    }
    old[0] = (uint64_t)was;
    old[1] = (uint64_t)(was >> 64);
}

bool atomic_merge(struct request *request)
{
    struct delivery *of = &request->of;
    uint32_t first = first_lane(of->lanes);
    uint64_t all = request->operand[first];
    if (!atomic_rows[of->operation].commutes)
        return false;
    EACH_LANE (i, of->lanes & (of->lanes - 1)) {
        if (of->at[i] != of->at[first] || (of->returns && request->operand[i] != request->operand[first]))
            return false;
        all = atomic_apply(of->operation, all, request->operand[i], 0, true);
    }
    of->operand = request->operand[first];
    of->merged = true;
    request->operand[first] = all;
    return true;
}
