"""Random scalar ALU instructions, and states for them."""
from scalar import BRANCHES, ONE, ONE9, TWO, TWO9
from values import random_integer
from wave import M32


def target(rng, width):
    if width == 64:
        index = 2 * rng.randrange(0, 30)
        return rng.choice([f"s[{index}:{index + 1}]"] * 6 + ["vcc", "exec", "flat_scratch"])
    return rng.choice([f"s{rng.randrange(60)}"] * 8 + ["vcc_lo", "vcc_hi", "exec_lo", "exec_hi", "m0", "flat_scratch_hi"])


def source(rng, width, literals=True):
    choice = rng.random()
    if choice < 0.6:
        return target(rng, width)
    if choice < 0.7 and width == 32:
        return rng.choice(["src_scc", "src_vccz", "src_execz"])
    if choice < 0.85 or not literals:
        return str(rng.randrange(-16, 65))
    # A 64-bit operand's literal: below 2^31 it does not matter how it is extended.
    value = random_integer(rng, 32) & (M32 if width == 32 else M32 >> 1)
    return f"{value:#x}"


def two(rng, name, types):
    return f"s_{name} {target(rng, types[0])}, {source(rng, types[1])}, {source(rng, types[2], False)}"


def one(rng, name, types):
    return f"s_{name} {target(rng, types[0])}, {source(rng, types[1])}"


def pair(rng):
    index = 2 * rng.randrange(0, 30)
    return f"s[{index}:{index + 1}]"


def compares(rng):
    for kind in ("i32", "u32"):
        for condition in ("eq", "lg", "gt", "ge", "lt", "le"):
            yield f"s_cmp_{condition}_{kind}", lambda c=condition, k=kind: \
                f"s_cmp_{c}_{k} {source(rng, 32)}, {source(rng, 32, False)}"
            yield f"s_cmpk_{condition}_{kind}", lambda c=condition, k=kind: \
                f"s_cmpk_{c}_{k} s{rng.randrange(60)}, {rng.getrandbits(16):#x}"
    for condition in ("eq", "lg"):
        yield f"s_cmp_{condition}_u64", lambda c=condition: f"s_cmp_{c}_u64 {source(rng, 64)}, {source(rng, 64, False)}"
    for bit in "01":
        for width in (32, 64):
            yield f"s_bitcmp{bit}_b{width}", lambda b=bit, w=width: \
                f"s_bitcmp{b}_b{w} {source(rng, w, False)}, {source(rng, 32, False)}"
            yield f"s_bitset{bit}_b{width}", lambda b=bit, w=width: f"s_bitset{b}_b{w} {target(rng, w)}, {source(rng, 32)}"


def hwreg(rng):
    offset = rng.randrange(0, 10)
    return f"hwreg(HW_REG_MODE, {offset}, {rng.randrange(1, 11 - offset)})"


def gpr_index(rng):
    return "gpr_idx(" + ",".join(name for name in ("SRC0", "SRC1", "SRC2", "DST") if rng.getrandbits(1)) + ")"


def specials(rng):
    number = lambda: f"{rng.getrandbits(16):#x}"
    for name in ("s_movk_i32", "s_cmovk_i32", "s_addk_i32", "s_mulk_i32"):
        yield name, lambda name=name: f"{name} {target(rng, 32)}, {number()}"
    for width in (32, 64):
        yield f"s_cmov_b{width}", lambda w=width: f"s_cmov_b{w} {target(rng, w)}, {source(rng, w)}"
        for way in "sd":
            step = width // 32
            yield f"s_movrel{way}_b{width}", lambda d=way, w=width, k=step: \
                f"s_movrel{d}_b{w} " + ", ".join(pair(rng) if k == 2 else f"s{rng.randrange(60)}" for _ in "ab")
    for name in ("and", "or", "xor", "andn2", "orn2", "nand", "nor", "xnor"):
        yield f"s_{name}_saveexec_b64", lambda name=name: \
            f"s_{name}_saveexec_b64 {rng.choice([pair(rng), 'vcc'])}, {source(rng, 64)}"
    yield "s_getreg_b32", lambda: f"s_getreg_b32 s{rng.randrange(60)}, {hwreg(rng)}"
    yield "s_setreg_b32", lambda: f"s_setreg_b32 {hwreg(rng)}, s{rng.randrange(60)}"
    yield "s_setreg_imm32_b32", lambda: f"s_setreg_imm32_b32 {hwreg(rng)}, {rng.getrandbits(32):#x}"
    yield "s_set_gpr_idx_on", lambda: f"s_set_gpr_idx_on s{rng.randrange(60)}, {gpr_index(rng)}"
    yield "s_set_gpr_idx_off", lambda: "s_set_gpr_idx_off"
    yield "s_set_gpr_idx_mode", lambda: f"s_set_gpr_idx_mode {gpr_index(rng)}"
    yield "s_set_gpr_idx_idx", lambda: f"s_set_gpr_idx_idx {source(rng, 32, False)}"
    yield "s_setvskip", lambda: f"s_setvskip s{rng.randrange(60)}, {source(rng, 32, False)}"
    yield "s_getpc_b64", lambda: f"s_getpc_b64 {pair(rng)}"
    yield "s_setpc_b64", lambda: f"s_setpc_b64 {pair(rng)}"
    yield "s_swappc_b64", lambda: f"s_swappc_b64 {pair(rng)}, {pair(rng)}"
    for name in BRANCHES:
        yield name, lambda name=name: f"{name} {rng.getrandbits(16)}"
    yield "s_nop", lambda: f"s_nop {rng.randrange(8)}"


def specials9(rng):
    yield "s_andn1_saveexec_b64", lambda: f"s_andn1_saveexec_b64 {pair(rng)}, {source(rng, 64)}"
    yield "s_orn1_saveexec_b64", lambda: f"s_orn1_saveexec_b64 {pair(rng)}, {source(rng, 64)}"
    yield "s_andn1_wrexec_b64", lambda: f"s_andn1_wrexec_b64 {pair(rng)}, {source(rng, 64)}"
    yield "s_andn2_wrexec_b64", lambda: f"s_andn2_wrexec_b64 {pair(rng)}, {source(rng, 64)}"
    yield "s_call_b64", lambda: f"s_call_b64 {pair(rng)}, {rng.getrandbits(16)}"


def lines(rng, gfx):
    if gfx > 9:
        return
    for name, (_, types) in (TWO9 if gfx == 9 else TWO).items():
        yield f"s_{name}", lambda name=name, types=types: two(rng, name, types)
    for name, (_, types) in (ONE9 if gfx == 9 else ONE).items():
        yield f"s_{name}", lambda name=name, types=types: one(rng, name, types)
    if gfx == 9:
        yield from specials9(rng)
    else:
        yield from compares(rng)
        yield from specials(rng)


def setup(rng, wave, instruction):
    for index in range(102):
        wave.sgpr[index] = random_integer(rng, 32)
    if rng.random() < 0.3 and len(instruction.operands) > 1:  # equal sources
        scalars = [op.index for op in instruction.operands[-2:] if op.kind == "s"]
        if len(scalars) == 2:
            wave.sgpr[scalars[1]] = wave.sgpr[scalars[0]]
            wave.sgpr[scalars[1] + 1] = wave.sgpr[scalars[0] + 1]
    if "bfe" in instruction.name:
        for index in range(60):
            if rng.getrandbits(1):
                wave.sgpr[index] = rng.randrange(32) | rng.randrange(0, 40) << 16
    if "movrel" in instruction.name:
        wave.special["m0"] = 2 * rng.randrange(0, 16)
    if "pc" in instruction.name:
        for index in range(0, 102, 2):
            wave.sgpr[index] &= ~3
            wave.sgpr[index + 1] &= 0xFFFF
    return True


def settled(before, after, instruction):
    """A PC has 48 bits."""
    return 0 <= after.special["pc"] < 1 << 48
