/* Executors of rows whose meaning is more than one value per lane. A part of alu_level.h. */

/* The product of 32 bits plus 64; what does not fit is the carry, and saturates if clamp is set. */
static void run_V_MAD_U64_U32(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    const bool clamp = l->clamp;
    EACH_LANE_OF(l, u64, u32, false, 0, uint64_t c = GET_u64(c); uint64_t r = (uint64_t)a0[i] * b0[i] + c;
                 bits[i] = -(int32_t)(r < c); PUT_u64(clamp && r < c ? UINT64_MAX : r));
    l->mask_out = bits_of(bits);
}

static void run_V_MAD_I64_I32(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    const bool clamp = l->clamp;
    EACH_LANE_OF(l, i64, i32, false, 0, int64_t c = GET_i64(c);
                 int64_t product = (int64_t)GET_i32(a) * GET_i32(b); int64_t r;
                 bool over = __builtin_add_overflow(product, c, &r); bits[i] = -(int32_t)over;
                 PUT_i64(clamp && over ? c < 0 ? INT64_MIN : INT64_MAX : r));
    l->mask_out = bits_of(bits);
}

LANE int32_t exponent_f32(float a)
{
    return (int32_t)(bits_f32(a) >> 23 & 0xff);
}

LANE int32_t exponent_f64(double a)
{
    return (int32_t)(bits_f64(a) >> 52 & 0x7ff);
}

/* Scales a numerator or denominator so that the steps of a division meet no denormals; the mask says that
 * v_div_fmas must scale back. `bias` is the type's, `near` and `tiny` are exponents apart and of a numerator.
 * Of normal numbers, a quotient is denormal if the exponents say so, or just if the fractions do. */
#define DIV_SCALE(type, exponent, fraction, bias, near, tiny, up, down)                                      \
    int32_t bits[GCN3_LANES];                                                                                \
    EACH_LANE_OF(                                                                                            \
        l, type, type, false, 0, const lane_##type s = GET_##type(a), d = GET_##type(b), n = GET_##type(c);  \
        const int32_t d_exponent = exponent(d), n_exponent = exponent(n), apart = n_exponent - d_exponent;   \
        const bool is_d = s == d, is_n = s == n, is_far = apart >= (near), is_denormal = d_exponent == 0;    \
        const bool tiny_reciprocal =                                                                         \
            (d_exponent > 2 * (bias)-1) | ((d_exponent == 2 * (bias)-1) & (fraction(d) != 0));               \
        const bool tiny_quotient =                                                                           \
            (apart < 1 - (bias)) | ((apart == 1 - (bias)) & (fraction(n) < fraction(d)));                    \
        const bool none = (n_exponent == 0 && !fraction(n)) || (is_denormal && !fraction(d)),                \
        finite = (n - n == 0) & (d - d == 0);                                                                \
        const bool back = finite && !none && (is_far || (!is_denormal && tiny_quotient));                    \
        const bool lifts_d = is_far & is_d, lowers_d = !is_far && !is_denormal && tiny_reciprocal;           \
        const bool lifts_n = !is_far && !is_denormal && !tiny_reciprocal && tiny_quotient && is_n;           \
        const bool lifts_all =                                                                               \
            !is_far && (is_denormal || (!tiny_reciprocal && !tiny_quotient && n_exponent <= (tiny)));        \
        const bool lifts = lifts_d | lifts_n | lifts_all, lowers = lowers_d && (!tiny_quotient || is_d);     \
        const lane_##type lifted = s * (up), lowered = s * (down),                                           \
        r = lifts    ? lifted                                                                                \
            : lowers ? lowered                                                                               \
                     : s;                                                                                    \
        const lane_##type number = finite ? r : s; bits[i] = -(int32_t)back;                                 \
        PUT_##type(none ? (lane_##type)NAN : number));                                                       \
    l->mask_out = bits_of(bits)

LANE uint32_t fraction_f32(float a)
{
    return bits_f32(a) & 0x7fffff;
}

LANE uint64_t fraction_f64(double a)
{
    return bits_f64(a) & ((UINT64_C(1) << 52) - 1);
}

static void run_V_DIV_SCALE_F32(struct gcn3_lanes *l)
{
    DIV_SCALE(f32, exponent_f32, fraction_f32, 127, 96, 23, 0x1p64f, 0x1p-64f);
}

static void run_V_DIV_SCALE_F64(struct gcn3_lanes *l)
{
    DIV_SCALE(f64, exponent_f64, fraction_f64, 1023, 768, 53, 0x1p128, 0x1p-128);
}
