/* The driver of the process, and the contexts that threads have current. */
#include "runtime/cuda/api.h"
#include "runtime/cuda/graph.h"
#include "runtime/cuda/launch.h"
#include "base/mem.h"
#include "base/pointers.h"

#include <pthread.h>

enum { MOST_CONTEXTS = 64 /* of a thread's stack */ };

static __thread struct context *stack[MOST_CONTEXTS];
static __thread size_t stack_depth;

static pthread_once_t once = PTHREAD_ONCE_INIT;
static struct driver *driver;
static struct context *primaries; /* by device */
static _Atomic bool initialized;

const char *cudaGetErrorName(cudaError_t error), *cudaGetErrorString(cudaError_t error);

static const char *error_text(int code, bool is_name)
{
    return is_name ? cudaGetErrorName(code) : cudaGetErrorString(code);
}

/* For kernels that ask. */
static const struct driver_library library = {.attribute = cuda_attribute,
                                              .error_text = error_text,
                                              .fill_function = cuda_fill_attributes,
                                              .graph = graph_exec_for_kernels};

static void start(void)
{
    driver = common_start(NULL);
    if (!driver)
        return;
    driver_set_library(driver, &library);
    primaries = mem_alloc(driver_device_count(driver), sizeof *primaries);
    for (unsigned i = 0; i < driver_device_count(driver); i++)
        primaries[i] = (struct context){.device = driver_device(driver, i), .is_primary = true, .id = i + 1};
}

struct driver *cuda_driver(void)
{
    pthread_once(&once, start);
    return driver;
}

/* Contexts that the program has made. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct pointers made;

void cuda_keep_context(struct context *context, bool is_known)
{
    pthread_mutex_lock(&lock);
    if (is_known)
        pointers_set(&made, context, context);
    else
        pointers_remove(&made, context);
    pthread_mutex_unlock(&lock);
}

bool cuda_context_is_known(const struct context *context)
{
    for (unsigned i = 0; i < driver_device_count(driver); i++) {
        if (context == &primaries[i])
            return true;
    }
    pthread_mutex_lock(&lock);
    bool is_known = context && pointers_get(&made, context);
    pthread_mutex_unlock(&lock);
    return is_known;
}

void cuda_set_bad_context(void)
{
    static struct context bad;
    bad = (struct context){.device = driver_device(driver, 0), .error = cudaErrorDeviceUninitialized};
    cuda_set_context(&bad);
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
    return common_is_forked() ? cudaErrorInitializationError : cuda_known();
}

cudaError_t runtime_device(void)
{
    if (cuda_context() && !common_is_forked())
        return cuda_context()->error;
    cudaError_t error = cuda_initialize();
    if (!error)
        cuda_set_context(cuda_primary(0));
    return error;
}

/* A fault of a kernel is told before anything else is looked at: programs that go on after one pass handles
 * that they never got. */
cudaError_t runtime_ready(void)
{
    cudaError_t error = common_is_called() ? cudaErrorNotPermitted : runtime_device();
    return error ? error : (cudaError_t)device_error(cuda_device());
}

cudaError_t runtime_may_wait(void)
{
    cudaError_t error = runtime_ready();
    return error ? error : (cudaError_t)capture_check_call(driver);
}

cudaError_t cuda_driver_may_wait(void)
{
    cudaError_t error = cuda_driver_ready();
    return error ? error : (cudaError_t)capture_check_call(driver);
}

cudaError_t cuda_driver_initialized(void)
{
    return initialized && !common_is_forked() ? cudaSuccess : cudaErrorInitializationError;
}

cudaError_t cuda_driver_ready(void)
{
    cudaError_t error = common_is_called() ? cudaErrorNotPermitted : cuda_driver_initialized();
    if (error)
        return error;
    if (!cuda_context())
        return cudaErrorDeviceUninitialized;
    return cuda_context()->error ? cuda_context()->error : (cudaError_t)device_error(cuda_device());
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

bool cuda_is_default(cudaStream_t stream)
{
    return !stream || stream == STREAM_LEGACY || stream == STREAM_PER_THREAD;
}

bool cuda_stream_known(cudaStream_t stream)
{
    return cuda_is_default(stream) || common_has_stream(stream);
}
