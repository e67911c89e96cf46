/* Texels of every format. The results of filtering were determined on an H200: integers are weighted as
 * 16-bit values, f16 and sRGB give f16. */
#include "exec/texel.h"

#include "exec/number.h"

#include <math.h>
#include <string.h>

/* A channel's bytes, and what counts as 1 when integers are read as floats: of the format, and widened to 16
 * bits. */
static const struct format_row {
    uint8_t bytes;
    bool negative;
    uint16_t one, wide_one;
} formats[] = {
    [CHANNEL_U8] = {1, false, 255, 65535},    [CHANNEL_S8] = {1, true, 127, 32767},
    [CHANNEL_U16] = {2, false, 65535, 65535}, [CHANNEL_S16] = {2, true, 32767, 32767},
    [CHANNEL_U32] = {4, false, 0, 0},         [CHANNEL_S32] = {4, true, 0, 0},
    [CHANNEL_F16] = {2, true, 0, 0},          [CHANNEL_F32] = {4, true, 0, 0},
};

/* sRGB to linear, in 1/16384: a table of the hardware's own, near to the formula. */
static const uint16_t linear[256] = {
    0,     5,     10,    15,    20,    25,    30,    35,    40,    45,    50,    55,    60,    66,    72,
    78,    85,    92,    99,    107,   115,   123,   131,   140,   150,   159,   169,   180,   190,   201,
    213,   224,   236,   250,   262,   276,   290,   304,   318,   332,   348,   364,   380,   396,   412,
    430,   448,   466,   484,   504,   524,   544,   564,   584,   604,   624,   648,   672,   692,   716,
    740,   764,   788,   816,   840,   864,   896,   920,   944,   976,   1000,  1032,  1064,  1088,  1120,
    1152,  1184,  1216,  1248,  1280,  1312,  1352,  1384,  1416,  1456,  1488,  1528,  1560,  1600,  1640,
    1672,  1712,  1752,  1792,  1832,  1872,  1920,  1952,  2000,  2048,  2080,  2128,  2176,  2224,  2272,
    2320,  2368,  2416,  2464,  2512,  2560,  2608,  2656,  2704,  2752,  2816,  2864,  2912,  2976,  3024,
    3072,  3136,  3184,  3248,  3296,  3360,  3424,  3472,  3536,  3600,  3664,  3712,  3776,  3840,  3904,
    3968,  4032,  4096,  4160,  4224,  4288,  4352,  4416,  4512,  4576,  4640,  4704,  4768,  4864,  4928,
    4992,  5056,  5152,  5216,  5280,  5376,  5440,  5536,  5600,  5696,  5760,  5824,  5920,  6016,  6080,
    6176,  6240,  6336,  6400,  6496,  6592,  6688,  6752,  6848,  6944,  7008,  7104,  7200,  7296,  7392,
    7488,  7584,  7680,  7744,  7872,  7936,  8064,  8128,  8256,  8320,  8448,  8512,  8640,  8768,  8832,
    8960,  9024,  9152,  9280,  9344,  9472,  9600,  9664,  9792,  9920,  9984,  10112, 10240, 10304, 10432,
    10560, 10688, 10816, 10880, 11008, 11136, 11264, 11392, 11456, 11584, 11712, 11840, 11968, 12096, 12224,
    12352, 12480, 12608, 12736, 12864, 12992, 13120, 13248, 13376, 13504, 13632, 13760, 13888, 14016, 14144,
    14272, 14400, 14528, 14656, 14848, 14976, 15104, 15232, 15360, 15488, 15616, 15744, 16000, 16128, 16256,
    16384,
};

unsigned texel_bytes(const struct texture *t)
{
    return t->channels * formats[t->channel].bytes;
}

static bool is_float(const struct texture *t)
{
    return t->channel == CHANNEL_F16 || t->channel == CHANNEL_F32;
}

bool texel_gives_floats(const struct texture *t)
{
    return is_float(t) || (t->normalized_float && formats[t->channel].one);
}

static bool is_srgb(const struct texture *t, unsigned channel)
{
    return t->srgb && t->channel == CHANNEL_U8 && t->normalized_float && channel < 3;
}

static uint32_t read_channel(enum texture_channel channel, const unsigned char *at)
{
    uint16_t half;
    uint32_t word;
    if (formats[channel].bytes == 1)
        return channel == CHANNEL_S8 ? (uint32_t)(int8_t)*at : *at;
    if (formats[channel].bytes == 4) {
        memcpy(&word, at, sizeof word);
        return word;
    }
    memcpy(&half, at, sizeof half);
    return channel == CHANNEL_F16   ? bits_f32(f32_f16(half))
           : channel == CHANNEL_S16 ? (uint32_t)(int16_t)half
                                    : half;
}

void texel_read(const struct texture *t, const unsigned char *at, uint32_t raw[4])
{
    for (unsigned c = 0; c < 4; c++)
        raw[c] = c < t->channels ? read_channel(t->channel, at + c * formats[t->channel].bytes) : 0;
}

void texel_border(const struct texture *t, uint32_t raw[4])
{
    const struct format_row *f = &formats[t->channel];
    for (unsigned c = 0; c < 4; c++) {
        float x = c < t->channels ? t->border[c] : 0, least = f->negative ? -1 : 0;
        if (t->channel == CHANNEL_F16)
            raw[c] = bits_f32(f32_f16(f16_f32(x)));
        else if (is_float(t))
            raw[c] = bits_f32(x);
        else
            raw[c] = (uint32_t)(int32_t)rintf((x > least ? x < 1 ? x : 1 : least) * f->one);
    }
}

uint32_t texel_result(const struct texture *t, unsigned channel, uint32_t raw)
{
    const struct format_row *f = &formats[t->channel];
    if (is_float(t) || !texel_gives_floats(t))
        return raw;
    if (is_srgb(t, channel))
        return bits_f32(linear[raw] / 16384.0f);
    float x = (float)(int32_t)raw / f->one;
    return bits_f32(x > -1 ? x : -1);
}

double texel_number(const struct texture *t, unsigned channel, uint32_t raw)
{
    const struct format_row *f = &formats[t->channel];
    if (is_float(t))
        return f32_bits(raw);
    if (is_srgb(t, channel))
        return linear[raw] / 16384.0;
    int32_t x = (int32_t)raw;
    if (t->channel == CHANNEL_S8) /* as it is, -128 too: the sum is widened */
        return x;
    return (x > -f->one ? x : -f->one) * (double)f->wide_one / f->one;
}

/* The nearest number with so many bits behind the point, of two equally near the one further from 0. */
static double nearest(double x, unsigned fraction)
{
    uint64_t half = UINT64_C(1) << (51 - fraction);
    return f64_bits((bits_f64(x) + half) & ~(2 * half - 1));
}

/* To f16, which below 2^-14 has fewer bits. */
static float nearest_f16(double x)
{
    return (float)(fabs(x) < 0x1p-14 ? round(x * 0x1p24) * 0x1p-24 : nearest(x, 10));
}

/* A sum of signed bytes, in 1/256, as 1/32767: nearly 32767 / 127 times it, with three bits more that are
 * rounded off. */
static int32_t widen_s8(int32_t sum)
{
    int32_t wide = (8 * sum + (sum >> 4) + (sum >> 12) + 4) >> 3;
    return wide > -32767 ? wide : -32767;
}

uint32_t texel_filtered(const struct texture *t, unsigned channel, double sum)
{
    const struct format_row *f = &formats[t->channel];
    if (t->channel == CHANNEL_S8)
        return bits_f32((float)widen_s8((int32_t)(sum * 256)) / f->wide_one);
    if (t->channel == CHANNEL_F32)
        return bits_f32((float)nearest(sum, 23));
    if (t->channel == CHANNEL_F16 || is_srgb(t, channel))
        return bits_f32(nearest_f16(sum));
    return bits_f32((float)floor(sum + 0.5) / f->wide_one);
}
