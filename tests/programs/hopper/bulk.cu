/* Barriers in shared memory, with every operation, and bulk copies and reductions between global memory and the shared
 * memory of a cluster: random sequences and sizes, compared with what the host computes. */
#include "../check.h"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>
#include <string.h>

#include <vector>

static uint32_t random_state = 3;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)random_state * below >> 32);
}

__device__ static uint32_t shared_at(const void *at)
{
    return (uint32_t)__cvta_generic_to_shared(at);
}

__device__ static void barrier_init(uint32_t at, uint32_t count)
{
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(at), "r"(count) : "memory");
}

__device__ static void barrier_expect(uint32_t at, uint32_t bytes)
{
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(at), "r"(bytes) : "memory");
}

__device__ static void barrier_wait(uint32_t at, uint32_t parity)
{
    uint32_t done = 0;
    while (!done)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], %2; selp.u32 %0, 1, 0, p; }"
                     : "=r"(done)
                     : "r"(at), "r"(parity)
                     : "memory");
}

__device__ static void cluster_sync()
{
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

__device__ static uint32_t cluster_rank()
{
    uint32_t rank;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    return rank;
}

__device__ static uint32_t cluster_size()
{
    uint32_t size;
    asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
    return size;
}

__device__ static uint32_t map(uint32_t at, uint32_t rank)
{
    uint32_t there;
    asm volatile("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(at), "r"(rank));
    return there;
}

template <class... P, class... A>
static cudaError_t launch(void (*kernel)(P...), dim3 grid, dim3 block, size_t shared, uint32_t cluster, A... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    config.gridDim = grid;
    config.blockDim = block;
    config.dynamicSmemBytes = shared;
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = cluster;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    return cudaLaunchKernelEx(&config, kernel, P(arguments)...);
}

/* ---- barriers ---- */

enum operation { INIT, ARRIVE, ARRIVE_COUNT, ARRIVE_KEEPS, DROP, DROP_COUNT, ARRIVE_EXPECT, DROP_EXPECT, EXPECT, COMPLETE, OPERATIONS };

struct step {
    uint32_t operation, operand;
};

struct seen {
    uint64_t token;
    uint32_t pending, phase; /* of the token; whether the phase with parity 0 has ended */
};

/* One thread does all of it, to the barrier of its block or of the next one in its cluster; tokens come only from
 * the block's own. */
__global__ void operate(const step *steps, uint32_t count, seen *out)
{
    __shared__ __align__(8) uint64_t word;
    uint32_t own = shared_at(&word), at = map(own, (cluster_rank() + 1) % cluster_size());
    bool far = cluster_size() > 1;
    cluster_sync();
    for (uint32_t i = 0; i < count; i++) {
        step s = steps[i];
        uint64_t token = 0;
        uint32_t pending = 0, phase;
        switch (s.operation) {
        case INIT: /* each initializes its own */
            barrier_init(own, s.operand);
            asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
            cluster_sync();
            break;
        case ARRIVE:
            if (far)
                asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory");
            else
                asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(own) : "memory");
            break;
        case ARRIVE_COUNT:
            if (far)
                asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(at), "r"(s.operand) : "memory");
            else
                asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(own), "r"(s.operand) : "memory");
            break;
        case ARRIVE_KEEPS:
            if (far)
                asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(at), "r"(s.operand) : "memory");
            else
                asm volatile("mbarrier.arrive.noComplete.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(own), "r"(s.operand) : "memory");
            break;
        case DROP:
            if (far)
                asm volatile("mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(at) : "memory");
            else
                asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1];" : "=l"(token) : "r"(own) : "memory");
            break;
        case DROP_COUNT:
            if (far)
                asm volatile("mbarrier.arrive_drop.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(at), "r"(s.operand) : "memory");
            else
                asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(own), "r"(s.operand) : "memory");
            break;
        case ARRIVE_EXPECT:
            if (far)
                asm volatile("mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(at), "r"(s.operand) : "memory");
            else
                asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(own), "r"(s.operand) : "memory");
            break;
        case DROP_EXPECT:
            if (far)
                asm volatile("mbarrier.arrive_drop.expect_tx.release.cluster.shared::cluster.b64 _, [%0], %1;" ::"r"(at), "r"(s.operand) : "memory");
            else
                asm volatile("mbarrier.arrive_drop.expect_tx.shared::cta.b64 %0, [%1], %2;" : "=l"(token) : "r"(own), "r"(s.operand) : "memory");
            break;
        case EXPECT:
            asm volatile("mbarrier.expect_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(at), "r"(s.operand) : "memory");
            break;
        case COMPLETE:
            asm volatile("mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%0], %1;" ::"r"(at), "r"(s.operand) : "memory");
            break;
        }
        cluster_sync();
        if (!far && s.operation != INIT && s.operation != EXPECT && s.operation != COMPLETE)
            asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(token));
        asm volatile("{ .reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }"
                     : "=r"(phase)
                     : "r"(own)
                     : "memory");
        out[blockIdx.x * count + i] = {far ? 0 : token, pending, phase};
        cluster_sync();
    }
}

static void check_barrier(step *steps, seen *out, uint32_t blocks)
{
    std::vector<step> made;
    std::vector<seen> expected;
    uint32_t phase = 0, count = 1 + draw(9), pending = count;
    int32_t bytes = 0;
    made.push_back({INIT, count});
    expected.push_back({0, 0, 0});
    for (int i = 0; i < 30 && count > 1; i++) {
        uint32_t operation = ARRIVE + draw(OPERATIONS - 1), operand = 0, arrivals = 1, room = pending;
        seen one = {0, 0, 0};
        if (operation == ARRIVE_COUNT || operation == DROP_COUNT || operation == ARRIVE_KEEPS) {
            arrivals = operand = 1 + draw(room ? room : 1);
            if (operation == ARRIVE_KEEPS && arrivals >= room)
                continue;
        } else if (operation >= ARRIVE_EXPECT) {
            operand = 1 + draw(4096);
        }
        bool arrives = operation < EXPECT, drops = operation == DROP || operation == DROP_COUNT || operation == DROP_EXPECT;
        if ((arrives && arrivals > pending) || (drops && arrivals >= count) || (operation == EXPECT && !pending) || (operation == COMPLETE && bytes <= 0))
            continue;
        if (operation == COMPLETE)
            operand = draw(2) ? bytes : 1 + draw(bytes);
        if (operation == ARRIVE_EXPECT || operation == DROP_EXPECT || operation == EXPECT)
            bytes += operand;
        if (operation == COMPLETE)
            bytes -= operand;
        if (arrives)
            one.pending = pending;
        pending -= arrives ? arrivals : 0;
        count -= drops ? arrivals : 0;
        if (!pending && !bytes && operation != EXPECT)
            phase ^= 1, pending = count;
        one.phase = phase;
        made.push_back({operation, operand});
        expected.push_back(one);
    }
    GOOD(cudaMemcpy(steps, made.data(), made.size() * sizeof(step), cudaMemcpyHostToDevice));
    GOOD(launch(operate, blocks, 1, 0, blocks, steps, (uint32_t)made.size(), out));
    std::vector<seen> got(blocks * made.size());
    GOOD(cudaMemcpy(got.data(), out, got.size() * sizeof(seen), cudaMemcpyDeviceToHost));
    uint32_t wrong = 0, before = 0;
    for (size_t i = 0; i < got.size(); i++) {
        const seen &is = got[i], &should = expected[i % made.size()];
        uint32_t operation = made[i % made.size()].operation;
        before = i % made.size() ? expected[i % made.size() - 1].phase : 0;
        wrong += is.phase != should.phase || (blocks == 1 && is.pending != should.pending);
        if (blocks == 1 && operation != INIT && operation < EXPECT) /* the phase, and how many are to come, of a token */
            wrong += is.token >> 32 != (before << 31 | ((0u - should.pending) & 0xfffff) << 11 | (is.token >> 32 & 0x7ff));
    }
    CHECK(wrong == 0);
}

/* ---- copies ---- */

/* From global memory to shared memory, from there to the next block's, and from there back to global memory; what the
 * leader reads all blocks of its mask get. */
__global__ void around(const char *in, char *out, char *everywhere, uint32_t bytes, uint32_t mask)
{
    extern __shared__ __align__(128) char memory[];
    __shared__ __align__(8) uint64_t barriers[3];
    uint32_t rank = cluster_rank(), size = cluster_size(), next = (rank + 1) % size, bar = shared_at(barriers);
    uint32_t first = shared_at(memory), second = first + bytes, third = second + bytes;
    for (uint32_t i = threadIdx.x; i < 3 * bytes; i += blockDim.x)
        memory[i] = 1;
    if (threadIdx.x == 0) {
        for (int i = 0; i < 3; i++)
            barrier_init(bar + 8 * i, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
    }
    __syncthreads();
    cluster_sync();
    if (threadIdx.x == 0) {
        barrier_expect(bar, bytes);
        barrier_expect(bar + 8, bytes);
        if (mask >> rank & 1)
            barrier_expect(bar + 16, bytes);
        asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(first), "l"(in + (size_t)blockIdx.x * bytes), "r"(bytes), "r"(bar) : "memory");
        barrier_wait(bar, 0);
        asm volatile("cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(map(second, next)), "r"(first), "r"(bytes), "r"(map(bar + 8, next)) : "memory");
        if (rank == 0)
            asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1], %2, [%3], %4;" ::"r"(third), "l"(in), "r"(bytes), "r"(bar + 16), "h"((uint16_t)mask) : "memory");
        barrier_wait(bar + 8, 0);
        if (mask >> rank & 1)
            barrier_wait(bar + 16, 0);
        asm volatile("cp.async.bulk.prefetch.L2.global [%0], %1;" ::"l"(in), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(out + (size_t)blockIdx.x * bytes), "r"(second), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(everywhere + (size_t)blockIdx.x * bytes), "r"(third), "r"(bytes) : "memory");
        asm volatile("cp.async.bulk.commit_group;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group.read 1;" ::: "memory");
        asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
    }
    cluster_sync();
}

static void check_around(char *in, char *out, uint32_t size, uint32_t clusters, uint32_t bytes, uint32_t mask)
{
    uint32_t blocks = size * clusters;
    std::vector<char> data((size_t)blocks * bytes), got[2];
    for (char &byte : data)
        byte = (char)draw(256);
    char *everywhere = out + data.size();
    GOOD(cudaMemcpy(in, data.data(), data.size(), cudaMemcpyHostToDevice));
    GOOD(launch(around, blocks, 32, 3 * bytes, size, in, out, everywhere, bytes, mask));
    for (int i = 0; i < 2; i++) {
        got[i].resize(data.size());
        GOOD(cudaMemcpy(got[i].data(), i ? everywhere : out, data.size(), cudaMemcpyDeviceToHost));
    }
    uint32_t wrong = 0;
    for (uint32_t block = 0; block < blocks; block++) {
        uint32_t first = block / size * size, before = first + (block - first + size - 1) % size;
        wrong += memcmp(&got[0][(size_t)block * bytes], &data[(size_t)before * bytes], bytes) != 0;
        for (uint32_t i = 0; i < bytes; i++)
            wrong += got[1][(size_t)block * bytes + i] != (mask >> (block - first) & 1 ? data[i] : 1);
    }
    CHECK(wrong == 0);
}

/* ---- reductions ---- */

#define REDUCTIONS(R)                                                                                                  \
    R(uint32_t, "add.u32", a + b)                                                                                      \
    R(int32_t, "add.s32", a + b)                                                                                       \
    R(uint64_t, "add.u64", a + b)                                                                                      \
    R(uint32_t, "min.u32", a < b ? a : b)                                                                              \
    R(uint32_t, "max.u32", a > b ? a : b)                                                                              \
    R(int32_t, "min.s32", a < b ? a : b)                                                                               \
    R(int32_t, "max.s32", a > b ? a : b)                                                                               \
    R(uint64_t, "min.u64", a < b ? a : b)                                                                              \
    R(uint64_t, "max.u64", a > b ? a : b)                                                                              \
    R(int64_t, "min.s64", a < b ? a : b)                                                                               \
    R(int64_t, "max.s64", a > b ? a : b)                                                                               \
    R(uint32_t, "inc.u32", a >= b ? 0 : a + 1)                                                                         \
    R(uint32_t, "dec.u32", a == 0 || a > b ? b : a - 1)                                                                \
    R(uint32_t, "and.b32", a & b)                                                                                      \
    R(uint32_t, "or.b32", a | b)                                                                                       \
    R(uint64_t, "xor.b64", a ^ b)                                                                                      \
    R(float, "add.f32", a + b)                                                                                         \
    R(double, "add.f64", a + b)                                                                                        \
    R(half, "add.noftz.f16", half(float(a) + float(b)))                                                                \
    R(half, "min.f16", float(a) < float(b) ? a : b)                                                                    \
    R(half, "max.f16", float(a) > float(b) ? a : b)                                                                    \
    R(nv_bfloat16, "add.noftz.bf16", nv_bfloat16(float(a) + float(b)))                                                 \
    R(nv_bfloat16, "min.bf16", float(a) < float(b) ? a : b)                                                            \
    R(nv_bfloat16, "max.bf16", float(a) > float(b) ? a : b)

#define NEAR_REDUCTIONS(R)                                                                                             \
    R(uint32_t, "add.u32", a + b)                                                                                      \
    R(int32_t, "min.s32", a < b ? a : b)                                                                               \
    R(uint32_t, "max.u32", a > b ? a : b)                                                                              \
    R(uint32_t, "inc.u32", a >= b ? 0 : a + 1)                                                                         \
    R(uint32_t, "dec.u32", a == 0 || a > b ? b : a - 1)                                                                \
    R(uint32_t, "and.b32", a & b)                                                                                      \
    R(uint32_t, "or.b32", a | b)                                                                                       \
    R(uint32_t, "xor.b32", a ^ b)                                                                                      \
    R(uint64_t, "add.u64", a + b)

__global__ void reduce(int kind, bool near, char *memory, const char *operands, uint32_t bytes)
{
    extern __shared__ __align__(128) char shared[];
    __shared__ __align__(8) uint64_t word;
    uint32_t from = shared_at(shared), to = from + bytes, bar = shared_at(&word), rank = cluster_rank(), row = 0;
    for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x) {
        shared[i] = operands[i];
        shared[bytes + i] = memory[i];
    }
    if (threadIdx.x == 0) {
        barrier_init(bar, 1);
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        asm volatile("fence.proxy.async;" ::: "memory");
        if (rank == 0 && near)
            barrier_expect(bar, bytes);
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    cluster_sync();
    if (threadIdx.x == 0 && rank == 1 % cluster_size() && !near) {
#define R(type, name, meaning)                                                                                         \
    if (row++ == kind)                                                                                                 \
        asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group." name " [%0], [%1], %2;" ::"l"(memory), "r"(from), "r"(bytes) : "memory");
        REDUCTIONS(R)
#undef R
        asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    }
    if (threadIdx.x == 0 && rank == 1 && near) {
#define R(type, name, meaning)                                                                                         \
    if (row++ == kind)                                                                                                 \
        asm volatile("cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes." name " [%0], [%1], %2, [%3];" ::"r"(map(to, 0)), "r"(from), "r"(bytes), "r"(map(bar, 0)) : "memory");
        NEAR_REDUCTIONS(R)
#undef R
    }
    if (near && rank == 0) {
        barrier_wait(bar, 0);
        for (uint32_t i = threadIdx.x; i < bytes; i += blockDim.x)
            memory[i] = shared[bytes + i];
    }
    cluster_sync();
}

template <class T> static T random_of()
{
    T value;
    unsigned char bytes[sizeof(T)];
    for (unsigned char &byte : bytes)
        byte = (unsigned char)draw(256);
    memcpy(&value, bytes, sizeof value);
    return value;
}
template <> float random_of() { return (float)(int32_t)(draw(2000) - 1000) / 8; }
template <> double random_of() { return (int32_t)(draw(2000) - 1000) / 64.0; }
template <> half random_of() { return half((float)(int32_t)(draw(2000) - 1000) / 8); }
template <> nv_bfloat16 random_of() { return nv_bfloat16((float)(int32_t)(draw(200) - 100) / 8); }

template <class T, class F> static void check_reduction(const char *name, int kind, bool near, char *in, char *out, F meaning)
{
    uint32_t bytes = 16 * (1 + draw(40)), count = bytes / sizeof(T);
    std::vector<T> memory(count), operands(count), got(count);
    for (uint32_t i = 0; i < count; i++)
        memory[i] = random_of<T>(), operands[i] = random_of<T>();
    GOOD(cudaMemcpy(out, memory.data(), bytes, cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy(in, operands.data(), bytes, cudaMemcpyHostToDevice));
    GOOD(launch(reduce, 2, 64, 2 * bytes, 2, kind, near, out, (const char *)in, bytes));
    GOOD(cudaMemcpy(got.data(), out, bytes, cudaMemcpyDeviceToHost));
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < count; i++) {
        T expected = meaning(memory[i], operands[i]);
        wrong += memcmp(&got[i], &expected, sizeof(T)) != 0;
    }
    if (wrong) {
        printf("%s%s: %u of %u elements are wrong\n", name, near ? " to shared memory" : "", wrong, count);
        check_failures++;
    }
}

/* Copies of 0 bytes, of null pointers, to odd addresses and behind the block's memory, around one of 16. (CUB makes such
 * copies; these were not tried on an H200.) */
__global__ void nothing(char *none, const uint4 *in, uint4 *out, uint32_t size)
{
    __shared__ uint4 bytes[2];
    __shared__ __align__(8) uint64_t word;
    uint32_t barrier = shared_at(&word), at = shared_at(bytes);
    bytes[0] = bytes[1] = make_uint4(1, 2, 3, 4);
    barrier_init(barrier, 1);
    asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    barrier_expect(barrier, 16);
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(at + (64 << 10) + 7), "l"(none), "r"(size), "r"(barrier) : "memory");
    asm volatile("cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], 16, [%2];" ::"r"(at), "l"(in), "r"(barrier) : "memory");
    barrier_wait(barrier, 0);
    asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0], [%1], %2;" ::"l"(none), "r"(at + (64 << 10)), "r"(size) : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], %2;" ::"l"(none), "r"(at), "r"(size) : "memory");
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
    out[0] = bytes[0];
    out[1] = bytes[1];
}

static void check_nothing(uint4 *in, uint4 *out)
{
    uint4 want[2] = {{5, 6, 7, 8}, {1, 2, 3, 4}}, got[2];
    GOOD(cudaMemcpy(in, want, sizeof *want, cudaMemcpyHostToDevice));
    nothing<<<1, 1>>>(nullptr, in, out, 0);
    GOOD(cudaMemcpy(got, out, sizeof got, cudaMemcpyDeviceToHost));
    CHECK(!memcmp(want, got, sizeof got));
}

int main()
{
    char *in, *out;
    GOOD(cudaMalloc(&in, 8 << 20));
    GOOD(cudaMalloc(&out, 16 << 20));
    for (void *kernel : {(void *)around, (void *)reduce})
        GOOD(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 200 << 10));
    for (int i = 0; i < 40; i++)
        check_barrier((step *)in, (seen *)out, i % 3 == 0 ? 1 : i % 3 == 1 ? 2 : 4);
    check_around(in, out, 2, 1, 16, 3);
    check_around(in, out, 8, 2, 64 << 10, 0xa5);
    for (int i = 0; i < 12; i++) {
        uint32_t size = 2 + draw(7);
        check_around(in, out, size, 1 + draw(3), 16 * (1 + draw(500)), 1 + draw((1 << size) - 1));
    }
    check_nothing((uint4 *)in, (uint4 *)out);
    int kind = 0;
#define R(type, name, meaning) check_reduction<type>(name, kind++, false, in, out, [](type a, type b) { return type(meaning); });
    REDUCTIONS(R)
#undef R
    kind = 0;
#define R(type, name, meaning) check_reduction<type>(name, kind++, true, in, out, [](type a, type b) { return type(meaning); });
    NEAR_REDUCTIONS(R)
#undef R
    return check_end("bulk");
}
