"""The command `heddle` from Python: runs, studies, replays and traces, with their results as tables."""
from __future__ import annotations

import os
import subprocess
import tempfile
from typing import Any, List, Mapping, Optional, Sequence, Union

from ._library import HeddleError, find_command
from .results import Results, read_json, read_stats
from .system import Settings, _setting_lines
from .tables import Table, from_csv

Path = Union[str, "os.PathLike[str]"]


def command(*words: Any, check: bool = True) -> "subprocess.CompletedProcess[str]":
    """Calls `heddle WORDS...` and gives what it printed. HeddleError if it fails, unless check is False."""
    done = subprocess.run([find_command(), *map(str, words)], capture_output=True, text=True, check=False)
    if check and done.returncode:
        lines = done.stderr.strip() or f"heddle {words[0]} ended with {done.returncode}"
        raise HeddleError(lines.replace("heddle: ", "", 1), done.returncode)
    return done


def _option_words(options: Mapping[str, Any], settings: Settings, system: Optional[str]) -> List[str]:
    """{"max_cycles": 5, "cold_caches": True} as --max-cycles 5 --cold-caches."""
    words: List[str] = ["--system", system] if system else []
    for line in _setting_lines(settings):
        words += ["--set", line]
    for name, value in options.items():
        option = "--" + name.replace("_", "-")
        for one in value if isinstance(value, (list, tuple)) else [value]:
            if one is not None and one is not False:
                words += [option] if one is True else [option, str(one)]
    return words


def _stats_of(before: Sequence[Any], option: str, words: Sequence[str], after: Sequence[Any]) -> Results:
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "stats.json")
        command(*before, option, path, *words, *after)
        return read_stats(path)


def run(program: Path, *arguments: Any, system: Optional[str] = None, settings: Settings = None,
        timing: bool = True, **options: Any) -> Results:
    """Runs a CUDA, HIP or OpenCL program: `heddle run`. Options are its own: run("./app", max_cycles=10**6)."""
    words = ["--mode", "timing" if timing else "functional"] + _option_words(options, settings, system)
    return _stats_of(["run"], "--stats", words, [program, *arguments])


def bench(workload: str, *, system: Optional[str] = None, settings: Settings = None, timing: bool = True,
          **options: Any) -> Results:
    """Runs a bundled workload: bench("saxpy", n=4096)."""
    words = ["--mode", "timing" if timing else "functional"] + _option_words(options, settings, system)
    return _stats_of(["bench", workload], "--json", words, [])


def replay(trace: Path, *, system: Optional[str] = None, settings: Settings = None, **options: Any) -> Results:
    """Times a trace of instructions that `run --record` wrote: `heddle replay`."""
    return _stats_of(["replay", trace], "--stats", _option_words(options, settings, system), [])


class Study:
    """The results of a study. `data` is all of it, as `study --json` has it; `points` is a table of them."""

    def __init__(self, data: Any, points: Table) -> None:
        self.data, self.points = data, points


def study(name: Path, *, system: Optional[str] = None, settings: Settings = None, **options: Any) -> Study:
    """Runs a study of a file, or a shipped one: study("cache-size", quick=True, only="workload=fir")."""
    with tempfile.TemporaryDirectory() as folder:
        json_path, csv_path = os.path.join(folder, "study.json"), os.path.join(folder, "study.csv")
        words = _option_words(options, settings, system)
        command("study", name, "--json", json_path, "--csv", csv_path, "--no-progress", *words)
        with open(csv_path, encoding="utf-8", newline="") as file:
            return Study(read_json(json_path), from_csv(file))


def read_accesses(trace: Path, *, skip: int = 0, accesses: Optional[int] = None) -> Table:
    """Accesses of a trace of memory accesses, of any kind that `heddle trace` reads: a row each."""
    done = command("trace", "print", trace, *_option_words({"skip": skip or None, "accesses": accesses}, None, None))
    return from_csv(done.stdout.splitlines())


def trace_info(*traces: Path) -> str:
    """What traces hold, as `heddle trace info` tells."""
    return command("trace", "info", *traces).stdout


def doctor() -> Table:
    """What this host has for Heddle: a row for each tool."""
    import json

    return Table(json.loads(command("doctor", "--json", "-", check=False).stdout)["tools"])
