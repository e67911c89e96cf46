/* Vectors of 16 bytes, one to a work-item and step of the whole launch. */
__kernel void micro_gcn3_read(uint n, __global const uint4 *from, __global uint4 *to)
{
    uint4 sum = (uint4)(0);
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        sum += from[i];
    to[get_global_id(0)] = sum;
}

__kernel void micro_gcn3_write(uint n, __global const uint4 *from, __global uint4 *to)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        to[i] = (uint4)(i);
}

__kernel void micro_gcn3_copy(uint n, __global const uint4 *from, __global uint4 *to)
{
    for (uint i = get_global_id(0); i < n; i += get_global_size(0))
        to[i] = from[i];
}
