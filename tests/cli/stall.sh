#!/usr/bin/env bash
# Systems that get stuck: the run ends, and says who waits for whom; the same for any number of threads.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# sticks FILE: runs it with 1 and 4 threads; the report is in err.
sticks() {
    run bench network --config "$1" --threads 4 --json four.json
    expect_status 1
    expect_empty out
    cp err four
    run bench network --config "$1" --json one.json
    expect_status 1
    expect_empty out
    expect_same_file "$ran: reports of 1 and 4 threads" err four
    expect_same "$ran: first line" 1 "$(grep -c '^heddle: ' err)"
    expect_line err '^heddle: the simulation is stuck at [0-9]+ ps: no event is left, but [0-9]+ ports? still waits?$'
    expect_line one.json '"state": "failed"'
}

# one that does not take what it is sent
cat >deaf.ini <<'END'
[node.a]
sends = 10
[node.b]
takes = no
[link.ab]
ends = a.out b.in
credits = 3
END
sticks deaf.ini
expect_line err '^  a\.out waits for room at b\.in, which holds 3 messages \(3 from here fill it\)$'
expect_line err '^  b\.in holds 3 messages that b does not take$'
expect_lines err 3
! grep -q circle err || fail "$ran: there is no circle: $(cat err)"

# without a limit nobody waits, but the messages lie there
sed 's/credits = 3/credits = 0/' deaf.ini >patient.ini
sticks patient.ini
expect_line err '^  b\.in holds 10 messages that b does not take$'
expect_lines err 2

# a ring in which each waits for the next
ring() { # ring NODES
    local i
    for ((i = 0; i < $1; i++)); do
        printf '[node.n%d]\nsends = 50\nhops = 4\ninterval = 1ns\n' "$i"
        printf '[link.l%d]\nends = n%d.right n%d.left\nlatency = 5ns\ncredits = 1\n' "$i" "$i" $(((i + 1) % $1))
    done
}
ring 3 >ring.ini
sticks ring.ini
port='n[0-2]\.(left|right)'
expect_line err "^  $port waits for room at $port, which holds 1 message \(1 from here fill it\)\$"
expect_line err '^  a circle: n[0-2] -> n[0-2]'

# many: the report stays short
ring 40 >large.ini
sticks large.ini
expect_line err '^  and [0-9]+ more$'
expect_line err '^  a circle: '
[[ $(wc -l <err) -le 20 ]] || fail "$ran: the report has $(wc -l <err) lines"

# stuck behind a checkpoint, too; and the time to save at never comes
run bench network --config ring.ini --checkpoint saved --at 10ns
expect_status 1
cp err before
run bench network --resume saved --threads 2
expect_status 1
expect_same_file 'reports before and after resuming' before err
run bench network --config ring.ini --checkpoint never --at 1ms
expect_status 1
expect_same_file 'reports with and without a late checkpoint' before err
