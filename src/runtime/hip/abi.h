/* Structs and constants of HIP 5.2, as programs are compiled with them. tests/programs/hip/abi.c compares
 * them with AMD's headers. */
#ifndef RUNTIME_HIP_ABI_H
#define RUNTIME_HIP_ABI_H

#include <stddef.h>
#include <stdint.h>

typedef int hipError_t;
enum {
#define ERROR(code, name) hip##name = code,
#include "runtime/hip/errors.def"
#undef ERROR
};

typedef struct stream *hipStream_t;
typedef struct stream_event *hipEvent_t;
typedef struct hip_module *hipModule_t;
typedef struct hip_function *hipFunction_t;
typedef struct device *hipCtx_t; /* contexts are devices */
typedef int hipDevice_t;
typedef void *hipDeviceptr_t;

struct hip_dim3 {
    uint32_t x, y, z;
};

#define HIP_STREAM_PER_THREAD ((hipStream_t)2)

enum { HIP_COPY_FIRST = 0, HIP_COPY_LAST = 4 /* kinds of copies */ };
enum { HIP_MEMORY_HOST = 0, HIP_MEMORY_DEVICE = 1 };

#define HIP_LAUNCH_PARAM_BUFFER_POINTER ((void *)1)
#define HIP_LAUNCH_PARAM_BUFFER_SIZE    ((void *)2)
#define HIP_LAUNCH_PARAM_END            ((void *)3)

struct hipUUID {
    char bytes[16];
};

struct hipDeviceArch { /* features, a bit each */
    unsigned hasGlobalInt32Atomics : 1, hasGlobalFloatAtomicExch : 1, hasSharedInt32Atomics : 1,
        hasSharedFloatAtomicExch : 1, hasFloatAtomicAdd : 1, hasGlobalInt64Atomics : 1,
        hasSharedInt64Atomics : 1, hasDoubles : 1, hasWarpVote : 1, hasWarpBallot : 1, hasWarpShuffle : 1,
        hasFunnelShift : 1, hasThreadFenceSystem : 1, hasSyncThreadsExt : 1, hasSurfaceFuncs : 1,
        has3dGrid : 1, hasDynamicParallelism : 1;
};

struct hipDeviceProp {
    char name[256];
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock, warpSize, maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate, memoryClockRate, memoryBusWidth;
    size_t totalConstMem;
    int major, minor, multiProcessorCount, l2CacheSize, maxThreadsPerMultiProcessor, computeMode;
    int clockInstructionRate;
    struct hipDeviceArch arch;
    int concurrentKernels, pciDomainID, pciBusID, pciDeviceID;
    size_t maxSharedMemoryPerMultiProcessor;
    int isMultiGpuBoard, canMapHostMemory, gcnArch;
    char gcnArchName[256];
    int integrated, cooperativeLaunch, cooperativeMultiDeviceLaunch;
    int maxTexture1DLinear, maxTexture1D, maxTexture2D[2], maxTexture3D[3];
    unsigned *hdpMemFlushCntl, *hdpRegFlushCntl;
    size_t memPitch, textureAlignment, texturePitchAlignment;
    int kernelExecTimeoutEnabled, ECCEnabled, tccDriver;
    int cooperativeMultiDeviceUnmatchedFunc, cooperativeMultiDeviceUnmatchedGridDim;
    int cooperativeMultiDeviceUnmatchedBlockDim, cooperativeMultiDeviceUnmatchedSharedMem;
    int isLargeBar, asicRevision, managedMemory, directManagedMemAccessFromHost, concurrentManagedAccess;
    int pageableMemoryAccess, pageableMemoryAccessUsesHostPageTables;
};

struct hipPointerAttribute {
    int memoryType, device;
    void *devicePointer, *hostPointer;
    int isManaged;
    unsigned allocationFlags;
};

struct hipFuncAttributes {
    int binaryVersion, cacheModeCA;
    size_t constSizeBytes, localSizeBytes;
    int maxDynamicSharedSizeBytes, maxThreadsPerBlock, numRegs, preferredShmemCarveout, ptxVersion;
    size_t sharedSizeBytes;
};

struct hipPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};

struct hipExtent {
    size_t width, height, depth;
};

struct hipPos {
    size_t x, y, z;
};

struct hipMemcpy3DParms {
    void *srcArray;
    struct hipPos srcPos;
    struct hipPitchedPtr srcPtr;
    void *dstArray;
    struct hipPos dstPos;
    struct hipPitchedPtr dstPtr;
    struct hipExtent extent;
    int kind;
};

/* What __hipRegisterFatBinary gets. */
enum { HIP_WRAPPER_MAGIC = 0x48495046 /* "HIPF" */ };
struct hip_wrapper {
    uint32_t magic, version;
    const void *bundle;
    const void *unused;
};

#endif
