#!/usr/bin/env bash
# What --json writes is JSON, tells all that is promised, and its configuration gives the same run again.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

a_network >network.ini
# back FILE: the configuration in this JSON as a description.
back() {
    python3 - "$1" <<'END'
import json, sys
for section, keys in json.load(open(sys.argv[1]))["config"].items():
    print(f"[{section}]")
    for key, value in keys.items():
        if value != "":
            print(key, "=", str(value).lower() if isinstance(value, bool) else value)
END
}

# holds_all NAME WORD...: the JSON of this benchmark has what it should, and agrees with the closing line.
holds_all() {
    local wanted
    run bench "$@" --threads 2 --json result.json
    expect_status 0
    wanted=$(result)
    python3 - "$1" "$wanted" result.json <<'END' || fail "the JSON of: $ran"
import json, sys
def no_doubles(pairs):
    assert len({name for name, _ in pairs}) == len(pairs), "a name comes twice"
    return dict(pairs)
bench, line, name = sys.argv[1:]
with open(name, "rb") as file:
    text = file.read().decode("utf-8")
whole = json.loads(text, object_pairs_hook=no_doubles)
assert text.endswith("}\n"), "no newline at its end"
assert list(whole) == ["heddle", "bench", "state", "config", "result", "stats", "host"], list(whole)
assert whole["bench"] == bench and whole["state"] == "finished"
assert "events=%d checksum=%s" % (whole["result"]["events"], whole["result"]["checksum"]) == line, line
assert whole["result"]["time_ps"] > 0
assert whole["config"]["engine"]["seed"] == 1
assert bench in whole["config"]
assert whole["stats"]
assert whole["host"]["threads"] == 2 and whole["host"]["wall_s"] >= 0 and whole["host"]["windows"] > 0
END
    back result.json >again.ini
    run bench "$1" --config again.ini
    expect_result "$wanted"
}

holds_all phold --islands 20 --time 500ns --remote 0.1 --mean 1234ps --set engine.seed=1
holds_all phold --islands 3 --time 500ns --remote 0.30000000000000004
holds_all gpu-traffic --sms 4 --partitions 3 --requests 100 --clock 1234567890Hz --bandwidth 0 --hits 0.123456789
holds_all network --config network.ini --set network.time=3us --set node.a.takes=yes

# texts that JSON has to quote
cat >odd.ini <<'END'
[node.a]
sends = 3
island = "quoted\	back\slash" and ümläut
[node.b]
sends = 3
[link.ab]
ends = a.x, b.x
END
run bench network --config odd.ini --json odd.json
expect_status 0
python3 - <<'END' || fail 'the JSON of a description with odd texts'
import json
assert json.load(open("odd.json", encoding="utf-8"))["config"]["node.a"]["island"] == '"quoted\\\tback\\slash" and ümläut'
END

# a file that is there is replaced, and stays whole when the run cannot start
echo old >kept.json
run bench phold --islands 0 --json kept.json
expect_status 2
expect_same 'the file of a run that did not start' old "$(cat kept.json)"
run bench phold --islands 4 --time 50ns --json kept.json
expect_status 0
python3 -m json.tool kept.json >/dev/null || fail 'kept.json is no JSON'
expect_same 'files left behind' '' "$(find . -name '*.part')"
# the effective configuration as a description: it can be read again, and stands before the closing line on -
run bench phold --islands 4 --time 50ns --dump-config dump.ini
expect_status 0
wanted=$(result)
run bench phold --config dump.ini --dump-config -
expect_status 0
expect_same 'result of the dumped configuration' "$wanted" "$(result)"
expect_same 'first line of it' '[engine]' "$(head -n 1 out)"
# JSON on standard output is alone there: the closing line is on stderr
run bench phold --islands 4 --time 50ns --json -
expect_status 0
python3 -m json.tool out >/dev/null || fail 'what --json - writes is no JSON'
expect_line err '^phold events='
"$HEDDLE" bench phold --islands 4 --time 50ns --json - 2>/dev/null | python3 -m json.tool >/dev/null ||
    fail 'what --json - writes into a pipe is no JSON'
