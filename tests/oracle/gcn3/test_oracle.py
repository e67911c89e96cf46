#!/usr/bin/env python3
"""Checks the oracle itself: examples of the manual, the host's arithmetic in all rounding modes, LLVM's constant folding.

    test_oracle.py [unittest's options]
"""
import ctypes
import os
import random
import re
import shutil
import struct
import subprocess
import tempfile
import unittest
from fractions import Fraction

import approximate
from assembler import assemble
from execute import execute
from floats import F16, F32, F64, Fp
from instruction import Instruction
from memory import Resource
from values import random_value
from wave import LANES, M32, M64, Wave

ALL = (1 << 64) - 1
MODE = 0x3F0  # nearest even, denormals kept, DX10 clamp, IEEE


def run(text, gfx=8, mode=MODE, **state):
    """Runs one instruction. state: v1=[...] or one value for all lanes, s1=..., vcc=..., and so on."""
    wave = Wave(gfx)
    wave.special.update(exec=ALL, mode=mode)
    for name, value in state.items():
        if re.fullmatch(r"v\d+", name):
            wave.vgpr[int(name[1:])] = [value] * LANES if isinstance(value, int) else list(value)
        elif re.fullmatch(r"s\d+", name):
            wave.sgpr[int(name[1:])] = value
        elif name in wave.special:
            wave.special[name] = value
        else:
            setattr(wave, name, value)
    return execute(wave, text)


def bits32(number):
    return struct.unpack("<I", struct.pack("<f", number))[0]


def bits64(number):
    return struct.unpack("<Q", struct.pack("<d", number))[0]


def double(bits):
    return struct.unpack("<d", struct.pack("<Q", bits))[0]


def single(bits):
    return struct.unpack("<f", struct.pack("<I", bits))[0]


class Manual(unittest.TestCase):
    """What the manual's pseudo-code says of chosen values."""

    def lane(self, text, expected, register=1, **state):
        self.assertEqual(hex(run(text, **state).vgpr[register][0]), hex(expected), text)

    def scalar(self, text, expected, scc=None, register=1, **state):
        wave = run(text, **state)
        self.assertEqual(hex(wave.sgpr[register]), hex(expected), text)
        if scc is not None:
            self.assertEqual(wave.special["scc"], scc, text)

    def test_scalar_carries(self):
        self.scalar("s_add_u32 s1, s2, s3", 0, 1, s2=M32, s3=1)
        self.scalar("s_add_i32 s1, s2, 1", 0x80000000, 1, s2=0x7FFFFFFF)
        self.scalar("s_sub_u32 s1, s2, s3", M32, 1, s2=1, s3=2)
        self.scalar("s_sub_i32 s1, s2, 1", 0x7FFFFFFF, 1, s2=0x80000000)

    def test_scalar_fields(self):
        self.scalar("s_bfe_u32 s1, s2, s3", 0xBC, 1, s2=0xABCDEF, s3=8 << 16 | 12)
        self.scalar("s_bfe_i32 s1, s2, s3", 0xFFFFFFBC, 1, s2=0xABCDEF, s3=8 << 16 | 12)
        self.scalar("s_bfm_b32 s1, 4, 8", 0xF00)
        self.scalar("s_flbit_i32 s1, s2", 31, s2=1)
        self.scalar("s_flbit_i32 s1, -1", M32)
        self.scalar("s_flbit_i32_b32 s1, s2", 16, s2=0xCCCC)
        self.scalar("s_ff1_i32_b32 s1, s2", 2, s2=0xCCCC)
        self.scalar("s_wqm_b32 s1, s2", 0xF0F, 1, s2=0x101)
        self.scalar("s_quadmask_b32 s1, s2", 5, 1, s2=0x101)
        self.scalar("s_absdiff_i32 s1, s2, -2", 0x7FFFFFFE, 1, s2=0x80000000)

    def test_saveexec(self):
        wave = run("s_andn2_saveexec_b64 s[2:3], s[4:5]", s4=0xFF, s5=0, exec=0x0F)
        self.assertEqual((wave.sgpr[2], wave.special["exec"], wave.special["scc"]), (0x0F, 0xF0, 1))

    def test_branches(self):
        self.assertEqual(run("s_cbranch_scc1 65535", scc=1, pc=100).special["pc"], 100)
        self.assertEqual(run("s_cbranch_scc1 2", scc=0, pc=100).special["pc"], 104)
        wave = run("s_swappc_b64 s[2:3], s[4:5]", s4=0x400, pc=100)
        self.assertEqual((wave.sgpr[2], wave.special["pc"]), (104, 0x400))

    def test_mode(self):
        self.assertEqual(run("s_setreg_imm32_b32 hwreg(HW_REG_MODE, 4, 2), 3", mode=0x3C0).special["mode"], 0x3F0)
        self.assertEqual(run("s_getreg_b32 s1, hwreg(HW_REG_MODE, 4, 4)", mode=0x3C0).sgpr[1], 0xC)

    def test_integers(self):
        self.lane("v_mul_hi_i32_i24_e32 v1, v2, v3", 0xFFFFC000, v2=0x800000, v3=0x7FFFFF)
        self.lane("v_mul_u32_u24_e32 v1, v2, v3", 0xFE000001, v2=0xFFFFFF, v3=0xFFFFFF)
        self.lane("v_bfe_i32 v1, v2, 4, 4", 0xFFFFFFF8, v2=0x80)
        self.lane("v_bfe_u32 v1, v2, 28, 8", 0xF, v2=M32)
        self.lane("v_alignbit_b32 v1, v2, v3, 8", 0x78123456, v2=0x12345678, v3=0x12345678)
        self.lane("v_perm_b32 v1, v2, v3, v4", 0xFF00FF01, v2=0x00000000, v3=0x04038201, v4=0x0D0C0800)
        self.lane("v_sad_u8 v1, v2, v3, 5", 5 + 4, v2=0x01020304, v3=0x02030405)
        self.lane("v_sad_hi_u8 v1, v2, v3, 5", 0x40005, v2=0x01020304, v3=0x02030405)
        self.lane("v_lerp_u8 v1, v2, v3, v4", 0x02020202, v2=0x01010101, v3=0x02020202, v4=0x01010101)
        self.lane("v_ffbh_i32_e32 v1, v2", 1, v2=0x40000000)
        self.lane("v_ffbh_u32_e32 v1, v2", M32, v2=0)
        self.lane("v_add_u16_e64 v1, v2, v3 clamp", 0xFFFF, v2=0xFFFF, v3=2)
        self.lane("v_cvt_pk_i16_i32 v1, v2, v3", 0x80007FFF, v2=0x10000, v3=0xFFFE0000)

    def test_carry_of_inactive_lanes_is_zero(self):
        wave = run("v_add_u32_e32 v1, vcc, v2, v2", v2=M32, exec=0xF0, vcc=ALL)
        self.assertEqual((wave.special["vcc"], wave.vgpr[1][3], wave.vgpr[1][4]), (0xF0, 0, M32 - 1))

    def test_conversions(self):
        self.lane("v_cvt_i32_f32_e32 v1, v2", 0x7FFFFFFF, v2=F32.inf)
        self.lane("v_cvt_i32_f32_e32 v1, v2", 0, v2=F32.nan)
        self.lane("v_cvt_u32_f32_e32 v1, v2", 0, v2=bits32(-3.0))
        self.lane("v_cvt_flr_i32_f32_e32 v1, v2", 0xFFFFFFFE, v2=bits32(-1.5))
        self.lane("v_cvt_rpi_i32_f32_e32 v1, v2", 0xFFFFFFFF, v2=bits32(-1.5))
        self.lane("v_cvt_off_f32_i4_e32 v1, v2", bits32(-0.4375), v2=9)
        self.lane("v_cvt_pkrtz_f16_f32 v1, v2, v2", 0x7BFF7BFF, v2=bits32(1e6))

    def test_rounding_fields(self):
        """MODE[1:0] rounds f32 results, MODE[3:2] those of f64, f16 and v_cvt_f32_f64."""
        tiny, one = bits32(2.0 ** -60), bits32(1.0)
        self.lane("v_add_f32_e32 v1, v2, v3", one + 1, v2=one, v3=tiny, mode=MODE | 1)
        self.lane("v_add_f32_e32 v1, v2, v3", one, v2=one, v3=tiny, mode=MODE | 4)
        self.lane("v_cvt_f16_f32_e32 v1, v2", 0x3C01, v2=one + 1, mode=MODE | 4)
        self.lane("v_cvt_f32_f64_e32 v1, v[2:3]", one + 1, v2=1, v3=0x3FF00000, mode=MODE | 4)
        self.lane("v_cvt_f32_f64_e32 v1, v[2:3]", one, v2=1, v3=0x3FF00000, mode=MODE | 1)

    def test_denormals_follow_mode(self):
        smallest = 0x00400000
        self.lane("v_add_f32_e32 v1, v2, v3", smallest, v2=smallest, v3=0)
        self.lane("v_add_f32_e32 v1, v2, v3", 0, v2=smallest, v3=0, mode=0x3C0)
        self.lane("v_mul_f32_e32 v1, 0.5, v2", 0, v2=0x00800000, mode=0x3D0)  # inputs kept, outputs flushed
        self.lane("v_max_f32_e32 v1, v2, v3", smallest, v2=smallest, v3=0, mode=0x3C0)  # gfx8 does not flush here

    def test_min_max_nan(self):
        signaling, one = F32.inf | 1, bits32(1.0)
        self.lane("v_min_f32_e32 v1, v2, v3", signaling | F32.quiet, v2=signaling, v3=one)
        self.lane("v_min_f32_e32 v1, v2, v3", one, v2=signaling, v3=one, mode=0x1F0)
        self.lane("v_min_f32_e32 v1, v2, v3", one, v2=F32.nan, v3=one)

    def test_modifiers(self):
        self.lane("v_add_f32_e64 v1, |v2|, -v3 clamp", bits32(1.0), v2=bits32(-3.0), v3=bits32(1.0))
        self.lane("v_add_f32_e64 v1, v2, v3 mul:4", bits32(8.0), v2=bits32(1.0), v3=bits32(1.0), mode=0x1C0)
        self.lane("v_add_f32_e64 v1, v2, v3 mul:4", bits32(2.0), v2=bits32(1.0), v3=bits32(1.0), mode=0x3C0)
        self.lane("v_add_f32_e64 v1, v2, v3 clamp", 0, v2=F32.nan, v3=0)
        self.assertTrue(F32.is_nan(run("v_add_f32_e64 v1, v2, v3 clamp", v2=F32.nan, v3=0, mode=0x2F0).vgpr[1][0]))

    def test_sdwa(self):
        text = "v_add_u32_sdwa v1, vcc, sext(v2), v3 dst_sel:{} dst_unused:{} src0_sel:BYTE_1 src1_sel:WORD_1"
        state = dict(v1=0x11223344, v2=0x8000, v3=0x10000)
        self.lane(text.format("WORD_1", "UNUSED_PRESERVE"), 0xFF813344, **state)
        self.lane(text.format("WORD_1", "UNUSED_PAD"), 0xFF810000, **state)
        self.lane(text.format("BYTE_1", "UNUSED_SEXT"), 0xFFFF8100, **state)
        self.lane(text.format("DWORD", "UNUSED_PAD"), 0xFFFFFF81, **state)

    def test_dpp(self):
        lanes = list(range(64))
        wave = run("v_mov_b32_dpp v1, v2 row_shr:1 row_mask:0xf bank_mask:0xf", v2=lanes, v1=99)
        self.assertEqual(wave.vgpr[1][:18], [99] + lanes[:15] + [99, 16])
        wave = run("v_mov_b32_dpp v1, v2 wave_ror:1 row_mask:0x1 bank_mask:0x3 bound_ctrl:1", v2=lanes, v1=99)
        self.assertEqual(wave.vgpr[1][:10], [63, 0, 1, 2, 3, 4, 5, 6, 99, 99])
        wave = run("v_mov_b32_dpp v1, v2 row_bcast:15 row_mask:0xa bank_mask:0xf", v2=lanes, v1=99)
        self.assertEqual([wave.vgpr[1][i] for i in (15, 16, 31, 32, 48, 63)], [99, 15, 15, 99, 47, 47])
        wave = run("v_mov_b32_dpp v1, v2 quad_perm:[3,2,1,0] row_mask:0xf bank_mask:0xf", v2=lanes, v1=99, exec=0b0111)
        self.assertEqual(wave.vgpr[1][:4], [99, 2, 1, 99])  # lane 3 is not active

    def test_compare_and_class(self):
        wave = run("v_cmp_nlt_f32_e64 s[2:3], v2, v3", v2=F32.nan, v3=0, exec=0xFF)
        self.assertEqual(wave.sgpr[2], 0xFF)
        for bit, value in enumerate((F32.inf | 1, F32.nan, F32.inf | F32.sign, bits32(-1.0), F32.sign | 1, F32.sign, 0, 1,
                                     bits32(1.0), F32.inf)):
            wave = run("v_cmp_class_f32_e32 vcc, v2, v3", v2=value, v3=1 << bit, exec=1)
            self.assertEqual(wave.special["vcc"], 1, bit)
        wave = run("v_cmpx_eq_u32_e32 vcc, v2, v3", v2=list(range(64)), v3=5)
        self.assertEqual((wave.special["vcc"], wave.special["exec"]), (32, 32))

    def test_lds(self):
        memory = bytearray(range(256))
        wave = run("ds_read2_b32 v[1:2], v3 offset0:1 offset1:3", v3=16, lds=memory, m0=M32)
        self.assertEqual((wave.vgpr[1][0], wave.vgpr[2][0]), (0x17161514, 0x1F1E1D1C))
        wave = run("ds_read_i8 v1, v3 offset:128", v3=1, lds=memory, m0=M32)
        self.assertEqual(wave.vgpr[1][0], 0xFFFFFF81)
        wave = run("ds_read_b32 v1, v3", v3=16, lds=memory, m0=16)
        self.assertEqual(wave.vgpr[1][0], 0)  # outside of what M0 allows
        wave = run("ds_add_rtn_u32 v1, v2, v3", v2=0, v3=1, lds=bytearray(8), m0=M32)
        self.assertEqual((sorted(wave.vgpr[1]), wave.lds[0]), (list(range(64)), 64))

    def test_swizzle_and_permute(self):
        lanes = list(range(64))
        wave = run("ds_swizzle_b32 v1, v2 offset:swizzle(SWAP,1)", v2=lanes)
        self.assertEqual(wave.vgpr[1], [lane ^ 1 for lane in lanes])
        wave = run("ds_swizzle_b32 v1, v2 offset:swizzle(BROADCAST,32,3)", v2=lanes)
        self.assertEqual(wave.vgpr[1], [3] * 32 + [35] * 32)
        wave = run("ds_bpermute_b32 v1, v2, v3", v2=[4 * (lane + 1) for lane in lanes], v3=lanes, exec=ALL - 2)
        self.assertEqual((wave.vgpr[1][0], wave.vgpr[1][2], wave.vgpr[1][63]), (0, 3, 0))
        wave = run("ds_permute_b32 v1, v2, v3", v2=[0] * 64, v3=lanes)
        self.assertEqual(wave.vgpr[1], [63] + [0] * 63)

    def test_scratch_addresses(self):
        """Figure 8.3, and what a scratch resource gives."""
        resource = Resource([0x1000, 24 << 16 | 1 << 31, 32, 1 << 19])
        self.assertEqual((resource.element, resource.group, resource.stride), (4, 8, 24))
        self.assertEqual([resource.swizzle(0, 4), resource.swizzle(7, 0), resource.swizzle(8, 0)], [32, 28, 192])
        scratch = Resource([0x1000, 1 << 31, M32, 1 << 19 | 3 << 21 | 1 << 23])
        self.assertEqual(scratch.swizzle(5, 10), 10 // 4 * 256 + 5 * 4 + 2)

    def test_packed(self):
        """Gfx9 and gfx906."""
        wave = run("v_pk_add_f16 v1, v2, v3 op_sel:[1,0] op_sel_hi:[0,1] neg_hi:[1,0]", gfx=9, v2=0x40003C00, v3=0x44004200)
        self.assertEqual(hex(wave.vgpr[1][0]), hex(0x42004500))  # 4 - 1, 2 + 3
        wave = run("v_pk_sub_u16 v1, v2, v3 clamp", gfx=9, v2=0x00050001, v3=0x00030002)
        self.assertEqual(wave.vgpr[1][0], 0x00020000)
        wave = run("v_fma_mixhi_f16 v1, v2, v3, v4 op_sel:[1,0,0] op_sel_hi:[1,0,0]", gfx=96, v1=0x1234, v2=0x40000000,
                   v3=bits32(3.0), v4=bits32(0.5))
        self.assertEqual(hex(wave.vgpr[1][0]), hex(0x46801234))
        wave = run("v_dot4_i32_i8 v1, v2, v3, v4", gfx=96, v2=0xFF020304, v3=0x05060708, v4=1)
        self.assertEqual(wave.vgpr[1][0], 1 - 5 + 12 + 21 + 32)

    def test_half_accesses(self):
        memory = [(0x10000, bytearray(b"\x80\x01\x02\x03"))]
        wave = run("global_load_sbyte_d16_hi v1, v[2:3], off", gfx=9, v1=0x5678, v2=0x10000, memory=memory)
        self.assertEqual(wave.vgpr[1][0], 0xFF805678)
        wave = run("global_store_short_d16_hi v[2:3], v4, off offset:2", gfx=9, v2=0x10000, v4=0xABCD0000, memory=memory, exec=1)
        self.assertEqual(bytes(wave.memory[0][1]), b"\x80\x01\xcd\xab")

    def test_gpr_index(self):
        wave = run("v_mov_b32_e32 v1, v2", mode=MODE | 1 << 27, m0=0x9003, v5=77)
        self.assertEqual(wave.vgpr[4][0], 77)

    def test_flat_atomics(self):
        memory = [(0x10000, bytearray(16))]
        wave = run("flat_atomic_inc v1, v[2:3], v4 glc", v2=0x10000, v4=9, memory=memory)
        self.assertEqual(wave.vgpr[1], [lane % 10 for lane in range(64)])

    def test_trig_preop_sums_to_two_over_pi(self):
        total = sum(Fraction(double(self.preop(segment))) for segment in range(4))
        self.assertLess(abs(total - 2 / approximate.PI), Fraction(1, 1 << 190))

    def preop(self, segment):
        wave = run(f"v_trig_preop_f64 v[1:2], v[3:4], {segment}", v3=0, v4=0x3FF00000)
        return wave.vgpr[1][0] | wave.vgpr[2][0] << 32

    # What clang 19 emits for gfx803.
    SCALE = ("v_div_scale_{t} {2}, s[0:1], {1}, {1}, {0}", "v_div_scale_{t} {3}, vcc, {0}, {1}, {0}", "v_rcp_{t}_e32 {4}, {2}")
    NEWTON = ("v_fma_{t} {5}, -{2}, {4}, 1.0", "v_fma_{t} {4}, {4}, {5}, {4}")
    QUOTIENT = ("v_mul_{t} {5}, {3}, {4}", "v_fma_{t} {6}, -{2}, {5}, {3}")
    REFINE = ("v_fma_{t} {5}, {6}, {4}, {5}", "v_fma_{t} {6}, -{2}, {5}, {3}")
    FIXUP = ("v_div_fmas_{t} {2}, {6}, {4}, {5}", "v_div_fixup_{t} {2}, {2}, {1}, {0}")
    DIVISION = {"f32": SCALE + NEWTON + QUOTIENT + REFINE + FIXUP, "f64": SCALE + 2 * NEWTON + QUOTIENT + FIXUP}

    def test_division(self):
        """The sequence that clang emits for n / d gives the correctly rounded quotient, whatever the exponents.

        v_rcp is the exact one of this oracle, better than hardware's."""
        rng = random.Random(5)
        for fmt in (F32, F64):
            for _ in range(600):
                n, d = (rng.getrandbits(1) << fmt.width - 1 | rng.randrange(1, fmt.max_exp) << fmt.mant | rng.getrandbits(fmt.mant)
                        for _ in "nd")
                expected = Fp(fmt).make(fmt.value(n) / fmt.value(d))
                self.assertEqual(hex(self.divide(fmt, n, d)), hex(expected), (fmt.name, hex(n), hex(d)))

    def divide(self, fmt, n, d):
        wave = Wave()
        wave.special.update(exec=1, mode=MODE)
        count = fmt.width // 32
        names = [f"v{2 * i}" if count == 1 else f"v[{2 * i}:{2 * i + 1}]" for i in range(7)]
        for register, value in ((0, n), (2, d)):
            wave.vgpr[register][0], wave.vgpr[register + 1][0] = value & M32, value >> 32
        for text in self.DIVISION[fmt.name]:
            execute(wave, text.format(*names, t=fmt.name))
        return wave.vgpr[4][0] | (wave.vgpr[5][0] << 32 if count == 2 else 0)


HOST = r"""
#include <fenv.h>
#include <math.h>
#define TWO(name, type, op) type name(int mode, type a, type b) \
    { static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}; \
      fesetround(modes[mode]); volatile type r = op; fesetround(FE_TONEAREST); return r; }
#define THREE(name, type, op) type name(int mode, type a, type b, type c) \
    { static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO}; \
      fesetround(modes[mode]); volatile type r = op; fesetround(FE_TONEAREST); return r; }
TWO(add32, float, a + b) TWO(mul32, float, a * b) TWO(add64, double, a + b) TWO(mul64, double, a * b)
THREE(fma32, float, fmaf(a, b, c)) THREE(fma64, double, fma(a, b, c))
TWO(cvt32, double, (float)a) TWO(rint64, double, rint(a)) TWO(frexp64, double, frexp(a, &(int){0}))
"""


@unittest.skipUnless(shutil.which("cc"), "no C compiler")
class Host(unittest.TestCase):
    """The same operations by the host's processor."""

    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory()
        source, library = (os.path.join(cls.folder.name, name) for name in ("host.c", "host.so"))
        with open(source, "w", encoding="utf-8") as file:
            file.write(HOST)
        subprocess.run(["cc", "-O1", "-frounding-math", "-ffp-contract=off", "-shared", "-fPIC", source, "-o", library, "-lm"],
                       check=True)
        cls.host = ctypes.CDLL(library)

    @classmethod
    def tearDownClass(cls):
        cls.folder.cleanup()

    def same(self, name, fmt, mode, sources, result):
        function = getattr(self.host, name)
        kind, number, bits = (ctypes.c_float, single, bits32) if fmt is F32 else (ctypes.c_double, double, bits64)
        function.restype, function.argtypes = kind, [ctypes.c_int] + [kind] * len(sources)
        expected = bits(function(mode, *(number(x) for x in sources)))
        if fmt.is_nan(expected):
            self.assertTrue(fmt.is_nan(result), (name, mode, [hex(x) for x in sources], hex(result)))
        else:
            self.assertEqual(hex(result), hex(expected), (name, mode, [hex(x) for x in sources]))

    def test_arithmetic(self):
        rng = random.Random(1)
        for fmt, kind, width in ((F32, "f32", "32"), (F64, "f64", "64")):
            for _ in range(6000):
                mode = rng.randrange(4)
                fp = Fp(fmt, mode)
                a, b, c = (random_value(rng, kind) for _ in "abc")
                if rng.random() < 0.2:
                    c = fp.mul(a, b) ^ fmt.sign
                self.same("add" + width, fmt, mode, (a, b), fp.add(a, b))
                self.same("mul" + width, fmt, mode, (a, b), fp.mul(a, b))
                self.same("fma" + width, fmt, mode, (a, b, c), fp.fma(a, b, c))

    def test_conversions(self):
        rng = random.Random(2)
        for _ in range(6000):
            mode, a = rng.randrange(4), random_value(rng, "f64")
            narrow = Fp(F32, mode).convert(a, Fp(F64))
            self.same("cvt32", F64, mode, (a, a), Fp(F64).convert(narrow, Fp(F32)))
            self.same("rint64", F64, mode, (a, a), Fp(F64).integral(a, mode))
            if not F64.is_inf(a):
                self.same("frexp64", F64, 0, (a, a), Fp(F64).frexp_mant(a))

    def test_halves(self):
        """Sums and products of halves are exact in double precision."""
        rng = random.Random(3)
        for _ in range(6000):
            a, b = random_value(rng, "f16"), random_value(rng, "f16")
            x, y = (struct.unpack("<e", struct.pack("<H", value))[0] for value in (a, b))
            for name, number in (("add", x + y), ("mul", x * y)):
                result = getattr(Fp(F16), name)(a, b)
                if number != number:
                    self.assertTrue(F16.is_nan(result))
                    continue
                try:
                    expected = struct.unpack("<H", struct.pack("<e", number))[0]
                except OverflowError:
                    expected = F16.inf | (F16.sign if number < 0 else 0)
                self.assertEqual(hex(result), hex(expected), (name, hex(a), hex(b)))


def constant(bits, kind):
    """An LLVM constant."""
    if kind == "i32":
        return str(bits)
    return f"0x{bits64(single(bits)):016X}" if kind == "float" else f"0x{bits:016X}"


@unittest.skipUnless(shutil.which("opt-19"), "no LLVM 19")
class Llvm(unittest.TestCase):
    """LLVM folds calls of some instructions: the results must be ours. Inputs are finite numbers."""
    # intrinsic, result, sources, instruction
    FOLDED = (
        ("llvm.amdgcn.rcp.f32", "float", ("float",), "v_rcp_f32_e32 v0, v4"),
        ("llvm.amdgcn.fract.f32", "float", ("float",), "v_fract_f32_e32 v0, v4"),
        ("llvm.amdgcn.fract.f64", "double", ("double",), "v_fract_f64_e32 v[0:1], v[4:5]"),
        ("llvm.amdgcn.frexp.mant.f32", "float", ("float",), "v_frexp_mant_f32_e32 v0, v4"),
        ("llvm.amdgcn.frexp.mant.f64", "double", ("double",), "v_frexp_mant_f64_e32 v[0:1], v[4:5]"),
        ("llvm.amdgcn.frexp.exp.i32.f32", "i32", ("float",), "v_frexp_exp_i32_f32_e32 v0, v4"),
        ("llvm.amdgcn.frexp.exp.i32.f64", "i32", ("double",), "v_frexp_exp_i32_f64_e32 v0, v[4:5]"),
        ("llvm.amdgcn.fmed3.f32", "float", ("float",) * 3, "v_med3_f32 v0, v4, v8, v12"),
        ("llvm.amdgcn.fmul.legacy", "float", ("float",) * 2, "v_mul_legacy_f32_e32 v0, v4, v8"),
        ("llvm.amdgcn.cubeid", "float", ("float",) * 3, "v_cubeid_f32 v0, v4, v8, v12"),
        ("llvm.amdgcn.cubesc", "float", ("float",) * 3, "v_cubesc_f32 v0, v4, v8, v12"),
        ("llvm.amdgcn.cubetc", "float", ("float",) * 3, "v_cubetc_f32 v0, v4, v8, v12"),
        ("llvm.amdgcn.cubema", "float", ("float",) * 3, "v_cubema_f32 v0, v4, v8, v12"),
        ("llvm.amdgcn.ubfe.i32", "i32", ("i32",) * 3, "v_bfe_u32 v0, v4, v8, v12"),
        ("llvm.amdgcn.sbfe.i32", "i32", ("i32",) * 3, "v_bfe_i32 v0, v4, v8, v12"),
        ("llvm.amdgcn.perm", "i32", ("i32",) * 3, "v_perm_b32 v0, v4, v8, v12"),
        ("llvm.amdgcn.trig.preop.f64", "double", ("double", "i32"), "v_trig_preop_f64 v[0:1], v[4:5], v8"),
        ("llvm.ldexp.f32.i32", "float", ("float", "i32"), "v_ldexp_f32 v0, v4, v8"),
        ("llvm.ldexp.f64.i32", "double", ("double", "i32"), "v_ldexp_f64 v[0:1], v[4:5], v8"),
        ("llvm.amdgcn.class.f32", "i1", ("float", "i32"), "v_cmp_class_f32_e32 vcc, v4, v8"),
        ("llvm.amdgcn.class.f64", "i1", ("double", "i32"), "v_cmp_class_f64_e32 vcc, v[4:5], v8"),
        ("llvm.amdgcn.sin.f32", "float", ("float",), "v_sin_f32_e32 v0, v4"),
        ("llvm.amdgcn.cos.f32", "float", ("float",), "v_cos_f32_e32 v0, v4"),
    )
    KINDS = {"float": "f32", "double": "f64", "i32": "u32"}
    ULPS = {"llvm.amdgcn.sin.f32": 64, "llvm.amdgcn.cos.f32": 64}
    TIMES = 120

    def arguments(self, rng, sources, classes):
        values = []
        for kind in sources:
            while True:
                value = random_value(rng, self.KINDS[kind], ("nonfinite", "denormal"))
                if kind == "i32" and classes:
                    value &= 0x3FF
                    break
                if kind != "i32" or len(sources) == 3 or value < 200 or value > M32 - 200:
                    break
            values.append(value)
        return values

    def fold(self, calls):
        """calls: (intrinsic, result, sources, values). Returns each result's bits, or None where LLVM does not fold."""
        declared = {f"declare {result} @{name}({', '.join(sources)})" for name, result, sources, _ in calls}
        text = "\n".join(sorted(declared)) + "\n"
        for number, (name, result, sources, values) in enumerate(calls):
            given = ", ".join(f"{kind} {constant(value, kind)}" for kind, value in zip(sources, values))
            text += f"define {result} @f{number}() {{\n  %r = call {result} @{name}({given})\n  ret {result} %r\n}}\n"
        folded = subprocess.run(["opt-19", "-mtriple=amdgcn-amd-amdhsa", "-mcpu=gfx803", "-passes=instcombine", "-S"], input=text,
                                capture_output=True, text=True, check=True).stdout
        results = []
        for number in range(len(calls)):
            body = re.search(rf"@f{number}\(\)[^{{]*{{\n(.*?)}}", folded, flags=re.S)[1]
            match = re.fullmatch(r"\s*ret (float|double|i32|i1) (\S+)\s*", body)
            results.append(self.bits(match[1], match[2]) if match else None)
        return results

    @staticmethod
    def bits(kind, text):
        if kind == "i1":
            return int(text == "true")
        if kind == "i32":
            return int(text) & M32
        number = double(int(text, 16)) if text.startswith("0x") else float(text)
        return bits32(number) if kind == "float" else bits64(number)

    def test_constant_folding(self):
        rng = random.Random(4)
        calls, texts = [], []
        for name, result, sources, text in self.FOLDED:
            for _ in range(self.TIMES):
                calls.append((name, result, sources, self.arguments(rng, sources, result == "i1")))
                texts.append(text)
        compared = dict.fromkeys((row[0] for row in self.FOLDED), 0)
        for (name, result, sources, values), text, expected in zip(calls, texts, self.fold(calls)):
            if expected is None:
                continue
            state = {}
            for place, (kind, value) in enumerate(zip(sources, values)):
                state[f"v{4 * place + 4}"] = value & M32
                state[f"v{4 * place + 5}"] = value >> 32
            wave = run(text, exec=1, **state)
            got = wave.special["vcc"] if result == "i1" else wave.vgpr[0][0] | (
                wave.vgpr[1][0] << 32 if result == "double" else 0)
            fmt = {"float": F32, "double": F64}.get(result)
            if fmt and (fmt.is_nan(expected) or fmt.is_denormal(expected)) and name != "llvm.amdgcn.trig.preop.f64":
                continue
            if got & M64 != expected and fmt and fmt.is_zero(got) and fmt.is_zero(expected):
                got = expected
            if abs(got - expected) > self.ULPS.get(name, 0):
                self.fail(f"{text} of {[hex(v) for v in values]}: {got:#x}, LLVM says {expected:#x}")
            compared[name] += 1
        for name, count in compared.items():
            self.assertGreater(count, 10, name)


class Text(unittest.TestCase):
    def test_operands(self):
        one = Instruction("v_add_f32_e64 v1, -|v2|, neg(4) clamp mul:2")
        self.assertEqual((one.name, one.encoding, len(one.operands)), ("v_add_f32", "e64", 3))
        self.assertTrue(one.operands[1].absolute and one.operands[1].negate)
        self.assertTrue(one.operands[2].negate and one.operands[2].value == 4)
        self.assertEqual(one.modifiers, {"clamp": True, "mul": "2"})
        two = Instruction("buffer_load_dword v1, v[2:3], s[0:3], 0 idxen offen offset:4 glc")
        self.assertEqual(set(two.modifiers), {"idxen", "offen", "offset", "glc"})
        self.assertEqual((two.operands[2].kind, two.operands[2].count), ("s", 4))

    @unittest.skipUnless(shutil.which("llvm-mc-19"), "no LLVM 19")
    def test_assembler_refuses_by_line(self):
        results = assemble(["s_nop 0", "no_such_thing v1", "s_mov_b32 s1, 5"], 8)
        self.assertEqual(results, [("s_nop 0", [0xBF800000]), None, ("s_mov_b32 s1, 5", [0xBE810085])])


if __name__ == "__main__":
    unittest.main()
