#!/usr/bin/env python3
"""Writes random cases for Heddle's GCN3 executor, with the results that this oracle expects.

    generate.py FILE [--per-opcode N] [--seed N] [--only NAME]
"""
import argparse
import itertools
import random
import sys

import cases
import generate_images
import generate_memory
import generate_scalar
import generate_vector
from assembler import CPU, assemble
from execute import execute
from instruction import Instruction
from values import random_mask, random_mode
from wave import Fault, Wave

GROUPS = (generate_vector, generate_scalar, generate_memory, generate_images)
SPARE = 3  # texts made for each one wanted: the assembler refuses some, and some have no settled result
STATES = 6  # tried for each text


def random_wave(rng, gfx):
    wave = Wave(gfx)
    wave.special.update(exec=random_mask(rng), vcc=random_mask(rng), scc=rng.getrandbits(1), mode=random_mode(rng),
                        m0=rng.getrandbits(32), pc=0x100000 + 4 * rng.randrange(1024), flat_scratch=rng.getrandbits(64))
    return wave


def make_case(rng, group, instruction, words, gfx):
    """The case's bytes, or None."""
    for _ in range(STATES):
        wave = random_wave(rng, gfx)
        if not group.setup(rng, wave, instruction):
            continue
        after = wave.copy()
        try:
            execute(after, instruction)
        except Fault:
            continue
        if group.settled(wave, after, instruction):
            return cases.case(wave, after, instruction, words)
    return None


def generate(rng, per_opcode, only):
    """Yields (name, bytes of a case)."""
    for gfx in CPU:
        wanted = []
        for group in GROUPS:
            for name, make in group.lines(rng, gfx):
                if only is None or only in name:
                    wanted.append((group, name, list(dict.fromkeys(make() for _ in range(per_opcode * SPARE)))))
        texts = [text for _, _, some in wanted for text in some]
        assembled = dict(zip(texts, assemble(texts, gfx)))
        for group, name, some in wanted:
            count = 0
            usable = [assembled[text] for text in some if assembled[text]]
            for shown, words in itertools.islice(itertools.cycle(usable), 2 * len(usable) + per_opcode):
                if count == per_opcode:
                    break
                body = make_case(rng, group, Instruction(shown, len(words)), words, gfx)
                if body:
                    count += 1
                    yield name, body
            if count < per_opcode:
                print(f"{name}: only {count} cases", file=sys.stderr)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--per-opcode", type=int, default=20)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only")
    options = parser.parse_args()
    rng = random.Random(options.seed)
    found = list(generate(rng, options.per_opcode, options.only))
    cases.write(options.file, [body for _, body in found])
    print(f"{len(found)} cases of {len({name for name, _ in found})} instructions")


if __name__ == "__main__":
    main()
