/* Memory that graphs allocate: cudaGraphAddMemAllocNode, and cudaMallocAsync while a stream is captured.
 *
 * Its address is chosen when the node is made, and stays for as long as a graph names it. It is memory only
 * from where a launch allocates it until it is freed, by the same graph, another one, or the host. What it
 * takes of the GPU's memory is kept for later launches until it is trimmed. */
#ifndef DRIVER_MEMORY_GRAPH_H
#define DRIVER_MEMORY_GRAPH_H

#include "driver/result.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct command;
struct device;
struct driver;
struct stream;

struct memory_graph_request {
    struct device *device;
    uint64_t bytes;
    uint64_t peers; /* a bit per other device whose kernels may touch it */
    uint64_t again; /* the address of such memory that is free by then; 0: of none */
};

/* The stream is captured: what is submitted to it becomes a part of a graph. */
enum result memory_graph_alloc(struct stream *stream, const struct memory_graph_request *request,
                               uint64_t *address);
enum result memory_graph_free(struct stream *stream, uint64_t address);
bool memory_graph_find(struct driver *driver, uint64_t address, struct memory_graph_request *made);

struct memory_graph_facts {
    uint64_t used;                     /* of the GPU's memory, bytes, */
    uint64_t used_high, reserved_high; /* and most of it since the one or the other began anew */
};
void memory_graph_facts(struct device *device, struct memory_graph_facts *facts);
void memory_graph_reset_high(struct device *device, bool reserved);
void memory_graph_trim(struct device *device); /* what no graph uses goes back */

/* ---- for this room ---- */

struct memory_graph;

/* Commands that are launched as one graph, before copies of them are submitted: INVALID_VALUE where memory
 * is there that they would allocate (unless it is freed before: auto_free), or not there that they free. */
enum result memory_graph_launch(const struct command *const *commands, size_t count, struct stream *stream,
                                bool auto_free);

/* And once they are: what the stream has now is the last that uses the memory. */
void memory_graph_submitted(struct stream *stream);

/* With the memory's lock held: whether the host may use it; whether kernels may just now, and those of this
 * other device, too. */
bool memory_graph_is_there(const struct memory_graph *memory);
bool memory_graph_is_awake(const struct memory_graph *memory);
bool memory_graph_lets(const struct memory_graph *memory, const struct device *device);

/* Likewise: the host frees it, at once (false: it is not there), or by a command that is to be submitted to
 * the stream (NULL: likewise). */
bool memory_graph_give(struct memory_graph *memory);
struct command *memory_graph_leaving(struct memory_graph *memory, struct stream *stream);
void memory_graph_fini(struct device *device);

#endif
