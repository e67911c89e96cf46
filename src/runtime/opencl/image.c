/* Images: objects, formats, sizes. In memory they are rows of elements, one behind another. */
#include "runtime/opencl/transfer.h"
#include "base/bits.h"
#include "base/mem.h"
#include "runtime/opencl/device.h"
#include "runtime/opencl/errors.h"
#include "runtime/opencl/formats.h"
#include "runtime/opencl/info.h"

/* What each type of image has: the most of its width, height and depth, 0 for what it has not; layers. */
static const struct shape {
    cl_mem_object_type type;
    uint64_t width, height, depth;
    bool layers;
} shapes[] = {
    {CL_MEM_OBJECT_IMAGE1D, OPENCL_IMAGE_2D_MOST, 0, 0, false},
    {CL_MEM_OBJECT_IMAGE1D_BUFFER, OPENCL_IMAGE_BUFFER_MOST, 0, 0, false},
    {CL_MEM_OBJECT_IMAGE1D_ARRAY, OPENCL_IMAGE_2D_MOST, 0, 0, true},
    {CL_MEM_OBJECT_IMAGE2D, OPENCL_IMAGE_2D_MOST, OPENCL_IMAGE_2D_MOST, 0, false},
    {CL_MEM_OBJECT_IMAGE2D_ARRAY, OPENCL_IMAGE_2D_MOST, OPENCL_IMAGE_2D_MOST, 0, true},
    {CL_MEM_OBJECT_IMAGE3D, OPENCL_IMAGE_3D_MOST, OPENCL_IMAGE_3D_MOST, OPENCL_IMAGE_3D_MOST, false},
};

static const struct shape *find_shape(cl_mem_object_type type)
{
    for (size_t i = 0; i < COUNT_OF(shapes); i++) {
        if (shapes[i].type == type)
            return &shapes[i];
    }
    return NULL;
}

/* Elements in x, y and z, as copies see it: the layers of a 1D array are rows. */
static void extent(const cl_image_desc *desc, uint64_t size[3])
{
    const struct shape *shape = find_shape(desc->image_type);
    size[0] = desc->image_width;
    size[1] = shape->height ? desc->image_height : shape->layers ? desc->image_array_size : 1;
    size[2] = shape->depth ? desc->image_depth : shape->height && shape->layers ? desc->image_array_size : 1;
}

static bool within(uint64_t value, uint64_t most)
{
    return value && value <= most;
}

static cl_int check_size(const cl_image_desc *desc)
{
    const struct shape *shape = find_shape(desc->image_type);
    bool good = within(desc->image_width, shape->width) &&
                (!shape->height || within(desc->image_height, shape->height)) &&
                (!shape->depth || within(desc->image_depth, shape->depth)) &&
                (!shape->layers || within(desc->image_array_size, OPENCL_IMAGE_ARRAY_MOST));
    return good ? CL_SUCCESS : CL_INVALID_IMAGE_SIZE;
}

/* The pitches that the program gives are of its own memory. */
static cl_int check_pitches(const cl_image_desc *desc, size_t element_bytes, const void *host)
{
    uint64_t size[3], row = desc->image_width * element_bytes;
    extent(desc, size);
    bool slices = size[2] > 1 || desc->image_type == CL_MEM_OBJECT_IMAGE3D;
    if (!host && (desc->image_row_pitch || desc->image_slice_pitch))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (desc->image_row_pitch && (desc->image_row_pitch < row || desc->image_row_pitch % element_bytes))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    uint64_t pitch = desc->image_row_pitch ? desc->image_row_pitch : row;
    if (desc->image_slice_pitch && slices &&
        (desc->image_slice_pitch < pitch * size[1] || desc->image_slice_pitch % pitch))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    return CL_SUCCESS;
}

/* An image of one dimension must be of a buffer, or of two may be: its rows begin where a resource allows. */
static cl_int check_buffer(const cl_image_desc *desc, size_t element_bytes)
{
    bool must = desc->image_type == CL_MEM_OBJECT_IMAGE1D_BUFFER;
    uint64_t row = desc->image_width * element_bytes, unit = OPENCL_ALIGNMENT * element_bytes;
    if (!desc->mem_object)
        return must ? CL_INVALID_IMAGE_DESCRIPTOR : CL_SUCCESS;
    bool may = must || desc->image_type == CL_MEM_OBJECT_IMAGE2D;
    if (!may || !opencl_is(desc->mem_object, OPENCL_MEM) || opencl_is_image(desc->mem_object))
        return CL_INVALID_IMAGE_DESCRIPTOR;
    if (must)
        return CL_SUCCESS;
    uint64_t pitch = desc->image_row_pitch ? desc->image_row_pitch : row;
    return pitch < row || pitch % unit ? CL_INVALID_IMAGE_FORMAT_DESCRIPTOR : CL_SUCCESS;
}

static cl_int check(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                    const cl_image_desc *desc, const void *host)
{
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    cl_int error = opencl_mem_check_flags(flags);
    if (!error)
        error = opencl_format_check(format);
    if (error)
        return error;
    if (!desc || !find_shape(desc->image_type) || desc->num_mip_levels || desc->num_samples)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    error = check_buffer(desc, opencl_format_bytes(format));
    if (!error)
        error = check_size(desc);
    if (!error && !desc->mem_object)
        error = check_pitches(desc, opencl_format_bytes(format), host);
    if (error)
        return error;
    bool needs_host = flags & (CL_MEM_USE_HOST_PTR | CL_MEM_COPY_HOST_PTR);
    return !host == needs_host ? CL_INVALID_HOST_PTR : CL_SUCCESS;
}

/* Rows of the program's memory, or of what it sees of the image there. */
static void lay_out_host(struct opencl_image *image)
{
    const cl_image_desc *desc = &image->desc;
    uint64_t size[3], tight = desc->image_width * image->element_bytes;
    extent(desc, size);
    bool layers = desc->image_type == CL_MEM_OBJECT_IMAGE1D_ARRAY && desc->image_slice_pitch;
    image->host_pitch = desc->image_row_pitch ? desc->image_row_pitch : tight;
    image->host_pitch = layers ? desc->image_slice_pitch : image->host_pitch;
    image->host_slice = image->host_pitch * size[1];
    if (desc->image_slice_pitch && size[2] > 1)
        image->host_slice = desc->image_slice_pitch;
}

/* Rows are aligned, and slices follow at once: resources do not know more. */
static void lay_out(struct opencl_image *image, cl_mem_flags flags)
{
    uint64_t size[3], tight = image->desc.image_width * image->element_bytes;
    extent(&image->desc, size);
    lay_out_host(image);
    image->pitch = image->desc.mem_object
                       ? image->host_pitch
                       : (tight + OPENCL_ALIGNMENT - 1) / OPENCL_ALIGNMENT * OPENCL_ALIGNMENT;
    image->rows = size[1];
    image->slice = image->pitch * size[1];
    if (flags & CL_MEM_USE_HOST_PTR)
        return;
    image->host_pitch = image->pitch;
    image->host_slice = image->slice;
}

/* The program's rows, as the image has them. */
static void *arrange(const struct opencl_image *program, const struct opencl_image *image, const void *host,
                     uint64_t bytes)
{
    uint64_t size[3], tight = image->desc.image_width * image->element_bytes;
    extent(&image->desc, size);
    char *arranged = mem_alloc(bytes, 1);
    for (uint64_t z = 0; z < size[2]; z++) {
        for (uint64_t y = 0; y < size[1]; y++)
            memcpy(arranged + z * image->slice + y * image->pitch,
                   (const char *)host + z * program->host_slice + y * program->host_pitch, tight);
    }
    return arranged;
}

static cl_int make_of_buffer(cl_context context, cl_mem_flags flags, const struct opencl_image *image,
                             cl_mem *made)
{
    cl_mem parent = image->desc.mem_object;
    if (image->slice > parent->bytes)
        return CL_INVALID_IMAGE_DESCRIPTOR;
    cl_mem mem = *made = opencl_object_new(OPENCL_MEM, sizeof *mem);
    pthread_mutex_init(&mem->lock, NULL);
    opencl_retain(context);
    opencl_retain(parent);
    mem->context = context;
    mem->parent = parent;
    mem->type = image->desc.image_type;
    mem->flags = flags ? flags : parent->flags;
    mem->bytes = image->slice;
    return CL_SUCCESS;
}

static cl_int make(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                   const cl_image_desc *desc, void *host, cl_mem *made)
{
    cl_int error = check(context, flags, format, desc, host);
    if (error)
        return error;
    struct opencl_image image = {
        .format = *format, .desc = *desc, .element_bytes = opencl_format_bytes(format)};
    struct opencl_image program = image;
    uint64_t size[3];
    extent(desc, size);
    lay_out(&image, flags);
    lay_out_host(&program);
    uint64_t bytes = image.slice * size[2];
    if (desc->mem_object) {
        error = make_of_buffer(context, flags, &image, made);
    } else if (bytes > opencl_device_largest_buffer(context->devices[0])) {
        error = CL_INVALID_IMAGE_SIZE;
    } else {
        void *arranged = host ? arrange(&program, &image, host, bytes) : NULL;
        error = opencl_mem_new(context, desc->image_type, flags, bytes, host, arranged, made);
        mem_free(arranged);
    }
    if (!error)
        (*made)->image = image;
    return error;
}

cl_mem API(clCreateImage)(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                          const cl_image_desc *desc, void *host, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_mem mem = NULL;
    return opencl_made(errcode_ret, make(context, flags, format, desc, host, &mem), mem);
}

cl_mem API(clCreateImageWithProperties)(cl_context context, const cl_mem_properties *properties,
                                        cl_mem_flags flags, const cl_image_format *format,
                                        const cl_image_desc *desc, void *host, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_mem mem = NULL;
    cl_int error =
        properties && *properties ? CL_INVALID_PROPERTY : make(context, flags, format, desc, host, &mem);
    return opencl_made(errcode_ret, error, mem);
}

cl_mem API(clCreateImage2D)(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                            size_t width, size_t height, size_t row_pitch, void *host, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE2D,
                          .image_width = width,
                          .image_height = height,
                          .image_row_pitch = row_pitch};
    cl_mem mem = NULL;
    cl_int error = make(context, flags, format, &desc, host, &mem);
    return opencl_made(errcode_ret, error == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : error,
                       mem);
}

cl_mem API(clCreateImage3D)(cl_context context, cl_mem_flags flags, const cl_image_format *format,
                            size_t width, size_t height, size_t depth, size_t row_pitch, size_t slice_pitch,
                            void *host, cl_int *errcode_ret)
{
    OPENCL_CALL;
    cl_image_desc desc = {.image_type = CL_MEM_OBJECT_IMAGE3D,
                          .image_width = width,
                          .image_height = height,
                          .image_depth = depth,
                          .image_row_pitch = row_pitch,
                          .image_slice_pitch = slice_pitch};
    cl_mem mem = NULL;
    cl_int error = make(context, flags, format, &desc, host, &mem);
    return opencl_made(errcode_ret, error == CL_INVALID_IMAGE_DESCRIPTOR ? CL_INVALID_IMAGE_SIZE : error,
                       mem);
}

/* ---- what is known ---- */

cl_int API(clGetSupportedImageFormats)(cl_context context, cl_mem_flags flags, cl_mem_object_type type,
                                       cl_uint count, cl_image_format *formats, cl_uint *found)
{
    OPENCL_CALL;
    cl_image_format format;
    cl_uint there = 0;
    if (!opencl_is(context, OPENCL_CONTEXT))
        return CL_INVALID_CONTEXT;
    if (opencl_mem_check_flags(flags) || !find_shape(type) || (!count && formats))
        return CL_INVALID_VALUE;
    for (; opencl_format_at(there, &format); there++) {
        if (formats && there < count)
            formats[there] = format;
    }
    if (found)
        *found = there;
    return CL_SUCCESS;
}

cl_int API(clGetImageInfo)(cl_mem mem, cl_image_info name, size_t bytes, void *value, size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(mem, OPENCL_MEM) || !opencl_is_image(mem))
        return CL_INVALID_MEM_OBJECT;
    const cl_image_desc *desc = &mem->image.desc;
    const struct shape *shape = find_shape(desc->image_type);
    bool slices = shape->depth || shape->layers;
    bool rows_are_layers = shape->layers && !shape->height;
    switch (name) {
        INFO_BYTES(CL_IMAGE_FORMAT, &mem->image.format, sizeof mem->image.format)
        INFO(CL_IMAGE_ELEMENT_SIZE, size_t, mem->image.element_bytes)
        INFO(CL_IMAGE_ROW_PITCH, size_t, mem->image.host_pitch)
        INFO(CL_IMAGE_SLICE_PITCH, size_t,
             !slices           ? 0
             : rows_are_layers ? mem->image.host_pitch
                               : mem->image.host_slice)
        INFO(CL_IMAGE_WIDTH, size_t, desc->image_width)
        INFO(CL_IMAGE_HEIGHT, size_t, shape->height ? desc->image_height : 0)
        INFO(CL_IMAGE_DEPTH, size_t, shape->depth ? desc->image_depth : 0)
        INFO(CL_IMAGE_ARRAY_SIZE, size_t, shape->layers ? desc->image_array_size : 0)
        INFO(CL_IMAGE_BUFFER, cl_mem, desc->mem_object)
        INFO(CL_IMAGE_NUM_MIP_LEVELS, cl_uint, 0)
        INFO(CL_IMAGE_NUM_SAMPLES, cl_uint, 0)
    default:
        return CL_INVALID_VALUE;
    }
}

/* ---- for copies ---- */

cl_int opencl_image_side(cl_mem mem, const size_t *origin, const size_t *region, struct copy_side *side)
{
    const struct opencl_image *image = &mem->image;
    uint64_t size[3];
    extent(&image->desc, size);
    if (!origin || !region)
        return CL_INVALID_VALUE;
    for (unsigned i = 0; i < 3; i++) {
        if (!region[i] || origin[i] > size[i] || region[i] > size[i] - origin[i])
            return CL_INVALID_VALUE;
    }
    *side = (struct copy_side){.address = origin[2] * image->slice + origin[1] * image->pitch +
                                          origin[0] * image->element_bytes,
                               .pitch = image->pitch,
                               .rows = image->rows};
    return CL_SUCCESS;
}

void opencl_image_host_side(cl_mem mem, const size_t *origin, struct copy_side *side)
{
    const struct opencl_image *image = &mem->image;
    *side = (struct copy_side){.address = origin[2] * image->host_slice + origin[1] * image->host_pitch +
                                          origin[0] * image->element_bytes,
                               .pitch = image->host_pitch,
                               .rows = image->host_slice / image->host_pitch};
}

void opencl_image_box(cl_mem mem, const size_t *region, struct copy *copy)
{
    copy->width_bytes = region[0] * mem->image.element_bytes;
    copy->height = region[1];
    copy->depth = region[2];
}
