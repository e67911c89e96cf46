#include "native.cuh"
#include "nbody.c"

static __device__ void accelerate(float4 *a, float4 me, float4 other)
{
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float inverse = rsqrtf(fmaf(x, x, fmaf(y, y, fmaf(z, z, NBODY_SOFTENING))));
    float pull = other.w * inverse * inverse * inverse;
    a->x = fmaf(pull, x, a->x), a->y = fmaf(pull, y, a->y), a->z = fmaf(pull, z, a->z);
}

static __device__ float4 advance(float4 from, float4 rate)
{
    return make_float4(fmaf(rate.x, NBODY_DT, from.x), fmaf(rate.y, NBODY_DT, from.y),
                       fmaf(rate.z, NBODY_DT, from.z), from.w);
}

extern "C" __global__ void nbody(unsigned n, const float4 *bodies, float4 *velocities, float4 *moved)
{
    __shared__ float4 tile[NBODY_BLOCK];
    unsigned i = blockIdx.x * NBODY_BLOCK + threadIdx.x;
    float4 me = i < n ? bodies[i] : make_float4(0, 0, 0, 0), a = make_float4(0, 0, 0, 0);
    for (unsigned start = 0; start < n; start += NBODY_BLOCK) {
        unsigned count = min((unsigned)NBODY_BLOCK, n - start);
        if (threadIdx.x < count)
            tile[threadIdx.x] = bodies[start + threadIdx.x];
        __syncthreads();
        for (unsigned j = 0; j < count; j++)
            accelerate(&a, me, tile[j]);
        __syncthreads();
    }
    if (i < n) {
        float4 velocity = advance(velocities[i], a);
        velocities[i] = velocity;
        moved[i] = advance(me, velocity);
    }
}

WORKLOAD_MAIN(nbody, KERNEL(nbody))
