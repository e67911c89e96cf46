/* Kernels with every kind of argument, for the loader's tests. */
constant int table[4] = {1, 2, 3, 4};

kernel void vecadd(global const float *restrict a, global float *b, volatile global float *c, int n)
{
    int i = get_global_id(0);
    if (i < n)
        c[i] = a[i] + b[i];
}

kernel __attribute__((reqd_work_group_size(16, 4, 1))) void locals(local float *x, local double2 *y,
                                                                   global float *out, constant float *k, float4 v)
{
    local int s[100];
    int l = get_local_id(0);
    s[l] = l;
    x[l] = l;
    y[l] = v.x;
    barrier(CLK_LOCAL_MEM_FENCE);
    out[get_global_id(0)] = s[l ^ 1] + x[l ^ 1] + y[l ^ 2].x + k[l] + table[l & 3] + get_global_size(1);
}

struct record {
    int a;
    char b;
    double c;
};

kernel void images(read_only image2d_t in, write_only image2d_t out, sampler_t how, struct record q,
                   global struct record *p)
{
    int2 at = (int2)(get_global_id(0), get_global_id(1));
    write_imagef(out, at, read_imagef(in, how, at));
    p[0] = q;
}
