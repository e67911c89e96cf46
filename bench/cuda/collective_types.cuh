/* The arithmetic of collectives' elements: of C's types, and of half. */
#ifndef BENCH_CUDA_COLLECTIVE_TYPES_CUH
#define BENCH_CUDA_COLLECTIVE_TYPES_CUH

#include <cuda_fp16.h>

template <class T> static __device__ T sum(T a, T b)
{
    return (T)(a + b);
}

template <class T> static __device__ T product(T a, T b)
{
    return (T)(a * b);
}

template <class T> static __device__ T larger(T a, T b)
{
    return a < b ? b : a;
}

template <class T> static __device__ T smaller(T a, T b)
{
    return b < a ? b : a;
}

/* By a number of ranks; only of integers (COLLECTIVE_MEAN). */
template <class T> static __device__ T quotient(T a, uint32_t divisor)
{
    return (T)(a / (T)divisor);
}

/* Whether several are moved at a time. */
template <class T> static __device__ bool comes_in_packs(T)
{
    return true;
}

static __device__ __half sum(__half a, __half b)
{
    return __hadd_rn(a, b);
}

static __device__ __half product(__half a, __half b)
{
    return __hmul_rn(a, b);
}

static __device__ __half larger(__half a, __half b)
{
    return __hlt(a, b) ? b : a;
}

static __device__ __half smaller(__half a, __half b)
{
    return __hlt(b, a) ? b : a;
}

static __device__ __half quotient(__half a, uint32_t)
{
    return a;
}

#endif
