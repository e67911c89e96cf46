/* Elements of NCCL that C has no type for. They compute in float and round once. */
#ifndef RUNTIME_NCCL_TYPES_CUH
#define RUNTIME_NCCL_TYPES_CUH

#include <cuda_fp8.h>
#include <stdint.h>

struct bfloat {
    uint16_t bits;
};

static __device__ float widen(struct bfloat value)
{
    return __uint_as_float((uint32_t)value.bits << 16);
}

/* To the nearest, ties to even. */
static __device__ void narrow(float value, struct bfloat *to)
{
    uint32_t bits = __float_as_uint(value);
    to->bits = (uint16_t)(value != value ? 0x7fff : (bits + 0x7fff + (bits >> 16 & 1)) >> 16);
}

template <__nv_fp8_interpretation_t KIND> struct float8 {
    __nv_fp8_storage_t bits;
};

/* GPUs before sm_89 convert by long code, so there is one copy of it. */
template <__nv_fp8_interpretation_t KIND> __device__ __noinline__ float widen(struct float8<KIND> value)
{
    return __half2float(__half(__nv_cvt_fp8_to_halfraw(value.bits, KIND)));
}

template <__nv_fp8_interpretation_t KIND> __device__ __noinline__ __nv_fp8_storage_t rounded(float value)
{
    return __nv_cvt_float_to_fp8(value, __NV_SATFINITE, KIND);
}

template <__nv_fp8_interpretation_t KIND> static __device__ void narrow(float value, struct float8<KIND> *to)
{
    to->bits = rounded<KIND>(value);
}

/* One by one, as each takes long code. */
template <__nv_fp8_interpretation_t KIND> static __device__ bool comes_in_packs(struct float8<KIND>)
{
    return false;
}

#define THROUGH_FLOAT(head, type)                                                                            \
    head static __device__ type sum(type a, type b)                                                          \
    {                                                                                                        \
        type result;                                                                                         \
        narrow(widen(a) + widen(b), &result);                                                                \
        return result;                                                                                       \
    }                                                                                                        \
    head static __device__ type product(type a, type b)                                                      \
    {                                                                                                        \
        type result;                                                                                         \
        narrow(widen(a) * widen(b), &result);                                                                \
        return result;                                                                                       \
    }                                                                                                        \
    head static __device__ type larger(type a, type b)                                                       \
    {                                                                                                        \
        return widen(a) < widen(b) ? b : a;                                                                  \
    }                                                                                                        \
    head static __device__ type smaller(type a, type b)                                                      \
    {                                                                                                        \
        return widen(b) < widen(a) ? b : a;                                                                  \
    }                                                                                                        \
    head static __device__ type quotient(type a, uint32_t)                                                   \
    {                                                                                                        \
        return a;                                                                                            \
    }
THROUGH_FLOAT(, struct bfloat)
THROUGH_FLOAT(template <__nv_fp8_interpretation_t KIND>, struct float8<KIND>)

#endif
