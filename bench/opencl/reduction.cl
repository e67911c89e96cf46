enum { LANES = 64, MOST = 1024 };

/* out[g] = the sum of what work-group g read: of each wavefront's items first, then of the wavefronts. */
__attribute__((amdgpu_flat_work_group_size(1, 1024))) /* not 256 */
__kernel void reduction(uint n, __global const uint *in, __global uint *out)
{
    __local uint sums[MOST];
    uint me = get_local_id(0), lane = me % LANES, wavefronts = get_local_size(0) / LANES, sum = 0;
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += in[i];
    sums[me] = sum;
    for (uint distance = LANES / 2; distance > 0; distance /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (lane < distance)
            sums[me] += sums[me + distance];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    if (me == 0) {
        sum = 0;
        for (uint wavefront = 0; wavefront < wavefronts; wavefront++)
            sum += sums[wavefront * LANES];
        out[get_group_id(0)] = sum;
    }
}
