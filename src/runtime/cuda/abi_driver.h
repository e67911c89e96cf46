/* The same for the driver API (libcuda.so.1), where it differs from the runtime API. Handles are the same
 * objects in both: a CUstream is a cudaStream_t. */
#ifndef RUNTIME_CUDA_ABI_DRIVER_H
#define RUNTIME_CUDA_ABI_DRIVER_H

#include "runtime/cuda/abi.h"

typedef int CUresult;
typedef int CUdevice;
typedef unsigned long long CUdeviceptr;
typedef struct context *CUcontext;
typedef struct module *CUmodule, *CUlibrary;
typedef struct function *CUfunction, *CUkernel;
typedef struct link *CUlinkState;

/* The places that a copy goes between. */
enum { CU_MEMORY_HOST = 1, CU_MEMORY_DEVICE, CU_MEMORY_ARRAY, CU_MEMORY_UNIFIED };

struct CUDA_MEMCPY2D {
    size_t srcXInBytes, srcY;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    cudaArray_t srcArray;
    size_t srcPitch;
    size_t dstXInBytes, dstY;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    cudaArray_t dstArray;
    size_t dstPitch;
    size_t WidthInBytes, Height;
};

/* With the contexts of both sides instead of the reserved pointers it is a CUDA_MEMCPY3D_PEER. */
struct CUDA_MEMCPY3D {
    size_t srcXInBytes, srcY, srcZ, srcLOD;
    int srcMemoryType;
    const void *srcHost;
    CUdeviceptr srcDevice;
    cudaArray_t srcArray;
    CUcontext srcContext;
    size_t srcPitch, srcHeight;
    size_t dstXInBytes, dstY, dstZ, dstLOD;
    int dstMemoryType;
    void *dstHost;
    CUdeviceptr dstDevice;
    cudaArray_t dstArray;
    CUcontext dstContext;
    size_t dstPitch, dstHeight;
    size_t WidthInBytes, Height, Depth;
};

struct CUDA_ARRAY_DESCRIPTOR {
    size_t Width, Height;
    int Format; /* enum array_format */
    unsigned NumChannels;
};

struct CUDA_ARRAY3D_DESCRIPTOR {
    size_t Width, Height, Depth;
    int Format; /* enum array_format */
    unsigned NumChannels;
    unsigned Flags;
};

struct CUDA_RESOURCE_DESC {
    int resType;
    union {
        cudaArray_t array;
        cudaMipmappedArray_t mipmap;
        struct {
            CUdeviceptr devPtr;
            int format;
            unsigned numChannels;
            size_t sizeInBytes;
        } linear;
        struct {
            CUdeviceptr devPtr;
            int format;
            unsigned numChannels;
            size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
};

enum { CU_TEXTURE_READ_AS_INTEGER = 1, CU_TEXTURE_NORMALIZED_COORDINATES = 2, CU_TEXTURE_SRGB = 16 };
struct CUDA_TEXTURE_DESC {
    int addressMode[3];
    int filterMode;
    unsigned flags;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
};

struct CUlaunchConfig {
    unsigned gridDimX, gridDimY, gridDimZ, blockDimX, blockDimY, blockDimZ;
    unsigned sharedMemBytes;
    cudaStream_t hStream;
    struct cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

enum {
    CU_WAIT_VALUE_32 = 1,
    CU_WRITE_VALUE_32,
    CU_FLUSH_WRITES,
    CU_WAIT_VALUE_64,
    CU_WRITE_VALUE_64,
    CU_BARRIER
};
union CUstreamBatchMemOpParams {
    int operation;
    struct {
        int operation;
        CUdeviceptr address;
        uint64_t value;
        unsigned flags;
        CUdeviceptr alias;
    } value;
    uint64_t pad[6];
};

struct CUDA_BATCH_MEM_OP_NODE_PARAMS {
    CUcontext ctx;
    unsigned count;
    union CUstreamBatchMemOpParams *paramArray;
    unsigned flags;
};

struct CUDA_KERNEL_NODE_PARAMS {
    CUfunction func;
    struct dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
    CUkernel kern; /* from here on not of version 1 */
    CUcontext ctx;
};

struct CUdevprop {
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int sharedMemPerBlock, totalConstantMemory;
    int SIMDWidth, memPitch, regsPerBlock, clockRate, textureAlign;
};

struct CUmemAllocationProp {
    int type, requestedHandleTypes;
    struct cudaMemLocation location;
    void *win32HandleMetaData;
    unsigned char compressionType, gpuDirectRDMACapable;
    unsigned short usage;
    unsigned char reserved[4];
};

/* How cuLaunchKernel is given parameters as one buffer. */
#define CU_LAUNCH_PARAM_END            ((void *)0)
#define CU_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define CU_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)

/* Options of cuModuleLoadDataEx and cuLink... that matter here: where messages go. */
enum { CU_JIT_INFO_LOG_BUFFER = 3, CU_JIT_INFO_LOG_BYTES, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BYTES };

_Static_assert(sizeof(struct CUDA_MEMCPY2D) == 128, "as CUDA 13 has it");
_Static_assert(sizeof(struct CUDA_MEMCPY3D) == 200, "as CUDA 13 has it");
_Static_assert(sizeof(struct CUDA_RESOURCE_DESC) == 144, "as CUDA 13 has it");
_Static_assert(sizeof(struct CUDA_TEXTURE_DESC) == 104, "as CUDA 13 has it");
_Static_assert(sizeof(struct CUmemAllocationProp) == 32, "as CUDA 13 has it");
_Static_assert(sizeof(struct CUlaunchConfig) == 56, "as CUDA 13 has it");
_Static_assert(sizeof(union CUstreamBatchMemOpParams) == 48, "as CUDA 13 has it");
_Static_assert(sizeof(struct CUDA_KERNEL_NODE_PARAMS) == 72, "as CUDA 13 has it");

#endif
