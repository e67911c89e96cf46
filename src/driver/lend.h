/* Memory of a device that the host and kernels use by turns, at one address: OpenCL's coarse-grained shared
 * virtual memory. Kernels have it until it is lent to the host; the host has it until it is taken back. */
#ifndef DRIVER_LEND_H
#define DRIVER_LEND_H

#include "driver/result.h"

#include <stdbool.h>
#include <stdint.h>

struct device;
struct stream;

struct lend {
    uint64_t address, bytes; /* of one allocation */
    void *mirror; /* as many bytes of pinned memory: what the link carries goes there, or comes from there */
    bool moves;   /* the bytes pass over the link; else they keep their place in the stream only */
    bool writes;  /* the host may change them */
};

/* Shares no page that moves (paging.policy) with other allocations, which kernels may use meanwhile.
 * memory_free frees it. */
enum result memory_alloc_lendable(struct device *device, uint64_t bytes, uint64_t *address);

/* When the stream gets there, the host sees what kernels wrote, and caches keep nothing that it may change.
 */
enum result stream_lend(struct stream *stream, const struct lend *lend);

/* When the stream gets there, kernels see what the host wrote. */
enum result stream_take_back(struct stream *stream, const struct lend *lend);

#endif
