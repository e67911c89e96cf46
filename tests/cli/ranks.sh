#!/usr/bin/env bash
# One simulation on several ranks: the same bytes as on one, checkpoints that any number of ranks goes on from, and what
# is said when something goes wrong.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
command -v mpirun >/dev/null && [[ -e $(dirname "$HEDDLE")/ranks/libheddle_ranks.so ]] || exit 77

# the same but for the host's time
same() { # FILE FILE WHAT
    diff <(grep -v '"wall_s"\|"cpu_s"\|"threads"' "$1") <(grep -v '"wall_s"\|"cpu_s"\|"threads"' "$2") >out ||
        fail "$3: $(head -4 out)"
}
compare() { # RANKS THREADS WORDS...
    local ranks=$1 threads=$2
    shift 2
    "$HEDDLE" bench "$@" --mode timing --json one.json >/dev/null
    "$HEDDLE" bench "$@" --mode timing --threads "$threads" --ranks "$ranks" --json some.json >/dev/null
    same one.json some.json "$* on $ranks ranks of $threads threads"
}
fails() { # LINE WORDS...: one line with these words, and a status that is not good
    local line=$1
    shift
    ! timeout 60 "$@" >out 2>err || fail "$* ended well"
    grep -q -- "$line" err || fail "$*: $(cat err)"
    [[ $(grep -c '^heddle:' err) == 1 ]] || fail "$*: more than one line: $(cat err)"
}

# ---- the same bytes: a GPU in parts, whole GPUs, unified ones, pages that move, collectives, AMD ----
compare 3 1 matmul_tiled --m 64 --n 64 --k 64
compare 2 2 bfs --nodes 4096
compare 4 1 allreduce --system h200-x8 --set system.gpus=4
compare 2 1 fir --system r9nano-x4 --set system.unified=yes
compare 4 1 transpose --system r9nano-x4 --set system.unified=yes --set paging.policy=ps
"$HEDDLE" bench phold --time 200ns --json one.json >/dev/null
"$HEDDLE" bench phold --time 200ns --json some.json --ranks 3 >/dev/null
[[ $(grep checksum one.json) == "$(grep checksum some.json)" ]] || fail 'phold differs'

# ---- replay ----
"$HEDDLE" bench lud --record trace >/dev/null 2>&1
"$HEDDLE" replay trace --json one.json >/dev/null
"$HEDDLE" replay trace --ranks 2 --json some.json >/dev/null
same one.json some.json replay

# ---- checkpoints: written by any number of ranks, gone on from by any other ----
words=(bench bfs --nodes 4096 --mode timing --system h200-x2)
"$HEDDLE" "${words[@]}" --json one.json >/dev/null
"$HEDDLE" "${words[@]}" --ranks 2 --checkpoint two.ckpt --checkpoint-at 40000 --json some.json >/dev/null 2>&1
same one.json some.json 'a run that writes a checkpoint'
"$HEDDLE" "${words[@]}" --checkpoint one.ckpt --checkpoint-at 40000 >/dev/null 2>&1
"$HEDDLE" "${words[@]}" --resume two.ckpt --json some.json >/dev/null 2>&1
same one.json some.json '2 ranks, then 1'
"$HEDDLE" "${words[@]}" --ranks 3 --resume one.ckpt --json some.json >/dev/null 2>&1
same one.json some.json '1 rank, then 3'

# ---- a rank that is killed: all end, and the run goes on from the last checkpoint ----
"$HEDDLE" "${words[@]}" --ranks 2 --checkpoint every.ckpt --checkpoint-every 20000 >out 2>err &
run=$!
for ((i = 0; i < 300; i++)); do
    [[ ! -e every.ckpt ]] || break
    sleep 0.1
done
victim=$(pgrep -f -- "every.ckpt --checkpoint-every 20000" | tail -1)
kill -9 "$victim" 2>/dev/null || true
if wait "$run"; then
    echo 'it ended before a rank could be killed' >&2
else
    grep -q '^heddle: rank [01] on .* was ended by signal 9 (Killed); --resume goes on' err || fail "which rank was killed: $(cat err)"
fi
for ((i = 0; i < 100; i++)); do
    pgrep -f -- "every.ckpt --checkpoint-every 20000" >/dev/null || break
    sleep 0.1
done
! pgrep -f -- "every.ckpt --checkpoint-every 20000" >/dev/null || fail 'a process is left behind'
"$HEDDLE" "${words[@]}" --ranks 2 --resume every.ckpt --json some.json >/dev/null 2>&1
same one.json some.json 'after a rank was killed'

# ---- a rank that does not answer ----
HEDDLE_RANKS_PATIENCE=2s "$HEDDLE" bench phold --time 1ms --ranks 2 >out 2>err &
run=$!
sleep 2
victim=$(pgrep -f -- "bench phold --time 1ms" | tail -1)
kill -STOP "$victim"
! wait "$run" || fail 'a run without one of its ranks ended well'
grep -q 'has not answered for 2 s' err || fail "a rank that stands still: $(cat err)"

# ---- one that does not come to the end, when the program is done ----
cat >ends.c <<'END'
#include <fcntl.h>
#include <unistd.h>
int cudaFree(void *);
int main(void)
{
    int why = cudaFree(0);
    for (close(creat("begun", 0600)); access("go", F_OK);)
        usleep(10000);
    return why;
}
END
libraries=$(dirname "$HEDDLE")/cuda
if gcc -o ends ends.c -L"$libraries" -lcudart 2>/dev/null; then
    HEDDLE_RANKS_PATIENCE=2s timeout 60 "$HEDDLE" run --mode timing --system h200-x2 --ranks 2 ./ends >out 2>err &
    run=$!
    for ((i = 0; i < 300; i++)); do
        [[ ! -e begun ]] || break
        sleep 0.1
    done
    for process in $(pgrep -f -- 'run --mode timing --system h200-x2 ./ends'); do
        ! grep -qz OMPI_COMM_WORLD_RANK=1 "/proc/$process/environ" || victim=$process
    done
    kill -STOP "$victim"
    touch go
    ! wait "$run" || fail 'a run whose rank does not come to the end ended well'
    grep -q 'rank 1 on .* has not answered for 2 s' err || fail "a rank that does not come to the end: $(cat err)"
fi

# ---- what makes no sense: one line ----
fails 'HEDDLE_RANKS_PATIENCE: expected a time' env HEDDLE_RANKS_PATIENCE=5 "$HEDDLE" bench phold --ranks 2
fails 'there is work for 2' "$HEDDLE" bench phold --islands 2 --ranks 4
fails 'the system has work for' "$HEDDLE" bench vecadd --mode timing --system r9nano --set l2.islands=2 --ranks 3
fails 'expected a number from 1 to' "$HEDDLE" bench vecadd --mode timing --ranks 0
fails '--attach does not go with several ranks: .*--threads N instead' "$HEDDLE" bench vecadd --ranks 2 --attach machine
fails '--shared does not go with several ranks: .*--threads N instead' "$HEDDLE" run --ranks 2 --shared /bin/true
fails '--ranks: .* use --threads N instead' "$HEDDLE" serve machine --ranks 2
fails 'serve does not run over several ranks: start it' env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$HEDDLE" serve machine
fails 'leave --ranks out, and use --threads' "$HEDDLE" run --mode timing --ranks 2 mpirun -n 2 ./program
fails 'several nodes.* use --threads N instead' "$HEDDLE" run --mode timing --system cluster-2x4 --ranks 2 /bin/true
fails 'cores of its own.* use --threads N instead' "$HEDDLE" run --mode timing --system gem5-gpu --ranks 2 /bin/true
fails 'they need --mode timing' "$HEDDLE" run --ranks 2 /bin/true
fails 'ptx does not run over several ranks' env OMPI_COMM_WORLD_SIZE=2 OMPI_COMM_WORLD_RANK=0 "$HEDDLE" ptx /bin/true
"$HEDDLE" system h200-x8 --ranks 3 >out
grep -q '^   2  gpu2, gpu5, switch$' out || fail "$(cat out)"
