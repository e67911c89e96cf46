/* The driver of the process, and the device that a thread has current. */
#include "runtime/hip/api.h"
#include "runtime/hip/register.h"

#include <pthread.h>

static __thread struct device *current;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct driver *driver;

/* Where the user names no system, the program gets one that runs its kernels. */
static void start(void)
{
    driver = common_start(hip_registered_system());
}

struct driver *hip_driver(void)
{
    pthread_once(&once, start);
    return driver;
}

hipError_t hip_known(void)
{
    return hip_driver() && !common_is_forked() ? hipSuccess : hipErrorNotInitialized;
}

hipError_t hip_device_set(void)
{
    hipError_t error = hip_known();
    if (!error && !current)
        current = driver_device(driver, 0);
    return error;
}

/* A fault of a kernel is reported before arguments are looked at: programs that go on after one pass handles
 * that they never got. */
hipError_t hip_ready(void)
{
    hipError_t error = hip_device_set();
    return error ? error : (hipError_t)device_error(current);
}

struct device *hip_device(void)
{
    return current;
}

struct device *hip_device_at(int index)
{
    return index < 0 || !hip_driver() ? NULL : driver_device(driver, (unsigned)index);
}

void hip_set_device(struct device *device)
{
    current = device;
}

const char *hip_target(const struct device *device)
{
    return device_spec(device)->target;
}

struct stream *hip_stream(hipStream_t stream)
{
    if (stream == HIP_STREAM_PER_THREAD)
        return device_thread_stream(current);
    return stream ? stream : device_default_stream(current);
}

bool hip_is_default(hipStream_t stream)
{
    return !stream || stream == HIP_STREAM_PER_THREAD;
}

bool hip_stream_known(hipStream_t stream)
{
    return hip_is_default(stream) || common_has_stream(stream);
}
