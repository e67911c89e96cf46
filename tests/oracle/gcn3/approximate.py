"""Functions that hardware only approximates: here the correctly rounded value. Cases carry a tolerance."""
import math
from decimal import Decimal, localcontext
from fractions import Fraction

from floats import NEAREST, scale2

DIGITS = 60


def decimal_of(number):
    return Decimal(number.numerator) / Decimal(number.denominator)


def fraction_of(number):
    return Fraction(*number.as_integer_ratio())


def reciprocal(fp, x):
    fmt = fp.fmt
    x = fp.flush_in(x)
    if fmt.is_nan(x):
        return fp.nan_of(x)
    if fmt.is_inf(x):
        return x & fmt.sign
    if fmt.is_zero(x):
        return fmt.inf | (x & fmt.sign)
    return fp.with_rounding(NEAREST).make(1 / fmt.value(x))


def root(number):
    """The square root to about 200 bits: enough for one more rounding."""
    exact = scale2(number, 400)
    return Fraction(math.isqrt(exact.numerator // exact.denominator)) / (1 << 200)


def square_root(fp, x):
    fmt = fp.fmt
    x = fp.flush_in(x)
    if fmt.is_nan(x) or (x & fmt.sign and not fmt.is_zero(x)):
        return fp.nan_of(x)
    if fmt.is_inf(x) or fmt.is_zero(x):
        return x
    number = fmt.value(x)
    even = 2 * (number.denominator.bit_length() // 2 + 1)  # keeps the digits of small numbers
    return fp.with_rounding(NEAREST).make(scale2(root(scale2(number, even)), -even // 2))


def reciprocal_root(fp, x):
    fmt = fp.fmt
    x = fp.flush_in(x)
    if fmt.is_nan(x) or (x & fmt.sign and not fmt.is_zero(x)):
        return fp.nan_of(x)
    if fmt.is_zero(x):
        return fmt.inf | (x & fmt.sign)
    if fmt.is_inf(x):
        return 0
    number = 1 / fmt.value(x)
    even = 2 * (number.denominator.bit_length() // 2 + 1)
    return fp.with_rounding(NEAREST).make(scale2(root(scale2(number, even)), -even // 2))


def exp2(fp, x):
    fmt = fp.fmt
    x = fp.flush_in(x)
    if fmt.is_nan(x):
        return fp.nan_of(x)
    if fmt.is_inf(x):
        return 0 if x & fmt.sign else x
    number = fmt.value(x)
    whole = number.numerator // number.denominator
    if abs(whole) > 4 * fmt.bias:
        return fmt.inf if whole > 0 else 0
    with localcontext() as context:
        context.prec = DIGITS
        part = fraction_of((decimal_of(number - whole) * Decimal(2).ln()).exp())
    return fp.with_rounding(NEAREST).make(scale2(part, whole))


def log2(fp, x):
    fmt = fp.fmt
    x = fp.flush_in(x)
    if fmt.is_zero(x):
        return fmt.inf | fmt.sign
    if fmt.is_nan(x) or x & fmt.sign:
        return fp.nan_of(x)
    if fmt.is_inf(x):
        return x
    with localcontext() as context:
        context.prec = DIGITS
        result = fraction_of(decimal_of(fmt.value(x)).ln() / Decimal(2).ln())
    return fp.with_rounding(NEAREST).make(result)


def pi():
    """Machin's formula."""
    def arctangent(inverse):
        unity = 10 ** (DIGITS + 10)
        total, term, n = 0, unity // inverse, 0
        while term:
            total += term // (2 * n + 1) * (-1) ** n
            term //= inverse * inverse
            n += 1
        return Fraction(total, unity)
    return 4 * (4 * arctangent(5) - arctangent(239))


PI = pi()


def sine_of_turns(turns):
    angle = 2 * PI * turns
    angle = Fraction(round(scale2(angle, 200)), 1 << 200)
    total, term, n = Fraction(0), angle, 1
    while abs(term) > Fraction(1, 1 << 150):
        total += term
        term = term * -angle * angle / ((n + 1) * (n + 2))
        term = Fraction(round(scale2(term, 200)), 1 << 200)
        n += 2
    return total


def trigonometric(fp, x, quarter, outside):
    """sin or cos of x turns; `outside` for |x| > 256, as the manual says."""
    fmt = fp.fmt
    x = fp.flush_in(x)
    if fmt.is_nan(x) or fmt.is_inf(x):
        return fp.nan_of(x)
    number = fmt.value(x)
    if abs(number) > 256:
        return outside
    turns = number + quarter
    turns -= turns.numerator // turns.denominator
    exact = {Fraction(0): 0, Fraction(1, 4): 1, Fraction(1, 2): 0, Fraction(3, 4): -1}
    result = Fraction(exact[turns]) if turns in exact else sine_of_turns(turns)
    return fp.with_rounding(NEAREST).make(result, bool(x & fmt.sign))


def sine(fp, x):
    return trigonometric(fp, x, 0, 0)


def cosine(fp, x):
    return trigonometric(fp, x, Fraction(1, 4), fp.fmt.one)


TWO_OVER_PI_BITS = 1201


def two_over_pi_bits():
    """The first 1201 bits of 2/pi, for which pi needs more digits than above."""
    unity_bits = TWO_OVER_PI_BITS + 64

    def arctangent(inverse):
        total, term, n = 0, (1 << unity_bits) // inverse, 0
        while term:
            total += term // (2 * n + 1) * (-1) ** n
            term //= inverse * inverse
            n += 1
        return total
    pi_scaled = 4 * (4 * arctangent(5) - arctangent(239))
    return (2 << (unity_bits + TWO_OVER_PI_BITS)) // pi_scaled


TWO_OVER_PI = two_over_pi_bits()
