__attribute__((amdgpu_flat_work_group_size(1, 1024))) /* not 256 */
__kernel void vecadd(uint n, __global const float *a, __global const float *b, __global float *c)
{
    uint i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}
