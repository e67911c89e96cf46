/* What a lane computes seldom, or slowly. */
#include "gcn3_run/lane.h"

uint16_t gcn3_f16_rounded(float a, uint8_t rounding)
{
    static const enum rounding directions[] = {ROUND_NEAREST, ROUND_UP, ROUND_DOWN, ROUND_ZERO};
    return (uint16_t)number_encode(&format_f16, number_decode(&format_f32, bits_f32(a)),
                                   directions[rounding]);
}

/* The first 1201 bits of 2/pi behind the point, from the highest on. */
static const uint64_t two_over_pi[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041, 0xfe5163abdebbc561, 0xb7246e3a424dd2e0,
    0x06492eea09d1921c, 0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41, 0x3991d639835339f4,
    0x9c845f8bbdf9283b, 0x1ff897ffde05980f, 0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08, 0x56033046fc7b0000,
};

/* Bits `first` to `first + 52` of 2/pi; beyond the last they are 0. */
static uint64_t segment_of(uint32_t first)
{
    uint32_t word = first / 64, shift = first % 64, count = sizeof two_over_pi / sizeof *two_over_pi;
    uint64_t high = word < count ? two_over_pi[word] : 0, low = word + 1 < count ? two_over_pi[word + 1] : 0;
    uint64_t bits = shift ? high << shift | low >> (64 - shift) : high;
    return bits >> 11;
}

/* Large numbers get a segment that is 2^128 too large. Denormal results are cut off, not rounded. */
double gcn3_trig_preop(double a, uint32_t segment)
{
    uint32_t exponent = (uint32_t)(bits_f64(a) >> 52 & 0x7ff), first = (segment & 31) * 53;
    if (exponent > 1077)
        first += exponent - 1077;
    uint64_t bits = segment_of(first);
    if (!bits)
        return 0.0;
    int32_t top = 63 - __builtin_clzll(bits),
            power = 1023 - 53 - (int32_t)first + top + (exponent >= 1968 ? 128 : 0);
    uint64_t fraction = bits << (52 - top);
    if (power > 0)
        return f64_bits((uint64_t)power << 52 | (fraction & ((UINT64_C(1) << 52) - 1)));
    return f64_bits(power > -53 ? fraction >> (1 - power) : 0);
}
