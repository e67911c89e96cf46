#!/usr/bin/env bash
# Reports and comparisons, without a browser: what the file holds, what cannot break out of it, what is refused.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
small=(--mode timing --set gpu.sm_count=8 --set 'dispatch.gpcs=8')

run bench matmul_tiled --m 64 --n 64 --k 64 "${small[@]}" --threads 2 --series 500 --json run.json
expect_status 0
run bench matmul_tiled --m 64 --n 64 --k 64 "${small[@]}" --threads 1 --series 500 --json one.json
expect_status 0
run bench matmul_tiled --m 64 --n 64 --k 64 "${small[@]}" --set dram.bandwidth=100GB/s --json slow.json
expect_status 0
run bench matmul_tiled --m 64 --n 64 --k 64 "${small[@]}" --json plain.json
expect_status 0
run bench saxpy --json functional.json
expect_status 0

# ---- samples over time ----

python3 - <<'END' || fail 'samples over time'
import json
run, one, plain = (json.load(open(name + ".json")) for name in ("run", "one", "plain"))
for each in (run, one, plain):
    each.pop("host")
assert run == one, "samples depend on the number of threads"
series = run.pop("series")
assert run.pop("options") != plain.pop("options")
assert run == plain, "samples change results"
gpu, = series["gpus"]
assert series["cycles"] == 500 and len(gpu["time_ps"]) > 5 and len(gpu["values"]) == len(series["rows"])
assert all(len(values) == len(gpu["time_ps"]) for values in gpu["values"])
assert all(a < b for a, b in zip(gpu["time_ps"], gpu["time_ps"][1:]))
row = [row[0] for row in series["rows"]].index("instructions")
clock, before, sum = 1.98e9, 0, 0
for time, value in zip(gpu["time_ps"], gpu["values"][row]):
    sum += value * (time - before) * 1e-12 * clock
    before = time
total = run["kernels"][0]["metrics"]["smsp__inst_executed.sum"]
assert abs(sum - total) < 1e-6 * total, (sum, total)
END
refuses '--series: expected' bench saxpy --series 0 --json x.json
refuses '--series' run --series many --stats x.json true
refuses '--series needs a file' run --series 1000 true
refuses '--series needs a file' bench saxpy --series 1000
refuses '--series needs --mode timing' bench saxpy --mode functional --series 1000 --json x.json

# Of links and of pages that move, too: sums over samples are what the run has as sums.
for threads in 1 2; do
    run bench allreduce --gpus 4 "${small[@]}" --series 2000 --threads "$threads" --json "links$threads.json"
    expect_status 0
done
run bench fir --system r9nano-x4 --unified 4 --set paging.policy=esi --mode timing --series 2000 --json pages.json
expect_status 0
python3 - <<'END' || fail 'samples of links and pages'
import json
one, two, moved = (json.load(open(name + ".json")) for name in ("links1", "links2", "pages"))
assert one["series"] == two["series"], "samples of links depend on the number of threads"
def spans(run):
    times = run["series"]["gpus"][0]["time_ps"]
    return [b - a for a, b in zip([0] + times, times)]
for run in (one, moved):
    links, span = {link["name"]: link for link in run["links"]}, spans(run)
    assert {part["name"] for part in run["series"]["links"]["list"]} == {name for name, link in links.items() if sum(link["bytes"])}
    for part in run["series"]["links"]["list"]:
        at, values = part["samples"], part["values"]
        assert at == sorted(set(at)) and 0 <= at[0] and at[-1] < len(span)
        assert len(values) == len(run["series"]["links"]["rows"]) == 4 and all(len(row) == len(at) for row in values)
        assert all(0 <= value <= 100 for row in values[:2] for value in row), "busier than all of the time"
        for back in (0, 1):
            busy = sum(value / 100 * span[i] for i, value in zip(at, values[back]))
            real, sent = links[part["name"]], sum(value * span[i] * 1e-12 for i, value in zip(at, values[2 + back]))
            last = run["time_ps"] - sum(span) # a part of a sample at the end is not there
            assert real["busy_ps"][back] - last - 1 <= busy <= real["busy_ps"][back] + 1, (part["name"], busy, real)
            assert real["bytes"][back] - last * real["bytes_per_s"] * 1e-12 - 1 <= sent <= real["bytes"][back] + 1, (part["name"], sent, real)
assert "pages" not in one["series"]
pages = moved["series"]["pages"]
rows = [row[0] for row in pages["rows"]]
for row, metric in (("pages received", "heddle__pages_received.sum"), ("page bytes", "heddle__page_bytes.sum")):
    got = sum(sum(part["values"][rows.index(row)]) for part in pages["list"])
    assert got == moved["kernels"][0]["metrics"][metric] > 0, (row, got)
assert len(pages["list"]) == 4 and pages["list"][2]["name"] == "GPU 0, member 2"
END

# ---- the page ----

run report run.json functional.json
expect_status 0
expect_empty out
expect_line err '^heddle: report run\.html: any browser shows it$'
refuses '\. is a folder' report .
python3 - <<'END' || fail 'the page'
import html.parser, json, re
page = open("run.html", encoding="utf-8").read()

class Reader(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.scripts, self.inside, self.tags = [], None, []
    def handle_starttag(self, tag, attributes):
        self.tags.append((tag, dict(attributes)))
        if tag == "script":
            self.scripts.append("")
            self.inside = True
    def handle_endtag(self, tag):
        self.inside = None
    def handle_data(self, data):
        if self.inside:
            self.scripts[-1] += data

reader = Reader()
reader.feed(page)
assert len(reader.scripts) == 2
data = json.loads(reader.scripts[0])
run = json.load(open("run.json"))
assert [one["mode"] for one in data["runs"]] == ["timing", "functional"]
mine, kernel = data["runs"][0], data["runs"][0]["kernels"][0]
names = [row[0] for row in data["rows"]]
for name, value in run["kernels"][0]["metrics"].items():
    got = [kernel["metrics"][i] for i, row in enumerate(names) if row == name and kernel["metrics"][i] is not None]
    assert len(got) == 1 and abs(got[0] - value) <= 1e-6 * abs(value), (name, value, got)
assert kernel["why"] == run["kernels"][0]["why"]
assert [dict(run["kernels"][0]["stall_cycles"])[row[0]] for row in data["stalls"]] == kernel["stalls"]
assert all(len(row) == 3 and row[2] for row in data["rows"]), "a row without help"
# 64^3 products and sums, each counted; the kernel does all of them with fma
assert kernel["flops"]["fp32"] == 2 * 64 ** 3, kernel["flops"]
source, = mine["sources"]
assert source["name"] == "matmul_tiled.ptx" and any("ld.global.f32" in line for line in source["text"])
# nothing is loaded from elsewhere
assert "default-src 'none'" in page
for tag, attributes in reader.tags:
    for name in ("src", "href"):
        assert attributes.get(name, "data:").startswith(("data:", "#")), (tag, attributes)
assert not re.search(r"https?://(?!www\.w3\.org/)", reader.scripts[1]), "an address"
for way in ("innerHTML", "outerHTML", "insertAdjacentHTML", "document.write", "eval(", "new Function"):
    assert way not in reader.scripts[1], way
END
run report run.json -o -
expect_status 0
expect_line out '^<!doctype html>$'
run report run.json --no-sources -o bare.html
expect_status 0
grep -q 'ld.global.f32 *%' bare.html && fail 'sources in spite of --no-sources'

# Two times the same bytes; and a report stands where it was asked for, whatever was there.
run report run.json functional.json -o again.html
expect_same_file 'two reports of one run' run.html again.html

# ---- sweeps and studies ----

run caches --generate zipf:footprint=1MiB --tiles 4 --snoop 1 --machine private --accesses 20k \
    --sweep l1.size=4KiB..16KiB,l1.ways=1:3,l2.size=128KiB:512KiB --json sweep.json
expect_status 0
run caches --generate zipf --tiles 4 --accesses 20k --json alone.json
expect_status 0
cat >little.ini <<'END'
[study]
title = Do <b>bytes</b> a second matter?
workloads = saxpy
systems = h200
[workload.saxpy]
options = --n 4096
[axis.dram]
set = dram.bandwidth
values = 100GB/s 2TB/s
END
run study little.ini --json little.json
expect_status 0
run report sweep.json alone.json little.json run.json -o experiments.html
expect_status 0
run report sweep.json
expect_line err '^heddle: report sweep\.html: any browser shows it$'
python3 - <<'END' || fail 'sweeps and studies in the page'
import json, re
page = open("experiments.html", encoding="utf-8").read()
data = json.loads(re.search(r'id="data">(.*?)</script>', page, re.S).group(1))
assert len(data["runs"]) == 1 and [sweep["path"] for sweep in data["sweeps"]] == ["sweep.json", "alone.json"]
sweep, alone = data["sweeps"]
theirs = json.load(open("sweep.json"))
names = [row[0] for row in sweep["keys"]]
counters = [row[0] for row in sweep["counters"]]
assert all(row[2] for row in sweep["keys"] + sweep["counters"]), "a row without help"
assert len(sweep["points"]) == len(theirs["configurations"]) > 4 and sweep["impossible"] == theirs["left_out"]
assert sweep["levels"] == 2 and alone["levels"] == 1 and len(alone["points"]) == 1
for point, one in zip(sweep["points"], theirs["configurations"]):
    config, result = one["config"], one["result"]
    assert point[names.index("l1.size")] == config["l1"]["bytes"] and point[names.index("l2.line")] == config["l2"]["line_bytes"]
    assert point[names.index("machine")] == "private"
    assert point[len(names):] == [result["accesses"]] + [result[level][name] for level in ("l1", "l2") for name in counters]
study, = data["studies"]
theirs = json.load(open("little.json"))
assert study["title"] == theirs["title"] and [figure["title"] for figure in study["figures"]] == [figure["title"] for figure in theirs["figures"]]
near = lambda a, b: abs(a - b) <= 1e-6 * abs(b)
assert all(near(*cells) for a, b in zip(study["figures"], theirs["figures"]) for one, two in zip(a["rows"], b["rows"], strict=True) for cells in zip(one["cells"], two["cells"], strict=True))
for point, one in zip(study["points"], theirs["points"], strict=True):
    assert point["labels"] == [one["labels"][axis["name"]] for axis in theirs["axes"]] and point["state"] == "done"
    values = {row[0]: value for row, value in zip(study["metrics"], point["values"]) if value is not None}
    assert values.keys() == one["metrics"].keys() and all(near(values[name], value) for name, value in one["metrics"].items())
assert ["dram__bytes.sum", "byte"] in [row[:2] for row in study["metrics"]]
damaged = json.load(open("little.json"))
damaged["figures"][0]["rows"][0]["cells"].pop()
json.dump(damaged, open("damaged_study.json", "w"))
json.dump({**json.load(open("little.json")), "layout": 9}, open("other_study.json", "w"))
damaged = json.load(open("sweep.json"))
damaged["configurations"][1]["result"].pop("l1")
json.dump(damaged, open("damaged_sweep.json", "w"))
END
refuses 'damaged_study\.json: this study is damaged' report damaged_study.json
refuses 'other_study\.json: its layout is 9' report other_study.json
refuses 'damaged_sweep\.json: this sweep is damaged' report damaged_sweep.json
refuses '--ncu: expected a run' report sweep.json --ncu real.csv
refuses '-o would write over sweep\.json' report run.json sweep.json -o sweep.json

# ---- hostile names ----

python3 - <<'END'
import json
run = json.load(open("run.json"))
evil = "</script><script>alert(1)</script><!--<img src=x onerror=alert(2)>\u2028'\"]]>"
def spoil(value, depth=0):
    if isinstance(value, dict):
        return {key: (spoil(part, depth + 1) if key not in ("mode", "layout") else part) for key, part in value.items()}
    if isinstance(value, list):
        return [spoil(part, depth + 1) for part in value]
    return evil + value if isinstance(value, str) and depth > 1 else value
open("evil.json", "w").write(json.dumps(spoil(run)))
END
run report evil.json -o evil.html
expect_status 0
python3 - <<'END' || fail 'hostile names'
import re
page = open("evil.html", encoding="utf-8").read()
assert page.count("<script") == 2 and page.count("</script") == 2, "a name ends the script"
assert "<img" not in page and "<!--" not in page
assert "alert(1)" in page
END

# A profile that names a file which is no source does not get it into the report; sources that are there come in.
printf 'a secret\n' >secret.txt
printf '// line one\n__global__ void kernel() {}\n' >kernel.cu
python3 - <<'END'
import json
run = json.load(open("run.json"))
for i, place in enumerate(run["kernels"][0]["profile"]):
    place["file"], place["line"] = ("secret.txt" if i % 2 else "kernel.cu"), 1
    place["module"] = "secret.txt"
json.dump(run, open("named.json", "w"))
END
run report named.json -o named.html
expect_status 0
grep -q 'a secret' named.html && fail 'a file that is no source is in the report'
grep -q '// line one' named.html || fail 'a source is missing in the report'

# The PTX of a program, of the module that has its kernels; and the CUDA source.
if has nvcc 'sources of programs'; then
    printf '__global__ void first(float *a) { a[threadIdx.x] *= 2; }\nint main() { float *a; cudaMalloc(&a, 256); first<<<1, 64>>>(a); return cudaDeviceSynchronize(); }\n' >first.cu
    printf '__global__ void second(float *a) { *a = 1; }\nvoid unused(float *a) { second<<<1, 1>>>(a); }\n' >second.cu
    nvcc -lineinfo -gencode arch=compute_90,code=compute_90 -o program first.cu second.cu || fail 'first.cu does not compile'
    run run "${small[@]}" --stats program.json ./program
    expect_status 0
    run report program.json -o program.html
    expect_status 0
    python3 - <<'END' || fail 'sources of a program'
import json, re
data = json.loads(re.search(r'id="data">(.*?)</script>', open("program.html", encoding="utf-8").read(), re.S)[1])
sources = {source["name"].split("/")[-1]: "\n".join(source["text"]) for source in data["runs"][0]["sources"]}
assert set(sources) == {"first.cu", "program"}, list(sources)
assert "a[threadIdx.x] *= 2" in sources["first.cu"]
assert "st.global.f32" in sources["program"] and "second" not in sources["program"], sources["program"]
END
fi

# ---- drawings ----

printf '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(3)</script></svg>' >plot.svg
run report run.json plot.svg -o drawn.html
expect_status 0
grep -q 'alert(3)' drawn.html && fail 'a drawing is not an image'
grep -q "$(base64 -w0 plot.svg)" drawn.html || fail 'the drawing is missing'
printf 'no drawing\n' >other.svg
refuses 'other.svg: expected a drawing' report run.json other.svg -o x.html

# ---- comparisons ----

run compare plain.json slow.json
expect_status 0
expect_line out 'slow.json beside the baseline plain.json'
expect_line out 'dram.bandwidth: 100GB/s, was'
expect_line out '^matmul_tiled +1 .* \+[0-9.]+%$'
expect_line out 'long_scoreboard'
run compare plain.json plain.json
expect_line out '^matmul_tiled +1 .* \+0.0%$'
expect_line out '^    nothing$'
run bench matmul_tiled --m 64 --n 64 --k 64 --mode functional --json untimed.json
expect_status 0
run compare plain.json untimed.json
expect_status 0
expect_line out '^one run is functional and the other is of --mode timing'
expect_line out '^  matmul_tiled: not compared: the baseline simulated its time, and the other run ran it functionally$'
! grep -q 'only in' out || fail "$ran: $(cat out)"
run compare untimed.json plain.json
expect_line out '^  matmul_tiled: not compared: the other run simulated its time, and the baseline ran it functionally$'
run compare functional.json untimed.json
expect_line out '^no kernel is in both$'
run compare functional.json functional.json
expect_line out '^saxpy +1 .* \+0.0%$'
run compare plain.json slow.json run.json -o compared.html
expect_status 0
python3 - <<'END' || fail 'the comparison in the report'
import json, re
data = json.loads(re.search(r'id="data">(.*?)</script>', open("compared.html", encoding="utf-8").read(), re.S)[1])
a, b = (json.load(open(name))["kernels"][0]["metrics"] for name in ("plain.json", "slow.json"))
first, second = data["compared"]
kernel, = first["kernels"]
assert abs(kernel["before"] - a["gpu__time_duration.sum"]) < 1 and abs(kernel["after"] - b["gpu__time_duration.sum"]) < 1
assert abs(kernel["change"] - 100 * (b["gpu__time_duration.sum"] / a["gpu__time_duration.sum"] - 1)) < 0.01
for name, unit, help, before, after, change in kernel["moved"]:
    assert abs(before - a[name]) <= 1e-5 * abs(a[name]) and abs(after - b[name]) <= 1e-5 * abs(b[name]), name
assert second["kernels"][0]["change"] == 0 and not second["kernels"][0]["moved"]
END
refuses 'expected two runs' compare plain.json
refuses 'expected one run with --ncu' compare plain.json slow.json --ncu x.csv

# Names are told as they are, but no byte of them moves the cursor of a terminal.
python3 - <<'END'
import json
run = json.load(open("plain.json"))
run["kernels"][0]["name"] = "a\x1b[31mb\x07\x9b2J"
json.dump(run, open("colours.json", "w"))
END
run compare colours.json colours.json
expect_status 0
expect_line out '^a\\x1b\[31mb\\x07\\xc2\\x9b2J +1 '
! LC_ALL=C grep -q $'[\x01-\x09\x0b-\x1f\x7f]' out || fail "$ran: control bytes"

# ---- ncu's CSV, written and read ----

gcc -o launch "$HEDDLE_HOME/tests/programs/launch.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'launch.c does not compile'
causes=$HEDDLE_HOME/tests/programs/causes.ptx
run run "${small[@]}" --stats real.json --csv real.csv ./launch "$causes" units 8 256 64 3
expect_status 0
python3 - <<'END' || fail 'the CSV'
import csv, json
rows = list(csv.reader(open("real.csv")))
head, units, launches = rows[0], rows[1], rows[2:]
assert head[:11] == ["ID", "Process ID", "Process Name", "Host Name", "Kernel Name", "Context", "Stream", "Block Size",
                     "Grid Size", "Device", "CC"], head
assert units[:11] == [""] * 11 and len(launches) == 3 and all(len(row) == len(head) for row in rows)
run = json.load(open("real.json"))
assert not [name for name in head if name.startswith(("heddle__", "SQ_"))]
for row, launch in zip(launches, run["launches"]):
    assert row[4].startswith("units") and row[7] == "(256, 1, 1)" and row[8] == "(8, 1, 1)" and row[10] == "9.0"
    for name, value in zip(head[11:], row[11:]):
        assert abs(float(value.replace(",", "")) - launch["metrics"][name]) < 1e-5, (name, value)
END
# Launches of one name with several shapes are paired by shape and in their order; a kernel that has another name now, or
# is gone, is named.
python3 - <<'END'
import copy, json
run = json.load(open("real.json"))
one, time, inst = run["launches"][0], "gpu__time_duration.sum", "smsp__inst_executed.sum"
def write(name, kernels):
    out = {**run, "launches": [], "kernels": []}
    for kernel, launches in kernels:
        for grid, ns in launches:
            launch = copy.deepcopy(one)
            launch.update(name=kernel, kernel=kernel, grid=[grid, 1, 1])
            launch["metrics"].update({time: ns, inst: 10 * ns})
            out["launches"].append(launch)
        whole = copy.deepcopy(run["kernels"][0])
        whole.update(name=kernel, kernel=kernel, launches=len(launches))
        whole["metrics"].update({time: sum(ns for _, ns in launches), inst: 10 * sum(ns for _, ns in launches)})
        out["kernels"].append(whole)
    json.dump(out, open(name, "w"))
write("shapes_a.json", [("gemm", [(8, 100), (64, 1000), (8, 120), (16, 300)]), ("old_name", [(5, 50), (6, 60)]), ("gone", [(4, 10)]), ("same", [(1, 7)])])
write("shapes_b.json", [("gemm", [(64, 2000), (8, 110), (8, 120), (32, 450), (8, 130)]), ("new_name", [(5, 100), (6, 60)]), ("came", [(4, 10), (4, 11)]), ("same", [(2, 7)])])
END
run compare shapes_a.json shapes_b.json -o shapes.html
expect_status 0
python3 - <<'END' || fail "pairs of launches: $(cat out)"
import json, re
data = json.loads(re.search(r'id="data">(.*?)</script>', open("shapes.html", encoding="utf-8").read(), re.S)[1])
compared, = data["compared"]
rows = {(row["name"], row["shape"].split("x(")[0]): (row["launches"], row["before"], row["after"]) for row in compared["kernels"]}
assert rows == {("gemm", "(8, 1, 1)"): (2, 220, 230), ("gemm", "(64, 1, 1)"): (1, 1000, 2000), ("gemm", "(32, 1, 1)"): (1, 300, 450),
                ("new_name (was old_name)", "(5, 1, 1)"): (1, 50, 100), ("new_name (was old_name)", "(6, 1, 1)"): (1, 60, 60), ("same", "(2, 1, 1)"): (1, 7, 7)}, rows
changed, = [row for row in compared["kernels"] if row["shape"].startswith("(32")]
assert changed["shape"] == "(32, 1, 1)x(256, 1, 1), was (16, 1, 1)x(256, 1, 1)", changed["shape"]
moved = {name: values for name, _, _, *values in changed["moved"]}
assert moved["smsp__inst_executed.sum"] == [3000, 4500, 50], moved
only = sorted(compared["only"])
assert only == ["came: 2 launches only in the other run, the baseline has no such kernel",
                "gemm (8, 1, 1)x(256, 1, 1): 1 launch only in the other run",
                "gone: 1 launch only in the baseline, the other run has no such kernel"], only
END
expect_line out '^new_name \(was old_name\) +1 '
expect_line out '^    grid and block \(64, 1, 1\)x\(256, 1, 1\)$'
expect_line out '^  gone: 1 launch only in the baseline, the other run has no such kernel$'

run compare real.json --ncu real.csv
expect_status 0
expect_line out '3 launches in both'
expect_line out '^gpu__time_duration.sum +3 +0.0% '

# As a GPU's profiler writes it: lines of its own before, scaled units, names with types, another page.
cat >raw.csv <<'END'
==PROF== Connected to process 4711 (/tmp/a.out)
units: ok
==PROF== Disconnected from process 4711
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","gpu__time_duration.sum","launch__func_cache_config","smsp__inst_executed.sum"
"","","","","","","","","","","","usecond","","inst"
"0","4711","a.out","127.0.0.1","units(float *, int)","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","1,002.50","CachePreferNone","12,345"
"1","4711","a.out","127.0.0.1","void other<(int)3>(float *)","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","1","CachePreferNone","n/a"
END
run report real.json --ncu raw.csv -o measured.html
expect_status 0
python3 - <<'END' || fail 'what ncu measured'
import json, re
data = json.loads(re.search(r'id="data">(.*?)</script>', open("measured.html", encoding="utf-8").read(), re.S)[1])
real = json.load(open("real.json"))["launches"][0]["metrics"]
measured = data["measured"]
time, = [metric for metric in measured["metrics"] if metric["name"] == "gpu__time_duration.sum"]
assert time["points"][0][1] == 1002500 and abs(time["points"][0][2] - real["gpu__time_duration.sum"]) < 0.1
error = 100 * abs(real["gpu__time_duration.sum"] / 1002500 - 1)
assert abs(time["mean_error"] - error) < 0.01 and time["correlation"] is None
assert any("other" in line for line in measured["only"]) and any("2 launches" in line for line in measured["only"])
END
cat >details.csv <<'END'
"ID","Process ID","Process Name","Host Name","Kernel Name","Context","Stream","Block Size","Grid Size","Device","CC","Section Name","Metric Name","Metric Unit","Metric Value","Rule Name","Rule Type","Rule Description"
"0","1","a.out","h","units","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","GPU Speed Of Light Throughput","Duration","ms","1.5","","",""
"0","1","a.out","h","units","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","Memory Workload Analysis","Memory Throughput","Gbyte/s","2.5","","",""
"0","1","a.out","h","units","1","7","(256, 1, 1)","(8, 1, 1)","0","9.0","SpeedOfLight","","","","SOLBottleneck","OPT","a ""quoted"" rule,
of two lines"
END
run compare real.json --ncu details.csv
expect_status 0
expect_line out '^units +0 +1.5 ms '
expect_line out '^dram__bytes.sum.per_second '

# ---- bad input: one line, and no report ----

refuses 'cannot read|unable to open' report missing.json -o x.html
refuses 'expected a file' report -o x.html
refuses 'real.csv' report real.csv -o x.html
printf '{"layout": 2}' >empty.json
refuses 'this is no run' report empty.json -o x.html
python3 - <<'END'
import json
run = json.load(open("run.json"))
json.dump({**run, "layout": 99}, open("later.json", "w"))
json.dump({**run, "kernels": [{"name": 7}]}, open("damaged.json", "w"))
json.dump([1, 2], open("list.json", "w"))
open("cut.json", "w").write(json.dumps(run)[:-300])
json.dump({**run, "series": {"cycles": "x", "rows": [], "gpus": []}}, open("samples.json", "w"))
metrics = {**run["kernels"][0]["metrics"], "gpc__cycles_elapsed.max": "many"}
json.dump({**run, "kernels": [{**run["kernels"][0], "metrics": metrics}]}, open("words.json", "w"))
END
refuses 'damaged' report samples.json -o x.html
refuses 'damaged' compare run.json words.json
: >nothing.json
refuses 'no JSON, or damaged' report nothing.json -o x.html
refuses 'its layout is 99, and this Heddle reads layout 2' report later.json -o x.html
refuses 'its layout is 99' compare run.json later.json
refuses 'damaged' report damaged.json -o x.html
refuses 'this is no run' report list.json -o x.html
refuses 'cut.json' report cut.json -o x.html
refuses 'would write over' report run.json -o run.json
refuses 'cannot' report run.json -o no/such/folder/x.html
refuses 'unknown option' report run.json --nonsense
refuses 'this is no CSV of ncu' report real.json --ncu run.json -o x.html
refuses 'no launch of a kernel in common' compare run.json --ncu raw.csv
sed 's/,"Kernel Name"//' raw.csv >nameless.csv
refuses 'no column Kernel Name' compare real.json --ncu nameless.csv
head -c -20 details.csv >cut.csv
refuses 'cut.csv:[0-9]+: the file ends inside a quoted field' compare real.json --ncu cut.csv
sed 's/"1,002.50"/"1.002.500"/' raw.csv >locale.csv
refuses 'LC_ALL=C' compare real.json --ncu locale.csv
sed '5d' raw.csv >unitless.csv
refuses 'row of units' compare real.json --ncu unitless.csv
sed 's/,"12,345"$//' raw.csv >narrow.csv
refuses 'a row of 13 fields, expected 14' compare real.json --ncu narrow.csv
[[ ! -e x.html ]] || fail 'a report in spite of an error'
