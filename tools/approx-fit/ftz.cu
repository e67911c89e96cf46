#include "forms.cuh"
#include <math.h>
struct Bad { unsigned long long n[3], near_; u64 in[8][3]; u32 hw[8]; };
#define OP2(n, s) __device__ inline u32 op_##n(float a, float b) { float r; asm volatile(s " %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b)); return __float_as_uint(r); }
OP2(mul_rn, "mul.rn.ftz.f32") OP2(mul_rz, "mul.rz.ftz.f32") OP2(mul_rm, "mul.rm.ftz.f32") OP2(mul_rp, "mul.rp.ftz.f32")
OP2(mul_rn0, "mul.rn.f32") OP2(mul_rz0, "mul.rz.f32") OP2(mul_rm0, "mul.rm.f32") OP2(mul_rp0, "mul.rp.f32")
__device__ inline u32 op_fma(float a, float b, float c) { float r; asm volatile("fma.rn.ftz.f32 %0, %1, %2, %3;" : "=f"(r) : "f"(a), "f"(b), "f"(c)); return __float_as_uint(r); }
__device__ inline u32 fl(u32 x) { return (x & 0x7f800000) ? x : x & 0x80000000; }
/* up: the mode rounds this sign's magnitude up to a nearest 24 bits, from what share of an ulp on */
__device__ inline void judge(Bad *b, double d, u32 hw, u32 plain, double limit, u32 x, u32 y, u32 z) {
  u32 s = d < 0 ? 0x80000000 : 0; double m = fabs(d) * 0x1p126;
  u32 h0 = fl(plain), h1 = m < 1.0 ? s : plain, h2 = m < limit ? s : (m < 1.0 ? s | 0x00800000 : plain);
  if (h0 != h1) atomicAdd(&b->near_, 1ull);
  if (hw != h0) { unsigned long long k = atomicAdd(&b->n[0], 1ull); if (k < 8) { b->in[k][0] = x; b->in[k][1] = y; b->in[k][2] = z; b->hw[k] = hw; } }
  if (hw != h1) atomicAdd(&b->n[1], 1ull);
  if (hw != h2) atomicAdd(&b->n[2], 1ull);
}
__device__ inline void operands(u64 i, float &a, float &b, double target) {
  u32 h = hash((u32)i ^ hash((u32)(i >> 32) + 999)); u32 e = 30 + hash(h + 1) % 60; a = __uint_as_float((hash(h + 2) & 0x807fffff) | e << 23);
  float q = (float)(target / a); b = __uint_as_float(__float_as_uint(q) - 1 + (hash(h + 3) & 1)); if (hash(h + 4) & 1) b = -b;
}
#define K(n, lim) __global__ void v_##n(Bad *bad) { for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < 1ull << 30; i += gridDim.x * 256ull) { float a, b; operands(i, a, b, 0x1p-126); double d = (double)a * b; judge(bad, d, op_##n(a, b), op_##n##0(a, b), lim, __float_as_uint(a), __float_as_uint(b), 0); } }
K(mul_rn, 1.0 - 0x1p-25) K(mul_rz, 1.0) K(mul_rm, d < 0 ? 1.0 - 0x1p-24 + 0x1p-60 : 1.0) K(mul_rp, d > 0 ? 1.0 - 0x1p-24 + 0x1p-60 : 1.0)
__global__ void v_fma(Bad *bad) { for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < 1ull << 30; i += gridDim.x * 256ull) { float a, b; operands(i, a, b, 0x1p-127); float c = copysignf(0x1p-126f - fabsf(a * b), a * b); c = __uint_as_float(__float_as_uint(c) & 0x80000000 | 0x00800000); /* smallest normal, and a small product taken off */
    u32 h = hash((u32)i + 77); a = __uint_as_float((__float_as_uint(a) & 0x807fffff) | 10u << 23); b = __uint_as_float((h & 0x007fffff) | (127 - 10 - 24 - 1 + (h >> 23 & 3)) << 23); if ((__float_as_uint(a) ^ __float_as_uint(c)) >> 31 == 0) b = -b;
    double d = (double)a * b + (double)c; u32 plain = __float_as_uint(fmaf(a, b, c)); judge(bad, d, op_fma(a, b, c), plain, 1.0 - 0x1p-25, __float_as_uint(a), __float_as_uint(b), __float_as_uint(c)); } }
/* f16: mul over all pairs; outcomes where the current rule (round, then flush) is off */
__device__ inline float h2f(u32 h) { float r; asm("cvt.f32.f16 %0, %1;" : "=f"(r) : "h"((uint16_t)h)); return r; }
__global__ void v_h(Bad *bad) { for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < 1ull << 32; i += gridDim.x * 256ull) { uint16_t a = i, b = i >> 16, r, p; if ((a & 0x7c00) == 0x7c00 || (b & 0x7c00) == 0x7c00 || !(a & 0x7c00) || !(b & 0x7c00)) continue;
    asm volatile("mul.rn.ftz.f16 %0, %1, %2;" : "=h"(r) : "h"(a), "h"(b)); asm volatile("mul.rn.f16 %0, %1, %2;" : "=h"(p) : "h"(a), "h"(b));
    double d = (double)h2f(a) * h2f(b), m = fabs(d) * 0x1p14; u32 s = (a ^ b) & 0x8000; u32 h0 = (p & 0x7c00) ? p : s, h1 = m < 1 ? s : p, h2 = m < 1.0 - 0x1p-12 ? s : m < 1 ? s | 0x400 : p;
    if (h0 != h1) atomicAdd(&bad->near_, 1ull); if (r != h0) atomicAdd(&bad->n[0], 1ull); if (r != h1) atomicAdd(&bad->n[1], 1ull); if (r != h2) atomicAdd(&bad->n[2], 1ull); } }
int main() { Bad *d, h; CK(cudaMalloc(&d, sizeof h));
#define R(n) CK(cudaMemset(d, 0, sizeof h)); v_##n<<<132 * 8, 256>>>(d); CK(cudaDeviceSynchronize()); CK(cudaMemcpy(&h, d, sizeof h, cudaMemcpyDeviceToHost)); \
  printf("%s: cases %llu; differ: round then flush %llu, flush before rounding %llu, flush after rounding to 24 bits %llu\n", #n, h.near_, h.n[0], h.n[1], h.n[2]); for (unsigned k = 0; k < 3 && k < h.n[0]; k++) printf("   %llx %llx %llx -> %x\n", (unsigned long long)h.in[k][0], (unsigned long long)h.in[k][1], (unsigned long long)h.in[k][2], h.hw[k]);
  R(mul_rn) R(mul_rz) R(mul_rm) R(mul_rp) R(fma) R(h) return 0; }
