#!/usr/bin/env bash
# Processes that share memory and events of a GPU by handles: without time, on one machine that heddle run makes for
# them, on one of heddle serve, and not where each has its own.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda
ipc=(./ipc "$HEDDLE_HOME/tests/programs/ipc.ptx")
gcc -o ipc "$HEDDLE_HOME/tests/programs/ipc.c" -L"$libraries" -l:libcuda.so.1 || fail 'ipc.c does not compile'

for gpus in 1 2; do
    for how in '--mode functional' '--shared --system h200 --set gpu.sm_count=8'; do
        # shellcheck disable=SC2086
        run run $how --gpus "$gpus" "${ipc[@]}"
        expect_status 0
        expect_line out '^ipc child: ok$'
        expect_line out '^ipc: ok$'
        expect_line err '^heddle: 1 kernel, 8 launches'
        ! compgen -G "$TMPDIR/heddle-run-*" >/dev/null || fail "$ran leaves its folder"
    done
done

# a memory pool
gcc -o pools "$HEDDLE_HOME/tests/programs/pools.c" -L"$libraries" -l:libcuda.so.1 || fail 'pools.c does not compile'
for how in '--mode functional' '--shared --system h200 --set gpu.sm_count=8'; do
    # shellcheck disable=SC2086
    run run $how ./pools
    expect_status 0
    expect_line out '^pools child: ok$'
    expect_line out '^pools: ok$'
done
run run --mode timing --set gpu.sm_count=8 ./pools
[[ $status != 0 ]] || fail 'processes share a pool of two machines'
expect_line err '^heddle: processes that share GPU memory need one machine: heddle run --shared'

# a machine of heddle serve
"$HEDDLE" serve m --set gpu.sm_count=8 --patience 0.2s --quiet >serve.out 2>serve.err </dev/null &
server=$!
run run --attach m "${ipc[@]}"
expect_status 0
expect_line out '^ipc: ok$'
kill -TERM "$server"
wait "$server"
expect_line serve.out '^serve programs=2 kernels=8 '

# memory outlives its owner, as long as another program has it open
"$HEDDLE" serve m --set gpu.sm_count=8 --patience 0.2s >serve.out 2>serve.err </dev/null &
server=$!
{ "$HEDDLE" run --attach m "${ipc[@]}" lend && touch ended; } >lend.out 2>lend.err &
run run --attach m "${ipc[@]}" borrow
expect_status 0
expect_line out '^ipc borrow: ok$'
run bench vecadd --attach m
expect_status 0
kill -TERM "$server"
wait
expect_line lend.out '^ipc lend: ok$'
expect_line serve.out '^serve programs=3 kernels=2 '

# a machine for each process: said in one line, with CUDA's error
run run --mode timing --set gpu.sm_count=8 "${ipc[@]}"
[[ $status != 0 ]] || fail 'processes share memory of two machines'
expect_line err '^heddle: processes that share GPU memory need one machine: heddle run --shared'

refuses '--shared needs --mode timing' run --shared --mode functional "${ipc[@]}"
refuses '--shared does not go with --attach' run --shared --attach m "${ipc[@]}"
refuses '--trace-mem does not go with --attach or --shared' run --shared --trace-mem t "${ipc[@]}"
refuses 'programs cannot share a unified GPU' run --shared --unified 2 "${ipc[@]}"
