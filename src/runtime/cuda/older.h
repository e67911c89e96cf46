/* What programs of CUDA 11 and 12 pass to and expect from the runtime where CUDA 13 has it otherwise. */
#ifndef RUNTIME_CUDA_OLDER_H
#define RUNTIME_CUDA_OLDER_H

#include "runtime/cuda/api.h"

/* Of CUDA 12. That of CUDA 11 ends before hostRegisterSupported. */
struct older_properties {
    char name[256];
    struct cudaUUID uuid;
    char luid[8];
    unsigned luidDeviceNodeMask;
    size_t totalGlobalMem, sharedMemPerBlock;
    int regsPerBlock;
    int warpSize;
    size_t memPitch;
    int maxThreadsPerBlock, maxThreadsDim[3], maxGridSize[3];
    int clockRate;
    size_t totalConstMem;
    int major, minor;
    size_t textureAlignment, texturePitchAlignment;
    int deviceOverlap;
    int multiProcessorCount;
    int kernelExecTimeoutEnabled;
    int integrated;
    int canMapHostMemory;
    int computeMode;
    int maxTexture1D, maxTexture1DMipmap, maxTexture1DLinear;
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
    int memoryClockRate;
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
    int singleToDoublePrecisionPerfRatio;
    int pageableMemoryAccess;
    int concurrentManagedAccess;
    int computePreemptionSupported;
    int canUseHostPointerForRegisteredMem;
    int cooperativeLaunch, cooperativeMultiDeviceLaunch;
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

/* These are the beginning of CUDA 13's structs: so many bytes of them. */
enum {
    OLDER_11_PROPERTIES = offsetof(struct older_properties, hostRegisterSupported),
    OLDER_11_FUNCTION = 56,
    OLDER_11_SAMPLING = 68,
    OLDER_POINTER = 24,
    OLDER_RESOURCE = 64,
    OLDER_VIEW = 48,
};

_Static_assert(sizeof(struct older_properties) == 1032, "as CUDA 12 has it");
_Static_assert(OLDER_11_PROPERTIES == 728, "as CUDA 11 has it");
_Static_assert(offsetof(struct cudaFuncAttributes, clusterDimMustBeSet) <= OLDER_11_FUNCTION,
               "its fields are there");
_Static_assert(offsetof(struct cudaTextureDesc, seamlessCubemap) == OLDER_11_SAMPLING, "all but the last");
_Static_assert(offsetof(struct cudaPointerAttributes, reserved) == OLDER_POINTER, "all but the reserve");
_Static_assert(offsetof(struct cudaResourceViewDesc, reserved) == OLDER_VIEW, "all but the reserve");

/* The functions of CUDA 13 that stand behind. */
cudaError_t cudaCreateTextureObject(cudaTextureObject_t *, const struct cudaResourceDesc *,
                                    const struct cudaTextureDesc *, const struct cudaResourceViewDesc *);
cudaError_t cudaCreateSurfaceObject(cudaSurfaceObject_t *, const struct cudaResourceDesc *);
cudaError_t cudaDeviceGetCacheConfig(int *), cudaDeviceSetCacheConfig(int);
cudaError_t cudaDeviceGetLimit(size_t *, int), cudaDeviceSetLimit(int, size_t);
cudaError_t cudaDeviceReset(void), cudaDeviceSynchronize(void);
cudaError_t cudaEventElapsedTime(float *, cudaEvent_t, cudaEvent_t);
cudaError_t cudaFuncGetAttributes(struct cudaFuncAttributes *, const void *);
cudaError_t cudaGetDeviceProperties(struct cudaDeviceProp *, int);
cudaError_t cudaGetDriverEntryPoint(const char *, void **, unsigned long long, int *);
cudaError_t cudaGetDriverEntryPoint_ptsz(const char *, void **, unsigned long long, int *);
cudaError_t cudaGetSurfaceObjectResourceDesc(struct cudaResourceDesc *, cudaSurfaceObject_t);
cudaError_t cudaGetTextureObjectResourceDesc(struct cudaResourceDesc *, cudaTextureObject_t);
cudaError_t cudaGetTextureObjectResourceViewDesc(struct cudaResourceViewDesc *, cudaTextureObject_t);
cudaError_t cudaGetTextureObjectTextureDesc(struct cudaTextureDesc *, cudaTextureObject_t);
cudaError_t cudaMemAdvise(const void *, size_t, int, struct cudaMemLocation);
cudaError_t cudaMemPrefetchAsync(const void *, size_t, struct cudaMemLocation, unsigned, cudaStream_t);
cudaError_t cudaMemPrefetchAsync_ptsz(const void *, size_t, struct cudaMemLocation, unsigned, cudaStream_t);
cudaError_t cudaPointerGetAttributes(struct cudaPointerAttributes *, const void *);

/* Of graphs, whose edges have data since CUDA 12.3. */
struct graph;
struct graph_node;
struct graph_exec;
typedef struct graph_node *cudaGraphNode_t;
cudaError_t cudaGraphAddDependencies(struct graph *, const cudaGraphNode_t *, const cudaGraphNode_t *,
                                     const void *, size_t);
cudaError_t cudaGraphRemoveDependencies(struct graph *, const cudaGraphNode_t *, const cudaGraphNode_t *,
                                        const void *, size_t);
cudaError_t cudaGraphAddNode(cudaGraphNode_t *, struct graph *, const cudaGraphNode_t *, const void *, size_t,
                             void *);
cudaError_t cudaGraphGetEdges(struct graph *, cudaGraphNode_t *, cudaGraphNode_t *, void *, size_t *);
cudaError_t cudaGraphNodeGetDependencies(cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *);
cudaError_t cudaGraphNodeGetDependentNodes(cudaGraphNode_t, cudaGraphNode_t *, void *, size_t *);
cudaError_t cudaGraphInstantiate(struct graph_exec **, struct graph *, unsigned long long);
cudaError_t cudaGraphExecUpdate(struct graph_exec *, struct graph *, struct cudaGraphExecUpdateResultInfo *);
#define CAPTURE_FUNCTIONS(F) F() F(_ptsz)
#define F(ending)                                                                                            \
    cudaError_t cudaStreamGetCaptureInfo##ending(cudaStream_t, int *, unsigned long long *, struct graph **, \
                                                 const cudaGraphNode_t **, const void **, size_t *);         \
    cudaError_t cudaStreamUpdateCaptureDependencies##ending(cudaStream_t, cudaGraphNode_t *, const void *,   \
                                                            size_t, unsigned);
CAPTURE_FUNCTIONS(F)
#undef F

#endif
