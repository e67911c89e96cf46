"""LDS instructions: chapter 10 and section 12.13 of the manual."""
import re

from atomics import ATOMICS, float_atomic
from wave import LANES, M32, signed


def words(wave, operand, lane, count):
    return sum(wave.get_v(operand.index + i, lane) << 32 * i for i in range(count))


def put(wave, operand, lane, value, count):
    for i in range(count):
        wave.set_v(operand.index + i, lane, value >> 32 * i & M32)


def put_half(wave, operand, lane, value, high):
    """Gfx9's D16: one half of the register is written."""
    old = wave.get_v(operand.index, lane)
    wave.set_v(operand.index, lane, old & 0xFFFF | value << 16 if high else old & 0xFFFF0000 | value)


def two_offsets(instruction, size, strided):
    scale = size * (64 if strided else 1)
    return [instruction.number("offset0") * scale, instruction.number("offset1") * scale]


def run_plain(wave, instruction, match):
    """ds_read_*, ds_write_*."""
    is_read, kind, half = match[1] == "read", match[2], match[3]
    size = int(kind[1:]) // 8
    offset = instruction.number("offset")
    operands = instruction.operands
    address_operand = operands[1] if is_read else operands[0]
    results = {}
    for lane in wave.active():
        address = (wave.get_v(address_operand.index, lane) + offset) & M32
        if is_read:
            value = wave.lds_load(address, size)
            results[lane] = signed(value, 8 * size) & M32 if kind[0] == "i" else value
        else:
            value = words(wave, operands[1], lane, max(size // 4, 1))
            wave.lds_store(address, value >> 16 if half else value, size)
    for lane, value in results.items():
        if half:
            put_half(wave, operands[0], lane, value & 0xFFFF, half == "_d16_hi")
        else:
            put(wave, operands[0], lane, value, max(size // 4, 1))


def run_pair(wave, instruction, match):
    """ds_read2, ds_write2, ds_wrxchg2 and their st64 forms."""
    kind, strided, size = match[1], bool(match[2]), int(match[3]) // 8
    offsets = two_offsets(instruction, size, strided)
    operands = instruction.operands
    results = {}
    for lane in wave.active():
        base = wave.get_v(operands[0 if kind == "write" else 1].index, lane)
        places = [(base + offset) & M32 for offset in offsets]
        if kind != "write":
            results[lane] = sum(wave.lds_load(a, size) << 8 * size * i for i, a in enumerate(places))
        if kind != "read":
            data = operands[-2:]
            for place, operand in zip(places, data):
                wave.lds_store(place, words(wave, operand, lane, size // 4), size)
    for lane, value in results.items():
        put(wave, operands[0], lane, value, size // 2)


def atomic_function(name, width):
    """Returns (function(memory, data0, data1), how many data operands)."""
    if name in ("wrxchg",):
        return (lambda old, d0, d1: d0), 1
    if name == "mskor":
        return (lambda old, d0, d1: old & ~d0 | d1), 2
    if name == "cmpst_b":
        return (lambda old, d0, d1: d1 if old == d0 else old), 2
    if name == "wrap":
        return (lambda old, d0, d1: old - d0 if old >= d0 else old + d1), 2
    return None, 0


def run_atomic(wave, instruction, match):
    name, returns, kind, width = match[1], bool(match[2]), match[3], int(match[4])
    size = width // 8
    operands = instruction.operands
    rest = operands[1:] if returns else operands
    offset = instruction.number("offset")
    results = {}
    for lane in wave.active():
        address = (wave.get_v(rest[0].index, lane) + offset) & M32
        data = [words(wave, operand, lane, size // 4) for operand in rest[1:]] + [0]
        old = wave.lds_load(address, size)
        wave.lds_store(address, combine(name, kind, width, old, *data[:2]), size)
        results[lane] = old
    if returns:
        for lane, value in results.items():
            put(wave, operands[0], lane, value, size // 4)


def combine(name, kind, width, old, d0, d1):
    if kind == "f":
        return float_atomic(name, width, old, d0, d1)
    function, _ = atomic_function(name + ("_b" if name == "cmpst" else ""), width)
    if function:
        return function(old, d0, d1)
    key = {"min": f"{'s' if kind == 'i' else 'u'}min", "max": f"{'s' if kind == 'i' else 'u'}max"}.get(name, name)
    return ATOMICS[key](old, d0, width)


def run_source2(wave, instruction, match):
    """DS[A] op= DS[B], B = A + 4 * the signed 15-bit offset."""
    name, kind, width = match[1], match[2], int(match[3])
    size = width // 8
    offset = signed(instruction.number("offset") & 0x7FFF, 15)
    for lane in wave.active():
        address = wave.get_v(instruction.operands[0].index, lane)
        other = wave.lds_load((address + 4 * offset) & M32, size)
        old = wave.lds_load(address, size)
        result = other if name == "write" else combine(name, kind, width, old, other, 0)
        wave.lds_store(address, result, size)


def swizzle_offset(instruction):
    """The 16-bit pattern, from its number or from swizzle(...)."""
    text = instruction.modifiers.get("offset", "0")
    match = re.fullmatch(r"swizzle\((\w+),(.*)\)", text)
    if not match:
        return int(text, 0)
    kind, rest = match[1], match[2]
    if kind == "QUAD_PERM":
        return 0x8000 | sum(int(part) << 2 * i for i, part in enumerate(rest.split(",")))
    if kind == "BITMASK_PERM":
        masks = {"0": (0, 0, 0), "1": (0, 1, 0), "p": (1, 0, 0), "i": (1, 0, 1)}
        bits = [masks[char] for char in reversed(rest.strip().strip('"'))]
        return sum(bit[0] << i | bit[1] << i + 5 | bit[2] << i + 10 for i, bit in enumerate(bits))
    numbers = [int(part, 0) for part in rest.split(",")]
    if kind == "SWAP":
        return 0x1F | numbers[0] << 10
    if kind == "REVERSE":
        return 0x1F | (numbers[0] - 1) << 10
    if kind == "BROADCAST":
        return 0x1F & ~(numbers[0] - 1) | numbers[1] << 5
    raise ValueError(text)


def swizzle_lane(offset, lane):
    if offset & 0x8000:
        return (lane & ~3) + (offset >> 2 * (lane & 3) & 3)
    place = lane & 31
    return (lane & 32) + ((place & offset & 31 | offset >> 5 & 31) ^ offset >> 10 & 31)


def run_swizzle(wave, instruction):
    offset = swizzle_offset(instruction)
    active = wave.active()
    target, source = instruction.operands
    results = {}
    for lane in active:
        other = swizzle_lane(offset, lane)
        results[lane] = wave.get_v(source.index, other) if other in active else 0
    for lane, value in results.items():
        wave.set_v(target.index, lane, value)


def run_permute(wave, instruction):
    """Data goes to (ds_permute) or comes from (ds_bpermute) the lane that the address names."""
    target, address, data = instruction.operands
    offset = instruction.number("offset")
    active = wave.active()
    results = dict.fromkeys(active, 0)
    for lane in active:
        other = (wave.get_v(address.index, lane) + offset) // 4 % LANES
        if instruction.name == "ds_permute_b32":
            if other in results:
                results[other] = wave.get_v(data.index, lane)
        elif other in results:
            results[lane] = wave.get_v(data.index, other)
    for lane, value in results.items():
        wave.set_v(target.index, lane, value)


def run_counter(wave, instruction):
    """ds_append and ds_consume: one counter in LDS at M0[31:16] + offset, moved by the number of active lanes."""
    active = wave.active()
    address = (wave.get("m0") >> 16) + instruction.number("offset")
    wave.touch("lds", address, 4)
    old = int.from_bytes(wave.lds[address:address + 4], "little")
    step = len(active) if instruction.name == "ds_append" else -len(active)
    wave.lds[address:address + 4] = ((old + step) & M32).to_bytes(4, "little")
    for lane in active:
        wave.set_v(instruction.operands[0].index, lane, old)


FORMS = (
    (r"ds_(read|write)_([biu](?:8|16|32|64|96|128))(_d16|_d16_hi)?", run_plain),
    (r"ds_(read|write|wrxchg)2(st64)?(?:_rtn)?_b(32|64)", run_pair),
    (r"ds_(\w+?)_src2_([ubif])(32|64)", run_source2),
    (r"ds_(add|sub|rsub|inc|dec|min|max|and|or|xor|mskor|cmpst|wrxchg|wrap)(_rtn)?_([ubif])(32|64)", run_atomic),
)


def run(wave, instruction):
    for pattern, function in FORMS:
        match = re.fullmatch(pattern, instruction.name)
        if match:
            function(wave, instruction, match)
            return True
    if instruction.name == "ds_swizzle_b32":
        run_swizzle(wave, instruction)
    elif instruction.name in ("ds_permute_b32", "ds_bpermute_b32"):
        run_permute(wave, instruction)
    elif instruction.name in ("ds_append", "ds_consume"):
        run_counter(wave, instruction)
    elif instruction.name != "ds_nop":
        return False
    return True
