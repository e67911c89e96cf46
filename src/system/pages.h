/* Pages that move between GPUs (mem/iommu.h), for the machine between runs. For this room only. Where pages
 * do not move, these do nothing. */
#ifndef SYSTEM_PAGES_H
#define SYSTEM_PAGES_H

#include "system/parts.h"

/* What is away from home of these physical addresses is copied home, so that the host sees it; takes no time.
 */
void machine_gather_pages(struct local_machine *machine, struct physical_address from, uint64_t bytes);

/* The host is about to change these virtual addresses: while kernels run, their pages come home, in time. */
void machine_call_pages_home(struct local_machine *machine, uint64_t at, uint64_t bytes);

/* The host has these on loan (MEMORY_LENT), or not: what is copied home leaves them as they are there. */
void machine_note_lent(struct local_machine *machine, uint64_t at, uint64_t bytes, bool is_lent);

/* Nobody but their homes has them any more; for when they are there, or nothing runs. */
void machine_forget_pages(struct local_machine *machine, struct physical_address from, uint64_t bytes);

/* All of them. */
void machine_gather_all_pages(struct local_machine *machine);

/* Memory is about to be at other places: all is copied home. Then pages whose home keeps other bytes now are
 * with their homes alone, as memory was freed, and something else is there; the others stay where they are.
 */
struct page_places {
    struct page_place {
        uint64_t at, bytes;
        const char *host;
    } * list;
    size_t count, capacity;
};
struct page_places machine_note_pages(struct local_machine *machine);
void machine_forget_replaced_pages(struct local_machine *machine, struct page_places *before);

/* The home whose memory has an address now, and how many bytes from there on it has as well. */
struct machine_page_place {
    uint32_t home;
    uint64_t bytes;
};
struct machine_page_place machine_find_page(const struct local_machine *machine, uint64_t at);

#endif
