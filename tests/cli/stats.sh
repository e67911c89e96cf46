#!/usr/bin/env bash
# What --stats writes is as docs/stats.schema.json says.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
programs=$HEDDLE_HOME/tests/programs
schema=$HEDDLE_HOME/docs/stats.schema.json
small=(--set gpu.sm_count=8)

gcc -o launch "$programs/launch.c" -L"$libraries" -l:libcuda.so.1 || fail 'launch.c does not compile'
gcc -o useptx "$programs/ptx.c" -L"$libraries" -l:libcuda.so.1 || fail 'ptx.c does not compile'

# fits FILE...: they are as the schema says.
fits() {
    python3 "$HEDDLE_HOME/tests/cli/json_schema.py" "$schema" "$@" || fail "$ran: not as docs/stats.schema.json says"
}

# ---- all that can be written ----

run run --stats functional.json ./launch "$programs/causes.ptx" divergent 4 64 64 3
expect_status 0
fits functional.json
run run --mode timing "${small[@]}" --stats timed.json ./launch "$programs/causes.ptx" units 8 256 64 2
expect_status 0
fits timed.json
HEDDLE_PROFILE=no run run --mode timing "${small[@]}" --stats unprofiled.json ./launch "$programs/causes.ptx" units 8 64 64
expect_status 0
fits unprofiled.json
run run --kernels 1 "${small[@]}" --cold-caches --max-cycles 1000000 --stats some.json ./launch "$programs/causes.ptx" units 8 64 64 2
expect_status 0
fits some.json
run run --stats-launches 1-2 --stats range.json ./launch "$programs/causes.ptx" divergent 4 64 64 5
expect_status 0
fits range.json
run run --mode timing "${small[@]}" --stats fault.json ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx" fault
fits fault.json
run run --stats nothing.json ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx" name
fits nothing.json
run bench reduction --json bench.json
fits bench.json
run bench bfs --nodes 256 --mode timing "${small[@]}" --series 1000 --json bench_timed.json
fits bench_timed.json
run bench fir --system r9nano-x4 --unified 4 --set paging.policy=esi --mode timing --series 2000 --json moved.json
expect_status 0
fits moved.json
start bench loop --mode timing --rounds 20000 --blocks 512 --json stopped.json
sleep 1
interrupt
fits stopped.json

# ---- it holds what it should ----

python3 - <<'END_OF_PYTHON' || fail 'members of --stats'
import json
functional, timed, fault = (json.load(open(name + ".json")) for name in ("functional", "timed", "fault"))
assert functional["layout"] == 2 and list(functional)[0] == "layout"
assert len(functional["launches"]) == 3 and "why" not in functional["launches"][0]
launch = timed["launches"][1]
assert launch["why"] and launch["name"] == launch["kernel"] == "units"
place = next(place for place in launch["profile"] if place.get("line") == 74)
assert place["file"] == "causes.cu" and place["instruction"] == "ex2.approx.f32" and place["ptx_line"] > 100, place
assert place["units"]["SFU"] == 1 and place["threads"] == 32 * place["issued"], place
kernel, = timed["kernels"]
assert kernel["name"] == "units" and kernel["launches"] == 2 and kernel["why"].startswith("special function units "), kernel
assert any(place.get("line") == 74 for place in kernel["profile"])
assert "why" in fault["launches"][0] and fault["launches"][0]["failed"]
END_OF_PYTHON

# ---- drift is seen ----

python3 - <<'END_OF_PYTHON'
import json
whole = json.load(open("timed.json"))
def variant(name, change):
    changed = json.loads(json.dumps(whole))
    change(changed)
    json.dump(changed, open(f"wrong_{name}.json", "w"))
variant("more", lambda w: w["launches"][0].update(where="x"))
variant("less", lambda w: w["launches"][0].pop("why"))
variant("type", lambda w: w["launches"][0]["profile"][0].update(line="5"))
variant("layout", lambda w: w.update(layout=1))
variant("name", lambda w: w["launches"][0]["stall_cycles"].update(waiting=1))
variant("state", lambda w: w.update(state="fine"))
variant("kernel", lambda w: w["kernels"][0].pop("name"))
variant("short", lambda w: w["launches"][0]["active_lanes"].pop())
json.dump({"type": "object", "properties": {"a": {"oneOf": []}}}, open("odd.schema", "w"))
END_OF_PYTHON
for file in wrong_*.json; do
    python3 "$HEDDLE_HOME/tests/cli/json_schema.py" "$schema" "$file" >told && fail "$file fits the schema"
done
python3 "$HEDDLE_HOME/tests/cli/json_schema.py" odd.schema timed.json >/dev/null 2>told && fail 'an unknown keyword is taken'
expect_line told "the keyword 'oneOf' is not known"
