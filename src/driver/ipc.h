/* Memory and events that other processes open by a handle (cudaIpc...). The processes run without time, or
 * are attached to one machine; a process with a machine of its own can share nothing, as its time is its own.
 *
 * A handle names the process, a file descriptor of it, and a place in that file: the file has the memory of a
 * GPU, and a board at its beginning that tells what is shared of it. Whoever opens a handle maps all of the
 * file, at the same address where the processes are attached. */
#ifndef DRIVER_IPC_H
#define DRIVER_IPC_H

#include "driver/result.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

struct allocation;
struct device;
struct driver;

struct ipc_handle { /* CUDA's size */
    unsigned char bytes[64];
};

/* Of all memory that was allocated together with this byte. Waits for the devices. */
enum result ipc_memory_export(struct driver *driver, uint64_t address, struct ipc_handle *handle);
/* What is open already is open once more, at the same address. Kernels of `device` may touch it. */
enum result ipc_memory_open(struct device *device, const struct ipc_handle *handle, uint64_t *address);
/* The same for memory of any node, which only kernels touch. */
enum result ipc_memory_open_far(struct device *device, const struct ipc_handle *handle, uint64_t *address);
/* Memory of a pool, by its number among the shared ones of a process. */
enum result ipc_pool_export(struct driver *driver, uint64_t address, struct ipc_handle *handle);
enum result ipc_pool_open(struct device *device, uint32_t process, uint32_t pool,
                          const struct ipc_handle *handle, uint64_t *address);
bool ipc_can_share(struct driver *driver);                             /* if not, it says so */
enum result ipc_memory_close(struct driver *driver, uint64_t address); /* waits for the devices */

/* ---- events; stream.h has the calls ---- */

enum { IPC_EVENT_RECORDS = 29 /* of an event that may be under way at a time */ };

/* What processes share of an event. Records are numbered in the order they were submitted, by whomever. */
struct ipc_event {
    _Atomic uint64_t used;    /* 0: free */
    _Atomic uint64_t first;   /* records up to this one were of another event */
    _Atomic uint64_t records; /* submitted so far */
    _Atomic uint64_t done[IPC_EVENT_RECORDS];
};

struct ipc_event *ipc_event_new(struct device *device); /* NULL: nothing can be shared, or no more */
void ipc_event_free(struct ipc_event *event);
void ipc_event_end(struct ipc_event *event, uint64_t record); /* it is done */
bool ipc_event_is_done(const struct ipc_event *event, uint64_t record);
enum result ipc_event_lend(struct device *device, const struct ipc_event *event, struct ipc_handle *handle);
enum result ipc_event_borrow(struct driver *driver, const struct ipc_handle *handle,
                             struct ipc_event **event);

/* ---- for memory.c and driver.c ---- */

void ipc_memory_leave(struct driver *driver, struct allocation *allocation); /* it goes, lent or opened */
void ipc_fini(struct driver *driver);

#endif
