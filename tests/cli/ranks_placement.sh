#!/usr/bin/env bash
# Which rank has what by measured load: the same results, the table, and files that make no sense.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v mpirun >/dev/null && [[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]] || exit 77

# load SMS MEMORY LINES...: of an H200, this much for each of its SMs and memory islands
load() {
    local i
    echo 'heddle load 1'
    for ((i = 0; i < 132; i++)); do echo "island gpu[0].sm[$i] $1"; done
    for ((i = 0; i < 24; i++)); do echo "island gpu[0].memory[$i] $2"; done
    printf '%s\n' "${@:3}"
}

# ---- the table ----
load 0 0 'island gpu[0].sm[5] 600' 'island gpu[0].sm[6] 500' 'island gpu[0].memory[3] 100' >two
run system h200 --ranks 2 --placement two
expect_status 0
expect_line out '^   0   50.0%  gpu0 \([0-9]+ SMs, [0-9]+ memory islands, dispatcher\), the host.s memory, the program$'
expect_line out '^   1   50.0%  gpu0 \([0-9]+ SMs, [0-9]+ memory islands\)$'
# four GPUs of which the second costs as much as the others together; the switch goes where its bytes are
{
    echo 'heddle load 1'
    for gpu in 0 1 2 3; do load $((gpu == 1 ? 30 : 10)) 0 | grep island | sed "s/gpu.0./gpu[$gpu]/"; done
    echo 'link gpu1-switch 1000'
} >four
four=(--system h200-x8 --set system.gpus=4)
run system h200-x8 --set system.gpus=4 --ranks 2 --placement four
expect_line out '^   0   50.0%  gpu1, switch, the host.s memory, the program$'
expect_line out '^   1   50.0%  gpu0, gpu2, gpu3$'
run system h200-x8 --set system.gpus=4 --ranks 5 --placement four
expect_same 'GPUs in parts' 2 "$(grep -c 'gpu1 (' out)"

# ---- the same results on any placement, and a load from several ranks ----
strip() {
    grep -v '"wall_s"\|"cpu_s"\|"threads"' "$1"
}
placed() { # RANKS WORDS...
    local ranks=$1
    shift
    run bench "$@" --mode timing --write-load load --json one.json
    expect_status 0
    run bench "$@" --mode timing --ranks "$ranks" --placement load --write-load again --json some.json
    expect_status 0
    expect_same "$* on $ranks ranks" "$(strip one.json)" "$(strip some.json)"
    expect_same "$*: islands and links" "$(cut -d' ' -f1,2 load)" "$(cut -d' ' -f1,2 again)"
}
placed 3 bfs --nodes 1024
placed 3 allreduce "${four[@]}"
run bench allreduce "${four[@]}" --mode timing --ranks 5 --placement four --json some.json
expect_same 'a placement by hand' "$(strip one.json)" "$(strip some.json)"

# ---- bad files: one line, before anything is started ----
refused() { # PATTERN WORDS...
    local pattern=$1
    shift
    run "$@"
    expect_status 2
    expect_lines err 1
    expect_line err "$pattern"
}
timed=(bench vecadd --mode timing --ranks 2)
refused '^heddle: cannot read nothing: ' "${timed[@]}" --placement nothing
echo hello >bad
refused "^heddle: bad: expected a load that --write-load has written" "${timed[@]}" --placement bad
load 1 1 'island gpu[0].sm[x] 5' >bad
refused '^heddle: bad:158: this system has no gpu.0..sm.x.: the load is of another one$' "${timed[@]}" --placement bad
load 1 1 'island gpu[0].dma' >bad
refused "^heddle: bad:158: expected 'island NAME NANOSECONDS' or 'link NAME BYTES'$" "${timed[@]}" --placement bad
load 1 1 | head -100 >bad
refused '^heddle: bad: no load of SM 99 of gpu0: it is of another system$' "${timed[@]}" --placement bad
refused '^heddle: four:[0-9]+: this system has no gpu.1.' "${timed[@]}" --placement four
refused '^heddle: --placement is for several ranks' bench vecadd --mode timing --placement two
refused '^heddle: --placement: expected --ranks N with it$' system h200 --placement two
refused '^heddle: --write-load: cannot write ' bench vecadd --mode timing --write-load /nowhere/load
