/* The Locality API in a HIP program: memory and blocks placed on members of a unified GPU. */
#include "../check.h"

#include <heddle_locality.h>
#include <hip/hip_runtime.h>
#include <vector>

enum { THREADS = 64, BLOCKS = 256, COUNT = THREADS * BLOCKS };

__global__ void step(int *words)
{
    int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
    words[i] = 2 * words[i] + 1;
}

int main(void)
{
    std::vector<int> words(COUNT);
    int *at;
    for (int i = 0; i < COUNT; i++)
        words[i] = i;
    GOOD(hipMalloc((void **)&at, sizeof(int) * COUNT));
    GOOD(hipMemcpy(at, words.data(), sizeof(int) * COUNT, hipMemcpyHostToDevice));
    unsigned members = heddle_locality_members(0);
    CHECK(members >= 1);
    std::vector<heddle_blocks> shares(members);
    for (unsigned i = 0; i < members; i++) {
        shares[i].first = BLOCKS * i / members;
        shares[i].end = BLOCKS * (i + 1) / members;
        shares[i].member = i;
        GOOD(heddle_locality_place_memory(at, shares[i].first * THREADS * 4,
                                          (shares[i].end - shares[i].first) * THREADS * 4, i));
    }
    GIVES(hipErrorInvalidValue, heddle_locality_place_memory(at, 0, sizeof(int) * COUNT, members));
    GOOD(heddle_locality_place_blocks(shares.data(), members));
    step<<<BLOCKS, THREADS>>>(at);
    GOOD(hipMemcpy(words.data(), at, sizeof(int) * COUNT, hipMemcpyDeviceToHost));
    int wrong = 0;
    for (int i = 0; i < COUNT; i++)
        wrong += words[i] != 2 * i + 1;
    CHECK(!wrong);
    printf("%u members\n", members);
    return check_end("locality");
}
