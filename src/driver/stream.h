/* Streams, events, and what can be submitted to a stream. The work of a stream is done in order, by threads
 * of the driver or by the thread that waits for it. Work of different streams runs concurrently, as far as
 * events and the default stream allow.
 *
 * The default stream is CUDA's legacy one: its work waits for all work submitted before to blocking streams
 * of the device, and their work waits for its work. A stream with the flag STREAM_NON_BLOCKING is independent
 * of it; per-thread default streams are blocking.
 *
 * Every submission returns the sticky error if the device has one. */
#ifndef DRIVER_STREAM_H
#define DRIVER_STREAM_H

#include "driver/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct array;
struct device;
struct driver;
struct function;
struct stream;
struct stream_event;

enum { STREAM_NON_BLOCKING = 1 }; /* CUDA's bit */

struct stream *device_default_stream(struct device *device);
struct stream *device_thread_stream(struct device *device); /* the calling thread's */

enum result stream_new(struct device *device, unsigned flags, int priority, struct stream **stream);
enum result stream_free(struct stream *stream); /* at once; work that it has is still done */
/* In simulated time its kernels run on these SMs alone (green contexts). */
void stream_limit(struct stream *stream, uint32_t first_sm, uint32_t sm_count);
struct device *stream_device(const struct stream *stream);
unsigned stream_flags(const struct stream *stream);
int stream_priority(const struct stream *stream);
uint64_t stream_id(const struct stream *stream); /* 0: the default stream */

enum result stream_query(struct stream *stream); /* SUCCESS, NOT_READY or an error */
enum result stream_synchronize(struct stream *stream);

/* ---- events ---- */

enum { EVENT_BLOCKING_SYNC = 1, EVENT_NO_TIMING = 2, EVENT_INTERPROCESS = 4 }; /* CUDA's bits */

enum result event_new(struct device *device, unsigned flags, struct stream_event **event);
unsigned event_flags(const struct stream_event *event);
enum result event_free(struct stream_event *event); /* at once; a record that is under way still ends */
enum result event_record(struct stream_event *event, struct stream *stream);
/* Of the kernel before it: it is done when that has ended, but kernels in streams that wait for it may begin
 * before, in simulated time. */
enum launch_wait {
    WAIT_FOR_END,
    WAIT_FOR_TRIGGER,    /* when its blocks have triggered or ended; griddepcontrol.wait waits for its end */
    WAIT_FOR_START,      /* when its blocks have begun; likewise */
    WAIT_FOR_START_APART /* and it does not */
};
enum result event_record_launch(struct stream_event *event, struct stream *stream, enum launch_wait how);
/* The same as a part of another call: it takes the host no time of its own. Not while the stream records. */
enum result event_note(struct stream_event *event, struct stream *stream);
/* Notes when the next command of the stream starts, without the time that its call takes the host. One must
 * follow. */
enum result event_note_start(struct stream_event *event, struct stream *stream);
/* In a stream that is captured: a node that records it at each launch; else ILLEGAL_STATE. */
enum result event_record_external(struct stream_event *event, struct stream *stream);
enum result event_query(struct stream_event *event); /* an event never recorded is done */
enum result event_synchronize(struct stream_event *event);
/* NOT_READY while one is under way; INVALID_HANDLE when one was not recorded, or keeps no time. */
enum result event_elapsed(struct stream_event *from, struct stream_event *to, float *milliseconds);
enum result stream_wait_event(struct stream *stream, struct stream_event *event);
enum result stream_wait_event_external(struct stream *stream, struct stream_event *event); /* likewise */
/* When it was last done, on driver_clock_ps; NOT_READY and INVALID_HANDLE as above. */
enum result event_time_ps(struct stream_event *event, uint64_t *time_ps);

/* Events that processes share (ipc.h): made with EVENT_INTERPROCESS. */
struct ipc_handle;
enum result event_export(struct stream_event *event, struct ipc_handle *handle);
enum result event_open(struct device *device, const struct ipc_handle *handle, struct stream_event **event);

/* ---- copies and fills ---- */

/* One side of a copy. An array, or an address whose kind is found by itself: device memory, pinned and
 * pageable host memory all are just addresses. */
struct copy_side {
    struct array *array; /* or NULL and: */
    uint64_t address;
    uint64_t pitch, rows;   /* bytes from row to row, rows from slice to slice; 0: tight */
    uint64_t x_bytes, y, z; /* where it begins */
    bool must_be_device;    /* INVALID_VALUE when it is no memory of a device or pinned (cudaMemcpyKind) */
    bool is_lent;           /* of a device, and the host has it now: lend.h */
};
struct copy {
    struct copy_side from, to;
    uint64_t width_bytes, height, depth; /* height and depth at least 1 where anything is copied */
};

/* wait: as cudaMemcpy does it: the host waits, unless both sides are of devices. Without it, as
 * cudaMemcpyAsync: from pageable memory, the source was read when this returns; to pageable memory, it waits;
 * else not. */
enum result stream_copy(struct stream *stream, const struct copy *copy, bool wait);
/* Without a wait whatever the memory is: the program leaves both sides alone until the copy is done (OpenCL).
 */
enum result stream_copy_later(struct stream *stream, const struct copy *copy);
/* The plain case of stream_copy. */
enum result stream_copy_bytes(struct stream *stream, uint64_t to, uint64_t from, uint64_t bytes, bool wait);

/* Rows of `width` elements of element_bytes (1, 2 or 4) are set to value. wait: only for memory of the host,
 * as cudaMemset. */
struct fill {
    struct copy_side to; /* of an address */
    uint32_t value, element_bytes;
    uint64_t width, height, depth; /* width in elements */
};
enum result stream_fill(struct stream *stream, const struct fill *fill, bool wait);

/* ---- kernels, host functions, values ---- */

struct launch_config {
    uint32_t grid[3], block[3];
    uint32_t dimensions;   /* that the program gave; 0: all three */
    uint32_t shared_bytes; /* dynamic */
    bool cooperative;
    bool programmatic;       /* it may begin before the kernel before it in the stream has ended */
    uint32_t cluster[3];     /* 0: none */
    struct updates *updates; /* of a graph's node that kernels may change; or NULL */
};

/* arguments[i] points to the value of parameter i. Checked and copied before this returns; kernels run later.
 */
enum result stream_launch(struct stream *stream, struct function *function,
                          const struct launch_config *config, void *const *arguments);
/* The same with all parameters in one buffer, laid out as the kernel's are (CU_LAUNCH_PARAM_BUFFER_POINTER).
 */
enum result stream_launch_packed(struct stream *stream, struct function *function,
                                 const struct launch_config *config, const void *arguments, size_t bytes);

/* Called when the stream gets there, with what the device's error is then. on_error: also called when it has
 * one (cudaStreamAddCallback; cudaLaunchHostFunc's is not). */
typedef void stream_host_fn(void *user, enum result result);
enum result stream_host(struct stream *stream, stream_host_fn *function, void *user, bool on_error);

enum stream_compare { STREAM_GEQ, STREAM_EQ, STREAM_AND, STREAM_NOR }; /* CUDA's numbers */
enum result stream_wait_value(struct stream *stream, uint64_t address, uint64_t value, unsigned bytes,
                              enum stream_compare compare); /* bytes 4 or 8 */
enum result stream_write_value(struct stream *stream, uint64_t address, uint64_t value, unsigned bytes);

#endif
