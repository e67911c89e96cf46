/* Clusters of blocks: launches, special registers, each other's shared memory, barriers. Random sizes, and
 * sums on the host to compare with. */
#include "../check.h"

#include <cooperative_groups.h>
#include <cuda.h>
#include <stdint.h>

#include <vector>

namespace cg = cooperative_groups;

static uint32_t random_state = 7;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)random_state * below >> 32);
}

template <class... P, class... A>
static cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, dim3 cluster, A... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster.x;
    attribute[0].val.clusterDim.y = cluster.y;
    attribute[0].val.clusterDim.z = cluster.z;
    config.attrs = attribute;
    config.numAttrs = 1;
    cudaError_t error = cudaLaunchKernelEx(&config, kernel, P(arguments)...);
    cudaGetLastError();
    return error;
}

template <class T> static std::vector<T> fetch(const T *from, size_t count)
{
    std::vector<T> to(count);
    GOOD(cudaMemcpy(to.data(), from, count * sizeof(T), cudaMemcpyDeviceToHost));
    return to;
}

/* ---- special registers ---- */

__device__ static uint32_t block_number()
{
    return blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
}

enum { REGISTERS = 15 };

__global__ void registers(uint32_t *out)
{
    uint32_t *to = out + REGISTERS * block_number(), explicitly;
    cg::cluster_group cluster = cg::this_cluster();
    dim3 index = cluster.block_index(), size = cluster.dim_blocks(), id, count;
    asm("mov.u32 %0, %%clusterid.x;" : "=r"(id.x));
    asm("mov.u32 %0, %%clusterid.y;" : "=r"(id.y));
    asm("mov.u32 %0, %%clusterid.z;" : "=r"(id.z));
    asm("mov.u32 %0, %%nclusterid.x;" : "=r"(count.x));
    asm("mov.u32 %0, %%nclusterid.y;" : "=r"(count.y));
    asm("mov.u32 %0, %%nclusterid.z;" : "=r"(count.z));
    asm("{ .reg .pred p; mov.pred p, %%is_explicit_cluster; selp.u32 %0, 1, 0, p; }" : "=r"(explicitly));
    uint32_t values[REGISTERS] = {cluster.block_rank(), cluster.num_blocks(), index.x, index.y, index.z,
                                  size.x,  size.y,  size.z,  id.x,      id.y,
                                  id.z,    count.x, count.y, count.z,   explicitly};
    for (int i = 0; i < REGISTERS; i++)
        to[i] = values[i];
}

static void check_registers(uint32_t *out, dim3 grid, dim3 cluster, bool explicitly)
{
    if (explicitly)
        GOOD(launch(registers, grid, 32, 0, cluster, out));
    else
        registers<<<grid, 32>>>(out);
    std::vector<uint32_t> got = fetch(out, REGISTERS * grid.x * grid.y * grid.z);
    uint32_t wrong = 0;
    for (uint32_t z = 0; z < grid.z; z++)
        for (uint32_t y = 0; y < grid.y; y++)
            for (uint32_t x = 0; x < grid.x; x++) {
                const uint32_t *to = &got[REGISTERS * (x + grid.x * (y + grid.y * z))];
                uint32_t ix = x % cluster.x, iy = y % cluster.y, iz = z % cluster.z;
                uint32_t expected[REGISTERS] = {ix + cluster.x * (iy + cluster.y * iz),
                                                cluster.x * cluster.y * cluster.z,
                                                ix,
                                                iy,
                                                iz,
                                                cluster.x,
                                                cluster.y,
                                                cluster.z,
                                                x / cluster.x,
                                                y / cluster.y,
                                                z / cluster.z,
                                                grid.x / cluster.x,
                                                grid.y / cluster.y,
                                                grid.z / cluster.z,
                                                explicitly};
                for (int i = 0; i < REGISTERS; i++)
                    wrong += to[i] != expected[i];
            }
    CHECK(wrong == 0);
}

/* ---- addresses ---- */

__shared__ uint32_t variable[64];

enum { ADDRESSES = 14 };

__global__ void addresses(uint64_t *out)
{
    uint32_t own = (uint32_t)__cvta_generic_to_shared(variable), rank = cg::this_cluster().block_rank();
    uint32_t mapped, ranks[3], loaded[2], spaces[4];
    uint64_t generic = (uint64_t)variable, other = 1 - rank, far, back, far_rank_kept;
    variable[0] = 1000 + rank;
    cg::this_cluster().sync();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(own), "r"((uint32_t)other));
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(far) : "l"(generic), "r"((uint32_t)other));
    asm volatile("mapa.u64 %0, %1, %2;" : "=l"(far_rank_kept) : "l"(far), "r"(rank));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(ranks[0]) : "r"(own));
    asm volatile("getctarank.shared::cluster.u32 %0, %1;" : "=r"(ranks[1]) : "r"(mapped));
    asm volatile("getctarank.u64 %0, %1;" : "=r"(ranks[2]) : "l"(far));
    asm volatile("cvta.shared::cluster.u64 %0, %1;" : "=l"(back) : "l"((uint64_t)mapped));
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(loaded[0]) : "r"(mapped) : "memory");
    asm volatile("ld.shared::cluster.u32 %0, [%1];" : "=r"(loaded[1]) : "r"(own) : "memory");
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(spaces[0]) : "l"(generic));
    asm volatile("{ .reg .pred p; isspacep.shared::cta p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(spaces[1]) : "l"(far));
    asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(spaces[2]) : "l"(far));
    asm volatile("{ .reg .pred p; isspacep.shared::cluster p, %1; selp.u32 %0, 1, 0, p; }" : "=r"(spaces[3]) : "l"(out));
    uint64_t values[ADDRESSES] = {mapped - own, back - far,  far_rank_kept - generic, ranks[0],  ranks[1],
                                  ranks[2],     loaded[0],   loaded[1],               spaces[0], spaces[1],
                                  spaces[2],    spaces[3],   own >> 24,               (far - generic) & 0xffffffff};
    for (int i = 0; i < ADDRESSES && threadIdx.x == 0; i++)
        out[ADDRESSES * blockIdx.x + i] = values[i];
    cg::this_cluster().sync();
}

static void check_addresses(uint64_t *out)
{
    GOOD(launch(addresses, 2, 32, 0, 2, out));
    std::vector<uint64_t> got = fetch(out, 2 * ADDRESSES);
    for (uint32_t rank = 0; rank < 2; rank++) {
        uint64_t other = 1 - rank, step = rank ? (uint32_t)-0x1000000 : 0x1000000;
        uint64_t expected[ADDRESSES] = {step, 0, 0, rank, other, other, 1000 + other, 1000 + rank, 1, 0, 1, 0, rank, step};
        for (int i = 0; i < ADDRESSES; i++)
            if (got[ADDRESSES * rank + i] != expected[i]) {
                printf("address %d of block %u: 0x%llx, not 0x%llx\n", i, rank, (unsigned long long)got[ADDRESSES * rank + i], (unsigned long long)expected[i]);
                check_failures++;
            }
    }
}

/* ---- data ---- */

/* Blocks pass what they have around their cluster, by loads, stores and atomic operations of several widths.
 */
__global__ void exchange(uint32_t *out, uint32_t rounds, uint32_t seed)
{
    extern __shared__ uint32_t dynamic[];
    __shared__ uint32_t sums[4];
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank(), count = cluster.num_blocks(), n = blockDim.x, t = threadIdx.x;
    uint32_t *mine = dynamic, *received = dynamic + n;
    mine[t] = (block_number() * n + t) * 2654435761u + seed;
    if (t < 4)
        sums[t] = 0;
    cluster.sync();
    for (uint32_t round = 0; round < rounds; round++) {
        uint32_t peer = (rank + round + 1) % count;
        uint32_t *theirs = cluster.map_shared_rank(mine, peer), *place = cluster.map_shared_rank(received, peer);
        place[t] = mine[t] ^ round;                            /* a store */
        uint32_t value = theirs[(t + round) % n];              /* a load */
        atomicAdd(cluster.map_shared_rank(&sums[0], peer), value);
        uint32_t old = atomicXor(cluster.map_shared_rank(&sums[1], peer), value | 1);
        atomicMax(cluster.map_shared_rank(&sums[2], peer), value);
        (void)old;
        cluster.sync();
        mine[t] = mine[t] * 3 + received[t];
        cluster.sync();
    }
    if (t < 4)
        out[block_number() * (n + 4) + t] = sums[t];
    out[block_number() * (n + 4) + 4 + t] = mine[t];
}

static void check_exchange(uint32_t *out, dim3 grid, dim3 cluster, uint32_t n, uint32_t rounds, uint32_t seed)
{
    uint32_t blocks = grid.x * grid.y * grid.z, size = cluster.x * cluster.y * cluster.z;
    GOOD(launch(exchange, grid, n, 2 * n * 4, cluster, out, rounds, seed));
    std::vector<uint32_t> got = fetch(out, blocks * (n + 4)), mine(blocks * n), sums(blocks * 4);
    std::vector<uint32_t> received(blocks * n);
    for (uint32_t i = 0; i < blocks * n; i++)
        mine[i] = i * 2654435761u + seed;
    auto number = [&](uint32_t block, uint32_t peer) { /* of the block with this rank in the same cluster */
        uint32_t x = block % grid.x / cluster.x * cluster.x, y = block / grid.x % grid.y / cluster.y * cluster.y,
                 z = block / grid.x / grid.y / cluster.z * cluster.z;
        return x + peer % cluster.x +
               grid.x * (y + peer / cluster.x % cluster.y + grid.y * (z + peer / cluster.x / cluster.y));
    };
    for (uint32_t round = 0; round < rounds; round++) {
        for (uint32_t block = 0; block < blocks; block++) {
            uint32_t x = block % grid.x % cluster.x, y = block / grid.x % grid.y % cluster.y,
                     z = block / grid.x / grid.y % cluster.z, rank = x + cluster.x * (y + cluster.y * z);
            uint32_t peer = number(block, (rank + round + 1) % size);
            for (uint32_t t = 0; t < n; t++) {
                uint32_t value = mine[peer * n + (t + round) % n];
                received[peer * n + t] = mine[block * n + t] ^ round;
                sums[peer * 4] += value;
                sums[peer * 4 + 1] ^= value | 1;
                sums[peer * 4 + 2] = value > sums[peer * 4 + 2] ? value : sums[peer * 4 + 2];
            }
        }
        for (uint32_t i = 0; i < blocks * n; i++)
            mine[i] = mine[i] * 3 + received[i];
    }
    uint32_t wrong = 0;
    for (uint32_t block = 0; block < blocks; block++)
        for (uint32_t i = 0; i < n + 4; i++)
            wrong += got[block * (n + 4) + i] != (i < 4 ? sums[block * 4 + i] : mine[block * n + i - 4]);
    CHECK(wrong == 0);
}

/* Vectors, bytes, doubles, and lanes of one instruction that go to different blocks. */
__global__ void widths(uint64_t *out)
{
    __shared__ __align__(16) unsigned char bytes[512];
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank(), count = cluster.num_blocks(), t = threadIdx.x;
    for (uint32_t i = t; i < 512; i += 32)
        bytes[i] = (unsigned char)(i * 7 + rank * 31);
    cluster.sync();
    unsigned char *far = cluster.map_shared_rank(bytes, t % count);
    uint4 four = *(uint4 *)(far + 16 * t);
    uint64_t sum = four.x + four.y * 3ull + four.z * 5ull + four.w * 7ull;
    sum += *(signed char *)(far + t) + *(unsigned short *)(far + 2 * t) * 11ull + *(uint64_t *)(far + 8 * t);
    cluster.sync();
    *(uint64_t *)(far + 8 * t) = sum;
    cluster.sync();
    out[blockIdx.x * 32 + t] = sum ^ *(uint64_t *)(bytes + 8 * t);
}

static void check_widths(uint64_t *out)
{
    uint32_t count = 4;
    GOOD(launch(widths, count, 32, 0, count, out));
    std::vector<uint64_t> got = fetch(out, count * 32);
    std::vector<unsigned char> bytes(count * 512);
    std::vector<uint64_t> sums(32);
    for (uint32_t rank = 0; rank < count; rank++)
        for (uint32_t i = 0; i < 512; i++)
            bytes[rank * 512 + i] = (unsigned char)(i * 7 + rank * 31);
    for (uint32_t t = 0; t < 32; t++) {
        const unsigned char *far = &bytes[t % count * 512];
        uint4 four = *(const uint4 *)(far + 16 * t);
        sums[t] = four.x + four.y * 3ull + four.z * 5ull + four.w * 7ull;
        sums[t] += *(const signed char *)(far + t) + *(const unsigned short *)(far + 2 * t) * 11ull +
                   *(const uint64_t *)(far + 8 * t);
    }
    for (uint32_t t = 0; t < 32; t++)
        *(uint64_t *)&bytes[t % count * 512 + 8 * t] = sums[t];
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count * 32; i++)
        wrong += got[i] != (sums[i % 32] ^ *(uint64_t *)&bytes[i / 32 * 512 + 8 * (i % 32)]);
    CHECK(wrong == 0);
}

/* ---- barriers ---- */

enum { ROUNDS = 8, WARPS = 4, FIRST_LEAVES = 3, BLOCK_LEAVES = 6 };

/* Warps that have not left before a round; blocks. */
__host__ __device__ static uint32_t warps_in(uint32_t round)
{
    return round < FIRST_LEAVES ? WARPS : round < FIRST_LEAVES + 2 ? WARPS - 1 : WARPS - 2;
}

__host__ __device__ static uint32_t blocks_in(uint32_t round, uint32_t count)
{
    return round < BLOCK_LEAVES ? count : count - 1;
}

/* Between arrival and wait there is work. Warps leave, and then a block: those who are left wait only for each
 * other. */
__global__ void barriers(uint32_t *out)
{
    __shared__ uint32_t seen[2];
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank(), warp = threadIdx.x / 32;
    if (threadIdx.x < 2)
        seen[threadIdx.x] = 0;
    cluster.sync();
    for (uint32_t round = 0; round < ROUNDS; round++) {
        uint32_t blocks = blocks_in(round, cluster.num_blocks());
        if (warp >= warps_in(round) || rank >= blocks)
            return;
        atomicAdd(cluster.map_shared_rank(&seen[round % 2], (rank + 1) % blocks), 1);
        cg::cluster_group::arrival_token token = cluster.barrier_arrive();
        if (threadIdx.x == 0)
            seen[1 - round % 2] = 0;
        cluster.barrier_wait(cg::cluster_group::arrival_token(token));
        if (threadIdx.x == 0)
            out[blockIdx.x * ROUNDS + round] = seen[round % 2];
        cluster.sync();
    }
}

static void check_barriers(uint32_t *out)
{
    uint32_t size = 4, blocks = 8, wrong = 0;
    GOOD(launch(barriers, blocks, 32 * WARPS, 0, size, out));
    std::vector<uint32_t> got = fetch(out, blocks * ROUNDS);
    for (uint32_t round = 0; round < ROUNDS; round++)
        for (uint32_t block = 0; block < blocks; block++)
            if (block % size < blocks_in(round, size))
                wrong += got[block * ROUNDS + round] != 32 * warps_in(round);
    CHECK(wrong == 0);
}

/* ---- stores and reductions that a barrier of the other block counts ---- */

enum { GROUPS = 4 };

__global__ void asynchronous(uint32_t *out)
{
    __shared__ uint32_t words[32], sums[GROUPS];
    __shared__ uint64_t barrier;
    cg::cluster_group cluster = cg::this_cluster();
    uint32_t rank = cluster.block_rank(), count = cluster.num_blocks(), t = threadIdx.x, bytes = 2 * 32 * 4;
    uint32_t bar = (uint32_t)__cvta_generic_to_shared(&barrier), word = (uint32_t)__cvta_generic_to_shared(&words[t]);
    uint32_t sum = (uint32_t)__cvta_generic_to_shared(&sums[t / (32 / GROUPS)]), done = 0, far, far_bar;
    if (t < GROUPS)
        sums[t] = 0;
    if (t == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(bytes) : "memory");
    }
    cluster.sync();
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(word), "r"((rank + 1) % count));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_bar) : "r"(bar), "r"((rank + 1) % count));
    asm volatile("st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.u32 [%0], %1, [%2];" ::"r"(far), "r"(rank * 1000 + t), "r"(far_bar) : "memory");
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far) : "r"(sum), "r"(t % count));
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(far_bar) : "r"(bar), "r"(t % count));
    asm volatile("red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%0], %1, [%2];" ::"r"(far), "r"(t + 1), "r"(far_bar) : "memory");
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
    out[blockIdx.x * 32 + t] = words[t] + 1000000 * sums[t / (32 / GROUPS)];
    cluster.sync();
}

static void check_asynchronous(uint32_t *out)
{
    uint32_t count = 4, wrong = 0;
    GOOD(launch(asynchronous, 2 * count, 32, 0, count, out));
    std::vector<uint32_t> got = fetch(out, 2 * count * 32);
    for (uint32_t block = 0; block < 2 * count; block++)
        for (uint32_t t = 0; t < 32; t++) {
            uint32_t sum = 0;
            for (uint32_t i = 0; i < 32; i++) /* of each block of the cluster */
                sum += i % count == block % count && i / (32 / GROUPS) == t / (32 / GROUPS) ? count * (i + 1) : 0;
            wrong += got[block * 32 + t] != (block + count - 1) % count * 1000 + t + 1000000 * sum;
        }
    CHECK(wrong == 0);
}

/* ---- a kernel that says its own size ---- */

__global__ void __cluster_dims__(2, 2, 1) own_size(uint32_t *out)
{
    out[block_number()] = cg::this_cluster().num_blocks() * 100 + cg::this_cluster().block_rank();
}

static void check_own_size(uint32_t *out)
{
    own_size<<<dim3(4, 2), 32>>>(out);
    GOOD(cudaGetLastError());
    std::vector<uint32_t> got = fetch(out, 8);
    const uint32_t expected[] = {400, 401, 400, 401, 402, 403, 402, 403};
    for (int i = 0; i < 8; i++)
        CHECK(got[i] == expected[i]);
    GOOD(launch(own_size, dim3(2, 2), 32, 0, dim3(2, 2), out));
    cudaFuncAttributes attributes;
    GOOD(cudaFuncGetAttributes(&attributes, own_size));
    CHECK(attributes.requiredClusterWidth == 2 && attributes.requiredClusterHeight == 2);
    CHECK(attributes.requiredClusterDepth == 1 && attributes.clusterDimMustBeSet == 1);
}

int main()
{
    uint32_t *out;
    GOOD(cudaMalloc(&out, 1 << 20));
    GOOD(cudaFuncSetAttribute(exchange, cudaFuncAttributeNonPortableClusterSizeAllowed, 1));
    check_registers(out, dim3(4, 6, 2), dim3(2, 3, 1), true);
    check_registers(out, dim3(4, 2, 2), dim3(2, 2, 2), true);
    check_registers(out, dim3(8), dim3(8), true);
    check_registers(out, dim3(2, 2, 2), dim3(1, 1, 1), false);
    check_registers(out, dim3(3, 1, 2), dim3(1, 1, 1), true);
    check_addresses((uint64_t *)out);
    check_exchange(out, 16, 16, 64, 3, 1);
    for (int i = 0; i < 12; i++) {
        dim3 cluster(1 + draw(3), 1 + draw(2), 1 + draw(2)), grid(cluster.x * (1 + draw(3)), cluster.y * (1 + draw(2)), cluster.z);
        if (cluster.x * cluster.y * cluster.z > 8)
            cluster.x = grid.x = 1;
        check_exchange(out, grid, cluster, 32 + draw(200), 1 + draw(4), draw(1 << 20));
    }
    check_widths((uint64_t *)out);
    check_barriers(out);
    check_asynchronous(out);
    check_own_size(out);
    return check_end("cluster");
}
