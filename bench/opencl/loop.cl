/* Written out rather than shared with the host's side: the reference must stand on its own. */
__attribute__((amdgpu_flat_work_group_size(1, 1024))) /* not 256 */
__kernel void loop_int(uint rounds, __global uint *out)
{
    uint thread = get_global_id(0);
    uint a = thread, b = thread ^ 0x9e3779b9u, c = 1, d = 7;
    for (uint i = 0; i < rounds; i++) {
        a = a * 1664525u + b;
        b = (b >> 3 ^ c) + i;
        c = (c << 1) + (a & d);
        d = d ^ (a + c);
    }
    out[thread] = a ^ b ^ c ^ d;
}

__attribute__((amdgpu_flat_work_group_size(1, 1024)))
__kernel void loop_fma(uint rounds, __global float *out)
{
    uint thread = get_global_id(0);
    float a = (float)thread, b = 1.0f, c = 0.5f, d = 0.25f;
    for (uint i = 0; i < rounds; i++) {
        a = fma(a, 0.999f, b);
        b = fma(b, 0.998f, c);
        c = fma(c, 0.997f, d);
        d = fma(d, 0.996f, 0.001f);
    }
    out[thread] = a + b + c + d;
}

__attribute__((amdgpu_flat_work_group_size(1, 1024)))
__kernel void loop_diverge(uint rounds, __global uint *out)
{
    uint thread = get_global_id(0), steps = 0;
    for (ulong x = thread + 1; x != 1 && steps < rounds; steps++)
        x = x & 1 ? 3 * x + 1 : x >> 1;
    out[thread] = steps;
}
