#!/usr/bin/env bash
# Collectives over several GPUs: the bundled workloads, and programs that use NCCL.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
libraries=$(dirname "$HEDDLE")/cuda

# every way of every operation, on numbers of GPUs that make full and odd trees, with parts that are not aligned
for name in allreduce allgather reducescatter broadcast; do
    for algorithm in ring tree direct; do
        for gpus in 2 5; do
            run bench $name --set system.gpus=$gpus --algorithm $algorithm --bytes 9004 --rounds 1
            expect_status 0
            expect_line out "^$name: ok; $((2 * gpus)) launches"
        done
    done
done
for type in i32 f16; do # larger than the slots of a mailbox, in several channels
    run bench allreduce --set system.gpus=3 --type $type --bytes 300KiB --slot 4096 --rounds 1
    expect_status 0
done

# in simulated time: results are right, figures are told, and threads of the host do not show
figures() { "$HEDDLE" bench allreduce --mode timing --set system.gpus=2 --set gpu.sm_count=8 --bytes 64KiB --rounds 1 "$@" | grep -E '^(  [a-z]|allreduce +4)'; }
one=$(figures --threads 1)
grep -qE 'bus bandwidth, GB/s +[0-9.]+' <<<"$one" || fail "no bus bandwidth: $one"
[[ $one == "$(figures --threads 3)" ]] || fail 'allreduce: figures differ between 1 and 3 threads'
for algorithm in tree direct; do
    figures --algorithm $algorithm >/dev/null || fail "allreduce by $algorithm fails in simulated time"
done

refuses "--algorithm: .*'star'" bench allreduce --algorithm star
refuses '--type: 3 is not from 0 to 2' bench allreduce --type 3
refuses "--bytes: " bench allreduce --bytes 1MiX

# NCCL, by its name as a library
gcc -pthread -o nccl "$HEDDLE_HOME/tests/programs/nccl.c" -L"$libraries" -l:libnccl.so.2 -l:libcudart.so.13 || fail 'nccl.c does not compile'
for gpus in 2 5; do
    run run --set system.gpus=$gpus ./nccl
    expect_status 0
    expect_line out '^nccl: ok$'
    expect_line err '^heddle: ncclCommShrink is not supported; it answers ncclInvalidUsage$'
    [[ $(grep -c 'not supported' err) == 1 ]] || fail 'an unsupported call names itself more than once'
done
for algorithm in Ring Tree Direct; do
    NCCL_ALGO=$algorithm run run --set system.gpus=3 ./nccl
    expect_status 0
done
run run --mode timing --set system.gpus=2 --set gpu.sm_count=16 --no-progress ./nccl quick
expect_status 0
expect_line out '^nccl: ok$'
expect_line err '^nccl_exchange +2 '
