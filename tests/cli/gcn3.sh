#!/usr/bin/env bash
# heddle gcn3: what code objects hold.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"
objects=$HEDDLE_HOME/tests/fuzz/corpus/fuzz_gcn3_object

run gcn3 "$objects/v2.hsaco"
expect_status 0
expect_line out 'v2.hsaco: code object of version 2 for gfx803, [0-9]+ bytes when loaded$'
expect_line out '^kernel vecadd, at 0x[0-9a-f]+, [0-9]+ bytes of code$'
expect_line out '^  registers       8 VGPRs, 16 SGPRs$'
expect_line out '^  required size   16 x 4 x 1$'
expect_line out '^    at     24     4 bytes  by_value int n$'
expect_line out '^ +[0-9]+ s_endpgm$'

run gcn3 "$objects/lines.hsaco" --kernel second
expect_status 0
expect_line out '^; lines.cl:11$'
expect_line out '^  [0-9a-f]{6}  [0-9a-f]{8}.*global_store_dword v\[0:1\], v2, off'
[[ $(grep -c '^kernel' out) == 1 ]] || fail 'one kernel was asked for'

"$HEDDLE" gcn3 - --json - <"$objects/v5.hsaco" >out || fail 'standard input is not read'
expect_line out '"kind": ?"hidden_block_count_x"'
python3 -c 'import json, sys; made = json.load(sys.stdin); sys.exit(len(made["kernels"]) != 3)' <out || fail 'no JSON of three kernels'

# What is printed equals LLVM's words, where that is installed.
if has llvm-objdump-19 'disassembly beside LLVM'; then
    llvm-objdump-19 -d --mcpu=gfx906 --no-show-raw-insn "$objects/lines.hsaco" | sed -nE '/<second>:/,/s_endpgm/s/^\t([^/]*[^ /]) *\/\/.*/\1/p' >theirs
    sed -nE 's/^  [0-9a-f]{6}  [0-9a-f]{8} .{8}  (.*)$/\1/p' <("$HEDDLE" gcn3 "$objects/lines.hsaco" --kernel second) >ours
    expect_same_file 'instructions of second' theirs ours
fi

complains() {
    local text=$1
    shift
    run gcn3 "$@"
    expect_line err "$text"
    [[ $status != 0 && $(wc -l <err) == 1 ]] || fail "$ran: not one line: $(cat err)"
}
complains 'expected a code object, or - for standard input'
complains 'cannot read nothing'             nothing
complains 'expected a code object, which is an ELF file' "$HEDDLE_HOME/README.md"
complains "no code for AMD's GPUs"          "$HEDDLE"
complains 'was not linked: use `ld.lld -shared' "$objects/unlinked.o"
complains "has no kernel 'secnd'; did you mean second\\?" "$objects/lines.hsaco" --kernel secnd
head -c 3000 "$objects/v5.hsaco" >cut.hsaco
complains 'may be cut off'                  cut.hsaco

# ---- programs that have code for several GPUs in them ----

python3 - "$objects/v5.hsaco" program <<'END'
import struct, sys
code = open(sys.argv[1], "rb").read()
targets = [b"host-x86_64-unknown-linux", b"hipv4-amdgcn-amd-amdhsa--gfx803", b"hipv4-amdgcn-amd-amdhsa--gfx906"]
size = 32 + sum(24 + len(target) for target in targets)
head = b"__CLANG_OFFLOAD_BUNDLE__" + struct.pack("<Q", len(targets))
for number, target in enumerate(targets):
    bytes_of = len(code) if number else 0
    head += struct.pack("<QQQ", size + max(number - 1, 0) * len(code), bytes_of, len(target)) + target
open(sys.argv[2], "wb").write(b"\x7fELF and other things " + head + 2 * code)
END
run gcn3 program
expect_status 0
[[ $(grep -c '^program: code object of version 5' out) == 2 ]] || fail 'both code objects are not shown'
run gcn3 program --target gfx906 --json -
expect_status 0
complains 'code for several GPUs; choose one by --target: gfx803 gfx906' program --json -
complains 'no bundle with code for gfx900'  program --target gfx900
