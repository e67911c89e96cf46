/* Managed memory of several GPUs: pages that move between them and the program, that both use at once, copies
 * of pages, advice, prefetches, eviction, and memory that is freed while it is away. What comes out is
 * checked; over ranks, all bytes of statistics must be those of one process. */
#include "check.h"

enum { N = 32 * 1024, THREADS = 256, ROUNDS = 4 };

__global__ void add(unsigned *data, unsigned n, unsigned step, unsigned first, unsigned more)
{
    for (unsigned i = (blockIdx.x * blockDim.x + threadIdx.x) * step + first; i < n;
         i += gridDim.x * blockDim.x * step)
        data[i] += more;
}

__global__ void count(unsigned *counter, unsigned rounds)
{
    for (unsigned i = 0; i < rounds; i++)
        atomicAdd_system(counter, 1);
}

__global__ void sum(const unsigned *data, unsigned n, unsigned long long *out)
{
    unsigned long long own = 0;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x)
        own += data[i];
    atomicAdd(out, own);
}

/* Answers questions of the program's, in words of a page that another GPU uses, too. */
__global__ void answer(volatile unsigned *line, unsigned rounds)
{
    for (unsigned round = 1; round <= rounds; round++) {
        while (line[0] < round)
            ;
        line[1] = 3 * line[2] + line[3 + round % 4];
        line[8 + round % 4] = line[1];
        __threadfence_system();
        line[7] = round;
    }
}

static unsigned *data, *other;
static unsigned long long *sums;
static int gpus;

static void on(int gpu)
{
    GOOD(cudaSetDevice(gpu % gpus));
}

static void wait_all(void)
{
    for (int i = 0; i < gpus; i++) {
        on(i);
        GOOD(cudaDeviceSynchronize());
    }
}

static void check_all(unsigned add)
{
    unsigned wrong = 0;
    for (unsigned i = 0; i < N; i++)
        wrong += data[i] != i + add;
    CHECK(!wrong);
}

int main(void)
{
    GOOD(cudaGetDeviceCount(&gpus));
    GOOD(cudaMallocManaged(&data, N * sizeof *data));
    GOOD(cudaMallocManaged(&sums, 4096));
    for (unsigned i = 0; i < N; i++)
        data[i] = i;
    /* from GPU to GPU, and home */
    for (int i = 0; i < 3; i++) {
        on(i);
        add<<<24, THREADS>>>(data, N, 1, 0, 1);
        wait_all();
        data[i * 1000] += 5; /* of a page that the GPU has */
        data[i * 1000] -= 5;
        data[i * 1000 + 1] += 7;
    }
    for (int i = 0; i < 3; i++)
        data[i * 1000 + 1] -= 7;
    check_all(3);
    /* words of the same pages, from all at once, while the program writes to others */
    for (int i = 0; i < 4; i++) {
        on(i);
        add<<<8, THREADS>>>(data, N, 5, (unsigned)i, 1);
        for (unsigned k = 4; k < N; k += 50)
            data[k] += 1;
    }
    wait_all();
    for (unsigned k = 4; k < N; k += 50)
        data[k] -= 4;
    for (unsigned k = 4; k < N; k += 5)
        data[k]++;
    check_all(4);
    /* one word */
    *sums = 0;
    for (int i = 0; i < 2; i++) {
        on(i);
        count<<<4, 32>>>((unsigned *)sums, 20);
    }
    wait_all();
    CHECK(*sums == (unsigned long long)2 * 4 * 32 * 20);
    /* read by all; then one writes */
    GOOD(cudaMemAdvise(data, N * sizeof *data, cudaMemAdviseSetReadMostly,
                       (cudaMemLocation){cudaMemLocationTypeDevice, 0}));
    for (int i = 0; i < 3; i++) {
        on(i);
        sums[i] = 0;
        sum<<<16, THREADS>>>(data, N, &sums[i]);
    }
    wait_all();
    CHECK(sums[0] == sums[1] && sums[1] == sums[2] &&
          sums[0] == (unsigned long long)N * (N - 1) / 2 + 4ull * N);
    on(1);
    add<<<16, THREADS>>>(data, N / 2, 1, 0, 1);
    on(0);
    add<<<16, THREADS>>>(data + N / 2, N / 2, 1, 0, 1);
    wait_all();
    data[17] += 1;
    data[17] -= 1;
    check_all(5);
    GOOD(cudaMemAdvise(data, N * sizeof *data, cudaMemAdviseUnsetReadMostly,
                       (cudaMemLocation){cudaMemLocationTypeDevice, 0}));
    /* prefetches while another works on it, and copies into it */
    for (int i = 0; i < 2; i++) {
        on(i);
        add<<<16, THREADS>>>(data, N, 2, (unsigned)i, 1);
        GOOD(cudaMemPrefetchAsync(data, N * sizeof *data / 2,
                                  (cudaMemLocation){cudaMemLocationTypeDevice, (i + 1) % gpus}, 0, 0));
    }
    wait_all();
    check_all(6);
    unsigned *device;
    on(1);
    GOOD(cudaMalloc(&device, N * sizeof *device));
    GOOD(cudaMemcpy(device, data, N * sizeof *data, cudaMemcpyDefault));
    add<<<16, THREADS>>>(device, N, 1, 0, 1);
    on(0);
    add<<<16, THREADS>>>(data + N / 2, N / 2, 1, 0, 1);
    on(1);
    GOOD(cudaMemcpyAsync(data, device, N / 2 * sizeof *data, cudaMemcpyDefault, 0));
    wait_all();
    check_all(7);
    /* stays at the host, and is reached there */
    GOOD(cudaMemAdvise(data, N * sizeof *data / 2, cudaMemAdviseSetPreferredLocation,
                       (cudaMemLocation){cudaMemLocationTypeHost, 0}));
    GOOD(cudaMemPrefetchAsync(data, N * sizeof *data / 2, (cudaMemLocation){cudaMemLocationTypeHost, 0}, 0,
                              0));
    for (int i = 0; i < 2; i++) {
        on(i);
        add<<<8, THREADS>>>(data, N, 2, (unsigned)i, 1);
    }
    wait_all();
    check_all(8);
    /* freed while GPUs have it; what comes there is new */
    GOOD(cudaMallocManaged(&other, N * sizeof *other));
    on(1);
    add<<<16, THREADS>>>(other, N, 1, 0, 9);
    wait_all();
    GOOD(cudaFree(other));
    GOOD(cudaFree(data));
    GOOD(cudaMallocManaged(&data, N * sizeof *data));
    GOOD(cudaMallocManaged(&other, N * sizeof *other));
    memset(data, 0, N * sizeof *data);
    memset(other, 0, N * sizeof *other);
    on(1);
    add<<<16, THREADS>>>(data, N, 1, 0, 3);
    on(0);
    add<<<16, THREADS>>>(other, N, 1, 0, 4);
    wait_all();
    unsigned long long all = 0;
    for (unsigned i = 0; i < N; i++)
        all += data[i] + other[i];
    CHECK(all == 7ull * N);
    /* it takes turns with the program, which looks on while kernels run */
    for (unsigned i = 0; i < N; i++)
        data[i] = i;
    for (int round = 0; round < 6; round++) {
        on(round);
        add<<<4, THREADS>>>(data, N, 1, 0, 1);
        while (cudaStreamQuery(0) == cudaErrorNotReady)
            other[round]++;
        data[round * 1000] ^= 1;
        data[round * 1000] ^= 1;
    }
    check_all(6);
    for (int round = 0; round < 6; round++)
        printf("%u%c", other[round], round < 5 ? ' ' : '\n');
    /* kernels answer the program, which changes the page that GPUs have, or that goes from one to the other
     */
    memset(other, 0, 65536);
    unsigned wrong = 0;
    int kernels = gpus > 1 ? 2 : 1; /* a second one on the same GPU would wait for the first one's end */
    for (int i = 0; i < kernels; i++) {
        on(i);
        answer<<<1, 1>>>(other + 16 * i, ROUNDS);
    }
    for (unsigned round = 1; round <= ROUNDS; round++)
        for (int i = 0; i < kernels; i++) {
            volatile unsigned *line = other + 16 * i;
            line[2] = 5 * round + (unsigned)i;
            line[3 + round % 4] = round * round;
            line[0] = round;
            on(i);
            while (line[7] < round)
                cudaStreamQuery(0);
            wrong += line[1] != 3 * line[2] + round * round;
        }
    wait_all();
    CHECK(!wrong);
    GOOD(cudaFree(other));
    return check_end("managed");
}
