/* The memory of a GPU: L2 slices with the memory behind them, on their own islands, and the crossbar that
 * connects SMs to them. The parameters are in mem/spec.h.
 *
 *   struct mem *mem = mem_new(engine, "gpu[0]", &config, err);
 *   mem_attach(mem, 0, requests_port_of_sm_0, replies_port_of_sm_0, err);   ... each SM, the copy engine
 *   mem_ready(mem, err);
 *
 * Then a component asks mem_target where to send requests for an address, and sends them there. */
#ifndef MEM_MEM_H
#define MEM_MEM_H

#include "base/address.h"
#include "base/probe.h"
#include "engine/engine.h"
#include "mem/copy.h"
#include "mem/home.h"
#include "mem/message.h"
#include "mem/spec.h"
#include "mem/tlb.h"

struct mem;

/* Does an atomic operation on memory: changes the bytes at `at` and returns what they were. `operation` is
 * what the sender of the request put there. */
typedef uint64_t mem_atomic_fn(uint8_t operation, void *at, uint64_t operand, uint64_t compare);

struct host_memory; /* mem/host.h */

struct mem_config {
    uint32_t home;            /* the GPU's number: of its memory in physical addresses */
    struct host_memory *host; /* what lies beyond the link to the host */
    bool has_peers;           /* there are other GPUs, and mem_attach_fabric will tell the way to them */
    const struct l2_spec *l2;
    const struct dram_spec *dram;
    const struct noc_spec *noc;
    const struct tlb_spec *tlb; /* or NULL: translation takes no time */
    uint64_t sm_clock;          /* Hz: latencies in the specs that are in cycles are in cycles of this */
    uint32_t clients;           /* SMs, and whatever else asks: how many mem_attach there will be */
    uint32_t clients_of_sms;    /* of these, SMs: they are spread over the partitions of the L2 */
    uint32_t gpcs;              /* that SMs are in, and */
    const uint8_t *gpc_of;      /* by SM: which; from `gpcs` on: in none */
    mem_atomic_fn *atomic;
    const struct probe *probe; /* who is told of requests; NULL: nobody */
};

/* Whether there can be such a memory: the L2, the DRAM and the crossbar alone are looked at. */
bool mem_check(const struct mem_config *config, struct err *err);
struct mem *mem_new(struct engine *engine, const char *path, const struct mem_config *config,
                    struct err *err);
void mem_delete(struct mem *mem); /* after the engine */

/* Client `number` (0..clients-1), in the order of numbers. Requests leave by one port, replies come by the
 * other. */
bool mem_attach(struct mem *mem, uint32_t number, struct port *requests, struct port *replies,
                struct err *err);
/* By which a client asks for translations (mem/tlb.h), where they take time: at plug 0. */
bool mem_attach_translations(struct mem *mem, struct port *translations, struct err *err);
/* The link to other GPUs (mem/gateway.h): in the order of their numbers, as plugs are homes. */
bool mem_attach_fabric(struct mem *mem, struct link *fabric, struct err *err);
bool mem_ready(struct mem *mem, struct err *err); /* after all clients; before engine_ready */

/* Where on the host the GPU's own memory is. Between runs. */
void mem_set_ranges(struct mem *mem, const struct home_range *ranges, uint32_t count);

/* The plug on the requests' link that a client sends requests for this line (packed) to. */
uint32_t mem_target(const struct mem *mem, uint32_t client, uint64_t line);

/* The same for requests of copies (MEM_AROUND), from any client: they go home at once. And the plug on the
 * link to the host that such a request from there goes to. */
uint32_t mem_copy_target(const struct mem *mem, uint64_t line);
uint32_t mem_push_target(const struct mem *mem, uint64_t line);

const struct probe *mem_probe(const struct mem *mem);
uint32_t mem_home(const struct mem *mem); /* the GPU's number */

/* Bytes on the crossbar that a message has beside its own. */
uint32_t mem_overhead_bytes(const struct mem *mem);

/* Between runs: when all that came of copies from the host has been taken. */
uint64_t mem_pushed_until(const struct mem *mem);

/* The DMA engine of this GPU (mem/dma.h). */
struct dma;
struct dma *mem_dma(const struct mem *mem);

/* Between runs, when no request is under way. Writes back all that is dirty and forgets everything (what
 * ncu's cache control does), or writes back only, so that the host sees it in memory. Takes no time. */
void mem_flush(struct mem *mem, bool forget);

/* The same for a range of offsets in the GPU's memory, also while requests for other bytes are under way. All
 * memory: at 0, UINT64_MAX bytes. */
void mem_sync(struct mem *mem, uint64_t at, uint64_t bytes, bool forget);

/* Counters over all slices and channels: mem/spec.h names them. */
void mem_count(const struct mem *mem, struct mem_counters *counters);

#endif
