#!/usr/bin/env bash
# CPU cores and a GPU in one time and one coherent memory: results under every protocol, mistakes of a protocol that show in
# results, the same bytes with any number of threads, and what goes wrong.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
needs qemu-x86_64
rodinia=(backprop bfs hotspot kmeans lud nn nw pathfinder srad)
together=(zerocopy flag atomics beside)

# all_right COUNT: as many lines, and each result is right.
all_right() {
    expect_status 0
    [[ $(grep -c ' result=right ' out) == "$1" ]] || fail "$ran: expected $1 right results: $(cat out) $(head -n 3 err)"
}

# Each protocol with a system and a space; programs with flags, atomics and kernels beside the CPU's work with all of them.
systems=(gem5-gpu gtx580-pc gem5-gpu gtx580-pc gem5-gpu gtx580-pc gem5-gpu)
number=0
for protocol in mi mesi moesi moesi_hammer vi_hammer moesi_hsc viper; do
    zero_copy=()
    ((number % 3)) || zero_copy=(--zero-copy)
    run run --mode timing --no-progress --system "${systems[number]}" --set cpu.coherence.protocol=$protocol \
        --set cpu.l3.on=yes --set cpu.l3.bytes=1MiB heddle_hetero "${rodinia[number]}" "${rodinia[number + 2]}" \
        "${together[@]}" --size least "${zero_copy[@]}"
    all_right 6
    number=$((number + 1))
done
run run --mode timing --no-progress --system gh200-like heddle_hetero "${together[@]}" --size least
all_right 4
run run --mode timing --no-progress --system sst-gpu heddle_hetero "${together[@]}" --size least
all_right 4

# A home that does not ask the owner of a line, and one that loses what is written back: kernels get wrong data.
"$HEDDLE" protocol show mi >mi.txt
sed 's/  X    Get       -> B: send Fwd to owner/  X    Get       -> B: send Data to sender/' mi.txt >no_probe.txt
sed 's/from-owner -> U: take; nobody-owns/from-owner -> U: nobody-owns/' mi.txt >lost_write_back.txt
cmp -s mi.txt no_probe.txt && fail 'the table was not changed'
cmp -s mi.txt lost_write_back.txt && fail 'the table was not changed'
large=(--set cpu.cores=1)
small=("${large[@]}" --set cpu.l1d.bytes=4KiB --set cpu.l2.bytes=8KiB) # what is changed leaves soon
# zero_copy_by TABLE OPTIONS...
zero_copy_by() {
    run run --mode timing --no-progress --system gtx580-pc --set "cpu.coherence.protocol=./$1.txt" "${@:2}" heddle_hetero \
        hotspot --size 64 --zero-copy
}
zero_copy_by mi "${large[@]}"
all_right 1
zero_copy_by no_probe "${large[@]}"
[[ $status != 0 ]] || fail "a home that does not ask the owner: kernels got the CPU's data nevertheless"
zero_copy_by mi "${small[@]}"
all_right 1
zero_copy_by lost_write_back "${small[@]}"
[[ $status != 0 ]] || fail "write-backs are lost: kernels got the CPU's data nevertheless"

# The same bytes with any number of threads.
for threads in 1 2 5 16; do
    run run --mode timing --no-progress --system gem5-gpu --threads $threads --stats stats.json heddle_hetero flag atomics \
        kmeans lud nw --size least
    all_right 5
    grep -v '"threads"\|_s":\|_s"' stats.json >"stats$threads"
    cp out "out$threads"
    expect_same_file "$threads threads" out1 "out$threads"
    expect_same_file "statistics of $threads threads" stats1 "stats$threads"
done
expect_line stats.json '"transfers": [1-9]'

# What goes wrong.
run run --cpu simple --set cpu.coherence.protocol=nothing heddle_hetero bfs
expect_status 1
expect_line err 'cpu.coherence.protocol: there is no protocol nothing; there are plain, mi'
run run --cpu simple --set cpu.coherence.protocol=mi --set cpu.coherence.topology=star heddle_hetero bfs
expect_status 1
expect_line err 'cpu.coherence.topology: there is no star; there are crossbar'
run run --cpu simple --set cpu.coherence.protocol=mesi --set cpu.l3.on=no heddle_hetero bfs
expect_status 1
expect_line err 'protocol mesi needs a cache at home \(cpu.l3.on\)'
run run --mode timing --system gem5-gpu --set system.cpu=nobody heddle_hetero bfs
expect_status 2
expect_line err 'there is no description nobody'
run run --mode timing --system gem5-gpu --cpu simple heddle_hetero bfs
expect_status 1
expect_line err 'system.space = shared needs a protocol'
run run --mode timing --no-progress --system gtx580-pc --cpu none heddle_hetero bfs --size least
all_right 1
run run --mode timing --system gem5-gpu --set paging.managed=uvm heddle_hetero bfs
expect_status 2
expect_line err 'system.space: pages of shared memory do not move'
