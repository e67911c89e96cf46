#!/usr/bin/env bash
# `heddle replay --sync relaxed`: it ends, says what it is, and reports. How fast it is is not tested here.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run bench bfs --nodes 4096 --system tesla --record trace
expect_status 0

# ---- one thread: the same each time ----

run replay trace --sync relaxed --json one.json
expect_status 0
expect_line err 'first of bfs: has threads that read what others write at the same time'
expect_line out '^relaxed replay of trace on tesla: 1 thread, epochs of 1000 cycles, phasers$'
expect_line out '^bfs +[0-9]+ +[0-9]+$'
expect_line out '^instruction classes +integer [0-9.]+%, float [0-9.]+%, control [0-9.]+%, memory [0-9.]+%$'
expect_line out '^This is a relaxed result, not exact'
run replay trace --sync relaxed --json two.json
python3 - <<'END' || fail 'two runs with one thread differ'
import json
one, two = (json.load(open(name)) for name in ("one.json", "two.json"))
for run in one["runs"] + two["runs"]:
    for name in ("wall_s", "thread_seconds"):
        del run[name]
del one["over_runs"]["wall_s"], two["over_runs"]["wall_s"]
assert one == two
assert one["sync"] == "relaxed" and one["threads"] == 1 and one["phasers"]
assert one["runs"][0]["ports"]["past"] == 0
assert 0 < one["runs"][0]["ports"]["late"] < one["runs"][0]["ports"]["shared"]
END

# ---- two threads, repeated, beside exact ----

run replay trace --sync relaxed --threads 2 --repeat 3 --epoch 500 --compare-exact --json both.json
expect_status 0
expect_line out '^over 3 runs:$'
expect_line out '^  cycles +mean [0-9.e+]+, .* standard deviation'
expect_line out '^error against exact: [-+][0-9.]+% of all cycles'
expect_line out '^waits +phaser [0-9]+ \([0-9.]+ s\), barrier [0-9]+ \([0-9.]+ s\), of [0-9]+ epochs$'
python3 - <<'END' || fail 'the JSON of two threads is not as it should be'
import json
both, one = (json.load(open(name)) for name in ("both.json", "one.json"))
assert len(both["runs"]) == 3 and both["exact"]["cycles"] > 0
for run in both["runs"]:
    for name in ("warp_instructions", "instructions", "blocks", "warps"):
        assert run[name] == one["runs"][0][name], name
    assert sum(run["instruction_classes"].values()) == run["instructions"] == sum(run["active_lanes"])
assert len(both["launches"]) == len(one["launches"]) and all(l["exact_cycles"] for l in both["launches"])
END
run replay trace --sync relaxed --threads 2 --no-phasers --blocks turn --kernels 0-1
expect_status 0
expect_line out ', barriers, blocks in turn$'
run replay trace --sync relaxed --threads 2 --steps 4 --kernels 0-1
expect_status 0
expect_line out 'epochs of 1000 cycles, in 4 steps, phasers$'

# ---- more threads than SMs ----

run replay trace --sync relaxed --threads 3 --set gpu.sm_count=2
expect_status 0

# ---- what it refuses ----

refuses '--epoch needs --sync relaxed' replay trace --epoch 100
refuses "--sync: expected exact or relaxed, not 'loose'" replay trace --sync loose
refuses '--steps: epochs of 1000 cycles have no 3 equal steps' replay trace --sync relaxed --steps 3
refuses '--repeat: expected a number from 1 to 1000' replay trace --sync relaxed --repeat 0
refuses 'simulates one GPU' replay trace --sync relaxed --system h200-x2
refuses 'no checkpoints' replay trace --sync relaxed --checkpoint file

# ---- the study of it ----

run study gputejas --quick --only '^(nn|pathfinder)$' --threads 2 --repeats 1 --svg plots
expect_status 0
for part in 'Table II' 'Table III' 'Figure 3' 'Figure 4' 'Figure 8' 'Figure 9' 'Figure 10' 'Figure 11' 'Figure 12' 'Figure 14'; do
    expect_line out "^$part: "
done
expect_line out '^Up to 2 threads .*; skipped: 4, 8, 16, 32, 64$'
for number in 3 4 8 9 10 11 12 14; do
    python3 -c 'import sys, xml.dom.minidom; xml.dom.minidom.parse(sys.argv[1])' "plots/figure$number.svg" ||
        fail "figure $number is no drawing"
done
refuses 'no program of the study is like' study gputejas --quick --only nothing
