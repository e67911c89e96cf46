/* The formats of images. */
#ifndef RUNTIME_OPENCL_FORMATS_H
#define RUNTIME_OPENCL_FORMATS_H

#include "runtime/opencl/objects.h"

/* Bytes of an element; 0 when the format is not supported. */
size_t opencl_format_bytes(const cl_image_format *format);
/* CL_INVALID_IMAGE_FORMAT_DESCRIPTOR when there is no such format, supported or not. */
cl_int opencl_format_check(const cl_image_format *format);
/* By number; false beyond the last. */
bool opencl_format_at(size_t index, cl_image_format *format);
/* The colour (four floats, or integers where the format has them) as an element. */
void opencl_format_element(const cl_image_format *format, const void *colour, void *element);

/* A supported format as a resource of the GPU has it, and as kernels know its parts. */
struct opencl_native_format {
    uint32_t data, number, select;
    uint32_t type_known_as, order_known_as;
};
struct opencl_native_format opencl_format_native(const cl_image_format *format);

#endif
