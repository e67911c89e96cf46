"""Gfx9's packed instructions: two 16-bit operations per lane, and the mixed multiply-add (AMD's Vega manual)."""
from vector import Valu
from vector_rows import ROWS
from wave import M32, signed

M16 = 0xFFFF
# name -> the row of one half.
HALVES = {f"v_pk_{name}": ROWS[f"v_{name}"] for name in (
    "add_f16", "mul_f16", "fma_f16", "min_f16", "max_f16", "min_i16", "max_i16", "min_u16", "max_u16", "mul_lo_u16", "mad_i16",
    "mad_u16", "lshlrev_b16", "lshrrev_b16", "ashrrev_i16", "add_u16", "sub_u16", "add_i16", "sub_i16")}


def bits(instruction, name, count, default):
    text = instruction.modifiers.get(name)
    return [int(part) for part in text[1:-1].split(",")] if text else [default] * count


def half_source(valu, operand, kind, lane, high, negate):
    word = valu.wave.get_v(operand.index, lane) if operand.kind == "v" else valu.wave.scalar32(operand)
    value = (word >> 16 if high else word) & M16
    if negate:
        value ^= 0x8000
    return signed(value, 16) if kind[0] == "i" else value


def run_packed(wave, instruction):
    row = HALVES.get(instruction.name)
    if row is None:
        return False
    valu = Valu(wave, instruction)
    target, *sources = instruction.operands
    count = len(sources)
    select = bits(instruction, "op_sel", count, 0), bits(instruction, "op_sel_hi", count, 1)
    negate = bits(instruction, "neg_lo", count, 0), bits(instruction, "neg_hi", count, 0)
    results = {}
    for lane in valu.active:
        result = 0
        for half in (0, 1):
            values = [half_source(valu, op, kind, lane, select[half][i], negate[half][i])
                      for i, (op, kind) in enumerate(zip(sources, row.sources))]
            result |= (valu.output(row, row.function(valu.modes, *values)) & M16) << 16 * half
        results[lane] = result
    for lane, value in results.items():
        wave.set_v(target.index, lane, value)
    return True


def mixed_source(valu, operand, lane, is_half, high):
    word = valu.wave.get_v(operand.index, lane) if operand.kind == "v" else valu.wave.scalar32(operand)
    if is_half:
        word = valu.modes.f32.convert((word >> 16 if high else word) & M16, valu.modes.f16)
    if operand.absolute:
        word &= M32 >> 1
    return word ^ 0x80000000 if operand.negate else word


MIXED = {f"v_{kind}_mix{target}": (f"v_{kind}_f32", target) for kind in ("mad", "fma") for target in ("_f32", "lo_f16", "hi_f16")}


def mixed_result(valu, row, target, old, values):
    """The f32 result, or that rounded to f16 in one half of the register."""
    value = row.function(valu.modes, *values)
    if target == "_f32":
        return valu.output(row, value)
    half = valu.output(ROWS["v_add_f16"], valu.modes.f16.convert(value, valu.modes.f32))
    return old & 0xFFFF0000 | half if target == "lo_f16" else old & M16 | half << 16


def run_mixed(wave, instruction):
    if instruction.name not in MIXED:
        return False
    name, way = MIXED[instruction.name]
    valu = Valu(wave, instruction)
    target, *sources = instruction.operands
    halves, highs = bits(instruction, "op_sel_hi", 3, 0), bits(instruction, "op_sel", 3, 0)
    results = {}
    for lane in valu.active:
        values = [mixed_source(valu, op, lane, halves[i], highs[i]) for i, op in enumerate(sources)]
        results[lane] = mixed_result(valu, ROWS[name], way, wave.get_v(target.index, lane), values)
    for lane, value in results.items():
        wave.set_v(target.index, lane, value)
    return True


DOTS = {"v_dot2_f32_f16"}  # of floats; those of integers are rows


def run_dot(wave, instruction):
    """A fused multiply-add for each half, the upper ones first, as LLVM makes it of such a chain."""
    if instruction.name not in DOTS:
        return False
    valu = Valu(wave, instruction)
    target, *factors, added = instruction.operands
    select = bits(instruction, "op_sel", 3, 0), bits(instruction, "op_sel_hi", 3, 1)
    negate = bits(instruction, "neg_lo", 3, 0), bits(instruction, "neg_hi", 3, 0)
    results = {}
    for lane in valu.active:
        total = mixed_source(valu, added._replace(absolute=False, negate=bool(negate[0][2])), lane, False, False)
        for half in (1, 0):
            values = [half_source(valu, op, "f16", lane, select[half][i], negate[half][i]) for i, op in enumerate(factors)]
            values = [valu.modes.f32.convert(value, valu.modes.f16) for value in values]
            total = ROWS["v_fma_f32"].function(valu.modes, *values, total)
        results[lane] = valu.output(ROWS["v_fma_f32"], total)
    for lane, value in results.items():
        wave.set_v(target.index, lane, value)
    return True


def run(wave, instruction):
    return run_packed(wave, instruction) or run_mixed(wave, instruction) or run_dot(wave, instruction)
