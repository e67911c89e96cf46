#!/usr/bin/env bash
# The examples of heddle.h: a C program that is compiled here, and Python through ctypes.
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

library=$(dirname "$HEDDLE")/cuda
examples=$HEDDLE_HOME/docs/examples
ptx=$HEDDLE_HOME/bench/cuda/saxpy.ptx
lines=$(wc -l <"$examples/saxpy.c")
((lines <= 60)) || fail "the example in C has $lines lines; it should stay a short one"
cc -Wall -Wextra -Werror "$examples/saxpy.c" -I "$HEDDLE_HOME/include" -L "$library" -lheddle -o saxpy || fail "it does not compile"
for command in "./saxpy $ptx" "python3 $examples/saxpy.py $library/libheddle.so $ptx"; do
    ran=$command
    LD_LIBRARY_PATH=$library timeout 60 $command >out 2>err
    status=$?
    expect_status 0
    expect_empty err
    expect_line out '[0-9]'
done
cc -Wall -Wextra -Werror "$examples/bitflip.c" -I "$HEDDLE_HOME/include" -L "$library" -lheddle -o bitflip || fail "bitflip.c does not compile"
LD_LIBRARY_PATH=$library timeout 60 ./bitflip "$ptx" >out 2>err || fail "bitflip fails"
expect_line out ': 1 of 100000 results are wrong'
cc -Wall -Wextra -Werror "$examples/locality.c" -I "$HEDDLE_HOME/include" -L "$library" -lheddle -o locality || fail "locality.c does not compile"
LD_LIBRARY_PATH=$library timeout 60 ./locality "$ptx" >out 2>err || fail "locality fails: $(head -n 3 err)"
expect_line out '^placed: [0-9]+ cycles, 0 bytes between GPUs$'
LD_LIBRARY_PATH=$library ./saxpy nowhere.ptx >out 2>err && fail "a missing file should be an error"
expect_line err 'nowhere.ptx'

# Programs may use a JSON library of their own: ours stays out of the library that they load.
readelf -d "$library/libheddle.so" >needed || fail "readelf cannot read libheddle.so"
grep -q 'NEEDED.*libc\.so' needed || fail "libheddle.so needs no C library: is this its list?"
grep 'NEEDED.*jansson' needed && fail "libheddle.so needs jansson"
nm "$library/libheddle.so" | grep -E ' [TtUu] json_' && fail "libheddle.so holds functions of jansson"
true
