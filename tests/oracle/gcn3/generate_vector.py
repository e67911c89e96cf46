"""Random vector ALU instructions, and states for them."""
from floats import Fp
from packed import DOTS, HALVES, MIXED
from values import FORMATS, random_value
from vector import FLOAT, INTEGER, WIDTH, find_row
from vector_rows import GFX9, GFX906, ROWS
from wave import LANES, M32

FLOATS = ("0.5", "-0.5", "1.0", "-1.0", "2.0", "-2.0", "4.0", "-4.0", "0.15915494309189532")
SELECTS = ("BYTE_0", "BYTE_1", "BYTE_2", "BYTE_3", "WORD_0", "WORD_1", "DWORD")
SHORTEST = 8  # distinct lanes


def vgpr(rng, kind):
    count = max(WIDTH[kind] // 32, 1)
    index = rng.randrange(0, 24)
    return f"v{index}" if count == 1 else f"v[{index}:{index + count - 1}]"


def sgpr(rng, kind):
    if WIDTH[kind] == 64:
        index = 2 * rng.randrange(0, 20)
        return rng.choice([f"s[{index}:{index + 1}]"] * 3 + ["vcc", "exec"])
    return rng.choice([f"s{rng.randrange(0, 40)}"] * 5 + ["vcc_lo", "vcc_hi", "m0", "exec_lo", "exec_hi", "src_scc",
                                                         "src_vccz", "src_execz", "flat_scratch_lo"])


def constant(rng, kind):
    if kind in FORMATS and rng.random() < 0.6 or kind in ("b32", "u32", "i32") and rng.random() < 0.2:
        text = rng.choice(FLOATS)
        return "0.15915494" if text.startswith("0.159") and kind != "f64" else text
    return str(rng.randrange(-16, 65))


def literal(rng, kind):
    if kind in FORMATS:
        value = random_value(rng, kind)
        return f"{value >> 32 if kind == 'f64' else value:#x}"
    return f"{random_value(rng, 'u16' if WIDTH[kind] == 16 else 'u32'):#x}"


def any_source(rng, kind, literals):
    choice = rng.random()
    if choice < 0.55 or WIDTH[kind] == 128:
        return vgpr(rng, kind)
    if choice < 0.75:
        return sgpr(rng, kind)
    if choice < 0.9 or not literals or kind in ("u64", "i64"):
        return constant(rng, kind)
    return literal(rng, kind)


def with_signs(rng, text, kind):
    """Absolute value and negation, of floats."""
    if kind not in FORMATS and kind != "b32" or rng.random() < 0.5:
        return text
    plain = text[0] in "vs"
    if rng.random() < 0.5:
        text = f"|{text}|" if plain else f"abs({text})"
    if rng.random() < 0.6:
        text = f"-{text}" if plain else f"neg({text})"
    return text


def mask_operand(rng):
    index = 2 * rng.randrange(0, 20)
    return rng.choice(["vcc", f"s[{index}:{index + 1}]", f"s[{index}:{index + 1}]"])


def outputs(rng, row):
    text = ""
    if row.result in FORMATS:
        text += rng.choice(["", "", " mul:2", " mul:4", " div:2"])
        text += rng.choice(["", "", " clamp"])
    elif row.saturates:
        text += rng.choice(["", " clamp"])
    return text


def dpp_control(rng):
    return rng.choice([
        "quad_perm:[{},{},{},{}]".format(*(rng.randrange(4) for _ in range(4))), f"row_shl:{rng.randrange(1, 16)}",
        f"row_shr:{rng.randrange(1, 16)}", f"row_ror:{rng.randrange(1, 16)}", "wave_shl:1", "wave_rol:1", "wave_shr:1",
        "wave_ror:1", "row_mirror", "row_half_mirror", "row_bcast:15", "row_bcast:31"])


def dpp_suffix(rng, whole):
    masks = " row_mask:0xf bank_mask:0xf" if whole or rng.random() < 0.5 else \
        f" row_mask:{rng.randrange(16):#x} bank_mask:{rng.randrange(16):#x}"
    return " " + dpp_control(rng) + masks + (" bound_ctrl:0" if whole or rng.random() < 0.5 else "")


def sdwa_source(rng, kind):
    text = vgpr(rng, kind)
    if kind in FORMATS:
        return with_signs(rng, text, kind)
    return f"sext({text})" if rng.random() < 0.3 and kind != "b32" else text


def sdwa_suffix(rng, row, count):
    text = ""
    if row is not None:
        if row.result in FORMATS and row.result != "f64":
            text += rng.choice(["", "", " clamp"])
        text += f" dst_sel:{rng.choice(SELECTS)} dst_unused:{rng.choice(('UNUSED_PAD', 'UNUSED_SEXT', 'UNUSED_PRESERVE'))}"
    for i in range(count):
        text += f" src{i}_sel:{rng.choice(SELECTS)}"
    return text


def alu_text(rng, name, row, encoding):
    sources = row.sources[:-1] if row.reads_dst else row.sources
    kinds = [kind for kind in sources if kind != "mask"]
    target = vgpr(rng, row.result)
    scalar = mask_operand(rng) if encoding in ("e64", "") else "vcc"
    if encoding == "e32" or "k" in kinds:
        texts = [any_source(rng, kinds[0], "k" not in kinds)]
        texts += [f"{random_value(rng, row.result):#x}" if kind == "k" else vgpr(rng, kind) for kind in kinds[1:]]
        suffix = ""
    elif "quotient" in row.avoid or "small" in row.avoid:
        texts = [f"v[{8 * i}:{8 * i + 1}]" if WIDTH[row.result] == 64 else f"v{8 * i}" for i in range(3)]
        if "small" in row.avoid:
            texts = [with_signs(rng, text, row.result) for text in texts]
        suffix = ""
    elif row.forms == "d":
        texts = [vgpr(rng, kind) for kind in kinds]
        suffix = rng.choice(["", " clamp"])
    elif encoding in ("e64", ""):
        texts = [any_source(rng, kind, False) for kind in kinds]
        if name.startswith("v_div_scale"):
            texts[0] = rng.choice(texts[1:])
        if not row.no_modifiers and not row.carry_out:
            texts = [with_signs(rng, text, kind) for text, kind in zip(texts, kinds)]
        suffix = outputs(rng, row) if not row.no_modifiers and not name.startswith("v_div_scale") else ""
    elif encoding == "sdwa":
        texts = [sdwa_source(rng, kind) for kind in kinds]
        suffix = sdwa_suffix(rng, row, len(kinds))
    else:
        texts = [with_signs(rng, vgpr(rng, kind), kind if kind != "b32" else "u32") for kind in kinds]
        suffix = dpp_suffix(rng, row.carry_out)
    operands = [target] + ([scalar] if row.carry_out else []) + texts
    if row.carry_in:
        operands.append(mask_operand(rng) if encoding == "e64" else "vcc")
    return (f"{name}_{encoding}" if encoding and "k" not in kinds else name) + " " + ", ".join(operands) + suffix


ENCODINGS = {"1": ("e32", "e32", "e64", "sdwa", "dpp"), "2": ("e32", "e32", "e64", "sdwa", "dpp"), "3": ("",), "d": ("",)}


def compare_rows():
    names = {}
    for x in ("", "x"):
        for kind in ("f16", "f32", "f64"):
            for condition in FLOAT:
                names[f"v_cmp{x}_{condition}_{kind}"] = (kind, kind)
            names[f"v_cmp{x}_class_{kind}"] = (kind, "u32")
        for kind in ("i16", "u16", "i32", "u32", "i64", "u64"):
            for condition in INTEGER:
                if condition != "lg":
                    names[f"v_cmp{x}_{condition}_{kind}"] = (kind, kind)
    return names


COMPARES = compare_rows()


def compare_text(rng, name, encoding):
    first, second = COMPARES[name]
    if encoding == "e32":
        return f"{name}_e32 vcc, {any_source(rng, first, True)}, {vgpr(rng, second)}"
    if encoding == "e64":
        texts = [with_signs(rng, any_source(rng, kind, False), kind) for kind in (first, second)]
        return f"{name}_e64 {mask_operand(rng)}, {texts[0]}, {texts[1]}"
    return f"{name}_sdwa vcc, {sdwa_source(rng, first)}, {sdwa_source(rng, second)}" + sdwa_suffix(rng, None, 2)


LANE_ROWS = {
    "v_readfirstlane_b32": lambda rng: f"v_readfirstlane_b32 s{rng.randrange(40)}, v{rng.randrange(24)}",
    "v_readlane_b32": lambda rng: f"v_readlane_b32 s{rng.randrange(40)}, v{rng.randrange(24)}, "
                                  + rng.choice([f"s{rng.randrange(40)}", "m0", str(rng.randrange(64))]),
    "v_writelane_b32": lambda rng: f"v_writelane_b32 v{rng.randrange(24)}, "
                                   + rng.choice([f"s{rng.randrange(40)}, {rng.randrange(64)}", f"{rng.randrange(-16, 64)}, "
                                                 + f"s{rng.randrange(40)}", "m0, 7", "vcc_lo, 63", "3.0, m0"]),
    "v_movrels_b32": lambda rng: f"v_movrels_b32_e32 v{rng.randrange(24)}, v{rng.randrange(24)}",
    "v_movreld_b32": lambda rng: f"v_movreld_b32_e32 v{rng.randrange(24)}, v{rng.randrange(24)}",
    "v_movrelsd_b32": lambda rng: f"v_movrelsd_b32_e32 v{rng.randrange(24)}, v{rng.randrange(24)}",
}
LANE_ROWS9 = {"v_swap_b32": lambda rng: f"v_swap_b32 v{rng.randrange(24)}, v{rng.randrange(24)}"}


def packed_text(rng, name):
    row = ROWS["v_fma_f32"] if name in DOTS else HALVES.get(name) or ROWS[MIXED[name][0]]
    count = len(row.sources)
    texts = [f"v{rng.randrange(24)}" if rng.random() < 0.8 else f"s{rng.randrange(40)}" for _ in range(count)]
    marks = lambda: "[" + ",".join(str(rng.getrandbits(1)) for _ in range(count)) + "]"
    suffix = f" op_sel:{marks()} op_sel_hi:{marks()}" if name not in DOTS else \
        f" op_sel:{marks()[:-2]}0] op_sel_hi:{marks()[:-2]}1]"
    if name in MIXED:
        texts = [with_signs(rng, text, "f32") for text in texts]
    elif row.result == "f16" or name in DOTS:
        suffix += f" neg_lo:{marks()} neg_hi:{marks()}"
    if row.result == "f16" or row.saturates or name in MIXED or name in DOTS:
        suffix += rng.choice(["", "", " clamp"])
    return f"{name} v{rng.randrange(24)}, " + ", ".join(texts) + suffix


def lines(rng, gfx):
    """Yields (name, a function that makes a text)."""
    for name, row in {**ROWS, **(GFX9 if gfx == 9 else {})}.items():
        if gfx == row.gfx:
            yield name, lambda name=name, row=row: alu_text(rng, name, row, rng.choice(ENCODINGS[row.forms]))
    if gfx == 8:
        for name in COMPARES:
            yield name, lambda name=name: compare_text(rng, name, rng.choice(("e32", "e32", "e64", "e64", "sdwa")))
    packed = {9: [*HALVES, *(name for name in MIXED if "mad" in name)], 
              GFX906: [*DOTS, *(name for name in MIXED if "fma" in name)]}
    for name in packed.get(gfx, ()):
        yield name, lambda name=name: packed_text(rng, name)
    for name, make in {8: LANE_ROWS, 9: LANE_ROWS9}.get(gfx, {}).items():
        yield name, lambda make=make: make(rng)


# States
def fill(rng, wave, index, kind, avoid, period):
    """Registers of one operand, with few distinct lanes."""
    count = max(WIDTH[kind] // 32, 1)
    if period == LANES:
        pool = [random_value(rng, kind, avoid) for _ in range(SHORTEST)]
        values = [rng.choice(pool) for _ in range(LANES)]
    else:
        values = [random_value(rng, kind, avoid) for _ in range(period)]
    if WIDTH[kind] == 16:
        high = rng.choice([0, rng.getrandbits(16)])
        values = [value | high << 16 for value in values]
    for lane in range(LANES):
        for i in range(count):
            wave.vgpr[index + i][lane] = values[lane % len(values)] >> 32 * i & M32


def fill_scalars(rng, wave, kind, avoid):
    """All SGPRs get values of one type."""
    width = WIDTH[kind]
    for index in range(0, 102, 2):
        value = random_value(rng, kind, avoid)
        if width == 64:
            wave.sgpr[index], wave.sgpr[index + 1] = value & M32, value >> 32
        else:
            wave.sgpr[index], wave.sgpr[index + 1] = value & M32, random_value(rng, kind, avoid) & M32


def near_pairs(rng, wave, instruction, kinds, avoid):
    """Sometimes two float sources are nearly the same, up to sign. What is near infinity is a signaling NaN."""
    vectors = [op for op, kind in zip(instruction.operands[-len(kinds):], kinds) if op.kind == "v" and kind == "f32"]
    if len(vectors) >= 2 and "snan" not in avoid and rng.random() < 0.25:
        a, b = vectors[0].index, vectors[1].index
        for lane in range(LANES):
            wave.vgpr[b][lane] = wave.vgpr[a][lane] ^ (lane % SHORTEST & 1) ^ (lane % SHORTEST >> 1 & 1) << 31


def quotients(wave, instruction, row):
    """v_div_fixup: the first source is the correctly rounded quotient."""
    fmt = FORMATS[row.result]
    operands = instruction.operands[1:]
    if any(op.kind != "v" or op.absolute or op.negate for op in operands):
        return False
    count = max(WIDTH[row.result] // 32, 1)
    first, denominator, numerator = (op.index for op in operands)
    if min(abs(first - denominator), abs(first - numerator)) < count:
        return False
    mask = (1 << WIDTH[row.result]) - 1
    for lane in range(LANES):
        n, d = (sum(wave.vgpr[i + k][lane] << 32 * k for k in range(count)) & mask for i in (numerator, denominator))
        sign = (n ^ d) & fmt.sign
        if fmt.is_nan(n) or fmt.is_nan(d) or fmt.is_inf(n) or fmt.is_zero(d):
            q = fmt.inf | sign
        elif fmt.is_inf(d):
            q = sign
        else:
            q = Fp(fmt).make(fmt.value(n) / fmt.value(d), bool(sign))
        for k in range(count):
            wave.vgpr[first + k][lane] = q >> 32 * k & M32
    return True


def far_quotients(rng, wave, instruction, row):
    """v_div_fmas: a quotient that was scaled is far from 1, on either side."""
    fmt, register = FORMATS[row.result], instruction.operands[3].index
    count = WIDTH[row.result] // 32
    values = [fmt.sign * rng.getrandbits(1) | (fmt.bias + rng.choice([-1, 1]) * rng.randrange(40, 60)) << fmt.mant
              | rng.getrandbits(fmt.mant) for _ in range(SHORTEST)]
    for lane in range(LANES):
        for i in range(count):
            wave.vgpr[register + i][lane] = values[lane % SHORTEST] >> 32 * i & M32


def setup_packed(rng, wave, instruction):
    """Halves of registers are f16 or integers; mixed sources are no f16 denormals, whose treatment is not known."""
    mixes = instruction.name in MIXED or instruction.name in DOTS
    kind = "f16" if instruction.name.endswith("f16") or mixes else "u16"
    avoid = ("denormal",) if mixes else ()
    for index in range(40):
        pool = [random_value(rng, kind, avoid) | random_value(rng, kind, avoid) << 16 for _ in range(SHORTEST)]
        wave.sgpr[index] = pool[0]
        wave.vgpr[index] = [pool[lane % SHORTEST] for lane in range(LANES)]
    return True


def setup(rng, wave, instruction):
    """Fills what the instruction reads. False: this text cannot have a settled state."""
    if instruction.name in HALVES or instruction.name in MIXED or instruction.name in DOTS:
        return setup_packed(rng, wave, instruction)
    row = find_row(instruction.name, wave.gfx)
    compare = COMPARES.get(instruction.name)
    cross = instruction.encoding == "dpp" or (row is not None and row.wide) or row is None and compare is None
    period = LANES if cross and rng.random() < 0.7 else SHORTEST
    avoid = row.avoid if row else ()
    if row is not None:
        kinds = [kind for kind in row.sources if kind not in ("mask", "k")]
        operands = [op for op, kind in zip(instruction.operands[1 + row.carry_out:] + instruction.operands[:1], row.sources)
                    if kind not in ("mask", "k")]
    elif compare is not None:
        kinds, operands = compare, instruction.operands[1:]
    else:
        kinds, operands = ["u32"] * len(instruction.operands), instruction.operands
        wave.special["m0"] = rng.randrange(0, 8) if "movrel" in instruction.name else rng.getrandbits(32)
        for index in range(32):
            fill(rng, wave, index, "u32", (), period)
    for index in range(28):  # of results, and of what SDWA and relative accesses read
        fill(rng, wave, index, "u32", (), 4) if row is not None or compare is not None else None
    fill_scalars(rng, wave, kinds[0] if kinds else "u32", avoid)
    for operand, kind in zip(operands, kinds):
        if operand.kind == "v":
            fill(rng, wave, operand.index, kind, avoid, period)
    near_pairs(rng, wave, instruction, kinds, avoid)
    if row is not None and instruction.encoding == "e32" and not row.reads_dst and rng.random() < 0.05:
        wave.special["mode"] |= 1 << 27  # VGPR indexing
        wave.special["m0"] = rng.randrange(4) | rng.getrandbits(4) << 12
    if "small" in avoid:
        far_quotients(rng, wave, instruction, row)
    if "byte_shift" in avoid:
        count = instruction.operands[3]
        if count.kind == "v":
            wave.vgpr[count.index] = [value & 3 for value in wave.vgpr[count.index]]
        elif count.kind != "int" or not 0 <= count.value < 4:
            return False
    if "rounding" in avoid:
        wave.special["mode"] = wave.special["mode"] & ~0xF | (wave.special["mode"] & 3) * 5
    if "quotient" in avoid:
        return quotients(wave, instruction, row)
    return True


def settled(before, after, instruction):
    """Whether the results are ones that the manual settles."""
    row = find_row(instruction.name, after.gfx)
    if row is None:
        return True
    avoid = row.avoid
    modifiers = instruction.modifiers
    partial = instruction.encoding == "sdwa" and modifiers.get("dst_sel", "DWORD") != "DWORD"
    if partial and (row.ulps or row.any_zero or "clamp" in modifiers and row.result in FORMATS):
        return False
    if row.result not in FORMATS:
        return True
    fmt = FORMATS[row.result]
    first, count = instruction.operands[0].index, max(WIDTH[row.result] // 32, 1)
    for lane in range(LANES):
        if not after.lanes.get(first, 0) >> lane & 1:
            continue
        value = sum(after.vgpr[first + i][lane] << 32 * i for i in range(count)) & ((1 << fmt.width) - 1)
        if "small" in avoid and fmt.exponent(value) <= 1:
            return False
    if partial:
        return no_nan_inputs(before, instruction, row)
    if "huge" in avoid:
        return no_huge_denominator(before, instruction, row)
    return not untrusted_constants(instruction, row)


def no_nan_inputs(before, instruction, row):
    """A partly written NaN could not be compared."""
    values = [word for op in instruction.operands if op.kind == "v" for word in before.vgpr[op.index]]
    for value in values:
        for half in (value, value & 0xFFFF, value >> 16):
            for fmt in FORMATS.values():
                if fmt.width <= 32 and (fmt.is_nan(half & ((1 << fmt.width) - 1)) or fmt.is_inf(half & ((1 << fmt.width) - 1))):
                    return False
    return True


def no_huge_denominator(before, instruction, row):
    fmt = FORMATS[row.result]
    operand = instruction.operands[3]
    if operand.kind != "v":
        return False
    count = max(WIDTH[row.result] // 32, 1)
    for lane in range(LANES):
        value = sum(before.vgpr[operand.index + i][lane] << 32 * i for i in range(count))
        if fmt.exponent(value) >= fmt.max_exp - 2:
            return False
    return not untrusted_constants(instruction, row)


def untrusted_constants(instruction, row):
    """Inline integers are denormals to a float instruction; special registers have any bits."""
    floats = [op for op, kind in zip(instruction.operands[1 + row.carry_out:], row.sources) if kind in FORMATS]
    trusted = ("v", "s", "float") if "denormal" in row.avoid else ("v", "s", "float", "int")
    return bool(row.avoid) and any(op.kind not in trusted for op in floats)
