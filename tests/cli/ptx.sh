#!/usr/bin/env bash
# heddle ptx tells what a PTX file holds, as text and as JSON, and refuses what is no PTX with one clear line.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

cat >kernel.ptx <<'END'
.version 8.0
.target sm_90a
.address_size 64
.visible .const .align 4 .b8 table[16] = {1, 2};
.global .attribute(.managed) .align 8 .u64 count;
.extern .shared .align 16 .b8 dynamic[];
.extern .func (.param .b32 r) vprintf (.param .b64 a, .param .b64 b);
.visible .entry scale(
	.param .u64 scale_param_0,
	.param .f32 scale_param_1,
	.param .align 8 .b8 scale_param_2[24]
)
.maxntid 256, 1, 1
{
	.local .align 16 .b8 stack[48];
	.shared .align 4 .b8 tile[100];
	.reg .b32 	%r<100>;
	.reg .b64 	%rd<3>;
	mov.u32 	%r1, dynamic;
	mov.u32 	%r2, %tid.x;
	mov.u32 	%r3, tile;
	mov.u64 	%rd1, stack;
	never.heard.of %r1;
	ret;
}
END

run ptx kernel.ptx
expect_status 0
expect_empty err
expect_line out '^kernel\.ptx: PTX ISA 8\.0 for sm_90a, addresses of 64 bits$'
expect_line out '^  const +16 bytes  table$'
expect_line out '^  global +8 bytes  count \(managed\)$'
expect_line out '^  shared +0 bytes  dynamic \(extern\)$'
expect_line out '^function vprintf, declared only$'
expect_line out '^kernel scale, line 8$'
expect_line out '^  instructions    6$'
expect_line out '^  registers       3 b32, 1 b64$'
expect_line out '^  shared memory   100 bytes, and what a launch adds$'
expect_line out '^  local memory    48 bytes$'
expect_line out '^  maxntid         256 1 1$'
expect_line out '^  parameters      40 bytes$'
expect_line out '^    at     16    24 bytes  scale_param_2$'
expect_same 'the most frequent opcode' '            3 mov.u32' "$(sed -n '/^  opcodes/{n;p;q}' out)"
expect_line out '^  unknown instructions$'
expect_line out '^ +1 never\.heard\.of, first at line 23$'

# standard input, and the same as JSON
cp out from_file
"$HEDDLE" ptx - <kernel.ptx | sed 's/^standard input:/kernel.ptx:/' >from_stdin
expect_same_file 'file and standard input' from_file from_stdin
run ptx kernel.ptx --json facts.json
expect_status 0
expect_same_file 'output with and without --json' from_file out
run ptx kernel.ptx --json -
expect_status 0
expect_same_file '--json to a file and to standard output' facts.json out
python3 - <<'END' || fail 'the JSON of heddle ptx'
import json
whole = json.load(open("facts.json"))
assert (whole["module"], whole["version"], whole["target"]) == ("kernel.ptx", "8.0", 90), whole
assert whole["target_specific"] is True and whole["address_bits"] == 64
assert [(v["name"], v["space"], v["bytes"]) for v in whole["variables"]] == [
    ("table", "const", 16), ("count", "global", 8), ("dynamic", "shared", 0)]
declared, kernel = whole["functions"]
assert declared == {"name": "vprintf", "kernel": False}
assert kernel["kernel"] and kernel["instructions"] == 6 and kernel["line"] == 8
assert kernel["registers"] == {"b32": 3, "b64": 1}
assert kernel["shared_bytes"] == 100 and kernel["dynamic_shared"] and kernel["local_bytes"] == 48
assert kernel["maxntid"] == [256, 1, 1] and "reqntid" not in kernel
assert [p["offset"] for p in kernel["parameters"]] == [0, 8, 16] and kernel["parameter_bytes"] == 40
assert kernel["opcodes"][0] == {"opcode": "mov.u32", "count": 3, "first_line": 19}
assert sum(o["count"] for o in kernel["opcodes"]) == 6
assert [u["opcode"] for u in kernel["unknown"]] == ["never.heard.of"]
END

# what is wrong
refuses 'ptx: expected a program or a file of PTX, or - for standard input' ptx
refuses "ptx: expected one file, not 'b' too" ptx a b
refuses 'unknown option --jsn; did you mean --json\?' ptx kernel.ptx --jsn x
refuses 'cannot read nowhere\.ptx: No such file' ptx nowhere.ptx
refuses 'cannot read \.: Is a directory' ptx .
refuses '/dev/zero is a device' ptx /dev/zero
refuses '^heddle: standard input:1: found the end of the text, expected \.version' ptx -
refuses '--json would write over kernel\.ptx' ptx kernel.ptx --json ./kernel.ptx
printf '.version 9.0\n.target sm_75\n.entry k() {\n\tadd.s32 %%r1;\n}\n' >undeclared.ptx
refuses "undeclared\.ptx:4: found '%r1', expected a name that is declared \(in function k\)" ptx undeclared.ptx
sed 's/address_size 64/address_size 32/' kernel.ptx >small.ptx
refuses "small\.ptx:3: found '32', expected 64: only addresses of 64 bits are supported" ptx small.ptx
head -c 600 kernel.ptx >cut.ptx
refuses 'cut\.ptx:[0-9]+: found .*, expected ' ptx cut.ptx
head -c 5000 /dev/urandom >noise.ptx
refuses 'noise\.ptx:1: found .*, expected ' ptx noise.ptx
refuses '/dev/full' ptx kernel.ptx --json /dev/full

# ---- the PTX inside a program ----

cat >make.py <<'END'
import struct, sys
def fatbin(path, entries): # entries: kind (1: PTX, 2: machine code), architecture, bytes
    body = b""
    for kind, arch, image in entries:
        image += b"\0" * (-len(image) % 8)
        body += struct.pack("<HHIQIIIIQQQQ", kind, 0, 64, len(image), 0, 0, 0, arch, 0, 0, 0, 0)[:64].ljust(64, b"\0") + image
    open(path, "wb").write(struct.pack("<IHHQ", 0xba55ed50, 1, 16, len(body)) + body)
kernel = "\n\n.version 8.0\n.target sm_75\n.address_size 64\n\n.visible .entry %s()\n{\n.reg .b32 %%r<2>;\n{ // an inner block }\nmov.u32 %%r1, %%tid.x;\n}\nret;\n}\n// end\n"
first, second = (kernel % name for name in ("_Z5firstPf", "second"))
fatbin("one.fatbin", [(2, 90, b"machine code"), (1, 75, first.encode())])
fatbin("two.fatbin", [(1, 75, second.encode())])
fatbin("none.fatbin", [(2, 80, b"machine code")])
fatbin("newer.fatbin", [(1, 120, second.encode())])
open("first.ptx", "w").write(first)
END
python3 make.py
echo 'int main(void) { return 0; }' >main.c
gcc -c main.c
cat one.fatbin two.fatbin >both.fatbin
for name in one both none newer; do
    objcopy --add-section .nv_fatbin=$name.fatbin --set-section-flags .nv_fatbin=alloc,readonly main.o $name.o
    gcc -o $name $name.o
done

run ptx ./one # its lines are those of the module
expect_status 0
expect_empty err
expect_same_file 'the PTX of a program and what was put into it' <(sed 's/^ *[0-9]*  //' out) first.ptx
expect_line out '^     7  \.visible \.entry _Z5firstPf\(\)$'
run ptx ./one --kernel first
expect_status 0
expect_lines out 8
expect_line out '^     7  \.visible \.entry _Z5firstPf\(\)$'
expect_line out '^    14  }$'
run ptx ./both
expect_status 0
expect_lines out 2
expect_line out '^module 1: PTX ISA 8\.0 for sm_75, 15 lines, kernels: first$'
expect_line out '^module 2: PTX ISA 8\.0 for sm_75, 15 lines, kernels: second$'
run ptx ./both --module 2
expect_line out 'entry second'
run ptx ./both --kernel second
expect_line out '^     7  \.visible \.entry second\(\)$'
run ptx --json - ./both --module 1
expect_line out '"_Z5firstPf"'
run ptx both.fatbin --kernel _Z5firstPf
expect_status 0
expect_lines out 8
run ptx first.ptx --kernel first
expect_lines out 8
refuses '^heddle: ./none holds machine code for sm_80 and no PTX: build it with nvcc' ptx ./none
refuses '^heddle: ./newer holds PTX for compute_120 and above, and none for an sm_90$' ptx ./newer
refuses "^heddle: .* holds no PTX: nvcc put no kernels into it$" ptx main.o
refuses "^heddle: ./both has no kernel 'third'" ptx ./both --kernel third
refuses '^heddle: --module: expected 1..2, not 3$' ptx ./both --module 3
refuses '^heddle: --module: expected a number from 1' ptx ./both --module 0
refuses '^heddle: --json needs --module N, 1..2$' ptx ./both --json -
size=$(stat -c %s both)
for ((cut = 1; cut < size; cut += size / 40)); do # broken files end in one line
    head -c "$cut" both >broken
    run ptx broken
    expect_lines err 1
done
