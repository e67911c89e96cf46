/* A program without nvcc that passes handles of no stream and no event: numbers, memory of its own, freed
 * memory. NVIDIA's libraries crash for most of these; here every call returns "invalid resource handle". */
#include "check.h"

/* What is needed of cuda.h and cuda_runtime_api.h. */
int cuInit(unsigned flags), cudaFree(void *pointer);
int cudaEventCreate(void **event), cudaEventDestroy(void *event), cudaEventQuery(void *event),
    cudaEventRecord(void *event, void *stream), cudaEventSynchronize(void *event),
    cudaEventElapsedTime(float *ms, void *from, void *to);
int cudaStreamCreate(void **stream), cudaStreamDestroy(void *stream), cudaStreamQuery(void *stream),
    cudaStreamSynchronize(void *stream), cudaStreamWaitEvent(void *stream, void *event, unsigned flags);
int cudaMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *stream);
int cuEventDestroy_v2(void *event), cuEventQuery(void *event), cuEventRecord(void *event, void *stream),
    cuEventSynchronize(void *event), cuEventElapsedTime(float *ms, void *from, void *to);
int cuStreamDestroy_v2(void *stream), cuStreamQuery(void *stream), cuStreamSynchronize(void *stream),
    cuStreamWaitEvent(void *stream, void *event, unsigned flags);

enum { INVALID_HANDLE = 400 };

static void refused(void *wild, void *event, void *stream)
{
    float ms;
    int from = 0, to = 0;
    GIVES(INVALID_HANDLE, cudaEventRecord(wild, NULL));
    GIVES(INVALID_HANDLE, cudaEventRecord(event, wild));
    GIVES(INVALID_HANDLE, cudaEventSynchronize(wild));
    GIVES(INVALID_HANDLE, cudaEventQuery(wild));
    GIVES(INVALID_HANDLE, cudaEventDestroy(wild));
    GIVES(INVALID_HANDLE, cudaEventElapsedTime(&ms, event, wild));
    GIVES(INVALID_HANDLE, cudaStreamSynchronize(wild));
    GIVES(INVALID_HANDLE, cudaStreamQuery(wild));
    GIVES(INVALID_HANDLE, cudaStreamDestroy(wild));
    GIVES(INVALID_HANDLE, cudaStreamWaitEvent(stream, wild, 0));
    GIVES(INVALID_HANDLE, cudaStreamWaitEvent(wild, event, 0));
    GIVES(INVALID_HANDLE, cudaMemcpyAsync(&to, &from, sizeof to, 4, wild));
    GIVES(INVALID_HANDLE, cuEventRecord(wild, NULL));
    GIVES(INVALID_HANDLE, cuEventSynchronize(wild));
    GIVES(INVALID_HANDLE, cuEventQuery(wild));
    GIVES(INVALID_HANDLE, cuEventDestroy_v2(wild));
    GIVES(INVALID_HANDLE, cuEventElapsedTime(&ms, wild, event));
    GIVES(INVALID_HANDLE, cuStreamSynchronize(wild));
    GIVES(INVALID_HANDLE, cuStreamQuery(wild));
    GIVES(INVALID_HANDLE, cuStreamDestroy_v2(wild));
    GIVES(INVALID_HANDLE, cuStreamWaitEvent(stream, wild, 0));
}

int main(void)
{
    static char page[4096];
    enum { MANY = 1000 }; /* handles that are known stay so */
    void *event, *stream, *events[MANY];
    GOOD(cuInit(0));
    GOOD(cudaFree(NULL));
    GOOD(cudaEventCreate(&event));
    GOOD(cudaStreamCreate(&stream));
    for (int i = 0; i < MANY; i++)
        GOOD(cudaEventCreate(&events[i]));
    refused((void *)0x1234, event, stream);
    refused((void *)(size_t)-8, event, stream);
    refused(page, event, stream);
    refused((char *)event + 8, event, stream);
    GIVES(INVALID_HANDLE, cudaEventQuery(stream)); /* of the other kind */
    GIVES(INVALID_HANDLE, cudaStreamQuery(event));
    for (int i = 0; i < MANY; i++) {
        GOOD(cudaEventRecord(events[i], stream));
        GOOD(cudaEventSynchronize(events[i]));
        GOOD(cudaEventDestroy(events[i]));
    }
    GIVES(INVALID_HANDLE, cudaEventRecord(events[0], stream));
    GOOD(cudaEventDestroy(event));
    GOOD(cudaStreamDestroy(stream));
    return check_end("handles");
}
