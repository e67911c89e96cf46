#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable
enum { DIMENSIONS = 4, BLOCK = 128, MOST = 256 };

static uint square_distance(int4 a, int4 b)
{
    int4 d = a - b;
    return d.x * d.x + d.y * d.y + d.z * d.z + d.w * d.w;
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void kmeans_assign(uint n, uint k, __global const int4 *points, __global const int4 *centers,
                   __global uint *labels, __global ulong *sums, __global uint *counts)
{
    __local int4 near[MOST];
    uint i = get_global_id(0), nearest = 0, least = UINT_MAX;
    for (uint c = get_local_id(0); c < k; c += BLOCK)
        near[c] = centers[c];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (i >= n)
        return;
    int4 point = points[i];
    for (uint c = 0; c < k; c++) {
        uint square = square_distance(point, near[c]);
        if (square < least)
            least = square, nearest = c;
    }
    labels[i] = nearest;
    atomic_inc(&counts[nearest]);
    atom_add(&sums[nearest * DIMENSIONS], (ulong)point.x);
    atom_add(&sums[nearest * DIMENSIONS + 1], (ulong)point.y);
    atom_add(&sums[nearest * DIMENSIONS + 2], (ulong)point.z);
    atom_add(&sums[nearest * DIMENSIONS + 3], (ulong)point.w);
}

/* A work-group to a center, an item to a dimension; sums and counts are zero again afterwards. */
__kernel __attribute__((reqd_work_group_size(DIMENSIONS, 1, 1)))
void kmeans_update(__global int *centers, __global ulong *sums, __global uint *counts)
{
    uint center = get_group_id(0), i = get_global_id(0), count = counts[center];
    if (count) /* else it stays where it is */
        centers[i] = sums[i] / count;
    sums[i] = 0;
    barrier(CLK_GLOBAL_MEM_FENCE); /* all have read the count */
    if (get_local_id(0) == 0)
        counts[center] = 0;
}
