/* The host's own memory: one home, on an island of its own, with a port for each GPU's link to it. It is not
 * kept in any L2: the host reads and writes it without telling. */
#ifndef MEM_HOST_H
#define MEM_HOST_H

#include "mem/mem.h"

struct host_memory;

/* For so many GPUs, with the links to them still to come (mem_new plugs them in). */
struct host_memory *host_memory_new(struct engine *engine, uint32_t gpus, mem_atomic_fn *atomic);
void host_memory_listen(struct host_memory *host, const struct probe *probe); /* who is told of requests */
void host_memory_free(struct host_memory *host);                              /* after the engine */
struct port *host_memory_port(const struct host_memory *host, uint32_t gpu);

/* Where it is. Between runs. */
void host_memory_set(struct host_memory *host, const struct home_range *ranges, uint32_t count);

/* From now on it is noted what requests write; and what they wrote since the last call: `tell` is called for
 * each piece, in the order of addresses. Between runs. */
void host_memory_note_writes(struct host_memory *host);
void host_memory_writes(struct host_memory *host, void (*tell)(void *user, const char *at, uint32_t bytes),
                        void *user);

#endif
