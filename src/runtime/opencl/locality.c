/* What include/heddle_locality.h finds in a program that uses this library. */
#include "driver/locality.h"
#include "runtime/common/common.h"
#include "runtime/opencl/memory.h"
#include "runtime/opencl/objects.h"

HEDDLE_API const struct heddle_locality *heddle_locality_of_library(void);

static struct driver *opencl_driver(void)
{
    cl_platform_id platform = opencl_platform();
    return platform ? platform->driver : NULL;
}

/* Memory is that of the context's first device, if no other used it before. */
static int place_memory(const void *buffer, size_t offset, size_t bytes, unsigned member)
{
    cl_mem mem = (cl_mem)(uintptr_t)buffer;
    uint64_t address;
    err_set(driver_detail_err(), "%s", ""); /* what an older call said is gone */
    if (!opencl_is(mem, OPENCL_MEM) || opencl_is_image(mem) || offset > mem->bytes ||
        bytes > mem->bytes - offset) {
        err_set(driver_detail_err(), "it is no buffer, or the bytes to be placed are not all in it");
        return RESULT_INVALID_VALUE;
    }
    enum result result = opencl_mem_at(mem, mem->context->devices[0]->device, &address);
    return (int)(result ? result : locality_place_memory(opencl_driver(), address + offset, bytes, member));
}

const struct heddle_locality *heddle_locality_of_library(void)
{
    static struct heddle_locality offered;
    if (!offered.version) {
        struct heddle_locality own = common_locality(opencl_driver);
        own.place_memory = place_memory;
        offered = own;
    }
    return &offered;
}
