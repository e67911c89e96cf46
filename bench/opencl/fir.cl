__kernel void fir(uint n, uint taps, __global const float *weights, __global const float *in,
                  __global float *out)
{
    uint i = get_global_id(0);
    float sum = 0;
    if (i >= n)
        return;
    for (uint tap = 0; tap < taps && tap <= i; tap++)
        sum = fma(weights[tap], in[i - tap], sum);
    out[i] = sum;
}
