/* The driver of the process, and the device that a thread has current. */
#include "runtime/hip/api.h"
#include "base/mem.h"
#include "runtime/hip/register.h"

#include <pthread.h>
#include <unistd.h>

static __thread struct device *current;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct driver *driver;

static void out_of_memory(size_t bytes)
{
    fprintf(stderr, "heddle: out of memory: no room for %zu bytes more\n", bytes);
    _exit(1);
}

/* Where the user names no system, the program gets one that runs its kernels. */
static void start(void)
{
    struct err err;
    mem_on_exhaustion(out_of_memory);
    driver_set_default_system(hip_registered_system());
    driver = driver_get(&err);
    if (!driver)
        fprintf(stderr, "heddle: %s\n", err.text);
}

/* Work that is still under way ends first, so that what a program launched is always counted. */
__attribute__((destructor)) static void end(void)
{
    if (!driver || hip_is_forked())
        return;
    for (unsigned i = 0; i < driver_device_count(driver); i++)
        device_synchronize(driver_device(driver, i));
    driver_at_exit();
}

bool hip_is_forked(void)
{
    return driver && driver_is_forked(driver);
}

struct driver *hip_driver(void)
{
    pthread_once(&once, start);
    return driver;
}

hipError_t hip_known(void)
{
    return hip_driver() && !hip_is_forked() ? hipSuccess : hipErrorNotInitialized;
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
