/* Structs and numbers of NVML as nvml.h of CUDA 13 lays them out. */
#ifndef RUNTIME_NVML_ABI_H
#define RUNTIME_NVML_ABI_H

#include "runtime/cuda/api.h"

typedef int nvmlReturn_t;
typedef struct device *nvmlDevice_t;

enum nvml_error {
#define ERROR(code, name, text) NVML_##name = code,
#include "runtime/nvml/errors.def"
#undef ERROR
};

enum { NVML_UNKNOWN_ARCH = -1 };
enum nvml_clock { NVML_CLOCK_GRAPHICS, NVML_CLOCK_SM, NVML_CLOCK_MEMORY, NVML_CLOCK_VIDEO, NVML_CLOCK_COUNT };
enum nvml_topology { NVML_TOPOLOGY_NODE = 40, NVML_TOPOLOGY_SYSTEM = 50 };
enum nvml_p2p {
    NVML_P2P_READ,
    NVML_P2P_WRITE,
    NVML_P2P_NVLINK,
    NVML_P2P_ATOMICS,
    NVML_P2P_PCI,
    NVML_P2P_COUNT
};
enum nvml_p2p_status { NVML_P2P_STATUS_OK = 0, NVML_P2P_STATUS_NOT_SUPPORTED = 5 };

struct nvmlPciInfo {
    char busIdLegacy[16]; /* 0000:1B:00.0 */
    unsigned domain, bus, device;
    unsigned pciDeviceId, pciSubSystemId;
    char busId[32]; /* 00000000:1B:00.0 */
};
_Static_assert(sizeof(struct nvmlPciInfo) == 68, "as nvml.h has it");

struct nvmlMemory {
    unsigned long long total, available, used; /* nvml.h: free */
};

struct nvmlMemory_v2 {
    unsigned version;
    unsigned long long total, reserved, available, used;
};
enum { NVML_MEMORY_V2 = 2 << 24 | sizeof(struct nvmlMemory_v2) };
_Static_assert(sizeof(struct nvmlMemory_v2) == 40, "as nvml.h has it");

struct nvmlUtilization {
    unsigned gpu, memory;
};

struct nvmlProcessInfo_v1 {
    unsigned pid;
    unsigned long long usedGpuMemory;
};

struct nvmlProcessInfo { /* of version 2 and 3 */
    unsigned pid;
    unsigned long long usedGpuMemory;
    unsigned gpuInstanceId, computeInstanceId;
};
_Static_assert(sizeof(struct nvmlProcessInfo) == 24, "as nvml.h has it");

/* ---- how a function is written ---- */

#define NVML(name, ...)                                                                                      \
    EXPORT nvmlReturn_t name(__VA_ARGS__);                                                                   \
    nvmlReturn_t name(__VA_ARGS__)
#define NVML_ALIAS(name, of) EXPORT extern __typeof__(of) name __attribute__((alias(#of)))

/* nvmlInit was called. */
bool nvml_ready(void);

/* Copies a text to where there is this much room. */
nvmlReturn_t nvml_give_text(const char *text, char *to, unsigned room);

/* What stands before a function's own work: NVML_SUCCESS, or why it is not done. `out` is where it writes. */
nvmlReturn_t nvml_check(nvmlDevice_t device, const void *out);

#endif
