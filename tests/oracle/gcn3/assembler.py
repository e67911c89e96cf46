"""Machine words and disassembly by LLVM, so that encodings do not come from this oracle."""
import os
import re
import subprocess
import tempfile

TRIPLE = ["-triple=amdgcn-amd-amdhsa"]
CPU = {8: "gfx803", 9: "gfx900", 96: "gfx906"}


def run(command, text=None):
    return subprocess.run(command, input=text, capture_output=True, text=True, check=False)


def assemble(lines, gfx):
    """Returns, for each line, (text, words) or None where the assembler refuses it."""
    kept = list(enumerate(lines))
    with tempfile.TemporaryDirectory() as folder:
        source, target = os.path.join(folder, "a.s"), os.path.join(folder, "a.o")
        while True:
            with open(source, "w", encoding="utf-8") as file:
                file.write("".join(line + "\n" for _, line in kept))
            result = run(["llvm-mc-19", *TRIPLE, f"-mcpu={CPU[gfx]}", "-filetype=obj", source, "-o", target])
            bad = {int(match[1]) for match in re.finditer(r":(\d+):\d+: (?:error|warning)", result.stderr)}
            if not bad:
                break
            kept = [pair for number, pair in enumerate(kept, 1) if number not in bad]
        if result.returncode:
            raise SystemExit(f"llvm-mc-19: {result.stderr}")
        listing = run(["llvm-objdump-19", "-d", "-z", f"--mcpu={CPU[gfx]}", target]).stdout
    found = re.findall(r"^\t(.*?)\s*// [0-9A-F]+: ((?:[0-9A-F]{8} ?)+)", listing, flags=re.M)
    if len(found) != len(kept):
        raise SystemExit(f"{len(kept)} lines were assembled, {len(found)} disassembled")
    results = [None] * len(lines)
    for (number, _), (text, words) in zip(kept, found):
        results[number] = (text, [int(word, 16) for word in words.split()])
    return results
