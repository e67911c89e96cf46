#include "forms.cuh"
#include "number_dev.h"
#include "approx_dev.h"
#include "ranges.h"
__device__ inline u32 mix(u32 r, u32 i) { u32 h = (r ^ i * 0x9e3779b1u) * 0x85ebca6bu; h = (h ^ h >> 15) * 0xc2b2ae35u; return h ^ h >> 16; }
struct Bad { unsigned long long n; u64 in[8][2], hw[8], md[8]; };
__device__ inline void note(Bad *b, u64 a, u64 c, u64 h, u64 m) { if (h != m) { unsigned long long k = atomicAdd(&b->n, 1ull); if (k < 8) { b->in[k][0] = a; b->in[k][1] = c; b->hw[k] = h; b->md[k] = m; } } }
#define M(n, f) __device__ inline u32 md_##n(u32 a) { return bits_f32(f(f32_bits(a))); } __device__ inline u32 md_##n##_ftz(u32 a) { return bits_f32(ftz(f(ftz(f32_bits(a))))); }
M(rcp, rcp_approx) M(rsqrt, rsqrt_approx) M(sqrt, sqrt_approx) M(ex2, ex2_approx) M(lg2, lg2_approx) M(sin, sin_approx) M(cos, cos_approx) M(tanh, tanh_approx)
__device__ inline u32 md_div_approx(u32 a, u32 b) { return bits_f32(div_approx(f32_bits(a), f32_bits(b))); }
__device__ inline u32 md_div_full(u32 a, u32 b) { return bits_f32(div_full(f32_bits(a), f32_bits(b))); }
__device__ inline u32 md_div_approx_ftz(u32 a, u32 b) { return bits_f32(ftz(div_approx(ftz(f32_bits(a)), ftz(f32_bits(b))))); }
__device__ inline u32 md_div_full_ftz(u32 a, u32 b) { return bits_f32(ftz(div_full(ftz(f32_bits(a)), ftz(f32_bits(b))))); }
#define P(n, f) __device__ inline u32 md_##n(u32 a) { return f((uint16_t)a) | (u32)f((uint16_t)(a >> 16)) << 16; }
P(ex2_f16x2, ex2_approx_f16) P(ex2_bf16x2, ex2_approx_ftz_bf16) P(tanh_f16x2, tanh_approx_f16) P(tanh_bf16x2, tanh_approx_bf16)
__device__ inline u64 md_rcp_ftz_f64(u64 a) { return bits_f64(rcp_approx_ftz_f64(f64_bits(a))); }
__device__ inline u64 md_rsqrt_ftz_f64(u64 a) { return bits_f64(rsqrt_approx_ftz_f64(f64_bits(a))); }
__device__ inline u64 md_rsqrt_f64(u64 a) { return bits_f64(rsqrt_approx_f64(f64_bits(a))); }
#define K(n, s) __global__ void v_##n(Bad *b) { for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < 1ull << 32; i += gridDim.x * 256ull) note(b, i, 0, op_##n((u32)i), md_##n((u32)i)); }
F32FORMS(K) HALF2FORMS(K)
#undef K
/* pairs: kind 0 any bits; 1 quotient near the smallest normal and the greatest number; 2 like exponents; 3 corners */
__device__ inline void pair(int kind, u64 i, u32 &a, u32 &b) {
  u32 h = hash((u32)i ^ hash((u32)(i >> 32) + 12345)); a = hash(h + 1); b = hash(h + 2); u32 c = hash(h + 3);
  if (kind == 1) { u32 eb = b >> 23 & 255; int ea = (int)eb + ((c & 1) ? -126 - 12 + (int)(c >> 1 & 15) : 127 - 4 + (int)(c >> 1 & 7)); ea = ea < 0 ? 0 : ea > 254 ? 254 : ea; a = (a & 0x807fffff) | (u32)ea << 23; }
  if (kind == 2) { a = (a & 0x807fffff) | 127u << 23; b = (b & 0x807fffff) | 127u << 23; }
  if (kind == 3) { const u32 t[16] = {0, 1, 0x7fffff, 0x800000, 0x800001, 0x00ffffff, 0x3f800000, 0x7e800000, 0x7e800001, 0x7f000000, 0x7f7fffff, 0x7f800000, 0x7f800001, 0x7fffffff, 0x7effffff, 0x34000000}; a = t[i & 15] | (i >> 8 & 1) << 31; b = t[i >> 4 & 15] | (i >> 9 & 1) << 31; }
}
#define K(n, s) __global__ void v_##n(Bad *bad, int kind, u64 count) { for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) { u32 a, b; pair(kind, i, a, b); note(bad, a, b, op_##n(a, b), md_##n(a, b)); } }
DIVFORMS(K)
#undef K
#define K(n, s) __global__ void v_##n(Bad *bad, u64 count) { for (u64 i = blockIdx.x * 256ull + threadIdx.x; i < count; i += gridDim.x * 256ull) { u64 a = i << 32 | ((i & 3) ? hash((u32)i + 5) : 0); note(bad, a, 0, op_##n(a), md_##n(a)); } }
F64FORMS(K)
#undef K
/* digests */
#define K(n, s) __global__ void d_##n(u32 first, u32 step, u32 *out) { u32 i = blockIdx.x * 256 + threadIdx.x; atomicAdd(out + (i >> 17), mix(op_##n(first + i * step), i)); }
F32FORMS(K)
#undef K
__device__ inline u32 op_tanh_ftz(u32) { return 0; }
__global__ void d_tanh_ftz(u32, u32, u32 *) {}
#define K(n, s) __global__ void d_##n(u32 *out) { u32 i = blockIdx.x * 256 + threadIdx.x; atomicAdd(out + (i >> 14), mix(op_##n(i), i)); }
HALFFORMS(K)
#undef K
#define K(n, s) __global__ void d_##n(u32 *out) { u32 i = blockIdx.x * 256 + threadIdx.x; atomicAdd(out + (i >> 17), mix(op_##n(hash(2 * i), hash(2 * i + 1)), i)); }
DIVFORMS(K)
#undef K
/* f64: upper words first + i * step, lower words hash(i) */
#define K(n, s) __global__ void d_##n(u32 first, u32 step, u32 *out) { u32 i = blockIdx.x * 256 + threadIdx.x; u64 r = op_##n((u64)(first + i * step) << 32 | hash(i)); atomicAdd(out + (i >> 17), mix((u32)(r >> 32) + 3 * (u32)r, i)); }
F64FORMS(K)
#undef K
static Bad *db, hb; static u32 *dd, hd[4096]; static FILE *out;
static void bad(const char *n) { CK(cudaDeviceSynchronize()); CK(cudaMemcpy(&hb, db, sizeof hb, cudaMemcpyDeviceToHost)); CK(cudaMemset(db, 0, sizeof hb));
  printf("%s: %llu differ\n", n, hb.n); for (unsigned k = 0; k < hb.n && k < 8; k++) printf("   %llx %llx hw %llx model %llx\n", (unsigned long long)hb.in[k][0], (unsigned long long)hb.in[k][1], (unsigned long long)hb.hw[k], (unsigned long long)hb.md[k]); fflush(stdout); }
static void digest(const char *n, int z, u32 first, u32 step, int chunks) { CK(cudaDeviceSynchronize()); CK(cudaMemcpy(hd, dd, sizeof hd, cudaMemcpyDeviceToHost)); CK(cudaMemset(dd, 0, sizeof hd));
  fprintf(out, "%s %d %08x %u %d", n, z, first, step, chunks); for (int i = 0; i < chunks; i++) fprintf(out, " %08x", hd[i]); fprintf(out, "\n"); }
int main(int, char **v) {
  out = fopen(v[1], "w"); CK(cudaMalloc(&db, sizeof hb)); CK(cudaMalloc(&dd, sizeof hd)); CK(cudaMemset(db, 0, sizeof hb)); CK(cudaMemset(dd, 0, sizeof hd));
#define S(n, s) v_##n<<<132 * 8, 256>>>(db); bad(#n " all 2^32");
  F32FORMS(S) HALF2FORMS(S)
#undef S
#define S(n, s) v_##n<<<132 * 8, 256>>>(db, 0, 1ull << 33); bad(#n " any"); v_##n<<<132 * 8, 256>>>(db, 1, 1ull << 33); bad(#n " near the ends"); v_##n<<<132 * 8, 256>>>(db, 2, 1ull << 32); bad(#n " in 1..2"); v_##n<<<132 * 8, 256>>>(db, 3, 1024); bad(#n " corners");
  DIVFORMS(S)
#undef S
#define S(n, s) v_##n<<<132 * 8, 256>>>(db, 1ull << 32); bad(#n " all upper words");
  F64FORMS(S)
#undef S
#define X(n, z, first, step, chunks) if (z) d_##n##_ftz<<<chunks * 512, 256>>>(first, step, dd); else d_##n<<<chunks * 512, 256>>>(first, step, dd); digest(#n, z, first, step, chunks);
  RANGES(X)
#undef X
#define S(n, s) d_##n<<<256, 256>>>(dd); digest(#n, 0, 0, 1, 4);
  HALFFORMS(S)
#undef S
#define S(n, s) d_##n<<<4096, 256>>>(dd); digest(#n, 0, 0, 1, 8);
  DIVFORMS(S)
#undef S
#define S(n, s) d_##n<<<8192, 256>>>(0x3ff00000, 1, dd); digest(#n, 0, 0x3ff00000, 1, 16); d_##n<<<4096, 256>>>(0, 4093, dd); digest(#n, 0, 0, 4093, 8);
  F64FORMS(S)
#undef S
  fclose(out); return 0;
}
