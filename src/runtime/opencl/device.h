/* What is known of a device beside its description. */
#ifndef RUNTIME_OPENCL_DEVICE_H
#define RUNTIME_OPENCL_DEVICE_H

#include "runtime/opencl/objects.h"

#define OPENCL_VERSION   "OpenCL 1.2 Heddle " HEDDLE_VERSION
#define OPENCL_C_VERSION "OpenCL C 1.2 "
#define OPENCL_EXTENSIONS                                                                                    \
    "cl_khr_icd cl_khr_byte_addressable_store cl_khr_fp64 cl_khr_global_int32_base_atomics "                 \
    "cl_khr_global_int32_extended_atomics cl_khr_local_int32_base_atomics "                                  \
    "cl_khr_local_int32_extended_atomics cl_khr_int64_base_atomics cl_khr_int64_extended_atomics "           \
    "cl_khr_image2d_from_buffer cl_khr_3d_image_writes"

enum {
    OPENCL_GROUP_MOST = 256,      /* work-items of a work-group: what clang compiles kernels for */
    OPENCL_ALIGNMENT = 256,       /* bytes, of sub-buffers and of rows of images */
    OPENCL_IMAGE_2D_MOST = 16384, /* each side */
    OPENCL_IMAGE_3D_MOST = 2048,
    OPENCL_IMAGE_ARRAY_MOST = 2048,
    OPENCL_SAMPLERS_MOST = 16,
};
#define OPENCL_IMAGE_BUFFER_MOST (UINT64_C(1) << 27) /* elements */

/* The target that code for this GPU is compiled for, "gfx803"; NULL: it is not one of AMD's. */
const char *opencl_device_target(cl_device_id device);
bool opencl_device_is_gfx9(cl_device_id device);
uint64_t opencl_device_largest_buffer(cl_device_id device);

#endif
