/* The L1 data cache and its requests in flight; for this room only. Addresses here are virtual, as kernels
 * use them; tags and messages have physical addresses, packed (base/address.h). */
#ifndef CORE_L1_H
#define CORE_L1_H

#include "core/parts.h"

/* Local memory lies beyond all addresses of global memory: a part for each SM, in which warps' own pieces lie
 * side by side. Only tags of it are kept and only its time travels: what it holds nobody else can see. */
#define LOCAL_MEMORY (UINT64_C(1) << 44)
enum { LOCAL_SM_SHIFT = 32, LOCAL_PIECE = 64 * MEM_LINE };

static inline bool is_local(uint64_t physical_line)
{
    return physical_offset(physical_unpack(physical_line)) >= LOCAL_MEMORY;
}

struct load *load_take(struct sm *sm);

/* One of the lines a load waits for is there from this cycle on; with the last one its registers are. */
void load_line_done(struct sm *sm, struct load *load, uint64_t cycle);

/* A line that a load wants sectors of; its tag is looked up in this cycle. */
void l1_load(struct sm *sm, struct load *load, uint64_t line, uint8_t sectors, uint64_t cycle);
/* The same of local memory; these lines are physical ones. */
void l1_load_local(struct sm *sm, struct load *load, uint64_t line, uint8_t sectors, uint64_t cycle);
void l1_store_local(struct sm *sm, struct sm_counters *counters, uint64_t line, uint8_t sectors,
                    uint64_t cycle);

void l1_store(struct sm *sm, struct sm_warp *w, uint64_t line, const unsigned char data[MEM_LINE],
              const uint32_t masks[MEM_SECTORS], uint64_t cycle);
void l1_atomic(struct sm *sm, struct sm_warp *w, struct load *load, const struct request *request,
               uint64_t line, lane_mask who, uint64_t cycle);

#endif
