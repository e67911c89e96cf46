/* Streams and events, with copies alone: their order, waits, callbacks, and times. */
#include "../check.h"

#include <hip/hip_runtime.h>

static void callback(hipStream_t stream, hipError_t error, void *user)
{
    (void)stream;
    *(int *)user = error == hipSuccess ? 1 : -1;
}

int main(void)
{
    const size_t bytes = 1 << 20;
    hipStream_t a, b;
    hipEvent_t start, middle, stop, untimed;
    char *device, *host;
    int called = 0, least = 0, greatest = 0;
    float whole = -1, part = -1;
    unsigned flags = 0;
    GOOD(hipMalloc((void **)&device, bytes));
    GOOD(hipHostMalloc((void **)&host, 2 * bytes));
    for (size_t i = 0; i < bytes; i++)
        host[i] = (char)(i * 31 >> 3);
    GOOD(hipDeviceGetStreamPriorityRange(&least, &greatest));
    CHECK(least > greatest);
    GOOD(hipStreamCreate(&a));
    GOOD(hipStreamCreateWithFlags(&b, hipStreamNonBlocking));
    GOOD(hipStreamGetFlags(b, &flags));
    CHECK(flags == hipStreamNonBlocking);
    GOOD(hipEventCreate(&start));
    GOOD(hipEventCreate(&middle));
    GOOD(hipEventCreateWithFlags(&stop, hipEventBlockingSync));
    GOOD(hipEventCreateWithFlags(&untimed, hipEventDisableTiming));
    GIVES(hipErrorInvalidHandle, hipEventElapsedTime(&whole, start, stop)); /* not recorded yet */

    GOOD(hipEventRecord(start, a));
    GOOD(hipMemcpyAsync(device, host, bytes, hipMemcpyHostToDevice, a));
    GOOD(hipEventRecord(middle, a));
    GOOD(hipStreamWaitEvent(b, middle, 0));
    GOOD(hipMemcpyAsync(host + bytes, device, bytes, hipMemcpyDeviceToHost, b));
    GOOD(hipEventRecord(stop, b));
    GOOD(hipStreamAddCallback(b, callback, &called, 0));
    GOOD(hipStreamSynchronize(b));
    CHECK(called == 1);
    GOOD(hipStreamQuery(b));
    GOOD(hipEventSynchronize(stop));
    GOOD(hipEventQuery(stop));
    for (size_t i = 0; i < bytes; i++) {
        if (host[i] != host[bytes + i]) {
            CHECK(host[i] == host[bytes + i]);
            break;
        }
    }
    GOOD(hipEventElapsedTime(&whole, start, stop));
    GOOD(hipEventElapsedTime(&part, start, middle));
    CHECK(part >= 0 && whole >= part);
    GOOD(hipEventRecord(untimed, a));
    GOOD(hipEventSynchronize(untimed));
    GIVES(hipErrorInvalidHandle, hipEventElapsedTime(&whole, start, untimed));

    GIVES(hipErrorInvalidHandle, hipStreamSynchronize((hipStream_t)&whole));
    GIVES(hipErrorInvalidHandle, hipEventSynchronize((hipEvent_t)&whole));
    GIVES(hipErrorInvalidValue, hipStreamCreateWithFlags(&b, 77));
    GOOD(hipEventDestroy(start));
    GOOD(hipStreamDestroy(a));
    GOOD(hipDeviceSynchronize());
    return check_end("streams");
}
