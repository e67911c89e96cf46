"""Images (MIMG): T#, S#, loads, stores, atomics, samples and gathers. Section 8.2 of the manual."""
import re
from fractions import Fraction
from math import floor

import formats
import memory
from wave import Fault, signed

ONE_D, TWO_D, THREE_D, ONE_D_ARRAY, TWO_D_ARRAY = 8, 9, 10, 12, 13
AXES = {ONE_D: 1, TWO_D: 2, THREE_D: 3, ONE_D_ARRAY: 1, TWO_D_ARRAY: 2}
REPEAT, MIRROR, LAST, MIRROR_ONCE_LAST, BORDER, MIRROR_ONCE_BORDER = 0, 1, 2, 3, 6, 7
STEPS = 256  # of a texel: a decision, README.md
GATHERED = ((0, 1), (1, 1), (1, 0), (0, 0))  # x and y of the four texels


def bits(value, low, high):
    return value >> low & ((1 << high - low + 1) - 1)


class Texture:
    """T#, table 8.15. Gfx9's pitch is longer, and the last layer of an array is in its depth."""

    def __init__(self, wave, operand):
        v = sum(wave.get_s(operand.index + i) << 32 * i for i in range(8))
        self.base = bits(v, 0, 39) << 8
        self.data, self.number, self.selects = bits(v, 52, 57), bits(v, 58, 61), bits(v, 96, 107)
        self.type = bits(v, 124, 127)
        self.axes = AXES[self.type]
        depth = bits(v, 128, 140) + 1
        sizes = [bits(v, 64, 77) + 1, bits(v, 78, 91) + 1, depth]
        self.size = sizes[:self.axes] + [1] * (3 - self.axes)
        self.pitch = bits(v, 141, 154 if wave.gfx == 8 else 156) + 1
        self.first = bits(v, 160, 172)
        self.last = bits(v, 173, 185) if wave.gfx == 8 else depth - 1
        self.is_array = self.type in (ONE_D_ARRAY, TWO_D_ARRAY)
        self.bytes = formats.size_of(self.data)

    def address(self, place, layer):
        """None outside of the image."""
        if not all(0 <= at < size for at, size in zip(place, self.size)):
            return None
        if self.is_array and not 0 <= layer <= self.last - self.first:
            return None
        slab = place[2] + (layer + self.first if self.is_array else 0)
        return self.base + ((slab * self.size[1] + place[1]) * self.pitch + place[0]) * self.bytes

    def read(self, wave, address, border):
        """Components of a texel, before they are selected."""
        if address is None:
            return border
        element = sum(wave.load(address + at, 1) << 8 * at for at in range(self.bytes))
        return formats.read(self.data, self.number, element)

    def write(self, wave, address, components):
        element = formats.write(self.data, self.number, formats.place(self.selects, components))
        for at in range(self.bytes):
            wave.store(address + at, element >> 8 * at & 255, 1)


class Sampler:
    """S#, table 8.16."""

    def __init__(self, wave, operand):
        v = sum(wave.get_s(operand.index + i) << 32 * i for i in range(4))
        self.wraps = [bits(v, 3 * i, 3 * i + 2) for i in range(3)]
        self.unnormalized = bool(bits(v, 15, 15))
        self.linear = bits(v, 84, 85) == 1
        self.border = bits(v, 126, 127)  # transparent black, opaque black, white

    def border_of(self, texture):
        one = 1 if texture.number in (formats.UINT, formats.SINT) else formats.f32_bits(1.0)
        return [[0, 0, 0, 0], [0, 0, 0, one], [one] * 4][self.border]

    def wrap(self, at, axis, size):
        mode = self.wraps[axis]
        if mode == REPEAT:
            return at % size
        if mode == MIRROR:
            return min(at % (2 * size), 2 * size - 1 - at % (2 * size))
        if mode in (MIRROR_ONCE_LAST, MIRROR_ONCE_BORDER) and at < 0:
            at = -1 - at
        return min(max(at, 0), size - 1) if mode in (LAST, MIRROR_ONCE_LAST) else at


class Address:
    """The registers of an address: offsets, a bias, then coordinates."""

    def __init__(self, wave, instruction):
        self.wave = wave
        self.first = instruction.operands[1].index
        self.offsets = instruction.name.endswith("_o")
        self.body = self.first + self.offsets + ("_b" in instruction.name.partition("sample")[2])

    def integer(self, i, lane):
        return self.wave.get_v(self.body + i, lane)

    def real(self, i, lane):
        return Fraction(formats.float_of(self.integer(i, lane)))

    def offset(self, axis, lane):
        return signed(self.wave.get_v(self.first, lane) >> 8 * axis & 63, 6) if self.offsets else 0


def masked(instruction, components):
    mask = instruction.number("dmask")
    return [one for i, one in enumerate(components) if mask >> i & 1]


def texel_address(instruction, texture, address, lane):
    place = [address.integer(i, lane) for i in range(texture.axes)] + [0] * (3 - texture.axes)
    arrayed = "da" in instruction.modifiers
    layer = address.integer(texture.axes, lane) if arrayed and texture.is_array else 0
    if "mip" in instruction.name and address.integer(texture.axes + arrayed, lane):
        return None
    return texture.address(place, layer)


def run_load(wave, instruction, texture):
    address = Address(wave, instruction)
    results = {}
    for lane in wave.active():
        at = texel_address(instruction, texture, address, lane)
        components = texture.read(wave, at, [0] * 4)
        results[lane] = masked(instruction, formats.select(texture.selects, texture.number, components))
    for lane, components in results.items():
        memory.put_components(wave, instruction, lane, texture.number, components)


def run_store(wave, instruction, texture):
    address = Address(wave, instruction)
    mask = instruction.number("dmask")
    for lane in wave.active():
        given = iter(memory.get_components(wave, instruction, lane, texture.number, mask.bit_count()))
        components = [next(given) if mask >> i & 1 else 0 for i in range(4)]
        at = texel_address(instruction, texture, address, lane)
        if at is not None:
            texture.write(wave, at, components)


def run_atomic(wave, instruction, texture, name):
    address = Address(wave, instruction)
    wide = texture.bytes == 8
    places = {}
    for lane in wave.active():
        at = texel_address(instruction, texture, address, lane)
        if at is None:
            raise Fault("outside")
        places[lane] = memory.linear(wave, at)
    data = instruction.operands[0]
    memory.modify(wave, name, wide, data if "glc" in instruction.modifiers else None, data, places)


def run_resinfo(wave, instruction, texture):
    facts = texture.size + [1]
    if texture.is_array:
        facts[texture.axes] = texture.last - texture.first + 1
    for lane in wave.active():
        level = wave.get_v(instruction.operands[1].index, lane)
        known = facts if not level else [0, 0, 0, facts[3]]
        memory.put_components(wave, instruction, lane, formats.UINT, masked(instruction, known))


def nearest_texel(texture, sampler, address, axis, lane, is_linear, unnormalized):
    """(the nearer texel, the further one's share)."""
    scale = 1 if unnormalized else texture.size[axis]
    place = floor(address.real(axis, lane) * scale * STEPS + Fraction(1, 2)) + address.offset(axis, lane) * STEPS
    if is_linear:
        place -= STEPS // 2
    return place // STEPS, Fraction(place % STEPS, STEPS) if is_linear else 0


def run_sample(wave, instruction, texture, gathers):
    sampler, address = Sampler(wave, instruction.operands[3]), Address(wave, instruction)
    unnormalized = sampler.unnormalized or "unorm" in instruction.modifiers
    is_integer = texture.number in (formats.UINT, formats.SINT)
    is_linear = gathers or sampler.linear and not is_integer
    border = sampler.border_of(texture)
    results = {}
    for lane in wave.active():
        near = [nearest_texel(texture, sampler, address, axis, lane, is_linear, unnormalized)
                for axis in range(texture.axes)]
        layer = 0
        if "da" in instruction.modifiers and texture.is_array:
            layer = min(max(round(address.real(texture.axes, lane)), 0), texture.last - texture.first)

        def corner(steps):
            place = [sampler.wrap(one[0] + step, axis, texture.size[axis])
                     for axis, (one, step) in enumerate(zip(near, steps))]
            return texture.read(wave, texture.address(place + [0] * (3 - texture.axes), layer), border)
        if gathers:
            which = instruction.number("dmask").bit_length() - 1
            results[lane] = [formats.select(texture.selects, texture.number, corner(steps))[which] for steps in GATHERED]
            continue
        if not is_linear:
            components = corner((0, 0, 0))
        else:
            sums = [Fraction(0)] * 4
            for number in range(1 << texture.axes):
                steps = [number >> axis & 1 for axis in range(texture.axes)]
                share = Fraction(1)
                for one, step in zip(near, steps):
                    share *= one[1] if step else 1 - one[1]
                values = corner(steps)
                if share:
                    sums = [total + share * Fraction(formats.float_of(value)) for total, value in zip(sums, values)]
            components = [formats.f32_bits(float(total)) for total in sums]
        results[lane] = masked(instruction, formats.select(texture.selects, texture.number, components))
    for lane, components in results.items():
        memory.put_components(wave, instruction, lane, texture.number, components)


def run(wave, instruction):
    match = re.fullmatch(r"image_(load|store|sample|gather4|get_resinfo|atomic)_?(\w*)", instruction.name)
    if not match:
        return False
    texture = Texture(wave, instruction.operands[2])
    if match[1] == "load":
        run_load(wave, instruction, texture)
    elif match[1] == "store":
        run_store(wave, instruction, texture)
    elif match[1] == "atomic":
        run_atomic(wave, instruction, texture, match[2])
    elif match[1] == "get_resinfo":
        run_resinfo(wave, instruction, texture)
    else:
        run_sample(wave, instruction, texture, match[1] == "gather4")
    return True
