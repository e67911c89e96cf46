/* What kernels get for an image or a sampler: the address of its words in a device's memory, as AMD's device
 * library wants them. They are kept by content, until their context ends. */
#ifndef RUNTIME_OPENCL_DESCRIPTORS_H
#define RUNTIME_OPENCL_DESCRIPTORS_H

#include "runtime/opencl/objects.h"

/* An image: 8 words of its resource, then the type and the order of its channels, and its width. A sampler:
 * 4 words. */
enum { OPENCL_DESCRIPTOR_WORDS = 16 };
struct opencl_descriptor {
    uint32_t words[OPENCL_DESCRIPTOR_WORDS];
};

enum result opencl_descriptor_at(cl_context context, cl_device_id device,
                                 const struct opencl_descriptor *descriptor, uint64_t *address);

struct opencl_descriptors *opencl_descriptors_new(void);
void opencl_descriptors_free(struct opencl_descriptors *descriptors);

/* Of an image (image_resource.c), of a sampler (sampler.c). */
enum result opencl_image_at(cl_mem image, cl_device_id device, uint64_t *address);
enum result opencl_sampler_at(cl_sampler sampler, cl_device_id device, uint64_t *address);

#endif
