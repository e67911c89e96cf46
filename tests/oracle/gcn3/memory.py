"""Scalar, flat and buffer memory instructions: chapters 7, 8 and 9 of the manual."""
import re

import formats
from atomics import ATOMICS
from data_share import put, put_half, words
from wave import M32, M64, signed

WIDTHS = {"ubyte": (1, False), "sbyte": (1, True), "ushort": (2, False), "sshort": (2, True), "byte": (1, False),
          "short": (2, False), "dword": (4, False), "dwordx2": (8, False), "dwordx3": (12, False), "dwordx4": (16, False)}


# Scalar memory
def scalar_base(wave, operand, is_buffer):
    """(base address, bytes that a buffer has)."""
    low, high = wave.get_s(operand.index), wave.get_s(operand.index + 1)
    if not is_buffer:
        return low | high << 32, None
    stride, records = high >> 16 & 0x3FFF, wave.get_s(operand.index + 2)
    return low | (high & 0xFFFF) << 32, records * (stride or 1)


def run_scalar_atomic(wave, instruction, match):
    """Gfx9: the wave's one operation. Of a compare-and-swap, the new value comes first, then what is compared."""
    data, base_operand, offset_operand = instruction.operands
    base, _ = scalar_base(wave, base_operand, bool(match[1]))
    address = (base + wave.scalar32(offset_operand)) & ~3
    count = 2 if match[3] else 1
    read = lambda first: sum(wave.get_s(data.index + first + i) << 32 * i for i in range(count))
    value, old = read(0), wave.load(address, 4 * count)
    if match[2] == "cmpswap":
        new = value if old == read(count) else old
    else:
        new = ATOMICS[match[2]](old, value, 32 * count)
    wave.store(address, new, 4 * count)
    if "glc" in instruction.modifiers:
        wave.set_scalar(data, old, 32 * count)
    return True


def run_scalar(wave, instruction):
    match = re.fullmatch(r"s_(buffer_)?atomic_(\w+?)(_x2)?", instruction.name)
    if match:
        return run_scalar_atomic(wave, instruction, match)
    match = re.fullmatch(r"s_(buffer_|scratch_)?(load|store)_dword(?:x(\d+))?", instruction.name)
    if not match:
        return instruction.name in ("s_dcache_inv", "s_dcache_wb", "s_dcache_inv_vol", "s_dcache_wb_vol")
    count = int(match[3] or 1)
    data, base_operand, offset_operand = instruction.operands
    base, limit = scalar_base(wave, base_operand, match[1] == "buffer_")
    offset = wave.scalar32(offset_operand)
    if match[1] == "scratch_" and offset_operand.kind in ("s", "m0"):  # a register counts 64 bytes
        offset *= 64
    start = (base + offset) & ~3
    loaded = []
    for i in range(count):
        address = start + 4 * i
        inside = limit is None or address - (base & ~3) < limit
        if match[2] == "load":
            loaded.append(wave.load(address, 4) if inside else 0)
        elif inside:
            wave.store(address, wave.scalar32(data._replace(index=data.index + i)), 4)
    if loaded:
        wave.set_scalar(data, sum(word << 32 * i for i, word in enumerate(loaded)), 32 * count)
    return True


# Where a lane's access goes: functions (load, store) of byte offsets from the access' first byte.
class Place:
    def __init__(self, load, store):
        self.load = load
        self.store = store


def linear(wave, address):
    return Place(lambda offset, size: wave.load(address + offset, size),
                 lambda offset, value, size: wave.store(address + offset, value, size))


def local(wave, address):
    return Place(lambda offset, size: wave.lds_load(address + offset, size),
                 lambda offset, value, size: wave.lds_store(address + offset, value, size))


def interleaved(base, offset, lane):
    """A lane's scratch byte: dwords of the 64 lanes alternate."""
    return base + offset // 4 * 256 + lane * 4 + offset % 4


def scratch(wave, offset, lane):
    """Flat scratch: FLAT_SCRATCH has the wave's offset in units of 256 bytes, and the size of a lane's scratch."""
    descriptor = wave.get("flat_scratch")
    base = wave.scratch_base + (descriptor >> 32 & 0xFFFFFF) * 256
    size = descriptor & 0x7FFFF

    def locate(at):
        return interleaved(base, at, lane) if 0 <= at < size else None

    def load(at, count):
        parts = [locate(offset + at + i) for i in range(count)]
        return sum(wave.load(part, 1) << 8 * i for i, part in enumerate(parts) if part is not None)

    def store(at, value, count):
        for i in range(count):
            part = locate(offset + at + i)
            if part is not None:
                wave.store(part, value >> 8 * i & 255, 1)
    return Place(load, store)


def flat_place(wave, address, lane):
    high = address >> 32
    if wave.shared_base and high == wave.shared_base:
        return local(wave, address & M32)
    if wave.private_base and high == wave.private_base:
        return scratch(wave, address & M32, lane)
    return linear(wave, address)


def move(wave, match, data, places):
    """A load or store of the active lanes. Wide accesses go dword by dword."""
    kind, _, half = match[2].partition("_")
    size, is_signed = WIDTHS[kind]
    if match[1] == "store":
        for lane, place in places.items():
            value = words(wave, data, lane, max(size // 4, 1)) >> (16 if half == "d16_hi" else 0)
            for at in range(0, size, 4):
                place.store(at, value >> 8 * at & ((1 << 8 * min(size, 4)) - 1), min(size, 4))
        return
    results = {}
    for lane, place in places.items():
        value = sum(place.load(at, min(size, 4)) << 8 * at for at in range(0, size, 4))
        results[lane] = signed(value, 8 * size) & M32 if is_signed else value
    for lane, value in results.items():
        if half:
            put_half(wave, data, lane, value & 0xFFFF, half == "d16_hi")
        else:
            put(wave, data, lane, value, max(size // 4, 1))


def modify(wave, name, wide, target, data, places):
    """An atomic of the active lanes, in their order. target: None, or where the old values go."""
    width = 64 if wide else 32
    count = width // 32
    results = {}
    for lane, place in places.items():
        value = words(wave, data, lane, count)
        old = place.load(0, width // 8)
        if name == "cmpswap":
            compared = words(wave, data._replace(index=data.index + count), lane, count)
            new = value if old == compared else old
        else:
            new = ATOMICS[name](old, value, width)
        place.store(0, new, width // 8)
        results[lane] = old
    if target is not None:
        for lane, value in results.items():
            put(wave, target, lane, value, count)


def flat_address(wave, instruction, operand, lane, is_global):
    address = wave.get_v(operand.index, lane)
    if operand.count == 2:
        address |= wave.get_v(operand.index + 1, lane) << 32
    return address + instruction.number("offset")


def run_flat(wave, instruction):
    match = re.fullmatch(r"(flat|global)_(.*)", instruction.name)
    if not match:
        return False
    is_global = match[1] == "global"
    operands = [operand for operand in instruction.operands if operand.kind != "off"]
    base = 0
    if is_global and operands[-1].kind == "s":
        base = wave.scalar64(operands.pop())
    access = re.fullmatch(r"(load|store)_(\w+)", match[2])
    atomic = re.fullmatch(r"atomic_(\w+?)(_x2)?", match[2])
    returns = atomic and "glc" in instruction.modifiers
    address_operand = operands[1] if returns or (access and access[1] == "load") else operands[0]
    places = {}
    for lane in wave.active():
        address = (base + flat_address(wave, instruction, address_operand, lane, is_global)) & M64
        places[lane] = linear(wave, address) if is_global else flat_place(wave, address, lane)
    if access:
        move(wave, access, operands[0] if access[1] == "load" else operands[1], places)
    else:
        modify(wave, atomic[1], bool(atomic[2]), operands[0] if returns else None, operands[-1], places)
    return True


# Buffers
class Resource:
    """V#, table 8.9."""

    def __init__(self, words4):
        v = sum(word << 32 * i for i, word in enumerate(words4))
        self.base = v & ((1 << 48) - 1)
        self.stride = v >> 48 & 0x3FFF
        self.swizzled = bool(v >> 63 & 1)
        self.records = v >> 64 & M32
        self.add_tid = bool(v >> 119 & 1)
        self.element = 2 << (v >> 115 & 3)
        self.group = 8 << (v >> 117 & 3)
        self.data, self.number, self.selects = v >> 111 & 15, v >> 108 & 7, v >> 96 & 0xFFF
        if self.add_tid:
            self.stride |= (v >> 111 & 15) << 14

    def place(self, wave, index, offset, scalar_offset):
        """Each component is checked by itself."""
        def locate(at):
            here = offset + at
            inside = self.swizzle(index, here) if self.swizzled else here + self.stride * index
            if self.swizzled and self.stride:
                outside = index >= self.records or here >= self.stride
            else:
                outside = inside >= self.records - scalar_offset
            return None if outside else self.base + scalar_offset + inside

        def load(at, size):
            address = locate(at)
            return 0 if address is None else wave.load(address, size)

        def store(at, value, size):
            address = locate(at)
            if address is not None:
                wave.store(address, value, size)
        place = Place(load, store)
        first = locate(0)
        place.load_within = lambda at: 0 if first is None else wave.load(first + at, 1)
        place.store_within = lambda at, value: first is not None and wave.store(first + at, value, 1)
        return place

    def swizzle(self, index, offset):
        high = index // self.group * self.stride + offset // self.element * self.element
        return high * self.group + index % self.group * self.element + offset % self.element


def half_place(wave, instruction, i):
    """Of component i of 16 bits: its register, and where it is there. Gfx9 has two in one."""
    if "d16_hi" in instruction.name:
        return 0, 16
    return (i, 0) if wave.gfx == 8 else (i // 2, 16 * (i % 2))


def put_components(wave, instruction, lane, number, components):
    """On gfx9 the other half of a register stays."""
    data = instruction.operands[0]
    if not instruction.is_d16():
        put(wave, data, lane, sum(one << 32 * i for i, one in enumerate(components)), len(components))
        return
    for i, one in enumerate(components):
        register, at = half_place(wave, instruction, i)
        old = 0 if wave.gfx == 8 else wave.get_v(data.index + register, lane) & ~(0xFFFF << at)
        wave.set_v(data.index + register, lane, old | formats.half_of(number, one) << at)


def get_components(wave, instruction, lane, number, count):
    data = instruction.operands[0]
    if not instruction.is_d16():
        return [wave.get_v(data.index + i, lane) for i in range(count)]
    places = [half_place(wave, instruction, i) for i in range(count)]
    halves = [wave.get_v(data.index + register, lane) >> at & 0xFFFF for register, at in places]
    return [formats.whole_of(number, half) for half in halves]


def run_typed(wave, instruction, match, resource, places):
    """An element is inside of the buffer or not."""
    count = len(match[2].split("_")[-1])
    size = formats.size_of(resource.data)
    results = {}
    for lane, place in places.items():
        if match[1] == "load":
            element = sum(place.load_within(at) << 8 * at for at in range(size))
            components = formats.read(resource.data, resource.number, element)
            chosen = formats.select(resource.selects, resource.number, components)
            results[lane] = chosen[:count]
        else:
            components = get_components(wave, instruction, lane, resource.number, count) + [0] * (4 - count)
            placed = formats.place(resource.selects, components)
            element = formats.write(resource.data, resource.number, placed)
            for at in range(size):
                place.store_within(at, element >> 8 * at & 255)
    for lane, components in results.items():
        put_components(wave, instruction, lane, resource.number, components)
    return True


def lds_words(wave, instruction):
    """Of an access to LDS: functions that read and write a lane's word. Figure 8.4; M0 is no limit here."""
    first = (wave.get("m0") & 0xFFFF) + instruction.number("offset")

    def read(lane):
        wave.touch("lds", first + 4 * lane, 4)
        return int.from_bytes(wave.lds[first + 4 * lane:first + 4 * lane + 4], "little")

    def write(lane, value):
        wave.touch("lds", first + 4 * lane, 4)
        wave.lds[first + 4 * lane:first + 4 * lane + 4] = (value & M32).to_bytes(4, "little")
    return read, write


def run_with_lds(wave, instruction, match, resource, places):
    """What a VGPR would get goes to the lane's word of LDS; or that is stored."""
    read, write = lds_words(wave, instruction)
    for lane, place in places.items():
        if match[1] == "store":
            place.store(0, read(lane), 4)
        elif match[2] == "format_x":
            element = sum(place.load_within(at) << 8 * at for at in range(formats.size_of(resource.data)))
            components = formats.read(resource.data, resource.number, element)
            write(lane, formats.select(resource.selects, resource.number, components)[0])
        else:
            size, is_signed = WIDTHS[match[2]]
            value = place.load(0, size)
            write(lane, signed(value, 8 * size) if is_signed else value)
    return True


def run_buffer(wave, instruction):
    match = re.fullmatch(r"buffer_(load|store|atomic)_(\w+)", instruction.name)
    if not match:
        return instruction.name in ("buffer_wbinvl1", "buffer_wbinvl1_vol")
    resource_operand, scalar_operand = instruction.operands[-2:]
    data, address = instruction.operands[0], instruction.operands[-3] if len(instruction.operands) > 2 else None
    resource = Resource([wave.get_s(resource_operand.index + i) for i in range(4)])
    scalar_offset = wave.scalar32(scalar_operand)
    offen, idxen = "offen" in instruction.modifiers, "idxen" in instruction.modifiers
    places = {}
    for lane in wave.active():
        index = wave.get_v(address.index, lane) if idxen else 0
        offset = wave.get_v(address.index + idxen, lane) if offen else 0
        index += lane if resource.add_tid else 0
        offset += instruction.number("offset")
        places[lane] = resource.place(wave, index, offset, scalar_offset)
    if "lds" in instruction.modifiers:
        return run_with_lds(wave, instruction, match, resource, places)
    if match[2].startswith("format_"):
        return run_typed(wave, instruction, match, resource, places)
    if match[1] == "atomic":
        name = re.fullmatch(r"(\w+?)(_x2)?", match[2])
        modify(wave, name[1], bool(name[2]), data if "glc" in instruction.modifiers else None, data, places)
    else:
        move(wave, match, data, places)
    return True


def run(wave, instruction):
    return run_scalar(wave, instruction) or run_flat(wave, instruction) or run_buffer(wave, instruction)
