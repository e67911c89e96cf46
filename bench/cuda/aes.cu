#include "native.cuh"
#include "aes.c"

/* A column of the state is a word, its first row in the low byte; all of these work on columns. */
static __device__ unsigned shifted(const unsigned char *sbox, unsigned a, unsigned b, unsigned c, unsigned d)
{
    return sbox[a & 0xff] | sbox[b >> 8 & 0xff] << 8 | sbox[c >> 16 & 0xff] << 16 | sbox[d >> 24] << 24;
}

static __device__ unsigned doubled(unsigned a)
{
    return (a & 0x7f7f7f7f) << 1 ^ (a >> 7 & 0x01010101) * 0x1b;
}

static __device__ unsigned rotated(unsigned a, unsigned bits)
{
    return a >> bits | a << (32 - bits);
}

static __device__ unsigned mixed(unsigned a)
{
    return doubled(a) ^ doubled(rotated(a, 8)) ^ rotated(a, 8) ^ rotated(a, 16) ^ rotated(a, 24);
}

extern "C" __global__ void aes(unsigned n, const unsigned char *sbox, const uint4 *keys, uint4 *text)
{
    __shared__ unsigned char local[256];
    unsigned i = blockIdx.x * AES_BLOCK + threadIdx.x;
    for (unsigned at = threadIdx.x; at < 256; at += AES_BLOCK)
        local[at] = sbox[at];
    __syncthreads();
    if (i >= n)
        return;
    uint4 s = text[i], key = keys[0];
    s.x ^= key.x, s.y ^= key.y, s.z ^= key.z, s.w ^= key.w;
    for (unsigned round = 1; round <= AES_ROUNDS; round++) {
        uint4 t = make_uint4(shifted(local, s.x, s.y, s.z, s.w), shifted(local, s.y, s.z, s.w, s.x),
                             shifted(local, s.z, s.w, s.x, s.y), shifted(local, s.w, s.x, s.y, s.z));
        if (round < AES_ROUNDS)
            t = make_uint4(mixed(t.x), mixed(t.y), mixed(t.z), mixed(t.w));
        key = keys[round];
        s = make_uint4(t.x ^ key.x, t.y ^ key.y, t.z ^ key.z, t.w ^ key.w);
    }
    text[i] = s;
}

WORKLOAD_MAIN(aes, KERNEL(aes))
