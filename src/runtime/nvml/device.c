/* Devices: which there are, and what is known of each. A handle is the driver's own device. */
#include "runtime/nvml/abi.h"
#include "base/bits.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { MEGA = 1000000 };

nvmlReturn_t nvml_check(nvmlDevice_t device, const void *out)
{
    if (!nvml_ready())
        return NVML_UNINITIALIZED;
    bool known = false;
    for (unsigned i = 0; i < driver_device_count(cuda_driver()); i++)
        known |= device == driver_device(cuda_driver(), i);
    return known && out ? NVML_SUCCESS : NVML_INVALID_ARGUMENT;
}

/* ---- handles ---- */

NVML(nvmlDeviceGetCount_v2, unsigned *count)
{
    if (!nvml_ready() || !count)
        return nvml_ready() ? NVML_INVALID_ARGUMENT : NVML_UNINITIALIZED;
    *count = driver_device_count(cuda_driver());
    return NVML_SUCCESS;
}
NVML_ALIAS(nvmlDeviceGetCount, nvmlDeviceGetCount_v2);

NVML(nvmlDeviceGetHandleByIndex_v2, unsigned index, nvmlDevice_t *device)
{
    if (!nvml_ready())
        return NVML_UNINITIALIZED;
    if (!device || index >= driver_device_count(cuda_driver()))
        return NVML_INVALID_ARGUMENT;
    *device = driver_device(cuda_driver(), index);
    return NVML_SUCCESS;
}
NVML_ALIAS(nvmlDeviceGetHandleByIndex, nvmlDeviceGetHandleByIndex_v2);

/* "GPU-68656464-6c65-2d67-7075-2d0000000000" */
static void uuid_text(const struct device *device, char text[48])
{
    struct cudaUUID uuid;
    common_uuid(device, uuid.bytes);
    int at = snprintf(text, 48, "GPU");
    for (int i = 0; i < 16; i++)
        at += snprintf(text + at, 48 - (size_t)at, "%s%02x",
                       i == 0 || i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
                       (unsigned char)uuid.bytes[i]);
}

NVML(nvmlDeviceGetHandleByUUID, const char *uuid, nvmlDevice_t *device)
{
    char text[48];
    if (!nvml_ready() || !uuid || !device)
        return nvml_ready() ? NVML_INVALID_ARGUMENT : NVML_UNINITIALIZED;
    for (unsigned i = 0; i < driver_device_count(cuda_driver()); i++) {
        uuid_text(driver_device(cuda_driver(), i), text);
        if (!strcmp(text, uuid)) {
            *device = driver_device(cuda_driver(), i);
            return NVML_SUCCESS;
        }
    }
    return NVML_NOT_FOUND;
}

/* With a domain of four digits or eight. */
NVML(nvmlDeviceGetHandleByPciBusId_v2, const char *name, nvmlDevice_t *device)
{
    int index;
    if (!nvml_ready() || !name || !device)
        return nvml_ready() ? NVML_INVALID_ARGUMENT : NVML_UNINITIALIZED;
    if (strcspn(name, ":") == 8)
        name += 4;
    if (cuda_find_pci(name, &index))
        return NVML_NOT_FOUND;
    *device = driver_device(cuda_driver(), (unsigned)index);
    return NVML_SUCCESS;
}
NVML_ALIAS(nvmlDeviceGetHandleByPciBusId, nvmlDeviceGetHandleByPciBusId_v2);

/* ---- texts ---- */

NVML(nvmlDeviceGetName, nvmlDevice_t device, char *name, unsigned room)
{
    nvmlReturn_t error = nvml_check(device, name);
    return error ? error : nvml_give_text(device_spec(device)->name, name, room);
}

NVML(nvmlDeviceGetUUID, nvmlDevice_t device, char *uuid, unsigned room)
{
    char text[48] = "";
    nvmlReturn_t error = nvml_check(device, uuid);
    if (!error)
        uuid_text(device, text);
    return error ? error : nvml_give_text(text, uuid, room);
}

/* ---- one number ---- */

/* Lanes of an SM that add floats: what is sold as cores. */
static unsigned cores_of(const struct gpu_spec *g)
{
    static const struct {
        unsigned arch, cores;
    } rows[] = {{90, 128}, {86, 128}, {80, 64},  {70, 64}, {61, 128},
                {60, 64},  {50, 128}, {30, 192}, {20, 32}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (10 * g->major + g->minor >= rows[i].arch)
            return rows[i].cores;
    }
    return 8;
}

/* NVML_DEVICE_ARCH_...: numbers from Kepler on */
static int arch_of(const struct gpu_spec *g)
{
    static const struct {
        unsigned arch;
        int number;
    } rows[] = {{100, 10}, {90, 9}, {89, 8}, {80, 7}, {75, 6}, {70, 5}, {60, 4}, {50, 3}, {30, 2}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (10 * g->major + g->minor >= rows[i].arch)
            return rows[i].number;
    }
    return NVML_UNKNOWN_ARCH;
}

static unsigned brand_of(const struct gpu_spec *g)
{
    static const struct {
        const char *word;
        unsigned brand;
    } rows[] = {{"GeForce", 5}, {"Quadro", 1}, {"TITAN", 6}, {"Tesla", 2}, {"NVIDIA", 14}};
    for (size_t i = 0; i < COUNT_OF(rows); i++) {
        if (strstr(g->name, rows[i].word))
            return rows[i].brand;
    }
    return 0;
}

#define VALUE(function, type, expression)                                                                    \
    NVML(function, nvmlDevice_t device, type *value)                                                         \
    {                                                                                                        \
        nvmlReturn_t error = nvml_check(device, value);                                                      \
        if (error)                                                                                           \
            return error;                                                                                    \
        const struct gpu_spec *g = device_spec(device);                                                      \
        unsigned index = device_index(device);                                                               \
        (void)g, (void)index;                                                                                \
        *value = (expression);                                                                               \
        return NVML_SUCCESS;                                                                                 \
    }
#include "runtime/nvml/values.def"
#undef VALUE

/* ---- several ---- */

NVML(nvmlDeviceGetCudaComputeCapability, nvmlDevice_t device, int *major, int *minor)
{
    nvmlReturn_t error = nvml_check(device, major && minor ? major : NULL);
    if (error)
        return error;
    *major = (int)device_spec(device)->major;
    *minor = (int)device_spec(device)->minor;
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetPciInfo_v3, nvmlDevice_t device, struct nvmlPciInfo *pci)
{
    nvmlReturn_t error = nvml_check(device, pci);
    if (error)
        return error;
    const struct gpu_spec *g = device_spec(device);
    *pci = (struct nvmlPciInfo){.domain = (unsigned)g->pci_domain,
                                .bus = (unsigned)g->pci_bus + device_index(device),
                                .device = (unsigned)g->pci_device};
    snprintf(pci->busIdLegacy, sizeof pci->busIdLegacy, "%04X:%02X:%02X.0", pci->domain & 0xffff,
             pci->bus & 0xff, pci->device & 0xff);
    snprintf(pci->busId, sizeof pci->busId, "%08X:%02X:%02X.0", pci->domain, pci->bus & 0xff,
             pci->device & 0xff);
    return NVML_SUCCESS;
}
NVML_ALIAS(nvmlDeviceGetPciInfo_v2, nvmlDeviceGetPciInfo_v3);
NVML_ALIAS(nvmlDeviceGetPciInfo, nvmlDeviceGetPciInfo_v3);

/* As cudaMemGetInfo tells it. */
static struct nvmlMemory memory_of(nvmlDevice_t device)
{
    uint64_t used = memory_used(device), total = device_spec(device)->memory;
    return (struct nvmlMemory){.total = total, .available = total - used, .used = used};
}

NVML(nvmlDeviceGetMemoryInfo, nvmlDevice_t device, struct nvmlMemory *memory)
{
    nvmlReturn_t error = nvml_check(device, memory);
    if (!error)
        *memory = memory_of(device);
    return error;
}

NVML(nvmlDeviceGetMemoryInfo_v2, nvmlDevice_t device, struct nvmlMemory_v2 *memory)
{
    nvmlReturn_t error = nvml_check(device, memory);
    if (!error && memory->version != NVML_MEMORY_V2)
        error = NVML_FUNCTION_NOT_FOUND; /* as an H200's library answers */
    if (error)
        return error;
    struct nvmlMemory plain = memory_of(device);
    *memory = (struct nvmlMemory_v2){
        .version = NVML_MEMORY_V2, .total = plain.total, .available = plain.available, .used = plain.used};
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetUtilizationRates, nvmlDevice_t device, struct nvmlUtilization *utilization)
{
    nvmlReturn_t error = nvml_check(device, utilization);
    if (error)
        return error;
    *utilization = (struct nvmlUtilization){.gpu = device_is_busy(device) ? 100 : 0};
    return NVML_SUCCESS;
}

/* Clocks do not change: the current one is the highest. */
static nvmlReturn_t clock_of(nvmlDevice_t device, int clock, unsigned *megahertz)
{
    nvmlReturn_t error = nvml_check(device, megahertz);
    if (error)
        return error;
    const struct gpu_spec *g = device_spec(device);
    switch (clock) {
    case NVML_CLOCK_GRAPHICS:
    case NVML_CLOCK_SM:
        *megahertz = (unsigned)(g->clock / MEGA);
        return NVML_SUCCESS;
    case NVML_CLOCK_MEMORY:
        *megahertz = (unsigned)(g->memory_clock / MEGA);
        return NVML_SUCCESS;
    default:
        return clock == NVML_CLOCK_VIDEO ? NVML_NOT_SUPPORTED : NVML_INVALID_ARGUMENT;
    }
}

NVML(nvmlDeviceGetClockInfo, nvmlDevice_t device, int clock, unsigned *megahertz)
{
    return clock_of(device, clock, megahertz);
}

NVML(nvmlDeviceGetMaxClockInfo, nvmlDevice_t device, int clock, unsigned *megahertz)
{
    return clock_of(device, clock, megahertz);
}

NVML(nvmlDeviceGetApplicationsClock, nvmlDevice_t device, int clock, unsigned *megahertz)
{
    return clock_of(device, clock, megahertz);
}

NVML(nvmlDeviceGetDefaultApplicationsClock, nvmlDevice_t device, int clock, unsigned *megahertz)
{
    return clock_of(device, clock, megahertz);
}

NVML(nvmlDeviceGetClock, nvmlDevice_t device, int clock, int which, unsigned *megahertz)
{
    (void)which;
    return clock_of(device, clock, megahertz);
}

NVML(nvmlDeviceGetEccMode, nvmlDevice_t device, unsigned *current, unsigned *pending)
{
    nvmlReturn_t error = nvml_check(device, current && pending ? current : NULL);
    if (error)
        return error;
    *current = *pending = device_spec(device)->ecc;
    return NVML_SUCCESS;
}

NVML(nvmlDeviceGetMigMode, nvmlDevice_t device, unsigned *current, unsigned *pending)
{
    nvmlReturn_t error = nvml_check(device, current && pending ? current : NULL);
    if (error)
        return error;
    *current = *pending = 0;
    return NVML_SUCCESS;
}

/* ---- processes: this one, where it has memory of the device ---- */

/* *count comes with the room there is, and goes with how many there are. */
static nvmlReturn_t count_processes(nvmlDevice_t device, unsigned *count, const void *infos,
                                    struct nvmlMemory *memory)
{
    nvmlReturn_t error = nvml_check(device, count);
    if (!error)
        *memory = memory_of(device);
    if (error)
        return error;
    unsigned room = *count;
    *count = memory->used > 0;
    return *count && (!room || !infos) ? NVML_INSUFFICIENT_SIZE : NVML_SUCCESS;
}

NVML(nvmlDeviceGetComputeRunningProcesses_v3, nvmlDevice_t device, unsigned *count,
     struct nvmlProcessInfo *infos)
{
    struct nvmlMemory memory;
    nvmlReturn_t error = count_processes(device, count, infos, &memory);
    if (!error && *count)
        *infos = (struct nvmlProcessInfo){.pid = (unsigned)getpid(),
                                          .usedGpuMemory = memory.used,
                                          .gpuInstanceId = UINT32_MAX,
                                          .computeInstanceId = UINT32_MAX};
    return error;
}
NVML_ALIAS(nvmlDeviceGetComputeRunningProcesses_v2, nvmlDeviceGetComputeRunningProcesses_v3);

NVML(nvmlDeviceGetComputeRunningProcesses, nvmlDevice_t device, unsigned *count,
     struct nvmlProcessInfo_v1 *infos)
{
    struct nvmlMemory memory;
    nvmlReturn_t error = count_processes(device, count, infos, &memory);
    if (!error && *count)
        *infos = (struct nvmlProcessInfo_v1){.pid = (unsigned)getpid(), .usedGpuMemory = memory.used};
    return error;
}

NVML(nvmlDeviceGetGraphicsRunningProcesses_v3, nvmlDevice_t device, unsigned *count, void *infos)
{
    nvmlReturn_t error = nvml_check(device, count);
    (void)infos;
    if (!error)
        *count = 0;
    return error;
}
NVML_ALIAS(nvmlDeviceGetGraphicsRunningProcesses_v2, nvmlDeviceGetGraphicsRunningProcesses_v3);
NVML_ALIAS(nvmlDeviceGetGraphicsRunningProcesses, nvmlDeviceGetGraphicsRunningProcesses_v3);
