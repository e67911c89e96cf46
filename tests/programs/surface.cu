// Reductions on surfaces, by PTX: all operations and types, inside and outside of the surface. An H200 gave the same.
#include <cstdint>
#include <type_traits>
#include <vector>
#include "check.h"

enum { CELLS = 64, ROWS = 3, FIRST = -8 }; // threads begin before the row

#define REDUCTION(name, opcode, scale, constraint, type)                                                              \
    __global__ void name(cudaSurfaceObject_t s)                                                                       \
    {                                                                                                                 \
        int x = (FIRST + (int)threadIdx.x) * scale;                                                                   \
        uint64_t value = 0x123456789abcdefULL * (threadIdx.x + 1);                                                    \
        asm volatile(opcode " [%0, {%1, %2}], %3;" ::"l"(s), "r"(x), "r"(1), constraint((type)value));                \
    }
REDUCTION(add_u32, "sured.b.add.2d.u32.clamp", 4, "r", uint32_t)
REDUCTION(add_s32, "sured.b.add.2d.s32.zero", 4, "r", uint32_t)
REDUCTION(min_u32, "sured.b.min.2d.u32.clamp", 4, "r", uint32_t)
REDUCTION(min_s32, "sured.b.min.2d.s32.clamp", 4, "r", uint32_t)
REDUCTION(max_u32, "sured.b.max.2d.u32.zero", 4, "r", uint32_t)
REDUCTION(max_s32, "sured.b.max.2d.s32.clamp", 4, "r", uint32_t)
REDUCTION(and_b32, "sured.b.and.2d.b32.clamp", 4, "r", uint32_t)
REDUCTION(or_b32, "sured.b.or.2d.b32.zero", 4, "r", uint32_t)
REDUCTION(add_u64, "sured.b.add.2d.u64.clamp", 8, "l", uint64_t)
REDUCTION(min_u64, "sured.b.min.2d.u64.zero", 8, "l", uint64_t)
REDUCTION(min_s64, "sured.b.min.2d.s64.clamp", 8, "l", uint64_t)
REDUCTION(max_u64, "sured.b.max.2d.u64.clamp", 8, "l", uint64_t)
REDUCTION(max_s64, "sured.b.max.2d.s64.clamp", 8, "l", uint64_t)
REDUCTION(texel_add, "sured.p.add.2d.b32.clamp", 1, "r", uint32_t)
REDUCTION(texel_min, "sured.p.min.2d.b32.zero", 1, "r", uint32_t)
REDUCTION(texel_or, "sured.p.or.2d.b32.clamp", 1, "r", uint32_t)
REDUCTION(texel_min64, "sured.p.min.2d.b64.zero", 1, "l", uint64_t)

// The surface as the kernel leaves it, and as the same in order does.
template <class T, class F> static void reduce(void (*kernel)(cudaSurfaceObject_t), bool clamps, F combine)
{
    cudaChannelFormatDesc channels = sizeof(T) == 8 ? cudaCreateChannelDesc<uint2>() : cudaCreateChannelDesc<unsigned>();
    const size_t row = CELLS * sizeof(T);
    cudaArray_t array;
    cudaSurfaceObject_t surface;
    cudaResourceDesc resource = {};
    std::vector<T> cells(CELLS * ROWS), got(CELLS * ROWS);
    for (size_t i = 0; i < cells.size(); i++)
        cells[i] = (T)(1000 + i * 0x4a2edb104a2edb1ULL);
    GOOD(cudaMallocArray(&array, &channels, CELLS, ROWS, cudaArraySurfaceLoadStore));
    GOOD(cudaMemcpy2DToArray(array, 0, 0, cells.data(), row, row, ROWS, cudaMemcpyHostToDevice));
    resource.resType = cudaResourceTypeArray;
    resource.res.array.array = array;
    GOOD(cudaCreateSurfaceObject(&surface, &resource));
    kernel<<<1, CELLS>>>(surface);
    GOOD(cudaMemcpy2DFromArray(got.data(), row, array, 0, 0, row, ROWS, cudaMemcpyDeviceToHost));
    for (int i = 0; i < CELLS; i++) {
        int x = FIRST + i;
        if (x < 0 && !clamps)
            continue;
        T *cell = &cells[CELLS + (x < 0 ? 0 : x)];
        *cell = combine(*cell, (T)(0x123456789abcdefULL * (i + 1)));
    }
    CHECK(got == cells);
    GOOD(cudaDestroySurfaceObject(surface));
    GOOD(cudaFreeArray(array));
}

template <class T> static T add(T a, T b) { return a + b; }
template <class T> static T lesser(T a, T b) { return a < b ? a : b; }
template <class T> static T greater(T a, T b) { return a > b ? a : b; }
template <class T> static T lesser_signed(T a, T b) { return (std::make_signed_t<T>)a < (std::make_signed_t<T>)b ? a : b; }
template <class T> static T greater_signed(T a, T b) { return (std::make_signed_t<T>)a > (std::make_signed_t<T>)b ? a : b; }
template <class T> static T both(T a, T b) { return a & b; }
template <class T> static T either(T a, T b) { return a | b; }

int main()
{
    reduce<uint32_t>(add_u32, true, add<uint32_t>);
    reduce<uint32_t>(add_s32, false, add<uint32_t>);
    reduce<uint32_t>(min_u32, true, lesser<uint32_t>);
    reduce<uint32_t>(min_s32, true, lesser_signed<uint32_t>);
    reduce<uint32_t>(max_u32, false, greater<uint32_t>);
    reduce<uint32_t>(max_s32, true, greater_signed<uint32_t>);
    reduce<uint32_t>(and_b32, true, both<uint32_t>);
    reduce<uint32_t>(or_b32, false, either<uint32_t>);
    reduce<uint64_t>(add_u64, true, add<uint64_t>);
    reduce<uint64_t>(min_u64, false, lesser<uint64_t>);
    reduce<uint64_t>(min_s64, true, lesser_signed<uint64_t>);
    reduce<uint64_t>(max_u64, true, greater<uint64_t>);
    reduce<uint64_t>(max_s64, true, greater_signed<uint64_t>);
    reduce<uint32_t>(texel_add, true, add<uint32_t>);
    reduce<uint32_t>(texel_min, false, lesser<uint32_t>);
    reduce<uint32_t>(texel_or, true, either<uint32_t>);
    reduce<uint64_t>(texel_min64, false, lesser<uint64_t>);
    return check_end("surface");
}
