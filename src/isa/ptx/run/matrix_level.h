/* The tiles of matrix_tile.h for one kind of host, LEVEL. Included by matrix_base.c, matrix_v3.c and
 * matrix_v4.c, which are compiled for different processors. */
#include "ptx_run/matrix_vector.h"
#include "ptx_run/matrix_whole.h"

/* --- from registers to tiles ---------------------------------------------------------------------------- */

/* Part `part` of words, of f16 or a type that f16 holds exactly, in f32: with sign, exponent and fraction in
 * their places a number is a float that is too small by a power of two, a subnormal one as well. `most` is
 * the largest magnitude. */
LANE void halves_of(enum matrix_type type, int part, const uint32_t *words, float *x, int8_t *exponents,
                    vi *most)
{
    const int bits = type == MATRIX_f16 ? 16 : 8, down = type == MATRIX_e4m3 ? 4 : 3;
    const int32_t kept = INT32_MIN | (int32_t)((UINT32_MAX << (32 - bits) & INT32_MAX) >> down);
    const vf scale = (vf){0} + (type == MATRIX_e4m3 ? 0x1p120f : 0x1p112f);
    for (int i = 0; i < WARP_LANES; i += VL) {
        vi word = *(const vi *)(words + i) << (32 - bits - bits * part);
        vf number = (vf)(word >> down & kept) * scale;
        vi magnitude = (vi)number & INT32_MAX;
        vi exponent = greater(magnitude >> 23, (vi){0} + (127 - 14)) - (127 + 15);
        *most = greater(*most, magnitude);
        vec_to_bytes(exponents + i, choose(magnitude == 0, (vi){0} + TILE_ZERO, exponent));
        *(vf *)(x + i) = number;
    }
}

LANE bool halves(const struct matrix_plan *plan, enum matrix_type type, int lines,
                 const void *const registers[], float *x, int8_t *exponents, int *base, int *scale)
{
    const int elements = type == MATRIX_f16 ? 2 : 4;
    const int32_t least = type == MATRIX_e4m3 ? 0x43f00000 : 0x47800000; /* 480 and 2^16: of no numbers */
    _Alignas(64) uint32_t turned[WARP_LANES];
    vi most = {0};
    for (int r = 0; r < plan->registers * lines; r++) {
        const uint32_t *words = words_at(registers, r, lines == 1, turned);
        for (int part = 0; part < elements; part++) {
            int at = ((r / lines * elements + part) * lines + r % lines) * WARP_LANES;
            halves_of(type, part, words, x + at, exponents + at, &most);
        }
    }
    *base = 15;
    *scale = 0;
    return !vec_any_negative(least - 1 - most);
}

/* bf16 and tf32: the bits of floats. */
LANE vi float_bits(enum matrix_type type, int part, vi word)
{
    if (type == MATRIX_tf32)
        return word & ~0x1fff;
    if (part)
        return word & ~0xffff;
    return word << 16;
}

/* Numbers up to 2, and exponents of bytes. */
LANE void scaled(float *x, int8_t *exponents, int base)
{
    float scale = base == 127 ? 0x1p-127f : f32_bits((uint32_t)(127 - base) << 23);
    for (int i = 0; i < WARP_LANES; i += VL) {
        vi bits = *(const vi *)(x + i) & INT32_MAX,
           exponent = greater(bits >> 23, (vi){0} + 1) - (127 + base);
        vec_to_bytes(exponents + i, choose(bits == 0, (vi){0} + TILE_ZERO, exponent));
        *(vf *)(x + i) *= scale;
    }
}

LANE bool columns_of_floats(const struct matrix_plan *plan, enum matrix_type type, int lines,
                            const void *const registers[], float *x, int8_t *exponents, int *base, int *scale)
{
    const int elements = type == MATRIX_bf16 ? 2 : 1, count = plan->registers * lines;
    _Alignas(64) uint32_t turned[WARP_LANES];
    vi largest = {0}, smallest = (vi){0} + INT32_MAX; /* but zero */
    for (int r = 0; r < count; r++) {
        const uint32_t *words = words_at(registers, r, lines == 1, turned);
        for (int part = 0; part < elements; part++) {
            int at = ((r / lines * elements + part) * lines + r % lines) * WARP_LANES;
            for (int i = 0; i < WARP_LANES; i += VL) {
                vi bits = float_bits(type, part, *(const vi *)(words + i)), magnitude = bits & INT32_MAX;
                largest = greater(largest, magnitude);
                smallest = lesser(smallest, choose(magnitude == 0, (vi){0} + INT32_MAX, magnitude));
                *(vi *)(x + at + i) = bits;
            }
        }
    }
    int most = 0, least = 255;
    for (int i = 0; i < VL; i++) {
        most = largest[i] >> 23 > most ? largest[i] >> 23 : most;
        least = smallest[i] >> 23 < least ? smallest[i] >> 23 : least;
    }
    most = most ? most : 1;
    least = least ? least : 1;
    if (most == 255 || most - least > -TILE_LEAST)
        return false;
    *base = *scale = most - 127;
    for (int at = 0; at < count * elements * WARP_LANES; at += WARP_LANES)
        scaled(x + at, exponents + at, most - 127);
    return true;
}

LANE bool columns_of(const struct matrix_plan *plan, enum matrix_type type, int lines,
                     const void *const registers[], float *x, int8_t *exponents, int *base, int *scale)
{
    switch (type) {
    case MATRIX_f16:
        return halves(plan, MATRIX_f16, lines, registers, x, exponents, base, scale);
    case MATRIX_e4m3:
        return halves(plan, MATRIX_e4m3, lines, registers, x, exponents, base, scale);
    case MATRIX_e5m2:
        return halves(plan, MATRIX_e5m2, lines, registers, x, exponents, base, scale);
    case MATRIX_bf16:
        return columns_of_floats(plan, MATRIX_bf16, lines, registers, x, exponents, base, scale);
    default:
        return columns_of_floats(plan, MATRIX_tf32, lines, registers, x, exponents, base, scale);
    }
}

static bool wide(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                 struct tile_wide *tile)
{
    return columns_of(plan, type, 2, registers, tile->x[0][0], tile->exponent[0][0], &tile->base,
                      &tile->scale);
}

static bool narrow(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                   struct tile_narrow *tile)
{
    return columns_of(plan, type, 1, registers, tile->x[0][0][0], tile->exponent[0][0][0], &tile->base,
                      &tile->scale);
}

/* --- floats --------------------------------------------------------------------------------------------- */

/* The exponents of sums that tiles have, and of accumulators (or those are zero), with the bias of f32:
 * others would need more care with the range of f32. */
enum { SUM_LEAST = 127 - 100, SUM_GREATEST = 127 + 100 };

/* The largest exponents of a group's products, by result, and line and lane. */
LANE void largest_of(const struct matrix_plan *plan, const uint8_t *columns, const struct tile_wide *w,
                     const struct tile_narrow *n, int8_t exponents[2][2 * WARP_LANES])
{
    for (int at = 0; at < 2 * WARP_LANES; at += VB) {
        vbytes most[2] = {(vbytes){0} + INT8_MIN, (vbytes){0} + INT8_MIN};
        for (int k = 0; k < plan->group_columns; k++) {
            const vbytes x = *(const vbytes *)(w->exponent[columns[k]][0] + at);
#define STEP(t)                                                                                              \
    for (int result = 0; result < 2; result++) {                                                             \
        vbytes sum = QUADS_OF_BYTES(x, t) + vec_spread_bytes(n->exponent[columns[k]][t][result]);            \
        most[result] = greater_bytes(most[result], sum);                                                     \
    }
            STEP(0) STEP(1) STEP(2) STEP(3)
#undef STEP
        }
        for (int result = 0; result < 2; result++)
            *(vbytes *)(exponents[result] + at) = most[result];
    }
}

/* Whether all products are within the exponents that sums can have here. */
LANE bool products_fit(int base, const int8_t exponents[2][2 * WARP_LANES])
{
    int least = SUM_LEAST - 127 - base; /* of the largest products */
    if (base > SUM_GREATEST - 127)
        return false;
    if (least <= 2 * TILE_LEAST)
        return true;
    const int8_t *all = (const int8_t *)exponents;
    for (int i = 0; i < 4 * WARP_LANES; i++)
        if (all[i] >= 2 * TILE_LEAST && all[i] < least)
            return false;
    return true;
}

/* How the products and the accumulator of some lanes are aligned. */
struct aligned {
    vf product, unit; /* what products are multiplied by; the weight of the last bit kept */
    vi c;
};

/* extreme: negative for accumulators that tiles leave out. */
LANE struct aligned align(const struct matrix_plan *plan, int base, int scale, vi exponent, vi c, vi *extreme)
{
    vi magnitude = c & INT32_MAX;
    *extreme |= ((SUM_GREATEST << 23) - magnitude) | ((magnitude - (SUM_LEAST << 23)) & ~(magnitude - 1));
    exponent = choose(exponent < 2 * TILE_LEAST, (vi){0}, exponent + (base + 127)); /* zeros have none */
    exponent = greater(greater(exponent, magnitude >> 23), (vi){0} + SUM_LEAST);
    vi shift = plan->fraction + 2 * 127 - exponent;
    struct aligned a = {.product = (vf)(shift << 23), .unit = (vf)((2 * 127 - shift) << 23)};
    a.c = truncated((vf)c * a.product);
    if (scale)
        a.product = (vf)(lesser(greater(shift + scale, (vi){0} + 1), (vi){0} + 2 * 127) << 23);
    return a;
}

/* To f32, toward zero; if it will be rounded to f16, to odd. */
LANE vi rounded(const struct matrix_plan *plan, vi sum, vf unit)
{
#ifdef __AVX512F__
    vi bits = (vi)_mm512_cvt_roundepi32_ps((__m512i)sum, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC);
    if (plan->half)
        bits |= (sum != truncated((vf)bits)) & 1;
#else
    vf nearest = __builtin_convertvector(sum, vf);
    vi error = sum - truncated(nearest), inexact = error != 0;
    vi bits = (vi)nearest + (((error ^ sum) >> 31) & inexact);
    if (plan->half)
        bits |= inexact & 1;
#endif
    vi result = (vi)((vf)bits * unit);
    if (!plan->half)
        result &= (int32_t)plan->mask;
    return result;
}

enum { SUM_MOST = INT32_MAX - (1 << 27) }; /* to which an accumulator can be added */

/* So many vectors of both lines' lanes are summed at a time, as many as registers hold. */
enum { VECTORS = 2 * WARP_LANES / VL, BLOCK = WIDE_HOST(4, 1, 1) };

/* Sums are in registers here: so the compiler does not work on several steps at once, for which there are not
 * enough. */
#if defined __AVX512BW__
#define KEEP(x)                                                                                              \
    __asm__(""                                                                                               \
            : "+v"(x[0][0]), "+v"(x[0][1]), "+v"(x[1][0]), "+v"(x[1][1]), "+v"(x[2][0]), "+v"(x[2][1]),      \
              "+v"(x[3][0]), "+v"(x[3][1]));
#else
#define KEEP(x)
#endif

/* A group of products, and C, for a block of vectors from `first` on. */
LANE void sum_block(const struct matrix_plan *plan, const uint8_t *columns, const struct tile_wide *w,
                    const struct tile_narrow *n, const int8_t exponents[2][2 * WARP_LANES], int first,
                    const uint32_t *const c[TILE_RESULTS], uint32_t d[TILE_RESULTS][WARP_LANES], vi *extreme)
{
    struct aligned a[BLOCK][2];
    vi sum[BLOCK][2];
    for (int i = 0; i < BLOCK; i++)
        for (int result = 0; result < 2; result++) {
            int at = (first + i) * VL, line = at / WARP_LANES;
            a[i][result] =
                align(plan, w->base + n->base, w->scale + n->scale, vec_from_bytes(exponents[result] + at),
                      *(const vi *)(c[2 * line + result] + at % WARP_LANES), extreme);
            sum[i][result] = (vi){0};
        }
    for (int k = 0; k < plan->group_columns; k++) {
        const float(*of_n)[2][QUAD] = n->x[columns[k]];
        const vf *x = (const vf *)(w->x[columns[k]][0] + first * VL);
#define STEP(t)                                                                                              \
    {                                                                                                        \
        vf right[2] = {spread(of_n[t][0]), spread(of_n[t][1])};                                              \
        for (int i = 0; i < BLOCK; i++) {                                                                    \
            vf left = QUADS(x[i], t);                                                                        \
            for (int result = 0; result < 2; result++)                                                       \
                sum[i][result] += truncated(left * right[result] * a[i][result].product);                    \
        }                                                                                                    \
    }
        STEP(0) KEEP(sum) STEP(1) KEEP(sum) STEP(2) KEEP(sum) STEP(3)
#undef STEP
    }
    for (int i = 0; i < BLOCK; i++)
        for (int result = 0; result < 2; result++) {
            int at = (first + i) * VL, line = at / WARP_LANES;
            vi sign = sum[i][result] >> 31;
            *extreme |= SUM_MOST - ((sum[i][result] ^ sign) - sign);
            *(vi *)(d[2 * line + result] + at % WARP_LANES) =
                rounded(plan, sum[i][result] + a[i][result].c, a[i][result].unit);
        }
}

static void columns_round_f16(uint32_t x[TILE_RESULTS][WARP_LANES])
{
    for (int r = 0; r < TILE_RESULTS; r++)
        for (int i = 0; i < WARP_LANES; i++)
            x[r][i] = bits_f32(f32_f16(f16_f32(f32_bits(x[r][i]))));
}

static bool floats(const struct matrix_plan *plan, const struct tile_wide *w, const struct tile_narrow *n,
                   const uint32_t *const c[TILE_RESULTS], uint32_t d[TILE_RESULTS][WARP_LANES])
{
    const uint32_t *const sums[TILE_RESULTS] = {d[0], d[1], d[2], d[3]};
    for (int first = 0; first < plan->columns; first += plan->group_columns) {
        const uint8_t *columns = plan->order + first;
        _Alignas(64) int8_t exponents[2][2 * WARP_LANES];
        vi extreme = {0};
        largest_of(plan, columns, w, n, exponents);
        if (!products_fit(w->base + n->base, (const int8_t(*)[2 * WARP_LANES]) exponents))
            return false;
        for (int i = 0; i < VECTORS; i += BLOCK)
            sum_block(plan, columns, w, n, (const int8_t(*)[2 * WARP_LANES]) exponents, i, c, d, &extreme);
        if (vec_any_negative(extreme))
            return false;
        if (plan->half && (plan->by_halves || first + plan->group_columns < plan->columns))
            columns_round_f16(d); /* else pack does it */
        c = sums;
    }
    return true;
}

static void unpack(const void *halves_, uint32_t x[2][WARP_LANES])
{
    const uint32_t *words = halves_;
    for (int i = 0; i < WARP_LANES; i++) {
        x[0][i] = bits_f32(f32_f16((uint16_t)words[i]));
        x[1][i] = bits_f32(f32_f16((uint16_t)(words[i] >> 16)));
    }
}

static void pack(const uint32_t x[2][WARP_LANES], void *halves_)
{
    uint32_t *words = halves_;
    for (int i = 0; i < WARP_LANES; i++)
        words[i] = f16_f32(f32_bits(x[0][i])) | (uint32_t)f16_f32(f32_bits(x[1][i])) << 16;
}

#define NAMED(level) matrix_level_##level
#define OF(level)    NAMED(level)
extern const struct matrix_level OF(LEVEL);
const struct matrix_level OF(LEVEL) = {.wide = wide,
                                       .narrow = narrow,
                                       .floats = floats,
                                       .wide_words = wide_words,
                                       .narrow_words = narrow_words,
                                       .words = words,
                                       .doubles = doubles,
                                       .unpack = unpack,
                                       .pack = pack};
