/* The L1 data cache and its requests in flight; for this room only. Addresses here are virtual, as kernels
 * use them. A line is known by its tag (mem/space.h), in messages by its physical address. */
#ifndef CORE_L1_H
#define CORE_L1_H

#include "core/parts.h"

/* Local memory lies beyond all addresses of global memory: a part for each SM, in which warps' own pieces lie
 * side by side. Only tags of it are kept and only its time travels: what it holds nobody else can see. */
#define LOCAL_MEMORY (UINT64_C(1) << 44)
enum { LOCAL_SM_SHIFT = 32, LOCAL_PIECE = 8192 };

static inline bool l1_is_local(uint64_t line)
{
    return physical_offset(physical_unpack(line)) >= LOCAL_MEMORY;
}

/* As the rows l1_tags and l1_keeps of spec.h have them. */
enum l1_tags { L1_TAGS_VIRTUAL, L1_TAGS_PHYSICAL };
enum l1_keeps { L1_KEEPS_GLOBAL, L1_KEEPS_LOCAL };

/* A reply names what it is for: a miss of the L1 or of the constant caches, a load that goes around them, a
 * warp's write, or a write that nobody waits for. Between that and its number is a serial number, which tells
 * requests apart that are for the same: for listeners (core/tell.c). */
enum reply_to {
    TO_MISS = 0,
    TO_LOAD = UINT32_C(1) << 29,
    TO_BLOCK = UINT32_C(2) << 29,
    TO_NOBODY = UINT32_C(3) << 29,
    TO_CONSTANT = UINT32_C(4) << 29,
    TO_STORE = UINT32_C(5) << 29, /* a write that is counted: its load */
    TO_KIND = UINT32_C(7) << 29,
    TO_SERIAL = UINT32_C(1) << 18,
    TO_MASK = TO_SERIAL - 1
};

static inline uint32_t l1_serial(struct sm *sm)
{
    return sm->request_serial++ * TO_SERIAL & ~(uint32_t)(TO_KIND | TO_MASK);
}

/* Where in a line of memory a line of L1 begins: the sectors before it. */
static inline uint32_t l1_sectors_before(const struct sm *sm, uint64_t line)
{
    return (uint32_t)(line & (sm->memory_line - 1)) / MEM_SECTOR;
}

/* Asks memory for sectors of a line of L1. */
void l1_ask(struct sm *sm, struct sm_counters *counters, uint64_t line, uint8_t sectors, uint32_t id,
            uint64_t cycle);

struct load *load_take(struct sm *sm);

/* An asynchronous copy that no barrier counts, but a group of the warp. */
static inline bool load_is_of_group(const struct load *load)
{
    return load->of.is_async && !load->of.barrier && !load->of.targets;
}

/* What sectors of a line bring to a load. */
void load_deliver(struct sm *sm, const struct load *load, uint64_t line, uint32_t sectors,
                  const unsigned char *data);

/* A miss is over: all loads that wait for it have what they wanted of it, from this cycle on. */
void loads_end_miss(struct sm *sm, struct cache *cache, uint32_t entry, uint64_t ready);

/* Marks bytes of a line: a bit for each, a word for each sector. */
static inline void l1_mark_bytes(uint32_t masks[], uint32_t from, uint32_t bytes)
{
    for (uint32_t count; bytes; from += count, bytes -= count) {
        count = (uint32_t)min_u64(32 - from % 32, bytes);
        masks[from / 32] |= UINT32_MAX >> (32 - count) << from % 32;
    }
}

/* One of the lines a load waits for is there from this cycle on; with the last one its registers are. */
void load_line_done(struct sm *sm, struct load *load, uint64_t cycle);
void load_keep_pieces(struct load *load, const struct request *request);
/* Those that may have bytes of a line; up to *end. */
const struct piece *load_pieces_near(const struct load *load, uint64_t line, const struct piece **end);

/* A line that a load wants sectors of; its tag is looked up in this cycle. */
void l1_load(struct sm *sm, struct load *load, uint64_t line, uint8_t sectors, uint64_t cycle);
/* The same, past the cache. */
void l1_load_around(struct sm *sm, struct load *load, uint64_t line, uint8_t sectors, uint64_t cycle);
/* The same of local memory; these are tags. */
void l1_load_local(struct sm *sm, struct load *load, uint64_t line, uint8_t sectors, uint64_t cycle);
void l1_store_local(struct sm *sm, struct sm_counters *counters, uint64_t line, uint8_t sectors,
                    uint64_t cycle);

/* Constants (constant.c): lines of a load are looked up in this cycle. Gives how much later the slowest comes
 * of those that some cache has; for the others the load waits. */
uint32_t constant_load(struct sm *sm, struct load *load, uint64_t cycle);
void constant_came(struct sm *sm, const struct memsys_reply *reply, const unsigned char *data);
/* Sectors of a line of memory that another SM fetched, in their places in `line`. */
void constant_place(struct sm *sm, uint64_t from, uint32_t sectors, const unsigned char *line);

/* With the load of a store that is counted, or NULL. */
void l1_store(struct sm *sm, struct sm_warp *w, struct load *counted, uint64_t line,
              const unsigned char data[MEM_LINE_MOST], const uint32_t masks[MEM_SECTORS_MOST],
              uint64_t cycle);
/* What a bulk copy combines with elements of so many bytes in a line: an atomic operation, by its row. */
void l1_reduce(struct sm *sm, struct sm_warp *w, const struct delivery *of, uint64_t line,
               const unsigned char data[MEM_LINE_MOST], const uint32_t masks[MEM_SECTORS_MOST],
               uint64_t cycle);
void l1_atomic(struct sm *sm, struct sm_warp *w, struct load *load, const struct request *request,
               uint64_t line, lane_mask who, uint64_t cycle);

#endif
