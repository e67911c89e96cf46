#pragma OPENCL FP_CONTRACT OFF
enum { BLOCK = 64 };
#define SOFTENING 0.01f
#define DT        0.001f

static float3 accelerate(float3 a, float4 me, float4 other)
{
    float x = other.x - me.x, y = other.y - me.y, z = other.z - me.z;
    float inverse = rsqrt(fma(x, x, fma(y, y, fma(z, z, SOFTENING))));
    float pull = other.w * inverse * inverse * inverse;
    return (float3)(fma(pull, x, a.x), fma(pull, y, a.y), fma(pull, z, a.z));
}

static float4 advance(float4 from, float3 rate)
{
    return (float4)(fma(rate.x, DT, from.x), fma(rate.y, DT, from.y), fma(rate.z, DT, from.z), from.w);
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void nbody(uint n, __global const float4 *bodies, __global float4 *velocities, __global float4 *moved)
{
    __local float4 tile[BLOCK];
    uint i = get_global_id(0), at = get_local_id(0);
    float4 me = i < n ? bodies[i] : (float4)(0);
    float3 a = (float3)(0);
    for (uint start = 0; start < n; start += BLOCK) {
        uint count = min((uint)BLOCK, n - start);
        if (at < count)
            tile[at] = bodies[start + at];
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint j = 0; j < count; j++)
            a = accelerate(a, me, tile[j]);
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (i < n) {
        float4 velocity = advance(velocities[i], a);
        velocities[i] = velocity;
        moved[i] = advance(me, velocity.xyz);
    }
}
