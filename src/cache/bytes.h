/* Rows of bytes, one for each way of a set, looked at all at once: eight to a word, on any machine, and on a
 * GPU too (CUDA compiles this header as it stands). */
#ifndef CACHE_BYTES_H
#define CACHE_BYTES_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

#ifdef __CUDACC__
#define CACHE_CALL static __host__ __device__ __forceinline__
#else
#define CACHE_CALL static inline
#endif

#define EACH_BYTE(value) ((uint64_t)(value)*UINT64_C(0x0101010101010101))

/* The lowest bit that is set. */
CACHE_CALL uint32_t lowest_bit(uint64_t bits)
{
#ifdef __CUDA_ARCH__
    return (uint32_t)__ffsll((long long)bits) - 1;
#else
    return (uint32_t)__builtin_ctzll(bits);
#endif
}

/* The high bit of each byte that is not below `least`. Bytes and `least` are at most 127 and 128. */
CACHE_CALL uint64_t bytes_from(uint64_t word, uint32_t least)
{
    return ((word | EACH_BYTE(0x80)) - EACH_BYTE(least)) & EACH_BYTE(0x80);
}

/* The high bit of each byte that is 0. */
CACHE_CALL uint64_t bytes_zero(uint64_t word)
{
    uint64_t low = EACH_BYTE(0x7f);
    return ~(((word & low) + low) | word | low);
}

/* From the high bits of eight bytes to eight bits. */
CACHE_CALL uint32_t bytes_to_bits(uint64_t high_bits)
{
    return (uint32_t)((high_bits >> 7) * UINT64_C(0x0102040810204080) >> 56);
}

#ifdef __SSE2__
/* Sixteen times the same. */
static inline __m128i bytes_all(uint32_t value)
{
#ifdef __AVX2__
    return _mm_set1_epi8((char)value);
#else
    return _mm_set1_epi64x(
        (long long)EACH_BYTE(value)); /* set1_epi8 may spill a byte and read it as a word */
#endif
}
#endif

/* A bit for each of sixteen bytes that is this one; they start at a multiple of 16. */
CACHE_CALL uint32_t bytes_equal(const uint8_t *sixteen, uint8_t value)
{
#if defined(__SSE2__) && !defined(__CUDA_ARCH__)
    __m128i row = _mm_load_si128((const __m128i *)(const void *)sixteen);
    return (uint32_t)_mm_movemask_epi8(_mm_cmpeq_epi8(row, bytes_all(value)));
#else
    const uint64_t *words = (const uint64_t *)(const void *)sixteen;
    return bytes_to_bits(bytes_zero(words[0] ^ EACH_BYTE(value))) |
           bytes_to_bits(bytes_zero(words[1] ^ EACH_BYTE(value))) << 8;
#endif
}

#endif
