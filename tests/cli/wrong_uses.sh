#!/usr/bin/env bash
# Wrong uses of CUDA give the codes that an H200 gave (tests/programs/wrong).
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs nvcc
wrong=$HEDDLE_HOME/tests/programs/wrong
nvcc -arch=sm_90 -cudart shared -o wrong "$wrong/main.cu" -lcuda >build 2>&1 || fail "wrong/main.cu does not compile: $(head -n 5 build)"
run run --no-progress ./wrong
expect_status 0

# Those that crash NVIDIA's library have no code to compare with; those that differ have to, or their line is stale.
awk -v differs="$wrong/differs.txt" '
    BEGIN { while ((getline line < differs) > 0) { split(line, word, " "); if (word[1] != "#") known[word[1]] = 1 } }
    FNR == NR { ours[$1] = $2 " " $3 " " $4; next }
    $2 == "signal" { skipped++; next }
    {
        same = ours[$1] == $2 " " $3 " " $4
        compared++
        if (!same && !($1 in known)) print $1 ": an H200 gives " $2 " " $3 " " $4 ", here: " ours[$1]
        if (same && $1 in known) print $1 ": is equal, so it does not belong into differs.txt"
    }
    END { if (compared < 900) print "only " compared " uses were compared, " skipped " skipped" }
' out "$wrong/h200.txt" >differences
if [[ -s differences ]]; then
    fail "$(wc -l <differences) wrong uses give another code: $(head -n 20 differences)"
fi

# Those that were not run on an H200: the code of the call alone, as the manual has it.
awk '
    FNR == NR { ours[$1] = $2; next }
    $1 != "#" && ours[$1] != $2 { print $1 ": the manual has " $2 ", here: " ours[$1] }
' out "$wrong/manual.txt" >differences
if [[ -s differences ]]; then
    fail "$(wc -l <differences) wrong uses give another code than the manual: $(head -n 20 differences)"
fi
