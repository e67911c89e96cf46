/* Memory that others made, by a handle of the operating system: file descriptors of exported memory of a GPU.
 */
#ifndef RUNTIME_CUDA_EXTERNAL_H
#define RUNTIME_CUDA_EXTERNAL_H

#include "runtime/cuda/api.h"

/* As cudaFree is told: a buffer in such memory. False: it is none. */
bool external_free(uint64_t address);

#endif
