/* The kernels of a round. */
#include "cachesim/cuda/rounds.h"

bool room_for(struct card *device, struct room *room, size_t bytes)
{
    if (bytes <= room->bytes)
        return true;
    card_sync(device); /* who uses the old one? */
    card_free(device, room->address);
    bytes += bytes / 4; /* rounds differ a little */
    *room = (struct room){card_alloc(device, bytes), bytes};
    return room->address;
}

static struct work_items items_of(const struct caches *caches, const struct round *round)
{
    uint64_t words = round->items.address + round_words_at(caches);
    return (struct work_items){.words = words,
                               .whens = wants_whens(caches) ? words + (uint64_t)round->count * 8 : 0,
                               .offsets = round->items.address,
                               .spread = 1};
}

static struct work_items merged_items(const struct room *room, const struct work_items *like, uint32_t count)
{
    uint64_t at = room->address;
    return (struct work_items){.words = at,
                               .whens = at + (uint64_t)count * 8,
                               .tiles = at + (uint64_t)count * 12,
                               .offsets = like->offsets,
                               .spread = 1};
}

/* Tiles that feel each other: their accesses in the order of (when, tile). */
static struct work_items merge(struct caches *caches, struct work_items items, uint32_t count)
{
    uint32_t tiles = caches->plan.spec.snoop, groups = caches->plan.groups, turn = 0;
    for (uint32_t width = 1; width < tiles; width *= 2, turn ^= 1) {
        struct room *room = &caches->merged[turn];
        room_for(caches->device, room, (size_t)count * 14);
        struct work_merge work = {.in = items,
                                  .out = merged_items(room, &items, count),
                                  .streams = groups,
                                  .caches = tiles,
                                  .width = width};
        uint32_t runs = (tiles + width - 1) / width;
        uint32_t each = count / (groups * runs * 1024) + 1;
        card_launch(caches->device, caches->kernels.merge, groups * runs, each < 256 ? each : 256, 256, 1, 0,
                    &work, caches->l1_stream);
        items = work.out;
    }
    return items;
}

static void launch_level(struct caches *caches, const struct round_level *level, struct work_walk *work,
                         device_handle stream)
{
    uint32_t blocks = (work->streams + level->threads_y - 1) / level->threads_y;
    card_launch(caches->device, level->walk, blocks, 1, level->threads, level->threads_y,
                work->shared.bytes * level->threads_y, work, stream);
}

/* By quanta: a place for what others are told. */
static void make_told(struct caches *caches, struct room *room, struct work_walk *work, uint64_t items)
{
    room_for(caches->device, room, items * 8 + (uint64_t)caches->plan.spec.tiles * 4);
    work->told_words = room->address;
    work->told_counts = room->address + items * 8;
}

static void tell(struct caches *caches, const struct round_level *level, const struct work_walk *from,
                 device_handle stream)
{
    struct work_walk work = level->work;
    work.in = (struct work_items){.words = from->told_words,
                                  .offsets = from->in.offsets,
                                  .counts = from->told_counts,
                                  .spread = from->in.spread};
    launch_level(caches, level, &work, stream);
}

/* What is asked of the level below. */
static void make_asks(struct caches *caches, struct round_slot *slot, struct work_walk *l1, uint32_t count)
{
    uint64_t most = (uint64_t)count * l1->asks_spread;
    room_for(caches->device, &slot->asks, most * 12 + (uint64_t)l1->streams * 4);
    l1->asks_words = slot->asks.address;
    l1->asks_counts = slot->asks.address + most * 12;
    if (caches->plan.spec.machine == CACHES_SHARED) {
        l1->asks_whens = slot->asks.address + most * 8;
        room_for(caches->device, &slot->slice_counts, (uint64_t)caches->plan.spec.tiles * 4);
        l1->slice_counts = slot->slice_counts.address;
    } else {
        l1->asks_tiles = slot->asks.address + most * 8;
    }
}

/* The lists of slices, in order; gives what their walk takes. */
static struct work_items sort_slices(struct caches *caches, const struct work_walk *l1,
                                     struct work_items asks, uint32_t count)
{
    uint32_t tiles = caches->plan.spec.tiles;
    uint64_t most = (uint64_t)count * l1->asks_spread, each = (uint64_t)(tiles + 1) * 4;
    room_for(caches->device, &caches->unsorted, most * sizeof(struct slice_item));
    room_for(caches->device, &caches->sorted, most * sizeof(struct slice_item));
    room_for(caches->device, &caches->slice_words, most * 8);
    room_for(caches->device, &caches->slice_lists, 2 * each);
    struct work_slices work = {.asks = asks,
                               .streams = l1->streams,
                               .caches = l1->caches,
                               .slices = tiles,
                               .space_bits = l1->space_bits,
                               .space_tiles = caches->plan.spec.snoop,
                               .counts = l1->slice_counts,
                               .offsets = caches->slice_lists.address,
                               .cursors = caches->slice_lists.address + each,
                               .unsorted = caches->unsorted.address,
                               .sorted = caches->sorted.address,
                               .words = caches->slice_words.address};
    card_launch(caches->device, caches->kernels.slices_place, 1, 1, 1024, 1, 0, &work, caches->l2_stream);
    card_launch(caches->device, caches->kernels.slices_scatter, l1->streams, 1, 256, 1, 0, &work,
                caches->l2_stream);
    card_launch(caches->device, caches->kernels.slices_sort, tiles, 1, SLICE_SORT_THREADS, 1, 0, &work,
                caches->l2_stream);
    return (struct work_items){.words = work.words, .offsets = work.offsets, .spread = 1};
}

static void launch_l1(struct caches *caches, struct round_slot *slot, const struct round *round,
                      struct work_walk *l1)
{
    const struct caches_spec *spec = &caches->plan.spec;
    l1->in = items_of(caches, round);
    if (l1->caches > 1)
        l1->in = merge(caches, l1->in, round->count);
    if (l1->asks_spread)
        make_asks(caches, slot, l1, round->count);
    bool tells = spec->quantum && spec->snoop > 1;
    if (tells)
        make_told(caches, &caches->l1_told, l1, round->count);
    launch_level(caches, &caches->l1_level, l1, caches->l1_stream);
    if (tells)
        tell(caches, &caches->l1_tell, l1, caches->l1_stream);
}

static void launch_l2(struct caches *caches, const struct round *round, const struct work_walk *l1)
{
    const struct caches_spec *spec = &caches->plan.spec;
    struct work_walk l2 = caches->l2_level.work;
    l2.in = (struct work_items){.words = l1->asks_words,
                                .tiles = l1->asks_tiles,
                                .whens = l1->asks_whens,
                                .offsets = l1->in.offsets,
                                .counts = l1->asks_counts,
                                .spread = l1->asks_spread};
    bool tells = spec->quantum && spec->snoop > 1 && spec->machine == CACHES_PRIVATE;
    if (spec->machine == CACHES_SHARED)
        l2.in = sort_slices(caches, l1, l2.in, round->count);
    else if (tells)
        make_told(caches, &caches->l2_told, &l2, (uint64_t)round->count * l1->asks_spread);
    launch_level(caches, &caches->l2_level, &l2, caches->l2_stream);
    if (tells)
        tell(caches, &caches->l2_tell, &l2, caches->l2_stream);
}

void round_launch(struct caches *caches, struct round_slot *slot, const struct round *round)
{
    struct work_walk l1 = caches->l1_level.work;
    card_record(caches->device, slot->l1_from, caches->l1_stream);
    launch_l1(caches, slot, round, &l1);
    card_record(caches->device, slot->l1_to, caches->l1_stream);
    card_wait_event(caches->device, caches->l2_stream, slot->l1_to);
    card_record(caches->device, slot->l2_from, caches->l2_stream);
    if (l1.asks_spread)
        launch_l2(caches, round, &l1);
    card_record(caches->device, slot->l2_to, caches->l2_stream);
}
