"""Reads an instruction from the text that llvm-objdump prints. This is the oracle's only decoder."""
import re
import struct
from collections import namedtuple

# kind: "v", "s", a special register's name, "int" (an inline constant), "literal", "float", "off", "word" (anything else)
Operand = namedtuple("Operand", "kind index count value absolute negate sext", defaults=(0, 1, None, False, False, False))

# The inline constants with a fraction: text -> bits by width.
FLOATS = {
    "0.5": 0.5, "-0.5": -0.5, "1.0": 1.0, "-1.0": -1.0, "2.0": 2.0, "-2.0": -2.0, "4.0": 4.0, "-4.0": -4.0,
}
TWO_PI = {16: 0x3118, 32: 0x3E22F983, 64: 0x3FC45F306DC9C882}  # 1/(2*pi), table 6.1
TWO_PI_TEXTS = ("0.15915494", "0.15915494309189532", "0.1592", "0.159154937")
SPECIAL = ("vcc", "vcc_lo", "vcc_hi", "exec", "exec_lo", "exec_hi", "m0", "flat_scratch", "flat_scratch_lo",
           "flat_scratch_hi", "src_scc", "src_vccz", "src_execz", "src_lds_direct")


class BadText(Exception):
    pass


def split_outside(text, separator):
    """Splits at a character that stands in no bracket."""
    parts, depth, current = [], 0, ""
    for char in text:
        depth += char in "[(" and 1 or 0
        depth -= char in "])" and 1 or 0
        if char == separator and depth == 0:
            parts.append(current)
            current = ""
        else:
            current += char
    parts.append(current)
    return [part.strip() for part in parts if part.strip()]


def parse_operand(text):
    absolute = negate = sext = False
    changed = True
    while changed:
        changed = False
        for prefix in ("neg(", "abs(", "sext("):
            if text.startswith(prefix) and text.endswith(")"):
                negate |= prefix == "neg("
                absolute |= prefix == "abs("
                sext |= prefix == "sext("
                text, changed = text[len(prefix):-1], True
        if re.match(r"-[^\d]", text):
            negate, text, changed = True, text[1:], True
        if text.startswith("|") and text.endswith("|"):
            absolute, text, changed = True, text[1:-1], True
    marks = dict(absolute=absolute, negate=negate, sext=sext)
    single = re.fullmatch(r"([vs])(\d+)", text)
    if single:
        return Operand(single[1], int(single[2]), 1, **marks)
    several = re.fullmatch(r"([vs])\[(\d+):(\d+)\]", text)
    if several:
        first, last = int(several[2]), int(several[3])
        return Operand(several[1], first, last - first + 1, **marks)
    if text in SPECIAL:
        return Operand(text, 0, 2 if text in ("vcc", "exec", "flat_scratch") else 1, **marks)
    if re.fullmatch(r"0x[0-9a-fA-F]+", text):
        return Operand("literal", value=int(text, 16), **marks)
    if re.fullmatch(r"-?\d+", text):
        return Operand("int", value=int(text), **marks)
    if text in FLOATS or text in TWO_PI_TEXTS:
        return Operand("float", value=text, **marks)
    return Operand("off" if text == "off" else "word", value=text, **marks)


def float_bits(text, width):
    if text in TWO_PI_TEXTS:
        return TWO_PI[width]
    code, size = {16: ("<e", "<H"), 32: ("<f", "<I"), 64: ("<d", "<Q")}[width]
    return struct.unpack(size, struct.pack(code, FLOATS[text]))[0]


class Instruction:
    """name: without the encoding's suffix. modifiers: name -> text (True when it has no value)."""

    def __init__(self, text, words=1):
        self.text = text
        self.words = words
        mnemonic, _, rest = text.strip().partition(" ")
        match = re.fullmatch(r"(\w+?)(?:_(e32|e64|sdwa|dpp))?", mnemonic)
        self.name, self.encoding = match[1], match[2]
        pieces = split_outside(rest, ",")
        self.modifiers = {}
        self.operands = []
        for piece in pieces:
            parts = split_outside(piece, " ")
            if parts and parts[0] != "" and not self.is_modifier(parts[0]):
                self.operands.append(parse_operand(parts.pop(0)))
            for part in parts:
                name, colon, value = part.partition(":")
                self.modifiers[name] = value if colon else True
        if self.encoding is None and ("src0_sel" in self.modifiers or "src1_sel" in self.modifiers):
            self.encoding = "sdwa"

    def is_modifier(self, text):
        return re.match(r"[a-z]\w*:", text) is not None or text in ("glc", "slc", "offen", "idxen", "clamp", "gds", "tfe")

    def number(self, modifier, default=0):
        value = self.modifiers.get(modifier)
        return default if value is None else int(value, 0)

    def is_d16(self):
        """Components of typed data have 16 bits."""
        return "d16" in self.modifiers or "_d16" in self.name
