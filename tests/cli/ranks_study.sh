#!/usr/bin/env bash
# `mpirun heddle study`: the same bytes for any number of ranks, kills and what is left to do, failures on some rank.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
# shellcheck source=tests/cli/dealt.bash
source "$HEDDLE_HOME/tests/cli/dealt.bash"

cat >clock.ini <<'END'
[study]
title = Clocks
baseline = clock=500MHz
workloads = fir
[workload.adding]
bench = vecadd
options = --n 4096
[axis.clock]
set = gpu.clock
values = 500MHz 1GHz 2GHz
[figure.time]
[figure.speedup]
shows = speedup
END

# ---- the same bytes, tables and files ----

run study clock.ini --json 1.json --csv 1.csv --results kept.1
expect_status 0
cp out first
for ranks in 2 3; do
    dealt $ranks study clock.ini --json $ranks.json --csv $ranks.csv --svg plots --results kept.$ranks
    expect_status 0
    expect_empty err
    expect_same_file "tables of $ranks ranks" first out
    expect_same_file "JSON of $ranks ranks" 1.json $ranks.json
    expect_same_file "CSV of $ranks ranks" 1.csv $ranks.csv
    expect_same "names of results of $ranks ranks" "$(ls kept.1)" "$(ls kept.$ranks)"
    [[ -s plots/speedup.svg ]] || fail 'no plot'
done
run study clock.ini --ranks 2 --json started.json
expect_status 0
expect_same_file 'tables of --ranks 2' first out
expect_same_file 'JSON of --ranks 2' 1.json started.json
expect_same 'folders that were left' '' "$(find . -name 'heddle-run-*')"

# ---- points that fail, and what is of the launcher's is not for the points ----

cat >fails.ini <<'END'
[workload.fir]
[workload.crash]
run = sh -c 'kill -SEGV $$'
[workload.rank]
run = sh -c 'env | grep -E "^(OMPI|PMIX|PMI)_" && exit 4; exit 3'
END
run study fails.ini
expect_status 1
cp out first
dealt 2 study fails.ini
expect_status 1
expect_same_file 'tables with failures' first out
expect_line err '^heddle: study: crash failed: .*signal 11'
expect_line err '^heddle: study: rank failed: .*status 3 '
expect_line err '^heddle: study: 2 of 3 points failed$'

# ---- killed: what was done is not done again ----

long=$folder/long.ini # no other process has this word
cat >"$long" <<'END'
[workload.spmv]
[axis.rows]
set = --rows
values = 11000 11001 11002 11003 11004 11005
END
run study "$long"
expect_status 0
cp out whole

# results: how many are there.
results() {
    grep -ls '"state": "complete"' later/*.json | wc -l # one that was made to end may have left another state
}
has_some() {
    (($(results) >= 1))
}

# resumes: the rest, which is not all, gives the same tables.
resumes() {
    local there
    there=$(results)
    touch -d 2001-01-01 later/*.json
    dealt 2 study "$long" --results later --resume
    expect_status 0
    expect_line err "^heddle: study: $there of 6 points are in later already$"
    expect_same_file "tables behind $1" whole out
    expect_same "points that ran again behind $1" $((6 - there)) "$(find later -name '*.json' -newermt 2002-01-01 | wc -l)"
    rm -rf later
}

start_dealt 2 study "$long" --results later --resume
wait_until has_some
kill -KILL "$(rank_process 1)"
ends "$long"
expect_status 137
(($(results) < 6)) || fail 'all points were done before the kill'
resumes 'the kill of rank 1'

start_dealt 2 study "$long" --results later --resume
wait_until has_some
kill -KILL "$child"
ends "$long"
file=$(grep -ls '"state": "complete"' later/*.json | head -n 1)
truncate -s 20 "$file" # as a full disk would leave it: not a result
resumes 'the kill of mpirun'

# ---- Ctrl-C ----

cat >"$long" <<'END'
[workload.fir]
[workload.nbody]
options = --n 65536
END
unset OMPI_MCA_odls_base_sigkill_timeout
start_dealt 2 study "$long" --results later --resume
wait_until has_some
kill -INT "$child"
ends "$long"
[[ $status != 0 ]] || fail "$ran: status 0 behind Ctrl-C"
expect_line err '^heddle: interrupted: what is known so far was told; go on with --resume$'
expect_line out '^fir +[0-9,]+$'
expect_line out '^nbody +-$'
export OMPI_MCA_odls_base_sigkill_timeout=0

# ---- mistakes: one line, and the end of all ranks ----

dealt 2 study none.ini
expect_one_error 'cannot read none.ini'
dealt 3 study clock.ini --jsn x
expect_one_error 'unknown option --jsn'
dealt 2 study events
expect_one_error 'events does not run over several ranks'
dealt 2 study clock.ini --json none/x.json
expect_one_error 'cannot write none/x.json'
sed 's/500MHz/600MHz/g' clock.ini >other.ini
ran='mpirun with two studies'
timeout 60 "${mpi[@]}" -n 1 "$HEDDLE" study clock.ini : -n 1 "$HEDDLE" study other.ini >out 2>err
status=$?
expect_one_error 'rank 1 on .* would do something else than rank 0'
timeout 60 "${mpi[@]}" -n 1 "$HEDDLE" study clock.ini : -n 1 "$HEDDLE" study none.ini >out 2>err
status=$?
expect_one_error 'rank 1 on .*: cannot read none.ini'
timeout 60 "${mpi[@]}" -n 1 "$HEDDLE" study clock.ini : -n 1 env TMPDIR=/nowhere "$HEDDLE" study clock.ini >out 2>err
status=$?
expect_one_error 'rank 1 on .*: run: cannot make a folder in /nowhere'
