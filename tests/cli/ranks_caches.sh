#!/usr/bin/env bash
# `heddle caches --sweep` on several ranks, and kept in a file: the same counts, kills, damaged and other files.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# without_host FILE: the JSON less what tells of the host.
without_host() {
    python3 -c 'import json, sys; whole = json.load(open(sys.argv[1])); del whole["host"]; print(json.dumps(whole, indent=1))' "$1"
}

# same_counts WHAT FILE: the last run's table and JSON are those of the run in one pass.
same_counts() {
    expect_status 0
    expect_same_file "table of $1" <(sed '$d' whole.out) <(sed '$d' out)
    expect_same_file "JSON of $1" <(without_host whole.json) <(without_host "$2")
}

# stacks, others, and two orders of accesses; one that cannot be
sweep=(caches --generate zipf:footprint=256KiB --accesses 60k --tiles 4
    --sweep 'l1.size=2KiB..64KiB,l1.ways=1..32,quantum=exact:64,snoop=1:2')
run "${sweep[@]}" --json whole.json
expect_status 0
cp out whole.out
count=$(grep -c KiB out)

# ---- kept in a file, by one process ----

run "${sweep[@]}" --json kept.json --results counts
same_counts 'a sweep that is kept' kept.json
cp counts all
run "${sweep[@]}" --json kept.json --results counts --resume
same_counts 'a sweep that is there' kept.json
expect_line err "^heddle: caches: $count of $count configurations are in counts already$"
expect_line out '^0 accesses in '
expect_same_file 'a file with all' all counts

# cut short or damaged: that record, and those behind it, are simulated again
bytes=$(stat -c %s all)
for left in 0 20 $((bytes / 2)) $((bytes - 1)); do
    head -c "$left" all >counts
    run "${sweep[@]}" --json kept.json --results counts --resume
    same_counts "a file of $left bytes" kept.json
    expect_same "bytes behind $left" "$bytes" "$(stat -c %s counts)"
done
expect_line err "^heddle: caches: $((count - 1)) of $count configurations are in counts already$"
cp all counts
printf 'x' | dd of=counts bs=1 seek=$((bytes - 200)) conv=notrunc 2>/dev/null
run "${sweep[@]}" --json kept.json --results counts --resume
same_counts 'a damaged file' kept.json
expect_line err "^heddle: caches: $((count - 1)) of $count configurations are in counts already$"

# another sweep over the same accesses takes what it can use
run caches --generate zipf:footprint=256KiB --accesses 60k --tiles 4 --snoop 2 --sweep l1.size=8KiB:24KiB,l1.ways=4 \
    --results counts --resume
expect_status 0
expect_line err '^heddle: caches: 1 of 2 configurations are in counts already$'

# what does not fit
refuses "counts has results of something else: its 'accesses = 60000' is 'accesses = 50000' here; without --resume it is written anew" \
    "${sweep[@]}" --accesses 50k --results counts --resume
refuses 'whole.json has no results of heddle caches' "${sweep[@]}" --results whole.json --resume
refuses '--results: cannot write none/counts' "${sweep[@]}" --results none/counts
refuses '--results: .* is no plain file' "${sweep[@]}" --results /dev/null
refuses '--resume needs --results FILE' "${sweep[@]}" --resume
refuses '--results needs --sweep' caches --generate random --accesses 10 --results counts
run trace generate zipf:footprint=64KiB --cores 2 --accesses 20k --output made
expect_status 0
refuses 'would be written over: it is a trace' caches made.*.htrace --sweep l1.ways=1..4 --results "$(ls made.*.htrace | head -n 1)"
run caches made.*.htrace --sweep l1.ways=1..4 --results traced
expect_status 0
run caches made.*.htrace --offset 5 --sweep l1.ways=1..4 --results traced --resume
expect_complaint "its 'offset = 0' is 'offset = 5' here"

# ---- killed ----

long=$folder/counts.long # no other process has this word
slow=(caches --generate zipf:footprint=1MiB --accesses 400k --tiles 4 --snoop 2
    --sweep 'l1.size=4KiB..128KiB,l1.ways=1..16' --threads 1)
run "${slow[@]}" --json whole.json
cp out whole.out
count=$(grep -c KiB out)
has_some() {
    (($(stat -c %s "$long" 2>/dev/null || echo 0) > 1000))
}

# resumes RANKS WHAT
resumes() {
    cp "$long" before
    if (($1 == 1)); then
        run "${slow[@]}" --json kept.json --results "$long" --resume
    else
        dealt "$1" "${slow[@]}" --json kept.json --results "$long" --resume
    fi
    same_counts "$2" kept.json
    expect_line err "^heddle: caches: [1-9][0-9]* of $count configurations are in .*counts.long already$"
    grep -q "caches: $count of" err && fail "$2: all was done before"
    cmp -s -n "$(stat -c %s before)" before "$long" || fail "$2: what was there has changed"
    rm -f "$long"
}

"$HEDDLE" "${slow[@]}" --results "$long" --resume >out 2>err &
child=$!
for ((tries = 0; tries < 1000; tries++)); do
    has_some && break
    sleep 0.01
done
refuses '--results: another run writes ' "${slow[@]}" --results "$long" --resume
kill -KILL $child 2>/dev/null
wait $child 2>/dev/null
child=''
resumes 1 'a kill'

# ---- several ranks ----

# shellcheck source=tests/cli/dealt.bash
source "$HEDDLE_HOME/tests/cli/dealt.bash"
run "${sweep[@]}" --json whole.json --per-cache --plot whole.svg
cp out whole.out
for ranks in 2 3; do
    dealt $ranks "${sweep[@]}" --json dealt.json --plot dealt.svg --results counts
    same_counts "$ranks ranks" dealt.json
    expect_same_file "plot of $ranks ranks" whole.svg dealt.svg
    expect_line out "\(cpu, $ranks ranks of 1 thread\)$"
    expect_lines err 0
done
run "${sweep[@]}" --ranks 2 --json dealt.json
same_counts '--ranks 2' dealt.json
run caches made.*.htrace --sweep l1.ways=1..8,snoop=1:2 --json whole.json
cp out whole.out
dealt 2 caches made.*.htrace --sweep l1.ways=1..8,snoop=1:2 --json dealt.json
same_counts 'traces on 2 ranks' dealt.json

run "${slow[@]}" --json whole.json
cp out whole.out
start_dealt 2 "${slow[@]}" --results "$long" --resume
wait_until has_some
kill -KILL "$(rank_process 1)"
ends "$long"
expect_status 137
resumes 2 'the kill of rank 1'
start_dealt 2 "${slow[@]}" --results "$long" --resume
wait_until has_some
kill -KILL "$child"
ends "$long"
resumes 1 'the kill of mpirun'

# ---- mistakes: one line, and the end of all ranks ----

dealt 2 "${sweep[@]}" --jsn x
expect_one_error 'unknown option --jsn'
dealt 2 caches --generate random --accesses 10
expect_one_error 'caches: without --sweep it does not run over several ranks'
dealt 2 caches none.htrace --sweep l1.ways=1..4
expect_one_error 'cannot read none.htrace'
mkfifo pipe
dealt 2 caches pipe --sweep l1.ways=1..4
expect_one_error 'pipe: a sweep on ranks, or with --results, reads it several times, which only plain files can be'
timeout 60 "${mpi[@]}" -n 1 "$HEDDLE" "${sweep[@]}" : -n 1 "$HEDDLE" "${sweep[@]}" --seed 2 >out 2>err
status=$?
ran='mpirun with two sweeps'
expect_one_error 'rank 1 on .* would do something else than rank 0'
