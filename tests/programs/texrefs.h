/* Kernels in PTX that fetch by references, as CUDA 11 made them of `texture<float, 2> image;` and its like.
 */
#include <stdbool.h>

static const char texrefs_ptx[] =
    ".version 7.0\n.target sm_52\n.address_size 64\n"
    ".global .texref image;\n.global .texref line;\n.global .surfref plane;\n"
    /* out[i] = image(x + i % 4, y + i / 4); with by_address, of an address in a register */
    ".visible .entry fetch(.param .u64 out, .param .f32 x, .param .f32 y, .param .f32 scale, .param .u32 "
    "by_address)\n{\n"
    ".reg .b64 %rd<5>;\n.reg .b32 %r<6>;\n.reg .f32 %f<12>;\n.reg .pred %p<2>;\n"
    "ld.param.u64 %rd1, [out];\nld.param.f32 %f1, [x];\nld.param.f32 %f2, [y];\nld.param.f32 %f9, [scale];\n"
    "ld.param.u32 %r5, [by_address];\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 3;\nshr.u32 %r3, %r1, 2;\n"
    "cvt.rn.f32.u32 %f3, %r2;\ncvt.rn.f32.u32 %f4, %r3;\nadd.f32 %f3, %f3, %f1;\nadd.f32 %f4, %f4, %f2;\n"
    "mul.f32 %f3, %f3, %f9;\nmul.f32 %f4, %f4, %f9;\nsetp.ne.u32 %p1, %r5, 0;\n@%p1 bra address;\n"
    "tex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [image, {%f3, %f4}];\nbra.uni store;\n"
    "address:\nmov.u64 %rd4, image;\ntex.2d.v4.f32.f32 {%f5, %f6, %f7, %f8}, [%rd4, {%f3, %f4}];\n"
    "store:\nmul.wide.u32 %rd2, %r1, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.f32 [%rd3], %f5;\nret;\n}\n"
    /* out[i] = line[i + first]: bits, or a float from 0 to 1 */
    ".visible .entry walk(.param .u64 out, .param .u32 first)\n{\n"
    ".reg .b64 %rd<4>;\n.reg .b32 %r<9>;\n.reg .f32 %f<5>;\nld.param.u64 %rd1, [out];\nld.param.u32 %r1, "
    "[first];\n"
    "mov.u32 %r2, %tid.x;\nadd.s32 %r3, %r1, %r2;\ntex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [line, {%r3}];\n"
    "mul.wide.u32 %rd2, %r2, 4;\nadd.s64 %rd3, %rd1, %rd2;\nst.global.f32 [%rd3], %f1;\nret;\n}\n"
    /* plane[i] += 100 */
    ".visible .entry raise()\n{\n.reg .b32 %r<6>;\nmov.u32 %r1, %tid.x;\nand.b32 %r2, %r1, 3;\nshl.b32 %r2, "
    "%r2, 2;\n"
    "shr.u32 %r3, %r1, 2;\nsuld.b.2d.b32.trap {%r4}, [plane, {%r2, %r3}];\nadd.s32 %r4, %r4, 100;\n"
    "sust.b.2d.b32.trap [plane, {%r2, %r3}], {%r4};\nret;\n}\n";
enum { SIDE = 4, TEXELS = SIDE * SIDE };

/* What an image of 0 to 15 gives: at the middle of texels, and filtered between four of them. */
static inline bool is_image(const float *got, float plus)
{
    for (int i = 0; i < TEXELS; i++)
        if (got[i] != (float)i + plus)
            return false;
    return true;
}
static inline bool is_filtered(const float *got)
{
    for (int i = 0; i < TEXELS; i++) {
        int right = i % SIDE < SIDE - 1, down = i / SIDE < SIDE - 1; /* else the edge's texel again */
        if (got[i] != (float)i + 0.5f * (float)right + 2.0f * (float)down)
            return false;
    }
    return true;
}
