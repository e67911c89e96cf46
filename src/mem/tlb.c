#include "mem/tlb.h"

PARAM_GROUP(tlb_params, "tlb", "translation of addresses", tlb_spec, TLB_PARAMS);

static struct tags *level(uint64_t entries, uint64_t ways)
{
    uint64_t in_set = min_u64(entries, ways);
    return tags_new(
        &(struct tags_spec){.sets = (uint32_t)(entries / in_set), .ways = (uint32_t)in_set, .hashed = true});
}

void tlb_init(struct tlb *tlb, const struct tlb_spec *spec)
{
    *tlb = (struct tlb){.spec = *spec,
                        .l1 = level(spec->l1_entries, spec->l1_ways),
                        .l2 = level(spec->l2_entries, spec->l2_ways)};
}

void tlb_fini(struct tlb *tlb)
{
    tags_free(tlb->l1);
    tags_free(tlb->l2);
}

void tlb_forget(struct tlb *tlb)
{
    tags_drop_all(tlb->l1);
    tags_drop_all(tlb->l2);
    tlb->last_page = 0;
}

/* True when the page was there; it is now. */
static bool look(struct tags *tags, uint64_t page)
{
    uint32_t slot = tags_find(tags, page);
    bool is_there = slot != TAGS_NONE;
    if (is_there)
        tags_touch(tags, slot);
    else
        tags_fill(tags, tags_victim(tags, page), page, TAGS_NORMAL);
    return is_there;
}

uint64_t tlb_find(struct tlb *tlb, uint64_t page)
{
    tlb->last_page = page + 1;
    if (look(tlb->l1, page))
        return 0;
    tlb->misses++;
    if (look(tlb->l2, page))
        return tlb->spec.l2_cycles;
    tlb->walks++;
    return tlb->spec.l2_cycles + tlb->spec.walk_cycles;
}
