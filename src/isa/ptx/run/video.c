/* Video instructions, as the PTX manual defines them. */
#include "ptx_run/video.h"
#include "ptx_run/access.h"
#include "ptx_run/lower.h"
#include "base/bits.h"

#include <string.h>

/* --- opcodes -------------------------------------------------------------------------------------------- */

struct word {
    const char *text;
    int value;
};

static const struct word ops[] = {
    {"vadd", VIDEO_ADD}, {"vsub", VIDEO_SUB},   {"vabsdiff", VIDEO_ABSDIFF}, {"vmin", VIDEO_MIN},
    {"vmax", VIDEO_MAX}, {"vavrg", VIDEO_AVRG}, {"vshl", VIDEO_SHL},         {"vshr", VIDEO_SHR},
    {"vmad", VIDEO_MAD}, {"vset", VIDEO_SET},
};
static const struct word types[] = {{"u32", false}, {"s32", true}};
static const struct word comparisons[] = {{"eq", VIDEO_EQ}, {"ne", VIDEO_NE}, {"lt", VIDEO_LT},
                                          {"le", VIDEO_LE}, {"gt", VIDEO_GT}, {"ge", VIDEO_GE}};
static const struct word seconds[] = {{"add", VIDEO_AND_ADD}, {"min", VIDEO_AND_MIN}, {"max", VIDEO_AND_MAX}};
static const struct word scales[] = {{"shr7", 7}, {"shr15", 15}};
static const struct word modes[] = {{"clamp", false}, {"wrap", true}};

/* Takes the next word of the opcode when it is one of these. */
static bool take(const char **text, const struct word *words, size_t count, int *value)
{
    size_t length = strcspn(*text, ".");
    for (size_t i = 0; i < count; i++)
        if (strlen(words[i].text) == length && !strncmp(*text, words[i].text, length)) {
            *text += length + ((*text)[length] == '.');
            *value = words[i].value;
            return true;
        }
    return false;
}
#define TAKE(words, field) (take(&text, words, COUNT_OF(words), &value) && ((field) = value, true))
#define TAKE_WORD(name)    take(&text, &(const struct word){name, 0}, 1, &value)

/* "vadd", "vadd2", "vadd4" */
static bool take_op(const char **text, struct video_form *form)
{
    char name[16];
    size_t length = strcspn(*text, ".");
    int op;
    if (!length || length >= sizeof name)
        return false;
    memcpy(name, *text, length);
    name[length] = 0;
    char last = name[length - 1];
    form->lanes = last == '2' || last == '4' ? (uint8_t)(last - '0') : 1;
    if (form->lanes > 1)
        name[length - 1] = 0;
    const char *at = name;
    if (!take(&at, ops, COUNT_OF(ops), &op))
        return false;
    form->op = (uint8_t)op;
    *text += length + ((*text)[length] == '.');
    bool scalar = op == VIDEO_SHL || op == VIDEO_SHR || op == VIDEO_MAD;
    return form->lanes == 1 ? op != VIDEO_AVRG : !scalar;
}

static void select_whole(struct video_form *form)
{
    form->part_d = form->part_a = form->part_b = -1;
    form->mask = (uint8_t)((1 << form->lanes) - 1);
    for (uint8_t i = 0; i < form->lanes; i++) {
        form->select_a[i] = i;
        form->select_b[i] = form->lanes + i;
    }
}

/* vOP.dtype.atype.btype{.sat}{.second}, with .po and a scale of vmad, .clamp or .wrap of shifts, and of vset
 * without a type of its own, but a comparison. */
bool video_parse(const char *text, struct video_form *form)
{
    int value;
    *form = (struct video_form){0};
    if (!take_op(&text, form) || (form->op != VIDEO_SET && !TAKE(types, form->signed_d)) ||
        !TAKE(types, form->signed_a) || !TAKE(types, form->signed_b))
        return false;
    select_whole(form);
    bool shifts = form->op == VIDEO_SHL || form->op == VIDEO_SHR;
    if (shifts && form->signed_b)
        return false;
    if (form->op == VIDEO_SET) {
        if (!TAKE(comparisons, form->compare))
            return false;
    } else {
        form->plus_one = form->op == VIDEO_MAD && TAKE_WORD("po");
        form->saturates = TAKE_WORD("sat");
        if (shifts && !TAKE(modes, form->wraps))
            return false;
        if (form->op == VIDEO_MAD)
            (void)TAKE(scales, form->shift);
    }
    if (form->op != VIDEO_MAD)
        (void)(form->lanes == 1 ? TAKE(seconds, form->second)
                                : TAKE_WORD("add") && (form->second = VIDEO_AND_ADD));
    if (form->lanes > 1 && form->second == VIDEO_ALONE)
        form->second = VIDEO_MERGE;
    return !*text;
}

/* --- values --------------------------------------------------------------------------------------------- */

static int64_t extend(uint32_t value, unsigned bits, bool is_signed)
{
    uint32_t mask = bits < 32 ? (UINT32_C(1) << bits) - 1 : UINT32_MAX, sign = UINT32_C(1) << (bits - 1);
    value &= mask;
    return is_signed && value & sign ? (int64_t)value - (INT64_C(1) << bits) : (int64_t)value;
}

static unsigned part_bits(int part)
{
    return part < 0 ? 32 : part < PTX_PART_HALF ? 8 : 16;
}

static unsigned part_shift(int part)
{
    return part < 0 ? 0 : part < PTX_PART_HALF ? 8 * (unsigned)part : 16 * (unsigned)(part - PTX_PART_HALF);
}

static int64_t part_of(uint32_t value, int part, bool is_signed)
{
    return extend(value >> part_shift(part), part_bits(part), is_signed);
}

static int64_t saturate(int64_t x, unsigned bits, bool is_signed)
{
    int64_t most = (INT64_C(1) << (bits - is_signed)) - 1, least = is_signed ? -most - 1 : 0;
    return x < least ? least : x > most ? most : x;
}

static bool compare(enum video_compare how, int64_t a, int64_t b)
{
    switch (how) {
    case VIDEO_EQ:
        return a == b;
    case VIDEO_NE:
        return a != b;
    case VIDEO_LT:
        return a < b;
    case VIDEO_LE:
        return a <= b;
    case VIDEO_GT:
        return a > b;
    default:
        return a >= b;
    }
}

static int64_t operate(const struct video_form *form, int64_t a, int64_t b)
{
    switch (form->op) {
    case VIDEO_ADD:
        return a + b;
    case VIDEO_SUB:
        return a - b;
    case VIDEO_ABSDIFF:
        return a < b ? b - a : a - b;
    case VIDEO_MIN:
        return a < b ? a : b;
    case VIDEO_MAX:
        return a > b ? a : b;
    case VIDEO_AVRG: /* halves away from 0 where positive */
        return (a + b + (a + b >= 0)) >> 1;
    case VIDEO_SET:
        return compare(form->compare, a, b);
    default:
        b = form->wraps ? b & 31 : b > 32 ? 32 : b;
        return form->op == VIDEO_SHL ? (int64_t)((uint64_t)a << b) : a >> b;
    }
}

/* --- forms ---------------------------------------------------------------------------------------------- */

static bool is_shift(const struct video_form *form)
{
    return form->op == VIDEO_SHL || form->op == VIDEO_SHR;
}

/* Sums, differences and saturated shifts have 32 bits then. If unsigned, those from 2^31 on count as more
 * than any operand, as do all results below 0. */
static bool is_more(const struct video_form *form, int64_t x, uint32_t c)
{
    bool is_signed = form->op == VIDEO_SET ? form->signed_a : form->signed_d;
    bool cut = form->op == VIDEO_ADD || form->op == VIDEO_SUB || (is_shift(form) && form->saturates);
    if (cut)
        x = (int32_t)x;
    return (!is_signed && x < 0) || x > extend(c, 32, is_signed);
}

/* What is put into the upper half comes from the upper half. */
static uint32_t merge(const struct video_form *form, uint32_t d, uint32_t c)
{
    unsigned shift = part_shift(form->part_d);
    uint32_t mask = (uint32_t)((UINT64_C(1) << part_bits(form->part_d)) - 1) << shift;
    return (c & ~mask) | (form->part_d == PTX_PART_HALF + 1 ? d & mask : d << shift & mask);
}

static uint32_t finish(const struct video_form *form, int64_t x, uint32_t c)
{
    uint32_t d = (uint32_t)x;
    switch (form->second) {
    case VIDEO_AND_ADD:
        return d + c;
    case VIDEO_AND_MIN:
        return is_more(form, x, c) ? c : d;
    case VIDEO_AND_MAX:
        return is_more(form, x, c) ? d : c;
    case VIDEO_MERGE:
        return merge(form, d, c);
    default:
        return d;
    }
}

/* To the type of a word: what is too large for an unsigned one stays as it is. To a part of one, negative
 * values count as large. */
static int64_t saturate_one(const struct video_form *form, int64_t x)
{
    unsigned bits = part_bits(form->part_d);
    int64_t most = (INT64_C(1) << (bits - form->signed_d)) - 1;
    if (is_shift(form)) /* of which 34 bits are looked at, and no part */
        return saturate((int64_t)((uint64_t)x << 30) >> 30, 32, form->signed_d);
    if (bits < 32)
        return x < 0 || x > most ? most : x;
    return form->signed_d ? saturate(x, 32, true) : x < 0 ? 0 : x;
}

static uint32_t multiply(const struct video_form *form, int64_t a, int64_t b, uint32_t c)
{
    bool is_signed = form->signed_a || form->signed_b || form->minus_a != form->minus_b || form->minus_c;
    __int128 x = (__int128)a * b, addend = is_signed ? (__int128)(int32_t)c : (__int128)c;
    if (form->plus_one)
        x += 1;
    else if (form->minus_a != form->minus_b)
        x = -x;
    else if (form->minus_c)
        addend = -addend;
    x = (x + addend) >> form->shift;
    if (!form->saturates)
        return (uint32_t)x;
    __int128 least = is_signed ? INT32_MIN : 0, most = is_signed ? INT32_MAX : (__int128)UINT32_MAX;
    return (uint32_t)(x < least ? least : x > most ? most : x);
}

static uint32_t compute_lanes(const struct video_form *form, uint32_t a, uint32_t b, uint32_t c)
{
    const uint64_t both = a | (uint64_t)b << 32;
    const unsigned bits = 32 / form->lanes;
    const uint32_t ones = (uint32_t)((UINT64_C(1) << bits) - 1);
    uint32_t d = c;
    for (unsigned i = 0; i < form->lanes; i++) {
        if (!(form->mask >> i & 1))
            continue;
        int64_t x = extend((uint32_t)(both >> bits * form->select_a[i]), bits, form->signed_a);
        int64_t y = extend((uint32_t)(both >> bits * form->select_b[i]), bits, form->signed_b);
        int64_t got = operate(form, x, y);
        if (form->saturates)
            got = saturate(got, bits, form->signed_d);
        if (form->second == VIDEO_AND_ADD)
            d += (uint32_t)got;
        else
            d = (d & ~(ones << bits * i)) | ((uint32_t)got & ones) << bits * i;
    }
    return d;
}

uint32_t video_compute(const struct video_form *form, uint32_t a, uint32_t b, uint32_t c)
{
    if (form->lanes > 1)
        return compute_lanes(form, a, b, c);
    int64_t x = part_of(a, form->part_a, form->signed_a), y = part_of(b, form->part_b, form->signed_b);
    if (form->op == VIDEO_MAD)
        return multiply(form, x, y, c);
    int64_t got = operate(form, x, y);
    if (form->saturates)
        got = saturate_one(form, got);
    return finish(form, got, c);
}

/* --- lanes ---------------------------------------------------------------------------------------------- */

static void run_video(struct warp *w, const struct op *op, lanes active)
{
    const struct video_form *form = op->more;
    const uint32_t *a = warp_at(w, op->a), *b = warp_at(w, op->b), *c = warp_at(w, op->c);
    uint32_t *d = warp_at(w, op->d);
    EACH_LANE (i, active)
        d[i] = video_compute(form, a[i], b[i], c[i]);
}

/* --- lowering ------------------------------------------------------------------------------------------- */

/* What ptxas makes of these forms gives other results than the manual says, and not by a rule that is known.
 */
static bool is_inexact(const struct video_form *form)
{
    bool is_signed = form->signed_a || form->signed_b || form->minus_a != form->minus_b || form->minus_c;
    bool wide = (form->part_a < 0 && !form->signed_a) || (form->part_b < 0 && !form->signed_b);
    return form->op == VIDEO_MAD && (form->saturates || form->shift) && (!is_signed || wide);
}

static bool take_scalar(struct lower *lower, const struct ptx_operand *operand, int8_t *part)
{
    *part = operand->kind == PTX_OP_REGISTER ? operand->part : -1;
    return *part < PTX_PART_BYTES || lower_fail(lower, "one part of a register was expected") == LOWERED;
}

/* ".h31" and ".b7430" say where each lane comes from, the highest first; the destination's, which are
 * written. */
static bool take_lanes(struct lower *lower, const struct ptx_operand *operand, unsigned count,
                       uint8_t *chosen, uint8_t *mask)
{
    static const char wrong[] = "lanes of the operand were expected, such as .h10 or .b3210";
    int part = operand->kind == PTX_OP_REGISTER ? operand->part : -1;
    if (part < 0)
        return true;
    bool halves = part >= PTX_PART_HALF && part != PTX_PART_BYTES, several = part >= PTX_PART_BYTES;
    if (halves != (count == 2) || (chosen && !several))
        return lower_fail(lower, wrong) == LOWERED;
    uint32_t number = (uint32_t)(part - (halves ? PTX_PART_HALF : PTX_PART_BYTE));
    uint64_t digits = several ? operand->value : number;
    *mask = 0;
    for (unsigned i = 0; chosen ? i < count : i == 0 || digits; i++, digits >>= 4) {
        unsigned lane = digits & 15;
        if (lane >= (chosen ? 2 * count : count))
            return lower_fail(lower, wrong) == LOWERED;
        if (chosen)
            chosen[i] = (uint8_t)lane;
        *mask |= (uint8_t)(1 << lane);
    }
    return true;
}

static bool take_selections(struct lower *lower, struct video_form *form)
{
    uint8_t unused;
    const struct ptx_operand *d = lower_operand(lower, 0), *a = lower_operand(lower, 1),
                             *b = lower_operand(lower, 2);
    if (form->lanes > 1)
        return take_lanes(lower, d, form->lanes, NULL, &form->mask) &&
               take_lanes(lower, a, form->lanes, form->select_a, &unused) &&
               take_lanes(lower, b, form->lanes, form->select_b, &unused);
    return take_scalar(lower, d, &form->part_d) && take_scalar(lower, a, &form->part_a) &&
           take_scalar(lower, b, &form->part_b);
}

/* A source without its part and sign, which are the form's. */
static bool take_source(struct lower *lower, uint32_t i, bool *minus, uint32_t *place)
{
    struct ptx_operand operand = *lower_operand(lower, i);
    *minus = operand.kind == PTX_OP_REGISTER && operand.negated;
    operand.negated = operand.negated && !*minus;
    return lower_source(lower, &operand, TYPE_u32, place);
}

enum lowered lower_video(struct lower *lower, struct op *op)
{
    struct video_form *form = lower_own(lower, sizeof *form);
    if (!video_parse(lower->inst->opcode, form))
        return lower_fail(lower, "Heddle does not know this video instruction");
    if (!take_selections(lower, form))
        return LOWER_FAILED;
    bool merges = form->lanes == 1 && form->part_d >= 0;
    if (merges && (form->second != VIDEO_ALONE || form->op == VIDEO_MAD))
        return lower_fail(lower, "a whole register was expected before a second operation");
    if (merges)
        form->second = VIDEO_MERGE;
    bool has_c = form->second != VIDEO_ALONE || form->op == VIDEO_MAD;
    if (lower->inst->count != 3u + has_c)
        return lower_fail(lower, "%u operands were expected, there are %u", 3u + has_c, lower->inst->count);
    if (!take_source(lower, 1, &form->minus_a, &op->a) || !take_source(lower, 2, &form->minus_b, &op->b) ||
        (has_c && !take_source(lower, 3, &form->minus_c, &op->c)) ||
        !lower_destination(lower, lower_operand(lower, 0), TYPE_u32, &op->d))
        return LOWER_FAILED;
    if (form->op != VIDEO_MAD && (form->minus_a || form->minus_b || form->minus_c))
        return lower_fail(lower, "a negated register is not possible here");
    if (is_inexact(form))
        return lower_fail(lower,
                          "Heddle does not know what a GPU gives for vmad with .sat or a scale of unsigned "
                          "products, or of unsigned whole words");
    if (!has_c)
        op->c = op->a; /* not used */
    op->run.exec = run_video;
    op->more = form;
    op->bytes = 4;
    return LOWERED;
}
