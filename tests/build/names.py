#!/usr/bin/env python3
"""A prefix names one room: what two rooms' headers declare does not begin with the same word, as in WORD_rest. And no two
headers define a struct, union or enum of one name. What only one .c file knows is free.

    names.py BUILD      (the build folder, where rooms.cmake lists the headers of each room)
"""
import collections
import re
import sys

# A word that several rooms begin names with, on purpose: which, and why.
SHARED = {
    "alu": {"ptx", "ptx_run"},  # the rows of alu.def, and their executors
    "caches": {"cachesim", "cachesim_cpu", "cachesim_cuda", "cachesim_runs"},  # one simulator, in parts
    "gcn3": {"gcn3", "gcn3_object", "gcn3_run"},  # one instruction set: machine code, files, and running it
    "relaxed": {"relaxed", "relaxed_runs"},  # one simulator: itself, and runs of it
    "ptx": {"ptx", "ptx_run"},  # one instruction set: the language, and running it
}
# Not modules, but what is done: the type follows, as in add_f32.
OPERATIONS = {"add", "bits", "div", "max", "min", "rcp", "sqrt"}
# A struct that each implementation of an interface defines for itself.
SHARED_TAGS = {"caches"}  # of struct caches_backend


def headers_by_room(build):
    """Yields (room, path), for every header."""
    with open(f"{build}/rooms.cmake", encoding="utf-8") as file:
        for room, paths in re.findall(r"set\(headers_(\w+) ([^)]*)\)", file.read()):
            for path in paths.split(";"):
                if path.endswith(".h"):
                    yield room, path


def read(path):
    """The text of a header, without comments and with a macro's lines as one."""
    with open(path, encoding="utf-8") as file:
        text = file.read().replace("\\\n", "")
    return re.sub(r"/\*.*?\*/|//[^\n]*", "", text, flags=re.S)


def declared(text):
    """Names of functions, of macros that look like functions, and of objects."""
    yield from re.findall(r"^(?!typedef\b)[A-Za-z_][\w \t*]*?\b([a-z]\w*)\(", text, flags=re.M)
    yield from re.findall(r"^#define ([a-z]\w*)\(", text, flags=re.M)
    for objects in re.findall(r"^extern ([^;()\"]*);", text, flags=re.M):
        for one in objects.split(","):
            yield re.findall(r"\w+", one.split("[")[0])[-1]


def main(build):
    rooms_of_word = collections.defaultdict(lambda: collections.defaultdict(set))
    paths_of_tag = collections.defaultdict(set)
    kind_of_tag = {}
    names = 0
    for room, path in headers_by_room(build):
        text = read(path)
        for name in declared(text):
            word, underscore, _ = name.partition("_")
            if word and underscore and word not in OPERATIONS:
                names += 1
                rooms_of_word[word][room].add(name)
        for kind, tag in re.findall(r"^(struct|union|enum) (\w+) \{", text, flags=re.M):
            kind_of_tag[tag] = kind
            paths_of_tag[tag].add(path)
    wrong = []
    if names < 1000:
        wrong.append(f"{build}/rooms.cmake: only {names} names found in the headers it lists")
    for word, rooms in sorted(rooms_of_word.items()):
        if len(rooms) > 1 and not set(rooms) <= SHARED.get(word, set()):
            uses = "; ".join(f"{room}: {', '.join(sorted(found)[:3])}" for room, found in sorted(rooms.items()))
            wrong.append(f"{word}_ is the prefix of {len(rooms)} rooms ({uses})")
    for tag, paths in sorted(paths_of_tag.items()):
        if len(paths) > 1 and tag not in SHARED_TAGS:
            wrong.append(f"{kind_of_tag[tag]} {tag} is defined in {len(paths)} headers: {', '.join(sorted(paths))}")
    for word in sorted(SHARED):
        if len(rooms_of_word[word]) < 2:
            wrong.append(f"{word}_ is listed as shared, but is not: {', '.join(rooms_of_word[word])}")
    print("\n".join(wrong) or f"{names} names, {len(rooms_of_word)} prefixes")
    return 1 if wrong else 0


if len(sys.argv) != 2:
    sys.exit("usage: names.py BUILD")
try:
    sys.exit(main(sys.argv[1]))
except OSError as error:
    sys.exit(f"names.py: {error}")
