/* The driver API: linking. The parts are kept until a module is made of them: what cuLinkComplete gives,
 * where CUDA gives a cubin, is a frame that holds them all, and cuModuleLoadData reads it. */
#include "runtime/cuda/library.h"
#include "base/file.h"
#include "base/mem.h"

#include <string.h>

static const char frame_magic[8] = "HeddleLk";
enum { INPUT_CUBIN, INPUT_PTX, INPUT_FATBINARY };
enum { MOST_FILE_BYTES = 1 << 30, ALIGNMENT = 8 };

/* The frame: the magic, the number of parts, and each as its number of bytes and the bytes, padded. */
struct link {
    struct text frame;
    uint64_t count;
};

static void add_word(struct text *frame, uint64_t word)
{
    text_add_bytes(frame, (const char *)&word, sizeof word);
}

static CUresult add_part(struct link *link, int type, const void *data, size_t bytes)
{
    static const char zeros[ALIGNMENT];
    if (!link || !data || !bytes)
        return link ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    if (type != INPUT_PTX && type != INPUT_FATBINARY)
        return type == INPUT_CUBIN ? cudaErrorNoKernelImageForDevice : cudaErrorNotSupported;
    if (type == INPUT_PTX && !memmem(data, bytes, ".version", sizeof ".version" - 1))
        return cudaErrorInvalidKernelImage;
    add_word(&link->frame, bytes);
    text_add_bytes(&link->frame, data, bytes);
    text_add_bytes(&link->frame, zeros, -bytes % ALIGNMENT);
    link->count++;
    return cudaSuccess;
}

bool cuda_is_frame(const void *image)
{
    return !strncmp(image, frame_magic, sizeof frame_magic);
}

cudaError_t cuda_load_frame(struct module **module, const void *image)
{
    const char *at = (const char *)image + sizeof frame_magic;
    uint64_t count, bytes;
    memcpy(&count, at, sizeof count);
    at += sizeof count;
    struct module_part *parts = mem_alloc(count, sizeof *parts);
    for (uint64_t i = 0; i < count; i++) {
        memcpy(&bytes, at, sizeof bytes);
        at += sizeof bytes;
        parts[i] = (struct module_part){.name = "a part of a linked module", .image = at, .bytes = bytes};
        at += bytes + -bytes % ALIGNMENT;
    }
    cudaError_t error = module_link(cuda_driver(), parts, count, module);
    mem_free(parts);
    return error;
}

CU(cuLinkCreate_v2, (count, options, values, link), unsigned count, int *options, void **values,
   CUlinkState *link)
{
    (void)count, (void)options, (void)values;
    if (!link)
        return cudaErrorInvalidValue;
    *link = mem_alloc(1, sizeof **link);
    text_add_bytes(&(*link)->frame, frame_magic, sizeof frame_magic);
    add_word(&(*link)->frame, 0);
    return cudaSuccess;
}
CU_ALIAS(cuLinkCreate, cuLinkCreate_v2);

CU(cuLinkAddData_v2, (link, type, data, bytes, name, count, options, values), CUlinkState link, int type,
   void *data, size_t bytes, const char *name, unsigned count, int *options, void **values)
{
    (void)name, (void)count, (void)options, (void)values;
    return add_part(link, type, data, bytes);
}
CU_ALIAS(cuLinkAddData, cuLinkAddData_v2);

CU(cuLinkAddFile_v2, (link, type, path, count, options, values), CUlinkState link, int type, const char *path,
   unsigned count, int *options, void **values)
{
    struct text content = {0};
    (void)count, (void)options, (void)values;
    if (!path)
        return cudaErrorInvalidValue;
    CUresult result = file_read(path, MOST_FILE_BYTES, &content, driver_detail_err())
                          ? add_part(link, type, content.at, content.length)
                          : cudaErrorFileNotFound;
    text_fini(&content);
    return result;
}
CU_ALIAS(cuLinkAddFile, cuLinkAddFile_v2);

/* The image lives as long as the link. */
CU(cuLinkComplete, (link, image, bytes), CUlinkState link, void **image, size_t *bytes)
{
    if (!link || !image)
        return link ? cudaErrorInvalidValue : cudaErrorInvalidResourceHandle;
    memcpy(link->frame.at + sizeof frame_magic, &link->count, sizeof link->count);
    *image = link->frame.at;
    if (bytes)
        *bytes = link->frame.length;
    return cudaSuccess;
}

CU(cuLinkDestroy, (link), CUlinkState link)
{
    if (!link)
        return cudaErrorInvalidResourceHandle;
    text_fini(&link->frame);
    mem_free(link);
    return cudaSuccess;
}
