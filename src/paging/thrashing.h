/* Pages of managed memory that bounce between processors, and what NVIDIA's driver does about it
 * (uvm_perf_thrashing.c). A page that moved several times, each within a lapse of the time before, thrashes.
 * Who wants it next is throttled in turn, for a nap: only one processor gets it meanwhile. When that has
 * happened too often, the page is pinned where all can reach it, at the host, for a while. Pure: times are
 * told. */
#ifndef PAGING_THRASHING_H
#define PAGING_THRASHING_H

#include "base/index.h"
#include "paging/directory.h"
#include "paging/subtree.h"

/* Times are of one clock, whatever it is; 0 is before all. */
struct thrashing_rule {
    bool on;
    uint32_t events;    /* so many in a row are thrashing */
    uint32_t throttles; /* so many pin the page */
    uint64_t lapse, nap, epoch, pin;
    uint32_t resets; /* a block is forgiven so often, after an epoch without thrashing */
};

enum thrashing_hint {
    THRASHING_NONE,
    THRASHING_THROTTLE, /* not now */
    THRASHING_PIN,      /* it is the host's, and reached there */
};

struct thrashing_page {
    uint64_t moved_at;
    uint64_t throttled; /* processors, a bit each, as holders of pages */
    uint64_t throttled_until;
    uint64_t pinned_until; /* 0: it is not pinned */
    uint16_t events, throttles;
    uint8_t favoured; /* who is not throttled; PAGE_NOBODY */
    uint8_t unused[3];
};

struct thrashing_block {
    uint64_t moved_at, thrashed_at;
    uint32_t mover, resets;
    bool is_watched; /* its pages are, as two processors want some of them */
    uint8_t unused[7];
    struct thrashing_page pages[SUBTREE_PAGES];
};

struct thrashing {
    struct thrashing_rule rule;
    struct index numbers; /* of blocks, by address */
    struct thrashing_block *blocks;
    size_t capacity;
};

void thrashing_init(struct thrashing *thrashing, const struct thrashing_rule *rule);
void thrashing_fini(struct thrashing *thrashing);

/* A page moved to a processor, as that wanted it; or as the program had it moved, which forgets all. */
void thrashing_moved(struct thrashing *thrashing, uint64_t at, uint32_t processor, uint64_t now);
void thrashing_forget(struct thrashing *thrashing, uint64_t at);

/* What to do when a processor wants a page. If it has to wait, it need not ask again before the end of the
 * nap. */
enum thrashing_hint thrashing_ask(struct thrashing *thrashing, uint64_t at, uint32_t processor, uint64_t now);
uint64_t thrashing_nap_end(const struct thrashing *thrashing, uint64_t at);

/* Whether a page thrashes: then it does not come along with others. And whether it is pinned. */
bool thrashing_is_on(const struct thrashing *thrashing, uint64_t at);
bool thrashing_is_pinned(const struct thrashing *thrashing, uint64_t at);
void thrashing_pin(struct thrashing *thrashing, uint64_t at, uint64_t until); /* one that was */
bool thrashing_has_pins(const struct thrashing *thrashing);                   /* some page is */

/* Pages of the block of this number, of which there are `count`, that are pinned no more from now on: their
 * bits. */
size_t thrashing_count(const struct thrashing *thrashing);
uint64_t thrashing_block_at(const struct thrashing *thrashing, size_t number);
uint32_t thrashing_unpin(struct thrashing *thrashing, size_t number, uint64_t now);

struct archive;
void thrashing_archive(struct thrashing *thrashing, struct archive *archive);

#endif
