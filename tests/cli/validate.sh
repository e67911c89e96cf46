#!/usr/bin/env bash
# `heddle validate`: points in the model beside what a real GPU gave. How near they are is not tested here.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
some='^(saxpy_small|alu_fma_f32|empty_1x32)$'

# ---- the table, and the files ----

run validate --only "$some" --json all.json --svg plot.svg --markdown page.md
expect_status 0
expect_empty err
expect_line out '^workload +cycles +model +error +insts +L1 hit +L2 hit +DRAM$'
expect_line out '^saxpy_small +4,275 +[0-9,]+ +[+-][0-9.]+% +[+-][0-9.]+% +[+-][0-9.]+ +[+-][0-9.]+ +[+-][0-9.]+%$'
expect_line out '^empty_1x32 +[0-9,]+ +[0-9,]+ +[+-][0-9.]+%'
expect_line out '^alu_fma_f32 +latency_cycles +4\.[0-9]+ +[0-9.]+ +[+-][0-9.]+%$'
expect_line out '^NVIDIA H200, .*beside the model h200:$'
expect_line out '^  points +1 +3'
expect_line out '^  cycles, mean error +[0-9.]+% +[0-9.]+% +20%$'
expect_line out '^  figures of microbenchmarks: 5, [0-9] within 5%, [0-9] within 10%$'
widest=$(wc -L <out)
((widest <= 110)) || fail "$ran: a line of out has $widest columns"
python3 - <<'END' || fail 'a file cannot be read'
import json, re, xml.dom.minidom
whole = json.load(open("all.json"))
points = {point["point"]: point for point in whole["points"]}
assert sorted(points) == ["alu_fma_f32", "empty_1x32", "saxpy_small"] and all(point["ran"] for point in points.values())
saxpy = points["saxpy_small"]
assert saxpy["measured"]["cycles"] == 4275 and saxpy["launches"] == saxpy["launches_measured"] == 1
for name in "cycles", "warp_instructions", "dram_bytes":
    assert abs(saxpy["error"][name] - 100 * (saxpy["model"][name] / saxpy["measured"][name] - 1)) < 1e-6, name
for name in "l1_hit_rate", "l2_hit_rate":
    assert 0 <= saxpy["model"][name] <= 100 and abs(saxpy["error"][name] - saxpy["model"][name] + saxpy["measured"][name]) < 1e-6, name
assert points["alu_fma_f32"]["figures"]["latency_cycles"]["model"] > 0
summary = whole["summary"]
assert summary["workloads"]["points"] == 1 and summary["all"]["points"] == 3 and summary["figures"] == 5
mean = sum(abs(point["error"]["cycles"]) for point in points.values()) / 3
assert abs(summary["all"]["mean_absolute_error"]["cycles"] - mean) < 1e-6
svg = xml.dom.minidom.parse("plot.svg")
titles = [node.firstChild.data for node in svg.getElementsByTagName("title")]
titles = [title for title in titles if " measured, " in title] # others are of the key
assert len(titles) == 3 and any(title.startswith("saxpy_small: 4275 measured") for title in titles)
page = open("page.md").read()
assert "](plot.svg)" in page and f"    {whole['command']}\n" in page
for table in re.findall(r"(?:^\|.*\n)+", page, re.M): # as many cells in each row
    assert len({line.count("|") for line in table.splitlines()}) == 1, table
END

# ---- the page of the documentation says what falls short of its aim ----

python3 - "$HEDDLE_HOME/docs/accuracy.md" <<'END' || fail 'docs/accuracy.md leaves out a correlation below its aim'
import re, sys
page = open(sys.argv[1]).read()
workloads, aim = re.search(r"^\| cycles, correlation \| (\S+) \| \S+ \| (\S+) \|$", page, re.M).groups()
bad = " ".join(page.split("## What is not good")[1].split("\n## ")[0].split())
assert float(workloads) >= float(aim) or f"correlation of cycles over workloads is {workloads}, below the aim of {aim}" in bad
END

# ---- the same again: other threads, two points at a time ----

run validate --only "$some" --threads 2 --jobs 2 --json again.json
expect_status 0
python3 -c 'import json, sys; print(*[json.load(open(name))["points"] for name in sys.argv[1:]], sep="\n")' all.json again.json | uniq >same
expect_lines same 1

# ---- other models; what is left out ----

run validate --only '^saxpy_small$' --system a100 --set gpu.sm_count=8
expect_status 0
expect_line out 'beside the model a100:$'
run validate --only '^saxpy_(small|large)$'
expect_status 0
expect_line out '^Left out: 1 long point '

# what was measured elsewhere, with a point that is not in it
mkdir own
printf '# my GPU\r\npoint,figure,value\r\n' >own/figures.csv
grep -E '^(#|point,|saxpy_small,)' "$HEDDLE_HOME/bench/h200/counters.csv" >own/counters.csv
run validate --only '^(saxpy_small|empty_1x32)$' --measured own
expect_status 0
expect_line out '^Left out: 1 point that was not measured'

# ---- measurements follow the system: curves and figures of an R9 Nano ----

amd='^gcn3_(straight_alu_(0|64|128)|straight_dram_(512|1024)|dispatch_waves4_(128|1024)|v_add_f32|barrier_4)$'
run validate --system r9nano --only "$amd" --json amd.json --svg amd.svg --markdown amd.md
expect_status 0
expect_empty err
expect_line out '^gcn3_straight_alu +instructions +3 +[0-9.]+% +[0-9.]+ +[0-9.]+ +[+-][0-9.]+%$'
expect_line out '^gcn3_v_add_f32 +latency_cycles +5 +[0-9.]+ +[+-][0-9.]+%$'
expect_line out '^gcn3_barrier_4 +cycles_per_step +- +[0-9.]+ +-$'
expect_line out '^AMD Radeon R9 Nano, .*beside the model r9nano:$'
expect_line out '^  measured values: 8, mean error [0-9.]+%; [0-9] within 5%, [0-9] within 10%$'
expect_line out '^  slopes of curves: 3, mean error [0-9.]+%$'
python3 - <<'END' || fail 'the R9 Nano: a file is wrong'
import json, xml.dom.minidom
whole = json.load(open("amd.json"))
figures = {point["point"]: point["figures"] for point in whole["points"]}
dram = [figures[f"gcn3_straight_dram_{at}"]["microseconds"] for at in (512, 1024)]
assert dram[1]["measured"] == 465.76 and whole["summary"]["figures"] == 8
slope = [(dram[1][side] - dram[0][side]) / 512 for side in ("measured", "model")]
assert abs(slope[1] / slope[0] - 1) < 0.2, slope # nanoseconds of a dependent read from DRAM: 461 on the hardware
assert abs(figures["gcn3_v_add_f32"]["latency_cycles"]["model"] / 5 - 1) < 0.1
assert "measured" not in figures["gcn3_barrier_4"]["cycles_per_step"] # the model's alone
errors = [figure["error"] for point in figures.values() for figure in point.values() if "error" in figure]
said = float(open("out").read().split("measured values: 8, mean error ")[1].split("%")[0])
assert len(errors) == 8 and abs(sum(map(abs, errors)) / 8 - said) < 0.051
assert abs(whole["summary"]["figures_mean_absolute_error"] - said) < 0.051
assert abs(whole["curves"]["gcn3_straight_dram"]["slope_ns_model"] - 1000 * slope[1]) < 0.01
titles = [node.firstChild.data for node in xml.dom.minidom.parse("amd.svg").getElementsByTagName("title")]
assert sum(" us measured, " in title for title in titles) == 7, titles
page = open("amd.md").read()
assert "](amd.svg)" in page and "| gcn3_barrier_4 | cycles_per_step |" in page
END
run validate --system "$HEDDLE_HOME/systems/r9nano.ini" --only '^gcn3_dispatch_waves1_128$'
expect_status 0
expect_line out '^gcn3_dispatch_waves1 '
refuses 'validate: nothing was measured on mi60; --measured names a folder' validate --system mi60
mkdir curves
echo 'point,figure,value' >curves/figures.csv
printf 'curve,at,value\ngcn3_straight_alu,64,3.8\n' >curves/curves.csv
run validate --system r9nano --measured curves --only '^gcn3_straight_alu'
expect_status 0
expect_line out '^gcn3_straight_alu +instructions +1 '
echo 'gcn3_straight_l9,64,3.8' >>curves/curves.csv
refuses "curves.csv, line 3: there is no curve 'gcn3_straight_l9'" validate --system r9nano --measured curves
sed -i 's/_l9,64/_l1,-64/' curves/curves.csv
refuses "curves.csv, line 3: expected a count, not '-64'" validate --system r9nano --measured curves
refuses "no point of bench/points_gcn3.def is like '\^saxpi'" validate --system r9nano --only '^saxpi'

# ---- Ctrl-C: what is known is told ----

start validate --only '^(saxpy_small|loop_int_large)$' --all --json stopped
sleep 1.5
interrupt
expect_status 130
expect_line err '^heddle: interrupted'
expect_line out '^loop_int_large +\(not run: interrupted\)$'
expect_line stopped '"ran": false'

# ---- mistakes ----

refuses "--only: '\(' is no regular expression" validate --only '('
refuses "no point of bench/points.def is like '\^saxpi'" validate --only '^saxpi'
refuses '--svg: a drawing is written as SVG, so its file is named .svg, not x.png' validate --only "$some" --svg x.png
refuses 'cannot write none/x' validate --only "$some" --json none/x
refuses 'cannot write none/x' validate --only "$some" --svg none/x
refuses 'cannot write none/x' validate --only "$some" --markdown none/x
refuses 'no figures of a real GPU: .*none/counters.csv' validate --measured none
HEDDLE_HOME=$folder refuses 'no figures of a real GPU: .*HEDDLE_HOME' validate --only "$some"
refuses 'all points are left out' validate --only "$some" --most 1
refuses '--most: expected a number' validate --most few
refuses '--jobs: expected a number from 1 to' validate --jobs 0
refuses '--threads: expected a number' validate --threads none
refuses "unexpected word 'saxpy'" validate saxpy
refuses "no system 'h2000'" validate --system h2000
refuses 'sm_cont' validate --set gpu.sm_cont=4
refuses 'unknown option --onyl; did you mean --only' validate --onyl x
sed 's/^saxpy_small,saxpy,1,/saxpy_small,saxpy,one,/' own/counters.csv >own/x && mv own/x own/counters.csv
refuses "counters.csv, line 3: 'one' is no number" validate --measured own
sed 's/gpc__cycles_elapsed.max/cycles/' own/counters.csv >own/x && mv own/x own/counters.csv
refuses 'it has no column gpc__cycles_elapsed.max' validate --measured own
echo 'saxpy_small,saxpy,1' >>own/figures.csv && echo 'saxpy_small,1' >>own/figures.csv
cp "$HEDDLE_HOME/bench/h200/counters.csv" own
refuses "figures.csv, line 4: expected 3 cells, not 2" validate --measured own
