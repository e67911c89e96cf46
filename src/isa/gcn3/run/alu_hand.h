/* Executors of rows whose meaning is more than one value per lane. A part of alu_level.h. */

/* The product of 32 bits plus 64; what does not fit is the carry, and saturates if clamp is set. */
static void gcn3_do_V_MAD_U64_U32(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    const bool clamp = l->clamp;
    EACH_LANE_OF(l, u64, u32, false, 0, uint64_t c = GET_u64(c); uint64_t r = (uint64_t)a0[i] * b0[i] + c;
                 bits[i] = -(int32_t)(r < c); PUT_u64(clamp && r < c ? UINT64_MAX : r));
    l->mask_out = bits_of(bits);
}

static void gcn3_do_V_MAD_I64_I32(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    const bool clamp = l->clamp;
    EACH_LANE_OF(l, i64, i32, false, 0, int64_t c = GET_i64(c);
                 int64_t product = (int64_t)GET_i32(a) * GET_i32(b); int64_t r;
                 bool over = __builtin_add_overflow(product, c, &r); bits[i] = -(int32_t)over;
                 PUT_i64(clamp && over ? c < 0 ? INT64_MIN : INT64_MAX : r));
    l->mask_out = bits_of(bits);
}

/* Conditions as integers of the type's width: so they become vectors. */
typedef uint32_t flag_f32;
typedef uint64_t flag_f64;

LANE int32_t exponent_f32(float a)
{
    return (int32_t)(bits_f32(a) >> 23 & 0xff);
}

LANE int64_t exponent_f64(double a)
{
    return (int64_t)(bits_f64(a) >> 52 & 0x7ff);
}

LANE uint32_t fraction_f32(float a)
{
    return bits_f32(a) & 0x7fffff;
}

LANE uint64_t fraction_f64(double a)
{
    return bits_f64(a) & ((UINT64_C(1) << 52) - 1);
}

/* Scales a numerator n or denominator d, whichever s is, so that the steps of a division meet no denormals;
 * `back` says that v_div_fmas must scale back. `bias` is that of the type's exponents, `near` how far they
 * may be apart, `tiny` the least of a numerator's. Of normal numbers, a quotient is denormal if the exponents
 * say so, or just if the fractions do. */
#define DIV_SCALE(name, type, t, bias, near, tiny, up, down)                                                 \
    LANE type name(type s, type d, type n, flag_##t *back)                                                   \
    {                                                                                                        \
        typedef flag_##t flag;                                                                               \
        const flag greatest = 2 * (bias) + 1, d_exponent = (flag)exponent_##t(d),                            \
                   n_exponent = (flag)exponent_##t(n);                                                       \
        const flag is_d = s == d, is_n = s == n, below = n_exponent < d_exponent;                            \
        const flag above_by = n_exponent - d_exponent, below_by = d_exponent - n_exponent;                   \
        const flag is_far = (below ^ 1) & (above_by >= (near)), is_denormal = d_exponent == 0;               \
        const flag same = d_exponent == greatest - 2;                                                        \
        const flag tiny_reciprocal = (d_exponent > greatest - 2) | (same & (fraction_##t(d) != 0));          \
        const flag tiny_quotient = below & ((below_by > (bias)-1) |                                          \
                                            ((below_by == (bias)-1) & (fraction_##t(n) < fraction_##t(d)))); \
        const flag none =                                                                                    \
            ((n_exponent == 0) & (fraction_##t(n) == 0)) | (is_denormal & (fraction_##t(d) == 0));           \
        const flag finite = (n_exponent < greatest) & (d_exponent < greatest) & (none ^ 1);                  \
        const flag usual = (is_far ^ 1) & (is_denormal ^ 1);                                                 \
        const flag small = usual & (tiny_reciprocal ^ 1) & (tiny_quotient ^ 1) & (n_exponent <= (tiny));     \
        const flag lifts_one = (is_far & is_d) | (usual & (tiny_reciprocal ^ 1) & tiny_quotient & is_n);     \
        const flag lifts = lifts_one | small | ((is_far ^ 1) & is_denormal);                                 \
        const flag lowers = usual & tiny_reciprocal & ((tiny_quotient ^ 1) | is_d);                          \
        const type factor = lifts ? (up) : 1, lower = lowers ? (down) : factor, all = finite ? lower : 1;    \
        *back = finite & (is_far | (usual & tiny_quotient));                                                 \
        return none ? (type)NAN : all == 1 ? s : s * all;                                                    \
    }
DIV_SCALE(div_scale_f32, float, f32, 127, 96, 23, 0x1p64f, 0x1p-64f)
DIV_SCALE(div_scale_f64, double, f64, 1023, 768, 53, 0x1p128, 0x1p-128)
#undef DIV_SCALE

static void gcn3_do_V_DIV_SCALE_F32(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    EACH_LANE_OF(l, f32, f32, false, 0, flag_f32 back;
                 PUT_f32(div_scale_f32(GET_f32(a), GET_f32(b), GET_f32(c), &back)); bits[i] = -(int32_t)back);
    l->mask_out = bits_of(bits);
}

static void gcn3_do_V_DIV_SCALE_F64(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    EACH_LANE_OF(l, f64, f64, false, 0, flag_f64 back;
                 PUT_f64(div_scale_f64(GET_f64(a), GET_f64(b), GET_f64(c), &back)); bits[i] = -(int32_t)back);
    l->mask_out = bits_of(bits);
}
