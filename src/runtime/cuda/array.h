/* Arrays, and textures and surfaces over them, as both APIs make them. */
#ifndef RUNTIME_CUDA_ARRAY_H
#define RUNTIME_CUDA_ARRAY_H

#include "runtime/cuda/api.h"

enum { MOST_LEVELS = 16 };

/* A cudaMipmappedArray_t: each level is half the size of the one before. */
struct mipmaps {
    unsigned count;
    struct array *levels[MOST_LEVELS];
};

/* Formats: false when CUDA has no such. */
bool cuda_format(const struct cudaChannelFormatDesc *desc, enum array_format *format, unsigned *channels);
struct cudaChannelFormatDesc cuda_channels(enum array_format format, unsigned channels);

cudaError_t cuda_mipmaps_new(struct mipmaps **mipmaps, const struct array_shape *shape, unsigned levels);
cudaError_t cuda_mipmaps_free(struct mipmaps *mipmaps);
cudaError_t cuda_mipmaps_level(struct mipmaps *mipmaps, unsigned level, struct array **array);

bool cuda_is_format(int format, unsigned channels);

/* Of the driver API: whether small integers are read as floats. */
int cuda_read_mode(const struct cudaResourceDesc *resource, unsigned flags);

/* Objects. What they were made from is kept in the runtime API's form, and told again by texture_made_from.
 */
struct texture_source {
    struct cudaResourceDesc resource;
    struct cudaTextureDesc texture;
    struct cudaResourceViewDesc view;
    unsigned driver_flags; /* those of the driver API, plus 1; 0: made by the runtime */
};
cudaError_t cuda_texture_new(unsigned long long *handle, const struct texture_source *source);
cudaError_t cuda_surface_new(unsigned long long *handle, const struct cudaResourceDesc *resource);
cudaError_t cuda_object_free(struct device *device, unsigned long long handle);
const struct texture_source *cuda_object_source(unsigned long long handle); /* NULL: no such object */

#endif
