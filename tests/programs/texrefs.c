/* Texture and surface references through the driver API, without NVIDIA's headers. */
#include "check.h"

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "texrefs.h"

typedef void *handle;
struct array_shape {
    size_t width, height;
    int format;
    unsigned channels;
};
struct array_box {
    size_t width, height, depth;
    int format;
    unsigned channels, flags;
};
int cuInit(unsigned flags), cuDeviceGet(int *device, int index), cuCtxSynchronize(void);
int cuDevicePrimaryCtxRetain(handle *context, int device), cuCtxSetCurrent(handle context);
int cuModuleLoadData(handle *module, const void *image), cuModuleUnload(handle module);
int cuModuleGetFunction(handle *function, handle module, const char *name);
int cuLaunchKernel(handle function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by,
                   unsigned bz, unsigned shared, handle stream, void **arguments, void **extra);
int cuMemAlloc_v2(uint64_t *d, size_t bytes), cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
int cuMemAllocPitch_v2(uint64_t *d, size_t *pitch, size_t width, size_t height, unsigned element);
struct plane_copy {
    size_t from_x, from_y;
    int from_kind;
    const void *from;
    uint64_t from_device;
    handle from_array;
    size_t from_pitch, to_x, to_y;
    int to_kind;
    void *to;
    uint64_t to_device;
    handle to_array;
    size_t to_pitch, width, height;
};
int cuMemcpy2D_v2(const struct plane_copy *copy);
int cuMemcpyAtoH_v2(void *to, handle array, size_t offset, size_t bytes);
int cuArray3DCreate_v2(handle *array, const struct array_box *box), cuArrayDestroy(handle array);
int cuMipmappedArrayCreate(handle *mipmaps, const struct array_box *box, unsigned levels);
int cuModuleGetTexRef(handle *ref, handle module, const char *name);
int cuModuleGetSurfRef(handle *ref, handle module, const char *name);
int cuTexRefCreate(handle *ref), cuTexRefDestroy(handle ref);
int cuTexRefSetArray(handle ref, handle array, unsigned flags), cuTexRefGetArray(handle *array, handle ref);
int cuTexRefSetMipmappedArray(handle ref, handle mipmaps, unsigned flags);
int cuTexRefGetMipmappedArray(handle *mipmaps, handle ref);
int cuTexRefSetAddress_v2(size_t *offset, handle ref, uint64_t memory, size_t bytes);
int cuTexRefGetAddress_v2(uint64_t *memory, handle ref);
int cuTexRefSetAddress2D_v3(handle ref, const struct array_shape *shape, uint64_t memory, size_t pitch);
int cuTexRefSetFormat(handle ref, int format, int channels),
    cuTexRefGetFormat(int *format, int *n, handle ref);
int cuTexRefSetFlags(handle ref, unsigned flags), cuTexRefGetFlags(unsigned *flags, handle ref);
int cuTexRefSetAddressMode(handle ref, int dim, int mode),
    cuTexRefGetAddressMode(int *mode, handle ref, int dim);
int cuTexRefSetFilterMode(handle ref, int mode), cuTexRefGetFilterMode(int *mode, handle ref);
int cuTexRefSetMipmapFilterMode(handle ref, int mode), cuTexRefGetMipmapFilterMode(int *mode, handle ref);
int cuTexRefSetMipmapLevelBias(handle ref, float bias), cuTexRefGetMipmapLevelBias(float *bias, handle ref);
int cuTexRefSetMipmapLevelClamp(handle ref, float a, float b);
int cuTexRefGetMipmapLevelClamp(float *a, float *b, handle ref);
int cuTexRefSetMaxAnisotropy(handle ref, unsigned n), cuTexRefGetMaxAnisotropy(int *n, handle ref);
int cuTexRefSetBorderColor(handle ref, float *color), cuTexRefGetBorderColor(float *color, handle ref);
int cuSurfRefSetArray(handle ref, handle array, unsigned flags), cuSurfRefGetArray(handle *array, handle ref);

enum {
    U8 = 1,
    U32 = 3,
    F32 = 32,
    OVERRIDE = 1,
    AS_INTEGER = 1,
    NORMALIZED = 2,
    LINEAR = 1,
    BORDER = 3,
    CLAMP = 1
};
enum { INVALID_VALUE = 1, INVALID_HANDLE = 400, NOT_FOUND = 500, LOAD_STORE = 2 };

static handle module, fetch, walk, raise_all, image, line, plane;
static uint64_t out;
static float got[TEXELS];

static const float *run(handle function, void **arguments)
{
    GOOD(cuLaunchKernel(function, 1, 1, 1, TEXELS, 1, 1, 0, NULL, arguments, NULL));
    GOOD(cuMemcpyDtoH_v2(got, out, sizeof got));
    return got;
}

static const float *fetched(float x, float y, float scale)
{
    unsigned by_address = 0;
    return run(fetch, (void *[]){&out, &x, &y, &scale, &by_address});
}

static handle array_of(int format, const void *texels, size_t row)
{
    handle array;
    GOOD(cuArray3DCreate_v2(&array, &(struct array_box){SIDE, SIDE, 0, format, 1, LOAD_STORE}));
    GOOD(cuMemcpy2D_v2(&(struct plane_copy){.from_kind = 1,
                                            .from = texels,
                                            .from_pitch = row,
                                            .to_kind = 3,
                                            .to_array = array,
                                            .width = row,
                                            .height = SIDE}));
    return array;
}

static void check_array(const float *texels)
{
    handle array = array_of(F32, texels, SIDE * sizeof *texels), told;
    int format, channels;
    GOOD(cuTexRefSetAddressMode(image, 0, CLAMP));
    GOOD(cuTexRefSetAddressMode(image, 1, CLAMP));
    GOOD(cuTexRefSetArray(image, array, OVERRIDE));
    CHECK(is_image(fetched(0.5f, 0.5f, 1), 0));
    GOOD(cuTexRefSetFilterMode(image, LINEAR));
    CHECK(is_filtered(fetched(1, 1, 1)));
    GOOD(cuTexRefSetFilterMode(image, 0));
    GOOD(cuTexRefSetFlags(image, NORMALIZED));
    CHECK(is_image(fetched(0.5f, 0.5f, 1.0f / SIDE), 0));
    GOOD(cuTexRefSetFlags(image, 0));
    GOOD(cuTexRefSetAddressMode(image, 0, BORDER));
    GOOD(cuTexRefSetBorderColor(image, (float[]){77, 0, 0, 0}));
    CHECK(fetched(-3.5f, 0.5f, 1)[1] == 77 && got[4] == 77);
    GOOD(cuTexRefGetArray(&told, image));
    GOOD(cuTexRefGetFormat(&format, &channels, image));
    CHECK(told == array && format == F32 && channels == 1);
    GOOD(cuSurfRefSetArray(plane, array, 0));
    GOOD(cuSurfRefGetArray(&told, plane));
    CHECK(told == array);
    GOOD(cuLaunchKernel(raise_all, 1, 1, 1, TEXELS, 1, 1, 0, NULL, NULL, NULL));
    uint32_t bits, was;
    GOOD(cuMemcpyAtoH_v2(&bits, array, 0, sizeof bits));
    memcpy(&was, texels, sizeof was);
    CHECK(bits == was + 100);
}

static void check_memory(const float *texels)
{
    unsigned char bytes[600];
    uint64_t memory, pitched, told;
    size_t offset, pitch;
    unsigned first = 2;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    GOOD(cuMemAlloc_v2(&memory, sizeof bytes));
    GOOD(cuMemcpyHtoD_v2(memory, bytes, sizeof bytes));
    GOOD(cuTexRefSetFormat(line, U8, 1));
    GOOD(cuTexRefSetAddress_v2(&offset, line, memory, sizeof bytes));
    CHECK(!offset && run(walk, (void *[]){&out, &first})[3] == 5.0f / 255);
    GOOD(cuTexRefSetFlags(line, AS_INTEGER));
    uint32_t bits;
    run(walk, (void *[]){&out, &first});
    memcpy(&bits, &got[3], sizeof bits);
    CHECK(bits == 5);
    GOOD(cuTexRefGetAddress_v2(&told, line));
    CHECK(told == memory);
    GOOD(cuTexRefSetAddress_v2(&offset, line, memory + 8, 100));
    CHECK(offset == 8);
    CHECK(cuTexRefSetAddress_v2(NULL, line, memory + 8, 100) == INVALID_VALUE);
    CHECK(cuTexRefSetAddress_v2(&offset, line, 4096, 100) == INVALID_VALUE);

    GOOD(cuMemAllocPitch_v2(&pitched, &pitch, SIDE * sizeof *texels, SIDE, 4));
    for (size_t y = 0; y < SIDE; y++)
        GOOD(cuMemcpyHtoD_v2(pitched + y * pitch, texels + y * SIDE, SIDE * sizeof *texels));
    const struct array_shape shape = {SIDE, SIDE, F32, 1};
    GOOD(cuTexRefSetAddress2D_v3(image, &shape, pitched, pitch));
    CHECK(is_image(fetched(0.5f, 0.5f, 1), 0));
    CHECK(cuTexRefSetAddress2D_v3(image, &shape, pitched, pitch + 4) == INVALID_VALUE);
    CHECK(cuTexRefSetAddress2D_v3(image, NULL, pitched, pitch) == INVALID_VALUE);
    GOOD(cuTexRefSetAddress_v2(&offset, image, 0, 0)); /* bound to nothing */
    CHECK(cuTexRefGetAddress_v2(&told, image) == INVALID_VALUE);
}

/* What was said of it is told again. */
static void check_told(void)
{
    handle ref, mipmaps, told;
    float a, b, color[4];
    int mode, n;
    unsigned flags;
    GOOD(cuTexRefCreate(&ref));
    GOOD(cuTexRefSetAddressMode(ref, 2, BORDER));
    GOOD(cuTexRefGetAddressMode(&mode, ref, 2));
    CHECK(mode == BORDER);
    GOOD(cuTexRefSetFilterMode(ref, LINEAR));
    GOOD(cuTexRefGetFilterMode(&mode, ref));
    CHECK(mode == LINEAR);
    GOOD(cuTexRefSetMipmapFilterMode(ref, LINEAR));
    GOOD(cuTexRefGetMipmapFilterMode(&mode, ref));
    CHECK(mode == LINEAR);
    GOOD(cuTexRefSetMipmapLevelBias(ref, 0.5f));
    GOOD(cuTexRefGetMipmapLevelBias(&a, ref));
    CHECK(a == 0.5f);
    GOOD(cuTexRefSetMipmapLevelClamp(ref, 1, 2));
    GOOD(cuTexRefGetMipmapLevelClamp(&a, &b, ref));
    CHECK(a == 1 && b == 2);
    GOOD(cuTexRefSetMaxAnisotropy(ref, 8));
    GOOD(cuTexRefGetMaxAnisotropy(&n, ref));
    CHECK(n == 8);
    GOOD(cuTexRefSetFlags(ref, NORMALIZED));
    GOOD(cuTexRefGetFlags(&flags, ref));
    CHECK(flags == NORMALIZED);
    GOOD(cuTexRefSetBorderColor(ref, (float[]){1, 2, 3, 4}));
    GOOD(cuTexRefGetBorderColor(color, ref));
    CHECK(color[3] == 4);
    GOOD(cuMipmappedArrayCreate(&mipmaps, &(struct array_box){SIDE, SIDE, 0, F32, 1, 0}, 2));
    GOOD(cuTexRefSetMipmappedArray(ref, mipmaps, OVERRIDE));
    GOOD(cuTexRefGetMipmappedArray(&told, ref));
    CHECK(told == mipmaps);
    CHECK(cuTexRefGetArray(&told, ref) == INVALID_VALUE);
    GOOD(cuTexRefDestroy(ref));
    CHECK(cuTexRefDestroy(ref) == INVALID_VALUE);
}

static void check_refused(void)
{
    handle ref;
    int value;
    CHECK(cuModuleGetTexRef(&ref, module, "nothing") == NOT_FOUND);
    CHECK(cuModuleGetTexRef(NULL, module, "image") == INVALID_VALUE);
    CHECK(cuModuleGetTexRef(&ref, module, NULL) == INVALID_VALUE);
    CHECK(cuModuleGetTexRef(&ref, NULL, "image") == INVALID_HANDLE);
    CHECK(cuModuleGetSurfRef(&ref, module, "nothing") == NOT_FOUND);
    CHECK(cuTexRefSetArray(image, NULL, OVERRIDE) == INVALID_VALUE);
    CHECK(cuTexRefSetArray(NULL, NULL, OVERRIDE) == INVALID_VALUE);
    CHECK(cuTexRefSetAddressMode(image, 3, CLAMP) == INVALID_VALUE);
    CHECK(cuTexRefSetAddressMode(image, 0, 4) == INVALID_VALUE);
    CHECK(cuTexRefSetFilterMode(image, 2) == INVALID_VALUE);
    CHECK(cuTexRefSetFormat(image, 7, 1) == INVALID_VALUE);
    CHECK(cuTexRefSetFormat(image, U8, 3) == INVALID_VALUE);
    CHECK(cuTexRefSetFlags(image, 1 << 20) == INVALID_VALUE);
    CHECK(cuTexRefGetFilterMode(NULL, image) == INVALID_VALUE);
    CHECK(cuTexRefGetFilterMode(&value, plane) == INVALID_VALUE);
    CHECK(cuTexRefDestroy(image) == INVALID_VALUE);
    CHECK(cuSurfRefSetArray(image, NULL, 0) == INVALID_VALUE);
    CHECK(cuSurfRefSetArray(plane, NULL, 0) == INVALID_VALUE);
}

int main(void)
{
    handle context;
    int device;
    float texels[TEXELS];
    for (int i = 0; i < TEXELS; i++)
        texels[i] = (float)i;
    GOOD(cuInit(0));
    GOOD(cuDeviceGet(&device, 0));
    GOOD(cuDevicePrimaryCtxRetain(&context, device));
    GOOD(cuCtxSetCurrent(context));
    GOOD(cuModuleLoadData(&module, texrefs_ptx));
    GOOD(cuModuleGetFunction(&fetch, module, "fetch"));
    GOOD(cuModuleGetFunction(&walk, module, "walk"));
    GOOD(cuModuleGetFunction(&raise_all, module, "raise"));
    GOOD(cuModuleGetTexRef(&image, module, "image"));
    GOOD(cuModuleGetTexRef(&line, module, "line"));
    GOOD(cuModuleGetSurfRef(&plane, module, "plane"));
    GOOD(cuMemAlloc_v2(&out, sizeof got));
    check_array(texels);
    check_memory(texels);
    check_told();
    check_refused();
    GOOD(cuModuleUnload(module));
    CHECK(cuTexRefSetFilterMode(image, 0) == INVALID_VALUE);
    return check_end("texrefs");
}
