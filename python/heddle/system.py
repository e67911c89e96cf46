"""Simulated systems: memory, modules, launches, metrics. The functions of heddle.h as objects."""
from __future__ import annotations

import ctypes
import math
import os
import struct
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

from ._library import LISTENER, Event, HeddleError, last_error, library
from .tables import Table

Data = Any  # an object with the buffer protocol: bytes, array.array, memoryview, a numpy array, ...
Size = Union[int, Sequence[int]]
Settings = Union[None, Mapping[str, Any], Sequence[str]]


def _check(code: int) -> None:
    if code:
        raise HeddleError(last_error(), code)


def _view(data: Data, writable: bool = False) -> memoryview:
    view = memoryview(data)
    if not view.c_contiguous:
        raise ValueError("expected a buffer whose bytes stand one after the other (numpy.ascontiguousarray makes one)")
    if writable and view.readonly:
        raise ValueError("expected a buffer that can be written, such as a bytearray")
    return view.cast("B") if view.nbytes else memoryview(b"")


def _address_of(view: memoryview) -> Any:
    """A pointer to the bytes of a view, which must stay alive meanwhile; and what keeps them."""
    if view.readonly:
        return ctypes.c_char_p(view.tobytes())
    return (ctypes.c_ubyte * len(view)).from_buffer(view) if len(view) else None


def f32(value: float) -> bytes:
    """A kernel's argument of 32 bits, which is also what a plain float becomes."""
    return struct.pack("<f", value)


def f64(value: float) -> bytes:
    """A kernel's argument of type double."""
    return struct.pack("<d", value)


def _argument(value: Any) -> bytes:
    """The bytes of a kernel's argument."""
    if isinstance(value, Buffer):
        return struct.pack("<Q", value.address)
    if isinstance(value, (bytes, bytearray)):
        return bytes(value)
    if isinstance(value, bool):
        return struct.pack("<q", int(value))
    if isinstance(value, int):  # of 8 to 64 bits: the upper ones are not looked at
        return struct.pack("<q" if value < 2**63 else "<Q", value)
    if isinstance(value, float):
        return f32(value)
    try:  # ctypes' values, numpy's scalars, structs
        return memoryview(value).tobytes()
    except TypeError:
        raise TypeError(f"{value!r} is no argument of a kernel: expected a Buffer, a number, bytes, or a value of "
                        "ctypes or numpy") from None


def _size(size: Size, what: str) -> Any:
    numbers = (size,) if isinstance(size, int) else tuple(size)
    if not 1 <= len(numbers) <= 3 or any(number < 1 for number in numbers):
        raise ValueError(f"{what}: expected one to three numbers from 1 on, not {size!r}")
    return (ctypes.c_uint32 * 3)(*numbers, *(1,) * (3 - len(numbers)))


class Buffer:
    """Memory of a device. It is freed by `free()`, at the end of a `with`, or with its system."""

    def __init__(self, system: System, address: int, nbytes: int) -> None:
        self.system, self.address, self.nbytes = system, address, nbytes

    def __len__(self) -> int:
        return self.nbytes

    def __enter__(self) -> Buffer:
        return self

    def __exit__(self, *_: Any) -> None:
        self.free()

    def __repr__(self) -> str:
        return f"<heddle.Buffer of {self.nbytes} bytes at {self.address:#x}>"

    def _range(self, offset: int, nbytes: int) -> int:
        if offset < 0 or nbytes < 0 or offset + nbytes > self.nbytes:
            raise IndexError(f"bytes {offset} to {offset + nbytes} are not in a buffer of {self.nbytes}")
        return self.address + offset

    def write(self, data: Data, offset: int = 0) -> None:
        """Copies to the device, from any object with the buffer protocol; after the kernels launched before."""
        view = _view(data)
        at = self._range(offset, len(view))
        _check(library().heddle_upload(self.system.handle, at, _address_of(view), len(view)))

    def read_into(self, data: Data, offset: int = 0) -> None:
        """Copies from the device into an object that can be written, such as a bytearray or a numpy array."""
        view = _view(data, writable=True)
        at = self._range(offset, len(view))
        _check(library().heddle_download(self.system.handle, _address_of(view), at, len(view)))

    def read(self, nbytes: Optional[int] = None, offset: int = 0) -> bytes:
        """Copies from the device: so many bytes, or all of them from the offset on."""
        data = bytearray(self.nbytes - offset if nbytes is None else nbytes)
        self.read_into(data, offset)
        return bytes(data)

    def unpack(self, code: str, offset: int = 0, count: Optional[int] = None) -> List[Any]:
        """Copies from the device as a list of numbers; `code` is one of the struct module, such as "f" or "I"."""
        each = struct.calcsize("<" + code)
        number = (self.nbytes - offset) // each if count is None else count
        return list(struct.unpack(f"<{number}{code}", self.read(number * each, offset)))

    def numpy(self, dtype: Any, shape: Any = -1) -> Any:
        """Copies from the device into a new numpy array (needs numpy)."""
        import numpy

        array = numpy.empty(self.nbytes // numpy.dtype(dtype).itemsize, dtype)
        self.read_into(array)
        return array.reshape(shape)

    def fill(self, byte: int) -> None:
        """Sets each byte."""
        _check(library().heddle_fill(self.system.handle, self.address, byte, self.nbytes))

    def copy_to(self, other: Buffer) -> None:
        """Copies to another buffer of at least this size, maybe of another device."""
        other._range(0, self.nbytes)
        _check(library().heddle_copy(self.system.handle, other.address, self.address, self.nbytes))

    def free(self) -> None:
        """Frees the memory; it must not be used afterwards."""
        if self.address and self.system.is_open:
            _check(library().heddle_release(self.system.handle, self.address))
        self.address = 0


class Module:
    """Kernels and variables. `module["name"]` is a kernel that can be called."""

    def __init__(self, system: System, handle: int) -> None:
        self.system, self.handle = system, handle

    def __getitem__(self, kernel: str) -> Callable[..., None]:
        def launch(grid: Size, block: Size, *arguments: Any, **options: Any) -> None:
            self.launch(kernel, grid, block, *arguments, **options)
        return launch

    def launch(self, kernel: str, grid: Size, block: Size, *arguments: Any, device: int = 0,
               shared_bytes: int = 0) -> None:
        """Starts a kernel and does not wait for it.

        A Buffer becomes its address; an int, any whole number; a float, one of 32 bits (f64 for double); values of
        ctypes and numpy, and bytes, are passed as they are.
        """
        # 16 bytes more each: a number may be read in the width of the kernel's parameter
        values = [ctypes.create_string_buffer(_argument(value) + bytes(16)) for value in arguments]
        pointers = (ctypes.c_void_p * (len(values) + 1))(*[ctypes.addressof(value) for value in values])
        _check(library().heddle_launch(self.system.handle, device, self.handle, kernel.encode(), _size(grid, "grid"),
                                       _size(block, "block"), shared_bytes, pointers))

    def variable(self, name: str, nbytes: int, device: int = 0) -> Buffer:
        """A variable of the module as a buffer of so many bytes, which is not to be freed."""
        address = library().heddle_variable(self.system.handle, device, self.handle, name.encode())
        if not address:
            raise HeddleError(last_error() or f"there is no variable {name}")
        return Buffer(self.system, address, nbytes)

    def unload(self) -> None:
        """Forgets the module; it must not be used afterwards."""
        _check(library().heddle_unload(self.system.handle, self.handle))


class System:
    """A simulated system with its GPUs; made by `heddle.open`, closed by `close()` or at the end of a `with`."""

    def __init__(self, handle: int, is_timed: bool) -> None:
        self._handle: Optional[int] = handle
        self.is_timed = is_timed
        self._listener: Any = None

    @property
    def is_open(self) -> bool:
        """Whether it can be used still."""
        return self._handle is not None

    @property
    def handle(self) -> int:
        """What the functions of heddle.h are given."""
        if self._handle is None:
            raise HeddleError("the system is closed")
        return self._handle

    def __enter__(self) -> System:
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def close(self) -> None:
        """Ends the system, with its memory and its modules."""
        if self._handle is not None:
            library().heddle_close(self._handle)
            self._handle = None

    @property
    def devices(self) -> int:
        """The number of devices that programs see."""
        return int(library().heddle_device_count(self.handle))

    @property
    def time_ps(self) -> int:
        """Simulated time since the system was opened, in picoseconds; 0 without timing."""
        return int(library().heddle_time_ps(self.handle))

    def property(self, name: str) -> int:
        """A property of the GPUs by its key in the section [gpu], such as "sm_count"; 0 for an unknown one."""
        return int(library().heddle_property(self.handle, name.encode()))

    def limit(self, most: int) -> None:
        """A launch fails after so many warp instructions or, with timing, cycles; 0: never."""
        library().heddle_limit(self.handle, most)

    def alloc(self, what: Union[int, Data], device: int = 0) -> Buffer:
        """Zeroed memory of so many bytes; or memory with a copy of the data that is given."""
        view = None if isinstance(what, int) else _view(what)
        nbytes = what if isinstance(what, int) else len(view or b"")
        if nbytes < 1:
            raise ValueError("expected at least one byte")
        address = library().heddle_alloc(self.handle, device, nbytes)
        if not address:
            raise HeddleError(last_error())
        buffer = Buffer(self, address, nbytes)
        if view is not None:
            buffer.write(view)
        return buffer

    def load(self, path: Union[str, "os.PathLike[str]"]) -> Module:
        """Kernels from a file: PTX, a fatbin, or a code object for AMD's GPUs."""
        return self._loaded(library().heddle_load(self.handle, os.fsencode(path)))

    def load_text(self, ptx: str, name: str = "text") -> Module:
        """Kernels from PTX in a string; `name` stands for the file in messages."""
        return self._loaded(library().heddle_load_text(self.handle, name.encode(), ptx.encode()))

    def _loaded(self, handle: Optional[int]) -> Module:
        if not handle:
            raise HeddleError(last_error())
        return Module(self, handle)

    def wait(self) -> None:
        """Waits for all kernels on all devices. A kernel's fault is raised, with its report."""
        _check(library().heddle_wait(self.handle))

    # ---- what launches did ----

    def metric(self, launch: int, name: str) -> Optional[float]:
        """A metric of a launch by the name that NVIDIA's profiler gives it; None if it is not known."""
        value = float(library().heddle_metric(self.handle, self._launch(launch), name.encode()))
        return None if math.isnan(value) else value

    def bottleneck(self, launch: int) -> Optional[str]:
        """What bounds a timed launch, in one line; None without timing."""
        text = library().heddle_bottleneck(self.handle, self._launch(launch))
        return text.decode() if text else None

    def _launch(self, number: int) -> int:
        count = int(library().heddle_launch_count(self.handle))
        if not -count <= number < count:
            raise IndexError(f"launch {number}: there are {count}")
        return number % count

    def launches(self) -> Table:
        """A row for each launch that has ended: kernel, statistics, the metrics that are known, and what bounds it."""
        self.wait()
        rows = Table()
        for launch in range(library().heddle_launch_count(self.handle)):
            row: Dict[str, Any] = {"kernel": library().heddle_launch_kernel(self.handle, launch).decode()}
            for name in _names(library().heddle_statistic_name):
                row[name.decode()] = int(library().heddle_statistic(self.handle, launch, name))
            for name in _names(library().heddle_metric_name):
                value = self.metric(launch, name.decode())
                if value is not None:
                    row[name.decode()] = value
            why = self.bottleneck(launch)
            if why is not None:
                row["bottleneck"] = why
            rows.append(row)
        return rows

    def listen(self, kinds: int, call: Optional[Callable[[Event], None]]) -> None:
        """Calls `call(event)` for what happens in the machine, as heddle_listen does; kinds 0: no more."""
        def told(_: Any, event: Any) -> None:
            if call:
                call(event.contents)
        listener = LISTENER(told)
        _check(library().heddle_listen(self.handle, kinds, listener, None))
        self._listener = listener


def _names(name_of: Callable[[int], Optional[bytes]]) -> Iterator[bytes]:
    number = 0
    while True:
        name = name_of(number)
        if name is None:
            return
        yield name
        number += 1


def _setting_lines(settings: Settings) -> List[str]:
    if settings is None:
        return []
    if isinstance(settings, Mapping):
        return [f"{key}={'yes' if value is True else 'no' if value is False else value}"
                for key, value in settings.items()]
    return list(settings)


def open(system: Optional[str] = None, settings: Settings = None, *, timing: bool = False, threads: int = 0,
         plugins: Sequence[str] = ()) -> System:
    """Opens a system by its name ("h200", "a100") or by the path of a description; None: an H200.

    settings: {"gpu.sm_count": 16} or ["gpu.sm_count=16"]. timing: kernels and copies take simulated time. threads: of
    the host (0: all); results do not depend on it. plugins: files that --plugin would load (docs/plugins.md).
    """
    known = os.environ.get("HEDDLE_PLUGINS", "")
    if plugins:
        lines = [line for line in known.split("\n") if line]
        lines += [line for line in map(_plugin_line, plugins) if line not in lines]
        os.environ["HEDDLE_PLUGINS"] = "\n".join(lines)
    words = [line.encode() for line in _setting_lines(settings)]
    array = (ctypes.c_char_p * (len(words) + 1))(*words, None)
    opener = library().heddle_open_timed if timing else library().heddle_open_with
    handle = opener(system.encode() if system is not None else None, array, threads)
    if not handle:
        if plugins:  # one that cannot be loaded is not tried again
            os.environ["HEDDLE_PLUGINS"] = known
        raise HeddleError(last_error())
    return System(handle, timing)


def _plugin_line(plugin: str) -> str:
    path, comma, text = plugin.partition(",")
    return os.path.abspath(path) + comma + text
