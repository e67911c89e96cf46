#!/usr/bin/env bash
# heddle ... --live: orders, what is refused, runs that hang or fail; results are the same with it.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
client=$HEDDLE_HOME/tests/cli/live.py

job=(bench matmul_tiled --m 64 --n 64 --k 512 --mode timing --set gpu.sm_count=4)
run "${job[@]}" --json plain
expect_status 0
run "${job[@]}" --live
if grep -q 'was built without the live view\|needs libmicrohttpd' err; then
    expect_complaint 'apt install libmicrohttpd'
    skip "all of it: $(cat err)"
    exit 0
fi
expect_status 0
expect_line err '^heddle: live view at http://127\.0\.0\.1:[0-9]+/[0-9a-f]{32}/$'

# live TEST WORD...: as live.py says.
live() {
    ran="live.py $*"
    timeout 100 python3 "$client" "$HEDDLE" "$@" >told 2>&1 || fail "$ran: $(tail -n 4 told)"
}

# Orders, and the same results with them, on one thread and on two; a checkpoint that was taken so can be gone on from.
for threads in 1 2; do
    live orders "${job[@]}" --threads $threads --json looked --checkpoint saved.$threads
    expect_same_file "statistics of a run that was looked at, $threads threads" <(figures plain) <(figures looked)
done
run "${job[@]}" --resume saved.1 --json resumed
expect_status 0
expect_same_file 'statistics of the run that went on' <(figures plain) <(figures resumed)

live refusals "${job[@]}"
live malformed "${job[@]}"

# A kernel that spins, and one that fails.
gcc -o useptx "$HEDDLE_HOME/tests/programs/ptx.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'ptx.c does not compile'
sed 's/^{$/{ SPIN: bra SPIN;/' "$HEDDLE_HOME/bench/cuda/saxpy.ptx" >spin.ptx
live hang run --mode timing --set gpu.sm_count=4 -- ./useptx ./spin.ptx
live held run --mode timing --set gpu.sm_count=4 -- ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx" fault

# Where the machine is in another process than the program: of --shared, of `heddle serve`, and beside simulated cores,
# whose program is to have the same environment both times, as that is in its memory.
gcc -o launch "$HEDDLE_HOME/tests/programs/launch.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'launch.c does not compile'
program=(./launch "$HEDDLE_HOME/tests/programs/causes.ptx" units 8 64 64)
elsewhere=(--mode timing --set gpu.sm_count=4)
run run --shared "${elsewhere[@]}" --stats plain "${program[@]}"
expect_status 0
live attached run --shared "${elsewhere[@]}" --stats looked -- "${program[@]}"
expect_same_file 'statistics of --shared that was looked at' <(figures plain) <(figures looked)
live attached serve --programs 1 --set gpu.sm_count=4 machine ++ run --attach machine --stats served "${program[@]}"
expect_same_file 'statistics of a program on a machine that was looked at' <(figures plain) <(figures served)
start serve --programs 1 --set gpu.sm_count=4 machine
for ((tries = 0; tries < 200; tries++)); do [[ -e machine.ini ]] && break || sleep 0.05; done
ran='a program with HEDDLE_ATTACH and HEDDLE_LIVE'
HEDDLE_ATTACH=$folder/machine HEDDLE_LIVE=auto LD_LIBRARY_PATH=$(dirname "$HEDDLE")/cuda timeout 20 "${program[@]}" >both 2>&1 &&
    fail "$ran: status 0: $(cat both)"
expect_line both '^heddle: HEDDLE_LIVE does not go with HEDDLE_ATTACH'
interrupt
live hang run --shared "${elsewhere[@]}" -- ./useptx ./spin.ptx
live held run --shared "${elsewhere[@]}" -- ./useptx "$HEDDLE_HOME/bench/cuda/saxpy.ptx" fault
if command -v qemu-x86_64 >/dev/null; then
    same='import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)'
    python3 -c "$same" "$HEDDLE" run --cpu epyc --system h200 "${elsewhere[@]}" --stats plain "${program[@]}" >out 2>err || fail "--cpu: $(cat err)"
    live attached run --cpu epyc --system h200 "${elsewhere[@]}" --stats looked -- "${program[@]}"
    expect_same_file 'statistics of --cpu that was looked at' <(figures plain) <(figures looked)
    refuses '--live shows a GPU' run --cpu epyc --live true
fi
refuses '--live does not go with --attach: give it to `heddle serve`' run --attach machine --live true

# Bad input. A port in use is told in one line.
refuses '--live: expected a port of 1 to 65535, .*not .99999' "${job[@]}" --live 99999
refuses '--live: expected a port' "${job[@]}" --live=some
refuses '--live: expected a port' "${job[@]}" --live=8080,some
refuses '--live needs --mode timing' bench vecadd --mode functional --live
python3 -c 'import socket, time
s = socket.create_server(("127.0.0.1", 0))
print(s.getsockname()[1], flush=True)
time.sleep(60)' >port &
child=$!
for ((tries = 0; tries < 200; tries++)); do [[ -s port ]] && break || sleep 0.05; done
run "${job[@]}" --live "$(cat port)"
expect_line err "^heddle: --live: port $(cat port) of 127\.0\.0\.1 cannot be used: Address already in use"
[[ $status == 1 || $status == 2 ]] || fail "$ran: status $status"
kill "$child"
wait "$child" 2>/dev/null
child=''
