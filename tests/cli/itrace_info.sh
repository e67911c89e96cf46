#!/usr/bin/env bash
# heddle trace info, print and cut of traces of instructions: a folder stands for a file.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

run bench reduction --n 20000 --record r
expect_status 0

# ---- info ----

run trace info r
expect_status 0
expect_line out '^r$'
expect_line out '^  program        .*bench reduction --n 20000 --record r$'
expect_line out '^  system         h200$'
expect_line out '^  instructions   [0-9]+ of warps of 32 lanes, of PTX$'
expect_line out '^  launches       2, 2 of them recorded$'
expect_line out '^       0  reduction +[0-9]+x1x1 +[0-9]+x1x1 +[0-9]+ +[0-9]+ +[0-9.]+$'

# ---- print ----

run trace print r --kernels 1 --blocks 0 --limit 30
expect_status 0
expect_line out '^    0  call kind 0 more 0$'
expect_line out '^kernel 0 reduction, function 0$'
expect_line out '^launch 1, block 0, warp 0$'
expect_line out ' ld\.global.* reads 4 bytes at 0x5[0-9a-f]+ \+4$'
expect_same 'instructions that were printed' 30 "$(sed '0,/^launch/d' out | grep -cE '^ +[0-9]+  ')"

# ---- cut ----

run trace cut r --kernels 1 --output second
expect_status 0
run trace info second
expect_line out '^  launches       2, 1 of them recorded$'
expect_line out '^       0  reduction .* not recorded$'
run replay second
expect_status 0
expect_line out '^replayed 1 of 2 launches, '
run trace cut r --kernels 0 --blocks 1-2 --output blocks
expect_status 0
run trace info blocks
expect_line out '^       0  reduction +2x1x1 '
run replay blocks
expect_status 0
run trace cut r --output whole
run replay r
cp out told
run replay whole
expect_same 'the whole, replayed' "$(tail -n +2 told)" "$(tail -n +2 out)"
run trace print r
cp out told
run trace print whole
expect_same_file 'the whole, printed' told out

# ---- what is wrong ----

refuses 'trace cut: expected the folder of a trace of instructions, and --output FOLDER' trace cut r
refuses 'trace cut: it would write over r, which is read' trace cut r --output r
refuses 'no recorded launch is in this part: nothing was written' trace cut r --kernels 7 --output none
[[ ! -e none ]] || fail 'a folder was made for nothing'
refuses 'whole already holds a trace' trace cut r --output whole
refuses "--blocks: expected numbers of blocks from 0, such as 3-5, 3 or 3-, not 'x'" trace print r --blocks x
refuses 'trace print: --kernels, --blocks and --limit are for traces of instructions, which are folders' \
    trace print told --limit 3
mkdir empty
refuses 'empty holds no trace of instructions \(heddle run --record FOLDER PROGRAM\)' trace info empty
cp -r r unfinished && rm unfinished/index
refuses 'unfinished is not whole: it has no index, which is written last' trace info unfinished
cp -r r cut && : >cut/blocks
refuses 'cut/blocks is cut: it ends before the blocks of launch 0' trace print cut
cp -r r damaged && printf 'x' | dd of=damaged/index bs=1 seek=60 conv=notrunc 2>/dev/null
refuses 'damaged/index is damaged' trace info damaged
cp -r r foreign && echo 'something else, of another program and long enough' >foreign/index
refuses 'foreign/index is not the index of a trace of instructions' trace info foreign
