/* Images and samplers in kernels: every format with every sampler, beside what OpenCL's specification says,
 * computed here in double precision. Arguments: "four" leaves out all but four channels, for runs with time;
 * "plain" moreover arrays, halves and what kernels can ask of an image, where PoCL 3.1 errs or gives up. */
#include "start.h"

#include <math.h>
#include <stdint.h>
#include <stdio.h>

enum { WIDTH = 13, HEIGHT = 7, DEPTH = 5, POINTS = 96, CHANNELS = 4 };

/* A kernel for each kind of image, NAME, and of result, T: samples, loads, stores. */
static const char source[] =
    "#ifdef cl_khr_3d_image_writes\n#pragma OPENCL EXTENSION cl_khr_3d_image_writes : enable\n#endif\n"
    "#define SAMPLE(NAME, IMAGE, PLACE, T, V) \\\n"
    "kernel void sample_##NAME##_##T(read_only IMAGE im, sampler_t s, global const float4 *at, global V "
    "*out)\\\n"
    "{ int i = get_global_id(0); out[i] = read_image##T(im, s, at[i].PLACE); }\n"
    "#define LOAD(NAME, IMAGE, PLACE, T, V) \\\n"
    "kernel void load_##NAME##_##T(read_only IMAGE im, global const float4 *at, global V *out)\\\n"
    "{ int i = get_global_id(0); out[i] = read_image##T(im, convert_int4(at[i]).PLACE); }\n"
    "#define STORE(NAME, IMAGE, PLACE, T, V) \\\n"
    "kernel void store_##NAME##_##T(write_only IMAGE im, global const float4 *at, global const V *in)\\\n"
    "{ int i = get_global_id(0); write_image##T(im, convert_int4(at[i]).PLACE, in[i]); }\n"
    "#define ALL(WHAT, NAME, IMAGE, PLACE) \\\n"
    "WHAT(NAME, IMAGE, PLACE, f, float4) WHAT(NAME, IMAGE, PLACE, i, int4) WHAT(NAME, IMAGE, PLACE, ui, "
    "uint4)\n"
    "#define BOTH(NAME, IMAGE, PLACE) ALL(SAMPLE, NAME, IMAGE, PLACE) ALL(LOAD, NAME, IMAGE, PLACE)\n"
    "BOTH(line, image1d_t, x) BOTH(lines, image1d_array_t, xy) BOTH(plane, image2d_t, xy)\n"
    "BOTH(planes, image2d_array_t, xyzw) BOTH(space, image3d_t, xyzw) ALL(LOAD, buffer, image1d_buffer_t, "
    "x)\n"
    "ALL(STORE, line, image1d_t, x) ALL(STORE, lines, image1d_array_t, xy) ALL(STORE, plane, image2d_t, xy)\n"
    "ALL(STORE, planes, image2d_array_t, xyzw) ALL(STORE, buffer, image1d_buffer_t, x)\n"
    "#ifdef cl_khr_3d_image_writes\nALL(STORE, space, image3d_t, xyzw)\n#endif\n"
    "#define OWN(NUMBER, COORDINATES, MODE, FILTER) \\\n"
    "kernel void own_##NUMBER(read_only image2d_t im, global const float4 *at, global float4 *out) {\\\n"
    "const sampler_t s = CLK_NORMALIZED_COORDS_##COORDINATES | CLK_ADDRESS_##MODE | CLK_FILTER_##FILTER;\\\n"
    "int i = get_global_id(0); out[i] = read_imagef(im, s, at[i].xy); }\n"
    "OWN(0, FALSE, CLAMP, NEAREST) OWN(1, FALSE, CLAMP_TO_EDGE, LINEAR) OWN(2, TRUE, CLAMP, LINEAR)\n"
    "OWN(3, TRUE, CLAMP_TO_EDGE, NEAREST) OWN(4, TRUE, REPEAT, NEAREST) OWN(5, TRUE, REPEAT, LINEAR)\n"
    "OWN(6, TRUE, MIRRORED_REPEAT, NEAREST) OWN(7, TRUE, MIRRORED_REPEAT, LINEAR)\n"
    "kernel void facts(read_only image2d_array_t a, read_only image3d_t b, read_only image1d_buffer_t c,\n"
    "read_only image1d_array_t d, global int *out) {\n"
    "out[0] = get_image_width(a); out[1] = get_image_height(a); out[2] = get_image_array_size(a);\n"
    "out[3] = get_image_width(b); out[4] = get_image_height(b); out[5] = get_image_depth(b);\n"
    "out[6] = get_image_width(c); out[7] = get_image_width(d); out[8] = get_image_array_size(d);\n"
    "out[9] = get_image_channel_data_type(a); out[10] = get_image_channel_order(b);\n"
    "out[11] = get_image_dim(a).x; out[12] = get_image_dim(b).z; }\n";

static cl_program program;

/* ---- kinds of images ---- */

static const struct kind {
    const char *name;
    cl_mem_object_type type;
    int axes;
    size_t size[3]; /* elements in x, y and z, where layers are the last */
    int layers;     /* the axis that they are; 0: it has none */
} kinds[] = {
    {"line", CL_MEM_OBJECT_IMAGE1D, 1, {WIDTH, 1, 1}, 0},
    {"lines", CL_MEM_OBJECT_IMAGE1D_ARRAY, 1, {WIDTH, DEPTH, 1}, 1},
    {"plane", CL_MEM_OBJECT_IMAGE2D, 2, {WIDTH, HEIGHT, 1}, 0},
    {"planes", CL_MEM_OBJECT_IMAGE2D_ARRAY, 2, {WIDTH, HEIGHT, DEPTH}, 2},
    {"space", CL_MEM_OBJECT_IMAGE3D, 3, {WIDTH, HEIGHT, DEPTH}, 0},
    {"buffer", CL_MEM_OBJECT_IMAGE1D_BUFFER, 1, {WIDTH, 1, 1}, 0},
};

static uint32_t seed = 1;

static uint32_t any(void)
{
    seed ^= seed << 13;
    seed ^= seed >> 17;
    seed ^= seed << 5;
    return seed;
}

/* ---- formats ---- */

static int channel_bytes(cl_channel_type type)
{
    switch (type) {
    case CL_SNORM_INT8:
    case CL_UNORM_INT8:
    case CL_SIGNED_INT8:
    case CL_UNSIGNED_INT8:
        return 1;
    case CL_SNORM_INT16:
    case CL_UNORM_INT16:
    case CL_SIGNED_INT16:
    case CL_UNSIGNED_INT16:
    case CL_HALF_FLOAT:
        return 2;
    case CL_SIGNED_INT32:
    case CL_UNSIGNED_INT32:
    case CL_FLOAT:
        return 4;
    default:
        return 0;
    }
}

/* Which of r, g, b, a each channel is. */
static const char *channels_of(cl_channel_order order)
{
    switch (order) {
    case CL_R:
        return "r";
    case CL_A:
        return "a";
    case CL_RG:
        return "rg";
    case CL_RGBA:
        return "rgba";
    case CL_BGRA:
        return "bgra";
    case CL_ARGB:
        return "argb";
    default:
        return NULL;
    }
}

static int is_signed(cl_channel_type type)
{
    return type >= CL_SIGNED_INT8 && type <= CL_SIGNED_INT32;
}

static int is_unsigned(cl_channel_type type)
{
    return type >= CL_UNSIGNED_INT8 && type <= CL_UNSIGNED_INT32;
}

static int is_normalized(cl_channel_type type)
{
    return type >= CL_SNORM_INT8 && type <= CL_UNORM_INT16;
}

static const char *result_of(cl_channel_type type)
{
    return is_signed(type) ? "i" : is_unsigned(type) ? "ui" : "f";
}

/* Numbers of 5 bits of exponent and 10 of fraction; none here is infinite. */
static double half_value(uint16_t bits)
{
    int exponent = bits >> 10 & 31;
    double fraction = (bits & 1023) / 1024.0;
    double value = exponent ? ldexp(1 + fraction, exponent - 15) : ldexp(fraction, -14);
    return bits >> 15 ? -value : value;
}

static double channel_value(cl_channel_type type, const unsigned char *at)
{
    uint32_t bits = 0;
    int bytes = channel_bytes(type), unused = 32 - 8 * bytes;
    memcpy(&bits, at, (size_t)bytes);
    int32_t number = (int32_t)(bits << unused) >> unused;
    float real;
    memcpy(&real, &bits, sizeof real);
    switch (type) {
    case CL_UNORM_INT8:
    case CL_UNORM_INT16:
        return bits / (double)(UINT32_MAX >> unused);
    case CL_SNORM_INT8:
    case CL_SNORM_INT16:
        return fmax(number / (double)(INT32_MAX >> unused), -1.0);
    case CL_HALF_FLOAT:
        return half_value((uint16_t)bits);
    case CL_FLOAT:
        return (double)real;
    default:
        return is_signed(type) ? (double)number : bits;
    }
}

/* r, g, b and a of an element: what is not there is 0, and a is 1. */
static void colour_of(const cl_image_format *format, const unsigned char *element, double colour[CHANNELS])
{
    const char *channels = channels_of(format->image_channel_order);
    cl_channel_type type = format->image_channel_data_type;
    for (int i = 0; i < CHANNELS; i++)
        colour[i] = i == 3 && !strchr(channels, 'a');
    for (int i = 0; channels[i]; i++)
        colour[strchr("rgba", channels[i]) - "rgba"] =
            element ? channel_value(type, element + i * channel_bytes(type)) : 0;
}

/* ---- an image, and its elements here ---- */

struct image {
    const struct kind *kind;
    cl_image_format format;
    size_t element;
    unsigned char data[WIDTH * HEIGHT * DEPTH * 16]; /* tight */
    cl_mem mem, buffer;
};

static size_t elements_of(const struct image *image)
{
    return image->kind->size[0] * image->kind->size[1] * image->kind->size[2];
}

/* No infinities and no NaNs. */
static void make_data(struct image *image)
{
    size_t bytes = elements_of(image) * image->element;
    for (size_t i = 0; i < bytes; i++)
        image->data[i] = (unsigned char)any();
    for (size_t i = 0; i + 4 <= bytes && image->format.image_channel_data_type == CL_FLOAT; i += 4) {
        float value = (float)((int)(any() % 20001) - 10000) / 64;
        memcpy(image->data + i, &value, sizeof value);
    }
    for (size_t i = 0; i + 2 <= bytes && image->format.image_channel_data_type == CL_HALF_FLOAT; i += 2) {
        uint16_t value = (uint16_t)((any() & 0x83ff) | (any() % 8 + 12) << 10);
        memcpy(image->data + i, &value, sizeof value);
    }
}

static void set_desc(const struct image *image, cl_image_desc *desc)
{
    const struct kind *kind = image->kind;
    *desc = (cl_image_desc){.image_type = kind->type,
                            .image_width = kind->size[0],
                            .image_height = kind->axes > 1 ? kind->size[1] : 0,
                            .image_depth = kind->axes > 2 ? kind->size[2] : 0,
                            .image_array_size = kind->layers ? kind->size[kind->layers] : 0};
}

/* Rows and slices of the host are longer than the image's. */
static void make_padded(struct image *image, cl_image_desc *desc, cl_mem_flags flags, unsigned char *rows)
{
    const size_t *size = image->kind->size;
    size_t pitch = (size[0] + 3) * image->element, slice = pitch * (size[1] + (size[2] > 1));
    for (size_t z = 0; z < size[2]; z++)
        for (size_t y = 0; y < size[1]; y++)
            memcpy(rows + z * slice + y * pitch, image->data + (z * size[1] + y) * size[0] * image->element,
                   size[0] * image->element);
    desc->image_row_pitch = pitch;
    desc->image_slice_pitch = size[2] > 1 ? slice : image->kind->layers ? pitch : 0;
    image->mem = clCreateImage(context, flags, &image->format, desc, rows, &error);
    GOOD(error);
}

static void make_image(struct image *image, const struct kind *kind, const cl_image_format *format)
{
    static unsigned char rows[2][(WIDTH + 3) * (HEIGHT + 1) * DEPTH * 16];
    static unsigned turn;
    cl_image_desc desc;
    *image = (struct image){.kind = kind,
                            .format = *format,
                            .element = (size_t)channel_bytes(format->image_channel_data_type) *
                                       strlen(channels_of(format->image_channel_order))};
    make_data(image);
    set_desc(image, &desc);
    if (kind->type == CL_MEM_OBJECT_IMAGE1D_BUFFER) {
        image->buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, elements_of(image) * image->element,
                                       image->data, &error);
        GOOD(error);
        desc.buffer = image->buffer;
        image->mem = clCreateImage(context, 0, format, &desc, NULL, &error);
        GOOD(error);
        return;
    }
    turn++;
    make_padded(image, &desc, turn % 2 ? CL_MEM_COPY_HOST_PTR : CL_MEM_USE_HOST_PTR, rows[turn % 2]);
}

static void free_image(struct image *image)
{
    GOOD(clReleaseMemObject(image->mem));
    if (image->buffer)
        GOOD(clReleaseMemObject(image->buffer));
}

/* ---- what OpenCL says ---- */

struct sampler {
    cl_bool normalized;
    cl_addressing_mode mode;
    cl_filter_mode filter;
};

/* Along one axis: two elements with the weight of the second. A negative one is the border. */
static void place_on_axis(const struct sampler *sampler, double at, int size, int element[2], double *weight)
{
    double place = sampler->normalized ? at * size : at;
    int is_linear = sampler->filter == CL_FILTER_LINEAR;
    if (sampler->mode == CL_ADDRESS_REPEAT)
        place = (at - floor(at)) * size;
    if (sampler->mode == CL_ADDRESS_MIRRORED_REPEAT)
        place = fabs(at - 2 * rint(0.5 * at)) * size;
    double nearest = floor(is_linear ? place - 0.5 : place);
    *weight = is_linear ? place - 0.5 - nearest : 0;
    for (int i = 0; i < 2; i++) {
        int one = (int)nearest + i;
        if (sampler->mode == CL_ADDRESS_REPEAT)
            one = (one + size) % size;
        else if (sampler->mode != CL_ADDRESS_CLAMP)
            one = one < 0 ? 0 : one >= size ? size - 1 : one;
        element[i] = one < 0 || one >= size ? -1 : one;
    }
}

/* The colour, and the largest magnitude that went into each channel. */
static void expect_sample(const struct image *image, const struct sampler *sampler, const float at[4],
                          double colour[CHANNELS], double most[CHANNELS])
{
    const struct kind *kind = image->kind;
    int element[3][2] = {{0, 0}, {0, 0}, {0, 0}};
    double weight[3] = {0, 0, 0};
    for (int axis = 0; axis < kind->axes; axis++)
        place_on_axis(sampler, (double)at[axis], (int)kind->size[axis], element[axis], &weight[axis]);
    if (kind->layers) {
        double layer = fmin(fmax(rint((double)at[kind->layers]), 0), (double)kind->size[kind->layers] - 1);
        element[kind->layers][0] = (int)layer;
    }
    memset(colour, 0, CHANNELS * sizeof *colour);
    memset(most, 0, CHANNELS * sizeof *most);
    for (int corner = 0; corner < 8; corner++) {
        double share = 1, own[CHANNELS];
        size_t index = 0;
        int outside = 0;
        for (int axis = 2; axis >= 0; axis--) {
            int further = corner >> axis & 1;
            share *= further ? weight[axis] : 1 - weight[axis];
            outside |= element[axis][further] < 0;
            index = index * kind->size[axis] + (size_t)(outside ? 0 : element[axis][further]);
        }
        if (share <= 0)
            continue;
        colour_of(&image->format, outside ? NULL : image->data + index * image->element, own);
        for (int i = 0; i < CHANNELS; i++) {
            colour[i] += share * own[i];
            most[i] = fmax(most[i], fabs(own[i]));
        }
    }
}

/* Nearest: exact, but for the 1.5 ulp of a normalized channel. Linear: 2^-7 of the largest element, and a
 * step of a normalized channel; OpenCL does not say more, and its conformance tests want this. */
static int is_near(const struct image *image, cl_filter_mode filter, double got, double wanted, double most)
{
    cl_channel_type type = image->format.image_channel_data_type;
    double step = is_normalized(type) ? 1.0 / (channel_bytes(type) == 1 ? 127 : 32767) : 0;
    double allowed = filter == CL_FILTER_LINEAR ? ldexp(most, -7) + step : 0;
    if (is_normalized(type))
        allowed += 1.5 * ldexp(1, -24);
    return fabs(got - wanted) <= allowed;
}

/* ---- running kernels ---- */

static float places[POINTS][4];
static cl_mem place_buffer, colour_buffer;
static union {
    float f[POINTS][CHANNELS];
    int32_t i[POINTS][CHANNELS];
    uint32_t ui[POINTS][CHANNELS];
} colours;

static cl_kernel kernel_of(const char *what, const struct image *image)
{
    char name[64];
    snprintf(name, sizeof name, "%s_%s_%s", what, image->kind->name,
             result_of(image->format.image_channel_data_type));
    cl_kernel kernel = clCreateKernel(program, name, &error);
    GOOD(error);
    return kernel;
}

static void launch(cl_kernel kernel, cl_mem image, const cl_sampler *sampler, size_t points)
{
    cl_uint next = 0;
    GOOD(clSetKernelArg(kernel, next++, sizeof image, &image));
    if (sampler)
        GOOD(clSetKernelArg(kernel, next++, sizeof *sampler, sampler));
    GOOD(clSetKernelArg(kernel, next++, sizeof place_buffer, &place_buffer));
    GOOD(clSetKernelArg(kernel, next++, sizeof colour_buffer, &colour_buffer));
    GOOD(clEnqueueWriteBuffer(queue, place_buffer, CL_TRUE, 0, sizeof places, places, 0, NULL, NULL));
    GOOD(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &points, NULL, 0, NULL, NULL));
    GOOD(clReleaseKernel(kernel));
}

static double got(const struct image *image, size_t point, int channel)
{
    cl_channel_type type = image->format.image_channel_data_type;
    return is_signed(type)     ? (double)colours.i[point][channel]
           : is_unsigned(type) ? colours.ui[point][channel]
                               : (double)colours.f[point][channel];
}

static void compare(const struct image *image, const struct sampler *sampler, size_t points)
{
    GOOD(clEnqueueReadBuffer(queue, colour_buffer, CL_TRUE, 0, sizeof colours, &colours, 0, NULL, NULL));
    for (size_t point = 0; point < points; point++) {
        double colour[CHANNELS], most[CHANNELS];
        expect_sample(image, sampler, places[point], colour, most);
        for (int i = 0; i < CHANNELS; i++) {
            if (is_near(image, sampler->filter, got(image, point, i), colour[i], most[i]))
                continue;
            CHECK(!"a colour is wrong");
            printf("%s, order %x, type %x, coordinates %d, mode %x, filter %x, at %g %g %g: channel %d is "
                   "%.9g, not %.9g\n",
                   image->kind->name, image->format.image_channel_order,
                   image->format.image_channel_data_type, sampler->normalized, sampler->mode, sampler->filter,
                   (double)places[point][0], (double)places[point][1], (double)places[point][2], i,
                   got(image, point, i), colour[i]);
            return;
        }
    }
}

/* Places within the image and around it, not too near to where the nearest element changes. */
static void choose_places(const struct image *image, const struct sampler *sampler)
{
    const struct kind *kind = image->kind;
    int around = sampler->mode != CL_ADDRESS_NONE;
    memset(places, 0, sizeof places);
    for (size_t point = 0; point < POINTS; point++)
        for (int axis = 0; axis < 3; axis++) {
            int size = (int)kind->size[axis], outside = around ? 2 * size : 0;
            double place =
                (int)(any() % (unsigned)(size + 2 * outside)) - outside + 0.1 + (any() % 801) / 1000.0;
            if (!around && sampler->filter == CL_FILTER_LINEAR)
                place = fmin(fmax(place, 0.5), size - 0.5);
            int is_layer = kind->layers && axis == kind->layers;
            places[point][axis] = (float)(sampler->normalized && !is_layer ? place / size : place);
            if (is_layer)
                places[point][axis] = (float)((int)(any() % 9) - 2 + (any() % 8) / 20.0);
        }
}

/* ---- the tests ---- */

static void samples(const struct image *image)
{
    static const cl_addressing_mode modes[] = {CL_ADDRESS_NONE, CL_ADDRESS_CLAMP, CL_ADDRESS_CLAMP_TO_EDGE,
                                               CL_ADDRESS_REPEAT, CL_ADDRESS_MIRRORED_REPEAT};
    cl_channel_type type = image->format.image_channel_data_type;
    for (unsigned i = 0; i < 2 * 2 * 5; i++) {
        struct sampler sampler = {i / 2 % 2, modes[i / 4], i % 2 ? CL_FILTER_LINEAR : CL_FILTER_NEAREST};
        int repeats = sampler.mode == CL_ADDRESS_REPEAT || sampler.mode == CL_ADDRESS_MIRRORED_REPEAT;
        if ((repeats && !sampler.normalized) || (i % 2 && (is_signed(type) || is_unsigned(type))))
            continue; /* OpenCL does not define it */
        cl_sampler object =
            clCreateSampler(context, sampler.normalized, sampler.mode, sampler.filter, &error);
        GOOD(error);
        choose_places(image, &sampler);
        launch(kernel_of("sample", image), image->mem, &object, POINTS);
        compare(image, &sampler, POINTS);
        GOOD(clReleaseSampler(object));
    }
}

/* Each element once, or as many as there are points. */
static size_t choose_elements(const struct image *image)
{
    const size_t *size = image->kind->size;
    size_t count = elements_of(image) < POINTS ? elements_of(image) : POINTS,
           step = elements_of(image) / count;
    memset(places, 0, sizeof places);
    for (size_t i = 0; i < count; i++) {
        size_t element = i * step;
        places[i][0] = (float)(element % size[0]);
        places[i][1] = (float)(element / size[0] % size[1]);
        places[i][2] = (float)(element / size[0] / size[1]);
    }
    return count;
}

static void loads(const struct image *image)
{
    static const struct sampler sampler = {CL_FALSE, CL_ADDRESS_NONE, CL_FILTER_NEAREST};
    size_t count = choose_elements(image);
    launch(kernel_of("load", image), image->mem, NULL, count);
    compare(image, &sampler, count);
}

/* Sixteenths that formats hold, or that are beyond what they hold. */
static void choose_colours(cl_channel_type type)
{
    for (size_t i = 0; i < POINTS; i++)
        for (int k = 0; k < CHANNELS; k++)
            if (is_signed(type) || is_unsigned(type))
                colours.ui[i][k] = any() % 3 ? any() : any() % 100;
            else
                colours.f[i][k] = (float)((int)(any() % 80) - 40) / 16;
}

static double stored(cl_channel_type type, size_t point, int channel)
{
    double low = -ldexp(1, 8 * channel_bytes(type) - 1), top = ldexp(1, 8 * channel_bytes(type)) - 1;
    if (is_signed(type))
        return fmin(fmax(colours.i[point][channel], low), -1 - low);
    if (is_unsigned(type))
        return fmin(colours.ui[point][channel], top);
    double value = (double)colours.f[point][channel];
    int has_sign = type == CL_SNORM_INT8 || type == CL_SNORM_INT16;
    return is_normalized(type) ? fmin(fmax(value, has_sign ? -1 : 0), 1) : value;
}

static void compare_element(const struct image *image, const unsigned char *element, size_t point)
{
    cl_channel_type type = image->format.image_channel_data_type;
    const char *channels = channels_of(image->format.image_channel_order);
    double colour[CHANNELS];
    double step = type == CL_SNORM_INT8    ? 1.0 / 127
                  : type == CL_SNORM_INT16 ? 1.0 / 32767
                  : type == CL_UNORM_INT8  ? 1.0 / 255
                                           : 1.0 / 65535;
    colour_of(&image->format, element, colour);
    for (int i = 0; channels[i]; i++) {
        int channel = (int)(strchr("rgba", channels[i]) - "rgba");
        double wanted = stored(type, point, channel);
        if (fabs(colour[channel] - wanted) <= (is_normalized(type) ? 0.6 * step : 0))
            continue;
        CHECK(!"an element is wrong");
        printf("%s, order %x, type %x: channel %d is %.9g, not %.9g\n", image->kind->name,
               image->format.image_channel_order, type, channel, colour[channel], wanted);
        return;
    }
}

static void stores(struct image *image)
{
    size_t count = choose_elements(image), origin[3] = {0}, bytes = elements_of(image) * image->element;
    const size_t *size = image->kind->size;
    choose_colours(image->format.image_channel_data_type);
    GOOD(clEnqueueWriteBuffer(queue, colour_buffer, CL_TRUE, 0, sizeof colours, &colours, 0, NULL, NULL));
    launch(kernel_of("store", image), image->mem, NULL, count);
    if (image->buffer)
        GOOD(clEnqueueReadBuffer(queue, image->buffer, CL_TRUE, 0, bytes, image->data, 0, NULL, NULL));
    else
        GOOD(clEnqueueReadImage(queue, image->mem, CL_TRUE, origin, size, 0, 0, image->data, 0, NULL, NULL));
    for (size_t i = 0; i < count; i++)
        compare_element(image, image->data + i * (elements_of(image) / count) * image->element, i);
}

static int has_extension(const char *name)
{
    char text[4096] = "";
    GOOD(clGetDeviceInfo(device, CL_DEVICE_EXTENSIONS, sizeof text, text, NULL));
    return strstr(text, name) != NULL;
}

/* How much is tested. */
enum part { ALL, FOUR, PLAIN };

static int is_wanted(const struct kind *kind, const cl_image_format *format, enum part part)
{
    if (!channel_bytes(format->image_channel_data_type) || !channels_of(format->image_channel_order) ||
        (part != ALL && format->image_channel_order != CL_RGBA))
        return 0;
    return part != PLAIN || (!kind->layers && format->image_channel_data_type != CL_HALF_FLOAT);
}

static void all_formats(enum part part)
{
    static cl_image_format formats[512];
    int writes_3d = has_extension("cl_khr_3d_image_writes"), tested = 0;
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++) {
        cl_uint count = 0;
        GOOD(clGetSupportedImageFormats(context, CL_MEM_READ_WRITE, kinds[k].type, 512, formats, &count));
        for (cl_uint i = 0; i < count; i++) {
            struct image image;
            if (!is_wanted(&kinds[k], &formats[i], part))
                continue;
            make_image(&image, &kinds[k], &formats[i]);
            if (kinds[k].type != CL_MEM_OBJECT_IMAGE1D_BUFFER)
                samples(&image);
            loads(&image);
            if (kinds[k].type != CL_MEM_OBJECT_IMAGE3D || writes_3d)
                stores(&image);
            free_image(&image);
            tested++;
        }
    }
    CHECK(tested >= 40);
}

/* Samplers of the program's source. */
static void own_samplers(void)
{
    static const struct sampler samplers[] = {{CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST},
                                              {CL_FALSE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_LINEAR},
                                              {CL_TRUE, CL_ADDRESS_CLAMP, CL_FILTER_LINEAR},
                                              {CL_TRUE, CL_ADDRESS_CLAMP_TO_EDGE, CL_FILTER_NEAREST},
                                              {CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_NEAREST},
                                              {CL_TRUE, CL_ADDRESS_REPEAT, CL_FILTER_LINEAR},
                                              {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_NEAREST},
                                              {CL_TRUE, CL_ADDRESS_MIRRORED_REPEAT, CL_FILTER_LINEAR}};
    struct image image;
    make_image(&image, &kinds[2], &(cl_image_format){CL_RGBA, CL_FLOAT});
    for (size_t i = 0; i < sizeof samplers / sizeof *samplers; i++) {
        char name[16];
        snprintf(name, sizeof name, "own_%zu", i);
        cl_kernel kernel = clCreateKernel(program, name, &error);
        GOOD(error);
        choose_places(&image, &samplers[i]);
        launch(kernel, image.mem, NULL, POINTS);
        compare(&image, &samplers[i], POINTS);
    }
    free_image(&image);
}

static void facts(void)
{
    static const int wanted[] = {WIDTH,   HEIGHT, DEPTH, WIDTH, HEIGHT,
                                 DEPTH,   WIDTH,  WIDTH, DEPTH, CL_UNSIGNED_INT16,
                                 CL_RGBA, WIDTH,  DEPTH};
    static const int which[] = {3, 4, 5, 1};
    struct image images[4];
    cl_kernel kernel = clCreateKernel(program, "facts", &error);
    size_t one = 1;
    int found[13] = {0};
    GOOD(error);
    for (cl_uint i = 0; i < 4; i++) {
        make_image(&images[i], &kinds[which[i]], &(cl_image_format){CL_RGBA, CL_UNSIGNED_INT16});
        GOOD(clSetKernelArg(kernel, i, sizeof(cl_mem), &images[i].mem));
    }
    GOOD(clSetKernelArg(kernel, 4, sizeof(cl_mem), &colour_buffer));
    GOOD(clEnqueueNDRangeKernel(queue, kernel, 1, NULL, &one, NULL, 0, NULL, NULL));
    GOOD(clEnqueueReadBuffer(queue, colour_buffer, CL_TRUE, 0, sizeof found, found, 0, NULL, NULL));
    for (size_t i = 0; i < sizeof found / sizeof *found; i++)
        CHECK(found[i] == wanted[i]);
    for (int i = 0; i < 4; i++)
        free_image(&images[i]);
    GOOD(clReleaseKernel(kernel));
}

/* An image of two dimensions in a buffer: its rows are as far apart as the program says. */
static void of_buffer(void)
{
    enum { ROW = 256 }; /* elements: what devices want at most */
    static unsigned char rows[HEIGHT][ROW][4];
    struct image image = {.kind = &kinds[2], .format = {CL_RGBA, CL_UNSIGNED_INT8}, .element = 4};
    cl_image_desc desc;
    make_data(&image);
    set_desc(&image, &desc);
    for (int y = 0; y < HEIGHT; y++)
        memcpy(rows[y], image.data + y * WIDTH * 4, WIDTH * 4);
    image.buffer = clCreateBuffer(context, CL_MEM_COPY_HOST_PTR, sizeof rows, rows, &error);
    GOOD(error);
    desc.buffer = image.buffer;
    desc.image_row_pitch = sizeof rows[0];
    image.mem = clCreateImage(context, 0, &image.format, &desc, NULL, &error);
    GOOD(error);
    loads(&image);
    samples(&image);
    free_image(&image);
}

int main(int count, char **arguments)
{
    const char *text = source;
    enum part part = count < 2 ? ALL : !strcmp(arguments[1], "four") ? FOUR : PLAIN;
    start();
    program = clCreateProgramWithSource(context, 1, &text, NULL, &error);
    GOOD(error);
    GOOD(clBuildProgram(program, 1, &device, "", NULL, NULL));
    place_buffer = clCreateBuffer(context, CL_MEM_READ_ONLY, sizeof places, NULL, &error);
    GOOD(error);
    colour_buffer = clCreateBuffer(context, CL_MEM_READ_WRITE, sizeof colours, NULL, &error);
    GOOD(error);
    if (!check_failures) {
        if (part != PLAIN)
            facts();
        if (has_extension("cl_khr_image2d_from_buffer"))
            of_buffer();
        own_samplers();
        all_formats(part);
    }
    GOOD(clReleaseMemObject(place_buffer));
    GOOD(clReleaseMemObject(colour_buffer));
    GOOD(clReleaseProgram(program));
    return end("images");
}
