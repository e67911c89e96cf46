#include "tracks/open.h"
#include "base/mem.h"

void open_fini(struct open_slices *open)
{
    mem_free(open->table);
    *open = (struct open_slices){0};
}

static size_t home_of(const struct open_slices *open, uint64_t id, uint64_t place)
{
    uint64_t hash = (id ^ place * UINT64_C(0x9e3779b97f4a7c15)) * UINT64_C(0xff51afd7ed558ccd);
    return (size_t)(hash >> 32) & (open->size - 1);
}

/* The slice, or the free place where it would be. */
static struct open_slice *place_of(const struct open_slices *open, uint64_t id, uint64_t place)
{
    size_t at = home_of(open, id, place);
    while (open->table[at].is_used && (open->table[at].id != id || open->table[at].place != place))
        at = (at + 1) & (open->size - 1);
    return &open->table[at];
}

struct open_slice *open_find(const struct open_slices *open, uint64_t id, uint64_t place)
{
    struct open_slice *slice = open->size ? place_of(open, id, place) : NULL;
    return slice && slice->is_used ? slice : NULL;
}

static void grow(struct open_slices *open)
{
    struct open_slices before = *open;
    open->size = before.size ? 2 * before.size : 64;
    open->table = mem_alloc(open->size, sizeof *open->table);
    for (size_t i = 0; i < before.size; i++)
        if (before.table[i].is_used)
            *place_of(open, before.table[i].id, before.table[i].place) = before.table[i];
    mem_free(before.table);
}

struct open_slice *open_add(struct open_slices *open, uint64_t id, uint64_t place)
{
    if (2 * open->count >= open->size)
        grow(open);
    struct open_slice *slice = place_of(open, id, place);
    open->count += !slice->is_used;
    slice->id = id;
    slice->place = place;
    slice->is_used = true;
    slice->path[0] = 0;
    return slice;
}

/* Those behind it move up, where they would not be found otherwise. */
void open_remove(struct open_slices *open, struct open_slice *slice)
{
    size_t hole = (size_t)(slice - open->table), mask = open->size - 1;
    for (size_t at = (hole + 1) & mask; open->table[at].is_used; at = (at + 1) & mask) {
        size_t home = home_of(open, open->table[at].id, open->table[at].place);
        if (((at - home) & mask) >= ((at - hole) & mask)) {
            open->table[hole] = open->table[at];
            hole = at;
        }
    }
    open->table[hole].is_used = false;
    open->count--;
}
