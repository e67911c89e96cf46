/* Devices: properties and attributes tell the same. */
#include <string.h>
#include "check.h"

int main()
{
    cudaDeviceProp p;
    int count = 0, value, least, greatest;
    size_t limit;
    char bus[32];
    GOOD(cudaGetDeviceCount(&count));
    CHECK(count >= 1);
    GOOD(cudaGetDeviceProperties(&p, 0));
    CHECK(strlen(p.name) > 0 && p.warpSize == 32);

    const struct {
        cudaDeviceAttr attribute;
        long long property;
    } pairs[] = {
        {cudaDevAttrMaxThreadsPerBlock, p.maxThreadsPerBlock},
        {cudaDevAttrMaxSharedMemoryPerBlock, (long long)p.sharedMemPerBlock},
        {cudaDevAttrMultiProcessorCount, p.multiProcessorCount},
        {cudaDevAttrComputeCapabilityMajor, p.major},
        {cudaDevAttrComputeCapabilityMinor, p.minor},
        {cudaDevAttrMaxSharedMemoryPerBlockOptin, (long long)p.sharedMemPerBlockOptin},
        {cudaDevAttrMaxRegistersPerMultiprocessor, p.regsPerMultiprocessor},
        {cudaDevAttrL2CacheSize, p.l2CacheSize},
        {cudaDevAttrMaxBlocksPerMultiprocessor, p.maxBlocksPerMultiProcessor},
        {cudaDevAttrCooperativeLaunch, p.cooperativeLaunch},
        {cudaDevAttrReservedSharedMemoryPerBlock, (long long)p.reservedSharedMemPerBlock},
    };
    for (const auto &pair : pairs) {
        GOOD(cudaDeviceGetAttribute(&value, pair.attribute, 0));
        CHECK(value == pair.property);
    }
    GIVES(cudaErrorInvalidValue, cudaDeviceGetAttribute(&value, (cudaDeviceAttr)5000, 0));
    GIVES(cudaErrorInvalidDevice, cudaDeviceGetAttribute(&value, cudaDevAttrWarpSize, count));

    GOOD(cudaDeviceGetPCIBusId(bus, sizeof bus, 0));
    GOOD(cudaDeviceGetByPCIBusId(&value, bus));
    CHECK(value == 0);
    GOOD(cudaDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least == 0 && greatest == -5);
    GOOD(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit == 1024);
    GOOD(cudaDeviceSetLimit(cudaLimitStackSize, 3000));
    GOOD(cudaDeviceGetLimit(&limit, cudaLimitStackSize));
    CHECK(limit >= 3000 && limit < 3100);
    GOOD(cudaRuntimeGetVersion(&value));
    CHECK(value >= 13000);
    return check_end("device");
}
