"""Runs a page of docs/tutorial, and compares what its commands print with what it shows.

    tutorial.py PAGE.md

The blocks ```sh of a page are one shell, which stops at the first command that fails. A block ```text behind them
shows what the commands since the last such block print:
- A line `...` stands for any lines, none included. Lines without one between them follow each other.
- `<N>` in a line, and `...`, stand for any text.
- Numbers may differ by a tenth, since the model changes; blanks and empty lines do not matter.
"""
import re
import subprocess
import sys
import tempfile

NUMBER = re.compile(r"(\d+(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?)")


def blocks_of(page):
    """[(language, number of the first line, lines)] of the page's fenced blocks."""
    blocks, current = [], None
    for number, line in enumerate(page.read().splitlines(), 1):
        if line.startswith("```"):
            if current:
                blocks.append(current)
                current = None
            else:
                current = (line[3:], number + 1, [])
        elif current:
            current[2].append(line)
    if current:
        sys.exit(f"{page.name}:{current[1]}: this block has no end")
    return blocks


def is_near(shown, printed):
    a, b = (float(number.replace(",", "")) for number in (shown, printed))
    return abs(a - b) <= 0.1 * max(a, b)


def is_like(shown, printed):
    """Whether a printed line is what a shown one says."""
    pattern = ""
    for part in re.split(r"(<N>|\.\.\.)", " ".join(shown.split())):
        if part in ("<N>", "..."):
            pattern += ".*"
        else:
            pieces = NUMBER.split(part)
            pattern += "".join(NUMBER.pattern if i % 2 else re.escape(piece) for i, piece in enumerate(pieces))
    match = re.fullmatch(pattern, " ".join(printed.split()))
    numbers = [number for part in re.split(r"<N>|\.\.\.", shown) for number in NUMBER.findall(part)]
    return bool(match) and all(map(is_near, numbers, match.groups()))


def first_difference(shown, printed):
    """The first of the shown lines (number, text) that was not printed where it should be; None if all were."""
    at, anywhere = 0, False
    for number, line in shown:
        if line.strip() == "...":
            anywhere = True
            continue
        while anywhere and at < len(printed) and not is_like(line, printed[at]):
            at += 1
        if at == len(printed) or not is_like(line, printed[at]):
            return number, line
        at, anywhere = at + 1, False
    return None if anywhere or at == len(printed) else (shown[-1][0] + 1, f"nothing, but there is: {printed[at]}")


def script_of(blocks):
    """The page as one script; the output of its block N goes to the file output.N."""
    script = "set -euo pipefail\n"
    for i, (language, _, lines) in enumerate(blocks):
        if language == "sh":
            script += f"exec >output.{i} 2>&1 </dev/null\n" + "\n".join(lines) + "\n"
    return script


def output_of(i):
    with open(f"output.{i}", encoding="utf-8") as file:
        return [line for line in file.read().splitlines() if line.strip()]


def main():
    with open(sys.argv[1], encoding="utf-8") as page:
        blocks = blocks_of(page)
    with tempfile.NamedTemporaryFile("w", suffix=".sh") as script:
        script.write(script_of(blocks))
        script.flush()
        status = subprocess.run(["bash", script.name], timeout=240).returncode
    printed, commands, compared = [], 0, 0
    for i, (language, start, lines) in enumerate(blocks):
        if language == "sh":
            try:
                printed += output_of(i)
            except FileNotFoundError:
                sys.exit(f"{sys.argv[1]}: exit status {status} before line {start}; printed: " + "\n".join(printed[-5:]))
            commands += 1
        elif language == "text":
            shown = [(start + k, line) for k, line in enumerate(lines) if line.strip()]
            wrong = first_difference(shown, printed)
            if wrong:
                sys.exit(f"{sys.argv[1]}:{wrong[0]}: shown: {wrong[1]}\nprinted:\n" + "\n".join(printed))
            printed = []
            compared += 1
        elif language:
            sys.exit(f"{sys.argv[1]}:{start}: a block is sh or text, not {language}")
    if status:
        sys.exit(f"{sys.argv[1]}: exit status {status}; printed: " + "\n".join(printed[-5:]))
    if not commands or not compared:
        sys.exit(f"{sys.argv[1]}: a page has commands, and shows what they print")


if __name__ == "__main__":
    main()
