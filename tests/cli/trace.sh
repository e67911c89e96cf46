#!/usr/bin/env bash
# heddle trace: info, print, convert and generate agree on what a trace holds; what is wrong is said in one line.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# ---- generate, info, print ----

run trace generate zipf:footprint=64KiB --accesses 100000 --cores 11 -o z
expect_status 0
expect_empty out
expect_empty err
expect_same 'names of traces' "$(printf 'z.%02d.htrace ' {0..10})" "$(printf '%s ' z.*)"
run trace generate zipf:footprint=64KiB --accesses 100000 --cores 11 -o again
for core in 00 07 10; do
    expect_same_file 'the same seed' z.$core.htrace again.$core.htrace
done
run trace generate zipf:footprint=64KiB --accesses 100000 -o other.htrace --seed 2
expect_status 0
cmp -s z.00.htrace other.htrace && fail 'seeds make no difference'

run trace info --footprint z.03.htrace
expect_status 0
expect_line out '^z\.03\.htrace$'
expect_line out '^  accesses       100000: (69|70)[0-9]{3} reads, (29|30)[0-9]{3} writes$'
expect_line out '^  instructions   0 to 299997$'
expect_line out '^  bytes          8\.00 of an access, on average$'
expect_line out '^  footprint      1024 lines of 64 bytes, 97\.7 accesses of each$'
expect_line out '^  file           [0-9]+ bytes, [0-9.]+ of an access, in 2 blocks$'

run trace print z.03.htrace --skip 70000 --accesses 3
expect_status 0
expect_lines out 4
expect_line out '^address,kind,size,instruction$'
expect_line out '^0x[0-9a-f]+,(read|write),8,210006$'

# ---- convert: from each to each, and back ----

run trace print z.03.htrace
cp out z.csv
run trace convert z.03.htrace made.csv
expect_status 0
expect_same_file 'print and convert' z.csv made.csv
run trace convert z.csv back.htrace
expect_same_file 'to CSV and back' z.03.htrace back.htrace
"$HEDDLE" trace convert - piped.htrace <z.csv || fail 'convert from standard input'
expect_same_file 'from a pipe' z.03.htrace piped.htrace
mkfifo fifo
cat z.csv >fifo &
run trace convert fifo from_fifo.htrace
expect_same_file 'from a named pipe' z.03.htrace from_fifo.htrace
"$HEDDLE" trace info - <z.03.htrace >out || fail 'a trace of ours from standard input'
expect_line out '^  accesses       100000: '
z=$(cat z.03.htrace | "$HEDDLE" trace info - 2>&1) && fail 'a trace of ours from a pipe'
[[ $z == *"standard input: a trace of Heddle's is read from its end: it must be a file"* ]] || fail "a pipe: $z"
run trace convert z.csv part.htrace --skip 10 --accesses 20
run trace print part.htrace
expect_same_file 'a part' <(sed -n '1p;12,31p' z.csv) out
if has zstd 'compressed CSV files'; then
    zstd -q z.csv
    run trace convert z.csv.zst unpacked.htrace
    expect_same_file 'packed' z.03.htrace unpacked.htrace
fi

# ---- a real program ----

if has valgrind 'traces of lackey'; then
    valgrind --tool=lackey --trace-mem=yes --log-file=true.lackey /bin/true 2>/dev/null
    run trace convert true.lackey true.htrace
    expect_status 0
    expect_empty err
    run trace info true.htrace
    reads=$(grep -cE '^ [LM] ' true.lackey)
    writes=$(grep -cE '^ [SM] ' true.lackey)
    expect_line out "^  accesses       $((reads + writes)): $reads reads, $writes writes\$"
    expect_line out "^  instructions   [0-9]+ to [0-9]+\$"
    last=$(sed -nE 's/^  instructions .* to ([0-9]+)$/\1/p' out)
    ((last < $(grep -c '^I ' true.lackey))) || fail "instruction $last of $(grep -c '^I ' true.lackey)"
fi

# ---- what is wrong ----

run help trace record
expect_line out '^heddle trace record '
refuses "unknown command of trace 'recrd'; did you mean record" help trace recrd
refuses 'trace: expected what to do: .*info, print, convert, cut, generate' trace
refuses "unknown command of trace 'inf'; did you mean info\?" trace inf
refuses 'trace info: expected a trace' trace info
refuses 'trace print: expected a trace' trace print
refuses 'trace convert: expected a trace .*, and the file to write' trace convert z.csv
refuses "unexpected word 'c'" trace convert a b c
refuses "unexpected word 'b'" trace print a b
refuses '--skip: expected a number of accesses, not .x.' trace print z.csv --skip x
refuses '--accesses: expected a number of accesses, at least 1, not .0.' trace print z.csv --accesses 0
refuses 'x\.din would hold a trace of Heddle.s, not din' trace convert z.csv x.din
refuses 'x\.csv\.gz would hold a trace of Heddle.s, not csv' trace convert z.csv x.csv.gz
refuses 'it would write over z\.csv' trace convert z.csv ./z.csv
refuses 'it would write over z\.csv' trace convert csv:z.csv ./z.csv
refuses 'cannot read nowhere: No such file' trace info nowhere
refuses '\. holds no trace of instructions' trace info .
refuses '/dev/zero: this is no trace that Heddle knows' trace info /dev/zero
for endless in 'lackey x' 'din 2_100' 'csv #_c'; do
    read -r format line <<<"$endless"
    told=$(yes "${line/_/ }" | timeout 20 "$HEDDLE" trace info "$format:-" 2>&1) && fail "$format: an endless trace"
    expect_same "$format" "heddle: standard input: no access in 64 MiB: is this a trace of $format?" "$told"
done
refuses 'standard input: it is empty' trace info -
refuses 'cannot write nowhere/x\.htrace' trace convert z.csv nowhere/x.htrace
refuses 'cannot write /dev/full: No space left' trace convert z.csv /dev/full
refuses '100000 accesses: 100000 cannot be left out' trace print z.03.htrace --skip 100000
refuses '100000 accesses: 100000 cannot be left out' trace convert z.csv x.htrace --skip 100000
refuses 'trace generate: expected --accesses N' trace generate zipf -o x
refuses 'trace generate: expected -o PREFIX' trace generate zipf --accesses 5
refuses 'trace generate: expected the kind' trace generate --accesses 5 -o x
refuses "unknown generator 'zpif'; did you mean zipf\?" trace generate zpif --accesses 5 -o x
refuses 'zipf: skew: expected 0\.\.10' trace generate zipf:skew=99 --accesses 5 -o x
expect_status 2
refuses '--cores: expected 1 to 65536' trace generate zipf --accesses 5 --cores 0 -o x
refuses 'cannot write nowhere/x' trace generate zipf --accesses 5 -o nowhere/x

head -c 100000 z.03.htrace >cut.htrace
refuses 'cut\.htrace: a trace without an end' trace info cut.htrace
printf 'x' | dd of=z.07.htrace bs=1 seek=2000 conv=notrunc status=none
refuses 'z\.07\.htrace: block 0: it is damaged' trace convert z.07.htrace x.htrace
printf 'address,instruction\n1,5\n2,4\n' >back.csv
refuses 'back\.csv:3: expected an instruction count that does not go back' trace convert back.csv x.htrace

# ---- files that may not grow (ulimit -f): the write fails, and is told ----

small() { (ulimit -f 100 && refuses "$@" && exit $failures) || failures=$((failures + 1)); }
small 'cannot write x\.htrace: File too large' trace convert z.03.htrace x.htrace
small 'cannot write .*x\.csv: File too large' trace convert z.03.htrace x.csv
small 'cannot write x\.0\.htrace: File too large' trace generate random --accesses 100000 -o x
(ulimit -f 100 && run caches --generate stream --accesses 1 --tiles 3000 --json x.json && exit "$status")
expect_same 'the status of --json' 1 $?
expect_line err '^heddle: cannot write .*x\.json: File too large$'
if has qemu-x86_64 'a recording that may not grow'; then
    small 'trace record: .*: File too large' trace record --output x true
fi

[[ ! -e x.htrace ]] || fail 'a trace was left by a failure'
expect_same 'what was left' '' "$(find . -name '*.part*')"
