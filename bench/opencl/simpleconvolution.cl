__kernel void simpleconvolution(int width, int height, int radius, __global const float *mask,
                                __global const float *image, __global float *out)
{
    int x = get_global_id(0), y = get_global_id(1);
    float sum = 0;
    if (x >= width || y >= height)
        return;
    for (int j = -radius; j <= radius; j++)
        for (int i = -radius; i <= radius; i++, mask++)
            if (x + i >= 0 && x + i < width && y + j >= 0 && y + j < height)
                sum = fma(*mask, image[(y + j) * width + x + i], sum);
    out[y * width + x] = sum;
}
