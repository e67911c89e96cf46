/* The counts of a work-group are local memory whose size comes with the launch: a last argument of its own. */
__attribute__((amdgpu_flat_work_group_size(1, 1024))) /* not 256 */
__kernel void histogram(uint n, uint bins, __global const uint *in, __global uint *counts,
                        __local uint *local_counts)
{
    for (uint i = get_local_id(0); i < bins; i += get_local_size(0))
        local_counts[i] = 0;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        atomic_inc(&local_counts[in[i]]);
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = get_local_id(0); i < bins; i += get_local_size(0))
        if (local_counts[i])
            atomic_add(&counts[i], local_counts[i]);
}
