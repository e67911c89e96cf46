# What the scripts of this folder share. Each begins with
#   source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# and then stands in an empty folder of its own, which goes when the script ends. A script fails if any expectation
# did; all of them are tried. One that lacks a tool ends with 77, which CTest shows as Skipped.
# shellcheck shell=bash disable=SC2034 # the scripts use what is set here

set -u
: "${HEDDLE:?the program to test}" "${HEDDLE_HOME:?the folder of the sources}"
HEDDLE=$(realpath "$HEDDLE")
HEDDLE_HOME=$(realpath "$HEDDLE_HOME")
unset HEDDLE_LOG
export LC_ALL=C

failures=0 skips=0 child='' status=0
folder=$(mktemp -d)
trap 'end_script $?' EXIT
cd "$folder" || exit 1
export TMPDIR=$folder # what programs leave there is found, and is this script's own

end_script() {
    [[ -z $child ]] || kill -KILL "$child" 2>/dev/null
    cd / && rm -rf "$folder"
    ((failures)) && exit 1
    [[ $1 == 0 ]] && ((skips)) && exit 77
    exit "$1"
}

# skip TEXT...: notes what cannot be tried here, and why. The rest of the script runs; in the end it counts as skipped.
skip() {
    printf 'SKIPPED: %s\n' "$*"
    skips=$((skips + 1))
}

# has TOOL WHAT: whether there is such a command. If not, WHAT is skipped.
has() {
    command -v "$1" >/dev/null && return
    skip "$2: no $1 here"
    return 1
}

# needs TOOL: without such a command the script ends here.
needs() {
    has "$1" 'the rest of the script' || exit 0
}

# fail TEXT...: tells what differed, and where in the script.
fail() {
    local i
    for ((i = 0; i < ${#BASH_SOURCE[@]} - 1; i++)); do
        [[ ${BASH_SOURCE[i]} == */lib.bash ]] || break
    done
    printf '%s:%s: %s\n' "${BASH_SOURCE[i]##*/}" "${BASH_LINENO[i - 1]}" "$*"
    failures=$((failures + 1))
}

# run WORD...: calls heddle; what it prints goes to the files out and err, its exit status to $status. 60 s are its end.
run() {
    ran="heddle $*"
    timeout 60 "$HEDDLE" "$@" >out 2>err </dev/null
    status=$?
}

# start WORD...: the same in the background, as $child; returns once the program would hear Ctrl-C.
start() {
    ran="heddle $*"
    "$HEDDLE" "$@" >out 2>err </dev/null &
    child=$!
    local caught tries
    for ((tries = 0; tries < 600; tries++)); do
        is_running || break
        caught=$(awk '/^SigCgt/ { print $2 }' "/proc/$child/status" 2>/dev/null)
        ((0x${caught:-0} & 2)) && return
        sleep 0.05
    done
    fail "$ran does not catch Ctrl-C"
}

is_running() {
    [[ $(awk '/^State/ { print $2 }' "/proc/$child/status" 2>/dev/null) == [RSD] ]]
}

# interrupt: sends $child what Ctrl-C sends and waits for its end, 30 s at most; $status as in run.
interrupt() {
    local tries
    kill -"${1:-INT}" "$child" 2>/dev/null
    for ((tries = 0; tries < 600; tries++)); do
        is_running || break
        sleep 0.05
    done
    if ((tries == 600)); then
        fail "$ran does not stop after Ctrl-C"
        kill -KILL "$child"
    fi
    wait "$child"
    status=$?
    child=''
}

expect_status() {
    [[ $status == "$1" ]] || fail "$ran: status $status, not $1; it says: $(head -n 5 err)"
}

# expect_line FILE REGEX: some line of the file matches.
expect_line() {
    grep -qE -- "$2" "$1" || fail "$ran: no line of $1 is like '$2'; it holds: $(head -n 20 "$1")"
}

# expect_lines FILE COUNT
expect_lines() {
    local count
    count=$(wc -l <"$1")
    [[ $count == "$2" ]] || fail "$ran: $1 has $count lines, not $2: $(head -n 20 "$1")"
}

expect_empty() {
    [[ ! -s $1 ]] || fail "$ran: $1 should be empty, but holds: $(head -n 5 "$1")"
}

# expect_same WHAT A B: two texts are the same.
expect_same() {
    [[ $2 == "$3" ]] || fail "$1: '$2' and '$3' should be the same"
}

# expect_same_file WHAT A B
expect_same_file() {
    cmp -s "$2" "$3" || fail "$1: these differ: $(diff "$2" "$3" | head -n 10)"
}

# expect_complaint REGEX: the last run failed with this one line on stderr and nothing else.
expect_complaint() {
    [[ $status != 0 && $status -lt 124 ]] || fail "$ran: status $status, not that of an error"
    expect_empty out
    expect_lines err 1
    expect_line err '^heddle: '
    expect_line err "$1"
}

# refuses REGEX WORD...: heddle called so complains so.
refuses() {
    local regex=$1
    shift
    run "$@"
    expect_complaint "$regex"
}

# result: "events=N checksum=HEX" of the closing line in the file out, without what depends on the host.
result() {
    sed -nE 's/^[a-z-]+ (events=[0-9]+) seconds=[0-9.]+ rate=[0-9]+ (checksum=[0-9a-f]{16})$/\1 \2/p' out
}

# expect_result WANT: the last run was good and ended with this result.
expect_result() {
    expect_status 0
    expect_lines out 1
    expect_same "$ran" "$1" "$(result)"
}

# figures FILE: statistics without what depends on this computer or on how the program was started.
figures() {
    python3 - "$1" <<'END'
import json, sys
stats = json.load(open(sys.argv[1]))
for key in ("host", "program", "options", "arguments"):
    stats.pop(key, None)
print(json.dumps(stats, indent=1, sort_keys=True))
END
}

# a_network: prints a description with all that a network can have: islands of several nodes, a link of three plugs,
# bandwidth, credits, service times and messages that are passed on.
a_network() {
    cat <<'END'
[node.a]
sends = 3000
interval = 3ns
hops = 3
[node.b]
sends = 2000
interval = 4ns
hops = 5
payload = 24
service = 1ns
[node.c]
island = cd
sends = 1000
interval = 7ns
hops = 1
[node.d]
island = cd
service = 2ns
[node.e]
sends = 2500
payload = 16
[node.f]
sends = 2000
interval = 1ns
[node.g]
service = 5ns

[link.bus]
ends = a.bus b.bus e.bus
latency = 5ns
bandwidth = 16GB/s
overhead = 8
[link.inner]
ends = c.inner d.inner
latency = 0
[link.bd]
ends = b.right d.left
latency = 2ns
[link.ce]
ends = c.out e.in
latency = 11ns
bandwidth = 3GB/s
[link.fg]
ends = f.out g.in
latency = 3ns
credits = 2
END
}
