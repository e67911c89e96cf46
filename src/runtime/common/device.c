#include "runtime/common/common.h"

#include <stdio.h>
#include <string.h>

void common_uuid(const struct device *device, char uuid[16])
{
    memcpy(uuid, "heddle-gpu-\0\0\0\0", 16);
    uuid[15] = (char)device_index(device);
}

void common_pci_name(const struct device *device, char *name, size_t bytes)
{
    const struct gpu_spec *gpu = device_spec(device);
    snprintf(name, bytes, "%04x:%02x:%02x.0", (unsigned)gpu->pci_domain,
             (unsigned)(gpu->pci_bus + device_index(device)), (unsigned)gpu->pci_device);
}

int common_find_pci(struct driver *driver, unsigned domain, unsigned bus, unsigned device)
{
    char wanted[32], have[32];
    snprintf(wanted, sizeof wanted, "%04x:%02x:%02x.0", domain, bus, device);
    for (unsigned i = 0; i < driver_device_count(driver); i++) {
        common_pci_name(driver_device(driver, i), have, sizeof have);
        if (!strcmp(have, wanted))
            return (int)i;
    }
    return -1;
}

enum result common_limit(struct device *device, int limit, size_t *value)
{
    uint64_t wide = 0;
    if (!value)
        return RESULT_INVALID_VALUE;
    enum result result = device_limit_get(device, limit, &wide);
    *value = wide;
    return result;
}
