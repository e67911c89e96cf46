#include "check.h"
#include "slow_alu.h"
#include "base/rng.h"
#include "ptx_run/alu.h"
#include "ptxas/opcodes.h"

/* --- vectors of operands --- */

union vector {
    _Alignas(64) uint64_t u64[WARP_LANES];
    uint32_t u32[WARP_LANES];
    uint16_t u16[WARP_LANES];
    lanes word;
};

static int bytes_of(enum isa_type type)
{
    static const int bytes[] = {
#define T(name, ctype, size) size,
        ISA_TYPES(T)
#undef T
    };
    return bytes[type];
}

static uint64_t get(const union vector *v, enum isa_type type, int lane)
{
    switch (bytes_of(type)) {
    case 2:
        return v->u16[lane];
    case 4:
        return v->u32[lane];
    case 8:
        return v->u64[lane];
    default:
        return type == TYPE_pred ? v->word >> lane & 1 : 0;
    }
}

static void put(union vector *v, enum isa_type type, int lane, uint64_t value)
{
    switch (bytes_of(type)) {
    case 2:
        v->u16[lane] = (uint16_t)value;
        break;
    case 4:
        v->u32[lane] = (uint32_t)value;
        break;
    case 8:
        v->u64[lane] = value;
        break;
    default:
        v->word = (v->word & ~((lanes)1 << lane)) | (lanes)(value & 1) << lane;
    }
}

/* Bits that are likely to matter, whatever they are taken for. */
static uint64_t interesting(struct rng *rng, int bytes)
{
    static const uint16_t halves[] = {0,      0x8000, 1,      0x8001, 0x3ff,  0x400,  0x3c00, 0xbc00, 0x3c01,
                                      0x7bff, 0xfbff, 0x7c00, 0xfc00, 0x7c01, 0x7e00, 0xffff, 0x7fff, 0x3800,
                                      0x3f80, 0xbf80, 0x7f7f, 0x7f80, 0xff80, 0x7f81, 0x80,   0x7f,   0x3f00,
                                      31,     32,     33,     15,     16,     17};
    static const uint32_t words[] = {
        0,          0x80000000, 1,          0x80000001, 0x7fffff,   0x800000,   0x807fffff, 0x3f800000,
        0xbf800000, 0x3f800001, 0x3f7fffff, 0x7f7fffff, 0xff7fffff, 0x7f800000, 0xff800000, 0x7fc00000,
        0x7fffffff, 0xffffffff, 0x7f800001, 0xffc12345, 0x3f000000, 0x40200000, 0x4effffff, 0x4f000000,
        0xcf000000, 0x4f800000, 0x5f000000, 31,         32,         33,         63,         64,
        65,         255,        256,        0x7ffffffe, 0x33800000, 0x1000000,  0x477ff000, 0x33000000,
        0x38800000, 0x00400000, 0x01000000, 0x43e80000, 0x7e800000};
    static const uint64_t doubles[] = {
        UINT64_C(0),
        UINT64_C(0x8000000000000000),
        UINT64_C(1),
        UINT64_C(0x000fffffffffffff),
        UINT64_C(0x0010000000000000),
        UINT64_C(0x3ff0000000000000),
        UINT64_C(0xbff0000000000000),
        UINT64_C(0x3ff0000000000001),
        UINT64_C(0x7fefffffffffffff),
        UINT64_C(0x7ff0000000000000),
        UINT64_C(0xfff0000000000000),
        UINT64_C(0x7ff8000000000000),
        UINT64_C(0x7ff0000000000001),
        UINT64_C(0xfff8123456789abc),
        UINT64_C(0x7fffffffffffffff),
        UINT64_C(0xffffffffffffffff),
        UINT64_C(0x41dfffffffc00000),
        UINT64_C(0x41e0000000000000),
        UINT64_C(0xc1e0000000000000),
        UINT64_C(0x41f0000000000000),
        UINT64_C(0x43e0000000000000),
        UINT64_C(0x43f0000000000000),
        UINT64_C(0xc3e0000000000000),
        UINT64_C(0x3fe0000000000000),
        UINT64_C(0x4004000000000000),
        UINT64_C(0x36a0000000000000),
        UINT64_C(0x3690000000000001),
        UINT64_C(0x47efffffefffffff),
        UINT64_C(0x47effffff0000000),
        63,
        64,
        65,
    };
    uint64_t drawn = rng_next(rng), kind = rng_below(rng, 8);
    if (bytes == 2)
        return kind < 4 ? halves[drawn % COUNT_OF(halves)] : drawn & (kind == 4 ? 63 : 0xffff);
    if (bytes == 4 && kind < 3)
        return words[drawn % COUNT_OF(words)];
    if (bytes == 4 && kind == 3)
        return interesting(rng, 2) << 16 | interesting(rng, 2);
    if (bytes == 4) /* near 1, or anything */
        return kind == 4   ? 0x3f000000 + (uint32_t)(drawn & 0x80ffffff)
               : kind == 5 ? drawn & 63
                           : (uint32_t)drawn;
    if (kind < 3)
        return doubles[drawn % COUNT_OF(doubles)];
    return kind == 3   ? interesting(rng, 4)
           : kind == 4 ? UINT64_C(0x3fe0000000000000) + (drawn & UINT64_C(0x801fffffffffffff))
                       : drawn;
}

static void fill(struct rng *rng, const struct alu_row *row, union vector v[4])
{
    for (int lane = 0; lane < WARP_LANES; lane++) {
        for (int i = 0; i < 4; i++)
            put(&v[i], row->s[i], lane,
                row->s[i] == TYPE_pred ? rng_next(rng) : interesting(rng, bytes_of(row->s[i])));
        /* sometimes two that are close, so that sums cancel */
        if (rng_below(rng, 4) == 0 && bytes_of(row->s[1])) {
            uint64_t like = get(&v[0], row->s[0], lane) + rng_below(rng, 5) - 2;
            put(&v[1], row->s[1], lane,
                rng_next(rng) & 1 ? like : like ^ UINT64_C(1) << (8 * bytes_of(row->s[0]) - 1));
        }
    }
}

static uint64_t mask_of(enum isa_type type)
{
    return type == TYPE_pred ? 1 : UINT64_MAX >> (64 - 8 * bytes_of(type));
}

/* Each opcode of a row, copied out of its texts. */
static const char *next_text(const char *texts, char *text)
{
    size_t length = strcspn(texts, "|");
    memcpy(text, texts, length);
    text[length] = '\0';
    return texts[length] ? texts + length + 1 : NULL;
}

static void check_lanes(const char *opcode, const struct alu_row *row, const union vector v[4],
                        const union vector *d)
{
    for (int lane = 0; lane < WARP_LANES; lane++) {
        uint64_t s[4], expected = 0, got = get(d, row->d, lane);
        for (int i = 0; i < 4; i++)
            s[i] = get(&v[i], row->s[i], lane);
        assert_true(slow_alu(opcode, s, &expected));
        if (got != (expected & mask_of(row->d)))
            fail_msg("%s of %#lx, %#lx, %#lx, %#lx gives %#lx, not %#lx", opcode, s[0], s[1], s[2], s[3], got,
                     expected & mask_of(row->d));
    }
}

/* --- tests --- */

static void each_opcode_is_in_one_row(void **state)
{
    (void)state;
    char text[64];
    for (int row = 0; row < alu_row_count; row++)
        for (const char *at = alu_rows[row].texts; at;) {
            at = next_text(at, text);
            if (alu_find(text) != row)
                fail_msg("%s is in two rows", text);
        }
}

static void what_is_no_opcode_is_not_found(void **state)
{
    (void)state;
    assert_int_equal(alu_find(""), -1);
    assert_int_equal(alu_find("add"), -1);
    assert_int_equal(alu_find("add.u32|add.s32"), -1);
    assert_int_equal(alu_find("add.cc.u32"), -1);
}

/* As the parser writes them. */
static void modifiers_of_rows_are_in_the_usual_order(void **state)
{
    (void)state;
    for (int row = 0; row < alu_row_count; row++)
        for (const char *at = alu_rows[row].texts; at;) {
            char text[64], ordered[64];
            at = next_text(at, text);
            if (ptx_order_opcode(text, ordered, sizeof ordered))
                fail_msg("%s becomes %s", text, ordered);
        }
}

static bool approximate(const char *texts)
{
    return strstr(texts, ".approx") || strstr(texts, ".full");
}

static void rows_do_what_the_manual_says(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 1, "alu");
    for (int row = 0; row < alu_row_count; row++) {
        if (approximate(alu_rows[row].texts))
            continue;
        alu_fn *run = alu_executor(row);
        for (int n = 0; n < 40; n++) {
            union vector v[4], d;
            char text[64];
            fill(&rng, &alu_rows[row], v);
            run(&d, &v[0], &v[1], &v[2], &v[3]);
            for (const char *at = alu_rows[row].texts; at;) {
                at = next_text(at, text);
                check_lanes(text, &alu_rows[row], v, &d);
            }
        }
    }
}

static void all_levels_give_the_same_bits(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 2, "alu");
    for (int row = 0; row < alu_row_count; row++)
        for (int n = 0; n < 100; n++) {
            union vector v[4], d[ALU_LEVELS];
            fill(&rng, &alu_rows[row], v);
            for (int level = 0; level < ALU_LEVELS; level++) {
                alu_fn *run = alu_executor_at(level, row);
                if (!run)
                    continue;
                run(&d[level], &v[0], &v[1], &v[2], &v[3]);
                for (int lane = 0; lane < WARP_LANES; lane++)
                    if (get(&d[level], alu_rows[row].d, lane) != get(&d[0], alu_rows[row].d, lane))
                        fail_msg("%s differs at level %d", alu_rows[row].texts, level);
            }
        }
}

static void the_destination_may_be_a_source(void **state)
{
    (void)state;
    struct rng rng;
    rng_init(&rng, 3, "alu");
    for (int row = 0; row < alu_row_count; row++)
        for (int i = 0; i < 4; i++) {
            const struct alu_row *is = &alu_rows[row];
            if (is->s[i] == TYPE_nil || bytes_of(is->s[i]) != bytes_of(is->d) ||
                (is->s[i] == TYPE_pred) != (is->d == TYPE_pred))
                continue;
            for (int level = 0; level < ALU_LEVELS; level++) {
                alu_fn *run = alu_executor_at(level, row);
                union vector v[4], d;
                fill(&rng, is, v);
                if (!run)
                    continue;
                run(&d, &v[0], &v[1], &v[2], &v[3]);
                run(&v[i], &v[0], &v[1], &v[2], &v[3]);
                for (int lane = 0; lane < WARP_LANES; lane++)
                    assert_int_equal(get(&v[i], is->d, lane), get(&d, is->d, lane));
            }
        }
}

/* A result worked out by hand. */
static void check(const char *opcode, uint64_t expected, uint64_t a, uint64_t b, uint64_t c, uint64_t e)
{
    int row = alu_find(opcode);
    if (row < 0)
        fail_msg("there is no %s", opcode);
    uint64_t s[4] = {a, b, c, e};
    union vector v[4], d;
    for (int i = 0; i < 4; i++)
        for (int lane = 0; lane < WARP_LANES; lane++)
            put(&v[i], alu_rows[row].s[i], lane, s[i]);
    alu_executor(row)(&d, &v[0], &v[1], &v[2], &v[3]);
    for (int lane = 0; lane < WARP_LANES; lane++)
        if (get(&d, alu_rows[row].d, lane) != expected)
            fail_msg("%s gives %#lx, not %#lx", opcode, get(&d, alu_rows[row].d, lane), expected);
}

static void integers_at_their_ends(void **state)
{
    (void)state;
    check("add.s32", 0x80000000, 0x7fffffff, 1, 0, 0);
    check("add.sat.s32", 0x7fffffff, 0x7fffffff, 1, 0, 0);
    check("sub.sat.s32", 0x80000000, 0x80000000, 1, 0, 0);
    check("abs.s32", 0x80000000, 0x80000000, 0, 0, 0);
    check("neg.s16", 0x8000, 0x8000, 0, 0, 0);
    check("mul.lo.u16", 1, 0xffff, 0xffff, 0, 0);
    check("mul.wide.s16", 0x40000000, 0x8000, 0x8000, 0, 0);
    check("mul.hi.s32", 0x40000000, 0x80000000, 0x80000000, 0, 0);
    check("mul.hi.u64", UINT64_C(0xfffffffffffffffe), UINT64_MAX, UINT64_MAX, 0, 0);
    check("mad.wide.s32", UINT64_C(0xffffffff00000000), 0xffffffff, 0, UINT64_C(0xffffffff00000000), 0);
    check("mad.hi.sat.s32", 0x7fffffff, 0x80000000, 0x80000000, 0x7fffffff, 0);
    check("mul24.hi.s32", 0xffffffff, 0xffffff, 1, 0, 0);
    check("div.s32", 0x80000000, 0x80000000, 0xffffffff, 0, 0);
    check("rem.s32", 0, 0x80000000, 0xffffffff, 0, 0);
    check("rem.s32", 0xffffffff, (uint32_t)-7, 3, 0, 0);
    check("div.u32", 0xffffffff, 5, 0, 0, 0);
    check("div.u32", 0xfffffffe, 0xfffffffe, 1, 0, 0);
    check("div.s64", UINT64_C(1) << 63, UINT64_C(1) << 63, UINT64_MAX, 0, 0);
    check("sad.s16", 2, 0x8000, 0x7fff, 3, 0);
    check("min.relu.s32", 0, 0xfffffff0, 7, 0, 0);
    check("max.s16x2", 0x00017fff, 0xffff7fff, 0x00018000, 0, 0);
    check("dp4a.s32.u32", (uint32_t)-253, 0xff000001, 0xff000002, 0, 0);
    check("dp2a.hi.u32.u32", 0xffff * 255u + 5, 0x0000ffff, 0x00ff0000, 5, 0);
}

static void shifts_and_fields(void **state)
{
    (void)state;
    check("shl.b32", 0, 1, 32, 0, 0);
    check("shl.b16", 0x8000, 1, 15, 0, 0);
    check("shl.b16", 0, 1, 16, 0, 0);
    check("shl.b64", 0, 1, 0xffffffff, 0, 0);
    check("shr.s32", 0xffffffff, 0x80000000, 99, 0, 0);
    check("shr.u16", 0, 0x8000, 16, 0, 0);
    check("shf.l.clamp.b32", 0x11111111, 0x11111111, 0x22222222, 40, 0);
    check("shf.l.wrap.b32", 0x22222221, 0x11111111, 0x22222222, 36, 0);
    check("shf.r.clamp.b32", 0x22222222, 0x11111111, 0x22222222, 40, 0);
    check("bfe.s32", 0xffffffff, 0xf0, 4, 4, 0);
    check("bfe.u32", 0, 0xffffffff, 32, 4, 0);
    check("bfe.s32", 0xffffffff, 0x80000000, 200, 4, 0);
    check("bfi.b32", 0xffff0fff, 0, 0xffffffff, 12, 4);
    check("bfi.b64", UINT64_C(0x7fffffffffffffff), 0, UINT64_MAX, 63, 200);
    check("bmsk.clamp.b32", 0xfffffff0, 4, 99, 0, 0);
    check("bmsk.wrap.b32", 0x70, 36, 35, 0, 0);
    check("szext.clamp.s32", 0xfffffff8, 8, 4, 0, 0);
    check("szext.wrap.u32", 0, 0xffffffff, 32, 0, 0);
    check("bfind.s32", 0xffffffff, 0xffffffff, 0, 0, 0);
    check("bfind.shiftamt.u64", 63, 1, 0, 0, 0);
    check("clz.b64", 64, 0, 0, 0, 0);
    check("brev.b32", 0x80000000, 1, 0, 0, 0);
    check("fns.b32", 7, 0xf0f0, 8, (uint32_t)-1, 0);
    check("fns.b32", 13, 0xf0f0, 8, 2, 0);
    check("prmt.b32", 0xff000033, 0x80112233, 0x44556677, 0xb980, 0);
    check("prmt.b32.rc16", 0x11221122, 0x33441122, 0, 0, 0);
    check("lop3.b32", 0x96, 0xf0, 0xcc, 0xaa, 0x96);
    check("lop3.b32", 0xe8, 0xf0, 0xcc, 0xaa, 0xe8);
    check("cvt.pack.sat.u8.s32.b32", 0x5678ff00, 300, (uint32_t)-5, 0x12345678, 0);
}

static void numbers_at_their_ends(void **state)
{
    (void)state;
    check("add.f32", NAN_F32, 0x7f800000, 0xff800000, 0, 0);
    check("add.f32", NAN_F32, 0xffc12345, 0x3f800000, 0, 0);
    check("add.ftz.f32", 0x80000000, 0x80000001, 0x80000002, 0, 0);
    check("mul.sat.f32", 0, 0x7f800000, 0, 0, 0); /* a NaN, so 0 */
    check("add.sat.f32", 0x3f800000, 0x40000000, 0x40000000, 0, 0);
    check("add.rm.f32", 0x80000000, 0x3f800000, 0xbf800000, 0, 0);
    check("add.rp.f32", 0x3f800001, 0x3f800000, 1, 0, 0);
    check("mul.rz.f32", 0x7f7fffff, 0x7f7fffff, 0x7f7fffff, 0, 0);
    check("fma.rn.f32", 0x28800000, 0x3f800001, 0x3f800001, 0xbf800002, 0);
    check("fma.rn.f64", UINT64_C(0x3970000000000000), UINT64_C(0x3ff0000000000001),
          UINT64_C(0x3ff0000000000001), UINT64_C(0xbff0000000000002), 0);
    check("div.rn.f32", 0x7f800000, 0x3f800000, 0, 0, 0);
    check("sqrt.rn.f32", NAN_F32, 0xbf800000, 0, 0, 0);
    check("min.f32", 0x3f800000, 0x7fc00000, 0x3f800000, 0, 0);
    check("min.NaN.f32", NAN_F32, 0x7fc00000, 0x3f800000, 0, 0);
    check("max.xorsign.abs.f32", 0xc0000000, 0xbf800000, 0x40000000, 0, 0);
    check("copysign.f32", 0xc0000000, 0xbf800000, 0x40000000, 0, 0);
    check("fma.rn.f16", 0x3c01, 0x3c00, 0x3c01, 1, 0);
    check("fma.rn.relu.f16", 0, 0xbc00, 0x3c00, 0, 0);
    check("add.f16x2", 0x7c004000, 0x7bff3c00, 0x7bff3c00, 0, 0);
    check("fma.rn.bf16", 0x3f82, 0x3f80, 0x3f81, 0x3b80, 0); /* 1.0078125 + 2^-8: to even, up */
    check("fma.rn.bf16", 0x3f81, 0x3f80, 0x3f81, 0x3b7f, 0);
    check("testp.subnormal.f32", 1, 0x807fffff, 0, 0, 0);
    check("testp.normal.f64", 1, 0, 0, 0, 0); /* so an H200 has it */
    check("setp.ne.f32", 0, 0x7fc00000, 0x3f800000, 0, 0);
    check("setp.neu.f32", 1, 0x7fc00000, 0x3f800000, 0, 0);
    check("setp.eq.f32", 1, 0x80000000, 0, 0, 0);
    check("setp.lt.ftz.f32", 0, 0, 1, 0, 0);
    check("set.gt.f16x2.f16x2", 0x3c000000, 0x40003c00, 0x3c004000, 0, 0);
    check("set.eq.u32.f16x2", 0xffff0000, 0x40003c00, 0x40004000, 0, 0);
    check("slct.b32.f32", 7, 7, 8, 0x80000000, 0);
}

/* Near the true value, and right where PTX says what the result is. */
static void approximations_are_near(void **state)
{
    (void)state;
    static const struct {
        const char *op;
        double (*of)(double);
        double from, to, error; /* of the range; relative, or absolute for sin, cos and lg2 */
    } functions[] = {
        {"ex2.approx.f32", exp2, -120, 120, 0x1p-22}, {"lg2.approx.f32", log2, 0.01, 1e30, 0x1p-20},
        {"sin.approx.f32", sin, -3.1, 3.1, 0x1p-20},  {"cos.approx.f32", cos, -3.1, 3.1, 0x1p-20},
        {"tanh.approx.f32", tanh, -9, 9, 0x1p-10},    {"sqrt.approx.f32", sqrt, 1e-30, 1e30, 0x1p-21},
    };
    for (size_t i = 0; i < COUNT_OF(functions); i++) {
        alu_fn *run = alu_executor(alu_find(functions[i].op));
        for (int n = 0; n < 1000; n++) {
            union vector a, d;
            for (int lane = 0; lane < WARP_LANES; lane++)
                a.u32[lane] = bits_f32((float)(functions[i].from + (functions[i].to - functions[i].from) *
                                                                       (n * WARP_LANES + lane) / 32000));
            run(&d, &a, NULL, NULL, NULL);
            for (int lane = 0; lane < WARP_LANES; lane++) {
                double expected = functions[i].of((double)f32_bits(a.u32[lane])),
                       got = (double)f32_bits(d.u32[lane]);
                assert_true(fabs(got - expected) <= functions[i].error * fmax(1.0, fabs(expected)));
            }
        }
    }
}

static void approximations_of_what_is_no_usual_number(void **state)
{
    (void)state;
    check("rcp.approx.f32", 0xff800000, 0x80000000, 0, 0, 0);
    check("rcp.approx.f32", 0x80000000, 0xff800000, 0, 0, 0);
    check("rcp.approx.ftz.f32", 0x7f800000, 0x007fffff, 0, 0, 0);
    check("rcp.approx.ftz.f32", 0, 0x7f000000, 0, 0, 0);
    check("sqrt.approx.f32", 0x80000000, 0x80000000, 0, 0, 0);
    check("sqrt.approx.f32", NAN_F32, 0xbf800000, 0, 0, 0);
    check("rsqrt.approx.f32", 0xff800000, 0x80000000, 0, 0, 0);
    check("rsqrt.approx.f32", NAN_F32, 0xbf800000, 0, 0, 0);
    check("rsqrt.approx.ftz.f32", 0xff800000, 0x80000001, 0, 0, 0);
    check("ex2.approx.f32", 0, 0xff800000, 0, 0, 0);
    check("ex2.approx.ftz.f32", 0x3f800000, 0x80000001, 0, 0, 0);
    check("ex2.approx.ftz.f32", 0, 0xc2fe0000, 0, 0, 0); /* 2^-127 */
    check("lg2.approx.f32", 0xff800000, 0, 0, 0, 0);
    check("lg2.approx.f32", NAN_F32, 0xff800000, 0, 0, 0);
    check("sin.approx.f32", 0x80000000, 0x80000000, 0, 0, 0);
    check("cos.approx.f32", NAN_F32, 0x7f800000, 0, 0, 0);
    check("tanh.approx.f32", 0xbf800000, 0xff800000, 0, 0, 0);
    check("tanh.approx.bf16x2", 0x3f80bf80, 0x7f80ff80, 0, 0, 0);
    check("ex2.approx.f16x2", 0x40003c00, 0x3c000000, 0, 0, 0);
    check("div.approx.f32", 0, 0x3f800000, 0x7f000000, 0, 0);
    check("div.approx.f32", NAN_F32, 0x7f800000, 0x7f000000, 0, 0);
    check("div.full.f32", 0x00400000, 0x3f800000, 0x7f000000, 0, 0);
    check("rcp.approx.ftz.f64", UINT64_C(0x3fe0000000000000), UINT64_C(0x40000000ffffffff), 0, 0, 0);
    check("rcp.approx.ftz.f64", UINT64_C(0xfff0000000000000), UINT64_C(0x800fffffffffffff), 0, 0, 0);
    check("rsqrt.approx.ftz.f64", UINT64_C(0x3fe0000000000000), UINT64_C(0x4010000000000000), 0, 0, 0);
    check("rsqrt.approx.f64", UINT64_C(0x3fe0000000000000), UINT64_C(0x4010000000000000), 0, 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_opcode_is_in_one_row),
        cmocka_unit_test(modifiers_of_rows_are_in_the_usual_order),
        cmocka_unit_test(what_is_no_opcode_is_not_found),
        cmocka_unit_test(integers_at_their_ends),
        cmocka_unit_test(shifts_and_fields),
        cmocka_unit_test(numbers_at_their_ends),
        cmocka_unit_test(rows_do_what_the_manual_says),
        cmocka_unit_test(all_levels_give_the_same_bits),
        cmocka_unit_test(the_destination_may_be_a_source),
        cmocka_unit_test(approximations_are_near),
        cmocka_unit_test(approximations_of_what_is_no_usual_number),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
