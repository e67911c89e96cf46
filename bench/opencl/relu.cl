__attribute__((amdgpu_flat_work_group_size(1, 1024))) /* not 256 */
__kernel void relu(uint n, __global const float *x, __global float *y)
{
    uint i = get_global_id(0);
    if (i < n)
        y[i] = x[i] > 0 ? x[i] : 0;
}
