#!/usr/bin/env bash
# `heddle caches`: many caches over made accesses and traces. What is counted is tested in tests/unit/test_caches.c.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

made=(--generate zipf:footprint=256KiB --accesses 20000)
shared=(--generate false-sharing:footprint=64KiB --accesses 20000 --tiles 8)

# ---- the table ----

run caches "${made[@]}" --tiles 4 --machine private --per-cache
expect_status 0
expect_empty err
expect_line out '^4 tiles; L1 64KiB, 16 ways, lines of 64 bytes; L2 512KiB, 16 ways, lines of 64 bytes; lru; exact$'
expect_line out '^ +accesses +misses +miss rate +evictions +write-backs +invalidations +put back$'
expect_line out '^L1 +80,000 +[0-9,]+ +[0-9.]+% +[0-9,]+ +[0-9,]+ +0 +0$'
expect_line out '^L2 +[0-9,]+ '
expect_line out '^l1\[3\] +20,000 '
expect_line out '^l2\[3\] +[0-9,]+ '
expect_line out '^80,000 accesses in [0-9.]+ s: [0-9.]+ million/s \(cpu, [0-9]+ threads?\)$'
widest=$(wc -L <out)
((widest <= 130)) || fail "$ran: a line of out has $widest columns"

# ---- the same counts for any threads and batches ----

# counts WORD...: what the run counts goes to the file counts
counts() {
    run caches "$@" --json all.json
    expect_status 0
    python3 -c 'import json; whole = json.load(open("all.json")); del whole["host"]; print(json.dumps(whole))' >counts
}

for words in '--machine l1' '--machine private' '--machine shared --policy srrip' '--machine private --policy random --quantum 64' \
    '--machine shared --quantum 7'; do
    read -ra machine <<<"$words"
    counts "${shared[@]}" "${machine[@]}" --l1 2KiB,4,64 --l2 8KiB,8,64
    mv counts once
    for host in '--threads 1' '--threads 2' '--threads 4' '--threads 3 --batch 50' '--threads 1 --batch 999' '--batch 100000'; do
        read -ra how <<<"$host"
        counts "${shared[@]}" "${machine[@]}" --l1 2KiB,4,64 --l2 8KiB,8,64 "${how[@]}"
        expect_same_file "$words with $host" once counts
    done
done

python3 - <<'END' || fail 'the JSON'
import json
whole = json.load(open("all.json"))
assert whole["config"]["machine"] == "shared" and whole["config"]["quantum"] == 7 and whole["config"]["l1"]["ways"] == 4
assert whole["source"]["generate"].startswith("false-sharing") and whole["host"]["device"] == "cpu"
for level in "l1", "l2":
    caches, total = whole["caches"][level], whole["result"][level]
    assert len(caches) == 8 and all(sum(cache[name] for cache in caches) == total[name] for name in total)
l1 = whole["result"]["l1"]
assert l1["reads"] + l1["writes"] == whole["result"]["accesses"] == 160000
END

# ---- quanta against exact ----

run caches "${shared[@]}" --quantum 100 --compare-exact --json all.json
expect_status 0
expect_line out '^ +quanta +exact +error$'
expect_line out '^L1 +invalidations +[0-9,]+ +[0-9,]+ +[+-][0-9.]+%$'
mv all.json quanta.json
run caches "${shared[@]}" --json exact.json
python3 - <<'END' || fail 'the error of quanta'
import json
quanta, exact = json.load(open("quanta.json")), json.load(open("exact.json"))
assert quanta["exact"]["result"] == exact["result"] and quanta["exact"]["caches"] == exact["caches"]
wanted = quanta["result"]["l1"]["invalidations"] / exact["result"]["l1"]["invalidations"] - 1
assert abs(quanta["error"]["l1"]["invalidations"] - wanted) < 1e-9 and wanted != 0
END

# ---- a sweep is all single runs ----

sweep='l1.size=4KiB..16KiB,l1.ways=1:4,policy=lru|tree,machine=l1:private,snoop=1:4'
run caches "${shared[@]}" --sweep "$sweep" --json sweep.json --plot sweep.svg
expect_status 0
expect_empty err
expect_line out '^l1.size +l1.ways +policy +machine +snoop +L1 misses +miss rate +write-backs +invalidations +L2 misses'
expect_lines out $((1 + 48 + 2))
python3 - "$HEDDLE" <<'END' || fail 'a sweep and its single runs'
import json, subprocess, sys, xml.dom.minidom
whole = json.load(open("sweep.json"))
assert len(whole["configurations"]) == 48 and whole["left_out"] == 0
for number, one in enumerate(whole["configurations"]):
    if number % 5: # a few of them
        continue
    config = one["config"]
    shape = lambda name: "%d,%d,%d" % tuple(config[name][key] for key in ("bytes", "ways", "line_bytes"))
    words = ["--l1", shape("l1"), "--policy", config["policy"], "--machine", config["machine"], "--snoop", str(config["snoop"])]
    subprocess.run([sys.argv[1], "caches", "--generate", "false-sharing:footprint=64KiB", "--accesses", "20000", "--tiles", "8",
                    "--json", "one.json"] + words, check=True, stdout=subprocess.DEVNULL)
    single = json.load(open("one.json"))
    assert single["config"] == config and single["result"] == one["result"] and single["caches"] == one["caches"], words
svg = xml.dom.minidom.parse("sweep.svg")
assert len(svg.getElementsByTagName("circle")) == 48
texts = [node.firstChild.data for node in svg.getElementsByTagName("text")]
assert "16KiB" in texts and "l1.ways 4, policy tree, machine private, snoop 4" in texts
END
for how in '--threads 1' '--threads 2 --batch 777'; do
    read -ra words <<<"$how"
    run caches "${shared[@]}" --sweep "$sweep" --json again.json "${words[@]}"
    expect_status 0
    expect_same_file "a sweep with $how" <(grep -v wall_s sweep.json | sed '/"host"/,$d') <(sed '/"host"/,$d' again.json)
done

# what cannot be is told and left out
run caches "${made[@]}" --sweep l1.size=1KiB..4KiB,l1.ways=8:32 --json sweep.json
expect_status 0
expect_lines err 1
expect_line err '^heddle: left out: l1.size=1KiB,l1.ways=32 \(L1: 16 lines cannot be divided into sets of 32 ways\)$'
expect_line sweep.json '"left_out": 1'
run caches "${made[@]}" --sweep l1.ways=3:5
expect_status 2
expect_lines err 3
expect_line err '^heddle: --sweep: no configuration is left$'

# quanta in a sweep
run caches "${shared[@]}" --sweep quantum=exact:16:256
expect_status 0
expect_line out '^exact '

# ---- traces ----

printf 'address,kind,size,instruction\n' >a.csv
for ((i = 0; i < 3000; i++)); do
    echo "$((i * 40 % 7777)),$((i % 3 ? 0 : 1)),8,$((3 * i))"
done >>a.csv
sed 's/,8,/,4,/' a.csv >b.csv
counts a.csv b.csv --tiles 6 --offset 1000 --l1 1KiB,2,64 --machine shared
expect_line all.json '"snoop": 2'
mv counts once
for host in '--threads 1' '--threads 3 --batch 100'; do
    read -ra how <<<"$host"
    counts a.csv b.csv --tiles 6 --offset 1000 --l1 1KiB,2,64 --machine shared "${how[@]}"
    expect_same_file "traces with $host" once counts
done
run caches a.csv --accesses 100
expect_status 0
expect_line out '^1 tile; '
run caches - --tiles 3 <a.csv
ran='heddle caches - <a.csv'
timeout 60 "$HEDDLE" caches - --tiles 3 <a.csv >out 2>err
status=$?
expect_status 0
expect_line out '^L1 +9,[0-9]+ '

ran='a pipe and quanta'
timeout 60 "$HEDDLE" caches - --quantum 10 --compare-exact < <(cat a.csv) >out 2>err
status=$?
expect_complaint '^heddle: -: exact and quanta .* read 2 times'

# JSON on standard output: the table goes to stderr
run caches "${made[@]}" --json -
expect_status 0
python3 -m json.tool <out >/dev/null || fail "$ran: no JSON"
expect_line err '^L1 '

# ---- Ctrl-C: no part is passed off as the whole ----

start caches --generate zipf --accesses 100000000000 --json stopped
sleep 0.3
interrupt
expect_status 130
expect_empty out
expect_lines err 1
expect_line err '^heddle: interrupted: the counts of a part are no result'
[[ ! -e stopped ]] || fail "$ran: wrote a result"

# ---- mistakes ----

refuses 'expected traces, or --generate' caches
refuses 'there is a trace, too: a.csv' caches a.csv "${made[@]}"
refuses '--generate needs --accesses N' caches --generate zipf
refuses 'only traces have one' caches "${made[@]}" --offset 5
refuses 'did you mean zipf' caches --generate zipfel --accesses 5
refuses 'none.csv' caches none.csv
refuses 'none.csv' caches a.csv none.csv
: >empty
refuses 'empty: it is empty' caches empty
refuses 'empty: it is empty' caches empty --tiles 4
head -n 1 a.csv >head.csv
refuses 'head.csv: there is no access in it' caches head.csv
{ cat a.csv && echo 'what,is,this,here'; } >bad.csv
refuses 'bad.csv:3002: ' caches bad.csv
refuses 'bad.csv:3002: ' caches bad.csv --tiles 2
refuses '2 traces, but 1 tiles' caches a.csv b.csv --tiles 1
refuses '3 tiles cannot be divided into groups of 2' caches a.csv b.csv --tiles 3
refuses '--machine: expected l1, private or shared, not .l2.' caches "${made[@]}" --machine l2
refuses '--policy: expected lru, fifo, random, tree or srrip, not .mru.' caches "${made[@]}" --policy mru
refuses '--tiles: expected 1 to 65536' caches "${made[@]}" --tiles 0
refuses '--tiles: expected 1 to 65536' caches "${made[@]}" --tiles 65537
refuses '--snoop: expected 1 to' caches "${made[@]}" --snoop 0
refuses 'groups of 3' caches "${made[@]}" --tiles 4 --snoop 3
refuses '--quantum: expected exact' caches "${made[@]}" --quantum 0
refuses '--quantum: expected exact' caches "${made[@]}" --quantum some
refuses '--device: expected cpu or cuda' caches "${made[@]}" --device gpu
refuses '--threads: expected a number' caches "${made[@]}" --threads 0
refuses '--accesses: expected' caches --generate zipf --accesses 0
refuses '--batch: expected 1 to' caches "${made[@]}" --batch 0
refuses '--per-block: expected 1 to' caches "${made[@]}" --per-block 0
refuses '--l1: expected SIZE,WAYS,LINE' caches "${made[@]}" --l1 big
refuses '--l1: expected SIZE,WAYS,LINE' caches "${made[@]}" --l1 64KiB,16,64,1
refuses '--l2: expected SIZE,WAYS,LINE' caches "${made[@]}" --l2 64KiB,many
refuses 'L1: 1024 lines cannot be divided into sets of 3 ways' caches "${made[@]}" --l1 64KiB,3
refuses 'L1: lines of 48 bytes' caches "${made[@]}" --l1 64KiB,16,48
refuses 'L1: 65 ways' caches "${made[@]}" --l1 65KiB,65
refuses 'L1: 0 ways' caches "${made[@]}" --l1 64KiB,0
refuses 'L1: 0 bytes' caches "${made[@]}" --l1 0
refuses 'L1: 1000 bytes are not whole lines' caches "${made[@]}" --l1 1000B
refuses 'L2: its lines .32 bytes. are smaller' caches "${made[@]}" --machine private --l2 64KiB,16,32
refuses '--sweep: expected KEY=VALUES' caches "${made[@]}" --sweep l1.size
refuses 'unknown key .l1.sizes.; did you mean l1.size' caches "${made[@]}" --sweep l1.sizes=1KiB
refuses 'l1.ways comes twice' caches "${made[@]}" --sweep l1.ways=1,l1.ways=2
refuses 'only numbers have ranges' caches "${made[@]}" --sweep policy=lru..tree
refuses 'expected a range upwards' caches "${made[@]}" --sweep l1.ways=8..2
refuses 'expected a range upwards' caches "${made[@]}" --sweep l1.ways=0..2
refuses 'l1.ways: expected a whole number' caches "${made[@]}" --sweep l1.ways=
refuses 'l1.ways: 5000000000 is too large' caches "${made[@]}" --sweep l1.ways=5000000000
refuses 'more than 4096 configurations' caches "${made[@]}" --sweep l1.size=1KiB..8TiB,l1.ways=1..64,l2.size=1KiB..8TiB,tiles=1..64
refuses '--plot: a drawing is written as SVG, so its file is named .svg, not x.pdf' caches "${made[@]}" --sweep l1.ways=1 --plot x.pdf
refuses '--plot needs --sweep' caches "${made[@]}" --plot x.svg
refuses 'quantum=exact:N' caches "${made[@]}" --compare-exact --sweep l1.ways=1
refuses '--compare-exact needs --quantum N' caches "${made[@]}" --compare-exact
refuses 'name the same file' caches "${made[@]}" --sweep l1.ways=1 --json x --plot x
refuses 'a.csv would be written over' caches a.csv --json a.csv
refuses 'a.csv would be written over' caches csv:a.csv --json a.csv
refuses 'cannot write none/x' caches "${made[@]}" --json none/x
refuses "this machine has [0-9.]+ GiB of memory; the caches' state needs [0-9.]+ GiB" caches "${made[@]}" --machine private --tiles 65536 --l2 1GiB
refuses 'unknown option --machin; did you mean --machine' caches --machin l1
if ! "$HEDDLE" caches "${made[@]}" --device cuda >out 2>err; then
    refuses '; --device cpu gives the same counts$' caches "${made[@]}" --device cuda
fi
