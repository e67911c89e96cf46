/* Tensor copies: random maps of 1 to 5 dimensions, tiles and im2col, every swizzle, boxes that are partly or wholly
 * outside; loads, multicast, stores, reductions, and maps that a kernel changes. The host computes the same element by
 * element. */
#include "../check.h"

#include <cuda.h>
#include <stdint.h>
#include <string.h>

#include <algorithm>
#include <vector>

static uint32_t random_state = 11;

static uint32_t draw(uint32_t below)
{
    random_state = random_state * 1664525 + 1013904223;
    return (uint32_t)((uint64_t)random_state * below >> 32);
}

static int draw_in(int from, int to)
{
    return from + (int)draw((uint32_t)(to - from + 1));
}

static decltype(&cuTensorMapEncodeTiled) encode_tiled;
static decltype(&cuTensorMapEncodeIm2col) encode_im2col;

template <class F> static void find(F *function, const char *name)
{
    cudaDriverEntryPointQueryResult found;
    GOOD(cudaGetDriverEntryPointByVersion(name, (void **)function, 12000, cudaEnableDefault, &found));
}

struct copy {
    int32_t at[5];
    uint16_t offset[3], mask;
    uint32_t rank, bytes, room; /* room: with what swizzles leave free */
    bool is_im2col;
};

/* ---- kernels ---- */

__device__ static uint32_t shared_at(const void *at)
{
    return (uint32_t)__cvta_generic_to_shared(at);
}

#define TENSOR_1 "{%1}], "
#define COORDINATES(c) "r"(c.at[0]), "r"(c.at[1]), "r"(c.at[2]), "r"(c.at[3]), "r"(c.at[4])
#define OFFSETS(c) "h"(c.offset[0]), "h"(c.offset[1]), "h"(c.offset[2])
#define LOAD(dims, list) asm volatile("cp.async.bulk.tensor." dims "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [%0], [%1, " list "], [%2];" ::"r"(to), "l"(map), "r"(bar), COORDINATES(c) : "memory")
#define MULTICAST(dims, list) asm volatile("cp.async.bulk.tensor." dims "d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster [%0], [%1, " list "], [%2], %8;" ::"r"(to), "l"(map), "r"(bar), COORDINATES(c), "h"(c.mask) : "memory")
#define IM2COL(dims, list, offsets) asm volatile("cp.async.bulk.tensor." dims "d.shared::cluster.global.im2col.mbarrier::complete_tx::bytes [%0], [%1, " list "], [%2], " offsets ";" ::"r"(to), "l"(map), "r"(bar), COORDINATES(c), OFFSETS(c) : "memory")
#define STORE(dims, mode, list) asm volatile("cp.async.bulk.tensor." dims "d.global.shared::cta." mode ".bulk_group [%1, " list "], [%0];" ::"r"(to), "l"(map), "r"(0), COORDINATES(c) : "memory")
#define REDUCE(dims, operation, list) asm volatile("cp.reduce.async.bulk.tensor." dims "d.global.shared::cta." operation ".tile.bulk_group [%1, " list "], [%0];" ::"r"(to), "l"(map), "r"(0), COORDINATES(c) : "memory")
#define LIST1 "{%3}"
#define LIST2 "{%3, %4}"
#define LIST3 "{%3, %4, %5}"
#define LIST4 "{%3, %4, %5, %6}"
#define LIST5 "{%3, %4, %5, %6, %7}"

__device__ static void start_load(const copy &c, const CUtensorMap *map, uint32_t to, uint32_t bar)
{
    switch (c.is_im2col ? 10 + c.rank : c.mask ? 20 + c.rank : c.rank) {
    case 1: LOAD("1", LIST1); break;
    case 2: LOAD("2", LIST2); break;
    case 3: LOAD("3", LIST3); break;
    case 4: LOAD("4", LIST4); break;
    case 5: LOAD("5", LIST5); break;
    case 13: IM2COL("3", LIST3, "{%8}"); break;
    case 14: IM2COL("4", LIST4, "{%8, %9}"); break;
    case 15: IM2COL("5", LIST5, "{%8, %9, %10}"); break;
    case 21: MULTICAST("1", LIST1); break;
    case 22: MULTICAST("2", LIST2); break;
    case 23: MULTICAST("3", LIST3); break;
    case 24: MULTICAST("4", LIST4); break;
    case 25: MULTICAST("5", LIST5); break;
    }
}

__device__ static void start_store(const copy &c, const CUtensorMap *map, uint32_t to)
{
    switch (c.is_im2col ? 10 + c.rank : c.rank) {
    case 1: STORE("1", "tile", LIST1); break;
    case 2: STORE("2", "tile", LIST2); break;
    case 3: STORE("3", "tile", LIST3); break;
    case 4: STORE("4", "tile", LIST4); break;
    case 5: STORE("5", "tile", LIST5); break;
    case 13: STORE("3", "im2col_no_offs", LIST3); break;
    case 14: STORE("4", "im2col_no_offs", LIST4); break;
    case 15: STORE("5", "im2col_no_offs", LIST5); break;
    }
}

enum { PATIENCE = 1 << 16, LATE = 0xdead };

__device__ static void load(const copy &c, const CUtensorMap *map, unsigned char *memory, uint64_t *barrier, unsigned char *out, uint32_t *late)
{
    uint32_t bar = shared_at(barrier), rank, done = 0;
    asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
    for (uint32_t i = threadIdx.x; i < c.room; i += blockDim.x)
        memory[i] = 0x5a;
    if (threadIdx.x == 0) {
        asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar) : "memory");
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
    }
    asm volatile("fence.proxy.async;" ::: "memory");
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
    bool gets = !c.mask || (c.mask >> rank & 1);
    if (threadIdx.x == 0 && gets)
        asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar), "r"(c.bytes) : "memory");
    if (threadIdx.x == 0 && (!c.mask || rank == 0))
        start_load(c, map, shared_at(memory), bar);
    for (int i = 0; gets && !done && i < PATIENCE; i++)
        asm volatile("{ .reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 0; selp.u32 %0, 1, 0, p; }" : "=r"(done) : "r"(bar) : "memory");
    if (gets && !done && threadIdx.x == 0)
        *late = LATE;
    __syncthreads();
    for (uint32_t i = threadIdx.x; i < c.room; i += blockDim.x)
        out[blockIdx.x * c.room + i] = memory[i];
    asm volatile("barrier.cluster.arrive; barrier.cluster.wait;" ::: "memory");
}

__global__ void load_box(const __grid_constant__ CUtensorMap map, copy c, unsigned char *out, uint32_t *late)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ __align__(8) uint64_t barrier;
    load(c, &map, memory, &barrier, out, late);
}

__global__ void load_from_memory(const CUtensorMap *map, copy c, unsigned char *out, uint32_t *late)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    __shared__ __align__(8) uint64_t barrier;
    asm volatile("cp.async.bulk.prefetch.tensor.2d.L2.global.tile [%0, {%1, %2}];" ::"l"(map), "r"(0), "r"(0) : "memory");
    asm volatile("fence.proxy.tensormap::generic.acquire.gpu [%0], 128;" ::"l"(map) : "memory");
    load(c, map, memory, &barrier, out, late);
}

enum operation { STORES, ADDS, MINIMA, XORS, OPERATIONS };

__global__ void store_box(const __grid_constant__ CUtensorMap parameter, copy c, const unsigned char *in, int operation)
{
    extern __shared__ __align__(1024) unsigned char memory[];
    const CUtensorMap *map = &parameter;
    uint32_t to = shared_at(memory);
    for (uint32_t i = threadIdx.x; i < c.room; i += blockDim.x)
        memory[i] = in[i];
    asm volatile("fence.proxy.async;" ::: "memory");
    __syncthreads();
    if (threadIdx.x != 0)
        return;
    if (operation == STORES)
        start_store(c, map, to);
#define REDUCES(kind, name)                                                                                            \
    if (operation == kind)                                                                                             \
        switch (c.rank) {                                                                                              \
        case 1: REDUCE("1", name, LIST1); break;                                                                       \
        case 2: REDUCE("2", name, LIST2); break;                                                                       \
        case 3: REDUCE("3", name, LIST3); break;                                                                       \
        case 4: REDUCE("4", name, LIST4); break;                                                                       \
        case 5: REDUCE("5", name, LIST5); break;                                                                       \
        }
    REDUCES(ADDS, "add")
    REDUCES(MINIMA, "min")
    REDUCES(XORS, "xor")
    asm volatile("cp.async.bulk.commit_group; cp.async.bulk.wait_group 0;" ::: "memory");
}

/* A map of this shape becomes the one that is wanted. */
__global__ void change_map(CUtensorMap *to, const __grid_constant__ CUtensorMap from, uint64_t address, uint32_t width, uint32_t height, uint64_t stride, uint32_t box)
{
    __shared__ __align__(128) CUtensorMap map;
    uint32_t at = shared_at(&map);
    if (threadIdx.x == 0) {
        map = from;
        asm volatile("tensormap.replace.tile.global_address.shared::cta.b1024.b64 [%0], %1;" ::"r"(at), "l"(address) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 0, %1;" ::"r"(at), "r"(width) : "memory");
        asm volatile("tensormap.replace.tile.global_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(height) : "memory");
        asm volatile("tensormap.replace.tile.global_stride.shared::cta.b1024.b64 [%0], 0, %1;" ::"r"(at), "l"(stride) : "memory");
        asm volatile("tensormap.replace.tile.box_dim.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(box) : "memory");
        asm volatile("tensormap.replace.tile.element_stride.shared::cta.b1024.b32 [%0], 1, %1;" ::"r"(at), "r"(1) : "memory");
        asm volatile("tensormap.replace.tile.elemtype.shared::cta.b1024.b32 [%0], 2;" ::"r"(at) : "memory");
        asm volatile("tensormap.replace.tile.swizzle_mode.shared::cta.b1024.b32 [%0], 3;" ::"r"(at) : "memory");
        asm volatile("tensormap.replace.tile.fill_mode.shared::cta.b1024.b32 [%0], 0;" ::"r"(at) : "memory");
    }
    __syncwarp();
    asm volatile("tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [%0], [%1], 128;" ::"l"(to), "r"(at) : "memory");
}

/* ---- what the host expects ---- */

struct tensor {
    CUtensorMapDataType type;
    uint32_t size, rank; /* bytes of an element */
    bool is_im2col, fills_nan;
    CUtensorMapSwizzle swizzle;
    cuuint64_t dim[5], stride[5]; /* stride[0] is of dimension 1 */
    cuuint32_t box[5], step[5];
    int lower[3], upper[3];
    uint32_t channels, pixels;
    std::vector<unsigned char> data;

    uint64_t offset_of(const int64_t at[5]) const
    {
        uint64_t offset = at[0] * size;
        for (uint32_t i = 1; i < rank; i++)
            offset += at[i] * stride[i - 1];
        return offset;
    }
    bool has(const int64_t at[5]) const
    {
        for (uint32_t i = 0; i < rank; i++)
            if (at[i] < 0 || at[i] >= (int64_t)dim[i])
                return false;
        return true;
    }
};

static uint64_t swizzled(const tensor &t, uint64_t at)
{
    static const uint64_t masks[] = {0, 1, 3, 7};
    return at ^ (at / 128 & masks[t.swizzle]) * 16;
}

/* Calls with the coordinates of each element, in the order of shared memory. */
template <class F> static uint32_t each_element(const tensor &t, const copy &c, F see)
{
    uint32_t count = 0;
    int64_t at[5] = {0};
    if (t.is_im2col) {
        int64_t pixel[5];
        for (uint32_t i = 0; i < t.rank; i++)
            pixel[i] = c.at[i];
        for (uint32_t p = 0; p < t.pixels; p++) {
            for (uint32_t channel = 0; channel < t.channels; channel++) {
                at[0] = c.at[0] + channel;
                for (uint32_t i = 1; i < t.rank; i++)
                    at[i] = pixel[i] + (i < t.rank - 1 ? c.offset[i - 1] : 0);
                see(count++, at);
            }
            uint32_t i = 1;
            for (; i < t.rank - 1; i++) {
                pixel[i] += t.step[i];
                if (pixel[i] <= (int64_t)t.dim[i] - 1 + t.upper[i - 1])
                    break;
                pixel[i] = t.lower[i - 1];
            }
            if (i == t.rank - 1)
                pixel[i] += 1;
        }
        return count;
    }
    uint32_t n[5] = {1, 1, 1, 1, 1}, p[5];
    for (uint32_t i = 0; i < t.rank; i++)
        n[i] = i ? (t.box[i] + t.step[i] - 1) / t.step[i] : t.box[0];
    for (p[4] = 0; p[4] < n[4]; p[4]++)
        for (p[3] = 0; p[3] < n[3]; p[3]++)
            for (p[2] = 0; p[2] < n[2]; p[2]++)
                for (p[1] = 0; p[1] < n[1]; p[1]++)
                    for (p[0] = 0; p[0] < n[0]; p[0]++) {
                        for (uint32_t i = 0; i < t.rank; i++)
                            at[i] = c.at[i] + (int64_t)p[i] * (i ? t.step[i] : 1);
                        see(count++, at);
                    }
    return count;
}

static std::vector<unsigned char> expected_box(const tensor &t, const copy &c)
{
    std::vector<unsigned char> box(c.room, 0x5a);
    each_element(t, c, [&](uint32_t index, const int64_t at[5]) {
        static const uint64_t nans[] = {0, 0, 0x7fff, 0, 0x7fffffff, 0, 0, 0, 0x7fffffffffffffff};
        const void *from = t.has(at) ? (const void *)&t.data[t.offset_of(at)] : (const void *)&nans[t.fills_nan ? t.size : 0];
        for (uint32_t i = 0; i < t.size; i++)
            box[swizzled(t, (uint64_t)index * t.size + i)] = ((const unsigned char *)from)[i];
    });
    return box;
}

/* ---- random tensors ---- */

static const struct {
    CUtensorMapDataType type;
    uint32_t size;
    bool is_float;
} types[] = {{CU_TENSOR_MAP_DATA_TYPE_UINT8, 1, false},   {CU_TENSOR_MAP_DATA_TYPE_UINT16, 2, false},
             {CU_TENSOR_MAP_DATA_TYPE_UINT32, 4, false},  {CU_TENSOR_MAP_DATA_TYPE_INT32, 4, false},
             {CU_TENSOR_MAP_DATA_TYPE_UINT64, 8, false},  {CU_TENSOR_MAP_DATA_TYPE_INT64, 8, false},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT16, 2, true},  {CU_TENSOR_MAP_DATA_TYPE_FLOAT32, 4, true},
             {CU_TENSOR_MAP_DATA_TYPE_FLOAT64, 8, true},  {CU_TENSOR_MAP_DATA_TYPE_BFLOAT16, 2, true}};

static tensor random_tensor(bool is_im2col, bool has_steps)
{
    tensor t = {};
    uint32_t kind = draw(sizeof types / sizeof *types), most = 24 << 10;
    t.type = types[kind].type;
    t.size = types[kind].size;
    t.is_im2col = is_im2col;
    t.fills_nan = types[kind].is_float && draw(2);
    t.rank = is_im2col ? 3 + draw(3) : 1 + draw(5);
    t.swizzle = (CUtensorMapSwizzle)draw(4);
    uint32_t inner = 16 * (1 + draw(t.swizzle ? 1 << t.swizzle : 12));
    if (inner / t.size > 256)
        inner = 256 * t.size;
    t.channels = t.box[0] = inner / t.size;
    uint64_t bytes = inner, pitch = 0;
    for (uint32_t i = 0; i < t.rank; i++) {
        t.dim[i] = i ? 1 + draw(i < 3 ? 14 : 4) : 1 + draw(2 * t.box[0]);
        t.step[i] = has_steps && i && !(is_im2col && i == t.rank - 1) ? 1 + draw(3) : 1;
        if (i) {
            t.box[i] = 1 + draw((uint32_t)std::min<uint64_t>(std::min<uint64_t>(most / bytes, 16), 2 * t.dim[i]));
            bytes *= t.box[i];
            t.stride[i - 1] = pitch;
        }
        pitch = i ? pitch * t.dim[i] + 16 * draw(3) : (t.dim[0] * t.size + 15) / 16 * 16 + 16 * draw(3);
    }
    for (uint32_t i = 0; is_im2col && i + 2 < t.rank; i++) {
        t.lower[i] = draw_in(-3, 2);
        t.upper[i] = draw_in(std::max(-3, t.lower[i] - (int)t.dim[i + 1] + 1), 2);
    }
    t.pixels = 1 + draw(std::min(200u, most / inner));
    t.data.resize(pitch + 16);
    for (unsigned char &byte : t.data)
        byte = (unsigned char)draw(256);
    return t;
}

static copy random_copy(const tensor &t)
{
    copy c = {};
    c.rank = t.rank;
    c.is_im2col = t.is_im2col;
    for (uint32_t i = 0; i < t.rank; i++)
        c.at[i] = draw(3) ? draw_in(0, (int)t.dim[i] - 1) : draw_in(-(int)t.box[i] - 2, (int)t.dim[i] + 2);
    for (uint32_t i = 0; t.is_im2col && i + 2 < t.rank; i++) {
        c.at[i + 1] = draw_in(t.lower[i], (int)t.dim[i + 1] - 1 + t.upper[i]);
        c.offset[i] = (uint16_t)draw(4);
    }
    if (t.is_im2col) {
        c.at[0] = (int)draw((uint32_t)t.dim[0]);
        c.at[t.rank - 1] = (int)draw((uint32_t)t.dim[t.rank - 1]);
    }
    c.bytes = t.size * each_element(t, c, [](uint32_t, const int64_t *) {});
    c.room = (c.bytes + 127) / 128 * 128;
    return c;
}

static CUtensorMap encode(const tensor &t, void *address)
{
    CUtensorMap map;
    CUtensorMapFloatOOBfill fill = t.fills_nan ? CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA : CU_TENSOR_MAP_FLOAT_OOB_FILL_NONE;
    if (t.is_im2col)
        GOOD(encode_im2col(&map, t.type, t.rank, address, t.dim, t.stride, t.lower, t.upper, t.channels, t.pixels, t.step, CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_L2_128B, fill));
    else
        GOOD(encode_tiled(&map, t.type, t.rank, address, t.dim, t.stride, t.box, t.step, CU_TENSOR_MAP_INTERLEAVE_NONE, t.swizzle, CU_TENSOR_MAP_L2_PROMOTION_NONE, fill));
    return map;
}

static void tell(const char *what, const tensor &t, const copy &c, uint32_t wrong)
{
    printf("%s%s: %u of %u bytes are wrong: type %d, rank %u, swizzle %d, nan %d, pixels %u, mask %x\n", what, t.is_im2col ? " im2col" : "", wrong, c.bytes, t.type, t.rank, t.swizzle, t.fills_nan, t.pixels, c.mask);
    for (uint32_t i = 0; i < t.rank; i++)
        printf("  dim %llu, box %u, step %u, at %d%s", (unsigned long long)t.dim[i], t.box[i], t.step[i], c.at[i], i + 1 < t.rank ? "" : "\n");
    check_failures++;
}

template <class... P> static void launch(void (*kernel)(P...), uint32_t blocks, uint32_t bytes, P... arguments)
{
    cudaLaunchConfig_t config = {};
    cudaLaunchAttribute attribute[1];
    config.gridDim = blocks;
    config.blockDim = 64;
    config.dynamicSmemBytes = bytes;
    attribute[0].id = cudaLaunchAttributeClusterDimension;
    attribute[0].val.clusterDim.x = blocks;
    attribute[0].val.clusterDim.y = attribute[0].val.clusterDim.z = 1;
    config.attrs = attribute;
    config.numAttrs = 1;
    GOOD(cudaLaunchKernelEx(&config, kernel, arguments...));
}

static unsigned char *tensor_memory, *box_memory;
static uint32_t *late;

static uint32_t wrong_bytes(const tensor &t, const copy &c, const unsigned char *got)
{
    std::vector<unsigned char> expected = expected_box(t, c);
    uint32_t wrong = 0;
    for (uint32_t i = 0; i < c.room; i++)
        wrong += got[i] != expected[i];
    return wrong;
}

static void check_load(bool is_im2col, bool has_steps, uint32_t blocks)
{
    tensor t = random_tensor(is_im2col, has_steps);
    copy c = random_copy(t);
    if (blocks > 1)
        c.mask = (uint16_t)(1 + draw((1 << blocks) - 1));
    GOOD(cudaMemcpy(tensor_memory, t.data.data(), t.data.size(), cudaMemcpyHostToDevice));
    GOOD(cudaMemset(late, 0, 4));
    launch(load_box, blocks, c.room, encode(t, tensor_memory), c, box_memory, late);
    std::vector<unsigned char> got(blocks * c.room);
    uint32_t is_late;
    GOOD(cudaMemcpy(got.data(), box_memory, got.size(), cudaMemcpyDeviceToHost));
    GOOD(cudaMemcpy(&is_late, late, 4, cudaMemcpyDeviceToHost));
    for (uint32_t block = 0; block < blocks; block++) {
        const unsigned char *box = &got[block * c.room];
        uint32_t wrong = 0;
        if (!c.mask || (c.mask >> block & 1))
            wrong = wrong_bytes(t, c, box);
        else
            for (uint32_t i = 0; i < c.room; i++)
                wrong += box[i] != 0x5a;
        if (wrong || is_late)
            tell(is_late ? "load, late" : has_steps ? "load with steps" : "load", t, c, wrong);
    }
}

static void check_store(bool is_im2col, int operation)
{
    tensor t = random_tensor(is_im2col, false);
    if (operation != STORES) {
        t.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
        t.fills_nan = false;
        while (t.size != 4)
            t = random_tensor(false, false);
        t.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
        t.fills_nan = false;
    }
    copy c = random_copy(t);
    memset(c.offset, 0, sizeof c.offset);
    std::vector<unsigned char> box(c.room), got(t.data.size());
    for (unsigned char &byte : box)
        byte = (unsigned char)draw(256);
    GOOD(cudaMemcpy(tensor_memory, t.data.data(), t.data.size(), cudaMemcpyHostToDevice));
    GOOD(cudaMemcpy(box_memory, box.data(), box.size(), cudaMemcpyHostToDevice));
    launch(store_box, 1, c.room, encode(t, tensor_memory), c, (const unsigned char *)box_memory, operation);
    GOOD(cudaMemcpy(got.data(), tensor_memory, got.size(), cudaMemcpyDeviceToHost));
    each_element(t, c, [&](uint32_t index, const int64_t at[5]) {
        if (!t.has(at))
            return;
        unsigned char *to = &t.data[t.offset_of(at)], *from = &box[swizzled(t, (uint64_t)index * t.size)];
        uint32_t a, b;
        if (operation == STORES) {
            memcpy(to, from, t.size);
            return;
        }
        memcpy(&a, to, 4);
        memcpy(&b, from, 4);
        a = operation == ADDS ? a + b : operation == MINIMA ? std::min(a, b) : a ^ b;
        memcpy(to, &a, 4);
    });
    uint32_t wrong = 0;
    for (size_t i = 0; i < got.size(); i++)
        wrong += got[i] != t.data[i];
    if (wrong)
        tell(operation ? "reduction" : "store", t, c, wrong);
}

static void check_changed_map()
{
    tensor t = {};
    t.type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
    t.size = 4;
    t.rank = 2;
    t.swizzle = CU_TENSOR_MAP_SWIZZLE_128B;
    t.dim[0] = 40, t.dim[1] = 20;
    t.stride[0] = 176;
    t.box[0] = 32, t.box[1] = 12;
    t.step[0] = t.step[1] = 1;
    t.data.resize(176 * 20);
    for (unsigned char &byte : t.data)
        byte = (unsigned char)draw(256);
    tensor other = t;
    other.type = CU_TENSOR_MAP_DATA_TYPE_FLOAT32;
    other.swizzle = CU_TENSOR_MAP_SWIZZLE_NONE;
    other.fills_nan = true;
    other.dim[0] = 8, other.dim[1] = 3;
    other.stride[0] = 64;
    other.box[1] = 5;
    other.step[1] = 2;
    CUtensorMap *map;
    GOOD(cudaMalloc(&map, sizeof *map));
    GOOD(cudaMemcpy(tensor_memory, t.data.data(), t.data.size(), cudaMemcpyHostToDevice));
    GOOD(cudaMemset(late, 0, 4));
    change_map<<<1, 32>>>(map, encode(other, box_memory), (uint64_t)tensor_memory, 40, 20, 176, 12);
    copy c = {};
    c.rank = 2;
    c.at[0] = 16, c.at[1] = 11;
    c.bytes = c.room = 32 * 12 * 4;
    launch(load_from_memory, 1, c.bytes, (const CUtensorMap *)map, c, box_memory, late);
    std::vector<unsigned char> got(c.room);
    GOOD(cudaMemcpy(got.data(), box_memory, got.size(), cudaMemcpyDeviceToHost));
    uint32_t wrong = wrong_bytes(t, c, got.data());
    if (wrong)
        tell("load by a changed map", t, c, wrong);
    GOOD(cudaFree(map));
}

int main()
{
    find(&encode_tiled, "cuTensorMapEncodeTiled");
    find(&encode_im2col, "cuTensorMapEncodeIm2col");
    GOOD(cudaMalloc(&tensor_memory, 4 << 20));
    GOOD(cudaMalloc(&box_memory, 1 << 20));
    GOOD(cudaMalloc(&late, 4));
    for (int i = 0; i < 150; i++)
        check_load(false, false, 1);
    for (int i = 0; i < 60; i++)
        check_load(false, true, 1);
    for (int i = 0; i < 40; i++)
        check_load(false, false, 2 + draw(3));
    for (int i = 0; i < 100; i++)
        check_load(true, i % 4 == 3, 1);
    for (int i = 0; i < 60; i++)
        check_store(i % 3 == 2, STORES);
    for (int i = 0; i < 40; i++)
        check_store(false, 1 + draw(OPERATIONS - 1));
    check_changed_map();
    return check_end("tensor");
}
