#!/usr/bin/env bash
# Ctrl-C: the run stops soon, writes what it knows, says so, and can go on from its checkpoint to the same end.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# stops WORD...: is interrupted on its way; JSON goes to the file stopped.json.
stops() {
    rm -f stopped.json
    start bench "$@" --json stopped.json
    sleep 0.2
    interrupt
    expect_status 130
    expect_lines out 1
    [[ -n $(result) ]] || fail "$ran: no closing line in: $(cat out)"
    expect_lines err 1
    expect_line err '^heddle: interrupted: '
    expect_line stopped.json '"state": "interrupted"'
    python3 - "$(result)" <<'END' || fail "$ran: the JSON of an interrupted run"
import json, sys
whole = json.load(open("stopped.json"))
assert "events=%d checksum=%s" % (whole["result"]["events"], whole["result"]["checksum"]) == sys.argv[1]
assert whole["result"]["events"] > 0
END
}

stops phold --time 1s
stops phold --time 1s --islands 4 --threads 4
stops phold --time 1s --islands 1 # nothing from outside ever reaches it
stops gpu-traffic --requests 1000000000
stops gpu-traffic --requests 1000000000 --threads 2
printf '[node.a]\nsends = 1000000000\n[node.b]\nsends = 1\n[link.ab]\nends = a.x b.x\n' >long.ini
stops network --config long.ini --set network.time=1000s

# batch systems end a job with SIGTERM or SIGHUP: the same, with their status
for signal in TERM HUP; do
    start bench phold --time 1s --json stopped.json --checkpoint saved
    sleep 0.2
    interrupt "$signal"
    expect_status $((128 + $(kill -l "$signal")))
    expect_line stopped.json '"state": "interrupted"'
    [[ -s saved ]] || fail "$ran: no checkpoint after SIG$signal"
done

# goes_on WANT NAME WORD...: is interrupted, goes on, is interrupted again, goes on, and ends with this result.
goes_on() {
    local wanted=$1 name=$2
    shift 2
    rm -f saved
    stops "$name" "$@" --checkpoint saved --threads 2
    expect_line err 'go on with --resume saved$'
    stops "$name" --resume saved --checkpoint saved
    run bench "$name" --resume saved --threads 3
    expect_result "$wanted"
}

long=(--islands 64 --time 70us)
run bench phold "${long[@]}"
expect_status 0
goes_on "$(result)" phold "${long[@]}"
long=(--sms 16 --partitions 12 --requests 150000)
run bench gpu-traffic "${long[@]}"
expect_status 0
goes_on "$(result)" gpu-traffic "${long[@]}"

# a checkpoint that cannot be written is told before any time is spent
run bench phold --time 1s --checkpoint none/saved
expect_complaint 'cannot write none/saved'
