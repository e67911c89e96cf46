/* What the machine says of itself. */
#include "probe.cuh"

static void attribute(const char *name, cudaDeviceAttr which)
{
    int value;
    CHECK(cudaDeviceGetAttribute(&value, which, 0));
    probe_row(name, 0, "", {(double)value});
}

int main(void)
{
    probe_name = "machine";
    attribute("concurrent_managed_access", cudaDevAttrConcurrentManagedAccess);
    attribute("pageable_memory_access", cudaDevAttrPageableMemoryAccess);
    attribute("pageable_memory_access_uses_host_page_tables",
              cudaDevAttrPageableMemoryAccessUsesHostPageTables);
    attribute("direct_managed_access_from_host", cudaDevAttrDirectManagedMemAccessFromHost);
    attribute("host_native_atomics", cudaDevAttrHostNativeAtomicSupported);
    attribute("copy_engines", cudaDevAttrAsyncEngineCount);
    attribute("multiprocessors", cudaDevAttrMultiProcessorCount);
    int version;
    CHECK(cudaDriverGetVersion(&version));
    probe_row("cuda_driver_version", 0, "", {(double)version});
    size_t free, total;
    CHECK(cudaMemGetInfo(&free, &total));
    probe_row("device_memory_total", 0, "MiB", {(double)total / MIB});
    probe_row("device_memory_free", 0, "MiB", {(double)free / MIB});
    probe_row("sm_clock", 0, "MHz", {probe_mhz(), probe_mhz(), probe_mhz()});
}
