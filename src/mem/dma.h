/* The DMA engine of a GPU: a component that copies in simulated time, concurrently with kernels. It reads
 * lines of its GPU's memory over the crossbar and writes them to the same memory, to the host over its link,
 * or to another GPU over the fabric. (The host sends copies from the host: mem/hostmem.h.)
 *
 * It has a channel for each direction; each channel does one copy at a time. Reads and writes bypass caches
 * (mem/around.c). A line in flight has an entry here until it is written. */
#ifndef MEM_DMA_H
#define MEM_DMA_H

#include "engine/engine.h"
#include "mem/copy.h"

struct dma;
struct memsys;

enum dma_port { DMA_REQUESTS, DMA_REPLIES, DMA_HOST };

/* Channels: in the GPU's own memory, to the host (which passes on what is for other GPUs), and to each GPU.
 */
enum { DMA_ON_DEVICE, DMA_TO_HOST, DMA_TO_PEER };

/* The last client of the crossbar. */
struct dma *dma_new(struct engine *engine, const char *path, const struct memsys *mem, uint32_t gpus);
void dma_free(struct dma *dma); /* after the engine */
struct component *dma_component(const struct dma *dma);
struct port *dma_port(const struct dma *dma, enum dma_port port);

/* Between runs: begins a copy at this time, on a channel that is done with the last one. */
void dma_begin(struct dma *dma, uint32_t channel, const struct copy_order *order, uint64_t time);

/* All has been read and written, as far as it is known here: a write to the host is not acknowledged. */
bool dma_is_done(const struct dma *dma, uint32_t channel);
uint64_t dma_pieces(const struct dma *dma, uint32_t channel); /* of this copy, that were sent */

#endif
