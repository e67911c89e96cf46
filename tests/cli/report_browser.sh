#!/usr/bin/env bash
# Reports in a real browser: Chromium, headless (tests/cli/report_browser.py).
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs chromium
needs chromedriver
small=(--mode timing --set gpu.sm_count=8 --set 'dispatch.gpcs=8')

run bench matmul_tiled --m 64 --n 64 --k 64 "${small[@]}" --series 500 --json cuda.json
expect_status 0
run bench matmul_tiled --m 64 --n 64 --k 64 "${small[@]}" --set dram.bandwidth=100GB/s --json slow.json
expect_status 0
run bench matmul_tiled --m 64 --n 64 --k 64 --mode timing --system r9nano --json amd.json
expect_status 0
run bench allreduce --gpus 4 --mode timing --set gpu.sm_count=8 --set 'dispatch.gpcs=8' --series 2000 --json gpus.json
expect_status 0
run bench fir --system r9nano-x4 --unified 4 --set paging.policy=esi --mode timing --series 2000 --json pages.json
expect_status 0
run bench saxpy --json functional.json
expect_status 0
python3 - <<'END'
import json
run = json.load(open("cuda.json"))
evil = "</script><script>hacked = 1</script><img src=x onerror='hacked = 2'><svg onload='hacked = 3'>"
def spoil(value, depth=0):
    if isinstance(value, dict):
        return {key: (part if key in ("mode", "layout") else spoil(part, depth + 1)) for key, part in value.items()}
    if isinstance(value, list):
        return [spoil(part, depth + 1) for part in value]
    return evil + value if isinstance(value, str) and depth > 1 and not value[:1].isdigit() else value
json.dump(spoil(run), open("evil.json", "w"))
for name in ("config", "links", "copies", "host", "options", "time_ps", "series"):
    run.pop(name, None)
for kernel in run["kernels"]:
    kernel["metrics"] = {}
    for name in ("grid", "block", "why", "launches", "active_lanes"):
        kernel.pop(name)
json.dump(run, open("poor.json", "w"))
columns = ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "gpu__time_duration.sum", "dram__bytes.sum"]
def line(fields):
    return ",".join('"%s"' % field for field in fields) + "\n"
open("real.csv", "w").write(line(columns) + line(["", "", "", "", "", "us", "Kbyte"]) +
                            line(["0", "1", "a", "h", "matmul_tiled(float*)", "11.5", "40"]))
END
run caches --generate zipf:footprint=1MiB --tiles 4 --snoop 1 --machine private --accesses 20k \
    --sweep l1.size=4KiB..16KiB,l1.ways=1:4,l2.size=128KiB:512KiB --json sweep.json
expect_status 0
cat >little.ini <<'END'
[study]
title = Do <b>bytes</b> a second matter?
workloads = saxpy vecadd
systems = h200
baseline = dram=2TB/s
[workload.saxpy]
options = --n 4096
[workload.vecadd]
options = --n 8192
[axis.dram]
set = dram.bandwidth
values = 100GB/s 2TB/s
END
run study little.ini --json little.json
expect_status 0
run report little.json sweep.json -o experiments.html
expect_status 0
for name in cuda amd gpus pages functional evil poor; do
    run report "$name.json" -o "$name.html"
    expect_status 0
done
run compare cuda.json slow.json -o compared.html
expect_status 0
run report cuda.json --ncu real.csv "$HEDDLE_HOME/docs/caches_sweep.svg" -o measured.html
expect_status 0
python3 "$HEDDLE_HOME/tests/cli/report_browser.py" . || fail 'reports in Chromium'
