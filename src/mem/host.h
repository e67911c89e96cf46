/* The host's own memory: one home, on its own island, with a port for each GPU's link to it. It is not cached
 * in any L2, because the host accesses it without notice.
 *
 * Copies from and to the host may use memory of the program that is not part of this home. For this, each
 * GPU's copies have a window on it, one for each direction: a range of physical addresses. */
#ifndef MEM_HOST_H
#define MEM_HOST_H

#include "mem/mem.h"

struct host_memory;

/* For so many GPUs, with the links to them still to come (mem_new plugs them in). */
struct host_memory *host_memory_new(struct engine *engine, uint32_t gpus, mem_atomic_fn *atomic);
void host_memory_listen(struct host_memory *host, const struct probe *probe); /* who is told of requests */
void host_memory_free(struct host_memory *host);                              /* after the engine */
struct port *host_memory_port(const struct host_memory *host, uint32_t gpu);

/* How many GPUs there are; and the memory of one, when that is made, with its link. */
uint32_t host_memory_gpus(const struct host_memory *host);
void host_memory_attach(struct host_memory *host, uint32_t gpu, const struct mem *mem, uint64_t latency_ps);

/* Where it is. Between runs. */
void host_memory_set(struct host_memory *host, const struct home_range *ranges, uint32_t count);

/* From now on it is noted what requests write; and what they wrote since the last call: `tell` is called for
 * each piece, in the order of addresses. Between runs. */
void host_memory_note_writes(struct host_memory *host);
void host_memory_writes(struct host_memory *host, void (*tell)(void *user, const char *at, uint32_t bytes),
                        void *user);

/* Between runs: what a GPU's copies from the host (or to it) see is this memory of the program. Gives the
 * physical address of its first byte, which lies in a line as `phase` does, so that lines there and on the
 * GPU are the same bytes. */
#define HOST_WINDOW_MOST (UINT64_C(1) << 40) /* bytes, less a line */
struct physical_address host_memory_window(struct host_memory *host, uint32_t gpu, bool is_to_host, char *at,
                                           uint64_t phase);

/* Between runs: a copy from the host begins at this time. The host sends lines over the link, straight to the
 * slices that they are at home at, as fast as the link takes them. Nothing acknowledges them: a slice takes
 * them at once, so it is known when the last one is there. */
void host_memory_push(struct host_memory *host, uint32_t gpu, const struct copy_order *order, uint64_t time);
bool host_memory_has_pushed(const struct host_memory *host, uint32_t gpu, uint64_t now); /* all is there */

/* Between runs: pieces of a copy that came from the GPU; and another copy begins. */
uint64_t host_memory_received(const struct host_memory *host, uint32_t gpu);
void host_memory_receive(struct host_memory *host, uint32_t gpu);

#endif
