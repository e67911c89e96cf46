#!/usr/bin/env bash
# Help, version, the parameters and the shell's completion.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# good WORD...: succeeds, with something on stdout only, in lines that fit a terminal of 160 columns.
good() {
    run "$@"
    expect_status 0
    expect_empty err
    [[ -s out ]] || fail "$ran prints nothing"
    [[ -z $(awk 'length > 160' out) ]] || fail "$ran: lines too long: $(awk 'length > 160' out)"
}

commands=(run replay serve boot demo bench report compare validate study caches ptx gcn3 trace params system protocol stats doctor test help version completion)
good
cp out overview
for words in --help -h help; do
    good "$words"
    expect_same_file "heddle and $ran" overview out
done
for command in "${commands[@]}"; do
    expect_line overview "^  $command "
    good help "$command"
    expect_line out "^heddle $command\b.*: "
    cp out once
    for word in --help -h; do
        good "$command" "$word"
        expect_same_file "heddle help $command and $ran" once out
    done
done
expect_same 'commands in the overview' "${#commands[@]}" "$(grep -c '^  [a-z]' overview)"
good bench phold --islands 0 --help # help comes before all complaints
for option in --threads --config --set --json --checkpoint --at --resume --log; do
    expect_line out "^  $option [A-Z]"
done
for name in phold gpu-traffic network; do
    expect_line out "^  $name  "
done

good version
expect_line out '^heddle [0-9]+\.[0-9]+\.[0-9]+$'
cp out once
good --version
expect_same_file 'version and --version' once out

# ---- stats ----

good stats
expect_same 'benchmarks of stats' 'launch phold gpu-traffic network' "$(grep -E '^[a-z]' out | paste -sd' ')"
good stats gpu-traffic
expect_line out '^ +replies +messages +replies that came back$'

# ---- params ----

good params
cp out all
mapfile -t sections < <(sed -nE 's/^\[(.*)\].*/\1/p' all)
for section in engine system gpu phold gpu-traffic network 'node.*' 'link.*'; do
    [[ " ${sections[*]} " == *" $section "* ]] || fail "params does not know [$section], but ${sections[*]}"
done
: >each
for section in "${sections[@]}"; do
    good params "$section"
    expect_same "first section of $ran" "[$section]" "$(grep -oE '^\[[^]]*\]' out | head -n 1)"
    [[ $section == @(gpu|fabric|cpu).* ]] || cat out >>each # those come with gpu, with fabric and with cpu
done
expect_same_file 'params of all and of each section' all each
good params node
expect_line out '^\[node\.\*\]'
# key, default, type, meaning: all have them, and each default is one that is taken
awk '/^  [a-z]/ && !/^  [a-z0-9_]+ +=  ?[^ ].* +(count|size|time|rate|freq|real|flag|choice|text) .*[a-z]/' all >odd
expect_empty odd
while read -r key _ value _; do
    run bench phold --islands 2 --time 10ns --set "phold.$key=$value"
    expect_status 0
done < <("$HEDDLE" params phold | grep '^  ')

# ---- completion ----

good completion bash
bash -n out || fail 'the completion script is no bash'
# shellcheck disable=SC1091
source ./out
expect_same 'what completes heddle' 1 "$(complete -p heddle | grep -c _heddle)"
expect_same 'what completes ./heddle' 1 "$(complete -p ./heddle | grep -c _heddle)"

# completes WANT WORD...: the last word is the one under the cursor.
completes() {
    local wanted=$1
    shift
    COMP_WORDS=("$HEDDLE" "$@")
    COMP_CWORD=$#
    COMPREPLY=()
    _heddle
    expect_same "completion of: heddle $*" "$wanted" "${COMPREPLY[*]}"
}

completes bench be
completes "${commands[*]}" ''
completes '' zzz
completes phold bench ph
completes gpu-traffic bench gp
completes --islands bench phold --isl
completes '' bench phold --la # not another benchmark's --latency-cycles
completes --latency-cycles bench gpu-traffic --lat
completes --threads bench phold --islands 4 --thr
completes 'validate version' help v
completes 'bash zsh fish' completion ''
touch node.here # the section node.* is no pattern of files
completes 'noc node.*' params no
completes 'noc network node.*' params n
