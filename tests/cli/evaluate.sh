#!/usr/bin/env bash
# `heddle caches --evaluate`: traces, points and figures; small ones, whose times tell nothing.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ---- the programs that are recorded: what comes of them does not depend on the threads ----

for program in centres prices netlist; do
    for threads in 1 3 8; do
        "$(dirname "$HEDDLE")/threads/$program" --threads $threads --rounds 40 >"$program.$threads" || fail "$program ends with $?"
        expect_same_file "$program with $threads threads" "$program.1" "$program.$threads"
    done
    expect_line "$program.1" 'checksum [0-9a-f]{16}$'
done

# ---- bad input ----

refuses '^heddle: --quick needs --evaluate FOLDER$' caches --quick --generate zipf --accesses 10
for words in '--machine shared' '--tiles 4' '--l1 32KiB' '--quantum 16' '--generate zipf' '--json x' a.htrace; do
    read -ra beside <<<"$words"
    refuses '^heddle: --evaluate has machines and traces of its own; it takes only --accesses,' caches --evaluate small --quick "${beside[@]}"
done
refuses '^heddle: --evaluate: expected a folder$' caches --evaluate ''
refuses '^heddle: --evaluate: cannot make the folder out/x: Not a directory$' caches --evaluate out/x --quick --device cpu
refuses '^heddle: --accesses: with --evaluate, expected' caches --evaluate small --accesses 1000M
[[ ! -e small ]] || fail 'a refused evaluation leaves a folder'
cp "$HEDDLE" alone
mkdir none
PATH=$folder/none ./alone caches --evaluate small --quick --device cpu >out 2>err
status=$? ran='heddle caches --evaluate without its programs'
expect_complaint 'small/traces has no traces of centres, and they cannot be made here: caches: .*/threads/centres is missing'
PATH=$folder/none "$HEDDLE" caches --evaluate small --quick --device cpu >out 2>err
status=$? ran='heddle caches --evaluate without QEMU'
expect_complaint 'small/traces has no traces of centres, and they cannot be made here: .*qemu-x86_64 is missing'

needs qemu-x86_64

# ---- on the CPU ----

# check_figures FOLDER GPU: what was written is whole
check_figures() {
    python3 - "$1" "$2" <<'END' || fail "$ran: its files"
import json, math, os, sys, xml.dom.minidom
folder, gpu = sys.argv[1], sys.argv[2] == "gpu"
whole = json.load(open(f"{folder}/evaluation.json"))
text = open(f"{folder}/evaluation.md").read()
names = {figure["name"] for figure in whole["figures"]}
wanted = {f"figure-{i}" for i in (1, 6, 7, 8, 11, 12, 13, 14, 15)} | {"growth", "exactness", "thousands", "slices"}
assert names == wanted | ({"figure-9", "figure-10", "device"} if gpu else set()), names
for figure in whole["figures"]:
    xml.dom.minidom.parse(f"{folder}/{figure['name']}.svg")
    assert f"({figure['name']}.svg)" in text
    for series in figure["series"]:
        assert len(series["values"]) == len(figure["columns"])
        assert figure["name"] == "slices" or all(isinstance(value, float | int) and math.isfinite(value) for value in series["values"]), figure
assert not any(name.endswith(".part") for name in os.listdir(folder))
hosts = {point["host"] for point in whole["points"]}
assert ("GPU, trace resident" in hosts) == gpu and ("gpu" in whole["host"]) == gpu
assert all(point["seconds"] > 0 and point["accesses"] >= point["tiles"] * point["accesses_of_each_tile"] for point in whole["points"])
assert any(point["l1"]["invalidations"] for point in whole["points"]) and any(point["quantum"] for point in whole["points"])
END
}

run caches --evaluate small --quick --device cpu
expect_status 0
expect_empty err
expect_line out '^[0-9]+ points, 13 figures in [0-9.]+ s: small/evaluation.md$'
check_figures small none
expect_line small/evaluation.md '^- GPU: none was measured: --device says so$'
expect_same 'traces of all programs' 38 "$(find small/traces -name '*.htrace' | wc -l)"

# Traces that are there are used: neither QEMU nor the programs are needed any more.
PATH=$folder/none ./alone caches --evaluate small --quick --device cpu >out 2>err
status=$? ran='heddle caches --evaluate with traces'
expect_status 0

# A command of the page counts what the evaluation counted.
command=$(grep -m 1 -E '^heddle caches --machine shared .*netlist' small/evaluation.md)
[[ -n $command ]] || fail 'the page has no command for figure 8'
(cd small && eval "\"\$HEDDLE\" ${command#heddle } --json one.json" >/dev/null) || fail "$command fails"
python3 - <<'END' || fail 'a command of the page counts something else than the page'
import json
one, whole = json.load(open("small/one.json")), json.load(open("small/evaluation.json"))
same = [point for point in whole["points"] if point["workload"] == "F" and point["machine"] == "shared" and not point["quantum"]
        and point["tiles"] == one["config"]["tiles"] and point["accesses"] == one["result"]["accesses"]]
assert same and all(point["l1"] == one["result"]["l1"] and point["l2"] == one["result"]["l2"] for point in same)
END

# ---- traces that do not suit ----

refuses "^heddle: small/traces: those of centres with 1 threads? have 200 accesses, not 300: say --accesses 200, or remove" \
    caches --evaluate small --accesses 300 --device cpu
cp -r small broken
head -c 100 small/traces/prices-8.3.htrace >broken/traces/prices-8.3.htrace
rm broken/evaluation.*
refuses 'broken/traces/prices-8\.3\.htrace' caches --evaluate broken --quick --device cpu
[[ ! -e broken/evaluation.json ]] || fail 'an evaluation that failed leaves a result'

# ---- ended by the user: no result, and no part of a recording ----

start caches --evaluate ended --accesses 100000 --device cpu
sleep 0.5
interrupt
expect_status 130
expect_line err '^heddle: interrupted: what was measured so far is no result, and was not written$'
[[ ! -e ended/evaluation.json && -z $(find ended -name '*.unfinished*') ]] || fail 'an evaluation that was ended leaves a result'

# ---- on a GPU: Heddle's own ----

run run "$HEDDLE" caches --evaluate small --quick
expect_status 0
expect_line out '^[0-9]+ points, 16 figures in '
check_figures small gpu
