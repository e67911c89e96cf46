#!/usr/bin/env bash
# heddle trace convert: Accel-Sim's traces in, and out; both can be replayed.
# shellcheck source=tests/cli/lib.bash
source "$(dirname "${BASH_SOURCE[0]}")/lib.bash"

# kernel VERSION FORMAT LINE...: a kernel of two blocks of two warps, which have these instructions.
kernel() {
    local version=$1 format=$2 block warp
    shift 2
    printf -- '-kernel name = _Z1kPf\n-kernel id = 1\n-grid dim = (2,1,1)\n-block dim = (64,1,1)\n-shmem = 1024\n'
    printf -- '-nregs = 12\n-binary version = 70\n-cuda stream id = 0\n-shmem base_addr = 0x00007f8c16000000\n'
    printf -- '-local mem base_addr = 0x00007f8c14000000\n-nvbit version = 1.7\n-accelsim tracer version = %s\n' "$version"
    printf '\n#traces format = %s\n\n' "$format"
    for block in 0 1; do
        printf '\n#BEGIN_TB\n\nthread block = %d,0,0\n' $block
        for warp in 0 1; do
            printf '\nwarp = %d\ninsts = %d\n' $warp $#
            printf '%s \n' "$@"
        done
        printf '\n#END_TB\n'
    done
}

lines=(
    '0000 ffffffff 1 R6 S2R 0 0'
    '0010 ffffffff 1 R2 IMAD.WIDE 2 R6 R255 0'
    '0020 00000000 0 EXIT 0 0'
    '0030 ffffffff 1 R8 LDG.E.128.SYS 1 R2 16 1 0x7f8bdba00000 16'
    '0040 ffffffff 0 STS 2 R6 R9 4 1 0x0 4'
    '0050 ffffffff 0 BAR.SYNC 0 0'
    '0060 0000ffff 1 R4 LDS 1 R6 4 2 0x40 4 -4 4 4 4 4 4 4 4 4 4 4 4 4 4'
    '0070 ffffffff 1 R4 LD.E 1 R2 4 1 0x7f8c16000000 4'
    '0080 ffffffff 0 RED.E.ADD.STRONG.GPU 2 R2 R4 4 1 0x7f8bdbc00000 0'
    '0090 0000000f 0 STL 2 R1 R4 4 0 0x0 0x0 0x0 0x0'
    '00a0 ffffffff 1 R10 DFMA 3 R8 R10 R10 0'
    '00b0 ffffffff 0 BRA 0 0'
    '0090 0000000f 0 STL 2 R1 R4 4 0 0x0 0x0 0x0 0x0'
    '00c0 0000ffff 0 EXIT 0 0'
    '00c0 ffff0000 0 EXIT 0 0'
)
with=()
for line in "${lines[@]}"; do
    with+=("$line 0")
done
mkdir v3 v4 v5
kernel 3 'threadblock_x threadblock_y threadblock_z warpid_tb PC mask ...' "${lines[@]}" >v3/kernel-1.traceg
kernel 4 '[line_num] PC mask ... immediate' "${with[@]}" >v4/kernel-1.traceg
kernel 5 '[line_num] PC mask ... immediate1 immediate2' "${with[@]/%/ 0}" |
    sed 's/^thread block.*/&\ncluster id = 0,0,0\ncluster cta = 0,0,0\ncluster rank = 0/' >v5/kernel-1.traceg

# ---- in ----

for version in 3 4 5; do
    printf 'MemcpyHtoD,0x00007f8bdba00000,4096\nanother word\nkernel-1.traceg\nkernel-1.traceg\n' >v$version/kernelslist.g
    run trace convert v$version/kernelslist.g --output t$version
    expect_status 0
    run replay t$version --system v100
    expect_status 0
    expect_line out '^replayed 2 of 2 launches, 120 warp instructions'
    tail -n +2 out >told$version
done
expect_same_file 'versions 3 and 4' told3 told4
expect_same_file 'versions 4 and 5' told4 told5
run replay t5 --system h100
expect_status 0
run trace convert v3/kernel-1.traceg --output alone
expect_status 0
cp v3/kernel-1.traceg named_otherwise
run trace convert named_otherwise --output alone2
expect_status 0
expect_same_file 'known by its contents' alone/blocks alone2/blocks
if has xz 'packed kernels'; then
    mkdir xz && xz -k <v3/kernel-1.traceg >xz/kernel-1.traceg.xz
    run trace convert xz/kernel-1.traceg.xz --output packed
    expect_status 0
    expect_same_file 'packed' alone/blocks packed/blocks
fi

run trace print t3 --kernels 0 --blocks 0
expect_line out ' copy stream 0 gpu 0 direction 0 to 0x500007a00000 .* width 4096 '
expect_line out '^    3  LDG\.E\.128\.SYS +lsu; reads 1 2; writes 5 6 7 8$'
expect_line out '^    4  STS +lsu; reads 4 6$'
expect_line out '^    2  EXIT +ffffffff of these 00000000$'
expect_line out '^    3  LDG.* reads 16 bytes at 0x500007a00000 \+16$'
expect_line out '^    5  BAR\.SYNC +ffffffff  arrives at barrier 0 with 32 threads and waits$'
expect_line out '^    6  LDS +0000ffff  shared 4 bytes at 0x40 0x44 0x40 '
expect_line out '^    7  LD\.E +ffffffff  shared 4 bytes at 0x0 \+4$'
expect_line out '^    8  RED.* atomic 4 bytes at 0x500007c00000 \+0$'
expect_line out '^    9  STL +0000000f  writes local 4 bytes at 0x0 \+0$'
expect_line out '^   11  BRA +ffffffff  branches and diverges$'
expect_line out '^   12  EXIT +ffff0000  16 threads end$'

# ---- version 6, and packed kernels ----

# pack TRACEG TRACEZ [DICTIONARY]: the kernel in Accel-Sim's packed form, up to 8 instructions in a piece.
pack() {
    python3 - "$@" <<'END'
import struct, subprocess, sys
dictionary = open(sys.argv[3], "rb").read() if len(sys.argv) > 3 else b""
text = open(sys.argv[1]).read()
header, blocks = text.split("#BEGIN_TB")[0], text.split("#BEGIN_TB")[1:]
out = bytearray(header.encode() + b"\0" + struct.pack("<II", len(dictionary), 8) + dictionary)
index = struct.pack("<I", len(blocks))
for block in blocks:
    lines = [line for line in block.split("\n") if line and not line.startswith(("#", "cluster"))]
    warps = []
    for line in lines[1:]:
        if line.startswith("warp"):
            warps.append([])
        elif not line.startswith("insts"):
            warps[-1].append(line)
    index += struct.pack("<11I", *map(int, lines[0].split("=")[1].split(",")), *[0] * 7, len(warps))
    for warp in warps:
        pieces = [warp[i:i + 8] for i in range(0, len(warp), 8)]
        index += struct.pack("<IIQ", len(warp), len(pieces), len(out)) + b"".join(struct.pack("<I", len(p)) for p in pieces)
        out += struct.pack("<II", len(warp), len(pieces))
        for piece in pieces:
            open("piece", "w").write("\n".join(piece) + "\n")
            packed = subprocess.run(["zstd", "-q", "-c", *(["-D", sys.argv[3]] if dictionary else []), "piece"],
                                    stdout=subprocess.PIPE, check=True).stdout
            out += struct.pack("<I", len(packed)) + packed
open(sys.argv[2], "wb").write(out + index + struct.pack("<Q", len(out)))
END
}

mkdir v6
kernel 6 '[line_num] PC mask ... immediate' "${with[@]/%/ NoVal}" | sed -E 's/(IMAD.WIDE.*) NoVal/\1 0 Val 1 7 1 8 1 9/' >v6/kernel-1.traceg
run trace convert v6/kernel-1.traceg --output six
expect_status 0
expect_same_file 'version 6' alone/blocks six/blocks
if has zstd 'packed kernels (.tracez)'; then
    pack v3/kernel-1.traceg v6/kernel-3.tracez
    pack v6/kernel-1.traceg v6/kernel-6.tracez v6/kernel-1.traceg
    for number in 3 6; do
        run trace convert v6/kernel-$number.tracez --output z$number
        expect_status 0
        expect_same_file 'a packed kernel' alone/blocks z$number/blocks
    done
    printf 'kernel-3.tracez\nkernel-6.tracez\n' >v6/kernelslist.g
    run trace convert v6/kernelslist.g --output list6
    expect_status 0
    for bytes in 0 100 800 -1 -30; do
        head -c $bytes v6/kernel-6.tracez >cut.tracez
        refuses 'cut.tracez: it is damaged or cut: ' trace convert cut.tracez --output none
    done
    sed 's/EXIT/EXIX/' v3/kernel-1.traceg >wrong.traceg && pack wrong.traceg wrong.tracez
    refuses 'wrong.tracez:[0-9]+: no opcode of Volta to Hopper that Heddle knows: EXIX' trace convert wrong.tracez --output none
fi

# ---- out, and in again ----

run trace convert t3 --format accelsim --output out3
expect_status 0
expect_same 'the list' 'MemcpyHtoD,0x0000500007a00000,4096 kernel-1.traceg kernel-2.traceg' "$(echo $(cat out3/kernelslist.g))"
expect_line out3/kernel-1.traceg '^0030 ffffffff 1 R[0-9]+ LDG\.E\.128\.SYS 1 R[0-9]+ 16 1 0x500007a00000 16 0 $'
run trace convert out3/kernelslist.g --output again
expect_status 0
run trace info again
expect_line out '^       0  k +2x1x1 +64x1x1 +60 '

run bench matmul_tiled --m 32 --n 32 --k 32 --system v100 --record m
run trace convert m --format accelsim --output a
expect_status 0
for opcode in LDG STG LDS STS BAR.SYNC FFMA EXIT; do
    expect_line a/kernel-1.traceg " $opcode"
done
count=$(awk '/^insts/ { n += $3 } END { print n }' a/kernel-1.traceg)
expect_same 'lines of instructions' "$count" "$(grep -cE '^[0-9a-f]{4} [0-9a-f]{8} [01] ' a/kernel-1.traceg)"
run trace convert a/kernelslist.g --output b
expect_status 0
run replay b --system v100
expect_status 0
expect_line out "^replayed 1 of 1 launches, $count warp instructions"
refuses 'a already holds a trace' trace convert m --format accelsim --output a

# Matrices are loaded by few lines, and bulk copies of Hopper's are lines that Volta has not.
run bench matmul_tensor --m 32 --n 32 --k 32 --system v100 --record tensor
run trace convert tensor --format accelsim --output tensor_out
expect_status 0
expect_line tensor_out/kernel-1.traceg ' LDG\.E\.128 '
if has gcc 'a bulk copy'; then
    cat >bulk.ptx <<'END'
.version 8.0
.target sm_90
.address_size 64
.visible .entry bulk(.param .u64 p)
{
	.reg .b64 %rd<5>;
	.reg .b32 %r<7>;
	.reg .pred %p<3>;
	.shared .align 128 .b8 copied[4096];
	.shared .align 8 .b64 barrier;
	ld.param.u64 %rd1, [p];
	cvta.to.global.u64 %rd1, %rd1;
	mov.u32 %r1, %tid.x;
	mov.u32 %r2, barrier;
	mov.u32 %r3, copied;
	setp.ne.u32 %p1, %r1, 0;
	@%p1 bra wait;
	mbarrier.init.shared.b64 [%r2], 1;
	mbarrier.arrive.expect_tx.shared.b64 %rd2, [%r2], 4096;
	cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%r3], [%rd1], 4096, [%r2];
wait:
	bar.sync 0;
again:
	mbarrier.try_wait.parity.shared.b64 %p2, [%r2], 0;
	@!%p2 bra again;
	shl.b32 %r4, %r1, 2;
	add.u32 %r5, %r3, %r4;
	ld.shared.u32 %r6, [%r5];
	mul.wide.u32 %rd3, %r1, 4;
	add.s64 %rd4, %rd1, %rd3;
	st.global.u32 [%rd4], %r6;
	ret;
}
END
    gcc -o launch "$HEDDLE_HOME/tests/programs/launch.c" -L"$(dirname "$HEDDLE")/cuda" -l:libcuda.so.1 || fail 'launch.c does not compile'
    run run --mode functional --record bulk ./launch bulk.ptx bulk 4 128 8192
    expect_status 0
    run trace convert bulk --format accelsim --output bulk_out
    expect_line bulk_out/kernel-1.traceg '^-binary version = 80$'
    expect_same 'lines of a bulk copy of 4 KiB, in 4 blocks' 32 "$(grep -c ' LDGSTS\.E\.128 ' bulk_out/kernel-1.traceg)"
    run trace convert bulk_out/kernelslist.g --output bulk_in
    expect_status 0
fi

# ---- what is wrong ----

# wrong SED TEXT: the kernel, changed so, is refused with this.
wrong() {
    sed -E "$1" v3/kernel-1.traceg >wrong.traceg
    refuses "wrong.traceg$2" trace convert wrong.traceg --output none
    [[ ! -e none ]] || fail 'a folder was made for nothing'
}
wrong 's/DFMA/DFOO.X/' ':32: no opcode of Volta to Hopper that Heddle knows: DFOO.X'
wrong 's/^0030 /0038 /' ':25: expected an address that is a multiple of 16, below 16 MiB, not 0x38'
wrong 's/version = 3/version = 7/' ":12: expected a trace of version 3, 4, 5 or 6, not '-accelsim tracer version = 7'"
wrong '60,$d' ': it is cut: it ends in block 1 of 2'
wrong 's/0x7f8bdba00000 16 $/here/' ":25: expected an address and a distance, not '0030 ffffffff 1 R8 LDG.E.128.SYS 1 R2 16 1 here'"
wrong 's/^00c0 ffff0000/00c0 00000000/' ':36: expected EXIT of all lanes at the end of the warp'
wrong 's/^-grid.*//' ': expected -grid dim and -block dim, of 1 to 1024 threads'
wrong '/^#traces/,$d' ": it is cut: expected '#traces format' behind its header"
wrong 's/1,0,0/2,0,0/' ":60: expected 'thread block = X,Y,Z', for each block of the grid in order, not 'thread block = 2,0,0'"
: >empty.traceg
refuses 'empty.traceg: it is empty' trace convert empty.traceg --output none
echo nothing >kernelslist.g
refuses 'kernelslist.g: no kernel is listed in it' trace convert kernelslist.g --output none
echo kernel-7.traceg >kernelslist.g
refuses 'cannot read kernel-7.traceg: No such file or directory' trace convert kernelslist.g --output none
echo MemcpyHtoD,0x10 >kernelslist.g
refuses "kernelslist.g:1: expected MemcpyHtoD,ADDRESS,BYTES, not 'MemcpyHtoD,0x10'" \
    trace convert kernelslist.g --output none
