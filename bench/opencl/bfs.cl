/* Several work-items may reach a node; all of them write the same. */
__kernel void bfs(uint nodes, uint level, __global const uint *starts, __global const uint *ends,
                  __global uint *levels, __global uint *more)
{
    uint node = get_global_id(0);
    if (node >= nodes || levels[node] != level)
        return;
    for (uint edge = starts[node]; edge < starts[node + 1]; edge++) {
        uint end = ends[edge];
        if (levels[end] == UINT_MAX) {
            levels[end] = level + 1;
            *more = 1;
        }
    }
}
