#!/usr/bin/env bash
# Coherence protocols: shown, drawn, checked, stressed, and read from files.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run protocol
expect_status 0
for name in mi mesi moesi moesi_hammer vi_hammer moesi_hsc viper none; do
    expect_line out "^  $name "
done

run protocol check moesi
expect_status 0
expect_line out '^moesi +2 caches, 2 lines +[0-9]+ states .* right$'
run protocol check none
expect_status 0
expect_line out 'a copy that can be read has an old value'
expect_line out 'is not coherent, and says so'
run protocol check viper --litmus
expect_status 0
expect_line out '^viper +SB +GG .*00!.*weak'
run protocol check mi --mutations 40
expect_status 0
expect_line out '^mi +[0-9]+ variants, .* found: (9[0-9]|100)'
run protocol stress vi_hammer --topology cluster --accesses 1
expect_status 0
expect_line out '^vi_hammer +cluster +[0-9]+ accesses .*: right$'
run protocol show mesi --svg mesi.svg
expect_status 0
grep -q '</svg>' mesi.svg || fail 'no drawing'

# A protocol of one's own: the same, then with a bug, then with a hole.
run protocol show mi
cp out mine.txt
run protocol check ./mine.txt
expect_status 0
sed 's/  X    Put       if from-owner -> U: take; /  X    Put       if from-owner -> U: /' mine.txt >lost.txt
run protocol check ./lost.txt
expect_status 1
expect_line out 'the home.s copy is not the last value: a write-back is lost.*, after [0-9]+ steps:'
grep -v '  IL   load ' mine.txt >hole.txt
run protocol check ./hole.txt
expect_status 1
expect_line err "^heddle: protocol mi, cache: state IL has no row for 'load'$"
run protocol check ./nothing.txt
expect_status 1
expect_line err '^heddle: .*nothing.txt'
run protocol check moesy
expect_line err "moesi"
run protocol stress mi --topology star
expect_status 2
expect_line err '^heddle: --topology: expected crossbar'
