/* What programs built by nvcc pass to and expect from the CUDA runtime: structs, numbers and handles as CUDA
 * 13 lays them out (tests/programs/abi.cu compares them with NVIDIA's headers where those are installed).
 * Field names are those of the public API; only what Heddle reads or writes is named. */
#ifndef RUNTIME_CUDA_ABI_H
#define RUNTIME_CUDA_ABI_H

#include <stddef.h>
#include <stdint.h>

/* Codes are the same in both APIs: cudaErrorInvalidValue is CUDA_ERROR_INVALID_VALUE. */
typedef int cudaError_t;
enum {
#define ERROR(code, name, driver_name, text) cuda##name = code,
#include "runtime/cuda/errors.def"
#undef ERROR
};

/* Handles are the driver's own objects, the same in both APIs. Two streams are numbers that stand for the
 * default ones. */
typedef struct stream *cudaStream_t;
typedef struct stream_event *cudaEvent_t;
typedef struct function *cudaFunction_t, *cudaKernel_t;
typedef struct module *cudaLibrary_t;
typedef struct memory_pool *cudaMemPool_t;
typedef struct array *cudaArray_t;
typedef struct mipmaps *cudaMipmappedArray_t;
typedef unsigned long long cudaTextureObject_t, cudaSurfaceObject_t;
#define STREAM_LEGACY     ((cudaStream_t)1)
#define STREAM_PER_THREAD ((cudaStream_t)2)

typedef void cudaHostFn(void *user);
typedef void cudaStreamCallback(cudaStream_t stream, cudaError_t status, void *user);

struct dim3 {
    unsigned x, y, z;
};

struct cudaUUID {
    char bytes[16];
};

struct cudaExtent {
    size_t width, height, depth; /* of an array in elements, else width in bytes */
};

struct cudaPos {
    size_t x, y, z;
};

struct cudaPitchedPtr {
    void *ptr;
    size_t pitch, xsize, ysize;
};

enum { FORMAT_SIGNED, FORMAT_UNSIGNED, FORMAT_FLOAT, FORMAT_NONE };
struct cudaChannelFormatDesc {
    int x, y, z, w; /* bits of each channel */
    int f;
};

enum { COPY_HOST_TO_HOST, COPY_HOST_TO_DEVICE, COPY_DEVICE_TO_HOST, COPY_DEVICE_TO_DEVICE, COPY_DEFAULT };
struct cudaMemcpy3DParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    struct cudaExtent extent;
    int kind;
};

struct cudaMemcpy3DPeerParms {
    cudaArray_t srcArray;
    struct cudaPos srcPos;
    struct cudaPitchedPtr srcPtr;
    int srcDevice;
    cudaArray_t dstArray;
    struct cudaPos dstPos;
    struct cudaPitchedPtr dstPtr;
    int dstDevice;
    struct cudaExtent extent;
};

enum { POINTER_UNREGISTERED, POINTER_HOST, POINTER_DEVICE, POINTER_MANAGED };
struct cudaPointerAttributes {
    int type;
    int device;
    void *devicePointer, *hostPointer;
    long reserved[8];
};

enum { LOCATION_NONE, LOCATION_DEVICE, LOCATION_HOST, LOCATION_HOST_NUMA, LOCATION_HOST_NUMA_CURRENT };
struct cudaMemLocation {
    int type;
    int id;
};

struct cudaMemAccessDesc {
    struct cudaMemLocation location;
    int flags;
};

struct cudaMemPoolProps {
    int allocType;
    int handleTypes;
    struct cudaMemLocation location;
    void *win32SecurityAttributes;
    size_t maxSize;
    unsigned short usage;
    unsigned char reserved[54];
};

struct cudaMemAllocNodeParams {
    struct cudaMemPoolProps poolProps;
    const struct cudaMemAccessDesc *accessDescs;
    size_t accessDescCount;
    size_t bytesize;
    void *dptr;
};

struct cudaFuncAttributes {
    size_t sharedSizeBytes, constSizeBytes, localSizeBytes;
    int maxThreadsPerBlock;
    int numRegs;
    int ptxVersion, binaryVersion;
    int cacheModeCA;
    int maxDynamicSharedSizeBytes;
    int preferredShmemCarveout;
    int clusterDimMustBeSet;
    int requiredClusterWidth, requiredClusterHeight, requiredClusterDepth;
    int clusterSchedulingPolicyPreference;
    int nonPortableClusterSizeAllowed;
    int reserved[16];
};

/* The attributes of a launch; both APIs have the same. */
enum {
    LAUNCH_ACCESS_WINDOW = 1,
    LAUNCH_COOPERATIVE = 2,
    LAUNCH_SYNCHRONIZATION = 3,
    LAUNCH_CLUSTER = 4,
    LAUNCH_PROGRAMMATIC = 6,
    LAUNCH_PRIORITY = 8,
    LAUNCH_DOMAIN_MAP = 9,
    LAUNCH_DOMAIN = 10,
    LAUNCH_LAST = 16,
    LAUNCH_PROGRAMMATIC_EVENT = 7,
    LAUNCH_COMPLETION_EVENT = 12,
    LAUNCH_UPDATABLE = 13,
};
enum { KERNEL_NODE_ATTRIBUTES = 17 /* more than any of a kernel's node */ };
struct cudaAccessPolicyWindow {
    void *base_ptr;
    size_t num_bytes;
    float hitRatio;
    int hitProp, missProp;
};

struct cudaLaunchAttribute {
    int id;
    int pad;
    union {
        char bytes[64];
        int cooperative, programmatic;
        struct dim3 cluster;
        cudaEvent_t event;
        struct {
            cudaEvent_t event;
            int flags, at_block_start; /* of a programmatic event */
        } record;
        struct {
            int is_on;
            uint64_t node; /* by which kernels change it; filled by the call */
        } updatable;
    } value;
};

struct cudaLaunchConfig {
    struct dim3 gridDim, blockDim;
    size_t dynamicSmemBytes;
    cudaStream_t stream;
    struct cudaLaunchAttribute *attrs;
    unsigned numAttrs;
};

struct cudaKernelNodeParams {
    void *func;
    struct dim3 gridDim, blockDim;
    unsigned sharedMemBytes;
    void **kernelParams, **extra;
};

struct cudaMemsetParams {
    void *dst;
    size_t pitch;
    unsigned value, elementSize;
    size_t width, height; /* width in elements */
};

struct cudaHostNodeParams {
    cudaHostFn *fn;
    void *userData;
};

struct cudaChildGraphNodeParams {
    struct graph *graph;
    int ownership;
};

struct cudaConditionalNodeParams {
    uint64_t handle;
    int type;
    unsigned size;
    struct graph **phGraph_out;
    struct context *ctx; /* of the driver API alone */
};

/* Of both APIs but for kernels and copies, whose layouts differ. */
struct cudaGraphNodeParams {
    int type;
    int reserved0[3];
    union {
        long long reserved1[29];
        struct cudaKernelNodeParams kernel;
        struct {
            int flags;
            int reserved[3];
            struct cudaMemcpy3DParms copyParams;
        } memcpy;
        struct cudaMemsetParams memset;
        struct cudaHostNodeParams host;
        struct cudaChildGraphNodeParams graph;
        struct {
            cudaEvent_t event;
        } eventWait, eventRecord;
        struct cudaMemAllocNodeParams alloc;
        struct {
            void *dptr;
        } release;
        struct cudaConditionalNodeParams conditional;
    };
    long long reserved2;
};

enum { EDGE_DEFAULT, EDGE_PROGRAMMATIC };                           /* types, */
enum { PORT_DEFAULT, PORT_PROGRAMMATIC, PORT_LAUNCH_ORDER, PORTS }; /* and where an edge begins at a kernel */
struct cudaGraphEdgeData {
    unsigned char from_port, to_port, type;
    unsigned char reserved[5];
};

struct cudaGraphInstantiateParams {
    unsigned long long flags;
    cudaStream_t uploadStream;
    void *errNode_out;
    int result_out;
};

struct cudaGraphExecUpdateResultInfo {
    int result;
    void *errorNode, *errorFromNode;
};

enum { RESOURCE_ARRAY, RESOURCE_MIPMAPPED, RESOURCE_LINEAR, RESOURCE_PITCH2D };
struct cudaResourceDesc {
    int resType;
    union {
        cudaArray_t array;
        cudaMipmappedArray_t mipmap;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t sizeInBytes;
        } linear;
        struct {
            void *devPtr;
            struct cudaChannelFormatDesc desc;
            size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
};

struct cudaTextureDesc {
    int addressMode[3];
    int filterMode;
    int readMode; /* 0: as it is stored, 1: as a float from 0 to 1 or -1 to 1 */
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
};

struct cudaResourceViewDesc {
    int format;
    size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
    unsigned reserved[16];
};

struct cudaDeviceProp {
    char name[256];
    struct cudaUUID uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int multiProcessorCount;
    int integrated;
    int canMapHostMemory;
    int maxTexture1D, maxTexture1DMipmap;
    int maxTexture2D[2], maxTexture2DMipmap[2], maxTexture2DLinear[3], maxTexture2DGather[2];
    int maxTexture3D[3], maxTexture3DAlt[3];
    int maxTextureCubemap;
    int maxTexture1DLayered[2], maxTexture2DLayered[3], maxTextureCubemapLayered[2];
    int maxSurface1D, maxSurface2D[2], maxSurface3D[3];
    int maxSurface1DLayered[2], maxSurface2DLayered[3];
    int maxSurfaceCubemap, maxSurfaceCubemapLayered[2];
    size_t surfaceAlignment;
    int concurrentKernels;
    int ECCEnabled;
    int pciBusID, pciDeviceID, pciDomainID;
    int tccDriver;
    int asyncEngineCount;
    int unifiedAddressing;
    int memoryBusWidth;
    int l2CacheSize, persistingL2CacheMaxSize;
    int maxThreadsPerMultiProcessor;
    int streamPrioritiesSupported;
    int globalL1CacheSupported, localL1CacheSupported;
    size_t sharedMemPerMultiprocessor;
    int regsPerMultiprocessor;
    int managedMemory;
    int isMultiGpuBoard, multiGpuBoardGroupID;
    int hostNativeAtomicSupported;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch;
    size_t sharedMemPerBlockOptin;
    int pageableMemoryAccessUsesHostPageTables;
    int directManagedMemAccessFromHost;
    int maxBlocksPerMultiProcessor;
    int accessPolicyMaxWindowSize;
    size_t reservedSharedMemPerBlock;
    int hostRegisterSupported;
    int sparseCudaArraySupported;
    int hostRegisterReadOnlySupported;
    int timelineSemaphoreInteropSupported;
    int memoryPoolsSupported;
    int gpuDirectRDMASupported;
    unsigned gpuDirectRDMAFlushWritesOptions;
    int gpuDirectRDMAWritesOrdering;
    unsigned memoryPoolSupportedHandleTypes;
    int deferredMappingCudaArraySupported;
    int ipcEventSupported;
    int clusterLaunch;
    int unifiedFunctionPointers;
    int deviceNumaConfig, deviceNumaId;
    int mpsEnabled;
    int hostNumaId;
    unsigned gpuPciDeviceID, gpuPciSubsystemID;
    int hostNumaMultinodeIpcSupported;
    int reserved[56];
};

_Static_assert(sizeof(struct cudaDeviceProp) == 1008, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaFuncAttributes) == 144, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaPointerAttributes) == 88, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaLaunchAttribute) == 72, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaLaunchConfig) == 56, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaResourceDesc) == 144, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaTextureDesc) == 72, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaMemcpy3DParms) == 160, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaGraphNodeParams) == 256, "as CUDA 13 has it");
_Static_assert(sizeof(struct cudaGraphEdgeData) == 8, "as CUDA 13 has it");

#endif
