"""What each vector ALU instruction does to one lane: sections 12.7 to 12.11 of the manual.

A row has the types of the result and of the sources and a function of the lane's source bits. Integers arrive as their
type says (signed for i16, i32, i64); floats arrive as bit patterns."""
from fractions import Fraction

import approximate
from floats import DOWN, F16, F32, F64, NEAREST, UP, ZERO, Fp, scale2
from scalar import leading, leading_sign, first, reverse
from wave import M32, signed

M16 = 0xFFFF
GFX906 = 96  # gfx803 is 8, gfx900 is 9


class Modes:
    """The arithmetic that MODE selects."""

    def __init__(self, mode, gfx):
        self.gfx = gfx
        self.ieee = bool(mode >> 9 & 1)
        self.dx10_clamp = bool(mode >> 8 & 1)
        single, double = mode >> 4 & 3, mode >> 6 & 3
        self.f32 = Fp(F32, mode & 3, single)
        self.f64 = Fp(F64, mode >> 2 & 3, double)
        self.f16 = Fp(F16, mode >> 2 & 3, double)
        self.flush32 = Fp(F32, mode & 3, 0)  # of instructions that know no denormals
        self.flush16 = Fp(F16, mode >> 2 & 3, 0)
        # Before gfx9, min and max do not flush.
        kept = gfx < 9
        self.pick32 = Fp(F32, 0, 3 if kept else single)
        self.pick64 = Fp(F64, 0, 3 if kept else double)
        self.pick16 = Fp(F16, 0, 3 if kept else double)

    def of(self, kind):
        return {"f16": self.f16, "f32": self.f32, "f64": self.f64}[kind]

    def picker(self, kind):
        return {"f16": self.pick16, "f32": self.pick32, "f64": self.pick64}[kind]

    def flushing(self, kind):
        return self.flush16 if kind == "f16" else self.flush32


class Row:
    """forms: which encodings exist (1 VOP1, 2 VOP2, 3 VOP3 only, c VOPC). The other flags:
    carry_out: a second destination, one bit per lane. carry_in: the last source is such a mask. reads_dst: the destination
    is the last source. keeps_high: the upper half of a 16-bit result's register stays. wide: lane number and VCC are
    passed too. ulps, absolute, any_zero: how a result is compared.
    saturates: with the clamp bit, an integer result is limited to its type. avoid: inputs that the manual does not
    settle, which the generator leaves out."""

    def __init__(self, result, sources, function, forms, **flags):
        self.result = result
        self.sources = sources.split()
        self.function = function
        self.forms = forms
        self.flags = flags
        for name in ("carry_out", "carry_in", "reads_dst", "wide", "absolute", "any_zero", "saturates", "keeps_high",
                     "no_modifiers"):
            setattr(self, name, flags.get(name, False))
        self.ulps = flags.get("ulps", 0)
        self.gfx = flags.get("gfx", 8)  # the first that has it
        self.avoid = flags.get("avoid", "").split()


ROWS = {}


def row(name, result, sources, function, forms, **flags):
    ROWS[name] = Row(result, sources, function, forms, **flags)


def limit(value, kind, clamp):
    """An integer result: wrapped, or saturated when the clamp bit is set."""
    width = int(kind[1:])
    low, high = (-(1 << (width - 1)), (1 << (width - 1)) - 1) if kind[0] == "i" else (0, (1 << width) - 1)
    if clamp:
        value = min(max(value, low), high)
    return value & ((1 << width) - 1)


# VOP2: floats
for _t in ("f16", "f32"):
    row(f"v_add_{_t}", _t, f"{_t} {_t}", lambda m, a, b, t=_t: m.of(t).add(a, b), "2")
    row(f"v_sub_{_t}", _t, f"{_t} {_t}", lambda m, a, b, t=_t: m.of(t).sub(a, b), "2")
    row(f"v_subrev_{_t}", _t, f"{_t} {_t}", lambda m, a, b, t=_t: m.of(t).sub(b, a), "2")
    row(f"v_mul_{_t}", _t, f"{_t} {_t}", lambda m, a, b, t=_t: m.of(t).mul(a, b), "2")
    row(f"v_mac_{_t}", _t, f"{_t} {_t} {_t}", lambda m, a, b, c, t=_t: m.flushing(t).mad(a, b, c), "2", reads_dst=True)
    row(f"v_madmk_{_t}", _t, f"{_t} k {_t}", lambda m, a, b, c, t=_t: m.flushing(t).mad(a, b, c), "2", no_modifiers=True)
    row(f"v_madak_{_t}", _t, f"{_t} {_t} k", lambda m, a, b, c, t=_t: m.flushing(t).mad(a, b, c), "2", no_modifiers=True)
for _t in ("f16", "f32", "f64"):
    _form = "3" if _t == "f64" else "2"
    row(f"v_min_{_t}", _t, f"{_t} {_t}", lambda m, a, b, t=_t: m.picker(t).pick(a, b, -1, m.ieee), _form,
        any_zero=_t != "f64")
    row(f"v_max_{_t}", _t, f"{_t} {_t}", lambda m, a, b, t=_t: m.picker(t).pick(a, b, 1, m.ieee), _form,
        any_zero=_t != "f64")


def mul_legacy(fp, a, b):
    """0 times anything is +0."""
    if fp.fmt.is_zero(fp.flush_in(a)) or fp.fmt.is_zero(fp.flush_in(b)):
        return 0
    return fp.mul(a, b)


row("v_mul_legacy_f32", "f32", "f32 f32", lambda m, a, b: mul_legacy(m.f32, a, b), "2")
row("v_ldexp_f16", "f16", "f16 i16", lambda m, a, b: m.f16.ldexp(a, b), "2")


# VOP2: integers
def low24(value):
    return value & 0xFFFFFF


def signed24(value):
    return signed(value & 0xFFFFFF, 24)


row("v_mul_i32_i24", "i32", "u32 u32", lambda m, a, b: signed24(a) * signed24(b), "2")
row("v_mul_hi_i32_i24", "i32", "u32 u32", lambda m, a, b: signed24(a) * signed24(b) >> 32, "2")
row("v_mul_u32_u24", "u32", "u32 u32", lambda m, a, b: low24(a) * low24(b), "2")
row("v_mul_hi_u32_u24", "u32", "u32 u32", lambda m, a, b: low24(a) * low24(b) >> 32, "2")
for _t in ("i16", "u16", "i32", "u32"):
    row(f"v_min_{_t}", _t, f"{_t} {_t}", lambda m, a, b: min(a, b), "2")
    row(f"v_max_{_t}", _t, f"{_t} {_t}", lambda m, a, b: max(a, b), "2")
for _w in (16, 32):
    row(f"v_lshlrev_b{_w}", f"u{_w}", f"u{_w} u{_w}", lambda m, a, b, w=_w: b << (a & (w - 1)), "2")
    row(f"v_lshrrev_b{_w}", f"u{_w}", f"u{_w} u{_w}", lambda m, a, b, w=_w: b >> (a & (w - 1)), "2")
    row(f"v_ashrrev_i{_w}", f"i{_w}", f"u{_w} i{_w}", lambda m, a, b, w=_w: b >> (a & (w - 1)), "2")
row("v_and_b32", "u32", "u32 u32", lambda m, a, b: a & b, "2")
row("v_or_b32", "u32", "u32 u32", lambda m, a, b: a | b, "2")
row("v_xor_b32", "u32", "u32 u32", lambda m, a, b: a ^ b, "2")
row("v_add_u16", "u16", "u16 u16", lambda m, a, b: a + b, "2", saturates=True)
row("v_sub_u16", "u16", "u16 u16", lambda m, a, b: a - b, "2", saturates=True)
row("v_subrev_u16", "u16", "u16 u16", lambda m, a, b: b - a, "2", saturates=True)
row("v_mul_lo_u16", "u16", "u16 u16", lambda m, a, b: a * b, "2", saturates=True)
row("v_cndmask_b32", "u32", "b32 b32 mask", lambda m, a, b, c: b if c else a, "2", carry_in=True)


def carrying(function):
    """The exact result; its carry or borrow is that it does not fit."""
    return lambda m, *sources: ((total := function(*sources)), int(total < 0 or total > M32))


for _suffix, _gfx in (("u32", 8), ("co_u32", 9)):
    for _name, _f in (("add", lambda a, b: a + b), ("sub", lambda a, b: a - b), ("subrev", lambda a, b: b - a)):
        row(f"v_{_name}_{_suffix}", "u32", "u32 u32", carrying(_f), "2", carry_out=True, saturates=True, gfx=_gfx)
    for _name, _f in (("addc", lambda a, b, c: a + b + c), ("subb", lambda a, b, c: a - b - c),
                      ("subbrev", lambda a, b, c: b - a - c)):
        row(f"v_{_name}_{_suffix}", "u32", "u32 u32 mask", carrying(_f), "2", carry_out=True, carry_in=True,
            saturates=True, gfx=_gfx)
PLAIN9 = {"v_add_u32": lambda m, a, b: a + b, "v_sub_u32": lambda m, a, b: a - b, "v_subrev_u32": lambda m, a, b: b - a}
GFX9 = {name: Row("u32", "u32 u32", function, "2", saturates=True, gfx=9) for name, function in PLAIN9.items()}

# VOP1
row("v_mov_b32", "u32", "b32", lambda m, a: a, "1")
row("v_not_b32", "u32", "u32", lambda m, a: ~a, "1")
row("v_bfrev_b32", "u32", "u32", lambda m, a: reverse(a, 32), "1")
row("v_ffbh_u32", "u32", "u32", lambda m, a: leading(a, 32), "1")
row("v_ffbl_b32", "u32", "u32", lambda m, a: first(a, 32, 1), "1")
row("v_ffbh_i32", "u32", "u32", lambda m, a: leading_sign(a, 32), "1")
row("v_cvt_f32_i32", "f32", "i32", lambda m, a: m.f32.from_int(a), "1")
row("v_cvt_f32_u32", "f32", "u32", lambda m, a: m.f32.from_int(a), "1")
row("v_cvt_f64_i32", "f64", "i32", lambda m, a: m.f64.from_int(a), "1")
row("v_cvt_f64_u32", "f64", "u32", lambda m, a: m.f64.from_int(a), "1")
row("v_cvt_f16_i16", "f16", "i16", lambda m, a: m.f16.from_int(a), "1")
row("v_cvt_f16_u16", "f16", "u16", lambda m, a: m.f16.from_int(a), "1")
I32, U32, I16, U16 = (-(1 << 31), (1 << 31) - 1), (0, M32), (-(1 << 15), (1 << 15) - 1), (0, M16)
for _source in ("f32", "f64"):
    row(f"v_cvt_i32_{_source}", "i32", _source, lambda m, a, t=_source: m.of(t).to_int(a, *I32), "1")
    row(f"v_cvt_u32_{_source}", "u32", _source, lambda m, a, t=_source: m.of(t).to_int(a, *U32), "1")
row("v_cvt_i16_f16", "i16", "f16", lambda m, a: m.f16.to_int(a, *I16), "1")
row("v_cvt_u16_f16", "u16", "f16", lambda m, a: m.f16.to_int(a, *U16), "1")
row("v_cvt_flr_i32_f32", "i32", "f32", lambda m, a: m.f32.to_int(a, *I32, DOWN), "1")


def to_int_half_up(fp, a):
    """floor(a + 0.5), exactly."""
    a = fp.flush_in(a)
    if fp.fmt.is_nan(a) or fp.fmt.is_inf(a):
        return fp.to_int(a, *I32)
    number = fp.fmt.value(a) + Fraction(1, 2)
    return min(max(number.numerator // number.denominator, I32[0]), I32[1])


row("v_cvt_rpi_i32_f32", "i32", "f32", lambda m, a: to_int_half_up(m.f32, a), "1")
row("v_cvt_f16_f32", "f16", "f32", lambda m, a: m.f16.convert(a, m.f32), "1")
row("v_cvt_f32_f16", "f32", "f16", lambda m, a: m.f32.convert(a, m.f16), "1")
row("v_cvt_f32_f64", "f32", "f64", lambda m, a: m.f32.with_rounding(m.f64.rounding).convert(a, m.f64), "1", avoid="rounding")
row("v_cvt_f64_f32", "f64", "f32", lambda m, a: m.f64.convert(a, m.f32), "1")
for _n in range(4):
    row(f"v_cvt_f32_ubyte{_n}", "f32", "u32", lambda m, a, n=_n: m.f32.from_int(a >> 8 * n & 255), "1")
row("v_cvt_off_f32_i4", "f32", "u32", lambda m, a: m.f32.make(Fraction(signed(a & 15, 4), 16)), "1")
for _t in ("f16", "f32", "f64"):
    row(f"v_trunc_{_t}", _t, _t, lambda m, a, t=_t: m.of(t).integral(a, ZERO), "1")
    row(f"v_ceil_{_t}", _t, _t, lambda m, a, t=_t: m.of(t).integral(a, UP), "1", any_zero=True)
    row(f"v_floor_{_t}", _t, _t, lambda m, a, t=_t: m.of(t).integral(a, DOWN), "1")
    row(f"v_rndne_{_t}", _t, _t, lambda m, a, t=_t: m.of(t).integral(a, NEAREST), "1")
    row(f"v_fract_{_t}", _t, _t, lambda m, a, t=_t: m.of(t).fract(a), "1", any_zero=True)
    row(f"v_frexp_mant_{_t}", _t, _t, lambda m, a, t=_t: m.of(t).frexp_mant(a), "1")
row("v_frexp_exp_i32_f32", "i32", "f32", lambda m, a: m.f32.frexp_exp(a), "1")
row("v_frexp_exp_i32_f64", "i32", "f64", lambda m, a: m.f64.frexp_exp(a), "1")
row("v_frexp_exp_i16_f16", "i16", "f16", lambda m, a: m.f16.frexp_exp(a), "1")


def approximated(name, function, ulps, **flags):
    for t, u in (("f16", 1), ("f32", ulps)):
        # Those of f32 flush; those of f16 obey MODE.
        row(f"v_{name}_{t}", t, t, lambda m, a, t=t: function(m.f16 if t == "f16" else m.flush32, a), "1", ulps=u,
            any_zero=True, **flags)


approximated("rcp", approximate.reciprocal, 1)
approximated("rsq", approximate.reciprocal_root, 1)
approximated("sqrt", approximate.square_root, 1)
approximated("exp", approximate.exp2, 1)
approximated("log", approximate.log2, 1)
approximated("sin", approximate.sine, 4, absolute=True)
approximated("cos", approximate.cosine, 4, absolute=True)
row("v_rcp_iflag_f32", "f32", "f32", lambda m, a: approximate.reciprocal(m.flush32, a), "1", ulps=1, any_zero=True)
row("v_exp_legacy_f32", "f32", "f32", lambda m, a: approximate.exp2(m.flush32, a), "1", ulps=2, any_zero=True)
row("v_log_legacy_f32", "f32", "f32", lambda m, a: approximate.log2(m.flush32, a), "1", ulps=2, any_zero=True)
WIDE_ULPS = 1 << 29
row("v_rcp_f64", "f64", "f64", lambda m, a: approximate.reciprocal(m.f64, a), "1", ulps=WIDE_ULPS, any_zero=True)
row("v_rsq_f64", "f64", "f64", lambda m, a: approximate.reciprocal_root(m.f64, a), "1", ulps=WIDE_ULPS, any_zero=True)
row("v_sqrt_f64", "f64", "f64", lambda m, a: approximate.square_root(m.f64, a), "1", ulps=WIDE_ULPS, any_zero=True)

# VOP3: floats
row("v_add_f64", "f64", "f64 f64", lambda m, a, b: m.f64.add(a, b), "3")
row("v_mul_f64", "f64", "f64 f64", lambda m, a, b: m.f64.mul(a, b), "3")
row("v_ldexp_f32", "f32", "f32 i32", lambda m, a, b: m.f32.ldexp(a, b), "3")
row("v_ldexp_f64", "f64", "f64 i32", lambda m, a, b: m.f64.ldexp(a, b), "3")
for _t in ("f16", "f32", "f64"):
    row(f"v_fma_{_t}", _t, f"{_t} {_t} {_t}", lambda m, a, b, c, t=_t: m.of(t).fma(a, b, c), "3")
row("v_mad_f32", "f32", "f32 f32 f32", lambda m, a, b, c: m.flush32.mad(a, b, c), "3")
row("v_mad_f16", "f16", "f16 f16 f16", lambda m, a, b, c: m.flush16.mad(a, b, c), "3")
row("v_mad_legacy_f32", "f32", "f32 f32 f32", lambda m, a, b, c: m.flush32.add(mul_legacy(m.flush32, a, b), c), "3")


def pick3(fp, values, sign):
    """NaNs lose: DX10 rules."""
    result = values[0]
    for x in values[1:]:
        result = fp.pick(result, x, sign, False)
    return result


def median(fp, values):
    if any(fp.fmt.is_nan(x) for x in values):
        return pick3(fp, values, -1)
    exact = Fp(fp.fmt)
    a, b, c = (fp.flush_in(x) for x in values)
    low, high = exact.pick(a, b, -1, False), exact.pick(a, b, 1, False)
    return fp.flush_out(exact.pick(low, exact.pick(high, c, -1, False), 1, False))


for _t, _gfx in (("f32", 8), ("f16", 9)):
    _three = f"{_t} {_t} {_t}"
    row(f"v_min3_{_t}", _t, _three, lambda m, *v, t=_t: pick3(m.picker(t), v, -1), "3", any_zero=True, avoid="snan",
        gfx=_gfx, keeps_high=True)
    row(f"v_max3_{_t}", _t, _three, lambda m, *v, t=_t: pick3(m.picker(t), v, 1), "3", any_zero=True, avoid="snan",
        gfx=_gfx, keeps_high=True)
    row(f"v_med3_{_t}", _t, _three, lambda m, *v, t=_t: median(m.picker(t), v), "3", any_zero=True, avoid="snan",
        gfx=_gfx, keeps_high=True)
for _t, _gfx in (("i32", 8), ("u32", 8), ("i16", 9), ("u16", 9)):
    _three = f"{_t} {_t} {_t}"
    row(f"v_min3_{_t}", _t, _three, lambda m, *v: min(v), "3", gfx=_gfx, keeps_high=True)
    row(f"v_max3_{_t}", _t, _three, lambda m, *v: max(v), "3", gfx=_gfx, keeps_high=True)
    row(f"v_med3_{_t}", _t, _three, lambda m, *v: sorted(v)[1], "3", gfx=_gfx, keeps_high=True)


def cube_axis(x, y, z):
    """2 for z, 1 for y, 0 for x: the major axis. Bits without their sign order as magnitudes do."""
    ax, ay, az = (v & 0x7FFFFFFF for v in (x, y, z))
    if az >= ax and az >= ay:
        return 2
    return 1 if ay >= ax else 0


def below_zero(x):
    return x >> 31 and x & 0x7FFFFFFF != 0


def cube_id(m, *v):
    axis = cube_axis(*v)
    return m.f32.from_int(2 * axis + (1 if below_zero(v[axis]) else 0))


def minus(x):
    return x ^ 0x80000000


def cube_sc(m, x, y, z):
    axis = cube_axis(x, y, z)
    if axis == 2:
        return minus(x) if below_zero(z) else x
    if axis == 1:
        return x
    return z if below_zero(x) else minus(z)


def cube_tc(m, x, y, z):
    axis = cube_axis(x, y, z)
    if axis == 1:
        return minus(z) if below_zero(y) else z
    return minus(y)


row("v_cubeid_f32", "f32", "f32 f32 f32", cube_id, "3", avoid="snan nan denormal")
row("v_cubesc_f32", "f32", "f32 f32 f32", cube_sc, "3", avoid="snan nan denormal")
row("v_cubetc_f32", "f32", "f32 f32 f32", cube_tc, "3", avoid="snan nan denormal")
row("v_cubema_f32", "f32", "f32 f32 f32", lambda m, *v: m.f32.ldexp(v[cube_axis(*v)], 1), "3", avoid="snan nan denormal")


# Division
def div_fixup(fp, q, d, n):
    fmt = fp.fmt
    sign = (d ^ n) & fmt.sign
    if fmt.is_nan(n):
        return n | fmt.quiet
    if fmt.is_nan(d):
        return d | fmt.quiet
    d, n = fp.flush_in(d), fp.flush_in(n)
    if (fmt.is_zero(d) and fmt.is_zero(n)) or (fmt.is_inf(d) and fmt.is_inf(n)):
        return fmt.nan | fmt.sign
    if fmt.is_zero(d) or fmt.is_inf(n):
        return fmt.inf | sign
    if fmt.is_inf(d) or fmt.is_zero(n):
        return sign
    if fmt.is_nan(q):
        return fmt.inf | sign  # the quotient overflowed on the way
    return q & ~fmt.sign | sign


for _t in ("f16", "f32", "f64"):
    row(f"v_div_fixup_{_t}", _t, f"{_t} {_t} {_t}", lambda m, q, d, n, t=_t: div_fixup(m.of(t), q, d, n), "3",
        avoid="quotient denormal")


def div_scale(fp, s0, d, n, near, step, tiny):
    """Returns the scaled operand and whether v_div_fmas must scale back."""
    fmt = fp.fmt
    scaled = lambda power: Fp(fmt, fp.rounding, 3).ldexp(s0, power)
    if fmt.is_zero(n) or fmt.is_zero(d):
        return fmt.nan, 0
    if any(fmt.is_nan(x) or fmt.is_inf(x) for x in (n, d)):
        return s0, 0
    smallest = scale2(Fraction(1), 1 - fmt.bias)
    reciprocal_denormal = abs(1 / fmt.value(d)) < smallest
    quotient_denormal = abs(fmt.value(n) / fmt.value(d)) < smallest
    if fmt.exponent(n) - fmt.exponent(d) >= near:
        return (scaled(step) if s0 == d else s0), 1
    if fmt.is_denormal(d):
        return scaled(step), 0
    if reciprocal_denormal and quotient_denormal:
        return (scaled(-step) if s0 == d else s0), 1
    if reciprocal_denormal:
        return scaled(-step), 0
    if quotient_denormal:
        return (scaled(step) if s0 == n else s0), 1
    if fmt.exponent(n) <= tiny:
        return scaled(step), 0
    return s0, 0


row("v_div_scale_f32", "f32", "f32 f32 f32", lambda m, *v: div_scale(m.f32, *v, 96, 64, 23), "3", carry_out=True,
    avoid="nonfinite denormal huge")
row("v_div_scale_f64", "f64", "f64 f64 f64", lambda m, *v: div_scale(m.f64, *v, 768, 128, 53), "3", carry_out=True,
    avoid="nonfinite denormal huge")


def div_fmas(fp, a, b, c, scale, power):
    """Undoes what v_div_scale did to the quotient c: a large one was scaled down, a small one up. One rounding."""
    result = fp.fma(a, b, c)
    fmt = fp.fmt
    if not scale or fmt.is_nan(result) or any(fmt.is_inf(x) for x in (a, b, c)):
        return result
    power = power if fmt.exponent(c) > fmt.bias else -power
    a, b, c = (fp.flush_in(x) for x in (a, b, c))
    exact = fmt.value(a) * fmt.value(b) + fmt.value(c)
    return fp.make(scale2(exact, power)) if exact else result


row("v_div_fmas_f32", "f32", "f32 f32 f32", lambda m, lane, vcc, a, b, c: div_fmas(m.f32, a, b, c, vcc, 64), "3", wide=True,
    avoid="denormal small")
row("v_div_fmas_f64", "f64", "f64 f64 f64", lambda m, lane, vcc, a, b, c: div_fmas(m.f64, a, b, c, vcc, 128), "3", wide=True,
    avoid="denormal small")


def trig_preop(m, a, segment):
    """53 bits of 2/pi, from where the segment and a's exponent say."""
    exponent = F64.exponent(a)
    shift = (segment & 31) * 53 + max(exponent - 1077, 0)
    window = approximate.TWO_OVER_PI << shift >> (approximate.TWO_OVER_PI_BITS - 53) & ((1 << 53) - 1)
    power = -53 - shift + (128 if exponent >= 1968 else 0)
    return Fp(F64, ZERO, 3).make(scale2(Fraction(window), power))


row("v_trig_preop_f64", "f64", "f64 u32", trig_preop, "3", no_modifiers=True, avoid="nonfinite denormal")

# VOP3: integers
row("v_mad_i32_i24", "i32", "u32 u32 i32", lambda m, a, b, c: signed24(a) * signed24(b) + c, "3", saturates=True)
row("v_mad_u32_u24", "u32", "u32 u32 u32", lambda m, a, b, c: low24(a) * low24(b) + c, "3", saturates=True)
row("v_mad_u16", "u16", "u16 u16 u16", lambda m, a, b, c: a * b + c, "3", saturates=True)
row("v_mad_i16", "i16", "i16 i16 i16", lambda m, a, b, c: a * b + c, "3", saturates=True)
row("v_mad_u64_u32", "u64", "u32 u32 u64", lambda m, a, b, c: ((t := a * b + c), t >> 64), "3", carry_out=True)
row("v_mad_i64_i32", "i64", "i32 i32 i64", lambda m, a, b, c: ((t := a * b + c), int(not -1 << 63 <= t < 1 << 63)), "3",
    carry_out=True, avoid="carry")
row("v_mul_lo_u32", "u32", "u32 u32", lambda m, a, b: a * b, "3")
row("v_mul_hi_u32", "u32", "u32 u32", lambda m, a, b: a * b >> 32, "3")
row("v_mul_hi_i32", "i32", "i32 i32", lambda m, a, b: a * b >> 32, "3")
row("v_lshlrev_b64", "u64", "u32 u64", lambda m, a, b: b << (a & 63), "3")
row("v_lshrrev_b64", "u64", "u32 u64", lambda m, a, b: b >> (a & 63), "3")
row("v_ashrrev_i64", "i64", "u32 i64", lambda m, a, b: b >> (a & 63), "3")
row("v_bfm_b32", "u32", "u32 u32", lambda m, a, b: ((1 << (a & 31)) - 1) << (b & 31), "3")
row("v_bfi_b32", "u32", "u32 u32 u32", lambda m, a, b, c: a & b | ~a & c, "3")
row("v_bcnt_u32_b32", "u32", "u32 u32", lambda m, a, b: a.bit_count() + b, "3")


def field(data, offset, count):
    offset, count = offset & 31, count & 31
    return data >> offset & ((1 << count) - 1)


def signed_field(m, a, b, c):
    count = min(c & 31, 32 - (b & 31))
    return signed(field(a, b, count), count) if count else 0


row("v_bfe_u32", "u32", "u32 u32 u32", lambda m, a, b, c: field(a, b, c), "3")
row("v_bfe_i32", "i32", "u32 u32 u32", signed_field, "3")
row("v_alignbit_b32", "u32", "u32 u32 u32", lambda m, a, b, c: (a << 32 | b) >> (c & 31), "3")
row("v_alignbyte_b32", "u32", "u32 u32 u32", lambda m, a, b, c: (a << 32 | b) >> 8 * (c & 3), "3", avoid="byte_shift")


def byte(value, n):
    return value >> 8 * n & 255


def lerp(m, a, b, c):
    return sum((byte(a, n) + byte(b, n) + (c >> 8 * n & 1)) // 2 << 8 * n for n in range(4))


def permute_byte(pool, select):
    if select >= 13:
        return 255
    if select == 12:
        return 0
    if select >= 8:
        return 255 if pool[2 * (select - 8) + 1] & 128 else 0
    return pool[select]


def permute(m, a, b, c):
    pool = [byte(b, n) for n in range(4)] + [byte(a, n) for n in range(4)]
    return sum(permute_byte(pool, byte(c, n)) << 8 * n for n in range(4))


def sad8(a, b):
    return sum(abs(byte(a, n) - byte(b, n)) for n in range(4))


def masked_sad8(a, b):
    """A byte of the reference b that is 0 does not count."""
    return sum(abs(byte(a, n) - byte(b, n)) for n in range(4) if byte(b, n))


def sad16(a, b):
    return abs((a & M16) - (b & M16)) + abs((a >> 16) - (b >> 16))


row("v_lerp_u8", "u32", "u32 u32 u32", lerp, "3")
row("v_perm_b32", "u32", "u32 u32 u32", permute, "3")
row("v_sad_u8", "u32", "u32 u32 u32", lambda m, a, b, c: sad8(a, b) + c, "3", saturates=True)
row("v_sad_hi_u8", "u32", "u32 u32 u32", lambda m, a, b, c: (sad8(a, b) << 16) + c, "3", saturates=True)
row("v_sad_u16", "u32", "u32 u32 u32", lambda m, a, b, c: sad16(a, b) + c, "3", saturates=True)
row("v_sad_u32", "u32", "u32 u32 u32", lambda m, a, b, c: abs(a - b) + c, "3", saturates=True)
row("v_msad_u8", "u32", "u32 u32 u32", lambda m, a, b, c: masked_sad8(a, b) + c, "3", saturates=True)


def quad_sad(function, width):
    """Four SADs of b against a at byte offsets 0 to 3, each added to its part of c."""
    def run(m, a, b, c):
        mask = (1 << width) - 1
        return sum((function(a >> 8 * n & M32, b) + (c >> width * n & mask) & mask) << width * n for n in range(4))
    return run


row("v_qsad_pk_u16_u8", "u64", "u64 u32 u64", quad_sad(sad8, 16), "3")
row("v_mqsad_pk_u16_u8", "u64", "u64 u32 u64", quad_sad(masked_sad8, 16), "3")
row("v_mqsad_u32_u8", "u128", "u64 u32 u128", quad_sad(masked_sad8, 32), "3")


# Conversions to packed values
def clamped(value, low, high):
    return min(max(value, low), high)


def normalized(fp, x, low, steps):
    """Nearest even of x * steps, x limited to [low, 1]. NaN gives 0."""
    x = fp.flush_in(x)
    if fp.fmt.is_nan(x):
        return 0
    number = Fraction(-1 if x & fp.fmt.sign else 1) if fp.fmt.is_inf(x) else clamped(fp.fmt.value(x), -1, 1)
    return round(max(number, low) * steps)


def pair(low, high):
    return low & M16 | (high & M16) << 16


def half_toward_zero(m, x):
    return Fp(F16, ZERO, m.f16.denormals).convert(x, m.f32)


row("v_cvt_pkrtz_f16_f32", "f16x2", "f32 f32", lambda m, a, b: pair(half_toward_zero(m, a), half_toward_zero(m, b)), "3",
    avoid="half_denormal")
row("v_cvt_pknorm_i16_f32", "u32", "f32 f32", lambda m, a, b: pair(*(normalized(m.f32, x, -1, 32767) for x in (a, b))), "3",
    avoid="tie")
row("v_cvt_pknorm_u16_f32", "u32", "f32 f32", lambda m, a, b: pair(*(normalized(m.f32, x, 0, 65535) for x in (a, b))), "3",
    avoid="tie")
row("v_cvt_pk_u16_u32", "u32", "u32 u32", lambda m, a, b: pair(min(a, M16), min(b, M16)), "3")
row("v_cvt_pk_i16_i32", "u32", "i32 i32", lambda m, a, b: pair(clamped(a, *I16), clamped(b, *I16)), "3")


def insert_byte(m, a, n, old):
    shift = 8 * (n & 3)
    return old & ~(255 << shift) | m.f32.to_int(a, 0, 255) << shift


row("v_cvt_pk_u8_f32", "u32", "f32 u32 u32", insert_byte, "3", avoid="fraction")
row("v_cvt_pkaccum_u8_f32", "u32", "f32 u32 u32", insert_byte, "3", avoid="fraction", reads_dst=True)


# Lane numbers
def count_below(m, lane, vcc, mask, base, high):
    below = (1 << lane) - 1
    return (mask & (below >> 32 if high else below & M32)).bit_count() + base


row("v_mbcnt_lo_u32_b32", "u32", "u32 u32", lambda m, lane, vcc, a, b: count_below(m, lane, vcc, a, b, False), "3", wide=True)
row("v_mbcnt_hi_u32_b32", "u32", "u32 u32", lambda m, lane, vcc, a, b: count_below(m, lane, vcc, a, b, True), "3", wide=True)

# Gfx9's additions (not in the GCN3 manual; from AMD's Vega manual).
for _name, _row in {
    "v_add3_u32": ("u32 u32 u32", lambda m, a, b, c: a + b + c),
    "v_lshl_add_u32": ("u32 u32 u32", lambda m, a, b, c: (a << (b & 31)) + c),
    "v_add_lshl_u32": ("u32 u32 u32", lambda m, a, b, c: a + b << (c & 31)),
    "v_lshl_or_b32": ("u32 u32 u32", lambda m, a, b, c: a << (b & 31) | c),
    "v_and_or_b32": ("u32 u32 u32", lambda m, a, b, c: a & b | c),
    "v_or3_b32": ("u32 u32 u32", lambda m, a, b, c: a | b | c),
    "v_xad_u32": ("u32 u32 u32", lambda m, a, b, c: (a ^ b) + c),
    "v_mad_u32_u16": ("u16 u16 u32", lambda m, a, b, c: a * b + c),
}.items():
    row(_name, "u32", *_row, "3", gfx=9)
row("v_mad_i32_i16", "i32", "i16 i16 i32", lambda m, a, b, c: a * b + c, "3", gfx=9)
row("v_add_i16", "i16", "i16 i16", lambda m, a, b: a + b, "3", gfx=9, saturates=True, keeps_high=True)
row("v_sub_i16", "i16", "i16 i16", lambda m, a, b: a - b, "3", gfx=9, saturates=True, keeps_high=True)
row("v_add_i32", "i32", "i32 i32", lambda m, a, b: a + b, "3", gfx=9, saturates=True)
row("v_sub_i32", "i32", "i32 i32", lambda m, a, b: a - b, "3", gfx=9, saturates=True)
row("v_mad_legacy_f16", "f16", "f16 f16 f16", lambda m, a, b, c: m.flush16.mad(a, b, c), "3", gfx=9)
row("v_mad_legacy_u16", "u16", "u16 u16 u16", lambda m, a, b, c: a * b + c, "3", gfx=9, saturates=True)
row("v_mad_legacy_i16", "i16", "i16 i16 i16", lambda m, a, b, c: a * b + c, "3", gfx=9, saturates=True)
row("v_fma_legacy_f16", "f16", "f16 f16 f16", lambda m, a, b, c: m.f16.fma(a, b, c), "3", gfx=9)
row("v_cvt_pknorm_i16_f16", "u32", "f16 f16", lambda m, a, b: pair(*(normalized(m.f16, x, -1, 32767) for x in (a, b))), "3",
    gfx=9, avoid="tie")
row("v_cvt_pknorm_u16_f16", "u32", "f16 f16", lambda m, a, b: pair(*(normalized(m.f16, x, 0, 65535) for x in (a, b))), "3",
    gfx=9, avoid="tie")
row("v_pack_b32_f16", "u32", "f16 f16", lambda m, a, b: pair(a, b), "3", gfx=9, no_modifiers=True, avoid="snan denormal")
row("v_sat_pk_u8_i16", "u32", "i32p", lambda m, a: sum(clamped(signed(a >> 16 * n & M16, 16), 0, 255) << 8 * n for n in (0, 1)),
    "1", gfx=9)


# Gfx906's additions.
def dot(m, a, b, c, width, is_signed):
    total = signed(c, 32) if is_signed else c
    for at in range(0, 32, width):
        x, y = (v >> at & ((1 << width) - 1) for v in (a, b))
        total += signed(x, width) * signed(y, width) if is_signed else x * y
    return total


row("v_fmac_f32", "f32", "f32 f32 f32", lambda m, a, b, c: m.f32.fma(a, b, c), "2", reads_dst=True, gfx=GFX906)
row("v_xnor_b32", "u32", "u32 u32", lambda m, a, b: ~(a ^ b), "2", gfx=GFX906)
for _count, _width in ((2, 16), (4, 8), (8, 4)):
    for _t in ("i", "u"):
        row(f"v_dot{_count}_{_t}32_{_t}{_width}", f"{_t}32", "u32 u32 u32",
            lambda m, a, b, c, w=_width, s=_t == "i": dot(m, a, b, c, w, s), "d", gfx=GFX906, saturates=True)
