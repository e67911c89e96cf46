#!/usr/bin/env python3
"""Runs stored cases through the oracle again, with garbage in all that a case does not name: it must name enough.

    replay.py FILE [--only TEXT] [--show]       (FILE: packed by zstd)
"""
import argparse
import random
import struct
import subprocess
import sys
from collections import namedtuple

import cases
from execute import execute
from instruction import Instruction
from wave import LANES, Wave

Item = namedtuple("Item", "space compare flags width index count ulps where data")
Case = namedtuple("Case", "gfx words text before after")


def read_items(data, at, count):
    items = []
    for _ in range(count):
        space, compare, flags, width, index, number, ulps, where = struct.unpack_from("<BBBBIIIQ", data, at)
        at += 24
        size = {cases.SGPR: 4 * number, cases.VGPR: 4 * number * width, cases.SPECIAL: 8}.get(space, (number + 3) // 4 * 4)
        items.append(Item(space, compare, flags, width, index, number, ulps, where, data[at:at + size]))
        at += size
    return items, at


def read(path):
    data = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    assert data[:8] == b"GCN3CASE", path
    _, count = struct.unpack_from("<II", data, 8)
    at = 16
    for _ in range(count):
        size, gfx, word_count, text_length, before, after = struct.unpack_from("<IBBHHH", data, at)
        words = struct.unpack_from(f"<{word_count}I", data, at + 12)
        start = at + 12 + 4 * word_count
        text = data[start:start + text_length].decode()
        first, place = read_items(data, start + (text_length + 3) // 4 * 4, before)
        last, place = read_items(data, place, after)
        assert place == at + size, text
        yield Case(gfx, words, text, first, last)
        at = place


def words_of(item):
    return struct.unpack(f"<{len(item.data) // 4}I", item.data)


def lane_words(item, lane):
    words = words_of(item)
    first = lane % item.count * item.width
    return words[first:first + item.width]


def garbage_wave(rng, gfx):
    wave = Wave(gfx)
    wave.sgpr = [rng.getrandbits(32) for _ in range(102)]
    wave.vgpr = [[rng.getrandbits(32)] * LANES for _ in range(256)]
    wave.special["flat_scratch"] = rng.getrandbits(64)
    return wave


def apply(wave, items):
    for item in items:
        if item.space == cases.SGPR:
            wave.sgpr[item.index] = words_of(item)[0]
        elif item.space == cases.VGPR:
            for lane in range(LANES):
                wave.vgpr[item.index][lane] = lane_words(item, lane)[0]
        elif item.space == cases.SPECIAL:
            name, value = cases.SPECIALS[item.index], int.from_bytes(item.data, "little")
            if name == "lds_size":
                wave.lds = bytearray(b"\xa5" * value)
            elif name in wave.special:
                wave.special[name] = value
            else:
                setattr(wave, name, value)
        elif item.space == cases.LDS:
            wave.lds[item.where:item.where + item.count] = item.data[:item.count]
        else:
            wave.memory.append((item.where, bytearray(item.data[:item.count])))


def differences(before, wave, case):
    """What of the new state is not as `after` says, or changed without being named."""
    sgpr, vgpr = list(before.sgpr), [list(lanes) for lanes in before.vgpr]
    special = dict(before.special)
    found = []
    for item in case.after:
        if item.space == cases.SGPR:
            sgpr[item.index] = words_of(item)[0] if item.compare != cases.IGNORED else wave.sgpr[item.index]
        elif item.space == cases.VGPR:
            for lane in range(LANES):
                if item.where >> lane & 1:
                    for i, word in enumerate(lane_words(item, lane)):
                        vgpr[item.index + i][lane] = word
        elif item.space == cases.SPECIAL:
            name = cases.SPECIALS[item.index]
            special[name] = int.from_bytes(item.data, "little") if item.compare != cases.IGNORED else wave.special[name]
        elif item.space == cases.LDS:
            if wave.lds[item.where:item.where + item.count] != item.data[:item.count]:
                found.append(f"LDS at {item.where:#x}")
        else:
            data, offset = wave.region(item.where, item.count)
            if data[offset:offset + item.count] != item.data[:item.count]:
                found.append(f"memory at {item.where:#x}")
    found += [f"s{i}" for i in range(102) if sgpr[i] != wave.sgpr[i]]
    found += [f"v{i}" for i in range(256) if vgpr[i] != wave.vgpr[i]]
    return found + [name for name in special if special[name] != wave.special[name]]


def show(case):
    print(case.text, "|", " ".join(f"{word:08x}" for word in case.words), "| gfx", case.gfx)
    for title, items in (("before", case.before), ("after", case.after)):
        for item in items:
            name = {cases.SGPR: f"s{item.index}", cases.VGPR: f"v{item.index}", cases.LDS: f"lds {item.where:#x}",
                    cases.MEMORY: f"memory {item.where:#x}"}.get(item.space) or cases.SPECIALS[item.index]
            lanes = f" lanes {item.where:016x}" if item.space == cases.VGPR else ""
            rule = f" compare {item.compare}/{item.flags} ulps {item.ulps}" if item.compare else ""
            print(f"  {title} {name}{lanes}{rule}:", " ".join(f"{word:08x}" for word in words_of(item)))


def replay(path, only=None, showing=False):
    """Returns how many cases there were, and those that differ."""
    rng = random.Random(1)
    count, bad = 0, []
    for case in read(path):
        if only and only not in case.text:
            continue
        count += 1
        if showing:
            show(case)
        wave = garbage_wave(rng, case.gfx)
        apply(wave, case.before)
        after = execute(wave.copy(), Instruction(case.text, len(case.words)))
        found = differences(wave, after, case)
        if found:
            bad.append(f"{case.text}: {', '.join(found)}")
    return count, bad


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("file")
    parser.add_argument("--only")
    parser.add_argument("--show", action="store_true")
    options = parser.parse_args()
    count, bad = replay(options.file, options.only, options.show)
    print(f"{count} cases, {len(bad)} differ")
    for line in bad[:20]:
        print(line)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
