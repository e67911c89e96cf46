__kernel void matmul_naive(uint m, uint n, uint k, __global const float *a, __global const float *b,
                           __global float *c)
{
    uint row = get_global_id(1), column = get_global_id(0);
    float sum = 0;
    if (row >= m || column >= n)
        return;
    for (uint i = 0; i < k; i++)
        sum = fma(a[row * k + i], b[i * n + column], sum);
    c[row * n + column] = sum;
}
