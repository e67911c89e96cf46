#!/usr/bin/env bash
# A run that is saved on its way, and one that goes on from there, end as a run that nothing disturbed: with any
# numbers of threads.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ends_the_same AT... -- WORD...: saves the benchmark at each of these times and resumes it.
ends_the_same() {
    local times=() at threads others
    while [[ $1 != -- ]]; do
        times+=("$1")
        shift
    done
    shift
    run bench "$@"
    expect_status 0
    local wanted
    wanted=$(result)
    [[ -n $wanted ]] || fail "$ran: no closing line in: $(cat out)"
    threads=1
    for at in "${times[@]}"; do
        others=$((5 - threads))
        rm -f saved again
        run bench "$@" --threads "$threads" --checkpoint saved --at "$at"
        expect_result "$wanted"
        [[ -s saved ]] || fail "$ran: nothing was saved"
        run bench "$1" --resume saved --threads "$others"
        expect_result "$wanted"
        # the same state, whoever saves it
        run bench "$@" --threads "$others" --checkpoint again --at "$at"
        expect_result "$wanted"
        expect_same_file "checkpoints at $at of $threads and $others threads" saved again
        threads=$((threads % 4 + 1))
    done
}

a_network >network.ini
ends_the_same 0 1ps 1ns 77777ps 0.5us 999999ps 1us 5us -- phold --islands 48 --time 1us
ends_the_same 1ns 50ns 1us 10us -- gpu-traffic --sms 12 --partitions 6 --requests 400
ends_the_same 100ns 2us -- gpu-traffic --sms 8 --partitions 1 --requests 100 --credits 1 # many wait when it is saved
ends_the_same 0 20ns 1us 24us 1ms -- network --config network.ini

# from checkpoint to checkpoint
few=(--islands 16 --time 900ns)
run bench phold "${few[@]}"
wanted=$(result)
run bench phold "${few[@]}" --checkpoint first --at 300ns
run bench phold --resume first --checkpoint second --at 600ns --threads 2
expect_result "$wanted"
run bench phold --resume second --checkpoint second --at 700ns # over the file it came from
expect_result "$wanted"
run bench phold --resume second --threads 3
expect_result "$wanted"
# without --at, the checkpoint is of the end
run bench phold --resume second --checkpoint third
expect_result "$wanted"
run bench phold --resume third
expect_result "$wanted"
# from a checkpoint on for longer than was meant
run bench phold --islands 16 --time 400ns --checkpoint short --at 200ns
run bench phold --resume short --until 900ns
expect_result "$wanted"
# the parameters come from the checkpoint: JSON tells the same ones
run bench phold "${few[@]}" --population 3 --json whole.json --checkpoint few --at 200ns
run bench phold --resume few --json resumed.json
python3 - <<'END' || fail 'the JSON of a resumed run differs'
import json
whole, resumed = (json.load(open(name)) for name in ("whole.json", "resumed.json"))
for part in ("bench", "state", "config", "result", "stats"):
    assert whole[part] == resumed[part], part
END
# --log info tells that something was saved
run bench phold "${few[@]}" --checkpoint saved --at 100ns --log info
expect_result "$wanted"
expect_line err '^heddle: info: saved saved at 100000 ps'
# no stray files
expect_same 'files left behind' '' "$(find . -name '*.part')"
