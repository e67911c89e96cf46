/* Internals of matrix_level.h: tiles of integers, single bits and doubles. */
#ifndef PTX_RUN_MATRIX_WHOLE_H
#define PTX_RUN_MATRIX_WHOLE_H

#include "ptx_run/matrix_vector.h"

/* --- integers ------------------------------------------------------------------------------------------- */

/* Pairs of 16 bits from elements of `bits` bits: which of a word are a pair does not matter, as both operands
 * have the same. */
LANE void pairs_of(bool is_signed, int bits, int part, const uint32_t *words, uint32_t *x)
{
    const int up = 16 - bits - bits * part, down = 16 - bits;
    const uint16_t *from = (const uint16_t *)words;
    uint16_t *to = (uint16_t *)x;
    for (int i = 0; i < 2 * WARP_LANES; i++) {
        uint16_t word = (uint16_t)(from[i] << up);
        to[i] = is_signed ? (uint16_t)((int16_t)word >> down) : (uint16_t)(word >> down);
    }
}

LANE void words_of_kind(const struct matrix_plan *plan, bool is_signed, int bits, int lines, int stride,
                        bool turns, const void *const registers[], uint32_t *x)
{
    const int parts = bits == 1 ? 1 : 16 / bits;
    _Alignas(64) uint32_t turned[WARP_LANES];
    for (int r = 0; r < plan->registers * lines; r++) {
        const uint32_t *words = words_at(registers, r, turns, turned);
        uint32_t *to = x + (r / lines * parts * stride + r % lines) * WARP_LANES;
        for (int part = 0; part < parts; part++, to += stride * WARP_LANES)
            if (bits == 1)
                memcpy(to, words, WARP_LANES * sizeof *to);
            else
                pairs_of(is_signed, bits, part, words, to);
    }
}

/* The words of registers: `lines` of them in turn, `stride` apart in a column. */
LANE void words_of(const struct matrix_plan *plan, enum matrix_type type, int lines, int stride, bool turns,
                   const void *const registers[], uint32_t *x)
{
    switch (type) {
    case MATRIX_s8:
        words_of_kind(plan, true, 8, lines, stride, turns, registers, x);
        break;
    case MATRIX_u8:
        words_of_kind(plan, false, 8, lines, stride, turns, registers, x);
        break;
    case MATRIX_s4:
        words_of_kind(plan, true, 4, lines, stride, turns, registers, x);
        break;
    case MATRIX_u4:
        words_of_kind(plan, false, 4, lines, stride, turns, registers, x);
        break;
    default:
        words_of_kind(plan, false, 1, lines, stride, turns, registers, x);
    }
}

static void wide_words(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                       struct tile_wide_words *tile)
{
    if (plan->lines == 2)
        words_of(plan, type, 2, 2, false, registers, tile->x[0][0]);
    else
        words_of(plan, type, 1, 2, false, registers, tile->x[0][0]);
}

static void narrow_words(const struct matrix_plan *plan, enum matrix_type type, const void *const registers[],
                         struct tile_narrow_words *tile)
{
    words_of(plan, type, 1, 1, true, registers, tile->x[0][0][0]);
}

/* Both products of pairs, added. */
LANE vi dot(vi a, vi b)
{
#ifdef __SSE2__
    return WIDE_HOST((vi)_mm512_madd_epi16((__m512i)a, (__m512i)b),
                     (vi)_mm256_madd_epi16((__m256i)a, (__m256i)b),
                     (vi)_mm_madd_epi16((__m128i)a, (__m128i)b));
#else
    vi low = (a << 16 >> 16) * (b << 16 >> 16);
    return low + (a >> 16) * (b >> 16);
#endif
}

LANE vi ones(vu x)
{
    x -= x >> 1 & 0x55555555;
    x = (x & 0x33333333) + (x >> 2 & 0x33333333);
    x = (x + (x >> 4)) & 0x0f0f0f0f;
    x += x >> 8;
    return (vi)((x + (x >> 16)) & 63);
}

enum words_kind { WORDS_PAIRS, WORDS_AND, WORDS_XOR };

LANE vi product_of_words(enum words_kind kind, vi a, vi b)
{
    return kind == WORDS_PAIRS ? dot(a, b) : ones(kind == WORDS_AND ? (vu)(a & b) : (vu)(a ^ b));
}

LANE vi add(vi c, vi sum, bool saturate)
{
    vi all = (vi)((vu)c + (vu)sum);
    return saturate ? choose(((c ^ all) & (sum ^ all)) < 0, (c >> 31) ^ INT32_MAX, all) : all;
}

LANE void sum_words(const struct matrix_plan *plan, enum words_kind kind, const struct tile_wide_words *w,
                    const struct tile_narrow_words *n, const void *const c[], void *const d[])
{
    vi results[TILE_RESULTS][WARP_LANES / VL]; /* the destination may be a source of what follows */
    for (int line = 0; line < plan->lines; line++)
        for (int at = 0; at < WARP_LANES; at += VL) {
            vi sum[2] = {{0}, {0}};
            for (int k = 0; k < plan->columns; k++) {
                vi x = *(const vi *)(w->x[k][line] + at);
#define STEP(t)                                                                                              \
    {                                                                                                        \
        vi left = QUADS(x, t);                                                                               \
        sum[0] += product_of_words(kind, left, (vi)spread((const float *)n->x[k][t][0]));                    \
        sum[1] += product_of_words(kind, left, (vi)spread((const float *)n->x[k][t][1]));                    \
    }
                STEP(0) STEP(1) STEP(2) STEP(3)
#undef STEP
            }
            for (int result = 0; result < 2; result++)
                results[2 * line + result][at / VL] = add(
                    *(const vi *)((const uint32_t *)c[2 * line + result] + at), sum[result], plan->saturate);
        }
    for (int result = 0; result < 2 * plan->lines; result++)
        memcpy(d[result], results[result], WARP_LANES * sizeof(uint32_t));
}

static void words(const struct matrix_plan *plan, const struct tile_wide_words *w,
                  const struct tile_narrow_words *n, const void *const c[], void *const d[])
{
    if (plan->elements < 32)
        sum_words(plan, WORDS_PAIRS, w, n, c, d);
    else if (plan->by_and)
        sum_words(plan, WORDS_AND, w, n, c, d);
    else
        sum_words(plan, WORDS_XOR, w, n, c, d);
}

/* --- doubles: every product is added with one rounding, in the order of k ---------------------------------
 */

#ifdef __AVX2__
#define D4(i, t) (i) + (t), (i) + (t), (i) + (t), (i) + (t)
#define QUADS_OF_DOUBLES(x, t)                                                                               \
    WIDE_HOST(__builtin_shufflevector(x, x, D4(0, t), D4(4, t)), __builtin_shufflevector(x, x, D4(0, t)), x)

LANE vd vec_spread_doubles(const double *x)
{
    return WIDE_HOST((vd)_mm512_broadcast_f64x4(_mm256_loadu_pd(x)), *(const vd *)x, *(const vd *)x);
}

LANE vd fused(vd a, vd b, vd c)
{
    return WIDE_HOST((vd)_mm512_fmadd_pd((__m512d)a, (__m512d)b, (__m512d)c),
                     (vd)_mm256_fmadd_pd((__m256d)a, (__m256d)b, (__m256d)c), c);
}

/* False: there is a NaN, and which one is a matter of the order of operands. */
static bool doubles(const struct matrix_plan *plan, const void *const wide_[], const void *const narrow_[],
                    const void *const c[], void *const d[])
{
    double turned[MATRIX_REGISTERS][QUAD][2][QUAD];
    vd results[TILE_RESULTS][2 * WARP_LANES / VL];
    vl unordered = {0};
    for (int r = 0; r < plan->registers; r++)
        for (int t = 0; t < QUAD; t++)
            for (int i = 0; i < 2 * QUAD; i++)
                turned[r][t][i & 1][i / 2] = ((const double *)narrow_[r])[QUAD * i + t];
    for (int line = 0; line < plan->lines; line++)
        for (int at = 0; at < WARP_LANES; at += VL / 2) {
            vd sum[2];
            for (int result = 0; result < 2; result++)
                sum[result] = *(const vd *)((const double *)c[2 * line + result] + at);
            for (int r = 0; r < plan->registers; r++) {
                vd x = *(const vd *)((const double *)wide_[r * plan->lines + line] + at);
#define STEP(t)                                                                                              \
    {                                                                                                        \
        vd left = QUADS_OF_DOUBLES(x, t);                                                                    \
        sum[0] = fused(left, vec_spread_doubles(turned[r][t][0]), sum[0]);                                   \
        sum[1] = fused(left, vec_spread_doubles(turned[r][t][1]), sum[1]);                                   \
    }
                STEP(0) STEP(1) STEP(2) STEP(3)
#undef STEP
            }
            for (int result = 0; result < 2; result++) {
                unordered |= sum[result] != sum[result];
                results[2 * line + result][2 * at / VL] = sum[result];
            }
        }
    if (vec_any_negative((vi)unordered))
        return false;
    for (int result = 0; result < 2 * plan->lines; result++)
        memcpy(d[result], results[result], WARP_LANES * sizeof(double));
    return true;
}
#else /* a host without FMA */
static bool doubles(const struct matrix_plan *plan, const void *const wide_[], const void *const narrow_[],
                    const void *const c[], void *const d[])
{
    (void)plan, (void)wide_, (void)narrow_, (void)c, (void)d;
    return false;
}
#endif

#endif
