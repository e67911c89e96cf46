"""IEEE 754 arithmetic by integers: exact, then one explicit rounding.

A value is its bit pattern. `Fp` is a format together with a rounding and a denormal mode; its methods take and return
bit patterns. Nothing here uses the host's floating point."""
from fractions import Fraction

NEAREST, UP, DOWN, ZERO = range(4)  # MODE's encoding


class Format:
    def __init__(self, name, exponent_bits, mantissa_bits):
        self.name = name
        self.mant = mantissa_bits
        self.width = 1 + exponent_bits + mantissa_bits
        self.bias = (1 << (exponent_bits - 1)) - 1
        self.max_exp = (1 << exponent_bits) - 1
        self.sign = 1 << (self.width - 1)
        self.inf = self.max_exp << mantissa_bits
        self.quiet = 1 << (mantissa_bits - 1)
        self.nan = self.inf | self.quiet
        self.low = (1 << mantissa_bits) - 1
        self.one = self.bias << mantissa_bits
        self.min_exp = 1 - self.bias - mantissa_bits  # of the last bit of a denormal
        self.largest = self.inf - 1

    def exponent(self, x):
        return (x >> self.mant) & self.max_exp

    def is_nan(self, x):
        return (x & ~self.sign) > self.inf

    def is_snan(self, x):
        return self.is_nan(x) and not x & self.quiet

    def is_inf(self, x):
        return (x & ~self.sign) == self.inf

    def is_zero(self, x):
        return (x & ~self.sign) == 0

    def is_denormal(self, x):
        return self.exponent(x) == 0 and x & self.low != 0

    def is_negative(self, x):
        return bool(x & self.sign)

    def signed_zero(self, x):
        return x & self.sign

    def value(self, x):
        """The exact value of a finite number."""
        exponent, mantissa = self.exponent(x), x & self.low
        if exponent:
            mantissa |= 1 << self.mant
        shift = max(exponent, 1) - 1 + self.min_exp
        number = Fraction(mantissa << shift) if shift >= 0 else Fraction(mantissa, 1 << -shift)
        return -number if x & self.sign else number


F16 = Format("f16", 5, 10)
F32 = Format("f32", 8, 23)
F64 = Format("f64", 11, 52)


def floor_log2(number):
    """Of a positive fraction."""
    guess = number.numerator.bit_length() - number.denominator.bit_length()
    power = Fraction(1 << guess) if guess >= 0 else Fraction(1, 1 << -guess)
    return guess if power <= number else guess - 1


def scale2(number, power):
    return number * (1 << power) if power >= 0 else number / (1 << -power)


def round_integer(number, mode, negative):
    """A fraction >= 0, rounded to an integer; the sign is apart."""
    whole = number.numerator // number.denominator
    rest = number - whole
    if rest == 0:
        return whole
    if mode == NEAREST:
        return whole + (rest > Fraction(1, 2) or (rest == Fraction(1, 2) and whole & 1))
    return whole + (mode == (DOWN if negative else UP))


class Fp:
    """A format and the modes that an operation uses. `denormals`: bit 0 keeps those of inputs, bit 1 those of outputs."""

    def __init__(self, fmt, rounding=NEAREST, denormals=3):
        self.fmt = fmt
        self.rounding = rounding
        self.denormals = denormals

    def flush_in(self, x):
        return x & self.fmt.sign if not self.denormals & 1 and self.fmt.is_denormal(x) else x

    def flush_out(self, x):
        return x & self.fmt.sign if not self.denormals & 2 and self.fmt.is_denormal(x) else x

    def with_rounding(self, rounding):
        return Fp(self.fmt, rounding, self.denormals)

    def make(self, number, negative_zero=False):
        """Rounds an exact fraction. A value that underflows to zero keeps its sign."""
        fmt = self.fmt
        if number == 0:
            return fmt.sign if negative_zero else 0
        negative = number < 0
        number = abs(number)
        last = max(floor_log2(number) - fmt.mant, fmt.min_exp)  # the weight of the last bit kept
        mantissa = round_integer(scale2(number, -last), self.rounding, negative)
        if mantissa >> (fmt.mant + 1):
            mantissa >>= 1
            last += 1
        if mantissa >> fmt.mant:
            bits = ((last - fmt.min_exp + 1) << fmt.mant) + (mantissa & fmt.low)
        else:
            bits = mantissa
        if bits >= fmt.inf:
            away = self.rounding == NEAREST or self.rounding == (DOWN if negative else UP)
            bits = fmt.inf if away else fmt.largest
        return self.flush_out(bits | (fmt.sign if negative else 0))

    def nan_of(self, *values):
        """The quieted first NaN, or the NaN that an invalid operation makes."""
        for x in values:
            if self.fmt.is_nan(x):
                return x | self.fmt.quiet
        return self.fmt.nan | self.fmt.sign

    def add(self, a, b):
        fmt = self.fmt
        a, b = self.flush_in(a), self.flush_in(b)
        if fmt.is_nan(a) or fmt.is_nan(b):
            return self.nan_of(a, b)
        if fmt.is_inf(a) or fmt.is_inf(b):
            if fmt.is_inf(a) and fmt.is_inf(b) and a != b:
                return self.nan_of()
            return a if fmt.is_inf(a) else b
        total = fmt.value(a) + fmt.value(b)
        if total == 0:
            both = a & b & fmt.sign
            differ = (a ^ b) & fmt.sign
            return fmt.sign if both or (differ and self.rounding == DOWN) else 0
        return self.make(total)

    def sub(self, a, b):
        return self.add(a, b if self.fmt.is_nan(b) else b ^ self.fmt.sign)

    def mul(self, a, b):
        fmt = self.fmt
        a, b = self.flush_in(a), self.flush_in(b)
        sign = (a ^ b) & fmt.sign
        if fmt.is_nan(a) or fmt.is_nan(b):
            return self.nan_of(a, b)
        if fmt.is_inf(a) or fmt.is_inf(b):
            return self.nan_of() if fmt.is_zero(a) or fmt.is_zero(b) else fmt.inf | sign
        return self.make(fmt.value(a) * fmt.value(b), bool(sign))

    def fma(self, a, b, c):
        fmt = self.fmt
        a, b, c = self.flush_in(a), self.flush_in(b), self.flush_in(c)
        sign = (a ^ b) & fmt.sign
        if fmt.is_nan(a) or fmt.is_nan(b) or fmt.is_nan(c):
            return self.nan_of(a, b, c)
        if fmt.is_inf(a) or fmt.is_inf(b):
            if fmt.is_zero(a) or fmt.is_zero(b) or (fmt.is_inf(c) and (c & fmt.sign) != sign):
                return self.nan_of()
            return fmt.inf | sign
        if fmt.is_inf(c):
            return c
        product = fmt.value(a) * fmt.value(b)
        total = product + fmt.value(c)
        if total == 0:
            if product == 0 and sign == c & fmt.sign:
                return sign
            return fmt.sign if self.rounding == DOWN else 0
        return self.make(total)

    def mad(self, a, b, c):
        """Two roundings."""
        return self.add(self.mul(a, b), c)

    def compare(self, a, b):
        """-1, 0 or 1; None when unordered."""
        fmt = self.fmt
        a, b = self.flush_in(a), self.flush_in(b)
        if fmt.is_nan(a) or fmt.is_nan(b):
            return None
        keys = [-(x & ~fmt.sign) if x & fmt.sign else x for x in (a, b)]
        return (keys[0] > keys[1]) - (keys[0] < keys[1])

    def pick(self, a, b, sign, ieee):
        """min (sign -1) and max (1), with -0 below +0."""
        fmt = self.fmt
        if ieee:
            for x in (a, b):
                if fmt.is_snan(x):
                    return x | fmt.quiet
        if fmt.is_nan(a):
            return self.flush_out(self.flush_in(b))
        if fmt.is_nan(b):
            return self.flush_out(self.flush_in(a))
        a, b = self.flush_in(a), self.flush_in(b)
        order = self.compare(a, b)
        if order == 0:
            order = (1 if b & fmt.sign else 0) - (1 if a & fmt.sign else 0)
        return self.flush_out(a if order == sign else b)

    def integral(self, x, mode):
        """x rounded to an integral value."""
        fmt = self.fmt
        x = self.flush_in(x)
        if fmt.is_nan(x):
            return self.nan_of(x)
        if fmt.is_inf(x):
            return x
        whole = round_integer(abs(fmt.value(x)), mode, fmt.is_negative(x))
        return self.make(Fraction(-whole if x & fmt.sign else whole), bool(x & fmt.sign))

    def to_int(self, x, low, high, mode=ZERO):
        """A saturated integer; NaN gives 0."""
        fmt = self.fmt
        x = self.flush_in(x)
        if fmt.is_nan(x):
            return 0
        if fmt.is_inf(x):
            return low if x & fmt.sign else high
        whole = round_integer(abs(fmt.value(x)), mode, fmt.is_negative(x))
        return min(max(-whole if x & fmt.sign else whole, low), high)

    def from_int(self, number):
        return self.make(Fraction(number))

    def convert(self, x, source):
        """x of another format, given by its own Fp."""
        x = source.flush_in(x)
        if source.fmt.is_nan(x):
            return self.nan_from(x, source.fmt)
        sign = self.fmt.sign if x & source.fmt.sign else 0
        if source.fmt.is_inf(x):
            return self.fmt.inf | sign
        return self.make(source.fmt.value(x), bool(sign))

    def nan_from(self, x, other):
        fmt = self.fmt
        shift = fmt.mant - other.mant
        payload = x & other.low
        payload = payload << shift if shift >= 0 else payload >> -shift
        return fmt.nan | payload | (fmt.sign if x & other.sign else 0)

    def ldexp(self, x, power):
        fmt = self.fmt
        x = self.flush_in(x)
        if fmt.is_nan(x):
            return self.nan_of(x)
        if fmt.is_inf(x) or fmt.is_zero(x):
            return x
        limit = 4 * fmt.bias  # beyond that the result does not change
        return self.make(scale2(fmt.value(x), max(-limit, min(limit, power))))

    def fract(self, x):
        """x - floor(x), below 1."""
        fmt = self.fmt
        x = self.flush_in(x)
        if fmt.is_nan(x) or fmt.is_inf(x):
            return self.nan_of(x)
        number = fmt.value(x)
        bits = self.make(number - (number.numerator // number.denominator))
        return min(bits, fmt.one - 1)

    def frexp_mant(self, x):
        fmt = self.fmt
        x = self.flush_in(x)
        if fmt.is_nan(x):
            return self.nan_of(x)
        if fmt.is_inf(x) or fmt.is_zero(x):
            return x
        number = abs(fmt.value(x))
        bits = self.make(scale2(number, -floor_log2(number) - 1))
        return bits | (x & fmt.sign)

    def frexp_exp(self, x):
        fmt = self.fmt
        x = self.flush_in(x)
        if fmt.is_nan(x) or fmt.is_inf(x) or fmt.is_zero(x):
            return 0
        return floor_log2(abs(fmt.value(x))) + 1
