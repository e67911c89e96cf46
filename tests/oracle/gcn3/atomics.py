"""Read-modify-write functions of memory and LDS (sections 12.13, 12.14, 12.18)."""
from floats import F32, F64, Fp
from wave import signed


def wrapped(function):
    return lambda old, data, width: function(old, data) & ((1 << width) - 1)


def by_sign(pick):
    return lambda old, data, width: old if pick(signed(old, width), signed(data, width)) == signed(old, width) else data


ATOMICS = {
    "swap": lambda old, data, width: data,
    "add": wrapped(lambda old, data: old + data),
    "sub": wrapped(lambda old, data: old - data),
    "rsub": wrapped(lambda old, data: data - old),
    "smin": by_sign(min),
    "smax": by_sign(max),
    "umin": lambda old, data, width: min(old, data),
    "umax": lambda old, data, width: max(old, data),
    "and": lambda old, data, width: old & data,
    "or": lambda old, data, width: old | data,
    "xor": lambda old, data, width: old ^ data,
    "inc": lambda old, data, width: 0 if old >= data else old + 1,
    "dec": lambda old, data, width: data if old == 0 or old > data else old - 1,
}


def float_atomic(name, width, old, data, source):
    """A NaN never replaces what is there. cmpst: data is compared, source is stored."""
    fp = Fp(F32 if width == 32 else F64)
    if name == "add":
        return fp.add(old, data)
    order = fp.compare(data, old)
    if name == "cmpst":
        return source if order == 0 else old
    return data if order == (-1 if name == "min" else 1) else old
