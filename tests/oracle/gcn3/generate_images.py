"""Random image instructions, and states for them."""
import formats
import images
from generate_memory import MEMORY_AT, fill_data, few_lanes, random_bytes, registers, vectors
from values import random_integer
from wave import LANES, M32

LINEAR_TILING = 8  # gfx8's tiling index of rows one behind another; gfx9's swizzle mode is 0
SAMPLES = ["image_sample" + suffix for suffix in ("", "_l", "_lz", "_cl", "_b", "_lz_o", "_b_o", "_l_o")]
GATHERS = ["image_gather4" + suffix for suffix in ("", "_lz", "_l", "_lz_o")]
MOVES = ["image_load", "image_load_mip", "image_store", "image_store_mip", "image_get_resinfo"]
ATOMICS = ["image_atomic_" + name for name in ("swap", "cmpswap", "add", "sub", "smin", "umin", "smax", "umax", "and", "or",
                                               "xor", "inc", "dec")]
MEMORY_SIZE = 1 << 16


def text(rng, name, gfx):
    mask = rng.randrange(1, 16)
    if "gather" in name:
        mask = 1 << rng.randrange(4)
    if "atomic" in name:
        mask = rng.choice([3, 15] if "cmpswap" in name else [1, 3])
    count = 4 if "gather" in name else mask.bit_count()
    halves = rng.random() < 0.3 and "atomic" not in name and "resinfo" not in name and (gfx == 8 or count % 2 == 0)
    if halves and gfx != 8:
        count //= 2
    first, sampler = 8 + 4 * rng.randrange(4), 32 + 4 * rng.randrange(4)
    operands = [vectors(rng, count, 0), registers(rng, "v", 4, 16), f"s[{first}:{first + 7}]"]
    if "sample" in name or "gather" in name:
        operands.append(f"s[{sampler}:{sampler + 3}]")
    flags = f" dmask:{mask:#x}"
    if len(operands) == 3 or rng.random() < 0.2:
        flags += " unorm"
    flags += rng.choice(["", " glc"]) if "atomic" in name else ""
    flags += rng.choice(["", " da"])
    return f"{name} " + ", ".join(operands) + flags + (" d16" if halves else "")


def lines(rng, gfx):
    if gfx > 9:
        return
    for name in MOVES + ATOMICS + SAMPLES + GATHERS:
        yield name, lambda name=name: text(rng, name, gfx)


def choose_format(rng, instruction, is_linear, axes):
    """Filters only where sums are exact; halves of what fits into them; no rounding to short floats."""
    name, halves = instruction.name, "d16" in instruction.modifiers
    while True:
        data = rng.choice(list(formats.FORMATS))
        number = rng.choice(formats.numbers_of(data))
        widths = formats.FORMATS[data]
        if "atomic" in name:
            wide = instruction.number("dmask") == (15 if "cmpswap" in name else 3)
            return (11, formats.UINT) if wide else (4, formats.UINT)
        if is_linear and (max(widths) > 16 or number not in (formats.USCALED, formats.SSCALED) and axes > 2 or
                          number == formats.FLOAT):
            continue
        if halves and number in (formats.USCALED, formats.SSCALED, formats.FLOAT):
            continue
        if data == 13 or "store" in name and number in (formats.USCALED, formats.SSCALED):
            continue  # images have none of these
        if "store" in name and number == formats.FLOAT and 32 not in widths:
            continue
        return data, number


def set_texture(rng, wave, instruction, is_linear):
    """Writes a T#. Returns the sizes of its axes, and its layers."""
    arrayed = "da" in instruction.modifiers
    kind = rng.choice([images.ONE_D_ARRAY, images.TWO_D_ARRAY] if arrayed else [images.ONE_D, images.TWO_D, images.THREE_D])
    if "gather" in instruction.name:
        kind = images.TWO_D_ARRAY if arrayed else images.TWO_D
    axes = images.AXES[kind]
    size = [rng.randrange(1, 12), rng.randrange(1, 8), rng.randrange(1, 5)]
    layers, first = (rng.randrange(1, 5), rng.randrange(3)) if arrayed else (1, 0)
    data, number = choose_format(rng, instruction, is_linear, axes)
    chosen = rng.sample([4, 5, 6, 7], 4) if "store" in instruction.name else rng.choices([0, 1, 4, 5, 6, 7], k=4)
    selects = sum(one << 3 * i for i, one in enumerate(chosen))
    pitch = size[0] + rng.randrange(6)
    depth = size[2] - 1 if axes == 3 else first + layers - 1 if wave.gfx != 8 else 0
    value = MEMORY_AT + 0x1000 >> 8 | data << 52 | number << 58 | size[0] - 1 << 64
    value |= (size[1] - 1 if axes > 1 else 0) << 78 | selects << 96 | kind << 124
    value |= (LINEAR_TILING if wave.gfx == 8 else 0) << 116 | depth << 128 | pitch - 1 << 141 | first << 160
    value |= (first + layers - 1) << 173 if wave.gfx == 8 else 0
    for i in range(8):
        wave.sgpr[instruction.operands[2].index + i] = value >> 32 * i & M32
    return size[:axes], layers


def set_sampler(rng, wave, instruction, is_linear):
    value = sum(rng.choice([0, 1, 2, 3, 6, 7]) << 3 * i for i in range(3)) | rng.getrandbits(1) << 15
    value |= is_linear << 84 | is_linear << 86 | rng.randrange(3) << 126
    for i in range(4):
        wave.sgpr[instruction.operands[3].index + i] = value >> 32 * i & M32
    return bool(value >> 15 & 1) or "unorm" in instruction.modifiers


def set_integers(rng, wave, instruction, size, layers):
    """Coordinates of texels, now and then outside; of stores and atomics no two lanes have the same."""
    name, address = instruction.name, instruction.operands[1].index
    places = [(x, y, z, layer) for x in range(size[0]) for y in range(size[1] if len(size) > 1 else 1)
              for z in range(size[2] if len(size) > 2 else 1) for layer in range(layers)]
    rng.shuffle(places)
    if "load" not in name and len(places) < LANES:
        wave.special["exec"] &= (1 << len(places)) - 1
    for lane in range(LANES):
        x, y, z, layer = places[lane % len(places)]
        body = [x, y, z][:len(size)] + ([layer] if "da" in instruction.modifiers else [])
        if "atomic" not in name and rng.random() < 0.1:
            body[rng.randrange(len(body))] = rng.choice([12, 1000, M32])
        if "mip" in name:
            body.append(rng.random() < 0.2)
        for i, value in enumerate(body):
            wave.vgpr[address + i][lane] = int(value)
    return wave.special["exec"] != 0


def set_reals(rng, wave, instruction, size, unnormalized):
    """Coordinates in and around the image, not where rounding to steps of a texel makes a difference."""
    address = images.Address(wave, instruction)
    for lane in range(LANES):
        if address.offsets:
            wave.vgpr[address.first][lane] = rng.getrandbits(22) & 0x3F3F3F
        for axis, texels in enumerate(size):
            place = rng.randrange(-2 * texels, 3 * texels) + (rng.randrange(1, 256) + 0.25) / 256
            wave.vgpr[address.body + axis][lane] = formats.f32_bits(place if unnormalized else place / texels)
        wave.vgpr[address.body + len(size)][lane] = formats.f32_bits(rng.randrange(-3, 20) / 4 + 0.1)


def setup(rng, wave, instruction):
    name = instruction.name
    wave.memory = [(MEMORY_AT, random_bytes(rng, MEMORY_SIZE, "u32"))]
    wave.special["exec"] = few_lanes(rng)
    fill_data(rng, wave, "u32")
    is_sample = "sample" in name or "gather" in name
    is_linear = "sample" in name and "d16" not in instruction.modifiers and rng.random() < 0.5
    size, layers = set_texture(rng, wave, instruction, is_linear)
    if name == "image_get_resinfo":
        for lane in range(LANES):
            wave.vgpr[instruction.operands[1].index][lane] = rng.choice([0, 0, 1, random_integer(rng, 32)])
        return True
    if not is_sample:
        return set_integers(rng, wave, instruction, size, layers)
    set_reals(rng, wave, instruction, size, set_sampler(rng, wave, instruction, is_linear))
    return True


def settled(before, after, instruction):
    return True
