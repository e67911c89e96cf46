enum { BLOCK = 256, TILE = 2 * BLOCK };

/* The lower place of pair `pair`, where the two of a pair are `distance` apart. */
static uint lower_of(uint pair, uint distance)
{
    return 2 * pair - pair % distance;
}

__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void bitonic_far(__global uint *data, uint size, uint distance)
{
    uint low = lower_of(get_global_id(0), distance);
    uint a = data[low], b = data[low + distance];
    if ((a > b) == ((low & size) == 0))
        data[low] = b, data[low + distance] = a;
}

/* The steps within tiles of the merges of `first` to `last` elements. */
__kernel __attribute__((reqd_work_group_size(BLOCK, 1, 1)))
void bitonic_near(__global uint *data, uint first, uint last)
{
    __local uint tile[TILE];
    uint me = get_local_id(0), base = get_group_id(0) * TILE;
    for (uint i = me; i < TILE; i += BLOCK)
        tile[i] = data[base + i];
    for (uint size = first; size <= last; size *= 2)
        for (uint distance = min(size, (uint)TILE) / 2; distance > 0; distance /= 2) {
            uint low = lower_of(me, distance);
            barrier(CLK_LOCAL_MEM_FENCE);
            uint a = tile[low], b = tile[low + distance];
            if ((a > b) == (((base + low) & size) == 0))
                tile[low] = b, tile[low + distance] = a;
        }
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint i = me; i < TILE; i += BLOCK)
        data[base + i] = tile[i];
}
