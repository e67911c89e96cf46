/* The memory of a GPU: L2 slices with the memory behind them, on their own islands, and the crossbar that
 * connects SMs to them. The parameters are in mem/spec.h.
 *
 *   struct memsys *mem = memsys_new(engine, "gpu[0]", &config, err);
 *   memsys_attach(mem, 0, requests_port_of_sm_0, replies_port_of_sm_0, err);   ... each SM, the copy engine
 *   memsys_ready(mem, err);
 *
 * Then a component asks memsys_target where to send requests for an address, and sends them there. */
#ifndef MEM_MEMSYS_H
#define MEM_MEMSYS_H

#include "base/address.h"
#include "base/probe.h"
#include "engine/engine.h"
#include "mem/copy.h"
#include "mem/home.h"
#include "mem/message.h"
#include "mem/spec.h"
#include "mem/tlb.h"

struct memsys;

/* Does an atomic operation on memory: changes the bytes at `at` and returns what they were. `operation` is
 * what the sender of the request put there. */
typedef uint64_t memsys_atomic_fn(uint8_t operation, void *at, uint64_t operand, uint64_t compare);

/* The same of 16 bytes, as halves. May be NULL where nobody asks for it. */
typedef void memsys_atomic_wide_fn(uint8_t operation, void *at, const uint64_t operand[2],
                                   const uint64_t compare[2], uint64_t old[2]);

/* Of one in a message, where its atoms are at `payload`. */
void memsys_atomic_wide(memsys_atomic_wide_fn *perform, uint8_t operation, void *at,
                        const unsigned char *payload, struct memsys_old olds[2]);

struct hostmem; /* mem/hostmem.h */

/* Ranks that a home's islands are on: slices and SMs on all of them, the rest on the first. Behind the last
 * of the ring, `begin` comes next. 0 of them: rank 0 has all. */
struct memsys_ranks {
    uint32_t first, count;
    uint32_t begin, end; /* of the ring */
    const uint32_t *sms,
        *memory; /* by SM and by memory island: which it is on; NULL: they are spread evenly */
};

static inline uint32_t memsys_rank_of(const struct memsys_ranks *ranks, const uint32_t *known,
                                      uint32_t number, uint32_t of)
{
    uint32_t rank = known ? known[number] : ranks->first + (uint32_t)((uint64_t)number * ranks->count / of);
    return known || rank < ranks->end ? rank : rank - ranks->end + ranks->begin;
}

struct memsys_config {
    uint32_t home;        /* the GPU's number: of its memory in physical addresses */
    struct hostmem *host; /* what lies beyond the link to the host */
    bool has_peers;       /* there are other GPUs, and memsys_attach_fabric will tell the way to them */
    uint32_t host_node;   /* with peers: the host's number in the fabric, if it is there; else NO_HOST */
    const struct l2_spec *l2;
    const struct l3_spec *l3; /* or NULL: there is none */
    const struct dram_spec *dram;
    const struct noc_spec *noc;
    const struct tlb_spec *tlb;       /* or NULL: translation takes no time */
    const struct paging_spec *paging; /* or NULL: pages do not move */
    uint64_t sm_clock;       /* Hz: latencies in the specs that are in cycles are in cycles of this */
    uint32_t clients;        /* SMs, and whatever else asks: how many memsys_attach there will be */
    uint32_t clients_of_sms; /* of these, SMs: they are spread over the partitions of the L2 */
    uint32_t gpcs;           /* that SMs are in, and */
    const uint8_t *gpc_of;   /* by SM: which; from `gpcs` on: in none */
    struct memsys_ranks ranks;
    memsys_atomic_fn *atomic;
    memsys_atomic_wide_fn *atomic_wide;
    const struct probe *probe; /* who is told of requests; NULL: nobody */
};

/* Whether there can be such a memory: the L2, the DRAM and the crossbar alone are looked at. */
bool memsys_check(const struct memsys_config *config, struct err *err);
struct memsys *memsys_new(struct engine *engine, const char *path, const struct memsys_config *config,
                          struct err *err);
void memsys_free(struct memsys *mem); /* after the engine */

/* Client `number` (0..clients-1), in the order of numbers. Requests leave by one port, replies come by the
 * other. */
bool memsys_attach(struct memsys *mem, uint32_t number, struct port *requests, struct port *replies,
                   struct err *err);
/* By which a client asks for translations (mem/tlb.h), where they take time: at plug 0. And how many have
 * entries: it, and clients at the plugs behind. */
bool memsys_attach_translations(struct memsys *mem, struct port *translations, struct err *err);
uint32_t memsys_tlbs(const struct memsys *mem);
/* The network of GPUs (mem/gateway.h), where it is the endpoint of its home's number. */
struct network;
bool memsys_attach_fabric(struct memsys *mem, struct network *fabric, struct err *err);
bool memsys_ready(struct memsys *mem, struct err *err); /* after all clients; before engine_ready */

/* Where on the host the GPU's own memory is. Between runs. */
void memsys_set_ranges(struct memsys *mem, const struct home_range *ranges, uint32_t count);
void memsys_set_managed(struct memsys *mem, const struct home_range *ranges, uint32_t count); /* likewise */

/* The plug on the requests' link that a client sends requests for this line (packed) to. */
uint32_t memsys_target(const struct memsys *mem, uint32_t client, uint64_t line);

/* The same for requests of copies (MEM_AROUND), from any client: they go home at once. And the plug on the
 * link to the host that such a request from there goes to. */
uint32_t memsys_copy_target(const struct memsys *mem, uint64_t line);
uint32_t memsys_push_target(const struct memsys *mem, uint64_t line);

const struct probe *memsys_probe(const struct memsys *mem);
uint32_t memsys_home(const struct memsys *mem); /* the GPU's number */
uint32_t memsys_line_bytes(const struct memsys *mem);

/* Bytes on the crossbar that a message has beside its own. */
uint32_t memsys_overhead_bytes(const struct memsys *mem);

/* Between runs: lines that have come of copies from a host in the fabric. */
uint64_t memsys_pushed(const struct memsys *mem);

/* Between runs: when all that came of copies from the host has been taken. */
uint64_t memsys_pushed_until(const struct memsys *mem);

/* Where there are ranks (ranks/ranks.h), both are what all ranks know: the lines that came here, added up,
 * and the latest time. */
struct memsys_pushes {
    uint64_t lines, until;
};
struct memsys_pushes memsys_pushes_here(const struct memsys *mem);
void memsys_know_pushes(struct memsys *mem, const struct memsys_pushes *all);

/* Which rank has the line at an offset of its memory; and all lines, if one has. */
enum { MEMSYS_SOME_RANKS = UINT32_MAX };
uint32_t memsys_line_rank(const struct memsys *mem, uint64_t offset);
uint32_t memsys_rank(const struct memsys *mem);

/* The DMA engine of this GPU (mem/dma.h). */
struct dma;
struct dma *memsys_dma(const struct memsys *mem);
uint32_t memsys_dma_client(const struct memsys *mem); /* its number among clients */

/* The pager (mem/pager.h): likewise, and its plug on the link to the host. */
uint32_t memsys_pager_client(const struct memsys *mem);
uint32_t memsys_pager_plug(const struct memsys *mem);

/* The plugs on the requests' link of the gateway, and of one slice of each island. */
uint32_t memsys_gateway_target(const struct memsys *mem);
uint32_t memsys_islands(const struct memsys *mem);
uint32_t memsys_island_target(const struct memsys *mem, uint32_t island);

/* Between runs, when no request is under way. Writes back all that is dirty and forgets everything (what
 * ncu's cache control does), or writes back only, so that the host sees it in memory. Takes no time. */
void memsys_flush(struct memsys *mem, bool forget);

/* The same for a range of offsets in the GPU's memory, also while requests for other bytes are under way. All
 * memory: at 0, UINT64_MAX bytes. */
void memsys_sync(struct memsys *mem, uint64_t at, uint64_t bytes, bool forget);

/* Whether lines of other GPUs' memory are kept (mem/peer_cache.h); and, between runs, all are forgotten. */
bool memsys_keeps_peers(const struct memsys *mem);
void memsys_forget_peers(struct memsys *mem);

/* Where on the host the byte at an offset of the GPU's own memory is kept; or NULL. */
const char *memsys_host(const struct memsys *mem, uint64_t offset);

/* Where pages move, between runs: the bytes of a line that this GPU holds, whoever's it is; those of a line
 * of its own; and it holds only its own pages of these physical addresses, as in the beginning. */
void memsys_read_line(struct memsys *mem, uint64_t line, unsigned char *bytes);
uint32_t memsys_held_rank(const struct memsys *mem, uint64_t line); /* that has it */
void memsys_write_line(struct memsys *mem, uint64_t line, const unsigned char *bytes);
void memsys_forget_pages(struct memsys *mem, uint64_t at, uint64_t bytes);
enum page_right memsys_page_right(const struct memsys *mem, uint64_t at); /* the most that an island may */

/* The same of managed memory: dirty lines are written back; and it reaches a page of 1 << shift bytes at the
 * host. */
void memsys_sync_managed(struct memsys *mem);
void memsys_map_page(struct memsys *mem, uint64_t at, uint32_t shift);

/* The L2 forgets lines of managed memory that are not as the host has them, and that it did not change: the
 * host did. Also while kernels run. */
void memsys_refresh_managed(struct memsys *mem);

/* Whether something was written to the 64 KiB of managed memory at this address since the last
 * memsys_forget_writes. */
bool memsys_wrote_managed(const struct memsys *mem, uint64_t at);
void memsys_forget_writes(struct memsys *mem);

/* Where managed memory is apart (mem/apart.h), between runs: calls for each block of it that this GPU has
 * written to since the last time, on this rank; and for each page that memsys_wrote_managed knows of. Of
 * whole lines of the GPU's copy of it, at an offset: which rank has it. */
struct news_masks;
typedef void memsys_news_fn(void *user, uint32_t home, uint64_t offset, const struct news_masks *masks);
void memsys_take_news(struct memsys *mem, memsys_news_fn *call, void *user);
typedef void memsys_written_fn(void *user, uint64_t offset);
void memsys_each_written(const struct memsys *mem, memsys_written_fn *call, void *user);
struct apart;
const struct apart *memsys_apart(const struct memsys *mem); /* or NULL */

/* What a slice of the L2 does now, between windows: whether it gives or takes data, and whether its first
 * request finds no room. `island`: the name of its component. False: there is no slice of this number. */
struct slice_view {
    const char *island;
    bool busy, blocked;
    uint32_t waiting; /* requests that its island keeps */
    uint64_t sectors; /* that its island was asked for so far */
};
bool memsys_look_at_slice(const struct memsys *mem, uint32_t number, struct slice_view *view);

/* Counters over all slices and channels: mem/spec.h names them. */
void memsys_count(const struct memsys *mem, struct memsys_counters *counters);

#endif
