#!/usr/bin/env bash
# heddle trace convert: the accesses of a trace of instructions, as traces for caches and for other simulators.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run bench vecadd --n 1000 --record v
expect_status 0
run trace convert v v.htrace
expect_status 0
run trace info v.htrace
expect_line out '^  accesses       96: 64 reads, 32 writes$'
run trace convert v v.csv
run trace convert v.csv back.htrace
expect_same_file 'CSV and ours' v.htrace back.htrace
run trace convert v --blocks 0 --format csv --output block
expect_same 'one block' 25 "$(wc -l <block)"
run caches v.htrace
expect_status 0

run trace convert v --format ramulator2 --output loads
expect_status 0
expect_same 'lines of 64 bytes' "126 63" "$(grep -c '^LD 0x5[0-9a-f]*[048c]0$' loads) $(grep -c '^ST 0x5[0-9a-f]*[048c]0$' loads)"
run trace convert v --format ramulator2-o3 --output o3
expect_same 'lines of SimpleO3' "" "$(grep -vE '^[0-9]+ [0-9]+( [0-9]+)?$' o3)"
run trace convert v.htrace again --format ramulator2
expect_same_file 'from accesses' loads again

run trace convert v v.champsimtrace
expect_status 0
run trace info v.champsimtrace
expect_line out '^  accesses       189: 126 reads, 63 writes$'

refuses "trace convert: --format: expected htrace, accelsim, csv, ramulator2, ramulator2-o3, champsim, not 'x'" \
    trace convert v y --format x
refuses 'trace convert: --format accelsim: expected a trace of instructions, which is a folder' \
    trace convert v.csv y --format accelsim
