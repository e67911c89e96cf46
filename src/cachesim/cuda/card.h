/* A CUDA GPU, through its driver's library: found at run time, so that Heddle is built, and runs, without. */
#ifndef CACHESIM_CUDA_CARD_H
#define CACHESIM_CUDA_CARD_H

#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

typedef void *device_handle; /* of the driver: stream, event, function */

struct card;

/* The first GPU, with this PTX; NULL where there is none: err says why. */
struct card *card_open(const char *ptx, struct err *err);
void card_close(struct card *device); /* with all that was made on it */

const char *card_name(const struct card *device);
uint64_t card_memory(const struct card *device);       /* bytes that are free */
uint32_t card_block_shared(const struct card *device); /* bytes that a block may have */
uint32_t card_sm_shared(const struct card *device);
uint32_t card_sms(const struct card *device);

/* Those below keep the first failure, do nothing after one, and card_good tells it. */
bool card_good(struct card *device, struct err *err);

uint64_t card_alloc(struct card *device, size_t bytes); /* zeroed */
void card_free(struct card *device, uint64_t address);
void *card_alloc_host(struct card *device, size_t bytes); /* which transfers overlap with */
void card_free_host(struct card *device, void *memory);

device_handle card_stream(struct card *device);
device_handle card_event(struct card *device);
device_handle card_function(struct card *device, const char *name, uint32_t shared_most);

void card_to(struct card *device, uint64_t to, const void *from, size_t bytes, device_handle stream);
void card_from(struct card *device, void *to, uint64_t from, size_t bytes); /* waits */
void card_launch(struct card *device, device_handle function, uint32_t blocks, uint32_t blocks_y,
                 uint32_t threads, uint32_t threads_y, uint32_t shared_bytes, void *work,
                 device_handle stream);
void card_record(struct card *device, device_handle event, device_handle stream);
void card_wait_event(struct card *device, device_handle stream, device_handle event); /* a stream does */
void card_sync_event(struct card *device, device_handle event);                       /* the host does */
void card_sync(struct card *device);
double card_seconds(struct card *device, device_handle from, device_handle to); /* both have happened */

#endif
