"""Scalar ALU instructions: chapter 5 and sections 12.1 to 12.5 of the manual."""
import re

from wave import M32, M64, signed

GPR_IDX_EN, VSKIP = 27, 28  # bits of MODE
GPR_IDX = {"SRC0": 1, "SRC1": 2, "SRC2": 4, "DST": 8}


def reverse(value, width):
    return int(f"{value:0{width}b}"[::-1], 2)


def first(value, width, wanted):
    for i in range(width):
        if value >> i & 1 == wanted:
            return i
    return M32


def leading(value, width):
    """Zeros before the first one, from the top; -1 if there is none."""
    return width - value.bit_length() if value else M32


def leading_sign(value, width):
    """Bits from the top that equal the sign bit; -1 if all do."""
    sign = value >> (width - 1) & 1
    for count, i in enumerate(range(width - 1, -1, -1)):
        if value >> i & 1 != sign:
            return count
    return M32


def quads(value, width):
    return [value >> i & 15 != 0 for i in range(0, width, 4)]


def bit_field(value, control, width, is_signed):
    """S1[22:16] is the width of the field, S1[4:0] or [5:0] its offset."""
    offset = control & (width - 1)
    count = control >> 16 & 0x7F
    field = value >> offset
    available = width - offset
    count = min(count, available)
    field &= (1 << count) - 1
    if is_signed and count and field >> (count - 1) & 1:
        field -= 1 << count
    return field & ((1 << width) - 1)


def overflow(result):
    return int(not -(1 << 31) <= result < 1 << 31)


# Each function gets (wave, a, b) and returns (result, scc); scc None leaves SCC alone.
def logic(function):
    return lambda w, a, b, width: ((r := function(a, b) & ((1 << width) - 1)), int(r != 0))


def shift(function):
    return lambda w, a, b, width: ((r := function(a, b & (width - 1), width) & ((1 << width) - 1)), int(r != 0))


LOGIC = {
    "and": lambda a, b: a & b, "or": lambda a, b: a | b, "xor": lambda a, b: a ^ b, "andn2": lambda a, b: a & ~b,
    "orn2": lambda a, b: a | ~b, "nand": lambda a, b: ~(a & b), "nor": lambda a, b: ~(a | b), "xnor": lambda a, b: ~(a ^ b),
    "andn1": lambda a, b: ~a & b, "orn1": lambda a, b: ~a | b,
}


def add_carry(w, a, b, width):
    total = a + b + w.get("scc")
    return total & M32, total >> 32


def sub_borrow(w, a, b, width):
    total = a - b - w.get("scc")
    return total & M32, int(total < 0)


def extreme(is_signed, larger):
    def run(w, a, b, width):
        x, y = (signed(a, 32), signed(b, 32)) if is_signed else (a, b)
        picked = x > y if larger else x < y
        return (a if picked else b), int(picked)
    return run


def difference(w, a, b, width):
    result = abs(signed((a - b) & M32, 32)) & M32  # the subtraction wraps
    return result, int(result != 0)


def nonzero(value):
    return value, int(value != 0)


# name without width -> (function, types): types are (result, a, b) in bits.
TWO = {
    "add_u32": (lambda w, a, b, n: ((a + b) & M32, (a + b) >> 32), (32, 32, 32)),
    "sub_u32": (lambda w, a, b, n: ((a - b) & M32, int(b > a)), (32, 32, 32)),
    "add_i32": (lambda w, a, b, n: ((a + b) & M32, overflow(signed(a, 32) + signed(b, 32))), (32, 32, 32)),
    "sub_i32": (lambda w, a, b, n: ((a - b) & M32, overflow(signed(a, 32) - signed(b, 32))), (32, 32, 32)),
    "addc_u32": (add_carry, (32, 32, 32)),
    "subb_u32": (sub_borrow, (32, 32, 32)),
    "min_i32": (extreme(True, False), (32, 32, 32)),
    "min_u32": (extreme(False, False), (32, 32, 32)),
    "max_i32": (extreme(True, True), (32, 32, 32)),
    "max_u32": (extreme(False, True), (32, 32, 32)),
    "cselect_b32": (lambda w, a, b, n: (a if w.get("scc") else b, None), (32, 32, 32)),
    "cselect_b64": (lambda w, a, b, n: (a if w.get("scc") else b, None), (64, 64, 64)),
    "mul_i32": (lambda w, a, b, n: (a * b & M32, None), (32, 32, 32)),
    "absdiff_i32": (difference, (32, 32, 32)),
    "bfm_b32": (lambda w, a, b, n: (((1 << (a & 31)) - 1) << (b & 31) & M32, None), (32, 32, 32)),
    "bfm_b64": (lambda w, a, b, n: (((1 << (a & 63)) - 1) << (b & 63) & M64, None), (64, 32, 32)),
    "bfe_u32": (lambda w, a, b, n: nonzero(bit_field(a, b, 32, False)), (32, 32, 32)),
    "bfe_i32": (lambda w, a, b, n: nonzero(bit_field(a, b, 32, True)), (32, 32, 32)),
    "bfe_u64": (lambda w, a, b, n: nonzero(bit_field(a, b, 64, False)), (64, 64, 32)),
    "bfe_i64": (lambda w, a, b, n: nonzero(bit_field(a, b, 64, True)), (64, 64, 32)),
}
for _name, _function in LOGIC.items():
    if _name not in ("andn1", "orn1"):
        for _width in (32, 64):
            TWO[f"{_name}_b{_width}"] = (logic(_function), (_width,) * 3)
for _width in (32, 64):
    TWO[f"lshl_b{_width}"] = (shift(lambda a, b, n: a << b), (_width, _width, 32))
    TWO[f"lshr_b{_width}"] = (shift(lambda a, b, n: a >> b), (_width, _width, 32))
    TWO[f"ashr_i{_width}"] = (shift(lambda a, b, n: signed(a, n) >> b), (_width, _width, 32))
TWO9 = {
    "mul_hi_u32": (lambda w, a, b, n: (a * b >> 32, None), (32, 32, 32)),
    "mul_hi_i32": (lambda w, a, b, n: (signed(a, 32) * signed(b, 32) >> 32 & M32, None), (32, 32, 32)),
    "pack_ll_b32_b16": (lambda w, a, b, n: (a & 0xFFFF | (b & 0xFFFF) << 16, None), (32, 32, 32)),
    "pack_lh_b32_b16": (lambda w, a, b, n: (a & 0xFFFF | b & 0xFFFF0000, None), (32, 32, 32)),
    "pack_hh_b32_b16": (lambda w, a, b, n: (a >> 16 | b & 0xFFFF0000, None), (32, 32, 32)),
}
for _n in (1, 2, 3, 4):
    TWO9[f"lshl{_n}_add_u32"] = (lambda w, a, b, n, k=_n: (((a << k) + b) & M32, int((a << k) + b > M32)), (32, 32, 32))


def plain(function):
    return lambda w, a, n: (function(a, n), None)


def counted(function):
    return lambda w, a, n: nonzero(function(a, n))


ONE = {"abs_i32": (lambda w, a, n: nonzero(abs(signed(a, 32)) & M32), (32, 32)),
       "sext_i32_i8": (plain(lambda a, n: signed(a & 0xFF, 8) & M32), (32, 32)),
       "sext_i32_i16": (plain(lambda a, n: signed(a & 0xFFFF, 16) & M32), (32, 32)),
       "flbit_i32": (plain(leading_sign), (32, 32)), "flbit_i32_i64": (plain(leading_sign), (32, 64))}
for _width in (32, 64):
    _one = {
        "mov_b{}": (plain(lambda a, n: a), (_width, _width)),
        "not_b{}": (counted(lambda a, n: ~a & ((1 << n) - 1)), (_width, _width)),
        "wqm_b{}": (counted(lambda a, n: sum(15 << 4 * i for i, q in enumerate(quads(a, n)) if q)), (_width, _width)),
        "quadmask_b{}": (counted(lambda a, n: sum(1 << i for i, q in enumerate(quads(a, n)) if q)), (_width, _width)),
        "brev_b{}": (plain(reverse), (_width, _width)),
        "bcnt0_i32_b{}": (counted(lambda a, n: n - a.bit_count()), (32, _width)),
        "bcnt1_i32_b{}": (counted(lambda a, n: a.bit_count()), (32, _width)),
        "ff0_i32_b{}": (plain(lambda a, n: first(a, n, 0)), (32, _width)),
        "ff1_i32_b{}": (plain(lambda a, n: first(a, n, 1)), (32, _width)),
        "flbit_i32_b{}": (plain(leading), (32, _width)),
    }
    ONE.update({name.format(_width): row for name, row in _one.items()})
ONE9 = {"bitreplicate_b64_b32": (plain(lambda a, n: sum(3 << 2 * i for i in range(32) if a >> i & 1)), (64, 32))}

ORDER = {
    "eq": lambda a, b: a == b, "lg": lambda a, b: a != b, "ne": lambda a, b: a != b, "gt": lambda a, b: a > b,
    "ge": lambda a, b: a >= b, "lt": lambda a, b: a < b, "le": lambda a, b: a <= b,
}


def compare(w, condition, kind, a, b):
    if kind == "i32":
        a, b = signed(a, 32), signed(b, 32)
    w.set("scc", int(ORDER[condition](a, b)))


def run_compare(w, name, operands):
    match = re.fullmatch(r"s_cmp_(\w+)_([iu]\d+)", name)
    if match:
        width = int(match[2][1:])
        compare(w, match[1], match[2], w.scalar(operands[0], width), w.scalar(operands[1], width))
        return True
    match = re.fullmatch(r"s_bitcmp([01])_b(\d+)", name)
    if match:
        width = int(match[2])
        bit = w.scalar(operands[0], width) >> (w.scalar32(operands[1]) & (width - 1)) & 1
        w.set("scc", int(bit == int(match[1])))
        return True
    return False


def immediate16(operand):
    return operand.value & 0xFFFF


def run_immediate(w, name, operands):
    """SOPK: the last operand is simm16."""
    match = re.fullmatch(r"s_cmpk_(\w+)_([iu]32)", name)
    if match:
        number = immediate16(operands[1])
        number = signed(number, 16) & M32 if match[2] == "i32" else number
        compare(w, match[1], match[2], w.scalar32(operands[0]), number)
        return True
    if name not in ("s_movk_i32", "s_cmovk_i32", "s_addk_i32", "s_mulk_i32"):
        return False
    number = signed(immediate16(operands[1]), 16)
    if name == "s_movk_i32":
        w.set_scalar(operands[0], number & M32, 32)
    elif name == "s_cmovk_i32":
        if w.get("scc"):
            w.set_scalar(operands[0], number & M32, 32)
    elif name == "s_addk_i32":
        total = signed(w.scalar32(operands[0]), 32) + number
        w.set_scalar(operands[0], total & M32, 32)
        w.set("scc", overflow(total))
    else:
        w.set_scalar(operands[0], signed(w.scalar32(operands[0]), 32) * number & M32, 32)
    return True


def hwreg(operand):
    """hwreg(HW_REG_MODE, offset, size): the mask of the bits, and the shift."""
    parts = [part.strip() for part in operand.value[len("hwreg("):-1].split(",")]
    assert parts[0] == "HW_REG_MODE", operand
    offset, size = (int(parts[1]), int(parts[2])) if len(parts) == 3 else (0, 32)
    size = min(size, 32 - offset)
    return offset, (1 << size) - 1


def run_hwreg(w, name, operands):
    if name == "s_getreg_b32":
        offset, mask = hwreg(operands[1])
        w.set_scalar(operands[0], w.get("mode") >> offset & mask, 32)
    elif name in ("s_setreg_b32", "s_setreg_imm32_b32"):
        offset, mask = hwreg(operands[0])
        value = w.scalar32(operands[1])
        w.set("mode", w.get("mode") & ~(mask << offset) | (value & mask) << offset)
    else:
        return False
    return True


def run_exec(w, name, operands):
    match = re.fullmatch(r"s_(\w+)_(save|wr)exec_b64", name)
    if not match:
        return False
    old, source = w.get("exec"), w.scalar64(operands[1])
    new = LOGIC[match[1]](source, old) & M64
    w.set("exec", new)
    w.set_scalar(operands[0], old if match[2] == "save" else new, 64)
    w.set("scc", int(new != 0))
    return True


def run_relative(w, name, operands):
    match = re.fullmatch(r"s_movrel([sd])_b(\d+)", name)
    if not match:
        return False
    width, index = int(match[2]), w.get("m0")
    target, source = operands
    if match[1] == "s":
        source = source._replace(index=source.index + index)
    value = w.scalar(source, width)
    if match[1] == "d":
        target = target._replace(index=target.index + index)
    w.set_scalar(target, value, width)
    return True


BRANCHES = {
    "s_branch": lambda w: True,
    "s_cbranch_scc0": lambda w: not w.get("scc"), "s_cbranch_scc1": lambda w: w.get("scc"),
    "s_cbranch_vccz": lambda w: w.get("vcc") == 0, "s_cbranch_vccnz": lambda w: w.get("vcc") != 0,
    "s_cbranch_execz": lambda w: w.get("exec") == 0, "s_cbranch_execnz": lambda w: w.get("exec") != 0,
}


def run_control(w, name, operands, following):
    """What writes PC. following: the address of the next instruction."""
    if name in BRANCHES:
        if BRANCHES[name](w):
            w.set("pc", following + 4 * signed(immediate16(operands[0]), 16))
    elif name == "s_getpc_b64":
        w.set_scalar(operands[0], following, 64)
    elif name == "s_setpc_b64":
        w.set("pc", w.scalar64(operands[0]))
    elif name == "s_swappc_b64":
        target = w.scalar64(operands[1])
        w.set_scalar(operands[0], following, 64)
        w.set("pc", target)
    elif name == "s_call_b64":
        w.set_scalar(operands[0], following, 64)
        w.set("pc", following + 4 * signed(immediate16(operands[1]), 16))
    else:
        return False
    return True


def index_mask(operand):
    return sum(bit for name, bit in GPR_IDX.items() if name in operand.value)


def run_index(w, name, operands):
    if name == "s_set_gpr_idx_on":
        w.set("m0", w.get("m0") & ~0xF0FF | w.scalar32(operands[0]) & 0xFF | index_mask(operands[1]) << 12)
        w.set("mode", w.get("mode") | 1 << GPR_IDX_EN)
    elif name == "s_set_gpr_idx_off":
        w.set("mode", w.get("mode") & ~(1 << GPR_IDX_EN))
    elif name == "s_set_gpr_idx_mode":
        w.set("m0", w.get("m0") & ~0xF000 | index_mask(operands[0]) << 12)
    elif name == "s_set_gpr_idx_idx":
        w.set("m0", w.get("m0") & ~0xFF | w.scalar32(operands[0]) & 0xFF)
    elif name == "s_setvskip":
        bit = w.scalar32(operands[0]) >> (w.scalar32(operands[1]) & 31) & 1
        w.set("mode", w.get("mode") & ~(1 << VSKIP) | bit << VSKIP)
    else:
        return False
    return True


def run_bits(w, name, operands):
    match = re.fullmatch(r"s_bitset([01])_b(\d+)", name)
    if match:
        width = int(match[2])
        bit = 1 << (w.scalar32(operands[1]) & (width - 1))
        old = w.scalar(operands[0], width)
        w.set_scalar(operands[0], old | bit if match[1] == "1" else old & ~bit, width)
        return True
    match = re.fullmatch(r"s_cmov_b(\d+)", name)
    if match:
        width = int(match[1])
        value = w.scalar(operands[1], width)
        if w.get("scc"):
            w.set_scalar(operands[0], value, width)
        return True
    return False


def run(w, instruction):
    """True if this is a scalar ALU instruction, which it then executes."""
    name, operands = instruction.name, instruction.operands
    row = {**TWO, **TWO9}.get(name[2:])
    if row:
        function, (width, wide_a, wide_b) = row
        result, scc = function(w, w.scalar(operands[1], wide_a), w.scalar(operands[2], wide_b), width)
        w.set_scalar(operands[0], result, width)
        if scc is not None:
            w.set("scc", scc)
        return True
    row = {**ONE, **ONE9}.get(name[2:])
    if row:
        function, (width, wide) = row
        result, scc = function(w, w.scalar(operands[1], wide), wide)
        w.set_scalar(operands[0], result, width)
        if scc is not None:
            w.set("scc", scc)
        return True
    following = w.special["pc"] + 4 * instruction.words
    return (run_compare(w, name, operands) or run_immediate(w, name, operands) or run_hwreg(w, name, operands)
            or run_exec(w, name, operands) or run_relative(w, name, operands) or run_bits(w, name, operands)
            or run_index(w, name, operands) or run_control(w, name, operands, following))
