/* Internals of matrix_level.h: vectors of the host's width, and what tiles do with them. */
#ifndef PTX_RUN_MATRIX_VECTOR_H
#define PTX_RUN_MATRIX_VECTOR_H

#include "ptx_run/matrix_tile.h"

#include "exec/number.h"

#include <string.h>

#ifdef __x86_64__
#include <immintrin.h>
#endif

/* Vectors of the host's width: so many lanes of 32 bits. */
#if defined __AVX512BW__
enum { VL = 16 };
#define WIDE_HOST(avx512, avx2, base) avx512
#elif defined __AVX2__
enum { VL = 8 };
#define WIDE_HOST(avx512, avx2, base) avx2
#else
enum { VL = 4 };
#define WIDE_HOST(avx512, avx2, base) base
#endif
typedef float vf __attribute__((vector_size(4 * VL), aligned(4), may_alias));
typedef int32_t vi __attribute__((vector_size(4 * VL), aligned(4), may_alias));
typedef uint32_t vu __attribute__((vector_size(4 * VL), aligned(4), may_alias));
typedef double vd __attribute__((vector_size(4 * VL), aligned(8), may_alias));
typedef int64_t vl __attribute__((vector_size(4 * VL), aligned(8), may_alias));

/* Element t of each quad, four times. t is a constant. */
#define Q4(i, t) (i) + (t), (i) + (t), (i) + (t), (i) + (t)
#define QUADS(x, t)                                                                                          \
    WIDE_HOST(__builtin_shufflevector(x, x, Q4(0, t), Q4(4, t), Q4(8, t), Q4(12, t)),                        \
              __builtin_shufflevector(x, x, Q4(0, t), Q4(4, t)), __builtin_shufflevector(x, x, Q4(0, t)))

/* Four neighbours for each quad. */
LANE vf spread(const float *x)
{
    return WIDE_HOST((vf)_mm512_broadcast_f32x4(_mm_loadu_ps(x)), (vf)_mm256_broadcast_ps((const __m128 *)x),
                     *(const vf *)x);
}

LANE vi greater(vi a, vi b)
{
#if defined __AVX512BW__
    return (vi)_mm512_max_epi32((__m512i)a, (__m512i)b);
#elif defined __AVX2__
    return (vi)_mm256_max_epi32((__m256i)a, (__m256i)b);
#else
    vi is = a > b;
    return (a & is) | (b & ~is);
#endif
}

LANE vi lesser(vi a, vi b)
{
#if defined __AVX512BW__
    return (vi)_mm512_min_epi32((__m512i)a, (__m512i)b);
#elif defined __AVX2__
    return (vi)_mm256_min_epi32((__m256i)a, (__m256i)b);
#else
    return ~greater(~a, ~b);
#endif
}

/* a where the mask is -1, else b */
LANE vi choose(vi mask, vi a, vi b)
{
    return (a & mask) | (b & ~mask);
}

LANE vi truncated(vf x)
{
    return __builtin_convertvector(x, vi);
}

/* Whether some lane is negative. */
LANE bool vec_any_negative(vi x)
{
#if defined __AVX512DQ__
    return _mm512_movepi32_mask((__m512i)x);
#elif defined __AVX2__
    return _mm256_movemask_ps((__m256)x);
#else
    int32_t all = 0;
    for (int i = 0; i < VL; i++)
        all |= x[i];
    return all < 0;
#endif
}

/* Lanes of a byte. */
LANE vi vec_from_bytes(const int8_t *x)
{
#if defined __AVX512BW__
    return (vi)_mm512_cvtepi8_epi32(_mm_loadu_si128((const void *)x));
#elif defined __AVX2__
    return (vi)_mm256_cvtepi8_epi32(_mm_loadl_epi64((const void *)x));
#else
    return (vi){x[0], x[1], x[2], x[3]};
#endif
}

LANE void vec_to_bytes(int8_t *to, vi x)
{
#if defined __AVX512BW__
    _mm_storeu_si128((void *)to, _mm512_cvtepi32_epi8((__m512i)x));
#else
    for (int i = 0; i < VL; i++)
        to[i] = (int8_t)x[i];
#endif
}

/* --- exponents: bytes, as many as fill a vector --------------------------------------------------------- */

enum { VB = 4 * VL };
typedef int8_t vbytes __attribute__((vector_size(VB), aligned(1), may_alias));
typedef uint32_t vwords __attribute__((vector_size(VB), aligned(1), may_alias));

#ifdef __SSSE3__
#define Q16(i, t) Q4(i, t), Q4((i) + 4, t), Q4((i) + 8, t), Q4((i) + 12, t)
#define QUADS_OF_BYTES(x, t)                                                                                 \
    WIDE_HOST(__builtin_shufflevector(x, x, Q16(0, t), Q16(16, t), Q16(32, t), Q16(48, t)),                  \
              __builtin_shufflevector(x, x, Q16(0, t), Q16(16, t)),                                          \
              __builtin_shufflevector(x, x, Q16(0, t)))
#else
LANE vbytes quads_of_bytes(vwords x, int t)
{
    x = x >> 8 * t & 0xff;
    x |= x << 8;
    return (vbytes)(x | x << 16);
}
#define QUADS_OF_BYTES(x, t) quads_of_bytes((vwords)(x), t)
#endif

LANE vbytes greater_bytes(vbytes a, vbytes b)
{
#if defined __AVX512BW__
    return (vbytes)_mm512_max_epi8((__m512i)a, (__m512i)b);
#elif defined __AVX2__
    return (vbytes)_mm256_max_epi8((__m256i)a, (__m256i)b);
#else
    vbytes is = a > b;
    return (a & is) | (b & ~is);
#endif
}

LANE vbytes vec_spread_bytes(const int8_t *x)
{
    uint32_t word;
    memcpy(&word, x, sizeof word);
    return (vbytes)((vwords){0} + word);
}

/* --- registers ------------------------------------------------------------------------------------------ */

/* Words of a narrow register, in the order of tile_narrow. */
static void turn(const uint32_t *words, uint32_t turned[WARP_LANES])
{
#ifdef __AVX512F__
#define EIGHTH(t) t, 8 + t, 16 + t, 24 + t, 4 + t, 12 + t, 20 + t, 28 + t
    const vi low = *(const vi *)words, high = *(const vi *)(words + VL);
    *(vi *)turned = __builtin_shufflevector(low, high, EIGHTH(0), EIGHTH(1));
    *(vi *)(turned + VL) = __builtin_shufflevector(low, high, EIGHTH(2), EIGHTH(3));
#else
    for (int t = 0; t < QUAD; t++)
        for (int result = 0; result < 2; result++)
            for (int i = 0; i < QUAD; i++)
                turned[8 * t + 4 * result + i] = words[8 * i + 4 * result + t];
#endif
}

/* The words of register r: with `lines` 2, registers are in turn of a line and of the line below; of the
 * narrow operand, they have to be turned. */
LANE const uint32_t *words_at(const void *const registers[], int r, bool turns, uint32_t turned[WARP_LANES])
{
    if (!turns)
        return registers[r];
    turn(registers[r], turned);
    return turned;
}

#endif
