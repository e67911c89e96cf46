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

# Virtual networks: hardly any room deadlocks without them.
run protocol stress moesi --topology ring --tight --accesses 1
expect_status 0
expect_line out '^moesi +ring +[0-9]+ accesses .*: right$'
run protocol stress moesi --topology ring --tight --one-network --accesses 1
expect_status 1
expect_line out ': the simulation is stuck at [0-9]+ ps'

# Any graph as topology.
two=$HEDDLE_HOME/systems/topologies/two-sockets.ini
run protocol stress moesi_hsc --topology "$two" --accesses 1
expect_status 0
expect_line out 'two-sockets.ini +[0-9]+ accesses .*: right$'
run protocol stress mi --topology "$two" --accesses 1 # without the GPU
expect_status 0
refused() { # MESSAGE WORDS...
    run protocol "${@:2}"
    expect_status 2
    expect_line err "^heddle: .*$1"
    [[ $(wc -l <err) == 1 ]] || fail "protocol ${*:2}: more than one line"
}
sed 's/^ends = home1 .*/ends = home1 nowhere/' "$two" >unknown.ini
refused "unknown.ini:[0-9]+: \[fabric.link.memory1\] ends: there is no 'nowhere'; expected cpu0" \
    stress mi --topology ./unknown.ini
sed '/^.fabric.link.memory1/,/^bandwidth/d' "$two" >alone.ini
refused "alone.ini: no link leads to 'home1'$" stress mi --topology ./alone.ini
sed '/^.fabric.link.between/,/^credits/d' "$two" >pieces.ini
refused 'pieces.ini: fabric: there is no way from cpu0 to cpu2; ' stress mi --topology ./pieces.ini
refused 'nothing.ini: No such file' stress mi --topology ./nothing.ini
refused '--caches and --l1s do not go with a topology from a file' stress mi --topology "$two" --caches 2

# Options that a run would not look at.
refused "--deep is no option of 'heddle protocol show'$" show mi --deep
refused "--svg is no option of 'heddle protocol check'$" check mi --svg x.svg
refused "--topology is no option of 'heddle protocol check'$" check mi --topology ring
refused "--caches is no option of 'heddle protocol check --litmus'$" check mi --litmus --caches 2
refused "--lines is no option of 'heddle protocol stress'$" stress mi --lines 2
refused "--seed is no option of 'heddle protocol'$" --seed 3
