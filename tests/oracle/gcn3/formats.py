"""Typed buffers: elements of memory and components in registers (tables of chapter 8)."""
import struct

from wave import Fault, M32, signed

# Bits of x, y, z, w, the lowest first; the manual's names begin with the highest.
FORMATS = {1: (8,), 2: (16,), 3: (8, 8), 4: (32,), 5: (16, 16), 6: (11, 11, 10), 7: (10, 11, 11), 8: (2, 10, 10, 10),
           9: (10, 10, 10, 2), 10: (8, 8, 8, 8), 11: (32, 32), 12: (16,) * 4, 13: (32,) * 3, 14: (32,) * 4}
UNORM, SNORM, USCALED, SSCALED, UINT, SINT, FLOAT = 0, 1, 2, 3, 4, 5, 7


def numbers_of(data):
    """The number formats that a data format can have."""
    if 32 in FORMATS[data]:
        return [UINT, SINT, FLOAT]
    if 11 in FORMATS[data]:
        return [FLOAT]
    return [UNORM, SNORM, USCALED, SSCALED, UINT, SINT] + ([FLOAT] if 16 in FORMATS[data] else [])


def size_of(data):
    return sum(FORMATS[data]) // 8


def f32_bits(value):
    return struct.unpack("<I", struct.pack("<f", value))[0]


def number_of(value):
    """NaNs are left out."""
    if value != value:
        raise Fault("a NaN")
    return value


def float_of(bits):
    return number_of(struct.unpack("<f", struct.pack("<I", bits))[0])


def small_float(value, width):
    """5 bits of exponent; 10 and 11 bits have no sign."""
    if width < 16:
        value <<= 15 - width
    return number_of(struct.unpack("<e", struct.pack("<H", value))[0])


def read_component(number, value, width):
    if number == UNORM:
        return f32_bits(value / ((1 << width) - 1))
    if number == SNORM:
        return f32_bits(max(signed(value, width) / ((1 << width - 1) - 1), -1.0))
    if number in (USCALED, SSCALED):
        return f32_bits(float(value if number == USCALED else signed(value, width)))
    if number == SINT:
        return signed(value, width) & M32
    if number == FLOAT and width < 32:
        return f32_bits(small_float(value, width))
    return value


def write_component(number, bits, width):
    top = (1 << width) - 1
    half = (1 << width - 1) - 1
    if number == UNORM:
        return round(min(max(float_of(bits), 0.0), 1.0) * top)
    if number == SNORM:
        return round(min(max(float_of(bits), -1.0), 1.0) * half) & top
    if number == USCALED:
        return int(min(max(float_of(bits), 0.0), top))
    if number == SSCALED:
        return int(min(max(float_of(bits), -half - 1), half)) & top
    if number == UINT:
        return min(bits, top)
    if number == SINT:
        return min(max(signed(bits, 32), -half - 1), half) & top
    return bits


def read(data, number, element):
    """Components of an element, which is an integer."""
    result = []
    for width in FORMATS[data]:
        result.append(read_component(number, element & ((1 << width) - 1), width))
        element >>= width
    return result + [0] * (4 - len(result))


def write(data, number, components):
    element = at = 0
    for width, bits in zip(FORMATS[data], components):
        element |= write_component(number, bits, width) << at
        at += width
    return element


def half_of(number, value):
    """A component of 32 bits as one of 16."""
    if number in (UINT, SINT):
        return value & 0xFFFF
    return struct.unpack("<H", struct.pack("<e", float_of(value)))[0]


def whole_of(number, half):
    if number in (UINT, SINT):
        return (signed(half, 16) if number == SINT else half) & M32
    return f32_bits(small_float(half, 16))


def select(selects, number, components):
    """dst_sel: 0, 1, or a component, by 3 bits each."""
    one = 1 if number in (UINT, SINT) else f32_bits(1.0)
    codes = [selects >> 3 * i & 7 for i in range(4)]
    return [components[code - 4] if code >= 4 else one if code == 1 else 0 for code in codes]


def place(selects, chosen):
    """A store: the register that selects a component gives it; one that none selects is 0."""
    components = [0] * 4
    for i, value in enumerate(chosen):
        if selects >> 3 * i & 4:
            components[selects >> 3 * i & 3] = value
    return components
