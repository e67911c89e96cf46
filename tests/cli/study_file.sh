#!/usr/bin/env bash
# `heddle study FILE`: points, tables, files of results, what is done again and what is not, and mistakes.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >clock.ini <<'END'
[study]
title = Clocks
baseline = clock=500MHz
workloads = fir
[workload.adding]
bench = vecadd
options = --n 65536
quick = --n 4096
[axis.l2]
large = -
small = l2.bytes=1MiB
[axis.clock]
set = gpu.clock
values = 500MHz 1GHz 2GHz
quick = 500MHz 1GHz
[without]
one = l2=small clock=2GHz
[figure.time]
[figure.speedup]
shows = speedup
title = Speedup
[figure.bytes]
metric = dram__bytes.sum
over = gpu__time_duration.sum
columns = l2
plot = bars
END

# ---- tables, the same for any number of jobs ----

run study clock.ini --jobs 1 --json one.json --csv one.csv --markdown one.md --svg plots
expect_status 0
expect_empty err
expect_line out '^Clocks: 10 points$'
expect_line out '^gpu__time_duration.sum, ns; columns: clock$'
expect_line out '^fir, large +[0-9,]+ +[0-9,]+ +[0-9,]+$'
expect_line out '^adding, small +[0-9,]+ +[0-9,]+ +-$'
expect_line out '^fir, small +1.00 +1.[0-9]+ +-$'
expect_line out '^mean, large +1.00 +1.[0-9]+ +[23].[0-9]+$'
cp out first
run study clock.ini --jobs 3 --threads 2 --json three.json --csv three.csv
expect_same_file 'tables of 1 and 3 jobs' first out
expect_same_file 'JSON of 1 and 3 jobs' one.json three.json
expect_same_file 'CSV of 1 and 3 jobs' one.csv three.csv
expect_lines one.csv 11
expect_line one.csv '^workload,system,l2,clock,state,time,speedup,bytes$'
expect_line one.csv '^fir,default,large,500MHz,done,[0-9.]+,1,[0-9.]+$'
expect_line one.md '^\| fir, large \| [0-9,]+ \| [0-9,]+ \| [0-9,]+ \|$'

# ---- a point is what the command gives ----

run bench fir --mode timing --set gpu.clock=2GHz --json alone.json
python3 - <<'END' || fail 'the results are wrong'
import json, math, xml.dom.minidom
study, alone = json.load(open("one.json")), json.load(open("alone.json"))
assert [axis["name"] for axis in study["axes"]] == ["workload", "system", "l2", "clock"]
assert len(study["points"]) == 10 and all(point["state"] == "done" for point in study["points"])
points = {tuple(point["labels"].values()): point for point in study["points"]}
metrics = points["fir", "default", "large", "2GHz"]["metrics"]
for name, value in alone["kernels"][0]["metrics"].items():
    assert math.isclose(metrics[name], value), name
assert metrics["time_ps"] == alone["time_ps"]
assert metrics["copies.to_device.bytes"] == alone["copies"]["to_device"]["bytes"]
assert points["fir", "default", "large", "2GHz"]["command"] == "heddle bench fir --mode timing --set gpu.clock=2GHz"
speedup = {row["name"]: row["cells"] for figure in study["figures"] if figure["name"] == "speedup" for row in figure["rows"]}
def time(workload, clock):
    return points[workload, "default", "large", clock]["metrics"]["gpu__time_duration.sum"]
ratios = [time(name, "500MHz") / time(name, "2GHz") for name in ("fir", "adding")]
assert math.isclose(speedup["fir, large"][2], ratios[0])
assert math.isclose(speedup["mean, large"][2], math.sqrt(ratios[0] * ratios[1]))
def titles(name):
    document = xml.dom.minidom.parse(f"plots/{name}.svg")
    return [node.firstChild.data for node in document.getElementsByTagName("title")], document
dots, document = titles("time")
assert len(dots) == 10 and len(document.getElementsByTagName("circle")) == 10, dots
bars, document = titles("bytes")
assert sum("l2=" in title for title in bars) == 10 and not document.getElementsByTagName("circle"), bars
END

# ---- a part of it ----

run study clock.ini --quick --only workload=adding --only l2=large --csv part.csv
expect_status 0
expect_lines part.csv 3
expect_line out '^Clocks \(quick\): 2 points$'
run study clock.ini --only workload=fir --only clock=1GHz --system a100 --set gpu.sm_count=4 --json part.json
expect_status 0
expect_line part.json 'heddle bench fir --mode timing --system a100 --set gpu.clock=1GHz --set gpu.sm_count=4'

# ---- programs, and files beside the study's own ----

mkdir beside
libraries=$(dirname "$HEDDLE")/cuda
gcc -o beside/useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'
printf 'include = h200.ini\n[gpu]\nsm_count = 4\n' >beside/few.ini
cp "$HEDDLE_HOME/systems/h200.ini" beside
cat >beside/program.ini <<END
[study]
systems = h200 few.ini
[workload.program]
run = ./useptx '$HEDDLE_HOME/bench/cuda/saxpy.ptx'
options = --kernels 0
END
run study beside/program.ini --json program.json
expect_status 0
expect_line out '^program +[0-9,]+ +[0-9,]+$'
expect_line program.json 'heddle run --mode timing --kernels 0 --system beside/few.ini beside/./useptx /'

# ---- failures: the others go on ----

cat >fails.ini <<'END'
[workload.fir]
[workload.crash]
run = sh -c 'kill -SEGV $$'
[workload.nothing]
run = true
[axis.limit]
none = -
low = --max-cycles 100
END
run study fails.ini --results kept
expect_status 1
expect_line out '^fir +[0-9,]+ +-$'
expect_line err "^heddle: study: crash, limit=none failed: .*signal 11.*\(by hand: heddle run --mode timing sh -c 'kill -SEGV \\$\\$'\)$"
expect_line err '^heddle: study: fir, limit=low failed: .*more than 100 cycles.*\(by hand: heddle bench fir --mode timing --max-cycles 100\)$'
expect_line err '^heddle: study: nothing, limit=none failed: no kernel was launched'
expect_line err '^heddle: study: 5 of 6 points failed$'
expect_same 'kept results' 1 "$(find kept -type f | wc -l)"

# ---- resume: only what is not there ----

run study clock.ini --results kept --csv one.csv
expect_same 'kept results' 11 "$(find kept -type f | wc -l)" # fir, limit=none is none of these: its system is another
touch -d 2001-01-01 kept/*
run study clock.ini --results kept --resume
expect_status 0
expect_same_file 'tables of a resumed study' first out
expect_same 'points that ran again' 0 "$(find kept -newermt 2002-01-01 -type f | wc -l)"
sed -i 's/65536/32768/' clock.ini
run study clock.ini --results kept --resume
expect_status 0
expect_same 'points that were changed' 5 "$(find kept -newermt 2002-01-01 -type f | wc -l)"

# ---- shipped ones ----

run study
expect_status 0
expect_line out '^  cache-size +How much the size of the L2 cache matters$'
expect_line out '^  schedulers '
expect_line out '^  events '
run study cache-size --quick --only workload=transpose --svg shipped
expect_status 0
expect_line out '^transpose +0.[0-9]+ +1.00 +1.00$'
[[ -s shipped/speedup.svg && -s shipped/hit_rate.svg ]] || fail 'plots are missing'
run study schedulers --quick --only workload=kmeans
expect_status 0

# ---- interrupted: what was done can be resumed ----

cat >long.ini <<'END'
[workload.fir]
[workload.nbody]
options = --n 65536
END
start study long.ini --jobs 2 --results later
for ((tries = 0; tries < 400; tries++)); do
    [[ -n $(find later -name '*.json' 2>/dev/null) && $(find later -name '*.log' | wc -l) == 1 ]] && break
    sleep 0.05
done
interrupt
expect_status 130
expect_line err 'interrupted: what is known so far was told; go on with --resume'
expect_line out '^fir +[0-9,]+$'
expect_line out '^nbody +-$'

# ---- mistakes ----

# refuses_file REGEX LINE...: a study of these lines is refused, and the line is named.
refuses_file() {
    local regex=$1
    shift
    printf '%s\n' "$@" >wrong.ini
    refuses "$regex" study wrong.ini
}
fir='[workload.fir]'
refuses_file "wrong.ini:2: there is no workload 'firr'; did you mean fir\?" '[study]' 'workloads = firr'
refuses_file "wrong.ini:3: system=h2000: there is no system 'h2000'" '[study]' 'workloads = fir' 'systems = h2000'
refuses_file "wrong.ini:3: there is no metric 'x.sum'" '[study]' 'workloads = fir' 'metrics = x.sum'
refuses_file "wrong.ini:3: there is no metric 'dram__byte.sum'; did you mean dram__bytes.sum\?" "$fir" '[figure.a]' 'metric = dram__byte.sum'
refuses_file "wrong.ini:3: there is no axis 'l2'" "$fir" '[study]' 'baseline = l2=1MiB'
refuses_file "wrong.ini:5: there is no label of the axis l2 'b'" "$fir" '[axis.l2]' 'a = -' '[without]' 'x = l2=b'
refuses_file "wrong.ini:3: expected AXIS=LABEL, not 'fast'" "$fir" '[study]' 'baseline = fast'
refuses_file "wrong.ini:4: l2=b: --set: \[l2\] has no key 'byte'" "$fir" '[axis.l2]' 'a = -' 'b = l2.byte=1'
refuses_file "wrong.ini:3: n=a: unknown option --m" "$fir" '[axis.n]' 'a = --m 3'
refuses_file "wrong.ini:2: workload=fir: --n: " "$fir" 'options = --n 0'
refuses_file "wrong.ini:2: workload=fir: run: cannot find the program ./none" "$fir" 'run = ./none'
refuses_file 'wrong.ini:3: a workload has bench or run, not both' "$fir" 'bench = fir' 'run = ./none'
refuses_file 'wrong.ini:3: .* needs both set and values' "$fir" '[axis.l2]' 'set = l2.bytes'
refuses_file "wrong.ini:4: the axis l2 has the label '1MiB' twice" "$fir" '[axis.l2]' 'set = l2.bytes' 'values = 1MiB 1MiB'
refuses_file 'wrong.ini:2: the axis l2 has no labels' "$fir" '[axis.l2]' 'title = x'
refuses_file 'wrong.ini:2: the axis system is there already' "$fir" '[axis.system]' 'a = -'
refuses_file 'wrong.ini:3: a ratio needs a baseline' "$fir" '[figure.a]' 'shows = ratio'
refuses_file "wrong.ini:3: there is no axis 'x'" "$fir" '[figure.a]' 'columns = x'
refuses_file 'wrong.ini:3: plot: expected one of' "$fir" '[figure.a]' 'plot = pie'
refuses_file 'wrong.ini:2: a quote has no end' "$fir" 'options = "--n 1'
refuses_file "wrong.ini:1: a study has no section \[axes\]" '[axes]' 'a = b'
refuses_file "wrong.ini:2: \[study\] has no key 'system'; did you mean systems\?" '[study]' 'system = h200'
refuses_file 'wrong.ini: there are no workloads' '[study]' 'title = a'
refuses_file 'wrong.ini: all points are left out' "$fir" '[without]' 'all = workload=fir'
refuses "no study 'cache-siz'; did you mean cache-size\?" study cache-siz
refuses 'cannot read none.ini' study none.ini
refuses 'expected a study before its options' study --quick
refuses '--resume needs --results FOLDER' study clock.ini --resume
refuses "--only: there is no axis 'sms'" study clock.ini --only sms=1
refuses "--only: there is no label of the axis clock '3GHz'" study clock.ini --only clock=3GHz
refuses "--jobs: expected a number" study clock.ini --jobs 0
refuses "no system 'h2'" study clock.ini --system h2
refuses 'cannot write none/x.json' study clock.ini --json none/x.json
refuses '--results: cannot make the folder clock.ini' study clock.ini --results clock.ini
