#!/usr/bin/env python3
"""y = a x + y on a simulated H200, through libheddle and ctypes:
   python3 docs/examples/saxpy.py build/release/cuda/libheddle.so bench/cuda/saxpy.ptx"""
import ctypes
import sys
from ctypes import c_char_p, c_double, c_float, c_int, c_size_t, c_uint32, c_uint64, c_void_p

heddle = ctypes.CDLL(sys.argv[1])
for name, result, arguments in [
    ("heddle_error", c_char_p, []),
    ("heddle_open_timed", c_void_p, [c_char_p, c_void_p, c_uint32]),
    ("heddle_close", None, [c_void_p]),
    ("heddle_load", c_void_p, [c_void_p, c_char_p]),
    ("heddle_alloc", c_uint64, [c_void_p, c_uint32, c_size_t]),
    ("heddle_upload", c_int, [c_void_p, c_uint64, c_void_p, c_size_t]),
    ("heddle_download", c_int, [c_void_p, c_void_p, c_uint64, c_size_t]),
    ("heddle_launch", c_int,
     [c_void_p, c_uint32, c_void_p, c_char_p, c_void_p, c_void_p, c_uint32, c_void_p]),
    ("heddle_metric", c_double, [c_void_p, c_size_t, c_char_p]),
    ("heddle_bottleneck", c_char_p, [c_void_p, c_size_t]),
]:
    function = getattr(heddle, name)
    function.restype, function.argtypes = result, arguments


def check(good):
    if not good:
        sys.exit("saxpy: " + heddle.heddle_error().decode())
    return good


n, block = 1000000, 256
x = (c_float * n)(*range(n))
y = (c_float * n)(*[1.0] * n)
gpu = check(heddle.heddle_open_timed(b"h200", None, 0))
module = check(heddle.heddle_load(gpu, sys.argv[2].encode()))
device_x = c_uint64(check(heddle.heddle_alloc(gpu, 0, 4 * n)))
device_y = c_uint64(check(heddle.heddle_alloc(gpu, 0, 4 * n)))
check(heddle.heddle_upload(gpu, device_x, x, 4 * n) == 0)
check(heddle.heddle_upload(gpu, device_y, y, 4 * n) == 0)
values = [c_uint32(n), c_float(2), device_x, device_y]
pointers = (c_void_p * 4)(*[ctypes.addressof(value) for value in values])
dim = c_uint32 * 3
check(heddle.heddle_launch(gpu, 0, module, b"saxpy", dim((n + block - 1) // block, 1, 1), dim(block, 1, 1), 0,
                           pointers) == 0)
check(heddle.heddle_download(gpu, y, device_y, 4 * n) == 0)
cycles = heddle.heddle_metric(gpu, 0, b"gpc__cycles_elapsed.max")
print(f"y[10] = {y[10]:g}, after {cycles:.0f} cycles: {heddle.heddle_bottleneck(gpu, 0).decode()}")
heddle.heddle_close(gpu)
