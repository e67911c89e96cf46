"""Simulated GPU systems in Python.

    import array, heddle
    with heddle.open("h200", timing=True) as gpu:
        module = gpu.load("saxpy.ptx")
        x = gpu.alloc(array.array("f", range(1000)))
        y = gpu.alloc(array.array("f", [1.0] * 1000))
        module.launch("saxpy", 4, 256, 1000, 2.0, x, y)
        print(y.unpack("f")[:4], gpu.launches().column("bottleneck"))

Functions that start with a program or a name (run, bench, study, replay) call the command `heddle` and give its results
as tables. Needs nothing but the standard library; numpy arrays are taken where there is numpy. docs/python.md says more.
"""
from ._library import Event, HeddleError, find_command, find_library, library
from .commands import Study, bench, command, doctor, read_accesses, replay, run, study, trace_info
from .results import Results, compare, read_json, read_stats
from .system import Buffer, Module, System, f32, f64, open
from .tables import Table, from_csv

__version__ = "0.1.0"

# Kinds and phases of events, as in heddle.h.
KERNEL, BLOCK, REQUEST, COPY, TRANSLATION, FAULT = range(6)
BEGINS, PASSES, ENDS = range(3)


def library_version() -> str:
    """The version of libheddle."""
    return str(library().heddle_version().decode())


__all__ = [
    "Buffer", "Event", "HeddleError", "Module", "Results", "Study", "System", "Table", "bench", "command", "compare",
    "doctor", "f32", "f64", "find_command", "find_library", "from_csv", "library_version", "open", "read_accesses",
    "read_json", "read_stats", "replay", "run", "study", "trace_info",
]
