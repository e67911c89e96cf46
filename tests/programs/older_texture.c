/* Texture and surface references, as programs of CUDA 11 register and bind them, without NVIDIA's headers. */
#define _GNU_SOURCE
#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "texrefs.h"

struct dim3 {
    unsigned x, y, z;
};
struct extent {
    size_t width, height, depth;
};
struct format {
    int x, y, z, w, kind;
};
struct textureReference {
    int normalized, filterMode, addressMode[3];
    struct format channelDesc;
    int sRGB;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization, reserved[14];
};
struct surfaceReference {
    struct format channelDesc;
};
typedef void *handle;

void **__cudaRegisterFatBinary(void *wrapper);
void __cudaRegisterFatBinaryEnd(void **fatbin), __cudaUnregisterFatBinary(void **fatbin);
void __cudaRegisterFunction(void **fatbin, const char *host, char *device, const char *name, int limit,
                            void *, void *, void *, void *, void *);
void __cudaRegisterTexture(void **fatbin, const struct textureReference *host, const void **device,
                           const char *name, int dimensions, int reads_floats, int is_extern);
void __cudaRegisterSurface(void **fatbin, const struct surfaceReference *host, const void **device,
                           const char *name, int dimensions, int is_extern);
int cudaMalloc(void **d, size_t bytes), cudaFree(void *d), cudaDeviceSynchronize(void);
int cudaMallocPitch(void **d, size_t *pitch, size_t width, size_t height);
int cudaMallocArray(handle *array, const struct format *format, size_t width, size_t height, unsigned flags);
int cudaFreeArray(handle array), cudaMemcpy(void *to, const void *from, size_t bytes, int kind);
int cudaMemcpy2D(void *to, size_t to_pitch, const void *from, size_t from_pitch, size_t width, size_t height,
                 int kind);
int cudaMemcpy2DToArray(handle to, size_t x, size_t y, const void *from, size_t pitch, size_t width,
                        size_t height, int kind);
int cudaMemcpy2DFromArray(void *to, size_t pitch, handle from, size_t x, size_t y, size_t width,
                          size_t height, int kind);
int cudaMallocMipmappedArray(handle *mipmaps, const struct format *format, struct extent extent,
                             unsigned levels, unsigned flags);
int cudaLaunchKernel(const void *kernel, struct dim3 grid, struct dim3 block, void **arguments, size_t shared,
                     handle stream);
int cudaBindTexture(size_t *offset, const struct textureReference *t, const void *memory,
                    const struct format *format, size_t bytes);
int cudaBindTexture2D(size_t *offset, const struct textureReference *t, const void *memory,
                      const struct format *format, size_t width, size_t height, size_t pitch);
int cudaBindTextureToArray(const struct textureReference *t, handle array, const struct format *format);
int cudaBindTextureToMipmappedArray(const struct textureReference *t, handle mipmaps,
                                    const struct format *format);
int cudaUnbindTexture(const struct textureReference *t), cudaGetLastError(void);
int cudaGetTextureAlignmentOffset(size_t *offset, const struct textureReference *t);
int cudaGetTextureReference(const struct textureReference **t, const void *symbol);
int cudaBindSurfaceToArray(const struct surfaceReference *s, handle array, const struct format *format);
int cudaGetSurfaceReference(const struct surfaceReference **s, const void *symbol);
int cudaCtxResetPersistingL2Cache(void), cudaThreadSynchronize(void); /* CUDA 10, CUDA 13 do not have them */
int cudaMemcpyToSymbol(const void *symbol, const void *from, size_t bytes, size_t offset, int kind);

enum { TO_DEVICE = 1, TO_HOST = 2, POINT = 0, LINEAR = 1, WRAP = 0, CLAMP = 1, FLOAT = 2, UNSIGNED = 1 };
enum { INVALID_VALUE = 1, INVALID_SYMBOL = 13, INVALID_TEXTURE = 18, NOT_BOUND = 19, INVALID_SURFACE = 37 };
enum { INVALID_FILTER = 26, INVALID_HANDLE = 400 };
static const struct format floats = {32, 0, 0, 0, FLOAT}, bytes_format = {8, 0, 0, 0, UNSIGNED},
                           words = {32, 0, 0, 0, UNSIGNED};

static struct textureReference image = {.addressMode = {CLAMP, CLAMP, CLAMP}};
static struct textureReference line = {.addressMode = {CLAMP, CLAMP, CLAMP}}, none;
static struct surfaceReference plane;
static char fetch, walk, raise_all; /* their addresses stand for kernels */

static struct {
    uint32_t magic;
    uint16_t version, header;
    uint64_t bytes;
    uint16_t kind, entry_version;
    uint32_t entry_header;
    uint64_t payload;
    uint32_t packed, unused[2], arch;
    uint64_t more, flags, again, unpacked;
    char text[(sizeof texrefs_ptx + 7) / 8 * 8];
} fatbin = {.magic = 0xba55ed50,
            .version = 1,
            .header = 16,
            .bytes = sizeof fatbin - 16,
            .kind = 1,
            .entry_version = 0x101,
            .entry_header = 64,
            .payload = sizeof fatbin.text,
            .arch = 52};
static struct {
    int magic, version;
    const void *data;
    void *parts;
} wrapper = {0x466243b1, 1, &fatbin, NULL};

static void *out;
static float got[TEXELS];

static void launch(const void *kernel, void **arguments)
{
    GOOD(cudaLaunchKernel(kernel, (struct dim3){1, 1, 1}, (struct dim3){TEXELS, 1, 1}, arguments, 0, NULL));
}

static const float *fetched(float x, float y, float scale, unsigned by_address)
{
    launch(&fetch, (void *[]){&out, &x, &y, &scale, &by_address});
    GOOD(cudaMemcpy(got, out, sizeof got, TO_HOST));
    return got;
}

static const float *walked(unsigned first)
{
    launch(&walk, (void *[]){&out, &first});
    GOOD(cudaMemcpy(got, out, sizeof got, TO_HOST));
    return got;
}

static handle array_of(float first)
{
    float texels[TEXELS];
    handle array;
    for (int i = 0; i < TEXELS; i++)
        texels[i] = (float)i + first;
    GOOD(cudaMallocArray(&array, &floats, SIDE, SIDE, 2)); /* also for surfaces */
    GOOD(cudaMemcpy2DToArray(array, 0, 0, texels, sizeof(float) * SIDE, sizeof(float) * SIDE, SIDE,
                             TO_DEVICE));
    return array;
}

static void check_arrays(void)
{
    handle first = array_of(0), second = array_of(1000);
    GOOD(cudaBindTextureToArray(&image, first, &floats));
    CHECK(is_image(fetched(0.5f, 0.5f, 1, 0), 0));
    CHECK(is_image(fetched(0.5f, 0.5f, 1, 1), 0));
    image.filterMode = LINEAR; /* read when it is bound */
    CHECK(is_image(fetched(0.5f, 0.5f, 1, 0), 0));
    GOOD(cudaBindTextureToArray(&image, first, &floats));
    CHECK(is_filtered(fetched(1, 1, 1, 0)));
    image.filterMode = POINT;
    image.normalized = 1;
    image.addressMode[0] = image.addressMode[1] = WRAP;
    GOOD(cudaBindTextureToArray(&image, first, &floats));
    CHECK(is_image(fetched(0.5f + SIDE, 0.5f - 2 * SIDE, 1.0f / SIDE, 0), 0));
    /* a launch before keeps what was bound then */
    float x = 0.5f, y = 0.5f, scale = 1.0f / SIDE;
    unsigned by_address = 0;
    launch(&fetch, (void *[]){&out, &x, &y, &scale, &by_address});
    GOOD(cudaBindTextureToArray(&image, second, &floats));
    GOOD(cudaMemcpy(got, out, sizeof got, TO_HOST));
    CHECK(is_image(got, 0));
    CHECK(is_image(fetched(0.5f, 0.5f, 1.0f / SIDE, 1), 1000));
    image.normalized = 0;
    image.addressMode[0] = image.addressMode[1] = CLAMP;

    handle mipmaps;
    GOOD(cudaMallocMipmappedArray(&mipmaps, &floats, (struct extent){SIDE, SIDE, 0}, 2, 0));
    GOOD(cudaBindTextureToMipmappedArray(&image, mipmaps, &floats));
    CHECK(fetched(0.5f, 0.5f, 1, 0)[5] == 0);

    GOOD(cudaBindSurfaceToArray(&plane, second, &words));
    launch(&raise_all, NULL);
    unsigned bits[TEXELS];
    float texels[TEXELS];
    GOOD(cudaMemcpy2DFromArray(texels, sizeof(float) * SIDE, second, 0, 0, sizeof(float) * SIDE, SIDE,
                               TO_HOST));
    memcpy(bits, texels, sizeof bits);
    for (int i = 0; i < TEXELS; i++) {
        float before = (float)i + 1000;
        unsigned was;
        memcpy(&was, &before, sizeof was);
        CHECK(bits[i] == was + 100);
    }
    GOOD(cudaUnbindTexture(&image));
    GOOD(cudaFreeArray(first));
}

static void check_memory(void)
{
    unsigned char bytes[1024];
    void *memory, *pitched;
    size_t offset = 99, pitch;
    for (size_t i = 0; i < sizeof bytes; i++)
        bytes[i] = (unsigned char)i;
    GOOD(cudaMalloc(&memory, sizeof bytes));
    GOOD(cudaMemcpy(memory, bytes, sizeof bytes, TO_DEVICE));
    GOOD(cudaBindTexture(&offset, &line, memory, &bytes_format, UINT32_MAX));
    CHECK(!offset && walked(3)[4] == 7.0f / 255);
    GOOD(cudaGetTextureAlignmentOffset(&offset, &line));
    CHECK(!offset);
    GOOD(cudaBindTexture(&offset, &line, (char *)memory + 20, &bytes_format, 100));
    CHECK(offset == 20 && walked((unsigned)offset)[4] == 24.0f / 255);
    offset = 0;
    GOOD(cudaGetTextureAlignmentOffset(&offset, &line));
    CHECK(offset == 20 && walked(119)[0] == 119.0f / 255 && !walked(120)[0]);

    float texels[TEXELS];
    for (int i = 0; i < TEXELS; i++)
        texels[i] = (float)i;
    GOOD(cudaMallocPitch(&pitched, &pitch, sizeof(float) * SIDE, SIDE));
    GOOD(cudaMemcpy2D(pitched, pitch, texels, sizeof(float) * SIDE, sizeof(float) * SIDE, SIDE, TO_DEVICE));
    GOOD(cudaBindTexture2D(&offset, &image, pitched, &floats, SIDE, SIDE, pitch));
    CHECK(!offset && is_image(fetched(0.5f, 0.5f, 1, 0), 0));

    CHECK(cudaBindTexture(NULL, &line, (char *)memory + 20, &bytes_format, 100) == INVALID_VALUE);
    CHECK(cudaBindTexture(NULL, &line, NULL, &bytes_format, 100) == INVALID_VALUE);
    CHECK(cudaBindTexture(NULL, &line, memory, NULL, 100) == INVALID_VALUE);
    CHECK(cudaBindTexture(NULL, &none, memory, &bytes_format, 100) == INVALID_TEXTURE);
    CHECK(cudaBindTexture(NULL, (void *)&plane, memory, &bytes_format, 100) == INVALID_TEXTURE);
    CHECK(cudaBindTexture2D(NULL, &image, pitched, &floats, SIDE, SIDE, pitch + 4) == INVALID_VALUE);
    CHECK(cudaBindTexture2D(NULL, &image, pitched, &floats, 0, SIDE, pitch) == INVALID_VALUE);
}

static void check_refused(void)
{
    const struct textureReference *t = NULL;
    const struct surfaceReference *s = NULL;
    handle array;
    size_t offset;
    GOOD(cudaGetTextureReference(&t, &image));
    GOOD(cudaGetSurfaceReference(&s, &plane));
    CHECK(t == &image && s == &plane);
    CHECK(cudaGetTextureReference(&t, &none) == INVALID_TEXTURE);
    CHECK(cudaGetTextureReference(&t, &plane) == INVALID_TEXTURE);
    CHECK(cudaGetTextureReference(NULL, &image) == INVALID_VALUE);
    CHECK(cudaGetSurfaceReference(&s, &image) == INVALID_SURFACE);
    CHECK(cudaUnbindTexture(&none) == INVALID_TEXTURE);
    GOOD(cudaUnbindTexture(&image));
    CHECK(cudaGetTextureAlignmentOffset(&offset, &image) == NOT_BOUND);
    CHECK(cudaBindTextureToArray(&image, NULL, &floats) == INVALID_HANDLE);
    CHECK(cudaBindTextureToArray(&none, NULL, &floats) == INVALID_TEXTURE);
    CHECK(cudaMemcpyToSymbol(&image, &offset, sizeof offset, 0, TO_DEVICE) == INVALID_SYMBOL);
    GOOD(cudaMallocArray(&array, &words, SIDE, SIDE, 0));
    image.filterMode = LINEAR;
    CHECK(cudaBindTextureToArray(&image, array, &words) == INVALID_FILTER);
    CHECK(cudaBindSurfaceToArray(&plane, NULL, &words) == INVALID_HANDLE);
    CHECK(cudaBindSurfaceToArray((void *)&image, array, &words) == INVALID_SURFACE);
    cudaGetLastError();
}

int main(void)
{
    strcpy(fatbin.text, texrefs_ptx);
    void **fat = __cudaRegisterFatBinary(&wrapper);
    __cudaRegisterTexture(fat, &image, (const void **)&image, "image", 2, 0, 0);
    __cudaRegisterTexture(fat, &line, (const void **)&line, "line", 1, 1, 0);
    __cudaRegisterSurface(fat, &plane, (const void **)&plane, "plane", 2, 0);
    __cudaRegisterFunction(fat, &fetch, &fetch, "fetch", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(fat, &walk, &walk, "walk", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFunction(fat, &raise_all, &raise_all, "raise", -1, NULL, NULL, NULL, NULL, NULL);
    __cudaRegisterFatBinaryEnd(fat);
    GOOD(cudaCtxResetPersistingL2Cache());
    GOOD(cudaThreadSynchronize());
    GOOD(cudaMalloc(&out, sizeof got));
    check_arrays();
    check_memory();
    check_refused();
    __cudaUnregisterFatBinary(fat);
    return check_end("older_texture");
}
