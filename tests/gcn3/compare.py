#!/usr/bin/env python3
"""Compares the GCN3 decoder and printer with LLVM's, on random words.

    compare.py GCN3_WORDS [COUNT [SEED]]

GCN3_WORDS writes the words and our texts; llvm-objdump-19 disassembles the same bytes in an object file. Where LLVM shows
an instruction that the manual does not have, ours shows none: DOCUMENTED lists these, as src/isa/gcn3/README.md does. Exit
status 77, which CTest shows as Skipped, means that LLVM 19 is not installed.
"""
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile

OBJDUMP = "llvm-objdump-19"
TARGETS = [("gfx803", 0x2A), ("gfx900", 0x2C), ("gfx906", 0x2F)]

# What LLVM accepts and we refuse, by what its text has in it.
DOCUMENTED = [
    (r"/\*|invalid_param", "LLVM itself says that it is invalid"),
    (r"^(?!exp ).*\bnull\b", "register 125 is reserved"),
    (r"^v_\w+ src_", "a destination that cannot be written"),
    (r"^v_(swap|readfirstlane|movrels|interp)\w* .*src_", "an operand that must be a VGPR"),
    (r"^v_(nop|clrexcp)", "operands of an instruction that has none"),
    (r"^image_(atomic|\w*gather4\w* .*tfe.*d16)", "data of a width that dmask does not say"),
    (r"^v_ldexp_f16_sdwa .*, ([^v]|v[^\d])", "a scalar exponent in SDWA"),
    (r"^ds_\w+_src2", "a reserved bit"),
]
DOCUMENTED_GFX8 = [
    (r"src_(shared|private|pops)", "apertures, which gfx9 introduced"),
    (r"^flat_.* offset:", "FLAT has no offset before gfx9"),
]


def past_the_end(text, target):
    """Whether it has registers that do not exist, such as s[100:103]."""
    ends = {"s": 101, "v": 255, "ttmp": 11 if target == "gfx803" else 15}
    return any(int(last) > ends[kind] for kind, last in re.findall(r"\b(s|v|ttmp)\[\d+:(\d+)\]", text))


def is_documented(text, word, target):
    rules = DOCUMENTED + (DOCUMENTED_GFX8 if target == "gfx803" else [])
    near_v255 = word[0] >> 26 == 0x3C and (word[1] >> 8 & 255) >= 251  # image data that does not fit
    return near_v255 or past_the_end(text, target) or any(re.search(rule, text) for rule, _ in rules)


def elf(code, machine):
    """A relocatable object of AMD's with this .text and nothing else."""
    names = b"\0.text\0.shstrtab\0"
    text_at = 64
    names_at = text_at + len(code)
    sections_at = (names_at + len(names) + 7) & ~7
    head = b"\x7fELF\2\1\1\x40\2" + bytes(7)
    head += struct.pack("<HHIQQQIHHHHHH", 1, 224, 1, 0, 0, sections_at, machine, 64, 0, 0, 64, 3, 2)
    sections = bytes(64)
    sections += struct.pack("<IIQQQQIIQQ", 1, 1, 6, 0, text_at, len(code), 0, 0, 4, 0)
    sections += struct.pack("<IIQQQQIIQQ", 7, 3, 0, 0, names_at, len(names), 0, 0, 1, 0)
    body = head + code + names
    return body + bytes(sections_at - len(body)) + sections


def disassemble(code, target, machine, folder):
    """LLVM's text of what begins at each slot; None where it sees no instruction."""
    path = os.path.join(folder, "code.o")
    with open(path, "wb") as file:
        file.write(elf(code, machine))
    out = subprocess.run([OBJDUMP, "-d", f"--mcpu={target}", path], stdout=subprocess.PIPE, check=True, text=True)
    slots = {}
    for line in out.stdout.splitlines():
        match = re.match(r"\t(.*?)\s*// ([0-9A-F]+): ", line)
        if match and int(match[2], 16) % 16 == 0:
            slots[int(match[2], 16) // 16] = None if match[1].startswith(".long") else match[1].strip()
    return slots


def compare(program, index, count, seed, folder):
    target, machine = TARGETS[index]
    code_path, text_path = os.path.join(folder, "code.bin"), os.path.join(folder, "text")
    subprocess.run([program, str(index), str(seed), str(count), code_path, text_path], check=True)
    with open(code_path, "rb") as file:
        theirs = disassemble(file.read(), target, machine, folder)
    both = documented = differ = 0
    with open(text_path, encoding="utf-8") as file:
        for slot, line in enumerate(file):
            words, ours = line.rstrip("\n").split("\t")
            word = [int(part, 16) for part in words.split()]
            text = theirs.get(slot) or ""
            if ours == text:
                both += bool(ours)
            elif is_documented(text, word, target):
                documented += 1
            else:
                differ += 1
                if differ <= 10:
                    print(f"{target} {words}\n  LLVM: {text or 'none'}\n  ours: {ours or 'none'}")
    print(f"{target}: {count} words, {both} equal texts, {documented} documented differences, {differ} others")
    return differ


def main(program, count=24000, seed=1):
    if not shutil.which(OBJDUMP):
        print(f"SKIPPED: no {OBJDUMP} here")
        return 77
    with tempfile.TemporaryDirectory() as folder:
        differ = sum(compare(program, index, count, seed, folder) for index in range(len(TARGETS)))
    return 1 if differ else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], *map(int, sys.argv[2:])))
