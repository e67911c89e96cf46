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

# Bad input. A port in use is told in one line.
refuses '--live: expected a port of 1 to 65535, .*not .99999' "${job[@]}" --live 99999
refuses '--live: expected a port' "${job[@]}" --live=some
refuses '--live: expected a port' "${job[@]}" --live=8080,some
refuses '--live does not go with a machine in another process' run --shared --live true
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
