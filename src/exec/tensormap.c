#include "exec/tensormap.h"
#include "base/bits.h"

#include <string.h>

static const struct type_row {
    uint16_t bits;
    uint8_t bytes;
    const char *name;
} types[TENSORMAP_TYPE_COUNT] = {
#define T(id, bits, bytes, name) {bits, bytes, name},
    TENSORMAP_TYPES(T)
#undef T
};

uint32_t tensormap_type_bytes(uint32_t type)
{
    return types[type].bytes;
}

const char *tensormap_type_name(uint32_t type)
{
    return types[type].name;
}

/* ---- bits ---- */

/* Some of them, of one of the 16 words. The number of a row may be that of a dimension more. */
struct bits {
    uint8_t word, at, count;
};

static const struct bits is_im2col = {1, 0, 1}, rank_bits = {1, 4, 3}, type_bits = {1, 7, 4},
                         tensor_float = {1, 16, 1}, interleave_bits = {1, 11, 2}, swizzle_bits = {1, 13, 2},
                         fill_bits = {1, 15, 1}, promotion_bits = {1, 17, 2}, pixel_bits = {7, 32, 10};
static const struct bits stride_low[] = {{1, 32, 32}, {2, 0, 32}, {2, 32, 32}, {3, 0, 32}};
static const struct bits stride_high[] = {{3, 32, 4}, {3, 36, 4}, {3, 40, 4}, {3, 44, 4}};
static const struct bits dim_bits[] = {{4, 0, 32}, {4, 32, 32}, {5, 0, 32}, {5, 32, 32}, {6, 0, 32}};
static const struct bits step_bits[] = {{6, 32, 3}, {6, 35, 3}, {6, 38, 3}, {6, 41, 3}, {6, 44, 3}};
static const struct bits box_bits[] = {{6, 56, 8}, {7, 0, 8}, {7, 8, 8}, {7, 16, 8}, {7, 24, 8}};
/* Corners of im2col, by the number of dimensions less 3: fewer bits for each where there are more. */
static const uint8_t corner_bits[] = {16, 8, 5};

static uint64_t get(const unsigned char *map, struct bits bits)
{
    uint64_t word;
    memcpy(&word, map + 8 * bits.word, 8);
    return word >> bits.at & (UINT64_MAX >> (64 - bits.count));
}

static void put(unsigned char *map, struct bits bits, uint64_t value)
{
    uint64_t word, mask = UINT64_MAX >> (64 - bits.count);
    memcpy(&word, map + 8 * bits.word, 8);
    word = (word & ~(mask << bits.at)) | (value & mask) << bits.at;
    memcpy(map + 8 * bits.word, &word, 8);
}

static void put_stride(unsigned char *map, uint32_t index, uint64_t bytes)
{
    put(map, stride_low[index], bytes >> 4);
    put(map, stride_high[index], bytes >> 36);
}

static void put_type(unsigned char *map, uint32_t bits)
{
    put(map, type_bits, bits);
    put(map, tensor_float, bits >> 9);
}

static struct bits corner(uint32_t rank, bool upper, uint32_t i)
{
    uint8_t count = corner_bits[rank - 3];
    return (struct bits){7, (uint8_t)(16 * upper + i * count), count};
}

/* ---- whole maps ---- */

/* Shared memory of a copy, as the driver reckons it. */
static uint64_t box_bytes(const struct tensormap *map)
{
    uint64_t bytes = types[map->type].bytes;
    if (map->is_im2col)
        return bytes * map->box[0] * map->pixels;
    for (uint32_t i = 0; i < map->rank; i++)
        bytes *= map->box[i] / map->step[i];
    return bytes;
}

void tensormap_encode(const struct tensormap *map, unsigned char to[TENSORMAP_BYTES])
{
    const struct bits bytes_of_box = {8, 0, 64}, alignment = {9, 0, 64}, address = {0, 0, 64};
    memset(to, 0, TENSORMAP_BYTES);
    put(to, address, map->address);
    put(to, is_im2col, map->is_im2col);
    put(to, rank_bits, map->rank - 1);
    put_type(to, types[map->type].bits);
    put(to, interleave_bits, map->interleave);
    put(to, swizzle_bits, map->swizzle);
    put(to, fill_bits, map->fills_nan);
    put(to, promotion_bits, map->promotion);
    for (uint32_t i = 0; i < map->rank; i++) {
        if (i)
            put_stride(to, i - 1, map->stride[i]);
        put(to, dim_bits[i], map->dim[i] - 1);
        put(to, step_bits[i], map->step[i] - 1);
        if (!map->is_im2col || !i)
            put(to, box_bits[i], map->box[i] - 1);
    }
    for (uint32_t i = 0; map->is_im2col && i + 2 < map->rank; i++) {
        put(to, corner(map->rank, false, i), (uint64_t)map->lower[i]);
        put(to, corner(map->rank, true, i), (uint64_t)map->upper[i]);
    }
    if (map->is_im2col)
        put(to, pixel_bits, map->pixels - 1);
    put(to, bytes_of_box, box_bytes(map));
    put(to, alignment, map->swizzle ? UINT64_C(128) << map->swizzle : 16);
}

static int32_t with_sign(uint64_t value, uint32_t count)
{
    uint32_t unused = 32 - count;
    return (int32_t)((uint32_t)value << unused) >> unused;
}

bool tensormap_decode(struct tensormap *map, const unsigned char from[TENSORMAP_BYTES])
{
    uint64_t bits = get(from, type_bits) | get(from, tensor_float) << 9;
    *map = (struct tensormap){.is_im2col = get(from, is_im2col),
                              .rank = (uint32_t)get(from, rank_bits) + 1,
                              .interleave = (uint32_t)get(from, interleave_bits),
                              .swizzle = (uint32_t)get(from, swizzle_bits),
                              .fills_nan = get(from, fill_bits),
                              .promotion = (uint32_t)get(from, promotion_bits)};
    while (map->type < TENSORMAP_TYPE_COUNT && types[map->type].bits != bits)
        map->type++;
    if (map->type == TENSORMAP_TYPE_COUNT || map->rank > TENSORMAP_DIMS ||
        (map->is_im2col && map->rank < 3) || map->interleave >= TENSORMAP_INTERLEAVES)
        return false;
    memcpy(&map->address, from, 8);
    for (uint32_t i = 0; i < map->rank; i++) {
        if (i)
            map->stride[i] = (get(from, stride_low[i - 1]) | get(from, stride_high[i - 1]) << 32) << 4;
        map->dim[i] = get(from, dim_bits[i]) + 1;
        map->step[i] = (uint32_t)get(from, step_bits[i]) + 1;
        map->box[i] = (uint32_t)get(from, box_bits[i]) + 1;
    }
    for (uint32_t i = 0; map->is_im2col && i + 2 < map->rank; i++) {
        uint32_t count = corner_bits[map->rank - 3];
        map->lower[i] = with_sign(get(from, corner(map->rank, false, i)), count);
        map->upper[i] = with_sign(get(from, corner(map->rank, true, i)), count);
    }
    map->pixels = (uint32_t)get(from, pixel_bits) + 1;
    return true;
}

/* ---- what a driver takes: as an H200's answered ---- */

enum { BOX_MOST = 256, STEP_MOST = 8, PIXELS_MOST = 1024, BOX_BYTES_MOST = 232448 };
#define ADDRESS_BITS 57
#define STRIDE_BITS  40
#define DIM_MOST     (UINT64_C(1) << 32)

static bool dims_are_valid(const struct tensormap *map)
{
    uint64_t unit = map->interleave == TENSORMAP_32_BYTES ? 32 : 16;
    if (map->address % unit || map->address >> ADDRESS_BITS)
        return false;
    for (uint32_t i = 0; i < map->rank; i++) {
        if (!map->dim[i] || map->dim[i] > DIM_MOST || !map->step[i] || map->step[i] > STEP_MOST)
            return false;
        if (i && (map->stride[i] % unit || map->stride[i] >> STRIDE_BITS))
            return false;
    }
    return true;
}

static bool corners_are_valid(const struct tensormap *map)
{
    for (uint32_t i = 0; i + 2 < map->rank; i++) {
        int32_t most = 1 << (corner_bits[map->rank - 3] - 1);
        if (map->lower[i] < -most || map->lower[i] >= most || map->upper[i] < -most || map->upper[i] >= most)
            return false;
        if ((int64_t)map->dim[i + 1] + map->upper[i] - map->lower[i] < 1)
            return false;
    }
    return true;
}

bool tensormap_is_valid(const struct tensormap *map)
{
    if (map->type >= TENSORMAP_TYPE_COUNT || !map->rank || map->rank > TENSORMAP_DIMS ||
        map->interleave >= TENSORMAP_INTERLEAVES || map->swizzle > 3 || map->promotion > 3)
        return false;
    bool is_integer = map->type <= TENSORMAP_S64;
    uint32_t least = map->is_im2col || map->interleave ? 3 : 1;
    if (map->rank < least || (map->fills_nan && is_integer) || !dims_are_valid(map))
        return false;
    for (uint32_t i = 0; i < (map->is_im2col ? 1 : map->rank); i++)
        if (!map->box[i] || map->box[i] > BOX_MOST)
            return false;
    if (map->is_im2col && (!map->pixels || map->pixels > PIXELS_MOST || !corners_are_valid(map)))
        return false;
    uint64_t inner = (uint64_t)map->box[0] * types[map->type].bytes;
    if (map->interleave == TENSORMAP_DENSE &&
        (inner % 16 || (map->swizzle && inner > UINT64_C(16) << map->swizzle)))
        return false;
    return box_bytes(map) <= BOX_BYTES_MOST;
}

/* ---- tensormap.replace ---- */

const char *const tensormap_field_names[TENSORMAP_FIELDS] = {
    [TENSORMAP_ADDRESS] = "global_address",
    [TENSORMAP_RANK] = "rank",
    [TENSORMAP_BOX] = "box_dim",
    [TENSORMAP_DIM] = "global_dim",
    [TENSORMAP_STRIDE] = "global_stride",
    [TENSORMAP_STEP] = "element_stride",
    [TENSORMAP_TYPE] = "elemtype",
    [TENSORMAP_INTERLEAVE] = "interleave_layout",
    [TENSORMAP_SWIZZLE] = "swizzle_mode",
    [TENSORMAP_FILL] = "fill_mode",
};

void tensormap_replace(unsigned char bits[TENSORMAP_BYTES], enum tensormap_field field, uint32_t index,
                       uint64_t value)
{
    /* PTX has an order of its own for types */
    static const uint16_t ptx_types[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 0x207, 0x208};
    switch (field) {
    case TENSORMAP_ADDRESS:
        memcpy(bits, &value, 8);
        break;
    case TENSORMAP_RANK:
        put(bits, rank_bits, value);
        break;
    case TENSORMAP_BOX:
        put(bits, box_bits[index], value - 1);
        break;
    case TENSORMAP_DIM:
        put(bits, dim_bits[index], value - 1);
        break;
    case TENSORMAP_STRIDE:
        put_stride(bits, index, value);
        break;
    case TENSORMAP_STEP:
        put(bits, step_bits[index], value - 1);
        break;
    case TENSORMAP_TYPE:
        put_type(bits, ptx_types[value < COUNT_OF(ptx_types) ? value : 0]);
        break;
    case TENSORMAP_INTERLEAVE:
        put(bits, interleave_bits, value);
        break;
    case TENSORMAP_SWIZZLE:
        put(bits, swizzle_bits, value);
        break;
    case TENSORMAP_FILL:
        put(bits, fill_bits, value);
        break;
    case TENSORMAP_FIELDS:
        break;
    }
}

int tensormap_rounds(const struct tensormap *map)
{
    return map->type == TENSORMAP_TF32 || map->type == TENSORMAP_TF32_FTZ ? (int)map->type : 0;
}

/* To the 19 bits that tensor cores take: to the nearest, ties to even. */
static uint32_t as_tf32(uint32_t bits)
{
    enum { LOW = 13 };
    if ((bits & 0x7fffffff) > 0x7f800000)
        return 0x7fffe000;
    bits += (1u << (LOW - 1)) - 1 + (bits >> LOW & 1);
    return bits >> LOW << LOW;
}

void tensormap_round(int how, void *words, uint64_t bytes)
{
    for (uint64_t i = 0; i < bytes; i += 4) {
        uint32_t value;
        memcpy(&value, (char *)words + i, 4);
        value = as_tf32(value);
        if (how == TENSORMAP_TF32_FTZ && !(value & 0x7f800000))
            value &= 0x80000000;
        memcpy((char *)words + i, &value, 4);
    }
}
