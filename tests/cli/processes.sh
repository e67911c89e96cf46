#!/usr/bin/env bash
# heddle run and what happens to processes: fork, kill, full disks, limits, many launches.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
ptx=$HEDDLE_HOME/tests/programs/processes.ptx
gcc -o processes "$HEDDLE_HOME/tests/programs/processes.c" -L"$libraries" -l:libcuda.so.1 || fail 'processes.c does not compile'

# ---- fork: the child gets CUDA's error and ends; what it becomes by exec starts afresh ----

for mode in functional timing; do
    run run --mode $mode ./processes "$ptx" fork
    expect_status 0
    expect_line out '^processes: ok$'
    expect_line err '^heddle: 2 kernels, 5 launches'
done

# ---- kill -9 of heddle: its program ends, with all that it started, and its folder goes ----

gone() { # PID: within 10 s
    local tries
    for ((tries = 0; tries < 200; tries++)); do
        [[ $(awk '/^State/ { print $2 }' "/proc/$1/status" 2>/dev/null) == [RSDT] ]] || return 0
        sleep 0.05
    done
    return 1
}

for mode in functional timing; do
    start run --mode $mode --no-progress sh -c "./processes '$ptx' hold; true"
    for ((tries = 0; tries < 600; tries++)); do
        [[ -s out ]] && break
        sleep 0.05
    done
    read -r parent forked <out || fail 'the program did not start'
    kill -KILL "$child"
    wait "$child" 2>/dev/null
    child=''
    for process in $parent $forked; do
        gone "$process" || fail "$mode: process $process lives on after kill -9 of heddle"
        kill -KILL "$process" 2>/dev/null
    done
    for ((tries = 0; tries < 200; tries++)); do
        compgen -G "$TMPDIR/heddle-run-*" >/dev/null || break
        sleep 0.05
    done
    ((tries < 200)) || fail "$mode: the folder is still there"
done

# ---- a folder whose owner is gone is removed by the next run; one that is in use, or is no run's, is not ----

mkdir heddle-run-stale heddle-run-other heddle-run-used
touch heddle-run-stale/owner heddle-run-stale/1.0.sums heddle-run-used/owner heddle-run-other/file
exec 9<heddle-run-used/owner
flock 9
run run ./processes "$ptx" many 1
expect_status 0
[[ ! -e heddle-run-stale ]] || fail 'a stale folder stays'
[[ -e heddle-run-other/file && -e heddle-run-used ]] || fail 'a folder that is not stale was removed'
exec 9<&-
rm -r heddle-run-other heddle-run-used

# ---- a disk that is full: loud, and sums need no room for more launches ----

mkdir small
if mount -t tmpfs -o size=256k none small 2>/dev/null; then
    TMPDIR=$PWD/small run run ./processes "$ptx" many 20000
    expect_status 0
    expect_line err '^heddle: 1 kernel, 20000 launches'
    TMPDIR=$PWD/small run run --stats lost.json ./processes "$ptx" many 20000
    expect_status 1
    expect_line err '^heddle: the statistics lack [0-9]+ launches: cannot write to .*small/heddle-run-.*: No space left on device \(TMPDIR'
    expect_line err '^heddle: 1 kernel, 20000 launches'
    expect_line lost.json '"launches_lost": [0-9]+'
    TMPDIR=$PWD/small run run sh -c "dd if=/dev/zero of=small/filled bs=1k status=none; ./processes '$ptx' many 10"
    expect_status 1 # not even sums have room
    expect_line err '^heddle: the statistics lack 10 launches: cannot write to '
    expect_line err '^heddle: 10 launches, of which nothing is known$'
    dd if=/dev/zero of=small/filled bs=1k status=none 2>/dev/null
    TMPDIR=$PWD/small run run ./processes "$ptx" many 10
    expect_complaint 'cannot (write to|make a folder in) .*small: No space left on device'
    umount small
else
    echo 'left out: a full disk, as this user may not mount one'
fi

# somebody removes the folder
run run sh -c "./processes '$ptx' many 3; rm -r \"\$HEDDLE_RUN_DIR\""
expect_status 1
expect_line err '^heddle: the statistics are lost: somebody removed .*heddle-run-'

# ---- limits on the size of files are no signal to the program ----

(
    ulimit -f 64
    run run --stats /dev/null ./processes "$ptx" many 2000
    expect_status 1
    expect_line out '^processes: ok$'
    expect_line err '^heddle: the statistics lack [0-9]+ launches: cannot write to .*: File too large \(ulimit -f'
    exit "$failures"
) || failures=$((failures + 1))

# ---- many launches and streams ----

run run --stats many.json ./processes "$ptx" many 10100
expect_status 0
run run --stats some.json --stats-launches 9000-9009 ./processes "$ptx" many 10100
expect_status 0
run run --stats all.json --stats-launches all ./processes "$ptx" many 10100
expect_status 0
python3 - <<'END' || fail 'launches that are kept'
import json
many, some, whole = (json.load(open(name + ".json")) for name in ("many", "some", "all"))
for stats in (many, some, whole):
    assert stats["launches_total"] == 10100 and stats["state"] == "complete" and stats["exit_status"] == 0
    kernel, = stats["kernels"]
    assert kernel["launches"] == 10100 and kernel["metrics"]["smsp__warps_launched.sum"] == 10100
assert many["launches_kept"] == "0-9999" and len(many["launches"]) == 10000
assert some["launches_kept"] == "9000-9009" and some["launches"] == whole["launches"][9000:9010]
assert whole["launches_kept"] == "all" and len(whole["launches"]) == 10100
END
refuses "--stats-launches: expected numbers of launches from 0, such as 3-5, 3 or 3-, not 'few'" \
    run --stats x.json --stats-launches few ./processes
refuses '--stats-launches needs --stats FILE' run --stats-launches all ./processes
run run ./processes "$ptx" streams 20000
expect_status 0
expect_line out '^processes: ok$'
run run --mode timing ./processes "$ptx" streams 1000
expect_status 0
expect_line out '^processes: ok$'
# ranges are of each process
run run --stats three.json --stats-launches 0-1 sh -c "./processes '$ptx' many 2; ./processes '$ptx' many 2; ./processes '$ptx' many 3"
expect_line three.json '"launches_kept": "0-1"'
run run --stats three.json sh -c "./processes '$ptx' many 2; ./processes '$ptx' many 3"
expect_line three.json '"launches_kept": "all"'

# 100,000 launches take no more memory than 1,000, the program and heddle together
memory() { # LAUNCHES: the largest process, in KiB
    python3 - "$HEDDLE" "$ptx" "$1" <<'END'
import resource, subprocess, sys
subprocess.run([sys.argv[1], "run", "./processes", sys.argv[2], "many", sys.argv[3]], check=True, capture_output=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss)
END
}
few=$(memory 1000) much=$(memory 100000)
((much < few + 8192)) || fail "memory grows with launches: $few KiB with 1,000 of them, $much with 100,000"

# ---- how a program ended ----

run run --stats ended.json sh -c "./processes '$ptx' many 3; exit 5"
expect_status 5
expect_line ended.json '"state": "failed"'
expect_line ended.json '"exit_status": 5'
run run --stats killed.json sh -c "./processes '$ptx' many 3; kill -KILL \$\$"
expect_status 137
expect_line killed.json '"state": "killed"'
expect_line killed.json '"signal": 9'
for mode in functional timing; do
    start run --mode $mode --no-progress --stats stopped.json ./processes "$ptx" hold
    for ((tries = 0; tries < 600; tries++)); do
        [[ -s out ]] && break
        sleep 0.05
    done
    read -r parent forked <out
    kill -TERM "$forked" # the first one ends a child of fork, though its parent would write a report first
    gone "$forked" || fail "$mode: a forked child lives on after SIGTERM"
    interrupt TERM
    expect_status 143
    expect_line stopped.json '"state": "interrupted"'
done

# A signal to the whole group reaches the program twice, once through heddle: what is known is written all the same.
# (Not INT: shells let their background jobs ignore it.)
for signal in TERM HUP; do
    ran="heddle run, and $signal to its group"
    : >out
    setsid timeout -s KILL 60 "$HEDDLE" run --mode timing --no-progress ./processes "$ptx" hold >out 2>err &
    child=$!
    for ((tries = 0; tries < 600; tries++)); do # until it has simulated for a while
        parent=''
        read -r parent forked <out
        ticks=$([[ $parent ]] && awk '{ print $14 }' "/proc/$parent/stat" 2>/dev/null)
        ((${ticks:-0} > 20)) && break
        sleep 0.05
    done
    kill -$signal -- "-$child"
    wait "$child"
    child=''
    expect_line err '1 kernel, 1 launch, '
done
