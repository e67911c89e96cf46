# %% [markdown]
# # A kernel on several GPUs, from Python
#
# A script with cells (`# %%`), which editors and Jupyter (by jupytext) open as a notebook. As a script:
# `python3 docs/examples/notebook.py [saxpy.ptx]`. It needs the Python package of Heddle (docs/python.md).

# %%
import array
import os
import sys

import heddle

here = os.path.dirname(os.path.abspath(__file__)) if "__file__" in globals() else "."
ptx = sys.argv[1] if len(sys.argv) > 1 else os.path.join(here, "../../bench/cuda/saxpy.ptx")
n, block = 20000, 256

# %% [markdown]
# ## One launch: results and what bounds it

# %%
with heddle.open("h200", timing=True) as gpu:
    saxpy = gpu.load(ptx)["saxpy"]
    x = gpu.alloc(array.array("f", range(n)))
    y = gpu.alloc(array.array("f", [1.0]) * n)
    saxpy((n + block - 1) // block, block, n, 2.0, x, y)
    print("y[10] =", y.unpack("f", count=11)[10])
    launch = gpu.launches()[0]
print(f"{launch['gpc__cycles_elapsed.max']:.0f} cycles; {launch['bottleneck']}")

# %% [markdown]
# ## The same with fewer SMs, as a table

# %%
table = heddle.Table()
for sms in (4, 16, 64):
    with heddle.open("h200", {"gpu.sm_count": sms}, timing=True) as gpu:
        saxpy = gpu.load(ptx)["saxpy"]
        x, y = gpu.alloc(4 * n), gpu.alloc(4 * n)
        saxpy((n + block - 1) // block, block, n, 2.0, x, y)
        launch = gpu.launches()[0]
    table.append({"SMs": sms, "cycles": launch["gpc__cycles_elapsed.max"],
                  "L2 hit rate": launch.get("lts__t_sector_hit_rate.pct")})
print(table.to_csv(), end="")

# %% [markdown]
# ## A bundled workload, by the command

# %%
results = heddle.bench("reduction", n=20000, settings={"gpu.sm_count": 8})
for row in results.kernels:
    print(row["kernel"], row["launches"], row["gpc__cycles_elapsed.max"])
