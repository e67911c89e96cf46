/* Modules and libraries, as both APIs load them and look into them. */
#ifndef RUNTIME_CUDA_LIBRARY_H
#define RUNTIME_CUDA_LIBRARY_H

#include "runtime/cuda/register.h"

/* Ready on the current device. */
cudaError_t cuda_module_load(struct module **module, const void *image);
cudaError_t cuda_module_load_file(struct module **module, const char *path);

/* What cuLinkComplete gives. */
bool cuda_is_frame(const void *image);
cudaError_t cuda_load_frame(struct module **module, const void *image);

cudaError_t cuda_module_kernel(struct module *module, const char *name, struct function **function);
unsigned cuda_module_kernels(struct module *module, struct function **functions, unsigned most);
cudaError_t cuda_module_variable(struct module *module, const char *name, void **address, size_t *bytes);

#endif
