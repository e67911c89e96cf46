/* The platform and its devices: those of the process's driver. */
#include "runtime/opencl/device.h"
#include "base/bits.h"
#include "base/log.h"
#include "base/mem.h"
#include "runtime/common/common.h"
#include "runtime/opencl/compiler.h"
#include "runtime/opencl/info.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static cl_platform_id platform;

/* HEDDLE_LOG=debug tells why calls fail; heddle itself has checked the word. */
static void set_log_level(void)
{
    const char *wanted = getenv("HEDDLE_LOG");
    enum log_level level;
    struct err unused;
    if (wanted && log_level_parse(wanted, &level, &unused))
        log_set_level(level);
}

/* One that executes AMD's code. */
static void add_device(struct device *device)
{
    cl_device_id added = &platform->devices[platform->device_count];
    added->base.dispatch = platform->base.dispatch;
    added->base.kind = OPENCL_DEVICE;
    added->device = device;
    added->index = platform->device_count++;
}

static void start(void)
{
    set_log_level();
    struct driver *driver = common_start("r9nano");
    if (!driver)
        return;
    platform = opencl_object_new(OPENCL_PLATFORM, sizeof *platform);
    platform->driver = driver;
    platform->devices = mem_alloc(driver_device_count(driver), sizeof *platform->devices);
    for (unsigned i = 0; i < driver_device_count(driver); i++)
        if (*device_spec(driver_device(driver, i))->target)
            add_device(driver_device(driver, i));
    if (!platform->device_count)
        fprintf(stderr, "heddle: OpenCL programs run on AMD's GPUs; choose one, such as --system r9nano\n");
}

cl_platform_id opencl_platform(void)
{
    pthread_once(&once, start);
    return platform;
}

/* No platform is ours, too. */
static bool is_ours(cl_platform_id asked)
{
    return !asked || opencl_is(asked, OPENCL_PLATFORM);
}

cl_int API(clGetPlatformInfo)(cl_platform_id asked, cl_platform_info name, size_t bytes, void *value,
                              size_t *needed)
{
    OPENCL_CALL;
    if (!is_ours(asked))
        return CL_INVALID_PLATFORM;
    switch (name) {
        INFO_TEXT(CL_PLATFORM_PROFILE, "FULL_PROFILE")
        INFO_TEXT(CL_PLATFORM_VERSION, OPENCL_VERSION)
        INFO_TEXT(CL_PLATFORM_NAME, "Heddle")
        INFO_TEXT(CL_PLATFORM_VENDOR, "Heddle")
        INFO_TEXT(CL_PLATFORM_EXTENSIONS, "cl_khr_icd")
        INFO_TEXT(CL_PLATFORM_ICD_SUFFIX_KHR, "HEDDLE")
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int API(clGetDeviceIDs)(cl_platform_id asked, cl_device_type type, cl_uint count, cl_device_id *devices,
                           cl_uint *found)
{
    OPENCL_CALL;
    const cl_device_type known = CL_DEVICE_TYPE_CPU | CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_ACCELERATOR |
                                 CL_DEVICE_TYPE_DEFAULT | CL_DEVICE_TYPE_CUSTOM;
    cl_platform_id own = opencl_platform();
    if (!is_ours(asked) || !own)
        return CL_INVALID_PLATFORM;
    if (type != CL_DEVICE_TYPE_ALL && (!type || type & ~known))
        return CL_INVALID_DEVICE_TYPE;
    if ((!count && devices) || (!devices && !found))
        return CL_INVALID_VALUE;
    bool wanted = type & (CL_DEVICE_TYPE_GPU | CL_DEVICE_TYPE_DEFAULT);
    cl_uint there = !wanted ? 0 : type == CL_DEVICE_TYPE_DEFAULT ? 1 : own->device_count;
    if (found)
        *found = there;
    for (cl_uint i = 0; devices && i < count && i < there; i++)
        devices[i] = &own->devices[i];
    return there ? CL_SUCCESS : CL_DEVICE_NOT_FOUND;
}

const char *opencl_device_target(cl_device_id device)
{
    return device_spec(device->device)->target;
}

bool opencl_device_is_gfx9(cl_device_id device)
{
    return !strncmp(opencl_device_target(device), "gfx9", 4);
}

uint64_t opencl_device_largest_buffer(cl_device_id device)
{
    return device_spec(device->device)->memory / 4 * 3;
}

cl_int API(clGetDeviceInfo)(cl_device_id device, cl_device_info name, size_t bytes, void *value,
                            size_t *needed)
{
    OPENCL_CALL;
    if (!opencl_is(device, OPENCL_DEVICE))
        return CL_INVALID_DEVICE;
    const struct gpu_spec *g = device_spec(device->device);
    const size_t item_sizes[3] = {OPENCL_GROUP_MOST, OPENCL_GROUP_MOST, OPENCL_GROUP_MOST};
    switch (name) {
#include "runtime/opencl/device.def"
    default:
        return CL_INVALID_VALUE;
    }
}

cl_int API(clCreateSubDevices)(cl_device_id device, const cl_device_partition_property *properties,
                               cl_uint count, cl_device_id *made, cl_uint *needed)
{
    OPENCL_CALL;
    (void)properties, (void)count, (void)made, (void)needed;
    return opencl_is(device, OPENCL_DEVICE) ? CL_INVALID_VALUE
                                            : CL_INVALID_DEVICE; /* no way to partition it */
}
