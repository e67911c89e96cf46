# For scripts that start heddle as several ranks, behind lib.bash.
# shellcheck shell=bash disable=SC2034,SC2154 # variables of lib.bash

needs mpirun
if [[ ! -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]]; then
    skip 'this heddle was built without MPI'
    exit 0
fi
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_odls_base_sigkill_timeout=0 # mpirun does not wait a second or two for ranks that have ended
mpi=(mpirun --quiet --oversubscribe --bind-to none)

# dealt RANKS WORD...: as run, by so many ranks.
dealt() {
    ran="mpirun -n $1 heddle ${*:2}"
    timeout 60 "${mpi[@]}" -n "$1" "$HEDDLE" "${@:2}" >out 2>err </dev/null
    status=$?
}

# start_dealt RANKS WORD...: the same in the background; $child is the launcher.
start_dealt() {
    ran="mpirun -n $1 heddle ${*:2}"
    "${mpi[@]}" -n "$1" "$HEDDLE" "${@:2}" >out 2>err </dev/null &
    child=$!
}

# rank_process NUMBER: the process of this rank of $child.
rank_process() {
    local process
    for process in $(pgrep -P "$child"); do
        tr '\0' '\n' <"/proc/$process/environ" 2>/dev/null | grep -qx "OMPI_COMM_WORLD_RANK=$1" && echo "$process"
    done
}

# wait_until COMMAND...: 20 s at most.
wait_until() {
    local tries
    for ((tries = 0; tries < 1000; tries++)); do
        "$@" && return
        sleep 0.02
    done
    fail "$ran: not within 20 s: $*"
}

# ends: waits for $child, and for all that it started to be gone.
ends() {
    wait "$child" 2>/dev/null
    status=$?
    child=''
    wait_until none_runs "$1"
}

# none_runs WORD: no process that runs has this word in its command line.
none_runs() {
    local process
    for process in $(pgrep -f -- "$1"); do
        [[ $(awk '/^State/ { print $2 }' "/proc/$process/status" 2>/dev/null) == [RSD] ]] && return 1
    done
    return 0
}

# expect_one_error REGEX: one line of heddle's says what is wrong, and the status is not zero. (mpirun may say more.)
expect_one_error() {
    [[ $status != 0 ]] || fail "$ran: status 0"
    expect_same "$ran: lines of heddle's" 1 "$(grep -c '^heddle: ' err)"
    expect_line err "^heddle: $1"
    expect_empty out
}
