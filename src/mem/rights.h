/* What a GPU may do with pages that move, as an island of its memory knows it: a table by physical address.
 * Pages of the GPU's own memory are its own to write until it is told otherwise; of others it has none. */
#ifndef MEM_RIGHTS_H
#define MEM_RIGHTS_H

#include "base/index.h"
#include "paging/directory.h"

struct rights_region;

struct rights {
    uint32_t home;
    struct index regions;
    struct rights_region *list;
    size_t capacity;
};

void rights_fini(struct rights *rights);
enum page_right rights_of(const struct rights *rights, uint64_t address);
void rights_set(struct rights *rights, uint64_t at, uint32_t shift, enum page_right right);

/* As in the beginning. */
void rights_forget(struct rights *rights, uint64_t at, uint64_t bytes);

struct archive;
void rights_archive(struct rights *rights, struct archive *archive);

#endif
