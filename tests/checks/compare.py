"""Compares what `heddle run --check all` found with what tests/checks/kernels.cu says it has to find.

list FILE.cu bad|good: the kernels, as suspect.c takes them
compare FILE.cu STATS.json: findings of all kernels bad_X; tells what differs, and ends with 1 then
"""
import json
import re
import sys

HEAD = re.compile(r'//! (bad_\w+) (\w+) "([^"]*)"( more)?(?: (\d+)x(\d+))?$')


def read(path):
    kernels, lines = {}, {}
    for number, line in enumerate(open(path, encoding="utf-8"), 1):
        head = HEAD.match(line.strip())
        if head:
            name, check, what, more, blocks, threads = head.groups()
            kernels[name] = {"check": check, "what": what, "more": bool(more),
                             "size": f"{blocks or 2}:{threads or 64}"}
        for name, which in re.findall(r"// @(\w+) (\d)", line):
            lines[name, int(which)] = number
    return kernels, lines


def line_of(place):
    found = re.match(r"\S*kernels\.cu:(\d+),", place or "")
    return int(found.group(1)) if found else None


def compare(path, stats):
    kernels, lines = read(path)
    findings, bad = {}, 0
    for finding in json.load(open(stats, encoding="utf-8"))["findings"]:
        findings.setdefault(finding.get("kernel"), []).append(finding)
    for name, want in kernels.items():
        pair = (lines[name[4:], 1], lines.get((name[4:], 2)))
        got = findings.pop(name, [])
        good = [one for one in got if one["check"] == want["check"] and want["what"] in one["what"]
                and (line_of(one["first"]), line_of(one.get("second"))) == pair]
        if not good or (len(good) < len(got) and not want["more"]):
            bad += 1
            print(f"{name}: expected {want['check']} '{want['what']}' at lines {pair}; found", *(
                f"\n  {one['check']}: {one['what']}: {line_of(one['first'])}, {line_of(one.get('second'))}"
                for one in got or [{"check": "nothing", "what": "", "first": ""}]))
    for name, got in findings.items():
        bad += 1
        print(f"{name}: expected nothing; found", *(f"\n  {one['check']}: {one['what']}, {one['first']}" for one in got))
    print(f"{len(kernels)} kernels, {bad} differ")
    return bad != 0


def main():
    if sys.argv[1] == "list":
        for name, kernel in read(sys.argv[2])[0].items():
            print(f"{name if sys.argv[3] == 'bad' else 'good' + name[3:]}:{kernel['size']}")
        return 0
    return compare(*sys.argv[2:])


sys.exit(main())
