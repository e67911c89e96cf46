"""Random LDS, scalar, flat and buffer memory instructions, and states for them."""
import re

import formats
from memory import WIDTHS
from values import random_integer
from wave import LANES, M32

MEMORY_AT = 0x7F0000000000  # all memory of a case lies in one range from here
MEMORY_SIZE = 1 << 20
LDS_SIZE = 1 << 15
SHARED_BASE, PRIVATE_BASE, SCRATCH_AT = 0x00010000, 0x00020000, MEMORY_AT + (1 << 19)
LANE_SCRATCH = 64  # bytes of flat scratch that a lane has

INTEGER_ATOMICS = ("add", "sub", "rsub", "inc", "dec")
ORDERED = ("min", "max")
BITWISE = ("and", "or", "xor")
COMMUTING = ("add", "and", "or", "xor", "umin", "umax", "smin", "smax", "min", "max")


def registers(rng, kind, count, first=0):
    index = first + rng.randrange(0, 8)
    return f"{kind}{index}" if count == 1 else f"{kind}[{index}:{index + count - 1}]"


def vectors(rng, count, slot):
    """A VGPR operand; operands of different slots do not overlap."""
    return registers(rng, "v", count, 16 * slot)


# LDS
def ds_offset(rng, step):
    return rng.choice(["", f" offset:{step * rng.randrange(0, 64)}"])


def ds_names():
    """name -> (result words, data operands, words of each)."""
    names = {}
    for bits, count in (("b32", 1), ("b64", 2), ("b96", 3), ("b128", 4)):
        names[f"ds_read_{bits}"] = (count, 0, 0)
        names[f"ds_write_{bits}"] = (0, 1, count)
    for kind in ("u8", "i8", "u16", "i16"):
        names[f"ds_read_{kind}"] = (1, 0, 0)
    for kind in ("b8", "b16"):
        names[f"ds_write_{kind}"] = (0, 1, 1)
    for width, count in (("32", 1), ("64", 2)):
        for suffix in ("2", "2st64"):
            names[f"ds_read{suffix}_b{width}"] = (2 * count, 0, 0)
            names[f"ds_write{suffix}_b{width}"] = (0, 2, count)
            names[f"ds_wrxchg{suffix}_rtn_b{width}"] = (2 * count, 2, count)
        plain = [f"{op}_u" for op in INTEGER_ATOMICS] + [f"{op}_{kind}" for op in ORDERED for kind in "iuf"]
        plain += [f"{op}_b" for op in BITWISE] + (["add_f"] if width == "32" else [])
        for name in plain:
            op, kind = name.split("_")
            names[f"ds_{op}_{kind}{width}"] = (0, 1, count)
            names[f"ds_{op}_rtn_{kind}{width}"] = (count, 1, count)
            if name != "add_f":
                names[f"ds_{op}_src2_{kind}{width}"] = (0, 0, 0)
        names[f"ds_write_src2_b{width}"] = (0, 0, 0)
        for name in ("mskor_b", "cmpst_b", "cmpst_f"):
            op, kind = name.split("_")
            names[f"ds_{op}_{kind}{width}"] = (0, 2, count)
            names[f"ds_{op}_rtn_{kind}{width}"] = (count, 2, count)
        names[f"ds_wrxchg_rtn_b{width}"] = (count, 1, count)
    names["ds_wrap_rtn_b32"] = (1, 2, 1)
    return names


DS = ds_names()
DS_HALVES = {f"ds_read_{kind}_d16{half}": (1, 0, 0) for kind in ("u8", "i8", "u16") for half in ("", "_hi")}
DS_HALVES.update({f"ds_write_{kind}_d16_hi": (0, 1, 1) for kind in ("b8", "b16")})


def ds_text(rng, name):
    result, data, count = {**DS, **DS_HALVES}[name]
    operands = [vectors(rng, result, 0)] if result else []
    operands.append(vectors(rng, 1, 1))
    operands += [vectors(rng, count, 2 + i) for i in range(data)]
    if "2st64" in name:
        suffix = f" offset0:{rng.randrange(0, 4)} offset1:{rng.randrange(4, 8)}"
    elif re.search(r"(read|write|wrxchg)2_", name):
        suffix = f" offset0:{rng.randrange(0, 8)} offset1:{rng.randrange(8, 16)}"
    elif "src2" in name:
        suffix = f" offset:{rng.choice([256, 512, 0x7F00])}"
    else:
        suffix = ds_offset(rng, 16)
    return f"{name} " + ", ".join(operands) + suffix


def swizzle_text(rng):
    pattern = 0x8000 | rng.getrandbits(8) if rng.getrandbits(1) else rng.getrandbits(15)
    return f"ds_swizzle_b32 v{rng.randrange(8)}, v{rng.randrange(8)} offset:{pattern:#x}"


def permute_text(rng, name):
    return f"{name} v{rng.randrange(8)}, v{rng.randrange(8, 16)}, v{rng.randrange(16, 24)}{ds_offset(rng, 4)}"


# Scalar memory
def scalar_text(rng, name):
    count = int(name.partition("x")[2] or 1)
    first = 40 + 4 * rng.randrange(0, 4)
    data = f"s{first}" if count == 1 else f"s[{first}:{first + count - 1}]"
    if "buffer" in name:
        index = 4 * rng.randrange(0, 8)
        base = f"s[{index}:{index + 3}]"
    else:
        index = 2 * rng.randrange(0, 16)
        base = f"s[{index}:{index + 1}]"
    offset = rng.choice([f"{rng.randrange(0, 4096):#x}", "m0"] if "store" in name else [f"{rng.randrange(0, 4096):#x}",
                                                                                      "m0", f"s{rng.randrange(32, 40)}"])
    return f"{name} {data}, {base}, {offset}"


def scalar_atomic_text(rng, access, is_buffer):
    count, _ = access_words(access)
    first = 40 + 4 * rng.randrange(0, 4)
    data = f"s{first}" if count == 1 else f"s[{first}:{first + count - 1}]"
    index = 4 * rng.randrange(0, 8)
    base, prefix = (f"s[{index}:{index + 3}]", "s_buffer_") if is_buffer else (f"s[{index}:{index + 1}]", "s_")
    offset = rng.choice([f"{rng.randrange(0, 4096):#x}", "m0"])
    return f"{prefix}{access} {data}, {base}, {offset}" + rng.choice(["", " glc"])


SCALAR = [f"s_{buffer}{way}_dword{suffix}" for buffer in ("", "buffer_") for way, suffixes in
          (("load", ("", "x2", "x4", "x8", "x16")), ("store", ("", "x2", "x4"))) for suffix in suffixes]

SCRATCH = [f"s_scratch_{way}_dword{suffix}" for way in ("load", "store") for suffix in ("", "x2", "x4")]

# Vector memory
ATOMIC_NAMES = ("swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or", "xor", "inc", "dec")
LOADS = ("ubyte", "sbyte", "ushort", "sshort", "dword", "dwordx2", "dwordx3", "dwordx4")
STORES = ("byte", "short", "dword", "dwordx2", "dwordx3", "dwordx4")
ACCESSES = [f"load_{kind}" for kind in LOADS] + [f"store_{kind}" for kind in STORES] + \
    [f"atomic_{name}{wide}" for name in ATOMIC_NAMES for wide in ("", "_x2")]


HALVES = [f"load_{kind}_d16{half}" for kind in ("ubyte", "sbyte", "short") for half in ("", "_hi")] + \
    ["store_byte_d16_hi", "store_short_d16_hi"]


def access_words(access):
    """Registers of the data, and of what an atomic returns."""
    kind, _, rest = access.partition("_")
    if kind != "atomic":
        return max(WIDTHS[rest.partition("_")[0]][0] // 4, 1), 0
    width = 2 if rest.endswith("_x2") else 1
    return width * (2 if rest.startswith("cmpswap") else 1), width


def flat_text(rng, family, access):
    count, returned = access_words(access)
    based = family == "global" and rng.getrandbits(1)  # a scalar base, and 32 bits of each lane
    address, data = vectors(rng, 1 if based else 2, 1), vectors(rng, count, 2)
    suffix = f" offset:{rng.randrange(-4096, 4096) & ~15}" if family == "global" and rng.getrandbits(1) else ""
    base = 2 * rng.randrange(0, 16)
    end = f", s[{base}:{base + 1}]" if based else ", off" if family == "global" else ""
    if access.startswith("load"):
        return f"{family}_{access} {vectors(rng, count, 0)}, {address}{end}{suffix}"
    if returned and rng.getrandbits(1):
        return f"{family}_{access} {vectors(rng, returned, 0)}, {address}, {data}{end}{suffix} glc"
    return f"{family}_{access} {address}, {data}{end}{suffix}"


TYPED = [f"{way}_format_{part}" for way in ("load", "store") for part in ("x", "xy", "xyz", "xyzw")]


TYPED_HALVES = {8: ["x", "xy", "xyz", "xyzw"], 9: ["x", "xy", "xyzw", "hi_x"]}  # xyz of gfx9: half of a register is not settled


def typed_halves(gfx):
    return [f"{way}_format_d16_{part}" for way in ("load", "store") for part in TYPED_HALVES[gfx]]


def buffer_text(rng, access, packed=False):
    count = len(access.split("_")[-1]) if "format" in access else access_words(access)[0]
    count = (count + 1) // 2 if packed else count
    mode = rng.choice(["off", "offen", "idxen", "idxen offen"])
    address = {"off": "off", "idxen offen": vectors(rng, 2, 1)}.get(mode) or vectors(rng, 1, 1)
    resource = 4 * rng.randrange(0, 8)
    offset = rng.choice(["0", f"s{rng.randrange(40, 50)}", "16"])
    suffix = "" if mode == "off" else f" {mode}"
    if rng.getrandbits(1):
        suffix += f" offset:{4 * rng.randrange(1, 16)}"
    if access.startswith("atomic") and rng.getrandbits(1):
        suffix += " glc"
    return f"buffer_{access} {vectors(rng, count, 0)}, {address}, s[{resource}:{resource + 3}], {offset}{suffix}"


TO_LDS = [f"load_{kind}" for kind in ("ubyte", "sbyte", "ushort", "sshort", "dword", "format_x")]


def lds_text(rng, access):
    """No VGPR has the data."""
    return re.sub(r" v\d+,", "", buffer_text(rng, access), count=1) + " lds"


def from_lds_text(rng):
    offset = rng.choice(["", f" offset:{4 * rng.randrange(1, 16)}"])
    first = 4 * rng.randrange(0, 8)
    return f"buffer_store_lds_dword s[{first}:{first + 3}], s{rng.randrange(40, 50)}{offset} lds"


def lines(rng, gfx):
    if gfx > 9:
        return
    if gfx == 9:
        for access in ACCESSES + HALVES:
            yield f"global_{access}", lambda access=access: flat_text(rng, "global", access)
        for access in HALVES:
            yield f"flat_{access}", lambda access=access: flat_text(rng, "flat", access)
            yield f"buffer_{access}", lambda access=access: buffer_text(rng, access)
        for access in [access for access in ACCESSES if access.startswith("atomic")]:
            yield f"s_{access}", lambda access=access: scalar_atomic_text(rng, access, False)
            yield f"s_buffer_{access}", lambda access=access: scalar_atomic_text(rng, access, True)
        for name in DS_HALVES:
            yield name, lambda name=name: ds_text(rng, name)
        for name in SCRATCH:
            yield name, lambda name=name: scalar_text(rng, name)
        for access in typed_halves(9):
            yield f"buffer_{access}", lambda access=access: buffer_text(rng, access, True)
        return
    for name in DS:
        yield name, lambda name=name: ds_text(rng, name)
    yield "ds_swizzle_b32", lambda: swizzle_text(rng)
    for name in ("ds_permute_b32", "ds_bpermute_b32"):
        yield name, lambda name=name: permute_text(rng, name)
    for name in ("ds_append", "ds_consume"):
        yield name, lambda name=name: f"{name} v{rng.randrange(8)}{ds_offset(rng, 4)}"
    for name in SCALAR:
        yield name, lambda name=name: scalar_text(rng, name)
    for access in ACCESSES:
        yield f"flat_{access}", lambda access=access: flat_text(rng, "flat", access)
        yield f"buffer_{access}", lambda access=access: buffer_text(rng, access)
    for access in TYPED + typed_halves(8):
        yield f"buffer_{access}", lambda access=access: buffer_text(rng, access)
    for access in TO_LDS:
        yield f"buffer_{access} lds", lambda access=access: lds_text(rng, access)
    yield "buffer_store_lds_dword", lambda: from_lds_text(rng)


# States
def few_lanes(rng):
    """Most cases have few active lanes: what they touch is stored."""
    choice = rng.random()
    if choice < 0.1:
        return rng.getrandbits(64)
    return sum(1 << rng.randrange(LANES) for _ in range(rng.randrange(1, 7))) & ((1 << 64) - 1)


def random_bytes(rng, size, kind):
    """Memory repeats a few words, which keeps the file small."""
    def word():
        if kind == "f32":
            return finite(rng)
        return random_integer(rng, 32)
    pool = [word() for _ in range(8)]
    part = b"".join(rng.choice(pool).to_bytes(4, "little") for _ in range(256))
    return bytearray(part * (size // len(part)))


def finite(rng):
    """An f32 whose sums stay normal: LDS's treatment of denormals and NaNs is not in the manual."""
    return rng.getrandbits(1) << 31 | rng.randrange(110, 140) << 23 | rng.getrandbits(23)


def finite64(rng):
    return rng.getrandbits(1) << 63 | rng.randrange(1000, 1040) << 52 | rng.getrandbits(52)


def fill_data(rng, wave, kind):
    for index in range(64):
        pool = [finite(rng) if kind in ("f32", "f64") else random_integer(rng, 32) for _ in range(4)]
        for lane in range(LANES):
            wave.vgpr[index][lane] = pool[lane % 4]


def repeat_values(rng, wave, operands, words_of):
    """So that compare-and-swap sometimes succeeds, memory and compared data are made of the same words."""
    data = [wave.vgpr[op.index][0] if op.kind == "v" else wave.sgpr[op.index + op.count // 2] for op in operands
            if op.kind == "v" or len(operands) == 1]
    part = bytearray(words_of[:1024])
    for index in range(0, len(part), 4):
        if rng.random() < 0.4:
            part[index:index + 4] = rng.choice(data).to_bytes(4, "little")
    words_of[:] = part * (len(words_of) // len(part))


def inner_offset(rng, name):
    """Bytes and shorts need not lie at the beginning of a dword."""
    if re.search(r"byte|_[iub]8(_|$)", name):
        return rng.randrange(4)
    return 2 * rng.randrange(2) if re.search(r"short|_[iub]16(_|$)", name) else 0


def slots(rng, name, span, shared):
    """For each lane an offset; all differ unless shared."""
    size = access_size(name)
    offsets = coarse_slots(rng, size, span, shared)
    return [offset + inner_offset(rng, name) for offset in offsets]


def coarse_slots(rng, size, span, shared):
    places = list(range(0, span, size))
    if shared:
        few = rng.sample(places, 3)
        return [rng.choice(few) for _ in range(LANES)]
    return rng.sample(places, LANES)


def access_size(name):
    """Bytes between the accesses of two lanes."""
    return 16 if re.search(r"b96|b128|x3|x4|x2|64|2_b|format", name) else 4


def may_share(instruction):
    """Lanes may meet at one address when their order does not matter."""
    name = instruction.name
    if re.search(r"(^|_)(load|read)", name):
        return True
    returns = "_rtn" in name or "glc" in instruction.modifiers
    op = re.sub(r"^(ds|flat|global|buffer)_(atomic_)?", "", name).split("_")[0]
    return op in COMMUTING and not returns and "src2" not in name and "_f" not in name


def set_address(wave, index, values):
    for lane in range(LANES):
        wave.vgpr[index][lane] = values[lane] & M32


def setup_ds(rng, wave, instruction):
    name = instruction.name
    kind = "f32" if re.search(r"_f(32|64)$", name) else "u32"
    wave.special["m0"] = rng.choice([M32, M32, LDS_SIZE, 0x10000])
    wave.lds = random_bytes(rng, LDS_SIZE, kind)
    fill_data(rng, wave, kind)
    if name in ("ds_append", "ds_consume"):
        wave.special["m0"] = 4 * rng.randrange(64) << 16 | 0xFFFF
        return True
    if "permute" in name or "swizzle" in name:
        wave.special["exec"] = rng.choice([(1 << 64) - 1, rng.getrandbits(64), wave.special["exec"]])
        for index in range(24):
            pool = [random_integer(rng, 32) for _ in range(8)]
            set_address(wave, index, [rng.choice(pool) for _ in range(LANES)])
        if "permute" in name:
            lanes = rng.sample(range(LANES), LANES) if name == "ds_permute_b32" else [rng.randrange(LANES) for _ in range(LANES)]
            set_address(wave, instruction.operands[1].index, [4 * lane + rng.choice([0, 256]) for lane in lanes])
        return True
    wave.special["exec"] = few_lanes(rng)
    address = next(op for op in instruction.operands if op.kind == "v" and 16 <= op.index < 32)
    if "src2" in name:
        offsets = [0x1000 + 8 * place for place in rng.sample(range(16), 16)] * 4
        if len({offsets[lane] for lane in range(LANES) if wave.special["exec"] >> lane & 1}) < wave.special["exec"].bit_count():
            return False
    elif re.search(r"2(st64)?(_rtn)?_b", name):
        # Both places of all lanes must differ: pairs of places far apart.
        wave.special["exec"] = wave.special["exec"] & -wave.special["exec"] if "read" not in name else wave.special["exec"]
        offsets = [16 * rng.randrange(64) for _ in range(LANES)]
    else:
        offsets = slots(rng, name, 0x2000, may_share(instruction))
        if rng.random() < 0.15:  # some lanes are outside
            offsets = [LDS_SIZE + 0x10000 if rng.random() < 0.3 else offset for offset in offsets]
        elif rng.random() < 0.15:  # some addresses are negative, and the offset makes them good
            offsets = [offset % 64 - instruction.number("offset") & M32 if may_share(instruction) else offset
                       for offset in offsets]
    set_address(wave, address.index, offsets)
    if "cmpst" in name:
        repeat_values(rng, wave, instruction.operands, wave.lds)
    if "f64" in name:
        pool = [finite64(rng) for _ in range(8)]
        wave.lds = bytearray(b"".join(rng.choice(pool).to_bytes(8, "little") for _ in range(LDS_SIZE // 8)))
        for op in instruction.operands:
            if op.count == 2:
                for lane in range(LANES):
                    value = rng.choice(pool)
                    wave.vgpr[op.index][lane], wave.vgpr[op.index + 1][lane] = value & M32, value >> 32
    return True


def setup_memory(rng, wave):
    wave.memory = [(MEMORY_AT, random_bytes(rng, MEMORY_SIZE, "u32"))]
    wave.special["exec"] = few_lanes(rng)
    fill_data(rng, wave, "u32")


def setup_scalar(rng, wave, instruction):
    setup_memory(rng, wave)
    for index in range(102):
        wave.sgpr[index] = random_integer(rng, 32)
    for index in range(32, 40):
        wave.sgpr[index] = rng.randrange(0, 4096)
    wave.special["m0"] = rng.randrange(0, 4096)
    if "scratch" in instruction.name:
        wave.sgpr[32:40] = [rng.randrange(0, 512) for _ in range(8)]
        wave.special["m0"] = rng.randrange(0, 512)
    base = instruction.operands[1].index
    address = MEMORY_AT + 4 * rng.randrange(0, 1024)
    wave.sgpr[base], wave.sgpr[base + 1] = address & M32, address >> 32
    if "buffer" in instruction.name:
        stride = rng.choice([0, 4, 16])
        wave.sgpr[base + 1] |= stride << 16
        # What a load outside of the buffer returns, the manual does not say.
        small = rng.randrange(1, 1024) * 4 // max(stride, 1)
        wave.sgpr[base + 2] = rng.choice([1 << 16, small]) if "store" in instruction.name else 1 << 16
    if "cmpswap" in instruction.name:
        repeat_values(rng, wave, instruction.operands[:1], wave.memory[0][1])
    return True


def setup_flat(rng, wave, instruction):
    setup_memory(rng, wave)
    address = next(op for op in instruction.operands if op.kind == "v" and 16 <= op.index < 32)
    offsets = slots(rng, instruction.name, 0x1000, may_share(instruction))
    high, base = MEMORY_AT >> 32, (MEMORY_AT & M32) + 0x4000
    if instruction.name.startswith("flat"):
        wave.shared_base, wave.private_base, wave.scratch_base = SHARED_BASE, PRIVATE_BASE, SCRATCH_AT
        wave.special["m0"] = M32
        wave.lds = random_bytes(rng, LDS_SIZE, "u32")
        wave.special["flat_scratch"] = rng.randrange(16) << 32 | LANE_SCRATCH
        choice = rng.random()
        if choice < 0.15:
            high, base = SHARED_BASE, 0
        elif choice < 0.3 and "atomic" not in instruction.name:
            high, base, offsets = PRIVATE_BASE, 0, [offset % LANE_SCRATCH & ~12 for offset in offsets]
    if instruction.operands[-1].kind == "s":  # its lanes' part is not negative
        scalar = instruction.operands[-1].index
        wave.sgpr[scalar], wave.sgpr[scalar + 1], base = base, high, 0
    for lane in range(LANES):
        wave.vgpr[address.index][lane] = base + offsets[lane] & M32
        if address.count == 2:
            wave.vgpr[address.index + 1][lane] = high
    if "cmpswap" in instruction.name:
        vectors_only = [op for op in instruction.operands if op.kind == "v"]
        repeat_values(rng, wave, vectors_only, wave.memory[0][1])
    return True


def resource(rng, wave, index, kind):
    """Writes a V#. Returns the stride."""
    base = MEMORY_AT + 0x8000 + 16 * rng.randrange(64)
    stride, records, swizzled, element, group, add_tid = 0, 0x4000, 0, 1, 3, 0
    if kind == "stride":
        stride = rng.choice([4, 16, 64])
        records = rng.choice([0x4000, 0x400])
    elif kind == "swizzled":
        stride, records, swizzled = rng.choice([64, 128]), rng.choice([64, 48]), 1
        element, group = rng.choice([1, 2, 3]), rng.randrange(4)
    elif kind == "scratch":
        records, swizzled, add_tid = M32, 1, 1
    value = base | stride << 48 | swizzled << 63 | records << 64
    value |= (4 << 111 if kind != "scratch" else 0) | element << 115 | group << 117 | add_tid << 119
    for i in range(4):
        wave.sgpr[index + i] = value >> 32 * i & M32
    return stride, 2 << element


def set_type(rng, wave, index, is_load, is_half):
    """Formats of a V#. Stores to short floats are left out: their rounding is not in the manual. So are two
    registers that store one component."""
    data = rng.choice(list(formats.FORMATS))
    number = rng.choice(formats.numbers_of(data))
    chosen = rng.choices([0, 1, 4, 5, 6, 7], k=4) if is_load else rng.sample([4, 5, 6, 7], 4)
    selects = sum(one << 3 * i for i, one in enumerate(chosen))
    wave.sgpr[index + 3] = wave.sgpr[index + 3] & ~0x7FFFF | data << 15 | number << 12 | selects
    if is_half and number in (formats.USCALED, formats.SSCALED, formats.FLOAT):
        return False  # more than a half holds
    return is_load or number != formats.FLOAT or 32 in formats.FORMATS[data]


def setup_buffer(rng, wave, instruction):
    setup_memory(rng, wave)
    size = access_size(instruction.name)
    descriptor = instruction.operands[-2]
    address = instruction.operands[-3] if len(instruction.operands) > 2 else None
    if "lds" in instruction.modifiers:
        wave.lds = random_bytes(rng, LDS_SIZE, "u32")
        wave.special["m0"] = rng.getrandbits(16) << 16 | 4 * rng.randrange(0x1000)
    offen, idxen = "offen" in instruction.modifiers, "idxen" in instruction.modifiers
    for index in range(40, 50):
        wave.sgpr[index] = 16 * rng.randrange(0, 32)
    kind = rng.choice(["raw", "raw", "stride", "swizzled", "scratch"])
    if kind in ("stride", "swizzled") and not idxen or kind == "raw" and idxen or kind == "scratch" and idxen:
        return False
    stride, element = resource(rng, wave, descriptor.index, kind)
    if "format" in instruction.name and not set_type(rng, wave, descriptor.index, "load" in instruction.name,
                                                     instruction.is_d16()):
        return False
    if kind == "swizzled" and size > 4 or kind == "scratch" and size > 4:
        return False  # wider accesses than an element
    indexes = rng.sample(range(LANES), LANES)
    offsets = [0] * LANES
    if offen:
        inner = inner_offset(rng, instruction.name)
        offsets = slots(rng, instruction.name, 0x1000, may_share(instruction)) if kind == "raw" else \
            [4 * rng.randrange(0, 4) + inner] * LANES
    if not offen and not idxen and kind == "raw" and not may_share(instruction):
        wave.special["exec"] &= -wave.special["exec"]
    if offen and kind == "raw" and rng.random() < 0.2:
        offsets = [offset + 0x8000 if rng.random() < 0.3 else offset for offset in offsets]
    if idxen:
        set_address(wave, address.index, indexes)
    if offen:
        set_address(wave, address.index + idxen, offsets)
    if kind == "stride" and stride < size and "load" not in instruction.name:
        return False  # lanes would overlap
    if "cmpswap" in instruction.name:
        repeat_values(rng, wave, instruction.operands, wave.memory[0][1])
    return True


def setup(rng, wave, instruction):
    name = instruction.name
    if name.startswith("ds_"):
        return setup_ds(rng, wave, instruction)
    if name.startswith("s_"):
        return setup_scalar(rng, wave, instruction)
    if name.startswith("buffer"):
        return setup_buffer(rng, wave, instruction)
    return setup_flat(rng, wave, instruction)


def settled(before, after, instruction):
    """Atomics of 8 bytes are aligned to that."""
    touched = after.bytes["memory"]
    return not instruction.name.endswith("_x2") or all(address ^ 4 in touched for address in touched)
