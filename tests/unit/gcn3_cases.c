#include "gcn3_cases.h"

#include "base/file.h"
#include "base/mem.h"

#include <string.h>
#include <zstd.h>

enum { HEAD_BYTES = 16, CASE_BYTES = 12, ITEM_BYTES = 24, VERSION = 1, FILE_MOST = 1 << 28 };

static uint32_t little32(const unsigned char *at)
{
    return at[0] | (uint32_t)at[1] << 8 | (uint32_t)at[2] << 16 | (uint32_t)at[3] << 24;
}

static uint64_t little64(const unsigned char *at)
{
    return little32(at) | (uint64_t)little32(at + 4) << 32;
}

static bool unpack(struct gcn3_cases *cases, const char *path, const struct text *packed, struct err *err)
{
    unsigned long long size = ZSTD_getFrameContentSize(packed->at, packed->length);
    if (size == ZSTD_CONTENTSIZE_ERROR || size == ZSTD_CONTENTSIZE_UNKNOWN || size > FILE_MOST)
        return err_set(err, "%s: expected a file of cases packed by zstd", path);
    cases->bytes = mem_alloc(size, 1);
    size_t got = ZSTD_decompress(cases->bytes, size, packed->at, packed->length);
    if (ZSTD_isError(got) || got != size)
        return err_set(err, "%s: %s", path, ZSTD_isError(got) ? ZSTD_getErrorName(got) : "incomplete");
    cases->end = cases->bytes + size;
    if (size < HEAD_BYTES || memcmp(cases->bytes, "GCN3CASE", 8) != 0)
        return err_set(err, "%s: expected a file of GCN3 cases", path);
    if (little32(cases->bytes + 8) != VERSION)
        return err_set(err, "%s: version %u, expected %d", path, (unsigned)little32(cases->bytes + 8),
                       VERSION);
    cases->count = little32(cases->bytes + 12);
    cases->at = cases->bytes + HEAD_BYTES;
    return true;
}

bool gcn3_cases_open(struct gcn3_cases *cases, const char *path, struct err *err)
{
    *cases = (struct gcn3_cases){0};
    struct text packed = {0};
    bool fine = file_read(path, FILE_MOST, &packed, err) && unpack(cases, path, &packed, err);
    text_fini(&packed);
    if (!fine)
        gcn3_cases_close(cases);
    return fine;
}

void gcn3_cases_close(struct gcn3_cases *cases)
{
    mem_free(cases->bytes);
    *cases = (struct gcn3_cases){0};
}

bool gcn3_cases_next(struct gcn3_cases *cases, struct gcn3_case *one, struct err *err)
{
    err->text[0] = 0;
    if (cases->read == cases->count)
        return cases->at == cases->end ? false : err_set(err, "bytes behind the last case");
    const unsigned char *at = cases->at;
    size_t left = (size_t)(cases->end - at);
    if (left < CASE_BYTES || little32(at) > left)
        return err_set(err, "case %u is cut off", cases->read);
    *one = (struct gcn3_case){.gfx = at[4], .word_count = at[5], .end = at + little32(at)};
    size_t text = at[6] | (size_t)at[7] << 8;
    one->before = at[8] | at[9] << 8;
    one->after = at[10] | at[11] << 8;
    size_t head = CASE_BYTES + 4 * (size_t)one->word_count + (text + 3) / 4 * 4;
    if (one->word_count < 1 || one->word_count > 4 || text >= sizeof one->text || head > little32(at))
        return err_set(err, "case %u is damaged", cases->read);
    for (unsigned i = 0; i < one->word_count; i++)
        one->words[i] = little32(at + CASE_BYTES + 4 * i);
    memcpy(one->text, at + CASE_BYTES + 4 * one->word_count, text);
    one->items = at + head;
    cases->at += little32(at);
    cases->read++;
    return true;
}

static size_t payload_bytes(const struct case_item *item)
{
    switch (item->space) {
    case CASE_SGPR:
        return 4 * (size_t)item->count;
    case CASE_VGPR:
        return 4 * (size_t)item->count * item->width;
    case CASE_SPECIAL:
        return 8;
    default:
        return ((size_t)item->count + 3) / 4 * 4;
    }
}

bool case_item_read(const struct gcn3_case *one, const unsigned char **at, struct case_item *item,
                    struct err *err)
{
    const unsigned char *head = *at;
    if (one->end - head < ITEM_BYTES || head[0] >= CASE_SPACES)
        return err_set(err, "an item of '%s' is damaged", one->text);
    *item = (struct case_item){
        .space = (enum case_space)head[0],
        .compare = (enum case_compare)head[1],
        .flags = head[2],
        .width = head[3],
        .index = little32(head + 4),
        .count = little32(head + 8),
        .ulps = little32(head + 12),
        .where = little64(head + 16),
        .data = head + ITEM_BYTES,
    };
    bool lanes = item->space != CASE_VGPR ||
                 (item->count >= 1 && item->count <= 64 && item->width >= 1 && item->width <= 4);
    if (!lanes || payload_bytes(item) > (size_t)(one->end - item->data))
        return err_set(err, "an item of '%s' is damaged", one->text);
    *at = item->data + payload_bytes(item);
    return true;
}

uint64_t case_item_value(const struct case_item *item, unsigned lane)
{
    switch (item->space) {
    case CASE_SGPR:
        return little32(item->data + 4 * lane);
    case CASE_SPECIAL:
        return little64(item->data);
    case CASE_VGPR: {
        const unsigned char *value = item->data + 4 * (size_t)item->width * (lane % item->count);
        return item->width >= 2 ? little64(value) : little32(value);
    }
    default:
        return item->data[lane];
    }
}

struct float_layout {
    unsigned width, mantissa;
};

static const struct float_layout layouts[] = {
    [CASE_F16] = {16, 10}, [CASE_F32] = {32, 23}, [CASE_F64] = {64, 52}};

/* Floats in order, as integers: the distance of two neighbours is one ulp, over zero too. */
static int64_t ordered(uint64_t bits, const struct float_layout *layout)
{
    uint64_t sign = UINT64_C(1) << (layout->width - 1);
    return bits & sign ? -(int64_t)(bits & ~sign) : (int64_t)bits;
}

static bool is_nan(uint64_t bits, const struct float_layout *layout)
{
    uint64_t infinity = ((UINT64_C(1) << (layout->width - 1)) - 1) >> layout->mantissa << layout->mantissa;
    return (bits & ((UINT64_C(1) << (layout->width - 1)) - 1)) > infinity;
}

/* A number as an integer multiple of an eighth of an ulp of 1.0; only for numbers not much above 1. */
static int64_t in_ulps_of_one(uint64_t bits, const struct float_layout *layout)
{
    unsigned bias = (1u << (layout->width - layout->mantissa - 2)) - 1;
    uint64_t magnitude = bits & ((UINT64_C(1) << (layout->width - 1)) - 1);
    unsigned exponent = (unsigned)(magnitude >> layout->mantissa);
    int64_t mantissa =
        (int64_t)((magnitude & ((UINT64_C(1) << layout->mantissa) - 1)) | UINT64_C(1) << layout->mantissa) *
        8;
    int shift = (int)bias - (int)exponent;
    int64_t value = exponent == 0 || shift > 62 ? 0
                    : shift >= 0                ? mantissa >> shift
                                                : mantissa << (-shift < 3 ? -shift : 3);
    return bits >> (layout->width - 1) & 1 ? -value : value;
}

static bool float_fits(const struct case_item *item, const struct float_layout *layout, uint64_t expected,
                       uint64_t result)
{
    if (expected == result)
        return true;
    if (is_nan(expected, layout) || is_nan(result, layout))
        return is_nan(expected, layout) && is_nan(result, layout);
    if (item->flags & CASE_ABSOLUTE) {
        int64_t apart = in_ulps_of_one(expected, layout) - in_ulps_of_one(result, layout);
        return (apart < 0 ? -apart : apart) <= 8 * (int64_t)item->ulps;
    }
    int64_t a = ordered(expected, layout), b = ordered(result, layout);
    if (a == 0 && b == 0)
        return item->flags & CASE_ANY_ZERO;
    return (a > b ? (uint64_t)a - (uint64_t)b : (uint64_t)b - (uint64_t)a) <= item->ulps;
}

bool case_item_fits(const struct case_item *item, uint64_t expected, uint64_t result)
{
    if (item->flags & CASE_LOW_HALF) {
        expected &= 0xffff;
        result &= 0xffff;
    }
    switch (item->compare) {
    case CASE_F16:
        return expected >> 16 == result >> 16 &&
               float_fits(item, &layouts[CASE_F16], expected & 0xffff, result & 0xffff);
    case CASE_F32:
    case CASE_F64:
        return float_fits(item, &layouts[item->compare], expected, result);
    case CASE_F16X2:
        return float_fits(item, &layouts[CASE_F16], expected & 0xffff, result & 0xffff) &&
               float_fits(item, &layouts[CASE_F16], expected >> 16, result >> 16);
    case CASE_IGNORED:
        return true;
    default:
        return expected == result;
    }
}
