/* Executors of rows whose meaning is more than one value per lane. A part of alu_level.h. */

/* The product of 32 bits plus 64; what does not fit is the carry, and saturates if clamp is set. */
static void run_V_MAD_U64_U32(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    const bool clamp = l->clamp;
    EACH_LANE_OF(l, u64, u32, false, uint64_t c = GET_u64(c); uint64_t r = (uint64_t)a0[i] * b0[i] + c;
                 bits[i] = -(int32_t)(r < c); PUT_u64(clamp && r < c ? UINT64_MAX : r));
    l->mask_out = bits_of(bits);
}

static void run_V_MAD_I64_I32(struct gcn3_lanes *l)
{
    int32_t bits[GCN3_LANES];
    const bool clamp = l->clamp;
    EACH_LANE_OF(l, i64, i32, false, int64_t c = GET_i64(c);
                 int64_t product = (int64_t)GET_i32(a) * GET_i32(b); int64_t r;
                 bool over = __builtin_add_overflow(product, c, &r); bits[i] = -(int32_t)over;
                 PUT_i64(clamp && over ? c < 0 ? INT64_MIN : INT64_MAX : r));
    l->mask_out = bits_of(bits);
}

/* Scales a numerator or denominator so that the steps of a division meet no denormals; the mask says that
 * v_div_fmas must scale back. `near` and `tiny` are differences and numbers of exponents, 2^step the factor.
 */
#define DIV_SCALE(type, exponent, least, infinity, near, tiny, up, down)                                     \
    int32_t bits[GCN3_LANES];                                                                                \
    EACH_LANE_OF(l, type, type, false, lane_##type s = GET_##type(a); lane_##type d = GET_##type(b);         \
                 lane_##type n = GET_##type(c); bool is_d = s == d; bool is_n = s == n;                      \
                 int32_t apart = exponent(n) - exponent(d); bool tiny_reciprocal = 1 / fabs(d) < (least);    \
                 bool tiny_quotient = fabs(n) / fabs(d) < (least); bool scale = false; lane_##type r = s;    \
                 if (n == 0 || d == 0) r = (lane_##type)NAN; else if (n - n != 0 || d - d != 0) r = s;       \
                 else if (apart >= (near)) scale = true, r = is_d ? s * (up) : s;                            \
                 else if (exponent(d) == 0) r = s * (up);                                                    \
                 else if (tiny_reciprocal && tiny_quotient) scale = true, r = is_d ? s * (down) : s;         \
                 else if (tiny_reciprocal) r = s * (down);                                                   \
                 else if (tiny_quotient) scale = true, r = is_n ? s * (up) : s;                              \
                 else if (exponent(n) <= (tiny)) r = s * (up); bits[i] = -(int32_t)scale; PUT_##type(r));    \
    l->mask_out = bits_of(bits)

LANE int32_t exponent_f32(float a)
{
    return (int32_t)(bits_f32(a) >> 23 & 0xff);
}

LANE int32_t exponent_f64(double a)
{
    return (int32_t)(bits_f64(a) >> 52 & 0x7ff);
}

static void run_V_DIV_SCALE_F32(struct gcn3_lanes *l)
{
    DIV_SCALE(f32, exponent_f32, 0x1p-126, INFINITY, 96, 23, 0x1p64f, 0x1p-64f);
}

static void run_V_DIV_SCALE_F64(struct gcn3_lanes *l)
{
    DIV_SCALE(f64, exponent_f64, 0x1p-1022, INFINITY, 768, 53, 0x1p128, 0x1p-128);
}
