/* Translation of addresses, as far as it takes time: two levels of entries, then a walk through tables. Pure
 * and of one SM: it asks before it sends a request, and waits as long as it is told.
 *
 *   request_time = now + tlb_cycles(tlb, address);
 *
 * What a page is mapped to is the driver's business. On an H200 no step of latency is seen up to 32 GiB
 * (shared/h200), so the defaults hold as much. */
#ifndef MEM_TLB_H
#define MEM_TLB_H

#include "base/param.h"
#include "cache/tags.h"

#define TLB_PARAMS(P, S)                                                                                     \
    P(S, size, page, "2MiB", "4KiB..16GiB", "that an entry is for")                                          \
    P(S, count, l1_entries, "16384", "1..1048576", "of an SM")                                               \
    P(S, count, l1_ways, "16", "1..64", "of them in a set")                                                  \
    P(S, count, l2_entries, "65536", "1..16777216", "behind them, as one SM sees it")                        \
    P(S, count, l2_ways, "16", "1..64", "of them in a set")                                                  \
    P(S, count, l2_cycles, "80", "0..100000", "until they answer")                                           \
    P(S, count, walk_cycles, "500", "0..1000000", "of a walk through the tables")

struct tlb_spec {
    TLB_PARAMS(PARAM_FIELD, tlb_spec)
};
extern const struct param_group tlb_params;

struct tlb {
    struct tlb_spec spec;
    struct tags *l1, *l2;
    uint64_t last_page; /* asked for, plus one: most ask for the same again */
    uint64_t misses, walks;
};

void tlb_init(struct tlb *tlb, const struct tlb_spec *spec);
void tlb_fini(struct tlb *tlb);
void tlb_forget(struct tlb *tlb); /* mappings have changed */

uint64_t tlb_find(struct tlb *tlb, uint64_t page);

/* What the translation of this address adds; the entry is there from then on. */
static inline uint64_t tlb_cycles(struct tlb *tlb, uint64_t address)
{
    uint64_t page = address / tlb->spec.page;
    return page + 1 == tlb->last_page ? 0 : tlb_find(tlb, page);
}

#endif
