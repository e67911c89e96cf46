/* The executors of alu.def for one kind of host, LEVEL. Included by alu_base.c, alu_v3.c and alu_v4.c, which
 * are compiled for different processors, and by alu_rare.c for the rare rows. A row becomes a loop over the
 * lanes, which the compiler vectorizes. */
#include "ptx_run/alu.h"
#include "ptx_run/approx.h"
#include "ptx_run/integer.h"
#include "exec/number.h"

#ifdef __x86_64__
#include <immintrin.h>
#else
#include <fenv.h>
#endif

/* The destination may be a source, but then each lane is its own: nothing else stops the loop from being a
 * vector. */
#ifdef __clang__
#pragma clang diagnostic ignored "-Wpass-failed" /* not all can be vectors */
#define ALL_LANES _Pragma("clang loop vectorize(assume_safety)") for (int i = 0; i < WARP_LANES; i++)
#else
#define ALL_LANES _Pragma("GCC ivdep") for (int i = 0; i < WARP_LANES; i++)
#endif

/* How rounding is done while these rows run. Operands come from memory after it is set and results are there
 * before it is set back, so the clobbers keep the arithmetic in between. */
#ifdef __x86_64__
enum { rz = 3 << 13, rm = 1 << 13, rp = 2 << 13 };
LANE void rounding_set(unsigned mode)
{
    unsigned csr = (_mm_getcsr() & ~(3u << 13)) | mode;
    __asm__ volatile("ldmxcsr %0" : : "m"(csr) : "memory");
}
LANE void rounding_reset(void)
{
    rounding_set(0);
}
#else
enum { rz = FE_TOWARDZERO, rm = FE_DOWNWARD, rp = FE_UPWARD };
LANE void rounding_set(int mode)
{
    fesetround(mode);
    __asm__ volatile("" : : : "memory");
}
LANE void rounding_reset(void)
{
    __asm__ volatile("" : : : "memory");
    fesetround(FE_TONEAREST);
}
#endif

/* A bit per lane from lanes that are 0 or -1. */
LANE lanes bits_of_16(const int16_t *r)
{
#if defined __AVX512BW__
    return _mm512_movepi16_mask(_mm512_loadu_si512(r));
#elif defined __AVX2__
    __m256i bytes =
        _mm256_packs_epi16(_mm256_loadu_si256((const void *)r), _mm256_loadu_si256((const void *)(r + 16)));
    return (lanes)_mm256_movemask_epi8(_mm256_permute4x64_epi64(bytes, 0xd8));
#elif defined __SSE2__
    const __m128i *v = (const void *)r;
    return (lanes)_mm_movemask_epi8(_mm_packs_epi16(_mm_loadu_si128(v), _mm_loadu_si128(v + 1))) |
           (lanes)_mm_movemask_epi8(_mm_packs_epi16(_mm_loadu_si128(v + 2), _mm_loadu_si128(v + 3))) << 16;
#else
    lanes bits = 0;
    for (int i = 0; i < WARP_LANES; i++)
        bits |= (lanes)(r[i] & 1) << i;
    return bits;
#endif
}

LANE lanes bits_of_32(const int32_t *r)
{
#if defined __AVX512DQ__
    return _mm512_movepi32_mask(_mm512_loadu_si512(r)) |
           (lanes)_mm512_movepi32_mask(_mm512_loadu_si512(r + 16)) << 16;
#elif defined __AVX2__
    lanes bits = 0;
    for (int i = 0; i < WARP_LANES; i += 8)
        bits |= (lanes)_mm256_movemask_ps(_mm256_loadu_ps((const float *)(r + i))) << i;
    return bits;
#elif defined __SSE2__
    lanes bits = 0;
    for (int i = 0; i < WARP_LANES; i += 4)
        bits |= (lanes)_mm_movemask_ps(_mm_loadu_ps((const float *)(r + i))) << i;
    return bits;
#else
    lanes bits = 0;
    for (int i = 0; i < WARP_LANES; i++)
        bits |= (lanes)(r[i] & 1) << i;
    return bits;
#endif
}

LANE lanes bits_of_64(const int64_t *r)
{
    lanes bits = 0;
#if defined __AVX512DQ__
    for (int i = 0; i < WARP_LANES; i += 8)
        bits |= (lanes)_mm512_movepi64_mask(_mm512_loadu_si512(r + i)) << i;
#elif defined __AVX2__
    for (int i = 0; i < WARP_LANES; i += 4)
        bits |= (lanes)_mm256_movemask_pd(_mm256_loadu_pd((const double *)(r + i))) << i;
#elif defined __SSE2__
    for (int i = 0; i < WARP_LANES; i += 2)
        bits |= (lanes)_mm_movemask_pd(_mm_loadu_pd((const double *)(r + i))) << i;
#else
    for (int i = 0; i < WARP_LANES; i++)
        bits |= (lanes)(r[i] & 1) << i;
#endif
    return bits;
}

/* Lane i of operand x. */
#define T(name, ctype, bytes) typedef ctype lane_##name;
ISA_TYPES(T)
#undef T
#define GET(type, x) ((const lane_##type *)x##_)[i]
#define GET_nil(x)   0
#define GET_pred(x)  (x##_word >> i & 1)
#define GET_u16(x)   GET(u16, x)
#define GET_s16(x)   GET(s16, x)
#define GET_f16(x)   GET(f16, x)
#define GET_bf16(x)  GET(bf16, x)
#define GET_u32(x)   GET(u32, x)
#define GET_s32(x)   GET(s32, x)
#define GET_f32(x)   GET(f32, x)
#define GET_u64(x)   GET(u64, x)
#define GET_s64(x)   GET(s64, x)
#define GET_f64(x)   GET(f64, x)

/* A predicate is read before the loop: the compiler cannot know that the destination is not part of it. */
#define WORD(type, x) const lanes UNUSED x##_word = TYPE_##type == TYPE_pred ? *(const lanes *)x##_ : 0

/* The loop: vectors are stored as they are, predicates gathered from lanes as wide as what was compared. */
#define PUT(type, value)                                                                                     \
    ALL_LANES((lane_##type *)d_)                                                                             \
    [i] = value
#define GATHER(width, value)                                                                                 \
    int##width##_t bits[WARP_LANES];                                                                         \
    ALL_LANES                                                                                                \
    bits[i] = value ? -1 : 0;                                                                                \
    *(lanes *)d_ = bits_of_##width(bits)
#define PUT_u16(ta, value)   PUT(u16, value)
#define PUT_s16(ta, value)   PUT(s16, value)
#define PUT_f16(ta, value)   PUT(f16, value)
#define PUT_bf16(ta, value)  PUT(bf16, value)
#define PUT_u32(ta, value)   PUT(u32, value)
#define PUT_s32(ta, value)   PUT(s32, value)
#define PUT_f32(ta, value)   PUT(f32, value)
#define PUT_u64(ta, value)   PUT(u64, value)
#define PUT_s64(ta, value)   PUT(s64, value)
#define PUT_f64(ta, value)   PUT(f64, value)
#define PUT_pred(ta, value)  PUT_pred_##ta(value)
#define PUT_pred_u16(value)  GATHER(16, value)
#define PUT_pred_s16(value)  GATHER(16, value)
#define PUT_pred_f16(value)  GATHER(16, value)
#define PUT_pred_bf16(value) GATHER(16, value)
#define PUT_pred_u32(value)  GATHER(32, value)
#define PUT_pred_s32(value)  GATHER(32, value)
#define PUT_pred_f32(value)  GATHER(32, value)
#define PUT_pred_u64(value)  GATHER(64, value)
#define PUT_pred_s64(value)  GATHER(64, value)
#define PUT_pred_f64(value)  GATHER(64, value)

#define UNUSED __attribute__((unused))
#define OPERANDS                                                                                             \
    UNUSED void *d_, UNUSED const void *a_, UNUSED const void *b_, UNUSED const void *c_,                    \
        UNUSED const void *e_
#define MEANING(id, td, ta, tb, tc, te, meaning)                                                             \
    LANE lane_##td of_##id(UNUSED lane_##ta a, UNUSED lane_##tb b, UNUSED lane_##tc c, UNUSED lane_##te e)   \
    {                                                                                                        \
        return (lane_##td)(meaning);                                                                         \
    }
#define LOOP(id, td, ta, tb, tc, te)                                                                         \
    WORD(ta, a);                                                                                             \
    WORD(tb, b);                                                                                             \
    WORD(tc, c);                                                                                             \
    WORD(te, e);                                                                                             \
    PUT_##td(ta, of_##id(GET_##ta(a), GET_##tb(b), GET_##tc(c), GET_##te(e)))

#define EXECUTOR(id, texts, td, ta, tb, tc, te, meaning)                                                     \
    MEANING(id, td, ta, tb, tc, te, meaning)                                                                 \
    static void run_##id(OPERANDS)                                                                           \
    {                                                                                                        \
        LOOP(id, td, ta, tb, tc, te);                                                                        \
    }
#define EXECUTOR_ROUNDED(mode, id, texts, td, ta, tb, tc, te, meaning)                                       \
    MEANING(id, td, ta, tb, tc, te, meaning)                                                                 \
    static void run_##id(OPERANDS)                                                                           \
    {                                                                                                        \
        rounding_set(mode);                                                                                  \
        LOOP(id, td, ta, tb, tc, te);                                                                        \
        rounding_reset();                                                                                    \
    }
#define EXECUTOR_BITS(id, texts, td, ta, tb, tc, te, meaning)                                                \
    static void run_##id(OPERANDS)                                                                           \
    {                                                                                                        \
        WORD(ta, a);                                                                                         \
        WORD(tb, b);                                                                                         \
        const lanes UNUSED a = a_word, b = b_word;                                                           \
        *(lanes *)d_ = meaning;                                                                              \
    }

#ifdef ONLY_RARE
#define ROW(...)
#define ROUNDED(...)
#define BITS(...)
#define RARE EXECUTOR
#else
#define ROW     EXECUTOR
#define ROUNDED EXECUTOR_ROUNDED
#define BITS    EXECUTOR_BITS
#define RARE(...)
#endif
#include "ptx/alu.def"
#undef ROW

/* By row; 0 where this level has none of its own. */
#ifdef ONLY_RARE
#define ROW(...)      0,
#define RARE(id, ...) run_##id,
#else
#define ROW(id, ...) run_##id,
#define RARE(...)    0,
#endif
#define NAMED(level) alu_fns_##level
#define FNS(level)   NAMED(level)
extern alu_fn *const FNS(LEVEL)[];
alu_fn *const FNS(LEVEL)[] = {
#include "ptx/alu.def"
};
#undef ROW
