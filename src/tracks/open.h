/* Slices that have begun, by what they are of: a hash table. For this room only. */
#ifndef TRACKS_OPEN_H
#define TRACKS_OPEN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { OPEN_PATH_MOST = 96 };

struct open_slice {
    uint64_t id;
    uint64_t place; /* what else tells it apart: its kind, GPU, SM */
    uint64_t begin_ps, address, bytes;
    const char *name; /* kept */
    uint32_t lanes, lane;
    bool is_used;
    char path[OPEN_PATH_MOST]; /* where it has been */
};

struct open_slices {
    struct open_slice *table;
    size_t size, count; /* size: 0 or a power of two */
};

void open_fini(struct open_slices *open);
struct open_slice *open_find(const struct open_slices *open, uint64_t id, uint64_t place); /* or NULL */

/* Pointers into the table do not last beyond these. */
struct open_slice *open_add(struct open_slices *open, uint64_t id, uint64_t place);
void open_remove(struct open_slices *open, struct open_slice *slice);

#endif
