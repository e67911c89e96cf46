/* Devices: which there are, and what they say of themselves. */
#include "../check.h"

#include <hip/hip_runtime.h>
#include <string.h>

int main(void)
{
    int count = 0, current = -1, value = -1;
    hipDeviceProp_t properties;
    GOOD(hipInit(0));
    GOOD(hipGetDeviceCount(&count));
    CHECK(count >= 1);
    GOOD(hipGetDevice(&current));
    CHECK(current == 0);
    GIVES(hipErrorInvalidDevice, hipSetDevice(count));
    GIVES(hipErrorInvalidDevice, hipGetDeviceProperties(&properties, -1));
    GOOD(hipSetDevice(0));

    GOOD(hipGetDeviceProperties(&properties, 0));
    CHECK(!strncmp(properties.gcnArchName, "gfx", 3));
    CHECK(properties.warpSize == 64);
    CHECK(properties.multiProcessorCount > 0);
    CHECK(properties.maxThreadsPerBlock == 1024);
    CHECK(properties.sharedMemPerBlock == 65536);
    CHECK(properties.arch.hasDoubles && properties.arch.hasGlobalInt64Atomics);
    CHECK(!properties.arch.hasDynamicParallelism);
    GOOD(hipDeviceGetAttribute(&value, hipDeviceAttributeMultiprocessorCount, 0));
    CHECK(value == properties.multiProcessorCount);
    GOOD(hipDeviceGetAttribute(&value, hipDeviceAttributeWarpSize, 0));
    CHECK(value == 64);
    GOOD(hipDeviceGetAttribute(&value, hipDeviceAttributeMaxGridDimY, 0));
    CHECK(value == properties.maxGridSize[1]);
    GOOD(hipDeviceGetAttribute(&value, hipDeviceAttributeGcnArch, 0));
    CHECK(value == properties.gcnArch && value >= 803);
    GIVES(hipErrorInvalidValue, hipDeviceGetAttribute(&value, (hipDeviceAttribute_t)5000, 0));

    char name[256], bus[32];
    size_t bytes = 0, available = 0;
    hipDevice_t device;
    int major = 0, minor = -1, version = 0;
    GOOD(hipDeviceGet(&device, 0));
    GOOD(hipDeviceGetName(name, sizeof name, device));
    CHECK(!strcmp(name, properties.name));
    GOOD(hipDeviceTotalMem(&bytes, device));
    CHECK(bytes == properties.totalGlobalMem);
    GOOD(hipMemGetInfo(&available, &bytes));
    CHECK(available <= bytes && bytes == properties.totalGlobalMem);
    GOOD(hipDeviceComputeCapability(&major, &minor, device));
    CHECK(major == properties.major && minor == properties.minor);
    GOOD(hipDeviceGetPCIBusId(bus, sizeof bus, 0));
    GOOD(hipDeviceGetByPCIBusId(&value, bus));
    CHECK(value == 0);
    GOOD(hipRuntimeGetVersion(&version));
    CHECK(version / 10000000 == 5);

    hipCtx_t context, other;
    GOOD(hipCtxCreate(&context, 0, device));
    GOOD(hipCtxGetCurrent(&other));
    CHECK(context == other);
    GOOD(hipCtxDestroy(context));

    CHECK(hipGetLastError() != hipSuccess); /* the last failure is kept until it is asked for */
    CHECK(hipGetLastError() == hipSuccess);
    CHECK(!strcmp(hipGetErrorName(hipErrorInvalidValue), "hipErrorInvalidValue"));
    CHECK(*hipGetErrorString(hipErrorOutOfMemory));
    return check_end("device");
}
