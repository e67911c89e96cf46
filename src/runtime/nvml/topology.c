/* How devices are connected: all are on the host's links, in one node. */
#include "runtime/nvml/abi.h"

/* Two devices, and where the answer goes. */
static nvmlReturn_t check_pair(nvmlDevice_t one, nvmlDevice_t other, const void *out)
{
    nvmlReturn_t error = nvml_check(one, out);
    return error ? error : nvml_check(other, out);
}

NVML(nvmlDeviceGetTopologyCommonAncestor, nvmlDevice_t one, nvmlDevice_t other, unsigned *level)
{
    nvmlReturn_t error = check_pair(one, other, level);
    if (error)
        return error;
    if (one == other)
        return NVML_NOT_SUPPORTED;
    *level = NVML_TOPOLOGY_NODE;
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetTopologyNearestGpus, nvmlDevice_t device, int level, unsigned *count, nvmlDevice_t *devices)
{
    nvmlReturn_t error = nvml_check(device, count);
    if (error)
        return error;
    unsigned found = 0, room = *count, all = driver_device_count(cuda_driver());
    for (unsigned i = 0; level == NVML_TOPOLOGY_NODE && i < all; i++) {
        struct device *other = driver_device(cuda_driver(), i);
        if (other == device)
            continue;
        if (devices && found < room)
            devices[found] = other;
        found++;
    }
    *count = found;
    return !devices || found <= room ? NVML_SUCCESS : NVML_INSUFFICIENT_SIZE;
}

NVML(nvmlDeviceOnSameBoard, nvmlDevice_t one, nvmlDevice_t other, int *same)
{
    nvmlReturn_t error = check_pair(one, other, same);
    if (!error)
        *same = one == other;
    return error;
}

/* What CUDA tells of peers. There is no NVLink. */
NVML(nvmlDeviceGetP2PStatus, nvmlDevice_t one, nvmlDevice_t other, int what, int *status)
{
    enum { PEER_ACCESS = 2, PEER_ATOMICS = 3 };
    int can = 0;
    nvmlReturn_t error = check_pair(one, other, status);
    if (!error && (what < 0 || what >= NVML_P2P_COUNT))
        error = NVML_INVALID_ARGUMENT;
    if (error)
        return error;
    if (one != other && what != NVML_P2P_NVLINK)
        cuda_peer_attribute(&can, what == NVML_P2P_ATOMICS ? PEER_ATOMICS : PEER_ACCESS,
                            (int)device_index(one), (int)device_index(other));
    *status = can ? NVML_P2P_STATUS_OK : NVML_P2P_STATUS_NOT_SUPPORTED;
    return NVML_SUCCESS;
}
