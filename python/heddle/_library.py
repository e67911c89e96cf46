"""libheddle, found and described for ctypes: a row for each function of heddle.h."""
from __future__ import annotations

import ctypes
import ctypes.util
import os
import shutil
from ctypes import c_char_p, c_double, c_int, c_size_t, c_uint32, c_uint64, c_void_p
from pathlib import Path
from typing import Iterator, Optional


class HeddleError(Exception):
    """A call has failed. `code` is the number of the CUDA error that the same mistake would be, or 0."""

    def __init__(self, text: str, code: int = 0) -> None:
        super().__init__(text)
        self.code = code


class Event(ctypes.Structure):
    """struct heddle_event: what a listener is told. `time_ps`, `kind`, `phase` and the others are as there."""

    _fields_ = [
        ("kind", c_uint32), ("phase", c_uint32), ("time_ps", c_uint64), ("id", c_uint64), ("gpu", c_uint32),
        ("place", c_uint32), ("stop", c_char_p), ("what", c_char_p), ("address", c_uint64), ("bytes", c_uint64),
        ("data", ctypes.POINTER(ctypes.c_ubyte)), ("data_bytes", c_uint32),
    ]


LISTENER = ctypes.CFUNCTYPE(None, c_void_p, ctypes.POINTER(Event))

_FUNCTIONS = [
    ("heddle_version", c_char_p, []),
    ("heddle_error", c_char_p, []),
    ("heddle_open_with", c_void_p, [c_char_p, c_void_p, c_uint32]),
    ("heddle_open_timed", c_void_p, [c_char_p, c_void_p, c_uint32]),
    ("heddle_close", None, [c_void_p]),
    ("heddle_time_ps", c_uint64, [c_void_p]),
    ("heddle_device_count", c_uint32, [c_void_p]),
    ("heddle_property", c_uint64, [c_void_p, c_char_p]),
    ("heddle_alloc", c_uint64, [c_void_p, c_uint32, c_size_t]),
    ("heddle_release", c_int, [c_void_p, c_uint64]),
    ("heddle_upload", c_int, [c_void_p, c_uint64, c_void_p, c_size_t]),
    ("heddle_download", c_int, [c_void_p, c_void_p, c_uint64, c_size_t]),
    ("heddle_copy", c_int, [c_void_p, c_uint64, c_uint64, c_size_t]),
    ("heddle_fill", c_int, [c_void_p, c_uint64, c_int, c_size_t]),
    ("heddle_load", c_void_p, [c_void_p, c_char_p]),
    ("heddle_load_text", c_void_p, [c_void_p, c_char_p, c_char_p]),
    ("heddle_unload", c_int, [c_void_p, c_void_p]),
    ("heddle_variable", c_uint64, [c_void_p, c_uint32, c_void_p, c_char_p]),
    ("heddle_launch", c_int, [c_void_p, c_uint32, c_void_p, c_char_p, c_void_p, c_void_p, c_uint32, c_void_p]),
    ("heddle_limit", None, [c_void_p, c_uint64]),
    ("heddle_wait", c_int, [c_void_p]),
    ("heddle_launch_count", c_size_t, [c_void_p]),
    ("heddle_launch_kernel", c_char_p, [c_void_p, c_size_t]),
    ("heddle_statistic", c_uint64, [c_void_p, c_size_t, c_char_p]),
    ("heddle_statistic_name", c_char_p, [c_size_t]),
    ("heddle_metric", c_double, [c_void_p, c_size_t, c_char_p]),
    ("heddle_metric_name", c_char_p, [c_size_t]),
    ("heddle_bottleneck", c_char_p, [c_void_p, c_size_t]),
    ("heddle_listen", c_int, [c_void_p, c_uint32, LISTENER, c_void_p]),
]


def _beside_command(command: Path) -> Iterator[Path]:
    """Where the library of a heddle command is: of an installation, of a build, of a source tree."""
    folder = command.resolve().parent
    yield folder.parent / "lib" / "libheddle.so"
    yield folder / "cuda" / "libheddle.so"
    yield folder / "build" / "release" / "cuda" / "libheddle.so"


def _places() -> Iterator[Path]:
    here = Path(__file__).resolve()
    yield here.parents[2] / "build" / "release" / "cuda" / "libheddle.so"  # in a source tree
    yield here.parents[3] / "libheddle.so"  # in PREFIX/lib/python3/dist-packages
    command = shutil.which("heddle")
    if command:
        yield from _beside_command(Path(command))


def find_library() -> str:
    """The path of libheddle.so: that of the variable HEDDLE_LIBRARY, or the one that comes with this package or with
    the command `heddle`, or the loader's."""
    own = os.environ.get("HEDDLE_LIBRARY")
    if own:
        return own
    for place in _places():
        if place.exists():
            return str(place)
    found = ctypes.util.find_library("heddle")
    if found:
        return found
    raise HeddleError("libheddle.so is not found: install Heddle, or set HEDDLE_LIBRARY to its path")


def find_command() -> str:
    """The path of the command `heddle`: that of the variable HEDDLE, or the one beside the library, or in PATH."""
    own = os.environ.get("HEDDLE")
    if own:
        return own
    library = Path(find_library()).resolve()
    for place in (library.parents[1] / "heddle", library.parents[1] / "bin" / "heddle"):
        if place.is_file():
            return str(place)
    found = shutil.which("heddle")
    if found:
        return found
    raise HeddleError("the command heddle is not found: install Heddle, or set HEDDLE to its path")


_loaded: Optional[ctypes.CDLL] = None


def library() -> ctypes.CDLL:
    """libheddle, loaded when it is first used."""
    global _loaded
    if _loaded is None:
        path = find_library()
        try:
            loaded = ctypes.CDLL(path)
        except OSError as error:
            raise HeddleError(f"{path} cannot be loaded: {error}") from None
        for name, result, arguments in _FUNCTIONS:
            function = getattr(loaded, name)
            function.restype, function.argtypes = result, arguments
        _loaded = loaded
    return _loaded


def last_error() -> str:
    """The message of this thread's last failed call."""
    return str(library().heddle_error().decode(errors="replace"))
