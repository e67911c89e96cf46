/* The driver of the process, and the contexts that threads have current. */
#include "runtime/cuda/api.h"
#include "base/mem.h"

#include <pthread.h>
#include <unistd.h>

enum { MOST_CONTEXTS = 64 /* of a thread's stack */ };

static __thread struct context *stack[MOST_CONTEXTS];
static __thread size_t stack_depth;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct driver *driver;
static struct context *primaries; /* by device */
static _Atomic bool initialized;

static void out_of_memory(size_t bytes)
{
    fprintf(stderr, "heddle: out of memory: no room for %zu bytes more\n", bytes);
    _exit(1);
}

static void start(void)
{
    struct err err;
    mem_on_exhaustion(out_of_memory);
    driver = driver_get(&err);
    if (!driver) {
        fprintf(stderr, "heddle: %s\n", err.text);
        return;
    }
    primaries = mem_alloc(driver_device_count(driver), sizeof *primaries);
    for (unsigned i = 0; i < driver_device_count(driver); i++)
        primaries[i] = (struct context){.device = driver_device(driver, i), .is_primary = true, .id = i + 1};
}

/* Work that is still under way ends first: what a program launched is counted, whether it waits for it or
 * not, or the statistics would differ from run to run. */
__attribute__((destructor)) static void end(void)
{
    if (!driver || cuda_is_forked())
        return;
    for (unsigned i = 0; i < driver_device_count(driver); i++)
        device_synchronize(driver_device(driver, i));
    driver_at_exit();
}

bool cuda_is_forked(void)
{
    return driver && driver_is_forked(driver);
}

struct driver *cuda_driver(void)
{
    pthread_once(&once, start);
    return driver;
}

struct context *cuda_context(void)
{
    return stack_depth ? stack[stack_depth - 1] : NULL;
}

void cuda_set_context(struct context *context)
{
    if (!stack_depth)
        stack_depth = 1;
    stack[stack_depth - 1] = context;
}

bool cuda_push_context(struct context *context)
{
    if (stack_depth == MOST_CONTEXTS)
        return false;
    stack[stack_depth++] = context;
    return true;
}

bool cuda_pop_context(struct context **context)
{
    *context = cuda_context();
    if (*context)
        stack_depth--;
    return *context != NULL;
}

struct context *cuda_primary(unsigned device)
{
    return cuda_driver() && device < driver_device_count(driver) ? &primaries[device] : NULL;
}

cudaError_t cuda_known(void)
{
    if (!cuda_driver())
        return cudaErrorInitializationError;
    initialized = true;
    return cudaSuccess;
}

cudaError_t cuda_initialize(void)
{
    return cuda_is_forked() ? cudaErrorInitializationError : cuda_known();
}

cudaError_t runtime_device(void)
{
    if (cuda_context() && !cuda_is_forked())
        return cudaSuccess;
    cudaError_t error = cuda_initialize();
    if (!error)
        cuda_set_context(cuda_primary(0));
    return error;
}

/* A fault of a kernel is told before anything else is looked at: programs that go on after one pass handles
 * that they never got. */
cudaError_t runtime_ready(void)
{
    cudaError_t error = runtime_device();
    return error ? error : (cudaError_t)device_error(cuda_device());
}

cudaError_t cuda_driver_initialized(void)
{
    return initialized && !cuda_is_forked() ? cudaSuccess : cudaErrorInitializationError;
}

cudaError_t cuda_driver_ready(void)
{
    cudaError_t error = cuda_driver_initialized();
    if (error)
        return error;
    return cuda_context() ? (cudaError_t)device_error(cuda_device()) : cudaErrorDeviceUninitialized;
}

struct device *cuda_device(void)
{
    return cuda_context()->device;
}

struct stream *cuda_stream(cudaStream_t stream)
{
    if (stream == STREAM_PER_THREAD)
        return device_thread_stream(cuda_device());
    return stream && stream != STREAM_LEGACY ? stream : device_default_stream(cuda_device());
}
