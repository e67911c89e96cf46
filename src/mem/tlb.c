#include "mem/tlb.h"
#include "base/archive.h"

void tlb_init(struct tlb *tlb, uint64_t entries, uint64_t ways)
{
    uint64_t in_set = min_u64(entries, ways);
    *tlb = (struct tlb){.entries = tags_new(&(struct tags_spec){
                            .sets = (uint32_t)(entries / in_set), .ways = (uint32_t)in_set, .hashed = true})};
}

void tlb_fini(struct tlb *tlb)
{
    tags_free(tlb->entries);
}

uint32_t tlb_look(struct tlb *tlb, uint64_t page)
{
    uint32_t slot = tags_find(tlb->entries, page);
    if (slot == TAGS_NONE)
        return slot;
    tags_touch(tlb->entries, slot);
    tlb->last_page = page + 1;
    return slot;
}

uint32_t tlb_add(struct tlb *tlb, uint64_t page)
{
    uint32_t slot = tags_victim(tlb->entries, page);
    if (tags_holds(tlb->entries, slot) && tags_line(tlb->entries, slot) + 1 == tlb->last_page)
        tlb->last_page = 0;
    tags_fill(tlb->entries, slot, page, TAGS_NORMAL);
    return slot;
}

void tlb_drop(struct tlb *tlb, uint64_t page_bytes, const struct shootdown *shot)
{
    uint64_t first = shot->at / page_bytes, last = (shot->at + (UINT64_C(1) << shot->shift) - 1) / page_bytes;
    for (uint64_t page = first; page <= last; page++) {
        uint32_t slot = tags_find(tlb->entries, page);
        if (slot != TAGS_NONE)
            tags_drop(tlb->entries, slot);
        if (tlb->last_page == page + 1)
            tlb->last_page = 0;
    }
}

void tlb_archive(struct tlb *tlb, struct archive *archive)
{
    tags_archive(tlb->entries, archive);
    ARCHIVE_VALUE(archive, tlb->last_page);
}
