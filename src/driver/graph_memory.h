/* Memory that graphs allocate: cudaGraphAddMemAllocNode, and cudaMallocAsync while a stream is captured.
 *
 * Its address is chosen when the node is made, and stays for as long as a graph names it. It is memory only
 * from where a launch allocates it until it is freed, by the same graph, another one, or the host. What it
 * takes of the GPU's memory is kept for later launches until it is trimmed. */
#ifndef DRIVER_GRAPH_MEMORY_H
#define DRIVER_GRAPH_MEMORY_H

#include "driver/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct device;
struct driver;
struct recording;
struct stream;

struct graph_memory_request {
    struct device *device;
    uint64_t bytes;
    uint64_t peers; /* a bit per other device whose kernels may touch it */
    uint64_t again; /* the address of such memory that is free by then; 0: of none */
};

/* The stream records: what is submitted to it becomes a part of a graph. */
enum result graph_memory_alloc(struct stream *stream, const struct graph_memory_request *request,
                               uint64_t *address);
enum result graph_memory_free(struct stream *stream, uint64_t address);
bool graph_memory_find(struct driver *driver, uint64_t address, struct graph_memory_request *made);
bool graph_memory_is_used(const struct recording *recording); /* it allocates or frees some */

struct graph_memory_facts {
    uint64_t used;                     /* of the GPU's memory, bytes, */
    uint64_t used_high, reserved_high; /* and most of it since the one or the other began anew */
};
void graph_memory_facts(struct device *device, struct graph_memory_facts *facts);
void graph_memory_reset_high(struct device *device, bool reserved);
void graph_memory_trim(struct device *device); /* what no graph uses goes back */

/* ---- for this room ---- */

struct graph_memory;

/* Recordings that are launched as one graph, before their commands are submitted: INVALID_VALUE where memory
 * is there that they would allocate (unless it is freed before: auto_free), or not there that they free. */
enum result graph_memory_launch(struct recording *const *recordings, size_t count, struct stream *stream,
                                bool auto_free);

/* And once they are: what the stream has now is the last that uses the memory. */
void graph_memory_submitted(struct stream *stream);

/* With the memory's lock held: whether the host may use it; whether kernels may just now, and those of this
 * other device, too. */
bool graph_memory_is_there(const struct graph_memory *memory);
bool graph_memory_is_awake(const struct graph_memory *memory);
bool graph_memory_lets(const struct graph_memory *memory, const struct device *device);

/* Likewise: the host frees it, at once (false: it is not there), or by a command that is to be submitted to
 * the stream (NULL: likewise). */
bool graph_memory_give(struct graph_memory *memory);
struct command *graph_memory_leaving(struct graph_memory *memory, struct stream *stream);
void graph_memory_fini(struct device *device);

#endif
