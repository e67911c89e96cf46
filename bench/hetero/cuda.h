/* The functions of CUDA's driver API that these programs call, so that nothing of CUDA is needed to build
 * them. Names and types are libcuda's. */
#ifndef BENCH_HETERO_CUDA_H
#define BENCH_HETERO_CUDA_H

#include <stddef.h>

typedef unsigned long long CUdeviceptr;
typedef struct CUfunc_st *CUfunction;
typedef struct CUmod_st *CUmodule;
typedef struct CUctx_st *CUcontext;
typedef struct CUstream_st *CUstream;

enum { CU_MEMHOSTALLOC_DEVICEMAP = 2 };

int cuInit(unsigned flags);
int cuDeviceGet(int *device, int index);
int cuDevicePrimaryCtxRetain(CUcontext *context, int device);
int cuCtxSetCurrent(CUcontext context);
int cuCtxSynchronize(void);
int cuModuleLoadData(CUmodule *module, const void *image);
int cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name);
int cuMemAlloc_v2(CUdeviceptr *memory, size_t bytes);
int cuMemHostAlloc(void **memory, size_t bytes, unsigned flags);
int cuMemHostGetDevicePointer_v2(CUdeviceptr *device, void *memory, unsigned flags);
int cuMemcpyHtoD_v2(CUdeviceptr to, const void *from, size_t bytes);
int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes);
int cuLaunchKernel(CUfunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,
                   unsigned block_y, unsigned block_z, unsigned shared_bytes, CUstream stream,
                   void **arguments, void **extra);

#endif
