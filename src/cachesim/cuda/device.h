/* A CUDA GPU, through its driver's library: found at run time, so that Heddle is built, and runs, without. */
#ifndef CACHESIM_CUDA_DEVICE_H
#define CACHESIM_CUDA_DEVICE_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef void *device_handle; /* of the driver: stream, event, function */

struct device;

/* The first GPU, with this PTX; NULL where there is none: err says why. */
struct device *device_open(const char *ptx, struct err *err);
void device_close(struct device *device); /* with all that was made on it */

const char *device_name(const struct device *device);
uint64_t device_memory(const struct device *device);       /* bytes that are free */
uint32_t device_block_shared(const struct device *device); /* bytes that a block may have */
uint32_t device_sm_shared(const struct device *device);
uint32_t device_sms(const struct device *device);

/* Those below keep the first failure, do nothing after one, and device_good tells it. */
bool device_good(struct device *device, struct err *err);

uint64_t device_alloc(struct device *device, size_t bytes); /* zeroed */
void device_free(struct device *device, uint64_t address);
void *device_alloc_host(struct device *device, size_t bytes); /* which transfers overlap with */
void device_free_host(struct device *device, void *memory);

device_handle device_stream(struct device *device);
device_handle device_event(struct device *device);
device_handle device_function(struct device *device, const char *name, uint32_t shared_most);

void device_to(struct device *device, uint64_t to, const void *from, size_t bytes, device_handle stream);
void device_from(struct device *device, void *to, uint64_t from, size_t bytes); /* waits */
void device_launch(struct device *device, device_handle function, uint32_t blocks, uint32_t blocks_y,
                   uint32_t threads, uint32_t threads_y, uint32_t shared_bytes, void *work,
                   device_handle stream);
void device_record(struct device *device, device_handle event, device_handle stream);
void device_wait_event(struct device *device, device_handle stream, device_handle event); /* a stream does */
void device_sync_event(struct device *device, device_handle event);                       /* the host does */
void device_sync(struct device *device);
double device_seconds(struct device *device, device_handle from, device_handle to); /* both have happened */

#endif
