#!/usr/bin/env bash
# Recordings of programs: with several threads, processes and GPUs, with managed memory, with faults, in OpenCL. Replay
# gives the statistics of execution, without the options of the recording; and what is lost is told. Programs that need
# nvcc are recorded by run_programs.sh.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs gcc
libraries=$(dirname "$HEDDLE")/cuda
programs=$HEDDLE_HOME/tests/programs

gcc -Wall -Wextra -Werror -pthread -o recorded "$programs/recorded.c" -L"$libraries" -l:libcuda.so.1 || fail 'recorded.c does not compile'
gcc -o processes "$programs/processes.c" -L"$libraries" -l:libcuda.so.1 || fail 'processes.c does not compile'
gcc -o graph_memory "$programs/graph_memory.c" -L"$libraries" -l:libcuda.so.1 || fail 'graph_memory.c does not compile'
recorded=(./recorded "$programs/recorded.ptx")

# record FOLDER WORD...
record() {
    run run --mode functional --record "$@"
    expect_status 0
}

# execute WORD...: in time; the figures go to the file expected.
execute() {
    run run --mode timing --no-progress --stats executed.json "$@"
    expect_status 0
    figures executed.json >expected
}

# same FOLDER WORD...: the replay gives what is expected.
same() {
    run replay "$@" --no-progress --stats replayed.json
    expect_status 0
    expect_same_file "$ran and execution" expected <(figures replayed.json)
}

# ---- threads of the host ----

record turns "${recorded[@]}" turns
execute "${recorded[@]}" turns
for threads in 1 2 5 16; do
    same turns --threads $threads
done
expect_line err '^heddle: 5 threads of the program made calls; they are made again in the recorded order'
run trace info turns
expect_line out '^  calls +[0-9]+ of 5 threads$'
run trace print turns
expect_line out ' thread number 4$'

record together "${recorded[@]}" together
run replay together
expect_line out '^replayed 12 of 12 launches'

# A kernel that ends only after another thread has launched one: the two overlap in replay, as they did.
record during "${recorded[@]}" during
run replay during --no-progress --stats replayed.json
expect_status 0
python3 - <<'END' || fail 'a launch waited for a thread that had not waited for it'
import json, sys
first, second = json.load(open("replayed.json"))["launches"]
sys.exit(not second["start_ps"] < first["end_ps"])
END

# ---- managed memory, which the program changes between kernels ----

record managed "${recorded[@]}" managed
execute "${recorded[@]}" managed
same managed
same managed --threads 2
expect_line err '^heddle: the program has managed memory; what it wrote there itself while kernels ran is not recorded$'

# ---- several GPUs; the system and its settings need not be told again ----

for system in '--gpus 4' '--system h200-x2' '--system h200-x8 --set gpu.sm_count=8'; do
    rm -rf gpus
    read -r -a words <<<"$system"
    record gpus "${words[@]}" "${recorded[@]}" gpus
    execute "${words[@]}" "${recorded[@]}" gpus
    same gpus
    same gpus --threads 3
done
run trace info gpus
expect_line out '^ +gpu.sm_count=8$'
refuses 'the trace uses 8 GPUs, and the system has 1' replay gpus --system h200

# ---- processes ----

record forks ./processes "$programs/processes.ptx" fork
for folder in forks forks/process-2 forks/process-3; do
    expect_line err "^heddle: recorded [0-9]+ of [0-9]+ launches, .*: .*$folder\$"
done
for folder in forks forks/process-2 forks/process-3; do
    run replay $folder
    expect_status 0
done

# ---- programs that end in their own way ----

for how in '0 0' '4 0'; do
    read -r number status_wanted <<<"$how"
    run run --record end$number "${recorded[@]}" end "$number"
    expect_status "$status_wanted"
    run replay end$number
    expect_status 0
done
expect_line out '^replayed 1 of 2 launches'
expect_line err '^heddle: the trace ends before the program did: a launch failed$'
execute "${recorded[@]}" end 0
same end0 # a launch that nobody waited for is part of it
for how in '1 5' '2 137' '3 134'; do
    read -r number status_wanted <<<"$how"
    run run --record end$number "${recorded[@]}" end "$number"
    expect_status "$status_wanted"
    expect_line err "^heddle: --record: .*end$number is not whole: its process was killed, or ended by _exit\$"
    refuses "end$number is not whole" replay end$number
done
record end2 "${recorded[@]}" end 0 # what is not whole is recorded anew
refuses 'end2 already holds a trace' run --record end2 "${recorded[@]}" end 0

# ---- graphs ----

record graphs ./graph_memory "$programs/ipc.ptx"
execute ./graph_memory "$programs/ipc.ptx"
same graphs

# ---- OpenCL ----

echo 'int main(void) { return 0; }' >empty.c
if [[ ! -e $(dirname "$HEDDLE")/opencl/libheddle_opencl.so ]] || ! gcc -o empty empty.c -lOpenCL 2>/dev/null; then
    skip 'OpenCL programs: no headers or library of OpenCL here'
    exit
fi
export XDG_CACHE_HOME=$PWD/cache
CFLAGS=-DWORKLOAD_BINARY "$HEDDLE_HOME/bench/opencl/build" . vecadd >built 2>&1 || fail "vecadd: $(tail -3 built)"
on=(--system r9nano --set gpu.sm_count=8)
record amd "${on[@]}" ./vecadd --n 5000
execute "${on[@]}" ./vecadd --n 5000
same amd
same amd --threads 2
for name in memory queues svm; do
    gcc -o $name "$programs/opencl/$name.c" -lOpenCL -lpthread -lm || fail "$name.c does not compile"
    record $name.trace "${on[@]}" ./$name
done
execute "${on[@]}" ./memory
same memory.trace
run replay queues.trace # of two threads, of which one waits for what the other has not submitted whole
expect_status 0
run replay svm.trace
expect_status 0
expect_line err '^heddle: the program has shared virtual memory; copies of it are not recorded'
