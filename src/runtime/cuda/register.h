/* Kernels and variables by the addresses of the host's objects that stand for them. */
#ifndef RUNTIME_CUDA_REGISTER_H
#define RUNTIME_CUDA_REGISTER_H

#include "runtime/cuda/api.h"

/* The kernel that a function of the host stands for, or that is this handle; NULL when it is none. */
struct function *cuda_function(const void *symbol);
void cuda_keep_function(struct function *function); /* a handle that was given out */

EXPORT cudaError_t __cudaGetKernel(cudaKernel_t *kernel, const void *host);

/* The variable that the host's one stands for, on the current device. */
cudaError_t cuda_symbol(const void *key, struct symbol *symbol);

#endif
