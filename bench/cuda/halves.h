/* Whole numbers as floats of 16 bits. */
#ifndef BENCH_CUDA_HALVES_H
#define BENCH_CUDA_HALVES_H

#include "workload.h"

/* The bits of a half that is a whole number from -8 to 8. */
static inline uint16_t matmul_half(int value)
{
    unsigned magnitude = (unsigned)abs(value), exponent = 0;
    if (!magnitude)
        return 0;
    while (magnitude >> (exponent + 1))
        exponent++;
    return (uint16_t)((value < 0 ? 0x8000 : 0) | (15 + exponent) << 10 |
                      ((magnitude << (10 - exponent)) & 0x3ff));
}

/* The same of a bfloat16: the upper half of a float. */
static inline uint16_t matmul_brain(int value)
{
    float number = (float)value;
    uint32_t bits;
    memcpy(&bits, &number, sizeof bits);
    return (uint16_t)(bits >> 16);
}

#endif
