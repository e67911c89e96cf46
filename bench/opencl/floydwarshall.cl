/* Nobody writes what another one reads: a way to or from `through` is not shorter through it. */
__kernel void floydwarshall(uint n, uint through, __global uint *lengths, __global uint *via)
{
    uint x = get_global_id(0), y = get_global_id(1);
    if (x >= n || y >= n)
        return;
    uint length = lengths[y * n + through] + lengths[through * n + x];
    if (length < lengths[y * n + x]) {
        lengths[y * n + x] = length;
        via[y * n + x] = through;
    }
}
