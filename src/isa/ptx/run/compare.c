/* Instructions built around the rows of alu.def: comparisons with two results or a third operand, conversions
 * between registers of different widths, and sums with a carry. */
#include "ptx_run/convert.h"
#include "ptx_run/lower.h"
#include "ptx_run/warp.h"

#include <string.h>

/* setp with p|q, or combined with a predicate */

enum combine { COMBINE_NONE, COMBINE_AND, COMBINE_OR, COMBINE_XOR };

struct setp {
    alu_fn *compare;
    enum combine combine;
    bool has_q, negated;
    uint32_t q;
};

static lanes combined(const struct setp *setp, lanes value, lanes with)
{
    switch (setp->combine) {
    case COMBINE_AND:
        return value & with;
    case COMBINE_OR:
        return value | with;
    case COMBINE_XOR:
        return value ^ with;
    case COMBINE_NONE:
        break;
    }
    return value;
}

static void run_setp(struct warp *w, const struct op *op, lanes active)
{
    const struct setp *setp = op->more;
    lanes value, with = setp->combine ? *warp_predicate(w, op->c) : 0;
    if (setp->negated)
        with = ~with;
    setp->compare(&value, warp_at(w, op->a), warp_at(w, op->b), NULL, NULL);
    lanes other = ~value;
    predicate_set(w, op->d, active, combined(setp, value, with));
    if (setp->has_q)
        predicate_set(w, setp->q, active, combined(setp, other, with));
}

/* f16x2 and bf16x2: two comparisons, the low halves' to p, the high halves' to q */
static void run_setp_halves(struct warp *w, const struct op *op, lanes active)
{
    const struct setp *setp = op->more;
    uint16_t a[2][WARP_LANES], b[2][WARP_LANES];
    const uint32_t *from_a = warp_at(w, op->a), *from_b = warp_at(w, op->b);
    lanes with = setp->combine ? *warp_predicate(w, op->c) : 0, value[2];
    if (setp->negated)
        with = ~with;
    for (uint32_t i = 0; i < WARP_LANES; i++) {
        a[0][i] = (uint16_t)from_a[i], a[1][i] = (uint16_t)(from_a[i] >> 16);
        b[0][i] = (uint16_t)from_b[i], b[1][i] = (uint16_t)(from_b[i] >> 16);
    }
    for (int half = 0; half < 2; half++)
        setp->compare(&value[half], a[half], b[half], NULL, NULL);
    predicate_set(w, op->d, active, combined(setp, value[0], with));
    if (setp->has_q)
        predicate_set(w, setp->q, active, combined(setp, value[1], with));
}

/* The opcode without .and, .or or .xor */
static enum combine split_combine(const char *opcode, char *plain, size_t room)
{
    static const char *const names[] = {NULL, ".and", ".or", ".xor"};
    snprintf(plain, room, "%s", opcode);
    for (int i = COMBINE_AND; i <= COMBINE_XOR; i++) {
        size_t length = strlen(names[i]);
        char *at = strstr(plain, names[i]);
        if (at && at[length] == '.') {
            memmove(at, at + length, strlen(at + length) + 1);
            return (enum combine)i;
        }
    }
    return COMBINE_NONE;
}

enum lowered lower_setp(struct lower *lower, struct op *op)
{
    const struct ptx_operand *d = lower_operand(lower, 0);
    char plain[64];
    enum combine combine = split_combine(lower->inst->opcode, plain, sizeof plain);
    char *halves = strstr(plain, "f16x2");
    if (combine == COMBINE_NONE && d->kind != PTX_OP_PAIR && !halves)
        return NOT_MINE;
    if (halves)
        halves[strlen("f16")] = 0;
    int row = alu_find(plain);
    if (row < 0)
        return lower_fail(lower, "Heddle does not know this comparison");
    struct setp *setp = lower_own(lower, sizeof *setp);
    setp->compare = alu_executor(row);
    setp->combine = combine;
    op->run.exec = halves ? run_setp_halves : run_setp;
    op->more = setp;
    if (d->kind == PTX_OP_PAIR) {
        setp->has_q = lower_element(lower, d, 1)->kind != PTX_OP_SINK;
        if (setp->has_q && !lower_destination(lower, lower_element(lower, d, 1), TYPE_pred, &setp->q))
            return LOWER_FAILED;
        d = lower_element(lower, d, 0);
    }
    op->d = FRAME_SCRATCH;
    if (d->kind != PTX_OP_SINK && !lower_destination(lower, d, TYPE_pred, &op->d))
        return LOWER_FAILED;
    enum isa_type type = halves ? TYPE_u32 : alu_rows[row].s[0];
    if (!lower_source(lower, lower_operand(lower, 1), type, &op->a) ||
        !lower_source(lower, lower_operand(lower, 2), type, &op->b))
        return LOWER_FAILED;
    if (combine == COMBINE_NONE)
        return LOWERED;
    setp->negated = lower_operand(lower, 3)->negated;
    return lower_predicate(lower, lower_operand(lower, 3), &op->c) ? LOWERED : LOWER_FAILED;
}

/* cvt: a row where there is one and the registers have its widths */

struct cvt {
    struct conversion how;
    uint32_t to_bytes, from_bytes;
};

static void run_cvt(struct warp *w, const struct op *op, lanes active)
{
    const struct cvt *cvt = op->more;
    uint64_t result[WARP_LANES];
    EACH_LANE (i, active) {
        uint64_t a = lane_get(warp_at(w, op->a), cvt->from_bytes, i);
        uint64_t b = cvt->how.two ? lane_get(warp_at(w, op->b), cvt->from_bytes, i) : 0;
        uint64_t value = convert(&cvt->how, a, b);
        if (cvt->how.to_signed && cvt->how.to_bits < 64) {
            uint32_t unused = 64u - cvt->how.to_bits;
            value = (uint64_t)((int64_t)(value << unused) >> unused);
        }
        result[i] = value;
    }
    EACH_LANE (i, active)
        lane_set(warp_at(w, op->d), cvt->to_bytes, i, result[i]);
}

/* Between integers, in registers of other widths than a row has. */
static void run_extend(struct warp *w, const struct op *op, lanes active)
{
    lanes_extend(warp_at(w, op->d), warp_at(w, op->a), op->more, warp_writable(w, active));
}

static bool fits_row(const struct lower *lower, int row)
{
    if (row < 0)
        return false;
    const struct alu_row *alu = &alu_rows[row];
    const struct ptx_operand *d = lower_operand(lower, 0);
    if (d->kind == PTX_OP_REGISTER && lower_register_bytes(lower, d) != isa_type_bytes(alu->d))
        return false;
    for (uint32_t i = 0; i < 2 && alu->s[i] != TYPE_nil; i++) {
        const struct ptx_operand *a = lower_operand(lower, i + 1);
        if (a->kind == PTX_OP_REGISTER && lower_register_bytes(lower, a) != isa_type_bytes(alu->s[i]))
            return false;
    }
    return true;
}

enum lowered lower_cvt(struct lower *lower, struct op *op)
{
    if (fits_row(lower, alu_find(lower->inst->opcode)))
        return NOT_MINE;
    struct cvt *cvt = lower_own(lower, sizeof *cvt);
    if (!conversion_parse(lower->inst->opcode, &cvt->how))
        return lower_fail(lower, "Heddle does not know this conversion");
    op->run.exec = run_cvt;
    op->more = cvt;
    if (!lower_register(lower, lower_operand(lower, 0), &op->d, &cvt->to_bytes))
        return LOWER_FAILED;
    uint32_t *const places[] = {&op->a, &op->b};
    cvt->from_bytes = cvt->how.from_bits <= 16 ? 2 : cvt->how.from_bits / 8;
    for (uint32_t i = 0; i < 1u + cvt->how.two; i++) {
        const struct ptx_operand *source = lower_operand(lower, i + 1);
        if (source->kind == PTX_OP_REGISTER) {
            uint32_t bytes;
            if (!lower_register(lower, source, places[i], &bytes))
                return LOWER_FAILED;
            if (i && bytes != cvt->from_bytes)
                return lower_fail(lower, "sources of different widths");
            cvt->from_bytes = bytes;
        } else {
            bool is_float = strstr(lower->inst->opcode, ".f32") && cvt->how.from_bits == 32;
            enum isa_type type = cvt->how.from_bits == 64   ? TYPE_u64
                                 : cvt->how.from_bits == 32 ? (is_float ? TYPE_f32 : TYPE_u32)
                                                            : TYPE_u16;
            if (!lower_source(lower, source, type, places[i]))
                return LOWER_FAILED;
        }
    }
    bool from_signed;
    if (convert_extends(&cvt->how, &from_signed)) {
        struct extension *extension = lower_own(lower, sizeof *extension);
        *extension = (struct extension){.to_bytes = cvt->to_bytes,
                                        .from_bytes = cvt->from_bytes,
                                        .to_bits = cvt->how.to_bits,
                                        .from_bits = cvt->how.from_bits,
                                        .to_signed = cvt->how.to_signed,
                                        .from_signed = from_signed};
        op->run.exec = run_extend;
        op->more = extension;
    }
    return LOWERED;
}

/* add.cc, addc, sub.cc, subc, mad.cc, madc: the carry is a predicate of the frame */

struct carry {
    bool wide, subtracts, multiplies, high, is_signed, takes, gives;
};

typedef unsigned __int128 u128;

static uint64_t product(const struct carry *carry, uint64_t a, uint64_t b)
{
    u128 full;
    if (carry->wide)
        full = carry->is_signed ? (u128)((__int128)(int64_t)a * (int64_t)b) : (u128)a * b;
    else
        full = carry->is_signed ? (u128)((int64_t)(int32_t)a * (int32_t)b)
                                : (u128)((uint64_t)(uint32_t)a * (uint32_t)b);
    return (uint64_t)(carry->high ? full >> (carry->wide ? 64 : 32) : full);
}

static void run_carry(struct warp *w, const struct op *op, lanes active)
{
    const struct carry *carry = op->more;
    uint32_t bytes = op->bytes, bits = 8 * bytes;
    uint64_t mask = carry->wide ? UINT64_MAX : UINT32_MAX;
    lanes in = *warp_predicate(w, FRAME_CARRY), out = 0;
    EACH_LANE (i, active) {
        uint64_t a = lane_get(warp_at(w, op->a), bytes, i), b = lane_get(warp_at(w, op->b), bytes, i);
        uint64_t with = carry->takes ? in >> i & 1 : 0;
        if (carry->multiplies) {
            a = product(carry, a, b) & mask;
            b = lane_get(warp_at(w, op->c), bytes, i);
        }
        u128 sum = carry->subtracts ? (u128)a - b - with : (u128)a + b + with;
        lane_set(warp_at(w, op->d), bytes, i, (uint64_t)sum);
        out |= (lanes)((uint64_t)(sum >> bits) & 1) << i;
    }
    if (carry->gives)
        predicate_set(w, FRAME_CARRY, active, out);
}

enum lowered lower_carry(struct lower *lower, struct op *op)
{
    const char *opcode = lower->inst->opcode;
    bool takes = opcode[3] == 'c', gives = ptx_opcode_has(opcode, "cc");
    if (!takes && !gives)
        return NOT_MINE;
    struct carry *carry = lower_own(lower, sizeof *carry);
    enum ptx_type type = lower_type(opcode);
    enum isa_type lane = ptx_type_bytes(type) == 8 ? TYPE_u64 : TYPE_u32;
    *carry = (struct carry){.wide = lane == TYPE_u64,
                            .subtracts = opcode[0] == 's',
                            .multiplies = opcode[0] == 'm',
                            .high = ptx_opcode_has(opcode, "hi"),
                            .is_signed = ptx_type_is_signed(type),
                            .takes = takes,
                            .gives = gives};
    op->run.exec = run_carry;
    op->more = carry;
    op->bytes = lane == TYPE_u64 ? 8 : 4;
    return lower_destination(lower, lower_operand(lower, 0), lane, &op->d) &&
                   lower_source(lower, lower_operand(lower, 1), lane, &op->a) &&
                   lower_source(lower, lower_operand(lower, 2), lane, &op->b) &&
                   (!carry->multiplies || lower_source(lower, lower_operand(lower, 3), lane, &op->c))
               ? LOWERED
               : LOWER_FAILED;
}
