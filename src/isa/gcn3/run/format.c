#include "gcn3_run/format.h"
#include "base/bits.h"
#include "exec/number.h"

#include <string.h>

/* Bits of x, y, z and w, from the lowest on. The names in manuals begin with the highest. */
static const uint8_t widths[][GCN3_COMPONENTS] = {
    [1] = {8},
    [2] = {16},
    [3] = {8, 8},
    [4] = {32},
    [5] = {16, 16},
    [6] = {11, 11, 10},
    [7] = {10, 11, 11},
    [8] = {2, 10, 10, 10},
    [9] = {10, 10, 10, 2},
    [10] = {8, 8, 8, 8},
    [11] = {32, 32},
    [12] = {16, 16, 16, 16},
    [13] = {32, 32, 32},
    [14] = {32, 32, 32, 32},
    [16] = {5, 6, 5}, /* from here on: of images only */
    [17] = {5, 5, 5, 1},
    [18] = {1, 5, 5, 5},
    [19] = {4, 4, 4, 4},
};

enum { UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT = 7 };

uint32_t gcn3_format_bytes(uint32_t data)
{
    uint32_t bits = 0;
    for (uint32_t i = 0; data < COUNT_OF(widths) && i < GCN3_COMPONENTS; i++)
        bits += widths[data][i];
    return bits / 8;
}

bool gcn3_format_is_number(uint32_t number)
{
    return number <= SINT || number == FLOAT;
}

bool gcn3_format_is_integer(uint32_t number)
{
    return number == UINT || number == SINT;
}

uint32_t gcn3_format_one(uint32_t number)
{
    return gcn3_format_is_integer(number) ? 1 : bits_f32(1.0f);
}

/* ---- fields: none crosses a boundary of 64 bits ---- */

static uint32_t field(const unsigned char *bytes, uint32_t at, uint32_t width)
{
    uint64_t word = 0;
    memcpy(&word, bytes + at / 64 * 8, 8);
    return (uint32_t)(word >> at % 64 & (UINT64_MAX >> (64 - width)));
}

static void set_field(unsigned char *bytes, uint32_t at, uint32_t width, uint32_t value)
{
    uint64_t word;
    memcpy(&word, bytes + at / 64 * 8, 8);
    word |= (value & (UINT64_MAX >> (64 - width))) << at % 64;
    memcpy(bytes + at / 64 * 8, &word, 8);
}

static int32_t with_sign(uint32_t value, uint32_t width)
{
    return (int32_t)(value << (32 - width)) >> (32 - width);
}

/* ---- one component ---- */

/* Floats of 10 and 11 bits are f16's without the sign and the lowest bits. */
static uint32_t read_float(uint32_t value, uint32_t width)
{
    if (width == 32)
        return value;
    return bits_f32(f32_f16((uint16_t)(width == 16 ? value : value << (15 - width))));
}

static uint32_t write_float(uint32_t value, uint32_t width)
{
    if (width == 32)
        return value;
    uint16_t half = f16_f32(f32_bits(value));
    if (width == 16)
        return half;
    bool is_nan = (half & 0x7fff) > 0x7c00;
    return half >> 15 && !is_nan ? 0 : (uint32_t)(half & 0x7fff) >> (15 - width);
}

static uint32_t read_one(uint32_t number, uint32_t value, uint32_t width)
{
    double most = (double)(UINT32_MAX >> (32 - width)), positive = (double)(INT32_MAX >> (32 - width));
    switch (number) {
    case UNORM:
        return bits_f32((float)(value / most));
    case SNORM:
        return bits_f32((float)fmax(with_sign(value, width) / positive, -1.0));
    case USCALED:
        return bits_f32((float)value);
    case SSCALED:
        return bits_f32((float)with_sign(value, width));
    case SINT:
        return (uint32_t)with_sign(value, width);
    case FLOAT:
        return read_float(value, width);
    default:
        return value;
    }
}

static double within(double value, double least, double most)
{
    return value > least ? value < most ? value : most : least; /* a NaN is the least */
}

static uint32_t write_one(uint32_t number, uint32_t value, uint32_t width)
{
    double x = (double)f32_bits(value);
    uint32_t most = UINT32_MAX >> (32 - width);
    int32_t positive = INT32_MAX >> (32 - width);
    switch (number) {
    case UNORM:
        return (uint32_t)rint(within(x, 0, 1) * most);
    case SNORM:
        return (uint32_t)(int32_t)rint(within(x != x ? 0 : x, -1, 1) * positive);
    case USCALED:
        return (uint32_t)within(x, 0, most);
    case SSCALED:
        return (uint32_t)(int32_t)within(x != x ? 0 : x, -1.0 - positive, positive);
    case UINT:
        return (uint32_t)min_u64(value, most);
    case SINT:
        return (uint32_t)(int32_t)within((int32_t)value, -1.0 - positive, positive);
    case FLOAT:
        return write_float(value, width);
    default:
        return value;
    }
}

/* ---- elements ---- */

void gcn3_format_read(uint32_t data, uint32_t number, const unsigned char *bytes,
                      uint32_t components[GCN3_COMPONENTS])
{
    unsigned char own[GCN3_ELEMENT_MOST] = {0};
    const uint8_t *width = widths[data];
    memcpy(own, bytes, gcn3_format_bytes(data));
    for (uint32_t i = 0, at = 0; i < GCN3_COMPONENTS; at += width[i++])
        components[i] = width[i] ? read_one(number, field(own, at, width[i]), width[i]) : 0;
}

void gcn3_format_write(uint32_t data, uint32_t number, const uint32_t components[GCN3_COMPONENTS],
                       unsigned char *bytes)
{
    unsigned char own[GCN3_ELEMENT_MOST] = {0};
    const uint8_t *width = widths[data];
    for (uint32_t i = 0, at = 0; i < GCN3_COMPONENTS; at += width[i++])
        if (width[i])
            set_field(own, at, width[i], write_one(number, components[i], width[i]));
    memcpy(bytes, own, gcn3_format_bytes(data));
}

/* ---- registers ---- */

void gcn3_format_select(uint32_t select, uint32_t number, const uint32_t components[GCN3_COMPONENTS],
                        uint32_t selected[GCN3_COMPONENTS])
{
    for (uint32_t i = 0; i < GCN3_COMPONENTS; i++) {
        uint32_t which = select >> 3 * i & 7;
        selected[i] = which >= 4 ? components[which - 4] : which == 1 ? gcn3_format_one(number) : 0;
    }
}

void gcn3_format_place(uint32_t select, const uint32_t selected[GCN3_COMPONENTS],
                       uint32_t components[GCN3_COMPONENTS])
{
    for (uint32_t i = GCN3_COMPONENTS; i--;) {
        uint32_t which = select >> 3 * i & 7;
        if (which >= 4)
            components[which - 4] = selected[i];
    }
}

uint32_t gcn3_format_half(uint32_t number, uint32_t value)
{
    return gcn3_format_is_integer(number) ? value & 0xffff : f16_f32(f32_bits(value));
}

uint32_t gcn3_format_whole(uint32_t number, uint32_t half)
{
    if (gcn3_format_is_integer(number))
        return number == SINT ? (uint32_t)with_sign(half, 16) : half;
    return bits_f32(f32_f16((uint16_t)half));
}
