"""Random operands, biased to the corners of their types."""
import struct

from floats import F16, F32, F64

FORMATS = {"f16": F16, "f32": F32, "f64": F64}
PACK = {"f16": ("<e", "<H"), "f32": ("<f", "<I"), "f64": ("<d", "<Q")}
WIDTH = {"16": 16, "32": 32, "64": 64, "28": 128}


def float_of(kind, number):
    code, size = PACK[kind]
    return struct.unpack(size, struct.pack(code, number))[0]


def float_corners(kind):
    fmt = FORMATS[kind]
    positive = [0, 1, fmt.low, fmt.low + 1, fmt.low + 2, fmt.one, fmt.one - 1, fmt.one + 1, fmt.largest, fmt.inf, fmt.nan,
                fmt.inf | 1, fmt.nan | 5, fmt.quiet, fmt.one + fmt.quiet, 2 << fmt.mant]
    numbers = [0.5, 0.25, 1.5, 2.0, 2.5, 3.0, 3.5, 0.75, 10.0, 127.0, 255.0, 256.0]
    if kind != "f16":
        numbers += [32767.5, 65535.0, 65536.0, 2147483648.0, 4294967296.0, 2147483520.0, 0.1, 1e-20, 1e20]
    positive += [float_of(kind, number) for number in numbers]
    return positive + [x | fmt.sign for x in positive]


CORNERS = {kind: float_corners(kind) for kind in FORMATS}


def random_float(rng, kind):
    fmt = FORMATS[kind]
    choice = rng.random()
    if choice < 0.4:
        return rng.choice(CORNERS[kind])
    sign = fmt.sign * rng.getrandbits(1)
    if choice < 0.55:
        return float_of(kind, float(rng.randrange(-64, 65)))
    if choice < 0.85:  # near 1
        exponent = fmt.bias + rng.randrange(-8, 9)
        mantissa = rng.getrandbits(fmt.mant)
        if rng.random() < 0.4:
            mantissa &= fmt.low ^ fmt.low >> 4  # few bits: sums and products are often exact or ties
        return sign | exponent << fmt.mant | mantissa
    return rng.getrandbits(fmt.width)


def random_integer(rng, width):
    choice = rng.random()
    mask = (1 << width) - 1
    if choice < 0.3:
        return rng.randrange(-20, 70) & mask
    if choice < 0.55:
        return (1 << rng.randrange(width)) + rng.randrange(-1, 2) & mask
    if choice < 0.7:
        return rng.choice([0, 1, mask, mask >> 1, (mask >> 1) + 1, mask - 1, 0xFFFF & mask, 0x8000 & mask, 0xFFFFFF & mask])
    if choice < 0.8:
        return ~(1 << rng.randrange(width)) & mask
    return rng.getrandbits(width)


def is_tie(number):
    """Whether a conversion to a normalized 16-bit integer has two nearest results."""
    return any(number * steps % 1 * 2 == 1 for steps in (32767, 65535))


def refused(kind, value, avoid):
    """Whether a value is one that the manual does not settle for an instruction."""
    fmt = FORMATS[kind]
    value &= ~fmt.sign
    return (("snan" in avoid and fmt.is_snan(value)) or ("nan" in avoid and fmt.is_nan(value))
            or ("denormal" in avoid and fmt.is_denormal(value))
            or ("nonfinite" in avoid and (fmt.is_nan(value) or fmt.is_inf(value)))
            or ("tie" in avoid and not fmt.exponent(value) == fmt.max_exp and is_tie(fmt.value(value)))
            or ("half_denormal" in avoid and 0 < value < float_of("f32", 2.0 ** -14)))


def random_value(rng, kind, avoid=()):
    """kind: a type name such as f32 or u16. avoid: see Row."""
    if kind in FORMATS:
        if "fraction" in avoid:
            return float_of(kind, float(rng.randrange(256)))
        while True:
            value = random_float(rng, kind)
            if not refused(kind, value, avoid):
                return value
    if kind == "b32":
        return random_float(rng, "f32") if rng.random() < 0.5 else random_integer(rng, 32)
    digits = "".join(char for char in kind if char.isdigit())
    return random_integer(rng, int(digits))


def random_mask(rng):
    choice = rng.random()
    if choice < 0.3:
        return (1 << 64) - 1
    if choice < 0.7:
        return rng.getrandbits(64)
    if choice < 0.85:
        return rng.getrandbits(64) & rng.getrandbits(64) & rng.getrandbits(64)
    if choice < 0.95:
        return 1 << rng.randrange(64)
    return 0


def random_mode(rng):
    rounding = rng.choice([0, 0, 0, rng.getrandbits(4)])
    denormals = rng.choice([0xC, 0xF, 0x0, rng.getrandbits(4)])
    return rounding | denormals << 4 | rng.choice([1, 1, 1, 0]) << 8 | rng.getrandbits(1) << 9
