/* More managed memory than GPUs have room for: blocks of 2 MiB leave for others, while the program writes to
 * words of the same pages that no GPU uses. */
#include "check.h"
enum { N = 3 << 18, THREADS = 256 };
__global__ void add(unsigned *data, unsigned n, unsigned stride, unsigned more)
{
    for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * stride; i < n;
         i += gridDim.x * blockDim.x * stride)
        data[i] += more;
}
int main(void)
{
    unsigned *a[3], wrong = 0, looks = 0;
    int gpus;
    GOOD(cudaGetDeviceCount(&gpus));
    for (int i = 0; i < 3; i++) {
        GOOD(cudaMallocManaged(&a[i], N * sizeof *a[i]));
        for (unsigned k = 0; k < N; k++)
            a[i][k] = k * (i + 1);
    }
    for (int round = 0; round < 4; round++)
        for (int i = 0; i < 3; i++) {
            GOOD(cudaSetDevice((round + i) % gpus));
            add<<<16, THREADS>>>(a[i], N, 16, 1);
            if (round == 2)
                GOOD(cudaMemPrefetchAsync(a[(i + 1) % 3], N * 4,
                                          (cudaMemLocation){cudaMemLocationTypeDevice, (round + i) % gpus}, 0,
                                          0));
            if (round & 1) {
                for (int n = 0; n < 40 && cudaStreamQuery(0) == cudaErrorNotReady; n++) {
                    a[i][looks * 1531 % N | 1]++; /* words that no GPU writes to, of pages that move */
                    looks++;
                }
            }
        }
    for (int i = 0; i < gpus; i++) {
        GOOD(cudaSetDevice(i));
        GOOD(cudaDeviceSynchronize());
    }
    unsigned long long extra = 0;
    for (int i = 0; i < 3; i++)
        for (unsigned k = 0; k < N; k++) {
            unsigned d = a[i][k] - k * (i + 1);
            if (k % 16 == 0)
                wrong += d != 4;
            else
                extra += d;
        }
    CHECK(!wrong);
    CHECK(extra == looks);
    printf("%u %u %llu\n", wrong, looks, extra);
    return check_end("managed_room");
}
