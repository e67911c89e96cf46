/* Translation of addresses, as far as it takes time. Each SM has a few pages' entries at hand (struct tlb)
 * and asks the GPU's own for others (walk.c), which has more of them, and walks through tables for the rest.
 * A description may leave out either's entries.
 *
 *   if (!tlb_has(tlb, page))
 *       send a struct translation to the plug memsys_translator; when it comes back: tlb_add(tlb, page);
 *
 * What a page is mapped to is the driver's business. On an H200 no step of latency is seen up to 32 GiB
 * (shared/h200), so the defaults are without all this. */
#ifndef MEM_TLB_H
#define MEM_TLB_H

#include "cache/tags.h"

/* What an SM asks, and the answer. */
struct translation {
    uint64_t page; /* the tag of an address (mem/space.h), divided by the size of an SM's page */
};

/* A shootdown: a page has left the GPU, and who has its entries drops them and says so (mem/pager.h). */
struct shootdown {
    uint64_t at; /* the page's first byte, as a physical address */
    uint32_t shift, id;
};

enum translation_kind { TRANSLATION_WANTED, TRANSLATION_SHOT, TRANSLATION_DROPPED };

/* As the row walks_at has them. */
enum tlb_walks { TLB_WALKS_AT_GPU, TLB_WALKS_AT_HOST };

struct tlb {
    struct tags *entries;
    uint64_t last_page; /* asked for, plus one: most ask for the same again */
};

void tlb_init(struct tlb *tlb, uint64_t entries, uint64_t ways);
void tlb_fini(struct tlb *tlb);

struct archive;
void tlb_archive(struct tlb *tlb, struct archive *archive);

uint32_t tlb_look(struct tlb *tlb, uint64_t page); /* its slot, or TAGS_NONE */
uint32_t tlb_add(struct tlb *tlb, uint64_t page);

/* Entries of pages of this size that overlap what is shot down. */
void tlb_drop(struct tlb *tlb, uint64_t page_bytes, const struct shootdown *shot);

static inline bool tlb_has(struct tlb *tlb, uint64_t page)
{
    return page + 1 == tlb->last_page || tlb_look(tlb, page) != TAGS_NONE;
}

#endif
