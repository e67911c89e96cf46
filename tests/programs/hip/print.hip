// printf in kernels: all conversions, long texts, several waves, and lanes that are off.
#include <hip/hip_runtime.h>
#include <stdio.h>

__global__ void conversions(const char *given)
{
    printf("%d %i %u %x %X %o|", -1, 2147483647, 4294967295u, 0xabcu, 0xABCu, 8u);
    printf("%ld %lld %lu %hd %hhd|", -(1l << 40), 1ll << 62, ~0ul, (short)-3, (signed char)-4);
    printf("%5d|%-5d|%05d|%+d|%*d|%.*f|", 7, 7, 7, 7, 4, 7, 2, 3.14159);
    printf("%f %e %g %.3f %a|", 1.5, 1.5e10, 0.1f, 2.0 / 3, 1.0);
    printf("%c%c %s %.3s %10s %%|\n", 'o', 'k', given, "abcdef", "right");
    printf("%p %d\n", (void *)0x1234, printf("counted\n"));
}

__global__ void many()
{
    if (threadIdx.x % 40 == 1)
        printf("block %d, thread %d: a text that is longer than the seven words that one packet of a host call can "
               "take: %s\n",
               (int)blockIdx.x, (int)threadIdx.x,
               "and a long argument, too, which needs more than one of these packets of fifty-six bytes");
}

__global__ void loop(int n)
{
    for (int i = 0; i < n; i++)
        if (threadIdx.x == i)
            printf("%d%s", i, i + 1 == n ? "\n" : " ");
}

int main()
{
    char *text;
    if (hipHostMalloc((void **)&text, 64, 0))
        return 1;
    snprintf(text, 64, "given by the host");
    conversions<<<1, 1>>>(text);
    many<<<2, 100>>>();
    loop<<<1, 64>>>(20);
    if (hipDeviceSynchronize())
        return 1;
    printf("print: ok\n");
    return 0;
}
