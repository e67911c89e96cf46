"""The case file: README.md has the format."""
import struct

import packed
from vector import GPR_IDX_EN, WIDTH, find_row
from wave import LANES, M32, M64

VERSION = 1
SGPR, VGPR, SPECIAL, LDS, MEMORY = range(5)
SPECIALS = ("vcc", "exec", "m0", "scc", "mode", "flat_scratch", "pc", "shared_base", "private_base", "scratch_base", "lds_size")
BITS, COMPARE_F16, COMPARE_F32, COMPARE_F64, COMPARE_F16X2, IGNORED = 0, 1, 2, 3, 4, 255
COMPARES = {"f16": COMPARE_F16, "f32": COMPARE_F32, "f64": COMPARE_F64, "f16x2": COMPARE_F16X2}
ANY_ZERO, ABSOLUTE, LOW_HALF = 1, 2, 4


def item(space, index, values, where=0, compare=BITS, flags=0, width=1, ulps=0):
    """values: words, or bytes for memory and LDS."""
    if isinstance(values, (bytes, bytearray)):
        payload = bytes(values)
        count = len(payload)
        payload += bytes(-count % 4)
    else:
        payload = struct.pack(f"<{len(values)}I", *values)
        count = len(values) // width
    return struct.pack("<BBBBIIIQ", space, compare, flags, width, index, count, ulps, where) + payload


def special(name, value, compare=BITS):
    return item(SPECIAL, SPECIALS.index(name), [value & M32, value >> 32 & M32], compare=compare)


def shortest_period(values, mask):
    """The fewest values that give all lanes of the mask; lane l has the one at l % period."""
    for period in (1, 2, 4, 8, 16, 32, 64):
        found = [None] * period
        for lane in range(LANES):
            if mask >> lane & 1:
                slot = lane % period
                if found[slot] not in (None, values[lane]):
                    break
                found[slot] = values[lane]
        else:
            return [0 if value is None else value for value in found]
    raise AssertionError("64 values are enough")


def vector_item(wave, index, mask, compare=BITS, flags=0, width=1, ulps=0):
    lanes = [sum(wave.vgpr[index + i][lane] << 32 * i for i in range(width)) for lane in range(LANES)]
    values = shortest_period(lanes, mask)
    words = [value >> 32 * i & M32 for value in values for i in range(width)]
    return item(VGPR, index, words, mask, compare, flags, width, ulps)


def runs(addresses):
    """Contiguous ranges of a set of dword addresses: (start, bytes)."""
    result = []
    for address in sorted(addresses):
        if result and result[-1][0] + result[-1][1] == address:
            result[-1][1] += 4
        else:
            result.append([address, 4])
    return result


def memory_items(wave, touched):
    items = []
    for start, size in runs(touched["lds"]):
        items.append(item(LDS, 0, wave.lds[start:start + size], start))
    for start, size in runs(touched["memory"]):
        data, offset = wave.region(start, size)
        items.append(item(MEMORY, 0, data[offset:offset + size], start))
    return items


def before_items(wave, touched):
    """wave: as it was; touched: the wave that ran."""
    items = [special(name, wave.special[name]) for name in ("exec", "mode", "vcc", "scc", "m0", "pc")]
    if ("flat_scratch", 0) in touched.read | touched.written:
        items.append(special("flat_scratch", wave.special["flat_scratch"]))
    if wave.lds:
        items.append(special("lds_size", len(wave.lds)))
    for name in ("shared_base", "private_base", "scratch_base"):
        if getattr(wave, name):
            items.append(special(name, getattr(wave, name)))
    used = sorted(touched.read | touched.written)
    items += [item(SGPR, index, [wave.sgpr[index]]) for space, index in used if space == "s"]
    items += [vector_item(wave, index, M64) for space, index in used if space == "v"]
    return items + memory_items(wave, touched.bytes)


def result_rule(wave, instruction):
    """How the vector result is compared: (first register, width, compare, flags, ulps), or None: bit by bit."""
    if not instruction.name.startswith("v_") or instruction.operands and instruction.operands[0].kind != "v":
        return None
    if instruction.name in packed.HALVES:
        half = packed.HALVES[instruction.name]
        loose = half.any_zero or "clamp" in instruction.modifiers
        return (instruction.operands[0].index, 1, COMPARE_F16X2, ANY_ZERO if loose else 0, 0) if half.result == "f16" else None
    if instruction.name in packed.MIXED or instruction.name in packed.DOTS:
        loose = ANY_ZERO if "clamp" in instruction.modifiers else 0
        compare = COMPARE_F32 if "f32" in instruction.name else COMPARE_F16X2
        return instruction.operands[0].index, 1, compare, loose, 0
    row = find_row(instruction.name, wave.gfx)
    if row is not None and row.keeps_high and WIDTH[row.result] == 16:
        return instruction.operands[0].index, 1, COMPARES.get(row.result, BITS), ANY_ZERO | LOW_HALF, row.ulps
    if row is None or row.result not in COMPARES:
        return None
    if instruction.encoding == "sdwa" and instruction.modifiers.get("dst_sel", "DWORD") != "DWORD":
        return None
    any_zero = row.any_zero or "clamp" in instruction.modifiers
    flags = (ANY_ZERO if any_zero else 0) | (ABSOLUTE if row.absolute else 0)
    return instruction.operands[0].index, max(WIDTH[row.result] // 32, 1), COMPARES[row.result], flags, row.ulps


def moved_by(wave):
    """What VGPR indexing adds to the number of a destination."""
    m0 = wave.special["m0"]
    return m0 & 0xFF if wave.special["mode"] >> GPR_IDX_EN & 1 and m0 >> 15 & 1 else 0


def after_items(wave, instruction):
    rule = result_rule(wave, instruction)
    items = []
    covered = set()
    if rule and ("v", rule[0] + moved_by(wave)) in wave.written:
        first, width, compare, flags, ulps = rule
        first += moved_by(wave)
        items.append(vector_item(wave, first, wave.lanes.get(first, 0), compare, flags, width, ulps))
        covered = {first + i for i in range(width)}
    for space, index in sorted(wave.written):
        compare = IGNORED if (space, index) in wave.unsure else BITS
        if space == "s":
            items.append(item(SGPR, index, [wave.sgpr[index]], compare=compare))
        elif space == "v" and index not in covered:
            items.append(vector_item(wave, index, wave.lanes.get(index, 0)))
        elif space not in ("s", "v"):
            items.append(special(space, wave.special[space], compare))
    if ("pc", 0) not in wave.written:
        items.append(special("pc", wave.special["pc"]))
    return items + memory_items(wave, wave.bytes)


def case(before, after, instruction, words):
    """The bytes of one case."""
    text = instruction.text.encode()
    first, last = before_items(before, after), after_items(after, instruction)
    body = struct.pack(f"<{len(words)}I", *words) + text + bytes(-len(text) % 4) + b"".join(first) + b"".join(last)
    head = struct.pack("<IBBHHH", 12 + len(body), before.gfx, len(words), len(text), len(first), len(last))
    return head + body


def write(path, bodies):
    with open(path, "wb") as file:
        file.write(b"GCN3CASE" + struct.pack("<II", VERSION, len(bodies)))
        for body in bodies:
            file.write(body)
