"""The state of one wavefront of 64 lanes, and what an instruction read and wrote of it."""
from instruction import BadText, float_bits

LANES = 64
M32, M64 = (1 << 32) - 1, (1 << 64) - 1
SPECIAL = ("vcc", "exec", "m0", "scc", "mode", "flat_scratch", "pc")


class Fault(Exception):
    """An access to no memory. Cases never have one; the generator drops what would."""


def signed(value, width):
    return value - (1 << width) if value >> (width - 1) & 1 else value


class Wave:
    def __init__(self, gfx=8):
        self.gfx = gfx
        self.sgpr = [0] * 102
        self.vgpr = [[0] * LANES for _ in range(256)]
        self.special = dict.fromkeys(SPECIAL, 0)
        self.lds = bytearray(0)
        self.memory = []  # (address, bytearray)
        self.shared_base = 0  # high halves of the flat apertures
        self.private_base = 0
        self.scratch_base = 0  # where the flat scratch of all waves begins
        self.read = set()
        self.written = set()
        self.unsure = set()  # scalar results that the manual does not settle
        self.lanes = {}  # of each written VGPR, the mask of its written lanes
        self.bytes = {"memory": set(), "lds": set()}  # addresses of dwords that were touched

    def copy(self):
        """Another wave in the same state, of which nothing is noted yet."""
        other = Wave(self.gfx)
        other.sgpr, other.vgpr = list(self.sgpr), [list(lanes) for lanes in self.vgpr]
        other.special = dict(self.special)
        other.lds = bytearray(self.lds)
        other.memory = [(base, bytearray(data)) for base, data in self.memory]
        other.shared_base, other.private_base, other.scratch_base = self.shared_base, self.private_base, self.scratch_base
        return other

    def touch(self, space, address, size):
        self.bytes[space].update(range(address & ~3, address + size, 4))

    # Registers: every access is noted.
    def get_s(self, index):
        if not 0 <= index < 102:
            raise Fault(f"s{index}")
        self.read.add(("s", index))
        return self.sgpr[index]

    def set_s(self, index, value):
        if not 0 <= index < 102:
            raise Fault(f"s{index}")
        self.written.add(("s", index))
        self.sgpr[index] = value & M32

    def get_v(self, index, lane):
        if not 0 <= index < 256:
            raise Fault(f"v{index}")
        self.read.add(("v", index))
        return self.vgpr[index][lane]

    def set_v(self, index, lane, value):
        if not 0 <= index < 256:
            raise Fault(f"v{index}")
        self.written.add(("v", index))
        self.lanes[index] = self.lanes.get(index, 0) | 1 << lane
        self.vgpr[index][lane] = value & M32

    def get(self, name):
        self.read.add((name, 0))
        return self.special[name]

    def set(self, name, value):
        self.written.add((name, 0))
        self.special[name] = value & (M64 if name in ("vcc", "exec", "flat_scratch", "pc") else M32)

    def active(self):
        mask = self.get("exec")
        return [lane for lane in range(LANES) if mask >> lane & 1]

    # Scalar operands.
    def constant(self, operand, width, fraction=False):
        """The bits of a constant. fraction: a literal fills the high half of 64 bits."""
        mask = (1 << width) - 1
        if operand.kind == "int":
            return operand.value & mask
        if operand.kind == "literal":
            return (operand.value << 32) & mask if width == 64 and fraction else operand.value & mask
        if operand.kind == "float":
            return float_bits(operand.value, width)
        raise BadText(f"operand {operand}")

    def half(self, name, part):
        return self.get(name) >> (32 * part) & M32

    def scalar32(self, operand):
        kind = operand.kind
        if kind == "s":
            return self.get_s(operand.index)
        if kind in ("vcc", "exec", "flat_scratch"):
            return self.half(kind, 0)
        if kind.endswith("_lo") or kind.endswith("_hi"):
            return self.half(kind[:-3], kind.endswith("_hi"))
        if kind == "m0":
            return self.get("m0")
        if kind == "src_scc":
            return self.get("scc")
        if kind == "src_vccz":
            return int(self.get("vcc") == 0)
        if kind == "src_execz":
            return int(self.get("exec") == 0)
        return self.constant(operand, 32)

    def scalar64(self, operand, fraction=False):
        kind = operand.kind
        if kind == "s":
            return self.get_s(operand.index) | self.get_s(operand.index + 1) << 32
        if kind in ("vcc", "exec", "flat_scratch"):
            return self.get(kind)
        if kind.startswith("src_") or kind == "m0":
            return self.scalar32(operand)
        return self.constant(operand, 64, fraction)

    def scalar(self, operand, width):
        return self.scalar64(operand) if width == 64 else self.scalar32(operand)

    def set_scalar(self, operand, value, width):
        kind = operand.kind
        if kind == "s":
            for i in range(width // 32):
                self.set_s(operand.index + i, value >> (32 * i))
        elif kind in ("vcc", "exec", "flat_scratch"):
            self.set(kind, value)
        elif kind == "m0":
            self.set("m0", value)
        elif kind.endswith("_lo") or kind.endswith("_hi"):
            name, shift = kind[:-3], 32 * kind.endswith("_hi")
            self.set(name, self.get(name) & ~(M32 << shift) | (value & M32) << shift)
        else:
            raise BadText(f"destination {operand}")

    # Memory.
    def region(self, address, size):
        for base, data in self.memory:
            if base <= address and address + size <= base + len(data):
                return data, address - base
        raise Fault(f"address {address:#x}")

    def load(self, address, size):
        data, offset = self.region(address & M64, size)
        self.touch("memory", address & M64, size)
        return int.from_bytes(data[offset:offset + size], "little")

    def store(self, address, value, size):
        data, offset = self.region(address & M64, size)
        self.touch("memory", address & M64, size)
        data[offset:offset + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")

    def lds_limit(self):
        """Gfx8 clamps to M0; gfx9 has no such limit."""
        return len(self.lds) if self.gfx >= 9 else min(len(self.lds), self.get("m0") & 0x1FFFF)

    def lds_inside(self, address, size):
        inside = address >= 0 and address + size <= self.lds_limit()
        if inside:
            self.touch("lds", address, size)
        return inside

    def lds_load(self, address, size):
        if not self.lds_inside(address, size):
            return 0
        return int.from_bytes(self.lds[address:address + size], "little")

    def lds_store(self, address, value, size):
        if self.lds_inside(address, size):
            self.lds[address:address + size] = (value & ((1 << 8 * size) - 1)).to_bytes(size, "little")
