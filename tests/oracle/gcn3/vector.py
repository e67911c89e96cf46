"""Vector ALU instructions: operands, modifiers, SDWA, DPP, compares and lane accesses (chapter 6, sections 12.9, 13.3)."""
import re

from floats import F16, F32, F64, scale2
from instruction import BadText
from vector_rows import GFX9, ROWS, Modes, limit
from wave import M32, signed

WIDTH = {"f16": 16, "f32": 32, "f64": 64, "u16": 16, "i16": 16, "u32": 32, "i32": 32, "b32": 32, "u64": 64, "i64": 64,
         "u128": 128, "i32p": 32, "f16x2": 32}
FORMATS = {"f16": F16, "f32": F32, "f64": F64}
GPR_IDX_EN = 27


def find_row(name, gfx):
    return GFX9[name] if gfx >= 9 and name in GFX9 else ROWS.get(name)


# DPP
def dpp_source(control, lane):
    """The lane to read, or None if it is outside."""
    row, place = lane & ~15, lane & 15
    name, value = control
    if name == "quad_perm":
        return (lane & ~3) + value[lane & 3]
    if name == "row_shl":
        return lane + value if place + value < 16 else None
    if name == "row_shr":
        return lane - value if place >= value else None
    if name == "row_ror":
        return row + (place - value) % 16
    if name == "wave_shl":
        return lane + 1 if lane < 63 else None
    if name == "wave_rol":
        return (lane + 1) % 64
    if name == "wave_shr":
        return lane - 1 if lane > 0 else None
    if name == "wave_ror":
        return (lane - 1) % 64
    if name == "row_mirror":
        return row + 15 - place
    if name == "row_half_mirror":
        return (lane & ~7) + 7 - (lane & 7)
    if name == "row_bcast" and value == 15:
        return row - 1 if lane > 15 else None
    if name == "row_bcast" and value == 31:
        return 31 if lane > 31 else None
    raise BadText(f"DPP control {control}")


class Dpp:
    CONTROLS = ("quad_perm", "row_shl", "row_shr", "row_ror", "wave_shl", "wave_rol", "wave_shr", "wave_ror", "row_mirror",
                "row_half_mirror", "row_bcast")

    def __init__(self, instruction):
        modifiers = instruction.modifiers
        name = next(name for name in self.CONTROLS if name in modifiers)
        value = modifiers[name]
        if name == "quad_perm":
            value = [int(part) for part in value[1:-1].split(",")]
        elif value is not True:
            value = int(value, 0)
        self.control = (name, value)
        self.rows = instruction.number("row_mask", 15)
        self.banks = instruction.number("bank_mask", 15)
        self.zero = "bound_ctrl" in modifiers

    def writes(self, lane):
        return self.rows >> (lane // 16) & 1 and self.banks >> (lane % 16 // 4) & 1

    def source(self, lane, active):
        """The lane whose src0 is used; None: the data is invalid (outside, or that lane is not active)."""
        source = dpp_source(self.control, lane)
        return None if source is None or source not in active else source


# SDWA
def select(value, which, sext):
    kind, _, number = which.partition("_")
    if kind == "DWORD":
        return value
    width = 8 if kind == "BYTE" else 16
    part = value >> width * int(number) & ((1 << width) - 1)
    return signed(part, width) & M32 if sext else part


def place(old, result, which, unused):
    kind, _, number = which.partition("_")
    if kind == "DWORD":
        return result
    width = 8 if kind == "BYTE" else 16
    shift = width * int(number)
    mask = (1 << width) - 1
    part = result & mask
    if unused == "UNUSED_PRESERVE":
        return old & ~(mask << shift) | part << shift
    if unused == "UNUSED_SEXT":
        return signed(part, width) << shift & M32
    return part << shift


class Valu:
    """One vector instruction in execution."""

    def __init__(self, wave, instruction):
        self.wave = wave
        self.instruction = instruction
        self.modes = Modes(wave.get("mode"), wave.gfx)
        self.clamp = "clamp" in instruction.modifiers
        self.sdwa = instruction.encoding == "sdwa"
        self.dpp = Dpp(instruction) if instruction.encoding == "dpp" else None
        self.active = wave.active()
        self.index = {}
        if wave.special["mode"] >> GPR_IDX_EN & 1:
            m0 = wave.get("m0")
            self.index = {place: m0 & 0xFF for place in range(4) if m0 >> (12 + place) & 1}

    def vgpr(self, index, place):
        """place: 0 to 2 for a source, 3 for the destination."""
        return index + self.index.get(place, 0)

    def raw(self, operand, kind, lane, place):
        """A source's bits, before modifiers."""
        wave, width = self.wave, WIDTH[kind]
        if operand.kind == "v":
            first = self.vgpr(operand.index, place)
            words = [wave.get_v(first + i, lane) for i in range(max(width // 32, 1))]
            value = sum(word << 32 * i for i, word in enumerate(words))
            if self.sdwa and place < 2:
                value = select(value, self.instruction.modifiers.get(f"src{place}_sel", "DWORD"), operand.sext)
        elif width == 64:
            value = wave.scalar64(operand, kind == "f64")
        elif operand.kind in ("int", "literal", "float"):
            value = wave.constant(operand, width)
        else:
            value = wave.scalar32(operand)
        return value & ((1 << width) - 1)

    def source(self, operand, kind, lane, place):
        """A source as its type says. None: DPP says that the lane is not written."""
        if kind == "mask":
            mask = self.wave.scalar64(operand)
            return mask >> lane & 1
        if kind == "k":
            return operand.value & ((1 << 16) - 1 if self.instruction.name.endswith("f16") else M32)
        if self.dpp and place == 0:
            lane = self.dpp.source(lane, self.active)
            value = self.raw(operand, kind, lane, 0) if lane is not None else (0 if self.dpp.zero else None)
            if value is None:
                return None
        else:
            value = self.raw(operand, kind, lane, place)
        width = WIDTH[kind]
        sign = 1 << (width - 1)
        if operand.absolute:
            value &= ~sign
        if operand.negate:
            value ^= sign
        return signed(value, width) if kind[0] == "i" and kind != "i32p" else value

    def output(self, row, value):
        """omod and clamp of a float; limits of an integer."""
        kind = row.result
        if kind not in FORMATS:
            return limit(value, kind, self.clamp and row.saturates) if kind != "f16x2" else value
        fmt, fp = FORMATS[kind], self.modes.of(kind)
        power = {"mul:2": 1, "mul:4": 2, "div:2": -1}.get(next(
            (f"{name}:{self.instruction.modifiers[name]}" for name in ("mul", "div") if name in self.instruction.modifiers), ""))
        if power is not None and not self.modes.ieee and not fp.denormals & 2:
            if not fmt.is_nan(value) and not fmt.is_inf(value):
                value = fp.make(scale2(fmt.value(value), power))  # -0 becomes +0
        if self.clamp:
            if fmt.is_nan(value):
                value = 0 if self.modes.dx10_clamp else value
            elif value & fmt.sign:
                value = 0
            elif value > fmt.one:
                value = fmt.one
        return value

    def write(self, operand, row, lane, value):
        wave, width = self.wave, WIDTH[row.result]
        first = self.vgpr(operand.index, 3)
        if self.sdwa:
            modifiers = self.instruction.modifiers
            old = wave.get_v(first, lane) if modifiers.get("dst_unused") == "UNUSED_PRESERVE" else 0
            wave.set_v(first, lane, place(old, value, modifiers.get("dst_sel", "DWORD"), modifiers.get("dst_unused")))
        elif width == 16 and row.keeps_high:
            wave.set_v(first, lane, wave.get_v(first, lane) & 0xFFFF0000 | value)
        else:
            for i in range(max(width // 32, 1)):
                wave.set_v(first + i, lane, value >> 32 * i & M32)

    def run(self, row):
        wave, operands = self.wave, list(self.instruction.operands)
        target = operands.pop(0)
        carry = operands.pop(0) if row.carry_out else None
        if row.reads_dst:
            operands.append(target)
        results, carries = {}, 0
        known = {}
        for lane in self.active:
            if self.dpp and not self.dpp.writes(lane):
                continue
            sources = tuple(self.source(op, kind, lane, i) for i, (op, kind) in enumerate(zip(operands, row.sources)))
            if None in sources:
                continue
            if row.wide:
                sources = (lane, wave.get("vcc") >> lane & 1) + sources
            if sources not in known:
                known[sources] = row.function(self.modes, *sources)
            value = known[sources]
            if row.carry_out:
                value, bit = value
                carries |= (bit & 1) << lane
            results[lane] = self.output(row, value)
        for lane, value in results.items():
            self.write(target, row, lane, value)
        if not results:
            for i in range(max(WIDTH[row.result] // 32, 1)):
                wave.written.add(("v", self.vgpr(target.index, 3) + i))
        if row.carry_out:
            wave.set_scalar(carry, carries, 64)
            if "carry" in row.avoid:
                wave.unsure.update((carry.kind, carry.index + i if carry.kind == "s" else 0) for i in range(2))


# Compares
INTEGER = {"f": lambda a, b: False, "lt": lambda a, b: a < b, "eq": lambda a, b: a == b, "le": lambda a, b: a <= b,
           "gt": lambda a, b: a > b, "ne": lambda a, b: a != b, "lg": lambda a, b: a != b, "ge": lambda a, b: a >= b,
           "t": lambda a, b: True}
# By order: -1, 0, 1, None (unordered).
FLOAT = {"f": (), "lt": (-1,), "eq": (0,), "le": (-1, 0), "gt": (1,), "lg": (-1, 1), "ge": (0, 1), "o": (-1, 0, 1),
         "u": (None,), "nge": (-1, None), "nlg": (0, None), "ngt": (-1, 0, None), "nle": (1, None), "neq": (-1, 1, None),
         "nlt": (0, 1, None), "tru": (-1, 0, 1, None)}


def float_class(fmt, x):
    """The bit of the class mask that x belongs to."""
    if fmt.is_nan(x):
        return 0 if fmt.is_snan(x) else 1
    kind = 0 if fmt.is_inf(x) else 3 if fmt.is_zero(x) else 2 if fmt.is_denormal(x) else 1
    return 2 + kind if x & fmt.sign else 9 - kind


def compare_function(valu, condition, kind):
    if condition == "class":
        fmt = FORMATS[kind]
        return (kind, "u32"), lambda a, b: b >> float_class(fmt, a) & 1
    if kind[0] == "f":
        fp, orders = valu.modes.of(kind), FLOAT[condition]
        return (kind, kind), lambda a, b: fp.compare(a, b) in orders
    return (kind, kind), INTEGER[condition]


def run_compare(wave, instruction):
    match = re.fullmatch(r"v_cmp(x?)_(\w+?)_([fiu](?:16|32|64))", instruction.name)
    if not match:
        return False
    valu = Valu(wave, instruction)
    kinds, function = compare_function(valu, match[2], match[3])
    result = 0
    for lane in valu.active:
        sources = [valu.source(op, kind, lane, i) for i, (op, kind) in enumerate(zip(instruction.operands[1:], kinds))]
        if None not in sources:
            result |= bool(function(*sources)) << lane
    wave.set_scalar(instruction.operands[0], result, 64)
    if match[1]:
        wave.set("exec", result)
    return True


# Accesses to single lanes, and relative registers
def run_lanes(wave, instruction):
    name, operands = instruction.name, instruction.operands
    if name == "v_readfirstlane_b32":
        active = wave.active()
        wave.set_scalar(operands[0], wave.get_v(operands[1].index, active[0] if active else 0), 32)
    elif name == "v_readlane_b32":
        wave.set_scalar(operands[0], wave.get_v(operands[1].index, wave.scalar32(operands[2]) & 63), 32)
    elif name == "v_writelane_b32":
        wave.get_v(operands[0].index, 0)
        wave.set_v(operands[0].index, wave.scalar32(operands[2]) & 63, wave.scalar32(operands[1]))
    elif name == "v_swap_b32":
        a, b = operands[0].index, operands[1].index
        for lane in wave.active():
            x, y = wave.get_v(a, lane), wave.get_v(b, lane)
            wave.set_v(a, lane, y)
            wave.set_v(b, lane, x)
    elif name in ("v_movrels_b32", "v_movreld_b32", "v_movrelsd_b32"):
        offset, kind = wave.get("m0"), name[len("v_movrel"):-len("_b32")]
        for lane in wave.active():
            source = operands[1]
            if source.kind == "v":
                value = wave.get_v(source.index + (offset if "s" in kind else 0), lane)
            else:
                value = wave.scalar32(source)
            wave.set_v(operands[0].index + (offset if "d" in kind else 0), lane, value)
    elif name in ("v_nop", "v_clrexcp"):
        pass
    else:
        return False
    return True


def run(wave, instruction):
    if run_compare(wave, instruction) or run_lanes(wave, instruction):
        return True
    row = find_row(instruction.name, wave.gfx)
    if row is None:
        return False
    Valu(wave, instruction).run(row)
    return True
