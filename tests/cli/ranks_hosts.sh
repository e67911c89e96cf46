#!/usr/bin/env bash
# Ranks on machines of a list: what is wrong with the list or with a machine is said in one line before anything is
# started; a rank that is killed is named with its machine; a machine that is lost is named, too.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs mpirun
[[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]] || { skip 'no MPI when Heddle was built' && exit; }
here=$(hostname)
small=(--mode timing --set gpu.sm_count=8)

# In place of ssh: the command runs here, if it may with another name of the machine. Once the file `gone` is there, it
# does not answer.
cat >shell <<'END'
#!/usr/bin/env bash
shift # the machine's name
[[ ! -e gone ]] || exec sleep 1000
unshare --uts true 2>/dev/null || exec bash -c "$*"
exec unshare --uts bash -c 'hostname other; exec bash -c "$0"' "$*"
END
chmod +x shell
other=$here
! unshare --uts true 2>/dev/null || other=other
export OMPI_MCA_plm_rsh_agent=$PWD/shell
printf '# two machines\n192.0.2.1 slots=1\n%s:1\n' "$here" >hosts

# ---- the same bytes; this machine has rank 0 wherever it stands in the list ----
run bench vecadd "${small[@]}" --json one.json
run bench vecadd "${small[@]}" --ranks 2 --hosts hosts --json two.json
expect_status 0
expect_same_file 'two machines' <(grep -v '"wall_s"\|"cpu_s"\|"threads"' one.json) \
    <(grep -v '"wall_s"\|"cpu_s"\|"threads"' two.json)

# ---- lists ----
lists() { # REGEX LINE...: a list of these lines
    local regex=$1
    shift
    printf '%s\n' "$@" >list
    refuses "$regex" bench vecadd "${small[@]}" --ranks 2 --hosts list
}
refuses 'cannot read nowhere' bench vecadd --ranks 2 --hosts nowhere
refuses '\-\-hosts needs --ranks N' bench vecadd --hosts hosts
lists '^heddle: list: it names no machine$' '' '# none'
lists "^heddle: list:2: expected NAME or NAME slots=N, not 'b slots=x'" "$here" 'b slots=x'
lists "list:1: expected NAME .* not 'a slots=0'" 'a slots=0'
lists "list:1: expected NAME .* not '-oProxyCommand=x'" '-oProxyCommand=x'
lists 'list:2: unknown machine no-such-machine.invalid: ' "$here" no-such-machine.invalid
lists "list: this machine \\($here\\) is not among them" 192.0.2.1
printf 'a\0b\n' >list
refuses 'list: it is no text' bench vecadd --ranks 2 --hosts list
head -c 1000 /dev/urandom >list
refuses 'list' bench vecadd --ranks 2 --hosts list

# ---- machines ----
machine() { # REGEX COMMAND...: what the other machine does with what it is asked
    local regex=$1
    shift
    printf '#!/bin/sh\n%s\n' "$*" >answers
    chmod +x answers
    OMPI_MCA_plm_rsh_agent=$PWD/answers HEDDLE_RANKS_PATIENCE=1s refuses "$regex" \
        bench vecadd --ranks 2 --hosts hosts
}
machine 'hosts:2: machine 192.0.2.1 cannot be reached: No route to host$' 'echo No route to host >&2; exit 255'
machine 'hosts:2: machine 192.0.2.1 has no .*heddle that it can run$' 'exit 127'
machine "hosts:2: machine 192.0.2.1 has another heddle: 'heddle 0.0.7'" 'echo heddle 0.0.7'
machine 'hosts:2: machine 192.0.2.1 has not answered for 1 s$' 'sleep 1234 & sleep 1234'
OMPI_MCA_plm_rsh_agent=no-such-shell refuses 'cannot be reached: cannot start no-such-shell' \
    bench vecadd --ranks 2 --hosts hosts
! pgrep -f '^sleep 1234' >/dev/null || fail 'a question is left behind'

# ---- ends in the middle ----

# processes_of PID: it and all that it has started, as far as they run: number and words.
processes_of() {
    local process
    [[ $(awk '/^State/ { print $2 }' "/proc/$1/status" 2>/dev/null) == [RSDT] ]] || return
    echo "$1 $(cat "/proc/$1/cmdline" 2>/dev/null | tr '\0' ' ')"
    for process in $(pgrep -P "$1"); do
        processes_of "$process"
    done
}
# rank N: the process that is this rank, of those in the file `all`; the one that watches it is its parent.
rank() {
    local process last=''
    while read -r process _; do
        ! tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -q "^OMPI_COMM_WORLD_RANK=$1\$" || last=$process
    done <all
    echo "$last"
}
daemon() {
    awk '$2 ~ /orted$/ { print $1 }' all
}
# kills WORD...: starts two ranks, and kills the process whose number this command prints.
kills() {
    "$HEDDLE" bench phold --time 1s --ranks 2 --hosts hosts >out 2>err </dev/null &
    local run=$! victim='' tries left=''
    ran="two ranks, killed: $*"
    for ((tries = 0; tries < 200; tries++)); do
        processes_of "$run" >all
        [[ $(grep -cE '^[0-9]+ [^ ]+ bench phold --time 1s $' all) != 4 ]] || break
        sleep 0.1
    done
    sleep 1 # until they simulate
    victim=$("$@")
    kill -KILL "$victim" || fail "nothing to kill: $(cat all)"
    wait "$run"
    status=$?
    [[ $status != 0 ]] || fail "$ran: is good"
    for ((tries = 0; tries < 100; tries++)); do
        left=$(while read -r process _; do processes_of "$process"; done <all)
        [[ $left ]] || return
        sleep 0.1
    done
    fail "left behind: $left"
}
kills rank 0
expect_line err "^heddle: rank 0 on $here was ended by signal 9 \\(Killed\\); --resume goes on"
kills rank 1
expect_line err "^heddle: rank 1 on $other was ended by signal 9 \\(Killed\\); --resume goes on"
kills daemon
expect_line err '^heddle: --ranks: mpirun has ended with status [0-9]+; --resume goes on'
starter() {
    echo "$run"
}
kills starter # it can say nothing; the others end
gone_too() {
    touch gone
    daemon
}
HEDDLE_RANKS_PATIENCE=2s kills gone_too
expect_line err '^heddle: hosts:2: machine 192.0.2.1 has not answered for 2 s; --resume goes on'
