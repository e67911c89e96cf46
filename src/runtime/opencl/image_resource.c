/* Images as resources of the GPU: the words that its instructions and AMD's device library read. */
#include "runtime/opencl/descriptors.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/formats.h"
#include "runtime/opencl/memory.h"

enum { TYPE_AT = 8, ORDER_AT, WIDTH_AT }; /* words behind the resource */

/* The manual's numbers of types of images. */
static uint32_t native_type(cl_mem_object_type type)
{
    switch (type) {
    case CL_MEM_OBJECT_IMAGE1D:
        return 8;
    case CL_MEM_OBJECT_IMAGE3D:
        return 10;
    case CL_MEM_OBJECT_IMAGE1D_ARRAY:
        return 12;
    case CL_MEM_OBJECT_IMAGE2D_ARRAY:
        return 13;
    default:
        return 9;
    }
}

/* An image of a buffer is a typed buffer (V#). */
static void set_buffer(const struct opencl_image *image, const struct opencl_native_format *format,
                       uint64_t address, uint32_t words[])
{
    words[0] = (uint32_t)address;
    words[1] = (uint32_t)(address >> 32) | (uint32_t)image->element_bytes << 16;
    words[2] = (uint32_t)(image->desc.image_width * image->element_bytes);
    words[3] = format->select | format->number << 12 | format->data << 15;
}

/* Others (T#). Sizes are less 1. gfx8 has the last layer beside the first, gfx9 in place of the depth. */
static void set_image(const struct opencl_image *image, const struct opencl_native_format *format,
                      bool is_gfx9, uint64_t address, uint32_t words[])
{
    enum { LINEAR_TILING = 8 }; /* gfx8; gfx9's is 0 */
    const cl_image_desc *desc = &image->desc;
    bool is_1d = desc->image_type == CL_MEM_OBJECT_IMAGE1D || desc->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY;
    bool is_3d = desc->image_type == CL_MEM_OBJECT_IMAGE3D;
    bool has_layers =
        desc->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY || desc->image_type == CL_MEM_OBJECT_IMAGE2D_ARRAY;
    uint32_t last_row = is_1d ? 0 : (uint32_t)desc->image_height - 1;
    uint32_t last_layer = has_layers ? (uint32_t)desc->image_array_size - 1 : 0;
    uint32_t depth = is_3d ? (uint32_t)desc->image_depth - 1 : is_gfx9 ? last_layer : 0;
    words[0] = (uint32_t)(address >> 8);
    words[1] = (uint32_t)(address >> 40) | format->data << 20 | format->number << 26;
    words[2] = (uint32_t)(desc->image_width - 1) | last_row << 14;
    words[3] = format->select | (is_gfx9 ? 0u : LINEAR_TILING) << 20 | native_type(desc->image_type) << 28;
    words[4] = depth | (uint32_t)(image->pitch / image->element_bytes - 1) << 13;
    words[5] = is_gfx9 ? 0 : last_layer << 13;
}

enum result opencl_image_at(cl_mem mem, cl_device_id device, uint64_t *address)
{
    const struct opencl_image *image = &mem->image;
    struct opencl_native_format format = opencl_format_native(&image->format);
    struct opencl_descriptor descriptor = {0};
    uint64_t memory;
    enum result result = opencl_mem_at(mem, device->device, &memory);
    if (result)
        return result;
    if (mem->type == CL_MEM_OBJECT_IMAGE1D_BUFFER)
        set_buffer(image, &format, memory, descriptor.words);
    else
        set_image(image, &format, opencl_device_is_gfx9(device), memory, descriptor.words);
    descriptor.words[TYPE_AT] = format.type_known_as;
    descriptor.words[ORDER_AT] = format.order_known_as;
    descriptor.words[WIDTH_AT] = (uint32_t)image->desc.image_width;
    return opencl_descriptor_at(mem->context, device, &descriptor, address);
}
