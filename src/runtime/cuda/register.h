/* Kernels and variables by the addresses of the host's objects that stand for them. */
#ifndef RUNTIME_CUDA_REGISTER_H
#define RUNTIME_CUDA_REGISTER_H

#include "runtime/cuda/api.h"

/* The kernel that a function of the host stands for, or that is this handle; NULL when it is none. */
struct function *cuda_function(const void *symbol);
void cuda_keep_function(struct function *function); /* a handle that was given out */

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);

/* The reference that the host's variable stands for, and whether it reads small integers as floats (or NULL).
 * INVALID_TEXTURE or INVALID_SURFACE when it is none. */
struct texref;
cudaError_t cuda_texref(const void *key, bool is_surface, struct texref **ref, bool *reads_floats);

/* The variable that the host's one stands for, on the current device. */
cudaError_t cuda_symbol(const void *key, struct symbol *symbol);

#endif
