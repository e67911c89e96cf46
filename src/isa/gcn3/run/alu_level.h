/* The executors of vector rows for one kind of host, LEVEL. Included by alu_base.c, alu_v3.c and alu_v4.c,
 * which are compiled for different processors. A row becomes a loop over the lanes, which the compiler
 * vectorizes. */
#include "gcn3_run/alu.h"
#include "gcn3_run/host.h"
#include "gcn3_run/lane.h"

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* The destination may be a source, but then each lane is its own: nothing else stops the loop from being a
 * vector. */
#ifdef __clang__
#define AS_VECTOR
#else
#define AS_VECTOR _Pragma("GCC ivdep")
#endif

/* A bit per lane from lanes that are 0 or -1. */
LANE uint64_t bits_of(const int32_t *r)
{
    uint64_t bits = 0;
#if defined __AVX512DQ__
    for (int i = 0; i < GCN3_LANES; i += 16)
        bits |= (uint64_t)_mm512_movepi32_mask(_mm512_loadu_si512(r + i)) << i;
#elif defined __AVX2__
    for (int i = 0; i < GCN3_LANES; i += 8)
        bits |= (uint64_t)(uint32_t)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(r + i))) << i;
#elif defined __SSE2__
    for (int i = 0; i < GCN3_LANES; i += 4)
        bits |= (uint64_t)(uint32_t)_mm_movemask_ps(_mm_loadu_ps((const float *)(r + i))) << i;
#else
    for (int i = 0; i < GCN3_LANES; i++)
        bits |= (uint64_t)(r[i] & 1) << i;
#endif
    return bits;
}

/* A lane's value as the row's type has it, from its words. */
typedef char lane_nil;
typedef bool lane_m64;
typedef uint16_t lane_f16, lane_u16;
typedef int16_t lane_i16;
typedef uint32_t lane_b32, lane_u32;
typedef int32_t lane_i32;
typedef float lane_f32;
typedef uint64_t lane_b64, lane_u64, lane_b128;
typedef int64_t lane_i64;
typedef double lane_f64;

#define WIDE(x)    (x##0 [i] | (uint64_t)x##1 [i] << 32)
#define GET_nil(x) 0
#define GET_m64(x) 0
#define GET_f16(x) (uint16_t) x##0 [i]
#define GET_u16(x) (uint16_t) x##0 [i]
#define GET_i16(x) (int16_t) x##0 [i]
#define GET_b32(x) x##0 [i]
#define GET_u32(x) x##0 [i]
#define GET_i32(x) (int32_t) x##0 [i]
#define GET_f32(x) IN_f32(f32_bits(x##0 [i]))
#define GET_b64(x) WIDE(x)
#define GET_u64(x) WIDE(x)
#define GET_i64(x) (int64_t) WIDE(x)
#define GET_f64(x) IN_f64(f64_bits(WIDE(x)))

/* What comparisons see: an f16 is a number, not bits. */
typedef float compared_f16, compared_f32;
typedef lane_f64 compared_f64;
typedef lane_i16 compared_i16;
typedef lane_u16 compared_u16;
typedef lane_i32 compared_i32;
typedef lane_u32 compared_u32;
typedef lane_i64 compared_i64;
typedef lane_u64 compared_u64;
#define COMPARED_f16(x) of_f16(GET_f16(x), m)
#define COMPARED_f32(x) GET_f32(x)
#define COMPARED_f64(x) GET_f64(x)
#define COMPARED_i16(x) GET_i16(x)
#define COMPARED_u16(x) GET_u16(x)
#define COMPARED_i32(x) GET_i32(x)
#define COMPARED_u32(x) GET_u32(x)
#define COMPARED_i64(x) GET_i64(x)
#define COMPARED_u64(x) GET_u64(x)

#define PUT_word(value) d0[i] = (uint32_t)(value)
#define PUT_wide(value)                                                                                      \
    uint64_t wide = (value);                                                                                 \
    d0[i] = (uint32_t)wide;                                                                                  \
    d1[i] = (uint32_t)(wide >> 32)
#define PUT_f16(value) PUT_word((uint16_t)(value))
#define PUT_u16(value) PUT_word((uint16_t)(value))
#define PUT_i16(value) PUT_word((uint16_t)(value)) /* the upper half is 0 */
#define PUT_b32(value) PUT_word(value)
#define PUT_u32(value) PUT_word(value)
#define PUT_i32(value) PUT_word(value)
#define PUT_f32(value) PUT_word(bits_f32(gcn3_quiet_f32(OUT_f32(value))))
#define PUT_b64(value) PUT_wide(value)
#define PUT_u64(value) PUT_wide(value)
#define PUT_i64(value) PUT_wide((uint64_t)(value))
#define PUT_f64(value) PUT_wide(bits_f64(gcn3_quiet_f64(OUT_f64(value))))
#define PUT_m64(value) bits[i] = -(int32_t)(value)

/* Hosts that do not flush denormals themselves. */
#ifdef __x86_64__
#define IN_f32(x)  (x)
#define IN_f64(x)  (x)
#define OUT_f32(x) (x)
#define OUT_f64(x) (x)
#else
#define IN_f32(x)  (host & 4 ? ftz(x) : (x))
#define OUT_f32(x) (host & 8 ? ftz(x) : (x))
#define IN_f64(x)  (host & 4 && fabs(x) < 0x1p-1022 ? copysign(0.0, x) : (x))
#define OUT_f64(x) (host & 8 && fabs(x) < 0x1p-1022 ? copysign(0.0, x) : (x))
#endif

#define UNUSED __attribute__((unused))
#define IS_FLOAT(type)                                                                                       \
    (GCN3_TYPE_##type == GCN3_TYPE_f16 || GCN3_TYPE_##type == GCN3_TYPE_f32 ||                               \
     GCN3_TYPE_##type == GCN3_TYPE_f64)

/* What a row means for one lane; i is the lane, mask its bit of the mask that comes in. */
#define MEANING(id, result, ta, tb, tc, meaning)                                                             \
    LANE result of_##id(UNUSED lane_##ta a, UNUSED lane_##tb b, UNUSED lane_##tc c, UNUSED uint32_t mask,    \
                        UNUSED int i, UNUSED struct gcn3_rules m)                                            \
    {                                                                                                        \
        return (result)(meaning);                                                                            \
    }

/* All lanes; the mask is taken apart by halves, as vectors shift words best. A constant `round_f16` lets
 * loops of f16 be vectors. */
#define EACH_LANE_OF(l, td, ta, flushed, round_f16, ...)                                                     \
    EACH_LANE_IN((l)->mode, l, td, ta, flushed, round_f16, __VA_ARGS__)
#define EACH_LANE_IN(mode_of, l, td, ta, flushed, round_f16, ...)                                            \
    UNUSED uint32_t *const d0 = (l)->d[0], *const d1 = (l)->d[1];                                            \
    UNUSED const uint32_t *const a0 = (l)->a[0], *const a1 = (l)->a[1];                                      \
    UNUSED const uint32_t *const b0 = (l)->b[0], *const b1 = (l)->b[1];                                      \
    UNUSED const uint32_t *const c0 = (l)->c[0], *const c1 = (l)->c[1];                                      \
    UNUSED const struct gcn3_rules m = {!((mode_of)&0x40), !((mode_of)&0x80), round_f16,                     \
                                        (mode_of) >> 9 & 1};                                                 \
    UNUSED uint32_t host = GCN3_HOST_USUAL;                                                                  \
    if (IS_FLOAT(td) || IS_FLOAT(ta))                                                                        \
        host = gcn3_host_of(mode_of, GCN3_TYPE_##td, GCN3_TYPE_##ta, flushed);                               \
    if (host != GCN3_HOST_USUAL)                                                                             \
        gcn3_host_set(host);                                                                                 \
    for (int half = 0; half < GCN3_LANES; half += 32) {                                                      \
        UNUSED const uint32_t word = (uint32_t)((l)->mask_in >> half);                                       \
        AS_VECTOR for (int j = 0; j < 32; j++)                                                               \
        {                                                                                                    \
            const int i = half + j;                                                                          \
            UNUSED const uint32_t mask = word >> j & 1;                                                      \
            __VA_ARGS__;                                                                                     \
        }                                                                                                    \
    }                                                                                                        \
    if (host != GCN3_HOST_USUAL)                                                                             \
    gcn3_host_set(GCN3_HOST_USUAL)

#define VALUE(id, ta, tb, tc) of_##id(GET_##ta(a), GET_##tb(b), GET_##tc(c), mask, i, m)

#define EXECUTOR(flushed, id, td, ta, tb, tc, ...)                                                           \
    MEANING(id, lane_##td, ta, tb, tc, __VA_ARGS__)                                                          \
    static void gcn3_do_##id(struct gcn3_lanes *l)                                                           \
    {                                                                                                        \
        const uint8_t mode_rounding = l->mode >> 2 & 3;                                                      \
        if (GCN3_TYPE_##td == GCN3_TYPE_f16 && mode_rounding) { /* seldom, and no vector */                  \
            EACH_LANE_OF(l, td, ta, flushed, mode_rounding, PUT_##td(VALUE(id, ta, tb, tc)));                \
            return;                                                                                          \
        }                                                                                                    \
        EACH_LANE_OF(l, td, ta, flushed, 0, PUT_##td(VALUE(id, ta, tb, tc)));                                \
    }

/* The least and the greatest of an integer type. */
#define LEAST_u16    0
#define GREATEST_u16 UINT16_MAX
#define LEAST_i16    INT16_MIN
#define GREATEST_i16 INT16_MAX
#define LEAST_u32    0
#define GREATEST_u32 UINT32_MAX
#define LEAST_i32    INT32_MIN
#define GREATEST_i32 INT32_MAX

LANE int64_t saturate(int64_t value, int64_t least, int64_t greatest)
{
    return value < least ? least : value > greatest ? greatest : value;
}

#include "gcn3_run/alu_hand.h"

#define INST(...)
#define SCALAR(...)
#define BY_HAND(...)
#define LANES(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, ...)                                \
    EXECUTOR(false, id, td, ta, tb, tc, __VA_ARGS__)
#define FLUSHED(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, ...)                              \
    EXECUTOR(true, id, td, ta, tb, tc, __VA_ARGS__)
#define APPROXIMATES(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, ...)                         \
    MEANING(id, lane_##td, ta, tb, tc, __VA_ARGS__)                                                          \
    static void gcn3_do_##id(struct gcn3_lanes *l)                                                           \
    {                                                                                                        \
        EACH_LANE_IN(l->mode & ~15u, l, td, ta, true, 0, PUT_##td(VALUE(id, ta, tb, tc)));                   \
    }
#define EXACT(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, ...)                                \
    MEANING(id, int64_t, ta, tb, tc, __VA_ARGS__)                                                            \
    static void gcn3_do_##id(struct gcn3_lanes *l)                                                           \
    {                                                                                                        \
        if (l->clamp) {                                                                                      \
            EACH_LANE_OF(l, td, ta, false, 0,                                                                \
                         PUT_##td(saturate(VALUE(id, ta, tb, tc), LEAST_##td, GREATEST_##td)));              \
            return;                                                                                          \
        }                                                                                                    \
        EACH_LANE_OF(l, td, ta, false, 0, PUT_##td((lane_##td)VALUE(id, ta, tb, tc)));                       \
    }
#define CARRIES(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, value, carry, most)               \
    static void gcn3_do_##id(struct gcn3_lanes *l)                                                           \
    {                                                                                                        \
        int32_t bits[GCN3_LANES];                                                                            \
        const uint32_t clamp = l->clamp;                                                                     \
        EACH_LANE_OF(l, td, ta, false, 0, const uint32_t a = a0[i], b = b0[i], d = value;                    \
                     const uint32_t over = carry; bits[i] = -(int32_t)over;                                  \
                     d0[i] = clamp & over ? most : d);                                                       \
        l->mask_out = bits_of(bits);                                                                         \
    }
#define CLASSIFIES(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, ...)                           \
    MEANING(id, bool, ta, tb, tc, __VA_ARGS__)                                                               \
    static void gcn3_do_##id(struct gcn3_lanes *l)                                                           \
    {                                                                                                        \
        int32_t bits[GCN3_LANES];                                                                            \
        EACH_LANE_OF(l, td, ta, false, 0, PUT_m64(VALUE(id, ta, tb, tc)));                                   \
        l->mask_out = bits_of(bits);                                                                         \
    }
#define COMPARES(id, text, format, gfx8, gfx9, unit, td, ta, tb, tc, flags, ...)                             \
    LANE bool of_##id(UNUSED compared_##ta a, UNUSED compared_##tb b)                                        \
    {                                                                                                        \
        return __VA_ARGS__;                                                                                  \
    }                                                                                                        \
    static void gcn3_do_##id(struct gcn3_lanes *l)                                                           \
    {                                                                                                        \
        int32_t bits[GCN3_LANES];                                                                            \
        EACH_LANE_OF(l, td, ta, false, 0, PUT_m64(of_##id(COMPARED_##ta(a), COMPARED_##tb(b))));             \
        l->mask_out = bits_of(bits);                                                                         \
    }
#include "gcn3/gcn3.def"
#undef INST

#define NAMED(level) gcn3_vector_fns_##level
#define FNS(level)   NAMED(level)
extern gcn3_vector_fn *const FNS(LEVEL)[];
#define INST(...)
#define SCALAR(...)
#define LANES(id, ...)        [GCN3_##id] = gcn3_do_##id,
#define BY_HAND(id, ...)      [GCN3_##id] = gcn3_do_##id,
#define FLUSHED(id, ...)      [GCN3_##id] = gcn3_do_##id,
#define APPROXIMATES(id, ...) [GCN3_##id] = gcn3_do_##id,
#define EXACT(id, ...)        [GCN3_##id] = gcn3_do_##id,
#define CARRIES(id, ...)      [GCN3_##id] = gcn3_do_##id,
#define COMPARES(id, ...)     [GCN3_##id] = gcn3_do_##id,
#define CLASSIFIES(id, ...)   [GCN3_##id] = gcn3_do_##id,
gcn3_vector_fn *const FNS(LEVEL)[GCN3_OP_COUNT] = {
#include "gcn3/gcn3.def"
};
#undef INST
