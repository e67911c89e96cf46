#pragma OPENCL FP_CONTRACT OFF
enum { BLOCK = 128, MOST = 2048 };

/* Each step reads one half of the local memory and writes the other. */
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void fft(uint n, __global const float2 *roots, __global float2 *data)
{
    __local float2 halves[2][MOST];
    uint me = get_local_id(0), now = 0;
    data += get_group_id(0) * n;
    for (uint i = me; i < n; i += BLOCK)
        halves[0][i] = data[i];
    for (uint size = 1; size < n; size *= 2, now ^= 1) {
        barrier(CLK_LOCAL_MEM_FENCE);
        for (uint i = me; i < n / 2; i += BLOCK) {
            uint within = i & (size - 1), out = 2 * i - within;
            float2 a = halves[now][i], b = halves[now][i + n / 2], root = roots[within * (n / 2 / size)];
            float x = fma(b.x, root.x, -(b.y * root.y)), y = fma(b.x, root.y, b.y * root.x);
            halves[now ^ 1][out] = (float2)(a.x + x, a.y + y);
            halves[now ^ 1][out + size] = (float2)(a.x - x, a.y - y);
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i < n; i += BLOCK)
        data[i] = halves[now][i];
}
